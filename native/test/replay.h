// Random replay problems and the laws that every answer must keep.
#ifndef BANYAN_TEST_REPLAY_H_
#define BANYAN_TEST_REPLAY_H_

#include <algorithm>
#include <utility>

#include "problem.h"

namespace banyan_test {

struct ReplayCase {
  std::int32_t mode = 0;
  std::int32_t npus = 2;
  std::int32_t link_count = 1;
  std::vector<std::int32_t> source, target, link_offset{0}, links, first_chunk{0}, holders, set_offset{0}, members;
  std::vector<std::int32_t> chunk, route;
  std::vector<std::uint8_t> reduces;
  std::vector<double> serial, delay, cost, capacity, start, end;

  [[nodiscard]] BanyanReplay View() const {
    BanyanReplay view{};
    const auto count = [](const auto& column) { return static_cast<std::int32_t>(column.size()); };
    view.mode = mode;
    view.npu_count = npus;
    view.link_count = link_count;
    view.route_count = count(source);
    view.route_link_count = count(links);
    view.collective_count = count(reduces);
    view.chunk_count = count(holders);
    view.set_count = count(set_offset) - 1;
    view.member_count = count(members);
    view.row_count = count(chunk);
    view.route_source = source.data();
    view.route_target = target.data();
    view.link_offset = link_offset.data();
    view.links = links.data();
    view.first_chunk = first_chunk.data();
    view.reduces = reduces.data();
    view.serial = serial.data();
    view.delay = delay.data();
    view.cost = cost.data();
    view.capacity = capacity.data();
    view.holders = holders.data();
    view.set_offset = set_offset.data();
    view.set_members = members.data();
    view.chunk = chunk.data();
    view.route = route.data();
    view.planned_start = start.data();
    view.planned_end = end.data();
    return view;
  }

  /// Whether the plan has the chunk at an NPU by then; rows are in order.
  [[nodiscard]] bool Holds(std::int32_t held, std::int32_t npu, double time) const {
    const auto set = static_cast<std::size_t>(holders[static_cast<std::size_t>(held)]);
    const auto begin = members.begin() + set_offset[set];
    if (std::find(begin, members.begin() + set_offset[set + 1], npu) != members.begin() + set_offset[set + 1])
      return true;
    for (std::size_t i = 0; i < chunk.size(); i++) {
      if (chunk[i] == held && target[static_cast<std::size_t>(route[i])] == npu && end[i] <= time) return true;
    }
    return false;
  }

  [[nodiscard]] std::size_t Begin(std::size_t row) const {
    return static_cast<std::size_t>(link_offset[static_cast<std::size_t>(route[row])]);
  }
  [[nodiscard]] std::size_t End(std::size_t row) const {
    return static_cast<std::size_t>(link_offset[static_cast<std::size_t>(route[row]) + 1]);
  }
  [[nodiscard]] std::size_t Collective(std::size_t row) const {
    std::size_t k = 0;
    while (first_chunk[k + 1] <= chunk[row]) k++;
    return k;
  }
  /// Of a row, or of a row on a link.
  [[nodiscard]] std::size_t Timed(std::size_t row, std::size_t p) const {
    return mode == kBanyanCutThrough
               ? Collective(row) * source.size() + static_cast<std::size_t>(route[row])
               : Collective(row) * static_cast<std::size_t>(link_count) + static_cast<std::size_t>(links[p]);
  }
};

/// Routes over links at random, each once in a route; rows in order, of which some may name what is not there.
inline ReplayCase RandomReplay(Source& random, std::int32_t max_rows) {
  ReplayCase made;
  made.mode = random.Below(3);
  made.npus = 1 + random.Below(5);
  made.link_count = 1 + random.Below(6);
  const std::int32_t routes = 1 + random.Below(8);
  for (std::int32_t r = 0; r < routes; r++) {
    made.source.push_back(random.Below(made.npus));
    made.target.push_back(random.Below(made.npus));
    const std::int32_t first = random.Below(made.link_count);
    for (std::int32_t h = std::min(1 + random.Below(3), made.link_count); h > 0; h--) {
      made.links.push_back((first + h) % made.link_count);
    }
    made.link_offset.push_back(static_cast<std::int32_t>(made.links.size()));
  }
  const std::int32_t sets = 1 + random.Below(3);
  for (std::int32_t s = 0; s < sets; s++) {
    for (std::int32_t v = 0; v < made.npus; v++) {
      if (random.Below(4) != 0) made.members.push_back(v);
    }
    made.set_offset.push_back(static_cast<std::int32_t>(made.members.size()));
  }
  for (std::int32_t k = 1 + random.Below(3); k > 0; k--) {
    for (std::int32_t c = random.Below(4); c > 0; c--) made.holders.push_back(random.Below(sets));
    made.first_chunk.push_back(static_cast<std::int32_t>(made.holders.size()));
    made.reduces.push_back(random.Below(2) == 0 ? 1 : 0);
  }
  const bool through = made.mode == kBanyanCutThrough;
  const std::size_t timed =
      made.reduces.size() * (through ? made.source.size() : static_cast<std::size_t>(made.link_count));
  for (std::size_t i = 0; i < timed; i++) {
    made.serial.push_back(random.Below(5));
    made.delay.push_back(made.serial.back() + random.Below(3));
  }
  for (std::int32_t link = 0; link < made.link_count; link++) made.capacity.push_back(1 + random.Below(4));
  for (const std::int32_t link : made.links) {
    made.cost.push_back(1 + random.Below(static_cast<std::int32_t>(made.capacity[static_cast<std::size_t>(link)])));
  }
  const std::int32_t chunks = static_cast<std::int32_t>(made.holders.size());
  const bool wrong = random.Below(8) == 0;
  double now = 0;
  for (std::int32_t i = chunks == 0 ? 0 : random.Below(max_rows); i > 0; i--, now += random.Below(3)) {
    const std::int32_t chunk = random.Below(chunks);
    const std::int32_t route = random.Below(routes);
    if (!wrong && !made.Holds(chunk, made.source[static_cast<std::size_t>(route)], now)) continue;
    made.chunk.push_back(wrong && random.Below(16) == 0 ? random.Below(9) - 4 : chunk);
    made.route.push_back(wrong && random.Below(16) == 0 ? random.Below(16) - 4 : route);
    made.start.push_back(now);
    made.end.push_back(now + 1 + random.Below(9));
  }
  return made;
}

/// Null when a link sends one message at a time, and messages take the time that they need.
inline const char* HopFault(const ReplayCase& made, const std::vector<double>& end, const std::vector<double>& hops) {
  std::vector<std::vector<std::pair<double, double>>> held(static_cast<std::size_t>(made.link_count));
  std::size_t at = 0;
  for (std::size_t row = 0; row < made.chunk.size(); row++) {
    double there = 0;
    for (std::size_t p = made.Begin(row); p < made.End(row); p++, at++) {
      if (hops[at] < there) return "a message starts before it is there";
      const std::size_t rate = made.Timed(row, p);
      there = hops[at] + made.delay[rate];
      if (made.serial[rate] == 0) continue;
      held[static_cast<std::size_t>(made.links[p])].emplace_back(hops[at], hops[at] + made.serial[rate]);
    }
    if (there != end[row]) return "a message arrives at another time";
  }
  for (std::vector<std::pair<double, double>>& one : held) {
    std::sort(one.begin(), one.end());
    for (std::size_t i = 1; i < one.size(); i++) {
      if (one[i].first < one[i - 1].second) return "a link sends two messages at once";
    }
  }
  return nullptr;
}

/// Null when transfers take the time that they need and no link carries more than it can. Quadratic.
inline const char* ShareFault(const ReplayCase& made, const std::vector<double>& start,
                              const std::vector<double>& end) {
  for (std::size_t row = 0; row < made.chunk.size(); row++) {
    if (start[row] + made.delay[made.Timed(row, 0)] != end[row]) return "a transfer arrives at another time";
    std::vector<double> used(static_cast<std::size_t>(made.link_count), 0);
    for (std::size_t other = 0; other <= row; other++) {
      if (start[other] > start[row] || start[other] + made.serial[made.Timed(other, 0)] <= start[row]) continue;
      for (std::size_t p = made.Begin(other); p < made.End(other); p++) {
        const auto link = static_cast<std::size_t>(made.links[p]);
        used[link] += made.cost[p];
        if (used[link] > made.capacity[link]) return "a link carries too much";
      }
    }
  }
  return nullptr;
}

/// `replayed` gets how many rows were.
inline const char* RunReplay(const ReplayCase& made, std::int32_t* status, std::size_t* replayed) {
  const BanyanReplay view = made.View();
  const std::size_t rows = made.chunk.size();
  std::size_t hops = 0;
  bool known = true;
  for (std::size_t row = 0; row < rows; row++) {
    known = known && made.route[row] >= 0 && made.route[row] < view.route_count && made.chunk[row] >= 0 &&
            made.chunk[row] < view.chunk_count;
    if (known) hops += made.End(row) - made.Begin(row);
  }
  const bool through = made.mode == kBanyanCutThrough;
  std::vector<double> busy(static_cast<std::size_t>(made.link_count), 0);
  std::vector<double> start(rows, -1);
  std::vector<double> end(rows, -1);
  std::vector<double> hop_start(through ? 0 : hops, -1);
  hop_start.reserve(1);
  BanyanReplayed out{};
  out.hop_room = static_cast<double>(hops);
  out.link_busy = busy.data();
  out.start = start.data();
  out.end = end.data();
  out.hop_start = through ? nullptr : hop_start.data();
  // a vector may have no memory for nothing
  if (rows == 0) out.start = out.end = out.link_busy;
  *status = banyan_replay(&view, nullptr, nullptr, &out);
  if (*status != kBanyanOk) return "unexpected status";
  if (out.outcome == kBanyanRefused) return out.row >= 0 && out.row < view.row_count ? nullptr : "no row is refused";
  if (!known) return "a row of nothing is not refused";
  if (out.outcome != kBanyanReplayed) return "unexpected outcome";
  *replayed += rows;
  double last = 0;
  for (std::size_t row = 0; row < rows; row++) last = std::max(last, end[row]);
  if (last != out.last) return "the last arrival is another";
  return through ? ShareFault(made, start, end) : HopFault(made, end, hop_start);
}

}  // namespace banyan_test

#endif  // BANYAN_TEST_REPLAY_H_
