//! Blur after rendering: what a lens would have done to the image of a pinhole, from its depths, and blur that is the same
//! everywhere.
//!
//! `primitives::defocus` says how. Every back end does it; the host waits once, to see how blurred things are.

use primitives::Ptr;
use primitives::defocus::{
    Behind, BehindArgs, Blurred, Circles, CirclesArgs, Cover, CoverArgs, Develop, DevelopArgs, Layered, Ramp,
    Slice, SliceArgs, Strip, VisibleSurfaces,
};
use rayon::prelude::*;
use torrance_gpu::backend::{Buffer, Error};
use torrance_gpu::primitives::{MOST, Primitives, SummedArea, Temp, Wide};
use torrance_image::film::Image;

mod aperture;
mod layers;
mod work;

pub use aperture::Shape;
use layers::{Layer, Stack};
use work::Call;

/// Bytes of memory that a pixel takes.
pub const BYTES_PER_PIXEL: u128 = 124;

/// The largest radius of a blur, pixels: larger circles of confusion are drawn no larger.
pub const MOST_RADIUS: f32 = 4096.0;

/// A thin lens in the place of a pinhole.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lens {
    /// Radius of its aperture, metres.
    pub radius: f32,
    /// Focus distance along the axis, metres.
    pub focus_distance: f32,
    /// Vertical field of view, degrees.
    pub fov: f32,
}

impl Lens {
    /// Radius of the circle of confusion of what is infinitely far, pixels, in an image of so many rows, and by how much
    /// the signed radius is less at an inverse distance of 1 per metre.
    ///
    /// On the plane at distance 1, the point that a lens of radius R sees at the depth z is spread over R·|1/f − 1/z|.
    fn circles(&self, height: u32) -> [f32; 2] {
        let pixels = f64::from(height) / (2.0 * (f64::from(self.fov).to_radians() / 2.0).tan());
        let slope = f64::from(self.radius) * pixels;
        [(slope / f64::from(self.focus_distance)) as f32, slope as f32]
    }
}

/// The source of blur.
#[derive(Debug, Clone, Copy)]
pub enum Blur<'a> {
    /// A lens with a round aperture.
    Lens {
        /// The lens.
        lens: Lens,
        /// Distances along the axis, metres, one a pixel; infinite or very large where there is nothing.
        depths: &'a [f32],
    },
    /// The mean over a shape around each pixel.
    Even {
        /// Half its width, pixels.
        radius: f32,
        /// The shape.
        shape: Shape,
    },
}

/// A blurred image.
#[derive(Debug, Clone, PartialEq)]
pub struct Defocused {
    /// The image.
    pub image: Image,
    /// Pixels that were NaN or infinite, or have no depth above 0: what is around them is blurred over them, and nothing of
    /// them over that.
    pub missing: usize,
    /// Layers that were blurred.
    pub layers: usize,
    /// The largest radius of a circle of confusion before what is in focus, and behind it, pixels.
    pub radii: [f32; 2],
}

/// Blurs an image, and tells after each layer which part of them is done, or queued.
///
/// # Errors
/// The image is too large, has not as many pixels as its size says, there is not one depth a pixel, or what the machine says.
pub fn defocus<B: Primitives>(
    backend: &mut B,
    image: &Image,
    blur: Blur<'_>,
    observe: &mut dyn FnMut(f64),
) -> Result<Defocused, Error> {
    check_size(image)?;
    let even;
    let (depths, circles, shape) = match blur {
        Blur::Lens { lens, depths } => (depths, lens.circles(image.height), Shape::Disc),
        Blur::Even { radius, shape } => {
            even = vec![1.0; image.pixels.len()];
            (&even[..], [radius, 0.0], shape)
        }
    };
    if depths.len() != image.pixels.len() {
        return Err(refused(format!("{} depths of {} pixels", depths.len(), image.pixels.len())));
    }
    let mut buffers = Buffers::new(backend, image, depths)?;
    let seen = buffers.look(backend, circles)?;
    let stack = Stack::new(&seen, shape);
    drop(seen);
    buffers.blur(backend, &stack, observe)?;
    let pixels: Vec<f32> = backend.download(&buffers.pixels)?;
    let pixels = pixels.par_chunks_exact(4).map(|p| [p[0], p[1], p[2]]).collect();
    Ok(Defocused {
        image: Image { width: image.width, height: image.height, pixels },
        missing: stack.missing,
        layers: stack.layers.len(),
        radii: stack.radii,
    })
}

/// Whether there is a pixel for every place, and kernels can count four numbers of each.
fn check_size(image: &Image) -> Result<(), Error> {
    let Image { width, height, ref pixels } = *image;
    let n = u64::from(width) * u64::from(height);
    if n > u64::from(MOST / 4) {
        return Err(refused(format!("{width} × {height} pixels of 4 numbers are more than {MOST} numbers")));
    }
    if n != pixels.len() as u64 {
        return Err(refused(format!("{} pixels in an image of {width} × {height}", pixels.len())));
    }
    Ok(())
}

fn refused(reason: String) -> Error {
    Error { doing: "blurring".into(), reason }
}

/// Buffers in a back end's memory, allocated once.
struct Buffers<B: Primitives> {
    size: [u32; 2],
    pixels: B::Buf<f32>,
    depths: B::Buf<f32>,
    seen: B::Buf<VisibleSurfaces>,
    slice: B::Buf<f32>,
    table: B::Buf<f64>,
    sum: B::Buf<f32>,
    last: B::Buf<f32>,
    behind: B::Buf<f32>,
    temp: Temp<B>,
}

impl<B: Primitives> Buffers<B> {
    fn new(backend: &mut B, image: &Image, depths: &[f32]) -> Result<Self, Error> {
        let n = image.pixels.len();
        let pixels: Vec<[f32; 4]> = image.pixels.par_iter().map(|&[r, g, b]| [r, g, b, 1.0]).collect();
        let sat = SummedArea::<Wide, 4>::new(image.width, image.height);
        Ok(Self {
            size: [image.width, image.height],
            pixels: backend.upload("image", pixels.as_flattened())?,
            depths: backend.upload("depths", depths)?,
            seen: backend.zeroed("circles of confusion", n)?,
            slice: backend.zeroed("layer", 4 * n)?,
            table: backend.zeroed("summed-area table", 4 * n)?,
            sum: backend.zeroed("blurred image", 4 * n)?,
            last: backend.zeroed("cover", n)?,
            behind: backend.zeroed("background", 4 * n)?,
            temp: Temp::new(backend, sat.temp_bytes())?,
        })
    }

    /// Circles of confusion of all pixels.
    fn look(
        &mut self,
        backend: &mut B,
        [at_infinity, slope]: [f32; 2],
    ) -> Result<Vec<VisibleSurfaces>, Error> {
        let args = CirclesArgs {
            pixels: Ptr::new(self.pixels.ptr()).cast(),
            depths: Ptr::new(self.depths.ptr()),
            seen: Ptr::new(self.seen.ptr()),
            size: self.size,
            at_infinity,
            slope,
            most: MOST_RADIUS,
        };
        // SAFETY: the buffers are of this size, and are freed after the work.
        unsafe { backend.queue(&Call::<Circles>(args, self.size))? };
        backend.download(&self.seen)
    }

    /// Puts all layers one behind the other.
    fn blur(&mut self, backend: &mut B, stack: &Stack, observe: &mut dyn FnMut(f64)) -> Result<(), Error> {
        let strips = backend.upload("shapes of the aperture", &stack.strips)?;
        let strips = Ptr::new(strips.ptr());
        let layered = Layered {
            sum: Ptr::new(self.sum.ptr()).cast(),
            last: Ptr::new(self.last.ptr()),
            behind: Ptr::new(self.behind.ptr()).cast(),
        };
        for (i, layer) in stack.layers.iter().enumerate() {
            observe(i as f64 / stack.layers.len() as f64);
            let blurred = self.slice(backend, layer, strips, [layer.from, layer.to])?;
            // SAFETY: the buffers are of this size, and are freed after the work.
            unsafe { backend.queue(&Call::<Cover>(CoverArgs { layer: blurred, layered }, self.size))? };
            if let Some(behind) = layer.behind {
                let blurred = self.slice(backend, layer, strips, [behind, Ramp::NONE])?;
                // SAFETY: as above.
                unsafe { backend.queue(&Call::<Behind>(BehindArgs { layer: blurred, layered }, self.size))? };
            }
        }
        let develop = DevelopArgs { pixels: Ptr::new(self.pixels.ptr()).cast(), layered, size: self.size };
        // SAFETY: as above.
        unsafe { backend.queue(&Call::<Develop>(develop, self.size))? };
        backend.synchronize()
    }

    /// Takes a slice of the image, and readies it to be blurred as the layer is.
    fn slice(
        &mut self,
        backend: &mut B,
        layer: &Layer,
        strips: Ptr<Strip>,
        [from, to]: [Ramp; 2],
    ) -> Result<Blurred, Error> {
        let size = self.size;
        let slice = Ptr::new(self.slice.ptr()).cast();
        let args = SliceArgs {
            pixels: Ptr::new(self.pixels.ptr()).cast(),
            seen: Ptr::new(self.seen.ptr()),
            slice,
            size,
            from,
            to,
        };
        // SAFETY: the buffers are of this size, and are freed after the work.
        unsafe { backend.queue(&Call::<Slice>(args, size))? };
        let count = layer.strips.len() as u32;
        let mut table = Ptr::NULL;
        if count > 0 {
            let sat = SummedArea::<Wide, 4>::new(size[0], size[1]);
            sat.run(backend, &self.slice, &mut self.table, &mut self.temp)?;
            table = Ptr::new(self.table.ptr()).cast();
        }
        Ok(Blurred { slice, table, size, strips: strips.skip(layer.strips.start as u32), count })
    }
}
