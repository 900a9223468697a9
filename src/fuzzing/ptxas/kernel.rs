//! Whole kernels and functions.

use std::fmt::Write;

use super::body::{Body, Callee, Value};
use super::class::Class;
use super::drawn::Drawn;
use super::memory::{INPUT, LOCAL, OUTPUT, SHARED};

/// Threads of a block.
pub(super) const THREADS: u32 = 64;
/// Words of the table of constants.
const TABLE: usize = 16;

/// Returns the part before all kernels: the header of the PTX module, and a table of constants.
pub(super) fn head(mut drawn: Drawn) -> String {
    let words: Vec<String> = (0..TABLE).map(|_| format!("0x{:x}", drawn.integer(32))).collect();
    format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n.const .align 16 .b32 table[{TABLE}] = {{{}}};\n\n",
        words.join(", ")
    )
}

/// Returns a kernel, after the functions that it calls and the memory that it declares.
pub(super) fn kernel(mut drawn: Drawn, name: &str, has_known: bool) -> String {
    let weights = Body::draw_weights(&mut drawn);
    let mut text = String::new();
    let mut callees = Vec::new();
    for number in 0..drawn.below(3) {
        let mut body = Body::new(Drawn::new(drawn.next()), format!("{name}_f{number}"));
        body.weights.clone_from(&weights);
        body.has_known = has_known;
        body.callees.clone_from(&callees);
        let (callee, own) = function(body);
        text += &own;
        callees.push(callee);
    }
    let shared = THREADS as usize * SHARED;
    _ = write!(
        text,
        ".shared .align 16 .b8 shared_{name}[{shared}];\n\
         .shared .align 16 .b8 exchange_{name}[{}];\n\
         .visible .entry {name}(.param .u64 inputs, .param .u64 outputs, .param .u64 meeting, .param .u32 n0, .param .u32 n1,\n\
         \t.param .u32 n2, .param .u32 n3, .param .u64 m0, .param .u64 m1, .param .u16 h0)\n\
         .reqntid {THREADS}\n{{\n",
        8 * THREADS
    );
    let mut body = Body::new(drawn, name.to_owned());
    body.has_known = has_known;
    body.callees = callees;
    body.weights = weights;
    begin(&mut body, name);
    let begun = body.text.len();
    let word =
        body.values.iter().rfind(|value| value.class == Class::B64).map_or("%out".to_owned(), |it| it.name.clone());
    body.left = body.drawn.between(10, 70) as usize;
    while body.left > 0 {
        body.statements(8);
    }
    end(&mut body);
    let (head, rest) = body.text.split_at(begun);
    let own = [head, &first_stores(rest, &word), rest].concat();
    _ = writeln!(text, "{}\t.local .align 16 .b8 local_{name}[{LOCAL}];", body.declarations());
    text += "\t.reg .b64 %inputs, %in, %out, %meeting, %scratch, %local, %table;\n\t.reg .b32 %t, %i, %shared, %exchange;\n";
    text + &own + "\tret;\n}\n"
}

/// Appends addresses, parameters, and variables.
fn begin(body: &mut Body, name: &str) {
    let lines = ["mov.u32 %t, %tid.x".to_owned(), "mov.u32 %i, %ctaid.x".to_owned()];
    lines.iter().for_each(|line| body.line(line));
    let block = body.compute(Class::B32, "mov.u32", "%ctaid.x", true);
    body.line(&format!("mad.lo.u32 %i, {}, {THREADS}, %t", block.name));
    let offset = body.register(Class::B64);
    let lines = [
        "ld.param.u64 %inputs, [inputs]".to_owned(),
        "ld.param.u64 %out, [outputs]".to_owned(),
        "ld.param.u64 %meeting, [meeting]".to_owned(),
        format!("mul.wide.u32 {offset}, %i, {INPUT}"),
        format!("add.s64 %in, %inputs, {offset}"),
        format!("mul.wide.u32 {offset}, %i, {OUTPUT}"),
        format!("add.s64 %out, %out, {offset}"),
        Body::scratch(),
        format!("mov.u64 %local, local_{name}"),
        "mov.u64 %table, table".to_owned(),
        format!("mov.u32 %exchange, exchange_{name}"),
        format!("mov.u32 %shared, shared_{name}"),
        format!("mad.lo.u32 %shared, %t, {SHARED}, %shared"),
    ];
    lines.iter().for_each(|line| body.line(line));
    for number in 0..4 {
        body.compute(Class::B32, "ld.param.u32", &format!("[n{number}]"), true);
    }
    for number in 0..2 {
        body.compute(Class::B64, "ld.param.u64", &format!("[m{number}]"), true);
    }
    body.compute(Class::B16, "ld.param.u16", "[h0]", true);
    body.compute(Class::B32, "mov.u32", "%t", false);
    body.compute(Class::B32, "mov.u32", "%laneid", false);
    body.compute(Class::B32, "mov.u32", "%i", false);
    let variables = [
        (Class::B32, 4),
        (Class::B64, 2),
        (Class::B16, 1),
        (Class::Pred, 2),
        (Class::F32, 2),
        (Class::F64, 1),
        (Class::F16, 1),
        (Class::BF16, 1),
        (Class::F16x2, 1),
        (Class::BF16x2, 1),
    ];
    for (class, count) in variables {
        for _ in 0..count {
            variable(body, class);
        }
    }
}

/// Returns stores to local and shared memory that the code uses, so that no uninitialised memory is read.
fn first_stores(text: &str, value: &str) -> String {
    let mut lines = String::new();
    for (memory, bytes) in [("local", LOCAL), ("shared", SHARED)] {
        if text.contains(&format!("%{memory}")) {
            for place in 0..bytes / 8 {
                _ = writeln!(lines, "\tst.{memory}.b64 [%{memory}+{}], {value};", 8 * place);
            }
        }
    }
    lines
}

/// Appends a register that statements may write, with a loaded value.
fn variable(body: &mut Body, class: Class) {
    let loaded = body.load(class);
    let name = body.register(class);
    body.line(&format!("mov.{} {name}, {}", class.bits_type(), loaded.name));
    body.values.push(Value { name, class, is_uniform: false, is_variable: true });
}

/// Appends stores of variables and some other values.
fn end(body: &mut Body) {
    let all = body.values.clone();
    all.iter().filter(|value| value.is_variable).for_each(|value| body.store(value));
    all.iter().rev().filter(|value| !value.is_variable).take(16).for_each(|value| body.store(value));
}

/// Returns a function without memory.
fn function(mut body: Body) -> (Callee, String) {
    let classes = [Class::B32, Class::B32, Class::B64, Class::B16, Class::F32];
    let count = body.drawn.between(1, 3);
    let parameters: Vec<Class> = (0..count).map(|_| body.drawn.one_of(&classes)).collect();
    let result = body.drawn.one_of(&classes);
    let callee = Callee { name: body.name.clone(), parameters, result };
    body.is_kernel = false;
    // The threads that arrive in a function are unknown.
    body.is_together = false;
    let mut list = Vec::new();
    for (number, &class) in callee.parameters.iter().enumerate() {
        let name = format!("a{number}_{}", callee.name);
        let ty = class.bits_type();
        list.push(format!(".param .{ty} {name}"));
        let value = body.compute(class, &format!("ld.param.{ty}"), &format!("[{name}]"), false);
        let own = body.register(class);
        body.line(&format!("mov.{ty} {own}, {}", value.name));
        body.values.push(Value { name: own, class, is_uniform: false, is_variable: true });
    }
    body.left = body.drawn.between(2, 12) as usize;
    while body.left > 0 {
        body.statements(4);
    }
    let value = body.variable_or_value(result).name;
    let ty = result.bits_type();
    body.line(&format!("st.param.{ty} [r_{}], {value}", callee.name));
    let text = format!(
        ".func (.param .{ty} r_{}) {}({})\n{{\n{}{}\tret;\n}}\n",
        callee.name,
        callee.name,
        list.join(", "),
        body.declarations(),
        body.text
    );
    (callee, text)
}
