// Maximum flows into one sink after another, from a source that feeds the nodes.
//
// Problem. A directed network with integer capacities; the source supplies node v with up to supply(v). Solve(t, most)
// sends as much as it can into t, up to `most`.
// Algorithm. Dinic (1970), searched backwards from the sink: levels are laid up to the nearest nodes that the source still
// supplies, so a flow that ends near its sink costs what it touches, not the whole network. Behind one node a search lays only
// so many of those, fourfold from one search to the next; behind the first few that is Dinic's own search.
// Undo takes a flow back by the list of the arcs it touched.
// Invariants. residual(a) >= 0 and residual(a) + residual(mate(a)) is constant; a level is laid only in the queue.
// Complexity. O(n^2 m) for one flow, far less on networks; O(n + m) memory.
// Amounts are 64-bit or wider integers; the caller sees to it that sums fit.
// The twin of src/engine/kernels/js/flow.ts, function by function.
#ifndef BANYAN_KERNELS_FLOW_H_
#define BANYAN_KERNELS_FLOW_H_

#include <cstdint>

#include "lists.h"

namespace banyan {

template <typename Amount>
Amount Gcd(Amount a, Amount b) {
  while (b > 0) {
    const Amount rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

/// The greatest number that divides all of the values; 1 where there are none.
inline std::int64_t CommonDivisor(const double* values, std::int32_t count) {
  std::int64_t divisor = 0;
  for (std::int32_t i = 0; i < count && divisor != 1; i++) divisor = Gcd(static_cast<std::int64_t>(values[i]), divisor);
  return divisor == 0 ? 1 : divisor;
}

/// The arcs into each node, ascending by tail: those into v are offset[v] .. offset[v + 1]. Parallel links are one arc; an
/// arc without a link has capacity 0, for every arc has an opposite one, its mate.
template <typename Amount>
struct FlowGraph {
  std::int32_t node_count = 0;
  Buffer<std::int32_t> offset;
  Buffer<std::int32_t> tail;
  Buffer<std::int32_t> mate;
  Buffer<Amount> capacity;

  /// Reads links of capacity[i] / divisor, which is whole. False when the memory cannot be had. O(nodes + links).
  [[nodiscard]] bool Build(std::int32_t nodes, std::int32_t links, const std::int32_t* source,
                           const std::int32_t* target, const double* link_capacity, std::int64_t divisor) {
    node_count = nodes;
    Lists out;
    Lists in;
    Buffer<std::int32_t> latest;
    if (!out.Group(source, links, nodes) || !in.Group(target, links, nodes)) return false;
    if (!offset.Allocate(At(nodes) + 1) || !latest.Allocate(At(nodes))) return false;
    // Tails ascend over all nodes at once, so what is new at a node is what differs from its latest.
    latest.Fill(kNone);
    const auto count = [&](std::int32_t head, std::int32_t from) {
      if (latest[At(head)] == from) return;
      latest[At(head)] = from;
      offset[At(head) + 1]++;
    };
    for (std::int32_t u = 0; u < nodes; u++) {
      for (std::int32_t i = out.Begin(u); i < out.End(u); i++) count(target[out.items[At(i)]], u);
      for (std::int32_t i = in.Begin(u); i < in.End(u); i++) count(source[in.items[At(i)]], u);
    }
    for (std::int32_t v = 0; v < nodes; v++) offset[At(v) + 1] += offset[At(v)];
    const auto arcs = At(offset[At(nodes)]);
    if (!tail.Allocate(arcs) || !mate.Allocate(arcs) || !capacity.Allocate(arcs)) return false;
    for (std::int32_t v = 0; v < nodes; v++) latest[At(v)] = offset[At(v)] - 1;
    const auto arc = [&](std::int32_t head, std::int32_t from) {
      std::int32_t& last = latest[At(head)];
      if (last < offset[At(head)] || tail[At(last)] != from) tail[At(++last)] = from;
      return At(last);
    };
    for (std::int32_t u = 0; u < nodes; u++) {
      for (std::int32_t i = out.Begin(u); i < out.End(u); i++) {
        const std::int32_t link = out.items[At(i)];
        capacity[arc(target[link], u)] += static_cast<Amount>(static_cast<std::int64_t>(link_capacity[link]) / divisor);
      }
      for (std::int32_t i = in.Begin(u); i < in.End(u); i++) arc(source[in.items[At(i)]], u);
    }
    // Heads ascend here and tails at every node, so opposite arcs come in the same order.
    for (std::int32_t v = 0; v < nodes; v++) latest[At(v)] = offset[At(v)];
    for (std::int32_t v = 0; v < nodes; v++) {
      for (std::int32_t a = offset[At(v)]; a < offset[At(v) + 1]; a++) mate[At(a)] = latest[At(tail[At(a)])]++;
    }
    return true;
  }
};

template <typename Amount>
class Flow {
 public:
  explicit Flow(const FlowGraph<Amount>& graph) : graph_(graph) {}

  [[nodiscard]] bool Allocate() {
    const auto nodes = At(graph_.node_count);
    const auto arcs = graph_.tail.size();
    return full_.Allocate(arcs) && residual_.Allocate(arcs) && fed_.Allocate(nodes) && supply_.Allocate(nodes) &&
           level_.Allocate(nodes) && queue_.Allocate(nodes) && next_.Allocate(nodes) && path_.Allocate(nodes) &&
           arcs_.Allocate(arcs) && nodes_.Allocate(nodes);
  }

  /// Gives every arc `factor` times its capacity and takes back all flow and supply.
  void Scale(Amount factor) {
    for (std::size_t a = 0; a < full_.size(); a++) full_[a] = factor * graph_.capacity[a];
    for (std::size_t a = 0; a < full_.size(); a++) residual_[a] = full_[a];
    fed_.Fill(0);
    supply_.Fill(0);
    arcs_.count = 0;
    nodes_.count = 0;
    arcs_.marks.Fill(0);
    nodes_.marks.Fill(0);
  }

  /// Lets the source supply a node with up to `amount`. There is no flow at the time.
  void Feed(std::int32_t node, Amount amount) {
    fed_[At(node)] = amount;
    supply_[At(node)] = amount;
  }

  /// Gives an arc a capacity of its own until the next Scale. There is no flow at the time.
  void Widen(std::int32_t arc, Amount amount) {
    full_[At(arc)] = amount;
    residual_[At(arc)] = amount;
  }

  /// Returns the flow into the sink, at most `most`.
  [[nodiscard]] Amount Solve(std::int32_t sink, Amount most) {
    const Amount own = supply_[At(sink)] < most ? supply_[At(sink)] : most;
    left_ = most - own;
    Draw(sink, own);
    for (std::int32_t enough = kFirstEnough; left_ > 0; enough = enough > kMostEnough ? enough : 4 * enough) {
      if (!LayLevels(sink, enough)) break;
      Augment(sink);
    }
    return most - left_;
  }

  /// Takes the flow back. O(arcs that it touched).
  void Undo() {
    for (std::int32_t i = 0; i < arcs_.count; i++) {
      const auto a = At(arcs_.list[At(i)]);
      arcs_.marks[a] = 0;
      residual_[a] = full_[a];
      residual_[At(graph_.mate[a])] = full_[At(graph_.mate[a])];
    }
    arcs_.count = 0;
    for (std::int32_t i = 0; i < nodes_.count; i++) {
      const auto v = At(nodes_.list[At(i)]);
      nodes_.marks[v] = 0;
      supply_[v] = fed_[v];
    }
    nodes_.count = 0;
  }

  /// Marks in `side` [nodes] what the source still reaches: after a maximum flow the source's side of a minimum cut, the
  /// smallest one, which does not depend on the flow. O(nodes + arcs).
  void MarkSourceSide(std::uint8_t* side) {
    std::int32_t count = 0;
    for (std::int32_t v = 0; v < graph_.node_count; v++) {
      side[v] = supply_[At(v)] > 0 ? 1 : 0;
      if (side[v] != 0) queue_[At(count++)] = v;
    }
    for (std::int32_t i = 0; i < count; i++) {
      const std::int32_t v = queue_[At(i)];
      for (std::int32_t a = graph_.offset[At(v)]; a < graph_.offset[At(v) + 1]; a++) {
        const std::int32_t u = graph_.tail[At(a)];
        if (side[u] != 0 || !(residual_[At(graph_.mate[At(a)])] > 0)) continue;
        side[u] = 1;
        queue_[At(count++)] = u;
      }
    }
  }

  /// Marks in `side` [nodes] what still reaches the sink: after a maximum flow the sink's side of a minimum cut, the smallest
  /// one, which does not depend on the flow. O(nodes + arcs into the side).
  void MarkSinkSide(std::int32_t sink, std::uint8_t* side) {
    for (std::int32_t v = 0; v < graph_.node_count; v++) side[v] = 0;
    side[sink] = 1;
    queue_[0] = sink;
    std::int32_t count = 1;
    for (std::int32_t i = 0; i < count; i++) {
      const std::int32_t v = queue_[At(i)];
      for (std::int32_t a = graph_.offset[At(v)]; a < graph_.offset[At(v) + 1]; a++) {
        const std::int32_t u = graph_.tail[At(a)];
        if (side[u] != 0 || !(residual_[At(a)] > 0)) continue;
        side[u] = 1;
        queue_[At(count++)] = u;
      }
    }
  }

 private:
  static constexpr std::int32_t kFirstEnough = 8;
  static constexpr std::int32_t kMostEnough = 1 << 28;

  void Draw(std::int32_t node, Amount amount) {
    supply_[At(node)] -= amount;
    nodes_.Touch(node);
  }

  // Lays levels backwards from the sink; true when they reach a node that the source still supplies.
  bool LayLevels(std::int32_t sink, std::int32_t enough) {
    queue_[0] = sink;
    level_[At(sink)] = 1;
    next_[At(sink)] = graph_.offset[At(sink)];
    last_level_ = INT32_MAX;
    queued_ = 1;
    for (std::int32_t i = 0; i < queued_; i++) {
      const std::int32_t v = queue_[At(i)];
      const std::int32_t level = level_[At(v)] + 1;
      if (level > last_level_) break;
      std::int32_t found = 0;
      for (std::int32_t a = graph_.offset[At(v)]; a < graph_.offset[At(v) + 1]; a++) {
        const std::int32_t u = graph_.tail[At(a)];
        if (level_[At(u)] != 0 || !(residual_[At(a)] > 0)) continue;
        level_[At(u)] = level;
        next_[At(u)] = graph_.offset[At(u)];
        queue_[At(queued_++)] = u;
        if (!(supply_[At(u)] > 0)) continue;
        last_level_ = level;
        if (++found == enough) break;
      }
    }
    if (last_level_ < INT32_MAX) return true;
    ClearLevels();
    return false;
  }

  void ClearLevels() {
    for (std::int32_t i = 0; i < queued_; i++) level_[At(queue_[At(i)])] = 0;
  }

  // Sends flow along levels until no path is left, and clears the levels.
  void Augment(std::int32_t sink) {
    std::int32_t depth = 0;  // path_[0 .. depth) are arcs from v back to the sink
    std::int32_t v = sink;
    while (left_ > 0) {
      if (level_[At(v)] == last_level_ && supply_[At(v)] > 0) {
        depth = Push(v, depth);
      } else if (level_[At(v)] < last_level_ && Extend(v)) {
        path_[At(depth++)] = next_[At(v)];
        v = graph_.tail[At(next_[At(v)])];
        continue;
      } else if (depth == 0) {
        break;
      } else {
        depth--;
      }
      // Back at the head of the arc that leads no further.
      v = depth == 0 ? sink : graph_.tail[At(path_[At(depth) - 1])];
      next_[At(v)]++;
    }
    ClearLevels();
  }

  // Moves next_[v] to an arc that leads on; false when there is none.
  bool Extend(std::int32_t v) {
    const std::int32_t end = graph_.offset[At(v) + 1];
    std::int32_t& a = next_[At(v)];
    while (a < end && !(level_[At(graph_.tail[At(a)])] == level_[At(v)] + 1 && residual_[At(a)] > 0)) a++;
    return a < end;
  }

  // Sends what fits along the path from node v; returns the place of the first arc, seen from the sink, that is full now, or
  // of the last when it is the supply that is used up.
  std::int32_t Push(std::int32_t v, std::int32_t depth) {
    Amount amount = supply_[At(v)] < left_ ? supply_[At(v)] : left_;
    for (std::int32_t i = 0; i < depth; i++) {
      const Amount room = residual_[At(path_[At(i)])];
      if (room < amount) amount = room;
    }
    std::int32_t back = depth - 1;
    for (std::int32_t i = depth - 1; i >= 0; i--) {
      const std::int32_t a = path_[At(i)];
      residual_[At(a)] -= amount;
      residual_[At(graph_.mate[At(a)])] += amount;
      arcs_.Touch(a);
      if (!(residual_[At(a)] > 0)) back = i;
    }
    Draw(v, amount);
    left_ -= amount;
    return back;
  }

  const FlowGraph<Amount>& graph_;
  Buffer<Amount> full_;      // [arcs] residual without flow
  Buffer<Amount> residual_;  // [arcs]
  Buffer<Amount> fed_;       // [nodes] supply without flow
  Buffer<Amount> supply_;    // [nodes]
  Amount left_ = 0;          // still to send
  Touched arcs_;             // arcs that carry flow, or did
  Touched nodes_;            // nodes whose supply was drawn on

  Buffer<std::int32_t> level_;  // [nodes] 1 + steps to the sink; 0: not laid
  Buffer<std::int32_t> queue_;  // [nodes]
  Buffer<std::int32_t> next_;   // [nodes] the arc to try next
  Buffer<std::int32_t> path_;   // [nodes]
  std::int32_t queued_ = 0;
  std::int32_t last_level_ = 0;  // where the supplied nodes stand
};

}  // namespace banyan

#endif  // BANYAN_KERNELS_FLOW_H_
