// Overrides LLVM's own function and returns another major version.
void LLVMGetVersion(unsigned *major, unsigned *minor, unsigned *patch) {
  if (major)
    *major = 23;
  if (minor)
    *minor = 1;
  if (patch)
    *patch = 0;
}
