#include "abi.h"

#include <cstddef>

#include "judge/check.h"
#include "judge/judge.h"
#include "kernels/arborescence.h"
#include "kernels/arrays.h"
#include "kernels/balance.h"
#include "kernels/checks.h"
#include "kernels/concurrent.h"
#include "kernels/flow_checks.h"
#include "kernels/lists.h"
#include "kernels/match.h"
#include "kernels/pack.h"
#include "kernels/partition.h"
#include "kernels/period.h"
#include "kernels/place.h"
#include "kernels/rate.h"
#include "kernels/relay.h"
#include "kernels/replay.h"
#include "kernels/replay_check.h"
#include "kernels/spread.h"
#include "kernels/sweep.h"

namespace {

using banyan::Ascending;
using banyan::InRange;
using banyan::kMaxSafe;

// Products and quotients of three such numbers are neither infinite nor 0.
constexpr double kLeastFlow = 1 / 9007199254740992.0;

// The checks of values; that the arrays can be read has been seen to (kernels/arrays.h).

BanyanStatus CheckNetwork(const BanyanNetwork& network) {
  if (!InRange(network.route_source, network.route_count, network.npu_count)) return kBanyanBadArgument;
  if (!InRange(network.route_target, network.route_count, network.npu_count)) return kBanyanBadArgument;
  if (!Ascending(network.use_offset, network.route_count, network.use_count)) return kBanyanBadArgument;
  if (!InRange(network.use_resource, network.use_count, network.resource_count)) return kBanyanBadArgument;
  for (int32_t i = 0; i < network.resource_count; i++) {
    if (network.capacity[i] < 1) return kBanyanBadArgument;
  }
  for (int32_t i = 0; i < network.use_count; i++) {
    if (network.use_units[i] < 1) return kBanyanBadArgument;
    if (network.use_units[i] > network.capacity[network.use_resource[i]]) return kBanyanBadArgument;
  }
  banyan::Repeats repeats;
  if (!repeats.Allocate(network.resource_count)) return kBanyanOutOfMemory;
  for (int32_t r = 0; r < network.route_count; r++) {
    const int32_t first = network.use_offset[r];
    if (!banyan::ExactIntegers(network.slot_ps + r, 1, 1, kMaxSafe)) return kBanyanBadArgument;
    if (network.route_source[r] == network.route_target[r]) return kBanyanBadArgument;
    if (repeats.In(network.use_resource + first, network.use_offset[r + 1] - first)) return kBanyanBadArgument;
  }
  return kBanyanOk;
}

// Whether a schedule can be the same under the maps; that they keep holdings and routes shows as they are used.
BanyanStatus CheckMaps(int32_t map_count, const int32_t* maps, int32_t npu_count, int32_t chunk_count, int32_t choice,
                       const uint32_t* wanted) {
  if (map_count == 0) return kBanyanOk;
  if (choice != 0 || wanted != nullptr || chunk_count > INT32_MAX / 2) return kBanyanBadArgument;
  banyan::Repeats repeats;
  if (!repeats.Allocate(npu_count)) return kBanyanOutOfMemory;
  for (int32_t g = 0; g < map_count; g++) {
    const int32_t* map = maps + static_cast<std::size_t>(g) * static_cast<std::size_t>(npu_count);
    if (!InRange(map, npu_count, npu_count) || repeats.In(map, npu_count)) return kBanyanBadArgument;
    for (int32_t v = 0; g == 0 && v < npu_count; v++) {
      if (map[v] != v) return kBanyanBadArgument;
    }
  }
  return kBanyanOk;
}

bool ValidSpread(const BanyanSpread& problem) {
  if (problem.choice < 0 || problem.choice > 4 || problem.window < 1 || problem.late_limit < 0 || problem.threads < 1) {
    return false;
  }
  if (!InRange(problem.route_source, problem.route_count, problem.npu_count)) return false;
  if (!InRange(problem.route_target, problem.route_count, problem.npu_count)) return false;
  if (!Ascending(problem.held_offset, problem.npu_count, problem.held_count)) return false;
  if (!InRange(problem.held_chunk, problem.held_count, problem.chunk_count)) return false;
  for (int32_t v = 0; v < problem.npu_count; v++) {
    for (int32_t i = problem.held_offset[v] + 1; i < problem.held_offset[v + 1]; i++) {
      if (problem.held_chunk[i - 1] >= problem.held_chunk[i]) return false;
    }
  }
  for (int32_t r = 0; r < problem.route_count; r++) {
    if (problem.route_source[r] == problem.route_target[r]) return false;
  }
  return true;
}

// Whether the rows of the offsets are as long as the problem needs them; with maps they may also be empty (BuildPorts).
BanyanStatus CheckLogs(const BanyanSpread& problem, const BanyanLogs& out) {
  if (out.entry_bytes == 2 && problem.chunk_count > 65536) return kBanyanBadArgument;
  if (out.max_slots < 0 || out.log_offset[0] != 0 || out.port_offset[0] != 0) return kBanyanBadArgument;
  banyan::Lists in;
  if (!in.Group(problem.route_target, problem.route_count, problem.npu_count)) return kBanyanOutOfMemory;
  for (int32_t v = 0; v < problem.npu_count; v++) {
    const int64_t slot_bytes = (static_cast<int64_t>(in.End(v)) - in.Begin(v) + 7) / 8;
    const auto bytes = static_cast<double>(slot_bytes * out.max_slots);
    const bool empty = out.log_offset[v + 1] == out.log_offset[v] && out.port_offset[v + 1] == out.port_offset[v];
    if (empty && problem.map_count > 0) continue;
    const auto entries = static_cast<double>(banyan::LogEntries(problem, v));
    if (out.log_offset[v + 1] - out.log_offset[v] != entries) return kBanyanBadArgument;
    if (out.port_offset[v + 1] - out.port_offset[v] != bytes) return kBanyanBadArgument;
  }
  return kBanyanOk;
}

// Whether every NPU orders all targets.
BanyanStatus CheckOrders(const int32_t* order, int32_t npus) {
  banyan::Repeats repeats;
  if (!repeats.Allocate(npus)) return kBanyanOutOfMemory;
  for (int32_t v = 0; v < npus; v++) {
    const int32_t* row = order + static_cast<std::size_t>(v) * static_cast<std::size_t>(npus);
    if (!InRange(row, npus, npus) || repeats.In(row, npus)) return kBanyanBadArgument;
  }
  return kBanyanOk;
}

// Whether values are 2^-53 .. 2^53 - 1, or 0 where they may be.
bool ValidAmounts(const double* values, int64_t count, bool may_vanish) {
  for (int64_t i = 0; i < count; i++) {
    if (may_vanish && values[i] == 0) continue;
    if (!(values[i] >= kLeastFlow && values[i] <= kMaxSafe)) return false;
  }
  return true;
}

// Whether a source shall send anything to another node.
bool HasDemand(const BanyanConcurrent& problem) {
  const int32_t nodes = problem.node_count;
  if (problem.demand == nullptr) {
    int32_t terminals = 0;
    for (int32_t v = 0; v < nodes; v++) terminals += problem.terminals[v];
    for (int32_t s = 0; s < problem.source_count; s++) {
      if (terminals > problem.terminals[problem.sources[s]]) return true;
    }
    return false;
  }
  for (int32_t s = 0; s < problem.source_count; s++) {
    const double* row = problem.demand + static_cast<std::size_t>(s) * static_cast<std::size_t>(nodes);
    for (int32_t v = 0; v < nodes; v++) {
      if (v != problem.sources[s] && row[v] > 0) return true;
    }
  }
  return false;
}

bool ValidConcurrent(const BanyanConcurrent& problem) {
  const int32_t nodes = problem.node_count;
  if (problem.arc_count == INT32_MAX || problem.source_count < 1 || problem.max_rounds < 0) return false;
  if (!(problem.gap > 0)) return false;
  if (!Ascending(problem.arc_offset, nodes, problem.arc_count)) return false;
  if (!InRange(problem.arc_target, problem.arc_count, nodes)) return false;
  if (!InRange(problem.arc_class, problem.arc_count, problem.class_count)) return false;
  if (!InRange(problem.sources, problem.source_count, nodes) || !InRange(problem.terminals, nodes)) return false;
  if (!ValidAmounts(problem.capacity, problem.class_count, false)) return false;
  if (!ValidAmounts(problem.source_weight, problem.source_count, false)) return false;
  const int64_t demands = static_cast<int64_t>(problem.source_count) * nodes;
  return (problem.demand == nullptr || ValidAmounts(problem.demand, demands, true)) && HasDemand(problem);
}

bool ValidBalance(const BanyanBalance& problem, const BanyanBalanced& out) {
  const int32_t nodes = problem.node_count;
  if (problem.arc_count == INT32_MAX || problem.target_count == INT32_MAX || problem.threads < 1) return false;
  if (problem.parts < 0 || problem.parts > 32767 || nodes > INT32_MAX / (problem.parts > 0 ? problem.parts : 1)) {
    return false;
  }
  if (problem.wants_shares < 0 || problem.wants_shares > (problem.parts == 0 ? 0 : 1)) return false;
  if (out.max_steps > 65535) return false;
  if (!Ascending(problem.in_offset, nodes, problem.arc_count)) return false;
  if (!InRange(problem.in_source, problem.arc_count, nodes)) return false;
  if (!InRange(problem.targets, problem.target_count, nodes)) return false;
  for (int32_t i = 0; i < problem.target_count; i++) {
    const int32_t u = problem.targets[i];
    if (i > 0 && problem.targets[i - 1] >= u) return false;
    if (problem.in_offset[u + 1] - problem.in_offset[u] > 65535) return false;
  }
  return true;
}

}  // namespace

int32_t banyan_match(const BanyanNetwork* network, int32_t chunk_count, int32_t held_count, const int32_t* held_offset,
                     const int32_t* held_chunk, const uint32_t* wanted, const uint8_t* choosers,
                     const BanyanMatchPolicy* policy, int32_t map_count, const int32_t* maps, BanyanCancelled cancelled,
                     const void* context, BanyanTransfers* out) {
  banyan::Spans spans;
  if (!banyan::NetworkArrays(spans, network) || !spans.Reads(policy, 1) ||
      !banyan::HoldingArrays(spans, network->npu_count, chunk_count, held_offset, held_chunk, held_count, wanted,
                             choosers, map_count, maps) ||
      !banyan::TransferArrays(spans, out)) {
    return kBanyanBadArgument;
  }
  out->count = 0;
  out->detail[0] = 0;
  out->detail[1] = 0;
  BanyanStatus checked = CheckNetwork(*network);
  if (checked != kBanyanOk) return checked;
  if (!Ascending(held_offset, network->npu_count, held_count)) return kBanyanBadArgument;
  if (!InRange(held_chunk, held_count, chunk_count)) return kBanyanBadArgument;
  // A log may hold all chunks and, as they stand there, those that are held twice.
  if (held_count > INT32_MAX - chunk_count) return kBanyanBadArgument;
  if (policy->choice < 0 || policy->choice > 4 || policy->window < 1 || policy->late_limit < 0 || policy->novelty < 0 ||
      policy->novelty > 1 || policy->overtaking < 0 || policy->overtaking > 1) {
    return kBanyanBadArgument;
  }
  checked = CheckMaps(map_count, maps, network->npu_count, chunk_count, policy->choice, wanted);
  if (checked != kBanyanOk) return checked;
  if (map_count > 0 && network->use_count > 0) return kBanyanBadArgument;
  const banyan::MatchProblem problem{*network, chunk_count, held_offset, held_chunk, wanted,
                                     choosers, *policy,     map_count,   maps};
  return banyan::Match(problem, cancelled, context, out);
}

int32_t banyan_spread(const BanyanSpread* problem, BanyanCancelled cancelled, const void* context, BanyanLogs* out) {
  if (!banyan::SpreadArrays(problem, out)) return kBanyanBadArgument;
  out->detail[0] = 0;
  out->detail[1] = 0;
  if (!ValidSpread(*problem)) return kBanyanBadArgument;
  BanyanStatus checked = CheckMaps(problem->map_count, problem->maps, problem->npu_count, problem->chunk_count,
                                   problem->choice, problem->wanted);
  if (checked == kBanyanOk) checked = CheckLogs(*problem, *out);
  if (checked != kBanyanOk) return checked;
  for (int32_t v = 0; v < problem->npu_count; v++) out->slots[v] = 0;
  return banyan::Spread(*problem, cancelled, context, out);
}

int32_t banyan_relay(const BanyanNetwork* network, int32_t chunk_count, const int32_t* chunk_source,
                     const int32_t* chunk_target, const double* distance_ps, const int32_t* order, uint32_t seed,
                     BanyanCancelled cancelled, const void* context, BanyanTransfers* out) {
  banyan::Spans spans;
  if (!banyan::NetworkArrays(spans, network)) return kBanyanBadArgument;
  const int64_t pairs = banyan::Product(network->npu_count, network->npu_count);
  if (!spans.Reads(chunk_source, chunk_count) || !spans.Reads(chunk_target, chunk_count) ||
      !spans.Reads(distance_ps, pairs) || !spans.Reads(order, pairs) || !banyan::TransferArrays(spans, out)) {
    return kBanyanBadArgument;
  }
  out->count = 0;
  out->detail[0] = 0;
  out->detail[1] = 0;
  BanyanStatus checked = CheckNetwork(*network);
  if (checked == kBanyanOk) checked = CheckOrders(order, network->npu_count);
  if (checked != kBanyanOk) return checked;
  if (!InRange(chunk_source, chunk_count, network->npu_count)) return kBanyanBadArgument;
  if (!InRange(chunk_target, chunk_count, network->npu_count)) return kBanyanBadArgument;
  for (int64_t i = 0; i < pairs; i++) {
    if (!(distance_ps[i] >= 0)) return kBanyanBadArgument;
  }
  const banyan::RelayProblem problem{*network, chunk_count, chunk_source, chunk_target, distance_ps, order, seed};
  return banyan::Relay(problem, cancelled, context, out);
}

int32_t banyan_place(const BanyanNetwork* network, int32_t transfer_count, int32_t successor_count,
                     const int32_t* route, const int32_t* successor_offset, const int32_t* successor, const double* key,
                     BanyanCancelled cancelled, const void* context, double* start_ps) {
  banyan::Spans spans;
  if (!banyan::NetworkArrays(spans, network) || !spans.Reads(route, transfer_count) ||
      !spans.Reads(successor_offset, banyan::Behind(transfer_count)) || !spans.Reads(successor, successor_count) ||
      !spans.Reads(key, transfer_count) || !spans.Writes(start_ps, transfer_count)) {
    return kBanyanBadArgument;
  }
  const BanyanStatus checked = CheckNetwork(*network);
  if (checked != kBanyanOk) return checked;
  if (!InRange(route, transfer_count, network->route_count)) return kBanyanBadArgument;
  if (!Ascending(successor_offset, transfer_count, successor_count)) return kBanyanBadArgument;
  if (!InRange(successor, successor_count, transfer_count)) return kBanyanBadArgument;
  // Keys are compared as 64-bit integers.
  if (!banyan::ExactIntegers(key, transfer_count, -kMaxSafe, kMaxSafe)) return kBanyanBadArgument;
  const banyan::PlaceProblem problem{*network, transfer_count, route, successor_offset, successor, key};
  return banyan::Place(problem, cancelled, context, start_ps);
}

int32_t banyan_rate(const BanyanRate* problem, BanyanCancelled cancelled, const void* context, uint8_t* cut) {
  if (!banyan::RateArrays(problem, cut) || !banyan::ValidRate(*problem)) return kBanyanBadArgument;
  return banyan::OptimalRate(*problem, cancelled, context, cut);
}

int32_t banyan_sweep(const BanyanSweep* problem, BanyanCancelled cancelled, const void* context, double* flow) {
  if (!banyan::SweepArrays(problem, flow) || !banyan::ValidSweep(*problem)) return kBanyanBadArgument;
  return banyan::Sweep(*problem, cancelled, context, flow);
}

int32_t banyan_partition(const BanyanPartition* problem, BanyanCancelled cancelled, const void* context,
                         int32_t* part) {
  if (!banyan::PartitionArrays(problem, part) || !banyan::ValidPartition(*problem)) return kBanyanBadArgument;
  return banyan::NarrowestPartition(*problem, cancelled, context, part);
}

int32_t banyan_arborescence(const BanyanArborescence* problem, BanyanCancelled cancelled, const void* context,
                            int32_t* arc) {
  if (!banyan::ArborescenceArrays(problem, arc) || !banyan::ValidArborescence(*problem)) return kBanyanBadArgument;
  return banyan::CheapestArborescence(*problem, cancelled, context, arc);
}

int32_t banyan_concurrent(const BanyanConcurrent* problem, BanyanCancelled cancelled, const void* context,
                          BanyanConcurrentFlow* out) {
  if (!banyan::ConcurrentArrays(problem, out)) return kBanyanBadArgument;
  out->rate = 0;
  out->bound = 0;
  out->rounds = 0;
  if (!ValidConcurrent(*problem)) return kBanyanBadArgument;
  return banyan::MaximumConcurrentFlow(*problem, cancelled, context, out);
}

int32_t banyan_period(const BanyanPeriod* problem, BanyanCancelled cancelled, const void* context,
                      const BanyanTimetable* out) {
  if (!banyan::PeriodArrays(problem, out) || !banyan::ValidPeriod(*problem)) return kBanyanBadArgument;
  return banyan::Period(*problem, cancelled, context, *out);
}

int32_t banyan_pack(const BanyanPack* problem, BanyanCancelled cancelled, const void* context, BanyanTrees* out) {
  if (!banyan::PackArrays(problem, out)) return kBanyanBadArgument;
  out->tree_count = 0;
  out->outcome = kBanyanPacked;
  out->sweeps = 0;
  out->rollbacks = 0;
  if (!banyan::ValidPack(*problem)) return kBanyanBadArgument;
  return banyan::Pack(*problem, cancelled, context, out);
}

int32_t banyan_balance(const BanyanBalance* problem, BanyanCancelled cancelled, const void* context,
                       BanyanBalanced* out) {
  if (!banyan::BalanceArrays(problem, out)) return kBanyanBadArgument;
  out->steps = 0;
  out->detail[0] = 0;
  out->detail[1] = 0;
  if (!ValidBalance(*problem, *out)) return kBanyanBadArgument;
  double rows = 0;
  for (int32_t i = 0; i < problem->target_count; i++) {
    rows += static_cast<double>(banyan::BalanceRows(*problem, i, out->max_steps));
  }
  if (rows > out->max_rows) return kBanyanOutputTooSmall;
  return banyan::Balance(*problem, cancelled, context, out);
}

int32_t banyan_replay(const BanyanReplay* problem, BanyanCancelled cancelled, const void* context,
                      BanyanReplayed* out) {
  if (!banyan::ReplayArrays(problem, out)) return kBanyanBadArgument;
  out->last = 0;
  out->outcome = kBanyanReplayed;
  out->row = 0;
  if (!banyan::ValidReplay(*problem)) return kBanyanBadArgument;
  if ((out->start == nullptr) != (out->end == nullptr)) return kBanyanBadArgument;
  const bool wants_hops = out->hop_start != nullptr;
  if (wants_hops && (out->start == nullptr || problem->mode == kBanyanCutThrough)) return kBanyanBadArgument;
  int64_t hops = 0;
  const int32_t row = banyan::BadRow(*problem, &hops);
  if (row >= 0) {
    out->outcome = kBanyanRefused;
    out->row = row;
    return kBanyanOk;
  }
  if (hops > INT32_MAX || (wants_hops && out->hop_room != static_cast<double>(hops))) return kBanyanBadArgument;
  return banyan::Replay(*problem, cancelled, context, out);
}

int32_t banyan_judge(const BanyanSteps* problem, BanyanCancelled cancelled, const void* context, int32_t* shown) {
  if (!banyan::JudgeArrays(problem, shown) || !banyan::ValidSteps(*problem)) return kBanyanBadArgument;
  return banyan::Judge(*problem, cancelled, context, shown);
}
