//! Shared memory of the functions that a kernel calls, and the words that live across these calls.
//!
//! Slots and the shared memory of a callee belong to the same block's memory. If the whole module is available, as for
//! PTX and in reports, the table has the sum over all callees, or the callee that rules slots out. Otherwise, only the
//! name of a callee is known.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::forbidden::Forbidden;
use crate::function::{Effects, Function, Inst, SharedArray, Value};
use crate::printable::printable;
use crate::target::Classification;

/// Reason for which a call rules slots out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CalleeMemory {
    /// A function uses dynamic shared memory.
    Dynamic {
        /// The function.
        function: Box<str>,
    },
    /// A function has code that could access slots.
    Forbidden {
        /// The function.
        function: Box<str>,
        /// The code.
        what: Forbidden,
    },
    /// The module does not define a function, so its contents are unknown.
    Outside {
        /// The function.
        function: Box<str>,
    },
    /// A pointer has unknown targets.
    Pointer {
        /// The function that calls through the pointer.
        function: Box<str>,
    },
    /// The contents are unknown, because only one function is available.
    Unseen,
}

impl CalleeMemory {
    /// Severity of the reason: unknown contents are worse than known contents.
    fn rank(&self) -> u32 {
        match self {
            Self::Dynamic { .. } | Self::Forbidden { .. } => 1,
            Self::Unseen | Self::Outside { .. } => 2,
            Self::Pointer { .. } => 3,
        }
    }
}

/// A call that rules slots out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The callee; `None` for a call through a pointer.
    pub callee: Option<Box<str>>,
    /// The reason.
    pub memory: CalleeMemory,
}

impl fmt::Display for Call {
    /// Formats the call like `it calls f, which has dynamic shared memory; inline f`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(callee) = self.callee.as_deref() else {
            return f.write_str(match self.memory {
                CalleeMemory::Unseen => "it calls functions; inline them",
                _ => "it calls through a pointer; call the function by its name, and inline it",
            });
        };
        let name = printable(callee);
        write!(f, "it calls {name}")?;
        // The function that is the reason is named if it is not the callee itself.
        let of = |function: &str| match function == callee {
            true => ", which".to_owned(),
            false => format!(", and through it {}, which", printable(function)),
        };
        match &self.memory {
            CalleeMemory::Dynamic { function } => write!(f, "{} has dynamic shared memory", of(function))?,
            CalleeMemory::Forbidden { function, what } => write!(f, "{} {what}", of(function))?,
            CalleeMemory::Outside { function } => write!(f, "{} is not in this file", of(function))?,
            CalleeMemory::Pointer { function } => write!(f, "{} calls through a pointer", of(function))?,
            CalleeMemory::Unseen => f.write_str(", which may have its own shared memory")?,
        }
        write!(f, "; inline {name}")
    }
}

/// Shared memory and calls of a function.
#[derive(Clone, Debug)]
struct Entry {
    static_bytes: u64,
    has_dynamic: bool,
    forbidden: Option<Forbidden>,
    calls_pointer: bool,
    calls: BTreeSet<Box<str>>,
}

/// The functions of a module by their names.
#[derive(Clone, Debug, Default)]
pub struct CalleeTable {
    entries: BTreeMap<Box<str>, Entry>,
}

impl CalleeTable {
    /// Builds the table of all functions that a module defines. O(instructions).
    pub fn new<'a>(functions: impl IntoIterator<Item = (&'a Function, &'a Classification)>) -> Self {
        let mut table = Self::default();
        for (function, classification) in functions {
            let mut entry = Entry {
                static_bytes: function.static_shared_bytes(),
                has_dynamic: function.has_dynamic_shared(),
                forbidden: Forbidden::of(function),
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

    /// Whether the module defines a function.
    pub(super) fn has(&self, function: &str) -> bool {
        self.entries.contains_key(function)
    }

    /// Returns the functions that a call reaches, with their entries. The entry is `None` if the module does not define
    /// the function. O(calls that are reached · log functions).
    fn reached<'t>(&'t self, callee: &'t str) -> Vec<(&'t str, Option<&'t Entry>)> {
        let mut seen: BTreeSet<&str> = BTreeSet::from([callee]);
        let (mut worklist, mut reached) = (vec![callee], Vec::new());
        while let Some(name) = worklist.pop() {
            let entry = self.entries.get(name);
            let calls = entry.into_iter().flat_map(|entry| &entry.calls).map(|callee| &**callee);
            worklist.extend(calls.filter(|&callee| seen.insert(callee)));
            reached.push((name, entry));
        }
        reached
    }

    /// Returns the worst reason against slots among the functions that a call reaches.
    fn refusal(&self, callee: &str) -> Option<CalleeMemory> {
        let mut worst: Option<CalleeMemory> = None;
        for (name, entry) in self.reached(callee) {
            let function = || name.into();
            let own = match entry {
                None => CalleeMemory::Outside { function: function() },
                Some(Entry { calls_pointer: true, .. }) => CalleeMemory::Pointer { function: function() },
                Some(Entry { has_dynamic: true, .. }) => CalleeMemory::Dynamic { function: function() },
                Some(Entry { forbidden: Some(what), .. }) => {
                    CalleeMemory::Forbidden { function: function(), what: *what }
                }
                Some(_) => continue,
            };
            if worst.as_ref().is_none_or(|worst| own.rank() > worst.rank()) {
                worst = Some(own);
            }
        }
        worst
    }
}

/// Returns the bytes of static shared memory of all functions that a function calls, directly or indirectly.
///
/// # Errors
/// The worst call that rules slots out; of equally bad calls, the first.
pub(super) fn shared_of_callees(
    (function, classification): (&Function, &Classification),
    table: Option<&CalleeTable>,
) -> Result<u64, Call> {
    let mut worst: Option<Call> = None;
    let mut bytes: BTreeMap<&str, u64> = BTreeMap::new();
    for callee in callees(function, classification) {
        let memory = match (callee, table) {
            (None, _) => Some(CalleeMemory::Pointer { function: function.name().into() }),
            (Some(_), None) => Some(CalleeMemory::Unseen),
            (Some(callee), Some(table)) => {
                let reached = table.reached(callee).into_iter();
                bytes.extend(reached.filter_map(|(name, entry)| Some((name, entry?.static_bytes))));
                table.refusal(callee)
            }
        };
        let Some(memory) = memory else { continue };
        if worst.as_ref().is_none_or(|worst| memory.rank() > worst.memory.rank()) {
            worst = Some(Call { callee: callee.map(Into::into), memory });
        }
    }
    // The function has a call sequence in which no call is recognised.
    let has_call = callees(function, classification).next().is_some();
    let is_member = |inst| function.effects(inst).contains(Effects::CALL_SEQUENCE);
    if !has_call && function.insts().any(is_member) {
        worst = Some(Call { callee: None, memory: CalleeMemory::Unseen });
    }
    // A variable that several functions use is counted for each of them.
    let alignment = u64::from(SharedArray::ALIGNMENT);
    worst.map_or_else(|| Ok(bytes.values().map(|bytes| bytes.next_multiple_of(alignment)).sum()), Err)
}

/// Returns the calls of functions that are not in the table: ptxas knows only the ABI for these functions. Empty
/// without a table, because the functions may be available elsewhere.
pub(super) fn calls_by_the_abi<'a>(
    (function, classification): (&'a Function, &'a Classification),
    table: Option<&'a CalleeTable>,
) -> impl Iterator<Item = Inst> {
    let is_outside = move |&inst: &Inst| {
        let callee = callee(function, inst);
        table.is_some_and(|table| callee.is_none_or(|callee| !table.has(callee)))
    };
    function.insts().filter(|&inst| classification.is_call(function, inst)).filter(is_outside)
}

/// Returns the functions that a function calls, in the order of the calls. A call through a pointer has `None`.
fn callees<'a>(function: &'a Function, classification: &Classification) -> impl Iterator<Item = Option<&'a str>> {
    let is_call = |&inst: &Inst| classification.is_call(function, inst);
    function.insts().filter(is_call).map(|inst| callee(function, inst))
}

/// Returns the callee of a direct call.
fn callee(function: &Function, call: Inst) -> Option<&str> {
    function.operands(call).iter().find_map(|operand| match operand.value {
        Value::Symbol(symbol) => function.symbol(symbol).strip_prefix(['@', '&']),
        _ => None,
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

    /// Returns the bytes of shared memory of the callees of a kernel that calls the functions `kernel`, if `module` has
    /// the given functions, or the message of the refusal.
    fn told(kernel: &[&str], module: Option<&[Function]>) -> Result<u64, String> {
        let kernel = function("k", "", kernel);
        let by_name = |function: &Function| Classification::by_name(function.opcodes());
        let table = module.map(|module| {
            let classifications: Vec<Classification> = module.iter().map(by_name).collect();
            CalleeTable::new(module.iter().zip(&classifications))
        });
        shared_of_callees((&kernel, &by_name(&kernel)), table.as_ref()).map_err(|call| call.to_string())
    }

    /// The remark names the callee, the function that the callee reaches and that is the reason, and the reason itself.
    /// Known static memory does not rule slots out, and counts once for each function.
    #[test]
    fn reasons() {
        let module = [
            function("plain", "", &[]),
            function("tile", "\"@tile_buffer\" shared 500", &[]),
            function("small", "\"@other_buffer\" shared 16", &[]),
            function("extern", "\"@memory\" shared dynamic", &["tile"]),
            function("through", "", &["extern"]),
            function("deep", "", &["plain", "tile"]),
            function("even", "", &["odd"]),
            function("odd", "", &["even"]),
            function("prints", "", &["vprintf"]),
            function("table", "", &[""]),
        ];
        let told = |callees: &[&str]| super::tests::told(callees, Some(&module));
        let reason = |callee: &str| told(&[callee]).expect_err("a reason");
        assert_eq!(told(&[]), Ok(0));
        assert_eq!(told(&["plain"]), Ok(0));
        assert_eq!(told(&["even"]), Ok(0));
        assert_eq!(told(&["tile"]), Ok(512));
        assert_eq!(told(&["deep", "tile", "small", "deep"]), Ok(528));
        assert_eq!(reason("extern"), "it calls extern, which has dynamic shared memory; inline extern");
        assert_eq!(
            reason("through"),
            "it calls through, and through it extern, which has dynamic shared memory; inline through"
        );
        assert_eq!(
            reason("prints"),
            "it calls prints, and through it vprintf, which is not in this file; inline prints"
        );
        assert_eq!(reason("vprintf"), "it calls vprintf, which is not in this file; inline vprintf");
        assert_eq!(reason("table"), "it calls table, which calls through a pointer; inline table");
        assert!(reason("").starts_with("it calls through a pointer"));
        assert_eq!(
            super::tests::told(&["tile"], None),
            Err("it calls tile, which may have its own shared memory; inline tile".into())
        );
    }

    /// Instructions of a call sequence rule slots out, too, if no call is recognised.
    #[test]
    fn sequences_without_a_call() {
        let text = function("k", "", &["f"]).to_string().replace("opcode CALL\n", "opcode Callseq_Start\n");
        let kernel = Function::parse(&text.replace(" CALL ", " Callseq_Start ")).expect("a view");
        let call = shared_of_callees((&kernel, &Classification::by_name(kernel.opcodes())), None).expect_err("a call");
        assert_eq!(call.to_string(), "it calls functions; inline them");
    }

    /// A callee with code that could access slots rules slots out.
    #[test]
    fn callees_that_meet_slots() {
        let text = "mfv 1\nfunction \"sizes\"\nopcode MOV_smem_size\nregs %0 B32\nbb0: frequency 1.0 depth 0\n\
            %0 = MOV_smem_size 0\nend\n";
        let sizes = Function::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let told = told(&["sizes"], Some(&[sizes])).expect_err("a reason");
        assert_eq!(told, "it calls sizes, which reads the size of its shared memory; inline sizes");
    }

    /// Of several calls, the worst call is reported; of equally bad calls, the first.
    #[test]
    fn the_worst_call_is_told() {
        let module = [function("plain", "", &[]), function("tile", "\"@tile_buffer\" shared dynamic", &[])];
        let told = |calls: &[&str]| told(calls, Some(&module)).expect_err("a reason");
        assert!(told(&["plain", "tile", "vprintf", "malloc"]).starts_with("it calls vprintf,"));
        assert!(told(&["plain", "tile", "malloc", "vprintf"]).starts_with("it calls malloc,"));
        assert!(told(&["vprintf", ""]).starts_with("it calls through a pointer"));
        assert!(told(&["plain", "tile", "plain"]).starts_with("it calls tile,"));
    }
}
