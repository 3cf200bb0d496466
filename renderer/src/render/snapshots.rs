//! Films as they were when about half of the samples of a render had been taken.

use super::Budget;

/// Samples per pixel of the first snapshot of a render whose end is not known.
const FIRST: u32 = 2;

/// The latest snapshots of a render, and when the next one is due.
#[derive(Debug)]
pub(super) struct Snapshots<T> {
    /// Samples per pixel at the next one; `None` if there is to be none.
    next: Option<u32>,
    /// Whether the end is not known, so that snapshots are taken again and again, each of twice the samples.
    doubles: bool,
    /// The last two, with the samples per pixel of each: one of them has the half of what there is before the next.
    kept: Vec<(u32, T)>,
}

impl<T> Snapshots<T> {
    /// Of a render that begins with so many samples per pixel, of an earlier run.
    pub(super) fn new(budget: &Budget, before: u32) -> Self {
        let doubles = budget.time.is_some() || budget.noise.is_some();
        let first = if doubles { FIRST } else { budget.spp / 2 };
        let next = Some(first.max(before)).filter(|next| (1..budget.spp).contains(next));
        Self { next, doubles, kept: Vec::new() }
    }

    /// Samples per pixel at the next snapshot; as many as there will ever be if there is to be none.
    pub(super) fn next(&self) -> u32 {
        self.next.unwrap_or(u32::MAX)
    }

    /// Whether a snapshot is due when there are so many samples per pixel.
    pub(super) fn is_due(&self, spp: u32) -> bool {
        self.next.is_some_and(|next| spp >= next)
    }

    /// Keeps the one that is due.
    pub(super) fn keep(&mut self, spp: u32, films: T) {
        if self.kept.len() == 2 {
            self.kept.remove(0);
        }
        self.kept.push((spp, films));
        self.next = self.doubles.then(|| spp.saturating_mul(2));
    }

    /// That of about half of so many samples per pixel; `None` if there is none of fewer.
    pub(super) fn half_of(self, spp: u32) -> Option<T> {
        let fewer = self.kept.into_iter().filter(|(taken, _)| *taken < spp);
        fewer.min_by_key(|(taken, _)| (2 * u64::from(*taken)).abs_diff(spp.into())).map(|(_, films)| films)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::{Control, Options};
    use super::*;

    /// The samples per pixel of the snapshot that a render of `spp` has in the end.
    fn half(budget: &Budget, before: u32, spp: u32) -> Option<u32> {
        let mut snapshots = Snapshots::new(budget, before);
        for taken in before.max(1)..=spp {
            if snapshots.is_due(taken) {
                snapshots.keep(taken, taken);
            }
        }
        snapshots.half_of(spp)
    }

    #[test]
    fn a_known_end_has_its_half() {
        for (spp, expected) in [(1, None), (2, Some(1)), (7, Some(3)), (4096, Some(2048))] {
            assert_eq!(half(&Budget::of_samples(spp), 0, spp), expected);
        }
        assert_eq!(half(&Budget::of_samples(64), 40, 64), Some(40), "after an earlier run");
        assert_eq!(half(&Budget::of_samples(64), 0, 20), None, "it ended before");
    }

    /// The half of a render is a render of half the samples.
    #[test]
    fn a_half_has_the_first_samples() {
        let scene = crate::described(
            "[render]\nsize = [24, 16]\n[camera]\nposition = [0, 0, 4]\ntarget = [0, 0, 0]\nfov = 40\n[environment]\nradiance = 1\n\
             [materials.grey]\ntype = \"diffuse\"\nreflectance = 0.5\n[[shapes]]\ntype = \"sphere\"\nmaterial = \"grey\"",
        );
        let scene = crate::assemble::assemble(&scene).unwrap();
        let mut cpu = crate::Machine::cpu(None).unwrap();
        let mut render = |spp, half| {
            let options = Options { half, first_hits: Some(&[]), ..Options::default() };
            cpu.render(&scene, Budget::of_samples(spp), options, &mut |_| Control::Continue).unwrap()
        };
        let (whole, first, all) = (render(9, true), render(4, false), render(9, false));
        let half = whole.half.expect("was asked for");
        assert_eq!(half.film, first.film);
        let [half, first] =
            [half.first_hits, first.first_hits].map(|hits| hits.expect("were asked for").pixels);
        assert!(half.iter().zip(&first).all(|(a, b)| a.albedo == b.albedo && a.ns == b.ns));
        assert_eq!((whole.film, whole.taken), (all.film, all.taken), "the whole is as ever");
        assert!(all.half.is_none());
    }

    #[test]
    fn an_unknown_end_has_about_its_half() {
        let budget = Budget { time: Some(Duration::from_secs(9)), ..Budget::of_samples(u32::MAX) };
        assert_eq!([1, 2].map(|spp| half(&budget, 0, spp)), [None; 2]);
        for spp in 3..300 {
            let share = f64::from(half(&budget, 0, spp).unwrap()) / f64::from(spp);
            assert!((0.33..=0.67).contains(&share), "{spp}: {share}");
        }
    }
}
