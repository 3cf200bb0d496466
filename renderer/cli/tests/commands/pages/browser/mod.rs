//! A headless browser, driven through the W3C WebDriver protocol.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use base64::prelude::{BASE64_STANDARD, Engine};
use serde_json::{Value, json};

/// How long anything that should happen soon may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A browser with one window, closed when dropped.
pub(crate) struct Browser {
    driver: Child,
    session: String,
}

impl Browser {
    /// A browser, or `None` where there is no `chromedriver`, and says so.
    pub(crate) fn start() -> Option<Self> {
        let mut command = Command::new("chromedriver");
        command.arg("--port=0").stdout(Stdio::piped()).stderr(Stdio::null());
        let Ok(mut driver) = command.spawn() else {
            eprintln!("skipped: no chromedriver");
            return None;
        };
        // "ChromeDriver was started successfully on port 12345."
        let lines = BufReader::new(driver.stdout.take().expect("it is piped")).lines();
        let started = "was started successfully on port ";
        let port = lines.map_while(Result::ok).find_map(|l| Some(l.split_once(started)?.1.to_owned()));
        let port = port.expect("chromedriver says its port");
        let address = format!("http://127.0.0.1:{}/session", port.trim_end_matches('.'));
        let arguments = [
            "--headless=new",
            "--no-sandbox",
            "--force-device-scale-factor=1",
            // Pages draw with WebGL, also where there is no GPU.
            "--use-angle=swiftshader",
            "--enable-unsafe-swiftshader",
        ];
        let capabilities = json!({ "capabilities": { "alwaysMatch": {
            "goog:chromeOptions": { "args": arguments },
            "goog:loggingPrefs": { "browser": "ALL" },
        } } });
        let mut browser = Self { driver, session: address };
        let session = browser.post("", capabilities);
        let id = session["sessionId"].as_str().expect("a session").to_owned();
        browser.session = format!("{}/{id}", browser.session);
        Some(browser)
    }

    /// Calls a command of the session; its value.
    fn post(&self, command: &str, body: Value) -> Value {
        let address = format!("{}{command}", self.session);
        let request = minreq::post(&address).with_json(&body).expect("JSON");
        let value = answer(request)["value"].clone();
        assert!(value["error"].is_null(), "{command}: {}: {}", value["error"], value["message"]);
        value
    }

    fn get(&self, command: &str) -> Value {
        answer(minreq::get(format!("{}{command}", self.session)))["value"].clone()
    }

    /// Opens a file and waits until it is loaded.
    pub(crate) fn open(&self, file: &Path) {
        self.visit(&format!("file://{}", file.display()));
    }

    /// Opens a page and waits until it is loaded.
    pub(crate) fn visit(&self, url: &str) {
        self.post("/url", json!({ "url": url }));
    }

    /// Runs the body of a function in the page; what it returns.
    pub(crate) fn run(&self, script: &str) -> Value {
        self.post("/execute/sync", json!({ "script": script, "args": [] }))
    }

    /// Runs the body of a function in the page; what it gives to the function that is its argument.
    pub(crate) fn run_async(&self, script: &str) -> Value {
        self.post("/execute/async", json!({ "script": script, "args": [] }))
    }

    /// Waits until an expression is true in the page.
    #[track_caller]
    pub(crate) fn wait(&self, expression: &str) {
        let start = Instant::now();
        while self.run(&format!("return Boolean({expression});")) != json!(true) {
            assert!(start.elapsed() < PATIENCE, "waited {PATIENCE:?} for {expression}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Waits until what changed is painted.
    pub(crate) fn settle(&self) {
        self.run_async(
            "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(done));",
        );
    }

    /// The size of the window's inside.
    pub(crate) fn resize(&self, width: u32, height: u32) {
        self.devtools(
            "Emulation.setDeviceMetricsOverride",
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false }),
        );
    }

    /// Sets the colour scheme that the system prefers: `light` or `dark`.
    pub(crate) fn prefer(&self, scheme: &str) {
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.devtools("Emulation.setEmulatedMedia", json!({ "features": features }));
    }

    fn devtools(&self, command: &str, parameters: Value) {
        self.post("/goog/cdp/execute", json!({ "cmd": command, "params": parameters }));
    }

    /// Where an element is in the window, scrolled so that it is seen: x, y, width, height.
    pub(crate) fn place(&self, selector: &str) -> [f64; 4] {
        let selector = json!(selector);
        let found = self.run(&format!(
            "const e = document.querySelector({selector}); e.scrollIntoView({{ block: 'center' }});
             const b = e.getBoundingClientRect(); return [b.x, b.y, b.width, b.height];"
        ));
        serde_json::from_value(found).expect("four numbers")
    }

    /// Clicks on an element.
    pub(crate) fn click(&self, selector: &str) {
        let [x, y, width, height] = self.place(selector);
        let to = [x + width / 2.0, y + height / 2.0];
        self.pointer(&[Pointer::Move(to), Pointer::Down, Pointer::Up]);
    }

    /// Moves the mouse, presses and releases its button.
    pub(crate) fn pointer(&self, steps: &[Pointer]) {
        let steps: Vec<Value> = steps.iter().map(Pointer::action).collect();
        let mouse = json!({
            "type": "pointer", "id": "mouse", "parameters": { "pointerType": "mouse" }, "actions": steps,
        });
        self.post("/actions", json!({ "actions": [mouse] }));
        self.settle();
    }

    /// Turns the wheel over a point; negative is away from the user.
    pub(crate) fn wheel(&self, [x, y]: [f64; 2], by: i32) {
        let scroll = json!({
            "type": "scroll", "x": x as i64, "y": y as i64, "deltaX": 0, "deltaY": by, "duration": 0,
        });
        self.post(
            "/actions",
            json!({ "actions": [{ "type": "wheel", "id": "wheel", "actions": [scroll] }] }),
        );
        self.settle();
    }

    /// Presses keys, one after the other, on what has the focus.
    pub(crate) fn keys(&self, keys: &str) {
        let of = |kind: &str, key: char| json!({ "type": kind, "value": key.to_string() });
        let strokes: Vec<_> = keys.chars().flat_map(|k| [of("keyDown", k), of("keyUp", k)]).collect();
        self.post("/actions", json!({ "actions": [{ "type": "key", "id": "keys", "actions": strokes }] }));
        self.settle();
    }

    /// Errors on the console since last asked: of scripts, of what could not be loaded or was not allowed to be.
    pub(crate) fn errors(&self) -> Vec<String> {
        let entries = self.post("/se/log", json!({ "type": "browser" }));
        let entries = entries.as_array().expect("a list").iter();
        entries.filter(|e| e["level"] == "SEVERE").map(|e| e["message"].to_string()).collect()
    }

    /// Negative control of [`Browser::errors`] and of a page's policy: scripts that fail and requests are noticed, requests
    /// are refused, and what is put into the page does not run.
    #[track_caller]
    pub(crate) fn notices_mistakes(&self) {
        self.run("setTimeout(() => { throw new Error('a mistake'); });");
        self.run("new Image().src = 'https://example.invalid/image.png';");
        self.run("document.body.insertAdjacentHTML('beforeend', '<img src=\"data:,\" onerror=\"window.broken = 1\">');");
        self.settle();
        let errors = self.errors().join("\n");
        for expected in ["a mistake", "example.invalid", "inline event handler"] {
            assert!(errors.contains(expected), "{expected} is not in {errors}");
        }
        assert_eq!(self.run("return window.broken ?? 'inert';"), json!("inert"));
    }

    /// A picture of what is seen for people to look at, if the variable `SCREENSHOTS` names a folder.
    pub(crate) fn screenshot(&self, name: &str) {
        let Some(folder) = std::env::var_os("SCREENSHOTS") else { return };
        std::fs::create_dir_all(&folder).expect("a folder");
        self.settle();
        let base64 = self.get("/screenshot");
        let png = BASE64_STANDARD.decode(base64.as_str().expect("base64")).expect("base64");
        std::fs::write(Path::new(&folder).join(name).with_extension("png"), png).expect("a file");
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Closing the session closes the browser.
        let _ = minreq::delete(&self.session).send();
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

fn answer(request: minreq::Request) -> Value {
    request.send().expect("chromedriver answers").json().expect("JSON")
}

/// A mouse event.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Pointer {
    Move([f64; 2]),
    Down,
    Up,
}

impl Pointer {
    fn action(&self) -> Value {
        match self {
            Self::Move([x, y]) => {
                json!({ "type": "pointerMove", "x": x.round(), "y": y.round(), "duration": 0 })
            }
            Self::Down => json!({ "type": "pointerDown", "button": 0 }),
            Self::Up => json!({ "type": "pointerUp", "button": 0 }),
        }
    }
}
