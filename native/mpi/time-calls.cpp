// Times collectives, and judges their results against a formula (not against the library):
//   mpirun -n 4 time-calls --collective allgather --bytes 1048576 --bytes 4194304 --warmup 2 --repeats 5 --check
// Sizes are those of nccl-tests, as in plans; --type float, --op sum, --root 0, --in-place. Rank 0 prints one line of JSON per
// size: {"collective","bytes","used","seconds":[slowest rank of each repeat],"right"}; `used`: the largest size that is no
// larger and has whole elements for every rank; `right` is null without --check.
// --one-clock: all ranks are on one machine; calls then start at a time that is said before, not when a rank has left a
// barrier, and what some rank began late is made again.
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "clock.h"

namespace {

using banyan::now;
using banyan::sleepFor;

enum class Kind { allgather, reducescatter, allreduce, broadcast, reduce, gather, scatter, alltoall };
const char* const kKinds[] = {"allgather", "reducescatter", "allreduce", "broadcast",
                              "reduce",    "gather",        "scatter",   "alltoall"};
const char* const kOps[] = {"sum", "prod", "min", "max"};

struct Options {
  Kind kind = Kind::allgather;
  std::vector<long long> sizes;
  int warmup = 1, repeats = 5, root = 0, op = 0;
  std::string type = "float";
  bool check = false, inPlace = false, oneClock = false;
};

// How long before a call rank 0 says when it starts; more where some rank heard of it too late.
constexpr double kLeastLead = 2e-3, kMostLead = 0.05;
// A call began late where some rank began so long after the start, or so great a part of what it took.
constexpr double kLate = 50e-6, kLatePart = 0.01;
constexpr int kMostTries = 5;

// Waits, asleep but for the end, until a time that rank 0 says. Returns it.
double commonStart(int rank, double lead) {
  double start = 0;
  if (rank == 0) start = now() + lead;
  PMPI_Bcast(&start, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  sleepFor(start - now() - 300e-6);
  while (now() < start) {
  }
  return start;
}

// Says what is wrong with the arguments, once, and ends.
[[noreturn]] void refuse(int rank, const std::string& what) {
  if (rank == 0) std::fprintf(stderr, "time-calls: %s\n", what.c_str());
  MPI_Finalize();
  std::exit(2);
}

int oneOf(const std::string& word, const char* const* words, int count) {
  for (int k = 0; k < count; k++)
    if (word == words[k]) return k;
  return -1;
}

Options optionsOf(int argc, char** argv, int rank) {
  Options options;
  for (int k = 1; k < argc; k++) {
    const std::string name = argv[k];
    if (name == "--check") {
      options.check = true;
      continue;
    }
    if (name == "--one-clock") {
      options.oneClock = true;
      continue;
    }
    if (name == "--in-place") {
      options.inPlace = true;
      continue;
    }
    if (k + 1 == argc) refuse(rank, "expected a value after " + name);
    const std::string value = argv[++k];
    char* end = nullptr;
    const long long number = std::strtoll(value.c_str(), &end, 10);
    const bool isNumber = !value.empty() && *end == '\0' && number >= 0;
    if (name == "--collective") {
      const int kind = oneOf(value, kKinds, 8);
      if (kind < 0) refuse(rank, "there is no collective " + value);
      options.kind = static_cast<Kind>(kind);
    } else if (name == "--op") {
      options.op = oneOf(value, kOps, 4);
      if (options.op < 0) refuse(rank, "expected --op sum, prod, min or max");
    } else if (name == "--type") {
      options.type = value;
    } else if (!isNumber) {
      refuse(rank, "expected a number for " + name + " but received " + value);
    } else if (name == "--bytes") {
      options.sizes.push_back(number);
    } else if (name == "--warmup") {
      options.warmup = static_cast<int>(number);
    } else if (name == "--repeats") {
      options.repeats = static_cast<int>(number);
    } else if (name == "--root") {
      options.root = static_cast<int>(number);
    } else {
      refuse(rank, "there is no option " + name);
    }
  }
  if (options.sizes.empty()) refuse(rank, "expected --bytes");
  return options;
}

// Values small enough that every order of a reduction gives the same bits.
template <class T>
T valueOf(int rank, size_t at, int op) {
  const size_t mixed = at * 2654435761U + static_cast<size_t>(rank) * 40503U;
  return static_cast<T>((mixed >> 7) % (op == 1 ? 2 : 23) + 1);
}

template <class T>
struct Run {
  const Options& options;
  MPI_Datatype type;
  MPI_Op op;
  int rank, ranks;
  size_t block;  // elements of the smallest part of the collective
  std::vector<T> input, output;

  size_t inputSize() const {
    const Kind k = options.kind;
    if (k == Kind::scatter) return rank == options.root ? block * ranks : 0;
    return k == Kind::reducescatter || k == Kind::alltoall ? block * ranks : block;
  }
  size_t outputSize() const {
    const Kind k = options.kind;
    if (k == Kind::gather) return rank == options.root ? block * ranks : 0;
    if (k == Kind::reduce) return rank == options.root ? block : 0;
    return k == Kind::allgather || k == Kind::alltoall ? block * ranks : block;
  }
  // Where the input lies in the output of calls in place.
  size_t inputAt() const {
    const Kind k = options.kind;
    return k == Kind::allgather || k == Kind::gather ? block * static_cast<size_t>(rank) : 0;
  }
  bool inPlace() const {
    const Kind k = options.kind;
    if (!options.inPlace || k == Kind::broadcast || k == Kind::scatter) return false;
    return (k != Kind::gather && k != Kind::reduce) || rank == options.root;
  }

  void fill() {
    input.resize(inputSize());
    output.assign(inPlace() && inputSize() > outputSize() ? inputSize() : outputSize(), T(0));
    for (size_t k = 0; k < input.size(); k++) input[k] = valueOf<T>(rank, k, options.op);
    if (inPlace()) std::copy(input.begin(), input.end(), output.begin() + static_cast<long>(inputAt()));
    if (options.kind == Kind::broadcast && rank == options.root) output = input;
  }

  int call() {
    const int n = static_cast<int>(block), root = options.root;
    T *in = input.data(), *out = output.data();
    const void* from = inPlace() ? MPI_IN_PLACE : in;
    switch (options.kind) {
      case Kind::allgather:
        return MPI_Allgather(from, n, type, out, n, type, MPI_COMM_WORLD);
      case Kind::reducescatter:
        return MPI_Reduce_scatter_block(from, out, n, type, op, MPI_COMM_WORLD);
      case Kind::allreduce:
        return MPI_Allreduce(from, out, n, type, op, MPI_COMM_WORLD);
      case Kind::broadcast:
        return MPI_Bcast(out, n, type, root, MPI_COMM_WORLD);
      case Kind::reduce:
        return MPI_Reduce(from, out, n, type, op, root, MPI_COMM_WORLD);
      case Kind::gather:
        return MPI_Gather(from, n, type, out, n, type, root, MPI_COMM_WORLD);
      case Kind::scatter:
        return MPI_Scatter(in, n, type, out, n, type, root, MPI_COMM_WORLD);
      default:
        return MPI_Alltoall(from, n, type, out, n, type, MPI_COMM_WORLD);
    }
  }

  T reduced(size_t at) const {
    T sum = valueOf<T>(0, at, options.op);
    for (int r = 1; r < ranks; r++) {
      const T more = valueOf<T>(r, at, options.op);
      if (options.op == 0) sum = static_cast<T>(sum + more);
      if (options.op == 1) sum = static_cast<T>(sum * more);
      if (options.op == 2 && more < sum) sum = more;
      if (options.op == 3 && more > sum) sum = more;
    }
    return sum;
  }

  bool right() const {
    for (size_t k = 0; k < outputSize(); k++) {
      const int from = static_cast<int>(k / block);
      T expected;
      switch (options.kind) {
        case Kind::allgather:
        case Kind::gather:
          expected = valueOf<T>(from, k % block, options.op);
          break;
        case Kind::alltoall:
          expected = valueOf<T>(from, static_cast<size_t>(rank) * block + k % block, options.op);
          break;
        case Kind::scatter:
          expected = valueOf<T>(options.root, static_cast<size_t>(rank) * block + k, options.op);
          break;
        case Kind::broadcast:
          expected = valueOf<T>(options.root, k, options.op);
          break;
        case Kind::reducescatter:
          expected = reduced(static_cast<size_t>(rank) * block + k);
          break;
        default:
          expected = reduced(k);
      }
      if (output[k] != expected) return false;
    }
    return true;
  }

  void time(long long bytes) {
    const size_t parts =
        options.kind == Kind::allreduce || options.kind == Kind::broadcast || options.kind == Kind::reduce
            ? 1
            : static_cast<size_t>(ranks);
    block = static_cast<size_t>(bytes) / sizeof(T) / parts;
    fill();
    int fine = 1;
    for (int k = 0; k < options.warmup; k++) {
      fine = call() == MPI_SUCCESS && fine;
      if (k == 0 && options.check && !right()) fine = 0;
    }
    std::vector<double> seconds(static_cast<size_t>(options.repeats));
    double lead = kLeastLead;
    for (int k = 0, tries = 1; k < options.repeats; tries++) {
      if (k == 0 || k + 1 == options.repeats || options.inPlace) fill();
      PMPI_Barrier(MPI_COMM_WORLD);
      const double start = options.oneClock ? commonStart(rank, lead) : now();
      const double late = now() - start;
      fine = call() == MPI_SUCCESS && fine;
      const double took = seconds[static_cast<size_t>(k)] = now() - start;
      if (options.oneClock && tries < kMostTries) {
        int again = late > std::max(kLate, kLatePart * took);
        PMPI_Allreduce(MPI_IN_PLACE, &again, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        lead = std::min(kMostLead, again ? 2 * lead : lead);
        if (again) continue;
      }
      k++;
      tries = 0;
    }
    if (options.check && options.repeats > 0 && !right()) fine = 0;
    std::vector<double> slowest(seconds.size());
    int allFine = 0;
    PMPI_Reduce(seconds.data(), slowest.data(), options.repeats, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    PMPI_Reduce(&fine, &allFine, 1, MPI_INT, MPI_MIN, 0, MPI_COMM_WORLD);
    if (rank != 0) return;
    std::printf("{\"collective\":\"%s\",\"bytes\":%lld,\"used\":%zu,\"seconds\":[",
                kKinds[static_cast<int>(options.kind)], bytes, block * parts * sizeof(T));
    for (size_t k = 0; k < slowest.size(); k++) std::printf("%s%.9f", k == 0 ? "" : ",", slowest[k]);
    std::printf("],\"right\":%s}\n", !options.check ? "null" : allFine ? "true" : "false");
    std::fflush(stdout);
  }
};

template <class T>
void timeAll(const Options& options, MPI_Datatype type, int rank, int ranks) {
  const MPI_Op ops[] = {MPI_SUM, MPI_PROD, MPI_MIN, MPI_MAX};
  for (const long long bytes : options.sizes) {
    Run<T> run{options, type, ops[options.op], rank, ranks, 0, {}, {}};
    run.time(bytes);
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const Options options = optionsOf(argc, argv, rank);
  if (options.root >= ranks) refuse(rank, "there is no such root");
  if (options.type == "float") {
    timeAll<float>(options, MPI_FLOAT, rank, ranks);
  } else if (options.type == "double") {
    timeAll<double>(options, MPI_DOUBLE, rank, ranks);
  } else if (options.type == "int32") {
    timeAll<int32_t>(options, MPI_INT32_T, rank, ranks);
  } else if (options.type == "int64") {
    timeAll<int64_t>(options, MPI_INT64_T, rank, ranks);
  } else if (options.type == "uint8") {
    timeAll<uint8_t>(options, MPI_UINT8_T, rank, ranks);
  } else {
    refuse(rank, "expected --type float, double, int32, int64 or uint8");
  }
  MPI_Finalize();
  return 0;
}
