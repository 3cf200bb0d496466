//! Which names the surfaces of a scene go by in a Cryptomatte, and what of each pixel they cover.

use std::collections::HashMap;

use device::matte::{MOST_IDS, MattePixel};
use device::path::NOTHING;
use rayon::prelude::*;
use torrance_image::film::cryptomatte::{self, Coverage, Manifest};
use torrance_image::film::layers::Layers;
use torrance_scene::{Description, Geometry, Shape};

use crate::assemble::ShapeOf;

/// Most ranks that a Cryptomatte can have: more names of a pixel are not told apart.
pub const MOST_RANKS: usize = MOST_IDS;

/// What mattes tell apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Matte {
    /// Instances, and the shapes that are in no group.
    Object,
    /// Materials.
    Material,
    /// What instances are of, and the files of meshes: the things of which a scene may have several.
    Asset,
}

impl Matte {
    /// The name of the kind in files.
    pub const fn kind(self) -> &'static str {
        match self {
            Self::Object => "CryptoObject",
            Self::Material => "CryptoMaterial",
            Self::Asset => "CryptoAsset",
        }
    }
}

/// The names of all surfaces of a scene, for some kinds of matte.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Mattes(Vec<Names>);

/// The names of a kind. Indices into them are ids less 1.
#[derive(Debug, Clone, PartialEq)]
struct Names {
    matte: Matte,
    names: Vec<String>,
    /// The id of each shape.
    of_shapes: Vec<u32>,
    /// The id of each instance; 0 where shapes keep theirs.
    of_instances: Vec<u32>,
}

/// Names as they are found, each with one id.
#[derive(Debug, Default)]
struct Ids {
    names: Vec<String>,
    ids: HashMap<String, u32>,
}

impl Ids {
    fn of(&mut self, name: &str) -> u32 {
        if let Some(id) = self.ids.get(name) {
            return *id;
        }
        self.names.push(name.to_owned());
        let id = NOTHING + self.names.len() as u32;
        self.ids.insert(name.to_owned(), id);
        id
    }
}

impl Names {
    fn new(matte: Matte, description: &Description) -> Self {
        let mut ids = Ids::default();
        let of_shape = |shape: &Shape| match matte {
            Matte::Object => ids.of(&shape.name),
            Matte::Material => ids.of(&description.materials[shape.material].name),
            Matte::Asset => ids.of(&file_of(shape).unwrap_or_else(|| shape.name.clone())),
        };
        let of_shapes = description.all_shapes().map(of_shape).collect();
        let mut placed = vec![0; description.groups.len()];
        let of_instances = description.instances.iter().map(|instance| {
            let (group, placed) =
                (&description.groups[instance.group as usize], &mut placed[instance.group as usize]);
            *placed += 1;
            match matte {
                Matte::Object => ids.of(&format!("{} #{}", group.name, *placed - 1)),
                Matte::Material => NOTHING,
                Matte::Asset => ids.of(&group.name),
            }
        });
        let of_instances = of_instances.collect();
        Self { matte, names: ids.names, of_shapes, of_instances }
    }
}

/// The file of a mesh, without folder and extension.
fn file_of(shape: &Shape) -> Option<String> {
    match &shape.geometry {
        Geometry::Mesh(mesh) => Some(mesh.source.as_ref()?.file.file_stem()?.to_string_lossy().into_owned()),
        _ => None,
    }
}

impl Mattes {
    /// Of a scene, for `kinds`, each given once.
    pub fn new(kinds: impl IntoIterator<Item = Matte>, description: &Description) -> Self {
        Self(kinds.into_iter().map(|matte| Names::new(matte, description)).collect())
    }

    /// The kinds, by their names in files.
    pub fn kinds(&self) -> impl Iterator<Item = &'static str> {
        self.0.iter().map(|names| names.matte.kind())
    }

    /// Number of kinds.
    pub(super) const fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub(super) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The tables of the stage.
    pub(super) fn tables(&self, shape_of: &ShapeOf) -> Tables {
        let runs = shape_of.runs();
        let of_run = self.0.iter().flat_map(|names| {
            runs.iter().map(|run| {
                let of_instance = run.instance.map_or(0, |instance| names.of_instances[instance as usize]);
                if of_instance == NOTHING { names.of_shapes[run.shape as usize] } else { of_instance }
            })
        });
        Tables {
            ends: runs.iter().map(|run| run.end).collect(),
            of_run: of_run.collect(),
            of_instance: self.0.iter().flat_map(|names| names.of_instances.iter().copied()).collect(),
        }
    }

    /// Adds the layers of all kinds, of a film of each, with so many ranks.
    pub(super) fn push(&self, films: &[Vec<MattePixel>], ranks: usize, layers: &mut Layers) {
        self.0.iter().zip(films).for_each(|(names, film)| names.push(film, ranks, layers));
    }
}

impl Names {
    /// Adds the layers of a film.
    fn push(&self, film: &[MattePixel], ranks: usize, layers: &mut Layers) {
        let Self { matte, names, .. } = self;
        let ids: Vec<u32> = names.iter().map(|name| cryptomatte::id(name)).collect();
        let id_of = |id: u32| if id == NOTHING { 0 } else { ids[id as usize - 1] };
        let covered = film.par_iter().map(|pixel| {
            let samples = pixel.samples() as f64;
            pixel.ids().map(|(id, count)| (id_of(id), f64::from(count) / samples)).collect()
        });
        let covered: Vec<Coverage> = covered.collect();
        let manifest: Manifest = names.iter().cloned().zip(ids.iter().copied()).collect();
        layers.push_cryptomatte(matte.kind(), ranks, &covered, &manifest);
    }
}

/// What the stage finds ids by: see [`device::path::MatteArgs`].
#[derive(Debug, Default)]
pub(super) struct Tables {
    pub(super) ends: Vec<u32>,
    pub(super) of_run: Vec<u32>,
    pub(super) of_instance: Vec<u32>,
}
