// The replay with cut-through switching: one pass over the rows in planned order, in which every constraint on a transfer
// comes from rows before it. For each link the transfers in flight form a list by end; a route carries one chunk at a time, so
// route link p is in its link's list at most once and names the entry. The twin of src/model/replay/replay.ts.
#ifndef BANYAN_KERNELS_REPLAY_CUT_H_
#define BANYAN_KERNELS_REPLAY_CUT_H_

#include <cstdint>

#include "../abi.h"
#include "buffer.h"
#include "checks.h"
#include "lists.h"
#include "replay_plan.h"

namespace banyan {

class CutThrough {
 public:
  CutThrough(const BanyanReplay& problem, BanyanReplayed* out) : problem_(problem), out_(out) {}

  [[nodiscard]] BanyanStatus Run(BanyanCancelled cancelled, const void* context) {
    if (!Build()) return kBanyanOutOfMemory;
    const std::int32_t count = problem_.row_count;
    std::int32_t arrived = 0;
    for (std::int32_t i = 0; i < count; i++) {
      if ((i & 16383) == 0 && cancelled != nullptr && cancelled(context) != 0) return kBanyanCancelled;
      for (; arrived < count; arrived++) {
        const std::int32_t j = plan_.by_arrival[arrived];
        if (problem_.planned_end[j] > problem_.planned_start[i]) break;
        Arrive(j);
      }
      const double ready = ready_[At(plan_.ends[At(i)].source)];
      if (ready < 0) {
        out_->outcome = kBanyanRefused;
        out_->row = i;
        return kBanyanOk;
      }
      if (!Send(i, ready)) {
        out_->outcome = kBanyanLate;
        return kBanyanOk;
      }
    }
    for (std::int32_t link = 0; link < problem_.link_count; link++) {
      out_->link_busy[link] = links_[At(link)].busy / problem_.capacity[link];
    }
    return kBanyanOk;
  }

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

  [[nodiscard]] bool Build() {
    if (!plan_.Build(problem_)) return false;
    const auto places = At(plan_.places);
    if (!ready_.Allocate(places) || !arrival_.Allocate(At(problem_.row_count))) return false;
    if (!route_free_.Allocate(At(problem_.route_count)) || !links_.Allocate(At(problem_.link_count))) return false;
    if (!entries_.Allocate(At(problem_.route_link_count))) return false;
    for (std::size_t place = 0; place < places; place++) ready_[place] = plan_.initial[place] - 1.0;
    links_.Fill(Link{0, 0, 0, kNone, kNone});
    return true;
  }

  // Sums wait for the last of the planned contributions, others for the first copy.
  void Arrive(std::int32_t row) {
    double& ready = ready_[At(plan_.ends[At(row)].target)];
    const double arrival = arrival_[At(row)];
    const bool sums = problem_.reduces[plan_.Collective(row)] != 0;
    if (ready < 0 || (arrival > ready) == sums) ready = arrival;
  }

  // False when it would arrive too late.
  bool Send(std::int32_t row, double ready) {
    const std::int32_t route = problem_.route[row];
    const std::int32_t begin = problem_.link_offset[route];
    const std::int32_t end = problem_.link_offset[route + 1];
    double start = ready > route_free_[At(route)] ? ready : route_free_[At(route)];
    for (std::int32_t p = begin; p < end; p++) {
      const std::int32_t at = problem_.links[p];
      const Link& link = links_[At(at)];
      if (link.last_start > start) start = link.last_start;
      double room = problem_.capacity[at] - link.used;
      for (std::int32_t e = link.head; room < problem_.cost[p] && e != kNone; e = entries_[At(e)].next) {
        if (entries_[At(e)].free > start) start = entries_[At(e)].free;
        room += problem_.cost[e];
      }
    }
    const std::int32_t way = plan_.Collective(row) * problem_.route_count + route;
    const double held = problem_.serial[way];
    for (std::int32_t p = begin; p < end; p++) Hold(p, start, held);
    route_free_[At(route)] = start + held;
    const double arrival = start + problem_.delay[way];
    if (arrival > kMaxSafe) return false;
    arrival_[At(row)] = arrival;
    if (arrival > out_->last) out_->last = arrival;
    if (out_->start != nullptr) {
      out_->start[row] = start;
      out_->end[row] = arrival;
    }
    return true;
  }

  // Takes what has ended by `start` out of the list of route link p's link and puts p in.
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

  const BanyanReplay& problem_;
  BanyanReplayed* out_;
  ReplayPlan plan_;
  Buffer<double> ready_;       // [places] when the chunk is there as planned; -1 before anything has come
  Buffer<double> arrival_;     // [rows]
  Buffer<double> route_free_;  // [routes]
  Buffer<Link> links_;         // [links] the transfers in flight are entries from head to tail, by end
  Buffer<Entry> entries_;      // [route links]
};

}  // namespace banyan

#endif  // BANYAN_KERNELS_REPLAY_CUT_H_
