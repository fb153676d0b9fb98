// The replay with cut-through switching: one pass over the rows in planned order, in which every constraint on a transfer
// comes from rows before it. The twin of src/model/replay/replay.ts.
//
// Arrivals count when the pass comes to their planned times (replay_due.h). Where most NPUs hold most chunks in the end, a place
// is a cell of the table of all NPUs and chunks, 8 bytes each, and nothing else grows with the rows; else places are numbered
// (replay_plan.h). Cells lie far apart, so those of rows to come are asked for ahead.
#ifndef BANYAN_KERNELS_REPLAY_CUT_H_
#define BANYAN_KERNELS_REPLAY_CUT_H_

#include <cstdint>

#include "../abi.h"
#include "buffer.h"
#include "checks.h"
#include "lists.h"
#include "replay_due.h"
#include "replay_plan.h"

namespace banyan {

/// Links that routes share. Those in flight on a link form a list by end; a route carries one chunk at a time, so route link p
/// is in its link's list at most once and names the entry.
class SharedLinks {
 public:
  explicit SharedLinks(const BanyanReplay& problem) : problem_(problem) {}

  [[nodiscard]] bool Allocate() {
    if (!links_.Allocate(At(problem_.link_count)) || !entries_.Allocate(At(problem_.route_link_count))) return false;
    links_.Fill(Link{0, 0, 0, kNone, kNone});
    return true;
  }

  /// When route link p has room for its share, at `start` or later, and not before what was put on the link last.
  [[nodiscard]] double Room(std::int32_t p, double start) const {
    const std::int32_t at = problem_.links[p];
    const Link& link = links_[At(at)];
    if (link.last_start > start) start = link.last_start;
    double room = problem_.capacity[at] - link.used;
    for (std::int32_t e = link.head; room < problem_.cost[p] && e != kNone; e = entries_[At(e)].next) {
      if (entries_[At(e)].free > start) start = entries_[At(e)].free;
      room += problem_.cost[e];
    }
    return start;
  }

  /// Takes what has ended by `start` out of the list of route link p's link and puts p in.
  void Hold(std::int32_t p, double start, double held) {
    Link& link = links_[At(problem_.links[p])];
    const double free = start + held;
    std::int32_t first = link.head;
    for (; first != kNone && entries_[At(first)].free <= start; first = entries_[At(first)].next) {
      link.used -= problem_.cost[first];
    }
    Entry& own = entries_[At(p)];
    own.free = free;
    if (first == kNone || entries_[At(first)].free > free) {
      own.next = first;
      link.head = p;
      if (first == kNone) link.tail = p;
    } else {
      link.head = first;
      std::int32_t before = entries_[At(link.tail)].free <= free ? link.tail : first;
      for (;;) {
        const std::int32_t next = entries_[At(before)].next;
        if (next == kNone || entries_[At(next)].free > free) break;
        before = next;
      }
      own.next = entries_[At(before)].next;
      entries_[At(before)].next = p;
      if (own.next == kNone) link.tail = p;
    }
    link.used += problem_.cost[p];
    link.busy += held * problem_.cost[p];
    link.last_start = start;
  }

  [[nodiscard]] double Busy(std::int32_t link) const { return links_[At(link)].busy; }

 private:
  struct Link {
    double last_start;
    double used;
    double busy;
    std::int32_t head;
    std::int32_t tail;
  };
  struct Entry {
    double free;
    std::int32_t next;
  };

  const BanyanReplay& problem_;
  Buffer<Link> links_;     // [links] the transfers in flight are entries from head to tail, by end
  Buffer<Entry> entries_;  // [route links]
};

/// Links of which every route takes the whole: SharedLinks with one transfer at a time.
class WholeLinks {
 public:
  explicit WholeLinks(const BanyanReplay& problem) : problem_(problem) {}

  [[nodiscard]] static bool Fit(const BanyanReplay& problem) {
    for (std::int32_t p = 0; p < problem.route_link_count; p++) {
      if (problem.cost[p] != problem.capacity[problem.links[p]]) return false;
    }
    return true;
  }

  [[nodiscard]] bool Allocate() { return links_.Allocate(At(problem_.link_count)); }

  [[nodiscard]] double Room(std::int32_t p, double start) const {
    const double free = links_[At(problem_.links[p])].free;
    return free > start ? free : start;
  }

  void Hold(std::int32_t p, double start, double held) {
    Link& link = links_[At(problem_.links[p])];
    link.free = start + held;
    link.busy += held * problem_.cost[p];
  }

  [[nodiscard]] double Busy(std::int32_t link) const { return links_[At(link)].busy; }

 private:
  struct Link {
    double free;
    double busy;
  };
  const BanyanReplay& problem_;
  Buffer<Link> links_;  // [links]
};

/// The cells of a table NPUs x chunks as places.
class TablePlaces {
 public:
  explicit TablePlaces(const BanyanReplay& problem) : problem_(problem) {}

  /// Whether the table takes less memory than numbered places.
  [[nodiscard]] static bool Fit(const BanyanReplay& problem) {
    constexpr std::int64_t kSmall = 4096;
    const std::int64_t cells = static_cast<std::int64_t>(problem.npu_count) * problem.chunk_count;
    return cells <= kSmall || cells / 3 <= problem.row_count;
  }

  [[nodiscard]] bool Allocate(Buffer<double>& ready) {
    const auto chunks = At(problem_.chunk_count);
    if (!ready.Allocate(At(problem_.npu_count) * chunks)) return false;
    ready.Fill(-1);
    for (std::size_t c = 0; c < chunks; c++) {
      const std::int32_t set = problem_.holders[c];
      for (std::int32_t m = problem_.set_offset[set]; m < problem_.set_offset[set + 1]; m++) {
        ready[At(problem_.set_members[m]) * chunks + c] = 0;
      }
    }
    if (problem_.collective_count == 1) return true;
    if (!collective_.Allocate(chunks)) return false;
    for (std::int32_t k = 0; k < problem_.collective_count; k++) {
      for (std::int32_t c = problem_.first_chunk[k]; c < problem_.first_chunk[k + 1]; c++) collective_[At(c)] = k;
    }
    return true;
  }

  [[nodiscard]] std::size_t Source(std::int32_t row) const { return Cell(problem_.route_source, row); }
  [[nodiscard]] std::size_t Target(std::int32_t row) const { return Cell(problem_.route_target, row); }
  [[nodiscard]] std::int32_t Collective(std::int32_t row) const {
    return collective_.size() == 0 ? 0 : collective_[At(problem_.chunk[row])];
  }

 private:
  [[nodiscard]] std::size_t Cell(const std::int32_t* npu, std::int32_t row) const {
    return At(npu[problem_.route[row]]) * At(problem_.chunk_count) + At(problem_.chunk[row]);
  }

  const BanyanReplay& problem_;
  Buffer<std::int32_t> collective_;  // [chunks]; empty where there is one
};

/// Places that are numbered as rows name them.
class NumberedPlaces {
 public:
  explicit NumberedPlaces(const BanyanReplay& problem) : problem_(problem) {}

  [[nodiscard]] bool Allocate(Buffer<double>& ready) {
    if (!places_.Build(problem_) || !ready.Allocate(At(places_.places))) return false;
    for (std::size_t place = 0; place < ready.size(); place++) ready[place] = places_.initial[place] - 1.0;
    return true;
  }

  [[nodiscard]] std::size_t Source(std::int32_t row) const { return At(places_.ends[At(row)].source); }
  [[nodiscard]] std::size_t Target(std::int32_t row) const { return At(places_.ends[At(row)].target); }
  [[nodiscard]] std::int32_t Collective(std::int32_t row) const { return places_.Collective(row); }

 private:
  const BanyanReplay& problem_;
  ReplayPlaces places_;
};

template <typename Links, typename Places>
class CutThrough {
 public:
  CutThrough(const BanyanReplay& problem, BanyanReplayed* out)
      : problem_(problem), out_(out), links_(problem), places_(problem) {}

  [[nodiscard]] BanyanStatus Run(BanyanCancelled cancelled, const void* context) {
    if (!links_.Allocate() || !places_.Allocate(ready_) || !route_free_.Allocate(At(problem_.route_count))) {
      return kBanyanOutOfMemory;
    }
    const auto arrive = [this](const DueArrival* arrivals, std::size_t count) { Arrive(arrivals, count); };
    const std::int32_t count = problem_.row_count;
    for (std::int32_t i = 0; i < count; i++) {
      if ((i & 16383) == 0 && cancelled != nullptr && cancelled(context) != 0) return kBanyanCancelled;
      if (count - i > kAhead) __builtin_prefetch(&ready_[places_.Source(i + kAhead)]);
      if (!due_.Take(static_cast<std::uint64_t>(problem_.planned_start[i]), arrive)) return kBanyanOutOfMemory;
      const double ready = ready_[places_.Source(i)];
      if (ready < 0) {
        out_->outcome = kBanyanRefused;
        out_->row = i;
        return kBanyanOk;
      }
      const std::int32_t collective = places_.Collective(i);
      const double arrival = Send(i, collective, ready);
      if (arrival > kMaxSafe) {
        out_->outcome = kBanyanLate;
        return kBanyanOk;
      }
      const auto place = static_cast<std::int64_t>(places_.Target(i));
      const auto planned = static_cast<std::uint64_t>(problem_.planned_end[i]);
      if (!due_.Add(DueArrival{planned, arrival, problem_.reduces[collective] != 0 ? ~place : place})) {
        return kBanyanOutOfMemory;
      }
    }
    for (std::int32_t link = 0; link < problem_.link_count; link++) {
      out_->link_busy[link] = links_.Busy(link) / problem_.capacity[link];
    }
    return kBanyanOk;
  }

 private:
  static constexpr std::int32_t kAhead = 24;

  // Sums wait for the last of the planned contributions, others for the first copy.
  void Arrive(const DueArrival* arrivals, std::size_t count) {
    for (std::size_t i = 0; i < count; i++) {
      if (count - i > At(kAhead)) __builtin_prefetch(&ready_[PlaceOf(arrivals[i + At(kAhead)])], 1);
      double& ready = ready_[PlaceOf(arrivals[i])];
      const double time = arrivals[i].time;
      if (ready < 0 || (time > ready) == (arrivals[i].place < 0)) ready = time;
    }
  }

  static std::size_t PlaceOf(const DueArrival& arrival) {
    return static_cast<std::size_t>(arrival.place < 0 ? ~arrival.place : arrival.place);
  }

  // When it arrives; what is later than kMaxSafe is too late.
  [[nodiscard]] double Send(std::int32_t row, std::int32_t collective, double ready) {
    const std::int32_t route = problem_.route[row];
    const std::int32_t begin = problem_.link_offset[route];
    const std::int32_t end = problem_.link_offset[route + 1];
    double start = ready > route_free_[At(route)] ? ready : route_free_[At(route)];
    for (std::int32_t p = begin; p < end; p++) start = links_.Room(p, start);
    const std::int32_t way = collective * problem_.route_count + route;
    const double held = problem_.serial[way];
    for (std::int32_t p = begin; p < end; p++) links_.Hold(p, start, held);
    route_free_[At(route)] = start + held;
    const double arrival = start + problem_.delay[way];
    if (arrival > out_->last) out_->last = arrival;
    if (out_->start != nullptr) {
      out_->start[row] = start;
      out_->end[row] = arrival;
    }
    return arrival;
  }

  const BanyanReplay& problem_;
  BanyanReplayed* out_;
  Links links_;
  Places places_;
  DueArrivals due_;
  Buffer<double> ready_;       // [places] when the chunk is there as planned; -1 before anything has come
  Buffer<double> route_free_;  // [routes]
};

/// Runs the replay with what its links and places allow.
[[nodiscard]] inline BanyanStatus ReplayCutThrough(const BanyanReplay& problem, BanyanCancelled cancelled,
                                                   const void* context, BanyanReplayed* out) {
  if (WholeLinks::Fit(problem)) {
    if (TablePlaces::Fit(problem)) return CutThrough<WholeLinks, TablePlaces>(problem, out).Run(cancelled, context);
    return CutThrough<WholeLinks, NumberedPlaces>(problem, out).Run(cancelled, context);
  }
  if (TablePlaces::Fit(problem)) return CutThrough<SharedLinks, TablePlaces>(problem, out).Run(cancelled, context);
  return CutThrough<SharedLinks, NumberedPlaces>(problem, out).Run(cancelled, context);
}

}  // namespace banyan

#endif  // BANYAN_KERNELS_REPLAY_CUT_H_
