// Types, buffers, groups and forms of calls for matrix.cpp.
#pragma once

#include <mpi.h>
#if defined(OPEN_MPI) && MPI_VERSION < 4
#include <mpi-ext.h>
#endif

#include <algorithm>
#include <atomic>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace matrix {

inline std::atomic<long long>& checks() {
  static std::atomic<long long> count{0};
  return count;
}
inline std::atomic<long long>& failures() {
  static std::atomic<long long> count{0};
  return count;
}
inline void check(bool fine, const std::string& what) {
  checks()++;
  if (fine || failures()++ >= 10) return;
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::fprintf(stderr, "wrong on rank %d: %s\n", rank, what.c_str());
}

// ---- values ----

constexpr int kOpCount = 10;
const char* const kOps[] = {"sum", "prod", "min", "max", "land", "lor", "lxor", "band", "bor", "bxor"};
inline MPI_Op opOf(int op) {
  const MPI_Op ops[] = {MPI_SUM, MPI_PROD, MPI_MIN, MPI_MAX, MPI_LAND, MPI_LOR, MPI_LXOR, MPI_BAND, MPI_BOR, MPI_BXOR};
  return ops[op];
}

// Small numbers, so that sums in any order are the same bits in every type.
inline int64_t valueOf(int rank, int at, int turn, int op) {
  const uint64_t mixed = (static_cast<uint64_t>(at) * 2654435761U + static_cast<uint64_t>(rank) * 40503U + 977U * turn) >> 5;
  if (op == 1) return static_cast<int64_t>(mixed % 2 + 1) * (rank % 5 == 0 ? 1 : 0) + (rank % 5 == 0 ? 0 : 1);
  if (op >= 4 && op <= 6) return static_cast<int64_t>(mixed % 2);
  return static_cast<int64_t>(mixed % 7 + 1);
}

enum class Kind { integer, real, complex, boolean, bits };

struct Type {
  std::string name;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  Kind kind = Kind::integer;
  size_t size = 0;               // of a part
  size_t extent = 0;             // of an element
  std::vector<size_t> offsets;   // parts of an element, in the order in which they are sent
  const Type* base = nullptr;    // of a derived type: a plain type with the same parts
  bool derived = false;

  int parts() const { return static_cast<int>(offsets.size()); }
  bool reducible(int op) const {
    if (derived) return false;
    if (kind == Kind::real) return op <= 3;
    if (kind == Kind::complex) return op <= 1;
    if (kind == Kind::boolean) return op >= 4 && op <= 6;
    return kind == Kind::integer || op >= 7;
  }
  void write(char* at, int64_t value) const {
    if (kind == Kind::real || kind == Kind::complex) {
      std::memset(at, 0, size);
      if (size == sizeof(float) || (kind == Kind::complex && size == 8)) {
        const float x = static_cast<float>(value);
        std::memcpy(at, &x, sizeof x);
      } else if (size == sizeof(double) || (kind == Kind::complex && size == 16)) {
        const double x = static_cast<double>(value);
        std::memcpy(at, &x, sizeof x);
      } else {
        const long double x = static_cast<long double>(value);
        std::memcpy(at, &x, 10);
      }
      return;
    }
    std::memcpy(at, &value, size);  // little-endian, or the low bytes are the wrong ones: tests run on little-endian machines
  }
  bool same(const char* at, const char* other) const {
    return std::memcmp(at, other, kind == Kind::real && size == 16 ? 10 : size) == 0;  // x87: 6 bytes are padding
  }
};

// What a reduction gives, in the integers, cut to the type.
inline int64_t reduced(int ranks, int at, int turn, int op, const Type&) {
  int64_t sum = valueOf(0, at, turn, op);
  for (int r = 1; r < ranks; r++) {
    const int64_t more = valueOf(r, at, turn, op);
    switch (op) {
      case 0: sum += more; break;
      case 1: sum *= more; break;
      case 2: sum = std::min(sum, more); break;
      case 3: sum = std::max(sum, more); break;
      case 4: sum = sum != 0 && more != 0; break;
      case 5: sum = sum != 0 || more != 0; break;
      case 6: sum = (sum != 0) != (more != 0); break;
      case 7: sum &= more; break;
      case 8: sum |= more; break;
      default: sum ^= more;
    }
  }
  return sum;
}

inline std::vector<Type> makeTypes() {
  std::vector<Type> types;
  const auto plain = [&](const char* name, MPI_Datatype type, Kind kind, size_t size) {
    Type one;
    one.name = name;
    one.type = type;
    one.kind = kind;
    one.size = one.extent = size;
    one.offsets = {0};
    types.push_back(one);
  };
  types.reserve(32);
  plain("int", MPI_INT, Kind::integer, 4);
  plain("float", MPI_FLOAT, Kind::real, 4);
  plain("double", MPI_DOUBLE, Kind::real, 8);
  plain("int8", MPI_INT8_T, Kind::integer, 1);
  plain("uint8", MPI_UINT8_T, Kind::integer, 1);
  plain("short", MPI_SHORT, Kind::integer, 2);
  plain("uint32", MPI_UINT32_T, Kind::integer, 4);
  plain("int64", MPI_INT64_T, Kind::integer, 8);
  plain("unsigned long", MPI_UNSIGNED_LONG, Kind::integer, 8);
  plain("long double", MPI_LONG_DOUBLE, Kind::real, 16);
  plain("complex", MPI_C_FLOAT_COMPLEX, Kind::complex, 8);
  plain("double complex", MPI_C_DOUBLE_COMPLEX, Kind::complex, 16);
  plain("bool", MPI_C_BOOL, Kind::boolean, 1);
  plain("byte", MPI_BYTE, Kind::bits, 1);
  const auto derived = [&](const char* name, MPI_Datatype type, std::vector<size_t> offsets, size_t extent) {
    Type one;
    one.name = name;
    one.type = type;
    one.size = 4;
    one.extent = extent;
    one.offsets = std::move(offsets);
    one.base = &types[0];
    one.derived = true;
    MPI_Type_commit(&one.type);
    types.push_back(one);
  };
  MPI_Datatype made, helper;
  MPI_Type_vector(2, 1, 3, MPI_INT, &helper);  // with gaps
  MPI_Type_create_resized(helper, 0, 20, &made);
  MPI_Type_free(&helper);
  derived("vector", made, {0, 12}, 20);
  int ones[2] = {1, 1};
  MPI_Aint back[2] = {4, 0};
  MPI_Type_create_hindexed(2, ones, back, MPI_INT, &made);  // no gaps, the other way round
  derived("reversed", made, {4, 0}, 8);
  MPI_Type_contiguous(3, MPI_INT, &made);
  derived("contiguous", made, {0, 4, 8}, 12);
  MPI_Type_dup(MPI_INT, &made);
  derived("copy", made, {0}, 4);
  return types;
}

inline void freeTypes(const std::vector<Type>& types) {
  for (const Type& one : types)
    if (one.derived) {
      MPI_Datatype type = one.type;
      MPI_Type_free(&type);
    }
}

// ---- buffers ----

// A buffer of elements that knows which bytes should be what; all others should stay as they were cleared.
class Buffer {
 public:
  Buffer(const Type& type, int count) : type_(type), bytes_(static_cast<size_t>(count) * type.extent + 64), wanted_(bytes_.size()) {
    clear();
  }
  void* data() { return bytes_.data(); }
  void clear() {
    std::fill(bytes_.begin(), bytes_.end(), static_cast<char>(0x5a));
    wanted_ = bytes_;
  }
  template <class Value>
  void put(int first, int count, Value value) {
    each(first, count, [&](size_t at, int k) {
      type_.write(&bytes_[at], value(k));
      type_.write(&wanted_[at], value(k));
    });
  }
  template <class Value>
  void expect(int first, int count, Value value) {
    each(first, count, [&](size_t at, int k) { type_.write(&wanted_[at], value(k)); });
  }
  // May be anything.
  void ignore(int first, int count) {
    const size_t from = static_cast<size_t>(first) * type_.extent, length = static_cast<size_t>(count) * type_.extent;
    std::memcpy(wanted_.data() + from, bytes_.data() + from, length);
  }
  bool right() const {
    if (std::memcmp(bytes_.data(), wanted_.data(), bytes_.size()) == 0) return true;
    if (type_.size != 16 || type_.kind != Kind::real) return false;
    for (size_t at = 0; at + 64 < bytes_.size(); at += type_.extent)
      if (!type_.same(&bytes_[at], &wanted_[at])) return false;
    return std::memcmp(&bytes_[bytes_.size() - 64], &wanted_[bytes_.size() - 64], 64) == 0;
  }

 private:
  template <class Do>
  void each(int first, int count, Do act) {
    for (int e = 0; e < count; e++)
      for (int part = 0; part < type_.parts(); part++)
        act(static_cast<size_t>(first + e) * type_.extent + type_.offsets[static_cast<size_t>(part)], e * type_.parts() + part);
  }
  const Type& type_;
  std::vector<char> bytes_, wanted_;
};

inline void judged(const Buffer& buffer, const std::string& what) { check(buffer.right(), what); }

// ---- groups ----

struct Group {
  std::string name;
  MPI_Comm comm = MPI_COMM_NULL;
  bool owned = true;
  int rank = 0, size = 0;
};

inline std::vector<Group> makeGroups() {
  std::vector<Group> groups;
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const auto add = [&](const char* name, MPI_Comm comm, bool owned) {
    Group one;
    one.name = name;
    one.comm = comm;
    one.owned = owned;
    if (comm != MPI_COMM_NULL) {
      MPI_Comm_rank(comm, &one.rank);
      MPI_Comm_size(comm, &one.size);
      int number = 1, sum = 0;  // a first blocking call: nonblocking ones use plans from here on
      MPI_Allreduce(&number, &sum, 1, MPI_INT, MPI_SUM, comm);
    }
    groups.push_back(one);
  };
  MPI_Comm comm;
  add("world", MPI_COMM_WORLD, false);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  add("copy", comm, true);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comm);
  add("half", comm, true);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comm);
  add("reversed", comm, true);
  MPI_Comm_split(MPI_COMM_WORLD, rank == 0 && size > 1 ? MPI_UNDEFINED : 0, rank, &comm);
  add("without the first", comm, true);
  add("self", MPI_COMM_SELF, false);
  return groups;
}

// ---- forms ----

enum class Form { blocking, nonblocking, persistent };

using Blocking = std::function<int()>;
using WithRequest = std::function<int(MPI_Request*)>;

// Calls in a form, persistent ones three times; `fill` before and `judge` after each.
template <class Fill, class Judge>
void run(Form form, Fill fill, Judge judge, const Blocking& now, const WithRequest& later, const WithRequest& again) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (form == Form::persistent && again != nullptr) {
    if (again(&request) != MPI_SUCCESS) return check(false, "a persistent call was refused");
    for (int turn = 0; turn < 3; turn++) {
      fill(turn);
      MPI_Start(&request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      judge(turn);
    }
    MPI_Request_free(&request);
    return;
  }
  fill(0);
  if (form == Form::blocking) {
    check(now() == MPI_SUCCESS, "a call was refused");
  } else {
    check(later(&request) == MPI_SUCCESS, "a nonblocking call was refused");
    int done = 0;
    for (int k = 0; k < 3 && !done; k++) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  judge(0);
}

#if MPI_VERSION >= 4
#define AGAIN(name, ...) [&](MPI_Request* request) { return MPI_##name##_init(__VA_ARGS__, MPI_INFO_NULL, request); }
#elif defined(OMPI_HAVE_MPI_EXT_PCOLLREQ)
#define AGAIN(name, ...) [&](MPI_Request* request) { return MPIX_##name##_init(__VA_ARGS__, MPI_INFO_NULL, request); }
#else
#define AGAIN(name, ...) nullptr
#endif
#define FORMS(name, lower, ...)                                                                         \
  [&] { return MPI_##name(__VA_ARGS__); }, [&](MPI_Request* request) { return MPI_I##lower(__VA_ARGS__, request); }, \
      AGAIN(name, __VA_ARGS__)

void specialCases();

}  // namespace matrix

#include "special.h"
