// What the multicast matching knows of a route, and routes numbered by their
// targets, so that what is known of the routes into one NPU lies together. No
// twin: the answer does not depend on it.
#ifndef BANYAN_KERNELS_MATCH_ROUTES_H_
#define BANYAN_KERNELS_MATCH_ROUTES_H_

#include <cstdint>

#include "../abi.h"
#include "buffer.h"
#include "lists.h"
#include "ten.h"

namespace banyan {

/// What is read together of a route and the transfer that it carries: half a
/// cache line. Nothing that changes is of a character type, as compilers take a
/// store to one for a store to anything.
struct RouteState {
  Time start;
  std::int32_t source;
  std::int32_t carried;           // chunk under way, or kNone
  std::int32_t pointer;           // into the source's log, level 0 (I2)
  std::int32_t departure_length;  // of the source's log
  std::int32_t rank;
  std::uint16_t marks;  // bit k < 8: from the pointer of level k >= 1 on there
                        // may be something new; and those below
  std::uint8_t way;     // the row of offers in the source's log that has its own
  std::uint8_t shared;  // it takes units of resources
};
static_assert(sizeof(RouteState) == 32);

constexpr std::uint16_t kFresh = 0xff;
constexpr std::uint16_t kDuplicate = 0x100;  // its transfer overtakes another
constexpr std::uint16_t kOvertaken = 0x200;  // its transfer is being overtaken

/// One step out of an NPU over a route without resources; where its target's
/// column of `hi` begins, and the row of `novel` at the route's highest level.
struct Way {
  std::uint32_t route;
  std::uint32_t reader;  // the target
  std::uint32_t column;
  std::uint32_t row;
};

// Insertion sort: lists are short, and equal ranks keep their order.
inline void SortByRank(Lists& lists, const Buffer<std::int32_t>& rank) {
  std::int32_t* items = lists.items.data();
  for (std::size_t list = 0; list + 1 < lists.offset.size(); list++) {
    for (std::int32_t i = lists.offset[list] + 1; i < lists.offset[list + 1]; i++) {
      const std::int32_t route = items[i];
      std::int32_t j = i;
      for (; j > lists.offset[list] && rank[At(items[j - 1])] > rank[At(route)]; j--) items[j] = items[j - 1];
      items[j] = route;
    }
  }
}

/// Two numberings of the same routes: as given, and by (target, rank, as
/// given). The same where routes share resources.
class RouteNumbers {
 public:
  explicit RouteNumbers(const BanyanNetwork& of) : given(of), network(of) {}

  /// False when there is no memory.
  [[nodiscard]] bool Build() {
    if (given.use_count > 0) return true;
    const auto routes = At(given.route_count);
    SlotRanks ranks;
    if (!ranks.Build(given) || !by_target_.Group(given.route_target, given.route_count, given.npu_count) ||
        !number_.Allocate(routes) || !source_.Allocate(routes) || !target_.Allocate(routes) ||
        !slot_ps_.Allocate(routes)) {
      return false;
    }
    SortByRank(by_target_, ranks.rank);
    for (std::size_t i = 0; i < routes; i++) {
      const std::int32_t route = by_target_.items[i];
      number_[At(route)] = static_cast<std::int32_t>(i);
      source_[i] = given.route_source[route];
      target_[i] = given.route_target[route];
      slot_ps_[i] = given.slot_ps[route];
    }
    network.route_source = source_.data();
    network.route_target = target_.data();
    network.slot_ps = slot_ps_.data();
    return true;
  }

  /// Whether the routes into an NPU have neighbouring numbers.
  [[nodiscard]] bool ByTarget() const { return number_.size() > 0; }
  /// The number that stands for a given route in `network`, and back.
  [[nodiscard]] std::int32_t Number(std::int32_t route) const { return ByTarget() ? number_[At(route)] : route; }
  [[nodiscard]] std::int32_t Given(std::int32_t number) const {
    return ByTarget() ? by_target_.items[At(number)] : number;
  }

  const BanyanNetwork& given;
  BanyanNetwork network;

 private:
  Lists by_target_;
  Buffer<std::int32_t> number_;
  Buffer<std::int32_t> source_;
  Buffer<std::int32_t> target_;
  Buffer<double> slot_ps_;
};

}  // namespace banyan

#endif  // BANYAN_KERNELS_MATCH_ROUTES_H_
