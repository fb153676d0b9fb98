// The replay as messages in a store-and-forward network. A transfer is handed to the first link of its route when its chunk is at
// the source and, in planned order, when those planned before it on that link have been handed over; what becomes ready at
// the same event goes in planned order. The twin of src/model/replay/replay.ts and holdings.ts.
#ifndef BANYAN_KERNELS_REPLAY_EVENTS_H_
#define BANYAN_KERNELS_REPLAY_EVENTS_H_

#include <cstdint>
#include <initializer_list>

#include "../abi.h"
#include "buffer.h"
#include "lists.h"
#include "replay_network.h"
#include "replay_plan.h"

namespace banyan {

class EventReplay {
 public:
  EventReplay(const BanyanReplay& problem, BanyanReplayed* out) : problem_(problem), out_(out), network_(problem) {}

  [[nodiscard]] BanyanStatus Run(BanyanCancelled cancelled, const void* context) {
    const std::int32_t count = problem_.row_count;
    if (!Build()) return kBanyanOutOfMemory;
    if (!CountArrivals()) return kBanyanOk;
    if (!BuildPlaces() || !LineUp()) return kBanyanOutOfMemory;
    if (cancelled != nullptr && cancelled(context) != 0) return kBanyanCancelled;
    SendFirst();
    std::int32_t arrived = 0;
    while (!network_.empty() && !network_.failed() && !network_.late()) {
      const std::int32_t row = network_.Advance();
      if (row == kNone) continue;
      arrived++;
      if ((arrived & 16383) == 0 && cancelled != nullptr && cancelled(context) != 0) return kBanyanCancelled;
      Arrive(row);
    }
    if (network_.failed()) return kBanyanOutOfMemory;
    if (network_.late()) {
      out_->outcome = kBanyanLate;
      return kBanyanOk;
    }
    network_.WriteBusy(out_->link_busy);
    return arrived == count ? kBanyanOk : kBanyanBadArgument;
  }

 private:
  // What a departure needs, and what an arrival is.
  struct Turn {
    std::int32_t needed;    // arrivals planned at the source by the departure
    std::int32_t turn;      // of its arrival among those planned at the target
    std::int32_t follower;  // next row that begins with the same link, or kNone
    std::int32_t source;    // the follower's
  };
  // Copies: `known` is the first planned arrival that has come, -1 where the chunk is there from the start. Sums: so many
  // have come without a gap.
  struct Place {
    std::int32_t known;
    std::int32_t early;  // sums: arrivals behind the gap; kNone: copies
    std::int32_t first;  // rows that wait for it, soonest ready first: sums ascending, copies descending
    std::int32_t last;
  };

  [[nodiscard]] bool Build() {
    const auto rows = At(problem_.row_count);
    if (!plan_.Build(problem_) || !by_arrival_.Build(problem_.planned_end, problem_.row_count)) return false;
    if (!turns_.Allocate(rows)) return false;
    if (!arrivals_.Allocate(At(plan_.places))) return false;
    return network_.Allocate(problem_.row_count, out_->start, out_->hop_start);
  }

  // False for a row whose chunk is never at its source.
  bool CountArrivals() {
    const std::int32_t count = problem_.row_count;
    std::int32_t next = 0;
    for (std::int32_t i = 0; i < count; i++) {
      for (; next < count; next++) {
        const std::int32_t j = by_arrival_[next];
        if (problem_.planned_end[j] > problem_.planned_start[i]) break;
        turns_[At(j)].turn = arrivals_[At(plan_.ends[At(j)].target)]++;
      }
      const std::int32_t source = plan_.ends[At(i)].source;
      const std::int32_t needed = arrivals_[At(source)];
      turns_[At(i)].needed = needed;
      if (needed == 0 && plan_.initial[At(source)] == 0) {
        out_->outcome = kBanyanRefused;
        out_->row = i;
        return false;
      }
    }
    for (; next < count; next++) {
      const std::int32_t j = by_arrival_[next];
      turns_[At(j)].turn = arrivals_[At(plan_.ends[At(j)].target)]++;
    }
    return true;
  }

  [[nodiscard]] bool BuildPlaces() {
    const auto places = At(plan_.places);
    if (!places_.Allocate(places)) return false;
    bool has_sums = false;
    std::size_t place = 0;
    for (std::int32_t k = 0; k < problem_.collective_count; k++) {
      const bool sums = problem_.reduces[k] != 0;
      has_sums = has_sums || sums;
      for (; place < At(plan_.last_place[At(k)]); place++) {
        const std::int32_t known = sums ? 0 : plan_.initial[place] != 0 ? -1 : INT32_MAX;
        places_[place] = Place{known, sums ? 0 : kNone, kNone, kNone};
      }
    }
    if (!has_sums) return true;
    // arrivals become where they begin
    std::int32_t begin = 0;
    for (place = 0; place < places; place++) {
      const std::int32_t many = arrivals_[place];
      arrivals_[place] = begin;
      begin += many;
    }
    return arrived_.Allocate(At(problem_.row_count));
  }

  // Enlists all rows with the network and, in planned order, behind the row that begins with the same link.
  [[nodiscard]] bool LineUp() {
    const bool is_ordered = problem_.mode == kBanyanStoreAndForward;
    Buffer<std::int32_t> last;
    if (!last.Allocate(At(problem_.link_count)) || !at_head_.Allocate(At(problem_.row_count))) return false;
    last.Fill(kNone);
    for (std::int32_t i = 0; i < problem_.row_count; i++) {
      if (!network_.Enlist(i, plan_.Collective(i))) return false;
      turns_[At(i)].follower = kNone;
      std::int32_t& before = last[At(problem_.links[problem_.link_offset[problem_.route[i]]])];
      if (before == kNone || !is_ordered) {
        at_head_[At(i)] = 1;
      } else {
        turns_[At(before)].follower = i;
        turns_[At(before)].source = plan_.ends[At(i)].source;
      }
      before = i;
    }
    return true;
  }

  // Whether what the row needs is at its source.
  [[nodiscard]] bool IsReady(std::int32_t row, const Place& place) const {
    const std::int32_t needed = turns_[At(row)].needed;
    return place.early == kNone ? place.known < needed : place.known >= needed;
  }

  // Puts a row among those that wait for its source.
  void Park(std::int32_t row, Place& place) {
    const Turn& turn = turns_[At(row)];
    if (turn.follower != kNone) {
      __builtin_prefetch(&turns_[At(turn.follower)]);
      __builtin_prefetch(&places_[At(turn.source)], 1);
    }
    // later rows need no fewer contributions, and of copies have no fewer to choose from
    const bool copies = place.early == kNone;
    std::int32_t before = place.last != kNone && (place.last > row) == copies ? place.last : kNone;
    std::int32_t after = before != kNone ? kNone : place.first;
    while (after != kNone && (after > row) == copies) {
      before = after;
      after = network_.Next(after);
    }
    network_.Next(row) = after;
    if (before == kNone) {
      place.first = row;
    } else {
      network_.Next(before) = row;
    }
    if (after == kNone) place.last = row;
  }

  // At time 0 in planned order over all links: a row's turn comes when it is at the head of its link's order.
  void SendFirst() {
    for (std::int32_t row = 0; row < problem_.row_count; row++) {
      if (at_head_[At(row)] == 0) continue;
      Place& source = places_[At(plan_.ends[At(row)].source)];
      if (!IsReady(row, source)) {
        Park(row, source);
        continue;
      }
      Send(row);
      const std::int32_t follower = turns_[At(row)].follower;
      if (follower != kNone) at_head_[At(follower)] = 1;
    }
  }

  // Hands a row to its first link. Most accesses to places miss the caches, so it asks early for what its arrival will read.
  void Send(std::int32_t row) {
    __builtin_prefetch(&places_[At(plan_.ends[At(row)].target)], 1);
    network_.Enter(row);
  }

  // Hands over a row that is at the head of its link's order, and those behind it that are ready.
  void HandOver(std::int32_t head, std::int32_t source) {
    std::int32_t place = source;
    for (std::int32_t row = head; row != kNone;) {
      if (!IsReady(row, places_[At(place)])) {
        Park(row, places_[At(place)]);
        return;
      }
      Send(row);
      place = turns_[At(row)].source;
      row = turns_[At(row)].follower;
    }
  }

  void Arrive(std::int32_t row) {
    out_->last = static_cast<double>(network_.now());
    if (out_->end != nullptr) out_->end[row] = out_->last;
    const std::int32_t turn = turns_[At(row)].turn;
    const std::int32_t target = plan_.ends[At(row)].target;
    Place& place = places_[At(target)];
    if (place.early == kNone) {
      if (turn < place.known) place.known = turn;
    } else if (turn == place.known) {
      place.known++;
      for (; place.early > 0 && arrived_[At(arrivals_[At(target)] + place.known)] != 0; place.early--) place.known++;
    } else {
      arrived_[At(arrivals_[At(target)] + turn)] = 1;
      place.early++;
    }
    Wake(target, place);
  }

  // Hands over the rows that are ready now, in planned order.
  void Wake(std::int32_t source, Place& place) {
    std::int32_t ready = kNone;
    while (place.first != kNone && IsReady(place.first, place)) {
      const std::int32_t row = place.first;
      place.first = network_.Next(row);
      if (place.first == kNone) place.last = kNone;
      if (place.early == kNone) {
        network_.Next(row) = ready;
        ready = row;
      } else {
        HandOver(row, source);
      }
    }
    while (ready != kNone) {
      const std::int32_t next = network_.Next(ready);
      HandOver(ready, source);
      ready = next;
    }
  }

  const BanyanReplay& problem_;
  BanyanReplayed* out_;
  ReplayPlaces plan_;
  ArrivalOrder by_arrival_;
  MessageNetwork network_;
  Buffer<Turn> turns_;             // [rows]
  Buffer<Place> places_;           // [places]
  Buffer<std::int32_t> arrivals_;  // [places] planned arrivals; with sums, where they begin
  Buffer<std::uint8_t> arrived_;   // [rows] place by place, in the order of turns
  Buffer<std::uint8_t> at_head_;   // [rows] it begins the order of its first link
};

}  // namespace banyan

#endif  // BANYAN_KERNELS_REPLAY_EVENTS_H_
