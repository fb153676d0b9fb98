// Edges that carry a part of a shard are kept free of circles, so that few shards are cut; loads of ports do not change. The
// twin of src/engine/kernels/js/balance.ts.
#ifndef BANYAN_KERNELS_BALANCE_WHOLE_H_
#define BANYAN_KERNELS_BALANCE_WHOLE_H_

#include "balance_pour.h"

namespace banyan {

class Cutting {
 public:
  /// Shifts units around circles of edges that carry a part of a shard until there are none. False when out of memory.
  [[nodiscard]] bool CutFew(Pouring& pouring, std::int64_t unit) {
    const std::int32_t edges = pouring.classes() == 0 ? 0 : pouring.End(pouring.classes() - 1);
    std::int32_t broken = 0;
    for (std::int32_t e = 0; e < edges; e++) broken += pouring.Flow(e) % unit != 0 ? 1 : 0;
    if (broken < 4) return true;
    const std::size_t ends = At(pouring.classes()) + At(pouring.ports());
    if (!GrowTo(first_, ends) || !GrowTo(previous_, ends) || !GrowTo(via_, ends) || !GrowTo(queue_, ends) ||
        !GrowTo(seen_, ends) || !GrowTo(next_, 2 * At(edges))) {
      return false;
    }
    for (std::size_t i = 0; i < ends; i++) first_[i] = kNone;
    for (std::int32_t e = 0; e < edges; e++) {
      if (pouring.Flow(e) % unit != 0) Insert(pouring, e, unit);
    }
    return true;
  }

 private:
  void Insert(Pouring& pouring, std::int32_t edge, std::int64_t unit) {
    const std::int32_t top = pouring.ClassOf(edge);
    const std::int32_t bottom = pouring.classes() + pouring.PortOf(edge);
    if (Connect(pouring, top, bottom)) {
      // The ways back from the port: edges lose and gain in turn, the first and the last lose.
      std::int64_t amount = unit - pouring.Flow(edge) % unit;
      bool loses = true;
      for (std::int32_t at = bottom; at != top; at = previous_[At(at)], loses = !loses) {
        const std::int64_t part = pouring.Flow(via_[At(at)]) % unit;
        const std::int64_t room = loses ? part : unit - part;
        if (room < amount) amount = room;
      }
      pouring.AddFlow(edge, amount);
      loses = true;
      for (std::int32_t at = bottom; at != top; at = previous_[At(at)], loses = !loses) {
        const std::int32_t on = via_[At(at)];
        pouring.AddFlow(on, loses ? -amount : amount);
        if (pouring.Flow(on) % unit == 0) Unlink(pouring, on);
      }
    }
    if (pouring.Flow(edge) % unit != 0) Link(pouring, edge);
  }

  // Searches the forest from one end to another; the way back is in previous_ and via_.
  bool Connect(const Pouring& pouring, std::int32_t from, std::int32_t to) {
    if (++search_ == 0) {
      seen_.Fill(0);
      search_ = 1;
    }
    seen_[At(from)] = search_;
    queue_[0] = from;
    std::int32_t reached = 1;
    for (std::int32_t taken = 0; taken < reached; taken++) {
      const std::int32_t at = queue_[At(taken)];
      const std::int32_t side = at < pouring.classes() ? 0 : 1;
      for (std::int32_t e = first_[At(at)]; e != kNone; e = next_[2 * At(e) + At(side)]) {
        const std::int32_t other = side == 0 ? pouring.classes() + pouring.PortOf(e) : pouring.ClassOf(e);
        if (seen_[At(other)] == search_) continue;
        seen_[At(other)] = search_;
        previous_[At(other)] = at;
        via_[At(other)] = e;
        if (other == to) return true;
        queue_[At(reached++)] = other;
      }
    }
    return false;
  }

  static std::int32_t EndOf(const Pouring& pouring, std::int32_t edge, std::int32_t side) {
    return side == 0 ? pouring.ClassOf(edge) : pouring.classes() + pouring.PortOf(edge);
  }

  void Link(const Pouring& pouring, std::int32_t edge) {
    for (std::int32_t side = 0; side < 2; side++) {
      std::int32_t& first = first_[At(EndOf(pouring, edge, side))];
      next_[2 * At(edge) + At(side)] = first;
      first = edge;
    }
  }

  void Unlink(const Pouring& pouring, std::int32_t edge) {
    for (std::int32_t side = 0; side < 2; side++) {
      std::int32_t* at = &first_[At(EndOf(pouring, edge, side))];
      while (*at != edge) at = &next_[2 * At(*at) + At(side)];
      *at = next_[2 * At(edge) + At(side)];
    }
  }

  // Lists of edges by their two ends: a class c as c, a port k as classes + k.
  Buffer<std::int32_t> first_;                   // [ends]
  Buffer<std::int32_t> next_;                    // [2 * edges] the next edge at its class, at its port
  Buffer<std::int32_t> previous_, via_, queue_;  // [ends]
  Buffer<std::uint32_t> seen_;                   // [ends]
  std::uint32_t search_ = 0;
};

}  // namespace banyan

#endif  // BANYAN_KERNELS_BALANCE_WHOLE_H_
