//! Runs passes on PTX.

use std::sync::Arc;

use super::{FunctionSummary, ModuleOutput, PassOutput, Remark, RunContext, is_idle, run, run_on_module, simd_video};
use crate::config::{Config, FORECAST, Layers, REGALLOC, SIMD_VIDEO, Warn};
use crate::error::{Error, ErrorKind};
use crate::ptx::{Module, Patch};
use crate::spill::spiller::CalleeTable;

/// A pass of a pipeline, with its parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Its name.
    pub name: String,
    /// Its parameters, e.g. `remat=peaks;trace=edits`.
    pub parameters: String,
}

/// Work on a PTX file.
#[derive(Clone, Debug, Default)]
pub struct PtxRun<'a> {
    /// The passes, in order.
    pub steps: Vec<Step>,
    /// Options for all of them.
    pub options: &'a str,
    /// The target architecture. Empty: the file's own.
    pub target: &'a str,
}

/// A message of a pass about a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PtxRemark {
    /// The function.
    pub function: String,
    /// The pass; empty if no pass can process the function.
    pub pass: String,
    /// The message.
    pub message: String,
}

/// Output of passes on PTX.
#[derive(Clone, Debug, Default)]
pub struct PtxOutput {
    /// The text.
    pub text: Vec<u8>,
    /// Messages of the passes.
    pub remarks: Vec<PtxRemark>,
    /// Warnings.
    pub warnings: Vec<Error>,
    /// Output for standard error: of print passes, and traces.
    pub output: String,
    /// Number of edits.
    pub edits: usize,
    /// Number of changed functions, summed over the passes.
    pub changed: usize,
    /// Number of functions that were left alone because their text cannot be edited, or their view cannot be built,
    /// summed over the passes.
    pub left_alone: usize,
}

/// Parses a pipeline: `nvptx-remat<remat=peaks>,nvptx-schedule`.
///
/// # Errors
/// Brackets do not match, or a pass has no name.
pub fn pipeline(text: &str) -> Result<Vec<Step>, Error> {
    let wrong = |problem: &str| {
        let problem = format!("the pipeline '{text}' {problem}");
        Error::new(ErrorKind::Option, problem, "separate names by commas, and write options as NAME<OPTION;OPTION>")
    };
    let (mut parts, mut depth) = (vec![String::new()], 0usize);
    for character in text.chars() {
        match character {
            '<' => depth += 1,
            '>' => depth = depth.checked_sub(1).ok_or_else(|| wrong("has a > without a <"))?,
            ',' if depth == 0 => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        parts.last_mut().into_iter().for_each(|part| part.push(character));
    }
    if depth > 0 {
        return Err(wrong("has a < without a >"));
    }
    let step = |part: &String| {
        let part = part.trim();
        let (name, parameters) = match part.split_once('<') {
            Some((name, rest)) if name.trim() != "print" => {
                (name.trim(), rest.strip_suffix('>').ok_or_else(|| wrong("continues after a >"))?)
            }
            _ => (part, ""),
        };
        if name.is_empty() {
            return Err(wrong("has a pass without a name"));
        }
        Ok(Step { name: name.to_owned(), parameters: parameters.to_owned() })
    };
    parts.iter().map(step).collect()
}

/// Runs passes on PTX. `name` is the file's name, for messages. A function whose text cannot be edited stays unchanged,
/// with a remark that has the reason.
///
/// # Errors
/// The text cannot be split into statements, a pass or option is unknown, or a pass fails.
pub fn run_on_ptx(name: &str, bytes: &[u8], wanted: &PtxRun<'_>) -> Result<PtxOutput, Error> {
    let mut output = PtxOutput { text: bytes.to_vec(), ..PtxOutput::default() };
    if wanted.steps.is_empty() {
        output.text = Module::read(name, bytes)?.file().print();
        return Ok(output);
    }
    for step in &wanted.steps {
        let layers = Layers { parameters: &step.parameters, command_line: wanted.options, attribute: "" };
        let config = Config::resolve(&layers)?;
        let text = std::mem::take(&mut output.text);
        let module = Module::read(name, &text)?;
        let target = if wanted.target.is_empty() { module.target() } else { wanted.target };
        let (patch, summaries) = run_step(&module, &step.name, &|_| Some(&config), target, &mut output)?;
        if step.name == FORECAST {
            let known: Vec<_> = summaries.iter().map(Option::as_deref).collect();
            let ModuleOutput { forecasts, .. } = run_on_module(&step.name, &known, target, &config)?;
            forecasts.iter().for_each(|(_, forecast)| output.output += &forecast.to_text());
        }
        output.text = if patch.is_empty() { text } else { patch.apply(&text) };
    }
    Ok(output)
}

/// Returns warnings for the kernels of a file that ptxas is expected to spill. `name` is the file's name, for messages,
/// and `target` the architecture; empty: the file's own.
///
/// # Errors
/// As [`run_on_ptx`].
pub fn spill_warnings(name: &str, bytes: &[u8], target: &str) -> Result<Vec<String>, Error> {
    let module = Module::read(name, bytes)?;
    let target = if target.is_empty() { module.target() } else { target };
    let config = Config { warn: Warn::SPILLS, ..Config::default() };
    let (_, summaries) = run_step(&module, FORECAST, &|_| Some(&config), target, &mut PtxOutput::default())?;
    let known: Vec<_> = summaries.iter().map(Option::as_deref).collect();
    Ok(run_on_module(FORECAST, &known, target, &config)?.warnings)
}

/// The forecast's summary of each function.
type Summaries = Vec<Option<Box<FunctionSummary>>>;

/// Runs a pass on the functions of a module for which `config` returns options, by their names.
pub(super) fn run_step<'c>(
    module: &Module<'_>,
    pass: &str,
    config: &dyn Fn(&str) -> Option<&'c Config>,
    target: &str,
    output: &mut PtxOutput,
) -> Result<(Patch, Summaries), Error> {
    let acts = |function: &str| config(function).is_some_and(|config| !is_idle(REGALLOC, config));
    let looks_at_callees = pass == REGALLOC && module.bodies().iter().any(|body| acts(body.name(module.file())));
    let callees = looks_at_callees.then(|| Arc::new(callees(module)));
    let (mut patch, mut summaries) = (Patch::default(), Vec::new());
    for body in module.bodies() {
        let function = body.name(module.file());
        let Some(config) = config(function) else { continue };
        if pass == SIMD_VIDEO {
            let (one, statements) = simd_video::of_body(module, body, target, config);
            output.edits += statements;
            output.changed += usize::from(statements > 0);
            patch.append(one);
            continue;
        }
        let remark = |message: String| PtxRemark { function: function.into(), pass: pass.to_owned(), message };
        let view = match module.view(body) {
            Ok(view) => view,
            Err(reason) => {
                output.left_alone += 1;
                output.remarks.push(remark(format!("left alone: {reason}")));
                continue;
            }
        };
        let context = RunContext {
            wants_remarks: true,
            wants_lints: false,
            is_coalesced: true,
            callees: callees.clone(),
            ..RunContext::new(config.clone(), Arc::clone(&view.classification), target)
        };
        let done = run(pass, &view.function, &context).map_err(|error| error.in_function(function))?;
        let PassOutput { edits, remarks, limits, output: said, summary, .. } = done;
        output.output += &said;
        output.warnings.extend(limits);
        output.remarks.extend(remarks.into_iter().map(|Remark { message, .. }| remark(message)));
        summaries.push(summary);
        match module.edit(body, &view, &edits) {
            Ok(one) if one.is_empty() => {}
            Ok(one) => {
                output.edits += edits.len();
                output.changed += 1;
                patch.append(one);
            }
            Err(reason) => {
                output.left_alone += 1;
                output.remarks.push(remark(format!("left alone: {reason}")));
            }
        }
    }
    Ok((patch, summaries))
}

/// Returns the shared memory of a file's functions. Functions without a view count as undefined.
fn callees(module: &Module<'_>) -> CalleeTable {
    let views: Vec<_> = module.bodies().iter().filter_map(|body| module.view(body).ok()).collect();
    CalleeTable::new(views.iter().map(|view| (&view.function, &*view.classification)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pipeline has names with parameters in brackets; mismatched brackets are refused.
    #[test]
    fn pipelines() {
        let step = |name: &str, parameters: &str| Step { name: name.into(), parameters: parameters.into() };
        let read = pipeline("nvptx-remat<remat=peaks;verify>, nvptx-schedule").expect("a pipeline");
        assert_eq!(read, [step("nvptx-remat", "remat=peaks;verify"), step("nvptx-schedule", "")]);
        assert_eq!(pipeline("print<nvptx-ra-view>").expect("one"), [step("print<nvptx-ra-view>", "")]);
        for wrong in ["a<b", "a>b", "a,,b", "a<b>c", ""] {
            assert!(pipeline(wrong).is_err(), "{wrong}");
        }
    }

    /// Returns a kernel and its callee. `memory` declares the callee's shared memory. `reads` replaces the callee's
    /// body, if not empty.
    fn calling(memory: &str, reads: &str) -> Vec<u8> {
        let body = "{\n\t.reg .b32 %r<3>;\n\tmov.u32 %r1, tile;\n\tld.shared.u32 %r2, [%r1];\n\tst.shared.u32 [%r1+4], %r2;\n\
            \tret;\n}\n";
        let body = if reads.is_empty() { body } else { reads };
        format!(
            ".version 8.8\n.target sm_90\n.address_size 64\n{memory}\n.func reads(.param .b64 reads_param_0){body}\
             .func through(.param .b64 through_param_0)\n{{\n\t.reg .b64 %rd<2>;\n\tld.param.u64 %rd1, [through_param_0];\n\
             \t{{\n\t.param .b64 param0;\n\tst.param.b64 [param0], %rd1;\n\tcall.uni reads, (param0);\n\t}}\n\tret;\n}}\n\
             .visible .entry k(.param .u64 k_param_0)\n.maxntid 128, 1, 1\n{{\n\t.reg .b32 %r<3>;\n\t.reg .b64 %rd<3>;\n\
             \tld.param.u64 %rd1, [k_param_0];\n\tcvta.to.global.u64 %rd2, %rd1;\n\tld.global.u32 %r1, [%rd2];\n\
             \tld.global.u32 %r2, [%rd2+4];\n\t{{\n\t.param .b64 param0;\n\tst.param.b64 [param0], %rd1;\n\
             \tcall.uni through, (param0);\n\t}}\n\tst.global.u32 [%rd2], %r2;\n\tst.global.u32 [%rd2+4], %r1;\n\
             \tret;\n}}\n"
        )
        .into_bytes()
    }

    /// Returns the messages for a kernel that needs slots, and its text.
    fn kept(text: &[u8], more: &str) -> (Vec<String>, String) {
        let steps =
            pipeline(&format!("nvptx-regalloc<regalloc=24;regalloc-slack=21;verify{more}>")).expect("a pipeline");
        let output = run_on_ptx("k.ptx", text, &PtxRun { steps, ..PtxRun::default() }).expect("it runs");
        let of_kernel =
            output.remarks.into_iter().filter(|remark| remark.function == "k" && remark.message.contains("shared"));
        (of_kernel.map(|remark| remark.message).collect(), String::from_utf8(output.text).expect("a text"))
    }

    /// A kernel whose callees have known shared memory, or none, gets slots in addition to that memory. Otherwise, the
    /// remark names the callee that prevents slots, and the reason.
    #[test]
    fn callees_with_shared_memory() {
        let (told, text) = kept(&calling(".shared .align 4 .b8 tile[512];", ""), "");
        assert!(told.iter().all(|told| told.starts_with("spills '")) && !told.is_empty(), "{told:?}");
        assert!(text.contains("st.volatile.shared"), "{text}");
        let (told, text) = kept(&calling(".shared .align 4 .b8 tile[48896];", ""), "");
        assert!(told.len() <= 1 && !text.contains("st.volatile.shared"), "{told:?}");
        let full = "spills no value to shared memory: its shared memory has no room for a slot without reducing the \
                    blocks on an SM";
        assert_eq!(told, [full]);
        let (told, _) = kept(&calling(".extern .shared .align 4 .b8 tile[];", ""), "");
        let dynamic = "spills no value to shared memory: it calls through, and through it reads, which has dynamic \
                       shared memory; inline through";
        assert_eq!(told, [dynamic]);
        let (told, _) = kept(&calling("", ";\n"), "");
        let outside = "spills no value to shared memory: it calls through, and through it reads, which is not in this \
                       file; inline through";
        assert_eq!(told, [outside]);
    }

    /// If the file does not define a callee, the words that do not survive a call by the ABI count as live.
    #[test]
    fn words_across_calls() {
        let outside =
            String::from_utf8(calling("", ";\n")).expect("a text").replace("call.uni through", "call.uni reads");
        let told = |text: &str| {
            let steps = pipeline("nvptx-regalloc<regalloc=24;regalloc-slack=8;spill-to=local;verify;trace=regalloc>");
            let steps = steps.expect("a pipeline");
            run_on_ptx("k.ptx", text.as_bytes(), &PtxRun { steps, ..PtxRun::default() }).expect("it runs").output
        };
        let own = told(&String::from_utf8(calling(".shared .align 4 .b8 tile[512];", "")).expect("a text"));
        let peak = |text: &str| -> u32 {
            let line = text.split("of 'k'\n").nth(1).unwrap_or_else(|| panic!("{text}"));
            line.split(' ').next().and_then(|words| words.parse().ok()).unwrap_or_else(|| panic!("{text}"))
        };
        assert_eq!(peak(&told(&outside)) - peak(&own), 14 - 9, "{own}");
    }
}
