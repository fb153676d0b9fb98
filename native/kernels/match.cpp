#include "match.h"

#include "random.h"
#include "ten.h"

namespace banyan {
namespace {

constexpr std::int32_t kNone = -1;
constexpr std::int32_t kMaxLevels = 8;             // novelty levels kept, level 0 included
constexpr std::int32_t kLookAhead = 4;             // touched NPUs between a prefetch and its use
constexpr std::int32_t kMaxScoredNeighbours = 32;  // beyond that the neighbour choice falls back to the rarest

std::size_t At(std::int32_t i) { return static_cast<std::size_t>(i); }

/// `Entry` holds a chunk in the logs: 16 bits where they do, which halves the memory that the matching walks over.
template <typename Entry>
class Matcher {
 public:
  Matcher(const MatchProblem& problem, BanyanTransfers* out)
      : network_(problem.network),
        policy_(problem.policy),
        npus_(problem.network.npu_count),
        routes_(problem.network.route_count),
        chunks_(problem.chunk_count),
        words_((At(problem.chunk_count) + 31) / 32),
        out_(out) {}

  [[nodiscard]] BanyanStatus Run(const MatchProblem& problem, BanyanCancelled cancelled, const void* context) {
    if (!Build(problem)) return kBanyanOutOfMemory;
    if (static_cast<double>(expected_) > out_->room) return kBanyanOutputTooSmall;
    for (std::int32_t v = 0; v < npus_; v++) TouchNode(v);
    for (std::int32_t g = 0; g < groups_; g++) TouchGroup(g);
    Time now = 0;
    std::uint32_t polls = 0;
    for (;;) {
      ServeTouched(now);
      if (failed_) return kBanyanOutOfMemory;
      if ((polls++ & 63) == 0 && cancelled != nullptr && cancelled(context) != 0) return kBanyanCancelled;
      now = queue_.NextTime();
      if (now == kNever) break;
      if (now > kLatest) return kBanyanTimeOverflow;
      Arrival arrival{};
      while (queue_.Pop(now, &arrival)) Arrive(arrival);
    }
    out_->count = static_cast<double>(delivered_);
    return delivered_ == expected_ ? kBanyanOk : ReportUnreachable();
  }

 private:
  // --- bit rows -----------------------------------------------------------------------------------------------------
  [[nodiscard]] static bool Bit(const std::uint32_t* row, std::int32_t chunk) {
    return ((row[chunk >> 5] >> (chunk & 31)) & 1U) != 0;
  }
  static void SetBit(std::uint32_t* row, std::int32_t chunk) { row[chunk >> 5] |= 1U << (chunk & 31); }
  [[nodiscard]] std::uint32_t* Hi(std::int32_t npu) { return hi_.data() + At(npu) * words_; }
  [[nodiscard]] std::uint32_t* Novel(std::int32_t level, std::int32_t npu) {
    return novel_.data() + At(component_[At(level) * At(npus_) + At(npu)]) * words_;
  }
  [[nodiscard]] bool Holds(std::int32_t npu, std::int32_t chunk) const {
    return Bit(holds_.data() + At(npu) * words_, chunk);
  }

  // --- construction -------------------------------------------------------------------------------------------------
  [[nodiscard]] bool Build(const MatchProblem& problem) {
    return ranks_.Build(network_) && BuildRoutes() && BuildGroups() && BuildLevels() && BuildHoldings(problem) &&
           BuildNeighbours() && queue_.Allocate(ranks_.count) && resources_.Allocate(network_);
  }

  [[nodiscard]] bool Switched(std::int32_t route) const {
    return network_.use_offset[route] < network_.use_offset[route + 1];
  }

  [[nodiscard]] bool BuildRoutes() {
    const auto routes = At(routes_);
    Buffer<std::int32_t> keys;
    if (!keys.Allocate(routes)) return false;
    for (std::int32_t r = 0; r < routes_; r++) keys[At(r)] = Switched(r) ? kNone : network_.route_target[r];
    if (!direct_in_.Group(keys.data(), routes_, npus_)) return false;
    for (std::int32_t v = 0; v < npus_; v++) SortByRank(direct_in_, v);
    for (std::int32_t r = 0; r < routes_; r++) keys[At(r)] = Switched(r) ? kNone : network_.route_source[r];
    if (!direct_out_.Group(keys.data(), routes_, npus_)) return false;
    if (!all_in_.Group(network_.route_target, routes_, npus_)) return false;
    return carried_.Allocate(routes) && start_.Allocate(routes) && departure_length_.Allocate(routes) &&
           generation_.Allocate(routes) && duplicate_.Allocate(routes) && overtaken_.Allocate(routes) &&
           idle_.Allocate(routes) && node_touched_.Allocate(At(npus_)) && touched_nodes_.Allocate(At(npus_)) &&
           FillIdle();
  }

  [[nodiscard]] bool FillIdle() {
    carried_.Fill(kNone);
    return true;
  }

  // Insertion sort: lists are short, and equal ranks keep their order.
  void SortByRank(Lists& lists, std::int32_t list) {
    std::int32_t* items = lists.items.data();
    for (std::int32_t i = lists.Begin(list) + 1; i < lists.End(list); i++) {
      const std::int32_t route = items[i];
      std::int32_t j = i;
      for (; j > lists.Begin(list) && ranks_.rank[At(items[j - 1])] > ranks_.rank[At(route)]; j--) {
        items[j] = items[j - 1];
      }
      items[j] = route;
    }
  }

  static std::int32_t Find(std::int32_t* parent, std::int32_t v) {
    while (parent[v] != v) {
      parent[v] = parent[parent[v]];
      v = parent[v];
    }
    return v;
  }

  static void Unite(std::int32_t* parent, std::int32_t a, std::int32_t b) {
    const std::int32_t x = Find(parent, a);
    const std::int32_t y = Find(parent, b);
    if (x < y) parent[y] = x;
    if (y < x) parent[x] = y;
  }

  // Groups of routes that contend for resources, with their receiving and sending ports (last and first resource).
  [[nodiscard]] bool BuildGroups() {
    const std::int32_t resources = network_.resource_count;
    Buffer<std::int32_t> parent;
    Buffer<std::int32_t> keys;
    if (!parent.Allocate(At(resources)) || !keys.Allocate(At(routes_ > resources ? routes_ : resources))) return false;
    for (std::int32_t i = 0; i < resources; i++) parent[At(i)] = i;
    for (std::int32_t r = 0; r < routes_; r++) {
      for (std::int32_t i = network_.use_offset[r]; i < network_.use_offset[r + 1]; i++) {
        Unite(parent.data(), network_.use_resource[network_.use_offset[r]], network_.use_resource[i]);
      }
    }
    if (!group_of_resource_.Allocate(At(resources)) || !receives_.Allocate(At(resources))) return false;
    for (std::int32_t i = 0; i < resources; i++) {
      const std::int32_t root = Find(parent.data(), i);
      group_of_resource_[At(i)] = root == i ? groups_++ : group_of_resource_[At(root)];
    }
    for (std::int32_t r = 0; r < routes_; r++) {
      keys[At(r)] = kNone;
      if (!Switched(r)) continue;
      keys[At(r)] = ReceivePort(r);
      receives_[At(ReceivePort(r))] = 1;
    }
    if (!port_routes_.Group(keys.data(), routes_, resources)) return false;
    for (std::int32_t i = 0; i < resources; i++) {
      keys[At(i)] = receives_[At(i)] != 0 ? group_of_resource_[At(i)] : kNone;
    }
    if (!group_ports_.Group(keys.data(), resources, groups_)) return false;
    return BuildNodeGroups() && group_touched_.Allocate(At(groups_)) && touched_groups_.Allocate(At(groups_)) &&
           tick_.Allocate(At(groups_)) && group_rank_.Allocate(At(groups_)) && FillGroupRank() &&
           matched_.Allocate(At(resources)) && visited_.Allocate(At(resources)) && rotation_.Allocate(At(resources)) && ports_.Allocate(At(resources)) &&
           chosen_.Allocate(At(resources));
  }

  [[nodiscard]] bool FillGroupRank() {
    for (std::int32_t r = 0; r < routes_; r++) {
      if (!Switched(r)) continue;
      std::int32_t& rank = group_rank_[At(GroupOf(r))];
      if (ranks_.rank[At(r)] > rank) rank = ranks_.rank[At(r)];
    }
    return true;
  }

  // The groups that each NPU sends into.
  [[nodiscard]] bool BuildNodeGroups() {
    Buffer<std::int32_t> seen;
    Buffer<std::int32_t> source;
    if (!seen.Allocate(At(groups_)) || !source.Allocate(At(routes_))) return false;
    for (std::int32_t r = 0; r < routes_; r++) source[At(r)] = Switched(r) ? network_.route_source[r] : kNone;
    Lists out;
    if (!out.Group(source.data(), routes_, npus_)) return false;
    if (!node_groups_.offset.Allocate(At(npus_) + 1) || !node_groups_.items.Allocate(At(routes_))) return false;
    std::int32_t count = 0;
    for (std::int32_t v = 0; v < npus_; v++) {
      for (std::int32_t i = out.Begin(v); i < out.End(v); i++) {
        const std::int32_t group = GroupOf(out.items[At(i)]);
        if (seen[At(group)] == v + 1) continue;
        seen[At(group)] = v + 1;
        node_groups_.items[At(count++)] = group;
      }
      node_groups_.offset[At(v) + 1] = count;
    }
    return true;
  }

  [[nodiscard]] std::int32_t SendPort(std::int32_t route) const {
    return network_.use_resource[network_.use_offset[route]];
  }
  [[nodiscard]] std::int32_t ReceivePort(std::int32_t route) const {
    return network_.use_resource[network_.use_offset[route + 1] - 1];
  }
  [[nodiscard]] std::int32_t GroupOf(std::int32_t route) const { return group_of_resource_[At(SendPort(route))]; }

  // Level k >= 1 of a rank: the components under routes of lower rank. Levels with one component say nothing new, and
  // neither do levels equal to the one before.
  [[nodiscard]] bool BuildLevels() {
    Buffer<std::int32_t> parent;
    if (!level_of_rank_.Allocate(At(ranks_.count)) || !parent.Allocate(At(npus_))) return false;
    if (!component_.Allocate(At(kMaxLevels) * At(npus_))) return false;
    std::int32_t rows = 0;
    levels_ = 1;
    if (policy_.novelty == 0) return novel_.Allocate(0) && AllocatePointers();
    Lists by_rank;
    if (!by_rank.Group(ranks_.rank.data(), routes_, ranks_.count)) return false;
    for (std::int32_t v = 0; v < npus_; v++) parent[At(v)] = v;
    std::int32_t components = npus_;
    for (std::int32_t rank = 1; rank < ranks_.count; rank++) {
      const std::int32_t before = components;
      for (std::int32_t i = by_rank.Begin(rank - 1); i < by_rank.End(rank - 1); i++) {
        const std::int32_t route = by_rank.items[At(i)];
        const std::int32_t a = Find(parent.data(), network_.route_source[route]);
        const std::int32_t b = Find(parent.data(), network_.route_target[route]);
        if (a == b) continue;
        Unite(parent.data(), a, b);
        components--;
      }
      if (components < before && components > 1 && levels_ < kMaxLevels) {
        rows = NumberComponents(parent.data(), rows);
        levels_++;
      }
      level_of_rank_[At(rank)] = levels_ - 1;
    }
    return novel_.Allocate(At(rows) * words_) && AllocatePointers();
  }

  std::int32_t NumberComponents(std::int32_t* parent, std::int32_t rows) {
    std::int32_t* component = component_.data() + At(levels_) * At(npus_);
    for (std::int32_t v = 0; v < npus_; v++) {
      const std::int32_t root = Find(parent, v);
      component[v] = root == v ? rows++ : component[root];
    }
    return rows;
  }

  [[nodiscard]] bool AllocatePointers() { return pointer_.Allocate(At(routes_) * At(levels_)); }

  [[nodiscard]] bool BuildHoldings(const MatchProblem& problem) {
    const auto npus = At(npus_);
    if (!hi_.Allocate(npus * words_) || !log_begin_.Allocate(npus + 1) || !log_length_.Allocate(npus) ||
        !missing_.Allocate(npus) || !copies_.Allocate(At(chunks_))) {
      return false;
    }
    if (policy_.overtaking != 0 && !holds_.Allocate(npus * words_)) return false;
    for (std::int32_t v = 0; v < npus_; v++) {
      const std::int32_t begin = problem.held_offset[v];
      const std::int32_t end = problem.held_offset[v + 1];
      std::uint32_t* hi = Hi(v);
      std::int32_t wants = chunks_;
      if (problem.wanted != nullptr) {
        wants = 0;
        const std::uint32_t* row = problem.wanted + At(v) * words_;
        for (std::int32_t c = 0; c < chunks_; c++) {
          if (Bit(row, c)) {
            wants++;
          } else {
            SetBit(hi, c);
          }
        }
      }
      std::int32_t extra = 0;
      for (std::int32_t i = begin; i < end; i++) {
        const std::int32_t c = problem.held_chunk[i];
        if (Bit(hi, c)) {
          extra++;
        } else {
          SetBit(hi, c);
        }
      }
      missing_[At(v)] = wants - (end - begin - extra);
      expected_ += missing_[At(v)];
      log_begin_[At(v) + 1] = log_begin_[At(v)] + static_cast<std::size_t>(wants + extra);
    }
    if (!log_.Allocate(log_begin_[npus])) return false;
    for (std::int32_t v = 0; v < npus_; v++) {
      for (std::int32_t i = problem.held_offset[v]; i < problem.held_offset[v + 1]; i++) {
        const std::int32_t c = problem.held_chunk[i];
        AppendToLog(v, c);
        copies_[At(c)]++;
        for (std::int32_t level = 1; level < levels_; level++) SetBit(Novel(level, v), c);
      }
    }
    return true;
  }

  // The NPUs that each NPU reaches over one direct route, without repeats.
  [[nodiscard]] bool BuildNeighbours() {
    if (!neighbours_.offset.Allocate(At(npus_) + 1) || !neighbours_.items.Allocate(direct_out_.items.size())) {
      return false;
    }
    std::int32_t count = 0;
    for (std::int32_t v = 0; v < npus_; v++) {
      const std::int32_t first = count;
      for (std::int32_t i = direct_out_.Begin(v); i < direct_out_.End(v); i++) {
        const std::int32_t target = network_.route_target[direct_out_.items[At(i)]];
        bool fresh = true;
        for (std::int32_t j = first; j < count; j++) fresh = fresh && neighbours_.items[At(j)] != target;
        if (fresh) neighbours_.items[At(count++)] = target;
      }
      neighbours_.offset[At(v) + 1] = count;
    }
    return true;
  }

  void AppendToLog(std::int32_t npu, std::int32_t chunk) {
    log_[log_begin_[At(npu)] + At(log_length_[At(npu)]++)] = static_cast<Entry>(chunk);
    if (policy_.overtaking != 0) SetBit(holds_.data() + At(npu) * words_, chunk);
  }

  // --- what to serve ------------------------------------------------------------------------------------------------
  void TouchNode(std::int32_t npu) {
    if (node_touched_[At(npu)] != 0) return;
    node_touched_[At(npu)] = 1;
    touched_nodes_[At(touched_node_count_++)] = npu;
  }

  void TouchGroup(std::int32_t group) {
    if (group_touched_[At(group)] != 0) return;
    group_touched_[At(group)] = 1;
    touched_groups_[At(touched_group_count_++)] = group;
  }

  void TouchAfterFree(std::int32_t route) {
    if (Switched(route)) {
      TouchGroup(GroupOf(route));
    } else {
      TouchNode(network_.route_target[route]);
    }
  }

  void ServeTouched(Time now) {
    for (std::int32_t i = 0; i < touched_node_count_; i++) {
      if (i + kLookAhead < touched_node_count_) PrefetchLogs(touched_nodes_[At(i + kLookAhead)]);
      node_touched_[At(touched_nodes_[At(i)])] = 0;
      ServeNode(touched_nodes_[At(i)], now);
    }
    touched_node_count_ = 0;
    for (std::int32_t i = 0; i < touched_group_count_; i++) {
      group_touched_[At(touched_groups_[At(i)])] = 0;
      ServeGroup(touched_groups_[At(i)], now);
    }
    touched_group_count_ = 0;
  }

  // The cost of the matching is cache misses in the logs: ask early for what the routes into `target` will read.
  void PrefetchLogs(std::int32_t target) const {
    for (std::int32_t i = direct_in_.Begin(target); i < direct_in_.End(target); i++) {
      const std::int32_t route = direct_in_.items[At(i)];
      const std::int32_t level = level_of_rank_[At(ranks_.rank[At(route)])];
      const auto entry = At(pointer_[At(route) * At(levels_) + At(level)]);
      __builtin_prefetch(log_.data() + log_begin_[At(network_.route_source[route])] + entry);
    }
  }

  // --- candidates ---------------------------------------------------------------------------------------------------
  // Index in the source's log of the first chunk that the route may take at this novelty level, or kNone.
  std::int32_t FirstCandidate(std::int32_t route, std::int32_t level) {
    const std::int32_t source = network_.route_source[route];
    const std::int32_t target = network_.route_target[route];
    std::int32_t& pointer = pointer_[At(route) * At(levels_) + At(level)];
    const Entry* log = log_.data() + log_begin_[At(source)];
    const std::int32_t length = log_length_[At(source)];
    const std::uint32_t* hi = Hi(target);
    const std::uint32_t* novel = level == 0 ? hi : Novel(level, target);
    std::int32_t i = pointer;
    while (i < length && (Bit(novel, log[i]) || Bit(hi, log[i]))) i++;
    pointer = i;
    return i < length ? i : kNone;
  }

  std::int32_t Choose(std::int32_t route, std::int32_t level) {
    const std::int32_t first = FirstCandidate(route, level);
    if (first == kNone) return kNone;
    const std::int32_t source = network_.route_source[route];
    const std::int32_t target = network_.route_target[route];
    const Entry* log = log_.data() + log_begin_[At(source)];
    const auto choice = static_cast<Choice>(policy_.choice);
    if (choice == Choice::kOldest || missing_[At(target)] > policy_.late_limit) return log[first];
    const std::uint32_t* hi = Hi(target);
    const std::uint32_t* novel = level == 0 ? hi : Novel(level, target);
    const std::int32_t length = log_length_[At(source)];
    if (choice == Choice::kNewest) {
      for (std::int32_t i = length - 1; i > first; i--) {
        if (!Bit(novel, log[i]) && !Bit(hi, log[i])) return log[i];
      }
      return log[first];
    }
    const std::int32_t begin = neighbours_.Begin(target);
    const std::int32_t end = neighbours_.End(target);
    const bool score_neighbours = choice == Choice::kNeighbour && end - begin <= kMaxScoredNeighbours;
    std::int32_t best = kNone;
    std::int32_t best_score = 0;
    std::int32_t best_copies = 0;
    std::int32_t seen = 0;
    for (std::int32_t i = first; i < length && seen < policy_.window; i++) {
      const std::int32_t chunk = log[i];
      if (Bit(novel, chunk) || Bit(hi, chunk)) continue;
      seen++;
      std::int32_t score = 0;
      if (score_neighbours) {
        for (std::int32_t j = begin; j < end; j++) score += Bit(Hi(neighbours_.items[At(j)]), chunk) ? 1 : 0;
      }
      const std::int32_t copies = copies_[At(chunk)];
      if (best == kNone || score < best_score || (score == best_score && copies < best_copies)) {
        best = chunk;
        best_score = score;
        best_copies = copies;
      }
    }
    return best;
  }

  // The slower route into the same target whose chunk this route could bring strictly earlier, or kNone: of those the
  // one that arrives last.
  std::int32_t Overtakable(std::int32_t route, Time now) const {
    const std::int32_t source = network_.route_source[route];
    const std::int32_t target = network_.route_target[route];
    const Time arrival = now + Slot(route);
    std::int32_t best = kNone;
    Time latest = arrival;
    for (std::int32_t i = all_in_.Begin(target); i < all_in_.End(target); i++) {
      const std::int32_t other = all_in_.items[At(i)];
      const std::int32_t chunk = carried_[At(other)];
      if (chunk == kNone || ranks_.rank[At(other)] <= ranks_.rank[At(route)]) continue;
      if (overtaken_[At(other)] != 0 || duplicate_[At(other)] != 0) continue;
      const Time end = start_[At(other)] + Slot(other);
      if (end > latest && Holds(source, chunk)) {
        latest = end;
        best = other;
      }
    }
    return best;
  }

  [[nodiscard]] Time Slot(std::int32_t route) const { return ranks_.slot[At(ranks_.rank[At(route)])]; }

  // --- departures ---------------------------------------------------------------------------------------------------
  void Claim(std::int32_t target, std::int32_t chunk) {
    SetBit(Hi(target), chunk);
    for (std::int32_t level = 1; level < levels_; level++) SetBit(Novel(level, target), chunk);
    missing_[At(target)]--;
    copies_[At(chunk)]++;
  }

  void Depart(std::int32_t route, std::int32_t chunk, Time now) {
    carried_[At(route)] = chunk;
    start_[At(route)] = now;
    departure_length_[At(route)] = log_length_[At(network_.route_source[route])];
    if (Switched(route)) resources_.Take(route);
    if (ranks_.rank[At(route)] > 0) slow_under_way_++;
    const Arrival arrival{now + Slot(route), route, generation_[At(route)]};
    if (!queue_.Push(ranks_.rank[At(route)], arrival)) failed_ = true;
  }

  void DepartOvertaking(std::int32_t route, std::int32_t slower, Time now) {
    overtaken_[At(slower)] = 1;
    duplicate_[At(route)] = 1;
    Depart(route, carried_[At(slower)], now);
  }

  bool TryDepart(std::int32_t route, Time now) {
    for (std::int32_t level = level_of_rank_[At(ranks_.rank[At(route)])]; level >= 0; level--) {
      const std::int32_t chunk = Choose(route, level);
      if (chunk == kNone) continue;
      Claim(network_.route_target[route], chunk);
      Depart(route, chunk, now);
      return true;
    }
    return false;
  }

  void ServeNode(std::int32_t target, Time now) {
    const bool may_overtake = policy_.overtaking != 0 && slow_under_way_ > 0;
    if (missing_[At(target)] == 0 && !may_overtake) return;
    std::int32_t count = 0;
    for (std::int32_t i = direct_in_.Begin(target); i < direct_in_.End(target); i++) {
      const std::int32_t route = direct_in_.items[At(i)];
      if (carried_[At(route)] == kNone) idle_[At(count++)] = route;
    }
    std::int32_t run = 0;
    while (run < count) {
      const std::int32_t rank = ranks_.rank[At(idle_[At(run)])];
      std::int32_t end = run + 1;
      while (end < count && ranks_.rank[At(idle_[At(end)])] == rank) end++;
      if (end - run > 1) Shuffle(idle_.data() + run, end - run, policy_.seed, serves_++);
      run = end;
    }
    for (std::int32_t i = 0; i < count; i++) {
      const std::int32_t route = idle_[At(i)];
      if (missing_[At(target)] > 0 && TryDepart(route, now)) continue;
      if (policy_.overtaking == 0 || slow_under_way_ == 0) continue;
      const std::int32_t slower = Overtakable(route, now);
      if (slower != kNone) DepartOvertaking(route, slower, now);
    }
  }

  // --- switches -----------------------------------------------------------------------------------------------------
  // Whether the route could depart now at this level; level kNone stands for overtaking.
  bool Eligible(std::int32_t route, std::int32_t level, Time now) {
    if (carried_[At(route)] != kNone || !resources_.Free(route)) return false;
    if (level == kNone) return Overtakable(route, now) != kNone;
    if (missing_[At(network_.route_target[route])] == 0) return false;
    return level <= level_of_rank_[At(ranks_.rank[At(route)])] && FirstCandidate(route, level) != kNone;
  }

  [[nodiscard]] std::int32_t RotationStart(std::int32_t port_position, std::int32_t route_count,
                                           std::uint32_t tick) const {
    const std::int32_t shift = static_cast<std::int32_t>(tick % static_cast<std::uint32_t>(route_count));
    const std::int32_t start = (port_position - 1 - shift) % route_count;
    return start < 0 ? start + route_count : start;
  }

  // Kuhn's augmenting step for one receiving port.
  bool Augment(std::int32_t port, std::int32_t level, Time now) {
    const std::int32_t begin = port_routes_.Begin(port);
    const std::int32_t count = port_routes_.End(port) - begin;
    for (std::int32_t k = 0; k < count; k++) {
      const std::int32_t route = port_routes_.items[At(begin + (rotation_[At(port)] + k) % count)];
      const std::int32_t sender = SendPort(route);
      if (visited_[At(sender)] == stamp_ || !Eligible(route, level, now)) continue;
      visited_[At(sender)] = stamp_;
      const std::int32_t rival = matched_[At(sender)];
      if (rival == kNone || Augment(ReceivePort(rival), level, now)) {
        matched_[At(sender)] = route;
        chosen_[At(port)] = route;
        return true;
      }
    }
    return false;
  }

  // One round of matching at one level; returns whether anything departed.
  bool MatchPorts(std::int32_t group, std::int32_t level, Time now) {
    const std::int32_t begin = group_ports_.Begin(group);
    const std::int32_t end = group_ports_.End(group);
    std::int32_t open = 0;
    for (std::int32_t i = begin; i < end; i++) {
      const std::int32_t port = group_ports_.items[At(i)];
      chosen_[At(port)] = kNone;
      const std::int32_t routes_begin = port_routes_.Begin(port);
      const std::int32_t count = port_routes_.End(port) - routes_begin;
      rotation_[At(port)] = RotationStart(i - begin, count, tick_[At(group)]);
      for (std::int32_t k = 0; k < count; k++) {
        matched_[At(SendPort(port_routes_.items[At(routes_begin + k)]))] = kNone;
      }
    }
    for (std::int32_t i = begin; i < end; i++) {
      const std::int32_t port = group_ports_.items[At(i)];
      if (resources_.Left(port) <= 0) continue;
      const std::int32_t route = port_routes_.items[At(port_routes_.Begin(port) + rotation_[At(port)])];
      if (matched_[At(SendPort(route))] == kNone && Eligible(route, level, now)) {
        matched_[At(SendPort(route))] = route;
        chosen_[At(port)] = route;
      } else {
        ports_[At(open++)] = port;
      }
    }
    Shuffle(ports_.data(), open, policy_.seed, serves_++);
    for (std::int32_t i = 0; i < open; i++) {
      stamp_++;
      static_cast<void>(Augment(ports_[At(i)], level, now));
    }
    bool departed = false;
    for (std::int32_t i = begin; i < end; i++) {
      const std::int32_t route = chosen_[At(group_ports_.items[At(i)])];
      if (route == kNone || !Eligible(route, level, now)) continue;
      if (level == kNone) {
        DepartOvertaking(route, Overtakable(route, now), now);
      } else {
        const std::int32_t chunk = Choose(route, level);
        Claim(network_.route_target[route], chunk);
        Depart(route, chunk, now);
      }
      departed = true;
    }
    return departed;
  }

  void ServeGroup(std::int32_t group, Time now) {
    bool any = false;
    for (std::int32_t level = level_of_rank_[At(group_rank_[At(group)])]; level >= 0; level--) {
      while (MatchPorts(group, level, now)) any = true;
    }
    if (policy_.overtaking != 0 && slow_under_way_ > 0) {
      while (MatchPorts(group, kNone, now)) any = true;
    }
    if (any) tick_[At(group)]++;
  }

  // --- arrivals -----------------------------------------------------------------------------------------------------
  void Free(std::int32_t route) {
    carried_[At(route)] = kNone;
    duplicate_[At(route)] = 0;
    overtaken_[At(route)] = 0;
    generation_[At(route)]++;
    if (ranks_.rank[At(route)] > 0) slow_under_way_--;
    if (Switched(route)) resources_.Release(route);
    TouchAfterFree(route);
  }

  void Arrive(Arrival arrival) {
    const std::int32_t route = arrival.route;
    if (generation_[At(route)] != arrival.generation) return;  // dropped by Outdate
    const std::int32_t target = network_.route_target[route];
    const std::int32_t chunk = carried_[At(route)];
    const bool overtook = duplicate_[At(route)] != 0;
    const auto row = static_cast<std::size_t>(delivered_++);
    out_->chunk[row] = chunk;
    out_->route[row] = route;
    out_->start_ps[row] = static_cast<double>(start_[At(route)]);
    Free(route);
    AppendToLog(target, chunk);
    for (std::int32_t i = direct_out_.Begin(target); i < direct_out_.End(target); i++) {
      const std::int32_t next = direct_out_.items[At(i)];
      const std::int32_t reader = network_.route_target[next];
      if (carried_[At(next)] == kNone && (missing_[At(reader)] > 0 || slow_under_way_ > 0)) TouchNode(reader);
    }
    for (std::int32_t i = node_groups_.Begin(target); i < node_groups_.End(target); i++) {
      TouchGroup(node_groups_.items[At(i)]);
    }
    if (overtook) Outdate(target, chunk);
  }

  // The overtaken transfer of this chunk takes another chunk that its source held when it departed, or is dropped.
  void Outdate(std::int32_t target, std::int32_t chunk) {
    for (std::int32_t i = all_in_.Begin(target); i < all_in_.End(target); i++) {
      const std::int32_t route = all_in_.items[At(i)];
      if (carried_[At(route)] != chunk) continue;
      const std::int32_t found = FirstCandidate(route, 0);
      if (found == kNone || found >= departure_length_[At(route)]) {
        Free(route);
        continue;
      }
      const std::int32_t other = log_[log_begin_[At(network_.route_source[route])] + At(found)];
      Claim(target, other);
      carried_[At(route)] = other;
      overtaken_[At(route)] = 0;
    }
  }

  BanyanStatus ReportUnreachable() {
    for (std::int32_t v = 0; v < npus_; v++) {
      if (missing_[At(v)] == 0) continue;
      const std::uint32_t* hi = Hi(v);
      std::int32_t chunk = 0;
      while (chunk < chunks_ && Bit(hi, chunk)) chunk++;
      out_->detail[0] = v;
      out_->detail[1] = chunk;
      break;
    }
    return kBanyanUnreachable;
  }

  const BanyanNetwork& network_;
  const BanyanMatchPolicy policy_;
  const std::int32_t npus_;
  const std::int32_t routes_;
  const std::int32_t chunks_;
  const std::size_t words_;  // 32-bit words per row of chunks
  BanyanTransfers* out_;

  SlotRanks ranks_;
  Lists direct_in_;   // routes without resources into each NPU, fastest first
  Lists direct_out_;  // routes without resources out of each NPU
  Lists all_in_;      // all routes into each NPU
  Lists neighbours_;  // NPUs one direct route away

  Buffer<std::uint32_t> hi_;              // [npus][words] I1
  Buffer<std::uint32_t> holds_;           // [npus][words] arrived; only with overtaking
  Buffer<std::uint32_t> novel_;           // [component rows][words] held by or under way to the component
  Buffer<std::int32_t> component_;        // [levels][npus] row of novel_
  Buffer<std::int32_t> level_of_rank_;    // [ranks] highest novelty level of a rank
  std::int32_t levels_ = 1;
  Buffer<Entry> log_;                     // chunks in order of arrival, NPU by NPU
  Buffer<std::size_t> log_begin_;         // [npus + 1]
  Buffer<std::int32_t> log_length_;       // [npus]
  Buffer<std::int32_t> pointer_;          // [routes][levels] I2
  Buffer<std::int32_t> missing_;          // [npus] wanted, not held, not under way
  Buffer<std::int32_t> copies_;           // [chunks] NPUs that hold it or are being sent it

  Buffer<std::int32_t> carried_;          // [routes] chunk under way, or kNone
  Buffer<Time> start_;                    // [routes]
  Buffer<std::int32_t> departure_length_; // [routes] length of the source's log at departure
  Buffer<std::uint32_t> generation_;      // [routes] counts the transfers that have ended or were dropped
  Buffer<std::uint8_t> duplicate_;        // [routes] this transfer overtakes another
  Buffer<std::uint8_t> overtaken_;        // [routes] this transfer is being overtaken
  std::int64_t slow_under_way_ = 0;       // transfers under way on routes that are not of the fastest rank
  ArrivalQueue queue_;
  Resources resources_;

  std::int32_t groups_ = 0;
  Buffer<std::int32_t> group_of_resource_;  // [resources]
  Buffer<std::uint8_t> receives_;           // [resources] it is the last resource of some route
  Lists port_routes_;                       // routes into each receiving port
  Lists group_ports_;                       // receiving ports of each group
  Lists node_groups_;                       // groups that each NPU sends into
  Buffer<std::uint32_t> tick_;              // [groups] instants at which something departed
  Buffer<std::int32_t> group_rank_;         // [groups] slowest rank of the group's routes
  Buffer<std::int32_t> matched_;            // [resources] route matched to a sending port
  Buffer<std::int32_t> chosen_;             // [resources] route matched to a receiving port
  Buffer<std::int32_t> rotation_;           // [resources] where a receiving port's list starts
  Buffer<std::uint32_t> visited_;           // [resources] stamp of the last augmenting step
  Buffer<std::int32_t> ports_;              // [resources] receiving ports still open
  std::uint32_t stamp_ = 0;

  Buffer<std::int32_t> idle_;  // [routes] scratch
  Buffer<std::uint8_t> node_touched_;
  Buffer<std::int32_t> touched_nodes_;
  std::int32_t touched_node_count_ = 0;
  Buffer<std::uint8_t> group_touched_;
  Buffer<std::int32_t> touched_groups_;
  std::int32_t touched_group_count_ = 0;
  std::uint32_t serves_ = 0;
  std::int64_t expected_ = 0;
  std::int64_t delivered_ = 0;
  bool failed_ = false;
};

}  // namespace

BanyanStatus Match(const MatchProblem& problem, BanyanCancelled cancelled, const void* context, BanyanTransfers* out) {
  if (problem.chunk_count <= 65536) {
    Matcher<std::uint16_t> matcher(problem, out);
    return matcher.Run(problem, cancelled, context);
  }
  Matcher<std::int32_t> matcher(problem, out);
  return matcher.Run(problem, cancelled, context);
}

}  // namespace banyan
