// The arguments of one call of the add-on, checked as they are read: kind, length, and that what is written is nobody else's.
#ifndef BANYAN_ARGUMENTS_H_
#define BANYAN_ARGUMENTS_H_

#include <node_api.h>

#include <cinttypes>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "kernels/arrays.h"
#include "kernels/spans.h"

namespace banyan_addon {

/// Thrown, and caught in this add-on, once JavaScript has its error.
struct Refused {};

template <typename T>
struct ArrayKind;
template <>
struct ArrayKind<std::int32_t> {
  static constexpr napi_typedarray_type kType = napi_int32_array;
  static constexpr const char* kName = "an Int32Array";
};
template <>
struct ArrayKind<std::uint32_t> {
  static constexpr napi_typedarray_type kType = napi_uint32_array;
  static constexpr const char* kName = "a Uint32Array";
};
template <>
struct ArrayKind<double> {
  static constexpr napi_typedarray_type kType = napi_float64_array;
  static constexpr const char* kName = "a Float64Array";
};
template <>
struct ArrayKind<std::uint8_t> {
  static constexpr napi_typedarray_type kType = napi_uint8_array;
  static constexpr const char* kName = "a Uint8Array";
};
template <>
struct ArrayKind<std::uint16_t> {
  static constexpr napi_typedarray_type kType = napi_uint16_array;
  static constexpr const char* kName = "a Uint16Array";
};

/// What a kernel asks now and then: whether to stop.
struct Watch {
  const std::int32_t* flag;  // or null
  napi_env env;
  napi_value number;
  std::thread::id owner;
  mutable std::uint32_t polls;  // of the owner

  /// Also stops where the worker that made the call is being ended: its environment then refuses what may run JavaScript.
  /// Only its own thread may ask that, which costs more than the flag.
  static std::int32_t Stops(const void* context) {
    const auto& watch = *static_cast<const Watch*>(context);
    if (watch.flag != nullptr && __atomic_load_n(watch.flag, __ATOMIC_RELAXED) != 0) return 1;
    if (std::this_thread::get_id() != watch.owner || ++watch.polls % kAskEvery != 0) return 0;
    napi_value ignored{};
    return napi_coerce_to_bool(watch.env, watch.number, &ignored) == napi_ok ? 0 : 1;
  }

 private:
  static constexpr std::uint32_t kAskEvery = 16;
};

/// Walks the arguments of one call in order. Whatever does not fit throws a TypeError.
class Arguments {
 public:
  Arguments(napi_env env, napi_callback_info info) : env_(env) {
    std::size_t count = kMost;
    if (napi_get_cb_info(env, info, &count, values_, nullptr, nullptr) != napi_ok) throw Refused{};
  }
  ~Arguments() {
    for (std::int32_t i = 0; i < copy_count_; i++) std::free(copies_[i].own);
  }
  Arguments(const Arguments&) = delete;
  Arguments& operator=(const Arguments&) = delete;

  std::int32_t Integer(const char* name) {
    return static_cast<std::int32_t>(Whole(name, INT32_MIN, INT32_MAX, "a 32-bit integer"));
  }
  std::int32_t Count(const char* name) {
    return static_cast<std::int32_t>(Whole(name, 0, INT32_MAX, "a count of at most 2^31 - 1"));
  }
  std::uint32_t Unsigned(const char* name) {
    return static_cast<std::uint32_t>(Whole(name, 0, UINT32_MAX, "an unsigned 32-bit integer"));
  }

  /// An array that is read.
  template <typename T>
  const T* In(const char* name, std::int64_t length) {
    return Array<T>(name, false, [&](std::int64_t actual) { Expect<T>(name, length, actual); });
  }
  /// The same of any length, which `count` gets.
  template <typename T>
  const T* In(const char* name, std::int32_t* count) {
    return Array<T>(name, false, [&](std::int64_t actual) { *count = Counted(name, actual); });
  }
  template <typename T>
  const T* InOrNull(const char* name, std::int64_t length) {
    return TakesNull() ? nullptr : In<T>(name, length);
  }

  /// An array that is written.
  template <typename T>
  T* Out(const char* name, std::int64_t length) {
    return Array<T>(name, true, [&](std::int64_t actual) { Expect<T>(name, length, actual); });
  }
  template <typename T>
  T* Out(const char* name, std::int32_t* count) {
    return Array<T>(name, true, [&](std::int64_t actual) { *count = Counted(name, actual); });
  }
  template <typename T>
  T* Out(const char* name, double* count) {
    return Array<T>(name, true, [&](std::int64_t actual) { *count = static_cast<double>(actual); });
  }
  template <typename T>
  T* OutOrNull(const char* name, std::int64_t length) {
    return TakesNull() ? nullptr : Out<T>(name, length);
  }
  template <typename T>
  T* OutOrNull(const char* name, double* count) {
    return TakesNull() ? nullptr : Out<T>(name, count);
  }

  /// A column of chunks that is written: *entry_bytes 2 or 4.
  void* Chunks(const char* name, std::int64_t length, std::int32_t* entry_bytes) {
    napi_typedarray_type type{};
    const napi_status status =
        napi_get_typedarray_info(env_, values_[next_], &type, nullptr, nullptr, nullptr, nullptr);
    const bool is_narrow = status == napi_ok && type == napi_uint16_array;
    *entry_bytes = is_narrow ? 2 : 4;
    if (is_narrow) return Out<std::uint16_t>(name, length);
    return Out<std::int32_t>(name, length);
  }

  /// The cancel flag or null: a watch of it for the kernel. Where `progress` is given, it gets the flag's second element, or
  /// null. The flag is what other threads write to, so it is used where it lies.
  Watch Cancel(std::int32_t** progress = nullptr) {
    Watch watch{nullptr, env_, nullptr, std::this_thread::get_id(), 0};
    if (napi_create_int32(env_, 0, &watch.number) != napi_ok) throw Refused{};
    if (TakesNull()) return watch;
    const View flag = ViewOf<std::int32_t>("cancel");
    if (flag.length < 1) Fail("cancel", "an Int32Array of at least one element");
    auto* data = static_cast<std::int32_t*>(flag.data);
    const bool reports = progress != nullptr && flag.length >= 2;
    if (!spans_.Reads(data, 1) || (reports && !spans_.Writes(data + 1, 1))) FailOfOverlap("cancel");
    if (reports) *progress = data + 1;
    watch.flag = data;
    return watch;
  }

  /// Puts what was written to copies of shared memory there.
  void CopyBack() const {
    for (std::int32_t i = 0; i < copy_count_; i++) {
      if (copies_[i].shared != nullptr) std::memcpy(copies_[i].shared, copies_[i].own, copies_[i].bytes);
    }
  }

 private:
  static constexpr std::size_t kMost = 32;

  struct View {
    void* data;
    std::int64_t length;
    bool is_shared;
  };
  struct Copy {
    void* own;
    void* shared;  // null: it is only read
    std::size_t bytes;
  };

  bool TakesNull() {
    napi_valuetype type{};
    if (napi_typeof(env_, values_[next_], &type) != napi_ok || type != napi_null) return false;
    next_++;
    return true;
  }

  double Whole(const char* name, double least, double most, const char* expected) {
    double value = 0;
    const bool is_number = napi_get_value_double(env_, values_[next_++], &value) == napi_ok;
    if (!is_number || !(value >= least && value <= most) || std::floor(value) != value) Fail(name, expected);
    return value;
  }

  template <typename T>
  View ViewOf(const char* name) {
    napi_typedarray_type type{};
    std::size_t length = 0;
    void* data = nullptr;
    napi_value buffer{};
    bool is_plain = false;
    const napi_value value = values_[next_++];
    if (napi_get_typedarray_info(env_, value, &type, &length, &data, &buffer, nullptr) != napi_ok ||
        type != ArrayKind<T>::kType || napi_is_arraybuffer(env_, buffer, &is_plain) != napi_ok) {
      Fail(name, ArrayKind<T>::kName);
    }
    return {data, static_cast<std::int64_t>(length), !is_plain};
  }

  // What other threads may change is copied, for kernels trust what has been checked. No copy where there is nothing.
  template <typename T, typename Check>
  T* Array(const char* name, bool is_written, const Check& check) {
    static T nothing{};
    const View view = ViewOf<T>(name);
    check(view.length);
    if (view.length == 0) return &nothing;
    auto* data = static_cast<T*>(view.data);
    if (!(is_written ? spans_.Writes(data, view.length) : spans_.Reads(data, view.length))) FailOfOverlap(name);
    if (!view.is_shared) return data;
    const std::size_t bytes = static_cast<std::size_t>(view.length) * sizeof(T);
    void* own = std::malloc(bytes);
    if (own == nullptr) {
      napi_throw_range_error(env_, nullptr, "not enough memory for a copy of shared memory");
      throw Refused{};
    }
    std::memcpy(own, data, bytes);
    copies_[copy_count_++] = {own, is_written ? data : nullptr, bytes};
    return static_cast<T*>(own);
  }

  template <typename T>
  void Expect(const char* name, std::int64_t length, std::int64_t actual) {
    if (length == actual) return;
    char expected[80];
    if (length < 0) {
      std::snprintf(expected, sizeof expected, "%s, and lengths that are no less than 0", ArrayKind<T>::kName);
    } else {
      std::snprintf(expected, sizeof expected, "%s of length %" PRId64, ArrayKind<T>::kName, length);
    }
    Fail(name, expected);
  }

  // For arrays whose length the C ABI takes as an int32_t.
  std::int32_t Counted(const char* name, std::int64_t actual) {
    if (actual >= INT32_MAX) Fail(name, "fewer than 2^31 - 1 elements");
    return static_cast<std::int32_t>(actual);
  }

  [[noreturn]] void FailOfOverlap(const char* name) { Fail(name, "memory that no array written in the call overlaps"); }

  // An environment that is being torn down takes no error; the call ends all the same.
  [[noreturn]] void Fail(const char* name, const char* expected) {
    char message[160];
    std::snprintf(message, sizeof message, "expected %s for %s", expected, name);
    napi_throw_type_error(env_, nullptr, message);
    throw Refused{};
  }

  napi_env env_;
  napi_value values_[kMost] = {};
  std::size_t next_ = 0;
  banyan::Spans spans_;
  Copy copies_[kMost] = {};
  std::int32_t copy_count_ = 0;
};

/// The function of JavaScript for a kernel, which reads its arguments and returns its status.
template <std::int32_t (*kKernel)(Arguments&)>
napi_value Call(napi_env env, napi_callback_info info) {
  try {
    Arguments arguments(env, info);
    const std::int32_t status = kKernel(arguments);
    arguments.CopyBack();
    napi_value result{};
    return napi_create_int32(env, status, &result) == napi_ok ? result : nullptr;
  } catch (const Refused&) {
    return nullptr;
  }
}

}  // namespace banyan_addon

#endif  // BANYAN_ARGUMENTS_H_
