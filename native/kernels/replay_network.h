// Links that send one message at a time, first come first served. A message that starts at t frees the link at t + serial and is
// at its far end at t + delay; no other limits. Events of equal time come in the order in which they were scheduled, a
// message's arrival before the freeing of its link: the first-order model of ASTRA-sim's congestion-aware analytical network.
// The twin of src/model/replay/message-network.ts, which makes the events of freed links only where somebody waits.
#ifndef BANYAN_KERNELS_REPLAY_NETWORK_H_
#define BANYAN_KERNELS_REPLAY_NETWORK_H_

#include <algorithm>
#include <cstdint>

#include "../abi.h"
#include "buffer.h"
#include "checks.h"
#include "lists.h"
#include "replay_queue.h"

namespace banyan {

class MessageNetwork {
 public:
  explicit MessageNetwork(const BanyanReplay& problem) : problem_(problem) {}

  [[nodiscard]] bool Allocate(std::int32_t messages, double* start, double* hop_start) {
    start_ = start;
    hop_start_ = hop_start;
    if (!links_.Allocate(At(problem_.link_count)) || !messages_.Allocate(At(messages))) return false;
    links_.Fill(Link{0, kIdle, kNone});
    return BuildRates();
  }

  /// Sets the route and, of several collectives, whose times count. Messages come in order.
  [[nodiscard]] bool Enlist(std::int32_t message, std::int32_t collective) {
    const std::int32_t route = problem_.route[message];
    const std::int32_t begin = problem_.link_offset[route];
    messages_[At(message)] = Message{begin, problem_.link_offset[route + 1], kNone};
    if (problem_.collective_count > 1) {
      if (rates_of_.size() == 0 && !rates_of_.Allocate(messages_.size())) return false;
      rates_of_[At(message)] = collective * problem_.link_count;
    }
    if (hop_start_ != nullptr) {
      if (hop_base_.size() == 0 && !hop_base_.Allocate(messages_.size())) return false;
      hop_base_[At(message)] = hops_ - begin;
      hops_ += problem_.link_offset[route + 1] - begin;
    }
    return true;
  }

  /// The next in the list in which the message waits for a place; on its way it waits in lists of links.
  [[nodiscard]] std::int32_t& Next(std::int32_t message) { return messages_[At(message)].next; }
  [[nodiscard]] std::int64_t now() const { return now_; }
  [[nodiscard]] bool late() const { return late_; }
  [[nodiscard]] bool failed() const { return failed_; }
  [[nodiscard]] bool empty() const { return queue_.empty(); }

  /// Hands the message to the link that it has come to.
  void Enter(std::int32_t message) {
    const std::int32_t link = problem_.links[messages_[At(message)].position];
    Link& entered = links_[At(link)];
    if (entered.last == kIdle) {
      entered.last = kNone;
      Transmit(link, message);
      return;
    }
    messages_[At(message)].next = kNone;
    if (entered.last == kNone) {
      entered.first = message;
    } else {
      messages_[At(entered.last)].next = message;
    }
    entered.last = message;
  }

  /// Takes the next event; returns the message that has come to the end of its route, or kNone.
  std::int32_t Advance() {
    const Event event = queue_.Pop();
    now_ = event.time;
    if (event.payload < 0) {
      Free(~event.payload);
      return kNone;
    }
    Message& message = messages_[At(event.payload)];
    if (++message.position == message.end) return event.payload;
    Enter(event.payload);
    return kNone;
  }

  void WriteBusy(double* busy) const {
    for (std::size_t link = 0; link < links_.size(); link++) busy[link] = links_[link].busy;
  }

 private:
  static constexpr std::int32_t kIdle = -2;  // kNone: busy, nobody waits

  struct Message {
    std::int32_t position;  // of the link that it is on or waits for, in problem.links
    std::int32_t end;       // behind the last link of its route
    std::int32_t next;
  };
  struct Link {
    double busy;
    std::int32_t last;  // of those that wait, or kIdle, or kNone
    std::int32_t first;
  };
  struct Rate {
    std::int64_t serial;
    std::int64_t delay;
    std::int32_t serial_ring;
    std::int32_t delay_ring;
  };

  // The times of every collective and link, and which of the different ones they are.
  [[nodiscard]] bool BuildRates() {
    const std::size_t count = At(problem_.collective_count) * At(problem_.link_count);
    Buffer<double> times;
    if (!rates_.Allocate(count) || !times.Allocate(2 * count)) return false;
    std::copy(problem_.serial, problem_.serial + count, times.data());
    std::copy(problem_.delay, problem_.delay + count, times.data() + count);
    std::sort(times.data(), times.data() + 2 * count);
    double* end = std::unique(times.data(), times.data() + 2 * count);
    const auto ring = [&](double time) {
      return static_cast<std::int32_t>(std::lower_bound(times.data(), end, time) - times.data());
    };
    for (std::size_t i = 0; i < count; i++) {
      const double serial = problem_.serial[i];
      const double delay = problem_.delay[i];
      rates_[i] = Rate{static_cast<std::int64_t>(serial), static_cast<std::int64_t>(delay), ring(serial), ring(delay)};
    }
    return queue_.Allocate(static_cast<std::size_t>(end - times.data()));
  }

  void Transmit(std::int32_t link, std::int32_t message) {
    const std::int32_t rates = rates_of_.size() == 0 ? 0 : rates_of_[At(message)];
    const Rate& rate = rates_[At(rates) + At(link)];
    const std::int64_t arrival = now_ + rate.delay;
    if (arrival > kLatest) late_ = true;
    if (!queue_.Push(rate.delay_ring, Event{arrival, sequence_, message})) failed_ = true;
    if (!queue_.Push(rate.serial_ring, Event{now_ + rate.serial, sequence_ + 1, ~link})) failed_ = true;
    sequence_ += 2;
    links_[At(link)].busy += static_cast<double>(rate.serial);
    if (start_ == nullptr) return;
    const std::int32_t position = messages_[At(message)].position;
    if (position == problem_.link_offset[problem_.route[message]]) start_[message] = static_cast<double>(now_);
    if (hop_start_ != nullptr) hop_start_[hop_base_[At(message)] + position] = static_cast<double>(now_);
  }

  void Free(std::int32_t link) {
    Link& freed = links_[At(link)];
    if (freed.last == kNone) {
      freed.last = kIdle;
      return;
    }
    const std::int32_t message = freed.first;
    if (message == freed.last) {
      freed.last = kNone;
    } else {
      freed.first = messages_[At(message)].next;
    }
    Transmit(link, message);
  }

  static constexpr std::int64_t kLatest = (std::int64_t{1} << 53) - 1;

  const BanyanReplay& problem_;
  double* start_ = nullptr;
  double* hop_start_ = nullptr;
  Buffer<Link> links_;
  Buffer<Message> messages_;
  Buffer<Rate> rates_;             // [collectives * links]
  Buffer<std::int32_t> rates_of_;  // [messages] where its collective's rates begin; empty where there is one
  Buffer<std::int64_t> hop_base_;  // [messages] where its hops are written, less the position of the first
  EventRings queue_;
  std::int64_t now_ = 0;
  std::int64_t hops_ = 0;
  std::uint32_t sequence_ = 0;
  bool late_ = false;
  bool failed_ = false;
};

}  // namespace banyan

#endif  // BANYAN_KERNELS_REPLAY_NETWORK_H_
