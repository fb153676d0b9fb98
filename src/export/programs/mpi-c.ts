import { InputError, inWords } from "../../base/errors.ts";
import { isOneBlock } from "../../model/program/mpi-places.ts";
import { type MpiOp, SUMMING } from "../../model/program/mpi-plan.ts";
import type { Program } from "../../model/program/program.ts";
import { type MpiPlanOptions, mpiPlanParts } from "./mpi-plan.ts";

/** Operations whose results the program can foretell. */
const FORETOLD: Readonly<Partial<Record<MpiOp, string>>> = { sum: "MPI_SUM", max: "MPI_MAX", min: "MPI_MIN" };

/** Files of the engine, without which the program is not whole, in the order in which they build on each other. */
export const ENGINE_FILES = ["plan.h", "judge.h", "engine.h"] as const;

/**
 * Yields the parts of a C99 program that carries out a plan for MPI by itself: the plan as data, the engine's text, a function, and a
 * main that fills, runs, times and checks. `engine`: the texts of ENGINE_FILES. Throws InputError as mpiPlanParts does, and for plans
 * of operations that main cannot check. O(instructions).
 */
export function* mpiCParts(
  program: Program,
  engine: readonly string[],
  options: MpiPlanOptions = {},
): Generator<string> {
  const { collective, rankCount, rootRank, mpi } = program;
  const ops = mpi?.ops ?? ["sum"];
  const op = ops.map((one) => FORETOLD[one]).find((name) => name !== undefined);
  if (op === undefined)
    throw new InputError(
      "a plan as a C program",
      `one for ${Object.keys(FORETOLD).join(", ")}`,
      inWords(ops.join(", ")),
    );
  yield `${headOf(program)}\n`;
  for (const text of engine)
    yield `${text.replace(/^#include "[^"]*"\n/gm, "").replace(/^#ifndef BANYAN_PLAN_H\n#endif\n/gm, "")}\n`;
  yield "/* ---- the plan ---- */\n\nstatic const char* const banyan_lines[] = {\n";
  for (const part of mpiPlanParts(program, options))
    for (const line of part.split("\n")) if (line !== "") yield `    ${cString(line)},\n`;
  yield "};\n";
  const sums = SUMMING.has(collective);
  yield functionOf(collective, sums);
  yield mainOf({ collective, sums, ranks: rankCount, root: rootRank, op, isWhole: isOneBlock(collective) });
}

const cString = (line: string): string => `"${line.replace(/[\\"]/g, "\\$&").replace(/\?/g, "\\?")}"`;

const headOf = ({ collective, rankCount, name }: Program): string => `/*
 * ${collective} among ${rankCount} processes over MPI, "${name.replace(/[^\x20-\x7e]|\*\/|\/\*/g, "?")}", written by Banyan. C99:
 *
 *   mpicc ${collective}.c -o ${collective} && mpirun -n ${rankCount} ./${collective} [bytes] [repeats]
 *
 * main fills buffers, runs, checks what came out by a formula and prints the time; sizes are those of nccl-tests. To call
 * banyan_${collective} from a program of your own, compile this file with -DBANYAN_NO_MAIN.
 */
#define _POSIX_C_SOURCE 200809L
`;

/** Returns the function that runs the plan. */
function functionOf(collective: Program["collective"], sums: boolean): string {
  const amount = sums ? "size_t count, MPI_Datatype type, MPI_Op op" : "size_t bytes";
  const what = isOneBlock(collective)
    ? "the whole buffer"
    : collective === "alltoall"
      ? "what one process sends to one other"
      : "the part of one process";
  return `
/* ---- the call ---- */

/* The plan as a process runs it, read at the first call. */
static banyan_plan* banyan_own;
static banyan_call* banyan_own_call;

static int banyan_open(int rank) {
  size_t length = 0, at = 0, k, lines = sizeof banyan_lines / sizeof *banyan_lines;
  char error[256] = "";
  char* text;
  int code;
  if (banyan_own_call != NULL && banyan_own->rank == rank) return MPI_SUCCESS;
  if (banyan_own_call != NULL) banyan_call_free(banyan_own_call);
  if (banyan_own != NULL) banyan_plan_free(banyan_own);
  banyan_own_call = NULL;
  banyan_own = NULL;
  for (k = 0; k < lines; k++) length += strlen(banyan_lines[k]) + 1;
  text = (char*)malloc(length);
  if (text == NULL) return MPI_ERR_NO_MEM;
  for (k = 0; k < lines; k++) {
    size_t many = strlen(banyan_lines[k]);
    memcpy(text + at, banyan_lines[k], many);
    text[at + many] = '\\n';
    at += many + 1;
  }
  code = banyan_plan_read(text, length, rank, &banyan_own, error, sizeof error);
  free(text);
  if (code != BANYAN_READ) {
    fprintf(stderr, "banyan: the plan is damaged: %s\\n", error);
    return MPI_ERR_OTHER;
  }
  banyan_own_call = banyan_call_new(banyan_own);
  return banyan_own_call == NULL ? MPI_ERR_NO_MEM : MPI_SUCCESS;
}

/*
 * Returns an MPI error code. \`${sums ? "count" : "bytes"}\`: ${sums ? "elements" : "bytes"} of ${what}. The communicator has as many processes as the plan
 * has ranks, in that order; messages go on tags from 32000 on. ${inPlaceText(collective)}
 */
int banyan_${collective}(const void* in, void* out, ${amount}, MPI_Comm comm);
int banyan_${collective}(const void* in, void* out, ${amount}, MPI_Comm comm) {
  banyan_arguments arguments;
  int rank, ranks, code;${sums ? "\n  int size;" : ""}
  memset(&arguments, 0, sizeof arguments);
  if ((code = MPI_Comm_rank(comm, &rank)) != MPI_SUCCESS || (code = MPI_Comm_size(comm, &ranks)) != MPI_SUCCESS) return code;
  if ((code = banyan_open(rank)) != MPI_SUCCESS) return code;
  if (ranks != banyan_own->ranks) return MPI_ERR_COMM;
  arguments.comm = comm;
  arguments.tag = 32000;
  arguments.input = in;
  arguments.output = out;
${
  sums
    ? `  if ((code = MPI_Type_size(type, &size)) != MPI_SUCCESS) return code;
  if (size < 1 || 64 % size != 0) return MPI_ERR_TYPE;
  arguments.equalBytes = (int64_t)count * size;
  arguments.type = type;
  arguments.op = op;
  arguments.typeSize = size;`
    : `  arguments.equalBytes = (int64_t)bytes;
  arguments.type = MPI_BYTE;
  arguments.typeSize = 1;`
}
  return banyan_call_run(banyan_own_call, &arguments);
}
`;
}

/** Returns what is said of buffers that share memory. */
function inPlaceText(collective: Program["collective"]): string {
  switch (collective) {
    case "allgather":
      return "In place: `in` is the process's part of `out`.";
    case "gather":
      return "In place: at the root `in` is its part of `out`.";
    case "allreduce":
    case "broadcast":
    case "reduce":
      return "In place: `in` and `out` are the same.";
    default:
      return "`in` and `out` must not overlap.";
  }
}

interface MainFacts {
  readonly collective: Program["collective"];
  readonly sums: boolean;
  readonly ranks: number;
  readonly root: number;
  readonly op: string;
  /** One block for all ranks. */
  readonly isWhole: boolean;
}

/** How many blocks of the call a rank's input and output have, and which block of the collective slot b is: C expressions. */
const SHAPES: Readonly<
  Record<string, { readonly input: string; readonly output: string; readonly from: string; readonly to: string }>
> = {
  allgather: { input: "1", output: "RANKS", from: "rank", to: "b" },
  reducescatter: { input: "RANKS", output: "1", from: "b", to: "rank" },
  allreduce: { input: "1", output: "1", from: "0", to: "0" },
  broadcast: { input: "(rank == ROOT ? 1 : 0)", output: "1", from: "0", to: "0" },
  reduce: { input: "1", output: "(rank == ROOT ? 1 : 0)", from: "0", to: "0" },
  gather: { input: "1", output: "(rank == ROOT ? RANKS : 0)", from: "rank", to: "b" },
  scatter: { input: "(rank == ROOT ? RANKS : 0)", output: "1", from: "b", to: "rank" },
  alltoall: { input: "RANKS", output: "RANKS", from: "(rank * RANKS + b)", to: "(b * RANKS + rank)" },
};

function mainOf({ collective, sums, ranks, root, op, isWhole }: MainFacts): string {
  const shape = SHAPES[collective] as (typeof SHAPES)[string];
  const [type, due] = sums
    ? ["int32_t", { MPI_SUM: "RANKS * (RANKS + 1) / 2 * base", MPI_MAX: "RANKS * base", MPI_MIN: "base" }[op] as string]
    : ["unsigned char", "base"];
  const call = sums ? `length, MPI_INT32_T, ${op}` : "length";
  return `
#ifndef BANYAN_NO_MAIN

enum { RANKS = ${ranks}, ROOT = ${root} };
typedef ${type} banyan_element;

/* What element i of a block has at the start, before a process makes it its own. */
static banyan_element banyan_base(int block, size_t i) { return (banyan_element)((i * 7 + (size_t)block * 131) % 251 + 1); }

int main(int argc, char** argv) {
  long long bytes = argc > 1 ? atoll(argv[1]) : 4194304;
  int repeats = argc > 2 ? atoi(argv[2]) : 5;
  int rank, ranks, b, k, code = MPI_SUCCESS, wrong = 0;
  size_t length, i;
  double best = 1e300;
  banyan_element *in, *out;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks != RANKS || bytes < 0 || repeats < 1) {
    if (rank == 0)
      fprintf(stderr, "usage: mpirun -n %d %s [bytes, 0 or more] [repeats, 1 or more]; there are %d processes\\n", RANKS, argv[0], ranks);
    MPI_Finalize();
    return 2;
  }
  length = (size_t)bytes / sizeof(banyan_element)${isWhole ? "" : " / RANKS"};
  in = (banyan_element*)malloc((length * (size_t)(${shape.input}) + 1) * sizeof *in);
  out = (banyan_element*)malloc((length * (size_t)(${shape.output}) + 1) * sizeof *out);
  if (in == NULL || out == NULL) {
    fprintf(stderr, "no memory for %lld bytes\\n", bytes);
    MPI_Abort(MPI_COMM_WORLD, 1);
    return 1;
  }
  for (b = 0; b < ${shape.input}; b++)
    for (i = 0; i < length; i++)
      in[(size_t)b * length + i] = (banyan_element)(banyan_base(${shape.from}, i)${sums ? " * (rank + 1)" : ""});
  for (k = 0; k <= repeats && code == MPI_SUCCESS; k++) {
    double begin, seconds, slowest;
    memset(out, 0, length * (size_t)(${shape.output}) * sizeof *out);
    MPI_Barrier(MPI_COMM_WORLD);
    begin = MPI_Wtime();
    code = banyan_${collective}(in, out, ${call}, MPI_COMM_WORLD);
    seconds = MPI_Wtime() - begin;
    MPI_Allreduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (k > 0 && slowest < best) best = slowest; /* the first run warms up */
    for (b = 0; b < ${shape.output}; b++)
      for (i = 0; i < length; i++) {
        banyan_element base = banyan_base(${shape.to}, i);
        if (out[(size_t)b * length + i] != (banyan_element)(${due})) wrong = 1;
      }
  }
  if (code != MPI_SUCCESS) wrong = 1;
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (rank == 0)
    printf("${collective} of %lld bytes by %d processes: %.9f s (best of %d), %s\\n", bytes, RANKS, best, repeats, wrong ? "wrong" : "right");
  free(in);
  free(out);
  banyan_call_free(banyan_own_call);
  banyan_plan_free(banyan_own);
  MPI_Finalize();
  return wrong;
}

#endif
`;
}
