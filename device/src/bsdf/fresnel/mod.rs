//! Fresnel reflectance: cosines in, reflectance out. Each cosine is that of incidence, in [0, 1]; each index of
//! refraction is relative to the medium that the light comes from.

mod complex;
mod conductor;
mod dielectric;
mod f82;
mod schlick;
mod thin_film;

pub use conductor::{conductor, conductor_average};
pub use dielectric::{dielectric, dielectric_average};
pub use f82::{f82_tint, f82_tint_average};
pub use schlick::{schlick, schlick_average, schlick_weight};
pub use thin_film::{thin_film_conductor, thin_film_dielectric};
