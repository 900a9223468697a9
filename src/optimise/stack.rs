//! Calls that pass addresses of stack variables.
//!
//! A stack variable stays in memory as long as a call has its address: as an argument, or in an object to which an
//! argument points, such as a closure that captures by reference.
//!
//! The analysis computes a fixed point of facts about the stack variables and parameters of a set of functions. It
//! ignores the order of statements, and does not distinguish the callers of a function. It may therefore report a value
//! that is not an address of a stack variable. It does not follow addresses through global memory.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::rc::Rc;

use super::call_graph::{Call, CallGraph, Func};
use crate::define_index;
use crate::index::{EntityIndex, IndexVec};

define_index! {
    /// A value of a function, or an object to which a pointer points.
    Value, "v"
}

/// Most loads and computations through which the origin of a value is followed.
const MAX_DEPTH: u32 = 6;

/// Origin of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    /// Not an address of a stack variable.
    Other,
    /// The object of a stack variable.
    Variable,
    /// The object to which a parameter points.
    Parameter,
    /// A load from a pointer.
    Load(Value),
    /// A pointer into one of these objects.
    Pointer(Box<[Value]>),
    /// A pointer that is computed from these values, like the result of an array's begin().
    Made(Box<[Value]>),
    /// A structure or a number that is computed from these values. It may hold an address.
    Number(Box<[Value]>),
}

/// A store of a value, or a copy of memory from one pointer to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Store {
    /// The stored value, or the source of the copy.
    pub value: Value,
    /// The destination.
    pub pointer: Value,
    /// Whether the store is a copy of memory.
    pub copies: bool,
}

/// An argument of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Argument {
    /// The passed value.
    pub value: Value,
    /// Whether the called function gets a copy of the object. The copy is not a variable of the caller.
    pub is_by_value: bool,
}

/// Facts about the values of a function.
#[derive(Clone, Debug, Default)]
pub struct Body {
    /// The values; the objects of the parameters come first.
    pub values: IndexVec<Value, Node>,
    /// Number of parameters.
    pub parameters: usize,
    /// The stores.
    pub stores: Vec<Store>,
    /// By call, in the order of the calls: the arguments.
    pub arguments: Vec<Vec<Argument>>,
}

/// A set of facts about a value.
type Facts = u8;

/// The value is the address of a stack variable.
const IS_ADDRESS: Facts = 1;

/// The object to which the value points holds addresses of stack variables.
const HOLDS_ADDRESSES: Facts = 2;

/// A function stores addresses of stack variables through this parameter.
const STORES_ADDRESSES: Facts = 4;

/// An analysed function.
struct Member {
    function: Func,
    body: Rc<Body>,
    /// By object: facts about a pointer to the object.
    facts: IndexVec<Value, Facts>,
}

/// The values of a set of functions that may be addresses of stack variables.
pub struct StackAddresses {
    members: Vec<Member>,
    numbers: BTreeMap<Func, usize>,
}

impl StackAddresses {
    /// Analyses functions. Takes O(instructions) time for each step along chains of calls.
    pub fn new(graph: &CallGraph, functions: &[Func], mut body_of: impl FnMut(Func) -> Rc<Body>) -> Self {
        let members: Vec<Member> = functions
            .iter()
            .map(|&function| {
                let body = body_of(function);
                let facts = IndexVec::filled(0, body.values.len());
                Member { function, body, facts }
            })
            .collect();
        let numbers = functions.iter().enumerate().map(|(number, &function)| (function, number)).collect();
        let mut addresses = Self { members, numbers };
        while addresses.visit_all(graph) {}
        addresses
    }

    /// Whether the called function gets an address of a stack variable.
    pub fn are_passed_by(&self, graph: &CallGraph, function: Func, call: Call) -> bool {
        let Some(member) = self.numbers.get(&function).map(|&number| &self.members[number]) else { return false };
        let arguments = graph.place(function, call).and_then(|place| member.body.arguments.get(place));
        arguments.is_some_and(|arguments| arguments.iter().any(|&argument| member.passed(argument) != 0))
    }

    /// Visits each function once. Returns whether there are new facts.
    fn visit_all(&mut self, graph: &CallGraph) -> bool {
        let mut changed = false;
        for member in 0..self.members.len() {
            changed |= self.visit(graph, member);
        }
        changed
    }

    /// Adds the facts from the statements of a function. Returns whether there are new facts.
    fn visit(&mut self, graph: &CallGraph, number: usize) -> bool {
        let member = &mut self.members[number];
        let body = Rc::clone(&member.body);
        let function = member.function;
        let mut changed = false;
        for &Store { value, pointer, copies } in &body.stores {
            let needed = if copies { HOLDS_ADDRESSES } else { IS_ADDRESS };
            if member.facts_of(value, 0) & needed != 0 {
                changed |= member.add_store(pointer);
            }
        }
        for ((_, call), arguments) in graph.calls(function).zip(&body.arguments) {
            let Some(&callee) = self.numbers.get(&call.callee).filter(|_| call.is_named) else { continue };
            let parameters = self.members[callee].body.parameters;
            for (index, &argument) in arguments.iter().enumerate().take(parameters) {
                let parameter = Value::new(index);
                let given = self.members[number].passed(argument);
                changed |= self.members[callee].add(parameter, given);
                // The called function stores an address through this argument, as a constructor does.
                if !argument.is_by_value && self.members[callee].facts[parameter] & STORES_ADDRESSES != 0 {
                    changed |= self.members[number].add_store(argument.value);
                }
            }
        }
        changed
    }
}

impl Member {
    fn add(&mut self, object: Value, fact: Facts) -> bool {
        let known = &mut self.facts[object];
        let is_new = *known | fact != *known;
        *known |= fact;
        is_new
    }

    /// Records that an address is stored to the objects to which a pointer may point. Only stack variables and
    /// parameters are recorded.
    fn add_store(&mut self, pointer: Value) -> bool {
        let body = Rc::clone(&self.body);
        let Node::Pointer(objects) = &body.values[pointer] else { return false };
        let mut changed = false;
        for &object in objects {
            if matches!(body.values[object], Node::Variable | Node::Parameter) {
                changed |= self.add(object, HOLDS_ADDRESSES | STORES_ADDRESSES);
            }
        }
        changed
    }

    fn facts_of(&self, value: Value, depth: u32) -> Facts {
        if depth > MAX_DEPTH {
            return 0;
        }
        let all = |values: &[Value], depth| values.iter().fold(0, |all, &value| all | self.facts_of(value, depth));
        match &self.body.values[value] {
            Node::Other => 0,
            Node::Variable => self.facts[value] | IS_ADDRESS,
            Node::Parameter => self.facts[value],
            // A load from an object that holds addresses may return an address. The object at that address may hold
            // further addresses.
            Node::Load(pointer) if self.facts_of(*pointer, depth + 1) & HOLDS_ADDRESSES != 0 => {
                IS_ADDRESS | HOLDS_ADDRESSES
            }
            Node::Load(_) => 0,
            Node::Pointer(objects) => all(objects, depth),
            Node::Made(operands) => all(operands, depth + 1),
            Node::Number(operands) => {
                if all(operands, depth + 1) == 0 {
                    0
                } else {
                    IS_ADDRESS
                }
            }
        }
    }

    /// Returns the facts that the called function's parameter gets from an argument.
    fn passed(&self, argument: Argument) -> Facts {
        let given = self.facts_of(argument.value, 0) & !STORES_ADDRESSES;
        if argument.is_by_value { given & HOLDS_ADDRESSES } else { given }
    }
}
