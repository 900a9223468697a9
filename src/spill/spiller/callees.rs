//! Which functions of a module have shared memory, themselves or by what they call.
//!
//! Slots and the shared memory of a callee lie in one block's memory, so a kernel that calls functions gets no slots. Where
//! the whole module is at hand, as for PTX and in reports, the table says which callee it is and what of; elsewhere only
//! its name is known.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::function::{Effects, Function, Inst, Value};
use crate::printable::printable;
use crate::target::Classification;

/// What a call may reach of shared memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CalleeMemory {
    /// Nothing.
    Nothing,
    /// Static shared memory that a function names.
    Static {
        /// The function.
        function: Box<str>,
        /// The bytes of its variables.
        bytes: u64,
    },
    /// Dynamic shared memory that a function names.
    Dynamic {
        /// The function.
        function: Box<str>,
    },
    /// Whatever a function has that the module does not define.
    Outside {
        /// The function.
        function: Box<str>,
    },
    /// Whatever a pointer points to.
    Pointer {
        /// The function that calls through it.
        function: Box<str>,
    },
    /// Whatever it has: one function alone is at hand.
    Unseen,
}

impl CalleeMemory {
    /// How bad it is for slots: what is unknown is worse than dynamic shared memory, and that than static.
    fn rank(&self) -> u32 {
        match self {
            Self::Nothing => 0,
            Self::Static { .. } => 1,
            Self::Dynamic { .. } => 2,
            Self::Unseen | Self::Outside { .. } => 3,
            Self::Pointer { .. } => 4,
        }
    }
}

/// A call that keeps a kernel from having slots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The function that is called, if the call names it.
    pub callee: Option<Box<str>>,
    /// What it has of shared memory.
    pub memory: CalleeMemory,
}

impl fmt::Display for Call {
    /// `it calls f, which has 512 bytes of static shared memory; inline f`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(callee) = self.callee.as_deref() else {
            return f.write_str(match self.memory {
                CalleeMemory::Unseen => "it calls functions; inline them",
                _ => "it calls through a pointer; call a function by its name, and inline it",
            });
        };
        let name = printable(callee);
        write!(f, "it calls {name}")?;
        // A callee of the callee is named, too.
        let of = |function: &str| match function == callee {
            true => ", which".to_owned(),
            false => format!(", and through it {}, which", printable(function)),
        };
        match &self.memory {
            CalleeMemory::Nothing => f.write_str(", which has no shared memory: slots gain nothing beside calls")?,
            CalleeMemory::Static { function, bytes } => {
                write!(f, "{} has {bytes} bytes of static shared memory", of(function))?;
            }
            CalleeMemory::Dynamic { function } => write!(f, "{} has dynamic shared memory", of(function))?,
            CalleeMemory::Outside { function } => write!(f, "{} is not in this file", of(function))?,
            CalleeMemory::Pointer { function } => write!(f, "{} calls through a pointer", of(function))?,
            CalleeMemory::Unseen => f.write_str(", which may have shared memory of its own")?,
        }
        write!(f, "; inline {name}")
    }
}

/// What a function itself has, and what it calls.
#[derive(Clone, Debug)]
struct Entry {
    static_bytes: u64,
    has_dynamic: bool,
    calls_pointer: bool,
    calls: BTreeSet<Box<str>>,
}

/// The functions of a module by their names.
#[derive(Clone, Debug, Default)]
pub struct CalleeTable {
    entries: BTreeMap<Box<str>, Entry>,
}

impl CalleeTable {
    /// The table of all functions that a module defines. O(instructions).
    pub fn new<'a>(functions: impl IntoIterator<Item = (&'a Function, &'a Classification)>) -> Self {
        let mut table = Self::default();
        for (function, classification) in functions {
            let mut entry = Entry {
                static_bytes: function.static_shared_bytes(),
                has_dynamic: function.has_dynamic_shared(),
                calls_pointer: false,
                calls: BTreeSet::new(),
            };
            for callee in callees(function, classification) {
                match callee {
                    Some(callee) => _ = entry.calls.insert(callee.into()),
                    None => entry.calls_pointer = true,
                }
            }
            table.entries.insert(function.name().into(), entry);
        }
        table
    }

    /// The worst that a function has, itself or by what it calls. O(calls that are reached · log functions).
    fn memory(&self, callee: &str) -> CalleeMemory {
        let mut worst = CalleeMemory::Nothing;
        let mut seen: BTreeSet<&str> = BTreeSet::from([callee]);
        let mut worklist = vec![callee];
        while let Some(name) = worklist.pop() {
            let function = || name.into();
            let own = match self.entries.get(name) {
                None => CalleeMemory::Outside { function: function() },
                Some(entry) => {
                    worklist.extend(entry.calls.iter().map(|callee| &**callee).filter(|&callee| seen.insert(callee)));
                    match entry {
                        Entry { calls_pointer: true, .. } => CalleeMemory::Pointer { function: function() },
                        Entry { has_dynamic: true, .. } => CalleeMemory::Dynamic { function: function() },
                        Entry { static_bytes: 0, .. } => CalleeMemory::Nothing,
                        Entry { static_bytes: bytes, .. } => {
                            CalleeMemory::Static { function: function(), bytes: *bytes }
                        }
                    }
                }
            };
            if own.rank() > worst.rank() {
                worst = own;
            }
        }
        worst
    }
}

/// The call of a function that is the worst reason against slots, the first among equals; `None`: it calls nothing.
pub(super) fn worst_call(
    (function, classification): (&Function, &Classification),
    table: Option<&CalleeTable>,
) -> Option<Call> {
    let mut worst: Option<Call> = None;
    for callee in callees(function, classification) {
        let memory = match (callee, table) {
            (None, _) => CalleeMemory::Pointer { function: function.name().into() },
            (Some(_), None) => CalleeMemory::Unseen,
            (Some(callee), Some(table)) => table.memory(callee),
        };
        if worst.as_ref().is_none_or(|worst| memory.rank() > worst.memory.rank()) {
            worst = Some(Call { callee: callee.map(Into::into), memory });
        }
    }
    // A call sequence without a call that is known as one.
    let is_member = |inst| function.effects(inst).contains(Effects::CALL_SEQUENCE);
    worst.or_else(|| function.insts().any(is_member).then_some(Call { callee: None, memory: CalleeMemory::Unseen }))
}

/// The functions that a function calls, in the order of the calls; `None` for a call through a pointer.
fn callees<'a>(function: &'a Function, classification: &Classification) -> impl Iterator<Item = Option<&'a str>> {
    let is_call = |&inst: &Inst| classification.is_call(function, inst);
    function.insts().filter(is_call).map(|inst| {
        function.operands(inst).iter().find_map(|operand| match operand.value {
            Value::Symbol(symbol) => function.symbol(symbol).strip_prefix(['@', '&']),
            _ => None,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn function(name: &str, symbols: &str, callees: &[&str]) -> Function {
        let mut text = format!("mfv 1\nfunction \"{name}\"\nopcode CALL\nopcode MOV_B32_sym constant\nregs %0 B32\n");
        let (mut at, mut body) = (0, String::new());
        for symbol in symbols.split(',').filter(|symbol| !symbol.is_empty()) {
            text += &format!("@{at} = {symbol}\n");
            body += &format!("%0 = MOV_B32_sym @{at}\n");
            at += 1;
        }
        for callee in callees {
            if callee.is_empty() {
                body += "CALL %0 :: call_sequence\n";
                continue;
            }
            text += &format!("@{at} = \"@{callee}\"\n");
            body += &format!("CALL @{at} :: call_sequence\n");
            at += 1;
        }
        text += &format!("bb0: frequency 1.0 depth 0\n{body}end\n");
        Function::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
    }

    /// What a kernel is told that calls these functions, of the module with these.
    fn told(kernel: &[&str], module: Option<&[Function]>) -> Option<String> {
        let kernel = function("k", "", kernel);
        let by_name = |function: &Function| Classification::by_name(function.opcodes());
        let table = module.map(|module| {
            let classifications: Vec<Classification> = module.iter().map(by_name).collect();
            CalleeTable::new(module.iter().zip(&classifications))
        });
        worst_call((&kernel, &by_name(&kernel)), table.as_ref()).map(|call| call.to_string())
    }

    /// The remark names the callee, the function behind it that is the reason, and what that has.
    #[test]
    fn reasons() {
        let module = [
            function("plain", "", &[]),
            function("tile", "\"@tile_buffer\" shared 512", &[]),
            function("extern", "\"@memory\" shared dynamic", &["tile"]),
            function("deep", "", &["plain", "tile"]),
            function("even", "", &["odd"]),
            function("odd", "", &["even"]),
            function("prints", "", &["vprintf"]),
            function("table", "", &[""]),
        ];
        let reason = |callee: &str| told(&[callee], Some(&module)).expect("a call");
        assert_eq!(told(&[], Some(&module)), None);
        assert_eq!(
            reason("plain"),
            "it calls plain, which has no shared memory: slots gain nothing beside calls; inline plain"
        );
        assert_eq!(reason("tile"), "it calls tile, which has 512 bytes of static shared memory; inline tile");
        assert_eq!(reason("extern"), "it calls extern, which has dynamic shared memory; inline extern");
        assert_eq!(
            reason("deep"),
            "it calls deep, and through it tile, which has 512 bytes of static shared memory; inline deep"
        );
        assert!(reason("even").contains("no shared memory"));
        assert_eq!(
            reason("prints"),
            "it calls prints, and through it vprintf, which is not in this file; inline prints"
        );
        assert_eq!(reason("vprintf"), "it calls vprintf, which is not in this file; inline vprintf");
        assert_eq!(reason("table"), "it calls table, which calls through a pointer; inline table");
        assert!(reason("").starts_with("it calls through a pointer"));
        assert_eq!(
            told(&["tile"], None).expect("a call"),
            "it calls tile, which may have shared memory of its own; inline tile"
        );
    }

    /// What belongs to a call sequence is refused, too, where no call is seen.
    #[test]
    fn sequences_without_a_call() {
        let text = function("k", "", &["f"]).to_string().replace("opcode CALL\n", "opcode Callseq_Start\n");
        let kernel = Function::parse(&text.replace(" CALL ", " Callseq_Start ")).expect("a view");
        let call = worst_call((&kernel, &Classification::by_name(kernel.opcodes())), None).expect("a call");
        assert_eq!(call.to_string(), "it calls functions; inline them");
    }

    /// Of several calls the worst one is told, the first of equals.
    #[test]
    fn the_worst_call_is_told() {
        let module = [function("plain", "", &[]), function("tile", "\"@tile_buffer\" shared 512", &[])];
        let told = |calls: &[&str]| told(calls, Some(&module)).expect("a call");
        assert!(told(&["plain", "tile", "vprintf", "malloc"]).starts_with("it calls vprintf,"));
        assert!(told(&["plain", "tile", "malloc", "vprintf"]).starts_with("it calls malloc,"));
        assert!(told(&["vprintf", ""]).starts_with("it calls through a pointer"));
        assert!(told(&["plain", "tile", "plain"]).starts_with("it calls tile,"));
    }
}
