//! A machine that renders one scene after another, and keeps the image where it is.

use std::sync::Arc;

use torrance_gpu::backend::Buffer;
use torrance_gpu::backend::cpu::Cpu;
use torrance_gpu::backend::cuda::{Cuda, CudaBuffer};

use crate::assemble::SceneData;
use crate::bsdf::{Laboratory, Subject};
use crate::render::{Job, Observer, Rendered, Request, Session, WithMean};
use crate::{Machine, MachineError};

/// A machine that renders one scene after another, and keeps from one to the next what they share: what of the scene is the same,
/// the memory of paths under way, and how large launches have to be. On a GPU it also keeps the last image there, for other
/// libraries to read.
///
/// ```
/// use renderer::assemble::assemble;
/// use renderer::render::{Budget, Control, Options, Progress, Request};
/// use renderer::{DeviceChoice, Resident};
///
/// let text = "
///     camera = { position = [0, 0, 4], target = [0, 0, 0], fov = 40 }
///     render = { size = [8, 8] }
///     environment = { radiance = 1 }
///     [[shapes]]
///     type = 'sphere'
///     radius = 0.1
///     emission = 1
/// ";
/// let loaded = torrance_scene::load_bytes("sky.toml", text.as_bytes(), &torrance_scene::Files::new("", false))?;
/// let scene = assemble(&loaded.description)?;
///
/// let mut resident = Resident::new(DeviceChoice::Auto.find()?.start(None)?);
/// let request = Request::new(Budget::of_samples(4), Options::default());
/// let rendered = resident.render(&scene, request, &mut |_: &Progress| Control::Continue)?;
/// assert!((rendered.film.pixels[0].mean()[0] - 1.0).abs() < 1e-6);
/// if let Some(image) = resident.image()? {
///     println!("on cuda:{}, {} bytes from {:#x} on", image.device(), image.bytes(), image.address());
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Resident {
    // What is in a machine's memory is freed before the machine.
    cpu: Session<Cpu>,
    cuda: Session<Cuda>,
    image: Option<Result<Arc<DeviceImage>, MachineError>>,
    /// The image before. When nobody else has it any more, the next one takes its place.
    before: Option<Arc<DeviceImage>>,
    machine: Machine,
}

impl Resident {
    /// Before the first scene.
    pub const fn new(machine: Machine) -> Self {
        Self { cpu: Session::new(), cuda: Session::new(), image: None, before: None, machine }
    }

    /// [`Machine::name`].
    pub fn name(&self) -> String {
        self.machine.name()
    }

    /// Whether it is a GPU.
    pub const fn is_gpu(&self) -> bool {
        self.machine.is_gpu()
    }

    /// As [`Machine::take`]: images are the same, to the last bit on a CPU.
    ///
    /// # Errors
    /// There is not enough memory, or the machine fails. The next render then begins anew.
    pub fn render(
        &mut self,
        scene: &SceneData,
        request: Request<'_>,
        observer: &mut dyn Observer,
    ) -> Result<Rendered, MachineError> {
        let job = Job { scene, request, observer };
        match &mut self.machine {
            Machine::Cpu(cpu) => self.cpu.render(cpu, job).map_err(|error| self.machine.failed(error)),
            Machine::Cuda(cuda) => {
                let device = cuda.info().index;
                let mut room = None;
                for image in
                    [self.before.take(), self.image.take().and_then(Result::ok)].into_iter().flatten()
                {
                    match Arc::try_unwrap(image) {
                        Ok(image) => room = Some(image.mean),
                        Err(image) => self.before = Some(image),
                    }
                }
                // Those who had the room may have left work behind that reads it.
                let is_free = if room.is_some() { cuda.synchronize_context() } else { Ok(()) };
                let rendered = is_free.and_then(|()| self.cuda.render_with_mean(cuda, job, room));
                let WithMean { rendered, mean } = rendered.map_err(|error| self.machine.failed(error))?;
                let image = |mean| DeviceImage { mean, size: [scene.width, scene.height], device };
                self.image = Some(mean.map(image).map(Arc::new).map_err(|error| self.machine.failed(error)));
                Ok(rendered)
            }
        }
    }

    /// The image of the last render in the memory of the GPU; `None` on a CPU, or if there is none yet.
    ///
    /// # Errors
    /// There was no memory for it, or the machine failed.
    pub fn image(&self) -> Result<Option<Arc<DeviceImage>>, MachineError> {
        self.image.clone().transpose()
    }

    /// [`Machine::laboratory`].
    ///
    /// # Errors
    /// As there.
    pub fn laboratory(&mut self, subject: &Subject) -> Result<Laboratory<'_>, MachineError> {
        let name = self.machine.name();
        self.machine.laboratory(subject).map_err(|error| MachineError { machine: name, error })
    }
}

/// Mean radiance in the memory of a GPU, W·sr⁻¹·m⁻²: three `f32` a pixel, linear Rec. 709, without gaps, row by row from the top
/// left. It is that of [`Rendered::film`], rounded once. A render that goes on with another, or whose samples the host has taken
/// over, has it copied there.
///
/// Nothing writes it any more, and all that has is done, so that any stream of the device's primary context may read it as long
/// as this lives.
#[derive(Debug)]
pub struct DeviceImage {
    mean: CudaBuffer<[f32; 3]>,
    size: [u32; 2],
    device: u32,
}

impl DeviceImage {
    /// Address of the first pixel, for the GPU.
    pub fn address(&self) -> u64 {
        self.mean.ptr().addr() as u64
    }

    /// Width and height, pixels.
    pub const fn size(&self) -> [u32; 2] {
        self.size
    }

    /// Bytes: 12 a pixel.
    pub fn bytes(&self) -> usize {
        self.mean.len() * size_of::<[f32; 3]>()
    }

    /// The N of `cuda:N`.
    pub const fn device(&self) -> u32 {
        self.device
    }
}
