//! Joins a kernel's features with those of its callees.

use std::collections::HashMap;

use super::summary::Summary;
use super::unknown_callees::{Call, Callee, UnknownCall, UnknownCallee};
use crate::forecast::model::features::Features;

/// Call graph of a module.
pub(in crate::forecast) struct CallGraph {
    /// Callees of each function, in the module's order, each once.
    callees: Vec<Vec<usize>>,
    /// Number of calls to functions of the module, per function.
    inside: Vec<u32>,
    /// Number of calls to undefined or unknown functions, per function.
    outside: Vec<u32>,
    /// Undefined or unknown callees per function, with one call of each callee.
    unknown_calls: Vec<Vec<UnknownCall>>,
}

/// Most unknown callees that are listed for a kernel.
const MOST_CAUSES: usize = 16;

/// A function with all its callees.
#[derive(Clone, Debug)]
pub(in crate::forecast) struct FunctionWithCallees {
    pub(in crate::forecast) features: Features,
    /// Calls because of which the function may need more registers: calls of functions outside the module, and
    /// recursion.
    pub(in crate::forecast) unknown_calls: Vec<UnknownCall>,
    /// Function with the most live words: this function or a callee.
    pub(in crate::forecast) holder: usize,
    /// Direct or indirect callee with the most live words.
    pub(in crate::forecast) callee: Option<usize>,
    /// Bytes of stack variables of the callees on the deepest chain of calls. The function's own bytes are not
    /// included.
    pub(in crate::forecast) callee_stack: u64,
}

impl CallGraph {
    /// Builds the call graph of `functions`. O(calls).
    pub(in crate::forecast) fn new(functions: &[&Summary]) -> Self {
        // The order of this map does not matter: it is used only to find names.
        let numbers: HashMap<&str, usize> =
            functions.iter().enumerate().map(|(number, function)| (function.name.as_str(), number)).collect();
        let mut graph =
            Self { callees: Vec::new(), inside: Vec::new(), outside: Vec::new(), unknown_calls: Vec::new() };
        for function in functions {
            let number = |call: &Call| numbers.get(call.callee.name()?).copied();
            let mut callees: Vec<usize> = function.calls.iter().filter_map(number).collect();
            let (all, inside) = (function.calls.len(), callees.len());
            callees.sort_unstable();
            callees.dedup();
            graph.callees.push(callees);
            graph.inside.push(inside as u32);
            graph.outside.push((all - inside) as u32);
            let mut unknown_calls = Vec::new();
            for call in function.calls.iter().filter(|call| number(call).is_none()) {
                let callee = match &call.callee {
                    Callee::Named(name) => UnknownCallee::Outside(name.clone()),
                    Callee::Loaded(table) => UnknownCallee::Table(table.clone()),
                    Callee::Unknown => UnknownCallee::Pointer,
                };
                add(&mut unknown_calls, UnknownCall { callee, caller: function.name.as_str().into(), line: call.line });
            }
            graph.unknown_calls.push(unknown_calls);
        }
        graph
    }

    /// Joins each function with its callees.
    pub(in crate::forecast) fn join(&self, own: &[&Summary]) -> Vec<FunctionWithCallees> {
        let mut joined: Vec<Option<FunctionWithCallees>> = vec![None; own.len()];
        let mut on_path = vec![false; own.len()];
        for root in 0..own.len() {
            // Depth first, callees before callers. A call back into the path is left out.
            let mut path = vec![(root, 0)];
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

    fn join_one(
        &self,
        function: usize,
        own: &[&Summary],
        joined: &[Option<FunctionWithCallees>],
    ) -> FunctionWithCallees {
        let mut features = own[function].features.clone();
        features.set("internal_calls", f64::from(self.inside[function]));
        features.set("external_calls", f64::from(self.outside[function]));
        let words = |function: usize| own[function].pressure.peak.words;
        let mut whole = FunctionWithCallees {
            features,
            unknown_calls: self.unknown_calls[function].clone(),
            holder: function,
            callee: None,
            callee_stack: 0,
        };
        for &number in &self.callees[function] {
            let Some(callee) = &joined[number] else {
                let name = own[number].name.as_str();
                let call = own[function].calls.iter().find(|call| call.callee.name() == Some(name));
                let callee = UnknownCallee::Recursion(name.into());
                let caller = own[function].name.as_str().into();
                add(&mut whole.unknown_calls, UnknownCall { callee, caller, line: call.map_or(0, |call| call.line) });
                continue;
            };
            whole.features.join(&own[function].features, &callee.features);
            callee.unknown_calls.iter().for_each(|call| add(&mut whole.unknown_calls, call.clone()));
            if words(callee.holder) > words(whole.holder) {
                whole.holder = callee.holder;
            }
            for called in [Some(number), callee.callee].into_iter().flatten() {
                if whole.callee.is_none_or(|most| words(called) > words(most)) {
                    whole.callee = Some(called);
                }
            }
            whole.callee_stack = whole.callee_stack.max(own[number].stack.bytes.saturating_add(callee.callee_stack));
        }
        whole
    }
}

/// Adds a call, unless the list has a call of the same callee.
fn add(calls: &mut Vec<UnknownCall>, call: UnknownCall) {
    if calls.len() < MOST_CAUSES && calls.iter().all(|other| other.callee != call.callee) {
        calls.push(call);
    }
}

#[cfg(test)]
mod tests {
    use crate::forecast::{Case, forecast_by_name};
    use crate::function::{Function, LaunchBounds};
    use crate::target::machine::Architecture;

    fn caller(name: &str, callee: &str) -> Function {
        let text = format!(
            "mfv 1\nfunction \"{name}\"\nopcode CALL\n@0 = \"@{callee}\"\n\
             bb0: frequency 1.0 depth 0\nCALL @0 :: call_sequence\nend\n"
        );
        Function::parse(&text).expect("a view")
    }

    /// If a callee has more live words than the kernel, the report shows the callee's lines.
    #[test]
    fn who_holds_the_most() {
        let callee = "mfv 1\nfunction \"f\"\nopcode LD_i32\nopcode ADD32rr\nopcode ST_i32\nregs %0 B32 B32 B32\n\
            bb0: frequency 1.0 depth 0\n%0 = LD_i32 0 :: read\n%1 = LD_i32 1 :: read\n\
            %2 = ADD32rr %0, %1\nST_i32 %2, 0 :: write\nend\n";
        let kernel = Function { kernel: Some(LaunchBounds::default()), ..caller("k", "f") };
        let case = Case { architecture: Architecture::by_name("sm_90").expect("a processor"), max_registers: None };
        let callee = Function::parse(callee).expect("a view");
        let forecasts = forecast_by_name(&[kernel, callee], &case).expect("a forecast");
        assert_eq!((forecasts[0].holder.as_str(), forecasts[0].peak.words), ("f", 2));
        let own = Function { kernel: Some(LaunchBounds::default()), ..caller("k", "vprintf") };
        assert_eq!(forecast_by_name(&[own], &case).expect("a forecast")[0].holder, "k");
    }

    /// A kernel also makes the calls of its callees, and a kernel with a call takes at least the registers of a call.
    #[test]
    fn calls_of_callees() {
        let kernel = Function { kernel: Some(LaunchBounds::default()), ..caller("k", "reports") };
        let case = Case { architecture: Architecture::by_name("sm_90").expect("a processor"), max_registers: None };
        let forecasts = forecast_by_name(&[kernel, caller("reports", "vprintf")], &case).expect("a forecast");
        let calls = ["internal_calls", "external_calls"].map(|name| forecasts[0].features.get(name));
        assert_eq!((calls, forecasts[0].is_at_least()), ([1.0, 1.0], true));
        assert!(forecasts[0].registers >= 24, "{}", forecasts[0].registers);
    }
}
