// Shards of a few classes are poured into ports, each class into its own, so that the fullest port has as little as possible:
// the twin of src/engine/kernels/js/balance-pour.ts.
#ifndef BANYAN_KERNELS_BALANCE_POUR_H_
#define BANYAN_KERNELS_BALANCE_POUR_H_

#include <cstdint>

#include "buffer.h"
#include "lists.h"

namespace banyan {

/// Ports that hold only shards which fit nowhere else, and what they hold; no ports: everything fits.
struct Tight {
  std::int64_t load = 0;
  std::int32_t ports = 0;
};

class Pouring {
 public:
  /// For nodes of at most so many ports.
  [[nodiscard]] bool Allocate(std::int32_t most_ports);

  /// Empties the pouring for a node with so many ports.
  void Begin(std::int32_t ports);
  /// Adds a class of so many shards; AddPort gives it a port, ascending.
  [[nodiscard]] bool AddClass(std::int32_t shards);
  [[nodiscard]] bool AddPort(std::int32_t port);

  /// Pours whole shards, classes with fewer ports first, each shard into the emptiest of its ports. O(shards * ports).
  [[nodiscard]] bool Pour();
  /// Cuts every shard into so many units.
  void Scale(std::int64_t units);
  [[nodiscard]] std::int64_t GreatestLoad() const;
  /// Moves units until no port has more than `most`, shortest ways first; where that cannot be, ports that have more between them.
  [[nodiscard]] Tight Relieve(std::int64_t most);

  [[nodiscard]] std::int32_t classes() const { return classes_; }
  [[nodiscard]] std::int32_t ports() const { return ports_; }
  /// Edges of class c, one for each of its ports: First(c) .. End(c).
  [[nodiscard]] std::int32_t First(std::int32_t c) const { return offset_[At(c)]; }
  [[nodiscard]] std::int32_t End(std::int32_t c) const { return offset_[At(c) + 1]; }
  [[nodiscard]] std::int32_t PortOf(std::int32_t edge) const { return edge_port_[At(edge)]; }
  [[nodiscard]] std::int32_t ClassOf(std::int32_t edge) const { return edge_class_[At(edge)]; }
  [[nodiscard]] std::int64_t Flow(std::int32_t edge) const { return flow_[At(edge)]; }
  void AddFlow(std::int32_t edge, std::int64_t amount) { flow_[At(edge)] += amount; }

 private:
  void OrderClasses();
  void GroupEdges();
  // Breadth-first from an overfull port over classes that it holds units of, to a port with room; kNone when there is none.
  std::int32_t WayToRoom(std::int32_t start, std::int64_t most);

  std::int32_t classes_ = 0;
  std::int32_t ports_ = 0;
  bool grouped_ = false;
  Buffer<std::int32_t> count_;        // [classes] shards
  Buffer<std::int32_t> offset_;       // [classes + 1]
  Buffer<std::int32_t> edge_port_;    // [edges]
  Buffer<std::int32_t> edge_class_;   // [edges]
  Buffer<std::int64_t> flow_;         // [edges]
  Buffer<std::int64_t> load_;         // [ports]
  Buffer<std::int32_t> order_;        // [classes] by number of ports, then as they came
  Buffer<std::int32_t> start_;        // [ports + 2]
  Buffer<std::int32_t> port_offset_;  // [ports + 1] the edges of each port
  Buffer<std::int32_t> port_edge_;    // [edges]
  // Search: the way to a port leads out of the port of one edge and into it by the other.
  Buffer<std::int32_t> queue_, out_of_, into_;  // [ports]
  Buffer<std::uint32_t> seen_port_;             // [ports]
  Buffer<std::uint32_t> seen_class_;            // [classes]
  std::int32_t reached_ = 0;
  std::uint32_t search_ = 0;
};

}  // namespace banyan

#endif  // BANYAN_KERNELS_BALANCE_POUR_H_
