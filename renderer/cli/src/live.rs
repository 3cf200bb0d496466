//! `--live` and `--tev`: images of a render under way.

mod screen;
mod tev;

use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

use torrance_image::film::encode::{Provenance, Settings, encode};
use torrance_image::film::write::{Destination, Target};
use torrance_image::film::{Format, Image};
use torrance_text::quoted_path;

use self::screen::Screen;
use self::tev::Tev;
use super::{ChartFile, Failure, Notes, values};

/// Time before the first image.
const FIRST: Duration = Duration::from_millis(250);
/// Longest time between images that cost next to nothing. It doubles from one to the next until then: at first, they change most.
const LONGEST: Duration = Duration::from_secs(5);
/// Showing an image takes no more than such a part of the time until the next.
const PART: u32 = 50;

/// Watching a render.
#[derive(Debug, clap::Args)]
pub(super) struct LiveArgs {
    /// PNG to write the image so far to: soon at first, every few seconds then, and in the end. A file that is there is replaced
    #[arg(long, value_name = "FILE")]
    live: Option<PathBuf>,

    /// Show the image so far in the viewer tev, which listens there [default: 127.0.0.1:14158]
    #[arg(
        long,
        value_name = "HOST:PORT",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = tev::ADDRESS,
        value_parser = values::address
    )]
    tev: Option<String>,
}

impl LiveArgs {
    /// Checks that the image can be written, to a file that is none of the others.
    pub(super) fn check(
        &self,
        outputs: &[Target],
        plot: Option<&ChartFile>,
    ) -> Result<Option<Target>, Failure> {
        let Some(path) = &self.live else { return Ok(None) };
        if Format::from_path(path) != Ok(Format::Png) {
            let shown = quoted_path(path);
            return Err(Failure::input(format_args!("--live {shown}: expected a file .png")));
        }
        let target = Target::check(path).map_err(Failure::input)?;
        let outputs = outputs.iter().map(|output| &output.destination);
        let mut others = outputs.chain(plot.map(|plot| &plot.destination));
        match others.any(|other| other.is_same_file(&target.destination)) {
            true => Err(Failure::output(path, "given twice")),
            false => Ok(Some(target)),
        }
    }

    /// Opens what shows images of a size: a file, with how each is developed, and tev, which calls them by the name of the output.
    pub(super) fn open(
        &self,
        live: Option<(Destination, impl Fn(&Image) -> Settings + Send + 'static)>,
        (output, size): (&Path, [u32; 2]),
        notes: &mut Notes,
    ) -> Screens {
        let mut all = Vec::new();
        if let Some((destination, settings)) = live {
            let screen = Screen::new("live image", move |image| write(&destination, image, &settings(image)));
            all.push(screen);
        }
        if let Some(address) = &self.tev {
            match Tev::connect(address, output.display().to_string()) {
                Ok(mut tev) => all.push(Screen::new("tev", move |image| tev.show(image))),
                Err(reason) => notes.warn(reason),
            }
        }
        Screens { all, size, ..Screens::default() }
    }
}

/// Writes an image of a render under way.
fn write(destination: &Destination, image: &Image, settings: &Settings) -> Result<(), String> {
    let encoded = encode(image, Format::Png, settings, &Provenance::default());
    let written = destination.write_encoded(encoded.map(|encoded| encoded.bytes));
    written.map(drop).map_err(|error| format!("--live: {error}; the render goes on without it"))
}

/// Where images of a render under way are shown, and when.
#[derive(Default)]
pub(super) struct Screens {
    all: Vec<Screen>,
    /// Width and height of the images, pixels.
    size: [u32; 2],
    /// When the next image is wanted at the soonest, and how long after the one before.
    due: Option<Instant>,
    pause: Duration,
    /// Since when it is wanted.
    wanted: Option<Instant>,
    /// How long the render took for the last one.
    took: Duration,
}

impl Screens {
    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The render begins.
    pub(super) fn begin(&mut self) {
        (self.due, self.pause) = (Some(Instant::now() + FIRST), FIRST);
    }

    /// Whether it is time for an image, and somebody is there to look at it.
    pub(super) fn want_image(&mut self) -> bool {
        let now = Instant::now();
        let is_due = self.due.is_some_and(|due| due + self.cost() * PART <= now);
        let wants = self.wanted.is_some() || is_due && self.all.iter().any(Screen::is_free);
        if wants {
            self.wanted.get_or_insert(now);
        }
        wants
    }

    /// What the last image has cost: time of the render, until it had the image, and that of threads beside it, each of which takes a
    /// core from it at most.
    fn cost(&self) -> Duration {
        let cores = available_parallelism().map_or(1, NonZero::get) as u32;
        self.took + self.all.iter().map(Screen::took).sum::<Duration>() / cores
    }

    /// Shows an image, given by the radiance of its pixels.
    pub(super) fn show(&mut self, pixels: Vec<[f32; 3]>) {
        let [width, height] = self.size;
        let image = Arc::new(Image { width, height, pixels });
        self.all.iter().for_each(|screen| screen.show(&image));
        self.took = self.wanted.take().map_or(Duration::ZERO, |wanted| wanted.elapsed());
        self.due = Some(Instant::now() + self.pause);
        self.pause = (2 * self.pause).min(LONGEST);
    }

    /// Warns of those that failed, each of which shows nothing any more.
    pub(super) fn warn_of_failures(&self, notes: &mut Notes) {
        self.all.iter().filter_map(Screen::failure).for_each(|failure| notes.warn(failure));
    }

    /// Waits until the last image is shown, if that takes no longer than it may.
    pub(super) fn end(&mut self, notes: &mut Notes) {
        self.all.iter().for_each(Screen::end);
        self.warn_of_failures(notes);
        self.all.clear();
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Program {
        #[command(flatten)]
        live: LiveArgs,
        scene: Option<PathBuf>,
    }

    #[test]
    fn an_address_is_not_the_next_argument() {
        for (given, tev, scene) in [
            (&["", "--tev", "scene.toml"][..], Some("127.0.0.1:14158"), Some("scene.toml")),
            (&["", "--tev=[::1]:14158", "scene.toml"], Some("[::1]:14158"), Some("scene.toml")),
            (&["", "--tev"], Some("127.0.0.1:14158"), None),
            (&[""], None, None),
        ] {
            let program = Program::parse_from(given);
            assert_eq!((program.live.tev.as_deref(), program.scene), (tev, scene.map(PathBuf::from)));
        }
    }

    /// However often it is asked: soon at first, then less and less often, and not while all are busy.
    #[test]
    fn images_are_wanted_now_and_then() {
        let mut screens = Screens::default();
        screens.begin();
        assert_eq!(screens.pause, FIRST);
        screens.due = Some(Instant::now());
        assert!(!screens.want_image(), "nobody looks");
        screens.all.push(Screen::new("test", |_| Ok(())));
        let wait_until_free = |screens: &Screens| {
            while !screens.all[0].is_free() {
                std::thread::yield_now();
            }
        };
        for pause in [250, 500, 1000, 2000, 4000, 5000, 5000].map(Duration::from_millis) {
            assert_eq!(screens.pause, pause);
            wait_until_free(&screens);
            screens.due = Some(Instant::now());
            // What it took counts as well, which here is next to nothing.
            while !screens.want_image() {}
            screens.show(Vec::new());
            assert!(!screens.want_image());
        }
        wait_until_free(&screens);
        screens.took = Duration::from_millis(100);
        screens.due = Some(Instant::now() - Duration::from_secs(2));
        assert!(!screens.want_image(), "it takes five seconds to be worth so much");
        screens.due = Some(Instant::now() - Duration::from_secs(6));
        assert!(screens.want_image());
    }
}
