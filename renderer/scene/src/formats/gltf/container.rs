//! `.gltf` and `.glb`: where the JSON is, and the bytes that may follow it.

use serde_json::Value;

use crate::input::file::text_of;
use crate::input::{Error, Problem};

/// Most values of a document, counted by the commas and brackets that separate them: each takes hundreds of bytes at
/// most.
pub(super) const MAX_VALUES: usize = 4_000_000;

const JSON: u32 = u32::from_le_bytes(*b"JSON");
const BIN: u32 = u32::from_le_bytes(*b"BIN\0");

/// The document, and the chunk of bytes that a `.glb` file has.
pub(super) fn open<'a>(file: &str, bytes: &'a [u8]) -> Result<(Value, Option<&'a [u8]>), Error> {
    let (json, binary) = match bytes.starts_with(b"glTF") {
        true => chunks(file, bytes)?,
        false => (bytes, None),
    };
    let text = text_of(file, json)?;
    if json.iter().filter(|b| b",[{".contains(b)).count() > MAX_VALUES {
        let message = format!("has more than {MAX_VALUES} values; what is large belongs into a buffer");
        return Err(Problem::of_file(file, message).into());
    }
    let value = serde_json::from_str(text).map_err(|e| syntax(file, text, &e))?;
    Ok((value, binary))
}

/// The chunks of a `.glb` file that count.
fn chunks<'a>(file: &str, bytes: &'a [u8]) -> Result<(&'a [u8], Option<&'a [u8]>), Problem> {
    let wrong = |message: String| Problem::of_file(file, message);
    let word = |at: usize| bytes.get(at..at + 4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
    let (Some(version), Some(length)) = (word(4), word(8)) else {
        return Err(wrong("the file ends within its header".into()));
    };
    if version != 2 {
        return Err(wrong(format!("is of version {version} of glTF; only 2 is read")));
    }
    let (length, there) = (length as usize, bytes.len());
    if length > there {
        let message = format!("the file ends too early: its header says {length} bytes, there are {there}");
        return Err(wrong(message));
    }
    let mut chunks = Vec::new();
    let mut at = 12;
    while at + 8 <= length && chunks.len() < 2 {
        let (Some(size), Some(kind)) = (word(at), word(at + 4)) else { break };
        let end = (at + 8).saturating_add(size as usize);
        let Some(chunk) = bytes[..length].get(at + 8..end) else {
            return Err(wrong(format!(
                "the chunk at byte {at} says that it has {size} bytes, and the file ends earlier"
            )));
        };
        chunks.push((kind, chunk));
        // Chunks begin at multiples of 4, but for those of writers that do not fill them up.
        at = if word(end + 4) == Some(BIN) { end } else { end.next_multiple_of(4) };
    }
    match chunks[..] {
        [(JSON, json), (BIN, binary)] => Ok((json, Some(binary))),
        [(JSON, json), ..] => Ok((json, None)),
        _ => Err(wrong("the first chunk of a .glb file must be of JSON".into())),
    }
}

/// A mistake in the JSON.
fn syntax(file: &str, text: &str, error: &serde_json::Error) -> Problem {
    let before: usize = text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
    let at = (before + error.column().saturating_sub(1)).min(text.len());
    let message = error.to_string();
    let message = message.rsplit_once(" at line").map_or(message.as_str(), |(m, _)| m);
    Problem::at(file, text, at..at, format!("not valid JSON: {message}"))
}
