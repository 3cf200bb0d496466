//! Kernels without the code that cannot run in them: what a scene does not have is decided by constants in a kernel's text, and the driver
//! would take most of its time for the rest before it found that out.
//!
//! The constants are propagated as far as branches are decided by them (Wegman and Zadeck 1991, "Constant Propagation with Conditional
//! Branches", without its optimism), and lines that no branch leads to are left out.

use std::collections::HashMap;

/// `body`, the lines between the braces of a kernel or a function, without those that cannot run.
pub(super) fn pruned(body: &str) -> String {
    let lines: Vec<&str> = body.lines().collect();
    let code: Vec<Option<Instruction<'_>>> = lines.iter().map(|line| Instruction::parse(line)).collect();
    let known = constants(&lines, &code);
    let decided = |at: usize| code[at].as_ref().and_then(|instruction| instruction.decided(&known));
    let Some(runs) = runs(&lines, &code, &decided) else {
        return body.to_owned();
    };
    let mut text = String::with_capacity(body.len() / 4);
    for (at, line) in lines.iter().enumerate().filter(|(at, _)| runs[*at]) {
        match (&code[at], decided(at)) {
            (Some(Instruction { name, operands, .. }), Some(true)) => {
                text.extend([*name, " ", &operands.join(", "), ";\n"]);
            }
            (Some(_), Some(false)) => {}
            _ => text.extend([*line, "\n"]),
        }
    }
    text
}

/// An instruction that takes one line.
struct Instruction<'a> {
    /// The register that it depends on, and the value with which it is carried out.
    guard: Option<(&'a str, bool)>,
    name: &'a str,
    operands: Vec<&'a str>,
}

impl<'a> Instruction<'a> {
    /// `None` if the line holds something else.
    fn parse(line: &'a str) -> Option<Self> {
        let line = line.split("//").next()?.trim().strip_suffix(';')?;
        let (guard, line) = match line.strip_prefix('@') {
            Some(guarded) => {
                let (register, line) = guarded.split_once(char::is_whitespace)?;
                (Some((register.trim_start_matches('!'), !register.starts_with('!'))), line.trim_start())
            }
            None => (None, line),
        };
        let (name, operands) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let is_name = name.starts_with(|c: char| c.is_ascii_lowercase()) && !name.contains([';', '{', ':']);
        is_name.then(|| Self { guard, name, operands: split(operands) })
    }

    /// The name without what follows its first dot.
    fn stem(&self) -> &'a str {
        self.name.split('.').next().unwrap_or("")
    }

    /// Whether it is carried out, if it has a guard, and that is known.
    fn decided(&self, known: &Constants<'_>) -> Option<bool> {
        let (register, value) = self.guard?;
        known.get(register).map(|known| (*known != 0) == value)
    }

    /// The value of its first operand, if that follows from constants.
    fn value(&self, known: &Constants<'_>) -> Option<u32> {
        let of = |operand: usize| {
            let operand = *self.operands.get(operand)?;
            known.get(operand).copied().or_else(|| literal(operand))
        };
        let both = || Some((of(1)?, of(2)?));
        match self.name {
            "mov.b32" | "mov.u32" => of(1),
            // Compilers write -1 as well.
            "mov.pred" => of(1).map(|a| u32::from(a != 0)),
            "and.b32" | "and.pred" if of(1) == Some(0) || of(2) == Some(0) => Some(0),
            "or.pred" if of(1) == Some(1) || of(2) == Some(1) => Some(1),
            "and.b32" | "and.pred" => both().map(|(a, b)| a & b),
            "or.b32" | "or.pred" => both().map(|(a, b)| a | b),
            "xor.b32" | "xor.pred" => both().map(|(a, b)| a ^ b),
            "not.pred" => of(1).map(|a| a ^ 1),
            "shl.b32" => both().map(|(a, b)| a.checked_shl(b).unwrap_or(0)),
            "shr.u32" => both().map(|(a, b)| a.checked_shr(b).unwrap_or(0)),
            "selp.b32" | "selp.u32" | "selp.s32" => {
                if of(3)? != 0 {
                    of(1)
                } else {
                    of(2)
                }
            }
            name => {
                let comparison = name.strip_prefix("setp.")?;
                let (a, b) = both()?;
                compared(comparison, a, b).map(u32::from)
            }
        }
    }
}

/// Values of registers. Of predicates, 0 and 1.
type Constants<'a> = HashMap<&'a str, u32>;

/// Whether a comparison of numbers of 32 bits holds, such as `eq.b32`.
fn compared(comparison: &str, a: u32, b: u32) -> Option<bool> {
    let order = match comparison.split_once('.')?.1 {
        "b32" | "u32" => a.cmp(&b),
        "s32" => a.cast_signed().cmp(&b.cast_signed()),
        _ => return None,
    };
    Some(match comparison.split_once('.')?.0 {
        "eq" => order.is_eq(),
        "ne" => order.is_ne(),
        "lt" => order.is_lt(),
        "le" => order.is_le(),
        "gt" => order.is_gt(),
        "ge" => order.is_ge(),
        _ => return None,
    })
}

/// A whole number of 32 bits.
fn literal(text: &str) -> Option<u32> {
    match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => text.parse::<u32>().ok().or_else(|| text.parse().map(i32::cast_unsigned).ok()),
    }
}

/// Operands, which commas separate outside of brackets.
fn split(operands: &str) -> Vec<&str> {
    let mut depth = 0;
    let parts = operands.split(move |c| {
        match c {
            '{' | '[' | '(' => depth += 1,
            '}' | ']' | ')' => depth -= 1,
            _ => {}
        }
        c == ',' && depth == 0
    });
    parts.map(str::trim).filter(|operand| !operand.is_empty()).collect()
}

/// The registers that a text names.
fn registers(text: &str) -> impl Iterator<Item = &str> {
    let ends = |c: char| !(c.is_ascii_alphanumeric() || c == '_');
    text.match_indices('%').map(move |(at, _)| {
        let name = &text[at + 1..];
        &text[at..at + 1 + name.find(ends).unwrap_or(name.len())]
    })
}

/// The registers that always have one value, as far as that follows from constants.
fn constants<'a>(lines: &[&'a str], code: &[Option<Instruction<'a>>]) -> Constants<'a> {
    let mut writes: HashMap<&str, u32> = HashMap::new();
    for (line, instruction) in lines.iter().zip(code) {
        let (written, count) = match instruction {
            Some(it) if it.stem() != "call" => {
                (it.operands.first().copied().unwrap_or(""), 1 + u32::from(it.guard.is_some()))
            }
            // Any of its registers may be written.
            _ => (*line, 2),
        };
        registers(written).for_each(|register| *writes.entry(register).or_default() += count);
    }
    let mut known = Constants::new();
    loop {
        let before = known.len();
        for instruction in code.iter().flatten() {
            if let Some(written) = instruction.operands.first()
                && writes.get(written) == Some(&1)
                && !known.contains_key(written)
                && let Some(value) = instruction.value(&known)
            {
                known.insert(written, value);
            }
        }
        if known.len() == before {
            return known;
        }
    }
}

/// Which lines run, of which some are `decided` to be carried out or not; `None` if a branch leads to nowhere.
fn runs(
    lines: &[&str],
    code: &[Option<Instruction<'_>>],
    decided: &dyn Fn(usize) -> Option<bool>,
) -> Option<Vec<bool>> {
    let labels: HashMap<&str, usize> = lines
        .iter()
        .enumerate()
        .filter_map(|(at, line)| {
            Some((line.trim().split_once(':').filter(|(label, _)| label.starts_with('$'))?.0, at))
        })
        .collect();
    let (mut runs, mut to_do) = (vec![false; lines.len()], vec![0]);
    while let Some(begin) = to_do.pop() {
        for at in begin..lines.len() {
            if std::mem::replace(&mut runs[at], true) {
                break;
            }
            let Some(instruction) = &code[at] else { continue };
            let carried_out = instruction.guard.map_or(Some(true), |_| decided(at));
            if carried_out == Some(false) {
                continue;
            }
            match instruction.stem() {
                "bra" => to_do.push(*labels.get(*instruction.operands.first()?)?),
                "brx" => {
                    let table = *labels.get(*instruction.operands.get(1)?)?;
                    let end =
                        table + lines[table..].iter().position(|line| line.trim_end().ends_with(';'))?;
                    for name in lines[table..=end].iter().flat_map(|line| line.split([' ', '\t', ',', ';'])) {
                        to_do.extend(labels.get(name));
                    }
                }
                "ret" | "exit" => {}
                _ => continue,
            }
            if carried_out == Some(true) {
                break;
            }
        }
    }
    Some(runs)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without the lines of `cut`, `BODY` is what is left of it.
    const BODY: &str = "\
.reg .pred %p<9>;
.reg .b32 %r<9>;
mov.b32 %r0, 0x00000005; // features of the scene
and.b32 %r1, %r0, 2;
setp.eq.b32 %p0, %r1, 0;
@%p0 bra $L1;
call.uni far, (param0);
bra.uni $L2;
$L1:
setp.gt.s32 %p1, %r0, -1;
setp.lt.u32 %p2, %r7, 3;
or.pred %p3, %p2, %p1;
@!%p3 bra $L2;
{
.param .b64 param0;
call.uni (retval0), near, (param0);
}
@%p2 bra $L3;
ret;
$L2:
mov.b32 %r2, 1;
$L3:
$L_brx_1: .branchtargets
$L4,
$L5;
brx.idx %r7, $L_brx_1;
$L4:
ret;
$L6:
trap;
$L5:
exit;
";

    #[test]
    fn what_cannot_run_is_left_out() {
        let expected = BODY
            .replace("@%p0 bra", "bra")
            .replace("call.uni far, (param0);\nbra.uni $L2;\n", "")
            .replace("@!%p3 bra $L2;\n", "")
            .replace("$L2:\nmov.b32 %r2, 1;\n", "")
            .replace("$L6:\ntrap;\n", "");
        assert_eq!(pruned(BODY), expected);
    }

    #[test]
    fn what_may_run_is_kept() {
        // A second definition, a guarded one, one by something that is not understood, and one by a call.
        for second in [
            "mov.b32 %r0, 7;",
            "@%p2 mov.b32 %r0, 2;",
            "{ mov.b64 {%r0, %r3}, %rd1; }",
            "call (%r0), far, ();",
        ] {
            let body = BODY.replace("$L2:\n", &format!("$L2:\n{second}\n"));
            let found = pruned(&body);
            assert_eq!(found, body.replace("$L6:\ntrap;\n", ""), "{second}");
        }
        let nowhere = BODY.replace("$L5:", "$L7:");
        assert!(pruned(&nowhere.replace("$L5;", "$L7;")).contains("near"));
        let lost = BODY.replace("@%p2 bra $L3", "@%p2 bra $L9");
        assert_eq!(pruned(&lost), lost, "a branch to nowhere");
    }

    #[test]
    fn predicates_are_0_or_1() {
        for (constant, is_left_out) in [("-1", true), ("1", true), ("0", false)] {
            let body = format!(
                "mov.pred %p0, {constant};\nnot.pred %p1, %p0;\n@%p1 bra $L1;\nret;\n$L1:\ntrap;\nexit;\n"
            );
            assert_eq!(!pruned(&body).contains("trap"), is_left_out, "{constant}");
        }
    }

    #[test]
    fn comparisons_have_signs() {
        for (comparison, a, b, expected) in [
            ("gt.s32", u32::MAX, 0, Some(false)),
            ("gt.u32", u32::MAX, 0, Some(true)),
            ("le.b32", 3, 3, Some(true)),
            ("ltu.f32", 3, 3, None),
            ("eq.b64", 3, 3, None),
        ] {
            assert_eq!(compared(comparison, a, b), expected, "{comparison}");
        }
        assert_eq!(
            ["-1", "0x80000000", "12", "1.0", "%r1"].map(literal),
            [Some(u32::MAX), Some(1 << 31), Some(12), None, None]
        );
    }
}
