// Arrivals that wait for their planned times, which are asked for in ascending order.
//
// A radix heap: entry e lies in the bucket of the highest bit in which its time differs from the time asked for last. What is
// asked for next overtakes all buckets below the highest bit in which it differs itself, and scatters that one. So an arrival is
// moved at most once a bit, mostly with all others of its time, and memory is O(arrivals that wait).
#ifndef BANYAN_KERNELS_REPLAY_DUE_H_
#define BANYAN_KERNELS_REPLAY_DUE_H_

#include <bit>
#include <cstddef>
#include <cstdint>

#include "buffer.h"

namespace banyan {

struct DueArrival {
  std::uint64_t planned;
  double time;         // when it arrives in the replay
  std::int64_t place;  // where; in sums inverted (~)
};

class DueArrivals {
 public:
  /// Adds what is planned after the time asked for last. False when the memory cannot be had.
  [[nodiscard]] bool Add(const DueArrival& arrival) {
    Bucket& bucket = buckets_[std::bit_width(arrival.planned ^ now_)];
    if (bucket.count == bucket.arrivals.size() && !GrowTo(bucket.arrivals, bucket.count + 8)) return false;
    bucket.arrivals[bucket.count++] = arrival;
    return true;
  }

  /// Takes out what is planned by `now`, which is no earlier than at the last call, by `arrive(arrivals, count)`, in no
  /// particular order. False when the memory cannot be had.
  template <typename Arrive>
  [[nodiscard]] bool Take(std::uint64_t now, Arrive&& arrive) {
    if (now == now_) return true;
    const auto highest = static_cast<std::size_t>(std::bit_width(now ^ now_));
    now_ = now;
    for (std::size_t b = 1; b < highest; b++) {
      arrive(buckets_[b].arrivals.data(), buckets_[b].count);
      buckets_[b].count = 0;
    }
    Bucket& scattered = buckets_[highest];
    std::size_t due = 0;
    for (std::size_t i = 0; i < scattered.count; i++) {
      const DueArrival arrival = scattered.arrivals[i];
      if (arrival.planned <= now) {
        scattered.arrivals[due++] = arrival;
      } else if (!Add(arrival)) {
        return false;
      }
    }
    arrive(scattered.arrivals.data(), due);
    scattered.count = 0;
    return true;
  }

 private:
  struct Bucket {
    Buffer<DueArrival> arrivals;
    std::size_t count = 0;
  };
  std::uint64_t now_ = 0;
  Bucket buckets_[65];
};

}  // namespace banyan

#endif  // BANYAN_KERNELS_REPLAY_DUE_H_
