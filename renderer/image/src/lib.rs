//! Films with their noise, image files, metrics, and the comparison that knows the noise.
//!
//! Images come in as files ([`film::read`], [`film::read_layers`]) or as a [`film::Film`], the sums of every pixel's samples;
//! with standard errors they form a [`film::ImageEstimate`]. Out come files ([`film::write_images`]), how far two images are
//! apart ([`metrics`]), and whether noise explains that ([`compare`]). Scenes and machines are unknown here.
//!
//! ```
//! use torrance_image::compare::judge;
//! use torrance_image::film::{Film, ImageEstimate, Pixel};
//!
//! /// 32 × 32 pixels of one brightness, each estimated from 16 samples that scatter around it.
//! fn noisy(brightness: f64, seed: u64) -> ImageEstimate {
//!     let mut state = seed;
//!     let mut random = || {
//!         state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
//!         (state >> 11) as f64 / (1_u64 << 53) as f64
//!     };
//!     let mut film = Film { width: 32, height: 32, pixels: vec![Pixel::default(); 32 * 32] };
//!     for pixel in &mut film.pixels {
//!         for _ in 0..16 {
//!             let sample = 2.0 * brightness * random();
//!             let one = Pixel { sum: [sample.into(); 3], sum_sq: [(sample * sample).into(); 3], count: 1, rejected: 0 };
//!             pixel.merge(&one);
//!         }
//!     }
//!     ImageEstimate::from(&film)
//! }
//!
//! let reference = noisy(1.0, 1);
//! // Pixels are off by 20 %, and the images are the same.
//! assert!(!judge(&noisy(1.0, 2), &reference, 0.01).is_different());
//! // One that is 5 % brighter differs, though no pixel shows it.
//! assert!(judge(&noisy(1.05, 3), &reference, 0.01).is_different());
//! ```

pub mod color_map;
pub mod compare;
pub mod film;
pub mod metrics;
