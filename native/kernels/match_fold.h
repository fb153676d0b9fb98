// The network of a matching that is the same under maps of the network onto itself; match.h explains it. The twin of
// src/engine/kernels/js/match-fold.ts, function by function.
#ifndef BANYAN_KERNELS_MATCH_FOLD_H_
#define BANYAN_KERNELS_MATCH_FOLD_H_

#include <cstdint>

#include "bits.h"
#include "buffer.h"
#include "fold.h"
#include "lists.h"
#include "match.h"

namespace banyan {

/// The routes into representatives. Behind the NPUs stand copies: logs that follow a representative's through a map, for
/// routes that come from its images, or, where maps leave it in place, from itself.
struct FoldedNetwork {
  explicit FoldedNetwork(const MatchProblem& of) : given(of) {}

  const MatchProblem& given;
  Fold<std::int32_t> fold;
  Lists orbit;                       // the NPUs of a representative's orbit, itself included
  Lists copies;                      // of a representative, counted from 0
  Buffer<std::int32_t> copy_map;     // [copies] the map through which it follows
  Buffer<std::int32_t> copied;       // [copies] the NPU that it stands for
  Buffer<std::int32_t> given_route;  // [routes] as given
  Buffer<std::int32_t> port;         // [routes] which of the routes into its target it is, as given
  Lists given_in;                    // routes into every NPU, as given
  Buffer<std::uint32_t> arrived;     // [NPUs that maps leave in place][words]
  Buffer<std::uint32_t> shown;       // the same: arrived, and all its images too
  BanyanNetwork network{};           // the routes kept, in the order given
  Buffer<std::int32_t> held_offset;  // [NPUs and copies + 1]
  Buffer<std::int32_t> held_chunk;

  [[nodiscard]] BanyanStatus Build() {
    const BanyanNetwork& of = given.network;
    if (!given_in.Group(of.route_target, of.route_count, of.npu_count)) return kBanyanOutOfMemory;
    const BanyanStatus folded = fold.Build({of.npu_count, given.chunk_count, given.map_count, given.maps,
                                            of.route_source, of.slot_ps, given.held_offset, given.held_chunk},
                                           given_in);
    if (folded != kBanyanOk) return folded;
    const std::size_t fixed_words = At(fold.fixed_count) * ((At(given.chunk_count) + 31) / 32);
    if (!arrived.Allocate(fixed_words) || !shown.Allocate(fixed_words) ||
        !orbit.Group(fold.representative.data(), of.npu_count, of.npu_count) || !KeepRoutes() || !CopyHoldings()) {
      return kBanyanOutOfMemory;
    }
    return kBanyanOk;
  }

  /// The given route that a kept one becomes at another NPU of its target's orbit.
  [[nodiscard]] std::int32_t ImageRoute(std::int32_t route, std::int32_t npu) const {
    const std::int32_t begin = given_in.Begin(npu);
    return given_in.items[At(begin + fold.image_port[At(begin + port[At(route)])])];
  }

  /// Notes that the chunk has arrived at a representative that maps leave in place. Returns whether all its images have.
  [[nodiscard]] bool Completes(std::int32_t npu, std::int32_t chunk) {
    std::uint32_t* row = Row(arrived, npu);
    SetBit(row, chunk);
    for (std::int32_t g = 1; g < fold.map_count; g++) {
      if (fold.Fixes(g, npu) && !Bit(row, fold.ChunkMap(g)[chunk])) return false;
    }
    return true;
  }

  /// Whether the image of a complete chunk under a map that leaves the NPU in place has not been shown; then it has.
  [[nodiscard]] bool Shows(std::int32_t map, std::int32_t npu, std::int32_t image) {
    std::uint32_t* row = Row(shown, npu);
    if (!fold.Fixes(map, npu) || Bit(row, image)) return false;
    SetBit(row, image);
    return true;
  }

 private:
  [[nodiscard]] std::uint32_t* Row(Buffer<std::uint32_t>& rows, std::int32_t npu) const {
    return rows.data() + At(fold.fixed_row[At(npu)]) * ((At(given.chunk_count) + 31) / 32);
  }

  [[nodiscard]] bool KeepRoutes() {
    const BanyanNetwork& of = given.network;
    const auto routes = At(of.route_count);
    Buffer<std::int32_t> copy_of;
    Buffer<std::int32_t> followed;
    if (!copy_of.Allocate(At(of.npu_count)) || !followed.Allocate(At(of.npu_count)) ||
        !copied.Allocate(At(of.npu_count)) || !copy_map.Allocate(At(of.npu_count)) || !source_.Allocate(routes) ||
        !target_.Allocate(routes) || !slot_ps_.Allocate(routes) || !use_offset_.Allocate(routes + 1) ||
        !given_route.Allocate(routes) || !port.Allocate(routes)) {
      return false;
    }
    copy_of.Fill(kNone);
    std::int32_t kept = 0;
    std::int32_t copy_count = 0;
    for (std::int32_t r = 0; r < of.route_count; r++) {
      const std::int32_t target = of.route_target[r];
      if (!fold.Represents(target)) continue;
      const std::int32_t source = of.route_source[r];
      const bool own = fold.Represents(source) && !fold.Fixed(source);
      if (!own && copy_of[At(source)] == kNone) {
        followed[At(copy_count)] = fold.representative[At(source)];
        copied[At(copy_count)] = source;
        copy_map[At(copy_count)] = fold.element[At(source)];
        copy_of[At(source)] = copy_count++;
      }
      source_[At(kept)] = own ? source : of.npu_count + copy_of[At(source)];
      target_[At(kept)] = target;
      slot_ps_[At(kept)] = of.slot_ps[r];
      given_route[At(kept)] = r;
      for (std::int32_t i = given_in.Begin(target); given_in.items[At(i)] != r; i++) port[At(kept)]++;
      kept++;
    }
    copy_count_ = copy_count;
    network = {of.npu_count + copy_count, kept,    0,       0,      source_.data(), target_.data(), slot_ps_.data(),
               use_offset_.data(),        nullptr, nullptr, nullptr};
    return copies.Group(followed.data(), copy_count, of.npu_count);
  }

  // A copy holds what the NPU holds that it stands for.
  [[nodiscard]] bool CopyHoldings() {
    const auto npus = At(given.network.npu_count);
    if (!held_offset.Allocate(At(network.npu_count) + 1)) return false;
    for (std::size_t v = 0; v <= npus; v++) held_offset[v] = given.held_offset[v];
    for (std::int32_t i = 0; i < copy_count_; i++) {
      const std::int32_t of = copied[At(i)];
      held_offset[npus + At(i) + 1] = held_offset[npus + At(i)] + given.held_offset[of + 1] - given.held_offset[of];
    }
    if (!held_chunk.Allocate(At(held_offset[At(network.npu_count)]))) return false;
    for (std::int32_t v = 0; v < network.npu_count; v++) {
      const std::int32_t of = v < given.network.npu_count ? v : copied[At(v - given.network.npu_count)];
      for (std::int32_t i = held_offset[At(v)]; i < held_offset[At(v) + 1]; i++) {
        held_chunk[At(i)] = given.held_chunk[given.held_offset[of] + i - held_offset[At(v)]];
      }
    }
    return true;
  }

  std::int32_t copy_count_ = 0;
  Buffer<std::int32_t> source_;
  Buffer<std::int32_t> target_;
  Buffer<double> slot_ps_;
  Buffer<std::int32_t> use_offset_;
};

}  // namespace banyan

#endif  // BANYAN_KERNELS_MATCH_FOLD_H_
