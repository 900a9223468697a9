// Stands before LLVM's own function and claims another major.
void LLVMGetVersion(unsigned *major, unsigned *minor, unsigned *patch) {
  if (major)
    *major = 23;
  if (minor)
    *minor = 1;
  if (patch)
    *patch = 0;
}
