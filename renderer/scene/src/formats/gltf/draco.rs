//! Primitives compressed by Draco: `KHR_draco_mesh_compression`.

use std::borrow::Cow;
use std::collections::HashMap;
use std::rc::Rc;

use draco_core::decode_limits::DecodeLimits;
use draco_core::decoder_buffer::DecoderBuffer;
use draco_core::draco_types::DataType;
use draco_core::geometry_attribute::PointAttribute;
use draco_core::geometry_indices::PointIndex;
use draco_core::mesh::Mesh;
use draco_core::mesh_decoder::MeshDecoder;
use torrance_system::caught;
use torrance_text::quoted;

use super::accessor::{Accessors, Component};
use super::buffers::Bytes;
use super::json::Node;
use crate::description::limits::max_unpacked_mesh;

const DRACO: &str = "KHR_draco_mesh_compression";

/// The elements that a compressed primitive has for one of its accessors.
#[derive(Clone)]
pub(super) struct Decoded<'a> {
    pub(super) bytes: Bytes<'a>,
    pub(super) count: usize,
    pub(super) component: Component,
    /// Numbers an element.
    pub(super) width: usize,
}

/// What stands for the accessors of a primitive, by their indices; nothing if it is not compressed.
pub(super) fn decode<'a>(
    primitive: &Node<'a>,
    attributes: &Node<'a>,
    accessors: &Accessors<'_, 'a>,
) -> Option<HashMap<usize, Decoded<'a>>> {
    let Some(node) = primitive.extension(DRACO) else { return Some(HashMap::new()) };
    let node = node.object(&["bufferView", "attributes"])?;
    let mesh = mesh(&node, accessors)?;
    let ids = node.require("attributes")?;
    let Some(names) = ids.value.as_object() else { return ids.fail("must be an object") };
    let mut decoded = HashMap::new();
    for name in names.keys() {
        let Some(accessor) = attributes.get(name) else {
            ids.warn(format!("has {}, which the primitive has not; it is left out", quoted(name)));
            continue;
        };
        let id = ids.require(name)?;
        let found = u32::try_from(id.whole()?).ok().and_then(|id| mesh.attribute_by_unique_id(id));
        let Some(attribute) = found else { return id.fail("is of no attribute of the compressed mesh") };
        decoded.insert(accessor.index("accessors")?, elements(&id, &mesh, attribute)?);
    }
    decoded.insert(primitive.require("indices")?.index("accessors")?, corners(&mesh));
    Some(decoded)
}

/// The compressed mesh.
fn mesh<'a>(node: &Node<'a>, accessors: &Accessors<'_, 'a>) -> Option<Mesh> {
    let from = node.require("bufferView")?;
    let view = accessors.buffers.view(&from)?;
    let packed = view.bytes();
    let most = max_unpacked_mesh(packed.len());
    // A face is three indices.
    let limits = DecodeLimits::default()
        .with_max_points(most / 4)
        .with_max_faces(most / 12)
        .with_max_decoded_bytes(most);
    let mut mesh = Mesh::new();
    let mut buffer = DecoderBuffer::new(packed).with_limits(limits);
    let decoded = caught(|| MeshDecoder::new().decode(&mut buffer, &mut mesh).map_err(|e| e.to_string()));
    if let Err(reason) = decoded.unwrap_or_else(|| Err("it is damaged".to_owned())) {
        return from.fail(format!("cannot be decoded as Draco: {}", quoted(&reason)));
    }
    // Points without attributes have no bytes that limits count.
    let attributes = mesh.num_attributes().max(1) as u64;
    let elements = (mesh.num_points() as u64).saturating_mul(attributes);
    accessors.spend(node, elements.saturating_add(3 * mesh.num_faces() as u64))?;
    Some(mesh)
}

/// The values of an attribute, point by point.
fn elements<'a>(id: &Node<'a>, mesh: &Mesh, attribute: &PointAttribute) -> Option<Decoded<'a>> {
    let component = match attribute.data_type() {
        DataType::Int8 => Component::I8,
        DataType::Uint8 | DataType::Bool => Component::U8,
        DataType::Int16 => Component::I16,
        DataType::Uint16 => Component::U16,
        DataType::Uint32 => Component::U32,
        DataType::Float32 => Component::F32,
        other => return id.fail(format!("is of an attribute of type {other:?}, which glTF has not")),
    };
    let width = usize::from(attribute.num_components());
    let size = component.size() * width;
    let (data, stride) = (attribute.buffer().data(), attribute.byte_stride() as usize);
    let mut bytes = Vec::with_capacity(mesh.num_points() * size);
    for point in 0..mesh.num_points() as u32 {
        let value = attribute.mapped_index(PointIndex(point)).0 as usize;
        let start = value.saturating_mul(stride);
        let Some(element) = data.get(start..start.saturating_add(size)) else {
            return id.fail(format!("is of an attribute that has no value for point {point}"));
        };
        bytes.extend_from_slice(element);
    }
    Some(Decoded { bytes: Rc::new(Cow::Owned(bytes)), count: mesh.num_points(), component, width })
}

/// The corners of all triangles.
fn corners<'a>(mesh: &Mesh) -> Decoded<'a> {
    let bytes: Vec<u8> = mesh.faces().iter().flatten().flat_map(|corner| corner.0.to_le_bytes()).collect();
    let count = bytes.len() / 4;
    Decoded { bytes: Rc::new(Cow::Owned(bytes)), count, component: Component::U32, width: 1 }
}
