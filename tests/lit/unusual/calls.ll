; Calls of every kind compile to code that the checker, LLVM's machine verifier and ptxas accept, with and without
; optimisation, before and after LLVM's own coalescer.
; DEFINE: %{compile} = %llc-ra -verify-machineinstrs -mcpu=sm_90
; RUN: %{compile} -O0 %s -o %t.O0.ptx
; RUN: %{compile} -O3 %s -o %t.O3.ptx
; RUN: %{compile} -O3 -nvptx-ra-position=before %s -o %t.before.ptx
; RUN: %if ptxas %{ %ptxas-verify -arch=sm_90 -o %t.cubin < %t.O0.ptx %}
; RUN: %if ptxas %{ %ptxas-verify -arch=sm_90 -o %t.cubin < %t.O3.ptx %}
; RUN: %if ptxas %{ %ptxas-verify -arch=sm_90 -o %t.cubin < %t.before.ptx %}
; RUN: FileCheck %s < %t.O0.ptx
; RUN: FileCheck %s < %t.O3.ptx

target triple = "nvptx64-nvidia-cuda"

declare i32 @variadic(i32, ...)
declare void @never_called(i32)

; CHECK-LABEL: recursive(
; CHECK-COUNT-2: call.uni (retval0), recursive,
define i32 @recursive(i32 %n) {
entry:
  %base = icmp ult i32 %n, 2
  br i1 %base, label %done, label %again
again:
  %m = sub i32 %n, 1
  %a = call i32 @recursive(i32 %m)
  %l = sub i32 %n, 2
  %b = call i32 @recursive(i32 %l)
  %s = add i32 %a, %b
  br label %done
done:
  %r = phi i32 [ %n, %entry ], [ %s, %again ]
  ret i32 %r
}

; A call with the same argument twice, and with several results, of which one is unused.
; CHECK-LABEL: indirect(
; CHECK: callprototype
; CHECK: call (retval0), %rd{{[0-9]+}}, (param0, param1), prototype
; CHECK: call (retval0), %rd
define i32 @indirect(ptr %f, i32 %n) {
  %a = call i32 %f(i32 %n, i32 %n)
  %b = call { i32, i64, i16 } %f(i32 %a)
  %c = extractvalue { i32, i64, i16 } %b, 0
  %d = extractvalue { i32, i64, i16 } %b, 2
  %e = zext i16 %d to i32
  %r = add i32 %c, %e
  ret i32 %r
}

; CHECK-LABEL: calls_variadic(
; CHECK: call.uni (retval0), variadic, (param0, param1);
define i32 @calls_variadic(i32 %n, double %d, i64 %w, ptr %p) {
  %r = call i32 (i32, ...) @variadic(i32 %n, double %d, i64 %w, ptr %p)
  ret i32 %r
}

; CHECK-LABEL: is_variadic(
; CHECK: ld
define i32 @is_variadic(i32 %n, ...) {
  %list = alloca ptr
  call void @llvm.va_start(ptr %list)
  %a = va_arg ptr %list, i32
  %b = va_arg ptr %list, i64
  call void @llvm.va_end(ptr %list)
  %c = trunc i64 %b to i32
  %r = add i32 %a, %c
  ret i32 %r
}

; A loop whose values pass through a call.
; CHECK-LABEL: in_a_loop(
; CHECK: call.uni (retval0), recursive,
define i32 @in_a_loop(i32 %n) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %j, %loop ]
  %x = phi i32 [ %n, %entry ], [ %y, %loop ]
  %last = phi i32 [ 0, %entry ], [ %x, %loop ]
  %y = call i32 @recursive(i32 %x)
  %j = add i32 %i, 1
  %c = icmp slt i32 %j, %n
  br i1 %c, label %loop, label %done
done:
  %r = add i32 %last, %y
  ret i32 %r
}
