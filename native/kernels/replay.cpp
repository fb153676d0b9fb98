#include "replay.h"

#include "replay_cut.h"
#include "replay_events.h"

namespace banyan {

BanyanStatus Replay(const BanyanReplay& problem, BanyanCancelled cancelled, const void* context, BanyanReplayed* out) {
  if (problem.mode == kBanyanCutThrough) {
    return ReplayCutThrough(problem, cancelled, context, out);
  }
  EventReplay replay(problem, out);
  return replay.Run(cancelled, context);
}

}  // namespace banyan
