// Cases of matrix.cpp beyond one call after the other.
#pragma once

namespace matrix {

inline int rankOf(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}
inline int sizeOf(MPI_Comm comm) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  return size;
}

// Every rank gives its number; is the result 0, 1, ...?
inline bool counts(const std::vector<int>& gathered, int n, int more) {
  for (size_t k = 0; k < gathered.size(); k++)
    if (gathered[k] != static_cast<int>(k) / n + more) return false;
  return true;
}

// Receives from anyone with any tag, posted before, take no message of a collective.
inline void wildcards() {
  const int rank = rankOf(MPI_COMM_WORLD), size = sizeOf(MPI_COMM_WORLD), n = 3000;
  int token = -1;
  MPI_Request request;
  MPI_Irecv(&token, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
  std::vector<int> mine(n, rank), all(static_cast<size_t>(n) * static_cast<size_t>(size));
  MPI_Allgather(mine.data(), n, MPI_INT, all.data(), n, MPI_INT, MPI_COMM_WORLD);
  check(counts(all, n, 0), "an all-gather beside a receive from anyone");
  MPI_Send(&rank, 1, MPI_INT, (rank + 1) % size, 5, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  check(token == (rank + size - 1) % size, "a receive from anyone beside an all-gather");
}

// One rank waits for a message that another sends after the collective: only progress without the application helps.
inline void overlapped() {
  const int rank = rankOf(MPI_COMM_WORLD), size = sizeOf(MPI_COMM_WORLD), n = 20000;
  std::vector<int> mine(n, rank), all(static_cast<size_t>(n) * static_cast<size_t>(size));
  MPI_Request request;
  MPI_Iallgather(mine.data(), n, MPI_INT, all.data(), n, MPI_INT, MPI_COMM_WORLD, &request);
  int token = 0;
  if (rank == 0 && size > 1) MPI_Recv(&token, 1, MPI_INT, size - 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (rank == size - 1 && size > 1) {
    token = 77;
    MPI_Send(&token, 1, MPI_INT, 0, 9, MPI_COMM_WORLD);
  }
  check(counts(all, n, 0), "a nonblocking all-gather beside point-to-point");
  check(rank != 0 || size == 1 || token == 77, "point-to-point beside a nonblocking all-gather");
}

// Many nonblocking calls at once, mixed with blocking ones, waited for in any order.
inline void manyAtOnce() {
  const int rank = rankOf(MPI_COMM_WORLD), size = sizeOf(MPI_COMM_WORLD), n = 500, calls = 24;
  std::vector<std::vector<int>> mine, all;
  std::vector<MPI_Request> requests(calls);
  for (int k = 0; k < calls; k++) {
    mine.emplace_back(n, rank + k);
    all.emplace_back(static_cast<size_t>(n) * static_cast<size_t>(size));
  }
  for (int k = 0; k < calls; k++) {
    const size_t at = static_cast<size_t>(k);
    MPI_Iallgather(mine[at].data(), n, MPI_INT, all[at].data(), n, MPI_INT, MPI_COMM_WORLD, &requests[at]);
    int sum = 0, one = 1;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    check(sum == size, "an all-reduce between nonblocking calls");
  }
  for (int k = calls - 1; k >= calls / 2; k--) MPI_Wait(&requests[static_cast<size_t>(k)], MPI_STATUS_IGNORE);
  MPI_Waitall(calls / 2, requests.data(), MPI_STATUSES_IGNORE);
  for (int k = 0; k < calls; k++) check(counts(all[static_cast<size_t>(k)], n, k), "one of many nonblocking calls");
}

// A communicator and a type are freed while a call with them is under way.
inline void freedEarly() {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  const int rank = rankOf(comm), size = sizeOf(comm), n = 5000;
  int one = 1, sum = 0;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
  MPI_Datatype pair;
  MPI_Type_vector(2, 1, 2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  std::vector<int> mine(static_cast<size_t>(n) * 2, rank), all(static_cast<size_t>(n) * 3 * static_cast<size_t>(size), -1);
  MPI_Request request;
  MPI_Iallgather(mine.data(), n * 2, MPI_INT, all.data(), n, pair, comm, &request);
  MPI_Type_free(&pair);
  MPI_Comm_free(&comm);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  bool fine = true;  // extent 3: elements at 0 and 2 of 3
  for (int r = 0; r < size; r++)
    for (int k = 0; k < n; k++) {
      const size_t at = (static_cast<size_t>(r) * n + static_cast<size_t>(k)) * 3;
      fine = fine && all[at] == r && all[at + 2] == r && all[at + 1] == -1;
    }
  check(fine, "a call whose communicator and type are freed");
}

// A persistent call started many times, its input another one each time.
inline void startedOften() {
  const int rank = rankOf(MPI_COMM_WORLD), size = sizeOf(MPI_COMM_WORLD), n = 100;
  std::vector<int> mine(n), all(static_cast<size_t>(n) * static_cast<size_t>(size));
  const WithRequest again = AGAIN(Allgather, mine.data(), n, MPI_INT, all.data(), n, MPI_INT, MPI_COMM_WORLD);
  const char* plans = std::getenv("BANYAN_PLANS");
  if (again == nullptr) return;
#ifdef MPICH_VERSION
  if (plans == nullptr || *plans == '\0' || size == 1) return;  // its own persistent calls can be started once
#endif
  (void)plans;
  MPI_Request request = MPI_REQUEST_NULL;
  again(&request);
  for (int turn = 0; turn < 100; turn++) {
    std::fill(mine.begin(), mine.end(), rank + turn);
    MPI_Startall(1, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check(counts(all, n, turn), "a persistent call that is started often");
  }
  MPI_Request_free(&request);
}

// Types with addresses of their own, at MPI_BOTTOM.
inline void bottom() {
  const int size = sizeOf(MPI_COMM_WORLD), rank = rankOf(MPI_COMM_WORLD);
  std::vector<int> data(64, rank == size - 1 ? 5 : 0);
  MPI_Aint address;
  MPI_Get_address(data.data(), &address);
  int length = 64;
  MPI_Datatype type;
  MPI_Type_create_hindexed(1, &length, &address, MPI_INT, &type);
  MPI_Type_commit(&type);
  MPI_Bcast(MPI_BOTTOM, 1, type, size - 1, MPI_COMM_WORLD);
  MPI_Type_free(&type);
  check(std::count(data.begin(), data.end(), 5) == 64, "a broadcast at MPI_BOTTOM");
}

// Operations that plans do not have.
inline void otherOperations() {
  const int size = sizeOf(MPI_COMM_WORLD), rank = rankOf(MPI_COMM_WORLD);
  struct Pair {
    double value;
    int at;
  } mine = {static_cast<double>((rank * 7 + 3) % size), rank}, least = {0, 0};
  MPI_Allreduce(&mine, &least, 1, MPI_DOUBLE_INT, MPI_MINLOC, MPI_COMM_WORLD);
  double smallest = 1e9;
  for (int r = 0; r < size; r++) smallest = std::min(smallest, static_cast<double>((r * 7 + 3) % size));
  check(least.value == smallest, "the place of the smallest");
  MPI_Op own;
  MPI_Op_create(
      [](void* in, void* out, int* length, MPI_Datatype*) {  // out = in, the left one: not commutative
        for (int k = 0; k < *length; k++) static_cast<int*>(out)[k] = static_cast<int*>(in)[k];
      },
      0, &own);
  int first = -1, number = rank + 100;
  MPI_Allreduce(&number, &first, 1, MPI_INT, own, MPI_COMM_WORLD);
  MPI_Op_free(&own);
  check(first == 100, "an operation of the program's own");
}

// Threads, each with its own communicator.
inline void threads() {
  int level = 0;
  MPI_Query_thread(&level);
  if (level < MPI_THREAD_MULTIPLE) return;
  constexpr int kThreads = 3;
  MPI_Comm comms[kThreads];
  for (MPI_Comm& comm : comms) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  std::vector<std::thread> all;
  for (int t = 0; t < kThreads; t++)
    all.emplace_back([&, t] {
      const int rank = rankOf(comms[t]), size = sizeOf(comms[t]), n = 300;
      std::vector<int> mine(n), gathered(static_cast<size_t>(n) * static_cast<size_t>(size));
      for (int turn = 0; turn < 10; turn++) {
        std::fill(mine.begin(), mine.end(), rank + turn * t);
        if (turn % 2 == 0) {
          MPI_Allgather(mine.data(), n, MPI_INT, gathered.data(), n, MPI_INT, comms[t]);
        } else {
          MPI_Request request;
          MPI_Iallgather(mine.data(), n, MPI_INT, gathered.data(), n, MPI_INT, comms[t], &request);
          MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        check(counts(gathered, n, turn * t), "calls of several threads");
      }
    });
  for (std::thread& one : all) one.join();
  for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
}

inline void specialCases() {
  wildcards();
  overlapped();
  manyAtOnce();
  freedEarly();
  startedOften();
  bottom();
  otherOperations();
  threads();
}

}  // namespace matrix
