//! Bytes: buffers, views of them, and URIs.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use torrance_text::{human_bytes, quoted};

use super::json::{Document, Node};
use crate::description::limits::MAX_MESH_BYTES;
use crate::files::mesh::read_bytes;
use crate::files::{FileError, Files};

/// A buffer view.
const VIEW: &[&str] = &["buffer", "byteOffset", "byteLength", "byteStride", "target"];

/// Extensions by which a view or buffer is compressed.
const COMPRESSED: [&str; 2] = ["EXT_meshopt_compression", "KHR_meshopt_compression"];

/// The buffers of a document, each read when it is first asked for.
pub(super) struct Buffers<'a> {
    pub(super) document: Document<'a>,
    binary: Option<&'a [u8]>,
    files: &'a Files,
    /// `None` for those with errors, which are reported once.
    read: RefCell<HashMap<usize, Option<Bytes<'a>>>>,
    /// Bytes that may still be read.
    left: Cell<u64>,
}

/// The chunk of a `.glb` file, or what was read from elsewhere.
#[derive(Clone)]
enum Bytes<'a> {
    Chunk(&'a [u8]),
    Read(Rc<Vec<u8>>),
}

impl Deref for Bytes<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Chunk(bytes) => bytes,
            Self::Read(bytes) => bytes,
        }
    }
}

/// A part of a buffer.
pub(super) struct View<'a> {
    buffer: Bytes<'a>,
    start: usize,
    end: usize,
    /// Bytes from one element to the next, if that is said.
    pub(super) stride: Option<usize>,
}

impl View<'_> {
    pub(super) fn bytes(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }
}

impl<'a> Buffers<'a> {
    pub(super) fn new(document: Document<'a>, binary: Option<&'a [u8]>, files: &'a Files) -> Self {
        Self { document, binary, files, read: RefCell::default(), left: Cell::new(MAX_MESH_BYTES) }
    }

    /// Bytes of the file and those that it names, as far as they are read; its text does not count.
    pub(super) fn bytes(&self) -> u64 {
        self.binary.map_or(0, |bytes| bytes.len() as u64) + (MAX_MESH_BYTES - self.left.get())
    }

    /// The view that `from` is the index of.
    pub(super) fn view(&self, from: &Node<'a>) -> Option<View<'a>> {
        let index = self.document.index(from, "bufferViews")?;
        let node = self.document.element("bufferViews", index, VIEW)?;
        if let Some(name) = COMPRESSED.into_iter().find(|name| node.extension(name).is_some()) {
            node.warn(format!(
                "is compressed by {name}, which is not supported; what stands beside it is used"
            ));
        }
        let buffer = self.buffer(&node.require("buffer")?)?;
        let (offset, length) = (node.whole_or("byteOffset", 0)?, node.require("byteLength")?.whole()?);
        let end = offset.saturating_add(length);
        if end > buffer.len() as u64 {
            return node.fail(format!("ends at byte {end} of a buffer of {}", buffer.len()));
        }
        let stride = match node.get("byteStride") {
            None => None,
            Some(stride) => match stride.whole()? {
                bytes @ 4..=252 => Some(bytes as usize),
                bytes => return stride.fail(format!("must be from 4 to 252, not {bytes}")),
            },
        };
        Some(View { buffer, start: offset as usize, end: end as usize, stride })
    }

    fn buffer(&self, from: &Node<'a>) -> Option<Bytes<'a>> {
        let index = self.document.index(from, "buffers")?;
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
        let bytes = match (node.get("uri"), self.binary) {
            (Some(uri), _) => Bytes::Read(Rc::new(self.uri(&uri)?)),
            (None, Some(binary)) if index == 0 => Bytes::Chunk(binary),
            _ => {
                let why = match COMPRESSED.into_iter().find(|name| node.extension(name).is_some()) {
                    Some(name) => format!(": it is compressed by {name}, which is not supported"),
                    None => String::new(),
                };
                return node.fail(format!("has no \"uri\" that says where its bytes are{why}"));
            }
        };
        if length > bytes.len() as u64 {
            return node.fail(format!("has {} bytes, and its byteLength is {length}", bytes.len()));
        }
        Some(bytes)
    }

    /// The bytes of a `data:` URI or of a file.
    pub(super) fn uri(&self, node: &Node<'a>) -> Option<Vec<u8>> {
        let uri = node.string()?;
        let read = if is_data(uri) { data(&uri[5..]) } else { self.file(uri) };
        let bytes = read.map_err(|error| node.fail::<()>(error.to_string())).ok()?;
        match self.left.get().checked_sub(bytes.len() as u64) {
            Some(left) => self.left.set(left),
            None => {
                let most = human_bytes(MAX_MESH_BYTES.into());
                return node.fail(format!("is one too many: files that it names may have {most} in all"));
            }
        }
        Some(bytes)
    }

    fn file(&self, uri: &str) -> Result<Vec<u8>, UriError> {
        let name = self.file_name(uri)?;
        let path = self.files.resolve(&name);
        let bytes = path.and_then(|path| Ok(read_bytes(&path)?));
        bytes.map_err(|reason| UriError::File { name, reason })
    }

    /// The file that a URI stands for, if it is of one that may be read.
    pub(super) fn path(&self, uri: &str) -> Option<PathBuf> {
        if is_data(uri) {
            return None;
        }
        self.files.resolve(self.file_name(uri).ok()?).ok()
    }

    /// The name of the file that a URI stands for.
    fn file_name(&self, uri: &str) -> Result<String, UriError> {
        if uri.contains("://") {
            return Err(UriError::Scheme(uri.to_owned()));
        }
        let decoded = percent_decoded(uri).and_then(|bytes| String::from_utf8(bytes).ok());
        let name = decoded.ok_or_else(|| UriError::Name(uri.to_owned()))?;
        // Some writers leave names as they are: what is there is meant.
        let there = |name: &str| self.files.resolve(Path::new(name)).is_ok_and(|path| path.exists());
        Ok(if name != uri && !there(&name) && there(uri) { uri.to_owned() } else { name })
    }
}

fn is_data(uri: &str) -> bool {
    uri.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("data:"))
}

/// Why a URI gives no bytes, to follow its key.
#[derive(Debug, thiserror::Error)]
enum UriError {
    #[error("names {}, which cannot be read: {reason}", quoted(name))]
    File { name: String, reason: FileError },
    #[error("is {}; only files and data: URIs are read", quoted(.0))]
    Scheme(String),
    #[error("is {}, which is not percent-encoded UTF-8", quoted(.0))]
    Name(String),
    #[error("is a data: URI without a comma")]
    NoComma,
    #[error("is a data: URI whose bytes are not percent-encoded")]
    Bytes,
    #[error("is not valid base64: {0}")]
    Base64(base64::DecodeError),
}

/// The bytes of a URI after `data:`: a type, perhaps `;base64`, a comma, and the bytes.
fn data(rest: &str) -> Result<Vec<u8>, UriError> {
    let (head, body) = rest.split_once(',').ok_or(UriError::NoComma)?;
    if !head.to_ascii_lowercase().ends_with(";base64") {
        return percent_decoded(body).ok_or(UriError::Bytes);
    }
    BASE64_STANDARD.decode(body).map_err(UriError::Base64)
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
