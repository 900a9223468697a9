#!/bin/sh
# Writes tests/golden/opcode_descriptors.txt anew from the installed LLVM, or with --check compares it and changes
# nothing. LLVM_CONFIG names the LLVM (default: llvm-config-22). The classification of those opcodes, opcodes.txt, then
# follows by: UPDATE_EXPECT=1 cargo test --no-default-features target::
set -eu

here=$(cd "$(dirname "$0")" && pwd)
config=${LLVM_CONFIG:-llvm-config-22}
bin=$("$config" --bindir)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# shellcheck disable=SC2046 # the flags are several words
"$bin/clang++" $("$config" --cxxflags) -O0 -shared -fPIC "$here/opcode_descriptors.cpp" -o "$work/descriptors.so"
cat > "$work/empty.mir" <<'MIR'
--- |
  define void @f() { ret void }
...
---
name: f
body: |
  bb.0:
    Return
...
MIR
"$bin/llc" -load "$work/descriptors.so" -mtriple=nvptx64-nvidia-cuda -run-pass=print-opcode-descriptors \
    "$work/empty.mir" -o /dev/null > "$work/opcode_descriptors.txt"

if [ "${1:-}" = --check ]; then
    diff -u "$here/opcode_descriptors.txt" "$work/opcode_descriptors.txt"
    echo "opcode_descriptors.txt is that of LLVM $("$config" --version)"
else
    cp "$work/opcode_descriptors.txt" "$here/opcode_descriptors.txt"
fi
