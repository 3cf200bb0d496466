//! Who and what is refused.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::json;
use tungstenite::Message;

use super::client::{PATIENCE, Page, Served};
use crate::program::Folder;

/// The status of the answer to a request, and the answer.
fn answer(view: &Served, path: &str, headers: &[(&str, &str)]) -> (u16, String) {
    let mut stream = TcpStream::connect(view.host()).expect("it listens");
    stream.set_read_timeout(Some(PATIENCE)).expect("a socket");
    let host = [("Host", view.host())];
    let host = if headers.iter().any(|(name, _)| *name == "Host") { &[][..] } else { &host };
    let headers: String =
        host.iter().chain(headers).map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    write!(stream, "GET {path} HTTP/1.1\r\n{headers}Connection: close\r\n\r\n").expect("it reads");
    let mut bytes = vec![0; 1 << 16];
    let n = stream.read(&mut bytes).expect("it answers");
    let text = String::from_utf8_lossy(&bytes[..n]).into_owned();
    let status = text.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
    (status, text)
}

/// What a browser sends for a WebSocket, but for `Connection`.
const UPGRADE: [(&str, &str); 4] = [
    ("Connection", "Upgrade"),
    ("Upgrade", "websocket"),
    ("Sec-WebSocket-Version", "13"),
    ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
];

#[test]
fn strangers_are_refused() {
    let folder = Folder::new();
    let view = Served::start(&folder, &["scene.toml", "--spp=4"]);
    let path = view.url.split_once(view.host()).expect("it has one").1;
    let socket = format!("{path}socket");
    let own = format!("http://{}", view.host());

    let (status, text) = answer(&view, path, &[]);
    assert_eq!(status, 200, "{text}");
    for header in ["content-security-policy: default-src 'none'", "nosniff", "no-referrer", "no-store"] {
        assert!(text.contains(header), "{header}: {text}");
    }
    assert_eq!(answer(&view, &format!("{path}view.js"), &[]).0, 200);
    assert_eq!(answer(&view, &socket, &[&UPGRADE[..], &[("Origin", &own)]].concat()).0, 101);

    let wrong = "/00000000000000000000000000000000/";
    for path in ["/", "", wrong, &format!("{wrong}socket"), &path.to_uppercase(), &path[..path.len() - 2]] {
        let (status, text) = answer(&view, if path.is_empty() { "/x" } else { path }, &[]);
        assert_eq!(status, 404, "{path}: {text}");
        assert!(!text.contains("torrance view"), "{text}");
    }
    for host in ["evil.example", "localhost.evil.example", &format!("evil.example:{}", view.host())] {
        assert_eq!(answer(&view, path, &[("Host", host)]).0, 403, "{host}");
    }
    assert_eq!(answer(&view, path, &[("Host", "localhost")]).0, 200);
    for origin in ["http://evil.example", "null", &format!("{own}0"), "http://localhost"] {
        let headers = [&UPGRADE[..], &[("Origin", origin)]].concat();
        assert_eq!(answer(&view, &socket, &headers).0, 403, "{origin}");
    }
    for file in [
        "../Cargo.toml",
        "..%2f..%2fetc%2fpasswd",
        "%2e%2e/scene.toml",
        "scene.toml",
        "....//",
        "view.js/x",
        "\\..\\x",
    ] {
        let (status, text) = answer(&view, &format!("{path}{file}"), &[]);
        assert!(matches!(status, 400 | 404), "{file}: {text}");
    }
    Page::open(&view).picture(4);
}

/// Junk is refused, and whoever sends nothing else is shut out; others do not notice, and nothing grows.
#[test]
fn junk_harms_nobody() {
    const MESSAGES: usize = 10_000;
    const MOST_GROWTH: u64 = 24 << 20;
    let folder = Folder::new();
    let view = Served::start(&folder, &["scene.toml", "--spp=16"]);
    let mut page = Page::open(&view);
    page.set(&[("camera.fov", json!(50))]);
    page.picture(16);
    let before = view.memory();
    let connect = || tungstenite::connect(view.url.replace("http", "ws") + "socket").expect("a connection").0;
    let (mut sent, mut shut_out) = (0, 0);
    let junk = |i: usize| match i % 7 {
        0 => Message::text("junk"),
        1 => Message::text(r#"{"type":"set"}"#),
        2 => Message::binary(vec![0xff; 100]),
        3 => Message::text(r#"{"type":"set","values":[["a","b"]],"gesture":-1}"#),
        4 => Message::text("[".repeat(10_000)),
        5 => Message::text(format!(r#"{{"type":"probe","x":{i}e99,"y":0}}"#)),
        _ => Message::text("\u{0}".repeat(i % 1000)),
    };
    while sent < MESSAGES {
        let mut socket = connect();
        while sent < MESSAGES && socket.send(junk(sent)).is_ok() {
            sent += 1;
        }
        shut_out += 1;
    }
    assert!(shut_out > 1, "whoever sends junk alone is shut out");
    let mut large = connect();
    let _ = large.send(Message::text("x".repeat(1 << 20)));
    // Well-formed, and wrong.
    for i in 0..500 {
        page.send(json!({ "type": "probe", "x": i * 1000, "y": 3 }));
        let value = json!([["materials.grey.reflectance", format!("no {i}")]]);
        page.ask(json!({ "type": "set", "values": value, "gesture": i }), "refused");
    }
    // Another page, which has no refusals to come.
    let mut page = Page::open(&view);
    page.set(&[("camera.fov", json!(60))]);
    page.picture(16);
    let growth = view.memory().saturating_sub(before);
    assert!(growth < MOST_GROWTH, "{growth} bytes");
    assert!(view.interrupt());
}

/// Sockets that never read keep nothing and nobody up.
#[test]
fn sockets_that_do_not_read_are_left_behind() {
    const MOST_GROWTH: u64 = 48 << 20;
    let folder = Folder::new();
    let view = Served::start(&folder, &["scene.toml", "--size=256x256", "--spp=100000000"]);
    let mut page = Page::open(&view);
    page.picture(1);
    let before = view.memory();
    let deaf: Vec<_> = (0..8)
        .map(|_| tungstenite::connect(view.url.replace("http", "ws") + "socket").expect("a connection").0)
        .collect();
    let frames = page.frames;
    for i in 0..tier::choose(60, 600) {
        page.set(&[("camera.fov", json!(30 + i % 60))]);
        page.picture(1);
    }
    assert!(page.frames >= frames + 60);
    let growth = view.memory().saturating_sub(before);
    assert!(growth < MOST_GROWTH, "{growth} bytes");
    drop(deaf);
    std::thread::sleep(Duration::from_millis(100));
    page.set(&[("camera.fov", json!(33))]);
    page.picture(1);
}

/// Connections that ask for nothing are ended, and do not keep others out for long.
#[test]
fn strangers_who_say_nothing_go() {
    let folder = Folder::new();
    let view = Served::start(&folder, &["scene.toml", "--spp=4"]);
    let mut page = Page::open(&view);
    page.picture(4);
    let before = view.memory();
    let mut strangers: Vec<_> = (0..300).filter_map(|_| TcpStream::connect(view.host()).ok()).collect();
    for stranger in &mut strangers {
        let _ = stranger.write_all(b"GET / HTTP/1.1\r\n");
    }
    page.set(&[("camera.fov", json!(33))]);
    page.picture(4);
    let growth = view.memory().saturating_sub(before);
    assert!(growth < 32 << 20, "{growth} bytes");
    std::thread::sleep(Duration::from_secs(11));
    assert_eq!(answer(&view, "/", &[]).0, 404);
    strangers[0].set_read_timeout(Some(PATIENCE)).expect("a socket");
    assert_eq!(strangers[0].read(&mut [0; 999]).unwrap_or(0), 0, "it is closed");
}

/// More pages than can look are told so, and there is room again when some have gone.
#[test]
fn pages_have_room_again_when_others_go() {
    let folder = Folder::new();
    let view = Served::start(&folder, &["scene.toml", "--spp=4"]);
    let pages: Vec<_> = (0..32).map(|_| Page::open(&view)).collect();
    let (mut socket, _) =
        tungstenite::connect(view.url.replace("http", "ws") + "socket").expect("a connection");
    match socket.read().expect("it is told") {
        Message::Close(Some(close)) => assert!(close.reason.contains("Too many"), "{close:?}"),
        other => panic!("{other:?}"),
    }
    drop(pages);
    std::thread::sleep(Duration::from_millis(200));
    Page::open(&view).picture(4);
}
