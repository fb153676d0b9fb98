// Random problems through the C ABI without Node: `npm run sanitize` runs this under AddressSanitizer and UBSan.
#include <cstdint>
#include <cstdio>
#include <vector>

#include "attack.h"

#if defined(BANYAN_REFUSES_THREADS)
#include <pthread.h>

#include <cerrno>

namespace {

std::uint32_t threads_asked = 0;
std::uint32_t refuse_every = 0;  // 0: never

}  // namespace

extern "C" {

int __real_pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*), void* with);

int __wrap_pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*), void* with) {
  if (refuse_every != 0 && ++threads_asked % refuse_every == 0) return EAGAIN;
  return __real_pthread_create(thread, attributes, run, with);
}

}  // extern "C"
#endif

namespace {

int failures = 0;

void Expect(bool holds, const char* what, std::uint32_t seed) {
  if (holds) return;
  std::printf("FAIL %s (seed %u)\n", what, seed);
  failures++;
}

std::vector<std::uint8_t> Bytes(std::uint32_t seed) {
  return {static_cast<std::uint8_t>(seed), static_cast<std::uint8_t>(seed >> 8), static_cast<std::uint8_t>(seed >> 16)};
}

int32_t Stop(const void*) { return 1; }

void RandomProblems(std::uint32_t count) {
  std::uint32_t solved = 0;
  std::uint32_t folded = 0;
  std::uint32_t spanned = 0;
  std::uint32_t balanced = 0;
  std::uint32_t timed = 0;
  std::uint32_t flowing = 0;
  std::size_t replayed = 0;
  std::size_t shown = 0;
  for (std::uint32_t seed = 0; seed < count; seed++) {
    const std::vector<std::uint8_t> bytes = Bytes(seed);
    banyan_test::Source random(bytes.data(), bytes.size());
    std::int32_t status = 0;
    const char* fault = banyan_test::RunMatch(banyan_test::RandomMatch(random, 8, 40), &status);
    Expect(fault == nullptr, fault == nullptr ? "" : fault, seed);
    solved += status == kBanyanOk ? 1U : 0U;
    fault = banyan_test::RunSpread(banyan_test::RandomMatch(random, 8, 40), &status);
    Expect(fault == nullptr, fault == nullptr ? "" : fault, seed);
    fault = banyan_test::RunFolded(random, &status);
    Expect(fault == nullptr, fault == nullptr ? "" : fault, seed);
    folded += status == kBanyanOk ? 1U : 0U;
    fault = banyan_test::RunRelay(banyan_test::RandomRelay(random, 8, 30), &status);
    Expect(fault == nullptr, fault == nullptr ? "" : fault, seed);
    solved += status == kBanyanOk ? 1U : 0U;
    fault = banyan_test::RunPlace(banyan_test::RandomPlace(random, 8, 40), &status);
    Expect(fault == nullptr, fault == nullptr ? "" : fault, seed);
    fault = banyan_test::RunRate(banyan_test::RandomRate(random, 8), &status);
    Expect(fault == nullptr, fault == nullptr ? "" : fault, seed);
    fault = banyan_test::RunSweep(banyan_test::RandomSweep(random, 7), &status);
    Expect(fault == nullptr, fault == nullptr ? "" : fault, seed);
    fault = banyan_test::RunPartition(banyan_test::RandomPartition(random, 5), &status);
    Expect(fault == nullptr, fault == nullptr ? "" : fault, seed);
    fault = banyan_test::RunPack(banyan_test::RandomPack(random, 7), &status);
    Expect(fault == nullptr, fault == nullptr ? "" : fault, seed);
    fault = banyan_test::RunArborescence(banyan_test::RandomArborescence(random, 6), &status);
    Expect(fault == nullptr, fault == nullptr ? "" : fault, seed);
    spanned += status == kBanyanOk ? 1U : 0U;
    fault = banyan_test::RunPeriod(banyan_test::RandomPeriod(random, 9), &status);
    Expect(fault == nullptr, fault == nullptr ? "" : fault, seed);
    timed += status == kBanyanOk ? 1U : 0U;
    fault = banyan_test::RunBalance(banyan_test::RandomBalance(random, 9), &status);
    Expect(fault == nullptr, fault == nullptr ? "" : fault, seed);
    balanced += status == kBanyanOk ? 1U : 0U;
    fault = banyan_test::RunConcurrent(banyan_test::RandomConcurrent(random, 9), &status);
    Expect(fault == nullptr, fault == nullptr ? "" : fault, seed);
    flowing += status == kBanyanOk ? 1U : 0U;
    fault = banyan_test::RunReplay(banyan_test::RandomReplay(random, 60), &status, &replayed);
    Expect(fault == nullptr, fault == nullptr ? "" : fault, seed);
    fault = banyan_test::RunJudge(banyan_test::RandomJudge(random, 12), &status, &shown);
    Expect(fault == nullptr, fault == nullptr ? "" : fault, seed);
  }
  Expect(shown > count / 40, "some random plans are right", count);
  Expect(replayed > 10 * count, "most random plans are replayed", count);
  Expect(flowing > count / 2, "most demands have paths", count);
  Expect(folded > count / 2, "most problems with maps have an answer", count);
  Expect(spanned > count / 4, "many random graphs have an arborescence", count);
  Expect(timed > count / 2, "most random trees have a timetable", count);
  Expect(balanced > count / 2, "most random graphs can be balanced", count);
  Expect(solved > count, "most random problems have an answer", count);
}

void HostileCalls(std::uint32_t count) {
  for (std::uint32_t seed = 0; seed < count; seed++) {
    const std::vector<std::uint8_t> bytes = Bytes(seed);
    banyan_test::Source random(bytes.data(), bytes.size());
    const char* fault = banyan_test::Attack(random);
    Expect(fault == nullptr, fault == nullptr ? "" : fault, seed);
  }
}

// Whatever threads can be had, answers are those of one.
void RefusedThreads(std::uint32_t count) {
#if defined(BANYAN_REFUSES_THREADS)
  for (std::uint32_t seed = 0; seed < count; seed++) {
    const std::vector<std::uint8_t> bytes = Bytes(seed);
    banyan_test::Source random(bytes.data(), bytes.size());
    std::int32_t status = 0;
    refuse_every = 1 + seed % 3;
    const char* fault = banyan_test::RunSpread(banyan_test::RandomMatch(random, 8, 40), &status);
    Expect(fault == nullptr, fault == nullptr ? "" : fault, seed);
    fault = banyan_test::RunFolded(random, &status);
    Expect(fault == nullptr, fault == nullptr ? "" : fault, seed);
    fault = banyan_test::RunBalance(banyan_test::RandomBalance(random, 9), &status);
    Expect(fault == nullptr, fault == nullptr ? "" : fault, seed);
  }
  Expect(threads_asked > count, "threads were asked for", count);
  refuse_every = 0;
#else
  static_cast<void>(count);
#endif
}

void Statuses() {
  banyan_test::Network pair;
  pair.npus = 2;
  pair.Add(0, 1, 5);
  pair.EndRoute();
  banyan_test::MatchCase made;
  made.network = pair;
  made.chunks = 1;
  made.held_offset = {0, 1, 1};
  made.held_chunk = {0};
  made.policy.window = 1;
  const BanyanNetwork view = pair.View();
  const auto match = [&](BanyanCancelled cancelled, std::size_t room) {
    banyan_test::Transfers out(room);
    return banyan_match(&view, 1, 1, made.held_offset.data(), made.held_chunk.data(), nullptr, nullptr, &made.policy, 0,
                        nullptr, cancelled, nullptr, &out.view);
  };
  Expect(match(nullptr, 1) == kBanyanOk, "one delivery", 0);
  Expect(match(nullptr, 0) == kBanyanOutputTooSmall, "no room", 0);
  Expect(match(Stop, 1) == kBanyanCancelled, "cancelled", 0);
  made.policy.window = 0;
  Expect(match(nullptr, 1) == kBanyanBadArgument, "window 0", 0);
  made.policy.window = 1;
  made.held_offset = {0, 0, 1};
  Expect(match(nullptr, 1) == kBanyanUnreachable, "nothing leads back", 0);
  const std::int32_t route = 0;
  const double key = 0;
  const std::int32_t none[2] = {0, 0};
  double start = 9;
  const auto place = [&](BanyanCancelled cancelled) {
    return banyan_place(&view, 1, 0, &route, none, none, &key, cancelled, nullptr, &start);
  };
  Expect(place(nullptr) == kBanyanOk && start == 0, "one start", 0);
  Expect(place(Stop) == kBanyanCancelled, "placing cancelled", 0);
}

void RateStatuses() {
  banyan_test::RateCase made;
  made.nodes = 2;
  made.npus = 2;
  made.source = {0, 1};
  made.target = {1, 0};
  made.capacity = {3, 5};
  made.weight = {1, 1};
  const auto rate = [&](BanyanCancelled cancelled) {
    std::uint8_t cut[2];
    const BanyanRate view = made.View();
    return banyan_rate(&view, cancelled, nullptr, cut);
  };
  Expect(rate(nullptr) == kBanyanOk, "a rate", 0);
  Expect(rate(Stop) == kBanyanCancelled, "a rate cancelled", 0);
  made.capacity[0] = 0;
  Expect(rate(nullptr) == kBanyanBadArgument, "capacity 0", 0);
  made.capacity[0] = 3;
  made.weight = {0, 0};
  Expect(rate(nullptr) == kBanyanBadArgument, "weights 0", 0);
  made.weight = {1, 1};
  made.target[0] = 0;
  Expect(rate(nullptr) == kBanyanBadArgument, "a link to itself", 0);
}

void PartitionStatuses() {
  banyan_test::PartitionCase made;
  made.nodes = 3;
  made.source = {0, 1};
  made.target = {1, 0};
  made.capacity = {4, 4};
  made.start = {0, 0};
  std::int32_t part[2] = {};
  const auto partition = [&](BanyanCancelled cancelled) {
    const BanyanPartition view = made.View();
    return banyan_partition(&view, cancelled, nullptr, part);
  };
  Expect(partition(nullptr) == kBanyanOk && part[0] == 0 && part[1] == 1, "parts", 0);
  Expect(partition(Stop) == kBanyanCancelled, "parts cancelled", 0);
  made.outside = 2;
  Expect(partition(nullptr) == kBanyanBadArgument, "a terminal outside", 0);
  made.outside = 1;
  made.nodes = 7;
  Expect(partition(nullptr) == kBanyanBadArgument, "five switches of two links", 0);
  made.nodes = 6;
  Expect(partition(nullptr) == kBanyanOk, "four switches of two links", 0);
  made.capacity[0] = 0;
  Expect(partition(nullptr) == kBanyanBadArgument, "capacity 0 of parts", 0);
  made.capacity[0] = 1;
  made.start[1] = 2;
  Expect(partition(nullptr) == kBanyanBadArgument, "a part out of range", 0);
}

void JudgeStatuses() {
  banyan_test::JudgeCase made;
  made.plan.source = {0};
  made.plan.target = {1};
  made.plan.links = {0};
  made.plan.link_offset = {0, 1};
  made.plan.cost = {1};
  made.plan.capacity = {1};
  made.plan.holders = {0};
  made.plan.set_offset = {0, 1, 3};
  made.plan.members = {0, 0, 1};
  made.plan.first_chunk = {0, 1};
  made.plan.reduces = {0};
  made.plan.chunk = {0};
  made.plan.route = {0};
  made.plan.start = {0};
  made.plan.end = {5};
  made.op = {0};
  made.least = {5};
  made.further = {1};
  made.wanted = {1};
  std::int32_t shown = -1;
  std::int32_t threads = 2;
  const auto judge = [&](BanyanCancelled cancelled) {
    const BanyanSteps view = made.View(threads);
    return banyan_judge(&view, cancelled, nullptr, &shown);
  };
  Expect(judge(nullptr) == kBanyanOk && shown == 1, "a right schedule", 0);
  Expect(judge(Stop) == kBanyanCancelled, "a judge cancelled", 0);
  made.plan.end[0] = 4;
  Expect(judge(nullptr) == kBanyanOk && shown == 0, "a transfer that is too short", 0);
  made.plan.end[0] = 5.5;
  Expect(judge(nullptr) == kBanyanOk && shown == 0, "a time that is not whole", 0);
  made.plan.end[0] = 5;
  made.plan.chunk[0] = 1;
  Expect(judge(nullptr) == kBanyanOk && shown == 0, "a chunk that is not there", 0);
  made.plan.chunk[0] = 0;
  made.op[0] = 1;
  Expect(judge(nullptr) == kBanyanOk && shown == 0, "a sum among copies", 0);
  made.op[0] = 0;
  threads = 0;
  Expect(judge(nullptr) == kBanyanBadArgument, "no threads", 0);
  threads = 1;
  made.plan.cost[0] = 2;
  Expect(judge(nullptr) == kBanyanBadArgument, "a share above 1", 0);
  made.plan.cost[0] = 1;
  made.wanted[0] = 2;
  Expect(judge(nullptr) == kBanyanBadArgument, "a set that is not there", 0);
}

void SweepStatuses() {
  banyan_test::SweepCase made;
  made.nodes = 2;
  made.source = {0};
  made.target = {1};
  made.capacity = {3};
  made.supply = {5, 1};
  made.sinks = {1, 0};
  double flow[2] = {};
  const auto sweep = [&](BanyanCancelled cancelled) {
    const BanyanSweep view = made.View();
    return banyan_sweep(&view, cancelled, nullptr, flow);
  };
  Expect(sweep(nullptr) == kBanyanOk && flow[0] == 4 && flow[1] == 5, "flows", 0);
  Expect(sweep(Stop) == kBanyanCancelled, "flows cancelled", 0);
  made.capacity[0] = -1;
  Expect(sweep(nullptr) == kBanyanBadArgument, "capacity -1", 0);
  made.capacity[0] = 9007199254740990.0;
  Expect(sweep(nullptr) == kBanyanBadArgument, "too much capacity", 0);
  made.capacity[0] = 3;
  made.sinks[0] = 2;
  Expect(sweep(nullptr) == kBanyanBadArgument, "a sink out of range", 0);
}

void PeriodStatuses() {
  banyan_test::PeriodCase made;
  made.npus = 2;
  made.trees = 2;
  made.period = 20;
  made.tail = {0};
  made.head = {1};
  made.serial = {10};
  made.latency = {3};
  made.used = {1, 1};
  std::int32_t entry[4] = {};
  double start[8] = {};
  const BanyanTimetable out{entry, start};
  const auto time = [&](BanyanCancelled cancelled) {
    const BanyanPeriod view = made.View();
    return banyan_period(&view, cancelled, nullptr, &out);
  };
  Expect(time(nullptr) == kBanyanOk && entry[0] == -1 && entry[1] == 0 && start[1] == 0, "a timetable", 0);
  Expect(time(Stop) == kBanyanCancelled, "a timetable cancelled", 0);
  made.period = 19;
  Expect(time(nullptr) == kBanyanBadArgument, "two transfers of 10 in a period of 19", 0);
  made.period = 20;
  made.used[1] = 0;
  Expect(time(nullptr) == kBanyanBadArgument, "a tree without edges", 0);
  made.used[1] = 2;
  Expect(time(nullptr) == kBanyanBadArgument, "an edge used twice", 0);
  made.used[1] = 1;
  made.serial[0] = 0.5;
  Expect(time(nullptr) == kBanyanBadArgument, "half a picosecond", 0);
  made.serial[0] = 10;
  made.head[0] = 0;
  Expect(time(nullptr) == kBanyanBadArgument, "an edge to itself", 0);
  made.head[0] = 1;
  made.latency[0] = 9007199254740991.0;
  Expect(time(nullptr) == kBanyanTimeOverflow, "times that are no longer exact", 0);
}

void ArborescenceStatuses() {
  banyan_test::ArborescenceCase made;
  made.nodes = 2;
  made.source = {0, 0};
  made.target = {1, 1};
  made.cost = {4, 3};
  std::int32_t arc[2] = {};
  const auto span = [&](BanyanCancelled cancelled) {
    const BanyanArborescence view = made.View();
    return banyan_arborescence(&view, cancelled, nullptr, arc);
  };
  Expect(span(nullptr) == kBanyanOk && arc[0] == -1 && arc[1] == 1, "an arborescence", 0);
  Expect(span(Stop) == kBanyanCancelled, "an arborescence cancelled", 0);
  made.root = 1;
  Expect(span(nullptr) == kBanyanUnreachable, "nothing leads to node 0", 0);
  made.root = 2;
  Expect(span(nullptr) == kBanyanBadArgument, "a root out of range", 0);
  made.root = 0;
  made.cost[0] = -1;
  Expect(span(nullptr) == kBanyanBadArgument, "cost -1", 0);
  made.cost[0] = 9007199254740991.0;
  Expect(span(nullptr) == kBanyanBadArgument, "a cost that adds up to too much", 0);
}

void BalanceStatuses() {
  banyan_test::BalanceCase made;
  made.nodes = 2;
  made.in_offset = {0, 1, 3};
  made.in_source = {1, 0, 0};
  made.targets = {0, 1};
  const auto balance = [&](BanyanCancelled cancelled, std::int32_t max_steps, std::size_t max_rows) {
    const BanyanBalance view = made.View(1);
    banyan_test::Balanced out(made, max_steps, max_rows);
    return banyan_balance(&view, cancelled, nullptr, &out.view);
  };
  Expect(balance(nullptr, 1, 0) == kBanyanOk, "a balance", 0);
  Expect(balance(Stop, 1, 0) == kBanyanCancelled, "a balance cancelled", 0);
  Expect(balance(nullptr, 0, 0) == kBanyanOutputTooSmall, "no room for a step", 0);
  made.wants_shares = 1;
  Expect(balance(nullptr, 1, 3) == kBanyanBadArgument, "shares without parts", 0);
  made.parts = 2;
  Expect(balance(nullptr, 1, 3) == kBanyanOk, "shares", 0);
  Expect(balance(nullptr, 1, 2) == kBanyanOutputTooSmall, "no room for a row", 0);
  made.targets = {1, 0};
  Expect(balance(nullptr, 1, 3) == kBanyanBadArgument, "targets that fall", 0);
  made.targets = {0, 1};
  made.in_source = {0, 0, 0};
  Expect(balance(nullptr, 1, 3) == kBanyanUnreachable, "nothing leads back", 0);
  made.parts = 32768;
  Expect(balance(nullptr, 1, 3) == kBanyanBadArgument, "too many parts", 0);
}

void PackStatuses() {
  banyan_test::PackCase made;
  made.nodes = 2;
  made.npus = 2;
  made.Add(0, 1, 3);
  made.copies = {3, 0};
  const auto pack = [&](BanyanCancelled cancelled, std::int32_t max_trees, std::int32_t max_links) {
    banyan_test::Trees out(made, max_trees, max_links);
    const BanyanPack view = made.View();
    return banyan_pack(&view, cancelled, nullptr, &out.view);
  };
  Expect(pack(nullptr, 1, 1) == kBanyanOk, "a tree", 0);
  Expect(pack(Stop, 1, 1) == kBanyanCancelled, "a tree cancelled", 0);
  made.repairs = INT32_MAX;
  std::int32_t polls = 0;
  const auto later = [](const void* count) {
    return ++*const_cast<std::int32_t*>(static_cast<const std::int32_t*>(count)) > 20 ? 1 : 0;
  };
  banyan_test::Trees full(made, 1, 1);
  const BanyanPack endless = made.View();
  Expect(banyan_pack(&endless, later, &polls, &full.view) == kBanyanCancelled, "repairs without room cancelled", 0);
  made.repairs = 0;
  Expect(pack(nullptr, 0, 1) == kBanyanOutputTooSmall, "no room for a tree", 0);
  Expect(pack(nullptr, 1, 0) == kBanyanOutputTooSmall, "no room for a link", 0);
  made.depth_price = 1001;
  Expect(pack(nullptr, 1, 1) == kBanyanBadArgument, "a price of 1001", 0);
  made.depth_price = 0;
  made.copies[1] = -1;
  Expect(pack(nullptr, 1, 1) == kBanyanBadArgument, "copies -1", 0);
  made.copies[1] = 9007199254740990.0;
  Expect(pack(nullptr, 1, 1) == kBanyanBadArgument, "too many copies", 0);
}

void ReplayStatuses() {
  banyan_test::ReplayCase made;
  made.mode = kBanyanStoreAndForward;
  made.source = {0};
  made.target = {1};
  made.links = {0};
  made.link_offset = {0, 1};
  made.first_chunk = {0, 1};
  made.reduces = {0};
  made.serial = {5};
  made.delay = {7};
  made.holders = {0};
  made.set_offset = {0, 1};
  made.members = {0};
  made.chunk = {0, 0};
  made.route = {0, 0};
  made.start = {0, 0};
  made.end = {9, 9};
  double busy = 0;
  double times[4] = {};
  double hops[3] = {};
  BanyanReplayed out{};
  const auto replay = [&](BanyanCancelled cancelled, double room) {
    const BanyanReplay view = made.View();
    out.link_busy = &busy;
    out.start = times;
    out.end = times + 2;
    out.hop_start = room < 0 ? nullptr : hops;
    out.hop_room = room;
    return banyan_replay(&view, cancelled, nullptr, &out);
  };
  Expect(replay(nullptr, 2) == kBanyanOk && out.last == 12 && busy == 10 && hops[1] == 5, "a replay", 0);
  Expect(replay(Stop, -1) == kBanyanCancelled, "a replay cancelled", 0);
  Expect(replay(nullptr, 3) == kBanyanBadArgument, "room for another number of hops", 0);
  made.delay = {9007199254740992.0};
  Expect(replay(nullptr, -1) == kBanyanOk && out.outcome == kBanyanLate, "a late arrival", 0);
  made.delay = {7};
  made.start = {1, 0};
  Expect(replay(nullptr, -1) == kBanyanOk && out.outcome == kBanyanRefused && out.row == 1, "rows out of order", 0);
  made.link_offset = {0, 0};
  Expect(replay(nullptr, -1) == kBanyanBadArgument, "a route without links", 0);
}

// An all-gather on a ring with chords by many more threads than processors.
void ManyThreads() {
  constexpr std::int32_t kNpus = 500;
  constexpr std::int32_t kMaxSlots = 400;
  banyan_test::MatchCase made;
  made.network.npus = kNpus;
  made.chunks = kNpus;
  for (std::int32_t v = 0; v < kNpus; v++) {
    for (const std::int32_t hop : {1, 7}) {
      made.network.Add(v, (v + hop) % kNpus, 1);
      made.network.EndRoute();
    }
    made.held_chunk.push_back(v);
    made.held_offset.push_back(v + 1);
  }
  BanyanSpread problem{};
  problem.npu_count = kNpus;
  problem.chunk_count = kNpus;
  problem.route_count = 2 * kNpus;
  problem.held_count = kNpus;
  problem.route_source = made.network.source.data();
  problem.route_target = made.network.target.data();
  problem.held_offset = made.held_offset.data();
  problem.held_chunk = made.held_chunk.data();
  problem.window = 1;
  problem.threads = 1;
  banyan_test::Logs one(made, kMaxSlots, false);
  Expect(banyan_spread(&problem, nullptr, nullptr, &one.view) == kBanyanOk, "one thread", 0);
  problem.threads = 24;
  banyan_test::Logs many(made, kMaxSlots, false);
  Expect(banyan_spread(&problem, nullptr, nullptr, &many.view) == kBanyanOk, "many threads", 0);
  Expect(many.narrow == one.narrow && many.ports == one.ports && many.slots == one.slots, "many threads: logs", 0);
}

}  // namespace

int main() {
  RandomProblems(3000);
  ManyThreads();
  HostileCalls(30000);
  RefusedThreads(300);
  Statuses();
  RateStatuses();
  SweepStatuses();
  PartitionStatuses();
  JudgeStatuses();
  PackStatuses();
  BalanceStatuses();
  PeriodStatuses();
  ArborescenceStatuses();
  ReplayStatuses();
  std::printf(failures == 0 ? "native tests passed\n" : "%d native tests failed\n", failures);
  return failures == 0 ? 0 : 1;
}
