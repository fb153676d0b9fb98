#include "place.h"

#include <algorithm>

#include "lists.h"
#include "ten.h"

namespace banyan {
namespace {

// A transfer with the key by which it is served.
struct Entry {
  Time key;
  std::int32_t index;
};

// A route that could start, and the freed resource that looks for its next one after it; kNone: none does.
struct Offer {
  Time key;
  std::int32_t route;
  std::int32_t resource;
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
bool IsLater(const Offer& a, const Offer& b) { return a.key != b.key ? a.key > b.key : a.route > b.route; }

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
    const auto shared = At(network_.resource_count);
    if (!marked_.Allocate(routes) || !open_.Allocate(routes) || !head_.Allocate(routes)) return false;
    if (!is_freed_.Allocate(shared) || !freed_.Allocate(shared) || !offers_.Allocate(routes + shared)) return false;
    carried_.Fill(kNone);
    head_.Fill(kNever);
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

  // The routes that use each resource, and the only other one that a route takes beside it: both whole. Else kNone.
  [[nodiscard]] bool BuildUsers() {
    if (!GroupUsers(network_, users_) || !beside_.Allocate(users_.items.size())) return false;
    for (std::int32_t resource = 0; resource < network_.resource_count; resource++) {
      for (std::int32_t j = users_.Begin(resource); j < users_.End(resource); j++) {
        const std::int32_t first = network_.use_offset[users_.items[At(j)]];
        const bool is_pair =
            network_.use_offset[users_.items[At(j)] + 1] == first + 2 && IsWhole(first) && IsWhole(first + 1);
        const std::int32_t other = network_.use_resource[first] == resource ? first + 1 : first;
        beside_[At(j)] = is_pair ? network_.use_resource[other] : kNone;
      }
    }
    return true;
  }

  [[nodiscard]] bool IsWhole(std::int32_t use) const {
    return network_.use_units[use] == network_.capacity[network_.use_resource[use]];
  }

  void MakeReady(std::int32_t transfer) {
    const std::int32_t route = transfers_[At(transfer)].route;
    Entry* heap = heap_.data() + heap_begin_[At(route)];
    const std::int32_t size = ++heap_size_[At(route)];
    heap[size - 1] = Entry{transfers_[At(transfer)].key, transfer};
    std::push_heap(heap, heap + size, After);
    if (carried_[At(route)] != kNone) return;
    head_[At(route)] = heap[0].key;
    Open(route);
  }

  void Open(std::int32_t route) {
    if (marked_[At(route)] != 0) return;
    marked_[At(route)] = 1;
    open_[At(open_count_++)] = route;
  }

  void Launch(std::int32_t route, Time now) {
    Entry* heap = heap_.data() + heap_begin_[At(route)];
    const std::int32_t transfer = heap[0].index;
    std::pop_heap(heap, heap + heap_size_[At(route)], After);
    heap_size_[At(route)]--;
    head_[At(route)] = kNever;
    start_ps_[transfer] = static_cast<double>(now);
    carried_[At(route)] = transfer;
    placed_++;
    const std::int32_t rank = ranks_.rank[At(route)];
    if (!queue_.Push(rank, Arrival{now + ranks_.slot[At(rank)], route, 0})) failed_ = true;
  }

  // Routes that became ready, then those that wait for what was freed. A route that can start now has one of both: each freed
  // resource offers the least of its routes that fit, so the least offer is the least of all.
  void LaunchOpen(Time now) {
    for (std::int32_t i = 0; i < open_count_; i++) {
      const std::int32_t route = open_[At(i)];
      marked_[At(route)] = 0;
      if (!Shared(network_, route)) {
        Launch(route, now);
      } else if (resources_.Free(route)) {
        Give(Offer{head_[At(route)], route, kNone});
      }
    }
    open_count_ = 0;
    for (std::int32_t i = 0; i < freed_count_; i++) OfferNext(freed_[At(i)]);
    while (offer_count_ > 0) {
      std::pop_heap(offers_.data(), offers_.data() + offer_count_, IsLater);
      const Offer offer = offers_[At(--offer_count_)];
      if (head_[At(offer.route)] != kNever && resources_.Free(offer.route)) {
        resources_.Take(offer.route);
        Launch(offer.route, now);
      }
      if (offer.resource != kNone) OfferNext(offer.resource);
    }
    for (std::int32_t i = 0; i < freed_count_; i++) is_freed_[At(freed_[At(i)])] = 0;
    freed_count_ = 0;
  }

  void Give(const Offer& offer) {
    offers_[At(offer_count_++)] = offer;
    std::push_heap(offers_.data(), offers_.data() + offer_count_, IsLater);
  }

  // Offers the least of the routes that use a resource, wait and fit; those whose other resource is freed as well and has a
  // lower number are left to that one.
  void OfferNext(std::int32_t resource) {
    if (resources_.Left(resource) == 0) return;
    const bool is_whole = resources_.Left(resource) == network_.capacity[resource];
    Offer least{kNever, kNone, resource};
    for (std::int32_t j = users_.Begin(resource); j < users_.End(resource); j++) {
      const std::int32_t route = users_.items[At(j)];
      const Time key = head_[At(route)];
      if (key >= least.key) continue;  // of equal keys the lowest route, which is met first
      const std::int32_t other = beside_[At(j)];
      if (other == kNone) {
        if (!resources_.Free(route)) continue;
      } else if (!is_whole || resources_.Left(other) != network_.capacity[other] ||
                 (is_freed_[At(other)] != 0 && other < resource)) {
        continue;
      }
      least.key = key;
      least.route = route;
    }
    if (least.route != kNone) Give(least);
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
    const bool is_ready = heap_size_[At(route)] > 0;
    if (is_ready) head_[At(route)] = heap_[At(heap_begin_[At(route)])].key;
    if (Shared(network_, route)) {
      resources_.Release(route);
      for (std::int32_t i = network_.use_offset[route]; i < network_.use_offset[route + 1]; i++) {
        const std::int32_t resource = network_.use_resource[i];
        if (is_freed_[At(resource)] != 0) continue;
        is_freed_[At(resource)] = 1;
        freed_[At(freed_count_++)] = resource;
      }
    } else if (is_ready) {
      Open(route);
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
  Lists users_;                  // routes that use each resource
  Buffer<std::int32_t> beside_;  // [users]

  Buffer<Transfer> transfers_;       // [transfers]
  Buffer<std::int32_t> waits_;       // [transfers] arrivals that it still waits for
  Buffer<Entry> heap_;               // [transfers] ready transfers, least first, route by route (I1)
  Buffer<std::int32_t> heap_begin_;  // [routes + 1]
  Buffer<std::int32_t> heap_size_;   // [routes]
  Buffer<std::int32_t> carried_;     // [routes] transfer under way, or kNone
  Buffer<Time> head_;            // [routes] key of what it would start next; kNever: nothing, or something is under way
  Buffer<std::uint8_t> marked_;  // [routes] it stands in open_
  Buffer<std::int32_t> open_;    // [routes] routes that became ready at this instant
  Buffer<std::uint8_t> is_freed_;  // [resources] it stands in freed_
  Buffer<std::int32_t> freed_;     // [resources] what was freed at this instant
  Buffer<Offer> offers_;           // [routes + resources] a heap, least first
  std::int32_t open_count_ = 0;
  std::int32_t freed_count_ = 0;
  std::int32_t offer_count_ = 0;
  std::int32_t placed_ = 0;
  bool failed_ = false;
};

}  // namespace

BanyanStatus Place(const PlaceProblem& problem, BanyanCancelled cancelled, const void* context, double* start_ps) {
  Placer placer(problem, start_ps);
  return placer.Run(cancelled, context);
}

}  // namespace banyan
