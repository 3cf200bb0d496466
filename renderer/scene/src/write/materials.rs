//! Materials as TOML.

use device::material::texture::NO_TEXTURE;
use glam::Vec3;
use toml::{Table, Value};

use super::Extent;
use super::entries::{Entries, Names};
use crate::description::key::Key;
use crate::description::metals::METALS;
use crate::description::{Material, MaterialKind, NormalMap, NormalMapKind, Parameter, Scalar};
use crate::formats::toml::text::{number, rgb, roughness};
use crate::formats::toml::{keys, visit_map};

pub(super) fn material(material: &Material, names: &Names, extent: Extent) -> Table {
    let mut w = Writer { t: Entries::new(&keys::MATERIAL, material.kind.name(), extent), names };
    w.kind(&material.kind);
    let passes = material.kind.has_no_sides() || material.back.is_some();
    if !passes {
        w.t.value("two_sided", &material.two_sided);
    }
    if material.can_cull_backfaces() {
        w.t.value("cull_backfaces", &material.cull_backfaces);
    }
    if let Some(back) = material.back {
        w.t.put("back", names.materials[back].as_str());
    }
    w.t.put_unless(material.opacity.is(1.0), "opacity", names.scalar(&material.opacity));
    w.t.value("holes_emit", &material.holes_emit);
    if let Some(map) = &material.normal_map {
        w.normal_map(map, extent);
    }
    w.t.table
}

struct Writer<'a> {
    t: Entries,
    names: &'a Names,
}

impl Writer<'_> {
    /// The parameters of a kind, by their list.
    fn kind(&mut self, kind: &MaterialKind) {
        self.t.put("type", kind.name());
        let (mut kind, mut initial) = (*kind, kind.initial());
        if let MaterialKind::Conductor(conductor) = &kind {
            self.metal(conductor.index());
        }
        for ((keys, parameter), (_, default)) in kind.parameters().into_iter().zip(initial.parameters()) {
            let is_default = parameter == default && !keys[0].required;
            if let Some((key, value)) = self.entry(keys, parameter) {
                self.t.put_unless(is_default, key, value);
            }
        }
    }

    fn metal(&mut self, (eta, k): (Vec3, Vec3)) {
        match METALS.iter().find(|metal| (metal.eta, metal.k) == (eta, k)) {
            Some(metal) => self.t.put("metal", metal.names[0]),
            None => {
                self.t.put("eta", rgb(eta));
                self.t.put("k", rgb(k));
            }
        }
    }

    /// The key that gives a parameter, and its value.
    fn entry(&self, keys: &[Key], parameter: Parameter<'_>) -> Option<(&'static str, Value)> {
        let key = &keys[0];
        let value = match parameter {
            Parameter::Scalar(scalar) => self.names.scalar(scalar),
            Parameter::Color(color) => self.names.color(color),
            Parameter::Number(x) => number(*x),
            Parameter::Optional(x) if *x < 0.0 => return None,
            Parameter::Optional(x) => number(*x),
            Parameter::Flag(flag) => Value::Boolean(*flag != 0),
            Parameter::Word(place) => key.value.choices()[*place as usize].0.into(),
            Parameter::Rotation(cos_sin) => rotation(*cos_sin),
            Parameter::Roughness(alpha, is_roughness) => {
                let is_roughness = *is_roughness != 0;
                let (index, value) = self.roughness(*alpha, is_roughness, key.required);
                return Some((keys[index].name, value));
            }
            Parameter::Materials(materials) => {
                materials.map(|i| Value::from(self.names.materials[i as usize].as_str())).to_vec().into()
            }
            Parameter::Derived => return None,
        };
        Some((key.name, value))
    }

    /// `roughness`, 0, or `alpha`, 1, whichever is shorter and exact.
    fn roughness(&self, alpha: [Scalar; 2], is_roughness: bool, required: bool) -> (usize, Value) {
        let one_or_two = |[u, v]: [Value; 2]| if u == v { u } else { vec![u, v].into() };
        if alpha.iter().any(|a| a.texture != NO_TEXTURE) {
            return (usize::from(!is_roughness), one_or_two(alpha.map(|a| self.names.scalar(&a))));
        }
        let alpha = alpha.map(|a| a.value);
        let (index, values) = match alpha.map(roughness) {
            _ if alpha == [0.0; 2] && !required => (0, alpha),
            [Some(u), Some(v)] if length(&[u, v]) < length(&alpha) => (0, [u, v]),
            _ => (1, alpha),
        };
        (index, one_or_two(values.map(number)))
    }

    fn normal_map(&mut self, map: &NormalMap, extent: Extent) {
        let (name, section) = match map.kind {
            NormalMapKind::Bump => ("bump_map", &keys::BUMP_MAP),
            _ => ("normal_map", &keys::NORMAL_MAP),
        };
        let mut t = Entries::new(section, "", extent);
        t.put("texture", self.names.textures[map.texture].as_str());
        visit_map(&mut t, &mut map.clone());
        self.t.put(name, t.table);
    }
}

/// How many characters numbers take.
fn length(numbers: &[f32]) -> usize {
    numbers.iter().map(|x| x.to_string().len()).sum()
}

/// Degrees, if they give exactly this cosine and sine, or these themselves.
fn rotation([cos, sin]: [f32; 2]) -> Value {
    let near = f64::from(sin).atan2(cos.into()).to_degrees() as f32;
    let rounded = ((f64::from(near) * 1e3).round() / 1e3) as f32;
    let ways = [rounded, near, near.next_up(), near.next_down()];
    let exact = |degrees: &f32| {
        let (s, c) = degrees.to_radians().sin_cos();
        (c.to_bits(), s.to_bits()) == (cos.to_bits(), sin.to_bits())
    };
    match ways.iter().find(|degrees| exact(degrees)) {
        Some(degrees) => number(*degrees),
        None => vec![number(cos), number(sin)].into(),
    }
}
