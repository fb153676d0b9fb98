#include "judge.h"

#include <atomic>

#include "../kernels/team.h"
#include "chunks.h"
#include "links.h"

namespace banyan {

namespace {

// Rows that a thread brings together at once, 24 bytes each, unless one chunk has more.
constexpr std::int64_t kRowsOfBlock = 1 << 24;

/// Cuts the chunks into blocks of at most kRowsOfBlock rows, and into enough of them for all threads. False when the memory
/// cannot be had.
bool CutIntoBlocks(const BanyanSteps& problem, const Buffer<std::int64_t>& rows_of, Buffer<ChunkBlock>& blocks,
                   std::int32_t* count) {
  constexpr std::int64_t kLeast = 1 << 16;
  const std::int64_t even = problem.row_count / problem.threads + 1;
  const std::int64_t most = std::clamp(even, kLeast, kRowsOfBlock);
  if (!blocks.Allocate(static_cast<std::size_t>(2 * (problem.row_count / most) + 2))) return false;
  ChunkBlock block{0, 0, 0, 0};
  *count = 0;
  for (std::int32_t chunk = 0; chunk < problem.chunk_count; chunk++) {
    if (block.end > block.first && block.end - block.first + rows_of[At(chunk)] > most) {
      blocks[At((*count)++)] = block;
      block.first_chunk = chunk;
      block.first = block.end;
    }
    block.end += rows_of[At(chunk)];
    block.end_chunk = chunk + 1;
  }
  blocks[At((*count)++)] = block;
  return true;
}

}  // namespace

BanyanStatus Judge(const BanyanSteps& problem, BanyanCancelled cancelled, const void* context, std::int32_t* shown) {
  *shown = 0;
  Stop stop(cancelled, context);
  Buffer<std::int64_t> rows_of;
  if (!rows_of.Allocate(At(problem.chunk_count))) return kBanyanOutOfMemory;
  {
    LinkJudge links(problem);
    if (!links.Run(rows_of, stop)) return stop.Status();
  }
  Buffer<ChunkBlock> blocks;
  std::int32_t count = 0;
  if (!CutIntoBlocks(problem, rows_of, blocks, &count)) return kBanyanOutOfMemory;
  std::atomic<std::int32_t> next{0};
  Team team(std::min({problem.threads, count, kMostMembers}));
  team.Run([&](std::int32_t member) {
    ChunkJudge chunks(problem, rows_of);
    for (std::int32_t b = next.fetch_add(1); b < count && !stop.failed(); b = next.fetch_add(1)) {
      if (!chunks.Run(blocks[At(b)], member, stop)) stop.Fail();
    }
  });
  *shown = stop.failed() ? 0 : 1;
  return stop.Status();
}

}  // namespace banyan
