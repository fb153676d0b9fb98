// Transfers under way in order of their ends, four bytes each: routes of one
// slot length depart in order of time, so those that end at one instant stand
// together, and the instant is kept once. No twin: JavaScript keeps the
// arrivals of ten.ts in the same order.
#ifndef BANYAN_KERNELS_MATCH_QUEUE_H_
#define BANYAN_KERNELS_MATCH_QUEUE_H_

#include <cstdint>
#include <cstdlib>

#include "buffer.h"
#include "lists.h"
#include "ten.h"

namespace banyan {

/// A growing first-in-first-out list, empty where all bytes are zeros; the
/// owner frees `storage`.
template <typename T>
struct Ring {
  T* storage;
  std::size_t capacity;  // zero or a power of two
  std::size_t head;
  std::size_t tail;

  [[nodiscard]] bool Empty() const { return head == tail; }
  [[nodiscard]] T& Head() const { return storage[head & (capacity - 1)]; }
  [[nodiscard]] T& Last() const { return storage[(tail - 1) & (capacity - 1)]; }
  /// False when there is no memory.
  [[nodiscard]] bool Push(T item) {
    if (tail - head == capacity && !Grow()) return false;
    storage[tail++ & (capacity - 1)] = item;
    return true;
  }

 private:
  [[nodiscard]] bool Grow() {
    const std::size_t larger = capacity == 0 ? 64 : capacity * 2;
    auto* copy = static_cast<T*>(std::malloc(larger * sizeof(T)));
    if (copy == nullptr) return false;
    for (std::size_t i = head; i < tail; i++) copy[i & (larger - 1)] = storage[i & (capacity - 1)];
    std::free(storage);
    storage = copy;
    capacity = larger;
    return true;
  }
};

/// One queue for each of `ranks` slot lengths. O(1) per push, O(ranks) per
/// instant.
class DepartureQueue {
 public:
  DepartureQueue() = default;
  ~DepartureQueue() {
    for (std::size_t i = 0; i < lanes_.size(); i++) {
      std::free(lanes_[i].routes.storage);
      std::free(lanes_[i].instants.storage);
    }
  }
  DepartureQueue(const DepartureQueue&) = delete;
  DepartureQueue& operator=(const DepartureQueue&) = delete;

  [[nodiscard]] bool Allocate(std::int32_t ranks) { return lanes_.Allocate(At(ranks)); }

  /// `end` must be positive and not below the last pushed to the same rank.
  /// False when there is no memory.
  [[nodiscard]] bool Push(std::int32_t rank, Time end, std::int32_t route) {
    Lane& lane = lanes_[At(rank)];
    if (lane.last != end) {
      if (!lane.instants.Push(Instant{end, lane.routes.tail})) return false;
      lane.last = end;
    }
    return lane.routes.Push(route);
  }

  /// The least end in the queue, or kNever.
  [[nodiscard]] Time NextTime() const {
    Time next = kNever;
    for (std::size_t i = 0; i < lanes_.size(); i++) {
      const Ring<Instant>& instants = lanes_[i].instants;
      if (!instants.Empty() && instants.Head().end < next) next = instants.Head().end;
    }
    return next;
  }

  /// Takes all routes whose transfers end at exactly `time`, lower ranks first:
  /// visit(routes, count) for each rank, where routes(k) is the k-th.
  template <typename Visit>
  void TakeAll(Time time, Visit visit) {
    for (std::size_t i = 0; i < lanes_.size(); i++) {
      Lane& lane = lanes_[i];
      if (lane.instants.Empty() || lane.instants.Head().end != time) continue;
      lane.instants.head++;
      const std::size_t head = lane.routes.head;
      const std::size_t behind = lane.instants.Empty() ? lane.routes.tail : lane.instants.Head().first;
      const std::int32_t* routes = lane.routes.storage;
      const std::size_t mask = lane.routes.capacity - 1;
      visit([=](std::size_t k) { return routes[(head + k) & mask]; }, behind - head);
      lane.routes.head = behind;
    }
  }

 private:
  struct Instant {
    Time end;
    std::size_t first;  // of its routes
  };
  struct Lane {
    Ring<std::int32_t> routes;
    Ring<Instant> instants;
    Time last;  // end of the last instant
  };

  Buffer<Lane> lanes_;
};

}  // namespace banyan

#endif  // BANYAN_KERNELS_MATCH_QUEUE_H_
