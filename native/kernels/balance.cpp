#include "balance.h"

#include <atomic>
#include <cstring>

#include "balance_classes.h"
#include "balance_loads.h"
#include "balance_pour.h"
#include "balance_reach.h"
#include "balance_rows.h"
#include "balance_sets.h"
#include "balance_whole.h"
#include "team.h"

namespace banyan {
namespace {

// Masks of all nodes have at most so many words of 64 bits, and 4 of a node at least.
constexpr std::int64_t kMostWords = std::int64_t{1} << 28;

/// What all threads share.
struct Work {
  const BanyanBalance& problem;
  const OutArcs& out_arcs;
  const BanyanBalanced& out;
  const std::int64_t* room;  // [targets + 1] where the rows of each target have room
  std::int32_t most_ports;
  std::atomic<std::int32_t> next_block{0};
  std::atomic<std::int32_t> status{kBanyanOk};
};

/// What one thread found.
struct Found {
  Loads loads;
  std::int32_t steps = 0;
  std::int32_t lost_target = kNone;
  std::int32_t lost_node = kNone;
};

template <typename Rows>
class Member {
 public:
  Member(Work& work, Found& found)
      : work_(work), found_(found), reach_(work.problem, work.out_arcs, Rows(work.most_ports)) {}

  /// Takes blocks of targets until there are none. The first member asks whether to stop.
  void Run(BanyanCancelled cancelled, const void* context) {
    const BanyanBalance& problem = work_.problem;
    if (!reach_.Allocate() || !pouring_.Allocate(work_.most_ports) ||
        (!Summed() && !classes_.Allocate(problem.node_count)) ||
        !found_.loads.Allocate(work_.out.max_steps, problem.parts)) {
      work_.status = kBanyanOutOfMemory;
      return;
    }
    while (work_.status == kBanyanOk && found_.lost_target == kNone) {
      const std::int64_t first = static_cast<std::int64_t>(work_.next_block++) * Rows::kLanes;
      if (first >= problem.target_count) return;
      if (cancelled != nullptr && cancelled(context) != 0) {
        work_.status = kBanyanCancelled;
        return;
      }
      const std::int64_t left = problem.target_count - first;
      Block(static_cast<std::int32_t>(first), left < Rows::kLanes ? static_cast<std::int32_t>(left) : Rows::kLanes);
    }
  }

 private:
  // Whether loads come from sums over sets of ports.
  [[nodiscard]] bool Summed() const { return Rows::kLaneBits == 8 && work_.problem.wants_shares == 0; }

  void Block(std::int32_t first, std::int32_t lanes) {
    const std::int32_t* targets = work_.problem.targets + first;
    std::int64_t rows[Rows::kLanes];
    for (std::int32_t lane = 0; lane < lanes; lane++) rows[lane] = work_.room[first + lane];
    std::int32_t steps = 0;
    for (reach_.Start(targets, lanes); reach_.count() > 0; reach_.Advance()) {
      if (steps < work_.out.max_steps && !Level(targets, lanes, steps, rows)) {
        work_.status = kBanyanOutOfMemory;
        return;
      }
      steps++;
    }
    if (steps > found_.steps) found_.steps = steps;
    for (std::int32_t lane = 0; lane < lanes; lane++) {
      work_.out.row_offset[first + lane + 1] = static_cast<double>(rows[lane] - work_.room[first + lane]);
    }
    if (!reach_.LacksSome()) return;
    for (std::int32_t lane = 0; lane < lanes && found_.lost_node == kNone; lane++) {
      found_.lost_target = targets[lane];
      found_.lost_node = reach_.Unseen(lane);
    }
  }

  // One step (from 0) of all lanes. False when out of memory.
  [[nodiscard]] bool Level(const std::int32_t* targets, std::int32_t lanes, std::int32_t step, std::int64_t* rows) {
    const BanyanBalance& problem = work_.problem;
    if constexpr (Rows::kLaneBits == 8) {
      if (Summed()) {
        sums_.Raise(reach_, problem, targets, lanes, step, found_.loads);
        return true;
      }
    }
    if (problem.wants_shares != 0) reach_.Sort();
    classes_.Collect(reach_, problem.node_count);
    for (std::int32_t lane = 0; lane < lanes; lane++) {
      const std::int32_t u = targets[lane];
      const std::int32_t ports = problem.in_offset[u + 1] - problem.in_offset[u];
      const std::int32_t shards = classes_.Count(lane);
      if (shards == 0 || (problem.wants_shares == 0 && Fits(lane, step))) continue;
      if (!classes_.Group(reach_, lane, ports, pouring_)) return false;
      if (problem.wants_shares == 0) {
        if (!Raise(step, u)) return false;
      } else if (!ShareOut(lane, step, u, &rows[lane])) {
        return false;
      }
    }
    return true;
  }

  // Whether a lane's shards do not raise the load of a step, as far as cheap tests tell.
  [[nodiscard]] bool Fits(std::int32_t lane, std::int32_t step) {
    const Loads& loads = found_.loads;
    return !loads.Exceeds(step, classes_.Count(lane), 1) ||
           classes_.FitsEvenly(reach_, lane, loads.Num(step), loads.Den(step));
  }

  // Raises the load of a step to what the target needs: sets of ports with greater and greater ratios, until all fits.
  [[nodiscard]] bool Raise(std::int32_t step, std::int32_t target) {
    Loads& loads = found_.loads;
    for (;;) {
      const std::int64_t unit = loads.Den(step);
      if (!pouring_.Pour()) return false;
      if (pouring_.GreatestLoad() * unit <= loads.Num(step)) return true;
      pouring_.Scale(unit);
      const Tight tight = pouring_.Relieve(loads.Num(step));
      if (tight.ports == 0) return true;
      loads.Raise(step, tight.load / unit, tight.ports, target);
    }
  }

  // Pours the parts of all shards under the target's own least load and writes the rows.
  [[nodiscard]] bool ShareOut(std::int32_t lane, std::int32_t step, std::int32_t target, std::int64_t* rows) {
    const std::int64_t unit = work_.problem.parts;
    if (!pouring_.Pour()) return false;
    pouring_.Scale(unit);
    std::int64_t most = 0;
    for (Tight tight = pouring_.Relieve(most); tight.ports != 0; tight = pouring_.Relieve(most)) {
      most = (tight.load + tight.ports - 1) / tight.ports;
    }
    if (!cutting_.CutFew(pouring_, unit)) return false;
    if (most > found_.loads.Num(step)) found_.loads.Set(step, most, unit, target);
    return writer_.Write(pouring_, classes_.Shards(lane), unit, step + 1, work_.out, *rows, rows);
  }

  Work& work_;
  Found& found_;
  Reach<Rows> reach_;
  Classes<Rows> classes_;
  Pouring pouring_;
  Cutting cutting_;
  RowWriter writer_;
  SetSums<2> sums_;
};

/// Moves the rows of all targets together; row_offset has how many each has.
void JoinRows(const BanyanBalance& problem, const std::int64_t* room, BanyanBalanced* out) {
  std::int64_t end = 0;
  out->row_offset[0] = 0;
  for (std::int32_t i = 0; i < problem.target_count; i++) {
    const auto count = static_cast<std::size_t>(out->row_offset[i + 1]);
    const auto join = [&](auto* column) {
      if (end != room[i]) std::memmove(column + end, column + room[i], count * sizeof(*column));
    };
    join(out->step);
    join(out->port);
    join(out->source);
    join(out->from);
    join(out->to);
    end += static_cast<std::int64_t>(count);
    out->row_offset[i + 1] = static_cast<double>(end);
  }
}

BanyanStatus Conclude(const BanyanBalance& problem, const Work& work, Found* found, std::int32_t members,
                      BanyanBalanced* out) {
  if (work.status != kBanyanOk) return static_cast<BanyanStatus>(work.status.load());
  Found& all = found[0];
  for (std::int32_t member = 1; member < members; member++) {
    const Found& other = found[member];
    if (other.steps > all.steps) all.steps = other.steps;
    if (other.lost_target != kNone && (all.lost_target == kNone || other.lost_target < all.lost_target)) {
      all.lost_target = other.lost_target;
      all.lost_node = other.lost_node;
    }
  }
  if (all.lost_target != kNone) {
    out->detail[0] = all.lost_target;
    out->detail[1] = all.lost_node;
    return kBanyanUnreachable;
  }
  out->steps = all.steps;
  if (all.steps > out->max_steps) return kBanyanOutputTooSmall;
  for (std::int32_t step = 0; step < all.steps; step++) {
    for (std::int32_t member = 1; member < members; member++) all.loads.Merge(step, found[member].loads);
    out->load_num[step] = static_cast<std::int32_t>(all.loads.Num(step));
    out->load_den[step] = problem.parts == 0 ? static_cast<std::int32_t>(all.loads.Den(step)) : 1;
    out->worst[step] = all.loads.Worst(step);
  }
  JoinRows(problem, work.room, out);
  return kBanyanOk;
}

template <typename Rows>
BanyanStatus BalanceWith(Work& work, BanyanCancelled cancelled, const void* context, BanyanBalanced* out) {
  const BanyanBalance& problem = work.problem;
  const std::int32_t blocks = (problem.target_count - 1) / Rows::kLanes + 1;
  const std::int32_t most = blocks < kMostMembers ? blocks : kMostMembers;
  Team team(problem.threads < most ? problem.threads : most);
  Found found[kMostMembers];
  team.Run([&](std::int32_t member) {
    Member<Rows> own(work, found[member]);
    static_assert(sizeof(own) <= 65536, "members live on the stack, which is small in WebAssembly");
    own.Run(member == 0 ? cancelled : nullptr, context);
  });
  return Conclude(problem, work, found, team.members(), out);
}

}  // namespace

std::int64_t BalanceRows(const BanyanBalance& problem, std::int32_t i, std::int32_t max_steps) {
  const std::int32_t u = problem.targets[i];
  const std::int64_t ports = problem.in_offset[u + 1] - problem.in_offset[u];
  if (problem.wants_shares == 0 || ports == 0) return 0;
  const std::int64_t shards = problem.node_count - 1;
  const std::int64_t steps = max_steps < shards ? max_steps : shards;
  const std::int64_t pieces = problem.parts < ports ? problem.parts : ports;
  const std::int64_t by_shards = shards * (pieces - 1);
  const std::int64_t by_steps = steps * (ports - 1);
  return shards + (by_shards < by_steps ? by_shards : by_steps);
}

BanyanStatus Balance(const BanyanBalance& problem, BanyanCancelled cancelled, const void* context,
                     BanyanBalanced* out) {
  OutArcs out_arcs;
  Buffer<std::int64_t> room;
  if (!out_arcs.Build(problem) || !room.Allocate(At(problem.target_count) + 1)) return kBanyanOutOfMemory;
  std::int32_t most_ports = 0;
  for (std::int32_t i = 0; i < problem.target_count; i++) {
    const std::int32_t u = problem.targets[i];
    const std::int32_t ports = problem.in_offset[u + 1] - problem.in_offset[u];
    if (ports > most_ports) most_ports = ports;
    room[At(i) + 1] = room[At(i)] + BalanceRows(problem, i, out->max_steps);
  }
  const std::int64_t words = most_ports > 256 ? (most_ports + 63) / 64 : 4;
  if (problem.node_count > kMostWords / words) return kBanyanOutOfMemory;
  Work work{problem, out_arcs, *out, room.data(), most_ports};
  if (most_ports <= 8) return BalanceWith<NarrowRows<8, 2>>(work, cancelled, context, out);
  if (most_ports <= 16) return BalanceWith<NarrowRows<16, 4>>(work, cancelled, context, out);
  if (most_ports <= 64) return BalanceWith<NarrowRows<64, 4>>(work, cancelled, context, out);
  return BalanceWith<WideRows>(work, cancelled, context, out);
}

}  // namespace banyan
