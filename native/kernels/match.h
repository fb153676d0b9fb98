// Multicast matching on the time-expanded network.
//
// Problem. NPUs V, routes R, chunks C. A transfer of a chunk over route r occupies r (and its units of shared resources)
// for slot[r]; the target holds the chunk when the transfer has ended. held[v] is what v starts with, wanted[v] what it
// must end with. Find transfers, each delivering one wanted chunk once, that end early.
//
// Algorithm. TACOS 2024, Algorithms 1 and 2: at every instant match free links to chunks that the source has and the
// target lacks, cheaper links first (section IV-F). Ours differs in how a chunk is found and chosen:
//   * Arrival logs. Every NPU keeps its chunks in order of arrival, and every route a pointer into its source's log.
//     Entries that the target has (or is being sent) are passed once and for ever, so a route reads its source's log once:
//     O(|R| |C|) bit tests in all instead of a scan of all unsatisfied (NPU, chunk) pairs per instant. Most tests fall to
//     the moment of arrival: beside each entry stands who lacked the chunk then, half of those that the NPU leads to.
//   * Choice among the next `window` candidates (Choice), in the spirit of the paper's random_select: the oldest; the one
//     that fewest of the target's out-neighbours have (ties: fewest NPUs, then oldest); the same with ties first to what
//     fewest NPUs two steps away have, which sees a pocket behind a neighbour; the rarest; the newest.
//   * Novelty (different link speeds). A route first takes chunks that are new to the component of its target under all
//     strictly faster routes, then to the components of the next faster classes, then any that the target lacks.
//   * Overtaking with causal replacement (section IV-F's arrival-time analysis). A faster route without candidates may
//     send a chunk that is already under way on a slower one if it arrives earlier; when it has, the slower transfer takes
//     another chunk that its source held at its departure, or is dropped. (Replacing by what the source holds on arrival
//     would break causality.)
//   * Routes that share resources (switch ports): per instant and novelty level a bipartite matching of receiving to
//     sending ports, the rotation i = j - 1 - tick first, then augmenting paths (Kuhn).
//
//   * Symmetry. With maps of the network onto itself one NPU of each orbit is matched, as in spread.h. Routes from its
//     images read copies of its log, to which what arrives is appended through the map; what a component has or is being
//     sent counts all images. Meshes of two speeds lose nothing by it and need a quarter of the work.
//
// Invariants. I1: hi[v] = chunks v holds, is being sent, or does not want; it only grows. I2: pointers only move forward.
// I3: the resources in use never exceed their capacity. I4: of one chunk and target at most two transfers are under way,
// and the one that left later arrives strictly earlier.
//
// Complexity. O(|R| |C|) bit tests plus O(1) per transfer for the oldest choice; a factor `window` while the choice is on.
// Memory |V| (8 L / 3 + |C| / 8) bytes plus component sets, L the longest log (16 L / 3 from 65,537 chunks on). Logs lie
// slice by slice, routes are numbered by target, the bits of I1 lie by where a chunk comes from, and what may not be in the
// caches is asked for early: 10,000 NPUs take 1.4 times as long per transfer as 1,600.
#ifndef BANYAN_KERNELS_MATCH_H_
#define BANYAN_KERNELS_MATCH_H_

#include <cstdint>

#include "../abi.h"

namespace banyan {

enum class Choice : std::int32_t { kOldest = 0, kNeighbour = 1, kRarest = 2, kNewest = 3, kAround = 4 };

struct MatchProblem {
  const BanyanNetwork& network;
  std::int32_t chunk_count;
  const std::int32_t* held_offset;  // [npu_count + 1]
  const std::int32_t* held_chunk;
  const std::uint32_t* wanted;   // [npu_count * ceil(chunk_count / 32)] or null
  const std::uint8_t* choosers;  // [npu_count] or null
  BanyanMatchPolicy policy;
  std::int32_t map_count;  // 0: none
  const std::int32_t*
      maps;  // [map_count][npu_count] a group of maps of the network onto itself, the first the identity
};

/// Fills `out` with the transfers in order of their ends. The caller has checked every index.
[[nodiscard]] BanyanStatus Match(const MatchProblem& problem, BanyanCancelled cancelled, const void* context,
                                 BanyanTransfers* out);

}  // namespace banyan

#endif  // BANYAN_KERNELS_MATCH_H_
