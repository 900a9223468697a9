//! Choices before LLVM's optimisations.
//!
//! Inlining and unrolling decide whether arrays on the stack become registers. A kernel's choice of both takes effect
//! before LLVM's optimisations. It becomes attributes of calls, which LLVM's inliner reads, and an attribute of
//! functions, which the later decisions about loops read ([`unroll`](super::unroll)). A choice applies to all functions
//! that a kernel calls. A function that kernels with other choices also call is copied. If more calls are inlined, the
//! functions lose the type metadata of their accesses ([`Mark::ForgetTypes`]).

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::rc::Rc;

use super::call_graph::{Call, CallFacts, CallGraph, Func, Members};
use super::choice::{Choice, number_of};
use super::stack::{Body, StackAddresses};
use crate::config::{Inline, Unroll};
use crate::index::IndexVec;

/// Default limit of most LLVM targets on the size of a function that is inlined. NVPTX's limit is eleven times as high.
const LESS_THRESHOLD: u32 = 225;

/// A change to a module. Changes apply in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// Copies a function for the choice `number`. The copy gets the next function number, and its calls get the next
    /// call numbers.
    Copy {
        /// The function.
        function: Func,
        /// Number of the choice.
        number: u32,
    },
    /// Redirects a call to another function.
    Redirect {
        /// The call.
        call: Call,
        /// The function.
        callee: Func,
    },
    /// Removes the metadata of C++'s type rule (strict aliasing) from a function's accesses. With this metadata, LLVM
    /// moves a load of one type before a store of another type. If a source breaks the rule, it is still compiled
    /// correctly as long as a call separates the two accesses. Marlin's kernels rely on that.
    ForgetTypes(Func),
    /// Always inlines a call.
    Inline(Call),
    /// Inlines a call if the called function has at most this size.
    Limit(Call, u32),
    /// Unrolls the loops of a function by the choice of unrolling with this number.
    Unroll(Func, u32),
}

/// Returns the changes for the choices of a module's kernels. `body_of` returns the values of a function that is not a
/// copy. `body_of` is called at most once for each function, and only if a choice depends on the values.
pub fn choose(graph: CallGraph, body_of: impl FnMut(Func) -> Body) -> Vec<Mark> {
    let roots = roots(&graph);
    if roots.keys().all(|choice| choice.is_llvms()) {
        return Vec::new();
    }
    let recursive = graph.recursive();
    let reached = roots.iter().map(|(&choice, roots)| (choice, graph.reached_from(roots))).collect();
    let mut chooser = Chooser { graph, recursive, reached, body_of, bodies: BTreeMap::new(), marks: Vec::new() };
    for (&choice, roots) in roots.iter().filter(|(choice, _)| !choice.is_llvms()) {
        chooser.make(choice, roots);
    }
    chooser.marks
}

/// Returns the choices in the order of their numbers, each with its roots: the kernels with this choice, and the
/// functions with this choice that no kernel reaches.
fn roots(graph: &CallGraph) -> BTreeMap<Choice, Vec<Func>> {
    let kernels: Vec<Func> =
        graph.functions().filter(|(_, facts)| facts.is_kernel).map(|(function, _)| function).collect();
    let of_kernels = graph.reached_from(&kernels);
    let mut roots = BTreeMap::<Choice, Vec<Func>>::new();
    for (function, facts) in graph.functions() {
        if facts.is_kernel || !of_kernels.contains(function) {
            roots.entry(facts.choice).or_default().push(function);
        }
    }
    roots
}

/// Applies the choices of a module's kernels.
struct Chooser<B> {
    graph: CallGraph,
    /// Whether a function may call itself.
    recursive: IndexVec<Func, bool>,
    /// By choice: the functions that its roots reach. Once a choice is applied, copies replace their originals.
    reached: BTreeMap<Choice, Members>,
    body_of: B,
    bodies: BTreeMap<Func, Rc<Body>>,
    marks: Vec<Mark>,
}

impl<B: FnMut(Func) -> Body> Chooser<B> {
    fn make(&mut self, choice: Choice, roots: &[Func]) {
        let unrolls = choice.unroll != Unroll::Llvm;
        let calls = self.calls_to_mark(choice);
        let forgets_types = matches!(choice.inline, Inline::Stack | Inline::All) && !calls.is_empty();
        let marked: Members = if forgets_types || unrolls {
            self.reached[&choice].list().iter().copied().collect()
        } else {
            calls.into_iter().map(|(function, _)| function).collect()
        };
        self.make_own(choice, roots, &marked);
        let members = self.reached[&choice].list().to_vec();
        if forgets_types {
            self.marks.extend(members.iter().copied().map(Mark::ForgetTypes));
        }
        for (_, call) in self.calls_to_mark(choice) {
            let is_less = choice.inline == Inline::Less;
            self.marks.push(if is_less { Mark::Limit(call, LESS_THRESHOLD) } else { Mark::Inline(call) });
        }
        if unrolls {
            self.marks.extend(members.into_iter().map(|function| Mark::Unroll(function, number_of(choice.unroll))));
        }
    }

    /// Returns the calls whose inlining a choice changes, each with the function that contains the call.
    fn calls_to_mark(&mut self, choice: Choice) -> Vec<(Func, Call)> {
        let Self { graph, recursive, reached, body_of, bodies, .. } = self;
        let members = reached[&choice].list();
        if choice.inline == Inline::Llvm {
            return Vec::new();
        }
        let addresses = (choice.inline == Inline::Stack).then(|| {
            StackAddresses::new(graph, members, |function| {
                let original = graph.original(function);
                Rc::clone(bodies.entry(original).or_insert_with(|| Rc::new(body_of(original))))
            })
        });
        let mut calls = Vec::new();
        for &function in members {
            for (call, facts) in graph.calls(function) {
                let passes =
                    || addresses.as_ref().is_none_or(|addresses| addresses.are_passed_by(graph, function, call));
                if may_inline(graph, recursive, facts) && passes() {
                    calls.push((function, call));
                }
            }
        }
        calls
    }

    /// Copies the marked functions that other choices also reach, and the functions that lead to a copied function.
    fn make_own(&mut self, choice: Choice, roots: &[Func], marked: &Members) {
        let members = self.reached[&choice].list().to_vec();
        let own = self.own(choice, roots);
        let mut copied = Members::default();
        loop {
            let before = copied.list().len();
            for &function in &members {
                let leads = |copied: &Members| self.graph.callees(function).any(|callee| copied.contains(callee));
                if !own.contains(function) && (marked.contains(function) || leads(&copied)) {
                    copied.insert(function);
                }
            }
            if copied.list().len() == before {
                break;
            }
        }
        if copied.list().is_empty() {
            return;
        }
        let number = choice.number();
        let mut copies = BTreeMap::new();
        for &function in copied.list() {
            self.marks.push(Mark::Copy { function, number });
            copies.insert(function, self.graph.copy(function));
            self.recursive.push(self.recursive[function]);
        }
        let of_choice = |function: &Func| copies.get(function).copied().unwrap_or(*function);
        for caller in own.list().iter().copied().chain(copied.list().iter().map(of_choice)) {
            let calls: Vec<(Call, CallFacts)> = self.graph.calls(caller).map(|(call, facts)| (call, *facts)).collect();
            for (call, facts) in calls.into_iter().filter(|(_, facts)| facts.is_named) {
                if let Some(&callee) = copies.get(&facts.callee) {
                    self.graph.redirect(call, callee);
                    self.marks.push(Mark::Redirect { call, callee });
                }
            }
        }
        self.reached.insert(choice, members.iter().map(of_choice).collect());
    }

    /// Returns the roots of a choice, and the functions that only these roots reach.
    fn own(&self, choice: Choice, roots: &[Func]) -> Members {
        let callers = self.graph.callers();
        let members = &self.reached[&choice];
        let is_own = |&function: &Func| {
            let facts = self.graph.function(function);
            let is_of_others = self.reached.iter().any(|(&other, of)| other != choice && of.contains(function));
            let is_called_here = callers[function].iter().all(|&caller| members.contains(caller));
            facts.is_discardable && !facts.escapes && !is_of_others && is_called_here
        };
        roots.iter().copied().chain(members.list().iter().copied().filter(is_own)).collect()
    }
}

fn may_inline(graph: &CallGraph, recursive: &IndexVec<Func, bool>, call: &CallFacts) -> bool {
    let callee = graph.function(call.callee);
    let is_free = !callee.is_fixed && !call.is_no_inline && !callee.is_kernel;
    call.is_named && is_free && !recursive[call.callee]
}
