//! Accesses that share a register, and accesses that must not.

use super::share_bases;
use crate::check::check;
use crate::emulate::{Launches, Program, compare_programs};
use crate::function::{Edit, Function};
use crate::passes::{PtxRun, pipeline, run_on_ptx};
use crate::ptx::Module;

/// Runs the pass on a kernel and returns the address of each access to shared memory.
fn addresses(body: &str) -> Vec<String> {
    let text = format!(
        ".version 8.7\n.target sm_90\n.address_size 64\n\n.visible .entry k(\n\t.param .u32 k_param_0\n)\n{{\n\
         \t.reg .pred %p<3>;\n\t.reg .b32 %r<20>;\n\t.reg .b64 %rd<20>;\n\t.shared .align 4 .b8 tile[32768];\n{body}\tret;\n}}\n"
    );
    let steps = pipeline("nvptx-shared-addresses<verify>").expect("a pipeline");
    let run = PtxRun { steps, ..PtxRun::default() };
    let output = run_on_ptx("-", text.as_bytes(), &run).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(output.left_alone, 0, "{:?}", output.remarks);
    let text = String::from_utf8(output.text).expect("text");
    let accesses = text
        .lines()
        .filter(|line| line.contains(".shared.b") || line.contains("ld.global") || line.contains("ldmatrix"));
    accesses.map(|line| line[line.find('[').unwrap_or(0)..=line.find(']').unwrap_or(0)].to_owned()).collect()
}

/// Loads an unknown index into %r1, and the address of the tile into %rd1.
const INDEX: &str = "\tld.param.b32 %r1, [k_param_0];\n\tmov.b64 %rd1, tile;\n";

/// A constant that is added before the widening is moved out of the index, whatever instructions compute the sum.
#[test]
fn numbers_leave_widened_indices() {
    let body = format!(
        "{INDEX}\tmul.wide.u32 %rd2, %r1, 4;\n\tadd.s64 %rd3, %rd1, %rd2;\n\tst.shared.b32 [%rd3], %r1;\n\
         \tadd.s32 %r2, %r1, 32;\n\tmul.wide.u32 %rd4, %r2, 4;\n\tadd.s64 %rd5, %rd1, %rd4;\n\tst.shared.b32 [%rd5+8], %r1;\n\
         \tadd.s32 %r3, %r1, -6240;\n\tcvt.s64.s32 %rd6, %r3;\n\tshl.b64 %rd7, %rd6, 2;\n\tadd.s64 %rd8, %rd7, %rd1;\n\
         \tld.shared.b32 %r4, [%rd8];\n\tmad.lo.s32 %r5, %r1, 4, 64;\n\tcvt.u64.u32 %rd9, %r5;\n\tadd.s64 %rd10, %rd1, %rd9;\n\
         \tld.shared.b32 %r6, [%rd10+-64];\n"
    );
    assert_eq!(addresses(&body), ["[%rd3]", "[%rd3+136]", "[%rd3+-24960]", "[%rd3]"]);
}

/// If no bit can be set in both operands, `or` is a sum. A constant is also moved out of a right shift if the constant
/// is a multiple of the shift's divisor.
#[test]
fn known_bits_make_sums() {
    let body = "\tmov.u32 %r1, %tid.x;\n\tmov.b64 %rd1, tile;\n\tand.b32 %r2, %r1, 31;\n\tmov.u32 %r3, %tid.y;\n\
        \tshl.b32 %r4, %r3, 5;\n\tor.b32 %r5, %r4, %r2;\n\tmul.wide.u32 %rd2, %r5, 4;\n\tadd.s64 %rd3, %rd1, %rd2;\n\
        \tst.shared.b32 [%rd3], %r1;\n\tadd.s32 %r6, %r3, 4;\n\tshl.b32 %r7, %r6, 5;\n\tor.b32 %r8, %r7, %r2;\n\
        \tmul.wide.u32 %rd4, %r8, 4;\n\tadd.s64 %rd5, %rd1, %rd4;\n\tst.shared.b32 [%rd5], %r1;\n\
        \tshr.u32 %r9, %r1, 2;\n\tmul.wide.u32 %rd6, %r9, 8;\n\tst.shared.b32 [%rd6], %r1;\n\
        \tadd.s32 %r10, %r1, 32;\n\tshr.s32 %r11, %r10, 2;\n\tmul.wide.u32 %rd7, %r11, 8;\n\tst.shared.b32 [%rd7], %r1;\n";
    assert_eq!(addresses(body), ["[%rd3]", "[%rd3+512]", "[%rd6]", "[%rd6+64]"]);
}

/// If a bit may be set in both operands, `or` is not a sum. An arithmetic shift equals a logical shift only if the sign
/// bit is 0. A constant stays inside a shift if the sum may overflow, or if the constant is not a multiple of the
/// shift's divisor.
#[test]
fn what_may_be_otherwise_stays() {
    let body = format!(
        "{INDEX}\tor.b32 %r2, %r1, 32;\n\tmul.wide.u32 %rd2, %r1, 4;\n\tst.shared.b32 [%rd2], %r1;\n\
         \tmul.wide.u32 %rd3, %r2, 4;\n\tst.shared.b32 [%rd3], %r1;\n\tshr.u32 %r3, %r1, 2;\n\tmul.wide.u32 %rd4, %r3, 4;\n\
         \tst.shared.b32 [%rd4], %r1;\n\tadd.s32 %r4, %r1, 32;\n\tshr.u32 %r5, %r4, 2;\n\tmul.wide.u32 %rd5, %r5, 4;\n\
         \tst.shared.b32 [%rd5], %r1;\n\tmov.u32 %r6, %tid.x;\n\tshr.u32 %r7, %r6, 2;\n\tmul.wide.u32 %rd6, %r7, 4;\n\
         \tst.shared.b32 [%rd6], %r1;\n\tadd.s32 %r8, %r6, 33;\n\tshr.u32 %r9, %r8, 2;\n\tmul.wide.u32 %rd7, %r9, 4;\n\
         \tst.shared.b32 [%rd7], %r1;\n\tshr.s32 %r10, %r1, 2;\n\tmul.wide.u32 %rd8, %r10, 4;\n\tst.shared.b32 [%rd8], %r1;\n"
    );
    assert_eq!(addresses(&body), ["[%rd2]", "[%rd3]", "[%rd4]", "[%rd5]", "[%rd6]", "[%rd7]", "[%rd8]"]);
}

/// A base must be computed on every path, from the current value of the index.
#[test]
fn a_base_is_computed_on_every_path() {
    let other = "\tadd.s32 %r2, %r1, 1;\n\tmul.wide.u32 %rd4, %r2, 4;\n\tst.shared.b32 [%rd4], %r1;\n";
    let body = format!(
        "{INDEX}\tsetp.eq.s32 %p1, %r1, 0;\n\t@%p1 bra $join;\n\tmul.wide.u32 %rd2, %r1, 4;\n\
         \tst.shared.b32 [%rd2], %r1;\n$join:\n{other}"
    );
    assert_eq!(addresses(&body), ["[%rd2]", "[%rd4]"], "the first is computed on one path alone");
    let body = format!(
        "{INDEX}$loop:\n\tmul.wide.u32 %rd2, %r1, 4;\n\tst.shared.b32 [%rd2], %r1;\n\tadd.s32 %r1, %r1, 1;\n\
         \tmul.wide.u32 %rd4, %r1, 4;\n\tst.shared.b32 [%rd4], %r1;\n\tsetp.lt.s32 %p1, %r1, 99;\n\t@%p1 bra $loop;\n"
    );
    assert_eq!(addresses(&body), ["[%rd2]", "[%rd4]"], "the index has changed between the two");
}

/// Accesses to other memory keep their 64-bit addresses. So do accesses whose offset would not fit into 24 bits.
#[test]
fn global_memory_and_far_offsets_stay() {
    let body = format!(
        "{INDEX}\tmul.wide.u32 %rd2, %r1, 4;\n\tld.global.b32 %r2, [%rd2];\n\tadd.s32 %r3, %r1, 1;\n\
         \tmul.wide.u32 %rd3, %r3, 4;\n\tld.global.b32 %r4, [%rd3];\n\tst.shared.b32 [%rd2], %r1;\n\
         \tadd.s32 %r5, %r1, 4194304;\n\tmul.wide.u32 %rd4, %r5, 4;\n\tst.shared.b32 [%rd4], %r1;\n"
    );
    assert_eq!(addresses(&body), ["[%rd2]", "[%rd3]", "[%rd2]", "[%rd4]"]);
}

/// The generic address of a variable has the same distance from the window of shared memory as its shared address has
/// from 0, so a constant is moved out of it, too.
#[test]
fn generic_addresses_of_shared_memory() {
    let body = format!(
        "{INDEX}\tmul.wide.u32 %rd2, %r1, 4;\n\tadd.s64 %rd3, %rd1, 18944;\n\tcvta.shared.u64 %rd4, %rd3;\n\tadd.s64 %rd5, %rd4, %rd2;\n\
         \tldmatrix.sync.aligned.m8n8.x2.b16 {{%r2, %r3}}, [%rd5];\n\tadd.s64 %rd6, %rd1, 18960;\n\tcvta.shared.u64 %rd7, %rd6;\n\
         \tadd.s64 %rd8, %rd7, %rd2;\n\tldmatrix.sync.aligned.m8n8.x2.b16 {{%r4, %r5}}, [%rd8];\n\tcvta.to.shared.u64 %rd9, %rd8;\n\
         \tst.shared.b32 [%rd9], %r1;\n\tadd.s64 %rd10, %rd1, %rd2;\n\tst.shared.b32 [%rd10], %r1;\n"
    );
    assert_eq!(addresses(&body), ["[%rd5]", "[%rd5+16]", "[%rd9]", "[%rd9+-18960]"]);
}

/// After the pass, a warp loads the same matrices from a tile by generic addresses in the emulator. With a wrong
/// offset, the matrices differ.
#[test]
fn matrices_are_loaded_from_where_they_were() {
    let text = ".version 8.0\n\
.target sm_90\n\
.address_size 64\n\
.visible .entry k(.param .u64 o) .reqntid 32,1,1 {\n\
.reg .b64 %rd<20>; .reg .b32 %r<20>;\n\
.shared .align 16 .b8 tile[4096];\n\
 ld.param.u64 %rd1,[o]; cvta.to.global.u64 %rd2,%rd1;\n\
 mov.u32 %r1,%tid.x; mov.b64 %rd3, tile; mul.wide.u32 %rd4,%r1,16; add.s64 %rd5,%rd3,%rd4;\n\
 mul.lo.s32 %r2,%r1,77; xor.b32 %r2,%r2,1234567;\n\
 st.shared.b32 [%rd5],%r2; st.shared.b32 [%rd5+4],%r1; st.shared.b32 [%rd5+8],%r2; st.shared.b32 [%rd5+12],%r1;\n\
 add.s32 %r3,%r1,32; mul.wide.u32 %rd6,%r3,16; add.s64 %rd7,%rd3,%rd6;\n\
 st.shared.b32 [%rd7],%r1; st.shared.b32 [%rd7+4],%r2; st.shared.b32 [%rd7+8],%r1; st.shared.b32 [%rd7+12],%r2;\n\
 bar.sync 0;\n\
 cvta.shared.u64 %rd8,%rd3; add.s64 %rd9,%rd8,%rd4;\n\
 ldmatrix.sync.aligned.m8n8.x2.b16 {%r4,%r5},[%rd9];\n\
 add.s64 %rd10,%rd3,512; cvta.shared.u64 %rd11,%rd10; add.s64 %rd12,%rd11,%rd4;\n\
 ldmatrix.sync.aligned.m8n8.x2.b16 {%r6,%r7},[%rd12];\n\
 mul.wide.u32 %rd13,%r1,16; add.s64 %rd14,%rd2,%rd13;\n\
 st.global.b32 [%rd14],%r4; st.global.b32 [%rd14+4],%r5; st.global.b32 [%rd14+8],%r6; st.global.b32 [%rd14+12],%r7;\n\
 ret;\n\
}\n";
    let steps = pipeline("nvptx-shared-addresses<verify>").expect("a pipeline");
    let output = run_on_ptx("-", text.as_bytes(), &PtxRun { steps, ..PtxRun::default() }).expect("PTX");
    let changed = String::from_utf8(output.text).expect("text");
    assert!(changed.contains("[%rd9+512]"), "{changed}");
    let is_same = |other: &str| {
        let read = |text: &str| Program::new(&Module::read("-", text.as_bytes()).expect("PTX"));
        let launches = Launches { count: 2, ..Launches::default() };
        compare_programs(&read(text), &read(other), "k", &launches).is_same()
    };
    assert!(is_same(&changed));
    assert!(
        !is_same(&changed.replace("[%rd9+512]", "[%rd9+516]"))
            && !is_same(&changed.replace("[%rd9+512]", "[%rd9+496]"))
    );
}

/// Returns the edits for LLVM's machine code with two pieces of inline assembly: the first loads a matrix at %0, and
/// `second` has the address %1, which is 512 bytes further.
fn assembly(second: &str) -> Vec<Edit> {
    let text = format!(
        "mfv 1\nfunction \"k\"\nopcode INLINEASM\nopcode ADD64ri\nopcode LD_i64\nregs %0 B64 B64 B32 B32\n\
         @0 = \"&ldmatrix.sync.aligned.m8n8.x1.b16 {{$0}}, [$1];\"\n@1 = \"&{second}\"\nbb0: frequency 1.0 depth 0\n\
         %0 = LD_i64 0\n%1 = ADD64ri %0, 512\nINLINEASM @0, 1, 131082, def %2, 393225, %0 :: opaque\n\
         INLINEASM @1, 1, 131082, def %3, 393225, %1 :: opaque\nend\n"
    );
    let function = Function::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let edits = share_bases(&function).edits;
    check(&function, &edits).expect("it means the same");
    edits.edits().to_vec()
}

/// The constant is added to the offset in the inline assembly, and the computation of the address is removed. Inline
/// assembly that does not only access shared memory keeps its register.
#[test]
fn inline_assembly_has_its_offset_in_its_text() {
    let wanted = "function \"k\"\nset-register i3 operand 5 %0\n\
                  set-assembly i3 \"ldmatrix.sync.aligned.m8n8.x1.b16 {$0}, [$1+528];\"\ndelete i1\nend\n";
    let edits = assembly("ldmatrix.sync.aligned.m8n8.x1.b16 {$0}, [$1 + 16];");
    let opcodes = Default::default();
    let lines: String = edits.iter().map(|edit| format!("{}\n", edit.display(&opcodes))).collect();
    assert_eq!(format!("function \"k\"\n{lines}end\n"), wanted);
    assert!(assembly("ld.global.b32 $0, [$1];").is_empty());
    assert!(assembly("mov.b64 $0, $1; ldmatrix.sync.aligned.m8n8.x1.b16 {$0}, [$1];").is_empty());
}

/// A scope in PTX stays unchanged, but the code around the scope changes.
#[test]
fn scopes_of_ptx_stay() {
    let body = format!(
        "{INDEX}\tmul.wide.u32 %rd2, %r1, 4;\n\tst.shared.b32 [%rd2], %r1;\n\tadd.s64 %rd3, %rd2, 64;\n\
         \t{{ st.shared.b32 [%rd3], %r1; }}\n\tst.shared.b32 [%rd3+4], %r1;\n"
    );
    assert_eq!(addresses(&body), ["[%rd2]", "[%rd3]", "[%rd2+68]"]);
}
