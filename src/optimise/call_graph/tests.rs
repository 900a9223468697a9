use super::*;

fn graph(callees: &[&[u32]]) -> CallGraph {
    let mut graph = CallGraph::default();
    for callees in callees {
        let call = |&callee: &u32| CallFacts { callee: Func(callee), is_named: true, is_no_inline: false };
        graph.add(FunctionFacts::default(), callees.iter().map(call));
    }
    graph
}

fn recursive(callees: &[&[u32]]) -> Vec<u32> {
    let recursive = graph(callees).recursive();
    recursive.iter_enumerated().filter(|(_, is)| **is).map(|(function, _)| function.0).collect()
}

/// A function that calls itself, two functions that call each other, and functions that are only before or after a
/// cycle.
#[test]
fn cycles() {
    assert_eq!(recursive(&[&[1], &[1]]), [1]);
    assert_eq!(recursive(&[&[1], &[2, 3], &[1], &[]]), [1, 2]);
    assert_eq!(recursive(&[&[1], &[2], &[3], &[0, 4], &[]]), [0, 1, 2, 3]);
    // The middle function is between two cycles.
    assert_eq!(recursive(&[&[0, 1], &[2], &[2]]), [0, 2]);
}

/// A function is recursive if and only if it reaches itself.
#[test]
fn recursive_is_what_reaches_itself() {
    arbtest::arbtest(|u| {
        let len = u.int_in_range(1..=8)?;
        let mut callees = Vec::new();
        for _ in 0..len {
            let count = u.int_in_range(0..=3)?;
            callees.push((0..count).map(|_| u.int_in_range(0..=len - 1)).collect::<arbitrary::Result<Vec<u32>>>()?);
        }
        let graph = graph(&callees.iter().map(Vec::as_slice).collect::<Vec<_>>());
        let recursive = graph.recursive();
        for (function, _) in graph.functions() {
            let callees: Vec<Func> = graph.callees(function).collect();
            assert_eq!(recursive[function], graph.reached_from(&callees).contains(function), "{function}");
        }
        Ok(())
    });
}

/// A copy calls the same functions as the original, until its calls are redirected.
#[test]
fn copies() {
    let mut graph = graph(&[&[1, 1], &[]]);
    let copy = graph.copy(Func(0));
    assert_eq!((copy, graph.original(copy)), (Func(2), Func(0)));
    let calls: Vec<Call> = graph.calls(copy).map(|(call, _)| call).collect();
    assert_eq!(calls, [Call(2), Call(3)]);
    graph.redirect(calls[1], copy);
    assert!(graph.callees(copy).eq([Func(1), copy]) && graph.callees(Func(0)).eq([Func(1), Func(1)]));
    assert!(graph.function(copy).is_discardable);
}
