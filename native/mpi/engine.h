/*
 * Runs a plan over MPI. Every block has a few segments under way: receives are posted ahead, into their place as soon as it may
 * be written, or into a buffer of the block where a sum follows; a segment goes out as soon as the segments that it is made of
 * are there. One event costs O(1), whatever the size of the plan. C99 and C++17, on PMPI only.
 *
 *   banyan_call* call = banyan_call_new(plan);
 *   code = banyan_call_start(call, &arguments);
 *   while (code == MPI_SUCCESS && !done) code = banyan_call_progress(call, wait, &done);
 *   ... start again, as often as liked; banyan_call_free(call);
 */
#ifndef BANYAN_ENGINE_H
#define BANYAN_ENGINE_H

#include <mpi.h>

#ifndef BANYAN_JUDGE_H
#include "judge.h"
#endif

/* A call of a collective. Blocks and slots are numbered by plan rank. */
typedef struct {
  MPI_Comm comm;     /* messages go here, on tags tag .. tag + lanes - 1; its errors should return */
  int tag;
  const int* members; /* [ranks] rank in comm of every plan rank; NULL: the same number */
  const void* input;
  void* output;
  int64_t equalBytes;        /* bytes of every block, unless */
  const int64_t* blockBytes; /* [blocks] says them, or NULL */
  const int64_t* inputAt;    /* [slots of the input] bytes before a rank's block; NULL: slot * equalBytes */
  const int64_t* outputAt;   /* [slots of the output] */
  MPI_Datatype type;         /* of a reduction; its size divides 64 */
  MPI_Op op;
  int typeSize;
  int64_t segment; /* upper bound of a message; 0: the plan's */
} banyan_arguments;

typedef struct banyan_call banyan_call;

/* Returns a call of a plan, to be started any number of times, one after the other; NULL: no memory. The plan must outlive it. */
static banyan_call* banyan_call_new(const banyan_plan* plan);
static void banyan_call_free(banyan_call* call);
/* Starts a call; what it points to must stay until it is done. Returns an MPI error code. */
static int banyan_call_start(banyan_call* call, const banyan_arguments* arguments);
/* Goes on, `wait`: until the call is done. Returns an MPI error code; after an error the call is over. */
static int banyan_call_progress(banyan_call* call, int wait, int* done);
/* Runs a call from start to end. */
static int banyan_call_run(banyan_call* call, const banyan_arguments* arguments);
