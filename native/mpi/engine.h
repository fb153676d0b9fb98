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
#include <sched.h>

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
/* Goes on, `wait`: until the call is done, giving the processor away between looks. Returns an MPI error code; after an error the call is over. */
static int banyan_call_progress(banyan_call* call, int wait, int* done);
/* Runs a call from start to end. */
#ifdef __GNUC__
__attribute__((unused))
#endif
static int banyan_call_run(banyan_call* call, const banyan_arguments* arguments);

/* Bytes and segments that a block may have under way. */
enum { BANYAN_WINDOW = 16, BANYAN_WINDOW_BYTES = 1 << 20, BANYAN_LARGEST_SEGMENT = 1 << 30 };

/* A step in this call. */
typedef struct {
  int64_t bytes, before; /* segments of its block before it */
  char *source, *target;
} banyan_run;

/* A segment under way. */
typedef struct {
  int step;
  int64_t at; /* bytes of the step before it */
  int complete;
} banyan_piece;

/* A block waits until another has done `need` segments. */
typedef struct {
  int on, next; /* -1: it does not wait; the next that waits for the same block */
  int64_t need;
} banyan_watch;

typedef struct {
  int64_t total, issued, done; /* segments */
  int step;                    /* of the next segment to issue, */
  int64_t at;                  /* and its first byte in the step */
  int watchers;                /* who waits for this block */
  int queued;
  banyan_watch watch[2]; /* to issue; to put into place */
  char* bounce;
  banyan_piece* pieces; /* [window] piece of segment n: n % window */
} banyan_lane;

struct banyan_call {
  const banyan_plan* plan;
  banyan_arguments arguments;
  banyan_run* runs;   /* [steps] */
  banyan_lane* lanes; /* [blocks] */
  banyan_piece* pieces;
  int* queue; /* [blocks] blocks that may be able to go on; a ring */
  int queueFirst, queued, left;
  int window, most, active; /* requests: most of them, and those under way */
  MPI_Request* requests;
  int *owners, *indices; /* [most] block * BANYAN_WINDOW + piece of a request; completed ones */
  MPI_Status* statuses;
  char *scratch, *bounce;
  size_t scratchRoom, bounceRoom;
  int64_t segment, chunkBytes;
  int failed;
  int64_t events; /* requests that were found complete, ever */
};

static void banyan_call_free(banyan_call* call) {
  if (call == NULL) return;
  free(call->runs);
  free(call->lanes);
  free(call->pieces);
  free(call->queue);
  free(call->requests);
  free(call->owners);
  free(call->indices);
  free(call->statuses);
  free(call->scratch);
  free(call->bounce);
  free(call);
}

static banyan_call* banyan_call_new(const banyan_plan* plan) {
  banyan_call* call = (banyan_call*)calloc(1, sizeof(banyan_call));
  size_t blocks = (size_t)plan->blockCount + 1, b;
  if (call == NULL) return NULL;
  call->plan = plan;
  for (b = 0; b + 1 < blocks; b++)
    if (plan->blocks[b].kind != BANYAN_LOCAL) call->most += BANYAN_WINDOW;
  call->runs = (banyan_run*)malloc(((size_t)plan->stepCount + 1) * sizeof(banyan_run));
  call->lanes = (banyan_lane*)calloc(blocks, sizeof(banyan_lane));
  call->pieces = (banyan_piece*)malloc(blocks * BANYAN_WINDOW * sizeof(banyan_piece));
  call->queue = (int*)malloc(blocks * sizeof(int));
  call->requests = (MPI_Request*)malloc(((size_t)call->most + 1) * sizeof(MPI_Request));
  call->owners = (int*)malloc(((size_t)call->most + 1) * sizeof(int));
  call->indices = (int*)malloc(((size_t)call->most + 1) * sizeof(int));
  call->statuses = (MPI_Status*)malloc(((size_t)call->most + 1) * sizeof(MPI_Status));
  if (call->runs != NULL && call->lanes != NULL && call->pieces != NULL && call->queue != NULL &&
      call->requests != NULL && call->owners != NULL && call->indices != NULL && call->statuses != NULL)
    return call;
  banyan_call_free(call);
  return NULL;
}

/* Grows a buffer, whose contents are not kept. */
static int banyan_grow(char** buffer, size_t* room, size_t size) {
  if (size <= *room) return 1;
  free(*buffer);
  *buffer = (char*)malloc(size);
  *room = *buffer == NULL ? 0 : size;
  return *buffer != NULL;
}

/* Where a chunk has its place. */
static char* banyan_place(const banyan_call* call, int buffer, int index) {
  const banyan_arguments* a = &call->arguments;
  int slot = index / call->plan->chunks;
  int64_t within = (int64_t)(index % call->plan->chunks) * call->chunkBytes;
  if (buffer == BANYAN_SCRATCH) return call->scratch + (int64_t)index * call->chunkBytes;
  if (buffer == BANYAN_INPUT)
    return (char*)a->input + (a->inputAt == NULL ? slot * a->equalBytes : a->inputAt[slot]) + within;
  return (char*)a->output + (a->outputAt == NULL ? slot * a->equalBytes : a->outputAt[slot]) + within;
}

/* Bytes of the chunks of a step: the last chunks of a block are short or empty. */
static int64_t banyan_run_bytes(const banyan_call* call, const banyan_step* step) {
  const banyan_arguments* a = &call->arguments;
  int block = step->first / call->plan->chunks, k = step->first % call->plan->chunks;
  int64_t bytes = a->blockBytes == NULL ? a->equalBytes : a->blockBytes[block];
  int64_t from = k * call->chunkBytes, to = (k + step->count) * call->chunkBytes;
  if (to > bytes) to = bytes;
  return to > from ? to - from : 0;
}

/* Segments of a step: one at least, for a step without bytes still comes after what it waits for, and before what waits for it. */
static int64_t banyan_pieces_of(const banyan_call* call, int64_t bytes) {
  return bytes == 0 ? 1 : (bytes + call->segment - 1) / call->segment;
}

static void banyan_enqueue(banyan_call* call, int block) {
  int at;
  if (call->lanes[block].queued) return;
  call->lanes[block].queued = 1;
  at = call->queueFirst + call->queued++;
  call->queue[at < call->plan->blockCount ? at : at - call->plan->blockCount] = block;
}

/* Counts segments of a block as done, and wakes who waits for them. */
static void banyan_done(banyan_call* call, int block, int64_t count) {
  banyan_lane* lane = &call->lanes[block];
  int* link = &lane->watchers;
  if (count == 0) return;
  lane->done += count;
  if (lane->done == lane->total) call->left--;
  while (*link >= 0) {
    banyan_watch* watch = &call->lanes[*link / 2].watch[*link % 2];
    int waiter = *link / 2;
    if (watch->need > lane->done) {
      link = &watch->next;
      continue;
    }
    *link = watch->next;
    watch->on = -1;
    banyan_enqueue(call, waiter);
  }
}

/* May bytes `at` .. of a step be touched? If not, the block is woken when that may have changed. */
static int banyan_may(banyan_call* call, int block, int which, int step, int64_t at) {
  const banyan_step* s = &call->plan->steps[step];
  banyan_watch* mine = &call->lanes[block].watch[which];
  int w;
  for (w = s->wait; w < s->wait + s->waits; w++) {
    const banyan_wait* wait = &call->plan->waits[w];
    banyan_lane* other = &call->lanes[wait->block];
    int awaited = call->plan->blocks[wait->block].first + wait->step;
    int64_t pieces = wait->same ? at / call->segment + 1 : banyan_pieces_of(call, call->runs[awaited].bytes);
    int64_t need = call->runs[awaited].before + pieces;
    if (other->done >= need) continue;
    if (mine->on < 0) {
      mine->on = wait->block;
      mine->need = need;
      mine->next = other->watchers;
      other->watchers = block * 2 + which;
    }
    return 0;
  }
  return 1;
}

/* Bytes of the segment of a step that starts at `at`. */
static int64_t banyan_piece_bytes(const banyan_call* call, int step, int64_t at) {
  int64_t rest = call->runs[step].bytes - at;
  return rest < call->segment ? rest : call->segment;
}

static int banyan_add(banyan_call* call, const void* more, void* sum, int64_t bytes) {
  return PMPI_Reduce_local(more, sum, (int)(bytes / call->arguments.typeSize), call->arguments.type,
                           call->arguments.op);
}

/* Puts a segment into place: what came (NULL: nothing), what is there, their sum. */
static int banyan_place_piece(banyan_call* call, int step, int64_t at, const char* came) {
  const banyan_run* run = &call->runs[step];
  const char* source = run->source + at;
  char* target = run->target + at;
  size_t bytes = (size_t)banyan_piece_bytes(call, step, at);
  if (bytes == 0) return MPI_SUCCESS;
  switch (call->plan->steps[step].op) {
    case BANYAN_RECEIVE:
      memcpy(target, came, bytes);
      return MPI_SUCCESS;
    case BANYAN_RECEIVE_SUM:
      if (source != target) memcpy(target, source, bytes);
      return banyan_add(call, came, target, (int64_t)bytes);
    case BANYAN_COPY:
      if (source != target) memcpy(target, source, bytes);
      return MPI_SUCCESS;
    default:
      return banyan_add(call, source, target, (int64_t)bytes);
  }
}

/* Goes to the next segment of a block. */
static void banyan_next(banyan_call* call, banyan_lane* lane) {
  lane->issued++;
  lane->at += call->segment;
  if (lane->at < call->runs[lane->step].bytes) return;
  lane->step++;
  lane->at = 0;
}

/* Runs what a block without peer can do now. */
static int banyan_go_local(banyan_call* call, int block) {
  banyan_lane* lane = &call->lanes[block];
  while (lane->issued < lane->total) {
    int code;
    if (!banyan_may(call, block, 0, lane->step, lane->at)) return MPI_SUCCESS;
    code = banyan_place_piece(call, lane->step, lane->at, NULL);
    if (code != MPI_SUCCESS) return code;
    banyan_next(call, lane);
    banyan_done(call, block, 1);
  }
  return MPI_SUCCESS;
}

/* Do bytes lie in what a segment under way still reads or writes? */
static int banyan_overlaps(const banyan_call* call, const banyan_lane* lane, const char* from, int64_t bytes) {
  int64_t n;
  for (n = lane->done; n < lane->issued; n++) {
    const banyan_piece* piece = &lane->pieces[n % call->window];
    const banyan_run* run = &call->runs[piece->step];
    int64_t length = banyan_piece_bytes(call, piece->step, piece->at);
    const char *source = run->source == NULL ? NULL : run->source + piece->at, *target = run->target + piece->at;
    if (from < target + length && target < from + bytes) return 1;
    if (source != NULL && from < source + length && source < from + bytes) return 1;
  }
  return 0;
}

/* Posts what a block can send or receive now. */
static int banyan_issue(banyan_call* call, int block) {
  const banyan_block* b = &call->plan->blocks[block];
  const banyan_arguments* a = &call->arguments;
  banyan_lane* lane = &call->lanes[block];
  int peer = a->members == NULL ? b->peer : a->members[b->peer], tag = a->tag + b->lane;
  while (lane->issued < lane->total && lane->issued - lane->done < call->window) {
    int slot = (int)(lane->issued % call->window), code;
    const banyan_run* run;
    banyan_piece* piece = &lane->pieces[slot];
    MPI_Request* request = &call->requests[call->active];
    int bytes;
    run = &call->runs[lane->step];
    bytes = (int)banyan_piece_bytes(call, lane->step, lane->at);
    if (call->plan->steps[lane->step].bounce) {
      code = PMPI_Irecv(lane->bounce + slot * call->segment, bytes, MPI_BYTE, peer, tag, a->comm, request);
    } else {
      if (!banyan_may(call, block, 0, lane->step, lane->at)) return MPI_SUCCESS;
      if (b->kind == BANYAN_TO) {
        code = PMPI_Isend(run->source + lane->at, bytes, MPI_BYTE, peer, tag, a->comm, request);
      } else {
        if (banyan_overlaps(call, lane, run->target + lane->at, bytes)) return MPI_SUCCESS;
        code = PMPI_Irecv(run->target + lane->at, bytes, MPI_BYTE, peer, tag, a->comm, request);
      }
    }
    if (code != MPI_SUCCESS) return code;
    call->owners[call->active++] = block * BANYAN_WINDOW + slot;
    piece->step = lane->step;
    piece->at = lane->at;
    piece->complete = 0;
    banyan_next(call, lane);
  }
  return MPI_SUCCESS;
}

/* Does what a block can do now. */
static int banyan_go(banyan_call* call, int block) {
  banyan_lane* lane = &call->lanes[block];
  if (call->plan->blocks[block].kind == BANYAN_LOCAL) return banyan_go_local(call, block);
  for (;;) {
    int64_t before = lane->done;
    int code;
    while (lane->done < lane->issued) {
      int slot = (int)(lane->done % call->window);
      const banyan_piece* piece = &lane->pieces[slot];
      if (!piece->complete) break;
      if (call->plan->steps[piece->step].bounce) {
        if (!banyan_may(call, block, 1, piece->step, piece->at)) break;
        code = banyan_place_piece(call, piece->step, piece->at, lane->bounce + slot * call->segment);
        if (code != MPI_SUCCESS) return code;
      }
      banyan_done(call, block, 1);
    }
    code = banyan_issue(call, block);
    if (code != MPI_SUCCESS || lane->done == before) return code;
  }
}

/* Gives up what is under way. */
static int banyan_fail(banyan_call* call, int code) {
  int k;
  for (k = 0; k < call->active; k++)
    if (call->requests[k] != MPI_REQUEST_NULL) {
      if (call->plan->blocks[call->owners[k] / BANYAN_WINDOW].kind == BANYAN_FROM) PMPI_Cancel(&call->requests[k]);
      PMPI_Request_free(&call->requests[k]);
    }
  call->active = 0;
  call->queued = 0;
  call->left = 0;
  call->failed = code;
  return code;
}

/* Looks for requests that are complete. */
static int banyan_poll(banyan_call* call, int* count) {
  int k, kept, code;
  code = PMPI_Testsome(call->active, call->requests, count, call->indices, call->statuses);
  if (code != MPI_SUCCESS) {
    for (k = 0; code == MPI_ERR_IN_STATUS && k < *count; k++)
      if (call->statuses[k].MPI_ERROR != MPI_SUCCESS && call->statuses[k].MPI_ERROR != MPI_ERR_PENDING)
        return call->statuses[k].MPI_ERROR;
    return code;
  }
  if (*count == MPI_UNDEFINED) *count = 0;
  if (*count == 0) return MPI_SUCCESS;
  call->events += *count;
  for (k = 0; k < *count; k++) {
    int owner = call->owners[call->indices[k]];
    call->lanes[owner / BANYAN_WINDOW].pieces[owner % BANYAN_WINDOW].complete = 1;
    call->owners[call->indices[k]] = -1;
    banyan_enqueue(call, owner / BANYAN_WINDOW);
  }
  for (k = 0, kept = 0; k < call->active; k++)
    if (call->owners[k] >= 0) {
      call->owners[kept] = call->owners[k];
      call->requests[kept++] = call->requests[k];
    }
  call->active = kept;
  return MPI_SUCCESS;
}

static int banyan_call_progress(banyan_call* call, int wait, int* done) {
  int code, count = 1;
  *done = 0;
  for (;;) {
    while (call->queued > 0) {
      int block = call->queue[call->queueFirst];
      call->queueFirst = call->queueFirst + 1 < call->plan->blockCount ? call->queueFirst + 1 : 0;
      call->queued--;
      call->lanes[block].queued = 0;
      code = banyan_go(call, block);
      if (code != MPI_SUCCESS) return banyan_fail(call, code);
    }
    if (call->left == 0) {
      *done = 1;
      return call->failed;
    }
    if (call->active == 0) return banyan_fail(call, MPI_ERR_INTERN); /* no plan that was judged comes here */
    if (count == 0 && !wait) return MPI_SUCCESS;
    if (count == 0) sched_yield(); /* MPI_Waitsome would keep the processor from a peer that shares it */
    code = banyan_poll(call, &count);
    if (code != MPI_SUCCESS) return banyan_fail(call, code);
  }
}

/* Sizes of this call. Every chunk is a whole number of elements, and of cache lines. */
static void banyan_measure(banyan_call* call) {
  const banyan_arguments* a = &call->arguments;
  int64_t largest = a->equalBytes, blocks = banyan_blocks_of(call->plan), b;
  int64_t segment = a->segment == 0 ? call->plan->segment : a->segment;
  if (a->blockBytes != NULL)
    for (b = 0, largest = 0; b < blocks; b++)
      if (a->blockBytes[b] > largest) largest = a->blockBytes[b];
  call->chunkBytes = ((largest + call->plan->chunks - 1) / call->plan->chunks + 63) / 64 * 64;
  if (call->plan->segment != 0 && call->plan->segment < segment) segment = call->plan->segment;
  if (segment == 0 || segment > BANYAN_LARGEST_SEGMENT) segment = BANYAN_LARGEST_SEGMENT;
  call->segment = segment / 64 * 64;
}

static int banyan_call_start(banyan_call* call, const banyan_arguments* arguments) {
  const banyan_plan* plan = call->plan;
  int64_t largest = 64;
  size_t bounces = 0;
  int b, s;
  call->arguments = *arguments;
  call->failed = MPI_SUCCESS;
  call->active = call->queued = call->queueFirst = call->left = 0;
  banyan_measure(call);
  if (!banyan_grow(&call->scratch, &call->scratchRoom, (size_t)(plan->scratchChunks * call->chunkBytes)))
    return call->failed = MPI_ERR_NO_MEM;
  for (b = 0; b < plan->blockCount; b++) {
    const banyan_block* block = &plan->blocks[b];
    banyan_lane* lane = &call->lanes[b];
    lane->total = 0;
    for (s = block->first; s < block->first + block->steps; s++) {
      const banyan_step* step = &plan->steps[s];
      banyan_run* run = &call->runs[s];
      run->bytes = banyan_run_bytes(call, step);
      run->before = lane->total;
      run->source = step->op == BANYAN_RECEIVE ? NULL : banyan_place(call, step->source, step->sourceIndex);
      run->target = step->op == BANYAN_SEND ? NULL : banyan_place(call, step->target, step->targetIndex);
      lane->total += banyan_pieces_of(call, run->bytes);
      if (run->bytes > largest) largest = run->bytes;
    }
    lane->issued = lane->done = lane->at = 0;
    lane->step = block->first;
    lane->watchers = lane->watch[0].on = lane->watch[1].on = -1;
    lane->queued = 0;
    lane->pieces = &call->pieces[(size_t)b * BANYAN_WINDOW];
    call->left += lane->total > 0;
    bounces += block->bounces != 0;
  }
  /* No segment is longer than the longest run: buffers need be no larger. */
  largest = (largest + 63) / 64 * 64;
  if (call->segment > largest) call->segment = largest;
  call->window = call->segment * BANYAN_WINDOW <= BANYAN_WINDOW_BYTES ? BANYAN_WINDOW
                 : call->segment * 2 >= BANYAN_WINDOW_BYTES           ? 2
                                                            : (int)(BANYAN_WINDOW_BYTES / call->segment);
  if (!banyan_grow(&call->bounce, &call->bounceRoom, bounces * (size_t)(call->window * call->segment)))
    return call->failed = MPI_ERR_NO_MEM;
  for (b = 0, bounces = 0; b < plan->blockCount; b++)
    if (plan->blocks[b].bounces)
      call->lanes[b].bounce = call->bounce + bounces++ * (size_t)(call->window * call->segment);
  for (s = BANYAN_LOCAL; s >= BANYAN_TO; s--) /* receives are posted before anything is sent */
    for (b = 0; b < plan->blockCount; b++)
      if (plan->blocks[b].kind == s && call->lanes[b].total > 0) banyan_enqueue(call, b);
  return MPI_SUCCESS;
}

static int banyan_call_run(banyan_call* call, const banyan_arguments* arguments) {
  int done = 0, code = banyan_call_start(call, arguments);
  while (code == MPI_SUCCESS && !done) code = banyan_call_progress(call, 1, &done);
  return code;
}

#endif
