; If the pass fails with an error or a panic, at any position and at -O0, a loop with PHIs stays as in stock llc, and
; the diagnostic names the kernel. If errors are fatal, llc fails.
; RUN: rm -rf %t && mkdir %t
; RUN: %llc -mcpu=sm_90 %s -o - | sed -n '/globl/,$p' > %t/stock.ptx
; RUN: %llc -mcpu=sm_90 -O0 %s -o - | sed -n '/globl/,$p' > %t/stock-O0.ptx
; DEFINE: %{position} =
; DEFINE: %{fault} =
; DEFINE: %{level} = -O2
; DEFINE: %{stock} = stock
; DEFINE: %{run} = %llc -load-pass-plugin=%plugin -nvptx-ra-bundle=%t -nvptx-ra-position=%{position} -nvptx-ra-inject=%{fault} %{level} -mcpu=sm_90 %s -o %t/out.ptx 2> %t/err && sed -n '/globl/,$p' %t/out.ptx | diff %t/%{stock}.ptx - && FileCheck %s --check-prefix=SAYS-%{fault} --input-file %t/err
; REDEFINE: %{fault} = error
; REDEFINE: %{position} = before
; RUN: %{run}
; REDEFINE: %{position} = after
; RUN: %{run}
; REDEFINE: %{fault} = panic
; RUN: %{run}
; REDEFINE: %{position} = before
; RUN: %{run}
; REDEFINE: %{level} = -O0
; REDEFINE: %{stock} = stock-O0
; RUN: %{run}
; REDEFINE: %{position} = off -nvptx-ra-cssa
; RUN: %{run}
; REDEFINE: %{level} = -O2
; REDEFINE: %{stock} = stock
; RUN: %{run}
; REDEFINE: %{fault} = error
; RUN: %{run}
; REDEFINE: %{position} = off -nvptx-ra-rename
; RUN: %{run}
; REDEFINE: %{fault} = panic
; RUN: %{run}
; REDEFINE: %{fault} = late-panic
; RUN: %{run}
; REDEFINE: %{position} = after
; RUN: %{run}
; RUN: not %llc-ra -nvptx-ra-bundle=%t -nvptx-ra-inject=panic -mcpu=sm_90 %s -o %t/out.ptx 2>&1 | FileCheck %s --check-prefix=FATAL

; SAYS-error: warning: nvptx-ra: kernel 'sum': the option inject=error requests an error
; SAYS-late-panic: warning: nvptx-ra: kernel 'sum': the option inject=late-panic requests an error
; SAYS-panic: warning: nvptx-ra: kernel 'sum': internal error at src/passes/
; FATAL: error: nvptx-ra: kernel 'sum': internal error at src/passes/

target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @sum(ptr addrspace(1) %out, ptr addrspace(1) %in, i32 %n) {
entry:
  br label %loop

loop:
  %i = phi i32 [ 0, %entry ], [ %i.next, %loop ]
  %total = phi i32 [ 0, %entry ], [ %total.next, %loop ]
  %last = phi i32 [ 0, %entry ], [ %total, %loop ]
  %index = sext i32 %i to i64
  %address = getelementptr i32, ptr addrspace(1) %in, i64 %index
  %element = load i32, ptr addrspace(1) %address
  %total.next = add i32 %total, %element
  %i.next = add i32 %i, 1
  %more = icmp slt i32 %i.next, %n
  br i1 %more, label %loop, label %done

done:
  store i32 %last, ptr addrspace(1) %out
  ret void
}
