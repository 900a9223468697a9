; `nvptx-ra optimum` reads the views that the plugin prints. A swap in a loop keeps its three copies.
; RUN: %llc-ra -nvptx-ra-trace=view -nvptx-ra-position=before -nvptx-ra-rename=off -mcpu=sm_90 %s -o /dev/null 2> %t.views
; RUN: %nvptx-ra optimum %t.views | FileCheck %s
; CHECK: "copies":{{[0-9]+}},{{.*}}"function":"k",{{.*}}"necessary":3,
; A truncated view is not skipped. It is an error with a position.
; RUN: head -c 300 %t.views > %t.cut
; RUN: not %nvptx-ra optimum %t.cut 2>&1 | FileCheck %s --check-prefix=CUT
; CUT: line {{[0-9]+}}
target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @k(ptr %p, i32 %n) {
entry:
  %a0 = load i32, ptr %p
  %q = getelementptr i32, ptr %p, i64 1
  %b0 = load i32, ptr %q
  br label %loop
loop:
  %a = phi i32 [ %a0, %entry ], [ %b, %loop ]
  %b = phi i32 [ %b0, %entry ], [ %a, %loop ]
  %i = phi i32 [ 0, %entry ], [ %i2, %loop ]
  store volatile i32 %a, ptr %p
  %i2 = add i32 %i, 1
  %c = icmp slt i32 %i2, %n
  br i1 %c, label %loop, label %exit
exit:
  ret void
}
