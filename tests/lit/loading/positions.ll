; The coalescer runs at the requested position, adds no analysis that is not computed anyway, and needs none at -O0. The
; same holds for the forecast, which follows the coalescer or takes its position. The pass that orders instructions
; follows both, after the last pass that numbers instructions, so no numbering is added. Loop shape and renaming run
; after branch folding and block placement, and also if these are disabled.
; RUN: %llc -load-pass-plugin=%plugin -debug-pass=Structure -mcpu=sm_90 %s -o /dev/null 2>&1 \
; RUN:   | FileCheck %s --check-prefix=AFTER
; RUN: %llc -load-pass-plugin=%plugin -nvptx-ra-position=before -debug-pass=Structure -mcpu=sm_90 %s -o /dev/null 2>&1 \
; RUN:   | FileCheck %s --check-prefix=BEFORE
; RUN: %llc -load-pass-plugin=%plugin -nvptx-ra-position=after -debug-pass=Structure -mcpu=sm_90 %s -o /dev/null 2>&1 \
; RUN:   | FileCheck %s --check-prefix=AFTER
; RUN: %llc -load-pass-plugin=%plugin -nvptx-ra-position=instead -debug-pass=Structure -mcpu=sm_90 %s -o /dev/null 2>&1 \
; RUN:   | FileCheck %s --check-prefix=INSTEAD
; RUN: %llc -load-pass-plugin=%plugin -nvptx-ra-position=off -nvptx-ra-rename=off -debug-pass=Structure -mcpu=sm_90 %s -o /dev/null 2>&1 \
; RUN:   | FileCheck %s --check-prefix=OFF
; RUN: %llc -load-pass-plugin=%plugin -O0 -debug-pass=Structure -mcpu=sm_90 %s -o /dev/null 2>&1 \
; RUN:   | FileCheck %s --check-prefix=O0
; RUN: %llc -load-pass-plugin=%plugin -O1 -debug-pass=Structure -mcpu=sm_90 %s -o /dev/null 2>&1 \
; RUN:   | FileCheck %s --check-prefixes=PLACED,LAST
; RUN: %llc -load-pass-plugin=%plugin -O3 -debug-pass=Structure -mcpu=sm_90 %s -o /dev/null 2>&1 \
; RUN:   | FileCheck %s --check-prefixes=PLACED,LAST
; RUN: %llc -load-pass-plugin=%plugin -disable-branch-fold -disable-block-placement -debug-pass=Structure -mcpu=sm_90 %s \
; RUN:   -o /dev/null 2>&1 | FileCheck %s --check-prefix=LAST

; Stack slot colouring needs the same block frequencies. They are computed earlier, but still only once.
; BEFORE:      Two-Address instruction pass
; BEFORE-NEXT: Machine Block Frequency Analysis
; BEFORE-NEXT: NVPTX copy coalescer
; BEFORE-NEXT: Slot index numbering
; BEFORE-NEXT: Live Interval Analysis
; BEFORE-NEXT: Register Coalescer
; BEFORE-NEXT: Machine Instruction Scheduler
; BEFORE-NEXT: NVPTX resource forecast
; BEFORE-NEXT: Live Stack Slot Analysis
; BEFORE-NEXT: Stack Slot Coloring
; BEFORE-NEXT: NVPTX SIMD video instructions
; BEFORE-NEXT: NVPTX shared addresses
; BEFORE-NEXT: NVPTX rematerialisation
; BEFORE-NEXT: NVPTX instruction order

; AFTER:      Two-Address instruction pass
; AFTER-NEXT: Slot index numbering
; AFTER-NEXT: Live Interval Analysis
; AFTER-NEXT: Register Coalescer
; AFTER-NEXT: Machine Instruction Scheduler
; AFTER-NEXT: Machine Block Frequency Analysis
; AFTER-NEXT: NVPTX copy coalescer
; AFTER-NEXT: NVPTX resource forecast
; AFTER-NOT:  Live Interval Analysis
; AFTER:      Stack Slot Coloring
; AFTER-NEXT: NVPTX SIMD video instructions
; AFTER-NEXT: NVPTX shared addresses
; AFTER-NEXT: NVPTX rematerialisation
; AFTER-NEXT: NVPTX instruction order

; INSTEAD:      Two-Address instruction pass
; INSTEAD-NEXT: Machine Block Frequency Analysis
; INSTEAD-NEXT: NVPTX copy coalescer
; INSTEAD-NEXT: Slot index numbering
; INSTEAD-NEXT: Live Interval Analysis
; INSTEAD-NEXT: Machine Instruction Scheduler
; INSTEAD-NOT:  Register Coalescer
; INSTEAD:      Stack Slot Coloring

; PLACED:    NVPTX optimize redundant cvta.to.local instruction
; PLACED:    Control Flow Optimizer
; PLACED:    Branch Probability Basic Block Placement
; LAST:      Insert XRay ops
; LAST-NEXT: NVPTX loop shape
; LAST-NEXT: NVPTX register renaming
; LAST:      NVPTX Assembly Printer

; OFF-NOT:  NVPTX copy coalescer
; OFF:      Machine Instruction Scheduler
; OFF-NEXT: NVPTX resource forecast
; OFF-NEXT: Live Stack Slot Analysis
; OFF-NOT: NVPTX register renaming
; OFF-NOT: NVPTX register allocation header note

; O0:      Two-Address instruction pass
; O0-NEXT: NVPTX copy coalescer
; O0-NEXT: NVPTX resource forecast
; O0-NEXT: NVPTX Prolog Epilog Pass
; O0-NEXT: NVPTX register renaming

target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @k() {
  ret void
}
