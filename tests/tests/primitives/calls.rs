//! Refusal of buffers that primitives may not use or write, and preparation of kernels before their first call.

use torrance_gpu::backend::cpu::Cpu;
use torrance_gpu::backend::cuda::Cuda;
use torrance_gpu::backend::{Backend, Buffer, Error, Shared};
use torrance_gpu::primitives::{
    BoxBlur, Fill, Form, Gather, Length, Primitives, RadixSort, Scan, Scatter, Select, Sum, SummedArea, Temp,
    Wide,
};
use torrance_tests::arrays::random;
use torrance_tests::{Machine, for_each_backend, machines};

fn has_gpu() -> bool {
    machines().iter().any(|machine| matches!(machine, Machine::Cuda))
}

fn refused(result: Result<(), Error>, what: &str, why: &str) {
    let reason = result.expect_err(what).reason;
    assert!(reason.contains(what) && reason.contains(why), "{what}: {reason}");
}

/// A scene's memory may be a buffer of the CPU: it is read, and never written.
#[test]
fn shared_memory_is_not_written() {
    for_each_backend!(|backend, is_gpu| {
        let numbers = Shared::from(vec![3_u32, 1, 4, 1, 5]);
        let indices = backend.upload("indices", &[4_u32, 3, 2, 1, 0]).unwrap();
        let mut shared = backend.share("shared", &numbers).unwrap();
        let mut own = backend.zeroed::<u32>("own", 5).unwrap();
        let length = Length::Host(5);
        let scan = Scan::<Sum<u32>>::inclusive();
        let mut temp = Temp::new(&mut backend, scan.temp_bytes(5)).unwrap();

        scan.run(&mut backend, &shared, &mut own, length, &mut temp).unwrap();
        assert_eq!(backend.download(&own).unwrap(), [3, 4, 8, 9, 14]);
        if is_gpu {
            // The GPU has a copy.
            continue;
        }
        for result in [
            scan.run(&mut backend, &indices, &mut shared, length, &mut temp),
            Fill::new(7).run(&mut backend, &mut shared, length),
            Gather.run(&mut backend, &own, &indices, &mut shared, length),
            Scatter.run(&mut backend, &own, &indices, &mut shared, length),
        ] {
            refused(result, "output", "shared");
        }
        let flags = backend.zeroed::<u8>("flags", 5).unwrap();
        let select = Select::compact();
        let mut temp = Temp::new(&mut backend, select.temp_bytes(5)).unwrap();
        let result = select.indices(&mut backend, &flags, &mut own, &mut shared, length, &mut temp);
        refused(result, "count", "shared");
        assert_eq!(*numbers, [3, 1, 4, 1, 5]);
    });
}

struct Buffers<B: Backend> {
    input: B::Buf<u32>,
    output: B::Buf<u32>,
    count: B::Buf<u32>,
    temp: Temp<B>,
}

impl<B: Backend> Buffers<B> {
    fn new(backend: &mut B) -> Self {
        Self {
            input: backend.upload("input", &[1, 2, 3, 4, 5]).unwrap(),
            output: backend.zeroed("output", 5).unwrap(),
            count: backend.upload("count", &[5]).unwrap(),
            temp: Temp::new(backend, 1 << 16).unwrap(),
        }
    }
}

/// Two back ends of one GPU do not wait for each other's work; those of CPUs have nothing to wait for.
#[test]
fn other_back_ends_memory_is_not_used() {
    let [cpu, mut another] = [1, 2].map(|threads| Cpu::new(Some(threads)).unwrap());
    assert!(cpu.owns(&another.upload("numbers", &[1, 2]).unwrap()));
    if !has_gpu() {
        return;
    }

    let [mut gpu, mut another] = [0, 0].map(|index| Cuda::new(index).unwrap());
    let mut own = Buffers::new(&mut gpu);
    let Buffers { input, mut output, count, mut temp } = Buffers::new(&mut another);
    assert!(gpu.owns(&own.input) && !gpu.owns(&input));
    let scan = Scan::<Sum<u32>>::inclusive();
    let [length, of_another] = [&own.count, &count].map(|count| Length::Device { count, most: 5 });
    let (from, to, room) = (&own.input, &mut own.output, &mut own.temp);
    scan.run(&mut gpu, from, to, length, room).unwrap();
    for (result, what) in [
        (scan.run(&mut gpu, &input, to, length, room), "input"),
        (scan.run(&mut gpu, from, &mut output, length, room), "output"),
        (scan.run(&mut gpu, from, to, of_another, room), "number of elements"),
        (scan.run(&mut gpu, from, to, length, &mut temp), "temporary memory"),
    ] {
        refused(result, what, "another back end");
    }
    assert_eq!(gpu.download(to).unwrap(), [1, 3, 6, 10, 15]);
}

/// Preparing writes nothing, and leaves nothing to be compiled to the calls that it was for.
#[test]
fn kernels_are_compiled_before_they_are_needed() {
    fn calls<B: Primitives>(
        backend: &mut B,
        input: &B::Buf<u32>,
        [sums, sorted]: [&mut B::Buf<u32>; 2],
        temp: &mut Temp<B>,
    ) -> Result<(), Error> {
        let length = Length::Host(input.len() as u32);
        for form in Form::ALL {
            Scan::<Sum<u32>>::exclusive().in_form(form).run(backend, input, sums, length, temp)?;
        }
        RadixSort::ascending().run(backend, input, sorted, length, temp)
    }
    fn check<B: Primitives>(backend: &mut B, compiled: impl Fn(&B) -> u128) {
        let numbers: Vec<_> = random(3, 100_000).into_iter().map(|x| x as u32).collect();
        let input = backend.upload("input", &numbers).unwrap();
        let [mut sums, mut sorted] = [(); 2].map(|()| backend.zeroed("output", numbers.len()).unwrap());
        let mut temp = Temp::new(backend, 1 << 24).unwrap();
        backend.prepare_primitives(|b| calls(b, &input, [&mut sums, &mut sorted], &mut temp)).unwrap();
        let prepared = compiled(backend);
        for untouched in [&sums, &sorted] {
            assert!(backend.download(untouched).unwrap().iter().all(|x| *x == 0));
        }
        calls(backend, &input, [&mut sums, &mut sorted], &mut temp).unwrap();
        assert_eq!(compiled(backend), prepared, "something was left to compile");
        let sum = |sum: &mut u32, x: &u32| Some(std::mem::replace(sum, sum.wrapping_add(*x)));
        assert!(backend.download(&sums).unwrap().into_iter().eq(numbers.iter().scan(0, sum)));
        assert!(backend.download(&sorted).unwrap().is_sorted());
    }
    check(&mut Cpu::new(None).unwrap(), |_| 0);
    if has_gpu() {
        let mut gpu = Cuda::new(0).unwrap();
        let nanoseconds = |gpu: &Cuda| gpu.jit_time().as_nanos();
        let before = nanoseconds(&gpu);
        check(&mut gpu, nanoseconds);
        assert!(nanoseconds(&gpu) > before, "kernels are compiled at some time");
    }
}

#[test]
fn sizes_that_nothing_has_are_refused() {
    let mut cpu = Cpu::new(None).unwrap();
    for (width, height) in [(0, u32::MAX), (u32::MAX, 0), (1, u32::MAX), (1 << 30, 1)] {
        assert_eq!(SummedArea::<Wide, 4>::new(width, height).temp_bytes(), 0, "{width} × {height}");
    }
    let table = cpu.zeroed::<f64>("table", 0).unwrap();
    let mut blurred = cpu.zeroed::<f32>("output", 0).unwrap();
    let empty = BoxBlur::<4> { width: u32::MAX, height: 0, radii: [1, 1] };
    empty.run(&mut cpu, &table, &mut blurred).unwrap();
    let large = BoxBlur::<4> { width: u32::MAX, height: 1, radii: [1, 1] };
    assert!(large.run(&mut cpu, &table, &mut blurred).unwrap_err().reason.contains("are more than"));
}
