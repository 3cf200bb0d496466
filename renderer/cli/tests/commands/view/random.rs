//! Edits at random, as fast as they are taken.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::client::{Page, Served, rounded};
use crate::program::Folder;

/// How much memory may grow while nothing is kept but steps of the history.
const MOST_GROWTH: u64 = 64 << 20;

/// Numbers at random (O'Neill 2014, PCG).
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n.max(1)
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.below(1 << 20) as f64 / f64::from(1 << 20)
    }

    /// A value that a parameter takes; `None` if it is one that tests do not set.
    fn value(&mut self, parameter: &Value) -> Option<Value> {
        let path = parameter["path"].as_str()?;
        if path == "render.size" || path == "render.max_depth" || path == "render.spp" {
            return None;
        }
        let control = &parameter["control"];
        Some(match control["kind"].as_str()? {
            "number" => {
                let [low, high] =
                    ["min", "max"].map(|end| control[end].as_f64().unwrap_or_default().clamp(-9.0, 99.0));
                let x = self.between(low, high);
                if control["integer"] == true { json!(x.round()) } else { json!(x) }
            }
            "color" => json!([(); 3].map(|()| self.between(0.0, 1.0))),
            "vector" => json!([(); 3].map(|()| self.between(-4.0, 4.0))),
            "switch" => json!(self.below(2) == 1),
            "choice" => {
                let choices = control["choices"].as_array()?;
                choices[self.below(choices.len())].clone()
            }
            _ => return None,
        })
    }
}

/// One edit, question or step back.
fn act(page: &mut Page, random: &mut Random, gesture: usize) {
    let parameters = page.scene["parameters"].as_array().expect("a list").clone();
    let parameter = &parameters[random.below(parameters.len())];
    match random.below(10) {
        0 => page.send(json!({ "type": "undo" })),
        1 => page.send(json!({ "type": "redo" })),
        2 => page.send(json!({ "type": "probe", "x": random.below(26), "y": random.below(18) })),
        3 => page.send(json!({ "type": "pick", "x": random.below(24), "y": random.below(16) })),
        4 => {
            let layers = page.scene["layers"].as_array().expect("a list");
            page.send(json!({ "type": "show", "layer": layers[random.below(layers.len())] }));
        }
        _ => {
            if let Some(value) = random.value(parameter) {
                let values = json!([[parameter["path"], value]]);
                page.send(json!({ "type": "set", "values": values, "gesture": gesture, "done": true }));
            }
        }
    }
}

/// Whatever has been done, the picture is that of `render --set` with what is told to be different; and nothing grows.
#[test]
fn edits_at_random_lead_to_the_picture_of_their_state() {
    const SPP: u32 = 8;
    let folder = Folder::new();
    let view = Served::start(&folder, &["scene.toml", "--spp=8"]);
    let mut page = Page::open(&view);
    page.picture(SPP);
    let before = view.memory();
    let mut random = Random(7);
    let begin = Instant::now();
    let (mut rounds, mut edited) = (0, 0);
    while begin.elapsed() < Duration::from_secs(tier::choose(5, 120)) {
        for i in 0..30 {
            act(&mut page, &mut random, 1000 + 30 * rounds + i);
        }
        page.send(json!({ "type": "show", "layer": "radiance" }));
        let (export, picture) = loop {
            // All that was asked for before is done when this is answered.
            let export = page.answered(json!({ "type": "export" }), "export");
            match page.picture_or_problem(SPP) {
                Some(picture) => break (export, picture),
                None => page.send(json!({ "type": "undo" })),
            }
        };
        let expected = super::rendered(&folder, SPP, &export["set"]);
        assert_eq!(picture.decoded(), rounded(&expected), "{}", export["set"]);
        edited += export["set"].as_array().expect("a list").len();
        rounds += 1;
    }
    assert!(rounds > 1 && edited > 0, "{rounds} rounds, {edited} edits");
    let growth = view.memory().saturating_sub(before);
    assert!(growth < MOST_GROWTH, "{growth} bytes");
    assert!(view.interrupt());
}
