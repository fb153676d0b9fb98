// What is known of a communicator: the plans that fit its members, and the private duplicate that messages go on.
#pragma once

#include "plans.h"

namespace banyan {

// A plan as a communicator can use it.
struct Candidate {
  const PlanFile* file;
  std::vector<int> members;  // [ranks] rank in the communicator of every plan rank
  bool identity = true;      // the same numbers
  int planRank = 0;          // of this process
  Plan plan;                 // what this process runs, read when first used
  std::vector<banyan_call*> idle;

  ~Candidate() {
    for (banyan_call* call : idle) banyan_call_free(call);
  }
};

struct Communicator {
  int rank = 0, size = 0;
  bool within = false;  // all members are of MPI_COMM_WORLD, which has compared its plans
  std::vector<std::unique_ptr<Candidate>> candidates[BANYAN_COLLECTIVES];
  bool any = false;
  MPI_Comm comm = MPI_COMM_NULL;  // the application's, until it is freed
  MPI_Comm shadow = MPI_COMM_NULL;
  int64_t calls = 0, persistent = 0;
  std::mutex mutex;  // of plans and idle calls
  // The attribute, and calls that are under way or may be started again: MPI lets a communicator be freed before them.
  std::atomic<int> owners{1};

  void release() {
    if (--owners > 0) return;
    if (shadow != MPI_COMM_NULL) PMPI_Comm_free(&shadow);
    delete this;
  }
};

// Takes the members of a plan, if the communicator has just these.
inline std::unique_ptr<Candidate> candidateOf(const PlanFile& file, const std::vector<int>& world,
                                              const Communicator& comm) {
  std::unique_ptr<Candidate> none;
  if (file.header->ranks != comm.size || file.absent) return none;
  std::unique_ptr<Candidate> one(new Candidate);
  one->file = &file;
  one->members.resize(world.size());
  if (file.world.empty()) {
    for (size_t r = 0; r < world.size(); r++) one->members[r] = static_cast<int>(r);
  } else {
    std::map<int, int> rankOf;
    for (size_t r = 0; r < world.size(); r++) rankOf[world[r]] = static_cast<int>(r);
    for (size_t r = 0; r < world.size(); r++) {
      const auto found = rankOf.find(file.world[r]);
      if (found == rankOf.end()) return none;
      one->members[r] = found->second;
    }
  }
  for (size_t r = 0; r < world.size(); r++) {
    if (one->members[r] != static_cast<int>(r)) one->identity = false;
    if (one->members[r] == comm.rank) one->planRank = static_cast<int>(r);
  }
  return one;
}

// The attribute of a communicator; made at its first call. nullptr: no memory, or an intercommunicator.
inline Communicator* communicatorOf(MPI_Comm comm) {
  Runtime& all = runtime();
  void* value = nullptr;
  int found = 0, inter = 0;
  if (PMPI_Comm_get_attr(comm, all.keyval, &value, &found) != MPI_SUCCESS) return nullptr;
  if (found) return static_cast<Communicator*>(value);
  PMPI_Comm_test_inter(comm, &inter);
  if (inter) return nullptr;
  std::unique_ptr<Communicator> fresh(new Communicator);
  fresh->comm = comm;
  PMPI_Comm_rank(comm, &fresh->rank);
  PMPI_Comm_size(comm, &fresh->size);
  const size_t size = static_cast<size_t>(fresh->size);
  std::vector<int> numbers(size), world(size);
  for (size_t r = 0; r < size; r++) numbers[r] = static_cast<int>(r);
  MPI_Group group;
  PMPI_Comm_group(comm, &group);
  PMPI_Group_translate_ranks(group, fresh->size, numbers.data(), all.worldGroup, world.data());
  PMPI_Group_free(&group);
  fresh->within = std::find(world.begin(), world.end(), MPI_UNDEFINED) == world.end();
  for (const PlanFile& file : all.plans) {
    if (!fresh->within) break;
    std::unique_ptr<Candidate> one = candidateOf(file, world, *fresh);
    if (one == nullptr) continue;
    if (!file.header->library) fresh->any = true;
    fresh->candidates[file.header->collective].push_back(std::move(one));
  }
  Communicator* kept = fresh.release();
  if (PMPI_Comm_set_attr(comm, all.keyval, kept) == MPI_SUCCESS) return kept;
  delete kept;
  return nullptr;
}

// Frees what is known when the communicator is freed.
inline int forgetCommunicator(MPI_Comm, int, void* value, void*) {
  Communicator* known = static_cast<Communicator*>(value);
  known->comm = MPI_COMM_NULL;
  known->release();
  return MPI_SUCCESS;
}

// Makes the private duplicate, collectively, if some plan may be used. Returns an MPI error code.
inline int prepare(MPI_Comm comm, Communicator* known) {
  if (known->shadow != MPI_COMM_NULL || !known->any) return MPI_SUCCESS;
  // not MPI_Comm_dup, which would call what the program has attributes copied by
  MPI_Group group;
  PMPI_Comm_group(comm, &group);
  const int code = PMPI_Comm_create(comm, group, &known->shadow);
  PMPI_Group_free(&group);
  if (code != MPI_SUCCESS) return code;
  return PMPI_Comm_set_errhandler(known->shadow, MPI_ERRORS_RETURN);
}

// Tags of a call: blocking and nonblocking ones take turns in the lower half, persistent ones keep theirs in the upper half.
inline int tagOf(Communicator* known, bool persistent) {
  const int64_t most = runtime().tags / 2 / BANYAN_MOST_LANES;
  int64_t& count = persistent ? known->persistent : known->calls;
  const int64_t turn = count++ % most + (persistent ? most : 0);
  return static_cast<int>(turn * BANYAN_MOST_LANES);
}

// A call of a candidate that nobody runs now; nullptr: no memory.
inline banyan_call* takeCall(Communicator* known, Candidate* candidate) {
  const std::lock_guard<std::mutex> lock(known->mutex);
  if (candidate->plan == nullptr) {
    banyan_plan* plan = nullptr;
    const std::string& text = candidate->file->text;
    if (banyan_plan_read(text.data(), text.size(), candidate->planRank, &plan, nullptr, 0) != BANYAN_READ)
      return nullptr;
    candidate->plan.reset(plan);
  }
  if (candidate->idle.empty()) return banyan_call_new(candidate->plan.get());
  banyan_call* call = candidate->idle.back();
  candidate->idle.pop_back();
  return call;
}

inline void giveBack(Communicator* known, Candidate* candidate, banyan_call* call) {
  const std::lock_guard<std::mutex> lock(known->mutex);
  candidate->idle.push_back(call);
}

}  // namespace banyan
