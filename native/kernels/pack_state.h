// What is packed so far: the trees in the caller's columns, the last of which may be in the making, and what they leave.
#ifndef BANYAN_KERNELS_PACK_STATE_H_
#define BANYAN_KERNELS_PACK_STATE_H_

#include "pack_pool.h"

namespace banyan {

/// A place among the edges of all trees: before edge `edge` of tree `tree`.
struct PackPlace {
  std::int32_t tree;
  std::int32_t edge;
};

struct PackState {
  PackNet net;
  CutPool pool;
  BanyanTrees* out = nullptr;
  Buffer<std::int64_t> full;       // [links] copies that fit
  Buffer<std::int64_t> left;       // [links] copies that still fit; net.graph.capacity has the same for arcs
  Buffer<std::int64_t> unstarted;  // [npus] copies still to start
  Buffer<std::int32_t> heights;    // [trees] of whole trees
  std::int64_t total = 0;          // copies in all
  std::int64_t waiting = 0;        // copies still to start
  std::int64_t copies = 0;         // of the tree in the making

  // The tree in the making.
  Buffer<std::uint8_t> reached;  // [npus]
  Buffer<std::int32_t> depth;    // [npus] edges from the root, where reached
  Buffer<std::int32_t> member;   // [npus] as they were reached
  std::int32_t root = 0;
  std::int32_t members = 0;
  std::int32_t height = 0;
  bool open = false;  // whether there is one

  [[nodiscard]] bool Build(const BanyanPack& problem, BanyanTrees* trees) {
    out = trees;
    out->tree_count = 0;
    out->link_offset[0] = 0;
    if (!net.Build(problem) || !pool.Allocate(net)) return false;
    const auto npus = At(net.npus);
    if (!full.Allocate(At(net.links)) || !left.Allocate(At(net.links)) || !unstarted.Allocate(npus)) return false;
    if (!heights.Allocate(At(out->max_trees))) return false;
    if (!reached.Allocate(npus) || !depth.Allocate(npus) || !member.Allocate(npus)) return false;
    for (std::int32_t i = 0; i < net.links; i++) {
      full[At(i)] = static_cast<std::int64_t>(problem.capacity[i]);
      left[At(i)] = full[At(i)];
    }
    for (std::int32_t v = 0; v < net.npus; v++) {
      unstarted[At(v)] = static_cast<std::int64_t>(problem.copies[v]);
      total += unstarted[At(v)];
    }
    waiting = total;
    return true;
  }

  /// Copies that are not whole trees yet.
  [[nodiscard]] std::int64_t Missing() const { return waiting + (open ? copies : 0); }
  [[nodiscard]] std::int32_t EdgesPerTree() const { return net.npus - 1; }
  [[nodiscard]] std::int32_t Edges(std::int32_t tree) const {
    return open && tree == out->tree_count - 1 ? members - 1 : EdgesPerTree();
  }
  /// The links of edge i of a tree are links[Begin(tree, i) .. Begin(tree, i + 1)].
  [[nodiscard]] std::int64_t Begin(std::int32_t tree, std::int32_t edge) const {
    return static_cast<std::int64_t>(out->link_offset[At(tree) * At(EdgesPerTree()) + At(edge)]);
  }

  /// Starts a tree with all copies of a root. False when there is no room for it.
  [[nodiscard]] bool StartTree(std::int32_t at) {
    if (out->tree_count == out->max_trees) return false;
    const std::int32_t tree = out->tree_count++;
    copies = unstarted[At(at)];
    out->root[tree] = at;
    out->copies[tree] = static_cast<double>(copies);
    unstarted[At(at)] = 0;
    waiting -= copies;
    pool.Start(at, copies);
    OpenTree(tree, 0);
    return true;
  }

  /// Adds an edge over a path of links to NPU y, which is at links[Begin(tree, edges) ..] already.
  void AddEdge(std::int32_t from, std::int32_t y, std::int32_t path_links) {
    const std::int32_t tree = out->tree_count - 1;
    const std::int64_t begin = Begin(tree, members - 1);
    Draw(begin, begin + path_links, copies);
    out->link_offset[At(tree) * At(EdgesPerTree()) + At(members)] = static_cast<double>(begin + path_links);
    Reach(y, depth[At(from)] + 1);
    pool.Touch(y);
    CloseWhole(tree);
  }

  /// Lets the tree in the making stand for fewer copies; the others are to be started again.
  void LowerTo(std::int64_t fewer) {
    const std::int32_t tree = out->tree_count - 1;
    const std::int64_t less = copies - fewer;
    Draw(Begin(tree, 0), Begin(tree, members - 1), -less);
    Return(root, less);
    copies = fewer;
    out->copies[tree] = static_cast<double>(fewer);
  }

  /// Undoes everything from a place on. O(links of what is undone + cuts * (trees undone + members)).
  void RollBack(PackPlace place) {
    while (out->tree_count - 1 > place.tree) DropTree();
    const std::int32_t tree = place.tree;
    Draw(Begin(tree, place.edge), Begin(tree, Edges(tree)), -static_cast<std::int64_t>(out->copies[tree]));
    OpenTree(tree, place.edge);
  }

  /// Undoes the last tree.
  void DropTree() {
    const std::int32_t tree = out->tree_count - 1;
    const auto dropped = static_cast<std::int64_t>(out->copies[tree]);
    Draw(Begin(tree, 0), Begin(tree, Edges(tree)), -dropped);
    Return(out->root[tree], dropped);
    open = false;
    out->tree_count--;
  }

  /// Takes from links[begin .. end) so many copies; they may be negative.
  void Draw(std::int64_t begin, std::int64_t end, std::int64_t amount) {
    for (std::int64_t i = begin; i < end; i++) {
      const std::int32_t link = out->links[i];
      const std::int32_t arc = net.arc[At(link)];
      left[At(link)] -= amount;
      net.graph.capacity[At(arc)] -= amount;
      pool.Draw(arc, amount);
    }
  }

  /// So many copies (or, negative, that they are started) are to be started again.
  void Return(std::int32_t at, std::int64_t amount) {
    unstarted[At(at)] += amount;
    waiting += amount;
    pool.Start(at, -amount);
  }

  /// Capacity left into the marked nodes, less the copies to start outside. O(nodes + arcs into the marked nodes).
  [[nodiscard]] std::int64_t SlackOf(const std::uint8_t* inside) const {
    std::int64_t slack = 0;
    for (std::int32_t v = 0; v < net.nodes; v++) {
      if (inside[v] == 0) {
        if (v < net.npus) slack -= unstarted[At(v)];
        continue;
      }
      for (std::int32_t a = net.graph.offset[At(v)]; a < net.graph.offset[At(v) + 1]; a++) {
        if (net.real[At(a)] != 0 && inside[net.graph.tail[At(a)]] == 0) slack += net.graph.capacity[At(a)];
      }
    }
    return slack;
  }

  /// Whether there is a tree in the making that has not reached a marked node.
  [[nodiscard]] bool Untouched(const std::uint8_t* inside) const {
    if (!open) return false;
    for (std::int32_t i = 0; i < members; i++) {
      if (inside[member[At(i)]] != 0) return false;
    }
    return true;
  }

 private:
  // Makes the first `edges` edges of the last tree the tree in the making.
  void OpenTree(std::int32_t tree, std::int32_t edges) {
    open = true;
    root = out->root[tree];
    copies = static_cast<std::int64_t>(out->copies[tree]);
    members = 0;
    height = 0;
    reached.Fill(0);
    pool.TouchNone();
    Reach(root, 0);
    pool.Touch(root);
    for (std::int32_t i = 0; i < edges; i++) {
      const std::int32_t y = net.target[out->links[Begin(tree, i + 1) - 1]];
      Reach(y, depth[At(net.source[out->links[Begin(tree, i)]])] + 1);
      pool.Touch(y);
    }
    CloseWhole(tree);
  }

  void CloseWhole(std::int32_t tree) {
    if (members < net.npus) return;
    open = false;
    heights[At(tree)] = height;
  }

  void Reach(std::int32_t v, std::int32_t at_depth) {
    reached[At(v)] = 1;
    depth[At(v)] = at_depth;
    member[At(members++)] = v;
    if (at_depth > height) height = at_depth;
  }
};

}  // namespace banyan

#endif  // BANYAN_KERNELS_PACK_STATE_H_
