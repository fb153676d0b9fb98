// Loads of arc classes, and how dear an arc is: the gradient of the sum of (load / greatest load)^p, p = 2^k.
// Only + - * / and comparisons, so the same bits on every backend.
// The twin of src/engine/kernels/js/concurrent.ts, function by function.
#ifndef BANYAN_KERNELS_CONCURRENT_LOADS_H_
#define BANYAN_KERNELS_CONCURRENT_LOADS_H_

#include <cmath>
#include <cstdint>

#include "../abi.h"
#include "lists.h"

namespace banyan {

class ClassLoads {
 public:
  static constexpr double kLongest = 1073741824.0;  // 2^30

  explicit ClassLoads(const BanyanConcurrent& graph) : graph_(graph) {}

  [[nodiscard]] bool Allocate() {
    const std::size_t classes = At(graph_.class_count);
    if (!share_.Allocate(classes) || !load_.Allocate(classes) || !ratio_.Allocate(classes)) return false;
    return power_.Allocate(classes) && length_.Allocate(classes) && whole_.Allocate(classes);
  }

  /// Counts the arcs of classes; false where one has none.
  [[nodiscard]] bool Count() {
    for (std::int32_t a = 0; a < graph_.arc_count; a++) share_[At(graph_.arc_class[a])] += 1;
    for (std::size_t c = 0; c < share_.size(); c++) {
      if (share_[c] == 0) return false;
      share_[c] = 1 / (share_[c] * graph_.capacity[c]);
    }
    return true;
  }

  void Clear() { load_.Fill(0); }

  /// Adds a flow [arcs] of a source that stands for `weight`.
  void Add(const double* flow, double weight) {
    for (std::int32_t a = 0; a < graph_.arc_count; a++) {
      const std::size_t c = At(graph_.arc_class[a]);
      load_[c] += weight * share_[c] * flow[a];
    }
  }

  /// Makes `change` [classes], of flows of a source that stands for `weight`, one of loads.
  void Scale(Buffer<double>* change, double weight) const {
    for (std::size_t c = 0; c < change->size(); c++) (*change)[c] *= weight * share_[c];
  }

  void Move(const Buffer<double>& change, double theta) {
    for (std::size_t c = 0; c < change.size(); c++) load_[c] += theta * change[c];
  }

  [[nodiscard]] double Greatest() const { return greatest_; }
  [[nodiscard]] std::int32_t Sharpness() const { return sharpness_; }

  /// Doubles p.
  void Sharpen() {
    sharpness_++;
    exponent_ *= 2;
    floor_ = 1 - 512 / exponent_;
    if (floor_ < 0.5) floor_ = 0.5;
  }

  /// Finds the greatest load and the lengths of arcs.
  void Price() {
    greatest_ = 0;
    for (std::size_t c = 0; c < load_.size(); c++) {
      if (load_[c] > greatest_) greatest_ = load_[c];
    }
    for (std::size_t c = 0; c < load_.size(); c++) ratio_[c] = load_[c] / greatest_;
    Raise();
    for (std::size_t c = 0; c < load_.size(); c++) length_[c] = power_[c] / ratio_[c] * share_[c];
  }

  /// [classes]
  [[nodiscard]] const Buffer<double>& Lengths() const { return length_; }

  /// The lengths as whole numbers, the longest 2^30, [classes].
  const Buffer<double>& WholeLengths() {
    double longest = 0;
    for (std::size_t c = 0; c < length_.size(); c++) {
      if (length_[c] > longest) longest = length_[c];
    }
    for (std::size_t c = 0; c < length_.size(); c++) {
      whole_[c] = std::floor(length_[c] / longest * kLongest + 0.5);
    }
    return whole_;
  }

  /// The sum over all arcs of capacity times whole length, and the same times load.
  void Totals(double* paid, double* used) const {
    *paid = 0;
    *used = 0;
    for (std::size_t c = 0; c < load_.size(); c++) {
      const double worth = whole_[c] / share_[c];
      *paid += worth;
      *used += worth * load_[c];
    }
  }

  /// How much of a change of loads to take, 0 .. 1: one at which the sum was seen to fall still, so that it is less there than
  /// before, by Newton's method between bisections; 0 where none is.
  double Search(const Buffer<double>& change) {
    double theta = 0;
    double low = 0;
    double high = 1;
    for (std::int32_t step = 0; step < kMostSteps; step++) {
      double slope = 1;
      double bend = 0;
      Derive(change, theta, &slope, &bend);
      if (step == 0 && slope >= 0) return 0;
      if (slope < 0)
        low = theta;
      else
        high = theta;
      if (step >= kNewtonSteps && low > 0) return low;
      double next = bend > 0 ? theta - slope / bend : high;
      if (!(next > low && next < high)) next = step == 0 ? 1 : low > 0 ? (low + high) / 2 : high / 4;
      if (slope < 0 && step > 0 && next - theta < 1e-3 * next) return theta;
      theta = next;
    }
    return low;
  }

 private:
  static constexpr std::int32_t kMostSteps = 40;
  static constexpr std::int32_t kNewtonSteps = 4;
  // A power of a load so many parts of 1 / p above the greatest is below e^300, still a number.
  static constexpr double kMostAbove = 300;

  // The sum's first two derivatives along a change; left as they are where a load is too far above the greatest one.
  void Derive(const Buffer<double>& change, double theta, double* slope, double* bend) {
    const double most = 1 + kMostAbove / exponent_;
    for (std::size_t c = 0; c < load_.size(); c++) {
      ratio_[c] = (load_[c] + theta * change[c]) / greatest_;
      if (ratio_[c] > most) return;
    }
    Raise();
    *slope = 0;
    for (std::size_t c = 0; c < load_.size(); c++) {
      const double steep = power_[c] / (ratio_[c] * ratio_[c]) * change[c];
      *slope += steep * ratio_[c];
      *bend += steep * change[c];
    }
    *bend *= (exponent_ - 1) / greatest_;
  }

  // Loads far below the greatest count as if they were at a floor, where powers are still numbers.
  void Raise() {
    for (std::size_t c = 0; c < ratio_.size(); c++) {
      if (ratio_[c] < floor_) ratio_[c] = floor_;
      power_[c] = ratio_[c];
    }
    for (std::int32_t i = 0; i < sharpness_; i++) {
      for (std::size_t c = 0; c < power_.size(); c++) power_[c] *= power_[c];
    }
  }

  const BanyanConcurrent& graph_;
  Buffer<double> share_;   // [classes] load on each arc of the class by one unit of flow on one of them
  Buffer<double> load_;    // [classes]
  Buffer<double> ratio_;   // [classes] load by the greatest, at least the floor
  Buffer<double> power_;   // [classes] its p-th power
  Buffer<double> length_;  // [classes]
  Buffer<double> whole_;   // [classes]
  double greatest_ = 0;
  std::int32_t sharpness_ = 4;  // k
  double exponent_ = 16;        // p
  double floor_ = 0.5;
};

}  // namespace banyan

#endif  // BANYAN_KERNELS_CONCURRENT_LOADS_H_
