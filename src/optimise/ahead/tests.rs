use std::collections::BTreeSet;

use arbitrary::Unstructured;

use super::*;
use crate::optimise::call_graph::FunctionFacts;
use crate::optimise::stack::{Argument, Node, Value};

const KERNEL: FunctionFacts =
    FunctionFacts { choice: LLVMS, is_kernel: true, is_discardable: false, is_fixed: false, escapes: false };
const INNER: FunctionFacts = FunctionFacts { is_kernel: false, is_discardable: true, ..KERNEL };
const LLVMS: Choice = Choice { inline: Inline::Llvm, unroll: Unroll::Llvm };
const ALL: Choice = Choice { inline: Inline::All, ..LLVMS };
const CUT: Choice = Choice { unroll: Unroll::Cut, ..LLVMS };

fn call(callee: u32) -> CallFacts {
    CallFacts { callee: Func(callee), is_named: true, is_no_inline: false }
}

/// Returns the call graph of functions, each given with its callees.
fn graph(functions: &[(FunctionFacts, &[u32])]) -> CallGraph {
    let mut graph = CallGraph::default();
    for (facts, callees) in functions {
        graph.add(*facts, callees.iter().copied().map(call));
    }
    graph
}

/// Returns the changes for a graph whose choices do not depend on values.
fn chosen(graph: &CallGraph) -> Vec<Mark> {
    choose(graph.clone(), |function| unreachable!("nobody asks for the values of {function}"))
}

/// Without choices, nothing changes.
#[test]
fn without_a_choice() {
    assert_eq!(chosen(&graph(&[(KERNEL, &[1]), (INNER, &[])])), []);
    assert_eq!(chosen(&CallGraph::default()), []);
}

/// All calls are inlined, except calls of functions with a fixed attribute, and the functions lose their type metadata.
#[test]
fn inlines_what_may_be() {
    let kernel = FunctionFacts { choice: ALL, ..KERNEL };
    let fixed = FunctionFacts { is_fixed: true, ..INNER };
    let whole = graph(&[(kernel, &[1, 2, 3]), (INNER, &[]), (fixed, &[]), (INNER, &[3])]);
    let forget = |function| Mark::ForgetTypes(Func(function));
    assert_eq!(chosen(&whole), [forget(0), forget(1), forget(2), forget(3), Mark::Inline(Call(0))]);
    // If no call is inlined, the type metadata stays.
    assert_eq!(chosen(&graph(&[(kernel, &[1]), (fixed, &[])])), []);
}

/// Functions with other callers are copied, and so are the functions that lead to a copy. Functions without other
/// callers are changed in place.
#[test]
fn copies_what_others_call() {
    let (kernel, other) = (FunctionFacts { choice: CUT, ..KERNEL }, KERNEL);
    let marks = chosen(&graph(&[(kernel, &[2, 3]), (other, &[3]), (INNER, &[3]), (INNER, &[])]));
    let copy = Func(4);
    let redirect = |call| Mark::Redirect { call: Call(call), callee: copy };
    let unroll = |function| Mark::Unroll(function, 2);
    assert_eq!(
        marks,
        [
            Mark::Copy { function: Func(3), number: CUT.number() },
            redirect(1),
            redirect(3),
            unroll(Func(0)),
            unroll(Func(2)),
            unroll(copy)
        ]
    );
}

/// A function that other modules or pointers may call is copied.
#[test]
fn copies_what_is_known_outside() {
    let kernel = FunctionFacts { choice: CUT, ..KERNEL };
    for facts in [FunctionFacts { is_discardable: false, ..INNER }, FunctionFacts { escapes: true, ..INNER }] {
        let marks = chosen(&graph(&[(kernel, &[1]), (facts, &[])]));
        assert_eq!(marks[0], Mark::Copy { function: Func(1), number: CUT.number() });
        assert_eq!(marks[3..], [Mark::Unroll(Func(2), 2)]);
    }
}

/// The copy of a recursive function is recursive, too, and is not inlined.
#[test]
fn copies_that_call_themselves_are_not_inlined() {
    let kernel = FunctionFacts { choice: ALL, ..KERNEL };
    let again = FunctionFacts { escapes: true, ..INNER };
    let marks = chosen(&graph(&[(kernel, &[1, 2]), (again, &[1]), (INNER, &[])]));
    assert!(marks.contains(&Mark::Copy { function: Func(1), number: ALL.number() }));
    let inlined: Vec<&Mark> = marks.iter().filter(|mark| matches!(mark, Mark::Inline(_))).collect();
    assert_eq!(inlined, [&Mark::Inline(Call(1))]);
}

/// A limit is set on calls. Nothing else changes.
#[test]
fn limits() {
    let kernel = FunctionFacts { choice: Choice { inline: Inline::Less, ..LLVMS }, ..KERNEL };
    assert_eq!(chosen(&graph(&[(kernel, &[1]), (INNER, &[])])), [Mark::Limit(Call(0), 225)]);
}

/// Only the call that passes a stack address is inlined, and the values of each function are requested once.
#[test]
fn inlines_by_the_stack() {
    let kernel = FunctionFacts { choice: Choice { inline: Inline::Stack, ..LLVMS }, ..KERNEL };
    let whole = graph(&[(kernel, &[1, 1]), (FunctionFacts { escapes: true, ..INNER }, &[])]);
    let mut asked = Vec::new();
    let marks = choose(whole, |function| {
        asked.push(function);
        let argument = |value| vec![Argument { value: Value(value), is_by_value: false }];
        match function.0 {
            0 => Body {
                values: vec![Node::Variable, Node::Pointer([Value(0)].into()), Node::Other].into(),
                arguments: vec![argument(2), argument(1)],
                ..Body::default()
            },
            _ => Body { values: vec![Node::Parameter].into(), parameters: 1, ..Body::default() },
        }
    });
    assert_eq!(asked, [Func(0), Func(1)]);
    let inlined: Vec<&Mark> = marks.iter().filter(|mark| matches!(mark, Mark::Inline(_))).collect();
    assert_eq!(inlined, [&Mark::Inline(Call(1))]);
}

/// A module after its changes, and the functions that were changed.
struct Marked {
    graph: CallGraph,
    changed: BTreeSet<Func>,
}

/// Applies changes as the shim does.
fn set(mut graph: CallGraph, marks: &[Mark]) -> Marked {
    let function_of = |graph: &CallGraph, call: Call| {
        let has = |function: Func| graph.calls(function).any(|(other, _)| other == call);
        graph.functions().map(|(function, _)| function).find(|&function| has(function)).expect("a call has a function")
    };
    let mut functions = Vec::new();
    for &mark in marks {
        match mark {
            Mark::Copy { function, .. } => _ = graph.copy(function),
            Mark::Redirect { call, callee } => {
                functions.push(function_of(&graph, call));
                graph.redirect(call, callee);
            }
            Mark::ForgetTypes(function) | Mark::Unroll(function, _) => functions.push(function),
            Mark::Inline(call) | Mark::Limit(call, _) => functions.push(function_of(&graph, call)),
        }
    }
    Marked { graph, changed: functions.into_iter().collect() }
}

/// Draws a module in which only kernels have choices, and no kernel is called.
fn module(u: &mut Unstructured<'_>) -> arbitrary::Result<CallGraph> {
    let mut graph = CallGraph::default();
    let (kernels, len): (u32, u32) = (u.int_in_range(1..=3)?, u.int_in_range(4..=8)?);
    for index in 0..len {
        let is_kernel = index < kernels;
        let choice =
            if is_kernel { *u.choose(&[LLVMS, ALL, CUT, Choice { inline: Inline::Less, ..LLVMS }])? } else { LLVMS };
        let is_discardable = !is_kernel && u.ratio(3, 4)?;
        let facts =
            FunctionFacts { choice, is_kernel, is_discardable, is_fixed: u.ratio(1, 5)?, escapes: u.ratio(1, 8)? };
        let mut calls = Vec::new();
        for _ in 0..u.int_in_range(0..=3)? {
            let callee = Func(u.int_in_range(kernels..=len - 1)?);
            calls.push(CallFacts { callee, is_named: u.ratio(7, 8)?, is_no_inline: u.ratio(1, 8)? });
        }
        graph.add(facts, calls);
    }
    Ok(graph)
}

/// A function that one choice changes is not reachable by another choice, or from outside.
#[test]
fn no_function_of_another_choice_is_changed() {
    arbtest::arbtest(|u| {
        let before = module(u)?;
        let roots = roots(&before);
        let Marked { graph, changed } = set(before.clone(), &chosen(&before));
        let root_of = |function: Func| roots.iter().find(|(_, of)| of.contains(&function)).map(|(&choice, _)| choice);
        // For each choice: the functions that its roots reach.
        let mut reached = BTreeMap::<Choice, BTreeSet<Func>>::new();
        for (&choice, roots) in &roots {
            let mut work = roots.clone();
            let of_choice = reached.entry(choice).or_default();
            while let Some(function) = work.pop() {
                if root_of(function).is_none_or(|other| other == choice) && of_choice.insert(function) {
                    work.extend(graph.callees(function));
                }
            }
        }
        for &function in &changed {
            if root_of(function).is_some() {
                continue;
            }
            let facts = graph.function(function);
            assert!(facts.is_discardable && !facts.escapes, "{function} is known outside");
            let choices: Vec<&Choice> =
                reached.iter().filter(|(_, of)| of.contains(&function)).map(|(choice, _)| choice).collect();
            assert!(choices.len() <= 1, "{function} is of {choices:?}");
            assert!(choices.iter().all(|choice| !choice.is_llvms()), "{function} is LLVM's");
        }
        Ok(())
    });
}

/// Copies and redirected calls keep the meaning of the program: each call calls its former callee, or a copy of the
/// former callee.
#[test]
fn calls_keep_their_callees() {
    arbtest::arbtest(|u| {
        let before = module(u)?;
        let Marked { graph, .. } = set(before.clone(), &chosen(&before));
        for (function, _) in graph.functions() {
            let original = graph.original(function);
            let callees = graph.calls(function).map(|(_, call)| graph.original(call.callee));
            assert!(callees.eq(before.calls(original).map(|(_, call)| call.callee)), "{function}");
        }
        Ok(())
    });
}

/// Only calls that may be inlined are marked.
#[test]
fn marked_calls_may_be_inlined() {
    arbtest::arbtest(|u| {
        let before = module(u)?;
        let marks = chosen(&before);
        let Marked { graph, .. } = set(before, &marks);
        let calls: BTreeMap<Call, CallFacts> = graph
            .functions()
            .flat_map(|(function, _)| graph.calls(function).map(|(call, facts)| (call, *facts)).collect::<Vec<_>>())
            .collect();
        for mark in marks {
            if let Mark::Inline(call) | Mark::Limit(call, _) = mark {
                let (call, callee) = (calls[&call], graph.function(calls[&call].callee));
                assert!(call.is_named && !call.is_no_inline && !callee.is_fixed && !callee.is_kernel);
            }
        }
        Ok(())
    });
}
