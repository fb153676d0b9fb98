#include "balance_pour.h"

namespace banyan {

namespace {

constexpr std::size_t kMostEdges = std::size_t{1} << 28;

}  // namespace

bool Pouring::Allocate(std::int32_t most_ports) {
  const std::size_t ports = At(most_ports);
  return count_.Allocate(16) && offset_.Allocate(17) && load_.Allocate(ports) && start_.Allocate(ports + 2) &&
         port_offset_.Allocate(ports + 1) && queue_.Allocate(ports) && out_of_.Allocate(ports) &&
         into_.Allocate(ports) && seen_port_.Allocate(ports);
}

void Pouring::Begin(std::int32_t ports) {
  classes_ = 0;
  ports_ = ports;
  offset_[0] = 0;
}

bool Pouring::AddClass(std::int32_t shards) {
  if (!GrowTo(count_, At(classes_) + 1) || !GrowTo(offset_, At(classes_) + 2)) return false;
  count_[At(classes_)] = shards;
  offset_[At(classes_) + 1] = offset_[At(classes_)];
  classes_++;
  return true;
}

bool Pouring::AddPort(std::int32_t port) {
  const std::size_t edge = At(offset_[At(classes_)]);
  if (edge >= flow_.size()) {
    if (edge >= kMostEdges) return false;
    if (!GrowTo(edge_port_, edge + 1) || !GrowTo(edge_class_, edge + 1) || !GrowTo(flow_, edge + 1)) return false;
  }
  edge_port_[edge] = port;
  edge_class_[edge] = classes_ - 1;
  offset_[At(classes_)]++;
  return true;
}

bool Pouring::Pour() {
  if (!GrowTo(order_, At(classes_)) || !GrowTo(seen_class_, At(classes_))) return false;
  if (!GrowTo(port_edge_, At(offset_[At(classes_)]))) return false;
  OrderClasses();
  grouped_ = false;
  for (std::int32_t k = 0; k < ports_; k++) load_[At(k)] = 0;
  for (std::int32_t i = 0; i < classes_; i++) {
    const std::int32_t c = order_[At(i)];
    const std::int32_t first = First(c);
    const std::int32_t end = End(c);
    const std::int32_t shards = count_[At(c)];
    if (end - first == 1) {
      flow_[At(first)] = shards;
      load_[At(edge_port_[At(first)])] += shards;
      continue;
    }
    for (std::int32_t e = first; e < end; e++) flow_[At(e)] = 0;
    for (std::int32_t shard = 0; shard < shards; shard++) {
      std::int32_t best = first;
      std::int64_t least = load_[At(edge_port_[At(first)])];
      for (std::int32_t e = first + 1; e < end; e++) {
        const std::int64_t load = load_[At(edge_port_[At(e)])];
        if (load >= least) continue;
        least = load;
        best = e;
      }
      flow_[At(best)]++;
      load_[At(edge_port_[At(best)])]++;
    }
  }
  return true;
}

// Sorts the classes by their number of ports, stably.
void Pouring::OrderClasses() {
  for (std::int32_t k = 0; k < ports_ + 2; k++) start_[At(k)] = 0;
  for (std::int32_t c = 0; c < classes_; c++) start_[At(End(c) - First(c) + 1)]++;
  for (std::int32_t k = 0; k <= ports_; k++) start_[At(k) + 1] += start_[At(k)];
  for (std::int32_t c = 0; c < classes_; c++) order_[At(start_[At(End(c) - First(c))]++)] = c;
}

void Pouring::GroupEdges() {
  const std::int32_t edges = offset_[At(classes_)];
  for (std::int32_t k = 0; k <= ports_; k++) port_offset_[At(k)] = 0;
  for (std::int32_t e = 0; e < edges; e++) port_offset_[At(edge_port_[At(e)]) + 1]++;
  for (std::int32_t k = 0; k < ports_; k++) port_offset_[At(k) + 1] += port_offset_[At(k)];
  for (std::int32_t k = 0; k < ports_; k++) start_[At(k)] = port_offset_[At(k)];
  for (std::int32_t e = 0; e < edges; e++) port_edge_[At(start_[At(edge_port_[At(e)])]++)] = e;
  grouped_ = true;
}

void Pouring::Scale(std::int64_t units) {
  for (std::int32_t e = 0; e < offset_[At(classes_)]; e++) flow_[At(e)] *= units;
  for (std::int32_t k = 0; k < ports_; k++) load_[At(k)] *= units;
}

std::int64_t Pouring::GreatestLoad() const {
  std::int64_t most = 0;
  for (std::int32_t k = 0; k < ports_; k++) most = load_[At(k)] > most ? load_[At(k)] : most;
  return most;
}

Tight Pouring::Relieve(std::int64_t most) {
  for (std::int32_t k = 0; k < ports_; k++) {
    while (load_[At(k)] > most) {
      const std::int32_t goal = WayToRoom(k, most);
      if (goal == kNone) {
        Tight tight{0, reached_};
        for (std::int32_t i = 0; i < reached_; i++) tight.load += load_[At(queue_[At(i)])];
        return tight;
      }
      const auto before = [this](std::int32_t port) { return PortOf(out_of_[At(port)]); };
      std::int64_t amount = load_[At(k)] - most;
      if (most - load_[At(goal)] < amount) amount = most - load_[At(goal)];
      for (std::int32_t at = goal; at != k; at = before(at)) {
        if (Flow(out_of_[At(at)]) < amount) amount = Flow(out_of_[At(at)]);
      }
      for (std::int32_t at = goal; at != k; at = before(at)) {
        AddFlow(out_of_[At(at)], -amount);
        AddFlow(into_[At(at)], amount);
      }
      load_[At(k)] -= amount;
      load_[At(goal)] += amount;
    }
  }
  return {};
}

std::int32_t Pouring::WayToRoom(std::int32_t start, std::int64_t most) {
  if (!grouped_) GroupEdges();
  if (++search_ == 0) {
    seen_port_.Fill(0);
    seen_class_.Fill(0);
    search_ = 1;
  }
  queue_[0] = start;
  seen_port_[At(start)] = search_;
  reached_ = 1;
  for (std::int32_t taken = 0; taken < reached_; taken++) {
    const std::int32_t port = queue_[At(taken)];
    for (std::int32_t i = port_offset_[At(port)]; i < port_offset_[At(port) + 1]; i++) {
      const std::int32_t edge = port_edge_[At(i)];
      const std::int32_t c = ClassOf(edge);
      if (Flow(edge) == 0 || seen_class_[At(c)] == search_) continue;
      seen_class_[At(c)] = search_;
      for (std::int32_t e = First(c); e < End(c); e++) {
        const std::int32_t next = PortOf(e);
        if (seen_port_[At(next)] == search_) continue;
        seen_port_[At(next)] = search_;
        out_of_[At(next)] = edge;
        into_[At(next)] = e;
        if (load_[At(next)] < most) return next;
        queue_[At(reached_++)] = next;
      }
    }
  }
  return kNone;
}

}  // namespace banyan
