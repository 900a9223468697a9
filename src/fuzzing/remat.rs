//! Tests rematerialisation with the checker, the interpreter, and a second run.

use arbitrary::{Result, Unstructured};

use super::spoiled_slots::check_spoiled_slot;
use super::trace::sound;
use super::{Options, lowered_function, reached};
use crate::check::slots;
use crate::config::BitSpill;
use crate::function::{Edit, Function, Inst};
use crate::spill::remat::{RematCriteria, rematerialise_above};
use crate::target::Classification;

/// Checks that rematerialisation keeps a function valid and preserves its meaning, gives the same result a second time,
/// and stays within the growth limit of a function.
pub fn check_remat(u: &mut Unstructured<'_>) -> Result<()> {
    let options = Options { undefined_paths: u.arbitrary()?, max_insts: 30, ..Options::default() };
    let function = if u.ratio(1, 4)? { filled_tile(u)? } else { lowered_function(u, &options)? };
    let (eighths, least) = (u.int_in_range(0..=8)?, u.int_in_range(1..=12)?);
    let (widened_alone, predicates) = (u.ratio(1, 4)?, u.int_in_range(0..=4)?);
    let bits = *u.choose(&[BitSpill::Off, BitSpill::Auto, BitSpill::On])?;
    let (needed, registers) = (u.int_in_range(0..=8)?, u.int_in_range(1..=12)?);
    let criteria =
        RematCriteria { instructions: 0, needed, eighths, least, widened_alone, predicates, bits, registers };
    let classification = Classification::by_name(function.opcodes());
    let rematerialised = || rematerialise_above(&function, &classification, criteria);
    let outcome = rematerialised();
    let applied = sound(&function, &outcome.edits);
    let count = |function: &Function| function.num_insts() as isize;
    assert_eq!(count(&applied.function) - count(&function), outcome.added);
    let (values, comparisons) = (16.max(count(&function) / 16), 16.max(count(&function) / 4));
    let is_access = |edit: &&Edit| matches!(edit, Edit::InsertSpill { .. } | Edit::InsertReload { .. });
    let accesses = outcome.edits.edits().iter().filter(is_access).count() as isize;
    assert!(outcome.added <= values + comparisons + accesses, "{} more", outcome.added);
    assert_eq!(rematerialised().edits, outcome.edits, "the same again");
    assert_eq!(slots::errors(&function, &outcome.edits), [], "{function}");
    check_spoiled_slot(u, &function, &outcome.edits)?;
    reached("computed again", outcome.values > 0);
    reached("sunk", outcome.values as isize > outcome.added);
    reached("kept longer", outcome.extended > 0);
    let is_linked =
        |edit: &Edit| matches!(edit, Edit::SetRegister { inst, .. } if inst.0 as usize >= function.num_insts());
    reached("with its product", outcome.edits.edits().iter().any(is_linked));
    reached("kept as bits", outcome.bits > 0);
    let comparisons = |function: &Function| function.insts().filter(|&inst| is_comparison(function, inst)).count();
    reached("compared again", comparisons(&applied.function) > comparisons(&function));
    Ok(())
}

/// Draws a loop that stores to rows of a tile, whose addresses are computed before the loop. Sometimes other
/// instructions read the inputs of an address, or write the column again.
fn filled_tile(u: &mut Unstructured<'_>) -> Result<Function> {
    let (mut ahead, mut in_loop, mut behind) = (String::new(), String::new(), String::new());
    let mut classes = "B32 B64".to_owned();
    for row in 0..u.int_in_range(1..=6)? {
        let [number, factor, element, product, address, value] = std::array::from_fn(|part| 6 * row + 2 + part);
        classes += " B32 B32 B32 B64 B64 B64";
        ahead += &format!("  %{number} = LD_i32 {row} :: read\n");
        ahead += &match u.arbitrary()? {
            true => format!("  %{element} = MAD_LO_S32rrr %{number}, %{number}, %0\n"),
            false => {
                format!("  %{factor} = MULT32rr %{number}, %{number}\n  %{element} = ADD32rr %{factor}, %0\n")
            }
        };
        ahead += &format!("  %{product} = MUL_WIDEs32_ri %{element}, 4\n  %{address} = ADD64rr %1, %{product}\n");
        in_loop += &format!("  %{value} = LD_i64 {row} :: read\n");
        for _ in 0..u.int_in_range(1..=3)? {
            in_loop += &format!("  ST_i64 %{address}, %{value} :: write\n");
        }
        if u.ratio(1, 8)? {
            in_loop += &format!("  ST_i64 %{}, 7 :: write\n", u.choose(&[product, address])?);
        }
        if u.arbitrary()? {
            in_loop += &format!("  ST_i32 %{}, 7 :: write\n", if u.ratio(1, 8)? { element } else { number });
        }
    }
    if u.ratio(1, 8)? {
        in_loop += "  %0 = LD_i32 8 :: read\n";
    }
    for read in ["  ST_i32 %0, 9 :: write\n", "  ST_i64 %1, 9 :: write\n"] {
        if u.arbitrary()? {
            behind += read;
        }
    }
    let text = format!(
        "mfv 1\nfunction \"k\"\nkernel\nopcode LD_i32\nopcode LD_i64\nopcode ST_i32\nopcode ST_i64\nopcode MAD_LO_S32rrr\n\
         opcode MULT32rr\nopcode ADD32rr\nopcode MUL_WIDEs32_ri\nopcode ADD64rr\nregs %0 {classes}\n\
         bb0: frequency 1.0 depth 0 -> bb1\n  %0 = LD_i32 0 :: read\n  %1 = LD_i64 1 :: read\n{ahead}\
         bb1: frequency 9.0 depth 1 -> bb1 bb2\n{in_loop}bb2: frequency 1.0 depth 0\n{behind}end\n"
    );
    Ok(Function::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}")))
}

fn is_comparison(function: &Function, inst: Inst) -> bool {
    function.opcodes().name(function.opcode(inst)).starts_with("SETP")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzzing::explore;

    /// Rematerialisation preserves the meaning of every drawn function, and changes some of them.
    #[test]
    fn keeps_the_meaning() {
        explore(
            check_remat,
            2_000,
            &[
                ("computed again", 40),
                ("sunk", 10),
                ("kept longer", 5),
                ("with its product", 1),
                ("compared again", 1),
                ("kept as bits", 10),
            ],
        );
    }
}
