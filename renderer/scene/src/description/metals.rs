//! Metals by name: measured indices of refraction, reduced to a number for each channel.

use glam::Vec3;

/// Names of a metal and its index of refraction.
#[derive(Debug, PartialEq)]
pub struct Metal {
    /// Names in scene files, the first of them ours; chemical symbols are last.
    pub names: &'static [&'static str],
    /// Its chemical symbol, or the components of the alloy.
    pub about: &'static str,
    /// Real part of the index of refraction per channel.
    pub eta: Vec3,
    /// Imaginary part per channel.
    pub k: Vec3,
}

impl Metal {
    /// One with a chemical symbol, the last of its names.
    const fn new(names: &'static [&'static str], eta: [f32; 3], k: [f32; 3]) -> Self {
        let about = names[names.len() - 1];
        Self { names, about, eta: Vec3::from_array(eta), k: Vec3::from_array(k) }
    }

    const fn alloy(self, about: &'static str) -> Self {
        Self { about, ..self }
    }
}

/// All metals, by name. Who measured the spectrum of one is at the head of its table in `assets/metals`.
///
/// A renderer of three channels wants the colour in which a metal reflects white light, and the numbers that have it in
/// Fresnel's equations. So, where a channel's sensitivity is the product of illuminant D65 with the colour-matching
/// functions turned to linear sRGB, in which a mirror is (1, 1, 1):
///
/// - reflectance at normal incidence is the average of the spectrum's, by sensitivity. Red of gold and the like is
///   more than 1, since their colours are outside of sRGB; no channel may reflect more than the best wavelength does;
/// - `eta` is the average by sensitivity;
/// - `k` follows of the two.
///
/// At other angles, the reflectance of these differs from the spectrum's by 0.005 at most (root mean square over
/// cosines) but for red gold, which cannot be shown. `renderer/cli/tests/commands/metals.rs` computes them anew from the tables.
///
/// Zinc is missing: its published spectra contradict each other.
pub const METALS: &[Metal] = &[
    Metal::new(&["aluminium", "aluminum", "Al"], [1.4734, 0.9856, 0.5976], [7.5889, 6.5477, 5.3133]),
    Metal::new(&["brass"], [0.4209, 0.5184, 1.1232], [4.0308, 2.6633, 1.8092])
        .alloy("70 % copper, 30 % zinc"),
    Metal::new(&["chromium", "Cr"], [3.2492, 3.1084, 2.2789], [3.2858, 3.3358, 3.1142]),
    Metal::new(&["cobalt", "Co"], [2.2475, 2.0341, 1.7091], [4.2165, 3.7955, 3.2347]),
    Metal::new(&["copper", "Cu"], [0.1784, 1.0407, 1.2904], [2.9558, 2.6273, 2.3572]),
    Metal::new(&["gold", "Au"], [0.0708, 0.3745, 1.5295], [3.5958, 2.1848, 1.6713]),
    Metal::new(&["iridium", "Ir"], [3.0578, 2.5963, 2.1396], [5.6094, 5.0793, 4.3275]),
    Metal::new(&["iron", "Fe"], [2.9233, 2.9176, 2.5453], [3.0752, 2.9382, 2.7497]),
    Metal::new(&["mercury", "Hg"], [2.0211, 1.5187, 1.0158], [5.2780, 4.6051, 3.7782]),
    Metal::new(&["molybdenum", "Mo"], [3.4696, 3.3580, 2.7958], [3.5214, 3.6553, 3.5218]),
    Metal::new(&["nickel", "Ni"], [2.0209, 1.9019, 1.7242], [4.1827, 3.5723, 2.8928]),
    Metal::new(&["palladium", "Pd"], [1.7856, 1.6208, 1.3920], [4.3485, 3.8130, 3.2085]),
    Metal::new(&["platinum", "Pt"], [2.3406, 2.0677, 1.8220], [4.2373, 3.6811, 3.0884]),
    Metal::new(&["rhodium", "Rh"], [2.1562, 1.9615, 1.7225], [5.6978, 4.9576, 4.3977]),
    Metal::new(&["silver", "Ag"], [0.0556, 0.0547, 0.0429], [4.4311, 3.5407, 2.5797]),
    Metal::new(&["steel"], [2.3919, 2.0210, 1.6464], [4.1717, 3.6429, 3.0651]).alloy("stainless"),
    Metal::new(&["titanium", "Ti"], [2.7339, 2.5087, 2.2361], [3.8346, 3.3994, 3.0131]),
    Metal::new(&["tungsten", "W"], [3.6313, 3.4951, 3.3121], [2.9224, 2.7487, 2.5059]),
];

/// Number of names of all metals.
const NAMES: usize = {
    let (mut count, mut i) = (0, 0);
    while i < METALS.len() {
        count += METALS[i].names.len();
        i += 1;
    }
    count
};

/// Every name, and what it stands for: first those of ours, then of each metal the others.
pub(crate) const WORDS: [(&str, &str); NAMES] = {
    let mut words = [("", ""); NAMES];
    let (mut next, mut i) = (METALS.len(), 0);
    while i < METALS.len() {
        let Metal { names, about, .. } = &METALS[i];
        words[i] = (names[0], *about);
        let mut nth = 1;
        while nth < names.len() {
            words[next] = (names[nth], names[0]);
            (next, nth) = (next + 1, nth + 1);
        }
        i += 1;
    }
    words
};

/// Every name with its metal: first those of ours, then the others.
pub(crate) fn choices() -> Vec<(&'static str, &'static Metal)> {
    let nth = |n: usize| METALS.iter().filter_map(move |m| Some((*m.names.get(n)?, m)));
    (0..3).flat_map(nth).collect()
}
