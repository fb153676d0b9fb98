// libbanyan_mpi.so: takes collective calls over the MPI profiling interface and runs them by plans (README.md).
#include <mpi.h>
#if defined(OPEN_MPI) && MPI_VERSION < 4
#include <mpi-ext.h>
#endif

#include "nonblocking.h"

namespace banyan {

// Compares plans among all ranks, and finds out what may be used. After MPI_Init.
void open() {
  Runtime& all = runtime();
  PMPI_Comm_rank(MPI_COMM_WORLD, &all.worldRank);
  PMPI_Comm_size(MPI_COMM_WORLD, &all.worldSize);
  all.verbose = variable("BANYAN_VERBOSE") != nullptr && numberOf("BANYAN_VERBOSE") != 0;
  all.segment = numberOf("BANYAN_SEGMENT") / 64 * 64;
  all.idleUs = static_cast<int>(std::min<int64_t>(numberOf("BANYAN_IDLE_US"), 100000));
  const uint64_t hash = loadPlans();
  void* value = nullptr;
  int found = 0, level = MPI_THREAD_SINGLE;
  PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &found);
  PMPI_Query_thread(&level);
  const uint64_t tags = found ? static_cast<uint64_t>(*static_cast<int*>(value)) : 32767;
  const uint64_t mine[] = {hash, ~hash, static_cast<uint64_t>(level == MPI_THREAD_MULTIPLE), tags};
  uint64_t least[4] = {0, 0, 0, 0};
  PMPI_Allreduce(mine, least, 4, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD);
  all.threads = least[2] != 0;
  all.tags = static_cast<int64_t>(least[3]);
  if (least[0] != ~least[1]) {
    if (all.worldRank == 0) say("no plan is used: the ranks have different plans (BANYAN_PLANS, BANYAN_SEGMENT)");
    all.plans.clear();
    return;
  }
  if (all.plans.empty()) return;
  findMembers();
  PMPI_Comm_group(MPI_COMM_WORLD, &all.worldGroup);
  if (PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forgetCommunicator, &all.keyval, nullptr) != MPI_SUCCESS) return;
  if (all.threads && progress().open() != MPI_SUCCESS) all.threads = false;
  all.active = true;
  Communicator* world = communicatorOf(MPI_COMM_WORLD);
  if (world == nullptr || prepare(MPI_COMM_WORLD, world) != MPI_SUCCESS) all.active = false;
}

// Before MPI_Finalize.
void close() {
  Runtime& all = runtime();
  if (!all.active) return;
  progress().close();
  all.active = false;
  PMPI_Comm_delete_attr(MPI_COMM_WORLD, all.keyval);
  PMPI_Comm_free_keyval(&all.keyval);
  PMPI_Group_free(&all.worldGroup);
  all.plans.clear();
}

// Says which plan a call uses or why none, once for all calls alike.
void tell(const Communicator& known, const Operands& call, int64_t bytes, const Choice& choice) {
  if (!runtime().verbose || known.rank != 0) return;
  const std::string name = call.name;
  const std::string what = choice.candidate == nullptr ? std::string("the library's algorithm: ") + choice.why
                                                       : "plan " + choice.candidate->file->name + " (" +
                                                             choice.candidate->file->header->name + ")";
  const std::string ranks = std::to_string(known.size);
  sayOnce(name + " " + ranks + " " + what,
          name + " of " + std::to_string(bytes) + " bytes by " + ranks + " ranks: " + what);
}

// Exchanges the counts of an all-to-all, so that all ranks see the same.
int exchangeCounts(Communicator* known, Operands* call) {
  const size_t n = static_cast<size_t>(known->size);
  const Side& given = call->inPlace ? call->out : call->in;
  const int64_t size = sizeOf(given.type);
  std::vector<int64_t> mine(n);
  for (size_t k = 0; k < n; k++) mine[k] = given.counts[k] * size;
  call->blockBytes.resize(n * n);
  const int code = PMPI_Allgather(mine.data(), known->size, MPI_INT64_T, call->blockBytes.data(), known->size,
                                  MPI_INT64_T, known->shadow);
  if (code != MPI_SUCCESS) return code;
  const int64_t outSize = sizeOf(call->out.type);
  for (size_t k = 0; k < n; k++)
    if (call->blockBytes[k * n + static_cast<size_t>(known->rank)] != call->out.counts[k] * outSize)
      return MPI_ERR_TRUNCATE;
  return MPI_SUCCESS;
}

enum class Form { blocking, nonblocking, persistent };

// Takes a call if a plan is for it. Returns false where the library shall do it; else the call's code is in `code`.
bool take(Operands* call, Form form, MPI_Request* request, int* code) {
  Runtime& all = runtime();
  if (!all.active || call->comm == MPI_COMM_NULL || !call->fine) return false;
  Communicator* known = communicatorOf(call->comm);
  if (known == nullptr) return false;
  Choice choice;
  int op = -1;
  int64_t bytes = bytesOf(*call, known->size);
  if (form == Form::blocking) {
    *code = prepare(call->comm, known);
    if (*code != MPI_SUCCESS) return true;
  }
  if (call->op != MPI_OP_NULL) {
    const MPI_Datatype type = namedOf(call->out.type, false);
    op = opOf(call->op);
    if (op < 0 || type == MPI_DATATYPE_NULL || !isDefined(op, type) || 64 % sizeOf(type) != 0) {
      choice.why = "it is left this operation on this type";
      tell(*known, *call, bytes, choice);
      return false;
    }
  }
  if (call->exchanges) {
    bool any = false;
    for (const auto& one : known->candidates[call->collective]) any = any || one->file->header->unequal;
    if (form != Form::blocking) {
      choice.why = "plans for unequal counts are for blocking calls";
      any = false;
    } else if (!any) {
      choice = choose(*known, *call, 0, op);
    }
    if (!any || known->shadow == MPI_COMM_NULL) {
      tell(*known, *call, bytes, choice);
      return false;
    }
    *code = exchangeCounts(known, call);
    if (*code != MPI_SUCCESS) {
      raise(known, *code);
      return true;
    }
    bytes = bytesOf(*call, known->size);
  }
  if (bytes == 0) return false;
  choice = choose(*known, *call, bytes, op);
  if (choice.candidate != nullptr && form != Form::blocking && !all.threads) {
    choice = Choice();
    choice.why = "the library has no MPI_THREAD_MULTIPLE, which plans of nonblocking calls need";
  }
  if (choice.candidate != nullptr && known->shadow == MPI_COMM_NULL) {
    choice = Choice();
    choice.why = "a communicator's nonblocking calls use plans after its first blocking collective call";
  }
  tell(*known, *call, bytes, choice);
  if (choice.candidate == nullptr) return false;
  std::unique_ptr<Task> task(new Task(std::move(*call), known, choice.candidate, form == Form::persistent));
  if (form != Form::blocking) task->keepTypes();
  if (form == Form::persistent) {
    *code = progress().makePersistent(std::move(task), request);
  } else if (form == Form::nonblocking) {
    *code = progress().startOnce(std::move(task), request);
  } else {
    *code = task->start();
    Idle idle(all.idleUs);
    for (bool done = false, moved = false; *code == MPI_SUCCESS && !done;) {
      *code = task->progress(&done, &moved);
      if (!done) idle.step(moved);
    }
    raise(known, *code);
  }
  return true;
}

// ---- what the arguments of each collective mean ----

int sizeOfComm(MPI_Comm comm, int* rank) {
  int size = 0, inter = 0;
  *rank = 0;
  if (!runtime().active || comm == MPI_COMM_NULL) return 0;
  PMPI_Comm_test_inter(comm, &inter);
  if (inter) return 0;
  PMPI_Comm_rank(comm, rank);
  PMPI_Comm_size(comm, &size);
  return size;
}

// A buffer with a block of `count` elements for each of `slots`.
template <class Count>
void equal(Operands* call, Side* side, const void* buffer, Count count, MPI_Datatype type, int slots) {
  side->buffer = buffer;
  side->type = type;
  side->count = static_cast<int64_t>(count);
  side->slots = slots;
  // The library knows best what to say of these. MPI_BOTTOM is no mistake with types that have addresses.
  if (count < 0 || sizeOf(type) < 0 || slots == 0) {
    call->fine = false;
  } else if (buffer == nullptr && count > 0 && sizeOf(type) > 0 && isPlain(type)) {
    call->fine = false;
  }
}

template <class Count, class Displ>
void unequal(Operands* call, Side* side, const void* buffer, const Count* counts, const Displ* displs,
             MPI_Datatype type, int slots) {
  int64_t most = 0;
  if (counts == nullptr) {
    call->fine = false;
    return;
  }
  for (int k = 0; k < slots; k++) {
    side->counts.push_back(static_cast<int64_t>(counts[k]));
    if (displs != nullptr) side->displs.push_back(static_cast<int64_t>(displs[k]));
    if (counts[k] < 0) call->fine = false;
    most = std::max<int64_t>(most, static_cast<int64_t>(counts[k]));
  }
  equal(call, side, buffer, most, type, slots);
}

// Block sizes from a side with counts.
void blocksOf(Operands* call, const Side& side) {
  const int64_t size = sizeOf(side.type);
  for (const int64_t count : side.counts) call->blockBytes.push_back(count * size);
  for (const int64_t bytes : call->blockBytes) call->equalBytes = std::max(call->equalBytes, bytes);
}

Operands begin(const char* name, int collective, MPI_Comm comm, int* rank, int* size) {
  Operands call;
  call.name = name;
  call.collective = collective;
  call.comm = comm;
  *size = sizeOfComm(comm, rank);
  if (*size == 0) call.fine = false;
  return call;
}

// all-gather and all-to-all, whose inputs have 1 block or one per rank.
template <class Count>
Operands exchange(const char* name, int collective, const void* in, Count inCount, MPI_Datatype inType, void* out,
                  Count outCount, MPI_Datatype outType, MPI_Comm comm) {
  int rank, size;
  Operands call = begin(name, collective, comm, &rank, &size);
  if (!call.fine) return call;
  call.inPlace = in == MPI_IN_PLACE;
  if (!call.inPlace) equal(&call, &call.in, in, inCount, inType, collective == BANYAN_ALLTOALL ? size : 1);
  equal(&call, &call.out, out, outCount, outType, size);
  call.equalBytes = call.out.count * sizeOf(outType);
  return call;
}

template <class Count, class Displ>
Operands allgatherv(const char* name, const void* in, Count inCount, MPI_Datatype inType, void* out,
                    const Count* counts, const Displ* displs, MPI_Datatype outType, MPI_Comm comm) {
  int rank, size;
  Operands call = begin(name, BANYAN_ALLGATHER, comm, &rank, &size);
  if (!call.fine) return call;
  call.inPlace = in == MPI_IN_PLACE;
  unequal(&call, &call.out, out, counts, displs, outType, size);
  if (!call.fine) return call;
  blocksOf(&call, call.out);
  if (!call.inPlace) equal(&call, &call.in, in, inCount, inType, 1);
  return call;
}

// gather and scatter: the root has a block for each rank, of output or of input, the others one of the other kind.
template <class Count>
Operands rooted(const char* name, int collective, const void* in, Count inCount, MPI_Datatype inType, void* out,
                Count outCount, MPI_Datatype outType, int root, MPI_Comm comm) {
  int rank, size;
  Operands call = begin(name, collective, comm, &rank, &size);
  if (!call.fine) return call;
  const bool gathers = collective == BANYAN_GATHER, isRoot = rank == root;
  call.root = root;
  call.inPlace = isRoot && (gathers ? in : out) == MPI_IN_PLACE;
  if (gathers ? !call.inPlace : isRoot) equal(&call, &call.in, in, inCount, inType, gathers ? 1 : size);
  if (gathers ? isRoot : !call.inPlace) equal(&call, &call.out, out, outCount, outType, gathers ? size : 1);
  const Side& side = gathers == isRoot ? call.out : call.in;
  call.equalBytes = side.count * sizeOf(side.type);
  return call;
}

template <class Count>
Operands broadcast(const char* name, void* buffer, Count count, MPI_Datatype type, int root, MPI_Comm comm) {
  int rank, size;
  Operands call = begin(name, BANYAN_BROADCAST, comm, &rank, &size);
  if (!call.fine) return call;
  call.root = root;
  equal(&call, &call.out, buffer, count, type, 1);
  call.equalBytes = call.out.count * sizeOf(type);
  return call;
}

template <class Count, class Displ>
Operands alltoallv(const char* name, const void* in, const Count* inCounts, const Displ* inDispls, MPI_Datatype inType,
                   void* out, const Count* outCounts, const Displ* outDispls, MPI_Datatype outType, MPI_Comm comm) {
  int rank, size;
  Operands call = begin(name, BANYAN_ALLTOALL, comm, &rank, &size);
  if (!call.fine) return call;
  call.exchanges = true;
  call.inPlace = in == MPI_IN_PLACE;
  if (!call.inPlace) unequal(&call, &call.in, in, inCounts, inDispls, inType, size);
  if (call.fine) unequal(&call, &call.out, out, outCounts, outDispls, outType, size);
  return call;
}

// all-reduce, and reduce with a root.
template <class Count>
Operands reduce(const char* name, bool all, const void* in, void* out, Count count, MPI_Datatype type, MPI_Op op,
                int root, MPI_Comm comm) {
  int rank, size;
  Operands call = begin(name, all ? BANYAN_ALLREDUCE : BANYAN_REDUCE, comm, &rank, &size);
  if (!call.fine) return call;
  call.root = all ? -1 : root;
  call.op = op;
  call.inPlace = in == MPI_IN_PLACE && (all || rank == root);
  if (!call.inPlace) equal(&call, &call.in, in, count, type, 1);
  if (all || rank == root) equal(&call, &call.out, out, count, type, 1);
  call.out.type = type;
  if (call.fine) call.equalBytes = static_cast<int64_t>(count) * sizeOf(type);
  return call;
}

template <class Count>
Operands reduceScatter(const char* name, const void* in, void* out, const Count* counts, MPI_Datatype type, MPI_Op op,
                       MPI_Comm comm) {
  int rank, size;
  Operands call = begin(name, BANYAN_REDUCESCATTER, comm, &rank, &size);
  if (!call.fine) return call;
  call.op = op;
  call.inPlace = in == MPI_IN_PLACE;
  unequal(&call, &call.in, call.inPlace ? out : in, counts, static_cast<const int*>(nullptr), type, size);
  if (!call.fine) return call;
  blocksOf(&call, call.in);
  equal(&call, &call.out, out, counts[rank], type, 1);
  return call;
}

template <class Count>
Operands reduceScatterBlock(const char* name, const void* in, void* out, Count count, MPI_Datatype type, MPI_Op op,
                            MPI_Comm comm) {
  int rank, size;
  Operands call = begin(name, BANYAN_REDUCESCATTER, comm, &rank, &size);
  if (!call.fine) return call;
  call.op = op;
  call.inPlace = in == MPI_IN_PLACE;
  equal(&call, &call.in, call.inPlace ? out : in, count, type, size);
  equal(&call, &call.out, out, count, type, 1);
  call.equalBytes = static_cast<int64_t>(count) * sizeOf(type);
  return call;
}

}  // namespace banyan

#define BANYAN_EXPORT extern "C" __attribute__((visibility("default")))

// The three forms of a collective: its own arguments, and how they are read.
#define BANYAN_TRY(form, request, operands)                                   \
  if (banyan::runtime().active) {                                             \
    int code = MPI_SUCCESS;                                                   \
    banyan::Operands call = banyan::operands;                                 \
    if (banyan::take(&call, banyan::Form::form, request, &code)) return code; \
  }

#if MPI_VERSION >= 4
#define BANYAN_PERSISTENT(name, suffix) MPI_##name##_init##suffix
#define BANYAN_PERSISTENT_P(name, suffix) PMPI_##name##_init##suffix
#elif defined(OMPI_HAVE_MPI_EXT_PCOLLREQ)
#define BANYAN_PERSISTENT(name, suffix) MPIX_##name##_init##suffix
#define BANYAN_PERSISTENT_P(name, suffix) PMPIX_##name##_init##suffix
#endif

#define BANYAN_UNPACK(...) __VA_ARGS__

#ifdef BANYAN_PERSISTENT
#define BANYAN_AGAIN(suffix, name, parameters, arguments, operands)                                                   \
  BANYAN_EXPORT int BANYAN_PERSISTENT(name, suffix)(BANYAN_UNPACK parameters, MPI_Info info, MPI_Request * request) { \
    BANYAN_TRY(persistent, request, operands)                                                                         \
    return BANYAN_PERSISTENT_P(name, suffix)(BANYAN_UNPACK arguments, info, request);                                 \
  }
#else
#define BANYAN_AGAIN(suffix, name, parameters, arguments, operands)
#endif

#define BANYAN_TAKE(suffix, name, lower, parameters, arguments, operands)                  \
  BANYAN_EXPORT int MPI_##name##suffix(BANYAN_UNPACK parameters) {                         \
    BANYAN_TRY(blocking, nullptr, operands)                                                \
    return PMPI_##name##suffix(BANYAN_UNPACK arguments);                                   \
  }                                                                                        \
  BANYAN_EXPORT int MPI_I##lower##suffix(BANYAN_UNPACK parameters, MPI_Request* request) { \
    BANYAN_TRY(nonblocking, request, operands)                                             \
    return PMPI_I##lower##suffix(BANYAN_UNPACK arguments, request);                        \
  }                                                                                        \
  BANYAN_AGAIN(suffix, name, parameters, arguments, operands)

// Each collective, with the type of its counts and of its displacements.
#define BANYAN_COLLECTIVE_FORMS(suffix, Count, Displ)                                                                  \
  BANYAN_TAKE(suffix, Allgather, allgather,                                                                            \
              (const void* in, Count inCount, MPI_Datatype inType, void* out, Count outCount, MPI_Datatype outType,    \
               MPI_Comm comm),                                                                                         \
              (in, inCount, inType, out, outCount, outType, comm),                                                     \
              exchange("MPI_Allgather", BANYAN_ALLGATHER, in, inCount, inType, out, outCount, outType, comm))          \
  BANYAN_TAKE(suffix, Allgatherv, allgatherv,                                                                          \
              (const void* in, Count inCount, MPI_Datatype inType, void* out, const Count* counts,                     \
               const Displ* displs, MPI_Datatype outType, MPI_Comm comm),                                              \
              (in, inCount, inType, out, counts, displs, outType, comm),                                               \
              allgatherv("MPI_Allgatherv", in, inCount, inType, out, counts, displs, outType, comm))                   \
  BANYAN_TAKE(suffix, Gather, gather,                                                                                  \
              (const void* in, Count inCount, MPI_Datatype inType, void* out, Count outCount, MPI_Datatype outType,    \
               int root, MPI_Comm comm),                                                                               \
              (in, inCount, inType, out, outCount, outType, root, comm),                                               \
              rooted("MPI_Gather", BANYAN_GATHER, in, inCount, inType, out, outCount, outType, root, comm))            \
  BANYAN_TAKE(suffix, Scatter, scatter,                                                                                \
              (const void* in, Count inCount, MPI_Datatype inType, void* out, Count outCount, MPI_Datatype outType,    \
               int root, MPI_Comm comm),                                                                               \
              (in, inCount, inType, out, outCount, outType, root, comm),                                               \
              rooted("MPI_Scatter", BANYAN_SCATTER, in, inCount, inType, out, outCount, outType, root, comm))          \
  BANYAN_TAKE(suffix, Bcast, bcast, (void* buffer, Count count, MPI_Datatype type, int root, MPI_Comm comm),           \
              (buffer, count, type, root, comm), broadcast("MPI_Bcast", buffer, count, type, root, comm))              \
  BANYAN_TAKE(suffix, Alltoall, alltoall,                                                                              \
              (const void* in, Count inCount, MPI_Datatype inType, void* out, Count outCount, MPI_Datatype outType,    \
               MPI_Comm comm),                                                                                         \
              (in, inCount, inType, out, outCount, outType, comm),                                                     \
              exchange("MPI_Alltoall", BANYAN_ALLTOALL, in, inCount, inType, out, outCount, outType, comm))            \
  BANYAN_TAKE(suffix, Alltoallv, alltoallv,                                                                            \
              (const void* in, const Count* inCounts, const Displ* inDispls, MPI_Datatype inType, void* out,           \
               const Count* outCounts, const Displ* outDispls, MPI_Datatype outType, MPI_Comm comm),                   \
              (in, inCounts, inDispls, inType, out, outCounts, outDispls, outType, comm),                              \
              alltoallv("MPI_Alltoallv", in, inCounts, inDispls, inType, out, outCounts, outDispls, outType, comm))    \
  BANYAN_TAKE(suffix, Allreduce, allreduce,                                                                            \
              (const void* in, void* out, Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),                   \
              (in, out, count, type, op, comm), reduce("MPI_Allreduce", true, in, out, count, type, op, -1, comm))     \
  BANYAN_TAKE(suffix, Reduce, reduce,                                                                                  \
              (const void* in, void* out, Count count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm),         \
              (in, out, count, type, op, root, comm),                                                                  \
              reduce("MPI_Reduce", false, in, out, count, type, op, root, comm))                                       \
  BANYAN_TAKE(suffix, Reduce_scatter, reduce_scatter,                                                                  \
              (const void* in, void* out, const Count* counts, MPI_Datatype type, MPI_Op op, MPI_Comm comm),           \
              (in, out, counts, type, op, comm), reduceScatter("MPI_Reduce_scatter", in, out, counts, type, op, comm)) \
  BANYAN_TAKE(suffix, Reduce_scatter_block, reduce_scatter_block,                                                      \
              (const void* in, void* out, Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),                   \
              (in, out, count, type, op, comm),                                                                        \
              reduceScatterBlock("MPI_Reduce_scatter_block", in, out, count, type, op, comm))

BANYAN_COLLECTIVE_FORMS(, int, int)
#if MPI_VERSION >= 4
BANYAN_COLLECTIVE_FORMS(_c, MPI_Count, MPI_Aint)
#endif

// ---- beginning, end and requests ----

namespace {

// Plans of nonblocking calls need a library that several threads may call; BANYAN_THREADS=0 leaves that to the application.
int levelFor(int wanted) {
  const char* said = banyan::variable("BANYAN_THREADS");
  const bool raises = banyan::variable("BANYAN_PLANS") != nullptr && (said == nullptr || std::strcmp(said, "0") != 0);
  return raises ? MPI_THREAD_MULTIPLE : wanted;
}

}  // namespace

BANYAN_EXPORT int MPI_Init(int* argc, char*** argv) {
  int provided = 0;
  const int level = levelFor(MPI_THREAD_SINGLE);
  const int code = level == MPI_THREAD_SINGLE ? PMPI_Init(argc, argv) : PMPI_Init_thread(argc, argv, level, &provided);
  if (code == MPI_SUCCESS) banyan::open();
  return code;
}

BANYAN_EXPORT int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  const int code = PMPI_Init_thread(argc, argv, levelFor(required), provided);
  if (code == MPI_SUCCESS) banyan::open();
  return code;
}

BANYAN_EXPORT int MPI_Finalize(void) {
  banyan::close();
  return PMPI_Finalize();
}

// Waiting works without these; they lend the waiting thread to the calls under way.
BANYAN_EXPORT int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  if (banyan::progress().isBusy() && request != nullptr) banyan::progress().waitFor(request, 1);
  return PMPI_Wait(request, status);
}

BANYAN_EXPORT int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  if (banyan::progress().isBusy() && requests != nullptr) banyan::progress().waitFor(requests, count);
  return PMPI_Waitall(count, requests, statuses);
}

BANYAN_EXPORT int MPI_Start(MPI_Request* request) {
  return banyan::progress().hasPersistent() ? banyan::progress().start(request) : PMPI_Start(request);
}

BANYAN_EXPORT int MPI_Startall(int count, MPI_Request requests[]) {
  if (!banyan::progress().hasPersistent()) return PMPI_Startall(count, requests);
  for (int k = 0; k < count; k++) {
    const int code = banyan::progress().start(&requests[k]);
    if (code != MPI_SUCCESS) return code;
  }
  return MPI_SUCCESS;
}

BANYAN_EXPORT int MPI_Request_free(MPI_Request* request) {
  return banyan::progress().hasPersistent() ? banyan::progress().free(request) : PMPI_Request_free(request);
}
