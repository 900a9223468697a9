/* What Rust decides of LLVM's optimisations on IR: facts go in, marks come out. */
#ifndef NVPTX_RA_OPTIMISE_H
#define NVPTX_RA_OPTIMISE_H

#include "nvptx_ra.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Which loops are unrolled. ---------------------------------------------------------------------------------- */

/* nvptx_ra_loop_facts.asked: what the loop's metadata asks of LLVM's unroller (llvm::hasUnrollTransformation). */
#define NVPTX_RA_LOOP_ASKS_NOTHING 0u
#define NVPTX_RA_LOOP_ASKS_UNROLLING 1u
#define NVPTX_RA_LOOP_ASKS_RESTRAINT 2u

/* The size of the comparison and the branch at the end of a turn, as the shim tells LLVM's estimator. */
#define NVPTX_RA_LOOP_END 2u

/* nvptx_ra_loop.flags */
#define NVPTX_RA_LOOP_COUNTED 1u      /* metadata has a count */
#define NVPTX_RA_LOOP_RESTS 2u        /* UnrollCostEstimator::ConvergenceAllowsRuntime */
#define NVPTX_RA_LOOP_UNCONTROLLED 4u /* ConvergenceKind::Uncontrolled */

typedef struct nvptx_ra_loop {
  uint64_t size;     /* of a turn with its end, in LLVM's estimate; 0 where LLVM cannot unroll it */
  uint64_t matrices; /* operands and results of products of matrices, less one for each */
  uint32_t parent;   /* the loop around it, ahead of it in the array; NVPTX_RA_NONE of the first */
  uint32_t count;    /* of its metadata */
  uint32_t flags;    /* NVPTX_RA_LOOP_* */
  uint32_t reserved;
} nvptx_ra_loop;

typedef struct nvptx_ra_loop_facts {
  uint32_t choice; /* NVPTX_RA_UNROLL_* of the function */
  uint32_t asked;  /* NVPTX_RA_LOOP_ASKS_* */
  const nvptx_ra_loop *loops; /* the loop, and behind it those inside */
  uint64_t num_loops;
  const uint32_t *exits; /* how often each exit lets it run, or at most; 0 where unknown */
  uint64_t num_exits;
  uint32_t turns; /* how often it runs; 0 where unknown */
  uint32_t walks_stack; /* 1: an access has an address in a stack variable that differs from turn to turn */
} nvptx_ra_loop_facts;

/* Which facts beside `choice` and `asked` are read. */
#define NVPTX_RA_LOOP_READS_NOTHING 0u /* the loop stays as it is */
#define NVPTX_RA_LOOP_READS_ASKED 1u   /* no others */
#define NVPTX_RA_LOOP_READS_NEST 2u    /* loops, exits */
#define NVPTX_RA_LOOP_READS_STACK 3u   /* the first of loops, turns, walks_stack */
uint32_t nvptx_ra_loop_reads(uint32_t choice, uint32_t asked);

/* nvptx_ra_loop_mark.kind */
#define NVPTX_RA_LOOP_LEAVE 0u
#define NVPTX_RA_LOOP_DISABLE 1u /* it is not unrolled */
#define NVPTX_RA_LOOP_FULL 2u    /* wholly */
#define NVPTX_RA_LOOP_COUNT 3u   /* so often */

typedef struct nvptx_ra_loop_mark {
  uint32_t kind;
  uint32_t count;
} nvptx_ra_loop_mark;

nvptx_ra_loop_mark nvptx_ra_mark_loop(const nvptx_ra_loop_facts *facts);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif
