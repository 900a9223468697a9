//! The classification of every opcode as a golden file, with one line each: name, family, classes of a copy, whether it
//! coalesces, purity (with the effects that follow under LLVM's descriptor), cost of rematerialisation, convergence,
//! memory space, uniformity, form for the uniform datapath, role.

use std::fmt::Write as _;

use super::*;
use crate::function::{Opcode, Role};

/// Returns one line of the golden file.
fn describe(opcode: Opcode) -> String {
    let info = CLASSIFICATION.info(opcode);
    let (effects, _) = CLASSIFICATION.effects(opcode, InstFlags::empty(), 0);
    let class = |class: Option<RegClass>| class.map_or("", RegClass::name);
    let mut line = format!("{} {:?}", CLASSIFICATION.table().name(opcode), info.family);
    if info.dst.is_some() || info.src.is_some() {
        write!(line, " {}->{}", class(info.src), class(info.dst)).expect("a string can be written");
    }
    if info.coalesces {
        line += " coalesces";
    }
    write!(line, " {:?}", info.purity).expect("a string can be written");
    if !effects.is_empty() {
        let names: Vec<_> = effects.iter_names().map(|(name, _)| name.to_lowercase()).collect();
        write!(line, "({})", names.join(",")).expect("a string can be written");
    }
    if let Some(RematCost(cost)) = info.remat {
        write!(line, " remat:{cost}").expect("a string can be written");
    }
    if info.convergent {
        line += " convergent";
    }
    if let Some(space) = info.space {
        write!(line, " {space:?}").expect("a string can be written");
    }
    write!(line, " {:?}", info.uniformity).expect("a string can be written");
    if info.has_uniform_form {
        line += " uniform-form";
    }
    match info.role() {
        Role::Other => {}
        Role::Extract { index, parts } => {
            write!(line, " role:Extract({index}/{parts})").expect("a string can be written")
        }
        role => write!(line, " role:{role:?}").expect("a string can be written"),
    }
    line
}

#[test]
fn the_golden_file_shows_the_classification_of_every_opcode() {
    let mut actual = String::new();
    for opcode in CLASSIFICATION.table().ids() {
        actual += &describe(opcode);
        actual.push('\n');
    }
    let path = golden_file("opcodes.txt");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&path, &actual).expect("the golden file is writable");
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    let mut diff = String::new();
    for pair in lines_that_differ(&expected, &actual).take(40) {
        writeln!(diff, "-{}\n+{}", pair.0, pair.1).expect("a string can be written");
    }
    assert!(actual == expected, "{}:\n{diff}UPDATE_EXPECT=1 accepts the new classification", path.display());
}

/// Returns lines that differ at the same position. Within one LLVM version, opcodes never change their order.
fn lines_that_differ<'a>(left: &'a str, right: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
    let count = left.lines().count().max(right.lines().count());
    let padded = |text: &'a str| text.lines().chain(std::iter::repeat("")).take(count);
    padded(left).zip(padded(right)).filter(|(left, right)| left != right)
}
