//! Scenes as people and programs write them, as plain data.
//!
//! In: a scene file (TOML, Mitsuba's XML, glTF, OBJ or PLY) with the meshes and images that it names. Out: a
//! [`Description`], complete and validated, so that nothing built from it has to check anything again; or an [`Error`] with
//! everything that is wrong, each problem with its file, line, key and the nearest valid name. [`write()`] makes a TOML scene
//! of any description, [`SceneValues`] looks at its parameters by path and sets them, and [`SECTIONS`], [`json_schema`]
//! and [`reference_page`] say what a scene file may contain. [`obj`] and [`ply`] read meshes alone.
//!
//! ```
//! use torrance_scene::{Files, load_bytes};
//!
//! let text = r#"
//!     camera = { position = [0, 1, 5], target = [0, 0, 0], fov = 40 }
//!     [[shapes]]
//!     type = "sphere"
//!     radius = 0.5
//!     emission = 3
//! "#;
//! let scene = load_bytes("lamp.toml", text.as_bytes(), &Files::new(".", false))?;
//! assert_eq!(scene.description.shapes[0].geometry.name(), "sphere");
//!
//! let wrong = text.replace("radius", "raduis");
//! let error = load_bytes("lamp.toml", wrong.as_bytes(), &Files::new(".", false)).unwrap_err();
//! assert!(error.to_string().ends_with("did you mean \"radius\"?"), "{error}");
//! # Ok::<(), torrance_scene::Error>(())
//! ```
//!
//! Modules know their own layer and those below: `description` and `input`; `files`; `formats`; `write`; `light`; `load`; `paths`.

mod description;
mod files;
mod formats;
pub mod input;
mod light;
mod load;
mod paths;
mod write;

pub use description::limits::check_size;
pub use description::*;
pub use files::asset::Asset;
pub use files::mesh::{MeshFile, TriangleOrigin, obj, ply};
pub use files::{FileError, Files, ImageError};
pub use formats::gltf::GltfChoice;
pub use formats::model::{Up, UpError};
pub use formats::toml::BLACK as NO_MATERIAL;
pub use formats::toml::keys::{PathError, SECTIONS, page as reference_page, schema as json_schema};
pub use formats::toml::lookup::Control;
pub use formats::toml::text::toml_key;
pub use formats::toml::{ByName, Named, overrides};
pub use input::{Error, Problem, Severity};
pub use light::{LightChoice, PunctualUnits, STUDIO_IRRADIANCE, Surroundings, SurroundingsError};
pub use load::{
    Backfaces, LoadedScene, Options, is_model, load, load_bytes, load_bytes_with, load_unfinished, load_with,
    material_from_text,
};
pub use paths::{EditableParameter, Parameter, SceneValues};
pub use paths::{path_and_value, says_all_of, split as keys_of_path};
pub use write::{Extent, SceneDocument, canonical, write};
