/* What `nvptx-ra compile` needs of LLVM beyond LLVM's C API, so that it emits what llc emits. */
#ifndef NVPTX_RA_CODEGEN_H
#define NVPTX_RA_CODEGEN_H

#include "nvptx_ra.h"

#include <llvm-c/TargetMachine.h>
#include <llvm-c/Types.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Parses LLVM IR, as text or bitcode, with the data layout of its triple: LLVM's C API takes the one in the text, which
 * test cases leave out, and then aligns differently from llc. Null where it is no IR; `message` then holds the reason,
 * to be freed by LLVMDisposeMessage. */
LLVMModuleRef nvptx_ra_parse_ir(LLVMContextRef context, nvptx_ra_str content, nvptx_ra_str name, char **message);

/* A module of its own that holds the function of that name and all that its code may reach: what it calls, the variables
 * that these name, and what stands in those variables. Null where no function of that name has a body. The module belongs
 * to the caller and to the context of the one it was made from, which stays as it is. */
LLVMModuleRef nvptx_ra_slice(LLVMModuleRef module, nvptx_ra_str function);

/* 1 where a function of the module has a stack variable that LLVM would make a register, as functions have which clang's
 * front end made and nothing optimised; functions marked optnone do not count. Else 0. */
uint32_t nvptx_ra_is_unoptimised(LLVMModuleRef module);

/* Runs LLVM's optimisations on a module as clang does at that level, 0 to 3, the choices ahead of them first. */
void nvptx_ra_optimise(LLVMModuleRef module, LLVMTargetMachineRef machine, uint32_t level);

/* Runs what the target has ahead of all optimisations, and nothing else: then functions are as a plugin of clang sees
 * them first. */
void nvptx_ra_start_optimising(LLVMModuleRef module, LLVMTargetMachineRef machine, uint32_t level);

/* The module as bitcode, with the order of each value's uses, on which the code depends that is selected. To be disposed
 * of by the caller. */
LLVMMemoryBufferRef nvptx_ra_write_bitcode(LLVMModuleRef module);

/* What the source calls the function of a mangled name, of C++ or Rust: scope and template arguments, without result and
 * parameters. Null where the name is not mangled; else to be freed by LLVMDisposeMessage. */
char *nvptx_ra_demangle(nvptx_ra_str name);

/* Gives LLVM the options of a main function, the program's name first. 1 where they are right, else 0; `message` then
 * holds what is wrong, to be freed by LLVMDisposeMessage. LLVM's C API keeps that to itself. */
uint32_t nvptx_ra_parse_options(int32_t argc, const char *const *argv, char **message);

/* Runs the code generator's pipeline on a module and prints nothing. 1 where there was no error, else 0; `message` then
 * holds the first, to be freed by LLVMDisposeMessage. Warnings and remarks are dropped. */
uint32_t nvptx_ra_generate(LLVMModuleRef module, LLVMTargetMachineRef machine, char **message);

/* From now on ends the process with status 1 where LLVM calls an error fatal, after a line with LLVM's reason and the
 * remedy, which is copied, and nvptx_ra_clean_up. */
void nvptx_ra_end_after_fatal_errors(nvptx_ra_str remedy);

/* Has nobody hear what LLVM says of the modules of a context from now on. An error does not end the process then. */
void nvptx_ra_quieten(LLVMContextRef context);

/* The first error that LLVM found since a context was made quiet, which it must be, to be freed by LLVMDisposeMessage;
 * null where there was none. */
char *nvptx_ra_first_error(LLVMContextRef context);

/* What a program wants to know while it generates code. All null: nothing. */
typedef struct nvptx_ra_purpose {
  /* Called with its data, once for each pipeline: when instruction selection is done with the first function. */
  void (*reached)(void *data);
  void *reached_data;
  /* Where the core collects the functions that reach the coalescer, which leaves them as they are then. */
  void *collected;
} nvptx_ra_purpose;

/* Sets the purpose of the pipelines that this thread makes from now on. Returns the purpose before. */
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
