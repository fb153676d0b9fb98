// Laboratories: schedules of ours on real processes and links, beside what was predicted and what the MPI library takes.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { at } from "../scripts/paths.mjs";
import { command, machine, progress, progressDone, publish, reportHead, table } from "./support.mjs";

const load = (file) => import(at(`dist/${file}`));

/** Sizes of results; at the middle one the library is told to use each of its algorithms. */
const SIZES = ["1MB", "4MB", "16MB"];
const FORCED = "4MB";
const REPEATS = 5;
const WITHIN = 0.1;
const GAIN = 1.5;
const NEVER_BELOW = 0.9;
const MOST_SECONDS = 900;

/** Returns two switches with NPUs, and a cable between them that carries half of what their NPUs send. */
async function twoSwitches() {
  const { topologyBuilder } = await load("model/topology/topology-builder.js");
  const builder = topologyBuilder("two switches");
  const npus = Array.from({ length: 8 }, (_, npu) => builder.addNpu(`${npu}`));
  const switches = ["left", "right"].map((name) => builder.addSwitch(name));
  for (const npu of npus) builder.addDuplex(npu, switches[npu >> 2], 25e9, 0);
  builder.addDuplex(...switches, 50e9, 0);
  return builder.build();
}

/** Returns two boxes of four NPUs on a switch each, and four rails between them. */
async function twoBoxes() {
  const { topologyBuilder } = await load("model/topology/topology-builder.js");
  const builder = topologyBuilder("two boxes with rails");
  const npus = Array.from({ length: 8 }, (_, npu) => builder.addNpu(`${npu}`));
  const boxes = [0, 1].map((box) => builder.addSwitch(`box${box}`));
  const rails = [0, 1, 2, 3].map((rail) => builder.addSwitch(`rail${rail}`));
  for (const npu of npus) {
    builder.addDuplex(npu, boxes[npu >> 2], 100e9, 0);
    builder.addDuplex(npu, rails[npu & 3], 25e9, 0);
  }
  return builder.build();
}

/** Networks: the arguments of `lab`; `held`: the prediction and the gain are requirements there. */
const NETWORKS = [
  { name: "ring:4", args: ["ring:4"], held: true },
  { name: "ring:8", args: ["ring:8"], held: true },
  { name: "mesh:3x3", args: ["mesh:3x3"], held: true },
  { name: "mesh:4x4 without a link", args: ["mesh:4x4", "--without", "5-6"], held: true },
  { name: "torus:3x3", args: ["torus:3x3"], held: true },
  { name: "hypercube:3", args: ["hypercube:3"], held: true },
  { name: "two switches", build: twoSwitches, held: false },
  { name: "two boxes with rails", build: twoBoxes, held: false },
];

/** Returns the report of a laboratory. */
async function measured(args, sizes, library) {
  const line = ["lab", ...args, "--sizes", sizes.join(","), "--library", library, "--repeats", `${REPEATS}`];
  return (await command(line, MOST_SECONDS)).report;
}

/** Measures all networks; returns how many requirements are missed. */
export async function run() {
  const where = machine();
  const folder = mkdtempSync(join(tmpdir(), "banyan-bench-lab-"));
  const began = performance.now();
  const rows = [];
  try {
    const { topologyToJson } = await load("export/networks/topology-json.js");
    for (const { name, args = [], build, held } of NETWORKS) {
      progress(name);
      const file = join(folder, `${name.replaceAll(" ", "-")}.json`);
      if (build !== undefined) writeFileSync(file, topologyToJson(await build()));
      const network = build === undefined ? args : [file];
      // one laboratory for the size at which all is tried, one for the others
      const forced = await measured(network, [FORCED], "all");
      const others = await measured(
        network,
        SIZES.filter((size) => size !== FORCED),
        "own",
      );
      for (const { laboratory, sizes } of [others, forced])
        for (const size of sizes) rows.push({ name, held, laboratory, ...size });
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
    progressDone();
  }
  rows.sort(
    (one, other) =>
      NETWORKS.findIndex(({ name }) => name === one.name) - NETWORKS.findIndex(({ name }) => name === other.name) ||
      one.sizeBytes - other.sizeBytes,
  );
  const minutes = (performance.now() - began) / 60_000;
  const missed = rows.flatMap(missedBy);
  const ms = (us) => (us === null || us === undefined ? "" : (us / 1000).toFixed(2));
  const times = (value) => (value === null ? "" : value.toFixed(2));
  const lines = table(
    [
      "network",
      "Mbit/s",
      "size MB",
      "schedule",
      "predicted ms",
      "measured ms",
      "min",
      "max",
      "measured / predicted",
      "over own choice",
      "best forced",
      "over best",
    ],
    rows.map((row) => [
      ...[row.name, (row.laboratory.fastestBitsPerSecond / 1e6).toFixed(0), row.sizeBytes / 1e6, row.algorithm],
      ...[ms(row.predictedUs), ms(row.measured?.medianUs), ms(row.measured?.minUs), ms(row.measured?.maxUs)],
      ...[times(row.ofPrediction), times(row.overChoice), row.bestForced ?? "", times(row.overBestForced)],
    ]),
  );
  const text = [
    reportHead(
      "lab",
      "Laboratories",
      [`All-gathers in networks of namespaces, medians of ${REPEATS}; ${minutes.toFixed(0)} minutes in all.`],
      where,
    ).join("\n"),
    lines,
    missed.length === 0 ? "All requirements are met." : `Missed: ${missed.join("; ")}.`,
  ].join("\n\n");
  publish("lab", { machine: where, minutes, rows, missed }, text);
  return missed.length;
}

/** Returns what a row misses. */
function missedBy({ name, held, sizeBytes, measured: own, ofPrediction, overChoice, overBestForced, laboratory }) {
  const place = `${name} at ${sizeBytes / 1e6} MB`;
  if (own === null || !own.right) return [`${place}: no right result`];
  const least = Math.min(overChoice ?? Infinity, overBestForced ?? Infinity);
  return [
    ...(held && Math.abs(ofPrediction - 1) > WITHIN ? [`${place}: ${ofPrediction.toFixed(2)} of the prediction`] : []),
    ...(held && sizeBytes === 4e6 && overBestForced < GAIN
      ? [`${place}: ${overBestForced.toFixed(2)} times the best of the library`]
      : []),
    ...(least < NEVER_BELOW ? [`${place}: ${least.toFixed(2)} of the library's speed`] : []),
    ...(laboratory.timesMeanSomething ? [] : [`${place}: too large for times`]),
  ];
}
