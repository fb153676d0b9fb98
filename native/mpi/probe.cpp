// Measures how long flows between MPI processes take, one at a time and several at once.
//
//   mpirun -np N probe < LIST        or        mpirun -np N probe LIST
//
// Rank 0 reads the list:
//
//   banyan-probe-list 1
//   BYTES REPEATS S>T S>T ...        an experiment: flows from rank S to rank T that start at the same time
//   end COUNT                        so many experiments stood above
//
// and writes lines that begin with "banyan-probe ", each with a JSON object: who takes part, then the seconds of each repeat from
// the common start until the data of each flow have arrived, in the order of the flows. Whatever else a launcher writes is no
// such line.
//
// A flow goes in pieces below the eager limit of TCP transports, several at a time: the rendezvous of long messages would keep
// one direction of a link idle. Every repeat has a time of day at which it starts. Clocks of machines differ, so each rank knows
// its difference to rank 0's from the fastest of several ping-pongs, and the two ends of a flow that is alone from their own: its
// time is then half a ping-pong. Who takes no part in an experiment sleeps.
#include <mpi.h>
#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "clock.h"

namespace {

using banyan::now;
using banyan::sleepFor;

constexpr int kPieceBytes = 32 * 1024;
/// Pieces of a flow that are on their way at once.
constexpr int kOutstanding = 32;
constexpr std::size_t kLongestList = std::size_t{1} << 30;
constexpr std::int64_t kMostBytes = std::int64_t{1} << 40;
constexpr int kMostRepeats = 1000;
/// A repeat begins late where some rank begins so long after its start, or so great a part of the longest flow's time.
constexpr double kLateS = 20e-6;
constexpr double kLatePart = 0.02;
/// How often a repeat is made again whose start some rank missed.
constexpr int kMostTries = 2;
constexpr int kPingPongs = 24;
/// How long before a repeat rank 0 says when it starts; more where ranks heard of it too late.
constexpr double kLeastLeadS = 1e-3;
constexpr double kMostLeadS = 0.02;
/// Differences of the clock itself, and of the loop that looks at it.
constexpr double kResolutionS = 1e-7;

/// Tags of what is not a flow; flows have their number in the experiment.
constexpr int kReady = 30001;
constexpr int kStart = 30002;
constexpr int kDone = 30003;
constexpr int kPing = 30004;
constexpr int kPong = 30005;
constexpr int kMostFlows = 30000;

struct Flow {
  int source;
  int target;
};

struct Experiment {
  std::int64_t bytes = 0;
  int repeats = 0;
  std::vector<Flow> flows;
};

struct Member {
  char host[256];
  /// Equal for processes of one kernel, whose clock they share.
  char kernel[64];
  std::int32_t cores;
};

int g_rank = 0;
int g_size = 1;
/// [ranks] what is to be added to a time of rank 0 for that rank's clock; known to rank 0.
std::vector<double> g_offset;
std::vector<Member> g_members;
double g_resolution_s = kResolutionS;
/// More processes than cores are on this rank's machine: who waits awake keeps others from beginning in time.
bool g_crowded = false;

/// Waits for a message without keeping a core busy: others measure.
void ReceiveAsleep(void* data, int bytes, int from, int tag) {
  MPI_Request request;
  MPI_Irecv(data, bytes, MPI_BYTE, from, tag, MPI_COMM_WORLD, &request);
  double nap = 20e-6;
  for (int done = 0;;) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done) return;
    sleepFor(nap);
    nap = std::min(nap * 1.5, 500e-6);
  }
}

void WaitAwake(MPI_Request* request) {
  for (int done = 0;;) {
    MPI_Test(request, &done, MPI_STATUS_IGNORE);
    if (done) return;
    sched_yield();
  }
}

/// What a pair's ping-pongs say: how far the other's clock is ahead, and how well that is known.
struct Difference {
  double ahead_s = 0;
  double jitter_s = 0;
};

/// The side of a ping-pong that asks; `SyncAnswer` is the other.
Difference SyncAsk(int other) {
  std::vector<std::pair<double, double>> trips;
  for (int i = 0; i < kPingPongs; i++) {
    double theirs = 0;
    MPI_Request request;
    MPI_Irecv(&theirs, sizeof theirs, MPI_BYTE, other, kPong, MPI_COMM_WORLD, &request);
    const double before = now();
    MPI_Send(&before, sizeof before, MPI_BYTE, other, kPing, MPI_COMM_WORLD);
    WaitAwake(&request);
    const double after = now();
    trips.emplace_back(after - before, theirs - (before + after) / 2);
  }
  std::sort(trips.begin(), trips.end());
  return {trips[0].second, (trips[kPingPongs / 4].first - trips[0].first) / 2};
}

void SyncAnswer(int other) {
  for (int i = 0; i < kPingPongs; i++) {
    double theirs = 0;
    MPI_Request request;
    MPI_Irecv(&theirs, sizeof theirs, MPI_BYTE, other, kPing, MPI_COMM_WORLD, &request);
    if (i == 0) {
      double nap = 20e-6;
      for (int done = 0; !done; nap = std::min(nap * 1.5, 500e-6)) {
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (!done) sleepFor(nap);
      }
    } else {
      WaitAwake(&request);
    }
    const double mine = now();
    MPI_Send(&mine, sizeof mine, MPI_BYTE, other, kPong, MPI_COMM_WORLD);
  }
}

bool SameClock(int a, int b) {
  return g_members[a].kernel[0] != '\0' && std::strcmp(g_members[a].kernel, g_members[b].kernel) == 0;
}

/// Rank 0 and each of the ranks that have clocks of their own, one after the other.
void SyncWithRoot(const std::vector<int>& ranks) {
  for (const int rank : ranks) {
    if (rank == 0 || SameClock(0, rank)) continue;
    if (g_rank == 0) {
      const Difference found = SyncAsk(rank);
      g_offset[rank] = found.ahead_s;
      g_resolution_s = std::max(g_resolution_s, found.jitter_s);
    } else if (g_rank == rank) {
      SyncAnswer(0);
    }
  }
}

// ---------------------------------------------------------------------------------------------------------------------------
// The list

bool ReadAll(std::FILE* file, std::string* text) {
  char block[65536];
  for (;;) {
    const std::size_t got = std::fread(block, 1, sizeof block, file);
    text->append(block, got);
    if (got < sizeof block) return std::ferror(file) == 0;
    if (text->size() > kLongestList) return false;
  }
}

/// Reads a whole number up to `most` at `*at`, and moves it behind it.
bool ReadNumber(const char** at, std::int64_t most, std::int64_t* value) {
  const char* p = *at;
  if (*p < '0' || *p > '9') return false;
  std::int64_t number = 0;
  for (; *p >= '0' && *p <= '9'; p++) {
    number = number * 10 + (*p - '0');
    if (number > most) return false;
  }
  *at = p;
  *value = number;
  return true;
}

/// Reads "BYTES REPEATS S>T ..."; returns why not, or nothing.
std::string ReadExperiment(const std::string& line, Experiment* experiment) {
  const char* at = line.c_str();
  std::int64_t bytes = 0;
  std::int64_t repeats = 0;
  if (!ReadNumber(&at, kMostBytes, &bytes) || *at++ != ' ') return "no number of bytes, at most 2^40";
  if (!ReadNumber(&at, kMostRepeats, &repeats) || repeats < 1) return "no number of repeats, 1 to 1000";
  experiment->bytes = bytes;
  experiment->repeats = static_cast<int>(repeats);
  while (*at == ' ') {
    at++;
    std::int64_t source = 0;
    std::int64_t target = 0;
    if (!ReadNumber(&at, g_size - 1, &source) || *at++ != '>' || !ReadNumber(&at, g_size - 1, &target))
      return "no flow S>T between ranks 0 to " + std::to_string(g_size - 1);
    if (source == target) return "a flow from a rank to itself";
    experiment->flows.push_back({static_cast<int>(source), static_cast<int>(target)});
    if (experiment->flows.size() >= kMostFlows) return "more flows than are counted";
  }
  if (*at != '\0') return "something that is no flow";
  if (experiment->flows.empty()) return "no flow";
  return "";
}

std::string ReadList(const std::string& text, std::vector<Experiment>* list) {
  std::size_t from = 0;
  bool ended = false;
  for (int number = 1; from < text.size(); number++) {
    const std::size_t to = std::min(text.find('\n', from), text.size());
    const std::string line = text.substr(from, to - from);
    from = to + 1;
    const std::string place = "line " + std::to_string(number) + " of the list has ";
    if (number == 1) {
      if (line != "banyan-probe-list 1") return "the list is none of this version (banyan-probe-list 1)";
    } else if (ended) {
      return place + "something behind the end";
    } else if (line.rfind("end ", 0) == 0) {
      if (line != "end " + std::to_string(list->size())) return place + "another number of experiments than there are";
      ended = true;
    } else {
      Experiment experiment;
      const std::string why = ReadExperiment(line, &experiment);
      if (!why.empty()) return place + why;
      list->push_back(std::move(experiment));
    }
  }
  return ended ? "" : "the list has no end: it was cut off";
}

void Refuse(const std::string& why) {
  std::printf("banyan-probe {\"refused\":\"%s\"}\n", why.c_str());
  std::fflush(stdout);
}

// ---------------------------------------------------------------------------------------------------------------------------
// Flows

/// One end of a flow: its pieces, in order, several at a time.
class FlowEnd {
 public:
  FlowEnd(const Flow& flow, int tag, std::int64_t bytes)
      : other_(g_rank == flow.source ? flow.target : flow.source),
        sends_(g_rank == flow.source),
        tag_(tag),
        bytes_(bytes),
        pieces_(std::max<std::int64_t>(1, (bytes + kPieceBytes - 1) / kPieceBytes)),
        slots_(static_cast<int>(std::min<std::int64_t>(pieces_, kOutstanding))),
        buffer_(static_cast<std::size_t>(std::min<std::int64_t>(bytes, std::int64_t{slots_} * kPieceBytes)) + 1),
        requests_(slots_, MPI_REQUEST_NULL),
        finished_(slots_) {}

  bool sends() const { return sends_; }
  bool ended() const { return done_ == pieces_; }
  double end_s() const { return end_s_; }

  /// Posts as many pieces as may be on their way.
  void Begin() {
    next_ = 0;
    done_ = 0;
    for (int slot = 0; slot < slots_; slot++) Post(slot);
  }

  /// Returns whether anything has gone on.
  bool Progress() {
    int count = 0;
    MPI_Testsome(slots_, requests_.data(), &count, finished_.data(), MPI_STATUSES_IGNORE);
    if (count == MPI_UNDEFINED || count == 0) return false;
    done_ += count;
    if (ended()) end_s_ = now();
    for (int i = 0; i < count; i++)
      if (next_ < pieces_) Post(finished_[i]);
    return true;
  }

 private:
  void Post(int slot) {
    const std::int64_t from = next_++ * kPieceBytes;
    const int bytes = static_cast<int>(std::min<std::int64_t>(kPieceBytes, bytes_ - from));
    char* const data = buffer_.data() + static_cast<std::size_t>(slot) * kPieceBytes;
    if (sends_)
      MPI_Isend(data, bytes, MPI_BYTE, other_, tag_, MPI_COMM_WORLD, &requests_[slot]);
    else
      MPI_Irecv(data, bytes, MPI_BYTE, other_, tag_, MPI_COMM_WORLD, &requests_[slot]);
  }

  int other_;
  bool sends_;
  int tag_;
  std::int64_t bytes_;
  std::int64_t pieces_;
  int slots_;
  std::vector<char> buffer_;
  std::vector<MPI_Request> requests_;
  std::vector<int> finished_;
  std::int64_t next_ = 0;
  std::int64_t done_ = 0;
  double end_s_ = 0;
};

/// What rank 0 is told of a repeat: how late this rank began, and when flows that it received had arrived, by its own clock from
/// the start on; flows of others are NaN.
using Report = std::vector<double>;

/// Does this rank's part from `start` (its own clock) on. Receives stand ready before it.
Report RunRepeat(const Experiment& experiment, std::vector<FlowEnd>* ends, const std::vector<int>& numbers, double start) {
  for (FlowEnd& end : *ends)
    if (!end.sends()) end.Begin();
  sleepFor(start - now() - (g_crowded ? 0 : 300e-6));
  while (now() < start) {
  }
  const double late = now() - start;
  for (FlowEnd& end : *ends)
    if (end.sends()) end.Begin();
  for (;;) {
    bool all = true;
    bool moved = false;
    for (FlowEnd& end : *ends) {
      if (end.ended()) continue;
      moved |= end.Progress();
      all &= end.ended();
    }
    if (all) break;
    if (!moved) sched_yield();
  }
  Report report(experiment.flows.size() + 1, std::nan(""));
  report[0] = late;
  for (std::size_t i = 0; i < ends->size(); i++)
    if (!(*ends)[i].sends()) report[numbers[i] + 1] = (*ends)[i].end_s() - start;
  return report;
}

/// The ranks of an experiment, ascending.
std::vector<int> RanksOf(const Experiment& experiment) {
  std::vector<int> ranks;
  for (const Flow& flow : experiment.flows) {
    ranks.push_back(flow.source);
    ranks.push_back(flow.target);
  }
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

/// What rank 0 tells a rank before a repeat: when it starts, by that rank's clock, or that the experiment is over.
struct Start {
  double at_s;
  std::int32_t over;
};

void PrintRepeat(std::size_t number, int repeat, double late, const Report& seconds) {
  std::printf("banyan-probe {\"experiment\":%zu,\"repeat\":%d,\"late\":%.9g,\"seconds\":[", number, repeat, late);
  for (std::size_t flow = 1; flow < seconds.size(); flow++)
    std::printf("%s%.9g", flow > 1 ? "," : "", seconds[flow]);
  std::printf("]}\n");
  std::fflush(stdout);
}

/// A rank's part in an experiment; rank 0 conducts, also where it takes no part. `lead_s` is rank 0's, from one to the next.
void RunExperiment(std::size_t number, const Experiment& experiment, double* lead_s) {
  const std::vector<int> ranks = RanksOf(experiment);
  const bool takes_part = std::binary_search(ranks.begin(), ranks.end(), g_rank);
  if (!takes_part && g_rank != 0) return;
  std::vector<FlowEnd> ends;
  std::vector<int> numbers;
  for (std::size_t i = 0; i < experiment.flows.size(); i++) {
    const Flow& flow = experiment.flows[i];
    if (flow.source != g_rank && flow.target != g_rank) continue;
    ends.emplace_back(flow, static_cast<int>(i), experiment.bytes);
    numbers.push_back(static_cast<int>(i));
  }
  SyncWithRoot(ranks);  // clocks drift by microseconds a second
  // the ends of a flow that is alone know their own difference better than by way of rank 0
  double receiver_ahead = 0;
  const Flow& first = experiment.flows[0];
  const bool alone = experiment.flows.size() == 1;
  if (alone && !SameClock(first.source, first.target)) {
    if (g_rank == first.target) receiver_ahead = -SyncAsk(first.source).ahead_s;
    if (g_rank == first.source) SyncAnswer(first.target);
  }
  const int reports = static_cast<int>((experiment.flows.size() + 1) * sizeof(double));
  int tries = 0;
  for (int repeat = 0;;) {
    Start start{0, 0};
    if (g_rank == 0) {
      double heard = now();
      for (const int rank : ranks) {
        if (rank == 0) continue;
        char ready = 0;
        ReceiveAsleep(&ready, 1, rank, kReady);
        heard = now();
      }
      start.over = repeat == experiment.repeats ? 1 : 0;
      const double at = heard + *lead_s;
      for (const int rank : ranks) {
        start.at_s = at + g_offset[rank];
        if (rank != 0) MPI_Send(&start, sizeof start, MPI_BYTE, rank, kStart, MPI_COMM_WORLD);
      }
      start.at_s = at;
    } else {
      const char ready = 1;
      MPI_Send(&ready, 1, MPI_BYTE, 0, kReady, MPI_COMM_WORLD);
      ReceiveAsleep(&start, sizeof start, 0, kStart);
    }
    if (start.over != 0) return;
    Report mine(experiment.flows.size() + 1, std::nan(""));
    mine[0] = 0;
    if (takes_part) mine = RunRepeat(experiment, &ends, numbers, start.at_s);
    if (alone && !SameClock(first.source, first.target) && g_rank == first.source) {
      // when it began, by its own clock, for the other end
      MPI_Send(&start.at_s, sizeof start.at_s, MPI_BYTE, first.target, kPing, MPI_COMM_WORLD);
    } else if (alone && !SameClock(first.source, first.target) && g_rank == first.target) {
      double began = 0;
      MPI_Recv(&began, sizeof began, MPI_BYTE, first.source, kPing, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      mine[1] += start.at_s - (began + receiver_ahead);
    }
    if (g_rank != 0) {
      MPI_Send(mine.data(), reports, MPI_BYTE, 0, kDone, MPI_COMM_WORLD);
      continue;
    }
    Report all = mine;
    for (const int rank : ranks) {
      if (rank == 0) continue;
      Report theirs(experiment.flows.size() + 1);
      ReceiveAsleep(theirs.data(), reports, rank, kDone);
      all[0] = std::max(all[0], theirs[0]);
      for (std::size_t flow = 1; flow < all.size(); flow++)
        if (!std::isnan(theirs[flow])) all[flow] = theirs[flow];
    }
    // who heard of the start too late, or got no core, makes every time of the repeat wrong: again, with more time before it
    const double longest = *std::max_element(all.begin() + 1, all.end());
    const bool was_late = all[0] > std::max(kLateS, kLatePart * longest);
    *lead_s = std::clamp(*lead_s * (was_late ? 2 : 0.95), kLeastLeadS, kMostLeadS);
    if (was_late && ++tries < kMostTries) continue;
    tries = 0;
    PrintRepeat(number, repeat, all[0], all);
    repeat++;
  }
}

void FillMember(Member* member) {
  std::memset(member, 0, sizeof *member);
  gethostname(member->host, sizeof member->host - 1);
  for (char* p = member->host; *p != '\0'; p++)
    if (*p < ' ' || *p > '~' || *p == '"' || *p == '\\') *p = '?';
  if (std::FILE* file = std::fopen("/proc/sys/kernel/random/boot_id", "r")) {
    if (std::fgets(member->kernel, sizeof member->kernel, file) == nullptr) member->kernel[0] = '\0';
    std::fclose(file);
  }
  member->cores = static_cast<std::int32_t>(std::thread::hardware_concurrency());
}

/// Every pair talks once, so that no flow pays for its connection.
void Connect() {
  std::vector<MPI_Request> requests;
  std::vector<char> in(g_size);
  const char out = 0;
  for (int other = 0; other < g_size; other++) {
    if (other == g_rank) continue;
    requests.emplace_back();
    MPI_Irecv(&in[other], 1, MPI_BYTE, other, kReady, MPI_COMM_WORLD, &requests.back());
    requests.emplace_back();
    MPI_Isend(&out, 1, MPI_BYTE, other, kReady, MPI_COMM_WORLD, &requests.back());
  }
  for (MPI_Request& request : requests) WaitAwake(&request);
}

int Run(int argc, char** argv) {
  g_offset.assign(g_size, 0);
  g_members.resize(g_size);
  Member own;
  FillMember(&own);
  MPI_Allgather(&own, sizeof own, MPI_BYTE, g_members.data(), sizeof own, MPI_BYTE, MPI_COMM_WORLD);
  int beside = 1;
  for (int rank = 0; rank < g_size; rank++) beside += rank != g_rank && SameClock(g_rank, rank);
  g_crowded = beside > own.cores;
  prctl(PR_SET_TIMERSLACK, 1UL);

  std::string text;
  std::string why;
  std::vector<Experiment> list;
  if (g_rank == 0) {
    std::FILE* const file = argc > 1 ? std::fopen(argv[1], "r") : stdin;
    if (g_size < 2) {
      why = "there is one process; a probe needs 2 or more";
    } else if (file == nullptr || !ReadAll(file, &text)) {
      why = "rank 0 cannot read the list";
    } else {
      why = ReadList(text, &list);
    }
    if (!why.empty()) {
      Refuse(why);
      text.clear();
    }
  }
  std::int64_t bytes = static_cast<std::int64_t>(text.size());
  MPI_Bcast(&bytes, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
  if (bytes == 0) return 3;
  text.resize(static_cast<std::size_t>(bytes));
  MPI_Bcast(text.data(), static_cast<int>(bytes), MPI_BYTE, 0, MPI_COMM_WORLD);
  if (g_rank != 0) ReadList(text, &list);

  Connect();
  std::vector<int> all(g_size);
  for (int rank = 0; rank < g_size; rank++) all[rank] = rank;
  SyncWithRoot(all);
  if (g_rank == 0) {
    std::printf("banyan-probe {\"ranks\":%d,\"experiments\":%zu,\"resolutionS\":%.3g}\n", g_size, list.size(), g_resolution_s);
    for (int rank = 0; rank < g_size; rank++)
      std::printf("banyan-probe {\"rank\":%d,\"kind\":\"npu\",\"host\":\"%s\",\"cores\":%d}\n", rank, g_members[rank].host,
                  g_members[rank].cores);
    std::fflush(stdout);
  }
  double lead_s = kLeastLeadS;
  for (std::size_t i = 0; i < list.size(); i++) RunExperiment(i, list[i], &lead_s);
  if (g_rank == 0) {
    std::printf("banyan-probe {\"end\":%zu}\n", list.size());
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &g_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &g_size);
  const int code = Run(argc, argv);
  MPI_Finalize();
  return code;
}
