/*
 * Plans (FORMATS.md, "Plans for MPI"), and how their text is read; judge.h judges what is read. C99 and C++17, no MPI. Programs
 * that Banyan writes have plan.h, judge.h and engine.h in them, in this order.
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

enum { BANYAN_MOST_RANKS = 4096, BANYAN_MOST_CHUNKS = 1 << 24, BANYAN_MOST_LANES = 256, BANYAN_SMALLEST_SEGMENT = 64 };

typedef struct {
  int kind, peer, lane;
  int first, steps; /* its steps: first .. first + steps */
  int rank, line;
  int bounces; /* some step of it needs a buffer of the block */
} banyan_block;

typedef struct {
  int op, first, count; /* chunks first .. first + count of the collective */
  int source, sourceIndex, target, targetIndex;
  int wait, waits; /* its waits: wait .. wait + waits */
  int bounce;      /* what comes goes to a buffer of the block first */
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
  int ops;               /* bit k: operation k of banyan_ops */
  int* group;            /* [ranks] or NULL */
  char** hosts;          /* [ranks] or NULL: host of every plan rank, */
  int* hostIndex;        /* [ranks] and which of its processes */
  int64_t scratchChunks; /* of this rank */
  int blockCount, stepCount;
  banyan_block* blocks; /* of this rank */
  banyan_step* steps;
  banyan_wait* waits;
} banyan_plan;

/* ---- words ---- */

typedef struct {
  const char *text, *end; /* what is read: up to the line of the checksum */
  const char* next;       /* the next line */
  const char *at, *stop;  /* the rest of this line */
  int line;
  char* error;
  size_t errorSize;
} banyan_reader;

/* Says what is wrong with a line; 0. The first word counts. */
static int banyan_refuse(banyan_reader* reader, int line, const char* what) {
  if (reader->error != NULL && reader->errorSize > 0 && reader->error[0] == '\0')
    snprintf(reader->error, reader->errorSize, "line %d: %s", line, what);
  return 0;
}

/* Goes to the next line; 0 at the end. */
static int banyan_line(banyan_reader* reader) {
  const char* stop;
  if (reader->next >= reader->end) return 0;
  stop = (const char*)memchr(reader->next, '\n', (size_t)(reader->end - reader->next));
  reader->at = reader->next;
  reader->stop = stop; /* there is one: the text before the checksum ends a line */
  reader->next = stop + 1;
  reader->line++;
  return 1;
}

/* Takes a word of the line, if it is there. */
static int banyan_take(banyan_reader* reader, const char* word) {
  size_t length = strlen(word), rest = (size_t)(reader->stop - reader->at);
  if (rest < length || memcmp(reader->at, word, length) != 0) return 0;
  if (rest == length) {
    reader->at = reader->stop;
    return 1;
  }
  if (reader->at[length] != ' ' || rest == length + 1) return 0;
  reader->at += length + 1;
  return 1;
}

/* Reads the next word of the line as a number from 0 to most, written as usual. */
static int banyan_number(banyan_reader* reader, int64_t most, int64_t* value) {
  const char* at = reader->at;
  int64_t sum = 0;
  while (at < reader->stop && *at >= '0' && *at <= '9') {
    int digit = *at - '0';
    if (sum > (most - digit) / 10) return banyan_refuse(reader, reader->line, "a number is larger than it can be");
    sum = sum * 10 + digit;
    at++;
  }
  if (at == reader->at || (*reader->at == '0' && at != reader->at + 1))
    return banyan_refuse(reader, reader->line, "expected a number");
  if (at < reader->stop) {
    if (*at != ' ' || at + 1 == reader->stop) return banyan_refuse(reader, reader->line, "expected a number");
    at++;
  }
  reader->at = at;
  *value = sum;
  return 1;
}

static int banyan_int(banyan_reader* reader, int most, int* value) {
  int64_t wide;
  if (!banyan_number(reader, most, &wide)) return 0;
  *value = (int)wide;
  return 1;
}

static int banyan_line_ends(banyan_reader* reader) {
  return reader->at == reader->stop || banyan_refuse(reader, reader->line, "there is more than belongs there");
}

/* Takes one of a list of words; -1: none. */
static int banyan_one_of(banyan_reader* reader, const char* const* words, int count) {
  int k;
  for (k = 0; k < count; k++)
    if (banyan_take(reader, words[k])) return k;
  return -1;
}

/* Copies the rest of the line up to a space, or all of it. */
static char* banyan_copy(banyan_reader* reader, int all) {
  const char* stop = all ? NULL : (const char*)memchr(reader->at, ' ', (size_t)(reader->stop - reader->at));
  size_t length = (size_t)((stop == NULL ? reader->stop : stop) - reader->at);
  char* copy = (char*)malloc(length + 1);
  if (copy == NULL) return NULL;
  memcpy(copy, reader->at, length);
  copy[length] = '\0';
  reader->at += length;
  if (reader->at < reader->stop && reader->at + 1 < reader->stop) reader->at++;
  return copy;
}

/* A list that grows; 0: no memory. */
static int banyan_room(void** items, int count, int* room, size_t size) {
  int more;
  void* grown;
  if (count < *room) return 1;
  if (*room > INT_MAX / 4) return 0;
  more = *room == 0 ? 64 : *room * 2;
  grown = realloc(*items, (size_t)more * size);
  if (grown == NULL) return 0;
  *items = grown;
  *room = more;
  return 1;
}

static uint64_t banyan_hash(const char* text, size_t length, uint64_t hash) {
  size_t k;
  for (k = 0; k < length; k++) hash = (hash ^ (unsigned char)text[k]) * UINT64_C(1099511628211);
  return hash;
}
#define BANYAN_HASH_START UINT64_C(14695981039346656037)

/* ---- shapes ---- */

static int banyan_sums(int collective) {
  return collective == BANYAN_REDUCESCATTER || collective == BANYAN_ALLREDUCE || collective == BANYAN_REDUCE;
}
static int banyan_rooted(int collective) {
  return collective == BANYAN_BROADCAST || collective == BANYAN_REDUCE || collective == BANYAN_GATHER ||
         collective == BANYAN_SCATTER;
}

/* Blocks of a collective: what a chunk's number counts. */
static int64_t banyan_blocks_of(const banyan_plan* plan) {
  switch (plan->collective) {
    case BANYAN_ALLREDUCE:
    case BANYAN_BROADCAST:
    case BANYAN_REDUCE:
      return 1;
    case BANYAN_ALLTOALL:
      return (int64_t)plan->ranks * plan->ranks;
    default:
      return plan->ranks;
  }
}

/* Blocks that a buffer of a rank has room for. */
static int banyan_slots(const banyan_plan* plan, int buffer, int rank) {
  int isRoot = rank == plan->root, isInput = buffer == BANYAN_INPUT;
  switch (plan->collective) {
    case BANYAN_ALLGATHER:
      return isInput ? 1 : plan->ranks;
    case BANYAN_REDUCESCATTER:
      return isInput ? plan->ranks : 1;
    case BANYAN_ALLREDUCE:
      return 1;
    case BANYAN_BROADCAST:
      return isInput ? isRoot : 1;
    case BANYAN_REDUCE:
      return isInput ? 1 : isRoot;
    case BANYAN_GATHER:
      return isInput ? 1 : isRoot ? plan->ranks : 0;
    case BANYAN_SCATTER:
      return !isInput ? 1 : isRoot ? plan->ranks : 0;
    default:
      return plan->ranks;
  }
}

/* The block that slot `slot` of a buffer of a rank is of. */
static int64_t banyan_block_in(const banyan_plan* plan, int buffer, int rank, int slot) {
  if (plan->collective == BANYAN_ALLTOALL)
    return buffer == BANYAN_INPUT ? (int64_t)rank * plan->ranks + slot : (int64_t)slot * plan->ranks + rank;
  if (banyan_blocks_of(plan) == 1) return 0;
  return banyan_slots(plan, buffer, rank) == 1 && plan->ranks > 1 ? rank : slot;
}

/* ---- the text ---- */

/* What is read of all ranks before it is judged. */
typedef struct {
  banyan_plan* plan;
  banyan_reader reader;
  banyan_block* blocks;
  banyan_step* steps;
  banyan_wait* waits; /* block: within the rank, then among all */
  int blockCount, blockRoom, stepCount, stepRoom, waitCount, waitRoom;
  int* rankBlock;   /* [ranks + 1] */
  int64_t* scratch; /* [ranks] */
  int* partner;     /* [blocks] the block at the other end */
} banyan_text;

static const char* const banyan_no_memory = "there is no memory for it";

static int banyan_read_group(banyan_text* all) {
  banyan_plan* plan = all->plan;
  banyan_reader* reader = &all->reader;
  int r, other;
  plan->group = (int*)malloc((size_t)plan->ranks * sizeof(int));
  if (plan->group == NULL) return banyan_refuse(reader, reader->line, banyan_no_memory);
  for (r = 0; r < plan->ranks; r++) {
    if (!banyan_int(reader, INT_MAX - 1, &plan->group[r])) return 0;
    for (other = 0; other < r; other++)
      if (plan->group[other] == plan->group[r])
        return banyan_refuse(reader, reader->line, "an NPU is twice in the group");
  }
  return banyan_line_ends(reader);
}

static int banyan_read_host(banyan_text* all) {
  banyan_plan* plan = all->plan;
  banyan_reader* reader = &all->reader;
  int npu, r;
  if (plan->hosts == NULL) {
    plan->hosts = (char**)calloc((size_t)plan->ranks, sizeof(char*));
    plan->hostIndex = (int*)calloc((size_t)plan->ranks, sizeof(int));
    if (plan->hosts == NULL || plan->hostIndex == NULL) return banyan_refuse(reader, reader->line, banyan_no_memory);
  }
  if (!banyan_int(reader, INT_MAX - 1, &npu)) return 0;
  for (r = 0; r < plan->ranks; r++)
    if ((plan->group == NULL ? r : plan->group[r]) == npu) break;
  if (r == plan->ranks) return banyan_refuse(reader, reader->line, "this NPU is not in the group");
  if (plan->hosts[r] != NULL) return banyan_refuse(reader, reader->line, "this NPU has a host already");
  plan->hosts[r] = banyan_copy(reader, 0);
  if (plan->hosts[r] == NULL) return banyan_refuse(reader, reader->line, banyan_no_memory);
  if (plan->hosts[r][0] == '\0') return banyan_refuse(reader, reader->line, "expected the name of a host");
  return banyan_int(reader, INT_MAX - 1, &plan->hostIndex[r]) && banyan_line_ends(reader);
}

/* Every NPU has a host, and no two are the same process. */
static int banyan_judge_hosts(banyan_text* all) {
  const banyan_plan* plan = all->plan;
  int r, other;
  for (r = 0; r < plan->ranks; r++) {
    if (plan->hosts[r] == NULL) return banyan_refuse(&all->reader, all->reader.line, "an NPU of the group has no host");
    for (other = 0; other < r; other++)
      if (plan->hostIndex[r] == plan->hostIndex[other] && strcmp(plan->hosts[r], plan->hosts[other]) == 0)
        return banyan_refuse(&all->reader, all->reader.line, "two NPUs are the same process");
  }
  return 1;
}

/* Reads up to the ranks, or to the end where calls are left to the library. */
static int banyan_read_header(banyan_text* all) {
  banyan_plan* plan = all->plan;
  banyan_reader* reader = &all->reader;
  int op;
#define BANYAN_EXPECT(word)                               \
  if (!banyan_line(reader) || !banyan_take(reader, word)) \
  return banyan_refuse(reader, reader->line, "expected the line \"" word "\"")
#define BANYAN_NEXT \
  if (!banyan_line(reader)) return banyan_refuse(reader, reader->line, "the plan ends too early")
  BANYAN_EXPECT("name");
  plan->name = banyan_copy(reader, 1);
  if (plan->name == NULL) return banyan_refuse(reader, reader->line, banyan_no_memory);
  BANYAN_EXPECT("collective");
  plan->collective = banyan_one_of(reader, banyan_collectives, BANYAN_COLLECTIVES);
  if (plan->collective < 0) return banyan_refuse(reader, reader->line, "expected the name of a collective");
  if (!banyan_line_ends(reader)) return 0;
  BANYAN_EXPECT("ranks");
  if (!banyan_int(reader, BANYAN_MOST_RANKS, &plan->ranks) || !banyan_line_ends(reader)) return 0;
  if (plan->ranks < 1) return banyan_refuse(reader, reader->line, "expected one rank or more");
  plan->root = -1;
  if (banyan_rooted(plan->collective)) {
    BANYAN_EXPECT("root");
    if (!banyan_int(reader, plan->ranks - 1, &plan->root) || !banyan_line_ends(reader)) return 0;
  }
  BANYAN_EXPECT("bytes");
  if (!banyan_number(reader, INT64_MAX / 4, &plan->fromBytes)) return 0;
  plan->toBytes = INT64_MAX / 4;
  if (!banyan_take(reader, "-") && !banyan_number(reader, INT64_MAX / 4, &plan->toBytes)) return 0;
  if (!banyan_line_ends(reader)) return 0;
  if (plan->toBytes < plan->fromBytes) return banyan_refuse(reader, reader->line, "the second size is below the first");
  BANYAN_EXPECT("chunks");
  if (!banyan_int(reader, BANYAN_MOST_CHUNKS, &plan->chunks) || !banyan_line_ends(reader)) return 0;
  if (plan->chunks < 1) return banyan_refuse(reader, reader->line, "expected one chunk or more");
  if (plan->chunks > INT_MAX / banyan_blocks_of(plan))
    return banyan_refuse(reader, reader->line, "there are too many chunks");
  BANYAN_NEXT;
  if (banyan_take(reader, "group")) {
    if (!banyan_read_group(all)) return 0;
    BANYAN_NEXT;
  }
  while (banyan_take(reader, "host")) {
    if (!banyan_read_host(all)) return 0;
    BANYAN_NEXT;
  }
  if (plan->hosts != NULL && !banyan_judge_hosts(all)) return 0;
  plan->ops = (1 << BANYAN_OPS) - 1;
  if (banyan_sums(plan->collective) && banyan_take(reader, "ops")) {
    plan->ops = 0;
    do {
      op = banyan_one_of(reader, banyan_ops, BANYAN_OPS);
      if (op < 0 || (plan->ops >> op & 1) != 0)
        return banyan_refuse(reader, reader->line, "expected operations, each once");
      plan->ops |= 1 << op;
    } while (reader->at < reader->stop);
    BANYAN_NEXT;
  }
  if (plan->collective == BANYAN_ALLTOALL && banyan_take(reader, "unequal")) {
    plan->unequal = 1;
    if (!banyan_line_ends(reader)) return 0;
    BANYAN_NEXT;
  }
  if (banyan_take(reader, "library")) {
    plan->library = 1;
    if (!banyan_line_ends(reader)) return 0;
    return !banyan_line(reader) || banyan_refuse(reader, reader->line, "nothing follows \"library\"");
  }
  if (!banyan_take(reader, "lanes")) return banyan_refuse(reader, reader->line, "expected \"lanes\" or \"library\"");
  if (!banyan_int(reader, BANYAN_MOST_LANES, &plan->lanes) || !banyan_line_ends(reader)) return 0;
  if (plan->lanes < 1) return banyan_refuse(reader, reader->line, "expected one lane or more");
  BANYAN_EXPECT("segment");
  if (!banyan_number(reader, INT64_MAX / 4, &plan->segment) || !banyan_line_ends(reader)) return 0;
  if (plan->segment != 0 && plan->segment < BANYAN_SMALLEST_SEGMENT)
    return banyan_refuse(reader, reader->line, "expected a segment of 64 bytes or more, or 0");
  return 1;
}

/* Reads a place and judges that the chunks of a step have it. */
static int banyan_read_place(banyan_text* all, int rank, const banyan_step* step, int* buffer, int* index) {
  const banyan_plan* plan = all->plan;
  banyan_reader* reader = &all->reader;
  static const char* const letters[] = {"i", "o", "s"};
  int64_t most;
  int block = step->first / plan->chunks;
  *buffer = banyan_one_of(reader, letters, 3);
  if (*buffer < 0) return banyan_refuse(reader, reader->line, "expected a buffer: i, o or s");
  most = *buffer == BANYAN_SCRATCH ? all->scratch[rank] : (int64_t)banyan_slots(plan, *buffer, rank) * plan->chunks;
  if (!banyan_int(reader, INT_MAX, index)) return 0;
  if (*index > most - step->count) return banyan_refuse(reader, reader->line, "the place is outside of its buffer");
  if (*buffer == BANYAN_SCRATCH) return 1;
  if (*index % plan->chunks != step->first % plan->chunks ||
      banyan_block_in(plan, *buffer, rank, *index / plan->chunks) != block)
    return banyan_refuse(reader, reader->line, "these chunks have another place in that buffer");
  return 1;
}

/* Reads " @block:step" as often as it is there. */
static int banyan_read_waits(banyan_text* all, banyan_step* step) {
  banyan_reader* reader = &all->reader;
  step->wait = all->waitCount;
  while (reader->at < reader->stop) {
    int64_t block = 0, index = 0;
    int digits;
    const char* at = reader->at;
    if (!banyan_room((void**)&all->waits, all->waitCount, &all->waitRoom, sizeof(banyan_wait)))
      return banyan_refuse(reader, reader->line, banyan_no_memory);
    if (*at++ != '@') return banyan_refuse(reader, reader->line, "expected a wait: @block:instruction");
    for (digits = 0; at < reader->stop && *at >= '0' && *at <= '9' && block < INT_MAX; at++, digits++)
      block = block * 10 + (*at - '0');
    if (digits == 0 || block >= INT_MAX || at == reader->stop || *at++ != ':')
      return banyan_refuse(reader, reader->line, "expected a wait: @block:instruction");
    reader->at = at;
    if (!banyan_number(reader, INT_MAX - 1, &index)) return 0;
    all->waits[all->waitCount].block = (int)block;
    all->waits[all->waitCount].step = (int)index;
    all->waits[all->waitCount++].same = 0;
  }
  step->waits = all->waitCount - step->wait;
  return 1;
}

/* Reads an instruction; the line is one, its first word says which. */
static int banyan_read_step(banyan_text* all, int rank, int kind) {
  static const char* const words[] = {"s", "r", "rrc", "cpy", "re"};
  const banyan_plan* plan = all->plan;
  banyan_reader* reader = &all->reader;
  banyan_step* step;
  int op = banyan_one_of(reader, words, 5);
  int64_t total = banyan_blocks_of(plan) * plan->chunks;
  if (op < 0) return banyan_refuse(reader, reader->line, "expected an instruction, a block or a rank");
  if ((op == BANYAN_SEND) != (kind == BANYAN_TO) || (op >= BANYAN_COPY) != (kind == BANYAN_LOCAL))
    return banyan_refuse(reader, reader->line, "this block has no such instructions");
  if ((op == BANYAN_RECEIVE_SUM || op == BANYAN_SUM) && !banyan_sums(plan->collective))
    return banyan_refuse(reader, reader->line, "this collective has no sums");
  if (!banyan_room((void**)&all->steps, all->stepCount, &all->stepRoom, sizeof(banyan_step)))
    return banyan_refuse(reader, reader->line, banyan_no_memory);
  step = &all->steps[all->stepCount++];
  memset(step, 0, sizeof *step);
  step->op = op;
  step->line = reader->line;
  step->bounce = op == BANYAN_RECEIVE_SUM;
  if (!banyan_int(reader, INT_MAX, &step->first) || !banyan_int(reader, INT_MAX, &step->count)) return 0;
  if (step->count < 1 || step->first > total - step->count)
    return banyan_refuse(reader, reader->line, "the collective has no such chunks");
  if (step->first / plan->chunks != (step->first + step->count - 1) / plan->chunks)
    return banyan_refuse(reader, reader->line, "these chunks are not of one block");
  if (op != BANYAN_RECEIVE && !banyan_read_place(all, rank, step, &step->source, &step->sourceIndex)) return 0;
  if (op != BANYAN_SEND) {
    if (!banyan_read_place(all, rank, step, &step->target, &step->targetIndex)) return 0;
    if (step->target == BANYAN_INPUT) return banyan_refuse(reader, reader->line, "nothing is written to the input");
  }
  if (op >= BANYAN_RECEIVE_SUM && step->source == BANYAN_SCRATCH && step->target == BANYAN_SCRATCH &&
      step->sourceIndex != step->targetIndex && step->sourceIndex < (int64_t)step->targetIndex + step->count &&
      step->targetIndex < (int64_t)step->sourceIndex + step->count)
    return banyan_refuse(reader, reader->line, "source and destination overlap");
  if (op == BANYAN_SUM &&
      ((step->source == step->target && step->sourceIndex == step->targetIndex) ||
       (step->source == BANYAN_INPUT && step->target == BANYAN_OUTPUT && plan->collective != BANYAN_REDUCESCATTER)))
    return banyan_refuse(reader, reader->line, "source and destination are the same, at least in place");
  return banyan_read_waits(all, step);
}

static int banyan_judge_waits(banyan_text* all, int firstBlock, int firstStep); /* judge.h */

static int banyan_read_ranks(banyan_text* all) {
  const banyan_plan* plan = all->plan;
  banyan_reader* reader = &all->reader;
  static const char* const kinds[] = {"to", "from", "local"};
  int rank, expected, more = banyan_line(reader);
  all->rankBlock = (int*)calloc((size_t)plan->ranks + 1, sizeof(int));
  all->scratch = (int64_t*)calloc((size_t)plan->ranks, sizeof(int64_t));
  if (all->rankBlock == NULL || all->scratch == NULL) return banyan_refuse(reader, reader->line, banyan_no_memory);
  for (rank = 0; rank < plan->ranks; rank++) {
    int firstStep = all->stepCount;
    banyan_block* block = NULL;
    all->rankBlock[rank] = all->blockCount;
    if (!more || !banyan_take(reader, "rank") || !banyan_int(reader, INT_MAX, &expected) || expected != rank ||
        !banyan_line_ends(reader))
      return banyan_refuse(reader, reader->line, "expected the next rank");
    BANYAN_EXPECT("scratch");
    if (!banyan_number(reader, BANYAN_MOST_CHUNKS, &all->scratch[rank]) || !banyan_line_ends(reader)) return 0;
    while ((more = banyan_line(reader)) != 0) {
      int kind;
      size_t rest = (size_t)(reader->stop - reader->at);
      if (rest > 4 && memcmp(reader->at, "rank ", 5) == 0) break;
      kind = banyan_one_of(reader, kinds, 3);
      if (kind < 0) {
        if (block == NULL) return banyan_refuse(reader, reader->line, "expected a block");
        if (!banyan_read_step(all, rank, block->kind)) return 0;
        block->steps++;
        continue;
      }
      if (!banyan_room((void**)&all->blocks, all->blockCount, &all->blockRoom, sizeof(banyan_block)))
        return banyan_refuse(reader, reader->line, banyan_no_memory);
      block = &all->blocks[all->blockCount++];
      memset(block, 0, sizeof *block);
      block->kind = kind;
      block->rank = rank;
      block->line = reader->line;
      block->first = all->stepCount;
      block->peer = -1;
      if (kind != BANYAN_LOCAL) {
        if (!banyan_int(reader, plan->ranks - 1, &block->peer) || !banyan_int(reader, plan->lanes - 1, &block->lane))
          return 0;
        if (block->peer == rank) return banyan_refuse(reader, reader->line, "a rank is its own peer");
      }
      if (!banyan_line_ends(reader)) return 0;
    }
    if (!banyan_judge_waits(all, all->rankBlock[rank], firstStep)) return 0;
  }
  all->rankBlock[plan->ranks] = all->blockCount;
  return !more || banyan_refuse(reader, reader->line, "there are more ranks than the plan has");
}
#undef BANYAN_EXPECT
#undef BANYAN_NEXT

#endif
