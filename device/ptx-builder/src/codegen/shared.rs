//! Block-shared memory. rustc has no address spaces, so `cuda_std` declares shared arrays as statics in
//! sections of their own:
//!
//! - `.shared`: an uninitialised static becomes `addrspace(3)`, one a declaration;
//! - `.shared.dynamic`: stands for the memory whose size is given at launch. All of these are one symbol.
//!
//! Every use becomes an `addrspacecast` to the generic pointer the code expects; LLVM then infers where it can
//! drop the cast, and writes `ld.shared` and `st.shared`.

use std::collections::HashMap;

use super::ir::{Kind, Token, tokens};

const STATIC: &str = "\".shared\"";
const DYNAMIC: &str = "\".shared.dynamic\"";

/// The one symbol of dynamic shared memory; 16-byte aligned for the widest access there is.
const DYNAMIC_NAME: &str = "@torrance_dynamic_shared";
const DYNAMIC_DECLARATION: &str =
    "@torrance_dynamic_shared = external addrspace(3) global [0 x i8], align 16";

/// A declaration that cannot be shared memory.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("shared memory {name}: {problem}")]
pub struct SharedError {
    name: String,
    problem: &'static str,
}

/// A static in one of the two sections.
#[derive(Debug, PartialEq, Eq)]
struct Static<'a> {
    name: &'a str,
    /// Its replacement, `None` for dynamic shared memory.
    definition: Option<String>,
}

/// Moves everything in the two sections to shared memory.
pub fn place(module: &str) -> Result<String, SharedError> {
    let mut statics = HashMap::new();
    for line in module.lines() {
        if let Some(found) = parse(line)? {
            statics.insert(found.name, found.definition);
        }
    }
    let mut placed = String::with_capacity(module.len());
    let mut dynamic = Some(DYNAMIC_DECLARATION);
    for line in module.lines() {
        let name = line.split(' ').next().unwrap_or_default();
        match statics.get(quoted_name(line).unwrap_or(name)) {
            Some(Some(definition)) => placed += definition,
            Some(None) => placed += dynamic.take().unwrap_or_default(),
            None if line.contains('@') => rewrite_uses(line, &statics, &mut placed),
            None => placed += line,
        }
        placed.push('\n');
    }
    Ok(placed)
}

/// The name that a line beginning with `@"…"` defines.
fn quoted_name(line: &str) -> Option<&str> {
    line.starts_with("@\"").then(|| tokens(line).next().map(|token| token.text)).flatten()
}

fn rewrite_uses(line: &str, statics: &HashMap<&str, Option<String>>, out: &mut String) {
    for Token { kind, text } in tokens(line) {
        match statics.get(text) {
            Some(definition) if kind == Kind::Global => {
                let name = if definition.is_some() { text } else { DYNAMIC_NAME };
                *out += &format!("addrspacecast (ptr addrspace(3) {name} to ptr)");
            }
            _ => *out += text,
        }
    }
}

/// `@name = … global TYPE INITIALISER, section ".shared", align N`
fn parse(line: &str) -> Result<Option<Static<'_>>, SharedError> {
    if !line.starts_with('@') || !line.contains("section \".shared") {
        return Ok(None);
    }
    let tokens: Vec<_> = tokens(line).filter(|token| token.kind != Kind::Space).collect();
    let Some(section) = after(&tokens, "section") else { return Ok(None) };
    let name = tokens[0].text;
    let fail = |problem| Err(SharedError { name: name.to_owned(), problem });
    match section.text {
        STATIC => {}
        DYNAMIC => return Ok(Some(Static { name, definition: None })),
        text if text.starts_with("\".shared") => return fail("the section is .shared or .shared.dynamic"),
        _ => return Ok(None),
    }
    let Some(start) = tokens.iter().position(|token| token.kind == Kind::Word && token.text == "global")
    else {
        return fail("must be a static mut: a constant has its value before any block runs");
    };
    let length = type_length(&tokens[start + 1..]);
    let (kind, value) = tokens[start + 1..].split_at(length);
    if !matches!(value, [value, comma, ..] if comma.text == "," && matches!(value.text, "undef" | "poison")) {
        return fail("must be MaybeUninit: the hardware gives it no initial value");
    }
    let kind = join(kind);
    let align = after(&tokens, "align").map(|align| format!(", align {}", align.text)).unwrap_or_default();
    let definition = format!("{name} = internal addrspace(3) global {kind} undef{align}");
    Ok(Some(Static { name, definition: Some(definition) }))
}

/// The token after a word that is not inside brackets.
fn after<'a>(tokens: &[Token<'a>], word: &str) -> Option<Token<'a>> {
    let mut depth = 0;
    for pair in tokens.windows(2) {
        depth += pair[0].nesting();
        if depth == 0 && pair[0].kind == Kind::Word && pair[0].text == word {
            return Some(pair[1]);
        }
    }
    None
}

/// How many tokens the type at the start takes: a word, `%` and a name, or everything in a pair of brackets.
fn type_length(tokens: &[Token<'_>]) -> usize {
    if tokens.first().is_some_and(|token| token.text == "%") {
        return 2.min(tokens.len());
    }
    let mut depth = 0;
    for (index, token) in tokens.iter().enumerate() {
        depth += token.nesting();
        if depth == 0 {
            return index + 1;
        }
    }
    tokens.len()
}

/// Tokens with blanks where two of them would run together; LLVM does not mind blanks elsewhere.
fn join(tokens: &[Token<'_>]) -> String {
    let mut text = String::new();
    for token in tokens {
        let runs_on = text.ends_with(|c: char| c.is_ascii_alphanumeric());
        if token.kind == Kind::Word && runs_on {
            text.push(' ');
        }
        text += token.text;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placed(module: &str) -> String {
        place(module).unwrap()
    }

    #[test]
    fn a_static_moves_and_keeps_type_and_alignment() {
        let module = "@a = internal unnamed_addr global [128 x i8] undef, section \".shared\", align 16\n";
        assert_eq!(placed(module), "@a = internal addrspace(3) global [128 x i8] undef, align 16\n");
        let module = "@a = internal global <{ [4 x i8], %T }> undef, section \".shared\", align 4, !dbg !3\n";
        assert_eq!(placed(module), "@a = internal addrspace(3) global <{[4 x i8],%T}> undef, align 4\n");
        let module = "@\"odd name\" = internal global i32 poison, section \".shared\"\n";
        assert_eq!(placed(module), "@\"odd name\" = internal addrspace(3) global i32 undef\n");
    }

    const A: &str = "@a = internal global [4 x i8] undef, section \".shared\", align 4\n";

    /// The lines below the definition of `@a`.
    fn uses(lines: &str) -> String {
        placed(&format!("{A}{lines}\n")).lines().skip(1).collect::<Vec<_>>().join("\n")
    }

    const CAST: &str = "addrspacecast (ptr addrspace(3) @a to ptr)";

    #[test]
    fn uses_are_cast_wherever_they_stand() {
        for line in [
            "  %1 = load i32, ptr @a, align 4",
            "  store ptr @a, ptr @a, align 8",
            "  call void @f(ptr noundef nonnull align 4 @a, i32 1)",
            "  %2 = phi ptr [ @a, %3 ], [ %4, %5 ]",
            "  %6 = load i32, ptr getelementptr inbounds (i8, ptr @a, i64 4), align 4",
            "  %7 = tail call i32 asm \"ld.u32 $0, [$1];\", \"=r,l\"(ptr @a)",
            "@llvm.compiler.used = appending global [1 x ptr] [ptr @a], section \"llvm.metadata\"",
        ] {
            assert_eq!(
                uses(line),
                line.replace("@a,", &format!("{CAST},"))
                    .replace("@a)", &format!("{CAST})"))
                    .replace("@a]", &format!("{CAST}]"))
            );
        }
    }

    #[test]
    fn other_names_strings_and_comments_stay() {
        for line in [
            "  store i32 0, ptr @a.1, align 4",
            "  store i32 0, ptr @ab, align 4",
            "  store i32 0, ptr @\"a\\20b\", align 4",
            "  call void asm \"// @a\", \"\"() ; @a",
            "@b = private constant [2 x i8] c\"@a\", align 1",
            "!0 = !{!\"section \\22.shared\\22\"}",
        ] {
            assert_eq!(uses(line), line);
        }
    }

    #[test]
    fn all_dynamic_shared_memory_is_one_symbol() {
        let module = "@d = internal global <{}> zeroinitializer, section \".shared.dynamic\", align 16\n\
            @e = internal global [0 x i8] undef, section \".shared.dynamic\", align 4\n\
            \x20 %1 = load i32, ptr @d, align 4\n  %2 = load i32, ptr @e, align 4\n";
        let lines: Vec<_> = placed(module).lines().map(str::to_owned).collect();
        let cast = format!("addrspacecast (ptr addrspace(3) {DYNAMIC_NAME} to ptr)");
        assert_eq!(lines[..2], [DYNAMIC_DECLARATION, ""]);
        assert_eq!(lines[2], format!("  %1 = load i32, ptr {cast}, align 4"));
        assert_eq!(lines[3], format!("  %2 = load i32, ptr {cast}, align 4"));
    }

    #[test]
    fn what_cannot_be_shared_is_refused_by_name() {
        for (declaration, word) in [
            ("@a = internal global [4 x i8] zeroinitializer, section \".shared\", align 4", "initial value"),
            (
                "@a = internal global <{ [1 x i8], [3 x i8] }> <{ [1 x i8] c\"\\01\", [3 x i8] undef }>, section \".shared\"",
                "initial value",
            ),
            ("@a = internal constant [4 x i8] undef, section \".shared\", align 4", "static mut"),
            ("@a = internal global [4 x i8] undef, section \".shared.other\", align 4", ".shared.dynamic"),
        ] {
            let message = place(declaration).unwrap_err().to_string();
            assert!(message.contains("@a") && message.contains(word), "{message}");
        }
    }

    #[test]
    fn without_shared_memory_nothing_changes() {
        let module = "@b = global [4 x i8] undef, section \".data\", align 4\n  ret void\n";
        assert_eq!(placed(module), module);
    }
}
