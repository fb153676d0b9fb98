#include "period.h"

#include <algorithm>
#include <cmath>

#include "checks.h"
#include "lists.h"
#include "random.h"

namespace banyan {
namespace {

constexpr double kMostBuckets = 1 << 16;
constexpr std::int32_t kPollEvents = 4096;
constexpr std::int32_t kMostNeighbours = UINT16_MAX;
constexpr std::int32_t kAhead = 12;  // events by which what they will read is asked for early

// An arrival of a job, or a direction that is to start one.
struct Event {
  double time;
  std::int32_t index;
};

// A ready job: the greatest key first, of equal ones the first job.
struct Ready {
  float key;
  std::int32_t job;
};

bool Later(const Event& a, const Event& b) { return a.time > b.time; }
bool Sooner(const Event& a, const Event& b) { return a.time < b.time; }
bool Lesser(const Ready& a, const Ready& b) { return a.key != b.key ? a.key < b.key : a.job > b.job; }

// Events of one sort in a calendar, taken in order of time. Those of a bucket lie in chunks, so that most are read in a row.
class Calendar {
 public:
  // Buckets of `width`, for events up to `ahead` after the one that was taken last.
  [[nodiscard]] bool Allocate(double width, double ahead) {
    width_ = width;
    const auto buckets = static_cast<std::size_t>(ahead / width) + 3;
    if (!last_.Allocate(buckets)) return false;
    last_.Fill(kNone);
    return true;
  }

  // False when the memory cannot be had.
  [[nodiscard]] bool Add(double time, std::int32_t index) {
    pending_++;
    const auto bucket = static_cast<std::int64_t>(time / width_);
    if (bucket == bucket_) return AddHere(Event{time, index});
    std::int32_t& last = last_[static_cast<std::size_t>(bucket) % last_.size()];
    if (last == kNone || chunks_[At(last)].count == kChunk) {
      std::int32_t chunk = free_;
      if (chunk != kNone) {
        free_ = chunks_[At(chunk)].before;
      } else {
        chunk = used_++;
        if (!GrowTo(chunks_, At(used_))) return false;
      }
      chunks_[At(chunk)].before = last;
      chunks_[At(chunk)].count = 0;
      last = chunk;
    }
    Chunk& chunk = chunks_[At(last)];
    chunk.events[chunk.count++] = Event{time, index};
    return true;
  }

  [[nodiscard]] std::int64_t pending() const { return pending_; }

  // Goes on to a bucket; the one before is empty. False when the memory cannot be had.
  [[nodiscard]] bool Open(std::int64_t bucket) {
    bucket_ = bucket;
    begin_ = end_ = 0;
    std::int32_t& last = last_[static_cast<std::size_t>(bucket) % last_.size()];
    bool ordered = true;
    while (last != kNone) {
      Chunk& chunk = chunks_[At(last)];
      if (!GrowTo(here_, At(end_ + chunk.count))) return false;
      for (std::int32_t i = 0; i < chunk.count; i++) {
        ordered = ordered && (end_ == 0 || here_[At(end_ - 1)].time <= chunk.events[i].time);
        here_[At(end_++)] = chunk.events[i];
      }
      const std::int32_t before = chunk.before;
      chunk.before = free_;
      free_ = last;
      last = before;
    }
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

  // The index of an event some way behind the next, or kNone: to ask early for what it will read.
  [[nodiscard]] std::int32_t Coming(std::int32_t after) const {
    return begin_ + after < end_ ? here_[At(begin_ + after)].index : kNone;
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
  static constexpr std::int32_t kChunk = 63;

  struct Chunk {
    Event events[kChunk];
    std::int32_t before;  // of its bucket
    std::int32_t count;
  };

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
  Buffer<std::int32_t> last_;  // [buckets] its last chunk, or kNone
  Buffer<Chunk> chunks_;
  std::int32_t used_ = 0;
  std::int32_t free_ = kNone;
  Buffer<Event> here_;  // the open bucket, in order, from begin_ to end_
  std::int32_t begin_ = 0;
  std::int32_t end_ = 0;
  Buffer<Event> early_;  // a heap of those that came too late for that order
  std::int32_t early_count_ = 0;
};

// One direction of an edge: what is read of it when it has a job more, or starts one.
struct Line {
  double planned;  // the free cell next to the first of its ready jobs, -1 without any (I3)
  double slot;
  double latency;
  std::int32_t heap_begin;  // its slice of the heaps of ready jobs (I2)
  std::int32_t heap_size;
  std::int32_t word_begin;  // its words of free cells
  std::int32_t words;
};

// An NPU in a tree: all that is read of it when something arrives, together, as most accesses miss the caches.
struct Place {
  float up;  // keys of its jobs
  float down;
  std::int32_t entry;      // the edge towards the root, or kNone
  std::uint16_t waiting;   // NPUs below that have not arrived
  std::uint16_t children;  // NPUs below
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
        if (places_[At(i, v)].waiting == 0) Summed(i, v, 0);
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
          PrefetchArrival();
          arrivals_.Drop(arrival);
          Arrive(event.index, event.time);
        } else {
          PrefetchStart();
          starts_.Drop(start);
          Start(event.index, event.time);
        }
      }
    }
    return failed_ ? kBanyanOutOfMemory : kBanyanOk;
  }

 private:
  using Index = std::size_t;
  [[nodiscard]] static Index At(std::int32_t i) { return banyan::At(i); }
  [[nodiscard]] Index At(std::int32_t tree, std::int32_t npu) const { return At(tree) * At(n_) + At(npu); }

  [[nodiscard]] std::int32_t Other(std::int32_t edge, std::int32_t npu) const {
    return p_.tail[edge] == npu ? p_.head[edge] : p_.tail[edge];
  }

  [[nodiscard]] BanyanStatus Build() {
    const auto edges = At(p_.edge_count);
    const auto npus = At(n_);
    Buffer<std::int32_t> load;
    Buffer<std::int32_t> ends;
    if (!load.Allocate(edges) || !ends.Allocate(2 * edges) || !lines_.Allocate(2 * edges)) return kBanyanOutOfMemory;
    for (std::int32_t i = 0; i < p_.tree_count; i++) {
      for (std::size_t e = 0; e < edges; e++) load[e] += p_.used[At(i) * edges + e];
    }
    double least = kMaxSafe;
    double ahead = 2 * p_.period_ps;
    std::int32_t jobs = 0;
    std::int32_t words = 0;
    for (std::size_t e = 0; e < edges; e++) {
      ends[e] = p_.tail[e];
      ends[edges + e] = p_.head[e];
      least = std::min(least, p_.serial_ps[e]);
      ahead = std::max(ahead, p_.serial_ps[e] + p_.latency_ps[e]);
      const std::int32_t cells = CellsOf(e);
      if (load[e] > cells) return kBanyanBadArgument;
      for (std::size_t d = 2 * e; d < 2 * e + 2; d++) {
        lines_[d] = Line{-1, p_.serial_ps[e], p_.latency_ps[e], jobs, 0, words, (cells + 63) / 64};
        jobs += load[e];
        words += lines_[d].words;
      }
    }
    if (!incident_.Group(ends.data(), 2 * p_.edge_count, n_) || !free_.Allocate(At(words)) ||
        !heap_.Allocate(At(jobs)) || !places_.Allocate(At(p_.tree_count) * npus) || !order_.Allocate(npus) ||
        !hops_.Allocate(npus) || !entry_.Allocate(npus) || !above_.Allocate(npus) || !below_.Allocate(npus)) {
      return kBanyanOutOfMemory;
    }
    for (std::int32_t v = 0; v < n_; v++) {
      if (incident_.End(v) - incident_.Begin(v) > kMostNeighbours) return kBanyanBadArgument;
    }
    for (std::size_t d = 0; d < 2 * edges; d++) {
      std::uint64_t* free = free_.data() + lines_[d].word_begin;
      const std::int32_t cells = CellsOf(d >> 1);
      for (std::int32_t w = 0; w < lines_[d].words; w++) free[w] = ~std::uint64_t{0};
      if ((cells & 63) != 0) free[cells >> 6] = (std::uint64_t{1} << (cells & 63)) - 1;
    }
    const double width = std::max(least, ahead / kMostBuckets);
    return arrivals_.Allocate(width, ahead) && starts_.Allocate(width, ahead) ? kBanyanOk : kBanyanOutOfMemory;
  }

  [[nodiscard]] std::int32_t CellsOf(std::size_t edge) const {
    return static_cast<std::int32_t>(p_.period_ps / p_.serial_ps[edge]);
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

  // Roots a tree in the middle of its longest way.
  [[nodiscard]] bool Root(std::int32_t tree) {
    const std::uint8_t* used = p_.used + At(tree) * At(p_.edge_count);
    std::int32_t edges = 0;
    for (std::int32_t e = 0; e < p_.edge_count; e++) edges += used[e];
    if (edges != n_ - 1 || !Walk(used, 0) || !Walk(used, order_[At(n_ - 1)])) return false;
    std::int32_t middle = order_[At(n_ - 1)];
    for (std::int32_t steps = hops_[At(middle)] >> 1; steps > 0; steps--) middle = Other(entry_[At(middle)], middle);
    if (!Walk(used, middle)) return false;
    Place* places = places_.data() + At(tree, 0);
    below_.Fill(0);
    above_[At(middle)] = 0;
    for (std::int32_t at = 1; at < n_; at++) {
      const std::int32_t npu = order_[At(at)];
      const std::int32_t up = Other(entry_[At(npu)], npu);
      above_[At(npu)] = above_[At(up)] + Hop(entry_[At(npu)]);
      places[up].waiting++;
      places[up].children++;
    }
    for (std::int32_t at = n_ - 1; at > 0; at--) {
      const std::int32_t npu = order_[At(at)];
      double& up = below_[At(Other(entry_[At(npu)], npu))];
      up = std::max(up, below_[At(npu)] + Hop(entry_[At(npu)]));
    }
    for (std::int32_t npu = 0; npu < n_; npu++) {
      const std::int32_t edge = entry_[At(npu)];
      places[npu].entry = edge;
      out_.entry[At(tree, npu)] = edge;
      const std::size_t up = 2 * At(tree, 0) + At(npu);
      if (edge == kNone) {
        out_.start_ps[up] = out_.start_ps[up + At(n_)] = -1;
      } else {
        places[npu].up = Shaken(above_[At(npu)] + below_[At(middle)], up);
        places[npu].down = Shaken(Hop(edge) + below_[At(npu)], up + At(n_));
      }
    }
    return true;
  }

  [[nodiscard]] double Hop(std::int32_t edge) const { return p_.serial_ps[edge] + p_.latency_ps[edge]; }

  [[nodiscard]] float Shaken(double key, std::size_t job) const {
    const double share = Draw(p_.seed, static_cast<std::uint32_t>(p_.turn), static_cast<std::uint32_t>(job));
    return static_cast<float>(key + p_.shake_ps * share / 4294967296.0);
  }

  // The first free cell of a line from `cell` on; behind all of them where there is none.
  [[nodiscard]] std::int32_t Free(const Line& line, std::int32_t cell) const {
    const std::uint64_t* free = free_.data() + line.word_begin;
    for (std::int32_t w = cell >> 6; w < line.words; w++) {
      std::uint64_t bits = free[w];
      if (w == cell >> 6) bits &= ~std::uint64_t{0} << (cell & 63);
      if (bits != 0) return 64 * w + __builtin_ctzll(bits);
    }
    return 64 * line.words;
  }

  // When the next free cell of a line begins, now or later.
  [[nodiscard]] double NextPs(const Line& line, double now) const {
    const std::int32_t behind = 64 * line.words;
    const double period = std::floor(now / p_.period_ps) * p_.period_ps;
    const double wanted = std::ceil((now - period) / line.slot);
    const std::int32_t cell = wanted < behind ? Free(line, static_cast<std::int32_t>(wanted)) : behind;
    if (cell < behind) return period + cell * line.slot;
    return period + p_.period_ps + Free(line, 0) * line.slot;
  }

  // These two only ask early for memory. No twins.
  void PrefetchArrival() const {
    const std::int32_t far = arrivals_.Coming(2 * kAhead);
    if (far != kNone) __builtin_prefetch(&places_[PlaceOf(far)], 1);
    const std::int32_t near = arrivals_.Coming(kAhead);
    if (near == kNone) return;
    const std::size_t at = PlaceOf(near);
    const std::size_t tree = at / At(n_) * At(n_);
    const auto npu = static_cast<std::int32_t>(at - tree);
    const std::int32_t entry = places_[at].entry;
    if (near % (2 * n_) < n_) {
      __builtin_prefetch(&places_[tree + At(Other(entry, npu))], 1);
      return;
    }
    for (std::int32_t k = incident_.Begin(npu); k < incident_.End(npu); k++) {
      const std::int32_t edge = incident_.items[At(k)] % p_.edge_count;
      if (edge != entry) __builtin_prefetch(&places_[tree + At(Other(edge, npu))], 1);
    }
  }
  void PrefetchStart() const {
    const std::int32_t far = starts_.Coming(2 * kAhead);
    if (far != kNone) __builtin_prefetch(&lines_[At(far)], 1);
    const std::int32_t near = starts_.Coming(kAhead);
    if (near == kNone) return;
    __builtin_prefetch(heap_.data() + lines_[At(near)].heap_begin, 1);
    __builtin_prefetch(free_.data() + lines_[At(near)].word_begin, 1);
  }

  // Where the NPU of a job stands in places_.
  [[nodiscard]] std::size_t PlaceOf(std::int32_t job) const {
    const std::int32_t tree = job / (2 * n_);
    const std::int32_t end = job - 2 * n_ * tree;
    return At(tree, end < n_ ? end : end - n_);
  }

  void Plan(std::int32_t direction, double time) {
    lines_[At(direction)].planned = time;
    if (!starts_.Add(time, direction)) failed_ = true;
  }

  void Offer(std::size_t job, float key, std::int32_t direction, double now) {
    Line& line = lines_[At(direction)];
    Ready* heap = heap_.data() + line.heap_begin;
    heap[line.heap_size++] = Ready{key, static_cast<std::int32_t>(job)};
    std::push_heap(heap, heap + line.heap_size, Lesser);
    const double at = NextPs(line, now);
    if (line.planned < 0 || line.planned > at) Plan(direction, at);
  }

  void Start(std::int32_t direction, double now) {
    Line& line = lines_[At(direction)];
    if (line.planned != now) return;
    Ready* heap = heap_.data() + line.heap_begin;
    const std::int32_t job = heap[0].job;
    std::pop_heap(heap, heap + line.heap_size--, Lesser);
    out_.start_ps[job] = now;
    const auto cell = static_cast<std::int32_t>(std::floor(std::fmod(now, p_.period_ps) / line.slot + 0.5));
    free_[At(line.word_begin + (cell >> 6))] &= ~(std::uint64_t{1} << (cell & 63));
    if (!arrivals_.Add(now + line.slot + line.latency, job)) failed_ = true;
    line.planned = -1;
    if (line.heap_size > 0) Plan(direction, NextPs(line, now));
  }

  void Arrive(std::int32_t job, double now) {
    const std::int32_t tree = job / (2 * n_);
    const std::int32_t end = job - 2 * n_ * tree;
    if (end >= n_) {
      Spread(tree, end - n_, now);
      return;
    }
    const std::int32_t up = Other(places_[At(tree, end)].entry, end);
    if (--places_[At(tree, up)].waiting == 0) Summed(tree, up, now);
  }

  // All NPUs below have sent.
  void Summed(std::int32_t tree, std::int32_t npu, double now) {
    const Place& place = places_[At(tree, npu)];
    if (place.entry == kNone) {
      Spread(tree, npu, now);
    } else {
      Offer(2 * At(tree, 0) + At(npu), place.up, Direction(place.entry, npu), now);
    }
  }

  // An NPU has the result: those below it are to receive it.
  void Spread(std::int32_t tree, std::int32_t npu, double now) {
    const Place& place = places_[At(tree, npu)];
    std::int32_t children = place.children;
    for (std::int32_t k = incident_.Begin(npu); children > 0; k++) {
      const std::int32_t edge = incident_.items[At(k)] % p_.edge_count;
      if (edge == place.entry) continue;
      const std::int32_t below = Other(edge, npu);
      const Place& child = places_[At(tree, below)];
      if (child.entry != edge) continue;
      Offer(2 * At(tree, 0) + At(n_) + At(below), child.down, Direction(edge, npu), now);
      children--;
    }
  }

  [[nodiscard]] std::int32_t Direction(std::int32_t edge, std::int32_t from) const {
    return 2 * edge + (p_.tail[edge] == from ? 0 : 1);
  }

  const BanyanPeriod& p_;
  const std::int32_t n_;
  const BanyanTimetable& out_;

  Lists incident_;  // of each NPU the ends of edges: edge, or edge_count + edge
  Calendar arrivals_;
  Calendar starts_;
  Buffer<Place> places_;        // [trees x NPUs]
  Buffer<Line> lines_;          // [directions]
  Buffer<Ready> heap_;          // [jobs] ready jobs, direction by direction
  Buffer<std::uint64_t> free_;  // [words] a bit for each free cell, direction by direction
  Buffer<std::int32_t> order_;  // [NPUs] scratch: by hops
  Buffer<std::int32_t> hops_;   // [NPUs] scratch
  Buffer<std::int32_t> entry_;  // [NPUs] scratch: the edge by which each was reached
  Buffer<double> above_;        // [NPUs] scratch: time to the root
  Buffer<double> below_;        // [NPUs] scratch: time to the farthest NPU below
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
  // memory goes by NPUs, which no column counts where there are no trees
  if (problem.npu_count - 1 > edges) return false;
  const double uses = static_cast<double>(edges) * problem.tree_count;
  if (uses > INT32_MAX || 2.0 * problem.npu_count * problem.tree_count > INT32_MAX) return false;
  double cells = 0;
  for (std::int32_t e = 0; e < edges; e++) {
    if (problem.tail[e] == problem.head[e]) return false;
    cells += 2 * (std::floor(problem.period_ps / problem.serial_ps[e]) + 1);
  }
  return cells <= INT32_MAX && InRange(problem.used, edges * problem.tree_count);
}

BanyanStatus Period(const BanyanPeriod& problem, BanyanCancelled cancelled, const void* context,
                    const BanyanTimetable& out) {
  Scheduler scheduler(problem, out);
  return scheduler.Run(cancelled, context);
}

}  // namespace banyan
