; A kernel that spills is tried with spills to shared memory if the PTX version supports them and the size of shared
; memory is known. A profile may choose them, and a build replays the profile byte for byte. With an older PTX version,
; or if the launch sets the size of shared memory, spills to shared memory are not requested, and a message names a
; profile that requests them. In the winner here, the passes spill values of an LLVM kernel to shared memory instead of
; ptxas; the profile has the value names that LLVM prints.
; REQUIRES: ptxas
; RUN: rm -rf %t && mkdir %t
; RUN: env CUDA_PATH=%cuda %nvptx-ra tune %s -o %t/tuned.ptx --mattr=+ptx88 --runs 20 --allow-more-instructions --profile %t/ra.toml > %t/table 2> %t/log
; RUN: FileCheck %s --check-prefix=TABLE --input-file=%t/table
; TABLE: {{^spills .* [1-9][0-9]* → [0-9]+ .*regalloc-registers=%r}}
; TABLE: spilling to shared memory: 1 kernels
; RUN: %llc -load-pass-plugin=%plugin -nvptx-ra-profile=%t/ra.toml -mcpu=sm_90 -mattr=+ptx88 %s -o %t/llc.ptx
; RUN: cmp %t/tuned.ptx %t/llc.ptx
; RUN: env CUDA_PATH=%cuda %nvptx-ra tune %s -o %t/none.ptx --mattr=+ptx88 --runs 32 --allow-more-instructions --json 2> %t/log | grep -c '"choice": "[^"]*smem-spilling"'
; RUN: sed 's/^options = .*/options = ""/; s/^smem_spilling.*//; $a smem_spilling = true' %t/ra.toml > %t/pragma.toml
; RUN: %llc -load-pass-plugin=%plugin -nvptx-ra-profile=%t/pragma.toml -mcpu=sm_90 -mattr=+ptx88 %s -o %t/pragma.ptx
; RUN: FileCheck %s --check-prefix=PTX --input-file=%t/pragma.ptx
; PTX-LABEL: .entry spills(
; PTX-COUNT-1: .pragma "enable_smem_spilling";
; PTX-NOT: .pragma
; RUN: %llc-ra -nvptx-ra-profile=%t/pragma.toml -mcpu=sm_90 -mattr=+ptx87 %s -o %t/oldest.ptx
; RUN: %ptxas -arch=sm_90 %t/oldest.ptx -o %t/oldest.cubin
; With an older PTX version the search does not try these spills, and the message for the profile names the required
; version.
; RUN: env CUDA_PATH=%cuda %nvptx-ra tune %s -o %t/older.ptx --mattr=+ptx86 --runs 32 --allow-more-instructions --profile %t/older.toml --json 2> %t/log \
; RUN:   | not grep smem-spilling
; RUN: not grep pragma %t/older.ptx
; RUN: not grep smem_spilling %t/older.toml
; RUN: %llc -load-pass-plugin=%plugin -nvptx-ra-profile=%t/pragma.toml -mcpu=sm_90 %s -o %t/default.ptx 2>&1 \
; RUN:   | FileCheck %s --check-prefix=AHEAD
; AHEAD: nvptx-ra: {{.*}}pragma.toml: 'spills' needs a later PTX version and gets the defaults; run nvptx-ra tune again without it, or use -mattr=+ptx87
; RUN: not grep pragma %t/default.ptx
; Shared memory whose size the launch sets:
; RUN: sed 's/; TILE //' %s > %t/tile.ll
; RUN: env CUDA_PATH=%cuda %nvptx-ra tune %t/tile.ll -o %t/tile.ptx --mattr=+ptx88 --runs 10 --allow-more-instructions > %t/table 2> %t/log
; RUN: not grep smem-spilling %t/table
; RUN: FileCheck %s --check-prefix=UNKNOWN --input-file=%t/log
; UNKNOWN: nvptx-ra: for 1 of the kernels, only the launch decides the size of dynamic shared memory. The size counts as zero; set it with --dynamic-shared
; If the search knows this size, registers that cost no warp with it are free. Two blocks of 256 threads fit, so the
; limit of 40 registers, which spills, may rise to 128.
; RUN: sed 's/"nvvm.minctasm"="8"/"nvvm.maxnreg"="40"/' %t/tile.ll > %t/limited.ll
; RUN: env CUDA_PATH=%cuda %nvptx-ra tune %t/limited.ll -o %t/limited.ptx --mattr=+ptx88 --runs 12 --dynamic-shared spills=100000 > %t/table 2> %t/log
; RUN: FileCheck %s --check-prefix=FREE --input-file=%t/table
; FREE: {{^spills +[1-9][0-9]* → 0 +16 }}
; RUN: FileCheck %s --check-prefix=LIMIT --input-file=%t/limited.ptx
; LIMIT: .maxnreg 128
; RUN: not grep "the launch says" %t/log
; If the size exceeds an SM's memory, the search ignores warps and reports this.
; RUN: env CUDA_PATH=%cuda %nvptx-ra tune %t/limited.ll -o %t/large.ptx --runs 1 --dynamic-shared 300000 2>&1 > %t/table | FileCheck %s --check-prefix=LARGE
; LARGE: nvptx-ra: a block of 1 of the kernels does not fit on an SM, so their occupancy does not count: a block of 'spills' has 256 threads of {{[0-9]+}} registers and 300{{[0-9]+}} bytes of shared memory; sm_90 allows 1024 threads, 65536 registers and 232448 bytes
; RUN: not grep "no block" %t/log
; RUN: not env CUDA_PATH=%cuda %nvptx-ra tune %t/tile.ll -o %t/no.ptx --dynamic-shared spill=1 --dynamic-shared fills=1 2>&1 | FileCheck %s --check-prefix=NOBODY
; NOBODY: nvptx-ra: --dynamic-shared fills=1: {{.*}}tile.ll has no kernel whose name contains 'fills'; give a part of an existing kernel's name
; RUN: not test -e %t/no.ptx

target triple = "nvptx64-nvidia-cuda"
; TILE @tile = external addrspace(3) global [0 x i32]

define ptx_kernel void @spills(ptr addrspace(1) %in, ptr addrspace(1) %out) "nvvm.maxntid"="256" "nvvm.minctasm"="8" {
  %p0 = getelementptr i32, ptr addrspace(1) %in, i64 0
  %v0 = load volatile i32, ptr addrspace(1) %p0
  %p1 = getelementptr i32, ptr addrspace(1) %in, i64 7
  %v1 = load volatile i32, ptr addrspace(1) %p1
  %p2 = getelementptr i32, ptr addrspace(1) %in, i64 14
  %v2 = load volatile i32, ptr addrspace(1) %p2
  %p3 = getelementptr i32, ptr addrspace(1) %in, i64 21
  %v3 = load volatile i32, ptr addrspace(1) %p3
  %p4 = getelementptr i32, ptr addrspace(1) %in, i64 28
  %v4 = load volatile i32, ptr addrspace(1) %p4
  %p5 = getelementptr i32, ptr addrspace(1) %in, i64 35
  %v5 = load volatile i32, ptr addrspace(1) %p5
  %p6 = getelementptr i32, ptr addrspace(1) %in, i64 42
  %v6 = load volatile i32, ptr addrspace(1) %p6
  %p7 = getelementptr i32, ptr addrspace(1) %in, i64 49
  %v7 = load volatile i32, ptr addrspace(1) %p7
  %p8 = getelementptr i32, ptr addrspace(1) %in, i64 56
  %v8 = load volatile i32, ptr addrspace(1) %p8
  %p9 = getelementptr i32, ptr addrspace(1) %in, i64 63
  %v9 = load volatile i32, ptr addrspace(1) %p9
  %p10 = getelementptr i32, ptr addrspace(1) %in, i64 70
  %v10 = load volatile i32, ptr addrspace(1) %p10
  %p11 = getelementptr i32, ptr addrspace(1) %in, i64 77
  %v11 = load volatile i32, ptr addrspace(1) %p11
  %p12 = getelementptr i32, ptr addrspace(1) %in, i64 84
  %v12 = load volatile i32, ptr addrspace(1) %p12
  %p13 = getelementptr i32, ptr addrspace(1) %in, i64 91
  %v13 = load volatile i32, ptr addrspace(1) %p13
  %p14 = getelementptr i32, ptr addrspace(1) %in, i64 98
  %v14 = load volatile i32, ptr addrspace(1) %p14
  %p15 = getelementptr i32, ptr addrspace(1) %in, i64 105
  %v15 = load volatile i32, ptr addrspace(1) %p15
  %p16 = getelementptr i32, ptr addrspace(1) %in, i64 112
  %v16 = load volatile i32, ptr addrspace(1) %p16
  %p17 = getelementptr i32, ptr addrspace(1) %in, i64 119
  %v17 = load volatile i32, ptr addrspace(1) %p17
  %p18 = getelementptr i32, ptr addrspace(1) %in, i64 126
  %v18 = load volatile i32, ptr addrspace(1) %p18
  %p19 = getelementptr i32, ptr addrspace(1) %in, i64 133
  %v19 = load volatile i32, ptr addrspace(1) %p19
  %p20 = getelementptr i32, ptr addrspace(1) %in, i64 140
  %v20 = load volatile i32, ptr addrspace(1) %p20
  %p21 = getelementptr i32, ptr addrspace(1) %in, i64 147
  %v21 = load volatile i32, ptr addrspace(1) %p21
  %p22 = getelementptr i32, ptr addrspace(1) %in, i64 154
  %v22 = load volatile i32, ptr addrspace(1) %p22
  %p23 = getelementptr i32, ptr addrspace(1) %in, i64 161
  %v23 = load volatile i32, ptr addrspace(1) %p23
  %p24 = getelementptr i32, ptr addrspace(1) %in, i64 168
  %v24 = load volatile i32, ptr addrspace(1) %p24
  %p25 = getelementptr i32, ptr addrspace(1) %in, i64 175
  %v25 = load volatile i32, ptr addrspace(1) %p25
; TILE   store i32 %v0, ptr addrspace(3) @tile
  br label %loop
loop:
  %i = phi i32 [0, %0], [%j, %loop]
  %x0 = phi i32 [%v0, %0], [%y0, %loop]
  %x1 = phi i32 [%v1, %0], [%y1, %loop]
  %x2 = phi i32 [%v2, %0], [%y2, %loop]
  %x3 = phi i32 [%v3, %0], [%y3, %loop]
  %x4 = phi i32 [%v4, %0], [%y4, %loop]
  %x5 = phi i32 [%v5, %0], [%y5, %loop]
  %x6 = phi i32 [%v6, %0], [%y6, %loop]
  %x7 = phi i32 [%v7, %0], [%y7, %loop]
  %x8 = phi i32 [%v8, %0], [%y8, %loop]
  %x9 = phi i32 [%v9, %0], [%y9, %loop]
  %x10 = phi i32 [%v10, %0], [%y10, %loop]
  %x11 = phi i32 [%v11, %0], [%y11, %loop]
  %x12 = phi i32 [%v12, %0], [%y12, %loop]
  %x13 = phi i32 [%v13, %0], [%y13, %loop]
  %x14 = phi i32 [%v14, %0], [%y14, %loop]
  %x15 = phi i32 [%v15, %0], [%y15, %loop]
  %x16 = phi i32 [%v16, %0], [%y16, %loop]
  %x17 = phi i32 [%v17, %0], [%y17, %loop]
  %x18 = phi i32 [%v18, %0], [%y18, %loop]
  %x19 = phi i32 [%v19, %0], [%y19, %loop]
  %x20 = phi i32 [%v20, %0], [%y20, %loop]
  %x21 = phi i32 [%v21, %0], [%y21, %loop]
  %x22 = phi i32 [%v22, %0], [%y22, %loop]
  %x23 = phi i32 [%v23, %0], [%y23, %loop]
  %x24 = phi i32 [%v24, %0], [%y24, %loop]
  %x25 = phi i32 [%v25, %0], [%y25, %loop]
  %m0 = mul i32 %x0, %x7
  %y0 = add i32 %m0, %x3
  %m1 = mul i32 %x1, %x8
  %y1 = add i32 %m1, %x8
  %m2 = mul i32 %x2, %x9
  %y2 = add i32 %m2, %x13
  %m3 = mul i32 %x3, %x10
  %y3 = add i32 %m3, %x18
  %m4 = mul i32 %x4, %x11
  %y4 = add i32 %m4, %x23
  %m5 = mul i32 %x5, %x12
  %y5 = add i32 %m5, %x2
  %m6 = mul i32 %x6, %x13
  %y6 = add i32 %m6, %x7
  %m7 = mul i32 %x7, %x14
  %y7 = add i32 %m7, %x12
  %m8 = mul i32 %x8, %x15
  %y8 = add i32 %m8, %x17
  %m9 = mul i32 %x9, %x16
  %y9 = add i32 %m9, %x22
  %m10 = mul i32 %x10, %x17
  %y10 = add i32 %m10, %x1
  %m11 = mul i32 %x11, %x18
  %y11 = add i32 %m11, %x6
  %m12 = mul i32 %x12, %x19
  %y12 = add i32 %m12, %x11
  %m13 = mul i32 %x13, %x20
  %y13 = add i32 %m13, %x16
  %m14 = mul i32 %x14, %x21
  %y14 = add i32 %m14, %x21
  %m15 = mul i32 %x15, %x22
  %y15 = add i32 %m15, %x0
  %m16 = mul i32 %x16, %x23
  %y16 = add i32 %m16, %x5
  %m17 = mul i32 %x17, %x24
  %y17 = add i32 %m17, %x10
  %m18 = mul i32 %x18, %x25
  %y18 = add i32 %m18, %x15
  %m19 = mul i32 %x19, %x0
  %y19 = add i32 %m19, %x20
  %m20 = mul i32 %x20, %x1
  %y20 = add i32 %m20, %x25
  %m21 = mul i32 %x21, %x2
  %y21 = add i32 %m21, %x4
  %m22 = mul i32 %x22, %x3
  %y22 = add i32 %m22, %x9
  %m23 = mul i32 %x23, %x4
  %y23 = add i32 %m23, %x14
  %m24 = mul i32 %x24, %x5
  %y24 = add i32 %m24, %x19
  %m25 = mul i32 %x25, %x6
  %y25 = add i32 %m25, %x24
  %j = add i32 %i, 1
  %c = icmp slt i32 %j, 100
  br i1 %c, label %loop, label %end
end:
  %q0 = getelementptr i32, ptr addrspace(1) %out, i64 0
  store volatile i32 %y0, ptr addrspace(1) %q0
  %q1 = getelementptr i32, ptr addrspace(1) %out, i64 7
  store volatile i32 %y1, ptr addrspace(1) %q1
  %q2 = getelementptr i32, ptr addrspace(1) %out, i64 14
  store volatile i32 %y2, ptr addrspace(1) %q2
  %q3 = getelementptr i32, ptr addrspace(1) %out, i64 21
  store volatile i32 %y3, ptr addrspace(1) %q3
  %q4 = getelementptr i32, ptr addrspace(1) %out, i64 28
  store volatile i32 %y4, ptr addrspace(1) %q4
  %q5 = getelementptr i32, ptr addrspace(1) %out, i64 35
  store volatile i32 %y5, ptr addrspace(1) %q5
  %q6 = getelementptr i32, ptr addrspace(1) %out, i64 42
  store volatile i32 %y6, ptr addrspace(1) %q6
  %q7 = getelementptr i32, ptr addrspace(1) %out, i64 49
  store volatile i32 %y7, ptr addrspace(1) %q7
  %q8 = getelementptr i32, ptr addrspace(1) %out, i64 56
  store volatile i32 %y8, ptr addrspace(1) %q8
  %q9 = getelementptr i32, ptr addrspace(1) %out, i64 63
  store volatile i32 %y9, ptr addrspace(1) %q9
  %q10 = getelementptr i32, ptr addrspace(1) %out, i64 70
  store volatile i32 %y10, ptr addrspace(1) %q10
  %q11 = getelementptr i32, ptr addrspace(1) %out, i64 77
  store volatile i32 %y11, ptr addrspace(1) %q11
  %q12 = getelementptr i32, ptr addrspace(1) %out, i64 84
  store volatile i32 %y12, ptr addrspace(1) %q12
  %q13 = getelementptr i32, ptr addrspace(1) %out, i64 91
  store volatile i32 %y13, ptr addrspace(1) %q13
  %q14 = getelementptr i32, ptr addrspace(1) %out, i64 98
  store volatile i32 %y14, ptr addrspace(1) %q14
  %q15 = getelementptr i32, ptr addrspace(1) %out, i64 105
  store volatile i32 %y15, ptr addrspace(1) %q15
  %q16 = getelementptr i32, ptr addrspace(1) %out, i64 112
  store volatile i32 %y16, ptr addrspace(1) %q16
  %q17 = getelementptr i32, ptr addrspace(1) %out, i64 119
  store volatile i32 %y17, ptr addrspace(1) %q17
  %q18 = getelementptr i32, ptr addrspace(1) %out, i64 126
  store volatile i32 %y18, ptr addrspace(1) %q18
  %q19 = getelementptr i32, ptr addrspace(1) %out, i64 133
  store volatile i32 %y19, ptr addrspace(1) %q19
  %q20 = getelementptr i32, ptr addrspace(1) %out, i64 140
  store volatile i32 %y20, ptr addrspace(1) %q20
  %q21 = getelementptr i32, ptr addrspace(1) %out, i64 147
  store volatile i32 %y21, ptr addrspace(1) %q21
  %q22 = getelementptr i32, ptr addrspace(1) %out, i64 154
  store volatile i32 %y22, ptr addrspace(1) %q22
  %q23 = getelementptr i32, ptr addrspace(1) %out, i64 161
  store volatile i32 %y23, ptr addrspace(1) %q23
  %q24 = getelementptr i32, ptr addrspace(1) %out, i64 168
  store volatile i32 %y24, ptr addrspace(1) %q24
  %q25 = getelementptr i32, ptr addrspace(1) %out, i64 175
  store volatile i32 %y25, ptr addrspace(1) %q25
  ret void
}
