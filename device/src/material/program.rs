//! Textures composed of others: programs in postfix order, since GPUs are poor at recursion.

use bytemuck::{Pod, Zeroable};
use glam::{Vec2, Vec3};

use super::At;
use super::texture::{Op, Texture};
use crate::arch::load;
use crate::features::Features;
use crate::shape::Primitive;
use crate::shape::triangle::interpolate;

/// The most values that a program has on its stack.
pub const STACK: usize = 16;

/// A product or a mixture, 48 bytes: a [`Texture`] with other fields.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C, align(16))]
pub struct Combination {
    /// The two colours, or the factors on those on the stack.
    pub colors: [[f32; 3]; 2],
    /// The weight of the second in a mixture, or the factor on that on the stack.
    pub weight: f32,
    /// Where the colours and the weight are on the stack, two bits each from the lowest: 0 at its top, and so on; or
    /// [`Combination::CONSTANT`].
    pub operands: u32,
    /// Unused.
    pub reserved: [u32; 2],
    /// [`Op`].
    pub op: u32,
    /// Unused.
    pub reserved2: u32,
}

impl Combination {
    /// In the place of an operand that is not on the stack.
    pub const CONSTANT: u32 = 3;

    /// As an element of the list of textures.
    pub fn record(self) -> Texture {
        bytemuck::cast(self)
    }
}

/// Result type of a texture program.
pub(super) trait Value: Copy {
    const ZERO: Self;

    /// Value of an image.
    ///
    /// # Safety
    /// `image` is one of the scene of `at`.
    unsafe fn image(at: &At<'_>, image: &Texture) -> Self;

    /// The same everywhere.
    fn constant(color: Vec3) -> Self;

    /// The colours at the vertices, interpolated.
    ///
    /// # Safety
    /// The scene of `at` is valid.
    unsafe fn vertex_color(at: &At<'_>, texture: &Texture) -> Self;

    fn plus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;

    /// The first channel, which is the value of a number, in all of them.
    fn number(self) -> Self;
}

impl Value for Vec3 {
    const ZERO: Self = Self::ZERO;

    #[inline(always)]
    unsafe fn image(at: &At<'_>, image: &Texture) -> Self {
        // SAFETY: as the caller promised.
        unsafe { image.color(at) }
    }

    #[inline(always)]
    fn constant(color: Vec3) -> Self {
        color
    }

    #[inline(always)]
    unsafe fn vertex_color(at: &At<'_>, texture: &Texture) -> Self {
        // SAFETY: as the caller promised.
        interpolate(unsafe { vertex_colors(at, texture) }, at.b)
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        self + other
    }

    #[inline(always)]
    fn times(self, other: Self) -> Self {
        self * other
    }

    #[inline(always)]
    fn number(self) -> Self {
        Self::splat(self.x)
    }
}

/// The first channel h, ∂h/∂u and ∂h/∂v.
#[derive(Clone, Copy)]
pub(super) struct Height(pub(super) Vec3);

impl Value for Height {
    const ZERO: Self = Self(Vec3::ZERO);

    #[inline(always)]
    unsafe fn image(at: &At<'_>, image: &Texture) -> Self {
        // SAFETY: as the caller promised.
        Self(unsafe { image.height(at) })
    }

    #[inline(always)]
    fn constant(color: Vec3) -> Self {
        Self(Vec3::new(color.x, 0.0, 0.0))
    }

    #[inline(always)]
    unsafe fn vertex_color(at: &At<'_>, texture: &Texture) -> Self {
        // SAFETY: as the caller promised.
        let colors = unsafe { vertex_colors(at, texture) };
        let h = interpolate(colors, at.b).x;
        if at.triangle == Primitive::FLAT || at.scene.uvs.is_null() {
            return Self(Vec3::new(h, 0.0, 0.0));
        }
        // SAFETY: triangles with vertex colours have texture coordinates where any have.
        let uvs = unsafe { load(at.scene.uvs.add(at.triangle as usize)) };
        // As points follow u and v, so do colours.
        let (du, dv) = uvs.derivatives(colors);
        Self(Vec3::new(h, du.x, dv.x))
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }

    /// (fg)′ = f′g + fg′.
    #[inline(always)]
    fn times(self, Self(g): Self) -> Self {
        let f = self.0;
        Self(Vec3::new(f.x * g.x, f.y * g.x + f.x * g.y, f.z * g.x + f.x * g.z))
    }

    #[inline(always)]
    fn number(self) -> Self {
        self
    }
}

/// Selected channels of the vertex colours; white where there are none.
///
/// # Safety
/// The scene of `at` is valid.
#[inline(always)]
unsafe fn vertex_colors(at: &At<'_>, texture: &Texture) -> [Vec3; 3] {
    if at.triangle == Primitive::FLAT || at.scene.colors.is_null() {
        return [Vec3::ONE; 3];
    }
    // SAFETY: the scene has the colours of the triangle.
    let [a, b, c] = unsafe { load(at.scene.colors.add(at.triangle as usize)) }.rgb;
    let channel = |c: Vec3| texture.channel([c.x, c.y, c.z, 1.0]);
    [channel(a), channel(b), channel(c)]
}

/// Runs a program, or the one step that the texture is.
///
/// # Safety
/// The texture is one of the scene of `at`, which is valid, and neither [`Op::Product`] nor [`Op::Mix`].
#[inline(never)]
pub(super) unsafe fn run<V: Value>(at: &At<'_>, texture: &Texture) -> V {
    // SAFETY: as the caller promised.
    unsafe {
        if !Features::may_be_asked_for(Features::PROGRAMS) || !texture.is(Op::Program) {
            return leaf(at, texture);
        }
        let mut stack = Stack { values: [V::ZERO; STACK], len: 0 };
        for i in 0..texture.width {
            let step = load(at.scene.textures.add((texture.first + i) as usize));
            let value =
                if step.is(Op::Product) || step.is(Op::Mix) { stack.combine(&step) } else { leaf(at, &step) };
            stack.push(value);
        }
        stack.at(0)
    }
}

/// A texture that is made of no others.
///
/// # Safety
/// It is one, and of the scene of `at`, which is valid.
#[inline(always)]
unsafe fn leaf<V: Value>(at: &At<'_>, texture: &Texture) -> V {
    // SAFETY: as the caller promised.
    unsafe {
        if texture.is(Op::Image) {
            return V::image(at, texture);
        }
        if texture.is(Op::VertexColor) {
            return V::vertex_color(at, texture);
        }
        V::constant(Vec3::splat(if is_odd(texture.place(&at.uv)) { 1.0 } else { 0.0 }))
    }
}

/// Whether the whole parts of just one of the coordinates is even. What is too large to tell is.
#[inline(always)]
fn is_odd(p: Vec2) -> bool {
    let half = 0.5 * p.floor();
    let odd = half - half.floor();
    odd.x != odd.y
}

/// The values that a program has computed and not yet used.
struct Stack<V> {
    values: [V; STACK],
    len: u32,
}

impl<V: Value> Stack<V> {
    #[inline(always)]
    fn push(&mut self, value: V) {
        self.values[self.len as usize % STACK] = value;
        self.len += 1;
    }

    /// The value so far below the top.
    #[inline(always)]
    fn at(&self, below: u32) -> V {
        self.values[self.len.wrapping_sub(1 + below) as usize % STACK]
    }

    /// The product or mixture of values that it takes off the stack.
    #[inline(always)]
    fn combine(&mut self, step: &Texture) -> V {
        let combination: Combination = bytemuck::cast(*step);
        let [c0, c1] = combination.colors.map(Vec3::from_array);
        let mut used = 0;
        let mut operand = |k: u32, factor: Vec3| {
            let place = (combination.operands >> (2 * k)) & 3;
            let factor = V::constant(factor);
            if place == Combination::CONSTANT {
                return factor;
            }
            used += 1;
            let value = self.at(place);
            factor.times(if k == 2 { value.number() } else { value })
        };
        let (c0, c1, weight) = (operand(0, c0), operand(1, c1), operand(2, Vec3::splat(combination.weight)));
        self.len -= used;
        if step.is(Op::Product) {
            return c0.times(c1);
        }
        let rest = V::constant(Vec3::ONE).plus(weight.times(V::constant(Vec3::NEG_ONE)));
        c0.times(rest).plus(c1.times(weight))
    }
}
