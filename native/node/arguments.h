// The arguments of one call of the add-on, checked for kind and length as they are read.
#ifndef BANYAN_ARGUMENTS_H_
#define BANYAN_ARGUMENTS_H_

#include <napi.h>

#include <cmath>
#include <cstdint>
#include <string>

namespace banyan_addon {

/// Walks the arguments of one call in order.
class Arguments {
 public:
  explicit Arguments(const Napi::CallbackInfo& info) : info_(info) {}

  int32_t Integer(const char* name) {
    const double value = Number(name);
    if (!(value >= INT32_MIN && value <= INT32_MAX) || std::floor(value) != value) Fail(name, "a 32-bit integer");
    return static_cast<int32_t>(value);
  }

  uint32_t Unsigned(const char* name) {
    const double value = Number(name);
    if (!(value >= 0 && value <= UINT32_MAX) || std::floor(value) != value) Fail(name, "an unsigned 32-bit integer");
    return static_cast<uint32_t>(value);
  }

  int32_t* Int32(const char* name, double length) {
    return static_cast<int32_t*>(Array(name, napi_int32_array, "an Int32Array", length));
  }

  int32_t* Int32OrNull(const char* name, double length) {
    if (info_[next_].IsNull()) {
      next_++;
      return nullptr;
    }
    return Int32(name, length);
  }

  uint32_t* Uint32OrNull(const char* name, double length) {
    if (info_[next_].IsNull()) {
      next_++;
      return nullptr;
    }
    return static_cast<uint32_t*>(Array(name, napi_uint32_array, "a Uint32Array", length));
  }

  double* Float64OrNull(const char* name, double length) {
    if (info_[next_].IsNull()) {
      next_++;
      return nullptr;
    }
    return Float64(name, length);
  }

  uint8_t* Uint8(const char* name, double length) {
    return static_cast<uint8_t*>(Array(name, napi_uint8_array, "a Uint8Array", length));
  }

  uint16_t* Uint16(const char* name, double length) {
    return static_cast<uint16_t*>(Array(name, napi_uint16_array, "a Uint16Array", length));
  }

  /// A column of chunks: *entry_bytes 2 or 4.
  void* Chunks(const char* name, double length, int32_t* entry_bytes) {
    const Napi::Value value = info_[next_];
    const bool narrow = value.IsTypedArray() && value.As<Napi::TypedArray>().TypedArrayType() == napi_uint16_array;
    *entry_bytes = narrow ? 2 : 4;
    if (narrow) return Array(name, napi_uint16_array, "a Uint16Array", length);
    return Array(name, napi_int32_array, "a Uint16Array or an Int32Array", length);
  }

  double* Float64(const char* name, double length) {
    return static_cast<double*>(Array(name, napi_float64_array, "a Float64Array", length));
  }

  /// The cancel flag, or null.
  int32_t* Flag() {
    if (info_[next_].IsNull()) {
      next_++;
      return nullptr;
    }
    int32_t* flag = Int32("cancel", kAnyLength);
    if (length_ < 1) Fail("cancel", "an Int32Array of at least one element");
    return flag;
  }

  /// Length of the array read last.
  [[nodiscard]] double length() const { return length_; }

  /// The same for arrays whose length the C ABI takes as an int32_t.
  int32_t Count(const char* name) {
    if (length_ >= INT32_MAX) Fail(name, "fewer than 2^31 - 1 elements");
    return static_cast<int32_t>(length_);
  }

  static constexpr double kAnyLength = -1;

 private:
  double Number(const char* name) {
    const Napi::Value value = info_[next_++];
    if (!value.IsNumber()) Fail(name, "a number");
    return value.As<Napi::Number>().DoubleValue();
  }

  void* Array(const char* name, napi_typedarray_type wanted, const char* expected, double length) {
    const Napi::Value value = info_[next_++];
    napi_typedarray_type type{};
    std::size_t size = 0;
    void* data = nullptr;
    // Not Napi::TypedArray: it would ask for the ArrayBuffer, which fails over shared memory.
    if (!value.IsTypedArray()) Fail(name, expected);
    napi_get_typedarray_info(info_.Env(), value, &type, &size, &data, nullptr, nullptr);
    if (type != wanted) Fail(name, expected);
    length_ = static_cast<double>(size);
    if (length != kAnyLength && length_ != length) {
      Fail(name, (std::string(expected) + " of length " + std::to_string(static_cast<int64_t>(length))).c_str());
    }
    return data;
  }

  [[noreturn]] void Fail(const char* name, const char* expected) {
    throw Napi::TypeError::New(info_.Env(), std::string("expected ") + expected + " for " + name);
  }

  const Napi::CallbackInfo& info_;
  std::size_t next_ = 0;
  double length_ = 0;
};

}  // namespace banyan_addon

#endif  // BANYAN_ARGUMENTS_H_
