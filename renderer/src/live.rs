//! Scenes whose values change from one render to the next.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use torrance_scene::{Description, Overrides, SceneValues};

use crate::assemble::{self, Original, SceneData};

/// The values of a scene, and what was made of them. Of a scene whose values have changed, only what depends on them is made anew.
/// Clones share what is made.
///
/// ```
/// use renderer::LiveScene;
/// use torrance_scene::{Options, SceneValues};
///
/// let text = "
///     camera = { position = [0, 0, 4], target = [0, 0, 0], fov = 40 }
///     environment = { radiance = 1 }
///     materials.grey = { type = 'diffuse', reflectance = 0.5 }
///     shapes = [{ type = 'sphere', material = 'grey' }]
/// ";
/// let values = SceneValues::parse(text, ".".as_ref(), Vec::new(), &Options::default())?;
/// let mut scene = LiveScene::new(values);
/// let before = scene.build(None)?;
/// scene.change(|values| values.set("materials.grey.reflectance", "0.2"))?;
/// let after = scene.build(None)?;
/// assert_ne!(before.fingerprint(), after.fingerprint());
/// assert!(before.data.geometry.prims.is(&after.data.geometry.prims), "the geometry is shared");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct LiveScene {
    values: SceneValues,
    /// Number of changes to the values.
    changes: u64,
    built: Option<BuiltScene>,
    /// The scene as it was first, from which the others differ.
    original: Option<Arc<Original>>,
}

/// A scene as machines take it.
#[derive(Debug, Clone)]
pub struct BuiltScene {
    changes: u64,
    size: Option<(u32, u32)>,
    /// Its description.
    pub description: Arc<Description>,
    /// What machines take.
    pub data: Arc<SceneData>,
    /// The files from which it was read, free of symbolic links.
    pub files: Arc<BTreeSet<PathBuf>>,
    fingerprint: Arc<OnceLock<u64>>,
}

/// Why values do not make a scene.
#[derive(Debug, thiserror::Error)]
pub enum LiveSceneError {
    /// They are wrong.
    #[error("{0}")]
    Values(#[from] torrance_scene::Error),
    /// They are more than can be assembled.
    #[error("{0}")]
    Assemble(#[from] assemble::Error),
}

impl BuiltScene {
    /// The scene in an image of another size, pixels, that shows the same if it has the same shape.
    pub fn resized(&self, width: u32, height: u32) -> SceneData {
        self.data.resized(&self.description.camera, width, height)
    }

    /// [`SceneData::fingerprint`], which is worked out once.
    pub fn fingerprint(&self) -> u64 {
        *self.fingerprint.get_or_init(|| self.data.fingerprint())
    }
}

impl LiveScene {
    /// Before anything is made.
    pub const fn new(values: SceneValues) -> Self {
        Self { values, changes: 0, built: None, original: None }
    }

    /// The values.
    pub const fn values(&self) -> &SceneValues {
        &self.values
    }

    /// Changes the values.
    pub fn change<R>(&mut self, change: impl FnOnce(&mut SceneValues) -> R) -> R {
        self.changes += 1;
        change(&mut self.values)
    }

    /// The scene as machines take it, of a size in pixels other than its own if one is given.
    ///
    /// # Errors
    /// The values do not make a scene.
    pub fn build(&mut self, size: Option<(u32, u32)>) -> Result<BuiltScene, LiveSceneError> {
        let is_it = |built: &&BuiltScene| built.changes == self.changes && built.size == size;
        if let Some(built) = self.built.as_ref().filter(is_it) {
            return Ok(built.clone());
        }
        let loaded = self.values.load_with(&Overrides { size, ..Overrides::default() })?;
        let (description, files) = (loaded.description, Arc::new(loaded.files));
        let data = match &self.original {
            Some(original) => original.variant(&description)?,
            None => {
                let original = Arc::new(Original::new(description.clone())?);
                self.original.insert(original).scene().clone()
            }
        };
        let (description, data) = (Arc::new(description), Arc::new(data));
        let (changes, fingerprint) = (self.changes, Arc::default());
        let built = BuiltScene { changes, size, description, data, files, fingerprint };
        Ok(self.built.insert(built).clone())
    }
}
