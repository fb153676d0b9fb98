// Random pack problems, and what an answer must keep.
#ifndef BANYAN_TEST_PACK_H_
#define BANYAN_TEST_PACK_H_

#include "problem.h"

namespace banyan_test {

struct PackCase {
  std::int32_t nodes = 1;
  std::int32_t npus = 1;
  std::vector<std::int32_t> source, target;
  std::vector<double> capacity, copies;
  std::int32_t depth_price = 0;
  std::int32_t load_price = 0;
  std::int32_t scheduled = 0;
  std::int32_t repairs = 0;
  std::int32_t enough_height = 0;
  std::uint32_t seed = 0;
  bool balanced = true;   // as much capacity into every switch as out of it
  bool packable = false;  // made of trees

  [[nodiscard]] BanyanPack View() const {
    return {nodes,
            npus,
            static_cast<std::int32_t>(source.size()),
            seed,
            source.data(),
            target.data(),
            capacity.data(),
            copies.data(),
            depth_price,
            load_price,
            scheduled,
            repairs,
            enough_height};
  }

  void Add(std::int32_t from, std::int32_t to, double amount) {
    source.push_back(from);
    target.push_back(to);
    capacity.push_back(amount);
  }
};

/// Adds a random tree that spans the NPUs, with paths through switches, no switch twice in a path.
inline void AddTree(Source& random, double copies, PackCase* made) {
  std::vector<std::int32_t> order;
  for (std::int32_t v = 0; v < made->npus; v++) order.push_back(v);
  for (std::int32_t i = made->npus - 1; i > 0; i--) {
    std::swap(order[static_cast<std::size_t>(i)], order[static_cast<std::size_t>(random.Below(i + 1))]);
  }
  made->copies[static_cast<std::size_t>(order[0])] += copies;
  for (std::size_t i = 1; i < order.size(); i++) {
    std::int32_t at = order[static_cast<std::size_t>(random.Below(static_cast<std::int32_t>(i)))];
    for (std::int32_t s = made->npus; s < made->nodes; s++) {
      if (random.Below(3) != 0) continue;
      made->Add(at, s, copies);
      at = s;
    }
    made->Add(at, order[i], copies);
  }
}

/// Adds closed walks, each of one capacity.
inline void AddWalks(Source& random, std::int32_t most, PackCase* made) {
  for (std::int32_t walks = 1 + random.Below(3 * made->nodes); walks > 0; walks--) {
    const double amount = 1 + random.Below(most);
    const std::int32_t first = random.Below(made->nodes);
    std::int32_t at = first;
    for (std::int32_t steps = random.Below(made->nodes); steps >= 0; steps--) {
      const std::int32_t to = steps == 0 ? first : random.Below(made->nodes);
      if (to == at) continue;
      made->Add(at, to, amount);
      at = to;
    }
    if (at != first) made->Add(at, first, amount);
  }
}

inline PackCase RandomPack(Source& random, std::int32_t max_nodes) {
  PackCase made;
  made.nodes = 1 + random.Below(max_nodes);
  made.npus = made.nodes - random.Below(std::min(made.nodes, 4));
  made.copies.assign(static_cast<std::size_t>(made.npus), 0);
  const std::int32_t most = random.Below(2) == 0 ? 1 + random.Below(3) : 1 + random.Below(100000);
  const std::int32_t kind = random.Below(4);
  made.packable = kind < 2;
  if (made.packable) {
    for (std::int32_t trees = random.Below(3 * made.npus); trees >= 0; trees--) {
      AddTree(random, 1 + random.Below(most), &made);
    }
  } else {
    if (made.nodes > 1) AddWalks(random, most, &made);
    for (double& copies : made.copies) copies = random.Below(most + 1);
  }
  if (kind == 3) {
    made.balanced = false;
    for (double& amount : made.capacity) amount += random.Below(3) == 0 ? random.Below(most) : 0;
  }
  made.depth_price = random.Below(3) * 500;
  made.load_price = random.Below(3) * 500;
  made.scheduled = random.Below(2);
  made.repairs = random.Below(3) == 0 ? 1 + random.Below(8) : 0;
  made.enough_height = random.Below(3);
  made.seed = static_cast<std::uint32_t>(random.Below(INT32_MAX));
  return made;
}

struct Trees {
  std::vector<std::int32_t> root, links;
  std::vector<double> copies, link_offset;
  std::vector<std::uint8_t> cut;
  BanyanTrees view{};

  Trees(const PackCase& made, std::int32_t max_trees, std::int32_t max_links)
      : root(static_cast<std::size_t>(max_trees)),
        links(static_cast<std::size_t>(max_links)),
        copies(static_cast<std::size_t>(max_trees)),
        link_offset(static_cast<std::size_t>(max_trees) * static_cast<std::size_t>(made.npus - 1) + 1),
        cut(static_cast<std::size_t>(made.nodes), 9) {
    view.max_links = max_links;
    view.max_trees = max_trees;
    view.root = root.data();
    view.copies = copies.data();
    view.link_offset = link_offset.data();
    view.links = links.data();
    view.cut = cut.data();
  }
};

/// How many more copies start in a set than can leave it.
inline double Excess(const PackCase& made, std::uint32_t set) {
  double excess = 0;
  for (std::int32_t v = 0; v < made.npus; v++) {
    if (((set >> v) & 1U) != 0) excess += made.copies[static_cast<std::size_t>(v)];
  }
  for (std::size_t i = 0; i < made.source.size(); i++) {
    if (((set >> made.source[i]) & 1U) != 0 && ((set >> made.target[i]) & 1U) == 0) excess -= made.capacity[i];
  }
  return excess;
}

/// Whether more copies start in some set that lacks an NPU than can leave it. O(2^nodes links).
inline bool IsViolated(const PackCase& made) {
  const std::uint32_t npus = (1U << made.npus) - 1;
  for (std::uint32_t set = 0; set < 1U << made.nodes; set++) {
    if ((set & npus) != npus && Excess(made, set) > 0) return true;
  }
  return false;
}

/// Null when edge [begin, end) of the links leads from a reached NPU through switches to one that is not; marks that one.
inline const char* EdgeFault(const PackCase& made, const Trees& out, std::size_t begin, std::size_t end,
                             std::vector<bool>* reached) {
  if (begin >= end) return "an edge has no links";
  std::int32_t at = made.source[static_cast<std::size_t>(out.links[begin])];
  if (at >= made.npus || !(*reached)[static_cast<std::size_t>(at)]) return "an edge starts outside the tree";
  for (std::size_t i = begin; i < end; i++) {
    const auto link = static_cast<std::size_t>(out.links[i]);
    if (made.source[link] != at) return "a path is broken";
    at = made.target[link];
    if (i + 1 < end && at < made.npus) return "a path leads through an NPU";
  }
  if (at >= made.npus || (*reached)[static_cast<std::size_t>(at)]) return "an edge ends in the tree";
  (*reached)[static_cast<std::size_t>(at)] = true;
  return nullptr;
}

/// Null when the trees span, hold the copies that were asked for and fit the links.
inline const char* TreesFault(const PackCase& made, const Trees& out) {
  std::vector<double> load(made.source.size());
  std::vector<double> started(made.copies.size());
  const auto edges = static_cast<std::size_t>(made.npus - 1);
  for (std::size_t t = 0; t < static_cast<std::size_t>(out.view.tree_count); t++) {
    if (!(out.copies[t] >= 1)) return "a tree of no copies";
    std::vector<bool> reached(static_cast<std::size_t>(made.npus));
    reached[static_cast<std::size_t>(out.root[t])] = true;
    started[static_cast<std::size_t>(out.root[t])] += out.copies[t];
    for (std::size_t e = t * edges; e < (t + 1) * edges; e++) {
      const auto begin = static_cast<std::size_t>(out.link_offset[e]);
      const auto end = static_cast<std::size_t>(out.link_offset[e + 1]);
      const char* fault = EdgeFault(made, out, begin, end, &reached);
      if (fault != nullptr) return fault;
      for (std::size_t i = begin; i < end; i++) load[static_cast<std::size_t>(out.links[i])] += out.copies[t];
    }
  }
  if (started != made.copies) return "not the copies that were asked for";
  for (std::size_t i = 0; i < load.size(); i++) {
    if (load[i] > made.capacity[i]) return "a link is overloaded";
  }
  return nullptr;
}

inline const char* PackFault(const PackCase& made, const Trees& out) {
  const bool violated = made.packable ? false : IsViolated(made);
  if (out.view.outcome == kBanyanStuck) return violated || made.balanced ? "stuck without reason" : nullptr;
  if (out.view.outcome == kBanyanPacked) return violated ? "the impossible is packed" : TreesFault(made, out);
  if (!violated) return "a cut where there is none";
  std::uint32_t set = 0;
  for (std::size_t v = 0; v < out.cut.size(); v++) {
    if (out.cut[v] > 1) return "a mark is neither 0 nor 1";
    set |= static_cast<std::uint32_t>(out.cut[v]) << v;
  }
  const std::uint32_t npus = (1U << made.npus) - 1;
  return (set & npus) == npus || Excess(made, set) <= 0 ? "the cut proves nothing" : nullptr;
}

inline const char* RunPack(const PackCase& made, std::int32_t* status) {
  const BanyanPack view = made.View();
  const std::int32_t max_trees = 64 + 8 * static_cast<std::int32_t>(made.source.size());
  Trees out(made, max_trees, max_trees * made.nodes * made.npus);
  *status = banyan_pack(&view, nullptr, nullptr, &out.view);
  return *status == kBanyanOk ? PackFault(made, out) : "unexpected status";
}

}  // namespace banyan_test

#endif  // BANYAN_TEST_PACK_H_
