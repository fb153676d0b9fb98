// Random spanning trees that share a period, and the laws of their timetables.
#ifndef BANYAN_TEST_PERIOD_H_
#define BANYAN_TEST_PERIOD_H_

#include <cmath>
#include <utility>

#include "problem.h"

namespace banyan_test {

struct PeriodCase {
  std::int32_t npus = 1;
  std::int32_t trees = 0;
  bool broken = false;  // a tree is none, or does not fit the period
  double period = 1;
  double shake = 0;
  std::uint32_t seed = 0;
  std::vector<std::int32_t> tail, head;
  std::vector<double> serial, latency;
  std::vector<std::uint8_t> used;

  [[nodiscard]] BanyanPeriod View() const {
    return {period,
            shake,
            npus,
            static_cast<std::int32_t>(tail.size()),
            trees,
            seed,
            3,
            tail.data(),
            head.data(),
            serial.data(),
            latency.data(),
            used.data()};
  }
};

/// Up to `max_npus` NPUs, some edges side by side, figures alike or not; now and then a tree is broken or the period short.
inline PeriodCase RandomPeriod(Source& random, std::int32_t max_npus) {
  PeriodCase made;
  made.npus = 1 + random.Below(max_npus);
  made.trees = random.Below(5);
  made.seed = static_cast<std::uint32_t>(random.Below(INT32_MAX));
  const bool alike = random.Below(2) == 0;
  const std::int32_t extra = random.Below(2 * made.npus);
  for (std::int32_t i = 1; i < made.npus + extra && made.npus > 1; i++) {
    const std::int32_t from = i < made.npus ? i : random.Below(made.npus);
    const std::int32_t to = i < made.npus ? random.Below(i) : random.Below(made.npus);
    if (from == to) continue;
    made.tail.push_back(from);
    made.head.push_back(to);
    made.serial.push_back(alike ? 10 : 1 + random.Below(20));
    made.latency.push_back(alike ? 0 : random.Below(60));
  }
  const std::size_t edges = made.tail.size();
  std::vector<double> busy(edges);
  for (std::int32_t i = 0; i < made.trees; i++) {
    std::vector<std::int32_t> part(static_cast<std::size_t>(made.npus));
    for (std::size_t v = 0; v < part.size(); v++) part[v] = static_cast<std::int32_t>(v);
    std::vector<std::uint8_t> used(edges);
    for (std::int32_t joined = 1; joined < made.npus;) {
      const auto e = static_cast<std::size_t>(random.Below(static_cast<std::int32_t>(edges)));
      const std::int32_t a = part[static_cast<std::size_t>(made.tail[e])];
      const std::int32_t b = part[static_cast<std::size_t>(made.head[e])];
      if (a == b) continue;
      for (std::int32_t& own : part) own = own == a ? b : own;
      used[e] = 1;
      busy[e] += made.serial[e];
      joined++;
    }
    made.used.insert(made.used.end(), used.begin(), used.end());
  }
  for (const double time : busy) made.period = std::max(made.period, time);
  made.period += random.Below(30);
  made.shake = random.Below(2) * random.Below(100);
  if (edges > 0 && made.trees > 0 && random.Below(5) == 0) {
    const auto at = static_cast<std::size_t>(random.Below(static_cast<std::int32_t>(made.used.size())));
    made.used[at] ^= 1U;
    made.broken = true;
  }
  return made;
}

/// What is wrong with a timetable, or null.
inline const char* PeriodFault(const PeriodCase& made, const std::vector<std::int32_t>& entry,
                               const std::vector<double>& start) {
  const auto n = static_cast<std::size_t>(made.npus);
  const auto other = [&](std::size_t e, std::size_t v) {
    return static_cast<std::size_t>(made.tail[e] == static_cast<std::int32_t>(v) ? made.head[e] : made.tail[e]);
  };
  std::vector<std::vector<double>> busy(2 * made.tail.size());
  for (std::size_t i = 0; i < static_cast<std::size_t>(made.trees); i++) {
    std::size_t roots = 0;
    for (std::size_t v = 0; v < n; v++) {
      if (entry[i * n + v] == -1) {
        roots++;
        if (start[2 * i * n + v] != -1 || start[(2 * i + 1) * n + v] != -1) return "a root sends";
        continue;
      }
      const auto e = static_cast<std::size_t>(entry[i * n + v]);
      if (e >= made.tail.size() || made.used[i * made.tail.size() + e] != 1) return "an edge of another tree";
      if (made.tail[e] != static_cast<std::int32_t>(v) && made.head[e] != static_cast<std::int32_t>(v))
        return "a far edge";
      const std::size_t up = other(e, v);
      const double sent = start[2 * i * n + v] + made.serial[e] + made.latency[e];
      const bool to_root = entry[i * n + up] == -1;
      if (to_root) {
        for (std::size_t w = 0; w < n; w++) {
          if (entry[i * n + w] == -1 || other(static_cast<std::size_t>(entry[i * n + w]), w) != up) continue;
          if (start[(2 * i + 1) * n + w] < sent) return "a result goes down before it is there";
        }
      } else {
        if (start[2 * i * n + up] < sent) return "a sum goes up before all of it is there";
        const auto above = static_cast<std::size_t>(entry[i * n + up]);
        if (start[(2 * i + 1) * n + v] < start[(2 * i + 1) * n + up] + made.serial[above] + made.latency[above]) {
          return "a result goes on before it is there";
        }
      }
      const bool outward = made.tail[e] == static_cast<std::int32_t>(v);
      busy[2 * e + (outward ? 0U : 1U)].push_back(start[2 * i * n + v]);
      busy[2 * e + (outward ? 1U : 0U)].push_back(start[(2 * i + 1) * n + v]);
    }
    if (roots != 1) return "not one root";
  }
  for (std::size_t d = 0; d < busy.size(); d++) {
    for (std::size_t a = 0; a < busy[d].size(); a++) {
      if (busy[d][a] < 0) return "a job without a start";
      for (std::size_t b = 0; b < a; b++) {
        const double apart = std::fmod(std::fabs(busy[d][a] - busy[d][b]), made.period);
        if (std::min(apart, made.period - apart) < made.serial[d / 2]) return "two jobs overlap modulo the period";
      }
    }
  }
  return nullptr;
}

inline const char* RunPeriod(const PeriodCase& made, std::int32_t* status) {
  const BanyanPeriod view = made.View();
  const std::size_t places = static_cast<std::size_t>(made.trees) * static_cast<std::size_t>(made.npus);
  std::vector<std::int32_t> entry(places, -9);
  std::vector<double> start(2 * places, -9);
  const BanyanTimetable out{entry.data(), start.data()};
  *status = banyan_period(&view, nullptr, nullptr, &out);
  if (made.broken) return *status == kBanyanBadArgument ? nullptr : "a broken tree is not refused";
  return *status == kBanyanOk ? PeriodFault(made, entry, start) : "unexpected status";
}

}  // namespace banyan_test

#endif  // BANYAN_TEST_PERIOD_H_
