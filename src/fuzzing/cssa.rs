//! Tests the conversion to conventional SSA with the checker, the interpreter and PHI elimination.

use arbitrary::{Result, Unstructured};

use super::{Options, coalesce, edited, reached, ssa_function};
use crate::config::{Config, CssaInterference};
use crate::ssa::conventional;

/// Checks that the pass, with any options, keeps a function valid and in SSA form. The checker and the interpreter must
/// confirm that its meaning is preserved.
pub fn check_cssa(u: &mut Unstructured<'_>) -> Result<()> {
    let config = Config {
        cssa_interference: *u.choose(&[
            CssaInterference::Values,
            CssaInterference::Values,
            CssaInterference::Liveness,
        ])?,
        cssa_coalesce: u.ratio(7, 8)?,
        ..coalesce::config(u)?
    };
    let options = Options { undefined_paths: u.arbitrary()?, ..Options::default() };
    let function = ssa_function(u, &options)?;
    let outcome = conventional(&function, &config);
    reached("copied", !outcome.report.copied.is_empty());
    reached("made a constant", !outcome.report.constants.is_empty());
    reached("conventional as it is", outcome.report.phis > 0 && outcome.edits.is_empty());
    let edited = edited(&function, &outcome.edits);
    let mut is_defined = vec![false; edited.num_regs()];
    for reg in edited.insts().flat_map(|inst| edited.operands(inst)).filter_map(|operand| operand.def()) {
        assert!(!std::mem::replace(&mut is_defined[reg.0 as usize], true), "{reg} is written twice\n{edited}");
    }
    assert_eq!(conventional(&function, &config).edits, outcome.edits, "the same function gives the same edits");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzzing::explore;

    #[test]
    fn conventional_ssa_keeps_the_meaning() {
        let expected = [("copied", 15), ("made a constant", 15), ("conventional as it is", 1)];
        explore(check_cssa, 1_000, &expected);
    }
}
