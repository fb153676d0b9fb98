// Calls collectives in all their forms and judges every byte of the results by formulas:
//   mpirun -n 4 matrix quick|all|large [SEED]
// All collectives, types, operations, communicators, in place and not, blocking, nonblocking and persistent. Rank 0 prints a line
// of JSON with the number of checks and failures; failures are described on standard error.
#include "matrix.h"

namespace {

using namespace matrix;

// A case: what is called, on what.
struct Case {
  std::string collective;
  const Group* group;
  const Type* type;
  int op = 0;  // of kOps
  int n = 1;   // elements per block
  Form form = Form::blocking;
  bool inPlace = false, mixed = false;
  int root = 0;

  std::string text() const {
    const char* const forms[] = {"blocking", "nonblocking", "persistent"};
    return collective + " on " + group->name + " of " + std::to_string(group->size) + ", " + type->name + " x " +
           std::to_string(n) + ", " + kOps[op] + ", " + forms[static_cast<int>(form)] + (inPlace ? ", in place" : "") +
           (mixed ? ", mixed" : "") + ", root " + std::to_string(root);
  }
};

// Elements of block `k` of a call with unequal counts: some are 0.
int unequalCount(const Case& c, int k) { return c.n == 0 ? 0 : (c.n * (k + 1) + k * k) % (2 * c.n + 1); }
int unequalCount(const Case& c, int from, int to) { return c.n == 0 ? 0 : (c.n * (from + 2 * to) + to * to) % (2 * c.n + 1); }

// Displacements that leave a gap after every block, and put blocks the other way round.
std::vector<int> spreadOut(const std::vector<int>& counts, int* total) {
  std::vector<int> displs(counts.size());
  *total = 0;
  for (size_t k = counts.size(); k-- > 0;) {
    displs[k] = *total;
    *total += counts[k] + 1;
  }
  return displs;
}

// On every other rank of a mixed call, the plain type in the place of the derived one.
const Type& typeOn(const Case& c, int rank) { return c.mixed && rank % 2 == 1 ? *c.type->base : *c.type; }

void testGathering(const Case& c) {  // allgather(v), gather
  const bool rooted = c.collective == "gather", v = c.collective == "allgatherv";
  const int me = c.group->rank, size = c.group->size;
  const Type &in = typeOn(c, me), &out = typeOn(c, me + 1);
  const int each = in.parts() == out.parts() ? 1 : 0;
  const auto inScale = [&](int n) { return each ? n : n * c.type->parts() / in.parts(); };
  const auto outScale = [&](int n) { return each ? n : n * c.type->parts() / out.parts(); };
  std::vector<int> counts, displs;
  for (int k = 0; k < size; k++) counts.push_back(outScale(v ? unequalCount(c, k) : c.n));
  int total = 0;
  displs = v ? spreadOut(counts, &total) : std::vector<int>();
  if (!v)
    for (int k = 0; k < size; k++) displs.push_back(k * counts[0]), total += counts[0];
  const bool has = !rooted || me == c.root, inPlace = c.inPlace && has;
  const int mine = inScale(v ? unequalCount(c, me) : c.n);
  Buffer input(in, mine), output(out, has ? total : 0);
  const auto fill = [&](int turn) {
    input.put(0, mine, [&](int k) { return valueOf(me, k, turn, 0); });
    output.clear();
    if (inPlace) output.put(displs[me], counts[me], [&](int k) { return valueOf(me, k, turn, 0); });
  };
  const auto judge = [&](int turn) {
    for (int r = 0; has && r < size; r++) output.expect(displs[r], counts[r], [&](int k) { return valueOf(r, k, turn, 0); });
    judged(output, c.text());
  };
  const void* from = inPlace ? MPI_IN_PLACE : input.data();
  void* to = output.data();
  const MPI_Comm comm = c.group->comm;
  const MPI_Datatype a = in.type, b = out.type;
  if (v) {
    run(c.form, fill, judge, FORMS(Allgatherv, allgatherv, from, mine, a, to, counts.data(), displs.data(), b, comm));
  } else if (rooted) {
    run(c.form, fill, judge, FORMS(Gather, gather, from, mine, a, to, counts[0], b, c.root, comm));
  } else {
    run(c.form, fill, judge, FORMS(Allgather, allgather, from, mine, a, to, counts[0], b, comm));
  }
}

void testScatter(const Case& c) {
  const int me = c.group->rank, size = c.group->size;
  const Type &in = typeOn(c, me), &out = typeOn(c, me + 1);
  const int inN = c.n * c.type->parts() / in.parts(), outN = c.n * c.type->parts() / out.parts();
  const bool isRoot = me == c.root, inPlace = c.inPlace && isRoot;
  Buffer input(in, isRoot ? inN * size : 0), output(out, inPlace ? 0 : outN);
  const auto fill = [&](int turn) {
    for (int r = 0; isRoot && r < size; r++) input.put(r * inN, inN, [&](int k) { return valueOf(r, k, turn, 0); });
    output.clear();
  };
  const auto judge = [&](int turn) {
    if (!inPlace) output.expect(0, outN, [&](int k) { return valueOf(me, k, turn, 0); });
    judged(output, c.text());
  };
  const void* from = input.data();
  void* to = inPlace ? MPI_IN_PLACE : output.data();
  run(c.form, fill, judge, FORMS(Scatter, scatter, from, inN, in.type, to, outN, out.type, c.root, c.group->comm));
}

void testBroadcast(const Case& c) {
  const int me = c.group->rank;
  const Type& type = typeOn(c, me);
  const int n = c.n * c.type->parts() / type.parts();
  Buffer output(type, n);
  const auto fill = [&](int turn) {
    output.clear();
    if (me == c.root) output.put(0, n, [&](int k) { return valueOf(0, k, turn, 0); });
  };
  const auto judge = [&](int turn) {
    output.expect(0, n, [&](int k) { return valueOf(0, k, turn, 0); });
    judged(output, c.text());
  };
  void* to = output.data();
  run(c.form, fill, judge, FORMS(Bcast, bcast, to, n, type.type, c.root, c.group->comm));
}

void testAlltoall(const Case& c) {
  const bool v = c.collective == "alltoallv";
  const int me = c.group->rank, size = c.group->size;
  const Type &out = typeOn(c, me + 1), &in = c.inPlace ? out : typeOn(c, me);
  const auto countOf = [&](int from, int to) {  // in place counts are the same both ways
    return !v ? c.n : c.inPlace ? unequalCount(c, std::min(from, to), std::max(from, to)) : unequalCount(c, from, to);
  };
  std::vector<int> inCounts, outCounts, inDispls, outDispls;
  for (int r = 0; r < size; r++) {
    inCounts.push_back(countOf(me, r) * c.type->parts() / in.parts());
    outCounts.push_back(countOf(r, me) * c.type->parts() / out.parts());
  }
  int inTotal = 0, outTotal = 0;
  if (v) {
    inDispls = spreadOut(inCounts, &inTotal);
    outDispls = spreadOut(outCounts, &outTotal);
  } else {
    for (int r = 0; r < size; r++) {
      inDispls.push_back(r * inCounts[0]), inTotal += inCounts[0];
      outDispls.push_back(r * outCounts[0]), outTotal += outCounts[0];
    }
  }
  Buffer input(in, inTotal), output(out, outTotal);
  const auto fill = [&](int turn) {
    output.clear();
    Buffer& given = c.inPlace ? output : input;
    const std::vector<int>& displs = c.inPlace ? outDispls : inDispls;
    for (int r = 0; r < size; r++) given.put(displs[r], inCounts[r], [&](int k) { return valueOf(me * 31 + r, k, turn, 0); });
  };
  const auto judge = [&](int turn) {
    for (int r = 0; r < size; r++)
      output.expect(outDispls[r], outCounts[r], [&](int k) { return valueOf(r * 31 + me, k, turn, 0); });
    judged(output, c.text());
  };
  const void* from = c.inPlace ? MPI_IN_PLACE : input.data();
  void* to = output.data();
  const MPI_Comm comm = c.group->comm;
  if (v) {
    run(c.form, fill, judge,
        FORMS(Alltoallv, alltoallv, from, inCounts.data(), inDispls.data(), in.type, to, outCounts.data(), outDispls.data(),
              out.type, comm));
  } else {
    run(c.form, fill, judge, FORMS(Alltoall, alltoall, from, inCounts[0], in.type, to, outCounts[0], out.type, comm));
  }
}

void testReducing(const Case& c) {  // allreduce, reduce, reduce_scatter, reduce_scatter_block
  const int me = c.group->rank, size = c.group->size;
  const bool rooted = c.collective == "reduce", all = c.collective == "allreduce", block = c.collective == "reducescatterblock";
  std::vector<int> counts;
  int total = 0, before = 0;
  for (int r = 0; r < size; r++) {
    counts.push_back(block ? c.n : unequalCount(c, r));
    if (r < me) before += counts[r];
    total += counts[r];
  }
  if (all || rooted) total = c.n, before = 0, counts[me] = c.n;
  const bool has = !rooted || me == c.root, inPlace = c.inPlace && has;
  Buffer input(*c.type, total), output(*c.type, inPlace ? total : has ? counts[me] : 0);
  const auto fill = [&](int turn) {
    const auto value = [&](int k) { return valueOf(me, k, turn, c.op); };
    input.put(0, total, value);
    output.clear();
    if (inPlace) output.put(0, total, value);
  };
  const auto judge = [&](int turn) {
    if (has) output.expect(0, counts[me], [&](int k) { return reduced(size, before + k, turn, c.op, *c.type); });
    if (inPlace) output.ignore(counts[me], total - counts[me]);
    judged(output, c.text());
  };
  const void* from = inPlace ? MPI_IN_PLACE : input.data();
  void* to = output.data();
  const MPI_Comm comm = c.group->comm;
  const MPI_Datatype type = c.type->type;
  const MPI_Op op = opOf(c.op);
  if (all) {
    run(c.form, fill, judge, FORMS(Allreduce, allreduce, from, to, c.n, type, op, comm));
  } else if (rooted) {
    run(c.form, fill, judge, FORMS(Reduce, reduce, from, to, c.n, type, op, c.root, comm));
  } else if (block) {
    run(c.form, fill, judge, FORMS(Reduce_scatter_block, reduce_scatter_block, from, to, c.n, type, op, comm));
  } else {
    run(c.form, fill, judge, FORMS(Reduce_scatter, reduce_scatter, from, to, counts.data(), type, op, comm));
  }
}

// Do the libraries themselves get this wrong? Open MPI 4.1.4 waits for ever in a nonblocking MPI_Alltoallv in place, persistent
// calls of MPICH 4.0.2 give the result of their first start again and again or end in an internal error, and its MPI_Reduce in
// place reads at the address of MPI_IN_PLACE when long.
bool libraryErrs(const Case& c) {
  const char* plans = std::getenv("BANYAN_PLANS");
  const bool usesPlan = plans != nullptr && *plans != '\0' && c.collective != "alltoallv" && c.group->size > 1 && c.n > 0;
#ifdef MPICH_VERSION
  if (c.form == Form::persistent || (c.collective == "reduce" && c.inPlace)) return !usesPlan;
#endif
  return c.collective == "alltoallv" && c.inPlace && c.form != Form::blocking && !usesPlan;
}

void test(const Case& c) {
  if (std::getenv("MATRIX_TRACE") != nullptr) std::fprintf(stderr, "%s\n", c.text().c_str());
  const std::string& name = c.collective;
  if (name == "allgather" || name == "allgatherv" || name == "gather") return testGathering(c);
  if (name == "scatter") return testScatter(c);
  if (name == "broadcast") return testBroadcast(c);
  if (name == "alltoall" || name == "alltoallv") return testAlltoall(c);
  testReducing(c);
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0, rank = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const std::string level = argc > 1 ? argv[1] : "quick";
  uint64_t state = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  // Which cases are tried is drawn, the same on all ranks: quick one in 200, all one in 8, large every one and larger ones.
  const uint64_t every = level == "large" ? 1 : level == "all" ? 8 : 200;
  const auto drawn = [&] {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return state >> 33;
  };
  {
    const std::vector<Type> types = makeTypes();
    std::vector<Group> groups = makeGroups();
    std::vector<int> sizes = {0, 1, 2, 3, 7, 16, 63, 65, 255, 1000, 4099, 30011};
    if (level == "large") sizes.push_back(300007);
    for (const char* collective : {"allgather", "allgatherv", "gather", "scatter", "broadcast", "alltoall", "alltoallv",
                                   "allreduce", "reduce", "reducescatter", "reducescatterblock"})
      for (const Group& group : groups)
        for (const Type& type : types)
          for (const int n : sizes) {
            const bool sums = std::string(collective).find("reduce") != std::string::npos;
            for (int op = 0; op < (sums ? kOpCount : 1); op++)
              for (int k = 0; k < 12; k++) {
                const uint64_t draw = drawn();
                const bool rare = draw % every != 0 || (n > 5000 && draw / every % 8 != 0);
                if (rare || (sums && !type.reducible(op)) || (n > 200 && sums && op == 1)) continue;
                if (group.comm == MPI_COMM_NULL) continue;
                Case c;
                c.collective = collective;
                c.group = &group;
                c.type = &type;
                c.op = op;
                c.n = n;
                c.form = k < 6 ? Form::blocking : k < 9 ? Form::nonblocking : Form::persistent;
                c.inPlace = k % 2 == 1;
                c.mixed = k % 3 == 2 && !sums && type.base != nullptr;
                c.root = static_cast<int>(draw >> 20) % group.size;
                if (libraryErrs(c)) c.form = Form::blocking;
                if (libraryErrs(c)) c.inPlace = false;
                test(c);
              }
          }
    specialCases();
    for (Group& group : groups)
      if (group.comm != MPI_COMM_NULL && group.owned) MPI_Comm_free(&group.comm);
    freeTypes(types);
  }
  long long mine[2] = {checks(), failures()}, sum[2] = {0, 0};
  PMPI_Reduce(mine, sum, 2, MPI_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) std::printf("{\"checks\":%lld,\"failures\":%lld}\n", sum[0], sum[1]);
  MPI_Finalize();
  return mine[1] == 0 ? 0 : 1;
}
