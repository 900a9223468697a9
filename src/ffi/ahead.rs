//! The optimisations that kernels choose before LLVM's optimisations run.

use std::collections::BTreeMap;
use std::ops::Range;

use super::abi::{
    self, nvptx_ra_ir_body, nvptx_ra_ir_function, nvptx_ra_ir_mark, nvptx_ra_ir_marks, nvptx_ra_ir_module, nvptx_ra_str,
};
use super::guard::entry;
use super::optimisations::of_function;
use crate::error::Error;
use crate::index::EntityIndex;
use crate::optimise::ahead::{Mark, choose};
use crate::optimise::call_graph::{CallFacts, CallGraph, Func, FunctionFacts};
use crate::optimise::choice::Choice;
use crate::optimise::stack::{Argument, Body, Node, Store, Value};

/// Whether the command line chooses any optimisation other than LLVM's default.
///
/// # Safety
/// The text must be live, and its length must be correct.
// SAFETY: the header declares this exact name.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn nvptx_ra_chooses_ahead(command_line: nvptx_ra_str) -> u32 {
    // SAFETY: as the caller promises.
    entry(|_| 0, || unsafe { !of_function(command_line, abi::borrow(""), Choice::of).is_llvms() }.into())
}

/// Returns the marks that result from the choices of a module. Empty on an error.
///
/// # Safety
/// `module` must be null or point to a live module, whose pointers are null or point to live memory of the given
/// lengths. `describe` must be callable with `data` and each function of the module. The pointers in its result must be
/// null or point to memory that is live until the next call.
// SAFETY: the header declares this exact name.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn nvptx_ra_choose_ahead(module: *const nvptx_ra_ir_module) -> nvptx_ra_ir_marks {
    entry(
        |_| nvptx_ra_ir_marks::default(),
        || {
            // SAFETY: as the caller promises.
            let marks = unsafe { module.as_ref().map_or(Ok(Vec::new()), |module| marks(module)) };
            hand_over(marks.unwrap_or_default())
        },
    )
}

/// Frees the result of [`nvptx_ra_choose_ahead`].
///
/// # Safety
/// The marks must come from that function, and must be freed only once.
// SAFETY: the header declares this exact name.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn nvptx_ra_ir_marks_free(marks: nvptx_ra_ir_marks) {
    entry(
        |_| (),
        || {
            if !marks.marks.is_null() {
                let slice = std::ptr::slice_from_raw_parts_mut(marks.marks.cast_mut(), marks.num_marks as usize);
                // SAFETY: the caller promises that `hand_over` made the slice, and that it is freed once.
                drop(unsafe { Box::from_raw(slice) });
            }
        },
    );
}

fn hand_over(marks: Vec<nvptx_ra_ir_mark>) -> nvptx_ra_ir_marks {
    let num_marks = marks.len() as u64;
    nvptx_ra_ir_marks { marks: Box::into_raw(marks.into_boxed_slice()).cast(), num_marks }
}

/// # Safety
/// As for [`nvptx_ra_choose_ahead`].
unsafe fn marks(module: &nvptx_ra_ir_module) -> Result<Vec<nvptx_ra_ir_mark>, Error> {
    // SAFETY: as the caller promises.
    let graph = unsafe { read_graph(module) }?;
    let mut problem = None;
    let body_of = |function: Func| {
        // SAFETY: as the caller promises. The function belongs to the module.
        let body = module.describe.map_or_else(
            || Err(Error::view("the module has no description of its functions")),
            |describe| unsafe { read_body(&describe(module.data, function.0), graph.calls(function).count()) },
        );
        body.unwrap_or_else(|error| {
            problem = Some(error);
            Body::default()
        })
    };
    let marks = choose(graph.clone(), body_of);
    problem.map_or_else(|| Ok(marks.into_iter().map(raw_mark).collect()), Err)
}

/// # Safety
/// As for [`nvptx_ra_choose_ahead`].
unsafe fn read_graph(module: &nvptx_ra_ir_module) -> Result<CallGraph, Error> {
    // SAFETY: as the caller promises.
    let (functions, calls) = unsafe {
        (
            abi::array(module.functions, module.num_functions, "functions")?,
            abi::array(module.calls, module.num_calls, "calls")?,
        )
    };
    let mut choices = BTreeMap::new();
    let mut choice_of = |function: &nvptx_ra_ir_function| {
        // SAFETY: as the caller promises.
        unsafe {
            let attribute = abi::text(function.attribute).into_owned();
            *choices
                .entry(attribute)
                .or_insert_with(|| of_function(module.command_line, function.attribute, Choice::of))
        }
    };
    let ranges = ranges(functions.iter().map(|function| function.call_end), calls.len(), "calls")?;
    let mut graph = CallGraph::default();
    for (function, range) in functions.iter().zip(ranges) {
        let has = |flag| function.flags & flag != 0;
        let facts = FunctionFacts {
            choice: choice_of(function),
            is_kernel: has(abi::NVPTX_RA_FUNCTION_KERNEL),
            is_discardable: has(abi::NVPTX_RA_FUNCTION_DISCARDABLE),
            is_fixed: has(abi::NVPTX_RA_FUNCTION_FIXED),
            escapes: has(abi::NVPTX_RA_FUNCTION_ESCAPES),
        };
        let calls = calls[range].iter().map(|call| {
            Ok(CallFacts {
                callee: Func::new(index_of(call.callee, functions.len(), "callee")?),
                is_named: call.flags & abi::NVPTX_RA_CALL_NAMED != 0,
                is_no_inline: call.flags & abi::NVPTX_RA_CALL_NO_INLINE != 0,
            })
        });
        graph.add(facts, calls.collect::<Result<Vec<_>, Error>>()?);
    }
    Ok(graph)
}

/// # Safety
/// The pointers of the body must be null or point to live memory of the given lengths.
unsafe fn read_body(body: &nvptx_ra_ir_body, calls: usize) -> Result<Body, Error> {
    // SAFETY: as the caller promises.
    let (values, edges, stores, arguments, argument_ends) = unsafe {
        (
            abi::array(body.values, body.num_values, "values")?,
            abi::array(body.edges, body.num_edges, "edges")?,
            abi::array(body.stores, body.num_stores, "stores")?,
            abi::array(body.arguments, body.num_arguments, "arguments")?,
            abi::array(body.argument_ends, body.num_argument_ends, "argument ends")?,
        )
    };
    if argument_ends.len() != calls || body.num_parameters > body.num_values {
        return Err(Error::view("the calls or parameters of a function do not match its values"));
    }
    let value_of = |raw| Ok(Value::new(index_of(raw, values.len(), "value")?));
    let mut read = Body { parameters: body.num_parameters as usize, ..Body::default() };
    for (value, range) in values.iter().zip(ranges(values.iter().map(|value| value.edge_end), edges.len(), "edges")?) {
        let edges: Box<[Value]> = edges[range].iter().map(|&raw| value_of(raw)).collect::<Result<_, Error>>()?;
        read.values.push(match (value.kind, &*edges) {
            (abi::NVPTX_RA_VALUE_OTHER, []) => Node::Other,
            (abi::NVPTX_RA_VALUE_VARIABLE, []) => Node::Variable,
            (abi::NVPTX_RA_VALUE_PARAMETER, []) => Node::Parameter,
            (abi::NVPTX_RA_VALUE_LOAD, &[pointer]) => Node::Load(pointer),
            (abi::NVPTX_RA_VALUE_POINTER, _) => Node::Pointer(edges),
            (abi::NVPTX_RA_VALUE_MADE, _) => Node::Made(edges),
            (abi::NVPTX_RA_VALUE_NUMBER, _) => Node::Number(edges),
            (kind, _) => return Err(Error::view(format!("a value of kind {kind} cannot have {} edges", edges.len()))),
        });
    }
    for store in stores {
        let (value, pointer) = (value_of(store.value)?, value_of(store.pointer)?);
        read.stores.push(Store { value, pointer, copies: store.copies != 0 });
    }
    for range in ranges(argument_ends.iter().copied(), arguments.len(), "arguments")? {
        let of_call = arguments[range]
            .iter()
            .map(|argument| Ok(Argument { value: value_of(argument.value)?, is_by_value: argument.by_value != 0 }));
        read.arguments.push(of_call.collect::<Result<_, Error>>()?);
    }
    Ok(read)
}

/// Checks that a number is less than `len`.
fn index_of(raw: u32, len: usize, what: &str) -> Result<usize, Error> {
    let index = raw as usize;
    if index < len { Ok(index) } else { Err(Error::view(format!("{what} {raw} is out of range: there are {len}"))) }
}

/// Returns the consecutive ranges with these ends in an array of `len` entries.
fn ranges(ends: impl Iterator<Item = u32>, len: usize, what: &str) -> Result<Vec<Range<usize>>, Error> {
    let mut start = 0;
    let mut ranges = Vec::new();
    for end in ends.map(|end| end as usize) {
        if end < start || end > len {
            return Err(Error::view(format!("{what}: the range from {start} to {end} is not within {len} entries")));
        }
        ranges.push(start..end);
        start = end;
    }
    Ok(ranges)
}

fn raw_mark(mark: Mark) -> nvptx_ra_ir_mark {
    let (kind, a, b) = match mark {
        Mark::Copy { function, number } => (abi::NVPTX_RA_MARK_COPY, function.0, number),
        Mark::Redirect { call, callee } => (abi::NVPTX_RA_MARK_REDIRECT, call.0, callee.0),
        Mark::ForgetTypes(function) => (abi::NVPTX_RA_MARK_FORGET_TYPES, function.0, 0),
        Mark::Inline(call) => (abi::NVPTX_RA_MARK_INLINE, call.0, 0),
        Mark::Limit(call, size) => (abi::NVPTX_RA_MARK_LIMIT, call.0, size),
        Mark::Unroll(function, number) => (abi::NVPTX_RA_MARK_UNROLL, function.0, number),
    };
    nvptx_ra_ir_mark { kind, a, b }
}

#[cfg(test)]
mod tests {
    use super::super::abi::{nvptx_ra_ir_argument, nvptx_ra_ir_call, nvptx_ra_ir_value};
    use super::*;

    /// The values of the kernel below: the argument of a call, which points to a stack variable.
    unsafe extern "C" fn describe(_: *mut std::ffi::c_void, function: u32) -> nvptx_ra_ir_body {
        static VALUES: [nvptx_ra_ir_value; 2] = [
            nvptx_ra_ir_value { kind: abi::NVPTX_RA_VALUE_VARIABLE, edge_end: 0 },
            nvptx_ra_ir_value { kind: abi::NVPTX_RA_VALUE_POINTER, edge_end: 1 },
        ];
        static PARAMETER: nvptx_ra_ir_value = nvptx_ra_ir_value { kind: abi::NVPTX_RA_VALUE_PARAMETER, edge_end: 0 };
        static ARGUMENT: nvptx_ra_ir_argument = nvptx_ra_ir_argument { value: 1, by_value: 0 };
        let parameter = nvptx_ra_ir_body {
            values: &raw const PARAMETER,
            num_values: 1,
            num_parameters: 1,
            ..nvptx_ra_ir_body::default()
        };
        match function {
            0 => nvptx_ra_ir_body {
                values: VALUES.as_ptr(),
                num_values: 2,
                edges: &raw const ZERO,
                num_edges: 1,
                arguments: &raw const ARGUMENT,
                num_arguments: 1,
                argument_ends: &raw const ONE,
                num_argument_ends: 1,
                ..nvptx_ra_ir_body::default()
            },
            _ => parameter,
        }
    }

    static ZERO: u32 = 0;
    static ONE: u32 = 1;

    /// Returns the marks for a kernel with that attribute. The kernel passes an address of its stack to function
    /// `callee`.
    fn chosen(attribute: &str, callee: u32) -> Vec<(u32, u32, u32)> {
        let function = |attribute, flags| nvptx_ra_ir_function { attribute, flags, call_end: 1 };
        let functions = [
            function(abi::borrow(attribute), abi::NVPTX_RA_FUNCTION_KERNEL),
            function(abi::borrow(""), abi::NVPTX_RA_FUNCTION_DISCARDABLE),
        ];
        let calls = [nvptx_ra_ir_call { callee, flags: abi::NVPTX_RA_CALL_NAMED }];
        let module = nvptx_ra_ir_module {
            functions: functions.as_ptr(),
            num_functions: 2,
            calls: calls.as_ptr(),
            num_calls: 1,
            command_line: abi::borrow(""),
            describe: Some(describe),
            data: std::ptr::null_mut(),
        };
        // SAFETY: all arguments are alive, and the marks are read before they are freed.
        unsafe {
            let marks = nvptx_ra_choose_ahead(&raw const module);
            let read = abi::array(marks.marks, marks.num_marks, "marks").expect("an array").to_vec();
            nvptx_ra_ir_marks_free(marks);
            read.into_iter().map(|mark| (mark.kind, mark.a, mark.b)).collect()
        }
    }

    /// The facts reach the core, and the marks reach the shim.
    #[test]
    fn marks() {
        assert_eq!(chosen("", 1), []);
        let forget = |function| (abi::NVPTX_RA_MARK_FORGET_TYPES, function, 0);
        assert_eq!(chosen("inline=stack", 1), [forget(0), forget(1), (abi::NVPTX_RA_MARK_INLINE, 0, 0)]);
        let unroll = |function| (abi::NVPTX_RA_MARK_UNROLL, function, 2);
        assert_eq!(chosen("unroll=cut", 1), [unroll(0), unroll(1)]);
        assert_eq!(chosen("off", 1), []);
    }

    /// Invalid input changes nothing.
    #[test]
    fn what_is_wrong_changes_nothing() {
        assert_eq!(chosen("unroll=cut", 2), []);
        // SAFETY: null stands for no module.
        assert_eq!(unsafe { nvptx_ra_choose_ahead(std::ptr::null()) }.num_marks, 0);
        assert!(ranges([1, 0].into_iter(), 2, "parts").is_err() && ranges([3].into_iter(), 2, "parts").is_err());
    }

    /// A choice on the command line is recognised. Other options and wrong values are no choice.
    #[test]
    fn the_command_line_chooses() {
        // SAFETY: the text is alive.
        let chooses = |text: &str| unsafe { nvptx_ra_chooses_ahead(abi::borrow(text)) };
        assert_eq!((chooses(""), chooses("verify"), chooses("inline=some")), (0, 0, 0));
        assert_eq!((chooses("inline=less"), chooses("unroll=asked;verify")), (1, 1));
    }
}
