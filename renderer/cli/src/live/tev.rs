//! The viewer tev, over its own protocol.

use std::io::{self, ErrorKind};
use std::net::TcpStream;
use std::sync::mpsc::channel;
use std::thread::Builder;
use std::time::Duration;

use tev_client::{PacketCreateImage, PacketUpdateImage, TevClient};
use torrance_image::film::Image;

/// Where tev listens unless it is told otherwise.
pub(super) const ADDRESS: &str = "127.0.0.1:14158";

/// How long it may take to answer.
const CONNECTS_WITHIN: Duration = Duration::from_secs(1);
/// How long it may take nothing while it is sent an image.
const TAKES_WITHIN: Duration = Duration::from_secs(2);

/// Pixels that are sent at a time: lengths of packets have 32 bits.
const PIECE: usize = 1 << 18;

const CHANNELS: [&str; 3] = ["R", "G", "B"];

/// A connection to tev, which shows an image by a name.
pub(super) struct Tev {
    client: TevClient,
    address: String,
    name: String,
    is_created: bool,
}

impl Tev {
    /// Connects; or says why it cannot, and what helps.
    pub(super) fn connect(address: &str, name: String) -> Result<Self, String> {
        let failed = |reason| {
            format!(
                "tev does not answer at {address}: {reason}; the render goes on without it. Start tev before the render, and \
                 with --hostname={address} if it is to listen there"
            )
        };
        let stream = connect(address).map_err(failed)?;
        Ok(Self { client: TevClient::wrap(stream), address: address.to_owned(), name, is_created: false })
    }

    /// Shows an image, or says why it cannot.
    pub(super) fn show(&mut self, image: &Image) -> Result<(), String> {
        self.send(image).map_err(|error| {
            let reason = match error.kind() {
                ErrorKind::WouldBlock | ErrorKind::TimedOut => {
                    format!("it takes nothing for {} s", TAKES_WITHIN.as_secs())
                }
                _ => error.to_string(),
            };
            format!("tev at {} shows nothing more: {reason}; the render goes on without it", self.address)
        })
    }

    fn send(&mut self, Image { width, height, pixels }: &Image) -> io::Result<()> {
        let Self { client, name: image_name, is_created, .. } = self;
        let (width, height) = (*width, *height);
        if !std::mem::replace(is_created, true) {
            let channel_names = &CHANNELS;
            client.send(PacketCreateImage { image_name, grab_focus: true, width, height, channel_names })?;
        }
        let rows = (PIECE / width as usize).max(1);
        for (piece, y) in pixels.chunks(rows * width as usize).zip((0..height).step_by(rows)) {
            client.send(PacketUpdateImage {
                image_name,
                grab_focus: false,
                channel_names: &CHANNELS,
                channel_offsets: &[0, 1, 2],
                channel_strides: &[3; 3],
                x: 0,
                y,
                width,
                height: piece.len() as u32 / width,
                data: piece.as_flattened(),
            })?;
        }
        Ok(())
    }
}

/// Connects in a thread of its own: to find the address of a name may take longer than anybody waits.
fn connect(address: &str) -> io::Result<TcpStream> {
    let (connected, connects) = channel();
    let to = address.to_owned();
    Builder::new().name("tev".to_owned()).spawn(move || connected.send(TcpStream::connect(to)))?;
    let no_answer = || io::Error::other(format!("nothing within {} s", CONNECTS_WITHIN.as_secs()));
    let stream = connects.recv_timeout(CONNECTS_WITHIN).map_err(|_| no_answer())??;
    stream.set_write_timeout(Some(TAKES_WITHIN))?;
    Ok(stream)
}
