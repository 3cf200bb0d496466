//! Numbers of registers and labels, which are the same whatever the compiler's were.
//!
//! A function numbers each class of registers that it declares (`.reg .b32 %r<9>;`), and its labels (`$L`). Canonical
//! numbers count from 0 in the order in which the text first names them. Relative ones say how many newer ones there are,
//! counted from 1; what is named for the first time has none:
//!
//! ```
//! let ptx = ".func f()\n{\n.reg .b32 %r<9>;\nmov.b32 %r7, 1;\nadd.s32 %r4, %r7, %r7;\nbra $L2;\n}\n";
//! let relative = ptx_text::numbers::relative(ptx).unwrap();
//! assert_eq!(relative, ".func f()\n{\n.reg .b32 %r<9>;\nmov.b32 %r, 1;\nadd.s32 %r, %r2, %r2;\nbra $L;\n}\n");
//! let canonical = ptx.replace("%r7", "%r0").replace("%r4", "%r1").replace("$L2", "$L0");
//! assert_eq!(ptx_text::numbers::absolute(&relative).unwrap(), canonical);
//! ```

use std::collections::HashMap;
use std::fmt;

/// The class of labels, which nothing declares.
const LABELS: &str = "$L";

/// A register or label whose number makes no sense where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadNumber {
    line: usize,
    name: String,
}

impl fmt::Display for BadNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {} has no place here", self.line, self.name)
    }
}

impl std::error::Error for BadNumber {}

/// One class of names in one function.
#[derive(Debug, Default)]
struct Class {
    count: u32,
    /// Where a number of the text stands in the order of appearance.
    places: HashMap<u32, u32>,
}

/// PTX with relative numbers.
///
/// # Errors
/// A register or label has no number.
pub fn relative(ptx: &str) -> Result<String, BadNumber> {
    renumber(ptx, |class, number| {
        let number = number?;
        match class.places.get(&number) {
            Some(place) => Some(Some(class.count - place)),
            None => {
                class.places.insert(number, class.count);
                class.count += 1;
                Some(None)
            }
        }
    })
}

/// PTX with canonical numbers, of what [`relative`] made.
///
/// # Errors
/// A number counts back to before the first.
pub fn absolute(text: &str) -> Result<String, BadNumber> {
    renumber(text, |class, distance| match distance {
        Some(distance) => class.count.checked_sub(distance).filter(|place| *place < class.count).map(Some),
        None => {
            class.count += 1;
            Some(Some(class.count - 1))
        }
    })
}

/// Gives every register and label another number, or none. `new` is told the present one; `None` of it is a mistake.
fn renumber(
    text: &str,
    mut new: impl FnMut(&mut Class, Option<u32>) -> Option<Option<u32>>,
) -> Result<String, BadNumber> {
    let mut out = String::with_capacity(text.len());
    let mut classes: HashMap<&str, Class> = HashMap::new();
    for (index, line) in text.split_inclusive('\n').enumerate() {
        if line.contains(".entry ") || line.contains(".func ") {
            classes.clear();
            classes.insert(LABELS, Class::default());
        }
        let mut rest = line;
        while let Some((before, name, after)) = next_name(rest) {
            out += before;
            let class = name.trim_end_matches(|c: char| c.is_ascii_digit());
            if after.starts_with('<') {
                classes.entry(name).or_default();
                out += name;
            } else if let Some(known) = classes.get_mut(class) {
                let bad = || BadNumber { line: index + 1, name: name.to_owned() };
                let digits = &name[class.len()..];
                let number = if digits.is_empty() { None } else { Some(digits.parse().map_err(|_| bad())?) };
                out += class;
                if let Some(number) = new(known, number).ok_or_else(bad)? {
                    out += &number.to_string();
                }
            } else {
                out += name;
            }
            rest = after;
        }
        out += rest;
    }
    Ok(out)
}

/// Whether PTX's names have such characters.
pub(crate) fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$')
}

/// The next name that begins with `%` or `$`, with what stands before and after it.
fn next_name(text: &str) -> Option<(&str, &str, &str)> {
    let bytes = text.as_bytes();
    let mut from = 0;
    loop {
        let start = from + bytes[from..].iter().position(|byte| matches!(byte, b'%' | b'$'))?;
        let length = bytes[start + 1..].iter().position(|byte| !is_of_name(*byte));
        let end = length.map_or(bytes.len(), |length| start + 1 + length);
        // `anon_$_1` is one name.
        if start == 0 || !is_of_name(bytes[start - 1]) {
            return Some((&text[..start], &text[start..end], &text[end..]));
        }
        from = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A function with this body, and these relative numbers.
    fn function(body: &str) -> String {
        format!(
            ".visible .entry k(\n.param .b64 k_param_0\n)\n{{\n.reg .pred %p<9>;\n.reg .b32 %r<9>;\n{body}}}\n"
        )
    }

    fn both_ways(ptx: &str, text: &str) {
        assert_eq!(relative(&function(ptx)).unwrap(), function(text));
        assert_eq!(absolute(&function(text)).unwrap(), function(ptx));
    }

    #[test]
    fn each_class_counts_for_itself() {
        both_ways(
            "mov.b32 %r0, %tid.x;\nsetp.eq.b32 %p0, %r0, 0;\n@%p0 bra $L0;\nadd.s32 %r1, %r0, %r0;\n$L0:\nst.b32 [%r1], %r0;\n",
            "mov.b32 %r, %tid.x;\nsetp.eq.b32 %p, %r1, 0;\n@%p1 bra $L;\nadd.s32 %r, %r2, %r2;\n$L1:\nst.b32 [%r1], %r2;\n",
        );
    }

    #[test]
    fn functions_count_for_themselves() {
        let ptx = [function("mov.b32 %r0, 1;\n"), function("mov.b32 %r0, 2;\n")].concat();
        assert_eq!(relative(&ptx).unwrap().matches("%r,").count(), 2);
        assert_eq!(absolute(&relative(&ptx).unwrap()).unwrap(), ptx);
    }

    #[test]
    fn an_instruction_more_changes_few_lines() {
        let mut links: Vec<_> = (0..100).map(|i| format!("add.s32 %r{}, %r{i}, %r{i};\n", i + 1)).collect();
        let few = relative(&function(&links.concat())).unwrap();
        links.insert(50, "mov.b32 %r500, 1;\n".to_owned());
        let more = relative(&function(&links.concat())).unwrap();
        let same = few.lines().zip(more.lines()).take_while(|(a, b)| a == b).count();
        let behind = few.lines().rev().zip(more.lines().rev()).take_while(|(a, b)| a == b).count();
        let [few, more] = [few, more].map(|text| text.lines().count() - same - behind);
        assert_eq!((few, more), (1, 2), "the new line, and the one behind it");
    }

    #[test]
    fn other_names_stay() {
        let body =
            "mov.b64 %clock, %clock64;\nld.global.b32 %r, [anon_$_e5_$_10];\nmov.b32 %r, %ctaid.x; // 50%\n";
        let text = function(body);
        assert_eq!(absolute(&text).unwrap(), text.replacen("%r,", "%r0,", 1).replacen("%r,", "%r1,", 1));
    }

    #[test]
    fn numbers_that_cannot_be_are_refused() {
        for body in ["mov.b32 %r1, 1;\n", "mov.b32 %r, %r2;\n", "mov.b32 %r, %r0;\n", "bra $L1;\n"] {
            let problem = absolute(&function(body)).unwrap_err();
            assert_eq!(problem.line, 7, "{body}");
        }
        let long = "mov.b32 %r99999999999, 1;\n";
        assert!(absolute(&function(long)).is_err() && relative(&function(long)).is_err());
        assert!(relative(&function("mov.b32 %r, 1;\n")).unwrap_err().to_string().contains("line 7: %r "));
    }
}
