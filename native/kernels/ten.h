// What the matchings on the time-expanded network share: index lists, resources, and the queue of arrivals.
//
// Arrivals: transfers over routes of one slot length depart in time order, so one first-in-first-out queue per distinct
// slot length holds them sorted, and the next arrival is the least of the queues' heads. No heap; equal times compare
// equal because times are integers. O(1) per push, O(number of distinct slot lengths) per instant.
#ifndef BANYAN_KERNELS_TEN_H_
#define BANYAN_KERNELS_TEN_H_

#include <cstdint>

#include "../abi.h"
#include "buffer.h"

namespace banyan {

using Time = std::int64_t;

constexpr Time kNever = INT64_MAX;
constexpr Time kLatest = (Time{1} << 53) - 1;  // times leave the kernels as doubles

/// Lists of indices: list i is items[offset[i] .. offset[i + 1]].
struct Lists {
  Buffer<std::int32_t> offset;
  Buffer<std::int32_t> items;

  /// Groups 0 .. count - 1 by keys[i] in [0, key_count), each list ascending. Keys of -1 are left out.
  [[nodiscard]] bool Group(const std::int32_t* keys, std::int32_t count, std::int32_t key_count);
  [[nodiscard]] std::int32_t Begin(std::int32_t list) const { return offset[static_cast<std::size_t>(list)]; }
  [[nodiscard]] std::int32_t End(std::int32_t list) const { return offset[static_cast<std::size_t>(list) + 1]; }
};

/// The distinct slot lengths in ascending order, and each route's rank among them.
struct SlotRanks {
  Buffer<std::int32_t> rank;  // [routes]
  Buffer<Time> slot;          // [ranks]
  std::int32_t count = 0;

  [[nodiscard]] bool Build(const BanyanNetwork& network);
};

struct Arrival {
  Time time;
  std::int32_t route;
  std::uint32_t generation;
};

/// One growing ring of arrivals per slot rank.
class ArrivalQueue {
 public:
  [[nodiscard]] bool Allocate(std::int32_t ranks);
  /// `arrival.time` must not be below the last pushed to the same rank.
  [[nodiscard]] bool Push(std::int32_t rank, Arrival arrival);
  /// The least time in the queue, or kNever.
  [[nodiscard]] Time NextTime() const;
  /// Takes the next arrival at exactly `time`, lower ranks first; false when there is none.
  bool Pop(Time time, Arrival* arrival);

 private:
  struct Ring {
    std::size_t head = 0;
    std::size_t size = 0;
    std::size_t capacity = 0;  // a power of two
    Arrival* storage = nullptr;
  };
  Buffer<Ring> rings_;

 public:
  ~ArrivalQueue();
  ArrivalQueue() = default;
  ArrivalQueue(const ArrivalQueue&) = delete;
  ArrivalQueue& operator=(const ArrivalQueue&) = delete;
};

/// Units in use of every resource.
class Resources {
 public:
  [[nodiscard]] bool Allocate(const BanyanNetwork& network);
  [[nodiscard]] bool Free(std::int32_t route) const;
  void Take(std::int32_t route);
  void Release(std::int32_t route);
  /// Units of one resource still free.
  [[nodiscard]] std::int32_t Left(std::int32_t resource) const {
    return network_->capacity[resource] - used_[static_cast<std::size_t>(resource)];
  }

 private:
  const BanyanNetwork* network_ = nullptr;
  Buffer<std::int32_t> used_;
};

}  // namespace banyan

#endif  // BANYAN_KERNELS_TEN_H_
