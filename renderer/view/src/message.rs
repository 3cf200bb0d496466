//! What pages and the view say to each other, in JSON. `type` comes first in each.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use torrance_image::compare::Region;
use torrance_scene::Control;

/// From a page.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub(crate) enum Request {
    /// Sets values at paths.
    Set {
        values: Vec<(String, Value)>,
        /// Those of a page with the same number are one step of the history.
        gesture: u64,
        /// Whether it is the last of them.
        #[serde(default)]
        done: bool,
    },
    /// Takes the last step back.
    Undo,
    /// Takes the step that was taken back again.
    Redo,
    /// Takes all edits back, as one step.
    Reset,
    /// Asks for frames of a layer.
    Show { layer: String },
    /// Asks what is known of a pixel.
    Probe { x: u32, y: u32 },
    /// Asks what is there.
    Pick { x: u32, y: u32 },
    /// Keeps the picture.
    Snapshot,
    /// Asks whether the picture differs from the one that was kept.
    Compare,
    /// Asks for the chart of a material.
    Chart {
        path: String,
        #[serde(default)]
        dark: bool,
    },
    /// Asks for the edits in the words of scene files and of command lines.
    Export,
    /// A frame is on the screen.
    Ack { frame: u32 },
}

/// To a page.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub(crate) enum Reply {
    /// The scene as a whole.
    Scene(Box<SceneState>),
    /// Values that have changed.
    Values {
        revision: u32,
        values: Vec<(String, Value)>,
        #[serde(flatten)]
        history: HistoryState,
    },
    /// How far the render is.
    Progress {
        revision: u32,
        spp: u32,
        target: u32,
        paths_per_second: f64,
        seconds: f64,
        state: RenderState,
        /// Relative standard error of the image, if it is known.
        noise: Option<f64>,
    },
    /// What is wrong with the scene, if anything is.
    Problem { text: Option<String> },
    /// Why what a page has asked for is not done.
    Refused {
        text: String,
        /// Those at which values were to be set.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        paths: Vec<String>,
    },
    /// News.
    Note { text: String },
    /// What is known of a pixel.
    Probe(Box<Probe>),
    /// What is at a pixel.
    Pick(Picked),
    /// Whether the picture differs from the one that was kept.
    Verdict {
        /// Of the scene that was compared.
        revision: u32,
        different: bool,
        /// Where they differ most, if they do.
        region: Option<Region>,
        sentences: Vec<String>,
        /// Samples per pixel of the one that was kept, and of the picture.
        spp: [u32; 2],
    },
    /// The chart of a material.
    Chart { path: String, svg: Option<String>, error: Option<String> },
    /// Edits in other words.
    Export(Box<Export>),
}

/// The scene, for a page that knows nothing of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct SceneState {
    pub(crate) name: String,
    pub(crate) size: [u32; 2],
    pub(crate) device: String,
    pub(crate) version: &'static str,
    pub(crate) layers: Vec<&'static str>,
    pub(crate) revision: u32,
    pub(crate) parameters: Vec<ParameterState>,
    #[serde(flatten)]
    pub(crate) history: HistoryState,
}

/// A parameter, and what changes it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct ParameterState {
    pub(crate) path: String,
    pub(crate) value: Value,
    /// As the file has it, if it has it.
    pub(crate) original: Value,
    pub(crate) takes: String,
    pub(crate) control: Control,
    pub(crate) about: &'static str,
    pub(crate) unit: &'static str,
}

/// What has been edited.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct HistoryState {
    pub(crate) changes: Vec<Change>,
    pub(crate) undo: bool,
    pub(crate) redo: bool,
}

/// A value that is not the file's.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Change {
    pub(crate) path: String,
    pub(crate) before: Value,
    pub(crate) after: Value,
}

impl Reply {
    /// That nothing was set otherwise.
    pub(crate) fn refused(text: impl Into<String>) -> Self {
        Self::Refused { text: text.into(), paths: Vec::new() }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RenderState {
    Rendering,
    Done,
    /// Nobody looks.
    Paused,
    /// The scene has a problem.
    Failed,
}

/// A pixel. What the camera sees there is unknown until it has been looked for.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Probe {
    pub(crate) x: u32,
    pub(crate) y: u32,
    pub(crate) radiance: [f64; 3],
    /// Standard errors; none of fewer than two samples.
    pub(crate) stderr: Option<[f64; 3]>,
    pub(crate) samples: u64,
    #[serde(flatten)]
    pub(crate) surface: Option<Surface>,
}

/// The surface at a pixel.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Surface {
    pub(crate) albedo: [f32; 3],
    pub(crate) normal: [f32; 3],
    pub(crate) point: Option<[f32; 3]>,
    pub(crate) depth: Option<f32>,
    pub(crate) uv: [f32; 2],
    pub(crate) shape: Option<String>,
    pub(crate) material: Option<String>,
}

/// What is at a pixel; paths are those of its parameters.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Picked {
    pub(crate) x: u32,
    pub(crate) y: u32,
    pub(crate) shape: Option<String>,
    pub(crate) shape_path: Option<String>,
    pub(crate) material: Option<String>,
    pub(crate) material_path: Option<String>,
    pub(crate) point: Option<[f32; 3]>,
    pub(crate) depth: Option<f32>,
    /// Where the material is seen: row, first column and the column after the last of each run of pixels.
    pub(crate) cover: Option<Vec<u32>>,
}

/// Edits in the words of scene files and of command lines.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Export {
    /// The scene with them; none if it refers to what is in no file, as meshes of glTF do.
    pub(crate) toml: Option<String>,
    /// A name for that file.
    pub(crate) file: String,
    pub(crate) set: Vec<String>,
    /// These arguments in the words of shells.
    pub(crate) arguments: String,
    pub(crate) render: String,
    /// Writes the scene with all that it refers to.
    pub(crate) convert: String,
    /// Varies what was edited last, if that is a number.
    pub(crate) sweep: Option<String>,
}
