//! Calls of unknown functions, or of functions with unknown recursion depth, because of which a kernel takes *at least*
//! the forecast registers.

use std::fmt;

use crate::analysis::Occurrences;
use crate::forecast::footprint::promotion::Transfer;
use crate::function::{Function, Inst, Operand, VReg, Value};
use crate::printable::printable;
use crate::target::Classification;

/// Most instructions that are followed in the search for a table of functions.
const MOST_STEPS: usize = 32;

/// Why a kernel's callee, or the depth of its calls, is not known.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum UnknownCallee {
    /// A function of this name, which the module does not define.
    Outside(Box<str>),
    /// A function whose address is in a pointer.
    Pointer,
    /// A function whose address is loaded from a variable of this name, such as a table of functions.
    Table(Box<str>),
    /// A function of this name, which calls itself directly or indirectly.
    Recursion(Box<str>),
}

impl fmt::Display for UnknownCallee {
    /// Prints the kernel's call: `calls f, which is not in this file`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Outside(name) => write!(f, "calls {}, which is not in this file", printable(name)),
            Self::Pointer => f.write_str("calls through a pointer"),
            Self::Table(name) => write!(f, "calls through {}, which holds addresses of functions", printable(name)),
            Self::Recursion(name) => write!(f, "calls {}, which calls itself", printable(name)),
        }
    }
}

/// A call of an unknown function, or of a function with unknown recursion depth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownCall {
    /// The callee, and why it is unknown.
    pub callee: UnknownCallee,
    /// Function that contains the call: the kernel or a callee.
    pub caller: Box<str>,
    /// Line in that function's file; 0 if unknown.
    pub line: u32,
}

/// A call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::forecast) struct Call {
    pub(in crate::forecast) callee: Callee,
    /// Line of the call; 0 if unknown.
    pub(in crate::forecast) line: u32,
}

impl Call {
    /// Returns the call that an instruction makes; `None` if it is no call.
    pub(in crate::forecast) fn of(
        (function, classification): (&Function, &Classification),
        occurrences: &Occurrences,
        inst: Inst,
    ) -> Option<Self> {
        let callee = Callee::of((function, classification), occurrences, inst)?;
        Some(Self { callee, line: function.line(inst) })
    }
}

/// Callee of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::forecast) enum Callee {
    /// A function of this name.
    Named(Box<str>),
    /// A function whose address is loaded from this variable.
    Loaded(Box<str>),
    /// Unknown.
    Unknown,
}

impl Callee {
    /// Returns the callee of an instruction; `None` if it is no call.
    fn of(
        (function, classification): (&Function, &Classification),
        occurrences: &Occurrences,
        inst: Inst,
    ) -> Option<Self> {
        classification.is_call(function, inst).then(|| {
            let operands = function.operands(inst);
            if let Some(symbol) = symbol_in(function, operands) {
                return Self::Named(symbol.into());
            }
            let mut pointers = operands.iter().rev().filter(|operand| !operand.is_def()).filter_map(Operand::reg);
            let table = pointers.find_map(|pointer| table_of(function, occurrences, pointer));
            table.map_or(Self::Unknown, |table| Self::Loaded(table.into()))
        })
    }

    /// Returns the name of the callee, if it is known.
    pub(in crate::forecast) fn name(&self) -> Option<&str> {
        match self {
            Self::Named(name) => Some(name),
            Self::Loaded(_) | Self::Unknown => None,
        }
    }
}

/// Returns the first symbol among operands, without its marks. The PTX of a call through a pointer is a symbol, too,
/// but no name.
fn symbol_in<'a>(function: &'a Function, operands: &[Operand]) -> Option<&'a str> {
    let symbol = |operand: &Operand| match operand.value {
        Value::Symbol(symbol) => Some(function.symbol(symbol).trim_start_matches(['@', '&'])),
        _ => None,
    };
    operands.iter().filter_map(symbol).find(|name| !name.contains(char::is_whitespace))
}

/// Returns the variable from which a pointer is loaded, if exactly one variable takes part in the address.
fn table_of<'a>(function: &'a Function, occurrences: &Occurrences, pointer: VReg) -> Option<&'a str> {
    let definition = |reg: VReg| {
        let mut definitions = occurrences.of(reg).iter().filter(|occurrence| occurrence.is_def());
        definitions.next().map(|definition| definition.inst)
    };
    let load = definition(pointer).filter(|&inst| Transfer::of(function, inst).is_some_and(|of| !of.is_store))?;
    let mut worklist = vec![load];
    let mut seen: Vec<VReg> = vec![pointer];
    let mut table = None;
    while let Some(inst) = worklist.pop() {
        let operands = function.operands(inst);
        // Parameters are symbols, too, with another mark.
        for operand in operands {
            if let Value::Symbol(symbol) = operand.value
                && let Some(name) = function.symbol(symbol).strip_prefix('@')
            {
                let name = name.split(['+', ' ']).next().unwrap_or(name);
                if table.is_some_and(|table| table != name) {
                    return None;
                }
                table = Some(name);
            }
        }
        let sources = operands.iter().filter(|operand| !operand.is_def()).filter_map(Operand::reg);
        for reg in sources {
            if seen.len() < MOST_STEPS && !seen.contains(&reg) {
                seen.push(reg);
                worklist.extend(definition(reg));
            }
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forecast::{Case, forecast_by_name};
    use crate::target::machine::Architecture;

    const TABLE: &str = "mfv 1\nfunction \"k\"\nkernel\nopcode ADD64rr\nopcode CALL\nopcode LD_i64\nopcode MOV_B64_sym\n\
        regs %0 B64 B64 B64 B64\n@0 = \"&k_param_0\"\n@1 = \"@ops+8\"\nbb0: frequency 1.0 depth 0\n\
        %0 = LD_i64 0, 0, 101, 3, 64, -1, @0, 0\n%1 = MOV_B64_sym @1\n%2 = ADD64rr %1, %0\n\
        %3 = LD_i64 0, 0, 4, 3, 64, -1, %2, 0\nCALL %3, 1, 1, 1 :: call_sequence opaque\nend\n";

    fn unknown_calls(functions: &[&str]) -> Vec<UnknownCall> {
        let functions: Vec<Function> = functions
            .iter()
            .map(|text| Function::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}")))
            .collect();
        let case = Case { architecture: Architecture::by_name("sm_90").expect("a processor"), max_registers: None };
        let forecast = forecast_by_name(&functions, &case).expect("a forecast").swap_remove(0);
        forecast.unknown_calls
    }

    fn unknown_callees(functions: &[&str]) -> Vec<UnknownCallee> {
        unknown_calls(functions).into_iter().map(|call| call.callee).collect()
    }

    fn caller(head: &str, callees: &[&str]) -> String {
        let mut text = format!("mfv 1\nfunction {head}\nopcode CALL\n");
        (0..).zip(callees).for_each(|(number, callee)| text += &format!("@{number} = \"@{callee}\"\n"));
        text += "bb0: frequency 1.0 depth 0\n";
        (0..callees.len()).for_each(|number| text += &format!("CALL @{number} :: call_sequence\n"));
        text + "end\n"
    }

    /// Each cause is listed by its kind and once, including the causes of callees. A kernel whose callees are all known
    /// has no cause.
    #[test]
    fn causes() {
        let kernel = |callees: &[&str]| caller("\"k\"\nkernel", callees);
        let outside = |name: &str| UnknownCallee::Outside(name.into());
        let recursion = |name: &str| UnknownCallee::Recursion(name.into());
        assert_eq!(unknown_callees(&[&kernel(&["f"]), &caller("\"f\"", &[])]), []);
        assert_eq!(unknown_callees(&[&kernel(&["f", "g", "f"])]), [outside("f"), outside("g")]);
        assert_eq!(unknown_callees(&[&kernel(&["f", "g"]), &caller("\"f\"", &["g"])]), [outside("g")]);
        assert_eq!(unknown_callees(&[&kernel(&["f"]), &caller("\"f\"", &["f"])]), [recursion("f")]);
        let even = [&*kernel(&["even"]), &caller("\"even\"", &["odd"]), &caller("\"odd\"", &["even"])];
        assert_eq!(unknown_callees(&even), [recursion("even")]);
        assert_eq!(unknown_callees(&[TABLE]), [UnknownCallee::Table("ops".into())]);
        // With two variables, or with a pointer that is a parameter, no table is known.
        assert_eq!(
            unknown_callees(&[&TABLE.replace("%2 = ADD64rr %1, %0", "%2 = ADD64rr %0, %0")]),
            [UnknownCallee::Pointer]
        );
        assert_eq!(unknown_callees(&[&TABLE.replace("CALL %3", "CALL %0")]), [UnknownCallee::Pointer]);
        assert_eq!(unknown_callees(&[&TABLE.replace("CALL %3", "CALL %1")]), [UnknownCallee::Pointer]);
        // The same call in PTX.
        let text = "@1 = \"@ops+8\"\n@2 = \"{ call $0, prototype; }\"";
        let called = TABLE.replace("@1 = \"@ops+8\"", text).replace("CALL %3, 1", "CALL @2, 1, %3");
        assert_eq!(unknown_callees(&[&called]), [UnknownCallee::Table("ops".into())]);
    }

    /// A call is attributed to the function that contains it, which need not be the kernel, and to its line.
    #[test]
    fn places_of_calls() {
        let at = |text: String, line: &str| text.replace(":: call_sequence", &format!(":: call_sequence line {line}"));
        let kernel = at(caller("\"k\"\nkernel", &["f"]), "3");
        let places = |functions: &[&str]| {
            unknown_calls(functions).into_iter().map(|call| (call.caller.into_string(), call.line)).collect::<Vec<_>>()
        };
        assert_eq!(places(&[&kernel]), [("k".to_owned(), 3)]);
        assert_eq!(places(&[&kernel, &at(caller("\"f\"", &["g"]), "7")]), [("f".to_owned(), 7)]);
        assert_eq!(places(&[&kernel, &at(caller("\"f\"", &["f"]), "8")]), [("f".to_owned(), 8)]);
    }

    /// The sentence contains the function's name, without characters that control a terminal.
    #[test]
    fn sentences() {
        assert_eq!(UnknownCallee::Recursion("f\u{7}".into()).to_string(), "calls f\\u{7}, which calls itself");
        assert_eq!(UnknownCallee::Outside("vprintf".into()).to_string(), "calls vprintf, which is not in this file");
    }
}
