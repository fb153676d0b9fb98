#include "pack.h"

#include "pack_repair.h"

namespace banyan {

BanyanStatus Pack(const BanyanPack& problem, BanyanCancelled cancelled, const void* context, BanyanTrees* out) {
  PackState state;
  PackSearch search(state, cancelled, context);
  if (!state.Build(problem, out) || !search.Allocate()) return kBanyanOutOfMemory;
  search.grower.prices.depth_price = problem.depth_price;
  search.grower.prices.load_price = problem.load_price;
  search.grower.prices.scheduled = problem.scheduled != 0;
  search.grower.prices.seed = problem.seed;
  bool violated = false;
  if (!search.Begin(out->cut, &violated)) return search.status();
  const PackEnd end = violated ? PackEnd::kStuck : search.Run();
  if (end == PackEnd::kFailed) return search.status();
  if (end == PackEnd::kPacked) {
    PackRepair repair(state, search, problem.seed);
    const BanyanStatus status = repair.Run(problem.repairs, problem.enough_height);
    if (status != kBanyanOk) return status;
  }
  out->outcome = violated ? kBanyanViolated : end == PackEnd::kPacked ? kBanyanPacked : kBanyanStuck;
  if (end != PackEnd::kPacked) out->tree_count = 0;
  out->sweeps = search.sweeps();
  out->rollbacks = search.rollbacks();
  return kBanyanOk;
}

}  // namespace banyan
