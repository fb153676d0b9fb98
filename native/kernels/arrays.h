// The arrays of every kernel, with what abi.h says of their lengths. Each function tells whether they can be used at all:
// no count is negative, none is missing, and what is written overlaps nothing. Nothing is read but offsets of logs.
#ifndef BANYAN_KERNELS_ARRAYS_H_
#define BANYAN_KERNELS_ARRAYS_H_

#include <cstdint>

#include "../abi.h"
#include "checks.h"
#include "spans.h"

namespace banyan {

/// A length that is handed over as a double; -1 where it is none.
inline std::int64_t Length(double value) {
  return ExactIntegers(&value, 1, 0, kMaxSafe) ? static_cast<std::int64_t>(value) : -1;
}

/// Words of a row of bits, one for each chunk.
inline std::int64_t WordsOf(std::int32_t chunks) { return (static_cast<std::int64_t>(chunks) + 31) / 32; }

/// Counts of counts; -1 where one is negative.
inline std::int64_t Behind(std::int32_t count) { return count < 0 ? -1 : static_cast<std::int64_t>(count) + 1; }
inline std::int64_t Product(std::int64_t a, std::int32_t b) { return a < 0 || b < 0 ? -1 : a * b; }

/// Offsets of all edges of trees of so many NPUs.
inline std::int64_t TreeOffsets(std::int32_t trees, std::int32_t npus) {
  return trees < 0 || npus < 1 ? -1 : Product(trees, npus - 1) + 1;
}

inline bool NetworkArrays(Spans& spans, const BanyanNetwork* network) {
  return spans.Reads(network, 1) && network->npu_count >= 1 && network->npu_count <= kMostNodes &&
         spans.Reads(network->route_source, network->route_count) &&
         spans.Reads(network->route_target, network->route_count) &&
         spans.Reads(network->slot_ps, network->route_count) &&
         spans.Reads(network->use_offset, Behind(network->route_count)) &&
         spans.Reads(network->use_resource, network->use_count) &&
         spans.Reads(network->use_units, network->use_count) && spans.Reads(network->capacity, network->resource_count);
}

inline bool HoldingArrays(Spans& spans, std::int32_t npus, std::int32_t chunks, const std::int32_t* held_offset,
                          const std::int32_t* held_chunk, std::int32_t held, const std::uint32_t* wanted,
                          const std::uint8_t* choosers, std::int32_t map_count, const std::int32_t* maps) {
  return chunks >= 0 && spans.Reads(held_offset, Behind(npus)) && spans.Reads(held_chunk, held) &&
         spans.MayRead(wanted, Product(WordsOf(chunks), npus)) && spans.MayRead(choosers, npus) &&
         spans.Reads(maps, Product(map_count, npus));
}

inline bool TransferArrays(Spans& spans, const BanyanTransfers* out) {
  if (!spans.Writes(out, 1)) return false;
  const std::int64_t room = Length(out->room);
  return spans.Writes(out->chunk, room) && spans.Writes(out->route, room) && spans.Writes(out->start_ps, room);
}

inline bool LogArrays(Spans& spans, const BanyanSpread& problem, const BanyanLogs* out) {
  const std::int64_t offsets = Behind(problem.npu_count);
  if (!spans.Writes(out, 1) || !spans.Reads(out->log_offset, offsets) || !spans.Reads(out->port_offset, offsets)) {
    return false;
  }
  const std::int64_t entries = Length(out->log_offset[problem.npu_count]);
  const bool fits = out->entry_bytes == 2   ? spans.Writes(static_cast<std::uint16_t*>(out->chunk), entries)
                    : out->entry_bytes == 4 ? spans.Writes(static_cast<std::int32_t*>(out->chunk), entries)
                                            : false;
  return fits && spans.Writes(out->ports, Length(out->port_offset[problem.npu_count])) &&
         spans.Writes(out->slots, problem.npu_count);
}

inline bool SpreadArrays(const BanyanSpread* problem, const BanyanLogs* out) {
  Spans spans;
  return spans.Reads(problem, 1) && problem->npu_count >= 1 && problem->npu_count <= kMostNodes &&
         spans.Reads(problem->route_source, problem->route_count) &&
         spans.Reads(problem->route_target, problem->route_count) &&
         HoldingArrays(spans, problem->npu_count, problem->chunk_count, problem->held_offset, problem->held_chunk,
                       problem->held_count, problem->wanted, problem->choosers, problem->map_count, problem->maps) &&
         spans.MayWrite(problem->progress, 1) && LogArrays(spans, *problem, out);
}

/// Links of a network whose nodes are numbered.
inline bool LinkArrays(Spans& spans, std::int32_t nodes, std::int32_t links, const std::int32_t* source,
                       const std::int32_t* target, const double* capacity) {
  return nodes >= 1 && nodes <= kMostNodes && spans.Reads(source, links) && spans.Reads(target, links) &&
         spans.Reads(capacity, links);
}

inline bool RateArrays(const BanyanRate* problem, const std::uint8_t* cut) {
  Spans spans;
  return spans.Reads(problem, 1) &&
         LinkArrays(spans, problem->node_count, problem->link_count, problem->link_source, problem->link_target,
                    problem->capacity) &&
         spans.Reads(problem->weight, problem->npu_count) && spans.Writes(cut, problem->node_count);
}

inline bool SweepArrays(const BanyanSweep* problem, const double* flow) {
  Spans spans;
  return spans.Reads(problem, 1) &&
         LinkArrays(spans, problem->node_count, problem->link_count, problem->link_source, problem->link_target,
                    problem->capacity) &&
         spans.Reads(problem->supply, problem->node_count) && spans.Reads(problem->sinks, problem->sink_count) &&
         spans.Writes(flow, problem->sink_count);
}

inline bool PartitionArrays(const BanyanPartition* problem, const std::int32_t* part) {
  Spans spans;
  return spans.Reads(problem, 1) &&
         LinkArrays(spans, problem->node_count, problem->link_count, problem->link_source, problem->link_target,
                    problem->capacity) &&
         spans.Reads(problem->start, problem->terminal_count) && spans.Writes(part, problem->terminal_count);
}

inline bool ArborescenceArrays(const BanyanArborescence* problem, const std::int32_t* arc) {
  Spans spans;
  return spans.Reads(problem, 1) &&
         LinkArrays(spans, problem->node_count, problem->arc_count, problem->arc_source, problem->arc_target,
                    problem->cost) &&
         spans.Writes(arc, problem->node_count);
}

inline bool ConcurrentArrays(const BanyanConcurrent* problem, const BanyanConcurrentFlow* out) {
  Spans spans;
  return spans.Reads(problem, 1) && problem->node_count >= 1 && problem->node_count <= kMostNodes &&
         spans.Reads(problem->arc_offset, Behind(problem->node_count)) &&
         spans.Reads(problem->arc_target, problem->arc_count) && spans.Reads(problem->arc_class, problem->arc_count) &&
         spans.Reads(problem->capacity, problem->class_count) && spans.Reads(problem->sources, problem->source_count) &&
         spans.Reads(problem->source_weight, problem->source_count) &&
         spans.MayRead(problem->demand, Product(problem->source_count, problem->node_count)) &&
         spans.Reads(problem->terminals, problem->node_count) && spans.Writes(out, 1) &&
         spans.Writes(out->length, problem->class_count) &&
         spans.MayWrite(out->flow, Product(problem->source_count, problem->arc_count));
}

inline bool PeriodArrays(const BanyanPeriod* problem, const BanyanTimetable* out) {
  Spans spans;
  if (!spans.Reads(problem, 1) || problem->npu_count < 1 || problem->npu_count > kMostNodes) return false;
  const std::int64_t places = Product(problem->tree_count, problem->npu_count);
  return spans.Reads(problem->tail, problem->edge_count) && spans.Reads(problem->head, problem->edge_count) &&
         spans.Reads(problem->serial_ps, problem->edge_count) &&
         spans.Reads(problem->latency_ps, problem->edge_count) &&
         spans.Reads(problem->used, Product(problem->tree_count, problem->edge_count)) && spans.Reads(out, 1) &&
         spans.Writes(out->entry, places) && spans.Writes(out->start_ps, Product(places, 2));
}

inline bool PackArrays(const BanyanPack* problem, const BanyanTrees* out) {
  Spans spans;
  return spans.Reads(problem, 1) && problem->npu_count >= 1 &&
         LinkArrays(spans, problem->node_count, problem->link_count, problem->link_source, problem->link_target,
                    problem->capacity) &&
         spans.Reads(problem->copies, problem->npu_count) && spans.Writes(out, 1) &&
         spans.Writes(out->root, out->max_trees) && spans.Writes(out->copies, out->max_trees) &&
         spans.Writes(out->link_offset, TreeOffsets(out->max_trees, problem->npu_count)) &&
         spans.Writes(out->links, Length(out->max_links)) && spans.Writes(out->cut, problem->node_count);
}

inline bool BalanceArrays(const BanyanBalance* problem, const BanyanBalanced* out) {
  Spans spans;
  if (!spans.Reads(problem, 1) || problem->node_count < 1 || problem->node_count > kMostNodes ||
      !spans.Reads(problem->in_offset, Behind(problem->node_count)) ||
      !spans.Reads(problem->in_source, problem->arc_count) || !spans.Reads(problem->targets, problem->target_count) ||
      !spans.Writes(out, 1)) {
    return false;
  }
  const std::int64_t rows = Length(out->max_rows);
  return spans.Writes(out->load_num, out->max_steps) && spans.Writes(out->load_den, out->max_steps) &&
         spans.Writes(out->worst, out->max_steps) && spans.Writes(out->row_offset, Behind(problem->target_count)) &&
         spans.Writes(out->step, rows) && spans.Writes(out->port, rows) && spans.Writes(out->source, rows) &&
         spans.Writes(out->from, rows) && spans.Writes(out->to, rows);
}

inline bool ReplayArrays(const BanyanReplay* problem, const BanyanReplayed* out) {
  Spans spans;
  if (!spans.Reads(problem, 1) || problem->npu_count < 1 || problem->npu_count > kMostNodes) return false;
  const bool through = problem->mode == kBanyanCutThrough;
  const std::int64_t timed = Product(problem->collective_count, through ? problem->route_count : problem->link_count);
  const std::int32_t rows = problem->row_count;
  return spans.Reads(problem->route_source, problem->route_count) &&
         spans.Reads(problem->route_target, problem->route_count) &&
         spans.Reads(problem->link_offset, Behind(problem->route_count)) &&
         spans.Reads(problem->links, problem->route_link_count) &&
         spans.Reads(problem->first_chunk, Behind(problem->collective_count)) &&
         spans.Reads(problem->reduces, problem->collective_count) && spans.Reads(problem->serial, timed) &&
         spans.Reads(problem->delay, timed) &&
         (!through || (spans.Reads(problem->cost, problem->route_link_count) &&
                       spans.Reads(problem->capacity, problem->link_count))) &&
         spans.Reads(problem->holders, problem->chunk_count) &&
         spans.Reads(problem->set_offset, Behind(problem->set_count)) &&
         spans.Reads(problem->set_members, problem->member_count) && spans.Reads(problem->chunk, rows) &&
         spans.Reads(problem->route, rows) && spans.Reads(problem->planned_start, rows) &&
         spans.Reads(problem->planned_end, rows) && spans.Writes(out, 1) &&
         spans.Writes(out->link_busy, problem->link_count) && spans.MayWrite(out->start, rows) &&
         spans.MayWrite(out->end, rows) && spans.MayWrite(out->hop_start, Length(out->hop_room));
}

}  // namespace banyan

#endif  // BANYAN_KERNELS_ARRAYS_H_
