//! What the functions that a kernel calls have of shared memory, and how many words they hold.
//!
//! Slots and the shared memory of a callee lie in one block's memory. Where the whole module is at hand, as for PTX and in
//! reports, the table says how much all callees have together, or which of them is the reason against slots; elsewhere only
//! a callee's name is known.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::forbidden::Forbidden;
use crate::function::{Effects, Function, Inst, SharedArray, Value};
use crate::printable::printable;
use crate::target::Classification;

/// Why a call keeps a kernel from having slots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CalleeMemory {
    /// Dynamic shared memory that a function names.
    Dynamic {
        /// The function.
        function: Box<str>,
    },
    /// A function does what would meet slots.
    Forbidden {
        /// The function.
        function: Box<str>,
        /// What it does.
        what: Forbidden,
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
    /// How bad it is for slots: what is unknown is worse than what is known.
    fn rank(&self) -> u32 {
        match self {
            Self::Dynamic { .. } | Self::Forbidden { .. } => 1,
            Self::Unseen | Self::Outside { .. } => 2,
            Self::Pointer { .. } => 3,
        }
    }
}

/// A call that keeps a kernel from having slots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The function that is called, if the call names it.
    pub callee: Option<Box<str>>,
    /// Why it does so.
    pub memory: CalleeMemory,
}

impl fmt::Display for Call {
    /// `it calls f, which has dynamic shared memory; inline f`
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
            CalleeMemory::Dynamic { function } => write!(f, "{} has dynamic shared memory", of(function))?,
            CalleeMemory::Forbidden { function, what } => write!(f, "{} {what}", of(function))?,
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
    /// The table of all functions that a module defines. O(instructions).
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

    /// The functions that a call reaches, with their entries; without one where the module does not define it.
    /// O(calls that are reached · log functions).
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

    /// The worst reason against slots that a call reaches.
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

/// The bytes of static shared memory of all functions that a function calls, themselves or by what they call; an error is
/// the call that is the worst reason against slots, the first among equals.
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
    // A call sequence without a call that is known as one.
    let has_call = callees(function, classification).next().is_some();
    let is_member = |inst| function.effects(inst).contains(Effects::CALL_SEQUENCE);
    if !has_call && function.insts().any(is_member) {
        worst = Some(Call { callee: None, memory: CalleeMemory::Unseen });
    }
    // Variables that several of them name count for each.
    let alignment = u64::from(SharedArray::ALIGNMENT);
    worst.map_or_else(|| Ok(bytes.values().map(|bytes| bytes.next_multiple_of(alignment)).sum()), Err)
}

/// The calls of functions that the table does not have, of which ptxas knows nothing but the ABI; none without a table, as
/// the functions may be at hand elsewhere.
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

/// The functions that a function calls, in the order of the calls; `None` for a call through a pointer.
fn callees<'a>(function: &'a Function, classification: &Classification) -> impl Iterator<Item = Option<&'a str>> {
    let is_call = |&inst: &Inst| classification.is_call(function, inst);
    function.insts().filter(is_call).map(|inst| callee(function, inst))
}

/// The function that a call names.
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

    /// The bytes of the callees of a kernel that calls these functions, of the module with these, or what it is told.
    fn told(kernel: &[&str], module: Option<&[Function]>) -> Result<u64, String> {
        let kernel = function("k", "", kernel);
        let by_name = |function: &Function| Classification::by_name(function.opcodes());
        let table = module.map(|module| {
            let classifications: Vec<Classification> = module.iter().map(by_name).collect();
            CalleeTable::new(module.iter().zip(&classifications))
        });
        shared_of_callees((&kernel, &by_name(&kernel)), table.as_ref()).map_err(|call| call.to_string())
    }

    /// The remark names the callee, the function behind it that is the reason, and what that has. Known static memory is no
    /// reason, and counts once for each function.
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
            Err("it calls tile, which may have shared memory of its own; inline tile".into())
        );
    }

    /// What belongs to a call sequence is refused, too, where no call is seen.
    #[test]
    fn sequences_without_a_call() {
        let text = function("k", "", &["f"]).to_string().replace("opcode CALL\n", "opcode Callseq_Start\n");
        let kernel = Function::parse(&text.replace(" CALL ", " Callseq_Start ")).expect("a view");
        let call = shared_of_callees((&kernel, &Classification::by_name(kernel.opcodes())), None).expect_err("a call");
        assert_eq!(call.to_string(), "it calls functions; inline them");
    }

    /// A callee that would meet slots is a reason.
    #[test]
    fn callees_that_meet_slots() {
        let text = "mfv 1\nfunction \"sizes\"\nopcode MOV_smem_size\nregs %0 B32\nbb0: frequency 1.0 depth 0\n\
            %0 = MOV_smem_size 0\nend\n";
        let sizes = Function::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let told = told(&["sizes"], Some(&[sizes])).expect_err("a reason");
        assert_eq!(told, "it calls sizes, which reads the size of its shared memory; inline sizes");
    }

    /// Of several calls the worst one is told, the first of equals.
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
