// Rows, durations and links: what one pass over the rows in order of their starts can tell.
//
// A route carries one message at a time: a chunk, or rows of equal start and end, in ascending order of their chunks, which are
// one merged send. So a row begins a message where the last one of its route has ended, goes with it where both times are the
// same, and breaks a rule otherwise. A link that routes share has a list of the messages that are on it, by their ends.
#ifndef BANYAN_JUDGE_LINKS_H_
#define BANYAN_JUDGE_LINKS_H_

#include <cmath>
#include <cstdint>

#include "../abi.h"
#include "../kernels/buffer.h"
#include "../kernels/checks.h"
#include "../kernels/lists.h"
#include "stop.h"

namespace banyan {

class LinkJudge {
 public:
  explicit LinkJudge(const BanyanSteps& problem) : problem_(problem) {}

  /// Whether all rows are well-formed and keep the rules of durations and links. `rows_of` gets how many are of each chunk.
  [[nodiscard]] bool Run(Buffer<std::int64_t>& rows_of, Stop& stop) {
    if (!Build()) return stop.LackMemory();
    double before = 0;
    for (std::int32_t i = 0; i < problem_.row_count; i++) {
      if (i % kRowsBetween == 0 && stop.Asked(0)) return false;
      const std::int32_t chunk = problem_.chunk[i];
      const std::int32_t route = problem_.route[i];
      const double start = problem_.start[i];
      const double end = problem_.end[i];
      if (chunk < 0 || chunk >= problem_.chunk_count || route < 0 || route >= problem_.route_count) return false;
      if (problem_.op[i] > problem_.reduces) return false;
      if (!(start >= before && start < end && end <= kMaxSafe)) return false;
      if (std::floor(start) != start || std::floor(end) != end) return false;
      before = start;
      rows_of[At(chunk)]++;
      if (!Carry(route, chunk, start, end)) return false;
    }
    return true;
  }

 private:
  struct Message {
    double start;
    double end;
    double chunks;
    std::int32_t chunk;  // the last of them
    bool is_shared;      // the route has a link that others use too
  };
  struct Link {
    double used;
    std::int32_t head;
    bool is_shared;
  };
  struct Entry {
    double end;
    std::int32_t next;
  };

  [[nodiscard]] bool Build() {
    if (!messages_.Allocate(At(problem_.route_count)) || !links_.Allocate(At(problem_.link_count))) return false;
    if (!entries_.Allocate(At(problem_.route_link_count))) return false;
    for (std::size_t link = 0; link < links_.size(); link++) links_[link].head = kNone;
    // a second use of a link is a shared one, by another route or the same
    for (std::int32_t p = 0; p < problem_.route_link_count; p++) {
      Link& link = links_[At(problem_.links[p])];
      link.is_shared = link.used > 0;
      link.used = 1;
    }
    for (std::size_t link = 0; link < links_.size(); link++) links_[link].used = 0;
    for (std::int32_t route = 0; route < problem_.route_count; route++) {
      for (std::int32_t p = problem_.link_offset[route]; p < problem_.link_offset[route + 1]; p++) {
        if (links_[At(problem_.links[p])].is_shared) messages_[At(route)].is_shared = true;
      }
    }
    return true;
  }

  [[nodiscard]] bool Carry(std::int32_t route, std::int32_t chunk, double start, double end) {
    Message& message = messages_[At(route)];
    if (start >= message.end) {
      message.start = start;
      message.end = end;
      message.chunks = 1;
      if (message.is_shared && !TakeLinks(route, start, end)) return false;
    } else {
      if (start != message.start || end != message.end || chunk <= message.chunk) return false;
      message.chunks++;
    }
    message.chunk = chunk;
    return end - start >= problem_.least[route] + (message.chunks - 1) * problem_.further[route];
  }

  [[nodiscard]] bool TakeLinks(std::int32_t route, double start, double end) {
    for (std::int32_t p = problem_.link_offset[route]; p < problem_.link_offset[route + 1]; p++) {
      const std::int32_t at = problem_.links[p];
      Link& link = links_[At(at)];
      if (!link.is_shared) continue;
      for (; link.head != kNone && entries_[At(link.head)].end <= start; link.head = entries_[At(link.head)].next) {
        link.used -= problem_.cost[link.head];
      }
      link.used += problem_.cost[p];
      if (link.used > problem_.capacity[at]) return false;
      std::int32_t* place = &link.head;
      while (*place != kNone && entries_[At(*place)].end < end) place = &entries_[At(*place)].next;
      entries_[At(p)] = Entry{end, *place};
      *place = p;
    }
    return true;
  }

  const BanyanSteps& problem_;
  Buffer<Message> messages_;  // [routes] the last one
  Buffer<Link> links_;        // [links]
  Buffer<Entry> entries_;     // [route links] of the messages on links
};

}  // namespace banyan

#endif  // BANYAN_JUDGE_LINKS_H_
