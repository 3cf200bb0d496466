//! A view that runs, and pages of it without a browser.

use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tungstenite::{Message, WebSocket, connect, stream::MaybeTlsStream};

use crate::program::Folder;

/// How long anything that should happen soon may take on a busy machine.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

/// A view, ended when dropped.
pub(super) struct Served {
    child: Child,
    /// `http://127.0.0.1:PORT/TOKEN/`
    pub(super) url: String,
}

impl Served {
    pub(super) fn start(folder: &Folder, arguments: &[&str]) -> Self {
        let mut program = folder.program(&[&["view", "--quiet"], arguments].concat());
        // Else the allocator keeps some of what is freed, and more of it the larger that was: glibc up to 64 MiB a thread.
        program.env("MALLOC_TRIM_THRESHOLD_", "131072");
        let mut child = program.stdout(Stdio::piped()).spawn().expect("the program starts");
        let mut url = String::new();
        BufReader::new(child.stdout.take().expect("it is piped")).read_line(&mut url).expect("an address");
        Self { child, url: url.trim().to_owned() }
    }

    /// `127.0.0.1:PORT`
    pub(super) fn host(&self) -> &str {
        self.url.split('/').nth(2).expect("a host")
    }

    /// A figure of the process, as Linux tells it.
    fn of_process(&self, file: &str) -> String {
        std::fs::read_to_string(format!("/proc/{}/{file}", self.child.id())).expect("it runs")
    }

    /// Bytes that it has in memory.
    pub(super) fn memory(&self) -> u64 {
        let status = self.of_process("status");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("its size");
        line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") << 10
    }

    /// Time of processors that it has taken.
    pub(super) fn cpu_time(&self) -> Duration {
        let stat = self.of_process("stat");
        let fields: Vec<_> = stat.rsplit_once(") ").expect("its name").1.split(' ').collect();
        let ticks: u64 = [11, 12].map(|i: usize| fields[i].parse::<u64>().expect("ticks")).iter().sum();
        Duration::from_millis(10 * ticks)
    }

    /// Ends it as Ctrl-C does. Says whether it was content.
    pub(super) fn interrupt(mut self) -> bool {
        let kill = format!("kill -s INT {}", self.child.id());
        assert!(Command::new("sh").args(["-c", &kill]).status().expect("sh starts").success());
        self.child.wait().expect("it ends").success()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A picture that a page was sent.
#[derive(Debug, Clone, Default)]
pub(super) struct Frame {
    number: u32,
    pub(super) revision: u64,
    pub(super) size: [u32; 2],
    pub(super) spp: u32,
    layer: u32,
    is_exact: bool,
    pixels: Vec<u8>,
}

impl Frame {
    fn new(message: &[u8]) -> Self {
        let word = |i: usize| u32::from_le_bytes(message[4 * i..4 * i + 4].try_into().expect("four bytes"));
        assert_eq!(word(0), 1, "the version");
        let frame = Self {
            number: word(2),
            revision: word(3).into(),
            size: [word(4), word(5)],
            spp: word(6),
            layer: word(7),
            is_exact: word(1) == 0,
            pixels: message[32..].to_vec(),
        };
        assert!(!frame.is_exact || frame.pixels.len() == 4 * (word(4) * word(5)) as usize);
        frame
    }

    /// Its pixels.
    pub(super) fn decoded(&self) -> Vec<[f32; 3]> {
        self.pixels
            .chunks_exact(4)
            .map(|code| decoded(u32::from_le_bytes(code.try_into().expect("four"))))
            .collect()
    }
}

fn decoded(code: u32) -> [f32; 3] {
    let exponent = (code >> 27) as i32 - 24;
    [0, 9, 18].map(|shift| ((code >> shift) & 511) as f32 * (exponent as f32).exp2())
}

/// Pixels with mantissas of nine bits and one exponent, as the specification of OpenGL 3.0 says, in `f64`.
pub(super) fn rounded(pixels: &[[f32; 3]]) -> Vec<[f32; 3]> {
    let round = |pixel: &[f32; 3]| {
        let pixel = pixel.map(|c| f64::from(c).clamp(0.0, 65408.0));
        let most = pixel.into_iter().fold(0.0, f64::max);
        let mut exponent = if most > 0.0 { most.log2().floor().max(-16.0) + 1.0 } else { -15.0 };
        if (most / (exponent - 9.0).exp2() + 0.5).floor() == 512.0 {
            exponent += 1.0;
        }
        let unit = (exponent - 9.0).exp2();
        pixel.map(|c| ((c / unit + 0.5).floor() * unit) as f32)
    };
    pixels.iter().map(round).collect()
}

/// A page of a view.
pub(super) struct Page {
    socket: WebSocket<MaybeTlsStream<TcpStream>>,
    /// The last message about the scene as a whole.
    pub(super) scene: Value,
    pub(super) problem: Option<String>,
    pub(super) frames: u64,
    revision: u64,
    pub(super) progress: Value,
    pub(super) frame: Frame,
    kept: Option<Frame>,
    gesture: u64,
}

impl Page {
    /// Opens a page, and waits until it knows the scene.
    pub(super) fn open(view: &Served) -> Self {
        let (socket, _) = connect(view.url.replace("http", "ws") + "socket").expect("a connection");
        if let MaybeTlsStream::Plain(stream) = socket.get_ref() {
            stream.set_read_timeout(Some(PATIENCE)).expect("a socket");
        }
        let mut page = Self {
            socket,
            scene: Value::Null,
            problem: None,
            frames: 0,
            revision: 0,
            progress: Value::Null,
            frame: Frame::default(),
            kept: None,
            gesture: 100,
        };
        page.wait_for(|page| !page.scene.is_null());
        page
    }

    pub(super) fn send(&mut self, message: Value) {
        self.socket.send(Message::text(message.to_string())).expect("it is read");
    }

    /// Takes what comes next; its type.
    #[track_caller]
    pub(super) fn receive(&mut self) -> (String, Value) {
        let message = self.socket.read().expect("a message in time");
        let Message::Text(text) = message else {
            self.take(Frame::new(&message.into_data()));
            return ("frame".to_owned(), Value::Null);
        };
        let message: Value = serde_json::from_str(&text).expect("JSON");
        let kind = message["type"].as_str().expect("a type").to_owned();
        match kind.as_str() {
            "scene" => {
                self.revision = message["revision"].as_u64().expect("a number");
                self.scene = message.clone();
            }
            "values" => self.take_values(&message),
            "problem" => self.problem = message["text"].as_str().map(str::to_owned),
            "progress" => self.progress = message.clone(),
            _ => {}
        }
        (kind, message)
    }

    fn take(&mut self, frame: Frame) {
        self.frames += 1;
        self.send(json!({ "type": "ack", "frame": frame.number }));
        if frame.layer == u32::MAX { self.kept = Some(frame) } else { self.frame = frame }
    }

    fn take_values(&mut self, message: &Value) {
        self.revision = message["revision"].as_u64().expect("a number");
        for change in message["values"].as_array().expect("a list") {
            let all = self.scene["parameters"].as_array_mut().expect("a list");
            if let Some(known) = all.iter_mut().find(|known| known["path"] == change[0]) {
                known["value"] = change[1].clone();
            }
        }
    }

    /// Receives until something is so.
    #[track_caller]
    pub(super) fn wait_for(&mut self, is_so: impl Fn(&Self) -> bool) {
        let begin = Instant::now();
        while !is_so(self) {
            assert!(begin.elapsed() < PATIENCE, "waited {PATIENCE:?}");
            self.receive();
        }
    }

    /// Sends a message, and waits for an answer of a type.
    #[track_caller]
    pub(super) fn ask(&mut self, message: Value, answer: &str) -> Value {
        self.exchange(message, answer, |kind, message| assert!(kind != "refused", "{message}"))
    }

    /// As [`Page::ask`], whatever else is refused meanwhile.
    #[track_caller]
    pub(super) fn answered(&mut self, message: Value, answer: &str) -> Value {
        self.exchange(message, answer, |_, _| {})
    }

    #[track_caller]
    fn exchange(&mut self, message: Value, answer: &str, check_other: impl Fn(&str, &Value)) -> Value {
        let begin = Instant::now();
        self.send(message);
        loop {
            assert!(begin.elapsed() < PATIENCE, "waited {PATIENCE:?} for {answer}");
            let (kind, message) = self.receive();
            if kind == answer {
                return message;
            }
            check_other(&kind, &message);
        }
    }

    /// Sets values, and waits until that is done.
    #[track_caller]
    pub(super) fn set(&mut self, values: &[(&str, Value)]) {
        self.gesture += 1;
        let values: Vec<_> = values.iter().map(|(path, value)| json!([path, value])).collect();
        self.change(json!({ "type": "set", "values": values, "gesture": self.gesture, "done": true }));
    }

    /// Changes the scene, and waits until that is done.
    #[track_caller]
    pub(super) fn change(&mut self, message: Value) {
        let before = self.revision;
        self.send(message);
        while self.revision <= before {
            let (kind, message) = self.receive();
            assert!(kind != "refused", "{message}");
        }
    }

    /// The value of a parameter; null if there is none.
    pub(super) fn value(&self, path: &str) -> Value {
        let all = self.scene["parameters"].as_array().expect("a list").iter();
        let found = all.into_iter().find(|parameter| parameter["path"] == path);
        found.map_or(Value::Null, |parameter| parameter["value"].clone())
    }

    /// The picture of the scene as it is, of at least so many samples.
    #[track_caller]
    pub(super) fn picture(&mut self, spp: u32) -> Frame {
        self.wait_for(|page| page.has_picture(spp));
        self.frame.clone()
    }

    /// As [`Page::picture`]; `None` if the scene as it is has a problem.
    #[track_caller]
    pub(super) fn picture_or_problem(&mut self, spp: u32) -> Option<Frame> {
        self.wait_for(|page| page.has_picture(spp) || page.problem.is_some());
        self.has_picture(spp).then(|| self.frame.clone())
    }

    /// Whether the picture is of the scene as it is, with all its pixels: on a busy machine the first ones are coarse.
    fn has_picture(&self, spp: u32) -> bool {
        let frame = &self.frame;
        let is_whole = json!(frame.size) == self.scene["size"];
        frame.is_exact && frame.layer == 0 && frame.revision == self.revision && frame.spp >= spp && is_whole
    }

    /// The next picture of a layer.
    #[track_caller]
    pub(super) fn picture_of(&mut self, layer: &str) -> Frame {
        let layers = self.scene["layers"].as_array().expect("a list");
        let layer = layers.iter().position(|known| known == layer).expect("it is one") as u32;
        self.wait_for(|page| page.frame.is_exact && page.frame.layer == layer);
        self.frame.clone()
    }

    /// The next picture that is kept.
    #[track_caller]
    pub(super) fn snapshot(&mut self) -> Frame {
        self.wait_for(|page| page.kept.is_some());
        self.kept.take().expect("there is one")
    }

    /// Waits until a render under way has more samples per pixel than so many; how many it has.
    #[track_caller]
    pub(super) fn ask_progress(&mut self, spp: u64) -> u64 {
        let is_more = |progress: &Value| progress["spp"].as_u64().is_some_and(|n| n > spp);
        self.wait_for(|page| page.progress["state"] == "rendering" && is_more(&page.progress));
        self.progress["spp"].as_u64().expect("a number")
    }
}
