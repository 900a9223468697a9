//! Whole kernels: instructions that need more than registers.
//!
//! A pattern is the body of a kernel. `%in` and `%out` are the addresses of a thread's own 256 bytes of input and
//! output. `%t` is its index in the block, `%c` the block's index, and `%i` the thread's index in the grid. `from` and
//! `to` are the buffers, `w0` and `w1` integer parameters. Registers %r0 to %r31, %h0 to %h15, %d0 to %d31 and %p0 to
//! %p15 are declared. The part before `---` precedes the kernel. `#` is the number of the kernel, so that no two
//! symbols of a file share a name; `<` and `>` are braces without choices.

use std::fmt::Write;

use super::pattern::expanded;
use super::rows::{Bits, Row};
use super::{Experiment, head};

/// Returns the PTX module of a row.
pub(super) fn experiment(row: &Row) -> Experiment {
    let mut text = head(row.processor, row.is_specific);
    for (number, body) in row.patterns.iter().flat_map(|pattern| expanded(pattern)).enumerate() {
        let (ahead, body) = body.split_once("---").unwrap_or(("", &body));
        let of_kernel = |text: &str| text.replace('#', &number.to_string()).replace('<', "{").replace('>', "}");
        _ = write!(
            text,
            "{}.visible .entry k{number}(.param .b64 from, .param .b64 to, .param .b32 w0, .param .b32 w1) .reqntid {}\n{{\n\
             .reg .b32 %r<32>; .reg .b16 %h<16>; .reg .b64 %d<32>; .reg .pred %p<16>; .reg .b32 %i, %t, %c;\n\
             .reg .b64 %in, %out, %o;\n\
             mov.u32 %c, %ctaid.x; mov.u32 %t, %tid.x; mad.lo.s32 %i, %c, {}, %t;\n\
             ld.param.b64 %in, [from]; mul.wide.u32 %o, %i, 256; add.s64 %in, %in, %o;\n\
             ld.param.b64 %out, [to]; add.s64 %out, %out, %o;\n{}\nret;\n}}\n\n",
            of_kernel(ahead),
            row.threads,
            row.threads,
            of_kernel(body)
        );
    }
    Experiment {
        name: row.name.to_owned(),
        text,
        processor: row.processor,
        is_specific: row.is_specific,
        is_exact: row.bits == Bits::All,
    }
}
