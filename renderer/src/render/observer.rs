//! Those who watch a render.

use torrance_image::film::Film;

use super::Progress;

/// Whether to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Control {
    /// Take the next pass.
    Continue,
    /// As [`Control::Continue`], and the image so far is shown ([`Observer::show`]): before anything else if one machine alone renders,
    /// and else as soon as all have copied theirs to the host, for which there has to be the memory.
    Show,
    /// As [`Control::Continue`], once the films so far have been shown ([`Observer::show_films`]), if one machine alone renders.
    ShowFilms,
    /// Stop after this one and keep what is rendered.
    Stop,
}

/// Who is told how far a render is, and says whether it goes on. A function of a [`Progress`] is one that is shown nothing.
pub trait Observer {
    /// Called after launches.
    fn observe(&mut self, progress: &Progress) -> Control;

    /// The image so far, if [`Control::Show`] has asked for it: mean radiance of every pixel, W·sr⁻¹·m⁻², row by row from the top
    /// left; 0 for pixels without samples.
    fn show(&mut self, progress: &Progress, radiance: Vec<[f32; 3]>);

    /// The films so far, if [`Control::ShowFilms`] has asked for them.
    fn show_films(&mut self, _progress: &Progress, _films: FilmsSoFar) {}
}

/// Films of a render under way. Samples that were taken before it began are not in them.
#[derive(Debug, Clone)]
pub struct FilmsSoFar {
    /// [`super::Rendered::film`].
    pub image: Film,
    /// [`super::Rendered::shorter`].
    pub shorter: Option<[Film; 2]>,
}

impl<F: FnMut(&Progress) -> Control + ?Sized> Observer for F {
    fn observe(&mut self, progress: &Progress) -> Control {
        self(progress)
    }

    fn show(&mut self, _: &Progress, _: Vec<[f32; 3]>) {}
}
