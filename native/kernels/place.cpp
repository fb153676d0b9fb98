#include "place.h"

#include <algorithm>

#include "lists.h"
#include "ten.h"

namespace banyan {
namespace {

// A transfer or a route with the key by which it is served.
struct Entry {
  Time key;
  std::int32_t index;
};

// What is read of a transfer when it becomes ready and when it ends: together, as most accesses miss the caches.
struct Transfer {
  Time key;
  std::int32_t route;
  std::int32_t successors_begin;
  std::int32_t successors_end;
};

constexpr std::int32_t kBatch = 32;  // arrivals taken at a time

bool Before(const Entry& a, const Entry& b) { return a.key != b.key ? a.key < b.key : a.index < b.index; }
bool After(const Entry& a, const Entry& b) { return Before(b, a); }

class Placer {
 public:
  Placer(const PlaceProblem& problem, double* start_ps)
      : problem_(problem), network_(problem.network), start_ps_(start_ps) {}

  [[nodiscard]] BanyanStatus Run(BanyanCancelled cancelled, const void* context) {
    if (!Build()) return kBanyanOutOfMemory;
    for (std::int32_t i = 0; i < problem_.transfer_count; i++) {
      if (waits_[At(i)] == 0) MakeReady(i);
    }
    std::uint32_t polls = 0;
    for (Time now = 0;;) {
      LaunchOpen(now);
      if (failed_) return kBanyanOutOfMemory;
      if ((polls++ & 63) == 0 && cancelled != nullptr && cancelled(context) != 0) return kBanyanCancelled;
      now = queue_.NextTime();
      if (now == kNever) break;
      if (now > kLatest) return kBanyanTimeOverflow;
      for (std::int32_t count = kBatch; count == kBatch;) {
        Arrival batch[kBatch];
        count = queue_.Pop(now, batch, kBatch);
        PrefetchSuccessors(batch, count);
        for (std::int32_t i = 0; i < count; i++) Complete(batch[i].route);
      }
    }
    return placed_ == problem_.transfer_count ? kBanyanOk : kBanyanBadArgument;
  }

 private:
  [[nodiscard]] bool Build() {
    const auto transfers = At(problem_.transfer_count);
    const auto routes = At(network_.route_count);
    if (!ranks_.Build(network_) || !resources_.Allocate(network_) || !queue_.Allocate(ranks_.count)) return false;
    if (!transfers_.Allocate(transfers) || !waits_.Allocate(transfers) || !heap_.Allocate(transfers)) return false;
    if (!heap_begin_.Allocate(routes + 1) || !heap_size_.Allocate(routes) || !carried_.Allocate(routes)) return false;
    if (!marked_.Allocate(routes) || !open_.Allocate(routes) || !rivals_.Allocate(routes)) return false;
    carried_.Fill(kNone);
    for (std::size_t i = 0; i < transfers; i++) {
      const std::int32_t* successors = problem_.successor_offset + i;
      transfers_[i] = Transfer{static_cast<Time>(problem_.key[i]), problem_.route[i], successors[0], successors[1]};
      heap_begin_[At(problem_.route[i]) + 1]++;
    }
    for (std::size_t r = 0; r < routes; r++) heap_begin_[r + 1] += heap_begin_[r];
    const std::int32_t successors = problem_.successor_offset[transfers];
    for (std::int32_t k = 0; k < successors; k++) waits_[At(problem_.successor[k])]++;
    return BuildUsers();
  }

  // The routes that use each resource: they are tried again when it frees.
  [[nodiscard]] bool BuildUsers() {
    const std::int32_t uses = network_.use_count;
    Buffer<std::int32_t> route_of_use;
    if (!route_of_use.Allocate(At(uses))) return false;
    for (std::int32_t r = 0; r < network_.route_count; r++) {
      for (std::int32_t i = network_.use_offset[r]; i < network_.use_offset[r + 1]; i++) route_of_use[At(i)] = r;
    }
    if (!users_.Group(network_.use_resource, uses, network_.resource_count)) return false;
    for (std::size_t i = 0; i < users_.items.size(); i++) users_.items[i] = route_of_use[At(users_.items[i])];
    return true;
  }

  void Mark(std::int32_t route) {
    if (marked_[At(route)] != 0 || carried_[At(route)] != kNone || heap_size_[At(route)] == 0) return;
    marked_[At(route)] = 1;
    open_[At(open_count_++)] = route;
  }

  void MakeReady(std::int32_t transfer) {
    const std::int32_t route = transfers_[At(transfer)].route;
    Entry* heap = heap_.data() + heap_begin_[At(route)];
    const std::int32_t size = ++heap_size_[At(route)];
    heap[size - 1] = Entry{transfers_[At(transfer)].key, transfer};
    std::push_heap(heap, heap + size, After);
    Mark(route);
  }

  void Launch(std::int32_t route, Time now) {
    Entry* heap = heap_.data() + heap_begin_[At(route)];
    const std::int32_t transfer = heap[0].index;
    std::pop_heap(heap, heap + heap_size_[At(route)], After);
    heap_size_[At(route)]--;
    start_ps_[transfer] = static_cast<double>(now);
    carried_[At(route)] = transfer;
    placed_++;
    const std::int32_t rank = ranks_.rank[At(route)];
    if (!queue_.Push(rank, Arrival{now + ranks_.slot[At(rank)], route, 0})) failed_ = true;
  }

  void LaunchOpen(Time now) {
    std::int32_t rivals = 0;
    for (std::int32_t i = 0; i < open_count_; i++) {
      const std::int32_t route = open_[At(i)];
      marked_[At(route)] = 0;
      if (!Shared(network_, route)) {
        Launch(route, now);
      } else if (resources_.Free(route)) {
        rivals_[At(rivals++)] = Entry{heap_[At(heap_begin_[At(route)])].key, route};
      }
    }
    open_count_ = 0;
    std::sort(rivals_.data(), rivals_.data() + rivals, Before);
    for (std::int32_t i = 0; i < rivals; i++) {
      const std::int32_t route = rivals_[At(i)].index;
      if (!resources_.Free(route)) continue;
      resources_.Take(route);
      Launch(route, now);
    }
  }

  // Most accesses miss the caches: asks early for what Complete will read. No twin.
  [[gnu::always_inline]] void PrefetchSuccessors(const Arrival* batch, std::int32_t count) const {
    for (std::int32_t i = 0; i < count; i++) {
      __builtin_prefetch(problem_.successor + transfers_[At(carried_[At(batch[i].route)])].successors_begin);
    }
    for (std::int32_t i = 0; i < count; i++) {
      const Transfer& done = transfers_[At(carried_[At(batch[i].route)])];
      for (std::int32_t k = done.successors_begin; k < done.successors_end; k++) {
        __builtin_prefetch(&waits_[At(problem_.successor[k])], 1);
      }
    }
  }

  void Complete(std::int32_t route) {
    const Transfer& done = transfers_[At(carried_[At(route)])];
    carried_[At(route)] = kNone;
    Mark(route);
    if (Shared(network_, route)) {
      resources_.Release(route);
      for (std::int32_t i = network_.use_offset[route]; i < network_.use_offset[route + 1]; i++) {
        const std::int32_t resource = network_.use_resource[i];
        for (std::int32_t j = users_.Begin(resource); j < users_.End(resource); j++) Mark(users_.items[At(j)]);
      }
    }
    for (std::int32_t k = done.successors_begin; k < done.successors_end; k++) {
      const std::int32_t next = problem_.successor[k];
      if (--waits_[At(next)] == 0) MakeReady(next);
    }
  }

  const PlaceProblem& problem_;
  const BanyanNetwork& network_;
  double* start_ps_;

  SlotRanks ranks_;
  Resources resources_;
  ArrivalQueue queue_;
  Lists users_;  // routes that use each resource

  Buffer<Transfer> transfers_;       // [transfers]
  Buffer<std::int32_t> waits_;       // [transfers] arrivals that it still waits for
  Buffer<Entry> heap_;               // [transfers] ready transfers, least first, route by route (I1)
  Buffer<std::int32_t> heap_begin_;  // [routes + 1]
  Buffer<std::int32_t> heap_size_;   // [routes]
  Buffer<std::int32_t> carried_;     // [routes] transfer under way, or kNone
  Buffer<std::uint8_t> marked_;      // [routes] it stands in open_
  Buffer<std::int32_t> open_;        // [routes] routes to try at this instant
  Buffer<Entry> rivals_;             // [routes] scratch: of these, those that share resources and fit
  std::int32_t open_count_ = 0;
  std::int32_t placed_ = 0;
  bool failed_ = false;
};

}  // namespace

BanyanStatus Place(const PlaceProblem& problem, BanyanCancelled cancelled, const void* context, double* start_ps) {
  Placer placer(problem, start_ps);
  return placer.Run(cancelled, context);
}

}  // namespace banyan
