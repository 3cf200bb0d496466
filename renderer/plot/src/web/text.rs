//! Words that are not ours, in HTML and in JSON. Control characters, which HTML has no way to write, become U+FFFD, as
//! do those that change the direction of what follows.

use std::fmt;

/// Text as HTML, in elements and in quoted attributes.
pub(crate) struct Escaped<'a>(pub(crate) &'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        for c in self.0.chars().map(harmless) {
            match c {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                c => write!(f, "{c}")?,
            }
        }
        Ok(())
    }
}

/// A value as JSON that can stand in a `script` element: nothing in it ends the element or begins a comment.
pub(crate) fn json(mut value: serde_json::Value) -> String {
    clean(&mut value);
    value.to_string().replace('<', "\\u003c")
}

/// Takes from all texts of a value what does harm where it is shown.
fn clean(value: &mut serde_json::Value) {
    match value {
        serde_json::Value::String(text) => *text = text.chars().map(harmless).collect(),
        serde_json::Value::Array(values) => values.iter_mut().for_each(clean),
        serde_json::Value::Object(values) => values.values_mut().for_each(clean),
        _ => {}
    }
}

fn harmless(c: char) -> char {
    match c {
        '\n' | '\t' => c,
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{fffd}',
        c if c.is_control() => '\u{fffd}',
        c => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_escapes() {
        let escaped = |text: &str| Escaped(text).to_string();
        assert_eq!(
            escaped("</a><a b='c' d=\"e\">&"),
            "&lt;/a&gt;&lt;a b=&#39;c&#39; d=&quot;e&quot;&gt;&amp;"
        );
        assert_eq!(escaped("é\n\tαβ 🫧"), "é\n\tαβ 🫧");
        assert_eq!(
            escaped("\0\u{1b}[1m\r\u{202e}\u{2069}\u{85}"),
            "\u{fffd}\u{fffd}[1m\u{fffd}\u{fffd}\u{fffd}\u{fffd}"
        );
    }

    #[test]
    fn json_stays_in_its_element() {
        let value = serde_json::json!({ "a": ["</script><!--", "\u{202e}\0", "\\\"é"], "b": 1.5 });
        let written = json(value);
        assert!(!written.contains('<'), "{written}");
        let read: serde_json::Value = serde_json::from_str(&written).expect("JSON");
        let same = serde_json::json!({ "a": ["</script><!--", "\u{fffd}\u{fffd}", "\\\"é"], "b": 1.5 });
        assert_eq!(read, same);
    }
}
