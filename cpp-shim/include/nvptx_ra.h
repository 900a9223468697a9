/* The C ABI between the shim (C++, LLVM) and the core (Rust).
 *
 * Rules: fixed-width integers; every string and array is pointer plus length (the pointer may be null where the length
 * is 0; strings are UTF-8 and not terminated); no bool and no enum fields, unknown values are errors and never guessed;
 * every struct that may grow starts with its version and size; whoever allocates frees. bindgen makes the
 * structs of Rust, and asserts their sizes and offsets there. LLVM's own types never appear here.
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

/* What LLVM's instruction descriptor claims (nvptx_ra_opcode_desc.flags). */
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

/* Describes one opcode of a target. What it returns, and the target, stay for the life of the process: opcodes are
   asked for when an instruction first has them, from several threads. */
typedef nvptx_ra_opcode_desc (*nvptx_ra_describe_opcode)(const void *target, uint32_t opcode);

/* Opcodes run from 0 to count - 1. Never null. */
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
  uint16_t tied; /* the operand it is tied to, or NVPTX_RA_NOT_TIED */
  uint32_t id;
  int64_t value;
} nvptx_ra_operand;

/* nvptx_ra_inst.flags: what LLVM knows of this very instruction, beside its descriptor. */
#define NVPTX_RA_INST_ORDERED 1u       /* volatile, atomic: MachineInstr::hasOrderedMemoryRef */
#define NVPTX_RA_INST_INVARIANT 2u     /* loads memory that does not change */
#define NVPTX_RA_INST_CALL_SEQUENCE 4u /* between the declaration of a call's parameters and its return value */
#define NVPTX_RA_INST_ASM_EFFECTS 8u   /* inline assembly with side effects */
#define NVPTX_RA_INST_ASM_MEMORY 16u   /* inline assembly that may read or write memory */
#define NVPTX_RA_INST_CONVERGENT 32u   /* MachineInstr::isConvergent of this instruction (inline assembly, calls) */
#define NVPTX_RA_INST_LOAD 64u         /* MachineInstr::mayLoad */
#define NVPTX_RA_INST_STORE 128u       /* MachineInstr::mayStore */
/* MachineMemOperand::isDereferenceable of all its memory operands: what it reads is there, as far as LLVM knows where it
 * stands. */
#define NVPTX_RA_INST_DEREFERENCEABLE 256u

typedef struct nvptx_ra_inst {
  uint32_t opcode;
  uint32_t flags; /* NVPTX_RA_INST_* */
  uint32_t line;  /* in view.file: of what is inlined from another file, that of the call; 0 unknown */
  uint32_t operand_end;
  uint32_t address_space; /* of its memory operands, where all agree; else 0 */
  uint32_t reserved;
} nvptx_ra_inst;

#define NVPTX_RA_BLOCK_NO_UNROLL 1u /* what it goes back to is not to be unrolled */

typedef struct nvptx_ra_block {
  uint32_t inst_end;
  uint32_t succ_end;
  uint32_t loop_depth;
  uint32_t flags; /* NVPTX_RA_BLOCK_* */
  double frequency; /* relative to the entry */
} nvptx_ra_block;

typedef struct nvptx_ra_reg {
  nvptx_ra_str name; /* of the source; empty mostly */
  uint32_t reg_class; /* 0 B1, 1 B16, 2 B32, 3 B64, 4 B128, 255 other */
  uint32_t reserved;
} nvptx_ra_reg;

typedef struct nvptx_ra_slot {
  nvptx_ra_str name; /* the variable of the source, or LLVM's; empty where unknown */
  uint64_t size;
  uint64_t align;
  uint32_t line; /* where the variable is declared, in view.file; 0 unknown */
  uint32_t reserved;
} nvptx_ra_slot;

/* nvptx_ra_symbol.shared_bytes of a variable in shared memory that the module only declares: the launch says how large it
 * is. */
#define NVPTX_RA_DYNAMIC_SHARED 0xffffffffffffffffull

typedef struct nvptx_ra_symbol {
  nvptx_ra_str text;
  /* Of the variable in shared memory that it names; NVPTX_RA_DYNAMIC_SHARED if the module only declares it; else 0. */
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
  nvptx_ra_str file; /* the path of its source; empty where unknown */
  /* The function's attributes "nvvm.maxntid" and so on, as LLVM has them; empty where absent. */
  nvptx_ra_str maxntid;
  nvptx_ra_str reqntid;
  nvptx_ra_str minctasm;
  nvptx_ra_str maxnreg;
  uint32_t flags; /* NVPTX_RA_VIEW_* */
  uint32_t reserved;
  nvptx_ra_str refusal; /* why a view cannot describe the function; empty where this one does */
} nvptx_ra_view;

/* ---- Edits: see src/function/edit.rs for their meaning. -------------------------------------------------------- */

/* nvptx_ra_edit.kind; the fields that each uses are in the comment. */
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
/* block, id: comparison, a, b: range of edits.text, inline assembly of its three registers; empty: operand.id: operand of its kind,
   operand.value: the complement's kind */
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

/* What an inserted instruction accesses; flags 0: nothing. */
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

/* The instructions that NVPTX_RA_EDIT_INSERT_INST inserts, by LLVM's names: empty of one that LLVM has not. */
uint32_t nvptx_ra_inserted_count(void);
nvptx_ra_str nvptx_ra_inserted_at(uint32_t number);

/* Whether such an instruction takes something as its operand with that number: 1 or 0. `reg_class` is that of a register. */
uint32_t nvptx_ra_inserted_takes(uint32_t number, uint64_t index, nvptx_ra_operand operand, uint32_t reg_class);

/* ---- Running a pass. -------------------------------------------------------------------------------------------- */

/* nvptx_ra_request.flags */
#define NVPTX_RA_REQUEST_OPTNONE 1u /* the function is marked optnone */
#define NVPTX_RA_REQUEST_O0 2u      /* the code generator runs at -O0 */
#define NVPTX_RA_REQUEST_REMARKS 4u /* somebody reads the remarks */
#define NVPTX_RA_REQUEST_SSA 8u     /* the function is still in SSA form */
#define NVPTX_RA_REQUEST_COALESCED 16u /* nvptx-copy-coalescer has run on the function */
/* Of nvptx-copy-coalescer: the response is to have what nvptx-forecast would say of the function as the edits make it. The
 * forecast that comes next then needs no view. */
#define NVPTX_RA_REQUEST_SUMMARY 32u
/* Of nvptx-forecast, and beside NVPTX_RA_REQUEST_SUMMARY: somebody reads what lints find. nvptx_ra_forecast then says so
 * by remarks of the kind MISSED. */
#define NVPTX_RA_REQUEST_LINTS 64u

/* What the core keeps from one function of a compilation to the next. One thread at a time uses it. */
typedef struct nvptx_ra_session nvptx_ra_session;

/* A session. `collected` is nvptx_ra_purpose.collected, or null. To be freed by nvptx_ra_session_free. Null where something
 * went wrong. */
nvptx_ra_session *nvptx_ra_session_new(void *collected);

/* Frees a session; null is none. */
void nvptx_ra_session_free(nvptx_ra_session *session);

typedef struct nvptx_ra_request {
  uint32_t version;
  uint32_t size;
  nvptx_ra_str pass;         /* e.g. "nvptx-copy-coalescer" */
  nvptx_ra_str parameters;   /* of the pipeline string, "a=b;c=d" */
  nvptx_ra_str command_line; /* the -nvptx-ra-… options that were given, in the same form */
  nvptx_ra_str attribute;    /* the function attribute "nvptx-ra", in the same form, or "off" */
  nvptx_ra_str target;       /* "sm_90" */
  const nvptx_ra_view *view;
  nvptx_ra_session *session; /* or null: then nothing is kept */
  uint32_t flags;            /* NVPTX_RA_REQUEST_* */
  uint32_t reserved;
} nvptx_ra_request;

/* nvptx_ra_remark.kind */
#define NVPTX_RA_REMARK_PASSED 0u
#define NVPTX_RA_REMARK_MISSED 1u
#define NVPTX_RA_REMARK_ANALYSIS 2u

typedef struct nvptx_ra_remark {
  uint32_t kind;
  uint32_t inst; /* where, an instruction of the view; or NVPTX_RA_NONE */
  nvptx_ra_str name;
  nvptx_ra_str message;
  /* Of a module's remarks; empty and 0 in others. */
  nvptx_ra_str value; /* what the message is the label of; for tools it has the remark's name */
  uint32_t function;  /* which of the functions it is about */
  uint32_t at_place;  /* 1: it belongs to the place that the function's response names */
  uint32_t line;      /* of what a lint finds: the line; 0 where none is known */
  uint32_t line_function; /* and the function in whose file that is */
} nvptx_ra_remark;

/* nvptx_ra_response.status */
#define NVPTX_RA_STATUS_UNCHANGED 0u /* nothing to do, or switched off */
#define NVPTX_RA_STATUS_EDITS 1u     /* apply the edits */
#define NVPTX_RA_STATUS_ERROR 2u     /* leave the function; report the message as a warning, or, where strict, an error */

typedef struct nvptx_ra_response {
  uint32_t version;
  uint32_t size;
  uint32_t status;
  uint32_t strict; /* 1: an error is fatal */
  uint32_t verify; /* 1: send the function back through nvptx_ra_verify_applied once the edits are applied, and run
                      LLVM's machine verifier before and after */
  uint32_t place; /* where it is summarised: where in a kernel most is live, an instruction of the view; or
                     NVPTX_RA_NONE */
  uint32_t timed; /* 1: somebody reads what nvptx_ra_report_time would say */
  uint32_t summarised; /* 1: nvptx_ra_forecast can take it for its function: always of nvptx-forecast, but for errors */
  nvptx_ra_str message; /* of the error, whole: "nvptx-ra: kernel 'k': …"; with another status, warnings, one a line */
  nvptx_ra_str output;  /* text to print to standard error, of print passes and traces */
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

/* Forecasts the kernels of a module from the responses that say they are summarised, one for each function; others
 * count as functions that are not there. The request has no view. Its pass is nvptx-forecast, or
 * print<nvptx-forecast> for the forecast as output. Remarks and edits, which set attributes, name functions by their
 * place in the array. Never null, never unwinds. */
const nvptx_ra_response *nvptx_ra_forecast(const nvptx_ra_request *request, const nvptx_ra_response *const *functions,
                                           uint64_t num_functions);

/* What a function has, counted without a view of it. */
typedef struct nvptx_ra_census {
  uint64_t instructions;    /* without those that describe variables (MachineInstr::isDebugInstr) */
  uint64_t phis;            /* among them */
  uint64_t shared_accesses; /* by memory operands, without inline assembly */
  uint64_t two_jumps;       /* blocks that end in a conditional and an unconditional jump */
  const nvptx_ra_str *assembly; /* the texts of inline assembly */
  uint64_t num_assembly;
} nvptx_ra_census;

/* Takes the census of a function. What it returns stays until it is called again. */
typedef nvptx_ra_census (*nvptx_ra_take_census)(void *function);

/* How much of a function a pass reads. */
#define NVPTX_RA_SCOPE_NOTHING 0u /* it would leave the function as it is */
#define NVPTX_RA_SCOPE_PHIS 1u    /* PHIs, terminators, of each block the first instruction behind its PHIs and the last,
                                     and all that name a register which a PHI names; the view may leave out others */
#define NVPTX_RA_SCOPE_WHOLE 2u

/* What the pass of the request reads of a function: NVPTX_RA_SCOPE_*. The request needs no view. The census is taken at most
 * once, and only where something depends on it. */
uint32_t nvptx_ra_scope(const nvptx_ra_request *request, nvptx_ra_take_census take, void *function);

/* Compares the function that the shim made with the one that the edits describe. Null where they agree, else a response
 * with status ERROR, to be freed. */
const nvptx_ra_response *nvptx_ra_verify_applied(const nvptx_ra_response *response, const nvptx_ra_view *after);

/* Tells the core that the shim could not apply the edits, so that statistics are right. */
void nvptx_ra_report_failure(const nvptx_ra_request *request, nvptx_ra_str message);

/* Writes a line to standard error. What in it a terminal would act on, as it may be in what the line quotes, is escaped. */
void nvptx_ra_say(nvptx_ra_str line);

/* Does what is left to do where the process ends in the middle of its work. */
void nvptx_ra_clean_up(void);

/* Whether an input is machine code as text; where it is not, that is said. `path` is the file's, or - for standard input. */
uint32_t nvptx_ra_check_machine_code(nvptx_ra_str content, nvptx_ra_str path);

/* How long the shim's own phases took, for the statistics. Nanoseconds. */
void nvptx_ra_report_time(const nvptx_ra_request *request, uint64_t flatten_ns, uint64_t apply_ns);

/* Notes what LLVM said of a clone of a module, which was compiled for the forecast. The options are those of the pass that
 * asked, and of the command line. Returns 1 where they make errors fatal. */
uint32_t nvptx_ra_report_clone(nvptx_ra_str parameters, nvptx_ra_str command_line, uint64_t errors, uint64_t warnings,
                               nvptx_ra_str first_error);

void nvptx_ra_response_free(const nvptx_ra_response *response);

/* ---- Tables that registration reads. --------------------------------------------------------------------------- */

typedef struct nvptx_ra_option_info {
  nvptx_ra_str name;    /* without the prefix "nvptx-ra-" */
  nvptx_ra_str help;    /* with type, range, default and unit */
  nvptx_ra_str meta;    /* what stands for the value in help: "N", "on|off" */
  uint32_t is_switch;   /* 1: may be given without a value */
  uint32_t hidden;      /* 1: for developers */
} nvptx_ra_option_info;

uint64_t nvptx_ra_option_count(void);
nvptx_ra_option_info nvptx_ra_option_at(uint64_t index);

/* Checks "a=b;c=d". Null where it is right, else a response with status ERROR, to be freed. */
const nvptx_ra_response *nvptx_ra_check_options(nvptx_ra_str parameters, nvptx_ra_str origin);

/* Makes the core ready: called once, when the passes are registered. */
void nvptx_ra_start(void);

typedef struct nvptx_ra_pipeline {
  uint32_t edits;           /* 1: it has passes that change every function */
  uint32_t coalesces;       /* 1: nvptx-copy-coalescer is in it */
  uint32_t forecast;        /* 1: the forecast is wanted, whoever reads remarks */
  uint32_t budget;          /* 1: it may limit the registers of kernels, ahead of the first that is printed */
  uint32_t profile;         /* 1: a profile is replayed ahead of it */
} nvptx_ra_pipeline;

/* The pipeline that the -nvptx-ra-… options ask for; the default where they are wrong, which is reported elsewhere. */
nvptx_ra_pipeline nvptx_ra_pipeline_of(nvptx_ra_str command_line);

/* A pass in the code generator's pipeline. */
typedef struct nvptx_ra_place {
  nvptx_ra_str pass;   /* empty: there is none */
  nvptx_ra_str anchor; /* the pass that it stands behind, by the name that LLVM registers it under */
  uint32_t replaces;      /* 1: it stands in the place of that */
  uint32_t follows;       /* 1: it stands directly behind the pass ahead of it here: nothing else changes a function */
  uint32_t with_analyses; /* 1: block frequencies and loops are computed for it */
  uint32_t reserved;
} nvptx_ra_place;

/* The pass that is the index-th to be put into that pipeline; those behind the same anchor in this order. */
nvptx_ra_place nvptx_ra_place_at(nvptx_ra_str command_line, uint32_t optimises, uint64_t index);

/* The optimisations of LLVM that a function with this attribute goes without, as a set of bits; none where its options
 * are wrong, which is reported elsewhere. */
uint32_t nvptx_ra_skipped(nvptx_ra_str command_line, nvptx_ra_str attribute);

/* The bit of an optimisation by the name that LLVM's gate gets; 0 of one that no function goes without. */
uint32_t nvptx_ra_skip_bit(nvptx_ra_str pass);

/* The optimisations of LLVM that a function with this attribute gets ahead of the code generator, as a set of bits; none
 * where its options are wrong, which is reported elsewhere. */
uint32_t nvptx_ra_added(nvptx_ra_str command_line, nvptx_ra_str attribute);

/* What LLVM's parser of pipelines calls that one of a set that is the index-th to run; empty behind the last. */
nvptx_ra_str nvptx_ra_added_pipeline(uint32_t set, uint32_t index);

/* What inline assembly does beyond its registers. */
#define NVPTX_RA_ASSEMBLY_UNKNOWN 0u
#define NVPTX_RA_ASSEMBLY_COMPUTES 1u          /* each thread for itself */
#define NVPTX_RA_ASSEMBLY_COMPUTES_TOGETHER 2u /* all threads of a warp */
#define NVPTX_RA_ASSEMBLY_READS 3u             /* memory */

/* By the text and the constraints that LLVM IR has for it: NVPTX_RA_ASSEMBLY_…. */
uint32_t nvptx_ra_assembly_effects(nvptx_ra_str text, nvptx_ra_str constraints);

/* Whether NVPTX_RA=off turns the plugin off: 1 or 0. The tool, whose commands a user calls by name, stays on. */
uint32_t nvptx_ra_is_off(void);

/* What warnings of the plugin end with, "NVPTX_RA=off turns nvptx-ra off"; empty in the tool. */
nvptx_ra_str nvptx_ra_off_note(void);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif
