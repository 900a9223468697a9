//! What a kernel needs with all that it calls.

use std::collections::HashMap;

use super::features::Features;
use crate::function::{Effects, Function, Value};
use crate::target::is_call;

/// Whom the functions of a module call.
pub(super) struct CallGraph {
    /// Per function, in the module's order: the functions that it calls, each once.
    callees: Vec<Vec<usize>>,
    /// Per function: how many calls go to functions of the module, and how many elsewhere or nobody knows where.
    calls: Vec<(u32, u32)>,
}

impl CallGraph {
    /// The calls among `functions`. O(instructions).
    pub(super) fn new(functions: &[Function]) -> Self {
        // Only asked by name.
        let numbers: HashMap<&str, usize> =
            functions.iter().enumerate().map(|(number, function)| (function.name(), number)).collect();
        let mut graph = Self { callees: Vec::new(), calls: Vec::new() };
        for function in functions {
            let (mut callees, mut calls) = (Vec::new(), (0, 0));
            for inst in function.insts().filter(|&inst| function.effects(inst).contains(Effects::CALL_SEQUENCE)) {
                if !is_call(function.opcodes().name(function.opcode(inst))) {
                    continue;
                }
                let mut symbols = function.operands(inst).iter().filter_map(|operand| match operand.value {
                    Value::Symbol(symbol) => Some(function.symbol(symbol).trim_start_matches(['@', '&'])),
                    _ => None,
                });
                match symbols.next().and_then(|name| numbers.get(name)) {
                    Some(&callee) => {
                        calls.0 += 1;
                        callees.push(callee);
                    }
                    None => calls.1 += 1,
                }
            }
            callees.sort_unstable();
            callees.dedup();
            graph.callees.push(callees);
            graph.calls.push(calls);
        }
        graph
    }

    /// The features of each function with those of its callees, and whether that is all: not where something outside
    /// the module is called, or a function calls itself, however indirectly.
    pub(super) fn join(&self, own: &[Features]) -> Vec<(Features, bool)> {
        let mut joined: Vec<Option<(Features, bool)>> = vec![None; own.len()];
        for root in 0..own.len() {
            // Depth first, callees before callers; a call back into the path is left out.
            let mut path = vec![(root, 0)];
            let mut on_path = vec![false; own.len()];
            on_path[root] = true;
            while let Some((function, told)) = path.last_mut() {
                let function = *function;
                match self.callees[function].get(*told) {
                    Some(&callee) => {
                        *told += 1;
                        if joined[callee].is_none() && !on_path[callee] {
                            on_path[callee] = true;
                            path.push((callee, 0));
                        }
                    }
                    None => {
                        path.pop();
                        on_path[function] = false;
                        joined[function] = Some(self.join_one(function, own, &joined));
                    }
                }
            }
        }
        joined.into_iter().flatten().collect()
    }

    fn join_one(&self, function: usize, own: &[Features], joined: &[Option<(Features, bool)>]) -> (Features, bool) {
        let (inside, outside) = self.calls[function];
        let mut features = own[function].clone();
        features.set("internal_calls", f64::from(inside));
        features.set("external_calls", f64::from(outside));
        let mut is_whole = outside == 0;
        for &callee in &self.callees[function] {
            match &joined[callee] {
                Some((callee, callee_is_whole)) => {
                    features.join(&own[function], callee);
                    is_whole &= callee_is_whole;
                }
                None => is_whole = false,
            }
        }
        (features, is_whole)
    }
}
