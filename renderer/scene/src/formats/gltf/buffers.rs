//! Bytes: buffers, views of them, and URIs.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::path::PathBuf;
use std::rc::Rc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use torrance_text::{human_bytes, quoted, quoted_path};

use super::json::{Document, Node};
use super::meshopt;
use crate::description::limits::MAX_MESH_BYTES;
use crate::files::Files;
use crate::files::mesh::read_bytes;

/// A buffer view.
const VIEW: &[&str] = &["buffer", "byteOffset", "byteLength", "byteStride", "target"];

/// The buffers of a document, each read when it is first asked for.
pub(super) struct Buffers<'a> {
    pub(super) document: Document<'a>,
    binary: Option<&'a [u8]>,
    files: &'a Files,
    /// `None` for those with errors, which are reported once.
    read: RefCell<HashMap<usize, Option<Bytes<'a>>>>,
    /// The bytes of compressed views; `None` for those with errors.
    decompressed: RefCell<HashMap<usize, Option<View<'a>>>>,
    /// Bytes that may still be read.
    left: Cell<u64>,
}

/// The chunk of a `.glb` file, or what was read from elsewhere.
pub(super) type Bytes<'a> = Rc<Cow<'a, [u8]>>;

/// A part of a buffer.
#[derive(Clone)]
pub(super) struct View<'a> {
    buffer: Bytes<'a>,
    start: usize,
    end: usize,
    /// Bytes from one element to the next, if that is said.
    pub(super) stride: Option<usize>,
}

impl<'a> View<'a> {
    /// All of `buffer`.
    pub(super) fn of(buffer: Bytes<'a>, stride: Option<usize>) -> Self {
        Self { start: 0, end: buffer.len(), buffer, stride }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }
}

impl<'a> Buffers<'a> {
    pub(super) fn new(document: Document<'a>, binary: Option<&'a [u8]>, files: &'a Files) -> Self {
        let (read, decompressed) = (RefCell::default(), RefCell::default());
        Self { document, binary, files, read, decompressed, left: Cell::new(MAX_MESH_BYTES) }
    }

    /// Bytes of the file and those that it names, as far as they are read; its text does not count.
    pub(super) fn bytes(&self) -> u64 {
        self.binary.map_or(0, |bytes| bytes.len() as u64) + (MAX_MESH_BYTES - self.left.get())
    }

    /// The view that `from` is the index of.
    pub(super) fn view(&self, from: &Node<'a>) -> Option<View<'a>> {
        let node = from.indexed("bufferViews", VIEW)?;
        if let Some(packed) = meshopt::EXTENSIONS.into_iter().find_map(|name| node.extension(name)) {
            let index = from.index("bufferViews")?;
            if let Some(known) = self.decompressed.borrow().get(&index) {
                return known.clone();
            }
            let view = self.decompress(&node, packed);
            self.decompressed.borrow_mut().insert(index, view.clone());
            return view;
        }
        let (buffer, start, end) = self.range(&node)?;
        Some(View { buffer, start, end, stride: stride(&node)? })
    }

    /// A view that is compressed; what may stand beside it is not read.
    fn decompress(&self, node: &Node<'a>, packed: Node<'a>) -> Option<View<'a>> {
        let packed = packed.object(meshopt::STREAM)?;
        let (buffer, start, end) = self.range(&packed)?;
        let bytes = meshopt::decode(&packed, &buffer[start..end])?;
        self.take(node, bytes.len())?;
        // Elements of attributes are multiples of 4 bytes, whatever their numbers take.
        let stride = match stride(node)? {
            None if packed.require("mode")?.string()? == "ATTRIBUTES" => {
                Some(packed.require("byteStride")?.whole()? as usize)
            }
            stride => stride,
        };
        Some(View::of(Rc::new(Cow::Owned(bytes)), stride))
    }

    /// The part of a buffer that `node` names: the buffer, where it starts and ends.
    fn range(&self, node: &Node<'a>) -> Option<(Bytes<'a>, usize, usize)> {
        let buffer = self.buffer(&node.require("buffer")?)?;
        let offset = node.get_or("byteOffset", 0, |n| n.whole())?;
        let length = node.require("byteLength")?.whole()?;
        let end = offset.saturating_add(length);
        if end > buffer.len() as u64 {
            return node.fail(format!("ends at byte {end} of a buffer of {}", buffer.len()));
        }
        Some((buffer, offset as usize, end as usize))
    }

    fn buffer(&self, from: &Node<'a>) -> Option<Bytes<'a>> {
        let index = from.index("buffers")?;
        if let Some(known) = self.read.borrow().get(&index) {
            return known.clone();
        }
        let read = self.read_buffer(index);
        self.read.borrow_mut().insert(index, read.clone());
        read
    }

    fn read_buffer(&self, index: usize) -> Option<Bytes<'a>> {
        let node = self.document.element("buffers", index, &["uri", "byteLength"])?;
        let length = node.require("byteLength")?.whole()?;
        let bytes: Cow<'a, [u8]> = match (node.get("uri"), self.binary) {
            (Some(uri), _) => self.uri(&uri)?.0.into(),
            (None, Some(binary)) if index == 0 => binary.into(),
            _ => {
                return node.fail("has no \"uri\" that says where its bytes are");
            }
        };
        if length > bytes.len() as u64 {
            return node.fail(format!("has {} bytes, and its byteLength is {length}", bytes.len()));
        }
        Some(Rc::new(bytes))
    }

    /// The bytes of a `data:` URI, or of a file and where that is.
    pub(super) fn uri(&self, node: &Node<'a>) -> Option<(Vec<u8>, Option<PathBuf>)> {
        let uri = node.string()?;
        let (bytes, path) = match uri.split_at_checked(5) {
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("data:") => (data(node, rest)?, None),
            _ => self.file(node, uri)?,
        };
        self.take(node, bytes.len())?;
        Some((bytes, path))
    }

    /// Takes bytes from those that may be read.
    fn take(&self, node: &Node<'a>, bytes: usize) -> Option<()> {
        let Some(left) = self.left.get().checked_sub(bytes as u64) else {
            let most = human_bytes(MAX_MESH_BYTES.into());
            return node.fail(format!("is one too many: what the file names may have {most} in all"));
        };
        self.left.set(left);
        Some(())
    }

    /// The file that a URI stands for.
    fn file(&self, node: &Node<'a>, uri: &str) -> Option<(Vec<u8>, Option<PathBuf>)> {
        if uri.contains("://") {
            return node.fail(format!("is {}; only files and data: URIs are read", quoted(uri)));
        }
        let Some(decoded) = percent_decoded(uri).and_then(|bytes| String::from_utf8(bytes).ok()) else {
            return node.fail(format!("is {}, which is not percent-encoded UTF-8", quoted(uri)));
        };
        // Some writers leave names as they are: what is there is meant.
        let there = |name: &str| self.files.resolve(name).is_ok_and(|path| path.exists());
        let name = if decoded != uri && !there(&decoded) && there(uri) { uri } else { &decoded };
        let found = self.files.look_for(self.files.folder(), name);
        let read = found.and_then(|(path, is_other)| Ok((read_bytes(&path)?, Some(path), is_other)));
        match read {
            Ok((bytes, path, is_other)) => {
                if let Some(path) = path.as_ref().filter(|_| is_other) {
                    let message = format!("{} names {}, which is not there", node.path, quoted(name));
                    self.document.log.forgive(message, &format!("{} is read", quoted_path(path)));
                }
                Some((bytes, path))
            }
            Err(reason) => node.fail(format!("names {}, which cannot be read: {reason}", quoted(name))),
        }
    }
}

/// The bytes from one element of a view to the next, if they are said.
fn stride(node: &Node<'_>) -> Option<Option<usize>> {
    node.optional("byteStride", |stride| match stride.whole()? {
        bytes @ 4..=252 => Some(bytes as usize),
        bytes => stride.fail(format!("must be from 4 to 252, not {bytes}")),
    })
}

/// The bytes of a URI after `data:`: a type, perhaps `;base64`, a comma, and the bytes.
fn data(node: &Node<'_>, rest: &str) -> Option<Vec<u8>> {
    let Some((head, body)) = rest.split_once(',') else {
        return node.fail("is a data: URI without a comma");
    };
    if !head.to_ascii_lowercase().ends_with(";base64") {
        return percent_decoded(body)
            .or_else(|| node.fail("is a data: URI whose bytes are not percent-encoded"));
    }
    match BASE64_STANDARD.decode(body) {
        Ok(bytes) => Some(bytes),
        Err(error) => node.fail(format!("is not valid base64: {error}")),
    }
}

/// Text in which `%41` stands for the byte 0x41; `None` if digits are missing.
fn percent_decoded(text: &str) -> Option<Vec<u8>> {
    let mut bytes = text.bytes();
    let mut decoded = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        decoded.push(match byte {
            b'%' => {
                let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
                (digit(bytes.next())? * 16 + digit(bytes.next())?) as u8
            }
            _ => byte,
        });
    }
    Some(decoded)
}
