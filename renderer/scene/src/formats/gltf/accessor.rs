//! Accessors: typed elements of buffer views, with the substitutions of sparse ones.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use super::buffers::{Buffers, View};
use super::draco::Decoded;
use super::json::Node;

/// Most elements that are read from accessors. Of the vertices that several primitives share each reads its own only.
pub(super) const MAX_ELEMENTS: u64 = 1 << 28;
/// Most elements that are read of files without bytes.
const BLANK_ELEMENTS: u64 = 1 << 21;
/// Most elements for each byte of the files, where there are more: parts of a mesh may share their vertices.
const ELEMENTS_PER_BYTE: u64 = 16;
/// As how many elements counts one of an accessor without a buffer view, which no bytes of a file stand for.
const ZERO: u64 = 16;

pub(super) const ACCESSOR: &[&str] =
    &["bufferView", "byteOffset", "componentType", "normalized", "count", "type", "max", "min", "sparse"];

/// How a number is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Component {
    I8,
    U8,
    I16,
    U16,
    U32,
    F32,
}

impl Component {
    fn read(node: &Node<'_>) -> Option<Self> {
        match node.whole()? {
            5120 => Some(Self::I8),
            5121 => Some(Self::U8),
            5122 => Some(Self::I16),
            5123 => Some(Self::U16),
            5125 => Some(Self::U32),
            5126 => Some(Self::F32),
            other => node.fail(format!("is {other}; numbers are of 5120, 5121, 5122, 5123, 5125 or 5126")),
        }
    }

    pub(super) const fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::U32 | Self::F32 => 4,
        }
    }

    const fn is_unsigned(self) -> bool {
        matches!(self, Self::U8 | Self::U16 | Self::U32)
    }

    /// The number that bytes are, or the part of one that they stand for.
    fn float(self, bytes: &[u8], normalized: bool) -> f32 {
        let (number, most) = match (self, bytes) {
            (Self::I8, &[a]) => (f32::from(a as i8), 127.0),
            (Self::U8, &[a]) => (f32::from(a), 255.0),
            (Self::I16, &[a, b]) => (f32::from(i16::from_le_bytes([a, b])), 32767.0),
            (Self::U16, &[a, b]) => (f32::from(u16::from_le_bytes([a, b])), 65535.0),
            (Self::U32, &[a, b, c, d]) => (u32::from_le_bytes([a, b, c, d]) as f32, u32::MAX as f32),
            (_, &[a, b, c, d]) => return f32::from_le_bytes([a, b, c, d]),
            _ => return 0.0,
        };
        if normalized { (number / most).max(-1.0) } else { number }
    }

    /// The whole number that bytes are, 0 or above.
    fn whole(self, bytes: &[u8]) -> Option<u32> {
        match (self, bytes) {
            (Self::U8, &[a]) => Some(a.into()),
            (Self::U16, &[a, b]) => Some(u16::from_le_bytes([a, b]).into()),
            (Self::U32, &[a, b, c, d]) => Some(u32::from_le_bytes([a, b, c, d])),
            _ => None,
        }
    }
}

/// Elements in a view, one after the other.
struct Elements<'a> {
    view: View<'a>,
    offset: usize,
    stride: usize,
    size: usize,
}

impl<'a> Elements<'a> {
    /// `count` elements of `size` bytes from the view and offset that `node` names, all of them there.
    fn read(buffers: &Buffers<'a>, node: &Node<'a>, count: usize, size: usize) -> Option<Self> {
        let view = buffers.view(&node.require("bufferView")?)?;
        let offset = usize::try_from(node.get_or("byteOffset", 0, |n| n.whole())?).unwrap_or(usize::MAX);
        let stride = view.stride.unwrap_or(size);
        if stride < size {
            return node.fail(format!("has elements of {size} bytes, and its view has one every {stride}"));
        }
        let span =
            count.saturating_sub(1).saturating_mul(stride).saturating_add(if count == 0 { 0 } else { size });
        let (end, there) = (offset.saturating_add(span), view.bytes().len());
        if end > there {
            return node.fail(format!("ends at byte {end} of a buffer view of {there}"));
        }
        Some(Self { view, offset, stride, size })
    }

    fn get(&self, i: usize) -> &[u8] {
        let at = self.offset + i * self.stride;
        &self.view.bytes()[at..at + self.size]
    }
}

/// An accessor whose bytes are all there.
pub(super) struct Accessor<'a> {
    node: Node<'a>,
    pub(super) count: usize,
    component: Component,
    normalized: bool,
    /// Numbers an element.
    width: usize,
    /// Zeros if there are none.
    elements: Option<Elements<'a>>,
    /// Which elements are others.
    sparse: Option<(Vec<u32>, Elements<'a>)>,
    /// Which elements are read, if not all are.
    selected: Option<Rc<Vertices>>,
}

/// Some of the vertices that accessors have.
pub(super) struct Vertices {
    /// How many accessors have.
    all: usize,
    /// Indices, growing.
    used: Vec<u32>,
}

impl Vertices {
    /// Those of triangles, which then count in these, unless they are all.
    pub(super) fn of(triangles: &mut [[u32; 3]], all: usize) -> Option<Self> {
        let corners = || triangles.iter().flatten().copied();
        // A mesh may have a small part of very many.
        let used: Vec<u32> = if all / 4 <= triangles.len() {
            let mut is_used = vec![false; all];
            corners().for_each(|i| is_used[i as usize] = true);
            (0..all as u32).filter(|i| is_used[*i as usize]).collect()
        } else {
            let mut used: Vec<u32> = corners().collect();
            used.sort_unstable();
            used.dedup();
            used
        };
        if used.len() == all {
            return None;
        }
        for corner in triangles.iter_mut().flatten() {
            *corner = used.partition_point(|i| i < corner) as u32;
        }
        Some(Self { all, used })
    }

    pub(super) fn len(&self) -> usize {
        self.used.len()
    }
}

/// Reads accessors, up to [`MAX_ELEMENTS`] elements, and as many as the bytes of the file allow.
pub(super) struct Accessors<'b, 'a> {
    pub(super) buffers: &'b Buffers<'a>,
    spent: Cell<u64>,
    /// What stands for accessors of the compressed primitive that is being read, by their indices.
    decoded: RefCell<HashMap<usize, Decoded<'a>>>,
    /// Which vertices the primitive that is being read has, if not all.
    selected: RefCell<Option<Rc<Vertices>>>,
}

impl<'b, 'a> Accessors<'b, 'a> {
    pub(super) fn new(buffers: &'b Buffers<'a>) -> Self {
        Self { buffers, spent: Cell::new(0), decoded: RefCell::default(), selected: RefCell::default() }
    }

    /// Has accessors stand for what a compressed primitive has, until those of the next.
    pub(super) fn replace(&self, decoded: HashMap<usize, Decoded<'a>>) {
        self.decoded.replace(decoded);
    }

    /// Has accessors stand for some of their elements, until others are selected or all.
    pub(super) fn select(&self, vertices: Option<Vertices>) {
        self.selected.replace(vertices.map(Rc::new));
    }

    /// The accessor that `from` is the index of, whose elements are of one of `types`, all of which are to be read, or those
    /// that are selected.
    pub(super) fn get(&self, from: &Node<'a>, types: &[&str]) -> Option<Accessor<'a>> {
        let mut accessor = self.open(from, types)?;
        if let Some(selected) = self.selected.borrow().as_ref() {
            if selected.all != accessor.count {
                let (count, all) = (accessor.count, selected.all);
                return from.fail(format!("has {count} elements, and there are {all} positions"));
            }
            accessor.count = selected.len();
            accessor.selected = Some(Rc::clone(selected));
        }
        // Decoding has been counted.
        if !self.decoded.borrow().contains_key(&from.index("accessors")?) {
            let each = if accessor.elements.is_some() { 1 } else { ZERO };
            self.spend(&accessor.node.require("count")?, (accessor.count as u64).saturating_mul(each))?;
        }
        Some(accessor)
    }

    /// As [`Self::get`], of an accessor of which nothing is read but how many elements it has.
    pub(super) fn open(&self, from: &Node<'a>, types: &[&str]) -> Option<Accessor<'a>> {
        let node = from.indexed("accessors", ACCESSOR)?;
        let component = Component::read(&node.require("componentType")?)?;
        let kind = node.require("type")?;
        let name = kind.string()?;
        if !types.contains(&name) {
            return from.fail(format!("must be of {}, and {} is of {name}", types.join(" or "), node.path));
        }
        let width = match name {
            "SCALAR" => 1,
            "VEC2" => 2,
            "VEC3" => 3,
            "VEC4" => 4,
            _ => 16,
        };
        let normalized = node.get_or("normalized", false, |n| n.boolean())?;
        if let Some(decoded) = self.decoded.borrow().get(&from.index("accessors")?) {
            return decoded.clone().accessor(node, component, width, normalized);
        }
        let counted = node.require("count")?;
        let count = counted.whole()?;
        let size = component.size() * width;
        // The buffer is read, too: its bytes count for what may be asked.
        let elements =
            node.optional("bufferView", |_| Elements::read(self.buffers, &node, count as usize, size))?;
        let count = count as usize;
        let sparse = node.optional("sparse", |sparse| self.sparse(sparse, count, size))?;
        Some(Accessor { node, count, component, normalized, width, elements, sparse, selected: None })
    }

    /// A number of elements, taken from those that may be read.
    pub(super) fn spend(&self, node: &Node<'a>, count: u64) -> Option<()> {
        let most = (ELEMENTS_PER_BYTE * self.buffers.bytes()).clamp(BLANK_ELEMENTS, MAX_ELEMENTS);
        let spent = self.spent.get().saturating_add(count);
        if spent > most {
            return node.fail(format!(
                "asks for {count} elements: with those before, more than {most}, the most of a file of that size"
            ));
        }
        self.spent.set(spent);
        Some(())
    }

    fn sparse(&self, node: Node<'a>, of: usize, size: usize) -> Option<(Vec<u32>, Elements<'a>)> {
        let node = node.object(&["count", "indices", "values"])?;
        let counted = node.require("count")?;
        let count = counted.whole()?;
        if count > of as u64 {
            return counted.fail(format!("is {count}, and the accessor has {of} elements"));
        }
        let count = count as usize;
        let indices = node.require("indices")?.object(&["bufferView", "byteOffset", "componentType"])?;
        let component = Component::read(&indices.require("componentType")?)?;
        let stored = Elements::read(self.buffers, &indices, count, component.size())?;
        let read: Option<Vec<u32>> = (0..count).map(|i| component.whole(stored.get(i))).collect();
        let Some(read) = read else { return indices.fail("must have a componentType of 5121, 5123 or 5125") };
        if let Some(i) = read.iter().position(|i| *i as usize >= of) {
            return indices.fail(format!("has the index {} of an accessor with {of} elements", read[i]));
        }
        if read.windows(2).any(|pair| pair[0] >= pair[1]) {
            return indices.fail("must grow from one to the next");
        }
        self.spend(&counted, count as u64)?;
        let values = node.require("values")?.object(&["bufferView", "byteOffset"])?;
        Some((read, Elements::read(self.buffers, &values, count, size)?))
    }
}

impl<'a> Decoded<'a> {
    /// The accessor that these elements stand for, with `width` numbers an element. Whole numbers are of its own kind if those
    /// of the compressed mesh may be negative or have fractions.
    fn accessor(
        self,
        node: Node<'a>,
        wanted: Component,
        width: usize,
        normalized: bool,
    ) -> Option<Accessor<'a>> {
        let Self { mut bytes, count, mut component, width: found } = self;
        if found != width {
            return node.fail(format!("has {width} numbers an element, and the compressed mesh {found}"));
        }
        if !normalized && wanted.is_unsigned() && !component.is_unsigned() {
            let numbers = bytes.chunks_exact(component.size());
            let wholes = numbers.flat_map(|number| (component.float(number, false) as u32).to_le_bytes());
            bytes = Rc::new(Cow::Owned(wholes.collect()));
            component = Component::U32;
        }
        let size = component.size() * width;
        let elements = Elements { view: View::of(bytes, None), offset: 0, stride: size, size };
        let elements = Some(elements);
        Some(Accessor { node, count, component, normalized, width, elements, sparse: None, selected: None })
    }
}

impl Accessor<'_> {
    /// Every element, as bytes.
    fn for_each(&self, mut with: impl FnMut(usize, &[u8])) {
        let zeros = &[0; 64][..self.component.size() * self.width];
        let mut others = self.sparse.iter().flat_map(|(indices, values)| {
            indices.iter().enumerate().map(|(k, i)| (*i as usize, values.get(k)))
        });
        let mut next = others.next();
        let used = self.selected.as_ref().map(|selected| selected.used.as_slice());
        for k in 0..self.count {
            let i = used.map_or(k, |used| used[k] as usize);
            while next.is_some_and(|(at, _)| at < i) {
                next = others.next();
            }
            match next {
                Some((at, bytes)) if at == i => with(i, bytes),
                _ => with(i, self.elements.as_ref().map_or(zeros, |e| e.get(i))),
            }
        }
    }

    /// The elements as `N` floats each; missing ones are 1. All are finite.
    pub(super) fn floats<const N: usize>(&self) -> Option<Vec<[f32; N]>> {
        let floats = self.all_floats();
        self.check_finite(&floats)?;
        Some(floats)
    }

    /// As [`Self::floats`], but where numbers are none, of which is warned, with what is done about it.
    pub(super) fn forgiven_floats<const N: usize>(&self, remedy: &str) -> Vec<[f32; N]> {
        let floats = self.all_floats();
        let _ = self.node.document.log.forgiving(remedy, || self.check_finite(&floats));
        floats
    }

    fn all_floats<const N: usize>(&self) -> Vec<[f32; N]> {
        let mut floats = Vec::with_capacity(self.count);
        self.for_each(|_, bytes| {
            let mut element = [1.0; N];
            for (x, bytes) in element.iter_mut().zip(bytes.chunks_exact(self.component.size())) {
                *x = self.component.float(bytes, self.normalized);
            }
            floats.push(element);
        });
        floats
    }

    fn check_finite<const N: usize>(&self, floats: &[[f32; N]]) -> Option<()> {
        let is_bad = |element: &[f32; N]| element.iter().any(|x| !x.is_finite());
        let Some(at) = floats.iter().position(is_bad) else { return Some(()) };
        let x = floats[at].into_iter().find(|x| !x.is_finite()).unwrap_or(f32::NAN);
        let what = if x.is_nan() { "not a number (NaN)" } else { "infinite" };
        let at = self.selected.as_ref().map_or(at, |selected| selected.used[at] as usize);
        self.node.fail(format!("has an element, {at}, that is {what}"))
    }

    /// The elements as whole numbers: indices.
    pub(super) fn wholes<const N: usize>(&self) -> Option<Vec<[u32; N]>> {
        if !matches!(self.component, Component::U8 | Component::U16 | Component::U32) {
            return self.node.fail("must have a componentType of 5121, 5123 or 5125");
        }
        let mut wholes = Vec::with_capacity(self.count);
        self.for_each(|_, bytes| {
            let mut element = [0; N];
            for (x, bytes) in element.iter_mut().zip(bytes.chunks_exact(self.component.size())) {
                *x = self.component.whole(bytes).unwrap_or(0);
            }
            wholes.push(element);
        });
        Some(wholes)
    }
}
