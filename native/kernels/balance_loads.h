// The greatest load of each step so far, and the first target that has it.
#ifndef BANYAN_KERNELS_BALANCE_LOADS_H_
#define BANYAN_KERNELS_BALANCE_LOADS_H_

#include <cstdint>
#include <numeric>

#include "buffer.h"
#include "lists.h"

namespace banyan {

class Loads {
 public:
  /// `parts` of a shard in which loads are counted; 0: fractions of shards.
  [[nodiscard]] bool Allocate(std::int32_t max_steps, std::int32_t parts) {
    parts_ = parts;
    if (!num_.Allocate(At(max_steps)) || !den_.Allocate(At(max_steps)) || !worst_.Allocate(At(max_steps))) return false;
    den_.Fill(parts == 0 ? 1 : parts);
    return true;
  }

  /// The load is Num / Den shards.
  [[nodiscard]] std::int64_t Num(std::int32_t step) const { return num_[At(step)]; }
  [[nodiscard]] std::int64_t Den(std::int32_t step) const { return den_[At(step)]; }
  [[nodiscard]] std::int32_t Worst(std::int32_t step) const { return worst_[At(step)]; }

  /// Whether so many shards that fit only so many ports need a greater load.
  [[nodiscard]] bool Exceeds(std::int32_t step, std::int64_t shards, std::int64_t ports) const {
    return shards * Den(step) > Num(step) * ports;
  }

  /// Sets the load that these shards need, which is greater.
  void Raise(std::int32_t step, std::int64_t shards, std::int64_t ports, std::int32_t target) {
    if (parts_ != 0) {
      Set(step, (shards * parts_ + ports - 1) / ports, parts_, target);
      return;
    }
    const std::int64_t divisor = std::gcd(shards, ports);
    Set(step, shards / divisor, ports / divisor, target);
  }

  void Set(std::int32_t step, std::int64_t num, std::int64_t den, std::int32_t target) {
    num_[At(step)] = num;
    den_[At(step)] = den;
    worst_[At(step)] = target;
  }

  /// Takes over another's load of a step where it is greater, or as great and of an earlier target.
  void Merge(std::int32_t step, const Loads& other) {
    const std::int64_t mine = Num(step) * other.Den(step);
    const std::int64_t its = other.Num(step) * Den(step);
    if (its < mine || (its == mine && other.Worst(step) >= Worst(step))) return;
    if (other.Num(step) > 0) Set(step, other.Num(step), other.Den(step), other.Worst(step));
  }

 private:
  std::int32_t parts_ = 0;
  Buffer<std::int64_t> num_, den_;  // [steps]
  Buffer<std::int32_t> worst_;      // [steps]
};

}  // namespace banyan

#endif  // BANYAN_KERNELS_BALANCE_LOADS_H_
