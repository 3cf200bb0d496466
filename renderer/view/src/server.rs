//! HTTP and WebSockets: pages come in, pictures go out.

use std::collections::VecDeque;
use std::net::TcpListener;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade, close_code};
use axum::extract::{Path, Request as HttpRequest, State};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::sync::Semaphore;
use tokio::sync::watch;
use tokio::time::timeout;
use torrance_image::color_map::ColorMap;

use crate::guard::{Guard, POLICY};
use crate::hub::{Arrival, Hub, PageId};
use crate::message::{Reply, Request};
use crate::picture::{Encoding, Picture};

/// Most bytes of a message from a page.
const MOST_BYTES: usize = 1 << 20;
/// Messages in a row that mean nothing, after which a page is no page.
const MOST_JUNK: u32 = 100;
/// Connections at once, those of pages not counted.
const MOST_CONNECTIONS: usize = 256;
/// How long a connection may take to say what it wants.
const PATIENCE_OF_STRANGERS: Duration = Duration::from_secs(10);
/// How long a page may take to read what it is sent.
const PATIENCE: Duration = Duration::from_secs(30);

/// The files of the page, by their names.
macro_rules! files {
    ($($name:literal)*) => { &[$(($name, include_str!(concat!("page/", $name)))),*] };
}

/// The files of the page.
const FILES: &[(&str, &str)] = files!(
    "camera.js" "camera_panel.js" "color.js" "compare.js" "controls.js" "display.js" "dom.js" "edits.js" "frame.js" "gestures.js" "history.js" "index.html" "marks.js" "material.js" "menus.js" "meter.js" "mode.js" "notices.js" "numbers.js" "parameters.js" "path.js" "picking.js" "picture.js" "pixel.js" "row.js" "scene.js" "screen.js" "shaders.js" "slider.js" "socket.js" "status.js" "theme.js" "vector.js" "verdict.js" "view.css" "view.js" "viewport.js"
);

#[derive(Clone)]
struct Server {
    hub: Arc<Hub>,
    guard: Arc<Guard>,
}

/// Serves pages until the hub ends.
///
/// # Errors
/// The system does not let it.
pub(crate) fn serve(listener: TcpListener, hub: Arc<Hub>, guard: Arc<Guard>) -> std::io::Result<()> {
    listener.set_nonblocking(true)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let server = Server { hub: Arc::clone(&hub), guard };
    let router = Router::new()
        .route("/{token}/", get(index))
        .route("/{token}/socket", get(socket))
        .route("/{token}/{file}", get(file))
        .layer(from_fn_with_state(server.clone(), admit))
        .with_state(server);
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::from_std(listener)?;
        let mut pictures = hub.pictures();
        tokio::select! {
            () = accept(listener, router) => Ok(()),
            () = async { while !hub.is_over() && pictures.changed().await.is_ok() {} } => Ok(()),
        }
    })
}

/// Accepts connections. Those that ask for nothing are ended after a while, and those that come while there are too many, at once.
async fn accept(listener: tokio::net::TcpListener, router: Router) {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(PATIENCE_OF_STRANGERS);
    let room = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // As when there are no file descriptors left.
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        let Ok(place) = Arc::clone(&room).try_acquire_owned() else { continue };
        // Pictures must not wait until there is more to send.
        let _ = stream.set_nodelay(true);
        let service = TowerToHyperService::new(router.clone());
        let connection = http.serve_connection(TokioIo::new(stream), service).with_upgrades();
        tokio::spawn(async move {
            let _ = connection.await;
            drop(place);
        });
    }
}

/// Lets nobody in who is not meant to be, and has answers say what they may do.
async fn admit(State(server): State<Server>, request: HttpRequest, next: Next) -> Response {
    let token = request.uri().path().split('/').nth(1).unwrap_or_default();
    let mut response = if !server.guard.is_for_us(request.headers()) || !Guard::is_from_us(request.headers())
    {
        (StatusCode::FORBIDDEN, "This is not for you.\n").into_response()
    } else if !server.guard.knows(token) {
        (StatusCode::NOT_FOUND, "There is nothing here. The address of a view ends in its token.\n")
            .into_response()
    } else {
        next.run(request).await
    };
    let headers: [(HeaderName, &str); 5] = [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ];
    for (name, value) in headers {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

/// The colour maps, as a module of the page.
static MAPS: LazyLock<String> = LazyLock::new(|| {
    let map = |(name, map): (&str, ColorMap)| format!("export const {name} = {:?};\n", map.stops());
    [("VIRIDIS", ColorMap::Viridis), ("MAGMA", ColorMap::Magma)].map(map).concat()
});

async fn index() -> Response {
    found("index.html")
}

async fn file(Path((_, name)): Path<(String, String)>) -> Response {
    found(&name)
}

fn found(name: &str) -> Response {
    let kind = match name.rsplit_once('.') {
        Some((_, "html")) => "text/html; charset=utf-8",
        Some((_, "css")) => "text/css; charset=utf-8",
        _ => "text/javascript; charset=utf-8",
    };
    let text = match name {
        "maps.js" => Some(MAPS.as_str()),
        "colors.css" => Some(torrance_plot::COLORS),
        name => FILES.iter().find(|(known, _)| *known == name).map(|(_, text)| *text),
    };
    match text {
        Some(text) => ([(header::CONTENT_TYPE, kind)], text).into_response(),
        None => (StatusCode::NOT_FOUND, "There is no such file.\n").into_response(),
    }
}

async fn socket(State(server): State<Server>, upgrade: WebSocketUpgrade) -> Response {
    let upgrade = upgrade.max_message_size(MOST_BYTES).max_frame_size(MOST_BYTES);
    // What a page does not read stays with it.
    let upgrade = upgrade.write_buffer_size(0);
    upgrade.on_upgrade(move |socket| async move {
        match server.hub.enter() {
            Some(arrival) => attend(socket, &server.hub, arrival).await,
            None => turn_away(socket).await,
        }
    })
}

async fn turn_away(mut socket: WebSocket) {
    let reason = CloseFrame { code: close_code::AGAIN, reason: "Too many pages look at this view".into() };
    let _ = timeout(PATIENCE, socket.send(Message::Close(Some(reason)))).await;
}

/// Attends to a page until it goes.
async fn attend(socket: WebSocket, hub: &Arc<Hub>, arrival: Arrival) {
    let id = arrival.id;
    let (out, incoming) = socket.split();
    let (drawn, acks) = watch::channel(0);
    tokio::select! {
        () = listen(incoming, hub, id, drawn) => {}
        () = send(out, hub, arrival, acks) => {}
    }
    hub.leave(id);
}

/// Hears what a page has to say. `drawn` is the last frame that it has on the screen.
async fn listen(mut incoming: SplitStream<WebSocket>, hub: &Hub, id: PageId, drawn: watch::Sender<u32>) {
    let mut junk = 0;
    while let Some(Ok(message)) = incoming.next().await {
        let text = match message {
            Message::Text(text) => text,
            Message::Binary(_) => "".into(),
            Message::Close(_) => return,
            Message::Ping(_) | Message::Pong(_) => continue,
        };
        let heard = match serde_json::from_str(&text) {
            Ok(Request::Ack { frame }) => {
                drawn.send_replace(frame);
                Ok(())
            }
            Ok(request) => hub.request(id, request),
            Err(error) => {
                junk += 1;
                if junk > MOST_JUNK {
                    return;
                }
                hub.reply(id, &Reply::refused(format!("this means nothing: {error}")));
                continue;
            }
        };
        junk = 0;
        if let Err(text) = heard {
            hub.reply(id, &Reply::refused(text));
        }
    }
}

/// Sends a page what it is told, and pictures as it draws them.
async fn send(
    mut out: SplitSink<WebSocket, Message>,
    hub: &Arc<Hub>,
    Arrival { id, mut replies, mut pictures }: Arrival,
    mut acks: watch::Receiver<u32>,
) {
    let mut stream = Stream::default();
    loop {
        // What is told of the scene comes before its pictures.
        while let Ok(text) = replies.try_recv() {
            if !is_sent(&mut out, Message::Text(text.as_ref().into())).await {
                return;
            }
        }
        if let Some(message) = stream.next(hub, id).await {
            if !is_sent(&mut out, message).await {
                return;
            }
            continue;
        }
        tokio::select! {
            reply = replies.recv() => match reply {
                Some(text) if is_sent(&mut out, Message::Text(text.as_ref().into())).await => {}
                _ => return,
            },
            changed = pictures.changed() => if changed.is_err() { return },
            changed = acks.changed() => match changed {
                Ok(()) => stream.acknowledge(*acks.borrow_and_update()),
                Err(_) => return,
            },
        }
    }
}

async fn is_sent(out: &mut SplitSink<WebSocket, Message>, message: Message) -> bool {
    timeout(PATIENCE, out.send(message)).await.is_ok_and(|sent| sent.is_ok())
}

/// Pictures on their way to a page: one at a time, so that what is on the screen is the latest that the connection allows.
#[derive(Default)]
struct Stream {
    /// The last that were sent, of the page's layer and the one that was kept.
    sent: [Option<Arc<Picture>>; 2],
    number: u32,
    /// Whether the last of the page's layer was not exact.
    is_rough: bool,
    /// When the frame that is not on the screen yet was sent, and its bytes.
    under_way: Option<(Instant, usize)>,
    /// Bytes per second of the last large frames, from which they can be told.
    rates: Latest,
    /// Before there were any, of the last small ones, which are mostly latency.
    hints: Latest,
}

/// The last of some numbers.
#[derive(Default)]
struct Latest(VecDeque<f64>);

impl Latest {
    fn add(&mut self, number: f64) {
        const MOST: usize = 3;
        self.0.push_back(number);
        if self.0.len() > MOST {
            self.0.pop_front();
        }
    }

    fn greatest(&self) -> Option<f64> {
        self.0.iter().copied().reduce(f64::max)
    }
}

impl Stream {
    /// The next frame, if there is one and the page is ready for it.
    async fn next(&mut self, hub: &Arc<Hub>, id: PageId) -> Option<Message> {
        if self.under_way.is_some() {
            return None;
        }
        let is_new = |sent: &Option<Arc<Picture>>, latest: &Option<Arc<Picture>>| match (sent, latest) {
            (_, None) => false,
            (None, Some(_)) => true,
            (Some(sent), Some(latest)) => !Arc::ptr_eq(sent, latest),
        };
        let latest = hub.pictures_of(id);
        let (picture, encoding) = match [1, 0].into_iter().find(|i| is_new(&self.sent[*i], &latest[*i])) {
            Some(i) => {
                let picture = latest[i].clone()?;
                let encoding = self.encoding(&picture);
                if i == 0 {
                    self.is_rough = encoding != Encoding::Rgb9e5;
                }
                self.sent[i] = Some(Arc::clone(&picture));
                (picture, encoding)
            }
            None => (self.refined()?, Encoding::Rgb9e5),
        };
        self.number = self.number.wrapping_add(1);
        let number = self.number;
        let message = tokio::task::spawn_blocking(move || picture.message(encoding, number)).await.ok()?;
        self.under_way = Some((Instant::now(), message.len()));
        Some(Message::Binary(message.into()))
    }

    /// Exact, unless that would take too long.
    fn encoding(&self, picture: &Picture) -> Encoding {
        let patience = if picture.is_fleeting { 0.1 } else { 2.0 };
        if self.seconds(picture) <= patience { Encoding::Rgb9e5 } else { Encoding::LogJpeg }
    }

    /// How long a picture is under way if it is exact, as far as that is known.
    fn seconds(&self, picture: &Picture) -> f64 {
        picture.exact_bytes() as f64 / self.rate()
    }

    /// The picture that was sent last, which is to be sent exactly, as there is nothing newer.
    fn refined(&mut self) -> Option<Arc<Picture>> {
        const PATIENCE: f64 = 4.0;
        let picture =
            self.sent[0].clone().filter(|picture| self.is_rough && self.seconds(picture) <= PATIENCE)?;
        self.is_rough = false;
        Some(picture)
    }

    /// A frame is on the screen.
    fn acknowledge(&mut self, number: u32) {
        if let Some((at, bytes)) = self.under_way.take_if(|_| number == self.number) {
            self.learn(bytes, at.elapsed());
        }
    }

    /// Learns how fast the connection is from a frame of so many bytes.
    fn learn(&mut self, bytes: usize, took: Duration) {
        /// Small frames take no less time where the connection is fast.
        const LARGE: usize = 500_000;
        let rate = bytes as f64 / took.as_secs_f64().max(1e-3);
        match self.rates.greatest() {
            None if bytes < LARGE => self.hints.add(rate),
            Some(known) if bytes < LARGE && rate <= known => {}
            _ => self.rates.add(rate),
        }
    }

    /// Bytes per second. The best of several frames, since a browser that is busy or hidden takes long whatever the connection is like.
    fn rate(&self) -> f64 {
        /// So low that nobody waits long for a first picture.
        const UNKNOWN: f64 = 1e6;
        /// How much more a large frame can be expected to have than a small one.
        const LATENCY: f64 = 2.0;
        let hint = || self.hints.greatest().map(|rate| LATENCY * rate);
        self.rates.greatest().or_else(hint).unwrap_or(UNKNOWN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::RADIANCE;

    /// A picture of 4 MB.
    fn picture(is_fleeting: bool) -> Picture {
        Picture::new(1, RADIANCE, ([1000, 1000], 1), vec![[0.0; 3]; 1_000_000], is_fleeting)
    }

    const FAST: Duration = Duration::from_millis(20);
    const SLOW: Duration = Duration::from_secs(6);

    /// How a picture is sent after frames of 4 MB that took so long.
    fn encoding_after(frames: &[Duration]) -> Encoding {
        let mut stream = Stream::default();
        frames.iter().for_each(|took| stream.learn(4_000_000, *took));
        stream.encoding(&picture(true))
    }

    #[test]
    fn a_busy_browser_is_no_slow_connection() {
        assert_eq!(encoding_after(&[FAST, FAST, SLOW]), Encoding::Rgb9e5);
        assert_eq!(encoding_after(&[SLOW, FAST, FAST, SLOW, FAST]), Encoding::Rgb9e5);
    }

    #[test]
    fn nobody_waits_for_the_first_picture() {
        let mut stream = Stream::default();
        assert_eq!(stream.encoding(&picture(false)), Encoding::LogJpeg);
        let mut follows = |bytes, ms| {
            (stream.is_rough, stream.sent[0]) = (true, Some(Arc::new(picture(false))));
            stream.learn(bytes, Duration::from_millis(ms));
            stream.refined().is_some()
        };
        assert!(!follows(80_000, 1000), "the exact one would be under way for half a minute");
        assert!(follows(80_000, 100), "a browser that is busy");
        assert!(!follows(600_000, 6000));
        let small = Picture::new(1, RADIANCE, ([160, 90], 1), vec![[0.0; 3]; 160 * 90], true);
        assert_eq!(Stream::default().encoding(&small), Encoding::Rgb9e5);
    }

    #[test]
    fn a_slow_connection_gets_jpegs() {
        assert_eq!(encoding_after(&[SLOW]), Encoding::LogJpeg, "from the second picture on");
        assert_eq!(encoding_after(&[FAST, SLOW, SLOW, SLOW]), Encoding::LogJpeg, "it has become slow");
        let mut stream = Stream::default();
        stream.learn(4_000_000, SLOW);
        (0..9).for_each(|_| stream.learn(50_000, Duration::from_millis(150)));
        assert_eq!(stream.encoding(&picture(true)), Encoding::LogJpeg, "so do small frames");
        // One that has become fast is noticed by them.
        stream.learn(50_000, Duration::from_millis(1));
        assert_eq!(stream.encoding(&picture(true)), Encoding::Rgb9e5);
    }
}
