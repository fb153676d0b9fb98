#include "abi.h"

#include <cstddef>

#include "kernels/arborescence.h"
#include "kernels/balance.h"
#include "kernels/checks.h"
#include "kernels/concurrent.h"
#include "kernels/lists.h"
#include "kernels/match.h"
#include "kernels/pack.h"
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

bool ValidNetwork(const BanyanNetwork& network) {
  if (network.npu_count < 1 || network.route_count < 0 || network.use_count < 0 || network.resource_count < 0) {
    return false;
  }
  if (!InRange(network.route_source, network.route_count, network.npu_count)) return false;
  if (!InRange(network.route_target, network.route_count, network.npu_count)) return false;
  if (!Ascending(network.use_offset, network.route_count, network.use_count)) return false;
  if (!InRange(network.use_resource, network.use_count, network.resource_count)) return false;
  for (int32_t i = 0; i < network.resource_count; i++) {
    if (network.capacity[i] < 1) return false;
  }
  for (int32_t i = 0; i < network.use_count; i++) {
    if (network.use_units[i] < 1 || network.use_units[i] > network.capacity[network.use_resource[i]]) return false;
  }
  for (int32_t r = 0; r < network.route_count; r++) {
    const double slot = network.slot_ps[r];
    if (!(slot >= 1) || slot > kMaxSafe || slot != static_cast<double>(static_cast<int64_t>(slot))) return false;
    if (network.route_source[r] == network.route_target[r]) return false;
    for (int32_t i = network.use_offset[r]; i < network.use_offset[r + 1]; i++) {
      for (int32_t j = network.use_offset[r]; j < i; j++) {
        if (network.use_resource[i] == network.use_resource[j]) return false;
      }
    }
  }
  return true;
}

// Whether a schedule can be the same under the maps; that they keep holdings and routes shows as they are used.
bool ValidMaps(int32_t map_count, const int32_t* maps, int32_t npu_count, int32_t choice, const uint32_t* wanted) {
  if (map_count == 0) return true;
  if (map_count < 0 || choice != 0 || wanted != nullptr) return false;
  for (int32_t g = 0; g < map_count; g++) {
    const int32_t* map = maps + static_cast<std::size_t>(g) * static_cast<std::size_t>(npu_count);
    if (!InRange(map, npu_count, npu_count)) return false;
    for (int32_t v = 0; g == 0 && v < npu_count; v++) {
      if (map[v] != v) return false;
    }
  }
  return true;
}

bool ValidSpread(const BanyanSpread& problem) {
  if (problem.npu_count < 1 || problem.chunk_count < 0 || problem.route_count < 0 || problem.held_count < 0)
    return false;
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
  return ValidMaps(problem.map_count, problem.maps, problem.npu_count, problem.choice, problem.wanted);
}

// Ok where the rows of the offsets are as long as the problem needs them.
BanyanStatus FittingLogs(const BanyanSpread& problem, const BanyanLogs& out) {
  if (out.entry_bytes != 4 && (out.entry_bytes != 2 || problem.chunk_count > 65536)) return kBanyanBadArgument;
  if (out.max_slots < 0 || out.log_offset[0] != 0 || out.port_offset[0] != 0) return kBanyanBadArgument;
  banyan::Lists in;
  if (!in.Group(problem.route_target, problem.route_count, problem.npu_count)) return kBanyanOutOfMemory;
  for (int32_t v = 0; v < problem.npu_count; v++) {
    const int32_t slot_bytes = (in.End(v) - in.Begin(v) + 7) / 8;
    const double bytes = static_cast<double>(slot_bytes) * out.max_slots;
    if (out.log_offset[v + 1] - out.log_offset[v] != static_cast<double>(banyan::LogEntries(problem, v))) {
      return kBanyanBadArgument;
    }
    if (out.port_offset[v + 1] - out.port_offset[v] != bytes) return kBanyanBadArgument;
  }
  return kBanyanOk;
}

// Keys are compared as 64-bit integers.
bool ExactIntegers(const double* values, int32_t count) {
  return banyan::ExactIntegers(values, count, -kMaxSafe, kMaxSafe);
}

// Exact integers of at least `least`; `sum` gets what they add up to.
bool ExactSum(const double* values, int32_t count, double least, banyan::Wide* sum) {
  *sum = 0;
  if (!ExactIntegers(values, count)) return false;
  for (int32_t i = 0; i < count; i++) {
    if (values[i] < least) return false;
    *sum += static_cast<int64_t>(values[i]);
  }
  return true;
}

// Links as flows take them: each is two arcs, none leads back to its source.
bool ValidLinks(const int32_t* source, const int32_t* target, int32_t count, int32_t nodes) {
  if (count < 0 || count > INT32_MAX / 2) return false;
  if (!InRange(source, count, nodes) || !InRange(target, count, nodes)) return false;
  for (int32_t i = 0; i < count; i++) {
    if (source[i] == target[i]) return false;
  }
  return true;
}

bool ValidRate(const BanyanRate& problem) {
  if (problem.npu_count < 1 || problem.node_count < problem.npu_count) return false;
  if (!ValidLinks(problem.link_source, problem.link_target, problem.link_count, problem.node_count)) return false;
  banyan::Wide capacities = 0;
  banyan::Wide weights = 0;
  if (!ExactSum(problem.capacity, problem.link_count, 1, &capacities)) return false;
  if (!ExactSum(problem.weight, problem.npu_count, 0, &weights)) return false;
  if (weights < 1 || weights > static_cast<int64_t>(kMaxSafe)) return false;
  return capacities <= banyan::kMostRateProduct / weights;
}

bool ValidSweep(const BanyanSweep& problem) {
  if (problem.node_count < 1 || problem.sink_count < 0) return false;
  if (!ValidLinks(problem.link_source, problem.link_target, problem.link_count, problem.node_count)) return false;
  if (!InRange(problem.sinks, problem.sink_count, problem.node_count)) return false;
  banyan::Wide capacities = 0;
  banyan::Wide supplies = 0;
  if (!ExactSum(problem.capacity, problem.link_count, 0, &capacities)) return false;
  if (!ExactSum(problem.supply, problem.node_count, 0, &supplies)) return false;
  return capacities + supplies <= static_cast<int64_t>(kMaxSafe);
}

bool ValidPack(const BanyanPack& problem) {
  if (problem.npu_count < 1 || problem.node_count < problem.npu_count || problem.node_count == INT32_MAX) return false;
  if (!ValidLinks(problem.link_source, problem.link_target, problem.link_count, problem.node_count)) return false;
  if (problem.link_count > INT32_MAX / 2 - problem.npu_count) return false;
  if (problem.depth_price < 0 || problem.depth_price > 1000 || problem.load_price < 0 || problem.load_price > 1000 ||
      problem.scheduled < 0 || problem.scheduled > 1 || problem.repairs < 0 || problem.enough_height < 0) {
    return false;
  }
  banyan::Wide capacities = 0;
  banyan::Wide copies = 0;
  if (!ExactSum(problem.capacity, problem.link_count, 0, &capacities)) return false;
  if (!ExactSum(problem.copies, problem.npu_count, 0, &copies)) return false;
  return capacities + copies <= static_cast<int64_t>(kMaxSafe);
}

bool ValidArborescence(const BanyanArborescence& problem) {
  const int32_t nodes = problem.node_count;
  if (nodes < 1 || nodes > INT32_MAX / 2 || problem.arc_count < 0 || problem.arc_count == INT32_MAX) return false;
  if (!InRange(&problem.root, 1, nodes)) return false;
  if (!InRange(problem.arc_source, problem.arc_count, nodes)) return false;
  if (!InRange(problem.arc_target, problem.arc_count, nodes)) return false;
  if (!ExactIntegers(problem.cost, problem.arc_count)) return false;
  const int64_t most = static_cast<int64_t>(kMaxSafe) / nodes;
  for (int32_t a = 0; a < problem.arc_count; a++) {
    if (problem.cost[a] < 0 || static_cast<int64_t>(problem.cost[a]) > most) return false;
  }
  return true;
}

// Whether values are 2^-53 .. 2^53 - 1, or 0 where they may be.
bool ValidAmounts(const double* values, int64_t count, bool may_vanish) {
  for (int64_t i = 0; i < count; i++) {
    if (may_vanish && values[i] == 0) continue;
    if (!(values[i] >= kLeastFlow && values[i] <= kMaxSafe)) return false;
  }
  return true;
}

bool HasDemand(const BanyanConcurrent& problem) {
  for (int32_t s = 0; s < problem.source_count; s++) {
    for (int32_t v = 0; v < problem.node_count; v++) {
      const double demand =
          problem.demand == nullptr
              ? (problem.terminals[v] != 0 ? 1 : 0)
              : problem.demand[static_cast<int64_t>(s) * problem.node_count + static_cast<int64_t>(v)];
      if (v != problem.sources[s] && demand > 0) return true;
    }
  }
  return false;
}

bool ValidConcurrent(const BanyanConcurrent& problem) {
  const int32_t nodes = problem.node_count;
  if (nodes < 1 || nodes == INT32_MAX || problem.arc_count < 0 || problem.class_count < 0) return false;
  if (problem.source_count < 1 || problem.max_rounds < 0 || !(problem.gap > 0)) return false;
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
  if (nodes < 1 || nodes == INT32_MAX || problem.arc_count < 0 || problem.arc_count == INT32_MAX) return false;
  if (problem.target_count < 0 || problem.target_count == INT32_MAX || problem.threads < 1) return false;
  if (problem.parts < 0 || problem.parts > 32767 || nodes > INT32_MAX / (problem.parts > 0 ? problem.parts : 1)) {
    return false;
  }
  if (problem.wants_shares < 0 || problem.wants_shares > (problem.parts == 0 ? 0 : 1)) return false;
  if (out.max_steps < 0 || out.max_steps > 65535 || !(out.max_rows >= 0)) return false;
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
                     const int32_t* held_chunk, const uint32_t* wanted, const BanyanMatchPolicy* policy,
                     int32_t map_count, const int32_t* maps, BanyanCancelled cancelled, const void* context,
                     BanyanTransfers* out) {
  out->count = 0;
  out->detail[0] = 0;
  out->detail[1] = 0;
  if (chunk_count < 0 || held_count < 0 || !(out->room >= 0)) return kBanyanBadArgument;
  if (!ValidNetwork(*network)) return kBanyanBadArgument;
  if (!Ascending(held_offset, network->npu_count, held_count)) return kBanyanBadArgument;
  if (!InRange(held_chunk, held_count, chunk_count)) return kBanyanBadArgument;
  if (policy->choice < 0 || policy->choice > 4 || policy->window < 1 || policy->late_limit < 0 || policy->novelty < 0 ||
      policy->novelty > 1 || policy->overtaking < 0 || policy->overtaking > 1) {
    return kBanyanBadArgument;
  }
  if (!ValidMaps(map_count, maps, network->npu_count, policy->choice, wanted)) return kBanyanBadArgument;
  if (map_count > 0 && network->use_count > 0) return kBanyanBadArgument;
  const banyan::MatchProblem problem{*network, chunk_count, held_offset, held_chunk, wanted, *policy, map_count, maps};
  return banyan::Match(problem, cancelled, context, out);
}

int32_t banyan_spread(const BanyanSpread* problem, BanyanCancelled cancelled, const void* context, BanyanLogs* out) {
  out->detail[0] = 0;
  out->detail[1] = 0;
  if (!ValidSpread(*problem)) return kBanyanBadArgument;
  const BanyanStatus fitting = FittingLogs(*problem, *out);
  return fitting != kBanyanOk ? fitting : banyan::Spread(*problem, cancelled, context, out);
}

int32_t banyan_relay(const BanyanNetwork* network, int32_t chunk_count, const int32_t* chunk_source,
                     const int32_t* chunk_target, const double* distance_ps, const int32_t* order, uint32_t seed,
                     BanyanCancelled cancelled, const void* context, BanyanTransfers* out) {
  out->count = 0;
  out->detail[0] = 0;
  out->detail[1] = 0;
  if (chunk_count < 0 || !(out->room >= 0)) return kBanyanBadArgument;
  if (!ValidNetwork(*network)) return kBanyanBadArgument;
  if (!InRange(chunk_source, chunk_count, network->npu_count)) return kBanyanBadArgument;
  if (!InRange(chunk_target, chunk_count, network->npu_count)) return kBanyanBadArgument;
  const auto npus = static_cast<size_t>(network->npu_count);
  for (size_t i = 0; i < npus * npus; i++) {
    if (!(distance_ps[i] >= 0) || order[i] < 0 || order[i] >= network->npu_count) return kBanyanBadArgument;
  }
  const banyan::RelayProblem problem{*network, chunk_count, chunk_source, chunk_target, distance_ps, order, seed};
  return banyan::Relay(problem, cancelled, context, out);
}

int32_t banyan_place(const BanyanNetwork* network, int32_t transfer_count, int32_t successor_count,
                     const int32_t* route, const int32_t* successor_offset, const int32_t* successor, const double* key,
                     BanyanCancelled cancelled, const void* context, double* start_ps) {
  if (transfer_count < 0 || successor_count < 0) return kBanyanBadArgument;
  if (!ValidNetwork(*network)) return kBanyanBadArgument;
  if (!InRange(route, transfer_count, network->route_count)) return kBanyanBadArgument;
  if (!Ascending(successor_offset, transfer_count, successor_count)) return kBanyanBadArgument;
  if (!InRange(successor, successor_count, transfer_count)) return kBanyanBadArgument;
  if (!ExactIntegers(key, transfer_count)) return kBanyanBadArgument;
  const banyan::PlaceProblem problem{*network, transfer_count, route, successor_offset, successor, key};
  return banyan::Place(problem, cancelled, context, start_ps);
}

int32_t banyan_rate(const BanyanRate* problem, BanyanCancelled cancelled, const void* context, uint8_t* cut) {
  if (!ValidRate(*problem)) return kBanyanBadArgument;
  return banyan::OptimalRate(*problem, cancelled, context, cut);
}

int32_t banyan_sweep(const BanyanSweep* problem, BanyanCancelled cancelled, const void* context, double* flow) {
  if (!ValidSweep(*problem)) return kBanyanBadArgument;
  return banyan::Sweep(*problem, cancelled, context, flow);
}

int32_t banyan_arborescence(const BanyanArborescence* problem, BanyanCancelled cancelled, const void* context,
                            int32_t* arc) {
  if (!ValidArborescence(*problem)) return kBanyanBadArgument;
  return banyan::CheapestArborescence(*problem, cancelled, context, arc);
}

int32_t banyan_concurrent(const BanyanConcurrent* problem, BanyanCancelled cancelled, const void* context,
                          BanyanConcurrentFlow* out) {
  out->rate = 0;
  out->bound = 0;
  out->rounds = 0;
  if (!ValidConcurrent(*problem)) return kBanyanBadArgument;
  return banyan::MaximumConcurrentFlow(*problem, cancelled, context, out);
}

int32_t banyan_pack(const BanyanPack* problem, BanyanCancelled cancelled, const void* context, BanyanTrees* out) {
  out->tree_count = 0;
  out->outcome = kBanyanPacked;
  out->sweeps = 0;
  out->rollbacks = 0;
  if (!ValidPack(*problem) || out->max_trees < 0 || !(out->max_links >= 0)) return kBanyanBadArgument;
  return banyan::Pack(*problem, cancelled, context, out);
}

int32_t banyan_balance(const BanyanBalance* problem, BanyanCancelled cancelled, const void* context,
                       BanyanBalanced* out) {
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
