"""calls.py REGISTERS [BYTES|extern]: prints PTX of a kernel that loads 40 values, calls a function, and then adds the
values up. The function has BYTES of shared memory, or is not in the file."""

import sys

WORDS = 40
registers, memory = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "0"
head = ".func (.param .b32 result) f(.param .b32 argument)"
print(".version 8.0\n.target sm_90\n.address_size 64")
if memory == "extern":
    print(f".extern {head};")
else:
    if memory != "0":
        print(f".shared .align 4 .b8 tile[{memory}];")
    print(f"{head}\n{{\n\t.reg .b32 %r<9>;\n\tld.param.b32 %r1, [argument];")
    if memory != "0":
        print("\tmov.u32 %r4, %tid.x;\n\tshl.b32 %r4, %r4, 2;\n\tmov.u32 %r5, tile;\n\tadd.u32 %r5, %r5, %r4;")
        print("\tst.shared.b32 [%r5], %r1;\n\tld.shared.b32 %r1, [%r5];")
    print("\tmul.lo.s32 %r2, %r1, 77;\n\tadd.s32 %r3, %r2, 5;\n\tst.param.b32 [result], %r3;\n\tret;\n}")
print(f".visible .entry k(.param .u64 k_in, .param .u64 k_out)\n.maxntid 64\n.maxnreg {registers}\n{{")
print(f"\t.reg .b32 %r<{WORDS + 10}>;\n\t.reg .b64 %rd<9>;\n\tld.param.u64 %rd1, [k_in];\n\tld.param.u64 %rd2, [k_out];")
print("\tmov.u32 %r1, %tid.x;\n\tmul.wide.u32 %rd3, %r1, 4;\n\tadd.u64 %rd4, %rd1, %rd3;\n\tadd.u64 %rd5, %rd2, %rd3;")
for word in range(WORDS):
    print(f"\tld.volatile.global.u32 %r{10 + word}, [%rd4+{256 * word}];")
print("\t{\n\t.param .b32 a0;\n\t.param .b32 r0;\n\tst.param.b32 [a0], %r10;\n\tcall.uni (r0), f, (a0);")
print("\tld.param.b32 %r2, [r0];\n\t}")
for word in reversed(range(WORDS)):
    print(f"\tmul.lo.s32 %r2, %r2, 3;\n\tadd.s32 %r2, %r2, %r{10 + word};")
print("\tst.global.u32 [%rd5], %r2;\n\tret;\n}")
