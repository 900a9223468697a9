//! Calls that pass addresses of stack variables.
//!
//! A stack variable stays in memory as long as a call has its address: as an argument, or in what an argument points to,
//! as a closure has it that captures by reference.
//!
//! Which values of a set of functions may be such addresses is a fixed point of facts about stack variables and
//! parameters. The order of statements and the caller of a function are not told apart, so that a value may be taken for
//! such an address that is none. Addresses that go through global memory are not seen.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::rc::Rc;

use super::call_graph::{Call, CallGraph, Func};
use crate::define_index;
use crate::index::{EntityIndex, IndexVec};

define_index! {
    /// A value of a function, or an object that a pointer points to.
    Value, "v"
}

/// How many values a value is followed through that is no address itself.
const MAX_DEPTH: u32 = 6;

/// What a value is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    /// Nothing that may be an address of a stack variable.
    Other,
    /// The object of a stack variable.
    Variable,
    /// The object that a parameter points to.
    Parameter,
    /// What is loaded from a pointer.
    Load(Value),
    /// A pointer into one of these objects.
    Pointer(Box<[Value]>),
    /// A pointer that is made of these, as begin() of an array makes one.
    Made(Box<[Value]>),
    /// A structure or a number made of these. It may hold an address.
    Number(Box<[Value]>),
}

/// A store of a value, or a copy of memory from one pointer to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Store {
    /// What is stored, or where it is copied from.
    pub value: Value,
    /// Where it is stored.
    pub pointer: Value,
    /// It is a copy of memory.
    pub copies: bool,
}

/// An argument of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Argument {
    /// What is passed.
    pub value: Value,
    /// The called function gets a copy of what it points to, which is no variable of the caller's.
    pub is_by_value: bool,
}

/// What is known of the values of a function.
#[derive(Clone, Debug, Default)]
pub struct Body {
    /// The values; the objects of the parameters come first.
    pub values: IndexVec<Value, Node>,
    /// How many parameters there are.
    pub parameters: usize,
    /// What it stores.
    pub stores: Vec<Store>,
    /// Per call, in their order: the arguments.
    pub arguments: Vec<Vec<Argument>>,
}

/// What holds of a value, as a set.
type Facts = u8;

/// The value is the address of a stack variable.
const IS_ADDRESS: Facts = 1;

/// The object that the value points to holds such addresses.
const HOLDS_ADDRESSES: Facts = 2;

/// A function stores such addresses through its parameter.
const STORES_ADDRESSES: Facts = 4;

/// A function that is looked at.
struct Member {
    function: Func,
    body: Rc<Body>,
    /// What holds of parameters, and of objects that are no parameters.
    facts: IndexVec<Value, Facts>,
}

/// Which values of a set of functions may be addresses of stack variables.
pub struct StackAddresses {
    members: Vec<Member>,
    numbers: BTreeMap<Func, usize>,
}

impl StackAddresses {
    /// Takes time in proportion to the instructions, for each step along chains of calls.
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

    /// Looks at each function once. Returns whether something is new.
    fn visit_all(&mut self, graph: &CallGraph) -> bool {
        let mut changed = false;
        for member in 0..self.members.len() {
            changed |= self.visit(graph, member);
        }
        changed
    }

    /// Adds what the statements of a function say. Returns whether something is new.
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
                // What the called function stores there, as a constructor does.
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

    /// Notes that an address is stored in what a pointer may point to, where that is a stack variable or comes from the
    /// caller.
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
            // What comes out of an object that holds addresses may be one, and what that points to may hold more.
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

    /// What holds of a parameter of the called function.
    fn passed(&self, argument: Argument) -> Facts {
        let given = self.facts_of(argument.value, 0) & !STORES_ADDRESSES;
        if argument.is_by_value { given & HOLDS_ADDRESSES } else { given }
    }
}
