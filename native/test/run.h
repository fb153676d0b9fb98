// Runs random problems through the C ABI and judges the answers.
#ifndef BANYAN_TEST_RUN_H_
#define BANYAN_TEST_RUN_H_

#include <algorithm>

#include "arborescence.h"
#include "balance.h"
#include "concurrent.h"
#include "judge.h"
#include "pack.h"
#include "partition.h"
#include "period.h"
#include "problem.h"
#include "rate.h"
#include "replay.h"
#include "sweep.h"

namespace banyan_test {

/// Null when the status fits and the answer keeps its laws; else what is wrong.
inline const char* RunMatch(const MatchCase& made, std::int32_t* status, const std::vector<std::int32_t>& maps = {}) {
  const BanyanNetwork view = made.network.View();
  Transfers out(Deliveries(made));
  *status = banyan_match(&view, made.chunks, static_cast<std::int32_t>(made.held_chunk.size()), made.held_offset.data(),
                         made.held_chunk.data(), made.wanted.empty() ? nullptr : made.wanted.data(), made.Choosers(),
                         &made.policy, static_cast<std::int32_t>(maps.size()) / made.network.npus, maps.data(), nullptr,
                         nullptr, &out.view);
  if (*status == kBanyanOk) return MatchFault(made, out);
  return *status == kBanyanUnreachable ? nullptr : "unexpected status";
}

struct Logs {
  std::vector<double> log_offset{0}, port_offset{0};
  std::vector<std::uint16_t> narrow;
  std::vector<std::int32_t> wide, slots;
  std::vector<std::uint8_t> ports;
  BanyanLogs view{};

  /// With maps only those NPUs have room that no map takes to a lesser one.
  Logs(const MatchCase& made, std::int32_t max_slots, bool is_wide, const std::vector<std::int32_t>& maps = {}) {
    const auto npus = static_cast<std::size_t>(made.network.npus);
    for (std::size_t v = 0; v < npus; v++) {
      bool follows = false;
      for (std::size_t at = v; at < maps.size(); at += npus)
        follows = follows || maps[at] < static_cast<std::int32_t>(v);
      if (follows) {
        log_offset.push_back(log_offset.back());
        port_offset.push_back(port_offset.back());
        continue;
      }
      std::size_t entries = static_cast<std::size_t>(made.held_offset[v + 1] - made.held_offset[v]);
      for (std::size_t c = 0; c < static_cast<std::size_t>(made.chunks); c++) {
        bool held = false;
        for (std::int32_t i = made.held_offset[v]; i < made.held_offset[v + 1]; i++) {
          held = held || made.held_chunk[static_cast<std::size_t>(i)] == static_cast<std::int32_t>(c);
        }
        entries += made.Wants(v, c) && !held ? 1 : 0;
      }
      const auto in = std::count(made.network.target.begin(), made.network.target.end(), static_cast<std::int32_t>(v));
      log_offset.push_back(log_offset.back() + static_cast<double>(entries));
      port_offset.push_back(port_offset.back() + static_cast<double>((in + 7) / 8) * max_slots);
    }
    const auto room = static_cast<std::size_t>(log_offset.back());
    narrow.resize(is_wide ? 0 : room);
    wide.resize(is_wide ? room : 0);
    ports.resize(static_cast<std::size_t>(port_offset.back()));
    slots.resize(npus);
    view.entry_bytes = is_wide ? 4 : 2;
    view.max_slots = max_slots;
    view.log_offset = log_offset.data();
    view.chunk = is_wide ? static_cast<void*>(wide.data()) : static_cast<void*>(narrow.data());
    view.port_offset = port_offset.data();
    view.ports = ports.data();
    view.slots = slots.data();
  }
  [[nodiscard]] std::int32_t Entry(std::size_t i) const { return wide.empty() ? narrow[i] : wide[i]; }
};

/// The arrivals of the logs as transfers over routes of length 1, in order of slots; false when they are not well-formed.
inline bool TransfersOf(const MatchCase& made, const Logs& logs, std::int32_t max_slots, Transfers* out) {
  std::size_t row = 0;
  std::vector<std::size_t> next;
  for (std::size_t v = 0; v < static_cast<std::size_t>(made.network.npus); v++) {
    const auto held = static_cast<std::size_t>(made.held_offset[v + 1] - made.held_offset[v]);
    next.push_back(static_cast<std::size_t>(logs.log_offset[v]) + held);
  }
  for (std::int32_t slot = 0; slot < max_slots; slot++) {
    for (std::size_t v = 0; v < next.size(); v++) {
      std::int32_t port = 0;
      const auto in = std::count(made.network.target.begin(), made.network.target.end(), static_cast<std::int32_t>(v));
      const auto bytes = static_cast<std::size_t>((in + 7) / 8);
      for (std::size_t r = 0; r < made.network.target.size(); r++) {
        if (made.network.target[r] != static_cast<std::int32_t>(v)) continue;
        const auto byte = static_cast<std::size_t>(logs.port_offset[v]) + static_cast<std::size_t>(slot) * bytes +
                          static_cast<std::size_t>(port / 8);
        const bool arrives = ((logs.ports[byte] >> (port % 8)) & 1) != 0;
        port++;
        if (!arrives) continue;
        if (slot >= logs.slots[v] || row == out->chunk.size()) return false;
        if (static_cast<double>(next[v]) >= logs.log_offset[v + 1]) return false;
        out->chunk[row] = logs.Entry(next[v]++);
        out->route[row] = static_cast<std::int32_t>(r);
        out->start[row++] = slot;
      }
    }
  }
  out->view.count = static_cast<double>(row);
  return true;
}

/// The case without resources and with routes of length 1, solved in slots by one to three threads, the same under the maps.
inline const char* RunSpread(MatchCase made, std::int32_t* status, const std::vector<std::int32_t>& maps = {}) {
  const std::size_t routes = made.network.slot.size();
  made.network.slot.assign(routes, 1);
  made.network.use_offset.assign(routes + 1, 0);
  made.network.use_resource.clear();
  made.network.use_units.clear();
  made.network.capacity.clear();
  constexpr std::int32_t kMaxSlots = 64;
  BanyanSpread problem{};
  problem.npu_count = made.network.npus;
  problem.chunk_count = made.chunks;
  problem.route_count = static_cast<std::int32_t>(routes);
  problem.held_count = static_cast<std::int32_t>(made.held_chunk.size());
  problem.route_source = made.network.source.data();
  problem.route_target = made.network.target.data();
  problem.held_offset = made.held_offset.data();
  problem.held_chunk = made.held_chunk.data();
  problem.wanted = made.wanted.empty() ? nullptr : made.wanted.data();
  problem.choosers = made.Choosers();
  problem.seed = made.policy.seed;
  problem.choice = made.policy.choice;
  problem.window = made.policy.window;
  problem.late_limit = made.policy.late_limit;
  problem.threads = 1;
  problem.map_count = static_cast<std::int32_t>(maps.size()) / made.network.npus;
  problem.maps = maps.data();
  std::int32_t progress = 0;
  problem.progress = &progress;
  Logs first(made, kMaxSlots, made.policy.novelty != 0);
  *status = banyan_spread(&problem, nullptr, nullptr, &first.view);
  for (problem.threads = 2; problem.threads <= 3; problem.threads++) {
    Logs other(made, kMaxSlots, made.policy.novelty != 0);
    if (banyan_spread(&problem, nullptr, nullptr, &other.view) != *status) return "threads change the status";
    if (*status != kBanyanOk) continue;
    if (other.narrow != first.narrow || other.wide != first.wide || other.ports != first.ports ||
        other.slots != first.slots) {
      return "threads change the logs";
    }
  }
  Logs kept(made, kMaxSlots, made.policy.novelty != 0, maps);
  const std::int32_t folded = banyan_spread(&problem, nullptr, nullptr, &kept.view);
  if (*status == kBanyanUnreachable || *status == kBanyanOutputTooSmall) return nullptr;
  if (*status != kBanyanOk) return "unexpected status";
  if (folded != kBanyanOk) return "the logs of representatives alone are not written";
  for (std::size_t v = 0; v < kept.slots.size(); v++) {
    for (double i = 0; i < kept.log_offset[v + 1] - kept.log_offset[v]; i++) {
      const auto at = [i](double from) { return static_cast<std::size_t>(from + i); };
      if (kept.Entry(at(kept.log_offset[v])) != first.Entry(at(first.log_offset[v]))) return "kept logs differ";
    }
  }
  Transfers transfers(Deliveries(made));
  if (!TransfersOf(made, first, kMaxSlots, &transfers)) return "the logs are not well-formed";
  return MatchFault(made, transfers);
}

/// A case with maps; garbage among them may be refused or give logs of any content, but in bounds.
inline const char* RunFolded(Source& random, std::int32_t* status) {
  std::vector<std::int32_t> maps;
  const MatchCase made = RandomFolded(random, 9, &maps);
  const auto npus = static_cast<std::size_t>(made.network.npus);
  bool exchanges = true;
  for (std::size_t v = 0; v < npus; v++) {
    exchanges = exchanges && maps[npus + static_cast<std::size_t>(maps[npus + v])] == static_cast<std::int32_t>(v);
  }
  const char* fault = RunMatch(made, status, maps);
  if (fault == nullptr || !exchanges) fault = RunSpread(made, status, maps);
  return exchanges && *status != kBanyanBadArgument ? fault : nullptr;
}

inline const char* RunRelay(const RelayCase& made, std::int32_t* status) {
  const BanyanNetwork view = made.network.View();
  Transfers out(made.source.size() * static_cast<std::size_t>(made.network.npus));
  *status = banyan_relay(&view, static_cast<std::int32_t>(made.source.size()), made.source.data(), made.target.data(),
                         made.distance.data(), made.order.data(), made.seed, nullptr, nullptr, &out.view);
  if (*status == kBanyanOk) return RelayFault(made, out);
  return *status == kBanyanUnreachable ? nullptr : "unexpected status";
}

inline const char* RunPlace(const PlaceCase& made, std::int32_t* status) {
  const BanyanNetwork view = made.network.View();
  std::vector<double> start(made.route.size());
  *status =
      banyan_place(&view, static_cast<std::int32_t>(made.route.size()),
                   static_cast<std::int32_t>(made.successor.size()), made.route.data(), made.successor_offset.data(),
                   made.successor.data(), made.key.data(), nullptr, nullptr, start.data());
  if (made.circular) return *status == kBanyanBadArgument ? nullptr : "a circle is not refused";
  return *status == kBanyanOk ? PlaceFault(made, start) : "unexpected status";
}

}  // namespace banyan_test

#endif  // BANYAN_TEST_RUN_H_
