//! A material on a machine, to be evaluated and sampled on arrays: the code of its lobe is the renderer's, on the threads of
//! the CPU or on a GPU.

use std::ops::Range;
use std::ptr::null_mut;

use bytemuck::{Pod, Zeroable};
use device::bsdf::plastic::Coat;
use device::material::Material as Record;
use device::material::texture::Texture;
use device::path::stage::stages;
use device::path::{DrawArgs, EvaluateArgs, Specimen};
use device::scene::KeptView;
use glam::Vec3;
use torrance_gpu::backend::cpu::Cpu;
use torrance_gpu::backend::cuda::Cuda;
use torrance_gpu::backend::{Backend, Buffer, Error};

use super::batch::{BatchBsdf, Samples};
use super::subject::Subject;
use crate::Machine;

/// Directions that are in the memory of a machine at a time: enough to fill it, and few enough for caches and small GPUs.
const CHUNK: usize = 1 << 20;

/// A material on a machine. It is seen from the front, whole and flat, and where it has textures, at their coordinates (½, ½);
/// a blend is black, as renders choose among its parts before they scatter.
///
/// Conventions are those of [`BatchBsdf`], but that `wo` may be a single direction, which is then that of all. Nothing is copied
/// on the host beside the arrays that are passed.
///
/// ```
/// use renderer::Machine;
/// use renderer::assemble::Swatches;
/// use renderer::bsdf::Subject;
/// use torrance_scene::{Masking, StandaloneMaterial, material_from_text};
///
/// let text = "type = 'diffuse', reflectance = 0.5";
/// let StandaloneMaterial { material, images, textures } = material_from_text("paint", text)?;
/// let subject = Subject::new(material, Masking::Correlated, Swatches::new(&images, &textures)?);
///
/// let mut machine = Machine::cpu(None)?;
/// let mut f = [[0.0; 3]; 2];
/// machine.laboratory(&subject)?.eval(&[[0.0, 0.0, 1.0]], &[[0.0, 0.6, 0.8], [0.0, 0.6, -0.8]], &mut f)?;
/// assert!((f[0][0] - 0.5 / std::f32::consts::PI).abs() < 1e-6);
/// assert_eq!(f[1], [0.0; 3], "it transmits nothing");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Laboratory<'m>(On<'m>);

enum On<'m> {
    Cpu(Mount<'m, Cpu>),
    Cuda(Box<Mount<'m, Cuda>>),
}

/// Evaluates an expression with the mounted material of a laboratory.
macro_rules! on {
    ($laboratory:expr, $mount:ident => $body:expr) => {
        match &mut $laboratory.0 {
            On::Cpu($mount) => $body,
            On::Cuda($mount) => $body,
        }
    };
}

impl Machine {
    /// Puts a material onto the machine, to be evaluated there. To keep it for several calls saves copying it again.
    ///
    /// # Errors
    /// There is not enough memory, or the machine fails.
    pub fn laboratory(&mut self, subject: &Subject) -> Result<Laboratory<'_>, Error> {
        Ok(Laboratory(match self {
            Self::Cpu(cpu) => On::Cpu(Mount::new(cpu, subject)?),
            Self::Cuda(cuda) => On::Cuda(Box::new(Mount::new(&mut **cuda, subject)?)),
        }))
    }
}

impl Laboratory<'_> {
    /// [`BatchBsdf::eval`]: f without the cosine, for `wi.len()` pairs.
    ///
    /// # Errors
    /// The arrays differ in length, there is not enough memory, or the machine fails.
    pub fn eval(&mut self, wo: &[[f32; 3]], wi: &[[f32; 3]], f: &mut [[f32; 3]]) -> Result<(), Error> {
        check(wo, &[wi.len(), f.len()])?;
        on!(self, mount => mount.evaluate(wo, wi, f, |f| (f.cast(), null_mut())))
    }

    /// [`BatchBsdf::pdf`]: the density per solid angle, for `wi.len()` pairs.
    ///
    /// # Errors
    /// As [`Laboratory::eval`].
    pub fn pdf(&mut self, wo: &[[f32; 3]], wi: &[[f32; 3]], pdf: &mut [f32]) -> Result<(), Error> {
        check(wo, &[wi.len(), pdf.len()])?;
        on!(self, mount => mount.evaluate(wo, wi, pdf, |pdf| (null_mut(), pdf)))
    }

    /// [`BatchBsdf::sample`]: a direction for each of the `u`.
    ///
    /// # Errors
    /// As [`Laboratory::eval`].
    pub fn sample(&mut self, wo: &[[f32; 3]], u: &[[f32; 3]], to: Samples<'_>) -> Result<(), Error> {
        let Samples { wi, weight, pdf, eta, flags } = &to;
        check(wo, &[u.len(), wi.len(), weight.len(), pdf.len(), eta.len(), flags.len()])?;
        on!(self, mount => mount.sample(wo, u, to))
    }
}

impl BatchBsdf for Laboratory<'_> {
    type Error = Error;

    fn eval(&mut self, wo: &[[f32; 3]], wi: &[[f32; 3]], f: &mut [[f32; 3]]) -> Result<(), Error> {
        Laboratory::eval(self, wo, wi, f)
    }

    fn pdf(&mut self, wo: &[[f32; 3]], wi: &[[f32; 3]], pdf: &mut [f32]) -> Result<(), Error> {
        Laboratory::pdf(self, wo, wi, pdf)
    }

    fn sample(&mut self, wo: &[[f32; 3]], u: &[[f32; 3]], to: Samples<'_>) -> Result<(), Error> {
        Laboratory::sample(self, wo, u, to)
    }
}

/// An error unless all columns have one length, and `wo` that or a single direction.
fn check(wo: &[[f32; 3]], columns: &[usize]) -> Result<(), Error> {
    let n = columns[0];
    if columns.iter().all(|len| *len == n) && (wo.len() == n || wo.len() == 1) {
        return Ok(());
    }
    let (doing, wo) = ("evaluating a material".to_owned(), wo.len());
    Err(Error { doing, reason: format!("the arrays differ in length: {wo} of wo, others {columns:?}") })
}

/// A material in the memory of a back end.
struct Mount<'m, B: Backend> {
    backend: &'m mut B,
    /// A scene of nothing else. It points to the others.
    view: B::Buf<KeptView>,
    _material: B::Buf<Record>,
    _coats: B::Buf<Coat>,
    _textures: B::Buf<Texture>,
    _texels: B::Buf<u32>,
}

impl<'m, B: Backend> Mount<'m, B> {
    fn new(backend: &'m mut B, subject: &Subject) -> Result<Self, Error> {
        backend.specialize(subject.features().and(subject.swatches().features()));
        let (record, coats) = subject.record();
        let material = backend.upload("material", &[record])?;
        let coats = backend.upload("coats", &coats)?;
        let textures = backend.upload("textures", &subject.swatches().textures)?;
        let texels = backend.share("texels", &subject.swatches().texels)?;
        let mut view = backend.zeroed::<KeptView>("view of the material", 1)?;
        let mut scene = KeptView::zeroed();
        let surfaces = &mut scene.0.lighting.surfaces;
        surfaces.geometry.kept = view.ptr().cast_const().cast();
        (surfaces.materials, surfaces.coats) = (material.ptr(), coats.ptr());
        (surfaces.textures, surfaces.texels) = (textures.ptr(), texels.ptr());
        backend.write(&[scene], &mut view)?;
        Ok(Self { backend, view, _material: material, _coats: coats, _textures: textures, _texels: texels })
    }

    /// Evaluates pairs of directions into `out`. `columns` says of the address of a chunk of it whether it is that of f, or of
    /// densities.
    fn evaluate<T: Pod + Send + Sync>(
        &mut self,
        wo: &[[f32; 3]],
        wi: &[[f32; 3]],
        out: &mut [T],
        columns: fn(*mut T) -> (*mut Vec3, *mut f32),
    ) -> Result<(), Error> {
        let room = wi.len().min(CHUNK);
        let mut viewers = Viewers::new(self.backend, wo, room)?;
        let mut lights = self.backend.zeroed::<[f32; 3]>("wi", room)?;
        let values = self.backend.zeroed::<T>("values of a material", room)?;
        let (f, pdf) = columns(values.ptr());
        for range in chunks(wi.len()) {
            viewers.load(self.backend, range.clone())?;
            self.backend.write(&wi[range.clone()], &mut lights)?;
            let specimen = self.specimen(&viewers, range.len());
            let args = EvaluateArgs { specimen, wi: lights.ptr().cast_const().cast(), f, pdf };
            // SAFETY: all buffers have room for a chunk, and live until the copy below has waited for the stage.
            unsafe { self.backend.launch::<stages::bsdf_eval>(args)? };
            self.backend.read(&values, &mut out[range])?;
        }
        Ok(())
    }

    fn sample(&mut self, wo: &[[f32; 3]], u: &[[f32; 3]], to: Samples<'_>) -> Result<(), Error> {
        let room = u.len().min(CHUNK);
        let mut viewers = Viewers::new(self.backend, wo, room)?;
        let mut uniforms = self.backend.zeroed::<[f32; 3]>("uniforms", room)?;
        let wi = self.backend.zeroed::<[f32; 3]>("wi", room)?;
        let weight = self.backend.zeroed::<[f32; 3]>("weights", room)?;
        let pdf = self.backend.zeroed::<f32>("densities", room)?;
        let eta = self.backend.zeroed::<f32>("indices of refraction", room)?;
        let flags = self.backend.zeroed::<u8>("flags", room)?;
        for range in chunks(u.len()) {
            viewers.load(self.backend, range.clone())?;
            self.backend.write(&u[range.clone()], &mut uniforms)?;
            let args = DrawArgs {
                specimen: self.specimen(&viewers, range.len()),
                u: uniforms.ptr(),
                wi: wi.ptr().cast(),
                weight: weight.ptr().cast(),
                pdf: pdf.ptr(),
                eta: eta.ptr(),
                flags: flags.ptr(),
            };
            // SAFETY: all buffers have room for a chunk, and live until the copies below have waited for the stage.
            unsafe { self.backend.launch::<stages::bsdf_sample>(args)? };
            self.backend.read(&wi, &mut to.wi[range.clone()])?;
            self.backend.read(&weight, &mut to.weight[range.clone()])?;
            self.backend.read(&pdf, &mut to.pdf[range.clone()])?;
            self.backend.read(&eta, &mut to.eta[range.clone()])?;
            self.backend.read(&flags, &mut to.flags[range])?;
        }
        Ok(())
    }

    /// The material as stages see it from a chunk of directions.
    fn specimen(&self, wo: &Viewers<'_, B>, count: usize) -> Specimen {
        Specimen {
            // A view of a scene begins with its surfaces.
            scene: self.view.ptr().cast_const().cast(),
            wo: wo.chunk.ptr().cast_const().cast(),
            wo_stride: u32::from(!wo.is_one()),
            count: count as u32,
        }
    }
}

/// Directions to the viewer, a chunk at a time in the memory of a back end, or a single one for all.
struct Viewers<'a, B: Backend> {
    all: &'a [[f32; 3]],
    chunk: B::Buf<[f32; 3]>,
}

impl<'a, B: Backend> Viewers<'a, B> {
    fn new(backend: &mut B, all: &'a [[f32; 3]], room: usize) -> Result<Self, Error> {
        let mut chunk = backend.zeroed("wo", room.min(all.len()))?;
        if let ([_], 1..) = (all, room) {
            backend.write(all, &mut chunk)?;
        }
        Ok(Self { all, chunk })
    }

    const fn is_one(&self) -> bool {
        self.all.len() == 1
    }

    fn load(&mut self, backend: &mut B, range: Range<usize>) -> Result<(), Error> {
        if self.is_one() { Ok(()) } else { backend.write(&self.all[range], &mut self.chunk) }
    }
}

/// Parts of `0..n` that fit into memory.
fn chunks(n: usize) -> impl Iterator<Item = Range<usize>> {
    (0..n).step_by(CHUNK).map(move |start| start..n.min(start + CHUNK))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_that_differ_in_length_are_refused() {
        let one = [[0.0, 0.0, 1.0]];
        assert!(
            check(&[one[0]; 3], &[3, 3]).is_ok() && check(&one, &[3, 3]).is_ok() && check(&one, &[0]).is_ok()
        );
        let error = check(&[one[0]; 2], &[3, 3]).unwrap_err().to_string();
        assert_eq!(error, "evaluating a material: the arrays differ in length: 2 of wo, others [3, 3]");
        assert!(check(&one, &[3, 2]).is_err());
    }

    #[test]
    fn chunks_are_all_of_it_once() {
        for n in [0, 1, CHUNK, 2 * CHUNK + 1] {
            assert!(chunks(n).flatten().eq(0..n), "{n}");
        }
    }
}
