/* The C ABI between the shim (C++, LLVM) and the core (Rust).
 *
 * Integers have a fixed width. Every string and array is a pointer and a length; the pointer may be null if the length
 * is 0, and strings are UTF-8 without terminator. There are no bool and no enum fields; an unknown value is an error
 * and is never guessed. Every struct that may grow starts with its version and size. The side that allocates memory
 * also frees it. bindgen generates the Rust structs and asserts their sizes and offsets. LLVM's own types never appear
 * here.
 */
#ifndef NVPTX_RA_H
#define NVPTX_RA_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NVPTX_RA_ABI_VERSION 1u
#define NVPTX_RA_NONE 0xFFFFFFFFu

typedef struct nvptx_ra_str {
  const char *data;
  uint64_t len;
} nvptx_ra_str;

/* ---- The opcode table: crosses once per subtarget. ------------------------------------------------------------- */

/* Properties in LLVM's instruction descriptor (nvptx_ra_opcode_desc.flags). */
#define NVPTX_RA_DESC_LOAD 1u
#define NVPTX_RA_DESC_STORE 2u
#define NVPTX_RA_DESC_SIDE_EFFECTS 4u
#define NVPTX_RA_DESC_CONVERGENT 8u
#define NVPTX_RA_DESC_CALL 16u
#define NVPTX_RA_DESC_TERMINATOR 32u
#define NVPTX_RA_DESC_META 64u
#define NVPTX_RA_DESC_INLINE_ASM 128u

typedef struct nvptx_ra_opcode_desc {
  nvptx_ra_str name;
  uint32_t flags; /* NVPTX_RA_DESC_* */
  uint32_t num_defs;
} nvptx_ra_opcode_desc;

/* Owned by Rust; may be shared between threads. */
typedef struct nvptx_ra_opcodes nvptx_ra_opcodes;

/* Describes one opcode of a target. The target and the result live as long as the process, because the core describes
 * an opcode on its first use, from several threads. */
typedef nvptx_ra_opcode_desc (*nvptx_ra_describe_opcode)(const void *target, uint32_t opcode);

/* Creates the table of the opcodes 0 to count - 1. Never null. */
const nvptx_ra_opcodes *nvptx_ra_opcodes_create(const void *target, nvptx_ra_describe_opcode describe, uint64_t count);
void nvptx_ra_opcodes_free(const nvptx_ra_opcodes *opcodes);

/* ---- The view: one machine function, flat. --------------------------------------------------------------------- */

/* nvptx_ra_operand.kind */
#define NVPTX_RA_OPERAND_REG 0u      /* id: virtual register */
#define NVPTX_RA_OPERAND_PHYSICAL 1u /* id: LLVM's physical register */
#define NVPTX_RA_OPERAND_NOREG 2u
#define NVPTX_RA_OPERAND_IMMEDIATE 3u /* value */
#define NVPTX_RA_OPERAND_FLOAT 4u     /* value: the bits */
#define NVPTX_RA_OPERAND_SYMBOL 5u    /* id: index into view.symbols */
#define NVPTX_RA_OPERAND_BLOCK 6u     /* id */
#define NVPTX_RA_OPERAND_SLOT 7u      /* id: index into view.slots */

/* nvptx_ra_operand.flags */
#define NVPTX_RA_FLAG_DEF 1u
#define NVPTX_RA_FLAG_IMPLICIT 2u
#define NVPTX_RA_FLAG_UNDEF 4u
#define NVPTX_RA_FLAG_DEAD 8u
#define NVPTX_RA_FLAG_KILL 16u
#define NVPTX_RA_FLAG_EARLY_CLOBBER 32u

#define NVPTX_RA_NOT_TIED 65535u

typedef struct nvptx_ra_operand {
  uint8_t kind;
  uint8_t flags;
  uint16_t tied; /* the tied operand, or NVPTX_RA_NOT_TIED */
  uint32_t id;
  int64_t value;
} nvptx_ra_operand;

/* nvptx_ra_inst.flags: LLVM's knowledge of this instruction, beyond its descriptor. */
#define NVPTX_RA_INST_ORDERED 1u       /* volatile, atomic: MachineInstr::hasOrderedMemoryRef */
#define NVPTX_RA_INST_INVARIANT 2u     /* loads memory that does not change */
#define NVPTX_RA_INST_CALL_SEQUENCE 4u /* between the declaration of a call's parameters and its return value */
#define NVPTX_RA_INST_ASM_EFFECTS 8u   /* inline assembly with side effects */
#define NVPTX_RA_INST_ASM_MEMORY 16u   /* inline assembly that may read or write memory */
#define NVPTX_RA_INST_CONVERGENT 32u   /* MachineInstr::isConvergent of this instruction (inline assembly, calls) */
#define NVPTX_RA_INST_LOAD 64u         /* MachineInstr::mayLoad */
#define NVPTX_RA_INST_STORE 128u       /* MachineInstr::mayStore */
/* MachineMemOperand::isDereferenceable of all its memory operands: the memory it reads exists, as far as LLVM knows at
 * this position. */
#define NVPTX_RA_INST_DEREFERENCEABLE 256u

typedef struct nvptx_ra_inst {
  uint32_t opcode;
  uint32_t flags; /* NVPTX_RA_INST_* */
  uint32_t line;  /* the line in view.file; for code inlined from another file, the line of the call; 0 if unknown */
  uint32_t operand_end;
  uint32_t address_space; /* of its memory operands, if all agree; else 0 */
  uint32_t reserved;
} nvptx_ra_inst;

#define NVPTX_RA_BLOCK_NO_UNROLL 1u /* the loop that this block ends must not be unrolled */

typedef struct nvptx_ra_block {
  uint32_t inst_end;
  uint32_t succ_end;
  uint32_t loop_depth;
  uint32_t flags; /* NVPTX_RA_BLOCK_* */
  double frequency; /* relative to the entry */
} nvptx_ra_block;

typedef struct nvptx_ra_reg {
  nvptx_ra_str name; /* the name in the source; mostly empty */
  uint32_t reg_class; /* 0 B1, 1 B16, 2 B32, 3 B64, 4 B128, 255 other */
  uint32_t reserved;
} nvptx_ra_reg;

typedef struct nvptx_ra_slot {
  nvptx_ra_str name; /* the variable's name in the source, or LLVM's name; empty if unknown */
  uint64_t size;
  uint64_t align;
  uint32_t line; /* the declaration's line in view.file; 0 if unknown */
  uint32_t reserved;
} nvptx_ra_slot;

/* nvptx_ra_symbol.shared_bytes of a shared variable that the module only declares: the launch sets its size. */
#define NVPTX_RA_DYNAMIC_SHARED 0xffffffffffffffffull

typedef struct nvptx_ra_symbol {
  nvptx_ra_str text;
  /* The size of the shared variable with that name; NVPTX_RA_DYNAMIC_SHARED if the module only declares it; else 0. */
  uint64_t shared_bytes;
} nvptx_ra_symbol;

/* nvptx_ra_view.flags */
#define NVPTX_RA_VIEW_KERNEL 1u

typedef struct nvptx_ra_view {
  uint32_t version;
  uint32_t size;
  const nvptx_ra_opcodes *opcodes;
  nvptx_ra_str name;
  const nvptx_ra_block *blocks;
  uint64_t num_blocks;
  const uint32_t *succs;
  uint64_t num_succs;
  const nvptx_ra_inst *insts;
  uint64_t num_insts;
  const nvptx_ra_operand *operands;
  uint64_t num_operands;
  const nvptx_ra_reg *regs;
  uint64_t num_regs;
  const nvptx_ra_slot *slots;
  uint64_t num_slots;
  const nvptx_ra_symbol *symbols;
  uint64_t num_symbols;
  nvptx_ra_str file; /* the path of its source; empty if unknown */
  /* The values of the function's attributes "nvvm.maxntid" and so on, as text; empty if absent. */
  nvptx_ra_str maxntid;
  nvptx_ra_str reqntid;
  nvptx_ra_str minctasm;
  nvptx_ra_str maxnreg;
  uint32_t flags; /* NVPTX_RA_VIEW_* */
  uint32_t reserved;
  nvptx_ra_str refusal; /* why a view cannot describe the function; empty if this view does */
} nvptx_ra_view;

/* ---- Edits: see src/function/edit.rs for their meaning. -------------------------------------------------------- */

/* nvptx_ra_edit.kind; the comment of each kind lists the fields that it uses. */
#define NVPTX_RA_EDIT_CREATE_REGISTER 1u  /* id, a: class */
#define NVPTX_RA_EDIT_SPLIT_EDGE 2u       /* id, block: from, a: to */
#define NVPTX_RA_EDIT_INSERT_COPY 3u      /* id, block, before, a: destination, b: source */
#define NVPTX_RA_EDIT_INSERT_CONSTANT 4u  /* id, block, before, a: destination, b: opcode, operand */
#define NVPTX_RA_EDIT_INSERT_CLONE 5u     /* id, block, before, a: destination, b: instruction */
/* id, block, before, a, b: range of response.operands, value: number of nvptx_ra_inserted_at, memory */
#define NVPTX_RA_EDIT_INSERT_INST 6u
/* id, block, before, a, b: range of edits.text, operand.id, operand.value: range of edits.numbers, the registers written */
#define NVPTX_RA_EDIT_INSERT_ASSEMBLY 7u
#define NVPTX_RA_EDIT_MOVE 8u             /* id: instruction, block, before */
#define NVPTX_RA_EDIT_PERMUTE 9u          /* block, a, b: range of edits.numbers */
#define NVPTX_RA_EDIT_SET_REGISTER 10u    /* id: instruction, a: operand, b: register */
#define NVPTX_RA_EDIT_SET_IMMEDIATE 11u   /* id: instruction, a: operand, b: opcode, value */
#define NVPTX_RA_EDIT_SET_ADDRESS 12u     /* id: instruction, a: operand of the base, b: register, value: offset */
#define NVPTX_RA_EDIT_SET_ASSEMBLY 13u    /* id: instruction, a, b: range of edits.text */
/* block, id: comparison, a, b: range of edits.text with inline assembly of its three registers. If the range is empty,
 * operand.id: the operand with the comparison's kind, operand.value: the complement's kind */
#define NVPTX_RA_EDIT_TURN_BRANCH 14u
#define NVPTX_RA_EDIT_SET_DEBUG_VALUE 15u /* id: instruction, operand: register, immediate, noreg */
#define NVPTX_RA_EDIT_MERGE 16u           /* a: from, b: into */
#define NVPTX_RA_EDIT_DELETE 17u          /* id: instruction */
#define NVPTX_RA_EDIT_INSERT_DIRECTIVE 18u /* a, b: range of edits.text */
#define NVPTX_RA_EDIT_SET_ATTRIBUTE 19u   /* a, b: range of edits.text, key '=' value; id: of a module, the function */

/* nvptx_ra_memory.flags */
#define NVPTX_RA_MEMORY_LOAD 1u
#define NVPTX_RA_MEMORY_STORE 2u
#define NVPTX_RA_MEMORY_VOLATILE 4u

/* The memory access of an inserted instruction; none if flags is 0. */
typedef struct nvptx_ra_memory {
  uint32_t space; /* LLVM's number of the address space */
  uint32_t bytes;
  uint32_t align; /* bytes, a power of two */
  uint32_t flags; /* NVPTX_RA_MEMORY_* */
} nvptx_ra_memory;

typedef struct nvptx_ra_edit {
  uint32_t kind;
  uint32_t id;
  uint32_t block;
  uint32_t before; /* instruction, or NVPTX_RA_NONE: before the block's terminators */
  uint32_t a;
  uint32_t b;
  int64_t value;
  nvptx_ra_operand operand;
  nvptx_ra_memory memory;
} nvptx_ra_edit;

/* The instructions that NVPTX_RA_EDIT_INSERT_INST can insert, by LLVM's names. The name is empty if LLVM lacks the
 * instruction. */
uint32_t nvptx_ra_inserted_count(void);
nvptx_ra_str nvptx_ra_inserted_at(uint32_t number);

/* Whether the instruction accepts the operand at an index: 1 or 0. `reg_class` is the class of a register. */
uint32_t nvptx_ra_inserted_takes(uint32_t number, uint64_t index, nvptx_ra_operand operand, uint32_t reg_class);

/* ---- Running a pass. -------------------------------------------------------------------------------------------- */

/* nvptx_ra_request.flags */
#define NVPTX_RA_REQUEST_OPTNONE 1u /* the function is marked optnone */
#define NVPTX_RA_REQUEST_O0 2u      /* the code generator runs at -O0 */
#define NVPTX_RA_REQUEST_REMARKS 4u /* the remarks are read */
#define NVPTX_RA_REQUEST_SSA 8u     /* the function is still in SSA form */
#define NVPTX_RA_REQUEST_COALESCED 16u /* nvptx-copy-coalescer has run on the function */
/* For nvptx-copy-coalescer: the response also has the summary that nvptx-forecast would return for the function after
 * the edits. The forecast that follows then needs no view. */
#define NVPTX_RA_REQUEST_SUMMARY 32u
/* For nvptx-forecast, and in addition to NVPTX_RA_REQUEST_SUMMARY: the findings of lints are read. nvptx_ra_forecast
 * then returns them as remarks of the kind MISSED. */
#define NVPTX_RA_REQUEST_LINTS 64u

/* The state that the core keeps between the functions of a compilation. One thread at a time uses it. */
typedef struct nvptx_ra_session nvptx_ra_session;

/* Creates a session. `collected` is nvptx_ra_purpose.collected, or null. Free it with nvptx_ra_session_free. Null on
 * failure. */
nvptx_ra_session *nvptx_ra_session_new(void *collected);

/* Frees a session; null is ignored. */
void nvptx_ra_session_free(nvptx_ra_session *session);

typedef struct nvptx_ra_request {
  uint32_t version;
  uint32_t size;
  nvptx_ra_str pass;         /* e.g. "nvptx-copy-coalescer" */
  nvptx_ra_str parameters;   /* of the pipeline string, "a=b;c=d" */
  nvptx_ra_str command_line; /* the given -nvptx-ra-… options, in the same form */
  nvptx_ra_str attribute;    /* the function attribute "nvptx-ra", in the same form, or "off" */
  nvptx_ra_str target;       /* "sm_90" */
  const nvptx_ra_view *view;
  nvptx_ra_session *session; /* null: no state is kept */
  uint32_t flags;            /* NVPTX_RA_REQUEST_* */
  uint32_t reserved;
} nvptx_ra_request;

/* nvptx_ra_remark.kind */
#define NVPTX_RA_REMARK_PASSED 0u
#define NVPTX_RA_REMARK_MISSED 1u
#define NVPTX_RA_REMARK_ANALYSIS 2u

typedef struct nvptx_ra_remark {
  uint32_t kind;
  uint32_t inst; /* the place, an instruction of the view; or NVPTX_RA_NONE */
  nvptx_ra_str name;
  nvptx_ra_str message;
  /* The following fields are set only in a module's remarks; otherwise they are empty and 0. */
  nvptx_ra_str value; /* the value that the message labels; for tools its key is the remark's name */
  uint32_t function;  /* index of the function */
  uint32_t at_place;  /* 1: the remark is at the place of the function's response */
  uint32_t line;      /* the line of a lint's finding; 0 if unknown */
  uint32_t line_function; /* the function whose file contains that line */
} nvptx_ra_remark;

/* nvptx_ra_response.status */
#define NVPTX_RA_STATUS_UNCHANGED 0u /* nothing to do, or switched off */
#define NVPTX_RA_STATUS_EDITS 1u     /* apply the edits */
#define NVPTX_RA_STATUS_ERROR 2u     /* leave the function unchanged; report the message as a warning, or, if strict,
                                        an error */

typedef struct nvptx_ra_response {
  uint32_t version;
  uint32_t size;
  uint32_t status;
  uint32_t strict; /* 1: an error is fatal */
  uint32_t verify; /* 1: call nvptx_ra_verify_applied after the edits are applied, and run LLVM's machine verifier
                      before and after */
  uint32_t place; /* of a summary: the point of a kernel with the highest pressure, an instruction of the view; or
                     NVPTX_RA_NONE */
  uint32_t timed; /* 1: the times of nvptx_ra_report_time are read */
  uint32_t summarised; /* 1: nvptx_ra_forecast accepts this response for its function. Always set by nvptx-forecast,
                          except on errors */
  nvptx_ra_str message; /* the complete error, "nvptx-ra: kernel 'k': …"; with another status, warnings, one per line */
  nvptx_ra_str output;  /* text for standard error, from print passes and traces */
  const nvptx_ra_edit *edits;
  uint64_t num_edits;
  const uint32_t *numbers;
  uint64_t num_numbers;
  const nvptx_ra_operand *operands;
  uint64_t num_operands;
  nvptx_ra_str text;
  const nvptx_ra_remark *remarks;
  uint64_t num_remarks;
} nvptx_ra_response;

/* Runs a pass on a view. Never null, never unwinds. */
const nvptx_ra_response *nvptx_ra_run(const nvptx_ra_request *request);

/* Forecasts the kernels of a module from one response per function. A response that is not summarised counts as a
 * missing function. The request has no view. Its pass is nvptx-forecast, or print<nvptx-forecast> for the forecast as
 * output. Remarks, and edits that set attributes, refer to functions by their index in the array. Never null, never
 * unwinds. */
const nvptx_ra_response *nvptx_ra_forecast(const nvptx_ra_request *request, const nvptx_ra_response *const *functions,
                                           uint64_t num_functions);

/* Counts of a function, taken without a view of it. */
typedef struct nvptx_ra_census {
  uint64_t instructions;    /* without those that describe variables (MachineInstr::isDebugInstr) */
  uint64_t phis;            /* the PHIs among the instructions */
  uint64_t shared_accesses; /* by memory operands, without inline assembly */
  uint64_t two_jumps;       /* blocks that end in a conditional and an unconditional jump */
  const nvptx_ra_str *assembly; /* the texts of inline assembly */
  uint64_t num_assembly;
} nvptx_ra_census;

/* Takes the census of a function. The result stays valid until the next call. */
typedef nvptx_ra_census (*nvptx_ra_take_census)(void *function);

/* The part of a function that a pass reads. */
#define NVPTX_RA_SCOPE_NOTHING 0u /* the pass would leave the function unchanged */
#define NVPTX_RA_SCOPE_PHIS 1u    /* PHIs, terminators, the first non-PHI and the last instruction of each block, and
                                     all instructions with a register that a PHI uses; the view may omit all others */
#define NVPTX_RA_SCOPE_WHOLE 2u

/* Returns the part of a function that the pass of the request reads: NVPTX_RA_SCOPE_*. The request needs no view. The
 * census is taken at most once, and only if the result depends on it. */
uint32_t nvptx_ra_scope(const nvptx_ra_request *request, nvptx_ra_take_census take, void *function);

/* Compares the function after the shim's changes with the function that the edits describe. Null if they agree, else a
 * response with status ERROR, to be freed. */
const nvptx_ra_response *nvptx_ra_verify_applied(const nvptx_ra_response *response, const nvptx_ra_view *after);

/* Reports to the core that the shim could not apply the edits, so that statistics are right. */
void nvptx_ra_report_failure(const nvptx_ra_request *request, nvptx_ra_str message);

/* Writes a line to standard error. Control characters of terminals, which quoted text may contain, are escaped. */
void nvptx_ra_say(nvptx_ra_str line);

/* Cleans up if the process ends in the middle of its work. */
void nvptx_ra_clean_up(void);

/* Whether an input is LLVM's machine code as text (MIR); prints an error if it is not. `path` is the file's path, or -
 * for standard input. */
uint32_t nvptx_ra_check_machine_code(nvptx_ra_str content, nvptx_ra_str path);

/* Reports the times of the shim's own phases for the statistics, in nanoseconds. */
void nvptx_ra_report_time(const nvptx_ra_request *request, uint64_t flatten_ns, uint64_t apply_ns);

/* Records LLVM's diagnostics for a clone of a module that was compiled for the forecast. `parameters` are the options
 * of the pass. Returns 1 if the options make errors fatal. */
uint32_t nvptx_ra_report_clone(nvptx_ra_str parameters, nvptx_ra_str command_line, uint64_t errors, uint64_t warnings,
                               nvptx_ra_str first_error);

void nvptx_ra_response_free(const nvptx_ra_response *response);

/* ---- Tables that registration reads. --------------------------------------------------------------------------- */

typedef struct nvptx_ra_option_info {
  nvptx_ra_str name;    /* without the prefix "nvptx-ra-" */
  nvptx_ra_str help;    /* with type, range, default and unit */
  nvptx_ra_str meta;    /* the placeholder of the value in help: "N", "on|off" */
  uint32_t is_switch;   /* 1: the value may be omitted */
  uint32_t hidden;      /* 1: for developers */
} nvptx_ra_option_info;

uint64_t nvptx_ra_option_count(void);
nvptx_ra_option_info nvptx_ra_option_at(uint64_t index);

/* Checks "a=b;c=d". Null if it is valid, else a response with status ERROR, to be freed. */
const nvptx_ra_response *nvptx_ra_check_options(nvptx_ra_str parameters, nvptx_ra_str origin);

/* Initialises the core. Called once, when the passes are registered. */
void nvptx_ra_start(void);

typedef struct nvptx_ra_pipeline {
  uint32_t edits;           /* 1: contains passes that change every function */
  uint32_t coalesces;       /* 1: contains nvptx-copy-coalescer */
  uint32_t forecast;        /* 1: computes the forecast even if no remarks are read */
  uint32_t limits_registers; /* 1: may limit the registers of kernels, before the first kernel is printed */
  uint32_t profile;         /* 1: a profile is replayed before the pipeline */
} nvptx_ra_pipeline;

/* Returns the pipeline for the -nvptx-ra-… options. Wrong options are ignored; they are reported elsewhere. */
nvptx_ra_pipeline nvptx_ra_pipeline_of(nvptx_ra_str command_line);

/* A pass in the code generator's pipeline. */
typedef struct nvptx_ra_place {
  nvptx_ra_str pass;   /* empty: no pass */
  nvptx_ra_str anchor; /* the pass before it, by the name that LLVM registers */
  uint32_t replaces;      /* 1: replaces that pass */
  uint32_t follows;       /* 1: directly follows the previous pass of this list: nothing else changes a function in
                             between */
  uint32_t with_analyses; /* 1: block frequencies and loops are computed for the pass */
  uint32_t reserved;
} nvptx_ra_place;

/* Returns the pass at an index of the pipeline. Passes after the same anchor run in the order of their indices. */
nvptx_ra_place nvptx_ra_place_at(nvptx_ra_str command_line, uint32_t optimises, uint64_t index);

/* Returns the set of LLVM's optimisations that a function with this attribute skips, as bits. Wrong options are
 * ignored; they are reported elsewhere. */
uint32_t nvptx_ra_skipped(nvptx_ra_str command_line, nvptx_ra_str attribute);

/* Returns the bit of an optimisation by the name that LLVM's gate receives. 0 if no function can skip it. */
uint32_t nvptx_ra_skip_bit(nvptx_ra_str pass);

/* Returns the set, as bits, of LLVM's optimisations that run before the code generator on a function with this
 * attribute. Wrong options are ignored; they are reported elsewhere. */
uint32_t nvptx_ra_added(nvptx_ra_str command_line, nvptx_ra_str attribute);

/* Returns the pipeline text of the optimisation of a set that runs at an index; empty after the last. */
nvptx_ra_str nvptx_ra_added_pipeline(uint32_t set, uint32_t index);

/* Effects of inline assembly beyond its registers. */
#define NVPTX_RA_ASSEMBLY_UNKNOWN 0u
#define NVPTX_RA_ASSEMBLY_COMPUTES 1u          /* in each thread independently */
#define NVPTX_RA_ASSEMBLY_COMPUTES_TOGETHER 2u /* with all threads of a warp */
#define NVPTX_RA_ASSEMBLY_READS 3u             /* reads memory */

/* Returns the effects of inline assembly, NVPTX_RA_ASSEMBLY_…, from its text and its constraints in LLVM IR. */
uint32_t nvptx_ra_assembly_effects(nvptx_ra_str text, nvptx_ra_str constraints);

/* Whether NVPTX_RA=off turns the plugin off: 1 or 0. The tool stays on, because a user calls its commands by name. */
uint32_t nvptx_ra_is_off(void);

/* Returns the end of the plugin's warnings, "NVPTX_RA=off turns nvptx-ra off"; empty in the tool. */
nvptx_ra_str nvptx_ra_off_note(void);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif
