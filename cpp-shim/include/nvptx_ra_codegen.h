/* Functions of LLVM that `nvptx-ra compile` needs beyond LLVM's C API, to emit the same code as llc. */
#ifndef NVPTX_RA_CODEGEN_H
#define NVPTX_RA_CODEGEN_H

#include "nvptx_ra.h"

#include <llvm-c/TargetMachine.h>
#include <llvm-c/Types.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Parses LLVM IR, as text or bitcode, with the data layout of its triple. LLVM's C API takes the data layout of the
 * text; test cases omit it, and alignments then differ from llc's. Null if the content is no IR; `message` then has the
 * reason, to be freed by LLVMDisposeMessage. */
LLVMModuleRef nvptx_ra_parse_ir(LLVMContextRef context, nvptx_ra_str content, nvptx_ra_str name, char **message);

/* Creates a module with the function of that name and all definitions that its code may reach: the called functions,
 * the variables that these functions use, and the initializers of the variables. Null if no function of that name has a
 * body. The module belongs to the caller and to the context of the original, which stays unchanged. */
LLVMModuleRef nvptx_ra_slice(LLVMModuleRef module, nvptx_ra_str function);

/* Whether a function of the module has a stack variable that LLVM would promote to a register, as in unoptimised code
 * of clang's front end: 1 or 0. Functions marked optnone do not count. */
uint32_t nvptx_ra_is_unoptimised(LLVMModuleRef module);

/* Runs LLVM's optimisations on a module as clang does at that level, 0 to 3. The choices before the optimisations run
 * first. */
void nvptx_ra_optimise(LLVMModuleRef module, LLVMTargetMachineRef machine, uint32_t level);

/* Runs only the target's passes that precede all optimisations. The functions are then in the state in which a plugin
 * of clang first sees them. */
void nvptx_ra_start_optimising(LLVMModuleRef module, LLVMTargetMachineRef machine, uint32_t level);

/* Returns the module as bitcode, with the order of each value's uses, because instruction selection depends on it. The
 * caller frees the buffer. */
LLVMMemoryBufferRef nvptx_ra_write_bitcode(LLVMModuleRef module);

/* Returns the source name of a mangled C++ or Rust function: scope and template arguments, without result and
 * parameters. Null if the name is not mangled; else to be freed by LLVMDisposeMessage. */
char *nvptx_ra_demangle(nvptx_ra_str name);

/* Passes the options of a main function to LLVM, after the program's name. Returns 1 if they are valid, else 0;
 * `message` then has the error, to be freed by LLVMDisposeMessage. LLVM's C API does not return the error. */
uint32_t nvptx_ra_parse_options(int32_t argc, const char *const *argv, char **message);

/* Runs the code generator's pipeline on a module without output. Returns 1 if there was no error, else 0; `message`
 * then has the first error, to be freed by LLVMDisposeMessage. Warnings and remarks are discarded. */
uint32_t nvptx_ra_generate(LLVMModuleRef module, LLVMTargetMachineRef machine, char **message);

/* Installs a handler for LLVM's fatal errors. The handler prints a line with LLVM's reason and the remedy, which is
 * copied, calls nvptx_ra_clean_up and ends the process with status 1. */
void nvptx_ra_end_after_fatal_errors(nvptx_ra_str remedy);

/* Discards LLVM's later diagnostics for the modules of a context. An error then does not end the process. */
void nvptx_ra_quieten(LLVMContextRef context);

/* Returns LLVM's first error since nvptx_ra_quieten, which must have been called for the context; to be freed by
 * LLVMDisposeMessage. Null if there was none. */
char *nvptx_ra_first_error(LLVMContextRef context);

/* Callbacks and data of a program that generates code. A null field requests nothing. */
typedef struct nvptx_ra_purpose {
  /* Called with its data once per pipeline, when instruction selection of the first function is complete. */
  void (*reached)(void *data);
  void *reached_data;
  /* The collection to which the core adds the functions that reach the coalescer, which then leaves them unchanged. */
  void *collected;
} nvptx_ra_purpose;

/* Sets the purpose of the pipelines that this thread creates from this call on. Returns the previous purpose. */
nvptx_ra_purpose nvptx_ra_set_purpose(const nvptx_ra_purpose *wanted);

#define NVPTX_RA_FP_CONTRACT_FAST 0u
#define NVPTX_RA_FP_CONTRACT_ON 1u
#define NVPTX_RA_FP_CONTRACT_OFF 2u

/* Whether floating-point operations are fused: llc's -fp-contract. */
void nvptx_ra_set_fp_contract(LLVMTargetMachineRef machine, uint32_t mode);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif
