// A zero-filled array that owns its memory and reports a failed allocation instead of throwing.
#ifndef BANYAN_KERNELS_BUFFER_H_
#define BANYAN_KERNELS_BUFFER_H_

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "huge_pages.h"

namespace banyan {

template <typename T>
class Buffer {
 public:
  Buffer() = default;
  ~Buffer() { std::free(data_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  /// Makes the array `size` zeros long; what it held is gone. False when the memory cannot be had.
  [[nodiscard]] bool Allocate(std::size_t size) {
    std::free(data_);
    size_ = 0;
    data_ = nullptr;
    if (size > SIZE_MAX / 2 / sizeof(T)) return false;
    data_ = static_cast<T*>(std::calloc(size == 0 ? 1 : size, sizeof(T)));
    if (data_ == nullptr) return false;
    AdviseHugePages(data_, size * sizeof(T));
    size_ = size;
    return true;
  }

  void Fill(T value) {
    for (std::size_t i = 0; i < size_; i++) data_[i] = value;
  }

  void Swap(Buffer& other) {
    T* data = data_;
    data_ = other.data_;
    other.data_ = data;
    const std::size_t size = size_;
    size_ = other.size_;
    other.size_ = size;
  }

  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }
  [[nodiscard]] T* data() { return data_; }
  [[nodiscard]] const T* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Makes room for so many elements; what the buffer held stays. False when the memory cannot be had.
template <typename T>
[[nodiscard]] bool GrowTo(Buffer<T>& buffer, std::size_t size) {
  if (buffer.size() >= size) return true;
  Buffer<T> longer;
  if (!longer.Allocate(2 * size)) return false;
  for (std::size_t i = 0; i < buffer.size(); i++) longer[i] = buffer[i];
  buffer.Swap(longer);
  return true;
}

}  // namespace banyan

#endif  // BANYAN_KERNELS_BUFFER_H_
