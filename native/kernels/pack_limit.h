// How many copies of a path the links and the cuts of the pool allow.
#ifndef BANYAN_KERNELS_PACK_LIMIT_H_
#define BANYAN_KERNELS_PACK_LIMIT_H_

#include "pack_labels.h"
#include "pack_state.h"

namespace banyan {

/// Counts of entries into cuts, back at zero after each use.
struct EntryCounts {
  Buffer<std::int32_t> times;  // [cuts]
  Buffer<std::int32_t> cut;    // those that are entered
  std::int32_t count = 0;

  [[nodiscard]] bool Fit(std::int32_t cuts) { return Reserve(times, cuts) && Reserve(cut, cuts); }
  void Enter(std::int32_t at) {
    if (times[At(at)]++ == 0) cut[At(count++)] = at;
  }
  void Clear() {
    for (std::int32_t i = 0; i < count; i++) times[At(cut[At(i)])] = 0;
    count = 0;
  }
};

class PathLimit {
 public:
  PathLimit(const PackState& state, const PackLabels& labels) : state_(state), labels_(labels) {}

  /// Makes room for the cuts of the pool.
  [[nodiscard]] bool Fit() { return counts_.Fit(state_.pool.count()); }

  /// Returns how many copies of label l's path and one more link (or kNone) fit, at most those of the tree in the making.
  /// `y`: the NPU that the path would take into the tree, or kNone when it shall go on. A cut that the path enters d times
  /// allows slack / d copies, slack / (d + 1) when the tree has not touched it and will not have then.
  [[nodiscard]] std::int64_t Of(std::int32_t l, std::int32_t link, std::int32_t y) {
    std::int64_t limit = state_.copies;
    const std::int32_t most = labels_.length[At(l)] + 2;
    if (link != kNone) limit = Over(link, most, limit);
    for (; labels_.parent[At(l)] != kNone; l = labels_.parent[At(l)]) limit = Over(labels_.link[At(l)], most, limit);
    for (std::int32_t i = 0; i < counts_.count; i++) {
      const std::int32_t cut = counts_.cut[At(i)];
      const bool untouched = y != kNone && state_.pool.Untouched(cut) && !state_.pool.Has(cut, y);
      const std::int32_t need = counts_.times[At(cut)] + (untouched ? 1 : 0);
      if (state_.pool.Slack(cut) < limit * need) limit = state_.pool.Slack(cut) / need;
    }
    counts_.Clear();
    return limit;
  }

 private:
  // Counts the cuts that a link enters, but for those with slack for more entries than any path of `most` - 1 links needs.
  std::int64_t Over(std::int32_t link, std::int32_t most, std::int64_t limit) {
    const std::int32_t arc = state_.net.arc[At(link)];
    const std::int32_t* cuts = state_.pool.Entered(arc);
    const std::int32_t count = state_.pool.EnteredCount(arc);
    for (std::int32_t i = 0; i < count; i++) {
      if (state_.pool.Slack(cuts[i]) < state_.copies * most) counts_.Enter(cuts[i]);
    }
    return state_.left[At(link)] < limit ? state_.left[At(link)] : limit;
  }

  const PackState& state_;
  const PackLabels& labels_;
  EntryCounts counts_;
};

}  // namespace banyan

#endif  // BANYAN_KERNELS_PACK_LIMIT_H_
