#include "sweep.h"

#include "flow.h"

namespace banyan {

BanyanStatus Sweep(const BanyanSweep& problem, BanyanCancelled cancelled, const void* context, double* flow) {
  FlowGraph<std::int64_t> graph;
  if (!graph.Build(problem.node_count, problem.link_count, problem.link_source, problem.link_target, problem.capacity,
                   1)) {
    return kBanyanOutOfMemory;
  }
  Flow<std::int64_t> flows(graph);
  if (!flows.Allocate()) return kBanyanOutOfMemory;
  flows.Scale(1);
  std::int64_t all = 0;
  for (std::int32_t v = 0; v < problem.node_count; v++) {
    const auto supply = static_cast<std::int64_t>(problem.supply[v]);
    flows.Feed(v, supply);
    all += supply;
  }
  for (std::int32_t i = 0; i < problem.sink_count; i++) {
    if (cancelled != nullptr && cancelled(context) != 0) return kBanyanCancelled;
    flow[i] = static_cast<double>(flows.Solve(problem.sinks[i], all));
    flows.Undo();
  }
  return kBanyanOk;
}

}  // namespace banyan
