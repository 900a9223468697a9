//! What a linker sees of a relocatable object, and what the object of a variant may not change.
//!
//! Other objects call its functions, are called by them, and refer to its variables. nvlink gives a kernel the
//! registers of the function that needs the most of all functions that it calls, and refuses a kernel with a lower
//! bound. One more register in a function may therefore break the build of another file.

use std::collections::BTreeMap;

/// Resources that a function requires from each kernel that calls it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Footprint {
    /// General registers of a thread.
    pub registers: u32,
    /// Barriers of a block.
    pub barriers: u32,
    /// Bytes of its own stack frame.
    pub frame: u32,
    /// Bytes of stack that it needs at least, with the functions that it calls.
    pub stack: u32,
}

/// A function of an object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Function {
    /// Whether it is a kernel.
    pub is_kernel: bool,
    /// Whether it calls a function that is defined elsewhere or selected at run time, directly or through functions of
    /// this file.
    pub calls_elsewhere: bool,
    /// Its required resources.
    pub footprint: Footprint,
}

/// What a linker sees of an object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Relocatable {
    /// Its functions with code, by name.
    pub functions: BTreeMap<String, Function>,
    /// Symbols, relocations, calls, prototypes and data, one a line, with the number of equal lines. Positions in code
    /// are not included.
    pub interface: BTreeMap<String, usize>,
}

impl Relocatable {
    /// Whether an object may replace `stock`: a linker sees the same, and no function needs more.
    ///
    /// # Errors
    /// The first difference.
    pub fn check(&self, stock: &Self) -> Result<(), String> {
        if let Some(name) = self.functions.keys().find(|name| !stock.functions.contains_key(*name)) {
            return Err(format!("the function '{name}' is new"));
        }
        for (name, before) in &stock.functions {
            let after = self.functions.get(name).ok_or_else(|| format!("the function '{name}' is missing"))?;
            after.check(name, before)?;
        }
        let of = |interface: &BTreeMap<String, usize>, line: &String| interface.get(line).copied().unwrap_or(0);
        let mut lines = stock.interface.keys().chain(self.interface.keys());
        match lines.find(|line| of(&self.interface, line) != of(&stock.interface, line)) {
            None => Ok(()),
            Some(line) => {
                let [before, after] = [stock, self].map(|object| of(&object.interface, line));
                Err(format!("the object has this line {after} instead of {before} times: {line}"))
            }
        }
    }
}

impl Function {
    fn check(&self, name: &str, stock: &Self) -> Result<(), String> {
        let kind = if stock.is_kernel { "kernel" } else { "function" };
        if (self.is_kernel, self.calls_elsewhere) != (stock.is_kernel, stock.calls_elsewhere) {
            return Err(format!("the {kind} '{name}' calls others"));
        }
        let [after, before] = [self, stock].map(|function| {
            let Footprint { registers, barriers, frame, stack } = function.footprint;
            [registers, barriers, frame, stack]
        });
        let units = ["registers", "barriers", "bytes of frame", "bytes of stack"];
        let mut all = units.into_iter().zip(after).zip(before);
        match all.find(|((_, after), before)| after > before) {
            None => Ok(()),
            Some(((unit, after), before)) => Err(format!("the {kind} '{name}' has {after} {unit} instead of {before}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use arbitrary::Unstructured;

    use super::*;
    use crate::fuzzing::{explore, reached};

    fn footprint(u: &mut Unstructured<'_>) -> arbitrary::Result<Footprint> {
        let mut number = || u.int_in_range(0..=2u32);
        Ok(Footprint { registers: number()?, barriers: number()?, frame: number()?, stack: number()? })
    }

    fn object(u: &mut Unstructured<'_>) -> arbitrary::Result<Relocatable> {
        let mut object = Relocatable::default();
        for name in ["f", "k"] {
            if u.ratio(9, 10)? {
                let calls_elsewhere = u.ratio(1, 8)?;
                let function = Function { is_kernel: name == "k", calls_elsewhere, footprint: footprint(u)? };
                object.functions.insert(name.into(), function);
            }
        }
        for line in ["symbol", "relocation"] {
            let times = u.int_in_range(0..=2usize)?;
            object.interface.extend((times > 0 || u.arbitrary()?).then(|| (line.into(), times)));
        }
        Ok(object)
    }

    /// An object passes if it has the functions and lines of stock, and no function needs more than stock's. The order
    /// does not matter.
    #[test]
    fn no_function_takes_more() {
        let check = |u: &mut Unstructured<'_>| {
            let other = object(u)?;
            let mut one = if u.ratio(1, 4)? { object(u)? } else { other.clone() };
            if let Some(function) = one.functions.get_mut("f") {
                let Footprint { registers, barriers, frame, stack } = &mut function.footprint;
                let number = [registers, barriers, frame, stack].into_iter().nth(u.int_in_range(0..=3)?);
                *number.expect("there are four") = u.int_in_range(0..=2)?;
            }
            let is_no_more = |name: &str| match (one.functions.get(name), other.functions.get(name)) {
                (Some(one), Some(other)) => {
                    let [a, b] = [one.footprint, other.footprint];
                    one.calls_elsewhere == other.calls_elsewhere
                        && a.registers <= b.registers
                        && a.barriers <= b.barriers
                        && a.frame <= b.frame
                        && a.stack <= b.stack
                }
                (one, other) => one.is_none() && other.is_none(),
            };
            let times = |object: &Relocatable, line: &str| object.interface.get(line).copied().unwrap_or(0);
            let is_same = ["symbol", "relocation"].iter().all(|line| times(&one, line) == times(&other, line));
            let expected = is_same && is_no_more("f") && is_no_more("k");
            assert_eq!(one.check(&other).is_ok(), expected, "{one:?} {other:?}");
            assert!(one.check(&one).is_ok());
            reached("passes", expected);
            reached("refused", !expected);
            Ok(())
        };
        explore(check, 100, &[("passes", 5), ("refused", 5)]);
    }

    /// The reason names the function and both numbers, or the difference that a linker would see.
    #[test]
    fn reasons() {
        let of = |registers, times| Relocatable {
            functions: [(
                "f".into(),
                Function { footprint: Footprint { registers, ..Footprint::default() }, ..Function::default() },
            )]
            .into(),
            interface: [("symbol f".into(), times)].into(),
        };
        let reason = |one: Relocatable, other: Relocatable| one.check(&other).expect_err("it differs");
        assert_eq!(reason(of(41, 1), of(40, 1)), "the function 'f' has 41 registers instead of 40");
        assert_eq!(reason(of(40, 2), of(40, 1)), "the object has this line 2 instead of 1 times: symbol f");
        assert_eq!(reason(Relocatable::default(), of(40, 1)), "the function 'f' is missing");
        assert_eq!(reason(of(40, 1), Relocatable::default()), "the function 'f' is new");
    }
}
