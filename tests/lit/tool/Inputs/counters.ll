; A loop over five arrays. With loop strength reduction, the loop increments five addresses. Without it, the loop
; increments one counter.
target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @sum(ptr addrspace(1) %a, ptr addrspace(1) %b, ptr addrspace(1) %c, ptr addrspace(1) %d,
                            ptr addrspace(1) %out, i32 %n) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %go ]
  %wide = zext i32 %i to i64
  %at.a = getelementptr float, ptr addrspace(1) %a, i64 %wide
  %at.b = getelementptr double, ptr addrspace(1) %b, i64 %wide
  %at.c = getelementptr [3 x float], ptr addrspace(1) %c, i64 %wide
  %at.d = getelementptr [5 x float], ptr addrspace(1) %d, i64 %wide
  %at.out = getelementptr [7 x float], ptr addrspace(1) %out, i64 %wide
  %x.a = load float, ptr addrspace(1) %at.a
  %x.b = load float, ptr addrspace(1) %at.b
  %x.c = load float, ptr addrspace(1) %at.c
  %x.d = load float, ptr addrspace(1) %at.d
  %is.zero = fcmp oeq float %x.a, 0.0
  br i1 %is.zero, label %end, label %go
go:
  %ab = fadd float %x.a, %x.b
  %cd = fadd float %x.c, %x.d
  %sum = fadd float %ab, %cd
  store float %sum, ptr addrspace(1) %at.out
  %next = add nuw nsw i32 %i, 1
  %more = icmp ult i32 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}
