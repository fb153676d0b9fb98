// What the multicast matching knows of a route, and routes numbered by their targets, so that what is known of the routes into
// one NPU lies together. No twin: the answer does not depend on it.
#ifndef BANYAN_KERNELS_MATCH_ROUTES_H_
#define BANYAN_KERNELS_MATCH_ROUTES_H_

#include <cstdint>

#include "../abi.h"
#include "buffer.h"
#include "lists.h"
#include "ten.h"

namespace banyan {

/// What is read together of a route and the transfer that it carries.
struct RouteState {
  Time start;
  std::int32_t source;
  std::int32_t target;
  std::int32_t departure_length;  // of the source's log
  std::uint32_t generation;       // counts the transfers that have ended or were dropped
  std::int32_t rank;
  std::uint8_t level;      // highest novelty level
  std::uint8_t shared;     // it takes units of resources
  std::uint8_t duplicate;  // its transfer overtakes another
  std::uint8_t overtaken;  // its transfer is being overtaken
};

/// Two numberings of the same routes: as given, and by (target, as given). The same where routes share resources.
class RouteNumbers {
 public:
  explicit RouteNumbers(const BanyanNetwork& of) : given(of), network(of) {}

  /// False when there is no memory.
  [[nodiscard]] bool Build() {
    if (given.use_count > 0) return true;
    const auto routes = At(given.route_count);
    if (!by_target_.Group(given.route_target, given.route_count, given.npu_count) || !number_.Allocate(routes) ||
        !source_.Allocate(routes) || !target_.Allocate(routes) || !slot_ps_.Allocate(routes)) {
      return false;
    }
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

  /// The number that stands for a given route in `network`, and back.
  [[nodiscard]] std::int32_t Number(std::int32_t route) const {
    return number_.size() == 0 ? route : number_[At(route)];
  }
  [[nodiscard]] std::int32_t Given(std::int32_t number) const {
    return number_.size() == 0 ? number : by_target_.items[At(number)];
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
