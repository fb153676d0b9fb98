// Nonblocking and persistent calls: a thread moves them on while the application is elsewhere. The request that the application
// holds is the library's own, a receive of nothing from the process itself, which the thread completes; so all ways to wait and
// test work as they are.
#pragma once

#include <time.h>

#include <condition_variable>
#include <thread>
#include <unordered_map>

#include "calls.h"

namespace banyan {

// Waits between looks at the network: gives the processor away, and after a while without news sleeps if it may.
class Idle {
 public:
  explicit Idle(int sleepUs) : sleepUs_(sleepUs) {}
  void step(bool moved) {
    looks_ = moved ? 0 : looks_ + 1;
    if (moved) return;
    if (sleepUs_ == 0 || looks_ < 64) {
      sched_yield();
      return;
    }
    const timespec time = {0, static_cast<long>(sleepUs_) * 1000};
    nanosleep(&time, nullptr);
  }

 private:
  int sleepUs_, looks_ = 0;
};

// Tells the application of an error, as its error handler wants it. Returns the code.
inline int raise(const Communicator* known, int code) {
  if (code != MPI_SUCCESS && known->comm != MPI_COMM_NULL) PMPI_Comm_call_errhandler(known->comm, code);
  return code;
}

// A request that the application holds.
struct Pending {
  std::unique_ptr<Task> task;
  int tag = 0;                // of the message that completes it
  bool persistent = false;    // it may be started again
  bool underWay = false;      // guarded by the thread's mutex
  bool freed = false;
};

class Progress {
 public:
  // Duplicates for the messages that complete requests, collectively. Not of MPI_COMM_SELF: MPICH 4.0 (ch4) waits for ever for
  // a message that another thread sent there. Returns an MPI error code.
  int open() {
    int code = PMPI_Comm_dup(MPI_COMM_WORLD, &once_);
    if (code == MPI_SUCCESS) code = PMPI_Comm_dup(MPI_COMM_WORLD, &again_);
    if (code != MPI_SUCCESS) return code;
    PMPI_Comm_set_errhandler(once_, MPI_ERRORS_RETURN);
    return PMPI_Comm_set_errhandler(again_, MPI_ERRORS_RETURN);
  }

  // Ends the thread, once nothing is under way.
  void close() {
    {
      std::unique_lock<std::mutex> lock(mutex_);
      ends_ = true;
      news_.notify_all();
    }
    if (thread_.joinable()) thread_.join();
    ends_ = false;
    if (once_ != MPI_COMM_NULL) PMPI_Comm_free(&once_);
    if (again_ != MPI_COMM_NULL) PMPI_Comm_free(&again_);
  }

  // Starts a call; the request is complete when it is. Returns an MPI error code.
  int startOnce(std::unique_ptr<Task> task, MPI_Request* request) {
    std::unique_ptr<Pending> one(new Pending);
    one->tag = nextTag(&onceTag_);
    one->task = std::move(task);
    int code = PMPI_Irecv(nullptr, 0, MPI_BYTE, runtime().worldRank, one->tag, once_, request);
    if (code == MPI_SUCCESS) code = one->task->start();
    if (code != MPI_SUCCESS) return raise(one->task->known(), code);
    enqueue(one.release());
    return MPI_SUCCESS;
  }

  // Makes a request that starts a call each time.
  int makePersistent(std::unique_ptr<Task> task, MPI_Request* request) {
    std::unique_ptr<Pending> one(new Pending);
    one->tag = nextTag(&againTag_);
    one->task = std::move(task);
    one->persistent = true;
    const int code = PMPI_Recv_init(nullptr, 0, MPI_BYTE, runtime().worldRank, one->tag, again_, request);
    if (code != MPI_SUCCESS) return raise(one->task->known(), code);
    const std::lock_guard<std::mutex> lock(mutex_);
    requests_[*request] = one.release();
    persistents_++;
    return MPI_SUCCESS;
  }

  bool hasPersistent() const { return persistents_ > 0; }
  bool isBusy() const { return left_ > 0; }

  // Moves calls on for an application that waits: sooner than the thread would on a processor that both share.
  template <class Test>
  int waitWith(Test test) {
    Idle idle(0);
    int done = 0;
    while (isBusy()) {
      const int code = test(&done);
      if (done || code != MPI_SUCCESS) return code;
      bool any = false;
      if (work_.try_lock()) {
        look(&any);
        work_.unlock();
      }
      idle.step(any);
    }
    return kNotDone;
  }
  static constexpr int kNotDone = -1;

  // MPI_Start of a request that may be one of these.
  int start(MPI_Request* request) {
    Pending* one = find(*request);
    int code = PMPI_Start(request);
    if (one == nullptr || code != MPI_SUCCESS) return code;
    code = one->task->start();
    if (code != MPI_SUCCESS) return raise(one->task->known(), code);
    enqueue(one);
    return MPI_SUCCESS;
  }

  // MPI_Request_free, likewise.
  int free(MPI_Request* request) {
    Pending* one = find(*request);
    if (one == nullptr) return PMPI_Request_free(request);
    bool isIdle;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      requests_.erase(*request);
      persistents_--;
      one->freed = true;
      isIdle = !one->underWay;
    }
    if (isIdle) delete one;
    return PMPI_Request_free(request);
  }

 private:
  static int nextTag(std::atomic<int64_t>* count) { return static_cast<int>((*count)++ % runtime().tags); }

  Pending* find(MPI_Request request) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = requests_.find(request);
    return found == requests_.end() ? nullptr : found->second;
  }

  void enqueue(Pending* one) {
    const std::lock_guard<std::mutex> lock(mutex_);
    one->underWay = true;
    fresh_.push_back(one);
    left_++;
    if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
    news_.notify_all();
  }

  // Completes the request of a call that is done.
  void complete(Pending* one, int code) {
    raise(one->task->known(), code);
    const MPI_Comm comm = one->persistent ? again_ : once_;
    const int tag = one->tag;
    bool isOver = !one->persistent;
    if (one->persistent) {
      const std::lock_guard<std::mutex> lock(mutex_);
      one->underWay = false;
      isOver = one->freed;
    }
    if (isOver) delete one;
    char byte = 0;  // one byte is more than the receive takes: waiting for it gives an error
    PMPI_Send(&byte, code == MPI_SUCCESS ? 0 : 1, MPI_BYTE, runtime().worldRank, tag, comm);
  }

  // Moves on what is under way, once. `any`: something happened. By one thread at a time.
  void look(bool* any) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      active_.insert(active_.end(), fresh_.begin(), fresh_.end());
      fresh_.clear();
    }
    size_t kept = 0;
    for (Pending* one : active_) {
      bool done = false, moved = false;
      const int code = one->task->progress(&done, &moved);
      *any = *any || moved;
      if (done || code != MPI_SUCCESS) {
        complete(one, code);
        left_--;
      } else {
        active_[kept++] = one;
      }
    }
    active_.resize(kept);
  }

  void run() {
    Idle idle(20);
    for (;;) {
      {
        std::unique_lock<std::mutex> lock(mutex_);
        news_.wait(lock, [this] { return ends_ || left_ > 0; });
        if (left_ == 0) return;
      }
      bool any = false;
      {
        const std::lock_guard<std::mutex> lock(work_);
        look(&any);
      }
      idle.step(any);
    }
  }

  MPI_Comm once_ = MPI_COMM_NULL, again_ = MPI_COMM_NULL;
  std::atomic<int64_t> onceTag_{0}, againTag_{0};
  std::atomic<int> persistents_{0};
  std::mutex mutex_;
  std::condition_variable news_;
  std::mutex work_;
  std::vector<Pending*> fresh_, active_;  // guarded by mutex_ and by work_
  std::atomic<int> left_{0};              // calls under way
  std::unordered_map<MPI_Request, Pending*> requests_;
  std::thread thread_;
  bool ends_ = false;
};

inline Progress& progress() {
  static Progress* one = new Progress;
  return *one;
}

}  // namespace banyan
