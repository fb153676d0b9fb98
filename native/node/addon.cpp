// The Node-API shell: checks the kind and the length of every typed array, then calls the C ABI on their memory.
// Results go straight into the caller's arrays; the return value is the status. A wrong type throws a TypeError.
// There is no state here: the add-on is loaded once per process and shared by all its threads.
#include <napi.h>

#include <cmath>
#include <cstdint>

#include "abi.h"
#include "arguments.h"

namespace {

using banyan_addon::Arguments;

int32_t FlagIsSet(const void* flag) { return __atomic_load_n(static_cast<const int32_t*>(flag), __ATOMIC_RELAXED); }

BanyanNetwork ReadNetwork(Arguments& arguments) {
  BanyanNetwork network{};
  network.npu_count = arguments.Integer("npuCount");
  network.route_source = arguments.Int32("routeSource", Arguments::kAnyLength);
  network.route_count = arguments.Count("routeSource");
  const double routes = network.route_count;
  network.route_target = arguments.Int32("routeTarget", routes);
  network.slot_ps = arguments.Float64("slotPs", routes);
  network.use_offset = arguments.Int32("useOffset", routes + 1);
  network.use_resource = arguments.Int32("useResource", Arguments::kAnyLength);
  network.use_count = arguments.Count("useResource");
  network.use_units = arguments.Int32("useUnits", network.use_count);
  network.capacity = arguments.Int32("capacity", Arguments::kAnyLength);
  network.resource_count = arguments.Count("capacity");
  return network;
}

BanyanTransfers ReadOutputs(Arguments& arguments) {
  BanyanTransfers out{};
  out.chunk = arguments.Int32("chunk", Arguments::kAnyLength);
  out.room = arguments.length();
  out.route = arguments.Int32("route", out.room);
  out.start_ps = arguments.Float64("startPs", out.room);
  return out;
}

/// Writes count, detail[0], detail[1].
void WriteSummary(double* summary, const BanyanTransfers& out) {
  summary[0] = out.count;
  summary[1] = out.detail[0];
  summary[2] = out.detail[1];
}

// match(npuCount, routeSource, routeTarget, slotPs, useOffset, useResource, useUnits, capacity, chunkCount, heldOffset,
//       heldChunk, wanted | null, seed, choice, window, lateLimit, novelty, overtaking, mapCount, maps | null,
//       cancel | null, chunk, route, startPs, summary[3]) -> status
Napi::Value Match(const Napi::CallbackInfo& info) {
  Arguments arguments(info);
  const BanyanNetwork network = ReadNetwork(arguments);
  const int32_t chunk_count = arguments.Integer("chunkCount");
  const int32_t* held_offset = arguments.Int32("heldOffset", static_cast<double>(network.npu_count) + 1);
  const int32_t* held_chunk = arguments.Int32("heldChunk", Arguments::kAnyLength);
  const int32_t held_count = arguments.Count("heldChunk");
  const double words = std::ceil(static_cast<double>(chunk_count) / 32);
  const uint32_t* wanted = arguments.Uint32OrNull("wanted", words * network.npu_count);
  BanyanMatchPolicy policy{};
  policy.seed = arguments.Unsigned("seed");
  policy.choice = arguments.Integer("choice");
  policy.window = arguments.Integer("window");
  policy.late_limit = arguments.Integer("lateLimit");
  policy.novelty = arguments.Integer("novelty");
  policy.overtaking = arguments.Integer("overtaking");
  const int32_t map_count = arguments.Integer("mapCount");
  const int32_t* maps = arguments.Int32OrNull("maps", static_cast<double>(map_count) * network.npu_count);
  const int32_t* flag = arguments.Flag();
  BanyanTransfers out = ReadOutputs(arguments);
  double* summary = arguments.Float64("summary", 3);
  const int32_t status = banyan_match(&network, chunk_count, held_count, held_offset, held_chunk, wanted, &policy,
                                      map_count, maps, flag == nullptr ? nullptr : FlagIsSet, flag, &out);
  WriteSummary(summary, out);
  return Napi::Number::New(info.Env(), status);
}

// spread(npuCount, chunkCount, routeSource, routeTarget, heldOffset, heldChunk, wanted | null, seed, choice, window,
//        lateLimit, threads, cancel | null, maxSlots, logOffset, chunk, portOffset, ports, slots, mapCount,
//        maps | null, summary[3]) -> status
// A cancel flag of two elements gets the progress in its second.
Napi::Value Spread(const Napi::CallbackInfo& info) {
  Arguments arguments(info);
  BanyanSpread problem{};
  problem.npu_count = arguments.Integer("npuCount");
  problem.chunk_count = arguments.Integer("chunkCount");
  problem.route_source = arguments.Int32("routeSource", Arguments::kAnyLength);
  problem.route_count = arguments.Count("routeSource");
  problem.route_target = arguments.Int32("routeTarget", problem.route_count);
  problem.held_offset = arguments.Int32("heldOffset", static_cast<double>(problem.npu_count) + 1);
  problem.held_chunk = arguments.Int32("heldChunk", Arguments::kAnyLength);
  problem.held_count = arguments.Count("heldChunk");
  const double words = std::ceil(static_cast<double>(problem.chunk_count) / 32);
  problem.wanted = arguments.Uint32OrNull("wanted", words * problem.npu_count);
  problem.seed = arguments.Unsigned("seed");
  problem.choice = arguments.Integer("choice");
  problem.window = arguments.Integer("window");
  problem.late_limit = arguments.Integer("lateLimit");
  problem.threads = arguments.Integer("threads");
  int32_t* flag = arguments.Flag();
  if (flag != nullptr && arguments.length() >= 2) problem.progress = flag + 1;
  BanyanLogs out{};
  out.max_slots = arguments.Integer("maxSlots");
  const double* log_offset = arguments.Float64("logOffset", static_cast<double>(problem.npu_count) + 1);
  out.log_offset = log_offset;
  out.chunk = arguments.Chunks("chunk", log_offset[problem.npu_count], &out.entry_bytes);
  const double* port_offset = arguments.Float64("portOffset", static_cast<double>(problem.npu_count) + 1);
  out.port_offset = port_offset;
  out.ports = arguments.Uint8("ports", port_offset[problem.npu_count]);
  out.slots = arguments.Int32("slots", problem.npu_count);
  problem.map_count = arguments.Integer("mapCount");
  problem.maps = arguments.Int32OrNull("maps", static_cast<double>(problem.map_count) * problem.npu_count);
  double* summary = arguments.Float64("summary", 3);
  const int32_t status = banyan_spread(&problem, flag == nullptr ? nullptr : FlagIsSet, flag, &out);
  summary[1] = out.detail[0];
  summary[2] = out.detail[1];
  return Napi::Number::New(info.Env(), status);
}

// relay(npuCount, ..., capacity as above, chunkSource, chunkTarget, distancePs, order, seed, cancel | null,
//       chunk, route, startPs, summary[3]) -> status
Napi::Value Relay(const Napi::CallbackInfo& info) {
  Arguments arguments(info);
  const BanyanNetwork network = ReadNetwork(arguments);
  const double pairs = static_cast<double>(network.npu_count) * network.npu_count;
  const int32_t* chunk_source = arguments.Int32("chunkSource", Arguments::kAnyLength);
  const int32_t chunk_count = arguments.Count("chunkSource");
  const int32_t* chunk_target = arguments.Int32("chunkTarget", chunk_count);
  const double* distance_ps = arguments.Float64("distancePs", pairs);
  const int32_t* order = arguments.Int32("order", pairs);
  const uint32_t seed = arguments.Unsigned("seed");
  const int32_t* flag = arguments.Flag();
  BanyanTransfers out = ReadOutputs(arguments);
  double* summary = arguments.Float64("summary", 3);
  const int32_t status = banyan_relay(&network, chunk_count, chunk_source, chunk_target, distance_ps, order, seed,
                                      flag == nullptr ? nullptr : FlagIsSet, flag, &out);
  WriteSummary(summary, out);
  return Napi::Number::New(info.Env(), status);
}

// place(npuCount, ..., capacity as above, route, successorOffset, successor, key, cancel | null, startPs) -> status
Napi::Value Place(const Napi::CallbackInfo& info) {
  Arguments arguments(info);
  const BanyanNetwork network = ReadNetwork(arguments);
  const int32_t* route = arguments.Int32("route", Arguments::kAnyLength);
  const int32_t transfer_count = arguments.Count("route");
  const double transfers = transfer_count;
  const int32_t* successor_offset = arguments.Int32("successorOffset", transfers + 1);
  const int32_t* successor = arguments.Int32("successor", Arguments::kAnyLength);
  const int32_t successor_count = arguments.Count("successor");
  const double* key = arguments.Float64("key", transfers);
  const int32_t* flag = arguments.Flag();
  double* start_ps = arguments.Float64("startPs", transfers);
  const int32_t status = banyan_place(&network, transfer_count, successor_count, route, successor_offset, successor,
                                      key, flag == nullptr ? nullptr : FlagIsSet, flag, start_ps);
  return Napi::Number::New(info.Env(), status);
}

// rate(nodeCount, npuCount, linkSource, linkTarget, capacity, weight, cancel | null, cut) -> status
Napi::Value Rate(const Napi::CallbackInfo& info) {
  Arguments arguments(info);
  BanyanRate problem{};
  problem.node_count = arguments.Integer("nodeCount");
  problem.npu_count = arguments.Integer("npuCount");
  problem.link_source = arguments.Int32("linkSource", Arguments::kAnyLength);
  problem.link_count = arguments.Count("linkSource");
  const double links = problem.link_count;
  problem.link_target = arguments.Int32("linkTarget", links);
  problem.capacity = arguments.Float64("capacity", links);
  problem.weight = arguments.Float64("weight", problem.npu_count);
  const int32_t* flag = arguments.Flag();
  uint8_t* cut = arguments.Uint8("cut", problem.node_count);
  const int32_t status = banyan_rate(&problem, flag == nullptr ? nullptr : FlagIsSet, flag, cut);
  return Napi::Number::New(info.Env(), status);
}

// sweep(nodeCount, linkSource, linkTarget, capacity, supply, sinks, cancel | null, flow) -> status
Napi::Value Sweep(const Napi::CallbackInfo& info) {
  Arguments arguments(info);
  BanyanSweep problem{};
  problem.node_count = arguments.Integer("nodeCount");
  problem.link_source = arguments.Int32("linkSource", Arguments::kAnyLength);
  problem.link_count = arguments.Count("linkSource");
  const double links = problem.link_count;
  problem.link_target = arguments.Int32("linkTarget", links);
  problem.capacity = arguments.Float64("capacity", links);
  problem.supply = arguments.Float64("supply", problem.node_count);
  problem.sinks = arguments.Int32("sinks", Arguments::kAnyLength);
  problem.sink_count = arguments.Count("sinks");
  const int32_t* flag = arguments.Flag();
  double* flow = arguments.Float64("flow", problem.sink_count);
  const int32_t status = banyan_sweep(&problem, flag == nullptr ? nullptr : FlagIsSet, flag, flow);
  return Napi::Number::New(info.Env(), status);
}

// arborescence(nodeCount, root, arcSource, arcTarget, cost, cancel | null, arc) -> status
Napi::Value Arborescence(const Napi::CallbackInfo& info) {
  Arguments arguments(info);
  BanyanArborescence problem{};
  problem.node_count = arguments.Integer("nodeCount");
  problem.root = arguments.Integer("root");
  problem.arc_source = arguments.Int32("arcSource", Arguments::kAnyLength);
  problem.arc_count = arguments.Count("arcSource");
  const double arcs = problem.arc_count;
  problem.arc_target = arguments.Int32("arcTarget", arcs);
  problem.cost = arguments.Float64("cost", arcs);
  const int32_t* flag = arguments.Flag();
  int32_t* arc = arguments.Int32("arc", problem.node_count);
  const int32_t status = banyan_arborescence(&problem, flag == nullptr ? nullptr : FlagIsSet, flag, arc);
  return Napi::Number::New(info.Env(), status);
}

// concurrent(nodeCount, arcOffset, arcTarget, arcClass, capacity, sources, sourceWeight, demand | null, terminals, gap[1],
//            maxRounds, cancel | null, length, flow | null, summary[3]) -> status
// The summary is rate, bound, rounds.
Napi::Value Concurrent(const Napi::CallbackInfo& info) {
  Arguments arguments(info);
  BanyanConcurrent problem{};
  problem.node_count = arguments.Integer("nodeCount");
  problem.arc_offset = arguments.Int32("arcOffset", static_cast<double>(problem.node_count) + 1);
  problem.arc_target = arguments.Int32("arcTarget", Arguments::kAnyLength);
  problem.arc_count = arguments.Count("arcTarget");
  problem.arc_class = arguments.Int32("arcClass", problem.arc_count);
  problem.capacity = arguments.Float64("capacity", Arguments::kAnyLength);
  problem.class_count = arguments.Count("capacity");
  problem.sources = arguments.Int32("sources", Arguments::kAnyLength);
  problem.source_count = arguments.Count("sources");
  const double sources = problem.source_count;
  problem.source_weight = arguments.Float64("sourceWeight", sources);
  problem.demand = arguments.Float64OrNull("demand", sources * problem.node_count);
  problem.terminals = arguments.Uint8("terminals", problem.node_count);
  problem.gap = *arguments.Float64("gap", 1);
  problem.max_rounds = arguments.Integer("maxRounds");
  const int32_t* flag = arguments.Flag();
  BanyanConcurrentFlow out{};
  out.length = arguments.Int32("length", problem.class_count);
  out.flow = arguments.Float64OrNull("flow", sources * problem.arc_count);
  double* summary = arguments.Float64("summary", 3);
  const int32_t status = banyan_concurrent(&problem, flag == nullptr ? nullptr : FlagIsSet, flag, &out);
  summary[0] = out.rate;
  summary[1] = out.bound;
  summary[2] = out.rounds;
  return Napi::Number::New(info.Env(), status);
}

// pack(nodeCount, npuCount, linkSource, linkTarget, capacity, copies, depthPrice, loadPrice, scheduled, seed, repairs,
//      enoughHeight, cancel | null, root, copies, linkOffset, links, cut, summary[4]) -> status
// The summary is trees, outcome, sweeps, rollbacks.
Napi::Value Pack(const Napi::CallbackInfo& info) {
  Arguments arguments(info);
  BanyanPack problem{};
  problem.node_count = arguments.Integer("nodeCount");
  problem.npu_count = arguments.Integer("npuCount");
  problem.link_source = arguments.Int32("linkSource", Arguments::kAnyLength);
  problem.link_count = arguments.Count("linkSource");
  const double links = problem.link_count;
  problem.link_target = arguments.Int32("linkTarget", links);
  problem.capacity = arguments.Float64("capacity", links);
  problem.copies = arguments.Float64("copies", problem.npu_count);
  problem.depth_price = arguments.Integer("depthPrice");
  problem.load_price = arguments.Integer("loadPrice");
  problem.scheduled = arguments.Integer("scheduled");
  problem.seed = arguments.Unsigned("seed");
  problem.repairs = arguments.Integer("repairs");
  problem.enough_height = arguments.Integer("enoughHeight");
  const int32_t* flag = arguments.Flag();
  BanyanTrees out{};
  out.root = arguments.Int32("root", Arguments::kAnyLength);
  out.max_trees = arguments.Count("root");
  const double trees = out.max_trees;
  out.copies = arguments.Float64("copies", trees);
  out.link_offset = arguments.Float64("linkOffset", trees * (static_cast<double>(problem.npu_count) - 1) + 1);
  out.links = arguments.Int32("links", Arguments::kAnyLength);
  out.max_links = arguments.length();
  out.cut = arguments.Uint8("cut", problem.node_count);
  double* summary = arguments.Float64("summary", 4);
  const int32_t status = banyan_pack(&problem, flag == nullptr ? nullptr : FlagIsSet, flag, &out);
  summary[0] = out.tree_count;
  summary[1] = out.outcome;
  summary[2] = out.sweeps;
  summary[3] = out.rollbacks;
  return Napi::Number::New(info.Env(), status);
}

// balance(nodeCount, inOffset, inSource, targets, parts, wantsShares, threads, cancel | null, loadNum, loadDen, worst,
//         rowOffset, step, port, source, from, to, summary[3]) -> status
// The summary is steps, detail[0], detail[1].
Napi::Value Balance(const Napi::CallbackInfo& info) {
  Arguments arguments(info);
  BanyanBalance problem{};
  problem.node_count = arguments.Integer("nodeCount");
  problem.in_offset = arguments.Int32("inOffset", static_cast<double>(problem.node_count) + 1);
  problem.in_source = arguments.Int32("inSource", Arguments::kAnyLength);
  problem.arc_count = arguments.Count("inSource");
  problem.targets = arguments.Int32("targets", Arguments::kAnyLength);
  problem.target_count = arguments.Count("targets");
  problem.parts = arguments.Integer("parts");
  problem.wants_shares = arguments.Integer("wantsShares");
  problem.threads = arguments.Integer("threads");
  const int32_t* flag = arguments.Flag();
  BanyanBalanced out{};
  out.load_num = arguments.Int32("loadNum", Arguments::kAnyLength);
  out.max_steps = arguments.Count("loadNum");
  out.load_den = arguments.Int32("loadDen", out.max_steps);
  out.worst = arguments.Int32("worst", out.max_steps);
  out.row_offset = arguments.Float64("rowOffset", static_cast<double>(problem.target_count) + 1);
  out.step = arguments.Uint16("step", Arguments::kAnyLength);
  out.max_rows = arguments.length();
  out.port = arguments.Uint16("port", out.max_rows);
  out.source = arguments.Int32("source", out.max_rows);
  out.from = arguments.Uint16("from", out.max_rows);
  out.to = arguments.Uint16("to", out.max_rows);
  double* summary = arguments.Float64("summary", 3);
  const int32_t status = banyan_balance(&problem, flag == nullptr ? nullptr : FlagIsSet, flag, &out);
  summary[0] = out.steps;
  summary[1] = out.detail[0];
  summary[2] = out.detail[1];
  return Napi::Number::New(info.Env(), status);
}

// replay(mode, npuCount, linkCount, routeSource, routeTarget, linkOffset, links, firstChunk, reduces, serial, delay,
//        cost | null, capacity | null, holders, setOffset, setMembers, chunk, route, plannedStart, plannedEnd,
//        cancel | null, linkBusy, start | null, end | null, hopStart | null, summary[3]) -> status
// The summary is last, outcome, row.
Napi::Value Replay(const Napi::CallbackInfo& info) {
  Arguments arguments(info);
  BanyanReplay problem{};
  problem.mode = arguments.Integer("mode");
  problem.npu_count = arguments.Integer("npuCount");
  problem.link_count = arguments.Integer("linkCount");
  problem.route_source = arguments.Int32("routeSource", Arguments::kAnyLength);
  problem.route_count = arguments.Count("routeSource");
  problem.route_target = arguments.Int32("routeTarget", problem.route_count);
  problem.link_offset = arguments.Int32("linkOffset", static_cast<double>(problem.route_count) + 1);
  problem.links = arguments.Int32("links", Arguments::kAnyLength);
  problem.route_link_count = arguments.Count("links");
  problem.first_chunk = arguments.Int32("firstChunk", Arguments::kAnyLength);
  problem.collective_count = arguments.Count("firstChunk") - 1;
  const double collectives = problem.collective_count;
  problem.reduces = arguments.Uint8("reduces", collectives);
  const double timed = problem.mode == kBanyanCutThrough ? problem.route_count : problem.link_count;
  problem.serial = arguments.Float64("serial", collectives * timed);
  problem.delay = arguments.Float64("delay", collectives * timed);
  if (problem.mode == kBanyanCutThrough) {
    problem.cost = arguments.Float64("cost", problem.route_link_count);
    problem.capacity = arguments.Float64("capacity", problem.link_count);
  } else {
    problem.cost = arguments.Float64OrNull("cost", 0);
    problem.capacity = arguments.Float64OrNull("capacity", 0);
  }
  problem.holders = arguments.Int32("holders", Arguments::kAnyLength);
  problem.chunk_count = arguments.Count("holders");
  problem.set_offset = arguments.Int32("setOffset", Arguments::kAnyLength);
  problem.set_count = arguments.Count("setOffset") - 1;
  problem.set_members = arguments.Int32("setMembers", Arguments::kAnyLength);
  problem.member_count = arguments.Count("setMembers");
  problem.chunk = arguments.Int32("chunk", Arguments::kAnyLength);
  problem.row_count = arguments.Count("chunk");
  const double rows = problem.row_count;
  problem.route = arguments.Int32("route", rows);
  problem.planned_start = arguments.Float64("plannedStart", rows);
  problem.planned_end = arguments.Float64("plannedEnd", rows);
  const int32_t* flag = arguments.Flag();
  BanyanReplayed out{};
  out.link_busy = arguments.Float64("linkBusy", problem.link_count);
  out.start = arguments.Float64OrNull("start", rows);
  out.end = arguments.Float64OrNull("end", rows);
  out.hop_start = arguments.Float64OrNull("hopStart", Arguments::kAnyLength);
  if (out.hop_start != nullptr) out.hop_room = arguments.length();
  double* summary = arguments.Float64("summary", 3);
  const int32_t status = banyan_replay(&problem, flag == nullptr ? nullptr : FlagIsSet, flag, &out);
  summary[0] = out.last;
  summary[1] = out.outcome;
  summary[2] = out.row;
  return Napi::Number::New(info.Env(), status);
}

Napi::Object Init(Napi::Env env, Napi::Object exports) {
  exports.Set("match", Napi::Function::New(env, Match, "match"));
  exports.Set("spread", Napi::Function::New(env, Spread, "spread"));
  exports.Set("relay", Napi::Function::New(env, Relay, "relay"));
  exports.Set("place", Napi::Function::New(env, Place, "place"));
  exports.Set("rate", Napi::Function::New(env, Rate, "rate"));
  exports.Set("sweep", Napi::Function::New(env, Sweep, "sweep"));
  exports.Set("pack", Napi::Function::New(env, Pack, "pack"));
  exports.Set("concurrent", Napi::Function::New(env, Concurrent, "concurrent"));
  exports.Set("arborescence", Napi::Function::New(env, Arborescence, "arborescence"));
  exports.Set("replay", Napi::Function::New(env, Replay, "replay"));
  exports.Set("balance", Napi::Function::New(env, Balance, "balance"));
  return exports;
}

}  // namespace

NODE_API_MODULE(banyan, Init)
