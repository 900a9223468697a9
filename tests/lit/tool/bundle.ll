; After an internal error the code is stock's, and a bundle is written, whose path is printed. Replaying the bundle
; reproduces the error. Without the injected fault the pass runs, and the checker proves its result. Statistics count
; the error.
; RUN: rm -rf %t && mkdir %t
; RUN: %llc -mcpu=sm_90 %s -o - | sed -n '/globl/,$p' > %t/stock.ptx
; RUN: %nvptx-ra compile --cpu sm_90 %s -o %t/k.ptx --set inject=panic --set rename=off --set simd-video=off --set shared-addresses=off --set remat=off --set loop-shape=off --set bundle=%t --set stats=%t/stats.jsonl 2>&1 \
; RUN:   | FileCheck %s --check-prefix=WARNING
; RUN: sed -n '/globl/,$p' %t/k.ptx | cmp - %t/stock.ptx
; RUN: FileCheck %s --check-prefix=REPORT < %t/nvptx-ra-k-0/report.json
; RUN: not %nvptx-ra replay %t/nvptx-ra-k-0 2>&1 | FileCheck %s --check-prefix=AGAIN
; RUN: %nvptx-ra replay %t/nvptx-ra-k-0 --set inject=none --time 2 -o %t/after.mfv 2>&1 | FileCheck %s --check-prefix=PASS
; RUN: %nvptx-ra replay %t/after.mfv -o - 2>/dev/null | FileCheck %s --check-prefix=TEXT
; RUN: %nvptx-ra stats %t/stats.jsonl | FileCheck %s --check-prefix=STATS

; WARNING: warning: nvptx-ra: kernel 'k': internal error at src/{{.*}}; please report {{.*}}nvptx-ra-k-0
; REPORT: "llvm": "22.
; REPORT: "pass": "nvptx-copy-coalescer"
; REPORT: "command_line": "{{.*}}inject=panic
; REPORT: "backtrace": "{{.*}}nvptx_ra
; AGAIN: a panic was asked for
; PASS: k: {{[0-9]+}} instructions
; PASS: nvptx-copy-coalescer: {{[0-9]+}} edits
; PASS: time: 2 runs, least
; PASS: checked: the function computes the same
; TEXT: function "k"
; STATS: errors 1
; STATS: 1  nvptx-ra: kernel 'k': internal error

target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @k(ptr %p, i32 %n) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %next = add i32 %i, 1
  %at = getelementptr i32, ptr %p, i32 %i
  store i32 %i, ptr %at
  %again = icmp slt i32 %next, %n
  br i1 %again, label %loop, label %done
done:
  ret void
}
