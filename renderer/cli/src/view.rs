//! `torrance view`: a scene in the browser, as it becomes sharper and as it is changed.

use std::fs;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::thread;
use std::time::Duration;

use renderer::{DeviceChoice, Resident};
use torrance_scene::Overrides;
use torrance_view::{Place, Settings, View};

use super::values::{self, Written};
use super::{EXIT_CODES, ExitCode, Failure, Notes, SceneArgs, device, print, say, signals};

const EXAMPLES: &str = "\
Examples:
  torrance view scenes/preview.toml
  torrance view scene.toml --size 1280x720 --watch
  torrance view scene.toml --device cuda:1 --port 8080

The address that is printed has a secret in it: whoever knows it may look, and change the scene, which is nowhere but in the view until it is \
saved. On another machine, forward the port, as in `ssh -L 8080:localhost:8080 RACK`, and open the address there. Nobody \
looks: the render pauses. Ctrl-C ends the view.
";

/// Look at a scene in the browser, and change it
#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_CODES, after_long_help = format!("{EXAMPLES}\n{EXIT_CODES}"))]
pub(super) struct Args {
    #[command(flatten)]
    scene: SceneArgs,

    /// Image size, pixels [default: the scene's]
    #[arg(long, value_name = "WxH", value_parser = values::size)]
    size: Option<(u32, u32)>,

    /// Samples per pixel after which the picture is done
    #[arg(long, value_name = "N", default_value = "65536", value_parser = values::spp, allow_negative_numbers = true)]
    spp: u32,

    /// Where to render: auto, cpu, cuda or cuda:N; auto takes the first GPU, or else the CPU
    #[arg(long, value_name = "DEVICE", default_value = "auto", value_parser = values::written(values::device), hide_default_value = true)]
    device: Written<DeviceChoice>,

    /// Most memory of a GPU that the view may take, as in 800MiB or 2GiB; what does not fit is read from the host's
    #[arg(long, value_name = "SIZE", value_parser = values::memory, allow_negative_numbers = true)]
    device_memory: Option<u64>,

    /// CPU threads to use [default: all]
    #[arg(long, value_name = "N", value_parser = values::threads, allow_negative_numbers = true)]
    threads: Option<usize>,

    /// Port to serve at [default: one that is free]
    #[arg(long, value_name = "N", default_value = "0", hide_default_value = true)]
    port: u16,

    /// Address of this machine to serve at; others than 127.0.0.1 can be reached from the network
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    bind: IpAddr,

    /// Name that browsers know this machine by, where they do not reach it by an address or its own name; repeat it for several
    #[arg(long, value_name = "NAME")]
    host: Vec<String>,

    /// Read the scene again when its files change; edits are kept
    #[arg(long)]
    watch: bool,

    /// Print the address, warnings and errors only
    #[arg(short, long)]
    quiet: bool,
}

/// Serves the view until it is interrupted. `scene` is how command lines name it.
pub(super) fn run(args: &Args, scene: String) -> Result<ExitCode, Failure> {
    let mut device = device::find(&args.device)?;
    let address = SocketAddr::new(args.bind, args.port);
    let listener = TcpListener::bind(address)
        .map_err(|error| Failure::input(format_args!("cannot serve at {address}: {error}")))?;
    device.memory = args.device_memory;
    renderer::limit_threads(args.threads);
    let mut notes = Notes::new(args.quiet);
    notes.display.phase(format!("reading {}", args.scene.path.display()));
    let overrides = Overrides { size: args.size, ..Overrides::default() };
    let (values, loaded) = args.scene.open(overrides, &mut notes)?;
    notes.display.phase(format!("starting {}", device.name()));
    // Threads inherit it.
    if !device.is_gpu() {
        give_way();
    }
    let resident = Resident::new(device.start(args.threads)?);
    if let Some(surprise) = device::surprise(std::slice::from_ref(&device)) {
        notes.warn(surprise);
    }
    if !args.bind.is_loopback() {
        notes.warn(
            "the view can be reached from the network, by whoever learns its address; nothing is encrypted"
                .into(),
        );
    }
    notes.end();
    let size = args.size.map_or_else(String::new, |(width, height)| format!(" --size {width}x{height}"));
    let again = args.scene.clone();
    let settings = Settings {
        name: args.scene.file_name(),
        command: scene + &size,
        size: [loaded.description.render.width, loaded.description.render.height],
        spp: args.spp,
        threads: args.threads,
        reload: Box::new(move || again.read_again(overrides)),
        watch: args.watch,
    };
    let own = host_name();
    let place = Place { listener, hosts: args.host.iter().chain(&own).cloned().collect() };
    signals::catch(true);
    signals::begin_render();
    let view = View::serve(place, settings, values, resident)
        .map_err(|error| Failure::running(format_args!("cannot serve at {address}: {error}")))?;
    print(format!("http://{}{}\n", shown(view.address(), own.as_deref()), view.path()))?;
    if !args.quiet {
        say("open this address in a browser; Ctrl-C ends the view");
    }
    while view.is_served() && !signals::is_stopping() {
        thread::sleep(Duration::from_millis(50));
    }
    match signals::is_stopping() {
        true => Ok(ExitCode::SUCCESS),
        false => Err(Failure::running("the view has ended by itself; please report this")),
    }
}

/// Has other programs go first: a browser on this machine, too, wants to show what is rendered.
fn give_way() {
    #[cfg(unix)]
    {
        // Without it, pages react more slowly.
        let _ = rustix::process::nice(10);
    }
}

/// An address as browsers take it: one that stands for all is named by the machine.
fn shown(address: SocketAddr, own: Option<&str>) -> String {
    match (address.ip().is_unspecified(), own) {
        (true, Some(own)) => format!("{own}:{}", address.port()),
        (true, None) => SocketAddr::new(Ipv4Addr::LOCALHOST.into(), address.port()).to_string(),
        (false, _) => address.to_string(),
    }
}

/// The name of this machine, where Linux tells it.
fn host_name() -> Option<String> {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").ok()?;
    let name = name.trim();
    (!name.is_empty()).then(|| name.to_owned())
}
