//! An interactive view of a scene, in the browser: `torrance view`.
//!
//! In: the values of a scene, and a machine that renders. Out: a page, under an address with a random token, that shows the picture
//! as it becomes sharper, and changes every parameter of the scene.
//!
//! Three threads share a hub: the engine renders the scene as it is now, another looks at what the camera sees where, and a server
//! speaks to pages. Pages never make the engine wait: each gets the latest picture when it has drawn the one before. For each pixel,
//! the view takes 88 bytes of films on the host, as much again for a picture that is kept, 128 for surfaces once they have been looked
//! at, and 16 for each layer that some page looks at; with what renders take, and copies on their way, up to 1 KB in all.
//!
//! Modules know those before them: `message`; `guard`, `picture`; `hub`; `surfaces`, `document`, `files`; `engine`, `server`.

mod document;
mod engine;
mod files;
mod guard;
mod hub;
mod message;
mod picture;
mod server;
mod surfaces;

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use renderer::Resident;
use torrance_scene::SceneValues;

use document::Document;
use engine::Engine;
use files::Watched;
use guard::Guard;
use hub::Hub;
use surfaces::Surfaces;

/// Reads the scene once more, or says what is wrong with it.
pub type Reload = Box<dyn FnMut() -> Result<SceneValues, String> + Send>;

/// What to view, and where.
pub struct Settings {
    /// The name of the scene, for people.
    pub name: String,
    /// How command lines name the scene, in the words of shells.
    pub command: String,
    /// Width and height of the picture, pixels.
    pub size: [u32; 2],
    /// Samples per pixel to take at most.
    pub spp: u32,
    /// Threads of the CPU to look at surfaces with, all if `None`.
    pub threads: Option<usize>,
    /// Reads the scene again.
    pub reload: Reload,
    /// Whether the scene is read again when its files change.
    pub watch: bool,
}

/// Where the view is served.
#[derive(Debug)]
pub struct Place {
    /// What browsers connect to.
    pub listener: TcpListener,
    /// Names that browsers may know this machine by, beside `localhost` and its addresses.
    pub hosts: Vec<String>,
}

/// A view that is served until it is dropped.
pub struct View {
    hub: Arc<Hub>,
    address: SocketAddr,
    path: String,
    threads: Vec<JoinHandle<()>>,
}

impl View {
    /// Serves a scene.
    ///
    /// # Errors
    /// The system does not let it.
    pub fn serve(
        Place { listener, hosts }: Place,
        settings: Settings,
        values: SceneValues,
        resident: Resident,
    ) -> io::Result<Self> {
        let address = listener.local_addr()?;
        let guard = Arc::new(Guard::new(hosts).map_err(io::Error::other)?);
        let path = format!("/{}/", guard.token());
        let (hub, surfaces) = (Arc::new(Hub::new()), Arc::new(Surfaces::default()));
        let mut view = Self { hub: Arc::clone(&hub), address, path, threads: Vec::new() };
        let watched = Watched::default();
        watched.set(values.files());
        let is_watched = settings.watch;
        let threads = settings.threads;
        let document = Document::new(Arc::clone(&hub), (settings, watched.clone()), values, resident.name());
        let engine = Engine::new(Arc::clone(&hub), Arc::clone(&surfaces), document, resident);
        view.spawn("render", move || engine.run())?;
        let (at, seen) = (Arc::clone(&hub), Arc::clone(&surfaces));
        view.spawn("surfaces", move || surfaces::run(&at, &seen, threads))?;
        if is_watched {
            let hub = Arc::clone(&hub);
            view.spawn("files", move || files::watch(&hub, &watched))?;
        }
        view.spawn("server", move || {
            // The end of any thread is that of all.
            let _ = server::serve(listener, hub, guard);
        })?;
        Ok(view)
    }

    fn spawn(&mut self, name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
        let end = End(Arc::clone(&self.hub));
        let work = move || {
            let _end = end;
            work();
        };
        self.threads.push(thread::Builder::new().name(name.to_owned()).spawn(work)?);
        Ok(())
    }

    /// The address that it is served at.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// The path of the page, which begins and ends with a slash and has the token in it.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Whether it is served still.
    pub fn is_served(&self) -> bool {
        !self.hub.is_over()
    }
}

/// Ends the view when one of its threads ends, even by a panic: without it, the others would look alive.
struct End(Arc<Hub>);

impl Drop for End {
    fn drop(&mut self) {
        self.0.end();
    }
}

impl Drop for View {
    fn drop(&mut self) {
        self.hub.end();
        for thread in self.threads.drain(..) {
            // What was said of its panic is on the screen already.
            let _ = thread.join();
        }
    }
}
