// Every kernel, called by a hostile caller: what its numbers and arrays are.
#ifndef BANYAN_TEST_ATTACK_H_
#define BANYAN_TEST_ATTACK_H_

#include "hostile.h"

namespace banyan_test {

using banyan::Behind;
using banyan::Length;
using banyan::Product;
using banyan::WordsOf;

inline void AddNetwork(HostileCall& call, BanyanNetwork& network) {
  const auto routes = [&] { return static_cast<std::int64_t>(network.route_count); };
  const auto uses = [&] { return static_cast<std::int64_t>(network.use_count); };
  for (std::int32_t* count : {&network.npu_count, &network.route_count, &network.use_count, &network.resource_count}) {
    call.Number(count);
  }
  call.In(&network.route_source, routes);
  call.In(&network.route_target, routes);
  call.In(&network.slot_ps, routes);
  call.In(&network.use_offset, [&] { return Behind(network.route_count); });
  call.In(&network.use_resource, uses);
  call.In(&network.use_units, uses);
  call.In(&network.capacity, [&] { return static_cast<std::int64_t>(network.resource_count); });
}

inline void AddTransfers(HostileCall& call, BanyanTransfers& out) {
  call.Out(&out.chunk, [&] { return Length(out.room); });
  call.Out(&out.route, [&] { return Length(out.room); });
  call.Out(&out.start_ps, [&] { return Length(out.room); });
}

inline const char* AttackMatch(Source& random) {
  std::vector<std::int32_t> maps;
  MatchCase made = random.Below(2) == 0 ? RandomMatch(random, 6, 24) : RandomFolded(random, 4, &maps);
  BanyanNetwork network = made.network.View();
  std::int32_t held = static_cast<std::int32_t>(made.held_chunk.size());
  std::int32_t map_count = static_cast<std::int32_t>(maps.size()) / made.network.npus;
  const std::int32_t* held_offset = made.held_offset.data();
  const std::int32_t* held_chunk = made.held_chunk.data();
  const std::uint32_t* wanted = made.wanted.empty() ? nullptr : made.wanted.data();
  const std::uint8_t* choosers = made.Choosers();
  const std::int32_t* map = maps.data();
  Transfers out(Deliveries(made));
  if (random.Below(8) == 0) out.view.room = random.Below(2) == 0 ? -1 : std::numeric_limits<double>::quiet_NaN();
  HostileCall call(random);
  AddNetwork(call, network);
  for (std::int32_t* number : {&held, &map_count, &made.policy.choice, &made.policy.window, &made.policy.late_limit,
                               &made.policy.novelty, &made.policy.overtaking}) {
    call.Number(number);
  }
  call.Amount(&made.chunks);
  call.In(&held_offset, [&] { return Behind(network.npu_count); });
  call.In(&held_chunk, [&] { return static_cast<std::int64_t>(held); });
  if (wanted != nullptr)
    call.In(
        &wanted, [&] { return Product(WordsOf(made.chunks), network.npu_count); }, true);
  if (choosers != nullptr) {
    call.In(
        &choosers, [&] { return static_cast<std::int64_t>(network.npu_count); }, true);
  }
  call.In(&map, [&] { return Product(map_count, network.npu_count); });
  AddTransfers(call, out.view);
  return call.Run([&](BanyanCancelled stops, const void* context) {
    return banyan_match(&network, made.chunks, held, held_offset, held_chunk, wanted, choosers, &made.policy, map_count,
                        map, stops, context, &out.view);
  });
}

inline const char* AttackSpread(Source& random) {
  std::vector<std::int32_t> maps;
  MatchCase made = random.Below(2) == 0 ? RandomMatch(random, 6, 24) : RandomFolded(random, 4, &maps);
  constexpr std::int32_t kMaxSlots = 40;
  Logs logs(made, kMaxSlots, random.Below(2) == 0, random.Below(2) == 0 ? maps : std::vector<std::int32_t>{});
  BanyanLogs& out = logs.view;
  const BanyanNetwork network = made.network.View();
  BanyanSpread problem{};
  problem.npu_count = made.network.npus;
  problem.chunk_count = made.chunks;
  problem.route_count = network.route_count;
  problem.held_count = static_cast<std::int32_t>(made.held_chunk.size());
  problem.route_source = network.route_source;
  problem.route_target = network.route_target;
  problem.held_offset = made.held_offset.data();
  problem.held_chunk = made.held_chunk.data();
  problem.wanted = made.wanted.empty() ? nullptr : made.wanted.data();
  problem.choosers = made.Choosers();
  problem.seed = made.policy.seed;
  problem.choice = made.policy.choice;
  problem.window = made.policy.window;
  problem.late_limit = made.policy.late_limit;
  problem.threads = 1 + random.Below(2);
  problem.map_count = static_cast<std::int32_t>(maps.size()) / made.network.npus;
  problem.maps = maps.data();
  std::int32_t progress = 0;
  problem.progress = &progress;
  auto* wide = static_cast<std::int32_t*>(out.chunk);
  auto* narrow = static_cast<std::uint16_t*>(out.chunk);
  HostileCall call(random);
  for (std::int32_t* number :
       {&problem.npu_count, &problem.route_count, &problem.held_count, &problem.choice, &problem.window,
        &problem.late_limit, &problem.map_count, &out.entry_bytes, &out.max_slots}) {
    call.Number(number);
  }
  call.Amount(&problem.chunk_count);
  call.In(&problem.route_source, [&] { return static_cast<std::int64_t>(problem.route_count); });
  call.In(&problem.route_target, [&] { return static_cast<std::int64_t>(problem.route_count); });
  call.In(&problem.held_offset, [&] { return Behind(problem.npu_count); });
  call.In(&problem.held_chunk, [&] { return static_cast<std::int64_t>(problem.held_count); });
  if (problem.wanted != nullptr) {
    call.In(
        &problem.wanted, [&] { return Product(WordsOf(problem.chunk_count), problem.npu_count); }, true);
  }
  if (problem.choosers != nullptr) {
    call.In(
        &problem.choosers, [&] { return static_cast<std::int64_t>(problem.npu_count); }, true);
  }
  call.In(&problem.maps, [&] { return Product(problem.map_count, problem.npu_count); });
  call.Out(
      &problem.progress, [] { return std::int64_t{1}; }, true);
  const auto last = [&](const double* offset) {
    return offset == nullptr || problem.npu_count < 0 ? -1 : Length(offset[problem.npu_count]);
  };
  call.In(&out.log_offset, [&] { return Behind(problem.npu_count); });
  call.In(&out.port_offset, [&] { return Behind(problem.npu_count); });
  call.Out(&wide, [&] { return out.entry_bytes == 4 ? last(out.log_offset) : 0; });
  call.Out(&narrow, [&] { return out.entry_bytes == 2 ? last(out.log_offset) : 0; });
  call.Out(&out.ports, [&] { return last(out.port_offset); });
  call.Out(&out.slots, [&] { return static_cast<std::int64_t>(problem.npu_count); });
  return call.Run([&](BanyanCancelled stops, const void* context) {
    out.chunk = out.entry_bytes == 4 ? static_cast<void*>(wide) : static_cast<void*>(narrow);
    return banyan_spread(&problem, stops, context, &out);
  });
}

inline const char* AttackRelay(Source& random) {
  const RelayCase made = RandomRelay(random, 6, 20);
  BanyanNetwork network = made.network.View();
  std::int32_t chunks = static_cast<std::int32_t>(made.source.size());
  const std::int32_t* source = made.source.data();
  const std::int32_t* target = made.target.data();
  const double* distance = made.distance.data();
  const std::int32_t* order = made.order.data();
  Transfers out(made.source.size() * 2);
  HostileCall call(random);
  AddNetwork(call, network);
  call.Number(&chunks);
  call.In(&source, [&] { return static_cast<std::int64_t>(chunks); });
  call.In(&target, [&] { return static_cast<std::int64_t>(chunks); });
  call.In(&distance, [&] { return Product(network.npu_count, network.npu_count); });
  call.In(&order, [&] { return Product(network.npu_count, network.npu_count); });
  AddTransfers(call, out.view);
  return call.Run([&](BanyanCancelled stops, const void* context) {
    return banyan_relay(&network, chunks, source, target, distance, order, made.seed, stops, context, &out.view);
  });
}

inline const char* AttackPlace(Source& random) {
  const PlaceCase made = RandomPlace(random, 6, 30);
  BanyanNetwork network = made.network.View();
  std::int32_t transfers = static_cast<std::int32_t>(made.route.size());
  std::int32_t successors = static_cast<std::int32_t>(made.successor.size());
  const std::int32_t* route = made.route.data();
  const std::int32_t* successor_offset = made.successor_offset.data();
  const std::int32_t* successor = made.successor.data();
  const double* key = made.key.data();
  std::vector<double> starts(made.route.size());
  double* start = starts.data();
  HostileCall call(random);
  AddNetwork(call, network);
  call.Number(&transfers);
  call.Number(&successors);
  call.In(&route, [&] { return static_cast<std::int64_t>(transfers); });
  call.In(&successor_offset, [&] { return Behind(transfers); });
  call.In(&successor, [&] { return static_cast<std::int64_t>(successors); });
  call.In(&key, [&] { return static_cast<std::int64_t>(transfers); });
  call.Out(&start, [&] { return static_cast<std::int64_t>(transfers); });
  return call.Run([&](BanyanCancelled stops, const void* context) {
    return banyan_place(&network, transfers, successors, route, successor_offset, successor, key, stops, context,
                        start);
  });
}

/// The links of a problem, and what stands beside its nodes.
template <typename Problem>
void AddLinks(HostileCall& call, Problem& problem) {
  const auto links = [&] { return static_cast<std::int64_t>(problem.link_count); };
  call.Number(&problem.node_count);
  call.Number(&problem.link_count);
  call.In(&problem.link_source, links);
  call.In(&problem.link_target, links);
  call.In(&problem.capacity, links);
}

inline const char* AttackRate(Source& random) {
  const RateCase made = RandomRate(random, 6);
  BanyanRate problem = made.View();
  std::vector<std::uint8_t> sides(static_cast<std::size_t>(problem.node_count));
  std::uint8_t* cut = sides.data();
  HostileCall call(random);
  AddLinks(call, problem);
  call.Number(&problem.npu_count);
  call.In(&problem.weight, [&] { return static_cast<std::int64_t>(problem.npu_count); });
  call.Out(&cut, [&] { return static_cast<std::int64_t>(problem.node_count); });
  return call.Run(
      [&](BanyanCancelled stops, const void* context) { return banyan_rate(&problem, stops, context, cut); });
}

inline const char* AttackSweep(Source& random) {
  const SweepCase made = RandomSweep(random, 6);
  BanyanSweep problem = made.View();
  std::vector<double> flows(made.sinks.size());
  double* flow = flows.data();
  HostileCall call(random);
  AddLinks(call, problem);
  call.Number(&problem.sink_count);
  call.In(&problem.supply, [&] { return static_cast<std::int64_t>(problem.node_count); });
  call.In(&problem.sinks, [&] { return static_cast<std::int64_t>(problem.sink_count); });
  call.Out(&flow, [&] { return static_cast<std::int64_t>(problem.sink_count); });
  return call.Run(
      [&](BanyanCancelled stops, const void* context) { return banyan_sweep(&problem, stops, context, flow); });
}

inline const char* AttackPartition(Source& random) {
  const PartitionCase made = RandomPartition(random, 5);
  BanyanPartition problem = made.View();
  std::vector<std::int32_t> found(made.start.size());
  std::int32_t* part = found.data();
  HostileCall call(random);
  AddLinks(call, problem);
  call.Number(&problem.terminal_count);
  call.Number(&problem.outside_count);
  call.In(&problem.start, [&] { return static_cast<std::int64_t>(problem.terminal_count); });
  call.Out(&part, [&] { return static_cast<std::int64_t>(problem.terminal_count); });
  return call.Run(
      [&](BanyanCancelled stops, const void* context) { return banyan_partition(&problem, stops, context, part); });
}

inline const char* AttackPeriod(Source& random) {
  const PeriodCase made = RandomPeriod(random, 6);
  BanyanPeriod problem = made.View();
  const auto npus = static_cast<std::size_t>(problem.npu_count);
  std::vector<std::int32_t> entry(static_cast<std::size_t>(problem.tree_count) * npus);
  std::vector<double> start(2 * entry.size());
  BanyanTimetable out{entry.data(), start.data()};
  const auto edges = [&] { return static_cast<std::int64_t>(problem.edge_count); };
  const auto places = [&] { return Product(problem.tree_count, problem.npu_count); };
  HostileCall call(random);
  for (std::int32_t* number : {&problem.npu_count, &problem.edge_count, &problem.tree_count, &problem.turn})
    call.Number(number);
  call.In(&problem.tail, edges);
  call.In(&problem.head, edges);
  call.In(&problem.serial_ps, edges);
  call.In(&problem.latency_ps, edges);
  call.In(&problem.used, [&] { return Product(problem.tree_count, problem.edge_count); });
  call.Out(&out.entry, places);
  call.Out(&out.start_ps, [&] { return 2 * places(); });
  return call.Run(
      [&](BanyanCancelled stops, const void* context) { return banyan_period(&problem, stops, context, &out); });
}

inline const char* AttackArborescence(Source& random) {
  const ArborescenceCase made = RandomArborescence(random, 6);
  BanyanArborescence problem = made.View();
  std::vector<std::int32_t> chosen(static_cast<std::size_t>(problem.node_count));
  std::int32_t* arc = chosen.data();
  const auto arcs = [&] { return static_cast<std::int64_t>(problem.arc_count); };
  HostileCall call(random);
  for (std::int32_t* number : {&problem.node_count, &problem.root, &problem.arc_count}) call.Number(number);
  call.In(&problem.arc_source, arcs);
  call.In(&problem.arc_target, arcs);
  call.In(&problem.cost, arcs);
  call.Out(&arc, [&] { return static_cast<std::int64_t>(problem.node_count); });
  return call.Run(
      [&](BanyanCancelled stops, const void* context) { return banyan_arborescence(&problem, stops, context, arc); });
}

inline const char* AttackConcurrent(Source& random) {
  const ConcurrentCase made = RandomConcurrent(random, 6);
  BanyanConcurrent problem = made.View();
  problem.max_rounds = 20;
  if (random.Below(8) == 0) problem.gap = random.Below(2) == 0 ? 1e-300 : std::numeric_limits<double>::quiet_NaN();
  std::vector<std::int32_t> lengths(static_cast<std::size_t>(problem.class_count));
  std::vector<double> flows(static_cast<std::size_t>(problem.source_count) *
                            static_cast<std::size_t>(problem.arc_count));
  BanyanConcurrentFlow out{};
  out.length = lengths.data();
  out.flow = flows.data();
  HostileCall call(random);
  for (std::int32_t* number :
       {&problem.node_count, &problem.arc_count, &problem.class_count, &problem.source_count, &problem.max_rounds}) {
    call.Number(number);
  }
  call.In(&problem.arc_offset, [&] { return Behind(problem.node_count); });
  call.In(&problem.arc_target, [&] { return static_cast<std::int64_t>(problem.arc_count); });
  call.In(&problem.arc_class, [&] { return static_cast<std::int64_t>(problem.arc_count); });
  call.In(&problem.capacity, [&] { return static_cast<std::int64_t>(problem.class_count); });
  call.In(&problem.sources, [&] { return static_cast<std::int64_t>(problem.source_count); });
  call.In(&problem.source_weight, [&] { return static_cast<std::int64_t>(problem.source_count); });
  if (problem.demand != nullptr) {
    call.In(
        &problem.demand, [&] { return Product(problem.source_count, problem.node_count); }, true);
  }
  call.In(&problem.terminals, [&] { return static_cast<std::int64_t>(problem.node_count); });
  call.Out(&out.length, [&] { return static_cast<std::int64_t>(problem.class_count); });
  call.Out(
      &out.flow, [&] { return Product(problem.source_count, problem.arc_count); }, true);
  return call.Run(
      [&](BanyanCancelled stops, const void* context) { return banyan_concurrent(&problem, stops, context, &out); });
}

inline const char* AttackPack(Source& random) {
  const PackCase made = RandomPack(random, 6);
  BanyanPack problem = made.View();
  const std::int32_t max_trees = random.Below(40);
  Trees trees(made, max_trees, max_trees * made.nodes * made.npus);
  BanyanTrees& out = trees.view;
  HostileCall call(random);
  AddLinks(call, problem);
  for (std::int32_t* number : {&problem.npu_count, &problem.depth_price, &problem.load_price, &problem.scheduled,
                               &problem.repairs, &problem.enough_height, &out.max_trees}) {
    call.Number(number);
  }
  call.In(&problem.copies, [&] { return static_cast<std::int64_t>(problem.npu_count); });
  call.Out(&out.root, [&] { return static_cast<std::int64_t>(out.max_trees); });
  call.Out(&out.copies, [&] { return static_cast<std::int64_t>(out.max_trees); });
  call.Out(&out.link_offset, [&] { return banyan::TreeOffsets(out.max_trees, problem.npu_count); });
  call.Out(&out.links, [&] { return Length(out.max_links); });
  call.Out(&out.cut, [&] { return static_cast<std::int64_t>(problem.node_count); });
  return call.Run(
      [&](BanyanCancelled stops, const void* context) { return banyan_pack(&problem, stops, context, &out); });
}

inline const char* AttackBalance(Source& random) {
  const BalanceCase made = RandomBalance(random, 7);
  BanyanBalance problem = made.View(1 + random.Below(2));
  Balanced found(made, made.nodes,
                 made.wants_shares != 0 ? made.targets.size() * static_cast<std::size_t>(made.nodes) * 10 : 0);
  BanyanBalanced& out = found.view;
  const auto steps = [&] { return static_cast<std::int64_t>(out.max_steps); };
  const auto rows = [&] { return Length(out.max_rows); };
  HostileCall call(random);
  for (std::int32_t* number : {&problem.node_count, &problem.arc_count, &problem.target_count, &problem.parts,
                               &problem.wants_shares, &out.max_steps}) {
    call.Number(number);
  }
  call.In(&problem.in_offset, [&] { return Behind(problem.node_count); });
  call.In(&problem.in_source, [&] { return static_cast<std::int64_t>(problem.arc_count); });
  call.In(&problem.targets, [&] { return static_cast<std::int64_t>(problem.target_count); });
  call.Out(&out.load_num, steps);
  call.Out(&out.load_den, steps);
  call.Out(&out.worst, steps);
  call.Out(&out.row_offset, [&] { return Behind(problem.target_count); });
  call.Out(&out.step, rows);
  call.Out(&out.port, rows);
  call.Out(&out.source, rows);
  call.Out(&out.from, rows);
  call.Out(&out.to, rows);
  return call.Run(
      [&](BanyanCancelled stops, const void* context) { return banyan_balance(&problem, stops, context, &out); });
}

inline const char* AttackReplay(Source& random) {
  const ReplayCase made = RandomReplay(random, 30);
  BanyanReplay problem = made.View();
  const auto rows = static_cast<std::size_t>(problem.row_count);
  std::vector<double> busy(static_cast<std::size_t>(problem.link_count));
  std::vector<double> starts(rows);
  std::vector<double> ends(rows);
  std::vector<double> hops;
  for (const std::int32_t route : made.route) {
    const auto r = static_cast<std::size_t>(route);
    if (route < 0 || r + 1 >= made.link_offset.size()) break;
    hops.resize(hops.size() + static_cast<std::size_t>(made.link_offset[r + 1] - made.link_offset[r]));
  }
  BanyanReplayed out{};
  out.link_busy = busy.data();
  out.start = starts.data();
  out.end = ends.data();
  out.hop_room = static_cast<double>(hops.size());
  out.hop_start = problem.mode == kBanyanCutThrough ? nullptr : hops.data();
  const auto timed = [&] {
    const std::int32_t times = problem.mode == kBanyanCutThrough ? problem.route_count : problem.link_count;
    return Product(problem.collective_count, times);
  };
  const auto row_count = [&] { return static_cast<std::int64_t>(problem.row_count); };
  const auto through = [&](std::int32_t count) {
    return problem.mode == kBanyanCutThrough ? static_cast<std::int64_t>(count) : std::int64_t{0};
  };
  HostileCall call(random);
  for (std::int32_t* number :
       {&problem.mode, &problem.link_count, &problem.route_count, &problem.route_link_count, &problem.collective_count,
        &problem.chunk_count, &problem.set_count, &problem.member_count, &problem.row_count}) {
    call.Number(number);
  }
  call.Amount(&problem.npu_count);
  call.In(&problem.route_source, [&] { return static_cast<std::int64_t>(problem.route_count); });
  call.In(&problem.route_target, [&] { return static_cast<std::int64_t>(problem.route_count); });
  call.In(&problem.link_offset, [&] { return Behind(problem.route_count); });
  call.In(&problem.links, [&] { return static_cast<std::int64_t>(problem.route_link_count); });
  call.In(&problem.first_chunk, [&] { return Behind(problem.collective_count); });
  call.In(&problem.reduces, [&] { return static_cast<std::int64_t>(problem.collective_count); });
  call.In(&problem.serial, timed);
  call.In(&problem.delay, timed);
  call.In(&problem.cost, [&] { return through(problem.route_link_count); });
  call.In(&problem.capacity, [&] { return through(problem.link_count); });
  call.In(&problem.holders, [&] { return static_cast<std::int64_t>(problem.chunk_count); });
  call.In(&problem.set_offset, [&] { return Behind(problem.set_count); });
  call.In(&problem.set_members, [&] { return static_cast<std::int64_t>(problem.member_count); });
  call.In(&problem.chunk, row_count);
  call.In(&problem.route, row_count);
  call.In(&problem.planned_start, row_count);
  call.In(&problem.planned_end, row_count);
  call.Out(&out.link_busy, [&] { return static_cast<std::int64_t>(problem.link_count); });
  const bool timed_rows = random.Below(4) != 0;
  if (timed_rows) {
    call.Out(&out.start, row_count, true);
    call.Out(&out.end, row_count, true);
  } else {
    out.start = nullptr;
    out.end = nullptr;
    out.hop_start = nullptr;
  }
  if (out.hop_start != nullptr)
    call.Out(
        &out.hop_start, [&] { return Length(out.hop_room); }, true);
  return call.Run(
      [&](BanyanCancelled stops, const void* context) { return banyan_replay(&problem, stops, context, &out); });
}

inline const char* AttackJudge(Source& random) {
  const JudgeCase made = RandomJudge(random, 20);
  BanyanSteps problem = made.View(1 + random.Below(3));
  std::int32_t answer = 0;
  std::int32_t* shown = &answer;
  const auto routes = [&] { return static_cast<std::int64_t>(problem.route_count); };
  const auto route_links = [&] { return static_cast<std::int64_t>(problem.route_link_count); };
  const auto rows = [&] { return static_cast<std::int64_t>(problem.row_count); };
  HostileCall call(random);
  for (std::int32_t* number : {&problem.link_count, &problem.route_count, &problem.route_link_count,
                               &problem.chunk_count, &problem.row_count, &problem.reduces, &problem.from.set_count,
                               &problem.from.member_count, &problem.to.set_count, &problem.to.member_count}) {
    call.Number(number);
  }
  call.Amount(&problem.npu_count);
  call.In(&problem.route_source, routes);
  call.In(&problem.route_target, routes);
  call.In(&problem.link_offset, [&] { return Behind(problem.route_count); });
  call.In(&problem.links, route_links);
  call.In(&problem.cost, route_links);
  call.In(&problem.capacity, [&] { return static_cast<std::int64_t>(problem.link_count); });
  call.In(&problem.least, routes);
  call.In(&problem.further, routes);
  for (BanyanSets* sets : {&problem.from, &problem.to}) {
    call.In(&sets->set_of, [&] { return static_cast<std::int64_t>(problem.chunk_count); });
    call.In(&sets->offset, [sets] { return Behind(sets->set_count); });
    call.In(&sets->members, [sets] { return static_cast<std::int64_t>(sets->member_count); });
  }
  call.In(&problem.chunk, rows);
  call.In(&problem.route, rows);
  call.In(&problem.start, rows);
  call.In(&problem.end, rows);
  call.In(&problem.op, rows);
  call.Out(&shown, [] { return std::int64_t{1}; });
  return call.Run(
      [&](BanyanCancelled stops, const void* context) { return banyan_judge(&problem, stops, context, shown); });
}

/// One hostile call of any kernel; null where it was borne.
inline const char* Attack(Source& random) {
  static constexpr const char* (*kAttacks[])(Source&) = {
      AttackMatch,        AttackSpread,     AttackRelay,  AttackPlace,   AttackRate,      AttackSweep,  AttackPack,
      AttackArborescence, AttackConcurrent, AttackReplay, AttackBalance, AttackPartition, AttackPeriod, AttackJudge};
  return kAttacks[random.Below(static_cast<std::int32_t>(std::size(kAttacks)))](random);
}

}  // namespace banyan_test

#endif  // BANYAN_TEST_ATTACK_H_
