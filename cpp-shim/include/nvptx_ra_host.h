/* Functions of the shim for Rust: the other direction of the C ABI. */
#ifndef NVPTX_RA_HOST_H
#define NVPTX_RA_HOST_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Registers the passes with an llvm::PassBuilder. Does nothing in an LLVM of another major version. */
void nvptx_ra_register_callbacks(void *pass_builder);

/* Runs a pipeline of the new pass manager on machine code: `nvptx-ra mir`. The arguments are those of a main function,
 * with the program's name first. Returns the exit status. Call it once per process, because it registers options. */
int32_t nvptx_ra_mir_main(int32_t argc, const char *const *argv);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif
