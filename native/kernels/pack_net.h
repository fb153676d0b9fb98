// The network of a pack problem: links for the growth of trees, their arcs for flows.
#ifndef BANYAN_KERNELS_PACK_NET_H_
#define BANYAN_KERNELS_PACK_NET_H_

#include <cstdint>

#include "../abi.h"
#include "flow.h"

namespace banyan {

/// Makes the array at least `size` long and keeps what it holds; false when the memory cannot be had.
template <typename T>
[[nodiscard]] bool Reserve(Buffer<T>& buffer, std::int64_t size) {
  const auto wanted = static_cast<std::size_t>(size);
  if (wanted <= buffer.size()) return true;
  Buffer<T> larger;
  if (!larger.Allocate(wanted < 2 * buffer.size() ? 2 * buffer.size() : wanted)) return false;
  if (buffer.size() > 0) std::memcpy(larger.data(), buffer.data(), buffer.size() * sizeof(T));
  buffer.Swap(larger);
  return true;
}

struct PackNet {
  std::int32_t nodes = 0;
  std::int32_t npus = 0;
  std::int32_t links = 0;
  const std::int32_t* source = nullptr;  // [links]
  const std::int32_t* target = nullptr;  // [links]
  Lists out;                             // links out of each node, ascending
  FlowGraph<std::int64_t> graph;  // parallel links are one arc; one more node, the gate, has an arc into every NPU
  Buffer<std::int32_t> arc;       // [links]
  Buffer<std::int32_t> gate;      // [npus] the arc from the gate
  Buffer<std::uint8_t> real;      // [arcs] 1: of links

  /// False when the memory cannot be had. O((nodes + links) log links).
  [[nodiscard]] bool Build(const BanyanPack& problem) {
    nodes = problem.node_count;
    npus = problem.npu_count;
    links = problem.link_count;
    source = problem.link_source;
    target = problem.link_target;
    if (!out.Group(source, links, nodes) || !BuildGraph(problem)) return false;
    if (!arc.Allocate(At(links)) || !gate.Allocate(At(npus)) || !real.Allocate(graph.tail.size())) return false;
    for (std::int32_t i = 0; i < links; i++) {
      arc[At(i)] = ArcOf(source[i], target[i]);
      real[At(arc[At(i)])] = 1;
    }
    for (std::int32_t v = 0; v < npus; v++) gate[At(v)] = ArcOf(nodes, v);
    return true;
  }

 private:
  [[nodiscard]] bool BuildGraph(const BanyanPack& problem) {
    Buffer<std::int32_t> tails;
    Buffer<std::int32_t> heads;
    Buffer<double> capacity;
    const std::int32_t all = links + npus;
    if (!tails.Allocate(At(all)) || !heads.Allocate(At(all)) || !capacity.Allocate(At(all))) return false;
    for (std::int32_t i = 0; i < all; i++) {
      tails[At(i)] = i < links ? source[i] : nodes;
      heads[At(i)] = i < links ? target[i] : i - links;
      capacity[At(i)] = i < links ? problem.capacity[i] : 0;
    }
    return graph.Build(nodes + 1, all, tails.data(), heads.data(), capacity.data(), 1);
  }

  // Arcs into a node ascend by tail.
  [[nodiscard]] std::int32_t ArcOf(std::int32_t tail, std::int32_t head) const {
    std::int32_t low = graph.offset[At(head)];
    std::int32_t high = graph.offset[At(head) + 1] - 1;
    while (low < high) {
      const std::int32_t middle = low + (high - low) / 2;
      if (graph.tail[At(middle)] < tail) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
};

}  // namespace banyan

#endif  // BANYAN_KERNELS_PACK_NET_H_
