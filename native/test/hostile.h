// Calls of the C ABI by a caller that breaks its contract: extreme counts, settings and elements, arrays that overlap, are
// missing or lie askew. Every array has memory of its own of exactly the length that the counts ask for, so that a sanitizer
// sees what is read or written beside it.
#ifndef BANYAN_TEST_HOSTILE_H_
#define BANYAN_TEST_HOSTILE_H_

#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>

#include "kernels/arrays.h"
#include "run.h"

namespace banyan_test {

class HostileCall {
 public:
  explicit HostileCall(Source& random) : random_(random) {}
  ~HostileCall() {
    for (void* block : blocks_) std::free(block);
  }
  HostileCall(const HostileCall&) = delete;
  HostileCall& operator=(const HostileCall&) = delete;

  /// A count or a setting.
  void Number(std::int32_t* number) { numbers_.push_back({number, INT32_MAX}); }
  /// A number that an answer may need memory or time for, though no array is as long.
  void Amount(std::int32_t* number) { numbers_.push_back({number, 1 << 16}); }
  /// An array, and how many elements the call says it has; what it holds is kept where there is as much room. Some may be
  /// missing.
  template <typename T>
  void In(const T** at, std::function<std::int64_t()> count, bool may_miss = false) {
    Add(const_cast<T**>(at), std::move(count), false, may_miss);
  }
  template <typename T>
  void Out(T** at, std::function<std::int64_t()> count, bool may_miss = false) {
    Add(at, std::move(count), true, may_miss);
  }

  /// Null where the status is one and what cannot be used was refused; else what is wrong.
  template <typename Call>
  const char* Run(const Call& call) {
    for (std::int32_t i = random_.Below(4); i > 0; i--) ChangeNumber();
    for (Column& column : columns_) Provide(column);
    for (std::int32_t i = random_.Below(4); i > 0; i--) ChangeElement();
    (void)ProvideChanged();
    const bool broken = random_.Below(3) == 0 && Break();
    polls_ = 0;
    const std::int32_t status = call(Stops, this);
    if (status < kBanyanOk || status > kBanyanTimeOverflow) return "a status that is none";
    return broken && status != kBanyanBadArgument ? "arrays that cannot be used were taken" : nullptr;
  }

 private:
  static constexpr std::int64_t kMostElements = 4096;
  static constexpr std::int32_t kMostPolls = 30;

  struct Setting {
    std::int32_t* number;
    std::int32_t most;
  };
  struct Column {
    std::function<void(void*)> place;
    std::function<std::int64_t()> count;
    std::size_t size;
    bool is_written;
    bool may_miss;
    std::vector<std::uint8_t> given;
    std::uint8_t* block = nullptr;
    std::int64_t provided = 0;
  };

  static std::int32_t Stops(const void* context) {
    auto* call = const_cast<HostileCall*>(static_cast<const HostileCall*>(context));
    return __atomic_add_fetch(&call->polls_, 1, __ATOMIC_RELAXED) > kMostPolls ? 1 : 0;
  }

  template <typename T>
  void Add(T** at, std::function<std::int64_t()> count, bool is_written, bool may_miss) {
    const auto* begin = reinterpret_cast<const std::uint8_t*>(*at);
    const std::int64_t length = count();
    const std::size_t bytes = begin == nullptr || length < 0 ? 0 : static_cast<std::size_t>(length) * sizeof(T);
    const auto place = [at](void* block) { *at = static_cast<T*>(block); };
    columns_.push_back({place, std::move(count), sizeof(T), is_written, may_miss, {}, nullptr, 0});
    if (bytes > 0) columns_.back().given.assign(begin, begin + bytes);
  }

  std::int32_t Odd() {
    static constexpr std::int32_t kOdd[] = {
        -1, 0, 1, 2, 31, 32, 33, 65535, 65536, 1 << 30, INT32_MAX - 64, INT32_MAX, INT32_MIN};
    return kOdd[random_.Below(static_cast<std::int32_t>(std::size(kOdd)))];
  }

  void ChangeNumber() {
    const Setting& setting =
        numbers_[static_cast<std::size_t>(random_.Below(static_cast<std::int32_t>(numbers_.size())))];
    const std::int32_t kind = random_.Below(4);
    std::int64_t value = Odd();
    if (kind == 1) value = static_cast<std::int64_t>(*setting.number) + 1;
    if (kind == 2) value = static_cast<std::int64_t>(*setting.number) - 1;
    if (kind == 3) value = random_.Below(9);
    if (value <= setting.most && value >= INT32_MIN) *setting.number = static_cast<std::int32_t>(value);
  }

  std::uint8_t* Block(std::size_t bytes) {
    auto* block = static_cast<std::uint8_t*>(std::malloc(bytes));
    blocks_.push_back(block);
    return block;
  }

  void Provide(Column& column) {
    const std::int64_t count = column.count();
    column.provided = count;
    column.block = nullptr;
    if (count > 0 && count <= kMostElements) {
      const std::size_t bytes = static_cast<std::size_t>(count) * column.size;
      const std::size_t kept = std::min(bytes, column.given.size());
      column.block = Block(bytes);
      if (kept > 0) std::memcpy(column.block, column.given.data(), kept);
      for (std::size_t i = kept; i < bytes; i++)
        column.block[i] = static_cast<std::uint8_t>(random_.Below(3) * random_.Below(2));
    }
    column.place(column.block);
  }

  // Lengths that stand in arrays may have changed with them; false where none has.
  bool ProvideChanged() {
    bool changed = false;
    for (Column& column : columns_) {
      if (column.count() == column.provided) continue;
      Provide(column);
      changed = true;
    }
    return changed;
  }

  [[nodiscard]] Column* AnyColumn() {
    Column& column = columns_[static_cast<std::size_t>(random_.Below(static_cast<std::int32_t>(columns_.size())))];
    return column.block == nullptr ? nullptr : &column;
  }

  void ChangeElement() {
    Column* column = AnyColumn();
    if (column == nullptr) return;
    std::uint8_t* at =
        column->block +
        static_cast<std::size_t>(random_.Below(static_cast<std::int32_t>(column->provided))) * column->size;
    if (column->size == sizeof(double)) {
      static constexpr double kOdd[] = {-1,
                                        -0.0,
                                        0.5,
                                        1,
                                        1e300,
                                        -1e300,
                                        5e-324,
                                        1 / 9007199254740992.0,
                                        9007199254740990.0,
                                        9007199254740991.0,
                                        9007199254740992.0,
                                        std::numeric_limits<double>::infinity(),
                                        std::numeric_limits<double>::quiet_NaN(),
                                        2,
                                        3,
                                        2147483648.0};
      const double odd = kOdd[random_.Below(static_cast<std::int32_t>(std::size(kOdd)))];
      std::memcpy(at, &odd, sizeof odd);
    } else {
      const std::int32_t odd = random_.Below(2) == 0 ? Odd() : random_.Below(9);
      std::memcpy(at, &odd, column->size);
    }
  }

  // Makes an array unusable; false where there is none.
  bool Break() {
    Column* column = AnyColumn();
    if (column == nullptr) return false;
    const std::int32_t kind = random_.Below(4);
    const std::size_t bytes = static_cast<std::size_t>(column->provided) * column->size;
    if (kind == 0 && !column->may_miss) {
      column->place(nullptr);
      return true;
    }
    if (kind == 1 && column->size > 1) {
      std::uint8_t* askew = Block(bytes + 1);
      std::memcpy(askew + 1, column->block, bytes);
      column->place(askew + 1);
      return true;
    }
    Column* other = AnyColumn();
    if (other == nullptr || other == column || !(column->is_written || other->is_written)) return false;
    // The other begins within this one.
    const std::size_t step = std::max(column->size, other->size);
    const std::size_t offset =
        step * static_cast<std::size_t>(random_.Below(static_cast<std::int32_t>((bytes - 1) / step + 1)));
    const std::size_t others = static_cast<std::size_t>(other->provided) * other->size;
    std::uint8_t* both = Block(std::max(bytes, offset + others));
    std::memcpy(both, column->block, bytes);
    std::memcpy(both + offset, other->block, others);
    column->place(both);
    other->place(both + offset);
    // What lies over an array of lengths changes them, and what is as long again need not be unusable.
    return !ProvideChanged();
  }

  Source& random_;
  std::vector<Setting> numbers_;
  std::vector<Column> columns_;
  std::vector<void*> blocks_;
  std::int32_t polls_ = 0;
};

}  // namespace banyan_test

#endif  // BANYAN_TEST_HOSTILE_H_
