//! Names that are like a pattern.

/// Whether a name is like a pattern, in which `*` stands for anything and `?` for one byte.
pub(crate) fn is_like(name: &str, pattern: &str) -> bool {
    is_like_bytes(name.as_bytes(), pattern.as_bytes())
}

fn is_like_bytes(name: &[u8], pattern: &[u8]) -> bool {
    match (pattern.split_first(), name.split_first()) {
        (None, None) => true,
        (Some((b'*', rest)), _) => (0..=name.len()).any(|i| is_like_bytes(&name[i..], rest)),
        (Some((p, pattern)), Some((n, name))) => (*p == b'?' || p == n) && is_like_bytes(name, pattern),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_like_patterns() {
        for (name, pattern, expected) in [
            ("lamp", "lamp", true),
            ("lamp 2", "lamp", false),
            ("lamp 2", "lamp*", true),
            ("lamp", "lamp*", true),
            ("the lamp", "lamp*", false),
            ("a lamp on the left", "*lamp*left", true),
            ("a left lamp", "*lamp*left", false),
            ("aba", "ab*ba", false),
            ("lamp", "lam?", true),
            ("", "*", true),
        ] {
            assert_eq!(is_like(name, pattern), expected, "{name} {pattern}");
        }
    }
}
