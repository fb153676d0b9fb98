import { jsonText } from "../../base/visible.ts";
import type { CollectiveKind } from "../../model/collective/collective.ts";
import type { PredictedRow } from "./nccl-tests.ts";
import { type Naming, namingFor, type TunerFile, type TunerOptions, tunedRanges } from "./tuner-ranges.ts";

/** Files of rules for coll/tuned of Open MPI (coll_tuned_dynamic_rules_filename). */

/** Its algorithms that do what ours of that name do; an all-gather also has some that only Open MPI 6 has. */
const NAMINGS: Readonly<Partial<Record<CollectiveKind, Naming>>> = {
  allreduce: { ring: "ring", rhd: "rabenseifner" },
  allgather: { ring: "ring", rhd: "recursive_doubling", bruck: "bruck" },
  reducescatter: { ring: "ring", rhd: "recursive_halving" },
  alltoall: { direct: "linear", bruck: "modified_bruck" },
};
const NAMINGS_OF_6: typeof NAMINGS = {
  ...NAMINGS,
  allgather: {
    ...NAMINGS.allgather,
    bruck: "bruck-k-fanout",
    pat: "sparbit",
    direct: "direct-messaging",
  },
};

/** Numbers of its collectives, and of their algorithms. Source: coll_base_functions.h, coll_tuned_*_decision.c of Open MPI 4.1.4. */
const IDS: Readonly<
  Partial<Record<CollectiveKind, { readonly id: number; readonly of: Readonly<Record<string, number>> }>>
> = {
  allgather: { id: 0, of: { bruck: 2, recursive_doubling: 3, ring: 4 } },
  allreduce: { id: 2, of: { ring: 4, rabenseifner: 6 } },
  alltoall: { id: 3, of: { linear: 1, modified_bruck: 3 } },
  reducescatter: { id: 12, of: { recursive_halving: 2, ring: 3 } },
};

/** Bruck's radix where it takes any: ours is 2. */
const FANOUT = 2;
const isBruck = (algorithm: string): boolean => algorithm.startsWith("bruck");

/**
 * Returns which of Open MPI's algorithms to use for which sizes, among as many ranks alone, as the file of rules that versions 4 and
 * 5 read; elsewhere, and for sizes without one, they choose themselves (algorithm 0). The first of all sizes must be 0. Throws
 * InputError for collectives of which Open MPI has none of ours, and where no size is left.
 */
export function openMpiRules(rows: readonly PredictedRow[], { collective, ranks }: TunerOptions): TunerFile {
  const naming = namingFor("tuner-openmpi", collective, NAMINGS);
  const { ranges, ...rest } = tunedRanges(rows, [naming]);
  const { id, of } = IDS[collective] as NonNullable<(typeof IDS)[typeof collective]>;
  const rules: string[] = [];
  let next = 0;
  for (const { algorithm, from, to } of ranges) {
    if (from > next) rules.push(`${next} 0 0 0`);
    rules.push(`${from} ${of[algorithm]} ${isBruck(algorithm) ? FANOUT : 0} 0 # ${algorithm}`);
    next = to + 1;
  }
  if (next !== Number.POSITIVE_INFINITY) rules.push(`${next} 0 0 0`);
  const lines = [
    "1 # collectives",
    `${id} # ${collective}`,
    "3 # sizes of communicators, each from there on",
    ...["0 # ranks", "1 # rule", "0 0 0 0"],
    `${ranks} # ranks`,
    `${rules.length} # rules: bytes from there on, algorithm (0: its own choice), fan-out, segment`,
    ...rules,
    ...[`${ranks + 1} # ranks`, "1 # rule", "0 0 0 0"],
  ];
  return { text: `${lines.join("\n")}\n`, ...rest };
}

/** What it calls a collective in JSON, where that is another name than ours. */
const NAMES: Readonly<Partial<Record<CollectiveKind, string>>> = { reducescatter: "reduce_scatter" };

/**
 * Returns the same in the JSON that Open MPI reads from version 6 on, in which algorithms have names and sizes without a rule need none.
 * Source: coll_tuned_dynamic_file.c, docs/tuning-apps/collectives/tuned.rst. Throws InputError as openMpiRules.
 */
export function openMpiJson(rows: readonly PredictedRow[], { collective, ranks }: TunerOptions): TunerFile {
  const naming = namingFor("tuner-openmpi-json", collective, NAMINGS_OF_6);
  const { ranges, ...rest } = tunedRanges(rows, [naming]);
  const rules = ranges.map(({ algorithm, from, to }) => ({
    msg_size_min: from,
    msg_size_max: to === Number.POSITIVE_INFINITY ? "inf" : to,
    alg: algorithm,
    ...(isBruck(algorithm) ? { faninout: FANOUT } : {}),
  }));
  const ofComm = { comm_size_min: ranks, comm_size_max: ranks, comm_rank_distribution: "any", rules };
  const file = {
    rule_file_version: 3,
    module: "tuned",
    collectives: { [NAMES[collective] ?? collective]: [ofComm] },
  };
  return { text: `${jsonText(file, 2)}\n`, ...rest };
}
