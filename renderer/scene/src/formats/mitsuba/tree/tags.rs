//! Tags that would take a parser of XML too long: it compares each attribute of an element with all before it, and each
//! namespace with those of the elements around.

use std::ops::Range;

/// Most attributes of an element. Those of Mitsuba have five at most.
const MAX_ATTRIBUTES: usize = 256;
/// Most namespaces of a file. Those of Mitsuba have none.
const MAX_NAMESPACES: usize = 64;

/// Where a file has too many attributes in an element, or too many namespaces, and a message about it. What is not valid
/// XML is for the parser to find, which goes no further than that.
pub(super) fn excess(text: &str) -> Option<(Range<usize>, String)> {
    let mut namespaces = 0;
    let mut at = 0;
    while let Some(start) = text[at..].find('<').map(|i| at + i) {
        let rest = &text[start..];
        let past = |opening: &str, closing: &str| {
            let inside = rest.strip_prefix(opening)?;
            Some(opening.len() + inside.find(closing).map_or(inside.len(), |end| end + closing.len()))
        };
        let special = past("<!--", "-->").or_else(|| past("<![CDATA[", "]]>")).or_else(|| past("<?", "?>"));
        let length = match special {
            Some(length) => length,
            None => {
                let tag = Tag::new(rest);
                if tag.attributes > MAX_ATTRIBUTES {
                    let message =
                        format!("this element has more than {MAX_ATTRIBUTES} attributes; a few are expected");
                    return Some((start..start + tag.name, message));
                }
                namespaces += tag.namespaces;
                if namespaces > MAX_NAMESPACES {
                    let message = format!(
                        "the file has more than {MAX_NAMESPACES} namespaces (xmlns); none are expected"
                    );
                    return Some((start..start + tag.name, message));
                }
                tag.length
            }
        };
        at = start + length;
    }
    None
}

/// A tag at the start of a text.
#[derive(Debug, PartialEq)]
struct Tag {
    /// Bytes up to the end of its name.
    name: usize,
    /// Bytes in all.
    length: usize,
    attributes: usize,
    /// Those of the attributes that declare a namespace.
    namespaces: usize,
}

impl Tag {
    fn new(text: &str) -> Self {
        let bytes = text.as_bytes();
        let ends_name = |b: &u8| b.is_ascii_whitespace() || matches!(b, b'/' | b'>');
        let name = bytes.iter().position(ends_name).unwrap_or(bytes.len());
        let mut tag = Self { name, length: bytes.len(), attributes: 0, namespaces: 0 };
        let mut at = name;
        // The end of the last value.
        let mut before = name;
        while let Some(&byte) = bytes.get(at) {
            match byte {
                b'>' => {
                    tag.length = at + 1;
                    break;
                }
                b'"' | b'\'' => {
                    tag.attributes += 1;
                    tag.namespaces += usize::from(text[before..at].trim_start().starts_with("xmlns"));
                    let value = bytes[at + 1..].iter().position(|b| *b == byte);
                    at = value.map_or(bytes.len(), |length| at + length + 2);
                    before = at;
                }
                _ => at += 1,
            }
        }
        tag
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> String {
        excess(text).map_or_else(String::new, |(_, message)| message)
    }

    #[test]
    fn tags_end_where_they_do() {
        for (text, name, length, attributes, namespaces) in [
            ("<a>", 2, 3, 0, 0),
            ("<a/>b", 2, 4, 0, 0),
            ("</a >", 1, 5, 0, 0),
            ("<abc d='>\"' e = \"'/>\"/><b c='d'>", 4, 23, 2, 0),
            ("<a\nxmlns='b'\txmlns:c = 'd' é='xmlns'>", 2, 38, 3, 2),
            ("<a b='c", 2, 7, 1, 0),
            ("<a", 2, 2, 0, 0),
        ] {
            assert_eq!(Tag::new(text), Tag { name, length, attributes, namespaces }, "{text}");
        }
    }

    #[test]
    fn what_takes_too_long_is_found_and_what_is_no_tag_is_not() {
        let many = |count, name: &str| (0..count).map(|i| format!(" {name}{i}='1'")).collect::<String>();
        assert!(message(&format!("<a><b{}/></a>", many(257, "c"))).contains("more than 256 attributes"));
        assert_eq!(message(&format!("<a><b{0}/><b{0}/></a>", many(256, "c"))), "");
        assert!(message(&format!("<a{}/>", many(65, "xmlns:c"))).contains("more than 64 namespaces"));
        assert!(message(&"<a xmlns:b='c'>".repeat(65)).contains("more than 64 namespaces"));
        assert_eq!(message(&"<a xmlns:b='c'>".repeat(64)), "");
        let inside = many(300, "c");
        for (opening, closing) in [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?p", "?>"), ("<a b=\"", "\"/>")]
        {
            assert_eq!(message(&format!("<a>{opening}<b{inside}>{closing}</a>")), "", "{opening}");
        }
        for text in ["", "<", "<!", "<!--", "<![CDATA[", "<?", "< a='", "é<é é='é'"] {
            assert_eq!(message(text), "", "{text}");
        }
    }
}
