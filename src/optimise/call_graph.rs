//! The functions of a module and their calls, with the facts that choices before LLVM's optimisations need.

#[cfg(test)]
mod tests;

use std::ops::Range;

use super::choice::Choice;
use crate::define_index;
use crate::index::{EntityIndex, IndexVec};

define_index! {
    /// A function with a body: first the functions of the module in their order, then the copies.
    Func, "f"
}

define_index! {
    /// A call of a function with a body. The calls in one function have successive numbers, in the order of the
    /// instructions.
    Call, "call"
}

/// Facts about a function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FunctionFacts {
    /// The choice by its attribute and the options.
    pub choice: Choice,
    /// Whether it is a kernel, which is launched, not called.
    pub is_kernel: bool,
    /// Whether LLVM may remove it if it has no uses, because it is not visible outside of the module.
    pub is_discardable: bool,
    /// Whether an attribute decides its inlining: noinline, alwaysinline or optnone.
    pub is_fixed: bool,
    /// Whether it has uses other than calls.
    pub escapes: bool,
}

/// Facts about a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallFacts {
    /// The called function.
    pub callee: Func,
    /// Whether the call's type equals the callee's type.
    pub is_named: bool,
    /// Whether an attribute forbids inlining it.
    pub is_no_inline: bool,
}

/// Functions and calls, and the copies that choices make.
#[derive(Clone, Debug, Default)]
pub struct CallGraph {
    functions: IndexVec<Func, FunctionFacts>,
    calls: IndexVec<Call, CallFacts>,
    /// By function: its calls.
    ranges: IndexVec<Func, Range<Call>>,
    /// By function: the original of a copy, or the function itself.
    originals: IndexVec<Func, Func>,
}

impl CallGraph {
    /// Adds a function with its calls. The callees may be added later.
    pub fn add(&mut self, function: FunctionFacts, calls: impl IntoIterator<Item = CallFacts>) -> Func {
        let start = self.calls.next_id();
        self.calls.extend(calls);
        self.ranges.push(start..self.calls.next_id());
        let own = self.functions.push(function);
        self.originals.push(own)
    }

    /// Adds a copy of a function. The copy is not visible outside of the module.
    pub(super) fn copy(&mut self, function: Func) -> Func {
        let calls = self.calls.range(self.ranges[function].clone()).to_vec();
        let facts = FunctionFacts { is_discardable: true, escapes: false, ..self.functions[function] };
        let copy = self.add(facts, calls);
        self.originals[copy] = self.originals[function];
        copy
    }

    /// Redirects a call to another function.
    pub(super) fn redirect(&mut self, call: Call, callee: Func) {
        self.calls[call].callee = callee;
    }

    /// Returns all functions.
    pub fn functions(&self) -> impl Iterator<Item = (Func, &FunctionFacts)> {
        self.functions.iter_enumerated()
    }

    /// Returns the number of functions.
    pub fn len(&self) -> usize {
        self.functions.len()
    }

    /// Whether there are no functions.
    pub fn is_empty(&self) -> bool {
        self.functions.is_empty()
    }

    /// Returns the facts about a function.
    pub fn function(&self, function: Func) -> &FunctionFacts {
        &self.functions[function]
    }

    /// Returns the original of a copy, or the function itself.
    pub fn original(&self, function: Func) -> Func {
        self.originals[function]
    }

    /// Returns the calls of a function.
    pub fn calls(&self, function: Func) -> impl Iterator<Item = (Call, &CallFacts)> {
        let range = self.ranges[function].clone();
        (range.start.0..).map(Call).zip(self.calls.range(range))
    }

    /// Returns the position of a call among the calls of its function.
    pub(super) fn place(&self, function: Func, call: Call) -> Option<usize> {
        call.index().checked_sub(self.ranges[function].start.index())
    }

    /// Returns the functions that a function calls with the callee's own type.
    pub fn callees(&self, function: Func) -> impl Iterator<Item = Func> {
        self.calls(function).filter(|(_, call)| call.is_named).map(|(_, call)| call.callee)
    }

    /// Returns the callers of each function, whatever the type of the call.
    pub(super) fn callers(&self) -> IndexVec<Func, Vec<Func>> {
        let mut callers = IndexVec::filled(Vec::new(), self.functions.len());
        for function in self.functions.ids() {
            self.calls(function).for_each(|(_, call)| callers[call.callee].push(function));
        }
        callers
    }

    /// Returns the functions that are reachable by calls, including the roots.
    pub(super) fn reached_from(&self, roots: &[Func]) -> Members {
        let mut reached = Members::default();
        roots.iter().for_each(|&root| reached.insert(root));
        // Reached functions are appended while the list is traversed.
        let mut index = 0;
        while let Some(&function) = reached.list.get(index) {
            index += 1;
            self.callees(function).for_each(|callee| reached.insert(callee));
        }
        reached
    }

    /// Returns, for each function, whether it may call itself, directly or indirectly. O(calls).
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

/// The strongly connected components of the graph, by Tarjan's algorithm.
struct Components<'a> {
    graph: &'a CallGraph,
    /// By function: the time of its first visit, from 1; 0 if it was not visited.
    seen: IndexVec<Func, u32>,
    /// By function: the earliest time of a function on the stack that it is known to reach.
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

    /// Visits functions depth first. The stack is explicit, because chains of calls may be long.
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

    /// Takes a component off the stack. `first` is the component's function that was visited first.
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
