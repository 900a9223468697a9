use arbitrary::Unstructured;

use super::super::call_graph::{CallFacts, FunctionFacts};
use super::*;

/// Functions with their values and their callees.
struct Sample {
    graph: CallGraph,
    bodies: Vec<Rc<Body>>,
}

impl Sample {
    fn new(functions: Vec<(Body, Vec<u32>)>) -> Self {
        let (mut graph, mut bodies) = (CallGraph::default(), Vec::new());
        for (body, callees) in functions {
            let call = |callee| CallFacts { callee: Func(callee), is_named: true, is_no_inline: false };
            graph.add(FunctionFacts::default(), callees.into_iter().map(call));
            bodies.push(Rc::new(body));
        }
        Self { graph, bodies }
    }

    fn addresses(&self, functions: &[Func]) -> StackAddresses {
        StackAddresses::new(&self.graph, functions, |function| Rc::clone(&self.bodies[function.index()]))
    }

    fn all(&self) -> Vec<Func> {
        self.graph.functions().map(|(function, _)| function).collect()
    }

    /// Returns, for each call, whether it passes an address of a stack variable.
    fn passed(&self, functions: &[Func]) -> Vec<bool> {
        let addresses = self.addresses(functions);
        let of = |function: Func| self.graph.calls(function).map(move |(call, _)| (function, call));
        self.all()
            .into_iter()
            .flat_map(of)
            .map(|(function, call)| addresses.are_passed_by(&self.graph, function, call))
            .collect()
    }
}

fn pointer(object: u32) -> Node {
    Node::Pointer([Value(object)].into())
}

fn argument(value: u32) -> Argument {
    Argument { value: Value(value), is_by_value: false }
}

fn body(values: Vec<Node>, stores: &[(u32, u32)], arguments: &[&[Argument]]) -> Body {
    let parameters = values.iter().take_while(|node| **node == Node::Parameter).count();
    let store = |&(value, pointer): &(u32, u32)| Store { value: Value(value), pointer: Value(pointer), copies: false };
    Body {
        values: values.into(),
        parameters,
        stores: stores.iter().map(store).collect(),
        arguments: arguments.iter().map(|arguments| arguments.to_vec()).collect(),
    }
}

/// Returns a function that passes its parameter on as the argument of its call.
fn passes_on() -> Body {
    body(vec![Node::Parameter, pointer(0)], &[], &[&[argument(1)]])
}

/// An address is passed on from function to function. Other values are not addresses.
#[test]
fn addresses_are_passed_on() {
    let kernel =
        body(vec![Node::Parameter, Node::Variable, pointer(0), pointer(1)], &[], &[&[argument(2)], &[argument(3)]]);
    let end = body(vec![Node::Parameter], &[], &[]);
    let sample = Sample::new(vec![(kernel, vec![3, 1]), (passes_on(), vec![2]), (passes_on(), vec![3]), (end, vec![])]);
    assert_eq!(sample.passed(&sample.all()), [false, true, true, true]);
    // Functions outside of the analysed set have no facts.
    assert_eq!(sample.passed(&[Func(2), Func(3)]), [false; 4]);
}

/// A closure holds the address of a variable. In the called function, a load from the closure returns that address.
#[test]
fn closures_hold_addresses() {
    let values = vec![Node::Variable, Node::Variable, pointer(0), pointer(1)];
    let kernel = body(values, &[(2, 3)], &[&[argument(3)]]);
    let closure = vec![Node::Parameter, pointer(0), Node::Load(Value(1)), pointer(2)];
    let end = || (body(vec![Node::Parameter], &[], &[]), vec![]);
    let calls = body(closure.clone(), &[], &[&[argument(3)]]);
    assert_eq!(
        Sample::new(vec![(kernel, vec![1]), (calls, vec![2]), end()]).passed(&[Func(0), Func(1), Func(2)]),
        [true; 2]
    );
    // A closure without stored addresses that is passed by value passes no address.
    let kernel = |stores: &[_]| {
        let by_value = Argument { value: Value(3), is_by_value: true };
        body(vec![Node::Variable, Node::Variable, pointer(0), pointer(1)], stores, &[&[by_value]])
    };
    let calls = || (body(closure.clone(), &[], &[&[argument(3)]]), vec![2]);
    let passed = |stores: &[_]| {
        let sample = Sample::new(vec![(kernel(stores), vec![1]), calls(), end()]);
        sample.passed(&sample.all())
    };
    assert_eq!((passed(&[]), passed(&[(2, 3)])), (vec![false; 2], vec![true; 2]));
}

/// A constructor stores an address through its parameter, so the caller's variable holds an address.
#[test]
fn constructors_store_addresses() {
    let values = vec![Node::Variable, Node::Variable, pointer(0), pointer(1), Node::Load(Value(3)), pointer(4)];
    let kernel = body(values, &[], &[&[argument(3), argument(2)], &[argument(5)]]);
    let constructor = body(vec![Node::Parameter, Node::Parameter, pointer(0), pointer(1)], &[(3, 2)], &[]);
    let end = body(vec![Node::Parameter], &[], &[]);
    let sample = Sample::new(vec![(kernel, vec![1, 2]), (constructor, vec![]), (end, vec![])]);
    assert_eq!(sample.passed(&sample.all()), [true, true]);
}

/// Draws values, whose operands may also be later values, so that cycles exist, like loads in loops.
fn any_body(u: &mut Unstructured<'_>, calls: usize) -> arbitrary::Result<Body> {
    let parameters = u.int_in_range(0..=2)?;
    let len: u32 = parameters + u.int_in_range(1..=6)?;
    let objects: Vec<Node> = (0..len).map(|_| Node::Other).collect();
    let mut values: IndexVec<Value, Node> = objects.into();
    for index in 0..len {
        let any = |u: &mut Unstructured<'_>| u.int_in_range(0..=len - 1).map(Value);
        values[Value(index)] = match u.int_in_range(0..=5)? {
            _ if index < parameters => Node::Parameter,
            0 => Node::Variable,
            1 => Node::Load(any(u)?),
            2 => Node::Made([any(u)?].into()),
            3 => Node::Number([any(u)?].into()),
            // Pointers point only into earlier objects, because a pointer is not an object.
            _ => Node::Pointer((0..index).map(Value).filter(|&of| !matches!(values[of], Node::Pointer(_))).collect()),
        };
    }
    let mut read = Body { values, parameters: parameters as usize, ..Body::default() };
    let value = |u: &mut Unstructured<'_>| u.int_in_range(0..=len - 1).map(Value);
    for _ in 0..u.int_in_range(0..=3)? {
        read.stores.push(Store { value: value(u)?, pointer: value(u)?, copies: u.ratio(1, 4)? });
    }
    for _ in 0..calls {
        let mut arguments = Vec::new();
        for _ in 0..u.int_in_range(0..=2)? {
            arguments.push(Argument { value: value(u)?, is_by_value: u.ratio(1, 4)? });
        }
        read.arguments.push(arguments);
    }
    Ok(read)
}

/// The facts are a fixed point, and do not depend on the order of functions. An analysis of more functions finds no
/// fewer addresses.
#[test]
fn facts_are_a_fixed_point() {
    arbtest::arbtest(|u| {
        let len = u.int_in_range(1..=4)?;
        let mut functions = Vec::new();
        for _ in 0..len {
            let callees = (0..u.int_in_range(0..=2)?)
                .map(|_| u.int_in_range(0..=len - 1))
                .collect::<arbitrary::Result<Vec<u32>>>()?;
            functions.push((any_body(u, callees.len())?, callees));
        }
        let sample = Sample::new(functions);
        let all = sample.all();
        let mut addresses = sample.addresses(&all);
        assert!(!addresses.visit_all(&sample.graph), "not a fixed point");
        let passed = sample.passed(&all);
        let backwards: Vec<Func> = all.iter().rev().copied().collect();
        assert_eq!(passed, sample.passed(&backwards));
        let fewer = sample.passed(&all[1..]);
        assert!(fewer.into_iter().zip(passed).all(|(of_fewer, of_all)| of_all || !of_fewer));
        Ok(())
    });
}
