//! Stand-ins for ptxas and cuobjdump, for tests of the search without NVIDIA's tools.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

/// A stand-in for ptxas that counts each copy between registers as eight bytes stored and eight loaded, and each
/// statement as an instruction.
const JUDGE: &str = r#"#!/bin/sh
case $1 in --version) echo "a judge for tests"; exit;; --help) exit;; esac
while [ $# -gt 1 ]; do [ "$1" = -o ] && out=$2; shift; done
: > "$out"
awk -v out="$out" '
/\.entry /{ name = $0; sub(/.*\.entry /, "", name); sub(/[ (].*/, "", name); count = copies = 0 }
/\.func /{ name = "" }
/mov\.u32 .*%r[0-9]+, %r[0-9]+;/{ copies++ }
/;/{ count++ }
/^}/{
    if (name == "") next
    printf "ptxas info : Compiling entry function \047%s\047 for \047sm_90\047\n", name
    printf "    %d bytes stack frame, %d bytes spill stores, %d bytes spill loads\n", 8 * copies, 8 * copies, 8 * copies
    printf "ptxas info : Used 32 registers\n"
    print "Function : " name > out
    for (at = 0; at < count; at++) printf "/*%04x*/ MOV R1, R2 ;\n", 16 * at > out
    name = ""
}' "$1"
"#;

/// The disassembler for this stand-in, whose output is already a listing.
const DISASSEMBLER: &str = "#!/bin/sh\nwhile [ $# -gt 1 ]; do shift; done\ncat \"$1\"\n";

/// Two kernels and a function that one of them calls. `moves` has copies. `fixed` also has copies, but cannot be
/// edited.
pub(crate) const KERNELS: &str = ".version 8.7\n.target sm_90\n.address_size 64\n\n\
    .func (.param .b32 r) half(.param .b32 a)\n{\n\t.reg .b32 %r<4>;\n\tld.param.u32 %r1, [a];\n\tshr.u32 %r2, %r1, 1;\n\
    \tmov.u32 %r3, %r2;\n\tst.param.b32 [r], %r3;\n\tret;\n}\n\n\
    .visible .entry moves(\n\t.param .u64 p\n)\n.maxntid 128, 1, 1\n{\n\t.reg .b32 %r<6>;\n\t.reg .b64 %rd<2>;\n\n\
    \tld.param.u64 %rd1, [p];\n\tld.global.u32 %r1, [%rd1];\n\tmov.u32 %r2, %r1;\n\tadd.s32 %r3, %r2, 1;\n\
    \t{ .param .b32 a0;\n\tst.param.b32 [a0], %r3;\n\t.param .b32 r0;\n\tcall.uni (r0), half, (a0);\n\
    \tld.param.b32 %r4, [r0];\n\t}\n\tmov.u32 %r5, %r4;\n\tst.global.u32 [%rd1], %r5;\n\tret;\n}\n\n\
    // Left alone.\n.visible .entry fixed(.param .u64 q)\n{\n\t.reg .b32 %r<3>;\n\t.reg .b64 %rd<2>;\n\
    \tld.param.u64 %rd1, [q];\n\tld.global.u32 %r1, [%rd1];\n\t.reg .b32 %late;\n\tmov.u32 %r2, %r1;\n\
    \tst.global.u32 [%rd1], %r2;\n\tret;\n}\n// The end.\n";

/// Writes a program into a folder.
pub(crate) fn program(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    fs::write(&path, text).expect("there is space");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it is ours");
}

/// Makes a folder with a PTX file, and with the judge on request.
pub(crate) fn folder(text: &str, with_judge: bool) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("there is space");
    fs::write(folder.path().join("k.ptx"), text).expect("there is space");
    if with_judge {
        program(folder.path(), "ptxas", JUDGE);
        program(folder.path(), "cuobjdump", DISASSEMBLER);
    }
    folder
}
