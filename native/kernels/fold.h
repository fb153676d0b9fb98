// Networks that map onto themselves: the schedule is made the same under a group of maps, so one NPU of each orbit, its
// representative, stands for all. spread.h and match.h say how they use it.
#ifndef BANYAN_KERNELS_FOLD_H_
#define BANYAN_KERNELS_FOLD_H_

#include <cstdint>

#include "../abi.h"
#include "buffer.h"
#include "lists.h"

namespace banyan {

/// What a fold is made of. Every chunk must have one holder.
struct FoldProblem {
  std::int32_t npu_count;
  std::int32_t chunk_count;
  std::int32_t map_count;
  const std::int32_t* maps;  // [map_count][npus] a group, the identity first
  const std::int32_t* route_source;
  const double* slot_ps;  // [routes] or null: all routes are equal
  const std::int32_t* held_offset;
  const std::int32_t* held_chunk;
};

/// `Entry` holds a chunk.
template <typename Entry>
struct Fold {
  std::int32_t map_count = 0;  // 0: not folded, and all else is empty
  std::size_t npus = 0;
  std::size_t chunks = 0;
  const std::int32_t* maps = nullptr;   // [map_count][npus]
  Buffer<Entry> chunk_maps;             // [map_count][chunks]
  Buffer<std::int32_t> representative;  // [npus] the least NPU of the orbit
  Buffer<std::int32_t> element;         // [npus] the first map that takes the representative there
  Buffer<std::int32_t> image_port;      // [routes] by NPU: which of its ports port p of its representative becomes
  Buffer<std::int32_t>
      fixed_row;  // [npus] of representatives that a map besides the identity leaves in place, or kNone
  std::int32_t fixed_count = 0;

  [[nodiscard]] bool Folded() const { return map_count > 0; }
  [[nodiscard]] bool Represents(std::int32_t npu) const { return !Folded() || representative[At(npu)] == npu; }
  [[nodiscard]] bool Fixed(std::int32_t npu) const { return Folded() && fixed_row[At(npu)] != kNone; }
  [[nodiscard]] bool Fixes(std::int32_t map, std::int32_t npu) const { return maps[At(map) * npus + At(npu)] == npu; }
  [[nodiscard]] const Entry* ChunkMap(std::int32_t map) const { return chunk_maps.data() + At(map) * chunks; }

  /// `in`: the routes into every NPU. kBanyanBadArgument: the maps do not take what NPUs hold or the routes onto themselves.
  [[nodiscard]] BanyanStatus Build(const FoldProblem& problem, const Lists& in) {
    npus = At(problem.npu_count);
    chunks = At(problem.chunk_count);
    maps = problem.maps;
    if (problem.held_offset[npus] != problem.chunk_count) return kBanyanBadArgument;
    if (!chunk_maps.Allocate(At(problem.map_count) * chunks) || !representative.Allocate(npus) ||
        !element.Allocate(npus) || !fixed_row.Allocate(npus) || !image_port.Allocate(in.items.size())) {
      return kBanyanOutOfMemory;
    }
    FindOrbits(problem);
    if (!MapChunks(problem)) return kBanyanBadArgument;
    for (std::int32_t v = 0; v < problem.npu_count; v++) {
      if (!MapPorts(problem, in, v)) return kBanyanBadArgument;
    }
    map_count = problem.map_count;
    return kBanyanOk;
  }

 private:
  void FindOrbits(const FoldProblem& problem) {
    representative.Fill(kNone);
    fixed_row.Fill(kNone);
    for (std::int32_t v = 0; v < problem.npu_count; v++) {
      if (representative[At(v)] != kNone) continue;
      representative[At(v)] = v;
      for (std::int32_t g = 1; g < problem.map_count; g++) {
        const std::int32_t image = maps[At(g) * npus + At(v)];
        if (image == v && fixed_row[At(v)] == kNone) fixed_row[At(v)] = fixed_count++;
        if (representative[At(image)] != kNone) continue;
        representative[At(image)] = v;
        element[At(image)] = g;
      }
    }
  }

  // The k-th chunk that an NPU holds becomes the k-th that its image holds.
  [[nodiscard]] bool MapChunks(const FoldProblem& problem) {
    for (std::int32_t g = 0; g < problem.map_count; g++) {
      Entry* map = chunk_maps.data() + At(g) * chunks;
      for (std::int32_t v = 0; v < problem.npu_count; v++) {
        const std::int32_t image = maps[At(g) * npus + At(v)];
        const std::int32_t first = problem.held_offset[v];
        const std::int32_t count = problem.held_offset[v + 1] - first;
        if (problem.held_offset[image + 1] - problem.held_offset[image] != count) return false;
        for (std::int32_t i = 0; i < count; i++) {
          map[problem.held_chunk[first + i]] = static_cast<Entry>(problem.held_chunk[problem.held_offset[image] + i]);
        }
      }
    }
    return true;
  }

  // Of parallel routes that are equally long the k-th becomes the k-th.
  [[nodiscard]] bool MapPorts(const FoldProblem& problem, const Lists& in, std::int32_t npu) {
    const std::int32_t of = representative[At(npu)];
    const std::int32_t* map = maps + At(element[At(npu)]) * npus;
    const std::int32_t* from = in.items.data() + in.Begin(of);
    const std::int32_t* to = in.items.data() + in.Begin(npu);
    const std::int32_t count = in.End(npu) - in.Begin(npu);
    if (in.End(of) - in.Begin(of) != count) return false;
    const auto alike = [&problem](std::int32_t source, std::int32_t route, std::int32_t other) {
      return problem.route_source[route] == source &&
             (problem.slot_ps == nullptr || problem.slot_ps[route] == problem.slot_ps[other]);
    };
    for (std::int32_t p = 0; p < count; p++) {
      const std::int32_t source = problem.route_source[from[p]];
      std::int32_t rank = 0;
      for (std::int32_t q = 0; q < p; q++) rank += alike(source, from[q], from[p]) ? 1 : 0;
      std::int32_t found = 0;
      while (found < count && (!alike(map[source], to[found], from[p]) || rank-- != 0)) found++;
      if (found == count) return false;
      image_port[At(in.Begin(npu) + p)] = found;
    }
    return true;
  }
};

}  // namespace banyan

#endif  // BANYAN_KERNELS_FOLD_H_
