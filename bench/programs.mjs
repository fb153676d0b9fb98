// Programs: every synthesizer, collective, number of GPUs and runtime, each file read again, held against the runtime's limits,
// judged by the program verifier and executed on real buffers; sizes of trees' programs; and other people's programs beside ours
// in the simulation of programs; what programs take beside their schedules. One is missed where a file is wrong, where ours is
// slower than another's at 64 MiB or 1 GiB, or where it takes more than 1.1 times its schedule's time (1.25 up to 64 KiB).
import { fileURLToPath } from "node:url";
import { runnerImport } from "vite";
import { figure, machine, progress, publish, reportHead, table } from "./support.mjs";

const ABOUT = [
  "A program is written only within its runtime's limits; what cannot be is refused with the limit. Every written file is read",
  "again, verified, and executed in every placement it is for, in two orders of its thread blocks.",
];
const ABOUT_TIMES = [
  "Time of the program that `export` finds (of trees also with 1 or 2 copies, among many ranks with few peers) divided by the time",
  "of the schedule that `synth` makes, both simulated. `azure` is MSCCL XML, `mscclpp` MSCCL++ plans. `!`: more than 1.1, up to 64 KiB 1.25.",
];
const TITLE = "Programs for MSCCL, RCCL and MSCCL++";

async function matrix(module) {
  const tallies = new Map();
  const refusals = new Map();
  const wrong = [];
  let done = 0;
  for await (const found of module.outcomes()) {
    const { topology, collective, algorithm, runtime, placement, outcome, reason, blocks, steps } = found;
    const key = `${algorithm}\t${collective}`;
    const tally = tallies.get(key) ?? { exported: 0, refused: 0, wrong: 0, blocks: 0, steps: 0 };
    tally[outcome]++;
    tally.blocks = Math.max(tally.blocks, blocks);
    tally.steps = Math.max(tally.steps, steps);
    tallies.set(key, tally);
    const where = `${algorithm} ${collective} on ${topology} for ${runtime}, placement ${placement}`;
    if (outcome === "wrong") wrong.push(`${where}: ${reason}`);
    if (outcome === "refused") {
      const plain = reason.replace(/ but received.*/s, "");
      refusals.set(plain, [...(refusals.get(plain) ?? []), where]);
    }
    if (++done % 100 === 0) progress(`${done} programs`);
  }
  return { tallies, refusals, wrong, done };
}

async function listed(generator, what) {
  const rows = [];
  for await (const row of generator) {
    rows.push(row);
    progress(`${rows.length} ${what}`);
  }
  return rows;
}

const inGBps = (values) => values.map((value) => (value === null ? "stuck" : figure(value, 3)));
/** A program of others at 64 MiB or 1 GiB that is faster than ours, by more than one part in a hundred. */
const isSlower = ({ theirs, ours }) => [1, 2].some((i) => theirs[i] !== null && ours[i] < theirs[i] * 0.99);

/** A program may take so many times what its schedule takes. */
const allowed = ({ sizeBytes }) => (sizeBytes <= 65_536 ? 1.25 : 1.1);
const keepsTime = (one) => one.programUs !== null && one.programUs <= one.scheduleUs * allowed(one);
const sizeName = (bytes) =>
  bytes >= 2 ** 30 ? `${bytes / 2 ** 30} GiB` : bytes >= 2 ** 20 ? `${bytes / 2 ** 20} MiB` : `${bytes / 1024} KiB`;

/** Returns tables of program : schedule, a column for each size. */
function timeTables(times) {
  const groups = new Map();
  for (const one of times) {
    const key = [one.topology, one.collective, one.algorithm, one.target].join("\t");
    groups.set(key, [...(groups.get(key) ?? []), one]);
  }
  const sizes = [...new Set(times.map(({ sizeBytes }) => sizeBytes))].sort((a, b) => a - b);
  const cell = (one) => {
    if (one === undefined) return "";
    if (one.programUs === null) return "refused";
    return `${(one.programUs / one.scheduleUs).toFixed(2)}${keepsTime(one) ? "" : " !"}`;
  };
  return table(
    ["network", "collective", "algorithm", "for", ...sizes.map(sizeName)],
    [...groups].map(([key, found]) => [
      ...key.split("\t"),
      ...sizes.map((size) => cell(found.find(({ sizeBytes }) => sizeBytes === size))),
    ]),
  );
}

/** Reports the times of programs beside their schedules; returns how many take longer than they may. */
async function promised(root) {
  const where = machine();
  const { module } = await runnerImport(`${root}bench/program-times.ts`, {
    root,
    configFile: false,
    logLevel: "error",
  });
  const times = [];
  for (const cases of module.CASES) {
    times.push(...(await listed(module.programTimes(cases), "programs timed")));
    const late = times.filter((one) => !keepsTime(one));
    const lines = [
      ...reportHead("programs", "Programs beside their schedules", ABOUT_TIMES, where),
      `${times.length - late.length} of ${times.length} within 1.1 (1.25 up to 64 KiB):`,
      "",
      timeTables(times),
    ];
    publish("program-times", { ...where, times }, lines.join("\n"));
  }
  return times.filter((one) => !keepsTime(one)).length;
}

/** Runs the bench; returns how many rows missed. */
export async function run() {
  const root = fileURLToPath(new URL("..", import.meta.url));
  const { module } = await runnerImport(`${root}bench/lowering-matrix.ts`, {
    root,
    configFile: false,
    logLevel: "error",
  });
  const late = await promised(root);
  const { tallies, refusals, wrong, done } = await matrix(module);
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
    ...reportHead("programs", TITLE, ABOUT, where),
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
      [...grouped(sizes)].map(([key, found]) => [
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
  publish("programs", { ...where, programs: done, written, wrong, sizes, others }, lines.join("\n"));
  return wrong.length + slower.length + late;
}

/** Returns the sizes of each network and collective. */
function grouped(sizes) {
  const groups = new Map();
  for (const row of sizes) {
    const key = `${row.topology}\t${row.collective}`;
    groups.set(key, [...(groups.get(key) ?? []), row]);
  }
  return groups;
}
