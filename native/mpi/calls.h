// A collective call as the engine runs it: sizes that all ranks see alike decide on the plan; what is not contiguous is packed.
#pragma once

#include <cstring>

#include "communicators.h"

namespace banyan {

// One of the buffers of a call: one block per slot, in the order of the communicator's ranks.
struct Side {
  const void* buffer = nullptr;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  int slots = 0;
  int64_t count = 0;                   // elements of every block, unless
  std::vector<int64_t> counts, displs;  // [slots] they differ; displs: in extents. Empty: one after the other
};

// A call, as MPI says it. `equalBytes`, `blockBytes` and `root` are the same on all ranks.
struct Operands {
  const char* name = "";
  int collective = 0;
  MPI_Comm comm = MPI_COMM_NULL;
  int root = -1;
  Side in, out;
  bool inPlace = false;
  bool exchanges = false;  // the counts of other ranks are known to them only
  MPI_Op op = MPI_OP_NULL;
  int64_t equalBytes = 0;
  std::vector<int64_t> blockBytes;  // by the communicator's ranks
  bool fine = true;                 // false: arguments that the library shall complain of
};

inline int64_t sizeOf(MPI_Datatype type) {
  MPI_Count size = 0;
  return type == MPI_DATATYPE_NULL || PMPI_Type_size_x(type, &size) != MPI_SUCCESS ? -1 : size;
}

inline int64_t extentOf(MPI_Datatype type) {
  MPI_Count lower = 0, extent = 0;
  PMPI_Type_get_extent_x(type, &lower, &extent);
  return extent;
}

// How a type was made; MPI_UNDEFINED: with counts that no int holds.
inline int combinerOf(MPI_Datatype type) {
  int combiner = MPI_UNDEFINED;
#if MPI_VERSION >= 4
  MPI_Count integers = 0, addresses = 0, large = 0, types = 0;
  if (PMPI_Type_get_envelope_c(type, &integers, &addresses, &large, &types, &combiner) != MPI_SUCCESS || large > 0)
    return MPI_UNDEFINED;
#else
  int integers = 0, addresses = 0, types = 0;
  if (PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner) != MPI_SUCCESS) return MPI_UNDEFINED;
#endif
  return combiner;
}

// The named type that a type is a copy of, `contiguous`: or several; MPI_DATATYPE_NULL: it is something else.
inline MPI_Datatype namedOf(MPI_Datatype type, bool contiguous) {
  const int combiner = combinerOf(type);
  if (combiner == MPI_COMBINER_NAMED) return type;
  const bool several = contiguous && combiner == MPI_COMBINER_CONTIGUOUS;
  if (combiner != MPI_COMBINER_DUP && !several) return MPI_DATATYPE_NULL;
  int count[1];
  MPI_Aint none[1];
  MPI_Datatype inner;
  if (PMPI_Type_get_contents(type, several ? 1 : 0, 0, 1, count, none, &inner) != MPI_SUCCESS) return MPI_DATATYPE_NULL;
  const MPI_Datatype base = namedOf(inner, contiguous);
  if (combinerOf(inner) != MPI_COMBINER_NAMED) PMPI_Type_free(&inner);
  return base;
}

// Do elements lie one after the other without gaps, in the order in which they are sent?
inline bool isPlain(MPI_Datatype type) {
  const MPI_Datatype base = namedOf(type, true);
  return base != MPI_DATATYPE_NULL && sizeOf(base) == extentOf(base);
}

// Which operation of a plan an operation of MPI is; -1: none.
inline int opOf(MPI_Op op) {
  const MPI_Op ops[BANYAN_OPS] = {MPI_SUM, MPI_PROD, MPI_MIN,  MPI_MAX,  MPI_LAND,
                                  MPI_LOR, MPI_LXOR, MPI_BAND, MPI_BOR, MPI_BXOR};
  for (int k = 0; k < BANYAN_OPS; k++)
    if (op == ops[k]) return k;
  return -1;
}

// Is this operation defined for a type of these? Others are left to the library, which may know more.
inline bool isDefined(int op, MPI_Datatype type) {
  const MPI_Datatype integers[] = {
      MPI_INT,      MPI_UNSIGNED,  MPI_LONG,           MPI_UNSIGNED_LONG, MPI_LONG_LONG, MPI_UNSIGNED_LONG_LONG,
      MPI_SHORT,    MPI_UNSIGNED_SHORT, MPI_SIGNED_CHAR, MPI_UNSIGNED_CHAR, MPI_INT8_T,  MPI_INT16_T,
      MPI_INT32_T,  MPI_INT64_T,   MPI_UINT8_T,        MPI_UINT16_T,      MPI_UINT32_T,  MPI_UINT64_T,
      MPI_AINT,     MPI_OFFSET,    MPI_COUNT};
  const MPI_Datatype floats[] = {MPI_FLOAT, MPI_DOUBLE, MPI_LONG_DOUBLE};
  const MPI_Datatype complexes[] = {MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX, MPI_C_LONG_DOUBLE_COMPLEX};
  for (const MPI_Datatype one : integers)
    if (type == one) return true;
  for (const MPI_Datatype one : floats)
    if (type == one) return op <= 3;
  for (const MPI_Datatype one : complexes)
    if (type == one) return op <= 1;
  if (type == MPI_C_BOOL) return op >= 4 && op <= 6;
  return type == MPI_BYTE && op >= 7;
}

// Total size as plans count it.
inline int64_t bytesOf(const Operands& call, int ranks) {
  const bool one = call.collective == BANYAN_ALLREDUCE || call.collective == BANYAN_BROADCAST ||
                   call.collective == BANYAN_REDUCE;
  if (call.blockBytes.empty()) return call.equalBytes * (one ? 1 : ranks);
  int64_t largest = 0;
  const size_t n = static_cast<size_t>(ranks);
  for (size_t from = 0; from < call.blockBytes.size(); from += n) {  // all-to-all: a row per rank
    int64_t sum = 0;
    for (size_t k = from; k < from + n; k++) sum += call.blockBytes[k];
    largest = std::max(largest, sum);
  }
  return largest;
}

struct Choice {
  Candidate* candidate = nullptr;
  const char* why = "";
};

// The first plan that fits; the same on all ranks.
inline Choice choose(const Communicator& known, const Operands& call, int64_t bytes, int op) {
  Choice none;
  int reached = 0;
  const auto& candidates = known.candidates[call.collective];
  if (!known.within) none.why = "some members are not of this MPI_COMM_WORLD";
  for (const PlanFile& file : runtime().plans)
    if (*none.why == '\0' && file.header->collective == call.collective) none.why = "plans for it are for another group";
  if (*none.why == '\0') none.why = "there is no plan for it";
  for (const std::unique_ptr<Candidate>& one : candidates) {
    const banyan_plan& plan = *one->file->header;
    const auto refuse = [&](int stage, const char* why) {
      if (stage > reached) none.why = why;
      reached = std::max(reached, stage);
    };
    if (plan.root >= 0 && one->members[static_cast<size_t>(plan.root)] != call.root) {
      refuse(1, "plans for its group are for another root");
    } else if (call.exchanges && !plan.unequal && !plan.library) {
      refuse(2, "plans for its group are for equal counts");
    } else if (op >= 0 && (plan.ops >> op & 1) == 0) {
      refuse(3, "plans for its group are for other operations");
    } else if (bytes < plan.fromBytes || bytes > plan.toBytes) {
      refuse(4, "plans for its group are for other sizes");
    } else {
      return {plan.library ? nullptr : one.get(), "a plan says so"};
    }
  }
  return none;
}

// Elements at an address; those at MPI_BOTTOM seen from elsewhere, for MPICH packs nothing that lies at a null pointer.
class Elements {
 public:
  Elements(const void* buffer, int count, MPI_Datatype type) : buffer_(const_cast<void*>(buffer)), count_(count), type_(type) {
    if (buffer != nullptr) return;
    MPI_Aint address = 0, back;
    PMPI_Get_address(this, &address);
    back = -address;
    PMPI_Type_create_hindexed(1, &count, &back, type, &type_);
    PMPI_Type_commit(&type_);
    buffer_ = this;
    count_ = 1;
    own_ = true;
  }
  ~Elements() {
    if (own_) PMPI_Type_free(&type_);
  }
  Elements(const Elements&) = delete;
  Elements& operator=(const Elements&) = delete;
  void packTo(char* to, int bytes) {
    int at = 0;
    PMPI_Pack(buffer_, count_, type_, to, bytes, &at, MPI_COMM_SELF);
  }
  void unpackFrom(const char* from, int bytes) {
    int at = 0;
    PMPI_Unpack(from, bytes, &at, buffer_, count_, type_, MPI_COMM_SELF);
  }

 private:
  void* buffer_;
  int count_;
  MPI_Datatype type_;
  bool own_ = false;
};

// Packs or unpacks elements, in parts that an int can count.
inline void convert(bool packs, void* elements, int64_t count, MPI_Datatype type, int64_t size, char* bytes) {
  const int64_t extent = extentOf(type), most = std::max<int64_t>(1, (int64_t{1} << 30) / std::max<int64_t>(1, size));
  for (int64_t k = 0; k < count; k += most) {
    const int part = static_cast<int>(std::min(most, count - k));
    Elements some(static_cast<char*>(elements) + k * extent, part, type);
    if (packs) {
      some.packTo(bytes + k * size, static_cast<int>(part * size));
    } else {
      some.unpackFrom(bytes + k * size, static_cast<int>(part * size));
    }
  }
}

// A buffer of a call as the engine sees it: bytes, and where every block starts.
class Laid {
 public:
  // Where the block of every rank lies. `writable`: results are put back by `unpackAll`.
  void lay(const Side& side) {
    side_ = &side;
    size_ = sizeOf(side.type);
    extent_ = extentOf(side.type);
    plain_ = isPlain(side.type);
    const size_t slots = static_cast<size_t>(side.slots);
    at_.resize(slots);
    bytes_ = 0;
    for (size_t k = 0; k < slots; k++) {
      at_[k] = plain_ ? displ(k) * extent_ : bytes_;
      bytes_ += count(k) * size_;
    }
    base_ = static_cast<char*>(const_cast<void*>(side.buffer));
    if (!plain_) useCopy();
  }
  // Goes over to memory of its own; false: there is none.
  bool useCopy() {
    own_.reset(static_cast<char*>(std::malloc(static_cast<size_t>(bytes_) + 1)));
    base_ = own_.get();
    int64_t at = 0;
    for (size_t k = 0; k < at_.size(); k++) {
      at_[k] = at;
      at += count(k) * size_;
    }
    copied_ = true;
    return base_ != nullptr;
  }
  bool fine() const { return !copied_ || base_ != nullptr; }
  bool copied() const { return copied_; }
  bool plain() const { return plain_; }
  char* base() const { return base_; }
  int64_t at(int slot) const { return at_[static_cast<size_t>(slot)]; }
  int64_t bytes(int slot) const { return count(static_cast<size_t>(slot)) * size_; }
  int slots() const { return static_cast<int>(at_.size()); }

  // Takes a block from the application's buffer into the copy.
  void packOne(int slot) {
    const size_t k = static_cast<size_t>(slot);
    char* from = static_cast<char*>(const_cast<void*>(side_->buffer)) + displ(k) * extent_;
    if (plain_) {
      if (bytes(slot) > 0) std::memcpy(base_ + at_[k], from, static_cast<size_t>(bytes(slot)));
    } else {
      convert(true, from, count(k), side_->type, size_, base_ + at_[k]);
    }
  }
  void packAll() {
    for (int k = 0; k < slots(); k++) packOne(k);
  }
  void unpackOne(int slot) {
    const size_t k = static_cast<size_t>(slot);
    char* to = static_cast<char*>(const_cast<void*>(side_->buffer)) + displ(k) * extent_;
    convert(false, to, count(k), side_->type, size_, base_ + at_[k]);
  }

 private:
  struct Free {
    void operator()(char* memory) const { std::free(memory); }
  };
  int64_t count(size_t slot) const { return side_->counts.empty() ? side_->count : side_->counts[slot]; }
  int64_t displ(size_t slot) const {
    if (!side_->displs.empty()) return side_->displs[slot];
    if (side_->counts.empty()) return static_cast<int64_t>(slot) * side_->count;
    int64_t sum = 0;
    for (size_t k = 0; k < slot; k++) sum += side_->counts[k];
    return sum;
  }

  const Side* side_ = nullptr;
  int64_t size_ = 0, extent_ = 0, bytes_ = 0;
  bool plain_ = true, copied_ = false;
  std::vector<int64_t> at_;
  char* base_ = nullptr;
  std::unique_ptr<char, Free> own_;
};

// A call that a plan runs; once, or again and again.
class Task {
 public:
  Task(Operands operands, Communicator* known, Candidate* candidate, bool persistent)
      : operands_(std::move(operands)), known_(known), candidate_(candidate), tag_(tagOf(known, persistent)) {
    known_->owners++;
  }
  ~Task() {
    if (call_ != nullptr) giveBack(known_, candidate_, call_);
    for (MPI_Datatype& type : kept_) PMPI_Type_free(&type);
    known_->release();
  }
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;

  // Keeps types that the application may free before the call is over.
  void keepTypes() {
    keepType(&operands_.in.type);
    keepType(&operands_.out.type);
  }

  // Starts the call. Returns an MPI error code.
  int start() {
    if (call_ == nullptr) call_ = takeCall(known_, candidate_);
    if (call_ == nullptr || !lay()) return MPI_ERR_NO_MEM;
    return banyan_call_start(call_, &arguments_);
  }
  // Goes on without waiting; says if anything happened.
  int progress(bool* done, bool* moved) {
    int isDone = 0;
    const int64_t before = call_->events;
    const int code = banyan_call_progress(call_, 0, &isDone);
    *done = isDone != 0;
    *moved = call_->events != before;
    if (*done && code == MPI_SUCCESS) finish();
    return code;
  }
  Communicator* known() const { return known_; }

 private:
  void keepType(MPI_Datatype* type) {
    if (*type == MPI_DATATYPE_NULL || combinerOf(*type) == MPI_COMBINER_NAMED) return;
    PMPI_Type_dup(*type, type);
    kept_.push_back(*type);
  }

  bool isRoot() const { return known_->rank == operands_.root; }

  // Fills what the engine needs from what MPI was given.
  bool lay() {
    const int collective = operands_.collective;
    const bool inPlace = operands_.inPlace;
    in_ = Laid();
    out_ = Laid();
    if (operands_.in.slots > 0) in_.lay(operands_.in);
    if (operands_.out.slots > 0) out_.lay(operands_.out);
    const char* input = in_.base();
    char* output = out_.base();
    if (in_.copied() && in_.fine()) in_.packAll();
    switch (collective) {
      case BANYAN_ALLGATHER:
      case BANYAN_GATHER:
        if (!inPlace) break;
        if (out_.copied() && out_.fine()) out_.packOne(known_->rank);
        input = output + out_.at(known_->rank);
        break;
      case BANYAN_ALLREDUCE:
      case BANYAN_REDUCE:
        if (inPlace) input = output;
        break;
      case BANYAN_BROADCAST:
        if (!isRoot()) break;
        if (out_.copied() && out_.fine()) out_.packOne(0);
        input = output;
        break;
      case BANYAN_SCATTER:
        if (inPlace) output = in_.base() + in_.at(known_->rank);
        break;
      default:  // the input is what the output holds: it is copied away
        if (!inPlace) break;
        in_.lay(operands_.collective == BANYAN_ALLTOALL ? operands_.out : operands_.in);
        if (!in_.copied() && !in_.useCopy()) return false;
        if (in_.fine()) in_.packAll();
        input = in_.base();
    }
    if (!in_.fine() || !out_.fine()) return false;
    arguments_ = banyan_arguments();
    arguments_.comm = known_->shadow;
    arguments_.tag = tag_;
    arguments_.members = candidate_->identity ? nullptr : candidate_->members.data();
    arguments_.input = input;
    arguments_.output = output;
    arguments_.equalBytes = operands_.equalBytes;
    arguments_.segment = runtime().segment;
    inputAt_ = byPlanRank(in_);
    outputAt_ = byPlanRank(out_);
    arguments_.inputAt = inputAt_.empty() ? nullptr : inputAt_.data();
    arguments_.outputAt = outputAt_.empty() ? nullptr : outputAt_.data();
    blockBytes_ = blocksByPlanRank();
    arguments_.blockBytes = blockBytes_.empty() ? nullptr : blockBytes_.data();
    if (operands_.op != MPI_OP_NULL) {
      arguments_.type = namedOf(operands_.out.slots > 0 ? operands_.out.type : operands_.in.type, false);
      arguments_.op = operands_.op;
      arguments_.typeSize = static_cast<int>(sizeOf(arguments_.type));
    }
    return true;
  }

  // Buffers with a block per rank, in the order of plan ranks.
  std::vector<int64_t> byPlanRank(const Laid& laid) const {
    std::vector<int64_t> at;
    if (laid.slots() == 1 && laid.at(0) != 0) return {laid.at(0)};
    if (laid.slots() < 2) return at;
    for (const int member : candidate_->members) at.push_back(laid.at(member));
    return at;
  }

  std::vector<int64_t> blocksByPlanRank() const {
    const std::vector<int64_t>& given = operands_.blockBytes;
    const size_t n = candidate_->members.size();
    std::vector<int64_t> blocks(given.size());
    if (candidate_->identity || given.empty()) return given;
    for (size_t p = 0; p < n; p++) {
      const size_t from = static_cast<size_t>(candidate_->members[p]);
      if (given.size() == n) {
        blocks[p] = given[from];
        continue;
      }
      for (size_t q = 0; q < n; q++) blocks[p * n + q] = given[from * n + static_cast<size_t>(candidate_->members[q])];
    }
    return blocks;
  }

  // Puts results back where they belong.
  void finish() {
    if (!out_.copied()) return;
    if (operands_.collective == BANYAN_BROADCAST && isRoot()) return;
    for (int k = 0; k < out_.slots(); k++) {
      const bool isOwn = operands_.inPlace && k == known_->rank &&
                         (operands_.collective == BANYAN_ALLGATHER || operands_.collective == BANYAN_GATHER);
      if (!isOwn) out_.unpackOne(k);
    }
  }

  Operands operands_;
  Communicator* known_;
  Candidate* candidate_;
  int tag_;
  std::vector<MPI_Datatype> kept_;
  banyan_call* call_ = nullptr;
  banyan_arguments arguments_{};
  Laid in_, out_;
  std::vector<int64_t> inputAt_, outputAt_, blockBytes_;
};

}  // namespace banyan
