// Random schedules to be judged, made from the plans of random replays, and what every answer must keep.
#ifndef BANYAN_TEST_JUDGE_H_
#define BANYAN_TEST_JUDGE_H_

#include "replay.h"

namespace banyan_test {

struct JudgeCase {
  ReplayCase plan;
  std::vector<double> least, further;
  std::vector<std::int32_t> wanted;  // the set that must have each chunk
  std::vector<std::uint8_t> op;
  std::int32_t reduces = 0;

  [[nodiscard]] BanyanSteps View(std::int32_t threads) const {
    const BanyanReplay replay = plan.View();
    BanyanSteps view{};
    view.npu_count = replay.npu_count;
    view.link_count = replay.link_count;
    view.route_count = replay.route_count;
    view.route_link_count = replay.route_link_count;
    view.chunk_count = replay.chunk_count;
    view.row_count = replay.row_count;
    view.reduces = reduces;
    view.threads = threads;
    view.route_source = replay.route_source;
    view.route_target = replay.route_target;
    view.link_offset = replay.link_offset;
    view.links = replay.links;
    view.cost = replay.cost;
    view.capacity = replay.capacity;
    view.least = least.data();
    view.further = further.data();
    view.from =
        BanyanSets{replay.set_count, replay.member_count, replay.holders, replay.set_offset, replay.set_members};
    view.to = view.from;
    view.to.set_of = wanted.data();
    view.chunk = replay.chunk;
    view.route = replay.route;
    view.start = replay.planned_start;
    view.end = replay.planned_end;
    view.op = op.data();
    return view;
  }
};

/// Few rows, so that some schedules are right; each link is as wide as its routes need, or one route fills it.
inline JudgeCase RandomJudge(Source& random, std::int32_t max_rows) {
  JudgeCase made;
  made.plan = RandomReplay(random, max_rows);
  made.reduces = random.Below(2);
  for (std::size_t r = 0; r < made.plan.source.size(); r++) {
    made.least.push_back(random.Below(3));
    made.further.push_back(random.Below(2));
  }
  const std::int32_t sets = static_cast<std::int32_t>(made.plan.set_offset.size()) - 1;
  for (const std::int32_t held : made.plan.holders) {
    made.wanted.push_back(random.Below(4) == 0 ? random.Below(sets) : held);
  }
  for (std::size_t i = 0; i < made.plan.chunk.size(); i++) {
    made.op.push_back(static_cast<std::uint8_t>(random.Below(1 + made.reduces)));
  }
  return made;
}

/// Null when any number of threads says the same, and what is shown of copies has each wanted chunk somewhere.
inline const char* RunJudge(const JudgeCase& made, std::int32_t* status, std::size_t* shown_count) {
  if (made.plan.cost.empty()) return nullptr;
  std::int32_t shown[2] = {-1, -1};
  for (std::int32_t i = 0; i < 2; i++) {
    const BanyanSteps view = made.View(1 + 2 * i);
    *status = banyan_judge(&view, nullptr, nullptr, &shown[i]);
    if (*status != kBanyanOk) return "unexpected status";
  }
  if (shown[0] != shown[1]) return "another answer with more threads";
  if (shown[0] == 0) return nullptr;
  *shown_count += 1;
  for (std::size_t i = 0; i < made.plan.chunk.size(); i++) {
    if (made.plan.end[i] - made.plan.start[i] < made.least[static_cast<std::size_t>(made.plan.route[i])])
      return "a transfer that is too short is shown to be right";
    const std::int32_t from = made.plan.source[static_cast<std::size_t>(made.plan.route[i])];
    if (!made.plan.Holds(made.plan.chunk[i], from, made.plan.start[i])) return "an absent chunk is shown to be there";
  }
  for (std::size_t c = 0; c < made.wanted.size(); c++) {
    const auto set = static_cast<std::size_t>(made.wanted[c]);
    const auto held = static_cast<std::size_t>(made.plan.holders[c]);
    // a sum of nothing is everywhere
    if (made.reduces == 1 && made.plan.set_offset[held] == made.plan.set_offset[held + 1]) continue;
    for (std::int32_t m = made.plan.set_offset[set]; m < made.plan.set_offset[set + 1]; m++) {
      const std::int32_t npu = made.plan.members[static_cast<std::size_t>(m)];
      if (!made.plan.Holds(static_cast<std::int32_t>(c), npu, 1e9)) return "a missing chunk is shown to be there";
    }
  }
  return nullptr;
}

}  // namespace banyan_test

#endif  // BANYAN_TEST_JUDGE_H_
