// The plans of a folder, and whether all ranks have the same ones.
#pragma once

#include <dirent.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "engine.h"

namespace banyan {

struct FreePlan {
  void operator()(banyan_plan* plan) const { banyan_plan_free(plan); }
};
using Plan = std::unique_ptr<banyan_plan, FreePlan>;

// A file of the folder.
struct PlanFile {
  std::string name, text;
  Plan header;
  std::vector<int> world;  // [ranks] rank in MPI_COMM_WORLD of every plan rank; empty: any communicator of so many
  bool absent = false;     // a process that it names is not there
};

// What a process knows from MPI_Init to MPI_Finalize. Written by these two only, but for what has a mutex.
struct Runtime {
  bool active = false;   // plans may be used
  bool threads = false;  // the library lets several threads call it, on all ranks
  bool verbose = false;
  int worldRank = 0, worldSize = 0;
  int64_t tags = 0;     // tags 0 .. tags - 1 may be used
  int64_t segment = 0;  // BANYAN_SEGMENT
  int idleUs = 0;       // BANYAN_IDLE_US
  std::vector<PlanFile> plans;
  int keyval = MPI_KEYVAL_INVALID;
  MPI_Group worldGroup = MPI_GROUP_NULL;
  std::mutex saidMutex;
  std::set<std::string> said;
};

inline Runtime& runtime() {
  static Runtime* one = new Runtime;  // outlives whatever a program does at its end
  return *one;
}

inline const char* variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr || *value == '\0' ? nullptr : value;
}

inline int64_t numberOf(const char* name) {
  const char* value = variable(name);
  return value == nullptr ? 0 : std::max<int64_t>(0, std::strtoll(value, nullptr, 10));
}

// Says a line on standard error.
inline void say(const std::string& text) {
  const std::string line = "banyan: " + text + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
}

// Says a line once; `key` says what is the same.
inline void sayOnce(const std::string& key, const std::string& text) {
  Runtime& all = runtime();
  const std::lock_guard<std::mutex> lock(all.saidMutex);
  if (all.said.insert(key).second) say(text);
}

// Reads a file; false: it cannot be read.
inline bool readFile(const std::string& path, std::string* text) {
  FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) return false;
  char part[65536];
  size_t count;
  while ((count = std::fread(part, 1, sizeof part, file)) > 0) text->append(part, count);
  const bool fine = std::ferror(file) == 0;
  std::fclose(file);
  return fine;
}

// Names of the plans in a folder, in order; false: it cannot be read.
inline bool planNames(const std::string& folder, std::vector<std::string>* names) {
  DIR* open = opendir(folder.c_str());
  if (open == nullptr) return false;
  while (const dirent* entry = readdir(open)) {
    const std::string name = entry->d_name;
    if (name.size() > 5 && name.compare(name.size() - 5, 5, ".plan") == 0) names->push_back(name);
  }
  closedir(open);
  std::sort(names->begin(), names->end());
  return true;
}

// Loads the plans of BANYAN_PLANS. What is damaged is refused, with one line by rank 0. Returns their hash.
inline uint64_t loadPlans() {
  Runtime& all = runtime();
  uint64_t hash = BANYAN_HASH_START;
  const char* folder = variable("BANYAN_PLANS");
  if (folder == nullptr) return hash;
  std::vector<std::string> names;
  if (!planNames(folder, &names)) {
    if (all.worldRank == 0)
      say(std::string("no plan is used: the folder ") + folder + " (BANYAN_PLANS) cannot be read");
    return hash;
  }
  for (const std::string& name : names) {
    PlanFile file;
    file.name = name;
    char error[256] = "";
    banyan_plan* plan = nullptr;
    if (!readFile(std::string(folder) + "/" + name, &file.text)) {
      if (all.worldRank == 0) say(name + " is not used: it cannot be read");
      continue;
    }
    const int outcome = banyan_plan_read(file.text.data(), file.text.size(), -1, &plan, error, sizeof error);
    if (outcome != BANYAN_READ) {
      const bool silent = outcome == BANYAN_OTHER_VERSION && !all.verbose;
      if (all.worldRank == 0 && !silent) say(name + " is not used: " + error);
      continue;
    }
    file.header.reset(plan);
    hash = banyan_hash(name.c_str(), name.size() + 1, hash);
    hash = banyan_hash(file.text.data(), file.text.size(), hash);
    all.plans.push_back(std::move(file));
  }
  if (names.empty() && all.worldRank == 0 && all.verbose) say(std::string("there is no plan in ") + folder);
  return banyan_hash(reinterpret_cast<const char*>(&all.segment), sizeof all.segment, hash);
}

// "node3" of "node3.cluster.org".
inline std::string shortName(const std::string& host) { return host.substr(0, host.find('.')); }

// Finds the processes that plans name: by host, or by number.
inline void findMembers() {
  Runtime& all = runtime();
  bool byHost = false;
  for (const PlanFile& file : all.plans) byHost = byHost || file.header->hosts != nullptr;
  std::map<std::string, std::vector<int>> hosts;
  if (byHost) {
    char mine[MPI_MAX_PROCESSOR_NAME + 1] = "";
    int length = 0;
    PMPI_Get_processor_name(mine, &length);
    std::vector<char> names(static_cast<size_t>(all.worldSize) * sizeof mine);
    PMPI_Allgather(mine, sizeof mine, MPI_CHAR, names.data(), sizeof mine, MPI_CHAR, MPI_COMM_WORLD);
    for (int r = 0; r < all.worldSize; r++) {
      const std::string name = &names[static_cast<size_t>(r) * sizeof mine];
      hosts[name].push_back(r);
      if (shortName(name) != name) hosts[shortName(name)].push_back(r);
    }
  }
  for (PlanFile& file : all.plans) {
    const banyan_plan& plan = *file.header;
    if (plan.hosts == nullptr && plan.group == nullptr) continue;
    for (int r = 0; r < plan.ranks; r++) {
      int rank = plan.group == nullptr ? r : plan.group[r];
      if (plan.hosts != nullptr) {
        const auto found = hosts.find(plan.hosts[r]);
        const size_t index = static_cast<size_t>(plan.hostIndex[r]);
        rank = found == hosts.end() || index >= found->second.size() ? -1 : found->second[index];
      }
      if (rank < 0 || rank >= all.worldSize) file.absent = true;
      file.world.push_back(rank);
    }
  }
}

}  // namespace banyan
