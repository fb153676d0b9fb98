// Events of a network in order of (time, sequence number).
//
// A link frees and delivers after delays of which there are few different ones, and events are scheduled in time order. So one
// first-in-first-out ring per different delay holds its events sorted, and a heap over the rings' first events, of as many
// places as there are different delays, says which is next: O(1) an event where links are equal, O(log links) at worst.
#ifndef BANYAN_KERNELS_REPLAY_QUEUE_H_
#define BANYAN_KERNELS_REPLAY_QUEUE_H_

#include <cstdint>
#include <cstdlib>

#include "buffer.h"
#include "lists.h"

namespace banyan {

struct Event {
  std::int64_t time;
  std::uint32_t sequence;
  std::int32_t payload;
};

class EventRings {
 public:
  EventRings() = default;
  ~EventRings() {
    for (std::size_t i = 0; i < rings_.size(); i++) std::free(rings_[i].storage);
  }
  EventRings(const EventRings&) = delete;
  EventRings& operator=(const EventRings&) = delete;

  [[nodiscard]] bool Allocate(std::size_t rings) { return rings_.Allocate(rings) && heap_.Allocate(rings); }

  [[nodiscard]] bool empty() const { return heaped_ == 0; }

  /// Puts an event behind the others of its ring, none of which is later. False when the memory cannot be had.
  [[nodiscard]] bool Push(std::int32_t ring_index, const Event& event) {
    Ring& ring = rings_[At(ring_index)];
    if (ring.size == ring.capacity && !Grow(ring)) return false;
    ring.storage[(ring.head + ring.size) & (ring.capacity - 1)] = event;
    if (ring.size++ == 0) SiftUp(heaped_++, Head{event.time, event.sequence, ring_index});
    return true;
  }

  /// Takes the first event out; there is one.
  Event Pop() {
    const std::int32_t top = heap_[0].ring;
    Ring& ring = rings_[At(top)];
    const Event event = ring.storage[ring.head];
    ring.head = (ring.head + 1) & (ring.capacity - 1);
    if (--ring.size > 0) {
      const Event& next = ring.storage[ring.head];
      SiftDown(Head{next.time, next.sequence, top});
    } else if (--heaped_ > 0) {
      SiftDown(heap_[heaped_]);
    }
    return event;
  }

 private:
  struct Ring {
    std::size_t head = 0;
    std::size_t size = 0;
    std::size_t capacity = 0;  // a power of two
    Event* storage = nullptr;
  };
  // The first event of a ring.
  struct Head {
    std::int64_t time;
    std::uint32_t sequence;
    std::int32_t ring;
  };

  static bool Before(const Head& a, const Head& b) {
    return a.time != b.time ? a.time < b.time : a.sequence < b.sequence;
  }

  [[nodiscard]] static bool Grow(Ring& ring) {
    const std::size_t capacity = ring.capacity == 0 ? 16 : 2 * ring.capacity;
    if (capacity > SIZE_MAX / sizeof(Event) / 2) return false;
    auto* storage = static_cast<Event*>(std::malloc(capacity * sizeof(Event)));
    if (storage == nullptr) return false;
    for (std::size_t i = 0; i < ring.size; i++) storage[i] = ring.storage[(ring.head + i) & (ring.capacity - 1)];
    std::free(ring.storage);
    ring.storage = storage;
    ring.capacity = capacity;
    ring.head = 0;
    return true;
  }

  void SiftUp(std::size_t at, const Head& moved) {
    while (at > 0) {
      const std::size_t up = (at - 1) / 2;
      if (Before(heap_[up], moved)) break;
      heap_[at] = heap_[up];
      at = up;
    }
    heap_[at] = moved;
  }

  // Moves an event in place of the first one.
  void SiftDown(const Head moved) {
    std::size_t at = 0;
    for (std::size_t child = 1; child < heaped_; child = 2 * at + 1) {
      if (child + 1 < heaped_ && Before(heap_[child + 1], heap_[child])) child++;
      if (Before(moved, heap_[child])) break;
      heap_[at] = heap_[child];
      at = child;
    }
    heap_[at] = moved;
  }

  Buffer<Ring> rings_;
  Buffer<Head> heap_;  // [rings] of those that are not empty, least first
  std::size_t heaped_ = 0;
};

}  // namespace banyan

#endif  // BANYAN_KERNELS_REPLAY_QUEUE_H_
