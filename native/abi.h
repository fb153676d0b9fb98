// The C ABI of the kernels: flat arrays in, caller's arrays out, a status back. Array lengths stand in brackets.
// Doubles hold exact integers (at most 2^53 - 1). The TypeScript twin is src/engine/contract/kernels.ts.
// Every index and length is checked here, once; the kernels behind it trust their input. Arrays must have the lengths that
// the counts say, and none that is written may overlap another: kBanyanBadArgument. Nothing may change during a call.
#ifndef BANYAN_ABI_H_
#define BANYAN_ABI_H_

#include <stdint.h>

#if defined(__wasm__)
#define BANYAN_EXPORT(name) __attribute__((used, export_name(#name)))
#else
#define BANYAN_EXPORT(name)
#endif

#ifdef __cplusplus
extern "C" {
#endif

// Statuses; src/engine/kernels/status.ts has the sentence for each.
enum BanyanStatus {
  kBanyanOk = 0,
  kBanyanBadArgument = 1,     // a length, an index or a value is out of range
  kBanyanOutputTooSmall = 2,  // the caller's output arrays cannot hold the result
  kBanyanUnreachable = 3,     // a wanted chunk cannot reach its NPU; detail[0] = NPU, detail[1] = chunk
  kBanyanCancelled = 4,       // the cancel callback asked to stop
  kBanyanOutOfMemory = 5,     // an allocation failed
  kBanyanTimeOverflow = 6     // a time would exceed 2^53 - 1 picoseconds
};

// Returns non-zero to stop; called every few thousand steps. May be null.
typedef int32_t (*BanyanCancelled)(const void* context);

// Routes between NPUs and the divisible resources that they share.
struct BanyanNetwork {
  int32_t npu_count;
  int32_t route_count;
  int32_t use_count;
  int32_t resource_count;
  const int32_t* route_source;  // [route_count]
  const int32_t* route_target;  // [route_count]
  const double* slot_ps;        // [route_count] >= 1
  const int32_t* use_offset;    // [route_count + 1]
  const int32_t* use_resource;  // [use_count]
  const int32_t* use_units;     // [use_count] 1 .. capacity
  const int32_t* capacity;      // [resource_count] >= 1
};

// Transfers in the order in which they ended.
struct BanyanTransfers {
  double room;        // length of the three arrays
  int32_t* chunk;     // [room]
  int32_t* route;     // [room]
  double* start_ps;   // [room]
  double count;       // out: transfers written
  int32_t detail[2];  // out: see the statuses
};

// Multicast matching in slots: routes that are equally long and share nothing.
struct BanyanSpread {
  int32_t npu_count;
  int32_t chunk_count;
  int32_t route_count;
  int32_t held_count;
  const int32_t* route_source;  // [route_count]
  const int32_t* route_target;  // [route_count]
  const int32_t* held_offset;   // [npu_count + 1]
  const int32_t* held_chunk;    // [held_count] ascending within an NPU
  const uint32_t* wanted;       // [npu_count * ceil(chunk_count / 32)] or null: everyone wants all
  const uint8_t* choosers;  // [npu_count] not 0: its routes choose, the others' take the oldest; or null: all choose
  uint32_t seed;
  int32_t choice;       // as in BanyanMatchPolicy
  int32_t window;       // >= 1
  int32_t late_limit;   // >= 0
  int32_t threads;      // >= 1, at most; one alone where so many cannot be started
  int32_t* progress;    // thousandths of the deliveries done, written now and then; or null
  int32_t map_count;    // maps of the network onto itself under which the schedule shall not change; 0: none
  const int32_t* maps;  // [map_count * npu_count] where each takes every NPU; a group, the first the identity
};

// One arrival log per NPU; src/model/slots/slot-schedule.ts has their form.
struct BanyanLogs {
  int32_t entry_bytes;        // 2 or 4: the width of a chunk; 2 for at most 65,536 chunks
  int32_t max_slots;          // room for so many slots
  const double* log_offset;   // [npu_count + 1] entries of NPU v: chunk[log_offset[v] .. log_offset[v + 1]]; none, here
                              // and in ports, where v follows from its representative and is not asked for
  void* chunk;                // [log_offset[npu_count]]
  const double* port_offset;  // [npu_count + 1] bytes of NPU v: max_slots times ceil(its routes in / 8)
  uint8_t* ports;             // [port_offset[npu_count]] zeros
  int32_t* slots;             // [npu_count] out: slots until the NPU's last arrival
  int32_t detail[2];          // out: see the statuses
};

struct BanyanMatchPolicy {
  uint32_t seed;
  int32_t choice;      // 0 oldest, 1 neighbour, 2 rarest, 3 newest
  int32_t window;      // >= 1
  int32_t late_limit;  // >= 0
  int32_t novelty;     // 0 or 1
  int32_t overtaking;  // 0 or 1
};

// A network with switches, of which an all-gather's rate is asked.
struct BanyanRate {
  int32_t node_count;
  int32_t npu_count;  // nodes 0 .. npu_count - 1 are NPUs, the others switches
  int32_t link_count;
  const int32_t* link_source;  // [link_count]
  const int32_t* link_target;  // [link_count] not the source
  const double* capacity;      // [link_count] >= 1
  const double* weight;        // [npu_count] >= 0, what the NPU contributes; the sum 1 .. 2^53 - 1
};

// A network of which the partition is asked whose parts together have the least capacity for what must leave them.
struct BanyanPartition {
  int32_t node_count;      // nodes 0 .. terminal_count - 1 are terminals, the others, 2 * link_count at most, switches
  int32_t terminal_count;  // >= 1
  int32_t outside_count;   // the last nodes, which go with no part
  int32_t link_count;
  const int32_t* link_source;  // [link_count]
  const int32_t* link_target;  // [link_count] not the source
  const double* capacity;      // [link_count] >= 1
  const int32_t* start;        // [terminal_count] parts 0 .. terminal_count - 1 to begin with
};

// A network whose nodes a source feeds, of which the maximum flows into several sinks are asked.
struct BanyanSweep {
  int32_t node_count;
  int32_t link_count;
  int32_t sink_count;
  const int32_t* link_source;  // [link_count]
  const int32_t* link_target;  // [link_count] not the source
  const double* capacity;      // [link_count] >= 0
  const double* supply;        // [node_count] >= 0; with the capacities at most 2^53 - 1 in all
  const int32_t* sinks;        // [sink_count] nodes
};

// Arcs of which the cheapest arborescence is asked.
struct BanyanArborescence {
  int32_t node_count;
  int32_t root;
  int32_t arc_count;
  const int32_t* arc_source;  // [arc_count]
  const int32_t* arc_target;  // [arc_count]
  const double* cost;         // [arc_count] >= 0; node_count times the greatest is at most 2^53 - 1
};

// Spanning trees that carry a chunk each up and down, again and again (native/kernels/period.h). Times are exact integers.
struct BanyanPeriod {
  double period_ps;   // >= 1
  double shake_ps;    // >= 0
  int32_t npu_count;  // at most edge_count + 1
  int32_t edge_count;
  int32_t tree_count;
  uint32_t seed;
  int32_t turn;              // >= 0: another one draws other numbers
  const int32_t* tail;       // [edge_count] the two NPUs of an edge
  const int32_t* head;       // [edge_count]
  const double* serial_ps;   // [edge_count] >= 1: how long a transfer occupies a direction
  const double* latency_ps;  // [edge_count] >= 0: how much later it arrives
  const uint8_t* used;       // [tree_count * edge_count] 1: the tree uses the edge
};

struct BanyanTimetable {
  int32_t* entry;  // [tree_count * npu_count] the edge towards the root, -1 at it
  double*
      start_ps;  // [tree_count * 2 * npu_count] per tree when each NPU sends up, then when it receives; -1 for the root
};

// A maximum concurrent flow: every source sends the rate times its demand to every node at once. Capacities, weights and
// demands above 0 are 2^-53 .. 2^53 - 1.
struct BanyanConcurrent {
  double gap;  // > 0; stops when bound / rate - 1 is at most this
  int32_t node_count;
  int32_t arc_count;
  int32_t class_count;
  int32_t source_count;
  int32_t max_rounds;           // >= 0; stops after so many
  const int32_t* arc_offset;    // [node_count + 1] arcs that leave v: arc_offset[v] .. arc_offset[v + 1]
  const int32_t* arc_target;    // [arc_count]
  const int32_t* arc_class;     // [arc_count] every class has arcs, which carry equal loads
  const double* capacity;       // [class_count] > 0, of one arc
  const int32_t* sources;       // [source_count] nodes
  const double* source_weight;  // [source_count] > 0, equal sources that it stands for
  const double* demand;         // [source_count * node_count] >= 0, one of them > 0; or null: 1 to every other terminal
  const uint8_t* terminals;     // [node_count] 0 or 1
};

struct BanyanConcurrentFlow {
  double rate;      // out: that the flows reach
  double bound;     // out: that none exceeds; infinite where none was found
  int32_t rounds;   // out
  int32_t* length;  // [class_count] zeros; out: of an arc of the class, 0 .. 2^30, that give the bound
  double* flow;     // [source_count * arc_count] out: of each source over each arc for a rate of 1; or null
};

// Trees to be packed within the capacities of links.
struct BanyanPack {
  int32_t node_count;
  int32_t npu_count;  // nodes 0 .. npu_count - 1 are NPUs, the others only forward
  int32_t link_count;
  uint32_t seed;
  const int32_t* link_source;  // [link_count]
  const int32_t* link_target;  // [link_count] not the source
  const double* capacity;      // [link_count] >= 0, copies that fit
  const double* copies;        // [npu_count] >= 0, to be rooted there; with the capacities at most 2^53 - 1 in all
  int32_t depth_price;         // 0 .. 1000
  int32_t load_price;          // 0 .. 1000
  int32_t scheduled;           // 0 or 1: only load ahead of the progress of the packing is priced
  int32_t repairs;             // >= 0, at most so many repairs of the highest trees
  int32_t enough_height;       // >= 0, repairs end when no tree is higher
};

// What became of a pack problem.
enum BanyanPackOutcome {
  kBanyanPacked = 0,
  kBanyanViolated = 1,  // more copies start in the cut, which lacks an NPU, than can leave it
  kBanyanStuck = 2      // no cut is in the way, but a node that forwards has not as much capacity in as out
};

// Trees with npu_count - 1 edges each, parents first; edge e of all is links[link_offset[e] .. link_offset[e + 1]].
struct BanyanTrees {
  double max_links;     // room for so many links
  int32_t max_trees;    // room for so many trees
  int32_t tree_count;   // out
  int32_t* root;        // [max_trees]
  double* copies;       // [max_trees]
  double* link_offset;  // [max_trees * (npu_count - 1) + 1]
  int32_t* links;       // [max_links]
  uint8_t* cut;         // [node_count] out: 1 for nodes of the cut
  int32_t outcome;      // out: one of BanyanPackOutcome
  int32_t sweeps;       // out: sweeps of flows over all NPUs
  int32_t rollbacks;    // out: times that edges were taken back
};

// Targets of a breadth-first broadcast, whose arcs shall be loaded evenly.
struct BanyanBalance {
  int32_t node_count;
  int32_t arc_count;
  int32_t target_count;
  int32_t parts;         // equal parts of a shard, 1 .. 32767; 0: shards can be cut anywhere. Times node_count < 2^31
  int32_t wants_shares;  // 0 or 1, which needs parts
  int32_t threads;       // >= 1
  const int32_t* in_offset;  // [node_count + 1] arcs that enter node u: in_source[in_offset[u] .. in_offset[u + 1]]
  const int32_t* in_source;  // [arc_count]
  const int32_t* targets;    // [target_count] ascending, each once, with at most 65,535 arcs in
};

// Loads of steps, in shards or, with parts, in parts of shards by 1; and rows of what moves by target, step, port and source.
struct BanyanBalanced {
  double max_rows;     // room for so many rows
  int32_t max_steps;   // room for so many steps, at most 65,535
  int32_t steps;       // out
  int32_t* load_num;   // [max_steps]
  int32_t* load_den;   // [max_steps]
  int32_t* worst;      // [max_steps] the first target with the load
  double* row_offset;  // [target_count + 1]
  uint16_t* step;      // [max_rows] from 1
  uint16_t* port;      // [max_rows]
  int32_t* source;     // [max_rows]
  uint16_t* from;      // [max_rows]
  uint16_t* to;        // [max_rows]
  int32_t detail[2];   // out: kBanyanUnreachable: a target, and the least node that cannot reach it
};

// How transfers travel: over all links of the route at once; link after link, those of one first link in planned order; the
// same without that order.
enum BanyanReplayMode { kBanyanCutThrough = 0, kBanyanStoreAndForward = 1, kBanyanFirstCome = 2 };

// A schedule to be replayed; src/model/replay/problem.ts says what the columns are.
struct BanyanReplay {
  int32_t mode;  // one of BanyanReplayMode
  int32_t npu_count;
  int32_t link_count;
  int32_t route_count;
  int32_t route_link_count;
  int32_t collective_count;  // >= 1
  int32_t chunk_count;
  int32_t set_count;
  int32_t member_count;
  int32_t row_count;
  const int32_t* route_source;  // [route_count]
  const int32_t* route_target;  // [route_count]
  const int32_t* link_offset;   // [route_count + 1] each route has a link
  const int32_t* links;         // [route_link_count]
  const int32_t* first_chunk;   // [collective_count + 1]
  const uint8_t* reduces;       // [collective_count] 0 or 1
  const double* serial;         // [collective_count * route_count] in cut-through, else [collective_count * link_count]
  const double* delay;          // as serial; both 0 .. 2^53
  const double* cost;           // cut-through: [route_link_count] 1 .. capacity
  const double* capacity;       // cut-through: [link_count] >= 1
  const int32_t* holders;       // [chunk_count] the set that holds the chunk at the start
  const int32_t* set_offset;    // [set_count + 1]
  const int32_t* set_members;   // [member_count] ascending within a set
  const int32_t* chunk;         // [row_count] this and the next three may hold anything
  const int32_t* route;         // [row_count]
  const double* planned_start;  // [row_count]
  const double* planned_end;    // [row_count]
};

// What became of a replay.
enum BanyanReplayOutcome {
  kBanyanReplayed = 0,
  kBanyanRefused = 1,  // no valid plan has the row
  kBanyanLate = 2      // a time would exceed 2^53 - 1
};

struct BanyanReplayed {
  double hop_room;    // length of hop_start
  double last;        // out: the last arrival
  int32_t outcome;    // out: one of BanyanReplayOutcome
  int32_t row;        // out: the first that is refused
  double* link_busy;  // [link_count] zeros
  double* start;      // [row_count], or null together with end
  double* end;        // [row_count]
  double* hop_start;  // [hops of all rows], or null; not in cut-through, not without start
};

// Which NPUs belong to each chunk of a collective.
struct BanyanSets {
  int32_t set_count;
  int32_t member_count;
  const int32_t* set_of;   // [chunk_count]
  const int32_t* offset;   // [set_count + 1]
  const int32_t* members;  // [member_count] no NPU twice in a set
};

// A schedule to be judged; src/model/replay/steps-problem.ts says what the columns are.
struct BanyanSteps {
  int32_t npu_count;
  int32_t link_count;
  int32_t route_count;
  int32_t route_link_count;
  int32_t chunk_count;
  int32_t row_count;
  int32_t reduces;              // 0 or 1
  int32_t threads;              // >= 1; the answer does not depend on it
  const int32_t* route_source;  // [route_count]
  const int32_t* route_target;  // [route_count]
  const int32_t* link_offset;   // [route_count + 1]
  const int32_t* links;         // [route_link_count]
  const double* cost;           // [route_link_count] 1 .. capacity
  const double* capacity;       // [link_count] >= 1
  const double* least;          // [route_count] 0 .. 2^53, as the next
  const double* further;        // [route_count]
  struct BanyanSets from;
  struct BanyanSets to;
  const int32_t* chunk;  // [row_count] this and the next four may hold anything
  const int32_t* route;  // [row_count]
  const double* start;   // [row_count]
  const double* end;     // [row_count]
  const uint8_t* op;     // [row_count]
};

// Multicast matching on the time-expanded network (native/kernels/match.h).
//   held_offset [npu_count + 1], held_chunk [held_count], wanted [npu_count * ceil(chunk_count / 32)] or null; choosers
//   and maps as in BanyanSpread
BANYAN_EXPORT(banyan_match)
int32_t banyan_match(const struct BanyanNetwork* network, int32_t chunk_count, int32_t held_count,
                     const int32_t* held_offset, const int32_t* held_chunk, const uint32_t* wanted,
                     const uint8_t* choosers, const struct BanyanMatchPolicy* policy, int32_t map_count,
                     const int32_t* maps, BanyanCancelled cancelled, const void* context, struct BanyanTransfers* out);

// Multicast matching in slots (native/kernels/spread.h). kBanyanOutputTooSmall: more slots are needed.
BANYAN_EXPORT(banyan_spread)
int32_t banyan_spread(const struct BanyanSpread* problem, BanyanCancelled cancelled, const void* context,
                      struct BanyanLogs* out);

// Unicast matching with relays (native/kernels/relay.h).
//   chunk_source, chunk_target [chunk_count]; distance_ps, order [npu_count * npu_count]
BANYAN_EXPORT(banyan_relay)
int32_t banyan_relay(const struct BanyanNetwork* network, int32_t chunk_count, const int32_t* chunk_source,
                     const int32_t* chunk_target, const double* distance_ps, const int32_t* order, uint32_t seed,
                     BanyanCancelled cancelled, const void* context, struct BanyanTransfers* out);

// List scheduling of given transfers (native/kernels/place.h).
//   route, key [transfer_count]; successor_offset [transfer_count + 1], successor [successor_count]: transfers that wait
//   for transfer i; start_ps [transfer_count] out. kBanyanBadArgument also when transfers wait in a circle.
BANYAN_EXPORT(banyan_place)
int32_t banyan_place(const struct BanyanNetwork* network, int32_t transfer_count, int32_t successor_count,
                     const int32_t* route, const int32_t* successor_offset, const int32_t* successor, const double* key,
                     BanyanCancelled cancelled, const void* context, double* start_ps);

// The bottleneck cut of an all-gather (native/kernels/rate.h).
//   cut [node_count] out: 1 for nodes of the set. kBanyanBadArgument also when the sum of all weights times the sum of all
//   capacities is 2^126 or more.
BANYAN_EXPORT(banyan_rate)
int32_t banyan_rate(const struct BanyanRate* problem, BanyanCancelled cancelled, const void* context, uint8_t* cut);

// Maximum flows into one sink after another (native/kernels/sweep.h).
//   flow [sink_count] out
BANYAN_EXPORT(banyan_sweep)
int32_t banyan_sweep(const struct BanyanSweep* problem, BanyanCancelled cancelled, const void* context, double* flow);

// The partition with the least capacity for what its parts exchange (native/kernels/partition.h).
//   part [terminal_count] out: parts numbered as they come. kBanyanBadArgument also where terminals times the sum of
//   capacities is 2^124 or more.
BANYAN_EXPORT(banyan_partition)
int32_t banyan_partition(const struct BanyanPartition* problem, BanyanCancelled cancelled, const void* context,
                         int32_t* part);

// The cheapest arborescence (native/kernels/arborescence.h).
//   arc [node_count] out: the arc into each node, -1 at the root. kBanyanUnreachable: -1 also at every node that cannot be
//   reached from the root, at the others the arc by which a search reached them.
BANYAN_EXPORT(banyan_arborescence)
int32_t banyan_arborescence(const struct BanyanArborescence* problem, BanyanCancelled cancelled, const void* context,
                            int32_t* arc);

// The maximum concurrent flow (native/kernels/concurrent.h). kBanyanUnreachable: a demand has no path.
BANYAN_EXPORT(banyan_concurrent)
int32_t banyan_concurrent(const struct BanyanConcurrent* problem, BanyanCancelled cancelled, const void* context,
                          struct BanyanConcurrentFlow* out);

// A timetable of spanning trees (native/kernels/period.h). kBanyanBadArgument also where a tree does not span all NPUs or an
// edge has more transfers than fit a period.
BANYAN_EXPORT(banyan_period)
int32_t banyan_period(const struct BanyanPeriod* problem, BanyanCancelled cancelled, const void* context,
                      const struct BanyanTimetable* out);

// Packs spanning trees (native/kernels/pack.h). kBanyanOutputTooSmall: there are more trees or links than there is room for.
BANYAN_EXPORT(banyan_pack)
int32_t banyan_pack(const struct BanyanPack* problem, BanyanCancelled cancelled, const void* context,
                    struct BanyanTrees* out);

// Loads of breadth-first broadcasts (native/kernels/balance.h). kBanyanOutputTooSmall: there are more steps, or less room for
// rows than balanceRows of src/engine/contract/kernels.ts asks for.
BANYAN_EXPORT(banyan_balance)
int32_t banyan_balance(const struct BanyanBalance* problem, BanyanCancelled cancelled, const void* context,
                       struct BanyanBalanced* out);

// Whether a schedule keeps every rule: 1 to *shown, or 0 where that is not shown (native/judge/judge.h).
BANYAN_EXPORT(banyan_judge)
int32_t banyan_judge(const struct BanyanSteps* problem, BanyanCancelled cancelled, const void* context, int32_t* shown);

// The replay of a schedule (native/kernels/replay.h).
BANYAN_EXPORT(banyan_replay)
int32_t banyan_replay(const struct BanyanReplay* problem, BanyanCancelled cancelled, const void* context,
                      struct BanyanReplayed* out);

#ifdef __cplusplus
}
#endif

#endif  // BANYAN_ABI_H_
