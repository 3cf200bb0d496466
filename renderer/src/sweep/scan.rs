//! Finding a character outside of quotes and brackets.

use torrance_text::quoted;

use super::SweepError;

/// Whether a text, read from the left, is inside of quotes.
#[derive(Default)]
struct Quotes {
    open: Option<char>,
    is_escaped: bool,
}

impl Quotes {
    /// Reads a character, and tells whether it is in quotes or is one.
    fn hold(&mut self, c: char) -> bool {
        match self.open {
            Some(_) if self.is_escaped => self.is_escaped = false,
            // As in TOML, where single quotes take everything as it is.
            Some('"') if c == '\\' => self.is_escaped = true,
            Some(quote) if c == quote => self.open = None,
            Some(_) => {}
            None if matches!(c, '"' | '\'') => self.open = Some(c),
            None => return false,
        }
        true
    }
}

/// The first place of `wanted` outside of quotes.
pub(super) fn find(text: &str, wanted: impl Fn(char) -> bool) -> Option<usize> {
    let mut quotes = Quotes::default();
    text.char_indices().find(|(_, c)| !quotes.hold(*c) && wanted(*c)).map(|(i, _)| i)
}

/// The parts between those separators that are outside of quotes and brackets.
pub(super) fn split(text: &str, separator: char) -> Result<Vec<&str>, SweepError> {
    let mut quotes = Quotes::default();
    let mut closing = Vec::new();
    let (mut parts, mut start) = (Vec::new(), 0);
    for (i, c) in text.char_indices() {
        if quotes.hold(c) {
            continue;
        }
        match c {
            '(' => closing.push(')'),
            '[' => closing.push(']'),
            '{' => closing.push('}'),
            ')' | ']' | '}' if closing.pop() != Some(c) => {
                return Err(SweepError(format!("{} has a \"{c}\" too many", quoted(text))));
            }
            _ if c == separator && closing.is_empty() => {
                parts.push(&text[start..i]);
                start = i + c.len_utf8();
            }
            _ => {}
        }
    }
    if let Some(missing) = quotes.open.or_else(|| closing.pop()) {
        return Err(SweepError(format!("{} lacks the closing {missing}", quoted(text))));
    }
    parts.push(&text[start..]);
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_count_outside_of_quotes_and_brackets() {
        for (text, parts) in [
            ("a,b", &["a", "b"][..]),
            ("", &[""]),
            (",", &["", ""]),
            ("[1,2],{a=[1,2],b=(3,4)}", &["[1,2]", "{a=[1,2],b=(3,4)}"]),
            (r#""a,\",]",'b,\',c"#, &[r#""a,\",]""#, r"'b,\'", "c"]),
            ("é,ü", &["é", "ü"]),
        ] {
            assert_eq!(split(text, ','), Ok(parts.to_vec()), "{text}");
        }
        for (text, message) in [
            ("[1,2", r#""[1,2" lacks the closing ]"#),
            ("{a=[1}", r#""{a=[1}" has a "}" too many"#),
            ("1]", r#""1]" has a "]" too many"#),
            ("'a", r#""'a" lacks the closing '"#),
        ] {
            assert_eq!(split(text, ',').unwrap_err().to_string(), message, "{text}");
        }
    }

    #[test]
    fn quotes_hide_what_is_in_them() {
        assert_eq!(find(r#"a."b=c".d=1"#, |c| c == '='), Some(9));
        assert_eq!(find("'='", |c| c == '='), None);
    }
}
