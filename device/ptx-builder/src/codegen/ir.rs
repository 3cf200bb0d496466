//! Just enough of LLVM's textual IR to find the names of globals in a line without mistaking a string, a
//! comment or a longer name for one.

/// Kind of token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `@name` or `@"any name"`.
    Global,
    /// `"text"`; a quote inside is written `\22`, so the next quote ends it.
    String,
    /// A keyword, type, number or local name.
    Word,
    /// One character of anything else, such as a bracket.
    Mark,
    /// Blanks.
    Space,
    /// `;` and the rest of the line.
    Comment,
}

/// A piece of a line. The pieces, joined, are the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token<'a> {
    /// Its kind.
    pub kind: Kind,
    /// As written.
    pub text: &'a str,
}

impl Token<'_> {
    /// +1 for an opening bracket, -1 for a closing one, else 0.
    pub fn nesting(&self) -> i32 {
        match (self.kind, self.text) {
            (Kind::Mark, "(" | "[" | "{" | "<") => 1,
            (Kind::Mark, ")" | "]" | "}" | ">") => -1,
            _ => 0,
        }
    }
}

/// Splits one line.
pub fn tokens(line: &str) -> impl Iterator<Item = Token<'_>> {
    let mut rest = line;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let (kind, length) = measure(first, rest);
        let (text, below) = rest.split_at(length);
        rest = below;
        Some(Token { kind, text })
    })
}

fn measure(first: char, rest: &str) -> (Kind, usize) {
    match first {
        '@' if rest[1..].starts_with('"') => (Kind::Global, 1 + string_length(&rest[1..])),
        '@' => (Kind::Global, 1 + span(&rest[1..], is_name)),
        '"' => (Kind::String, string_length(rest)),
        ';' => (Kind::Comment, rest.len()),
        c if c.is_whitespace() => (Kind::Space, span(rest, char::is_whitespace)),
        c if is_name(c) => (Kind::Word, span(rest, is_name)),
        c => (Kind::Mark, c.len_utf8()),
    }
}

/// LLVM: `[-a-zA-Z$._0-9]`.
fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '$' | '.' | '_')
}

fn span(text: &str, accept: impl Fn(char) -> bool) -> usize {
    text.find(|c| !accept(c)).unwrap_or(text.len())
}

fn string_length(text: &str) -> usize {
    text[1..].find('"').map_or(text.len(), |end| end + 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn globals(line: &str) -> Vec<&str> {
        tokens(line).filter(|token| token.kind == Kind::Global).map(|token| token.text).collect()
    }

    #[test]
    fn pieces_make_the_line() {
        for line in [
            "  %4 = load i32, ptr @a.b, align 4, !tbaa !{!\"@x\"} ; @c",
            "@\"odd name\" = constant [2 x i8] c\"\\22@\", align 1",
            "@s = global <{ [3 x i8] }> <{ [3 x i8] c\"Ünï\" }>",
            "unterminated \"string",
            "",
        ] {
            assert_eq!(tokens(line).map(|token| token.text).collect::<String>(), line);
        }
    }

    #[test]
    fn names_are_whole_and_not_in_strings_or_comments() {
        assert_eq!(globals("store ptr @a, ptr @a.b ; @c"), ["@a", "@a.b"]);
        assert_eq!(globals("@\"x y\" = constant [4 x i8] c\"@no\\22\""), ["@\"x y\""]);
        assert_eq!(globals("call void asm \"@p bra\", \"l\"(ptr @a$1-2)"), ["@a$1-2"]);
    }
}
