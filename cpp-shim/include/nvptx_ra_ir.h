/* What Rust does for the shim with LLVM's own C types: the passes on IR, which need no flat view. */
#ifndef NVPTX_RA_IR_H
#define NVPTX_RA_IR_H

#include "nvptx_ra.h"

#include <llvm-c/Types.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Records choices, "a=b;c=d", as the attribute "nvptx-ra" of each function that a module for NVPTX defines. A function
 * keeps the choices that it has under other names, and "off" stays. Returns 1 where a function changed. */
uint32_t nvptx_ra_record_choices(LLVMModuleRef module, nvptx_ra_str parameters);

/* Prints the recorded choices of each function to standard error. */
void nvptx_ra_print_choices(LLVMModuleRef module);

/* Gives each function of a module the choices that the profile of the options has for it. Null where there is nothing to
 * say; else a response, to be freed, whose message is a warning, or, with status ERROR, an error. The features are those
 * of the target, "+ptx90", say. */
const nvptx_ra_response *nvptx_ra_replay_profile(LLVMModuleRef module, nvptx_ra_str command_line, nvptx_ra_str target,
                                                 nvptx_ra_str features);

/* Gives each function of a module that is not optimised yet the choices that the profile of the options has for it, if the
 * profile is for such code; nvptx_ra_replay_profile then does the rest. Null or a response, as there. */
const nvptx_ra_response *nvptx_ra_replay_profile_ahead(LLVMModuleRef module, nvptx_ra_str command_line);

/* Adds the version of the plugin as a comment to the module's inline assembly, which stands behind the directives that open
 * the PTX, where it does not have it already. The assembly printer writes it before any pass runs. */
void nvptx_ra_add_header_note(LLVMModuleRef module);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif
