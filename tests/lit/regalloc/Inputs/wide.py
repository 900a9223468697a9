"""Prints a PTX kernel that loads the given number of 128-bit values before a barrier, and stores them after it."""

import sys

count = int(sys.argv[1])
print(".version 8.8\n.target sm_90\n.address_size 64\n")
print(".visible .entry k(.param .u64 in, .param .u64 out)\n.maxntid 64\n{")
print(f"\t.reg .b64 \t%rd<8>;\n\t.reg .b32 \t%r<4>;\n\t.reg .b128 \t%rq<{count}>;\n")
print("\tld.param.u64 \t%rd1, [in];\n\tld.param.u64 \t%rd2, [out];\n\tmov.u32 \t%r1, %tid.x;")
print("\tmul.wide.u32 \t%rd3, %r1, 16;\n\tadd.s64 \t%rd4, %rd1, %rd3;\n\tadd.s64 \t%rd5, %rd2, %rd3;")
for number in range(count):
    print(f"\tld.global.b128 \t%rq{number}, [%rd4+{1024 * number}];")
print("\tbar.sync \t0;")
for number in range(count):
    print(f"\tst.global.b128 \t[%rd5+{1024 * number}], %rq{number};")
print("\tret;\n}")
