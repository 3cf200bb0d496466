//! Images of a scene: textures and the environment.

use std::sync::Arc;

use torrance_scene::{Description, Environment, Image};

use super::environment::radiance;
use super::variant::same;
use super::{Error, ImageEnvironment, Swatches, sky, studio};

/// Images of a scene, in the device's form.
#[derive(Debug, Clone)]
pub struct Pictures {
    /// Its textures.
    pub swatches: Swatches,
    /// The environment, if it is an image that is not black.
    pub environment: Option<Arc<ImageEnvironment>>,
}

impl Pictures {
    /// The images of a description.
    pub(super) fn new(description: &Description) -> Result<Self, Error> {
        Ok(Self { swatches: swatches(description)?, environment: environment(description) })
    }

    /// The images of `other`, shared with these, which are of `own`, as far as both are equal.
    pub(super) fn updated(&self, own: &Description, other: &Description) -> Result<Self, Error> {
        let has_images = same(&own.images, &other.images, is_same);
        let has_textures = has_images && own.textures == other.textures;
        let has_environment =
            has_images && own.environment == other.environment && own.portals == other.portals;
        let mut swatches = if has_textures { self.swatches.clone() } else { swatches(other)? };
        if swatches.texels == self.swatches.texels {
            swatches.texels = self.swatches.texels.clone();
        }
        Ok(Self {
            swatches,
            environment: if has_environment { self.environment.clone() } else { environment(other) },
        })
    }

    /// Whether these are the same, and not only equal ones.
    pub(super) fn are(&self, other: &Self) -> bool {
        let environments = [self, other].map(|pictures| pictures.environment.as_ref().map(Arc::as_ptr));
        self.swatches.textures == other.swatches.textures
            && self.swatches.texels.is(&other.swatches.texels)
            && environments[0] == environments[1]
    }
}

fn swatches(description: &Description) -> Result<Swatches, Error> {
    Swatches::new(&description.images, &description.textures)
}

fn environment(description: &Description) -> Option<Arc<ImageEnvironment>> {
    let portals = &description.portals;
    let environment = match description.environment.as_ref()? {
        Environment::Constant(_) => None,
        Environment::Image { image, scale, world_from_image } => {
            let image = &description.images[*image];
            ImageEnvironment::new(radiance(image, *scale), image.width, *world_from_image, portals)
        }
        Environment::Studio(s) => {
            ImageEnvironment::new(studio::bake(s), studio::WIDTH, s.world_from_studio, portals)
        }
        Environment::SunSky(s) => ImageEnvironment::new(sky::bake(s), sky::WIDTH, s.world_from_sky, portals),
    };
    environment.map(Arc::new)
}

fn is_same(a: &Image, b: &Image) -> bool {
    (a.width, a.height, a.format) == (b.width, b.height, b.format)
        && (Arc::ptr_eq(&a.texels, &b.texels) || a.texels == b.texels)
}
