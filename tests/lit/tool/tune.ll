; A search never returns worse code than LLVM's own. Its profile gives the same PTX, byte for byte, in the tool and in
; llc, without ptxas. Code that has changed since the search is named and gets the defaults.
; REQUIRES: ptxas
; RUN: rm -rf %t && mkdir %t
; RUN: env CUDA_PATH=%cuda %nvptx-ra tune %s -o %t/tuned.ptx --runs 4 --profile %t/ra.toml --json > %t/tuned.json 2> %t/log
; RUN: FileCheck %s --check-prefix=LOG --input-file=%t/log
; LOG: nvptx-ra: 4 of 4 variants, {{.*[0-9]+}} → {{[0-9]+}} instructions, {{[0-9]+}} s
; RUN: %python %S/Inputs/never_worse.py %t/tuned.json 4
; RUN: %ptxas-verify -arch=sm_90 < %t/tuned.ptx
; If variants differ, the best of the variants that are no worse in any figure wins.
; RUN: env CUDA_PATH=%cuda %nvptx-ra tune %S/tune-shared.ll -o %t/spills.ptx --mattr=+ptx88 --runs 10 --json > %t/spills.json 2> %t/log
; RUN: %python %S/Inputs/never_worse.py %t/spills.json 10 better worse
;
; RUN: FileCheck %s --check-prefix=PROFILE --input-file=%t/ra.toml
; PROFILE: version = 1
; PROFILE: cpu = "sm_90"
; PROFILE: name = "loads"
; PROFILE-NEXT: hash = "{{[0-9a-f]+}}"
; PROFILE-NEXT: options = "
;
; RUN: %nvptx-ra compile %s --cpu sm_90 --set profile=%t/ra.toml -o %t/replayed.ptx
; RUN: cmp %t/tuned.ptx %t/replayed.ptx
; RUN: %llc -load-pass-plugin=%plugin -nvptx-ra-profile=%t/ra.toml -mcpu=sm_90 %s -o %t/llc.ptx
; RUN: cmp %t/tuned.ptx %t/llc.ptx
; The same search gives the same result for any number of threads, and a second search with a cache needs no run.
; RUN: env CUDA_PATH=%cuda %nvptx-ra tune %s -o %t/again.ptx --runs 4 --jobs 1 --cache %t/cache > %t/table 2>&1
; RUN: cmp %t/tuned.ptx %t/again.ptx
; RUN: env CUDA_PATH=%cuda %nvptx-ra tune %s -o %t/again.ptx --runs 4 --cache %t/cache --json 2>&1 | FileCheck %s --check-prefix=CACHED
; CACHED: "ptxas_runs": 0
; RUN: FileCheck %s --check-prefix=TABLE --input-file=%t/table
; TABLE: kernel spills (bytes) warps registers instructions executed predicted assurance choice
; TABLE: loads
; TABLE: bytes spilled: {{[0-9]+}} by LLVM, {{[0-9]+}} by default, {{[0-9]+}} tuned
;
; RUN: sed 's/i64 2$/i64 3/' %s > %t/changed.ll
; RUN: %nvptx-ra compile %t/changed.ll --cpu sm_90 --set profile=%t/ra.toml -o - 2>&1 | FileCheck %s --check-prefix=CHANGED
; CHANGED: nvptx-ra: {{.*}}ra.toml: 'loads' has changed and gets the defaults; run nvptx-ra tune again
; RUN: %nvptx-ra compile %s --cpu sm_80 --set profile=%t/ra.toml -o - 2>&1 | FileCheck %s --check-prefix=OTHER-CPU
; OTHER-CPU: nvptx-ra: {{.*}}ra.toml: made for sm_90, but the target is sm_80: every function gets the defaults
; A profile of a build with other defaults is replayed with a warning, because the PTX may differ.
; RUN: sed 's/^defaults = "./&x/' %t/ra.toml > %t/older.toml
; RUN: %nvptx-ra compile %s --cpu sm_90 --set profile=%t/older.toml -o %t/older.ptx 2>&1 | FileCheck %s --check-prefix=OLDER
; OLDER: nvptx-ra: {{.*}}older.toml: made by another version of nvptx-ra or with other defaults: {{.*}}; run nvptx-ra tune again
; RUN: cmp %t/tuned.ptx %t/older.ptx
; A broken or missing profile is reported once and changes nothing; with strict it is an error.
; RUN: sed 's/version = 1/version = 9/' %t/ra.toml > %t/broken.toml
; RUN: %nvptx-ra compile %s --cpu sm_90 --set profile=%t/broken.toml -o %t/unprofiled.ptx 2>&1 | FileCheck %s --check-prefix=BROKEN
; BROKEN: nvptx-ra: {{.*}}broken.toml: version 9, but this build reads version 1
; BROKEN-NOT: warning
; RUN: %nvptx-ra compile %s --cpu sm_90 -o %t/plain.ptx
; RUN: cmp %t/plain.ptx %t/unprofiled.ptx
; RUN: not %llc-ra -nvptx-ra-profile=%t/none.toml -mcpu=sm_90 %s -o %t/none.ptx 2>&1 | FileCheck %s --check-prefix=NONE
; NONE: error: nvptx-ra: {{.*}}none.toml: No such file

target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @loads(ptr addrspace(1) %in, ptr addrspace(1) %out) {
  %p1 = getelementptr i32, ptr addrspace(1) %in, i64 1
  %p2 = getelementptr i32, ptr addrspace(1) %in, i64 2
  %a = load i32, ptr addrspace(1) %in
  %b = load i32, ptr addrspace(1) %p1
  %c = load i32, ptr addrspace(1) %p2
  %a1 = add i32 %a, 11
  %ab = xor i32 %a1, %b
  %ab1 = mul i32 %ab, 7
  %abc = add i32 %ab1, %c
  store i32 %abc, ptr addrspace(1) %out
  ret void
}
