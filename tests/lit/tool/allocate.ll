; The allocators fit three values into three registers, and spill if there are only two. They accept IR, machine code,
; functions in text form and problems.
; RUN: %nvptx-ra allocate %s --register-limit none,3 | FileCheck %s
; CHECK: k: {{[0-9]+}} instructions, {{[0-9]+}} live ranges
; CHECK: allocator limit R P spilled
; CHECK: live at once [[PEAK:[0-9]+]] 1
; CHECK-NEXT: greedy none [[PEAK]] 1 0 0 0 0
; CHECK-NEXT: briggs none [[PEAK]] 1 0 0 0 0
; CHECK: greedy 3 {{[0-9]+}} 1 {{[1-9]}}
; CHECK-NEXT: briggs 3 {{[0-9]+}} 1 {{[1-9]}}
; The fat-point allocator gives the same result. It refuses a register limit that no spilling can meet, and reports the
; least possible limit.
; RUN: %nvptx-ra allocate %s --allocator fatpoint --preset ptxas --register-limit none,3 | FileCheck %s --check-prefix=FATPOINT
; FATPOINT: live at once [[PEAK:[0-9]+]] 1
; FATPOINT-NEXT: fatpoint none [[PEAK]] 1 0 0 0 0
; FATPOINT: fatpoint 3 {{[0-9]+}} 1 {{[1-9]}}
; RUN: not %nvptx-ra allocate %s --allocator fatpoint --register-limit 2 2>&1 | FileCheck %s --check-prefix=UNMET
; UNMET: nvptx-ra: kernel 'k': register allocation failed with register count of 2: file R needs 3 at one instruction;
; UNMET-SAME: raise the register limit to 3
; RUN: not %nvptx-ra allocate %s --allocator fat 2>&1 | FileCheck %s --check-prefix=ENGINES
; ENGINES: [possible values: greedy, briggs, fatpoint]
; RUN: not %nvptx-ra allocate %s --set RegAllocCoalescing=maybe 2>&1 | FileCheck %s --check-prefix=KNOB
; KNOB: nvptx-ra: --set RegAllocCoalescing=maybe: not allowed; use on or off
;
; RUN: %llc-ra -nvptx-ra-trace=view -nvptx-ra-rename=off -mcpu=sm_90 %s -o /dev/null 2> %t.mfv
; RUN: %nvptx-ra allocate %t.mfv --json --allocator greedy | FileCheck %s --check-prefix=JSON
; RUN: %llc -mcpu=sm_90 -stop-before=nvptx-prolog-epilog %s -o %t.mir
; RUN: %nvptx-ra allocate %t.mir --json --allocator greedy | FileCheck %s --check-prefix=JSON
; JSON: "allocator":"greedy",{{.*}}"budget":255,{{.*}}"function":"k",{{.*}}"spilled":0
;
; RUN: %nvptx-ra allocate %t.mfv --print-problem > %t.problem
; RUN: %nvptx-ra allocate %t.problem --json --allocator briggs | FileCheck %s --check-prefix=PROBLEM
; PROBLEM: "allocator":"briggs",{{.*}}"function":"k",
; Needless code of an allocation is removed: a reload of a value that is still in its register, and a copy of a value
; that is already in its destination. An option turns this off.
; RUN: printf 'allocation 1\nproblem p\nfile R\nclass A R\nrange A live 2..17 write 0*1 read 1*1 read 4*1\n' > %t.clean
; RUN: printf 'range A live 6..13 write 1*1 read 3*9\ncopy 1 lr1 = lr0 * 8\nblock 0..5\nend\n' >> %t.clean
; RUN: %nvptx-ra allocate %t.clean --allocator greedy | FileCheck %s --check-prefix=CLEAN
; CLEAN: greedy none 2 0 0 0 0 0 1>0 8>0
; RUN: %nvptx-ra allocate %t.clean --allocator greedy --json | FileCheck %s --check-prefix=CLEANED
; CLEANED: "cleanup":{"after":{"copies":0,"copy_words":0.0,"moved_bytes":0.0,"removed":1},
; CLEANED-SAME: "before":{"copies":1,"copy_words":8.0,"moved_bytes":0.0,"removed":0}}
; RUN: %nvptx-ra allocate %t.clean --allocator greedy --summary | FileCheck %s --check-prefix=CLEANEDSUM
; CLEANEDSUM: 8>0
; RUN: %nvptx-ra allocate %t.clean --allocator greedy --set cleanup=off | FileCheck %s --check-prefix=UNCLEAN
; UNCLEAN: greedy none 2 0 0 0 0 0 1>1 8>8
; RUN: not %nvptx-ra allocate %s --set split-gain=-1 2>&1 | FileCheck %s --check-prefix=GAIN
; GAIN: nvptx-ra: --set split-gain=-1: not allowed; use a number from 0
; Pictures show the first function, or the named one, with the first allocator's result.
; RUN: %nvptx-ra allocate %s --function k --register-limit 3 --dot %t.dot --svg %t.svg | FileCheck %s --check-prefix=NAMED
; NAMED: k: {{[0-9]+}} instructions
; RUN: FileCheck %s --check-prefix=DOT --input-file=%t.dot
; DOT: graph "k" {
; DOT: label="k, greedy"
; DOT-DAG: lr{{[0-9]+}} [label="lr{{[0-9]+}} %{{[0-9]+}}\n{{B32|B64}} R{{[0-2]}}", fillcolor="#{{[0-9a-f]+}}"];
; DOT-DAG: lr{{[0-9]+}} [label="lr{{[0-9]+}} %{{[0-9]+}}\nB1 P0", fillcolor="#{{[0-9a-f]+}}"];
; DOT-DAG: lr{{[0-9]+}} [label="lr{{[0-9]+}} %{{[0-9]+}}\n{{B32|B64}} spilled", fillcolor="white"
; DOT: lr{{[0-9]+}} -- lr{{[0-9]+}};
; DOT: }
; RUN: FileCheck %s --check-prefix=SVG --input-file=%t.svg
; SVG: <svg {{.*}}xmlns="http://www.w3.org/2000/svg"
; SVG: k, greedy
; SVG: R0
; SVG: unit of R
; SVG: <title>lr{{[0-9]+}} %{{[0-9]+}}, {{B32|B64}}, cost {{[0-9]+}}, {{R[0-2]|reloaded|stored}}
; SVG: spilled
; SVG: unit of P
; SVG: instruction
; SVG: </svg>
; RUN: printf 'allocation 1\nproblem p\nfile R\nclass A R\nrange A live 2..9 write 0*1 read 2*1\n' > %t.copy
; RUN: printf 'range A live 10..21 write 2*1 read 5*1\ncopy 2 lr1 = lr0 * 8\nend\n' >> %t.copy
; RUN: %nvptx-ra allocate %t.copy --allocator briggs --dot %t.copy.dot > /dev/null
; RUN: FileCheck %s --check-prefix=COPIES --input-file=%t.copy.dot
; COPIES: label="p, briggs"
; COPIES: lr1 -- lr0 [style=dashed, label="8"];
; RUN: not %nvptx-ra allocate %s --function l 2>&1 | FileCheck %s --check-prefix=NAMELESS
; NAMELESS: nvptx-ra: --function l: not found in {{.*}}allocate.ll; leave out --function
; Errors take one line.
; RUN: not %nvptx-ra allocate %s --preset brigs 2>&1 | FileCheck %s --check-prefix=PRESET
; PRESET: nvptx-ra: --preset brigs: unknown; use hw, cicc or ptxas
; RUN: not %nvptx-ra allocate %s --set loop-base=-1 2>&1 | FileCheck %s --check-prefix=CONSTANT
; CONSTANT: nvptx-ra: --set loop-base=-1: not allowed; use a number from 0
; RUN: %nvptx-ra allocate %s --preset cicc --set caller-saved=none --set loop-base=2 | FileCheck %s --check-prefix=CICC
; CICC: live at once 6 1
; CICC: briggs 255 6 1
; The message for the earlier name of the option gives the new name.
; RUN: not %nvptx-ra allocate %s --budget 3 2>&1 | FileCheck %s --check-prefix=RENAMED
; RENAMED: renamed; use --register-limit

; RUN: not %nvptx-ra allocate %s --register-limit 0 2>&1 | FileCheck %s --check-prefix=NOTHING
; NOTHING: nvptx-ra: kernel 'k': file R: a register limit of 0; raise the register limit
; RUN: not %nvptx-ra allocate %s --register-limit 1 2>&1 | FileCheck %s --check-prefix=WIDE
; WIDE: nvptx-ra: kernel 'k': lr{{[0-9]+}}, class B64: 2 consecutive units do not fit into the 1 of file R; raise the register limit
; RUN: not %nvptx-ra allocate %t.none.mfv 2>&1 | FileCheck %s --check-prefix=MISSING
; MISSING: nvptx-ra: {{.*}}: No such file or directory
; RUN: echo nonsense > %t.nothing.mfv
; RUN: not %nvptx-ra allocate %t.nothing.mfv 2>&1 | FileCheck %s --check-prefix=EMPTY
; EMPTY: nvptx-ra: {{.*}}: no function and no allocation problem; see docs/mfv.md
; RUN: not %nvptx-ra allocate %t.problem --register-limit 9 2>&1 | FileCheck %s --check-prefix=OWN
; OWN: nvptx-ra: {{.*}}--register-limit: an allocation problem has its own; change the `budget` of its files instead
; RUN: echo nonsense > %t.bad.ll
; RUN: not %nvptx-ra allocate %t.bad.ll 2>&1 | FileCheck %s --check-prefix=BAD
; BAD: nvptx-ra: {{.*}}expected top-level entity{{.*}}; use LLVM IR of this LLVM version or an older one
target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @k(ptr %p, i32 %n) {
entry:
  %q = getelementptr i32, ptr %p, i64 1
  %a = load volatile i32, ptr %p
  %b = load volatile i32, ptr %q
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %i2, %loop ]
  %s = phi i32 [ %a, %entry ], [ %s2, %loop ]
  %s2 = mul i32 %s, %b
  store volatile i32 %s2, ptr %p
  %i2 = add i32 %i, 1
  %c = icmp slt i32 %i2, %n
  br i1 %c, label %loop, label %exit
exit:
  ret void
}
