// What it costs to grow a tree over a link.
#ifndef BANYAN_KERNELS_PACK_PRICES_H_
#define BANYAN_KERNELS_PACK_PRICES_H_

#include "pack_state.h"
#include "random.h"

namespace banyan {

/// Prices are whole: 1024 of them are 1 of BanyanPack's.
class PackPrices {
 public:
  std::int32_t depth_price = 0;  // of an edge, for each edge between its start and the root
  std::int32_t load_price = 0;   // of a link at full load
  std::uint32_t seed = 0;
  std::uint32_t chance = 63;  // the most that chance adds to a link, 2^n - 1
  bool scheduled = false;     // only load ahead of the progress of the packing is priced

  explicit PackPrices(const PackState& state) : state_(state) {}

  /// Sets what the links of the next tree cost; `number` varies its noise.
  void NextTree(std::uint32_t number) {
    noise_ = Draw(seed, number, 0x7061636bU);
    progress_ = scheduled ? Share(state_.total - state_.Missing(), state_.total) : 0;
  }

  [[nodiscard]] std::int64_t OfStart(std::int32_t member) const {
    return static_cast<std::int64_t>(kUnit) * depth_price * state_.depth[At(member)];
  }

  [[nodiscard]] std::int64_t OfLink(std::int32_t link) const {
    const std::int64_t full = state_.full[At(link)];
    const std::int64_t load = Share(full - state_.left[At(link)], full) - progress_;
    const std::int64_t noise = Mix(noise_ ^ static_cast<std::uint32_t>(link)) & chance;
    return (load > 0 ? load * load_price : 0) + kHop + noise;
  }

 private:
  static constexpr std::int32_t kUnit = 1024;
  static constexpr std::int32_t kHop = 64;  // any link costs so much

  // part / whole in 1024ths, about right where the product would leave 2^53.
  static std::int64_t Share(std::int64_t part, std::int64_t whole) {
    if (whole < (1LL << 43)) return part * kUnit / whole;
    const std::int64_t share = part / (whole / kUnit);
    return share < kUnit ? share : kUnit;
  }

  const PackState& state_;
  std::int64_t progress_ = 0;
  std::uint32_t noise_ = 0;
};

}  // namespace banyan

#endif  // BANYAN_KERNELS_PACK_PRICES_H_
