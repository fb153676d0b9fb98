#include "period.h"

#include <algorithm>
#include <cmath>

#include "checks.h"
#include "lists.h"
#include "random.h"

namespace banyan {
namespace {

constexpr double kMostBuckets = 1 << 20;
constexpr std::int32_t kPollEvents = 4096;

// An arrival of a job, or a direction that is to start one.
struct Event {
  double time;
  std::int32_t index;
  std::int32_t next;  // behind it in its bucket
};

// A ready job: the greatest key first, of equal ones the first job.
struct Ready {
  float key;
  std::int32_t job;
};

bool Later(const Event& a, const Event& b) { return a.time > b.time; }
bool Sooner(const Event& a, const Event& b) { return a.time < b.time; }
bool Lesser(const Ready& a, const Ready& b) { return a.key != b.key ? a.key < b.key : a.job > b.job; }

// Events of one sort in a calendar, taken in order of time.
class Calendar {
 public:
  // Buckets of `width`, for events up to `ahead` after the one that was taken last.
  [[nodiscard]] bool Allocate(double width, double ahead) {
    width_ = width;
    const auto buckets = static_cast<std::size_t>(ahead / width) + 3;
    if (!first_.Allocate(buckets) || !last_.Allocate(buckets)) return false;
    first_.Fill(kNone);
    return true;
  }

  // False when the memory cannot be had.
  [[nodiscard]] bool Add(double time, std::int32_t index) {
    pending_++;
    const auto bucket = static_cast<std::int64_t>(time / width_);
    if (bucket == bucket_) return AddHere(Event{time, index, kNone});
    std::int32_t node = free_;
    if (node != kNone) {
      free_ = nodes_[At(node)].next;
    } else {
      node = used_++;
      if (!GrowTo(nodes_, At(used_))) return false;
    }
    nodes_[At(node)] = Event{time, index, kNone};
    const auto at = static_cast<std::size_t>(bucket) % first_.size();
    if (first_[at] == kNone) {
      first_[at] = node;
    } else {
      nodes_[At(last_[at])].next = node;
    }
    last_[at] = node;
    return true;
  }

  [[nodiscard]] std::int64_t pending() const { return pending_; }

  // Goes on to a bucket; the one before is empty. False when the memory cannot be had.
  [[nodiscard]] bool Open(std::int64_t bucket) {
    bucket_ = bucket;
    begin_ = end_ = 0;
    const auto at = static_cast<std::size_t>(bucket) % first_.size();
    bool ordered = true;
    for (std::int32_t node = first_[at]; node != kNone;) {
      Event& event = nodes_[At(node)];
      const std::int32_t next = event.next;
      if (!GrowTo(here_, At(end_ + 1))) return false;
      ordered = ordered && (end_ == 0 || here_[At(end_ - 1)].time <= event.time);
      here_[At(end_++)] = event;
      event.next = free_;
      free_ = node;
      node = next;
    }
    first_[at] = kNone;
    if (!ordered) std::sort(here_.data(), here_.data() + end_, Sooner);
    return true;
  }

  // The next event of the open bucket, or null.
  [[nodiscard]] const Event* Next() const {
    const Event* queued = begin_ < end_ ? &here_[At(begin_)] : nullptr;
    const Event* early = early_count_ > 0 ? &early_[0] : nullptr;
    if (queued == nullptr) return early;
    return early != nullptr && early->time < queued->time ? early : queued;
  }

  void Drop(const Event* next) {
    pending_--;
    if (early_count_ > 0 && next == &early_[0]) {
      std::pop_heap(early_.data(), early_.data() + early_count_--, Later);
    } else {
      begin_++;
    }
  }

 private:
  [[nodiscard]] bool AddHere(const Event& event) {
    if (begin_ == end_ || here_[At(end_ - 1)].time <= event.time) {
      if (!GrowTo(here_, At(end_ + 1))) return false;
      here_[At(end_++)] = event;
      return true;
    }
    if (!GrowTo(early_, At(early_count_ + 1))) return false;
    early_[At(early_count_++)] = event;
    std::push_heap(early_.data(), early_.data() + early_count_, Later);
    return true;
  }

  double width_ = 1;
  std::int64_t bucket_ = -1;
  std::int64_t pending_ = 0;
  Buffer<std::int32_t> first_;  // [buckets] in nodes_, or kNone
  Buffer<std::int32_t> last_;
  Buffer<Event> nodes_;
  std::int32_t used_ = 0;
  std::int32_t free_ = kNone;
  Buffer<Event> here_;  // the open bucket, in order, from begin_ to end_
  std::int32_t begin_ = 0;
  std::int32_t end_ = 0;
  Buffer<Event> early_;  // a heap of those that came too late for that order
  std::int32_t early_count_ = 0;
};

class Scheduler {
 public:
  Scheduler(const BanyanPeriod& problem, const BanyanTimetable& out) : p_(problem), n_(problem.npu_count), out_(out) {}

  [[nodiscard]] BanyanStatus Run(BanyanCancelled cancelled, const void* context) {
    const auto stopped = [&] { return cancelled != nullptr && cancelled(context) != 0; };
    const BanyanStatus built = Build();
    if (built != kBanyanOk) return built;
    for (std::int32_t i = 0; i < p_.tree_count; i++) {
      if (stopped()) return kBanyanCancelled;
      if (!Root(i)) return kBanyanBadArgument;
    }
    for (std::int32_t i = 0; i < p_.tree_count; i++) {
      for (std::int32_t v = 0; v < n_; v++) {
        if (waiting_[Place(i, v)] == 0) Summed(i, v, 0);
      }
    }
    std::int32_t events = 0;
    for (std::int64_t bucket = 0; !failed_ && arrivals_.pending() + starts_.pending() > 0; bucket++) {
      if (stopped()) return kBanyanCancelled;
      if (!arrivals_.Open(bucket) || !starts_.Open(bucket)) return kBanyanOutOfMemory;
      for (;;) {
        if (++events % kPollEvents == 0 && stopped()) return kBanyanCancelled;
        const Event* arrival = arrivals_.Next();
        const Event* start = starts_.Next();
        if (arrival == nullptr && start == nullptr) break;
        const bool arrives = start == nullptr || (arrival != nullptr && arrival->time <= start->time);
        const Event event = arrives ? *arrival : *start;
        if (event.time > kMaxSafe) return kBanyanTimeOverflow;
        if (arrives) {
          arrivals_.Drop(arrival);
          Arrive(event.index, event.time);
        } else {
          starts_.Drop(start);
          Start(event.index, event.time);
        }
      }
    }
    return failed_ ? kBanyanOutOfMemory : kBanyanOk;
  }

 private:
  [[nodiscard]] std::size_t Place(std::int32_t tree, std::int32_t npu) const { return At(tree) * At(n_) + At(npu); }

  [[nodiscard]] std::int32_t Other(std::int32_t edge, std::int32_t npu) const {
    return p_.tail[edge] == npu ? p_.head[edge] : p_.tail[edge];
  }

  [[nodiscard]] BanyanStatus Build() {
    const auto edges = At(p_.edge_count);
    const auto npus = At(n_);
    Buffer<std::int32_t> load;
    Buffer<std::int32_t> ends;
    if (!load.Allocate(edges) || !ends.Allocate(2 * edges)) return kBanyanOutOfMemory;
    if (!cell_begin_.Allocate(2 * edges + 1) || !heap_begin_.Allocate(2 * edges + 1)) return kBanyanOutOfMemory;
    for (std::int32_t i = 0; i < p_.tree_count; i++) {
      for (std::size_t e = 0; e < edges; e++) load[e] += p_.used[At(i) * edges + e];
    }
    double least = kMaxSafe;
    double ahead = 2 * p_.period_ps;
    for (std::size_t e = 0; e < edges; e++) {
      ends[e] = p_.tail[e];
      ends[edges + e] = p_.head[e];
      least = std::min(least, p_.serial_ps[e]);
      ahead = std::max(ahead, p_.serial_ps[e] + p_.latency_ps[e]);
      const auto cells = static_cast<std::int32_t>(p_.period_ps / p_.serial_ps[e]);
      if (load[e] > cells) return kBanyanBadArgument;
      for (std::size_t d = 2 * e; d < 2 * e + 2; d++) {
        heap_begin_[d + 1] = heap_begin_[d] + load[e];
        cell_begin_[d + 1] = cell_begin_[d] + cells + 1;
      }
    }
    const auto cells = At(cell_begin_[2 * edges]);
    if (!incident_.Group(ends.data(), 2 * p_.edge_count, n_) || !next_.Allocate(cells) || !planned_.Allocate(2 * edges) ||
        !heap_.Allocate(At(heap_begin_[2 * edges])) || !heap_size_.Allocate(2 * edges) ||
        !waiting_.Allocate(At(p_.tree_count) * npus) || !order_.Allocate(npus) || !hops_.Allocate(npus) ||
        !entry_.Allocate(npus) || !above_.Allocate(npus) || !below_.Allocate(npus)) {
      return kBanyanOutOfMemory;
    }
    for (std::size_t c = 0; c < cells; c++) next_[c] = static_cast<std::int32_t>(c);
    planned_.Fill(-1);
    const double width = std::max(least, ahead / kMostBuckets);
    return arrivals_.Allocate(width, ahead) && starts_.Allocate(width, ahead) ? kBanyanOk : kBanyanOutOfMemory;
  }

  // Walks from an NPU by hops through the edges of a tree; false where it does not reach all.
  [[nodiscard]] bool Walk(const std::uint8_t* used, std::int32_t first) {
    hops_.Fill(kNone);
    order_[0] = first;
    hops_[At(first)] = 0;
    entry_[At(first)] = kNone;
    std::int32_t reached = 1;
    for (std::int32_t at = 0; at < reached; at++) {
      const std::int32_t npu = order_[At(at)];
      for (std::int32_t k = incident_.Begin(npu); k < incident_.End(npu); k++) {
        const std::int32_t edge = incident_.items[At(k)] % p_.edge_count;
        if (used[edge] == 0) continue;
        const std::int32_t next = Other(edge, npu);
        if (hops_[At(next)] >= 0) continue;
        hops_[At(next)] = hops_[At(npu)] + 1;
        entry_[At(next)] = edge;
        order_[At(reached++)] = next;
      }
    }
    return reached == n_;
  }

  // Roots a tree in the middle of its longest way, counts what NPUs wait for, and writes keys where starts come.
  [[nodiscard]] bool Root(std::int32_t tree) {
    const std::uint8_t* used = p_.used + At(tree) * At(p_.edge_count);
    std::int32_t edges = 0;
    for (std::int32_t e = 0; e < p_.edge_count; e++) edges += used[e];
    if (edges != n_ - 1 || !Walk(used, 0) || !Walk(used, order_[At(n_ - 1)])) return false;
    std::int32_t middle = order_[At(n_ - 1)];
    for (std::int32_t steps = hops_[At(middle)] >> 1; steps > 0; steps--) middle = Other(entry_[At(middle)], middle);
    if (!Walk(used, middle)) return false;
    below_.Fill(0);
    above_[At(middle)] = 0;
    for (std::int32_t at = 1; at < n_; at++) {
      const std::int32_t npu = order_[At(at)];
      const std::int32_t edge = entry_[At(npu)];
      const std::int32_t up = Other(edge, npu);
      above_[At(npu)] = above_[At(up)] + p_.serial_ps[edge] + p_.latency_ps[edge];
      waiting_[Place(tree, up)]++;
    }
    for (std::int32_t at = n_ - 1; at > 0; at--) {
      const std::int32_t npu = order_[At(at)];
      const std::int32_t edge = entry_[At(npu)];
      double& up = below_[At(Other(edge, npu))];
      up = std::max(up, below_[At(npu)] + p_.serial_ps[edge] + p_.latency_ps[edge]);
    }
    for (std::int32_t npu = 0; npu < n_; npu++) {
      const std::int32_t edge = entry_[At(npu)];
      out_.entry[Place(tree, npu)] = edge;
      const std::size_t up = 2 * Place(tree, 0) + At(npu);
      const std::size_t down = up + At(n_);
      out_.start_ps[up] = edge < 0 ? -1 : Shaken(above_[At(npu)] + below_[At(middle)], up);
      out_.start_ps[down] =
          edge < 0 ? -1 : Shaken(p_.serial_ps[edge] + p_.latency_ps[edge] + below_[At(npu)], down);
    }
    return true;
  }

  [[nodiscard]] double Shaken(double key, std::size_t job) const {
    const double share = Draw(p_.seed, static_cast<std::uint32_t>(p_.turn), static_cast<std::uint32_t>(job));
    return static_cast<float>(key + p_.shake_ps * share / 4294967296.0);
  }

  [[nodiscard]] std::int32_t Free(std::int32_t cell) {
    std::int32_t at = cell;
    while (next_[At(at)] != at) {
      next_[At(at)] = next_[At(next_[At(at)])];
      at = next_[At(at)];
    }
    return at;
  }

  // When the next free cell of a direction begins, now or later.
  [[nodiscard]] double NextPs(std::int32_t direction, double now) {
    const double slot = p_.serial_ps[direction >> 1];
    const std::int32_t first = cell_begin_[At(direction)];
    const std::int32_t last = cell_begin_[At(direction) + 1] - 1;
    const double period = std::floor(now / p_.period_ps) * p_.period_ps;
    const double wanted = std::ceil((now - period) / slot);
    const std::int32_t cell = Free(wanted < last - first ? first + static_cast<std::int32_t>(wanted) : last);
    if (cell < last) return period + (cell - first) * slot;
    return period + p_.period_ps + (Free(first) - first) * slot;
  }

  void Plan(std::int32_t direction, double time) {
    planned_[At(direction)] = time;
    if (!starts_.Add(time, direction)) failed_ = true;
  }

  void Offer(std::size_t job, std::int32_t direction, double now) {
    Ready* heap = heap_.data() + heap_begin_[At(direction)];
    const std::int32_t size = ++heap_size_[At(direction)];
    heap[size - 1] = Ready{static_cast<float>(out_.start_ps[job]), static_cast<std::int32_t>(job)};
    std::push_heap(heap, heap + size, Lesser);
    const double at = NextPs(direction, now);
    const double planned = planned_[At(direction)];
    if (planned < 0 || planned > at) Plan(direction, at);
  }

  void Start(std::int32_t direction, double now) {
    if (planned_[At(direction)] != now) return;
    Ready* heap = heap_.data() + heap_begin_[At(direction)];
    const std::int32_t job = heap[0].job;
    std::pop_heap(heap, heap + heap_size_[At(direction)]--, Lesser);
    out_.start_ps[job] = now;
    const double slot = p_.serial_ps[direction >> 1];
    const std::int32_t cell = cell_begin_[At(direction)] +
                              static_cast<std::int32_t>(std::floor(std::fmod(now, p_.period_ps) / slot + 0.5));
    next_[At(cell)] = cell + 1;
    if (!arrivals_.Add(now + slot + p_.latency_ps[direction >> 1], job)) failed_ = true;
    planned_[At(direction)] = -1;
    if (heap_size_[At(direction)] > 0) Plan(direction, NextPs(direction, now));
  }

  void Arrive(std::int32_t job, double now) {
    const std::int32_t tree = job / (2 * n_);
    const std::int32_t end = job - 2 * n_ * tree;
    if (end >= n_) {
      Spread(tree, end - n_, now);
      return;
    }
    const std::int32_t up = Other(out_.entry[Place(tree, end)], end);
    if (--waiting_[Place(tree, up)] == 0) Summed(tree, up, now);
  }

  // All NPUs below have sent.
  void Summed(std::int32_t tree, std::int32_t npu, double now) {
    const std::int32_t edge = out_.entry[Place(tree, npu)];
    if (edge < 0) {
      Spread(tree, npu, now);
    } else {
      Offer(2 * Place(tree, 0) + At(npu), 2 * edge + (p_.tail[edge] == npu ? 0 : 1), now);
    }
  }

  // An NPU has the result: those below it are to receive it.
  void Spread(std::int32_t tree, std::int32_t npu, double now) {
    for (std::int32_t k = incident_.Begin(npu); k < incident_.End(npu); k++) {
      const std::int32_t edge = incident_.items[At(k)] % p_.edge_count;
      const std::int32_t below = Other(edge, npu);
      if (out_.entry[Place(tree, below)] != edge || out_.entry[Place(tree, npu)] == edge) continue;
      Offer(2 * Place(tree, 0) + At(n_) + At(below), 2 * edge + (p_.tail[edge] == npu ? 0 : 1), now);
    }
  }

  const BanyanPeriod& p_;
  const std::int32_t n_;
  const BanyanTimetable& out_;

  Lists incident_;  // of each NPU the ends of edges: edge, or edge_count + edge
  Calendar arrivals_;
  Calendar starts_;
  Buffer<std::int32_t> waiting_;     // [trees x NPUs] NPUs below that have not arrived
  Buffer<Ready> heap_;               // [jobs] ready jobs, direction by direction (I2)
  Buffer<std::int32_t> heap_begin_;  // [directions + 1]
  Buffer<std::int32_t> heap_size_;   // [directions]
  Buffer<double> planned_;           // [directions] (I3)
  Buffer<std::int32_t> cell_begin_;  // [directions + 1]
  Buffer<std::int32_t> next_;        // [cells] itself where it is free, else one behind it
  Buffer<std::int32_t> order_;       // [NPUs] scratch: by hops
  Buffer<std::int32_t> hops_;        // [NPUs] scratch
  Buffer<std::int32_t> entry_;       // [NPUs] scratch: the edge by which each was reached
  Buffer<double> above_;             // [NPUs] scratch: time to the root
  Buffer<double> below_;             // [NPUs] scratch: time to the farthest NPU below
  bool failed_ = false;
};

}  // namespace

bool ValidPeriod(const BanyanPeriod& problem) {
  const std::int32_t edges = problem.edge_count;
  if (!ExactIntegers(&problem.period_ps, 1, 1, kMaxSafe) || !ExactIntegers(&problem.shake_ps, 1, 0, kMaxSafe) ||
      !ExactIntegers(problem.serial_ps, edges, 1, kMaxSafe) || !ExactIntegers(problem.latency_ps, edges, 0, kMaxSafe) ||
      !InRange(problem.tail, edges, problem.npu_count) || !InRange(problem.head, edges, problem.npu_count)) {
    return false;
  }
  const double uses = static_cast<double>(edges) * problem.tree_count;
  if (uses > INT32_MAX || 2.0 * problem.npu_count * problem.tree_count > INT32_MAX) return false;
  double cells = 0;
  for (std::int32_t e = 0; e < edges; e++) {
    if (problem.tail[e] == problem.head[e]) return false;
    cells += 2 * (std::floor(problem.period_ps / problem.serial_ps[e]) + 1);
  }
  return cells <= INT32_MAX && InRange(problem.used, edges * problem.tree_count);
}

BanyanStatus Period(const BanyanPeriod& problem, BanyanCancelled cancelled, const void* context, const BanyanTimetable& out) {
  Scheduler scheduler(problem, out);
  return scheduler.Run(cancelled, context);
}

}  // namespace banyan
