// Runs random problems through the C ABI and judges the answers.
#ifndef BANYAN_TEST_RUN_H_
#define BANYAN_TEST_RUN_H_

#include "problem.h"

namespace banyan_test {

/// Null when the status fits and the answer keeps its laws; else what is wrong.
inline const char* RunMatch(const MatchCase& made, std::int32_t* status) {
  const BanyanNetwork view = made.network.View();
  Transfers out(Deliveries(made));
  *status = banyan_match(&view, made.chunks, static_cast<std::int32_t>(made.held_chunk.size()), made.held_offset.data(),
                         made.held_chunk.data(), made.wanted.empty() ? nullptr : made.wanted.data(), &made.policy,
                         nullptr, nullptr, &out.view);
  if (*status == kBanyanOk) return MatchFault(made, out);
  return *status == kBanyanUnreachable ? nullptr : "unexpected status";
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
