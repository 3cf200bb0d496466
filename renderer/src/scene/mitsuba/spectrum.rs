//! Spectra in the place of colours.

use glam::DVec3;

use super::tree::numbers;
use crate::input::quoted;

/// A spectrum that is the same at all wavelengths.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Spectrum(f64);

impl Spectrum {
    /// The colour of light of equal energy at all wavelengths, (x, y) = (1/3, 1/3), in linear sRGB, whose own white is
    /// D65: (3.2404542 − 1.5371385 − 0.4985314, …).
    const EQUAL_ENERGY: DVec3 = DVec3::new(1.204_794, 0.948_292, 0.908_917);

    /// Reads the text of a `spectrum`.
    ///
    /// # Errors
    /// It is no number; what to write instead of a list.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        match numbers(text).as_deref() {
            Some([value]) => Ok(Self(*value)),
            _ if text.contains(':') => {
                Err(format!("{} gives values by wavelength, which are not read; give an <rgb>", quoted(text)))
            }
            _ => Err(format!("{} is not a number", quoted(text))),
        }
    }

    /// The colour of a surface that reflects that much, or of light with that much radiance at each wavelength.
    pub(super) fn rgb(self, is_light: bool) -> DVec3 {
        self.0 * if is_light { Self::EQUAL_ENERGY } else { DVec3::ONE }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `radiance.value` of Mitsuba 3.9.1's `constant` with `<spectrum value="2"/>`, and `reflectance` of its `diffuse`.
    #[test]
    fn light_of_equal_energy_is_reddish() {
        let two = Spectrum::parse(" 2 ").unwrap();
        assert!((two.rgb(true) - DVec3::new(2.40959, 1.89658, 1.81783)).length() < 1e-5);
        assert_eq!(two.rgb(false), DVec3::splat(2.0));
        assert!(Spectrum::parse("400:0.1, 700:0.2").unwrap_err().contains("by wavelength"));
        assert!(Spectrum::parse("x").is_err());
    }
}
