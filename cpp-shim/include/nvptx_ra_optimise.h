/* Decisions of the core on LLVM's optimisations of IR: facts go in, marks come out. */
#ifndef NVPTX_RA_OPTIMISE_H
#define NVPTX_RA_OPTIMISE_H

#include "nvptx_ra.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Choices of kernels before LLVM's optimisations. -------------------------------------------------------------- */

/* nvptx_ra_ir_function.flags */
#define NVPTX_RA_FUNCTION_KERNEL 1u
#define NVPTX_RA_FUNCTION_DISCARDABLE 2u /* Function::isDiscardableIfUnused */
#define NVPTX_RA_FUNCTION_FIXED 4u       /* noinline, alwaysinline or optnone */
#define NVPTX_RA_FUNCTION_ESCAPES 8u     /* has a use other than as the callee of a call */

/* A function with a body. */
typedef struct nvptx_ra_ir_function {
  nvptx_ra_str attribute; /* "nvptx-ra" */
  uint32_t flags;         /* NVPTX_RA_FUNCTION_* */
  uint32_t call_end;
} nvptx_ra_ir_function;

/* nvptx_ra_ir_call.flags */
#define NVPTX_RA_CALL_NAMED 1u     /* CallBase::getCalledFunction is the callee; else the call has another type */
#define NVPTX_RA_CALL_NO_INLINE 2u /* CallBase::isNoInline */

typedef struct nvptx_ra_ir_call {
  uint32_t callee; /* a function with a body */
  uint32_t flags;  /* NVPTX_RA_CALL_* */
} nvptx_ra_ir_call;

/* nvptx_ra_ir_value.kind: a value, or an object that pointers point to. Brackets contain the meaning of its edges. */
#define NVPTX_RA_VALUE_OTHER 0u
#define NVPTX_RA_VALUE_VARIABLE 1u  /* object: a stack variable */
#define NVPTX_RA_VALUE_PARAMETER 2u /* object: the target of a parameter */
#define NVPTX_RA_VALUE_LOAD 3u      /* object: the target of a loaded pointer (the address of the load) */
#define NVPTX_RA_VALUE_POINTER 4u   /* a pointer into objects (llvm::getUnderlyingObjects) */
#define NVPTX_RA_VALUE_MADE 5u      /* object: the target of the pointer that a call or extractvalue returns (its
                                       operands) */
#define NVPTX_RA_VALUE_NUMBER 6u    /* a non-pointer result of a call, extractvalue or insertvalue (its operands) */

typedef struct nvptx_ra_ir_value {
  uint32_t kind; /* NVPTX_RA_VALUE_* */
  uint32_t edge_end;
} nvptx_ra_ir_value;

typedef struct nvptx_ra_ir_store {
  uint32_t value; /* the stored value; for a copy of memory, the source pointer */
  uint32_t pointer;
  uint32_t copies; /* 1: a copy of memory */
} nvptx_ra_ir_store;

typedef struct nvptx_ra_ir_argument {
  uint32_t value;
  uint32_t by_value; /* 1: the callee gets a copy of the argument's target */
} nvptx_ra_ir_argument;

/* The values of a function. The objects of its parameters come first. */
typedef struct nvptx_ra_ir_body {
  const nvptx_ra_ir_value *values;
  uint64_t num_values;
  const uint32_t *edges;
  uint64_t num_edges;
  const nvptx_ra_ir_store *stores;
  uint64_t num_stores;
  const nvptx_ra_ir_argument *arguments;
  uint64_t num_arguments;
  const uint32_t *argument_ends; /* for each call of the function */
  uint64_t num_argument_ends;
  uint64_t num_parameters;
} nvptx_ra_ir_body;

/* Describes the values of a function. The result stays valid until the next call. */
typedef nvptx_ra_ir_body (*nvptx_ra_describe_body)(void *data, uint32_t function);

typedef struct nvptx_ra_ir_module {
  const nvptx_ra_ir_function *functions;
  uint64_t num_functions;
  const nvptx_ra_ir_call *calls;
  uint64_t num_calls;
  nvptx_ra_str command_line;
  nvptx_ra_describe_body describe;
  void *data; /* for describe */
} nvptx_ra_ir_module;

/* nvptx_ra_ir_mark.kind; the comment of each kind describes a and b. */
#define NVPTX_RA_MARK_COPY 1u         /* a: function, b: number for the copy's name. The copy is the next function,
                                         its calls are the next calls */
#define NVPTX_RA_MARK_REDIRECT 2u     /* a: call, b: function */
#define NVPTX_RA_MARK_FORGET_TYPES 3u /* a: function, whose accesses lose their types */
#define NVPTX_RA_MARK_INLINE 4u       /* a: call, which is always inlined */
#define NVPTX_RA_MARK_LIMIT 5u        /* a: call, b: its threshold for inlining */
#define NVPTX_RA_MARK_UNROLL 6u       /* a: function, b: nvptx_ra_loop_facts.choice of its loops */

typedef struct nvptx_ra_ir_mark {
  uint32_t kind; /* NVPTX_RA_MARK_* */
  uint32_t a;
  uint32_t b;
} nvptx_ra_ir_mark;

typedef struct nvptx_ra_ir_marks {
  const nvptx_ra_ir_mark *marks; /* applied in this order */
  uint64_t num_marks;
} nvptx_ra_ir_marks;

/* Whether options contain a choice: 1 or 0. If not, a module without the attribute "nvptx-ra" need not be examined. */
uint32_t nvptx_ra_chooses_ahead(nvptx_ra_str command_line);

/* Returns the marks for the choices of a module; none on failure. To be freed. */
nvptx_ra_ir_marks nvptx_ra_choose_ahead(const nvptx_ra_ir_module *module);

void nvptx_ra_ir_marks_free(nvptx_ra_ir_marks marks);

/* ---- Unrolling of loops. ---------------------------------------------------------------------------------------- */

/* nvptx_ra_loop_facts.asked: the request to LLVM's unroller in the loop's metadata (llvm::hasUnrollTransformation). */
#define NVPTX_RA_LOOP_ASKS_NOTHING 0u
#define NVPTX_RA_LOOP_ASKS_UNROLLING 1u
#define NVPTX_RA_LOOP_ASKS_RESTRAINT 2u

/* The size of the comparison and the branch at the end of an iteration, given to LLVM's estimator. */
#define NVPTX_RA_LOOP_END 2u

/* nvptx_ra_loop.flags */
#define NVPTX_RA_LOOP_COUNTED 1u      /* metadata has a count */
#define NVPTX_RA_LOOP_RESTS 2u        /* UnrollCostEstimator::ConvergenceAllowsRuntime */
#define NVPTX_RA_LOOP_UNCONTROLLED 4u /* ConvergenceKind::Uncontrolled */

typedef struct nvptx_ra_loop {
  uint64_t size;     /* of an iteration with its end, in LLVM's estimate; 0 if LLVM cannot unroll it */
  uint64_t matrices; /* operands and results of matrix products, less one per product */
  uint32_t parent;   /* the enclosing loop, which precedes it in the array; NVPTX_RA_NONE for the first */
  uint32_t count;    /* of its metadata */
  uint32_t flags;    /* NVPTX_RA_LOOP_* */
  uint32_t reserved;
} nvptx_ra_loop;

typedef struct nvptx_ra_loop_facts {
  uint32_t choice; /* the number that NVPTX_RA_MARK_UNROLL gave the function */
  uint32_t asked;  /* NVPTX_RA_LOOP_ASKS_* */
  const nvptx_ra_loop *loops; /* the loop, followed by its inner loops */
  uint64_t num_loops;
  const uint32_t *exits; /* the trip count by each exit, or an upper bound of it; 0 if unknown */
  uint64_t num_exits;
  uint32_t turns; /* the trip count; 0 if unknown */
  uint32_t walks_stack; /* 1: an access has an address in a stack variable that differs between iterations */
  uint32_t ends_at_lesser; /* 1: the loop has no inner loop, and its trip count is the lesser of two numbers; which
                              of the two is unknown */
  uint32_t reserved;
} nvptx_ra_loop_facts;

/* The facts that are read in addition to `choice` and `asked`. */
#define NVPTX_RA_LOOP_READS_NOTHING 0u /* the loop stays unchanged */
#define NVPTX_RA_LOOP_READS_ASKED 1u   /* no others */
#define NVPTX_RA_LOOP_READS_NEST 2u    /* loops, exits */
#define NVPTX_RA_LOOP_READS_STACK 3u   /* the first of loops, turns, walks_stack */
#define NVPTX_RA_LOOP_READS_BOUNDS 4u  /* the first of loops, ends_at_lesser */
uint32_t nvptx_ra_loop_reads(uint32_t choice, uint32_t asked);

/* nvptx_ra_loop_mark.kind */
#define NVPTX_RA_LOOP_LEAVE 0u
#define NVPTX_RA_LOOP_DISABLE 1u /* it is not unrolled */
#define NVPTX_RA_LOOP_FULL 2u    /* fully unrolled */
#define NVPTX_RA_LOOP_COUNT 3u   /* unrolled by the count */

typedef struct nvptx_ra_loop_mark {
  uint32_t kind;
  uint32_t count;
} nvptx_ra_loop_mark;

nvptx_ra_loop_mark nvptx_ra_mark_loop(const nvptx_ra_loop_facts *facts);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif
