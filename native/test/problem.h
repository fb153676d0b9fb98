// Random kernel problems and the laws that every answer must keep, for the native tests and the fuzzer. A problem is
// read from bytes; when they run out, a generator goes on.
#ifndef BANYAN_TEST_PROBLEM_H_
#define BANYAN_TEST_PROBLEM_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "abi.h"

namespace banyan_test {

class Source {
 public:
  Source(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}

  /// A number in [0, bound).
  std::int32_t Below(std::int32_t bound) {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL + (at_ < size_ ? data_[at_++] : 0U);
    return static_cast<std::int32_t>((state_ >> 33) % static_cast<std::uint64_t>(bound));
  }

 private:
  const std::uint8_t* data_;
  std::size_t size_;
  std::size_t at_ = 0;
  std::uint64_t state_ = 88172645463325252ULL;
};

struct Network {
  std::int32_t npus = 0;
  std::vector<std::int32_t> source, target, use_offset{0}, use_resource, use_units, capacity;
  std::vector<double> slot;

  void Add(std::int32_t from, std::int32_t to, double slot_ps) {
    source.push_back(from);
    target.push_back(to);
    slot.push_back(slot_ps);
  }
  void Use(std::int32_t resource, std::int32_t units) {
    use_resource.push_back(resource);
    use_units.push_back(units);
  }
  void EndRoute() { use_offset.push_back(static_cast<std::int32_t>(use_resource.size())); }

  [[nodiscard]] BanyanNetwork View() const {
    return {npus,
            static_cast<std::int32_t>(source.size()),
            static_cast<std::int32_t>(use_resource.size()),
            static_cast<std::int32_t>(capacity.size()),
            source.data(),
            target.data(),
            slot.data(),
            use_offset.data(),
            use_resource.data(),
            use_units.data(),
            capacity.data()};
  }
};

/// A network of up to `max_npus` NPUs; strongly connected except in one of eight cases.
inline Network RandomNetwork(Source& random, std::int32_t max_npus) {
  Network network;
  network.npus = 1 + random.Below(max_npus);
  const std::int32_t sharing = random.Below(4);
  const std::int32_t speeds = 1 + random.Below(4);
  const bool ring = random.Below(8) != 0;
  if (sharing == 1) {
    for (std::int32_t i = 0; i < 2 * network.npus; i++) network.capacity.push_back(1 + random.Below(2));
  } else if (sharing > 1) {
    for (std::int32_t i = random.Below(5); i >= 0; i--) network.capacity.push_back(1 + random.Below(3));
  }
  const std::int32_t extra = random.Below(3 * network.npus);
  const std::int32_t first = ring ? 0 : network.npus;
  for (std::int32_t i = first; i < network.npus + extra && network.npus > 1; i++) {
    const std::int32_t from = i < network.npus ? i : random.Below(network.npus);
    const std::int32_t step = i < network.npus ? 1 : 1 + random.Below(network.npus - 1);
    const std::int32_t to = (from + step) % network.npus;
    network.Add(from, to, 5.0 + 7.0 * random.Below(speeds));
    if (sharing == 1 && random.Below(4) != 0) {
      network.Use(from, 1);
      network.Use(network.npus + to, 1);
    } else if (sharing > 1) {
      const auto resources = static_cast<std::int32_t>(network.capacity.size());
      const std::int32_t start = random.Below(resources);
      const std::int32_t uses = random.Below(std::min(resources, 3) + 1);
      for (std::int32_t u = 0; u < uses; u++) {
        const std::int32_t resource = (start + u) % resources;
        network.Use(resource, 1 + random.Below(network.capacity[static_cast<std::size_t>(resource)]));
      }
    }
    network.EndRoute();
  }
  return network;
}

struct Transfers {
  std::vector<std::int32_t> chunk, route;
  std::vector<double> start;
  BanyanTransfers view{};

  explicit Transfers(std::size_t room) : chunk(room), route(room), start(room) {
    view.room = static_cast<double>(room);
    view.chunk = chunk.data();
    view.route = route.data();
    view.start_ps = start.data();
  }
  [[nodiscard]] std::size_t count() const { return static_cast<std::size_t>(view.count); }
};

/// Null when ends ascend, no route carries two transfers and no resource is overused; else what is wrong. Quadratic.
inline const char* OccupancyFault(const Network& network, const Transfers& out) {
  const std::size_t count = out.count();
  const auto end = [&](std::size_t i) { return out.start[i] + network.slot[static_cast<std::size_t>(out.route[i])]; };
  for (std::size_t i = 0; i < count; i++) {
    if (out.route[i] < 0 || static_cast<std::size_t>(out.route[i]) >= network.slot.size()) return "route out of range";
    if (i > 0 && end(i) < end(i - 1)) return "ends do not ascend";
    std::vector<std::int32_t> used(network.capacity.size());
    for (std::size_t j = 0; j < count; j++) {
      if (out.start[j] > out.start[i] || end(j) <= out.start[i]) continue;  // not under way when i departs
      if (j != i && out.route[j] == out.route[i]) return "a route carries two transfers";
      const auto r = static_cast<std::size_t>(out.route[j]);
      for (auto u = static_cast<std::size_t>(network.use_offset[r]);
           u < static_cast<std::size_t>(network.use_offset[r + 1]); u++) {
        const auto resource = static_cast<std::size_t>(network.use_resource[u]);
        used[resource] += network.use_units[u];
        if (used[resource] > network.capacity[resource]) return "a resource is overused";
      }
    }
  }
  return nullptr;
}

struct MatchCase {
  Network network;
  std::int32_t chunks = 0;
  std::vector<std::int32_t> held_offset{0}, held_chunk;
  std::vector<std::uint32_t> wanted;   // empty: everyone wants all
  std::vector<std::uint8_t> choosers;  // empty: all choose
  BanyanMatchPolicy policy{};

  [[nodiscard]] const std::uint8_t* Choosers() const { return choosers.empty() ? nullptr : choosers.data(); }
  [[nodiscard]] bool Wants(std::size_t npu, std::size_t chunk) const {
    const std::size_t words = (static_cast<std::size_t>(chunks) + 31) / 32;
    return wanted.empty() || ((wanted[npu * words + chunk / 32] >> (chunk % 32)) & 1U) != 0;
  }
};

inline MatchCase RandomMatch(Source& random, std::int32_t max_npus, std::int32_t max_chunks) {
  MatchCase made;
  made.network = RandomNetwork(random, max_npus);
  made.chunks = 1 + random.Below(max_chunks);
  const auto npus = static_cast<std::size_t>(made.network.npus);
  const auto chunks = static_cast<std::size_t>(made.chunks);
  std::vector<std::vector<std::int32_t>> held(npus);
  for (std::int32_t c = 0; c < made.chunks; c++) {
    const std::int32_t first = random.Below(made.network.npus);
    const std::int32_t holders = 1 + (random.Below(4) == 0 ? random.Below(made.network.npus) : 0);
    for (std::int32_t i = 0; i < holders; i++) {
      held[static_cast<std::size_t>((first + i) % made.network.npus)].push_back(c);
    }
  }
  for (const auto& list : held) {
    made.held_chunk.insert(made.held_chunk.end(), list.begin(), list.end());
    made.held_offset.push_back(static_cast<std::int32_t>(made.held_chunk.size()));
  }
  if (random.Below(3) == 0) {
    const std::size_t words = (chunks + 31) / 32;
    made.wanted.resize(npus * words);
    for (std::size_t v = 0; v < npus; v++) {
      for (std::size_t c = 0; c < chunks; c++) {
        if (random.Below(4) != 0) made.wanted[v * words + c / 32] |= 1U << (c % 32);
      }
    }
  }
  made.policy.seed = static_cast<std::uint32_t>(random.Below(1 << 30));
  made.policy.choice = random.Below(4);
  made.policy.window = 1 + random.Below(9);
  made.policy.late_limit = random.Below(2) == 0 ? made.chunks : random.Below(4);
  made.policy.novelty = random.Below(2);
  made.policy.overtaking = random.Below(2);
  for (std::size_t v = 0; v < npus && made.policy.seed % 2 == 0; v++) {
    made.choosers.push_back(static_cast<std::uint8_t>(random.Below(2)));
  }
  return made;
}

/// An all-gather over a network that is the same when NPUs are exchanged in pairs, *maps: the identity and the exchange.
/// One in eight maps is garbage.
inline MatchCase RandomFolded(Source& random, std::int32_t max_npus, std::vector<std::int32_t>* maps) {
  MatchCase made;
  const std::int32_t npus = 2 + random.Below(max_npus - 1);
  const std::int32_t pairs = 1 + random.Below(npus / 2);
  made.network.npus = npus;
  for (std::int32_t v = 0; v < npus; v++) maps->push_back(v);
  for (std::int32_t v = 0; v < npus; v++) maps->push_back(v >= 2 * pairs ? v : v < pairs ? v + pairs : v - pairs);
  const std::int32_t extra = random.Below(12);
  for (std::int32_t i = 0; i < npus + extra; i++) {
    const std::int32_t from = i < npus ? i : random.Below(npus);
    const std::int32_t to = i < npus ? (i + 1) % npus : random.Below(npus);
    if (from == to) continue;
    const double slot = 1 + random.Below(3);
    for (std::int32_t g = 0; g < 2; g++) {
      made.network.Add((*maps)[static_cast<std::size_t>(g * npus + from)],
                       (*maps)[static_cast<std::size_t>(g * npus + to)], slot);
      made.network.EndRoute();
    }
  }
  const std::int32_t each = 1 + random.Below(3);
  made.chunks = npus * each;
  for (std::int32_t c = 0; c < made.chunks; c++) {
    made.held_chunk.push_back(c);
    if (c % each == each - 1) made.held_offset.push_back(c + 1);
  }
  made.policy.seed = static_cast<std::uint32_t>(random.Below(1 << 30));
  made.policy.window = 1;
  made.policy.novelty = random.Below(2);
  made.policy.overtaking = random.Below(2);
  if (random.Below(8) == 0) (*maps)[static_cast<std::size_t>(npus + random.Below(npus))] = random.Below(npus);
  return made;
}

inline std::size_t Deliveries(const MatchCase& made) {
  std::size_t count = 0;
  for (std::size_t v = 0; v < static_cast<std::size_t>(made.network.npus); v++) {
    std::vector<bool> has(static_cast<std::size_t>(made.chunks));
    for (auto i = static_cast<std::size_t>(made.held_offset[v]); i < static_cast<std::size_t>(made.held_offset[v + 1]);
         i++) {
      has[static_cast<std::size_t>(made.held_chunk[i])] = true;
    }
    for (std::size_t c = 0; c < has.size(); c++) count += made.Wants(v, c) && !has[c] ? 1 : 0;
  }
  return count;
}

/// Null when the answer is complete, causal and within the network's capacities; else what is wrong.
inline const char* MatchFault(const MatchCase& made, const Transfers& out) {
  const auto npus = static_cast<std::size_t>(made.network.npus);
  const auto chunks = static_cast<std::size_t>(made.chunks);
  constexpr double kNever = std::numeric_limits<double>::infinity();
  std::vector<double> since(npus * chunks, kNever);
  for (std::size_t v = 0; v < npus; v++) {
    for (auto i = static_cast<std::size_t>(made.held_offset[v]); i < static_cast<std::size_t>(made.held_offset[v + 1]);
         i++) {
      since[v * chunks + static_cast<std::size_t>(made.held_chunk[i])] = 0;
    }
  }
  if (const char* fault = OccupancyFault(made.network, out)) return fault;
  for (std::size_t i = 0; i < out.count(); i++) {
    const auto r = static_cast<std::size_t>(out.route[i]);
    if (out.chunk[i] < 0 || static_cast<std::size_t>(out.chunk[i]) >= chunks) return "chunk out of range";
    const auto c = static_cast<std::size_t>(out.chunk[i]);
    const auto from = static_cast<std::size_t>(made.network.source[r]);
    const auto to = static_cast<std::size_t>(made.network.target[r]);
    if (since[from * chunks + c] > out.start[i]) return "a chunk leaves before it is there";
    if (since[to * chunks + c] != kNever) return "a chunk is delivered twice";
    if (!made.Wants(to, c)) return "a chunk is delivered where it is not wanted";
    since[to * chunks + c] = out.start[i] + made.network.slot[r];
  }
  for (std::size_t v = 0; v < npus; v++) {
    for (std::size_t c = 0; c < chunks; c++) {
      if (made.Wants(v, c) && since[v * chunks + c] == kNever) return "a chunk is missing";
    }
  }
  return nullptr;
}

struct RelayCase {
  Network network;
  std::vector<std::int32_t> source, target, order;
  std::vector<double> distance;
  std::uint32_t seed = 0;
};

inline RelayCase RandomRelay(Source& random, std::int32_t max_npus, std::int32_t max_chunks) {
  RelayCase made;
  made.network = RandomNetwork(random, max_npus);
  const auto npus = static_cast<std::size_t>(made.network.npus);
  for (std::int32_t i = random.Below(max_chunks); i >= 0; i--) {
    made.source.push_back(random.Below(made.network.npus));
    made.target.push_back(random.Below(made.network.npus));
  }
  made.distance.assign(npus * npus, std::numeric_limits<double>::infinity());
  for (std::size_t v = 0; v < npus; v++) made.distance[v * npus + v] = 0;
  for (std::size_t r = 0; r < made.network.slot.size(); r++) {
    const auto at =
        static_cast<std::size_t>(made.network.source[r]) * npus + static_cast<std::size_t>(made.network.target[r]);
    made.distance[at] = std::min(made.distance[at], made.network.slot[r]);
  }
  for (std::size_t k = 0; k < npus; k++) {
    for (std::size_t i = 0; i < npus; i++) {
      for (std::size_t j = 0; j < npus; j++) {
        made.distance[i * npus + j] =
            std::min(made.distance[i * npus + j], made.distance[i * npus + k] + made.distance[k * npus + j]);
      }
    }
  }
  for (std::size_t v = 0; v < npus; v++) {
    for (std::int32_t t = 0; t < made.network.npus; t++) made.order.push_back(t);
    for (std::size_t i = npus; i > 1; i--) {
      std::swap(made.order[v * npus + i - 1],
                made.order[v * npus + static_cast<std::size_t>(random.Below(static_cast<std::int32_t>(i)))]);
    }
  }
  made.seed = static_cast<std::uint32_t>(random.Below(1 << 30));
  return made;
}

inline const char* RelayFault(const RelayCase& made, const Transfers& out) {
  if (const char* fault = OccupancyFault(made.network, out)) return fault;
  std::vector<std::int32_t> place = made.source;
  std::vector<double> since(place.size());
  for (std::size_t i = 0; i < out.count(); i++) {
    if (out.chunk[i] < 0 || static_cast<std::size_t>(out.chunk[i]) >= place.size()) return "chunk out of range";
    const auto c = static_cast<std::size_t>(out.chunk[i]);
    const auto r = static_cast<std::size_t>(out.route[i]);
    if (place[c] != made.network.source[r] || since[c] > out.start[i]) return "a chunk leaves from where it is not";
    place[c] = made.network.target[r];
    since[c] = out.start[i] + made.network.slot[r];
  }
  return place == made.target ? nullptr : "a chunk ends elsewhere";
}

struct PlaceCase {
  Network network;
  std::vector<std::int32_t> route, successor_offset{0}, successor;
  std::vector<double> key;
  bool circular = false;
};

inline PlaceCase RandomPlace(Source& random, std::int32_t max_npus, std::int32_t max_transfers) {
  PlaceCase made;
  made.network = RandomNetwork(random, max_npus);
  const auto routes = static_cast<std::int32_t>(made.network.slot.size());
  const std::int32_t count = routes == 0 ? 0 : random.Below(max_transfers);
  const std::int32_t spread = 1 + random.Below(9);
  made.circular = count > 1 && random.Below(16) == 0;
  for (std::int32_t i = 0; i < count; i++) {
    made.route.push_back(random.Below(routes));
    made.key.push_back(random.Below(spread) - random.Below(spread));
    // Only later transfers wait, unless there is a circle.
    for (std::int32_t k = random.Below(3); k > 0 && i + 1 < count; k--) {
      made.successor.push_back(i + 1 + random.Below(count - i - 1));
    }
    if (made.circular && i == 0) made.successor.push_back(count - 1);
    if (made.circular && i == count - 1) made.successor.push_back(0);
    made.successor_offset.push_back(static_cast<std::int32_t>(made.successor.size()));
  }
  return made;
}

inline const char* PlaceFault(const PlaceCase& made, const std::vector<double>& start) {
  const std::size_t count = made.route.size();
  const auto end = [&](std::size_t i) { return start[i] + made.network.slot[static_cast<std::size_t>(made.route[i])]; };
  std::vector<std::size_t> order(count);
  for (std::size_t i = 0; i < count; i++) order[i] = i;
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return end(a) != end(b) ? end(a) < end(b) : a < b; });
  Transfers sorted(count);
  for (std::size_t i = 0; i < count; i++) {
    sorted.route[i] = made.route[order[i]];
    sorted.start[i] = start[order[i]];
  }
  sorted.view.count = static_cast<double>(count);
  if (const char* fault = OccupancyFault(made.network, sorted)) return fault;
  for (std::size_t i = 0; i < count; i++) {
    if (!(start[i] >= 0)) return "a transfer starts before time 0";
    for (auto k = static_cast<std::size_t>(made.successor_offset[i]);
         k < static_cast<std::size_t>(made.successor_offset[i + 1]); k++) {
      if (start[static_cast<std::size_t>(made.successor[k])] < end(i)) return "a transfer does not wait";
    }
    for (std::size_t j = 0; j < count; j++) {
      const bool first = made.key[i] != made.key[j] ? made.key[i] < made.key[j] : i < j;
      if (made.route[i] != made.route[j] || !first || start[i] <= start[j]) continue;
      // i was ready before j started only if something it waits for ended later.
      bool waited = false;
      for (std::size_t p = 0; p < count; p++) {
        for (auto k = static_cast<std::size_t>(made.successor_offset[p]);
             k < static_cast<std::size_t>(made.successor_offset[p + 1]); k++) {
          if (static_cast<std::size_t>(made.successor[k]) == i && end(p) > start[j]) waited = true;
        }
      }
      if (!waited) return "a transfer overtakes one of a lesser key";
    }
  }
  return nullptr;
}

}  // namespace banyan_test

#endif  // BANYAN_TEST_PROBLEM_H_
