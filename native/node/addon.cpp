// The Node-API shell: checks the kind and the length of every typed array, then calls the C ABI on their memory.
// Results go straight into the caller's arrays; the return value is the status. A wrong type throws a TypeError.
// There is no state here: the add-on is loaded once per process and shared by all its threads.
#include <node_api.h>

#include <cstdint>

#include "abi.h"
#include "arguments.h"

namespace {

using banyan::Behind;
using banyan::Length;
using banyan::Product;
using banyan::WordsOf;
using banyan_addon::Arguments;
using banyan_addon::Watch;

BanyanNetwork ReadNetwork(Arguments& arguments) {
  BanyanNetwork network{};
  network.npu_count = arguments.Count("npuCount");
  network.route_source = arguments.In<int32_t>("routeSource", &network.route_count);
  network.route_target = arguments.In<int32_t>("routeTarget", network.route_count);
  network.slot_ps = arguments.In<double>("slotPs", network.route_count);
  network.use_offset = arguments.In<int32_t>("useOffset", Behind(network.route_count));
  network.use_resource = arguments.In<int32_t>("useResource", &network.use_count);
  network.use_units = arguments.In<int32_t>("useUnits", network.use_count);
  network.capacity = arguments.In<int32_t>("capacity", &network.resource_count);
  return network;
}

BanyanTransfers ReadOutputs(Arguments& arguments) {
  BanyanTransfers out{};
  out.chunk = arguments.Out<int32_t>("chunk", &out.room);
  out.route = arguments.Out<int32_t>("route", Length(out.room));
  out.start_ps = arguments.Out<double>("startPs", Length(out.room));
  return out;
}

/// Writes count, detail[0], detail[1].
void WriteSummary(double* summary, const BanyanTransfers& out) {
  summary[0] = out.count;
  summary[1] = out.detail[0];
  summary[2] = out.detail[1];
}

// match(npuCount, routeSource, routeTarget, slotPs, useOffset, useResource, useUnits, capacity, chunkCount, heldOffset,
//       heldChunk, wanted | null, choosers | null, seed, choice, window, lateLimit, novelty, overtaking, mapCount, maps | null,
//       cancel | null, chunk, route, startPs, summary[3]) -> status
int32_t Match(Arguments& arguments) {
  const BanyanNetwork network = ReadNetwork(arguments);
  const int32_t chunk_count = arguments.Count("chunkCount");
  int32_t held_count = 0;
  const int32_t* held_offset = arguments.In<int32_t>("heldOffset", Behind(network.npu_count));
  const int32_t* held_chunk = arguments.In<int32_t>("heldChunk", &held_count);
  const uint32_t* wanted = arguments.InOrNull<uint32_t>("wanted", Product(WordsOf(chunk_count), network.npu_count));
  const uint8_t* choosers = arguments.InOrNull<uint8_t>("choosers", network.npu_count);
  BanyanMatchPolicy policy{};
  policy.seed = arguments.Unsigned("seed");
  policy.choice = arguments.Integer("choice");
  policy.window = arguments.Integer("window");
  policy.late_limit = arguments.Integer("lateLimit");
  policy.novelty = arguments.Integer("novelty");
  policy.overtaking = arguments.Integer("overtaking");
  const int32_t map_count = arguments.Count("mapCount");
  const int32_t* maps = arguments.InOrNull<int32_t>("maps", Product(map_count, network.npu_count));
  const Watch watch = arguments.Cancel();
  BanyanTransfers out = ReadOutputs(arguments);
  double* summary = arguments.Out<double>("summary", 3);
  const int32_t status = banyan_match(&network, chunk_count, held_count, held_offset, held_chunk, wanted, choosers,
                                      &policy, map_count, maps, Watch::Stops, &watch, &out);
  WriteSummary(summary, out);
  return status;
}

// spread(npuCount, chunkCount, routeSource, routeTarget, heldOffset, heldChunk, wanted | null, choosers | null, seed, choice, window,
//        lateLimit, threads, cancel | null, maxSlots, logOffset, chunk, portOffset, ports, slots, mapCount,
//        maps | null, summary[3]) -> status
// A cancel flag of two elements gets the progress in its second.
int32_t Spread(Arguments& arguments) {
  BanyanSpread problem{};
  problem.npu_count = arguments.Count("npuCount");
  problem.chunk_count = arguments.Count("chunkCount");
  problem.route_source = arguments.In<int32_t>("routeSource", &problem.route_count);
  problem.route_target = arguments.In<int32_t>("routeTarget", problem.route_count);
  problem.held_offset = arguments.In<int32_t>("heldOffset", Behind(problem.npu_count));
  problem.held_chunk = arguments.In<int32_t>("heldChunk", &problem.held_count);
  problem.wanted = arguments.InOrNull<uint32_t>("wanted", Product(WordsOf(problem.chunk_count), problem.npu_count));
  problem.choosers = arguments.InOrNull<uint8_t>("choosers", problem.npu_count);
  problem.seed = arguments.Unsigned("seed");
  problem.choice = arguments.Integer("choice");
  problem.window = arguments.Integer("window");
  problem.late_limit = arguments.Integer("lateLimit");
  problem.threads = arguments.Integer("threads");
  const Watch watch = arguments.Cancel(&problem.progress);
  BanyanLogs out{};
  out.max_slots = arguments.Integer("maxSlots");
  out.log_offset = arguments.In<double>("logOffset", Behind(problem.npu_count));
  out.chunk = arguments.Chunks("chunk", Length(out.log_offset[problem.npu_count]), &out.entry_bytes);
  out.port_offset = arguments.In<double>("portOffset", Behind(problem.npu_count));
  out.ports = arguments.Out<uint8_t>("ports", Length(out.port_offset[problem.npu_count]));
  out.slots = arguments.Out<int32_t>("slots", problem.npu_count);
  problem.map_count = arguments.Count("mapCount");
  problem.maps = arguments.InOrNull<int32_t>("maps", Product(problem.map_count, problem.npu_count));
  double* summary = arguments.Out<double>("summary", 3);
  const int32_t status = banyan_spread(&problem, Watch::Stops, &watch, &out);
  summary[1] = out.detail[0];
  summary[2] = out.detail[1];
  return status;
}

// relay(npuCount, ..., capacity as above, chunkSource, chunkTarget, distancePs, order, seed, cancel | null,
//       chunk, route, startPs, summary[3]) -> status
int32_t Relay(Arguments& arguments) {
  const BanyanNetwork network = ReadNetwork(arguments);
  const int64_t pairs = Product(network.npu_count, network.npu_count);
  int32_t chunk_count = 0;
  const int32_t* chunk_source = arguments.In<int32_t>("chunkSource", &chunk_count);
  const int32_t* chunk_target = arguments.In<int32_t>("chunkTarget", chunk_count);
  const double* distance_ps = arguments.In<double>("distancePs", pairs);
  const int32_t* order = arguments.In<int32_t>("order", pairs);
  const uint32_t seed = arguments.Unsigned("seed");
  const Watch watch = arguments.Cancel();
  BanyanTransfers out = ReadOutputs(arguments);
  double* summary = arguments.Out<double>("summary", 3);
  const int32_t status = banyan_relay(&network, chunk_count, chunk_source, chunk_target, distance_ps, order, seed,
                                      Watch::Stops, &watch, &out);
  WriteSummary(summary, out);
  return status;
}

// place(npuCount, ..., capacity as above, route, successorOffset, successor, key, cancel | null, startPs) -> status
int32_t Place(Arguments& arguments) {
  const BanyanNetwork network = ReadNetwork(arguments);
  int32_t transfers = 0;
  int32_t successors = 0;
  const int32_t* route = arguments.In<int32_t>("route", &transfers);
  const int32_t* successor_offset = arguments.In<int32_t>("successorOffset", Behind(transfers));
  const int32_t* successor = arguments.In<int32_t>("successor", &successors);
  const double* key = arguments.In<double>("key", transfers);
  const Watch watch = arguments.Cancel();
  double* start_ps = arguments.Out<double>("startPs", transfers);
  return banyan_place(&network, transfers, successors, route, successor_offset, successor, key, Watch::Stops, &watch,
                      start_ps);
}

// rate(nodeCount, npuCount, linkSource, linkTarget, capacity, weight, cancel | null, cut) -> status
int32_t Rate(Arguments& arguments) {
  BanyanRate problem{};
  problem.node_count = arguments.Count("nodeCount");
  problem.npu_count = arguments.Count("npuCount");
  problem.link_source = arguments.In<int32_t>("linkSource", &problem.link_count);
  problem.link_target = arguments.In<int32_t>("linkTarget", problem.link_count);
  problem.capacity = arguments.In<double>("capacity", problem.link_count);
  problem.weight = arguments.In<double>("weight", problem.npu_count);
  const Watch watch = arguments.Cancel();
  uint8_t* cut = arguments.Out<uint8_t>("cut", problem.node_count);
  return banyan_rate(&problem, Watch::Stops, &watch, cut);
}

// sweep(nodeCount, linkSource, linkTarget, capacity, supply, sinks, cancel | null, flow) -> status
int32_t Sweep(Arguments& arguments) {
  BanyanSweep problem{};
  problem.node_count = arguments.Count("nodeCount");
  problem.link_source = arguments.In<int32_t>("linkSource", &problem.link_count);
  problem.link_target = arguments.In<int32_t>("linkTarget", problem.link_count);
  problem.capacity = arguments.In<double>("capacity", problem.link_count);
  problem.supply = arguments.In<double>("supply", problem.node_count);
  problem.sinks = arguments.In<int32_t>("sinks", &problem.sink_count);
  const Watch watch = arguments.Cancel();
  double* flow = arguments.Out<double>("flow", problem.sink_count);
  return banyan_sweep(&problem, Watch::Stops, &watch, flow);
}

// partition(nodeCount, outsideCount, linkSource, linkTarget, capacity, start, cancel | null, part) -> status
int32_t Partition(Arguments& arguments) {
  BanyanPartition problem{};
  problem.node_count = arguments.Count("nodeCount");
  problem.outside_count = arguments.Count("outsideCount");
  problem.link_source = arguments.In<int32_t>("linkSource", &problem.link_count);
  problem.link_target = arguments.In<int32_t>("linkTarget", problem.link_count);
  problem.capacity = arguments.In<double>("capacity", problem.link_count);
  problem.start = arguments.In<int32_t>("start", &problem.terminal_count);
  const Watch watch = arguments.Cancel();
  int32_t* part = arguments.Out<int32_t>("part", problem.terminal_count);
  return banyan_partition(&problem, Watch::Stops, &watch, part);
}

// arborescence(nodeCount, root, arcSource, arcTarget, cost, cancel | null, arc) -> status
int32_t Arborescence(Arguments& arguments) {
  BanyanArborescence problem{};
  problem.node_count = arguments.Count("nodeCount");
  problem.root = arguments.Integer("root");
  problem.arc_source = arguments.In<int32_t>("arcSource", &problem.arc_count);
  problem.arc_target = arguments.In<int32_t>("arcTarget", problem.arc_count);
  problem.cost = arguments.In<double>("cost", problem.arc_count);
  const Watch watch = arguments.Cancel();
  int32_t* arc = arguments.Out<int32_t>("arc", problem.node_count);
  return banyan_arborescence(&problem, Watch::Stops, &watch, arc);
}

// concurrent(nodeCount, arcOffset, arcTarget, arcClass, capacity, sources, sourceWeight, demand | null, terminals, gap[1],
//            maxRounds, cancel | null, length, flow | null, summary[3]) -> status
// The summary is rate, bound, rounds.
int32_t Concurrent(Arguments& arguments) {
  BanyanConcurrent problem{};
  problem.node_count = arguments.Count("nodeCount");
  problem.arc_offset = arguments.In<int32_t>("arcOffset", Behind(problem.node_count));
  problem.arc_target = arguments.In<int32_t>("arcTarget", &problem.arc_count);
  problem.arc_class = arguments.In<int32_t>("arcClass", problem.arc_count);
  problem.capacity = arguments.In<double>("capacity", &problem.class_count);
  problem.sources = arguments.In<int32_t>("sources", &problem.source_count);
  problem.source_weight = arguments.In<double>("sourceWeight", problem.source_count);
  problem.demand = arguments.InOrNull<double>("demand", Product(problem.source_count, problem.node_count));
  problem.terminals = arguments.In<uint8_t>("terminals", problem.node_count);
  problem.gap = *arguments.In<double>("gap", 1);
  problem.max_rounds = arguments.Integer("maxRounds");
  const Watch watch = arguments.Cancel();
  BanyanConcurrentFlow out{};
  out.length = arguments.Out<int32_t>("length", problem.class_count);
  out.flow = arguments.OutOrNull<double>("flow", Product(problem.source_count, problem.arc_count));
  double* summary = arguments.Out<double>("summary", 3);
  const int32_t status = banyan_concurrent(&problem, Watch::Stops, &watch, &out);
  summary[0] = out.rate;
  summary[1] = out.bound;
  summary[2] = out.rounds;
  return status;
}

// period(npuCount, treeCount, seed, turn, tail, head, serialPs, latencyPs, used, periodPs, shakePs, cancel | null, entry,
//        startPs) -> status
int32_t Period(Arguments& arguments) {
  BanyanPeriod problem{};
  problem.npu_count = arguments.Count("npuCount");
  problem.tree_count = arguments.Count("treeCount");
  problem.seed = arguments.Unsigned("seed");
  problem.turn = arguments.Integer("turn");
  problem.tail = arguments.In<int32_t>("tail", &problem.edge_count);
  problem.head = arguments.In<int32_t>("head", problem.edge_count);
  problem.serial_ps = arguments.In<double>("serialPs", problem.edge_count);
  problem.latency_ps = arguments.In<double>("latencyPs", problem.edge_count);
  problem.used = arguments.In<uint8_t>("used", Product(problem.tree_count, problem.edge_count));
  problem.period_ps = *arguments.In<double>("periodPs", 1);
  problem.shake_ps = *arguments.In<double>("shakePs", 1);
  const Watch watch = arguments.Cancel();
  BanyanTimetable out{};
  out.entry = arguments.Out<int32_t>("entry", Product(problem.tree_count, problem.npu_count));
  out.start_ps = arguments.Out<double>("startPs", 2 * Product(problem.tree_count, problem.npu_count));
  return banyan_period(&problem, Watch::Stops, &watch, &out);
}

// pack(nodeCount, npuCount, linkSource, linkTarget, capacity, copies, depthPrice, loadPrice, scheduled, seed, repairs,
//      enoughHeight, cancel | null, root, copies, linkOffset, links, cut, summary[4]) -> status
// The summary is trees, outcome, sweeps, rollbacks.
int32_t Pack(Arguments& arguments) {
  BanyanPack problem{};
  problem.node_count = arguments.Count("nodeCount");
  problem.npu_count = arguments.Count("npuCount");
  problem.link_source = arguments.In<int32_t>("linkSource", &problem.link_count);
  problem.link_target = arguments.In<int32_t>("linkTarget", problem.link_count);
  problem.capacity = arguments.In<double>("capacity", problem.link_count);
  problem.copies = arguments.In<double>("copies", problem.npu_count);
  problem.depth_price = arguments.Integer("depthPrice");
  problem.load_price = arguments.Integer("loadPrice");
  problem.scheduled = arguments.Integer("scheduled");
  problem.seed = arguments.Unsigned("seed");
  problem.repairs = arguments.Integer("repairs");
  problem.enough_height = arguments.Integer("enoughHeight");
  const Watch watch = arguments.Cancel();
  BanyanTrees out{};
  out.root = arguments.Out<int32_t>("root", &out.max_trees);
  out.copies = arguments.Out<double>("copies", out.max_trees);
  out.link_offset = arguments.Out<double>("linkOffset", banyan::TreeOffsets(out.max_trees, problem.npu_count));
  out.links = arguments.Out<int32_t>("links", &out.max_links);
  out.cut = arguments.Out<uint8_t>("cut", problem.node_count);
  double* summary = arguments.Out<double>("summary", 4);
  const int32_t status = banyan_pack(&problem, Watch::Stops, &watch, &out);
  summary[0] = out.tree_count;
  summary[1] = out.outcome;
  summary[2] = out.sweeps;
  summary[3] = out.rollbacks;
  return status;
}

// balance(nodeCount, inOffset, inSource, targets, parts, wantsShares, threads, cancel | null, loadNum, loadDen, worst,
//         rowOffset, step, port, source, from, to, summary[3]) -> status
// The summary is steps, detail[0], detail[1].
int32_t Balance(Arguments& arguments) {
  BanyanBalance problem{};
  problem.node_count = arguments.Count("nodeCount");
  problem.in_offset = arguments.In<int32_t>("inOffset", Behind(problem.node_count));
  problem.in_source = arguments.In<int32_t>("inSource", &problem.arc_count);
  problem.targets = arguments.In<int32_t>("targets", &problem.target_count);
  problem.parts = arguments.Integer("parts");
  problem.wants_shares = arguments.Integer("wantsShares");
  problem.threads = arguments.Integer("threads");
  const Watch watch = arguments.Cancel();
  BanyanBalanced out{};
  out.load_num = arguments.Out<int32_t>("loadNum", &out.max_steps);
  out.load_den = arguments.Out<int32_t>("loadDen", out.max_steps);
  out.worst = arguments.Out<int32_t>("worst", out.max_steps);
  out.row_offset = arguments.Out<double>("rowOffset", Behind(problem.target_count));
  out.step = arguments.Out<uint16_t>("step", &out.max_rows);
  out.port = arguments.Out<uint16_t>("port", Length(out.max_rows));
  out.source = arguments.Out<int32_t>("source", Length(out.max_rows));
  out.from = arguments.Out<uint16_t>("from", Length(out.max_rows));
  out.to = arguments.Out<uint16_t>("to", Length(out.max_rows));
  double* summary = arguments.Out<double>("summary", 3);
  const int32_t status = banyan_balance(&problem, Watch::Stops, &watch, &out);
  summary[0] = out.steps;
  summary[1] = out.detail[0];
  summary[2] = out.detail[1];
  return status;
}

// replay(mode, npuCount, linkCount, routeSource, routeTarget, linkOffset, links, firstChunk, reduces, serial, delay,
//        cost | null, capacity | null, holders, setOffset, setMembers, chunk, route, plannedStart, plannedEnd,
//        cancel | null, linkBusy, start | null, end | null, hopStart | null, summary[3]) -> status
// The summary is last, outcome, row.
int32_t Replay(Arguments& arguments) {
  BanyanReplay problem{};
  int32_t first_chunks = 0;
  int32_t set_offsets = 0;
  problem.mode = arguments.Integer("mode");
  problem.npu_count = arguments.Count("npuCount");
  problem.link_count = arguments.Count("linkCount");
  problem.route_source = arguments.In<int32_t>("routeSource", &problem.route_count);
  problem.route_target = arguments.In<int32_t>("routeTarget", problem.route_count);
  problem.link_offset = arguments.In<int32_t>("linkOffset", Behind(problem.route_count));
  problem.links = arguments.In<int32_t>("links", &problem.route_link_count);
  problem.first_chunk = arguments.In<int32_t>("firstChunk", &first_chunks);
  problem.collective_count = first_chunks - 1;
  problem.reduces = arguments.In<uint8_t>("reduces", problem.collective_count);
  const bool through = problem.mode == kBanyanCutThrough;
  const int64_t times = Product(problem.collective_count, through ? problem.route_count : problem.link_count);
  problem.serial = arguments.In<double>("serial", times);
  problem.delay = arguments.In<double>("delay", times);
  if (through) {
    problem.cost = arguments.In<double>("cost", problem.route_link_count);
    problem.capacity = arguments.In<double>("capacity", problem.link_count);
  } else {
    problem.cost = arguments.InOrNull<double>("cost", 0);
    problem.capacity = arguments.InOrNull<double>("capacity", 0);
  }
  problem.holders = arguments.In<int32_t>("holders", &problem.chunk_count);
  problem.set_offset = arguments.In<int32_t>("setOffset", &set_offsets);
  problem.set_count = set_offsets - 1;
  problem.set_members = arguments.In<int32_t>("setMembers", &problem.member_count);
  problem.chunk = arguments.In<int32_t>("chunk", &problem.row_count);
  problem.route = arguments.In<int32_t>("route", problem.row_count);
  problem.planned_start = arguments.In<double>("plannedStart", problem.row_count);
  problem.planned_end = arguments.In<double>("plannedEnd", problem.row_count);
  const Watch watch = arguments.Cancel();
  BanyanReplayed out{};
  out.link_busy = arguments.Out<double>("linkBusy", problem.link_count);
  out.start = arguments.OutOrNull<double>("start", problem.row_count);
  out.end = arguments.OutOrNull<double>("end", problem.row_count);
  out.hop_start = arguments.OutOrNull<double>("hopStart", &out.hop_room);
  double* summary = arguments.Out<double>("summary", 3);
  const int32_t status = banyan_replay(&problem, Watch::Stops, &watch, &out);
  summary[0] = out.last;
  summary[1] = out.outcome;
  summary[2] = out.row;
  return status;
}

BanyanSets Sets(Arguments& arguments, int32_t chunk_count) {
  BanyanSets sets{};
  int32_t offsets = 0;
  sets.set_of = arguments.In<int32_t>("setOf", chunk_count);
  sets.offset = arguments.In<int32_t>("offset", &offsets);
  sets.set_count = offsets - 1;
  sets.members = arguments.In<int32_t>("members", &sets.member_count);
  return sets;
}

// judge(npuCount, linkCount, chunkCount, reduces, threads, routeSource, routeTarget, linkOffset, links, cost, capacity, least,
//       further, from: setOf, offset, members, to: the same three, chunk, route, start, end, op, cancel | null, shown[1])
//       -> status
int32_t Judge(Arguments& arguments) {
  BanyanSteps problem{};
  problem.npu_count = arguments.Count("npuCount");
  problem.link_count = arguments.Count("linkCount");
  problem.chunk_count = arguments.Count("chunkCount");
  problem.reduces = arguments.Integer("reduces");
  problem.threads = arguments.Integer("threads");
  problem.route_source = arguments.In<int32_t>("routeSource", &problem.route_count);
  problem.route_target = arguments.In<int32_t>("routeTarget", problem.route_count);
  problem.link_offset = arguments.In<int32_t>("linkOffset", Behind(problem.route_count));
  problem.links = arguments.In<int32_t>("links", &problem.route_link_count);
  problem.cost = arguments.In<double>("cost", problem.route_link_count);
  problem.capacity = arguments.In<double>("capacity", problem.link_count);
  problem.least = arguments.In<double>("least", problem.route_count);
  problem.further = arguments.In<double>("further", problem.route_count);
  problem.from = Sets(arguments, problem.chunk_count);
  problem.to = Sets(arguments, problem.chunk_count);
  problem.chunk = arguments.In<int32_t>("chunk", &problem.row_count);
  problem.route = arguments.In<int32_t>("route", problem.row_count);
  problem.start = arguments.In<double>("start", problem.row_count);
  problem.end = arguments.In<double>("end", problem.row_count);
  problem.op = arguments.In<uint8_t>("op", problem.row_count);
  const Watch watch = arguments.Cancel();
  int32_t* shown = arguments.Out<int32_t>("shown", 1);
  return banyan_judge(&problem, Watch::Stops, &watch, shown);
}

template <int32_t (*kKernel)(Arguments&)>
void Export(napi_env env, napi_value exports, const char* name) {
  napi_value function{};
  if (napi_create_function(env, name, NAPI_AUTO_LENGTH, banyan_addon::Call<kKernel>, nullptr, &function) != napi_ok)
    return;
  napi_set_named_property(env, exports, name, function);
}

}  // namespace

NAPI_MODULE_INIT() {
  Export<Match>(env, exports, "match");
  Export<Spread>(env, exports, "spread");
  Export<Relay>(env, exports, "relay");
  Export<Place>(env, exports, "place");
  Export<Rate>(env, exports, "rate");
  Export<Sweep>(env, exports, "sweep");
  Export<Partition>(env, exports, "partition");
  Export<Pack>(env, exports, "pack");
  Export<Period>(env, exports, "period");
  Export<Concurrent>(env, exports, "concurrent");
  Export<Arborescence>(env, exports, "arborescence");
  Export<Replay>(env, exports, "replay");
  Export<Balance>(env, exports, "balance");
  Export<Judge>(env, exports, "judge");
  return exports;
}
