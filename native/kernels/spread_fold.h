// Networks that map onto themselves: one NPU of each orbit is matched, the others follow; spread.h explains it.
#ifndef BANYAN_KERNELS_SPREAD_FOLD_H_
#define BANYAN_KERNELS_SPREAD_FOLD_H_

#include <cstdint>

#include "bits.h"
#include "buffer.h"
#include "lists.h"
#include "spread.h"

namespace banyan {

enum class FoldStatus : std::int32_t { kOk, kNoMemory, kNoSymmetry };

/// `Entry` holds a chunk.
template <typename Entry>
struct Fold {
  std::int32_t map_count = 0;           // 0: not folded, and all else is empty
  const std::int32_t* maps = nullptr;   // [map_count][npus]
  Buffer<Entry> chunk_maps;             // [map_count][chunks]
  Buffer<std::int32_t> representative;  // [npus] the least NPU of the orbit
  Buffer<std::int32_t> element;         // [npus] the first map that takes the representative there
  Buffer<std::int32_t> image_port;      // [routes] by NPU: which of its ports port p of its representative becomes
  Buffer<std::int32_t> shown_row;       // [npus] of representatives that a map leaves in place: row of the following
  Buffer<Entry> shown;                  // [..][chunks] the log as others read it
  Buffer<std::uint32_t> shown_chunks;   // [..][words] what is in it

  [[nodiscard]] bool Folded() const { return map_count > 0; }
  [[nodiscard]] bool Represents(std::int32_t npu) const { return !Folded() || representative[At(npu)] == npu; }
  [[nodiscard]] bool HasShown(std::int32_t npu) const { return Folded() && shown_row[At(npu)] != kNone; }
  [[nodiscard]] const Entry* ChunkMap(std::int32_t map, std::int32_t chunk_count) const {
    return chunk_maps.data() + At(map) * At(chunk_count);
  }
};

// The k-th chunk that an NPU holds becomes the k-th that its image holds.
template <typename Entry>
FoldStatus MapChunks(const BanyanSpread& problem, Fold<Entry>& fold) {
  if (problem.held_count != problem.chunk_count) return FoldStatus::kNoSymmetry;
  if (!fold.chunk_maps.Allocate(At(problem.map_count) * At(problem.chunk_count))) return FoldStatus::kNoMemory;
  for (std::int32_t g = 0; g < problem.map_count; g++) {
    Entry* chunks = fold.chunk_maps.data() + At(g) * At(problem.chunk_count);
    for (std::int32_t v = 0; v < problem.npu_count; v++) {
      const std::int32_t image = problem.maps[At(g) * At(problem.npu_count) + At(v)];
      const std::int32_t first = problem.held_offset[v];
      const std::int32_t count = problem.held_offset[v + 1] - first;
      if (problem.held_offset[image + 1] - problem.held_offset[image] != count) return FoldStatus::kNoSymmetry;
      for (std::int32_t i = 0; i < count; i++) {
        chunks[problem.held_chunk[first + i]] = static_cast<Entry>(problem.held_chunk[problem.held_offset[image] + i]);
      }
    }
  }
  return FoldStatus::kOk;
}

// Of parallel routes the k-th becomes the k-th.
template <typename Entry>
FoldStatus MapPorts(const BanyanSpread& problem, const Lists& in, Fold<Entry>& fold) {
  if (!fold.image_port.Allocate(At(problem.route_count))) return FoldStatus::kNoMemory;
  for (std::int32_t w = 0; w < problem.npu_count; w++) {
    const std::int32_t v = fold.representative[At(w)];
    const std::int32_t* map = fold.maps + At(fold.element[At(w)]) * At(problem.npu_count);
    const std::int32_t count = in.End(w) - in.Begin(w);
    if (in.End(v) - in.Begin(v) != count) return FoldStatus::kNoSymmetry;
    for (std::int32_t p = 0; p < count; p++) {
      const std::int32_t source = problem.route_source[in.items[At(in.Begin(v) + p)]];
      std::int32_t rank = 0;
      for (std::int32_t q = 0; q < p; q++) {
        rank += problem.route_source[in.items[At(in.Begin(v) + q)]] == source ? 1 : 0;
      }
      std::int32_t found = 0;
      while (found < count && (problem.route_source[in.items[At(in.Begin(w) + found)]] != map[source] || rank-- != 0)) {
        found++;
      }
      if (found == count) return FoldStatus::kNoSymmetry;
      fold.image_port[At(in.Begin(w) + p)] = found;
    }
  }
  return FoldStatus::kOk;
}

/// Fills the fold of a problem with maps; `in`: the routes into every NPU. kNoSymmetry: the maps do not take what NPUs hold
/// or the routes onto themselves.
template <typename Entry>
FoldStatus BuildFold(const BanyanSpread& problem, const Lists& in, Fold<Entry>& fold) {
  const auto npus = At(problem.npu_count);
  fold.maps = problem.maps;
  if (!fold.representative.Allocate(npus) || !fold.element.Allocate(npus) || !fold.shown_row.Allocate(npus)) {
    return FoldStatus::kNoMemory;
  }
  fold.representative.Fill(kNone);
  fold.shown_row.Fill(kNone);
  std::int32_t shown = 0;
  for (std::int32_t v = 0; v < problem.npu_count; v++) {
    if (fold.representative[At(v)] != kNone) continue;
    fold.representative[At(v)] = v;
    for (std::int32_t g = 1; g < problem.map_count; g++) {
      const std::int32_t image = problem.maps[At(g) * npus + At(v)];
      if (image == v && fold.shown_row[At(v)] == kNone) fold.shown_row[At(v)] = shown++;
      if (fold.representative[At(image)] != kNone) continue;
      fold.representative[At(image)] = v;
      fold.element[At(image)] = g;
    }
  }
  const std::size_t words = (At(problem.chunk_count) + 31) / 32;
  if (!fold.shown.Allocate(At(shown) * At(problem.chunk_count)) || !fold.shown_chunks.Allocate(At(shown) * words)) {
    return FoldStatus::kNoMemory;
  }
  const FoldStatus chunks = MapChunks(problem, fold);
  if (chunks != FoldStatus::kOk) return chunks;
  const FoldStatus ports = MapPorts(problem, in, fold);
  if (ports == FoldStatus::kOk) fold.map_count = problem.map_count;
  return ports;
}

}  // namespace banyan

#endif  // BANYAN_KERNELS_SPREAD_FOLD_H_
