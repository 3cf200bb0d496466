//! A GPU to launch test kernels on, by name and with untyped arguments.

use std::ffi::c_void;
use std::sync::LazyLock;

use cust::context::Context;
use cust::device::Device;
use cust::memory::{CopyDestination, DeviceBuffer, DeviceCopy};
use cust::module::Module;
use cust::stream::{Stream, StreamFlags};
use torrance_gpu::backend::cuda::{driver, unpacked};

/// The kernels of the tests.
pub(crate) static PTX: LazyLock<String> = LazyLock::new(|| unpacked(ptx::SELFTEST));

/// Result of a check: a remark, or an error.
pub(crate) type Outcome = Result<String, String>;

/// The device, its context, and the kernels.
pub(crate) struct Gpu {
    // In the order of their release: the context last.
    module: Module,
    stream: Stream,
    _context: Context,
    corrupting: bool,
}

/// A plain value whose bits the harness can damage.
pub(crate) trait Word: DeviceCopy + Copy + Default {
    /// The value with a high bit flipped.
    fn damaged(self) -> Self;
}

macro_rules! words {
    ($($ty:ty, $damage:expr;)*) => {$(
        impl Word for $ty {
            fn damaged(self) -> Self {
                $damage(self)
            }
        }
    )*};
}

words! {
    u32, |v| v ^ 0x4000_0000;
    i32, |v| v ^ 0x4000_0000;
    u64, |v| v ^ 0x4000_0000_4000_0000;
    f32, |v: f32| f32::from_bits(v.to_bits() ^ 0x4000_0000);
}

/// Memory of the GPU.
pub(crate) struct Buffer<T: Word> {
    memory: DeviceBuffer<T>,
}

impl<T: Word> Buffer<T> {
    /// The address on the GPU.
    pub(crate) fn address(&self) -> u64 {
        self.memory.as_device_ptr().as_raw()
    }

    /// The address, as a kernel argument.
    pub(crate) fn arg(&self) -> Arg {
        arg(self.address())
    }
}

/// The bytes of a kernel argument.
pub(crate) struct Arg(Vec<u8>);

/// A plain value as a kernel argument.
pub(crate) fn arg<T: bytemuck::NoUninit>(value: T) -> Arg {
    Arg(bytemuck::bytes_of(&value).to_vec())
}

impl Gpu {
    /// The first CUDA device, or `None` after saying that there is none.
    pub(crate) fn open() -> Option<Self> {
        if let Err(reason) = driver::load() {
            println!("skipped: no CUDA device ({reason})");
            return None;
        }
        let context = cust::quick_init().expect("a context on the first device");
        let module = Module::from_ptx(PTX.as_str(), &[]).expect("the driver accepts the PTX");
        // A stream that waits for copies: they may return before the data has arrived.
        let stream = Stream::new(StreamFlags::DEFAULT, None).expect("a stream");
        Some(Self { module, stream, _context: context, corrupting: false })
    }

    /// The same, but [`Gpu::download`] damages the first value of every buffer.
    pub(crate) fn corrupting(self) -> Self {
        Self { corrupting: true, ..self }
    }

    /// Whether results are damaged on their way.
    pub(crate) fn is_corrupting(&self) -> bool {
        self.corrupting
    }

    /// The device's name.
    pub(crate) fn name(&self) -> String {
        Device::get_device(0).and_then(|device| device.name()).unwrap_or_else(|error| error.to_string())
    }

    /// A buffer with these values.
    pub(crate) fn upload<T: Word>(&self, values: &[T]) -> Buffer<T> {
        Buffer { memory: DeviceBuffer::from_slice(values).expect("memory for a few values") }
    }

    /// A buffer of zeros.
    pub(crate) fn zeros<T: Word>(&self, n: usize) -> Buffer<T> {
        self.upload(&vec![T::default(); n])
    }

    /// The values of a buffer.
    pub(crate) fn download<T: Word>(&self, buffer: &Buffer<T>) -> Result<Vec<T>, String> {
        let mut values = vec![T::default(); buffer.memory.len()];
        buffer.memory.copy_to(&mut values).map_err(|error| format!("copying back: {error}"))?;
        if self.corrupting {
            values[0] = values[0].damaged();
        }
        Ok(values)
    }

    /// Launches a kernel and waits for it.
    pub(crate) fn launch(
        &self,
        kernel: &str,
        grid: (u32, u32, u32),
        block: (u32, u32, u32),
        shared_bytes: u32,
        args: &[Arg],
    ) -> Result<(), String> {
        let function =
            self.module.get_function(kernel).map_err(|error| format!("no such kernel: {error}"))?;
        let addresses: Vec<*mut c_void> = args.iter().map(|arg| arg.0.as_ptr().cast_mut().cast()).collect();
        // SAFETY: each check passes what its kernel's documentation asks for.
        unsafe { self.stream.launch(&function, grid, block, shared_bytes, &addresses) }
            .and_then(|()| self.stream.synchronize())
            .map_err(|error| format!("launching: {error}"))
    }

    /// Launches a kernel with one-dimensional grid and block.
    pub(crate) fn launch_1d(
        &self,
        kernel: &str,
        blocks: u32,
        threads: u32,
        args: &[Arg],
    ) -> Result<(), String> {
        self.launch(kernel, (blocks, 1, 1), (threads, 1, 1), 0, args)
    }
}

/// The first difference between two lists, by position.
pub(crate) fn same<T: PartialEq + std::fmt::Debug>(what: &str, got: &[T], want: &[T]) -> Result<(), String> {
    if got.len() != want.len() {
        return Err(format!("{what}: {} values, not {}", got.len(), want.len()));
    }
    match got.iter().zip(want).position(|(got, want)| got != want) {
        Some(i) => Err(format!("{what}: value {i} is {:?}, not {:?}", got[i], want[i])),
        None => Ok(()),
    }
}

/// As [`same`], after sorting both.
pub(crate) fn same_set(
    what: &str,
    got: impl IntoIterator<Item = u64>,
    want: impl IntoIterator<Item = u64>,
) -> Result<(), String> {
    let sorted = |values: Vec<u64>| {
        let mut values = values;
        values.sort_unstable();
        values
    };
    same(what, &sorted(got.into_iter().collect()), &sorted(want.into_iter().collect()))
}
