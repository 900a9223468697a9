/* Functions of the core for the shim with LLVM's own C types: the passes on IR, which need no flat view. */
#ifndef NVPTX_RA_IR_H
#define NVPTX_RA_IR_H

#include "nvptx_ra.h"

#include <llvm-c/Types.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Records choices, "a=b;c=d", as the attribute "nvptx-ra" of each function that a module for NVPTX defines. Recorded
 * choices with other names are kept. A function with the attribute "off" keeps it. Returns 1 if a function changed. */
uint32_t nvptx_ra_record_choices(LLVMModuleRef module, nvptx_ra_str parameters);

/* Prints the recorded choices of each function to standard error. */
void nvptx_ra_print_choices(LLVMModuleRef module);

/* Gives each function of a module its choices from the profile of the options. Null if there is nothing to report. Else
 * a response, to be freed, whose message is a warning, or, with status ERROR, an error. `features` are those of the
 * target, for example "+ptx90". */
const nvptx_ra_response *nvptx_ra_replay_profile(LLVMModuleRef module, nvptx_ra_str command_line, nvptx_ra_str target,
                                                 nvptx_ra_str features);

/* Gives each function of an unoptimised module its choices from the profile of the options, if the profile is for
 * unoptimised code. nvptx_ra_replay_profile then completes the replay. Returns null or a response in the same way. */
const nvptx_ra_response *nvptx_ra_replay_profile_ahead(LLVMModuleRef module, nvptx_ra_str command_line);

/* Adds the version of the plugin as a comment to the module's inline assembly, unless the module has it already. The
 * assembly follows the directives that begin the PTX. The assembly printer prints it before any pass runs. */
void nvptx_ra_add_header_note(LLVMModuleRef module);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif
