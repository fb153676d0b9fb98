// The links that labels offer to go on by, the cheapest first.
#ifndef BANYAN_KERNELS_PACK_HEAP_H_
#define BANYAN_KERNELS_PACK_HEAP_H_

#include "pack_net.h"

namespace banyan {

struct PackOffer {
  std::int64_t price;
  std::int32_t label;
  std::int32_t link;
};

/// A binary heap in the total order (price, label, link).
class OfferHeap {
 public:
  [[nodiscard]] bool IsEmpty() const { return count_ == 0; }
  void Clear() { count_ = 0; }

  [[nodiscard]] bool Push(const PackOffer& offer) {
    if (!Reserve(items_, static_cast<std::int64_t>(count_) + 1)) return false;
    std::int32_t i = count_++;
    while (i > 0) {
      const std::int32_t above = (i - 1) >> 1;
      if (!Before(offer, items_[At(above)])) break;
      items_[At(i)] = items_[At(above)];
      i = above;
    }
    items_[At(i)] = offer;
    return true;
  }

  PackOffer Pop() {
    const PackOffer first = items_[0];
    const PackOffer last = items_[At(--count_)];
    std::int32_t i = 0;
    for (;;) {
      std::int32_t below = 2 * i + 1;
      if (below >= count_) break;
      if (below + 1 < count_ && Before(items_[At(below + 1)], items_[At(below)])) below++;
      if (!Before(items_[At(below)], last)) break;
      items_[At(i)] = items_[At(below)];
      i = below;
    }
    items_[At(i)] = last;
    return first;
  }

 private:
  static bool Before(const PackOffer& a, const PackOffer& b) {
    if (a.price != b.price) return a.price < b.price;
    return a.label != b.label ? a.label < b.label : a.link < b.link;
  }

  Buffer<PackOffer> items_;
  std::int32_t count_ = 0;
};

}  // namespace banyan

#endif  // BANYAN_KERNELS_PACK_HEAP_H_
