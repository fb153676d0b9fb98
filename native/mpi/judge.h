/*
 * Judges plans: a text is judged as a whole, for all ranks, before a word of it is used: version, checksum, every number, every
 * place inside its buffer, every message against the one that its peer expects, and that no rank waits for ever.
 */
#ifndef BANYAN_JUDGE_H
#define BANYAN_JUDGE_H

#ifndef BANYAN_PLAN_H
#include "plan.h"
#endif

/*
 * Judges a plan and keeps what `rank` runs; -1 keeps the header only. Returns BANYAN_READ and the plan, or what is wrong in one
 * sentence with its line. O(length log length).
 */
static int banyan_plan_read(const char* text, size_t length, int rank, banyan_plan** plan, char* error,
                            size_t errorSize);
static void banyan_plan_free(banyan_plan* plan);

/* The awaited instructions of a rank exist; blocks are numbered among all from here on. */
static int banyan_judge_waits(banyan_text* all, int firstBlock, int firstStep) {
  int s, w, blocks = all->blockCount - firstBlock;
  for (s = firstStep; s < all->stepCount; s++) {
    const banyan_step* step = &all->steps[s];
    for (w = step->wait; w < step->wait + step->waits; w++) {
      banyan_wait* wait = &all->waits[w];
      const banyan_step* awaited;
      if (wait->block >= blocks)
        return banyan_refuse(&all->reader, step->line, "the rank has no such block to wait for");
      wait->block += firstBlock;
      if (wait->step >= all->blocks[wait->block].steps)
        return banyan_refuse(&all->reader, step->line, "the block has no such instruction to wait for");
      awaited = &all->steps[all->blocks[wait->block].first + wait->step];
      wait->same = awaited->first == step->first && awaited->count == step->count;
    }
  }
  return 1;
}

/* One end of a connection. */
typedef struct {
  int from, to, lane, kind, block;
} banyan_end;

static int banyan_compare_ends(const void* left, const void* right) {
  const banyan_end *a = (const banyan_end*)left, *b = (const banyan_end*)right;
  if (a->from != b->from) return a->from < b->from ? -1 : 1;
  if (a->to != b->to) return a->to < b->to ? -1 : 1;
  if (a->lane != b->lane) return a->lane < b->lane ? -1 : 1;
  if (a->kind != b->kind) return a->kind < b->kind ? -1 : 1;
  return a->block < b->block ? -1 : a->block > b->block;
}

/* What every block sends is what its peer receives, in order. Finds the partners. */
static int banyan_judge_messages(banyan_text* all) {
  banyan_end* ends = (banyan_end*)malloc(((size_t)all->blockCount + 1) * sizeof(banyan_end));
  int b, k, count = 0, fine = 1;
  all->partner = (int*)malloc(((size_t)all->blockCount + 1) * sizeof(int));
  if (ends == NULL || all->partner == NULL) {
    free(ends);
    return banyan_refuse(&all->reader, 1, banyan_no_memory);
  }
  for (b = 0; b < all->blockCount; b++) {
    const banyan_block* block = &all->blocks[b];
    int sends = block->kind == BANYAN_TO;
    all->partner[b] = -1;
    if (block->kind == BANYAN_LOCAL) continue;
    ends[count].from = sends ? block->rank : block->peer;
    ends[count].to = sends ? block->peer : block->rank;
    ends[count].lane = block->lane;
    ends[count].kind = block->kind;
    ends[count++].block = b;
  }
  qsort(ends, (size_t)count, sizeof(banyan_end), banyan_compare_ends);
  for (k = 0; k < count && fine; k += 2) {
    const banyan_block *one = &all->blocks[ends[k].block],
                       *two = k + 1 < count ? &all->blocks[ends[k + 1].block] : NULL;
    int s;
    if (two == NULL || ends[k].from != ends[k + 1].from || ends[k].to != ends[k + 1].to ||
        ends[k].lane != ends[k + 1].lane)
      fine = banyan_refuse(&all->reader, one->line, "the peer has no block at the other end");
    else if (ends[k].kind == ends[k + 1].kind)
      fine = banyan_refuse(&all->reader, two->line, "there is a block for this peer and lane already");
    else if (one->steps != two->steps)
      fine = banyan_refuse(&all->reader, two->line, "the peer has another number of messages");
    for (s = 0; fine && s < one->steps; s++) {
      const banyan_step *sent = &all->steps[one->first + s], *received = &all->steps[two->first + s];
      if (sent->first != received->first || sent->count != received->count)
        fine = banyan_refuse(&all->reader, received->line, "the peer sends other chunks here");
    }
    if (fine) {
      all->partner[ends[k].block] = ends[k + 1].block;
      all->partner[ends[k + 1].block] = ends[k].block;
    }
  }
  free(ends);
  return fine;
}

/* The run of a plan in thought: messages wait for their receiver, as they may over MPI. */
typedef struct {
  banyan_text* all;
  int* done;     /* [blocks] instructions that are done */
  char* arrived; /* [blocks] the next message has come, and waits for its sum */
  int* waiting;  /* [steps] first unit that waits for a step, -1: none. A unit: a receiving or a local block */
  int* next;     /* [blocks] the next unit that waits for the same, or that is ready */
  int ready;
  int early; /* messages may come before they may be put into place */
} banyan_thought;

/* Counts an instruction as done and makes ready what waits for it. */
static void banyan_think_done(banyan_thought* run, int block) {
  int step = run->all->blocks[block].first + run->done[block]++;
  int unit = run->waiting[step];
  run->waiting[step] = -1;
  while (unit >= 0) {
    int after = run->next[unit];
    run->next[unit] = run->ready;
    run->ready = unit;
    unit = after;
  }
}

/* Are the waits of a step over? If not, the unit waits. `others`: only waits for other chunks. */
static int banyan_think_waits(banyan_thought* run, int unit, const banyan_step* step, int others) {
  int w;
  for (w = step->wait; w < step->wait + step->waits; w++) {
    const banyan_wait* wait = &run->all->waits[w];
    int awaited;
    if (run->done[wait->block] > wait->step || (others && wait->same)) continue;
    awaited = run->all->blocks[wait->block].first + wait->step;
    run->next[unit] = run->waiting[awaited];
    run->waiting[awaited] = unit;
    return 0;
  }
  return 1;
}

static void banyan_think_unit(banyan_thought* run, int unit) {
  banyan_text* all = run->all;
  banyan_block* block = &all->blocks[unit];
  while (run->done[unit] < block->steps) {
    banyan_step* step = &all->steps[block->first + run->done[unit]];
    if (block->kind == BANYAN_FROM && !run->arrived[unit]) {
      int peer = all->partner[unit];
      int early = step->bounce || run->early;
      if (!banyan_think_waits(run, unit, &all->steps[all->blocks[peer].first + run->done[peer]], 0)) return;
      if (!banyan_think_waits(run, unit, step, early)) return;
      run->arrived[unit] = 1;
      banyan_think_done(run, peer);
    }
    if (!banyan_think_waits(run, unit, step, 0)) {
      step->bounce |= run->arrived[unit]; /* it came before it may be put into place */
      return;
    }
    run->arrived[unit] = 0;
    banyan_think_done(run, unit);
  }
}

/* No rank waits for ever, even if no message is buffered. O(instructions + waits). */
static int banyan_judge_progress(banyan_text* all) {
  banyan_thought run;
  int b, fine = 1;
  size_t blocks = (size_t)all->blockCount + 1, steps = (size_t)all->stepCount + 1;
  run.all = all;
  run.done = (int*)calloc(blocks, sizeof(int));
  run.arrived = (char*)calloc(blocks, 1);
  run.next = (int*)malloc(blocks * sizeof(int));
  run.waiting = (int*)malloc(steps * sizeof(int));
  if (run.done == NULL || run.arrived == NULL || run.next == NULL || run.waiting == NULL)
    fine = banyan_refuse(&all->reader, 1, banyan_no_memory);
  for (run.early = 0; fine && run.early < 2; run.early++) {
    int stuck = -1;
    memset(run.waiting, -1, steps * sizeof(int));
    run.ready = -1;
    for (b = all->blockCount - 1; b >= 0; b--)
      if (all->blocks[b].kind != BANYAN_TO) {
        run.next[b] = run.ready;
        run.ready = b;
      }
    while (run.ready >= 0) {
      int unit = run.ready;
      run.ready = run.next[unit];
      banyan_think_unit(&run, unit);
    }
    for (b = all->blockCount - 1; b >= 0; b--)
      if (run.done[b] < all->blocks[b].steps) stuck = b;
    if (stuck < 0) break;
    if (run.early)
      fine = banyan_refuse(&all->reader, all->steps[all->blocks[stuck].first + run.done[stuck]].line,
                           "this instruction waits for ever");
  }
  free(run.done);
  free(run.arrived);
  free(run.next);
  free(run.waiting);
  return fine;
}

/* Keeps the part of a rank. */
static int banyan_keep(banyan_text* all, int rank) {
  banyan_plan* plan = all->plan;
  int first = all->rankBlock[rank], last = all->rankBlock[rank + 1], b, s, firstStep, firstWait, waits = 0;
  plan->rank = rank;
  plan->scratchChunks = all->scratch[rank];
  plan->blockCount = last - first;
  firstStep = first < last ? all->blocks[first].first : 0;
  plan->stepCount = first < last ? all->blocks[last - 1].first + all->blocks[last - 1].steps - firstStep : 0;
  firstWait = plan->stepCount > 0 ? all->steps[firstStep].wait : 0;
  if (plan->stepCount > 0) {
    const banyan_step* end = &all->steps[firstStep + plan->stepCount - 1];
    waits = end->wait + end->waits - firstWait;
  }
  plan->blocks = (banyan_block*)malloc(((size_t)plan->blockCount + 1) * sizeof(banyan_block));
  plan->steps = (banyan_step*)malloc(((size_t)plan->stepCount + 1) * sizeof(banyan_step));
  plan->waits = (banyan_wait*)malloc(((size_t)waits + 1) * sizeof(banyan_wait));
  if (plan->blocks == NULL || plan->steps == NULL || plan->waits == NULL)
    return banyan_refuse(&all->reader, 1, banyan_no_memory);
  for (b = 0; b < plan->blockCount; b++) {
    banyan_block* block = &plan->blocks[b];
    *block = all->blocks[first + b];
    block->first -= firstStep;
    for (s = 0; s < block->steps; s++) block->bounces |= all->steps[firstStep + block->first + s].bounce;
  }
  for (s = 0; s < plan->stepCount; s++) {
    plan->steps[s] = all->steps[firstStep + s];
    plan->steps[s].wait -= firstWait;
  }
  for (s = 0; s < waits; s++) {
    plan->waits[s] = all->waits[firstWait + s];
    plan->waits[s].block -= first;
  }
  return 1;
}

/* The last line is the checksum of all before it. */
static int banyan_judge_checksum(banyan_text* all, const char* text, size_t length) {
  banyan_reader* reader = &all->reader;
  static const char digits[] = "0123456789abcdef";
  uint64_t hash;
  size_t at = length, k;
  int line = 1;
  for (k = 0; k < length; k++) {
    if (text[k] != '\n' && (text[k] < 32 || text[k] > 126))
      return banyan_refuse(reader, line, "there is a byte that is no plain text");
    line += text[k] == '\n';
  }
  if (length < 21 || text[length - 1] != '\n' || text[length - 22 + (length == 21)] != '\n' ||
      memcmp(text + length - 21, "end ", 4) != 0)
    return banyan_refuse(reader, line, "the plan ends without \"end\" and its checksum");
  at = length - 21;
  hash = banyan_hash(text, at, BANYAN_HASH_START);
  for (k = 0; k < 16; k++)
    if (text[at + 4 + k] != digits[hash >> (60 - 4 * k) & 15])
      return banyan_refuse(reader, line - 1, "the checksum is of another text, the plan is damaged");
  reader->end = text + at;
  return 1;
}

static int banyan_read_all(banyan_text* all, const char* text, size_t length, int rank) {
  banyan_reader* reader = &all->reader;
  reader->end = text + length;
  if (!banyan_judge_checksum(all, text, length)) return 0;
  if (!banyan_line(reader)) return banyan_refuse(reader, 1, "the plan is empty");
  if (!banyan_read_header(all)) return 0;
  if (rank >= all->plan->ranks) return banyan_refuse(reader, 1, "it has fewer ranks");
  if (all->plan->library) return 1;
  if (!banyan_read_ranks(all) || !banyan_judge_messages(all) || !banyan_judge_progress(all)) return 0;
  return rank < 0 || banyan_keep(all, rank);
}

static void banyan_plan_free(banyan_plan* plan) {
  int r;
  if (plan == NULL) return;
  for (r = 0; plan->hosts != NULL && r < plan->ranks; r++) free(plan->hosts[r]);
  free(plan->hosts);
  free(plan->hostIndex);
  free(plan->group);
  free(plan->name);
  free(plan->blocks);
  free(plan->steps);
  free(plan->waits);
  free(plan);
}

static int banyan_plan_read(const char* text, size_t length, int rank, banyan_plan** plan, char* error,
                            size_t errorSize) {
  static const char first[] = "banyan-mpi-plan ", version[] = "banyan-mpi-plan 1\n";
  banyan_text all;
  int fine;
  *plan = NULL;
  if (error != NULL && errorSize > 0) error[0] = '\0';
  memset(&all, 0, sizeof all);
  all.reader.next = text;
  all.reader.error = error;
  all.reader.errorSize = errorSize;
  if (length < sizeof first - 1 || memcmp(text, first, sizeof first - 1) != 0) {
    banyan_refuse(&all.reader, 1, "expected \"banyan-mpi-plan 1\"");
    return BANYAN_DAMAGED;
  }
  if (length < sizeof version - 1 || memcmp(text, version, sizeof version - 1) != 0) {
    banyan_refuse(&all.reader, 1, "the plan is of another version, this is a reader of version 1");
    return BANYAN_OTHER_VERSION;
  }
  all.plan = (banyan_plan*)calloc(1, sizeof(banyan_plan));
  if (all.plan == NULL) {
    banyan_refuse(&all.reader, 1, banyan_no_memory);
    return BANYAN_DAMAGED;
  }
  all.plan->rank = -1;
  fine = banyan_read_all(&all, text, length, rank);
  free(all.blocks);
  free(all.steps);
  free(all.waits);
  free(all.rankBlock);
  free(all.scratch);
  free(all.partner);
  if (!fine) {
    banyan_plan_free(all.plan);
    return BANYAN_DAMAGED;
  }
  *plan = all.plan;
  return BANYAN_READ;
}

#endif
