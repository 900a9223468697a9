//! Random programs, each printed in the style of two compilers.

use std::fmt::Write as _;

use arbtest::arbitrary::{Result, Unstructured};

/// A step of a kernel or function, which changes the value that it computes.
#[derive(Clone, Debug)]
pub(super) enum Step {
    /// Adds a word of data that the host sees.
    Host(usize, usize),
    /// Adds a word of data that only the file sees.
    Text(usize, usize),
    /// Writes to data that only the file sees. It is one object for all kernels.
    Count(usize),
    /// Moves the value through shared memory.
    Shared(usize),
    /// Calls a function.
    Call(usize),
    /// Adds a number.
    Add(u32),
}

/// A program: contents of data, functions and kernels.
#[derive(Clone, Debug)]
pub(super) struct Source {
    pub(super) host: Vec<[u32; 4]>,
    pub(super) texts: Vec<[u32; 4]>,
    pub(super) functions: Vec<Vec<Step>>,
    pub(super) kernels: Vec<Vec<Step>>,
}

/// The style of a compiler.
#[derive(Clone, Debug)]
pub(super) struct Style {
    pub(super) version: &'static str,
    /// The number that is added to the numbers in the names of strings and functions. The same name then means
    /// something else in the other file.
    pub(super) shift: usize,
    /// The prefix of parameter names.
    pub(super) parameter: &'static str,
    pub(super) linkage: &'static str,
    /// Whether functions have prototypes and are in reverse order.
    pub(super) has_prototypes: bool,
    pub(super) has_lines: bool,
    /// Whether data that the host sees is declared by words instead of bytes.
    pub(super) by_words: bool,
}

const COUNT: usize = 3;

fn steps(u: &mut Unstructured<'_>, most_calls: usize) -> Result<Vec<Step>> {
    let count = u.int_in_range(0..=5)?;
    let step = |_| {
        let (number, word) = (u.int_in_range(0..=COUNT - 1)?, u.int_in_range(0..=3)?);
        Ok(match u.int_in_range(0..=5)? {
            0 => Step::Host(number, word),
            1 => Step::Text(number, word),
            2 => Step::Count(number),
            3 => Step::Shared(number),
            4 if most_calls > 0 => Step::Call(number % most_calls),
            _ => Step::Add(u.arbitrary()?),
        })
    };
    (0..count).map(step).collect()
}

impl Source {
    pub(super) fn new(u: &mut Unstructured<'_>) -> Result<Self> {
        let mut all = || (0..COUNT).map(|_| u.arbitrary()).collect::<Result<Vec<[u32; 4]>>>();
        let (host, texts) = (all()?, all()?);
        // A function calls only earlier functions.
        let functions = (0..COUNT).map(|number| steps(u, number)).collect::<Result<_>>()?;
        let kernels = (0..COUNT).map(|_| steps(u, COUNT)).collect::<Result<_>>()?;
        Ok(Self { host, texts, functions, kernels })
    }

    /// Returns the PTX of the program.
    pub(super) fn print(&self, style: &Style) -> String {
        let mut out = format!("// A compiler.\n.version {}\n.target sm_90\n.address_size 64\n", style.version);
        if style.has_lines {
            out.push_str(".file 1 \"a.cu\"\n");
        }
        // Writing to a string cannot fail.
        let _ = writeln!(out, ".extern .shared .align 16 .b8 dynamic[];");
        for (number, words) in self.host.iter().enumerate() {
            let list = |numbers: Vec<String>| numbers.join(", ");
            let bytes = list(words.iter().flat_map(|word| word.to_le_bytes()).map(|byte| byte.to_string()).collect());
            let words = list(words.iter().map(|word| format!("{word:#x}")).collect());
            let _ = match style.by_words {
                true => writeln!(out, ".visible .global .align 8 .b32 host{number}[4] = {{{words}}};"),
                false => writeln!(out, ".visible .global .align 8 .b8 host{number}[16] = {{{bytes}}};"),
            };
        }
        for number in 0..COUNT {
            let words = self.texts[number].map(|word| word.to_string()).join(", ");
            let name = (number + style.shift) % COUNT;
            let _ = writeln!(out, ".global .align 4 .b32 $str${name}[4] = {{{words}}};");
            let _ = writeln!(out, ".global .align 4 .u32 count{number};");
            let _ = writeln!(out, ".shared .align 4 .b8 tile{number}[4096];");
        }
        let head = |number: usize, style: &Style| {
            let name = (number + style.shift) % COUNT;
            format!("{}.func (.param .b32 r) f{name}(.param .b32 a)", style.linkage)
        };
        if style.has_prototypes {
            for number in (0..COUNT).rev() {
                let _ = writeln!(out, "{};", head(number, style));
            }
        }
        for (number, steps) in self.functions.iter().enumerate() {
            let _ = writeln!(out, "{}\n{{\n\t.reg .b32 %r<9>;\n\t.reg .b64 %d<4>;", head(number, style));
            let _ = writeln!(out, "\tld.param.u32 %r1, [a];");
            self.print_steps(steps, style, &mut out);
            let _ = writeln!(out, "\tst.param.b32 [r], %r1;\n\tret;\n}}");
        }
        for (number, steps) in self.kernels.iter().enumerate() {
            let (p, at) = (style.parameter, "%d1");
            let _ = writeln!(
                out,
                "\t// .globl k{number}\n.visible .entry k{number}(\n\t.param .u64 {p}0,\n\t.param .u32 {p}1\n)"
            );
            let _ =
                writeln!(out, ".maxntid 128\n{{\n\t.reg .b32 %r<9>;\n\t.reg .b64 %d<4>;\n\tld.param.u32 %r1, [{p}1];");
            self.print_steps(steps, style, &mut out);
            let _ = writeln!(
                out,
                "\tld.param.u64 {at}, [{p}0];\n\tmov.u32 %r2, %tid.x;\n\tmad.wide.u32 {at}, %r2, 4, {at};"
            );
            let _ = writeln!(out, "\tst.global.u32 [{at}], %r1;\n\tret;\n}}");
        }
        out + "// The end.\n"
    }

    fn print_steps(&self, steps: &[Step], style: &Style, out: &mut String) {
        for (line, step) in steps.iter().enumerate() {
            if style.has_lines {
                let _ = writeln!(out, "\t.loc 1 {} 3", line + 1);
            }
            let name = |number: usize| (number + style.shift) % COUNT;
            let _ = match step {
                Step::Host(number, word) => {
                    writeln!(out, "\tld.global.u32 %r2, [host{number}+{}];\n\tadd.u32 %r1, %r1, %r2;", 4 * word)
                }
                Step::Text(number, word) => writeln!(
                    out,
                    "\tmov.u64 %d2, $str${};\n\tadd.s64 %d3, %d2, {};\n\tld.global.u32 %r2, [%d3];\n\tadd.u32 %r1, %r1, %r2;",
                    name(*number),
                    4 * word
                ),
                Step::Count(number) => writeln!(out, "\tmov.u32 %r2, 7;\n\tst.global.u32 [count{number}], %r2;"),
                Step::Shared(number) => writeln!(
                    out,
                    "\tmov.u32 %r2, %tid.x;\n\tmov.u32 %r3, tile{number};\n\tmad.lo.u32 %r2, %r2, 4, %r3;\n\
                     \tst.shared.u32 [%r2], %r1;\n\tld.shared.u32 %r1, [%r2];"
                ),
                Step::Call(number) => writeln!(
                    out,
                    "\t{{ .param .b32 a0;\n\tst.param.b32 [a0], %r1;\n\t.param .b32 r0;\n\tcall.uni (r0), f{}, (a0);\n\
                     \tld.param.b32 %r1, [r0];\n\t}}",
                    name(*number)
                ),
                Step::Add(number) => writeln!(out, "\tadd.u32 %r1, %r1, {number};"),
            };
        }
    }
}
