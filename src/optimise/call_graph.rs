//! The functions of a module and their calls, as far as choices ahead of LLVM's optimisations depend on them.

#[cfg(test)]
mod tests;

use std::ops::Range;

use super::choice::Choice;
use crate::define_index;
use crate::index::{EntityIndex, IndexVec};

define_index! {
    /// A function with a body: those of the module in its order, and copies behind them.
    Func, "f"
}

define_index! {
    /// A call of a function with a body: those of a function are neighbours, in the order of its instructions.
    Call, "call"
}

/// What is known of a function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FunctionFacts {
    /// What its attribute and the options choose.
    pub choice: Choice,
    /// It is launched, not called.
    pub is_kernel: bool,
    /// LLVM may remove it where nothing uses it: nobody outside has it.
    pub is_discardable: bool,
    /// An attribute says whether it is inlined: noinline, alwaysinline or optnone.
    pub is_fixed: bool,
    /// It is used otherwise than by being called.
    pub escapes: bool,
}

/// What is known of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallFacts {
    /// The function that it calls.
    pub callee: Func,
    /// It calls it as what it is. Else it calls it by another type.
    pub is_named: bool,
    /// An attribute forbids to inline it.
    pub is_no_inline: bool,
}

/// Functions and calls, and the copies that are made on the way.
#[derive(Clone, Debug, Default)]
pub struct CallGraph {
    functions: IndexVec<Func, FunctionFacts>,
    calls: IndexVec<Call, CallFacts>,
    /// Per function: its calls.
    ranges: IndexVec<Func, Range<Call>>,
    /// Per function: the one that it is a copy of, or itself.
    originals: IndexVec<Func, Func>,
}

impl CallGraph {
    /// Adds a function with its calls, whose callees may be added later.
    pub fn add(&mut self, function: FunctionFacts, calls: impl IntoIterator<Item = CallFacts>) -> Func {
        let start = self.calls.next_id();
        self.calls.extend(calls);
        self.ranges.push(start..self.calls.next_id());
        let own = self.functions.push(function);
        self.originals.push(own)
    }

    /// Adds a copy of a function, which nobody outside has.
    pub(super) fn copy(&mut self, function: Func) -> Func {
        let calls = self.calls.range(self.ranges[function].clone()).to_vec();
        let facts = FunctionFacts { is_discardable: true, escapes: false, ..self.functions[function] };
        let copy = self.add(facts, calls);
        self.originals[copy] = self.originals[function];
        copy
    }

    /// Has a call go to another function.
    pub(super) fn redirect(&mut self, call: Call, callee: Func) {
        self.calls[call].callee = callee;
    }

    /// All functions.
    pub fn functions(&self) -> impl Iterator<Item = (Func, &FunctionFacts)> {
        self.functions.iter_enumerated()
    }

    /// How many functions there are.
    pub fn len(&self) -> usize {
        self.functions.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.functions.is_empty()
    }

    /// What is known of a function.
    pub fn function(&self, function: Func) -> &FunctionFacts {
        &self.functions[function]
    }

    /// The function that a function is a copy of, or itself.
    pub fn original(&self, function: Func) -> Func {
        self.originals[function]
    }

    /// The calls of a function.
    pub fn calls(&self, function: Func) -> impl Iterator<Item = (Call, &CallFacts)> {
        let range = self.ranges[function].clone();
        (range.start.0..).map(Call).zip(self.calls.range(range))
    }

    /// The place of a call among those of its function.
    pub(super) fn place(&self, function: Func, call: Call) -> Option<usize> {
        call.index().checked_sub(self.ranges[function].start.index())
    }

    /// The functions that a function calls as what they are.
    pub fn callees(&self, function: Func) -> impl Iterator<Item = Func> {
        self.calls(function).filter(|(_, call)| call.is_named).map(|(_, call)| call.callee)
    }

    /// Per function: those that call it, however they do.
    pub(super) fn callers(&self) -> IndexVec<Func, Vec<Func>> {
        let mut callers = IndexVec::filled(Vec::new(), self.functions.len());
        for function in self.functions.ids() {
            self.calls(function).for_each(|(_, call)| callers[call.callee].push(function));
        }
        callers
    }

    /// What is reached by calls, the roots included.
    pub(super) fn reached_from(&self, roots: &[Func]) -> Members {
        let mut reached = Members::default();
        roots.iter().for_each(|&root| reached.insert(root));
        // The list grows behind what is looked at.
        let mut index = 0;
        while let Some(&function) = reached.list.get(index) {
            index += 1;
            self.callees(function).for_each(|callee| reached.insert(callee));
        }
        reached
    }

    /// Per function: whether it may call itself, however indirectly. O(calls).
    pub(super) fn recursive(&self) -> IndexVec<Func, bool> {
        Components::of(self).recursive
    }
}

/// A set of functions, in the order in which they were inserted.
#[derive(Clone, Debug, Default)]
pub(super) struct Members {
    list: Vec<Func>,
    contained: IndexVec<Func, bool>,
}

impl Members {
    pub(super) fn insert(&mut self, function: Func) {
        if !self.contains(function) {
            let len = self.contained.len().max(function.index() + 1);
            self.contained.resize(len, false);
            self.contained[function] = true;
            self.list.push(function);
        }
    }

    pub(super) fn contains(&self, function: Func) -> bool {
        self.contained.get(function).copied().unwrap_or(false)
    }

    pub(super) fn list(&self) -> &[Func] {
        &self.list
    }
}

impl FromIterator<Func> for Members {
    fn from_iter<Iter: IntoIterator<Item = Func>>(functions: Iter) -> Self {
        let mut members = Self::default();
        functions.into_iter().for_each(|function| members.insert(function));
        members
    }
}

/// The components of the graph in which each function reaches each other one, by Tarjan's algorithm.
struct Components<'a> {
    graph: &'a CallGraph,
    /// Per function: when it was first seen, from 1; 0 as long as it was not.
    seen: IndexVec<Func, u32>,
    /// Per function: the earliest function on the stack that it is known to reach.
    earliest: IndexVec<Func, u32>,
    on_stack: IndexVec<Func, bool>,
    stack: Vec<Func>,
    recursive: IndexVec<Func, bool>,
}

impl<'a> Components<'a> {
    fn of(graph: &'a CallGraph) -> Self {
        let len = graph.len();
        let mut components = Self {
            graph,
            seen: IndexVec::filled(0, len),
            earliest: IndexVec::filled(0, len),
            on_stack: IndexVec::filled(false, len),
            stack: Vec::new(),
            recursive: IndexVec::filled(false, len),
        };
        let mut time = 0;
        for root in graph.functions.ids() {
            if components.seen[root] == 0 {
                components.walk(root, &mut time);
            }
        }
        components
    }

    /// Depth first, without recursion of its own: chains of calls may be long.
    fn walk(&mut self, root: Func, time: &mut u32) {
        let graph = self.graph;
        let mut enter = |of: &mut Self, function: Func| {
            *time += 1;
            of.seen[function] = *time;
            of.earliest[function] = *time;
            of.on_stack[function] = true;
            of.stack.push(function);
        };
        enter(self, root);
        let mut path = vec![(root, graph.callees(root).collect::<Vec<_>>().into_iter())];
        while let Some((function, callees)) = path.last_mut() {
            let function = *function;
            match callees.next() {
                Some(callee) if self.seen[callee] == 0 => {
                    enter(self, callee);
                    path.push((callee, graph.callees(callee).collect::<Vec<_>>().into_iter()));
                }
                Some(callee) => {
                    if self.on_stack[callee] {
                        self.earliest[function] = self.earliest[function].min(self.seen[callee]);
                    }
                }
                None => {
                    path.pop();
                    if let Some(&(caller, _)) = path.last() {
                        self.earliest[caller] = self.earliest[caller].min(self.earliest[function]);
                    }
                    if self.earliest[function] == self.seen[function] {
                        self.leave(function);
                    }
                }
            }
        }
    }

    /// Takes a component off the stack, by the function of it that was seen first.
    fn leave(&mut self, first: Func) {
        let start = self.stack.iter().rposition(|&function| function == first).unwrap_or(0);
        let component = self.stack.split_off(start);
        let is_cycle = component.len() > 1 || self.graph.callees(first).any(|callee| callee == first);
        for function in component {
            self.on_stack[function] = false;
            self.recursive[function] = is_cycle;
        }
    }
}
