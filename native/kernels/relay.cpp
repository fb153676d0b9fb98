#include "relay.h"

#include <bit>

#include "lists.h"
#include "random.h"
#include "ten.h"

namespace banyan {
namespace {

class Relayer {
 public:
  Relayer(const RelayProblem& problem, BanyanCancelled cancelled, const void* context, BanyanTransfers* out)
      : problem_(problem),
        cancelled_(cancelled),
        context_(context),
        network_(problem.network),
        npus_(problem.network.npu_count),
        words_((At(problem.network.npu_count) + 31) / 32),
        out_(out) {}

  [[nodiscard]] BanyanStatus Run() {
    if (!Build()) return kBanyanOutOfMemory;
    for (std::int32_t c = 0; c < problem_.chunk_count; c++) {
      if (problem_.chunk_source[c] == problem_.chunk_target[c]) continue;
      Enqueue(problem_.chunk_source[c], c);
      waiting_chunks_++;
    }
    for (std::int32_t v = 0; v < npus_; v++) nodes_.Touch(v);
    Time now = 0;
    std::uint32_t polls = 0;
    for (;;) {
      for (std::int32_t i = 0; i < nodes_.count; i++) {
        nodes_.marks[At(nodes_.list[At(i)])] = 0;
        if (!Serve(nodes_.list[At(i)], now)) return kBanyanCancelled;
      }
      nodes_.count = 0;
      if (failed_) return kBanyanOutOfMemory;
      if ((polls++ & 63) == 0 && Cancelled()) return kBanyanCancelled;
      now = queue_.NextTime();
      if (now == kNever) break;
      if (now > kLatest) return kBanyanTimeOverflow;
      Arrival arrival{};
      while (queue_.Pop(now, &arrival, 1) == 1) {
        if (!Arrive(arrival.route)) return kBanyanOutputTooSmall;
      }
    }
    out_->count = static_cast<double>(written_);
    return waiting_chunks_ == 0 ? kBanyanOk : ReportUnreachable();
  }

 private:
  [[nodiscard]] bool Build() {
    const auto npus = At(npus_);
    const auto routes = At(network_.route_count);
    if (!ranks_.Build(network_) || !resources_.Allocate(network_) || !queue_.Allocate(ranks_.count)) return false;
    if (!out_routes_.Group(network_.route_source, network_.route_count, npus_)) return false;
    if (!position_.Allocate(npus * npus) || !head_.Allocate(npus * npus) || !tail_.Allocate(npus * npus)) return false;
    if (!next_.Allocate(At(problem_.chunk_count)) || !waiting_.Allocate(npus * words_)) return false;
    if (!carried_.Allocate(routes) || !start_.Allocate(routes) || !free_.Allocate(routes) ||
        !assigned_.Allocate(routes) || !visited_.Allocate(routes) || !trail_.Allocate(routes + 1) ||
        !nodes_.Allocate(npus)) {
      return false;
    }
    carried_.Fill(kNone);
    assigned_.Fill(kNone);
    head_.Fill(kNone);
    for (std::int32_t v = 0; v < npus_; v++) {
      for (std::int32_t i = 0; i < npus_; i++) position_[Pair(v, problem_.order[Pair(v, i)])] = i;
    }
    return BuildSenders();
  }

  // The NPUs whose routes use each resource: they are touched when it frees.
  [[nodiscard]] bool BuildSenders() {
    if (!GroupUsers(network_, senders_)) return false;
    for (std::size_t i = 0; i < senders_.items.size(); i++) {
      senders_.items[i] = network_.route_source[senders_.items[i]];
    }
    return true;
  }

  [[nodiscard]] std::size_t Pair(std::int32_t npu, std::int32_t other) const { return At(npu) * At(npus_) + At(other); }

  // --- queues: one per (NPU, target), first in first out ---------------------------------------------------------------
  void Enqueue(std::int32_t npu, std::int32_t chunk) {
    const std::int32_t target = problem_.chunk_target[chunk];
    const std::size_t queue = Pair(npu, target);
    next_[At(chunk)] = kNone;
    if (head_[queue] == kNone) {
      head_[queue] = chunk;
      const std::int32_t position = position_[queue];
      waiting_[At(npu) * words_ + At(position >> 5)] |= 1U << (position & 31);
    } else {
      next_[At(tail_[queue])] = chunk;
    }
    tail_[queue] = chunk;
  }

  std::int32_t Dequeue(std::int32_t npu, std::int32_t target) {
    const std::size_t queue = Pair(npu, target);
    const std::int32_t chunk = head_[queue];
    head_[queue] = next_[At(chunk)];
    if (head_[queue] == kNone) {
      const std::int32_t position = position_[queue];
      waiting_[At(npu) * words_ + At(position >> 5)] &= ~(1U << (position & 31));
    }
    return chunk;
  }

  // --- matching of an NPU's waiting targets to its free routes ---------------------------------------------------------
  [[nodiscard]] bool Closer(std::int32_t route, std::int32_t npu, std::int32_t target) const {
    return problem_.distance_ps[Pair(network_.route_target[route], target)] < problem_.distance_ps[Pair(npu, target)];
  }

  // Kuhn's augmenting step for one waiting chunk, without recursion: trail_[0 .. depth] are places in free_, each of a route
  // whose target looks for another at the next. Routes with resources are taken, never reassigned.
  bool Assign(std::int32_t npu, std::int32_t target) {
    std::int32_t depth = 0;
    std::int32_t unvisited = 0;  // the first place of a route that has not been visited
    trail_[0] = 0;
    for (;;) {
      if (trail_[At(depth)] == free_count_) {
        if (depth == 0) return false;
        trail_[At(--depth)]++;
        continue;
      }
      const std::int32_t route = free_[At(trail_[At(depth)])];
      const std::int32_t seeking = depth == 0 ? target : assigned_[At(free_[At(trail_[At(depth - 1)])])];
      if (visited_[At(route)] == stamp_ || !Closer(route, npu, seeking)) {
        trail_[At(depth)]++;
        continue;
      }
      visited_[At(route)] = stamp_;
      const bool is_taken = assigned_[At(route)] != kNone;
      if (Shared(network_, route)) {
        if (is_taken || !resources_.Free(route)) {
          trail_[At(depth)]++;
          continue;
        }
        resources_.Take(route);
      } else if (is_taken) {
        while (unvisited < free_count_ && visited_[At(free_[At(unvisited)])] == stamp_) unvisited++;
        trail_[At(++depth)] = unvisited;
        continue;
      }
      for (; depth > 0; depth--) {
        assigned_[At(free_[At(trail_[At(depth)])])] = assigned_[At(free_[At(trail_[At(depth - 1)])])];
      }
      assigned_[At(free_[At(trail_[0])])] = target;
      return true;
    }
  }

  void CollectFree(std::int32_t npu) {
    free_count_ = 0;
    for (std::int32_t i = out_routes_.Begin(npu); i < out_routes_.End(npu); i++) {
      const std::int32_t route = out_routes_.items[At(i)];
      if (carried_[At(route)] == kNone && resources_.Free(route)) free_[At(free_count_++)] = route;
    }
    Shuffle(free_.data(), free_count_, problem_.seed, serves_++);
  }

  // Free routes that could still be assigned: a port that has been taken closes all routes through it.
  [[nodiscard]] std::int32_t CountOpen() const {
    std::int32_t open = 0;
    for (std::int32_t i = 0; i < free_count_; i++) {
      const std::int32_t route = free_[At(i)];
      if (assigned_[At(route)] == kNone && resources_.Free(route)) open++;
    }
    return open;
  }

  [[nodiscard]] bool Cancelled() const { return cancelled_ != nullptr && cancelled_(context_) != 0; }

  // False when it was asked to stop.
  [[nodiscard]] bool Serve(std::int32_t npu, Time now) {
    CollectFree(npu);
    if (free_count_ == 0) return true;
    std::int32_t unassigned = free_count_;
    for (std::size_t word = 0; word < words_ && unassigned > 0; word++) {
      std::uint32_t bits = waiting_[At(npu) * words_ + word];
      while (bits != 0 && unassigned > 0) {
        const auto position = static_cast<std::int32_t>(word * 32) + std::countr_zero(bits);
        bits &= bits - 1;
        const std::int32_t target = problem_.order[Pair(npu, position)];
        for (std::int32_t chunk = head_[Pair(npu, target)]; chunk != kNone && unassigned > 0;
             chunk = next_[At(chunk)]) {
          if ((++stamp_ & 1023) == 0 && Cancelled()) return false;
          if (!Assign(npu, target)) break;
          unassigned = CountOpen();
        }
      }
    }
    for (std::int32_t i = 0; i < free_count_; i++) {
      const std::int32_t route = free_[At(i)];
      const std::int32_t target = assigned_[At(route)];
      if (target == kNone) continue;
      assigned_[At(route)] = kNone;
      carried_[At(route)] = Dequeue(npu, target);
      start_[At(route)] = now;
      const std::int32_t rank = ranks_.rank[At(route)];
      if (!queue_.Push(rank, Arrival{now + ranks_.slot[At(rank)], route, 0})) failed_ = true;
    }
    return true;
  }

  [[nodiscard]] bool Arrive(std::int32_t route) {
    if (static_cast<double>(written_) >= out_->room) return false;
    const std::int32_t chunk = carried_[At(route)];
    const std::int32_t npu = network_.route_target[route];
    const auto row = static_cast<std::size_t>(written_++);
    out_->chunk[row] = chunk;
    out_->route[row] = route;
    out_->start_ps[row] = static_cast<double>(start_[At(route)]);
    carried_[At(route)] = kNone;
    if (Shared(network_, route)) {
      resources_.Release(route);
      for (std::int32_t i = network_.use_offset[route]; i < network_.use_offset[route + 1]; i++) {
        const std::int32_t resource = network_.use_resource[i];
        for (std::int32_t j = senders_.Begin(resource); j < senders_.End(resource); j++)
          nodes_.Touch(senders_.items[At(j)]);
      }
    }
    nodes_.Touch(network_.route_source[route]);
    if (problem_.chunk_target[chunk] == npu) {
      waiting_chunks_--;
    } else {
      Enqueue(npu, chunk);
      nodes_.Touch(npu);
    }
    return true;
  }

  BanyanStatus ReportUnreachable() {
    for (std::size_t queue = 0; queue < head_.size(); queue++) {
      if (head_[queue] == kNone) continue;
      out_->detail[0] = problem_.chunk_target[head_[queue]];
      out_->detail[1] = head_[queue];
      break;
    }
    return kBanyanUnreachable;
  }

  const RelayProblem& problem_;
  BanyanCancelled cancelled_;
  const void* context_;
  const BanyanNetwork& network_;
  const std::int32_t npus_;
  const std::size_t words_;  // 32-bit words per row of targets
  BanyanTransfers* out_;

  SlotRanks ranks_;
  Resources resources_;
  ArrivalQueue queue_;
  Lists out_routes_;  // routes out of each NPU
  Lists senders_;     // NPUs that send over each resource

  Buffer<std::int32_t> position_;  // [npus][npus] place of a target in its row of `order`
  Buffer<std::int32_t> head_;      // [npus][npus] first waiting chunk
  Buffer<std::int32_t> tail_;      // [npus][npus]
  Buffer<std::int32_t> next_;      // [chunks]
  Buffer<std::uint32_t> waiting_;  // [npus][words] places with a non-empty queue

  Buffer<std::int32_t> carried_;   // [routes] chunk under way, or kNone
  Buffer<Time> start_;             // [routes]
  Buffer<std::int32_t> free_;      // [routes] scratch: free routes of the NPU being served
  Buffer<std::int32_t> assigned_;  // [routes] scratch: target assigned to a free route
  Buffer<std::uint32_t> visited_;  // [routes] stamp of the last augmenting step
  Buffer<std::int32_t> trail_;     // [routes + 1] scratch of it
  std::int32_t free_count_ = 0;
  std::uint32_t stamp_ = 0;
  std::uint32_t serves_ = 0;

  Touched nodes_;  // NPUs to serve at this instant
  std::int64_t written_ = 0;
  std::int64_t waiting_chunks_ = 0;  // not yet at their targets
  bool failed_ = false;
};

}  // namespace

BanyanStatus Relay(const RelayProblem& problem, BanyanCancelled cancelled, const void* context, BanyanTransfers* out) {
  Relayer relayer(problem, cancelled, context, out);
  return relayer.Run();
}

}  // namespace banyan
