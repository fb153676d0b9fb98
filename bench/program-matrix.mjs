// Programs: every synthesizer, collective, number of GPUs and runtime, each file read again, held against the runtime's limits,
// judged by the program verifier and executed on real buffers; sizes of trees' programs; and other people's programs beside ours
// in the simulation of programs. One is missed where a file is wrong, or where ours is slower than another's at 64 MiB or 1 GiB.
import { availableParallelism } from "node:os";
import { loaded } from "./sources.mjs";
import { figure, groupedBy, listed, machine, progress, publish, reportHead, table, trialProcess } from "./support.mjs";

const ABOUT = [
  "A program is written only within its runtime's limits; what cannot be is refused with the limit. Every written file is read",
  "again, verified, and executed in every placement it is for, in two orders of its thread blocks.",
];
const TITLE = "Programs for MSCCL, RCCL and MSCCL++";

/** Returns what became of all programs, in the order of the networks: a process for each processor takes the next network. */
async function matrixOutcomes({ NETWORKS }) {
  const outcomes = new Map();
  const next = NETWORKS.keys();
  const take = async () => {
    const trial = trialProcess("program-matrix-trial.mjs", []);
    for (const i of next) {
      const { found } = await trial.ask({ network: NETWORKS[i] });
      outcomes.set(i, found);
      for (const one of found) if (one.outcome === "wrong") progress(`WRONG: ${placeOf(one)}: ${one.reason}\n`);
      progress(`${found.length} programs on ${NETWORKS[i]}`);
    }
    trial.end();
  };
  await Promise.all(Array.from({ length: availableParallelism() }, take));
  return NETWORKS.flatMap((_, i) => outcomes.get(i));
}

const placeOf = ({ topology, collective, algorithm, runtime, placement }) =>
  `${algorithm} ${collective} on ${topology} for ${runtime}, placement ${placement}`;

function matrix(outcomes) {
  const tallies = new Map();
  const refusals = new Map();
  const wrong = [];
  for (const found of outcomes) {
    const { collective, algorithm, outcome, reason, blocks, steps } = found;
    const key = `${algorithm}\t${collective}`;
    const tally = tallies.get(key) ?? { exported: 0, refused: 0, wrong: 0, blocks: 0, steps: 0 };
    tally[outcome]++;
    tally.blocks = Math.max(tally.blocks, blocks);
    tally.steps = Math.max(tally.steps, steps);
    tallies.set(key, tally);
    const where = placeOf(found);
    if (outcome === "wrong") wrong.push(`${where}: ${reason}`);
    if (outcome === "refused") {
      const plain = reason.replace(/ but received.*/s, "");
      refusals.set(plain, [...(refusals.get(plain) ?? []), where]);
    }
  }
  return { tallies, refusals, wrong, done: outcomes.length };
}

const inGBps = (values) => values.map((value) => (value === null ? "stuck" : figure(value, 3)));
/** A program of others at 64 MiB or 1 GiB that is faster than ours, by more than one part in a hundred. */
const isSlower = ({ theirs, ours }) => [1, 2].some((i) => theirs[i] !== null && ours[i] < theirs[i] * 0.99);

/** Runs the bench; returns how many rows missed. */
export async function run() {
  const module = await loaded("bench/lowering-matrix.ts");
  const { tallies, refusals, wrong, done } = matrix(await matrixOutcomes(module));
  const sizes = await listed(module.treeSizes(), "sizes");
  const others = await listed(module.comparisons(), "programs compared");
  const rows = [...tallies].map(([key, { exported, refused, wrong: bad, blocks, steps }]) => [
    ...key.split("\t"),
    exported,
    refused,
    bad,
    blocks,
    steps,
  ]);
  const written = rows.reduce((sum, row) => sum + row[2], 0);
  const where = machine();
  const slower = others.filter(isSlower);
  const lines = [
    ...reportHead("program-matrix", TITLE, ABOUT, where),
    `${done} programs: ${written} written and right, ${done - written - wrong.length} refused, ${wrong.length} wrong.`,
    "",
    table(
      ["algorithm", "collective", "written", "refused", "WRONG", "most blocks per GPU", "most steps per block"],
      rows,
    ),
    "",
    "Refused:",
    "",
    ...[...refusals].map(([reason, places]) => `* ${places.length} x ${reason} (first: ${places[0]})`),
    ...wrong.map((line) => `* WRONG: ${line}`),
    "",
    "Thread blocks per GPU x steps (MSCCL++: operations) of ForestColl's programs, default copies:",
    "",
    table(
      ["network", "collective", "msccl", "azure", "rccl", "mscclpp"],
      [...groupedBy(sizes, ({ topology, collective }) => `${topology}\t${collective}`)].map(([key, found]) => [
        ...key.split("\t"),
        ...found.map(({ blocks, steps }) => `${blocks} x ${steps}`),
      ]),
    ),
    "",
    "Simulated algbw, GB/s, at 1 MiB, 64 MiB and 1 GiB: programs of others, and ours for Azure's executor, copies chosen for each size:",
    "",
    table(
      ["program", "network", "collective", "1 MiB", "64 MiB", "1 GiB", "ours", "", "", ""],
      others.map((row) => [
        row.name,
        row.topology,
        row.collective,
        ...inGBps(row.theirs),
        ...inGBps(row.ours),
        isSlower(row) ? "SLOWER" : "",
      ]),
    ),
  ];
  publish("program-matrix", { ...where, programs: done, written, wrong, sizes, others }, lines.join("\n"));
  return wrong.length + slower.length;
}
