//! PTX in a canonical form: without the compiler's comments and counts over the whole module, and with the numbers of
//! [`ptx_text::numbers`]. A change of one kernel then changes no line of another.

use ptx_text::numbers::{self, BadNumber};

/// Comment that LLVM adds behind the brackets of a call: the number of calls so far in the module.
const CALL: &str = "// callseq ";

/// Before the number of the function in the module, `_`, and the number of the label in the function.
const LABEL: &str = "$L__BB";

/// `ptx`, as LLVM writes it, in canonical form.
///
/// # Errors
/// A register or label has no number.
pub fn canonical(ptx: &str) -> Result<String, BadNumber> {
    let mut text = String::with_capacity(ptx.len());
    for line in ptx.lines() {
        let line = line.split(CALL).next().unwrap_or_default().trim();
        // Comments of the sources are behind instructions, and may be looked for.
        if line.is_empty() || line.starts_with("//") {
            continue;
        }
        let mut pieces = line.split(LABEL);
        text += &pieces.next().unwrap_or_default().replace(" \t", " ").replace('\t', " ");
        for piece in pieces {
            text += "$L";
            text += piece.split_once('_').map_or(piece, |(_, number)| number);
        }
        text.push('\n');
    }
    numbers::absolute(&numbers::relative(&text)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_counts_the_module_is_gone() {
        let function = |index: u32, calls: u32| {
            format!(
                ".visible .entry k()\n{{\n\t.reg .b32 \t%r<9>;\n\n\tmov.b32 \t%r{0}, 0xffff; // features of the scene\n\
                 $L__BB{index}_2:\n\t// begin inline asm\n\tadd.s32 %r{1}, %r{0}, %r{0};\n\t// end inline asm\n\
                 \t{{ // callseq {calls}, 0\n\t}} // callseq {calls}\n\tbra.uni \t$L__BB{index}_2;\n}}\n",
                index + 3,
                index + 1
            )
        };
        let expected = ".visible .entry k()\n{\n.reg .b32 %r<9>;\nmov.b32 %r0, 0xffff; // features of the scene\n\
            $L0:\nadd.s32 %r1, %r0, %r0;\n{\n}\nbra.uni $L0;\n}\n";
        assert_eq!(canonical(&function(0, 7)).unwrap(), expected);
        assert_eq!(canonical(&function(2, 8)).unwrap(), expected);
        assert_eq!(canonical(expected).unwrap(), expected);
    }

    #[test]
    fn a_register_without_a_number_is_refused() {
        assert!(canonical(".func f()\n{\n.reg .b32 %r<9>;\nmov.b32 %r, 1;\n}\n").is_err());
    }
}
