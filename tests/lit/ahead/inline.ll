; A choice for a kernel, applied before LLVM's optimisations, decides which calls are inlined into the kernel. The cost
; attribute makes functions too large for LLVM.

; Without a choice nothing changes.
; RUN: sed 's/nvptx-ra"="inline=[a-z]*"/nvptx-ra"="verify"/' %s > %t.none.ll
; RUN: opt -passes='default<O3>' -S %t.none.ll -o %t.stock
; RUN: %opt -load-pass-plugin=%plugin -passes='default<O3>' -S %t.none.ll -o %t.plugin
; RUN: cmp %t.stock %t.plugin
; RUN: %opt -load-pass-plugin=%plugin -passes='default<O3>' -S %s | FileCheck %s
; RUN: %opt -load-pass-plugin=%plugin -passes='default<O1>' -nvptx-ra-inline=llvm -S %s | FileCheck %s --check-prefix=LLVM
; At -O0 choices have no effect.
; RUN: %opt -load-pass-plugin=%plugin -passes='default<O0>' -S %s | FileCheck %s --check-prefix=LLVM
; RUN: %opt -load-pass-plugin=%plugin -passes='default<O3>' %s -o - | %llc -mcpu=sm_90 -o - \
; RUN:   %if ptxas %{ | %ptxas-verify -arch=sm_90 %}

target triple = "nvptx64-nvidia-cuda"

; LLVM-LABEL: define {{.*}}void @stack(
; LLVM: call {{.*}}@sum
; LLVM: call {{.*}}@apply
; LLVM: call {{.*}}@sum

; All functions that can reach the array are inlined: one gets its address, a closure stores the address, and a function
; that gets the closure loads it. A function that gets a pointer to global memory is not inlined.
; CHECK-LABEL: define {{.*}}void @stack(
; CHECK-NOT: call
; CHECK: call {{.*}}i32 @{{"?sum(\$[0-9]+"?)?}}(ptr {{.*}}%out)
; CHECK-NOT: call
; CHECK: ret void
define ptx_kernel void @stack(ptr %out, i32 %x) "nvptx-ra"="inline=stack" {
  %array = alloca [4 x i32]
  %closure = alloca { ptr }
  store i32 %x, ptr %array
  %second = getelementptr i32, ptr %array, i64 1
  store i32 7, ptr %second
  %a = call i32 @sum(ptr %array)
  store ptr %array, ptr %closure
  %b = call i32 @apply(ptr %closure)
  %c = call i32 @sum(ptr %out)
  %ab = add i32 %a, %b
  %abc = add i32 %ab, %c
  store i32 %abc, ptr %out
  ret void
}

; All calls are inlined, except those that must not be.
; CHECK-LABEL: define {{.*}}void @all(
; CHECK-NOT: call {{.*}}@sum
; CHECK: call {{.*}}@kept
; CHECK-NOT: call {{.*}}@sum
; CHECK: call {{.*}}@again
; CHECK: ret void
define ptx_kernel void @all(ptr %out, i32 %x) "nvptx-ra"="inline=all" {
  %a = call i32 @sum(ptr %out)
  %b = call i32 @kept(ptr %out)
  %c = call i32 @again(ptr %out, i32 %x)
  %ab = add i32 %a, %b
  %abc = add i32 %ab, %c
  store i32 %abc, ptr %out
  ret void
}

; A kernel without a choice stays as LLVM compiles it, even if other kernels in the module have choices.
; CHECK-LABEL: define {{.*}}void @none(
; CHECK: call {{.*}}@sum(ptr
; CHECK: ret void
define ptx_kernel void @none(ptr %out, i32 %x) {
  %array = alloca [4 x i32]
  store i32 %x, ptr %array
  %a = call i32 @sum(ptr %array)
  store i32 %a, ptr %out
  ret void
}

; Code that is inlined into a kernel loses its types. With types, LLVM could move the load before the store, but source
; code that breaks C++'s aliasing rule expects their order. In stock, the call separates load and store.
; CHECK-LABEL: define {{.*}}void @types(
; CHECK-NOT: !tbaa
; CHECK: store i32 %x, ptr %out, align 4{{$}}
; CHECK: load volatile i16, ptr %out, align 4{{$}}
; CHECK-NOT: !tbaa
; CHECK: ret void
define ptx_kernel void @types(ptr %out, i32 %x) "nvptx-ra"="inline=all" {
  store i32 %x, ptr %out, !tbaa !3
  %a = call i16 @half(ptr %out)
  store i16 %a, ptr %out
  ret void
}

; A kernel without the choice keeps the types. So does the function that both kernels call.
; CHECK-LABEL: define {{.*}}void @keeps_types(
; CHECK: store i32 %x, ptr %out, align 4, !tbaa
; CHECK: call {{.*}}@half
; CHECK: ret void
define ptx_kernel void @keeps_types(ptr %out, i32 %x) {
  store i32 %x, ptr %out, !tbaa !3
  %a = call i16 @half(ptr %out)
  store i16 %a, ptr %out
  ret void
}

; With `inline=less`, calls that LLVM would inline are not inlined.
; CHECK-LABEL: define {{.*}}void @less(
; CHECK: call {{.*}}@middling
; CHECK: ret void
define ptx_kernel void @less(ptr %out) "nvptx-ra"="inline=less" {
  %a = call i32 @middling(ptr %out)
  %b = call i32 @middling(ptr %out)
  %ab = add i32 %a, %b
  store i32 %ab, ptr %out
  ret void
}

; CHECK-LABEL: define {{.*}}void @more(
; CHECK-NOT: call
; CHECK: ret void
define ptx_kernel void @more(ptr %out) {
  %a = call i32 @middling(ptr %out)
  %b = call i32 @middling(ptr %out)
  %ab = add i32 %a, %b
  store i32 %ab, ptr %out
  ret void
}

define i32 @sum(ptr %p) "function-inline-cost"="100000" {
  %a = load volatile i32, ptr %p
  %q = getelementptr i32, ptr %p, i64 1
  %b = load i32, ptr %q
  %ab = add i32 %a, %b
  ret i32 %ab
}

; CHECK-LABEL: define {{.*}}i16 @half(
; CHECK: load volatile i16, ptr %p, align 2, !tbaa
define internal i16 @half(ptr %p) "function-inline-cost"="100000" {
  %a = load volatile i16, ptr %p, !tbaa !4
  ret i16 %a
}

define internal i32 @apply(ptr %closure) "function-inline-cost"="100000" {
  %array = load ptr, ptr %closure
  %a = call i32 @sum(ptr %array)
  ret i32 %a
}

define internal i32 @kept(ptr %p) noinline {
  %a = load volatile i32, ptr %p
  ret i32 %a
}

define internal i32 @again(ptr %p, i32 %n) "function-inline-cost"="100000" {
  %a = load volatile i32, ptr %p
  %is = icmp eq i32 %a, %n
  br i1 %is, label %end, label %more

more:
  %m = sub i32 %n, %a
  %b = call i32 @again(ptr %p, i32 %m)
  %c = mul i32 %b, %a
  br label %end

end:
  %r = phi i32 [ %a, %0 ], [ %c, %more ]
  ret i32 %r
}

define internal i32 @middling(ptr %p) "function-inline-cost"="1000" {
  %a = load volatile i32, ptr %p
  ret i32 %a
}

!0 = !{!"types"}
!1 = !{!"int", !0}
!2 = !{!"short", !0}
!3 = !{!1, !1, i64 0}
!4 = !{!2, !2, i64 0}
