/*
 * The reader of plans (FORMATS.md, "Plans for MPI"): a text is judged as a whole, for all ranks, before a word of it is used:
 * version, checksum, every number, every place inside its buffer, every message against the one that its peer expects, and that
 * no rank waits for ever. C99 and C++17, no MPI; programs that Banyan writes have this text in them.
 *
 * Buffers, in chunks (C per block): all-gather i C, o ranks*C; reduce-scatter i ranks*C, o C; all-reduce i C, o C; broadcast i C
 * at the root, o C; reduce i C, o C at the root; gather i C, o ranks*C at the root; scatter i ranks*C at the root, o C;
 * all-to-all i ranks*C, o ranks*C. In `i` and `o` every chunk has its one place; anything else goes through scratch. Nothing is
 * written to `i`.
 */
#ifndef BANYAN_PLAN_H
#define BANYAN_PLAN_H

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  BANYAN_ALLGATHER,
  BANYAN_REDUCESCATTER,
  BANYAN_ALLREDUCE,
  BANYAN_BROADCAST,
  BANYAN_REDUCE,
  BANYAN_GATHER,
  BANYAN_SCATTER,
  BANYAN_ALLTOALL,
  BANYAN_COLLECTIVES
};
static const char* const banyan_collectives[] = {"allgather", "reducescatter", "allreduce", "broadcast",
                                                 "reduce",    "gather",        "scatter",   "alltoall"};
enum { BANYAN_OPS = 10 };
static const char* const banyan_ops[] = {"sum", "prod", "min", "max", "land", "lor", "lxor", "band", "bor", "bxor"};

enum { BANYAN_INPUT, BANYAN_OUTPUT, BANYAN_SCRATCH };
enum { BANYAN_SEND, BANYAN_RECEIVE, BANYAN_RECEIVE_SUM, BANYAN_COPY, BANYAN_SUM };
enum { BANYAN_TO, BANYAN_FROM, BANYAN_LOCAL };
/* What reading returns. Another version is no damage. */
enum { BANYAN_READ, BANYAN_DAMAGED, BANYAN_OTHER_VERSION };

enum { BANYAN_MOST_RANKS = 65536, BANYAN_MOST_CHUNKS = 1 << 24, BANYAN_MOST_LANES = 256, BANYAN_SMALLEST_SEGMENT = 64 };

typedef struct {
  int kind, peer, lane;
  int first, steps; /* its steps: first .. first + steps */
  int rank, line, bounces;
} banyan_block;

typedef struct {
  int op, first, count; /* chunks first .. first + count of the collective */
  int source, sourceIndex, target, targetIndex;
  int wait, waits; /* its waits: wait .. wait + waits */
  int line;
} banyan_step;

/* Until a step of another block is done; `same`: it is of the same chunks, so that segments wait for segments. */
typedef struct {
  int block, step, same;
} banyan_wait;

/* A plan as one rank runs it. */
typedef struct {
  char* name;
  int collective, ranks, root, chunks, lanes, library, unequal, rank;
  int64_t fromBytes, toBytes, segment;
  int ops;                 /* bit k: operation k of banyan_ops */
  int* group;              /* [ranks] or NULL */
  char** hosts;            /* [ranks] or NULL: host of every plan rank, */
  int* hostIndex;          /* [ranks] and which of its processes */
  int64_t scratchChunks;   /* of this rank */
  int blockCount, stepCount;
  banyan_block* blocks; /* of this rank */
  banyan_step* steps;
  banyan_wait* waits;
} banyan_plan;

static void banyan_plan_free(banyan_plan* plan);
/*
 * Judges a plan and keeps what `rank` runs; -1 keeps the header only. Returns BANYAN_READ and the plan, or what is wrong in one
 * sentence with its line. O(length log length).
 */
static int banyan_plan_read(const char* text, size_t length, int rank, banyan_plan** plan, char* error, size_t errorSize);
