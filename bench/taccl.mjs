// TACCL's example topologies and sketches: how long our schedules take, in units of the profiles, beside those of its public code.
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { loaded } from "./sources.mjs";
import {
  asPlanned,
  command,
  figure,
  groupedBy,
  listed,
  machine,
  progress,
  publish,
  reportHead,
  table,
} from "./support.mjs";
import { CASES, FILES, MOST_SECONDS, OTHERS, PROFILES } from "./taccl-cases.mjs";

const ABOUT = [
  "TACCL's profiles and sketches (Shah et al., NSDI 2023), by our `taccl`; every schedule is verified. All times are in units",
  'of the profile, in which a chunk costs the alpha and beta of the file. "public": TACCL\'s own code on the same files, solved',
  'by HiGHS too: the bound of its routing stage, and its schedule. "bound": proved for the routes and chunks of the schedule;',
  '"proved": the schedule meets it, or the best that its sketch leaves. "s": wall time of the whole command, start to report;',
  '"paper s": seconds that the paper gives for its own synthesis, with Gurobi on its authors\' machine ("254, of 1800": found after 254, stopped after 1800).',
];

const path = (folder, name) => fileURLToPath(new URL(`${folder}/${name}.json`, FILES));

/** Returns the command line of a case of a profile: N NPUs of so many chunks, each of the profile's size. */
function lineOf({ profile, boxes, sketch, collective, chunks }) {
  const { bytes, gpus } = PROFILES[profile];
  const size = bytes * gpus * boxes * chunks;
  return [
    ...["synth", path("topo", `topo-${profile}`), "--nodes", boxes, "--collective", collective, "--size", size],
    ...["--chunks", chunks, "--algorithm", "taccl", "--time-limit", `${MOST_SECONDS}s`],
    ...(sketch === null ? [] : ["--sketch", path("sketch", sketch)]),
  ].map(String);
}

/** Returns what was used, without where files lie. */
const withoutFolders = (text) => text.replaceAll(fileURLToPath(FILES), "").replace(/^sketch\//, "");

const sketchOf = ({ notes }) => {
  const told = notes.find((note) => note.startsWith("sketch: "));
  return told === undefined ? "" : withoutFolders(told.slice("sketch: ".length)).replace(/\.json$/, "");
};

async function measured(what, line, unitsPerUs) {
  progress(`taccl: ${what}`);
  const { report, seconds } = await command(line, 10 * MOST_SECONDS);
  if (!report.verified) throw new Error(`${what}: not verified`);
  const notes = report.notes ?? [];
  const { us, bound, share } = asPlanned(report);
  return {
    time: us * unitsPerUs,
    bound: bound.us * unitsPerUs,
    seconds,
    proved: share > 1 - 1e-9 || report.solver?.proved === true,
    used: sketchOf({ notes }),
    merged: Number(/(\d+) merged send/.exec(report.synthesis.policy)?.[1] ?? 0),
    notes: notes.filter((note) => !note.startsWith("sketch: ")).map(withoutFolders),
  };
}

async function tacclRow(one) {
  const { profile, boxes, collective, published, mayTakeLonger = false } = one;
  const what = `${collective} on ${profile} x${boxes}${one.sketch === null ? "" : ` by ${one.sketch}`}`;
  const found = await measured(what, lineOf(one), PROFILES[profile].unitsPerUs);
  const tooLong = !mayTakeLonger && found.seconds > MOST_SECONDS;
  return { ...one, ...found, missed: found.time > (published ?? Number.POSITIVE_INFINITY) + 1e-6 || tooLong };
}

async function otherRow(one) {
  const { network, collective, size } = one;
  const line = ["synth", network, "--collective", collective, "--size", size, "--algorithm", "taccl"];
  return { ...one, ...(await measured(`${collective} on ${network}`, line, 1)), missed: false };
}

const alike = ({ time, bound, proved, merged, seconds, used }) => [
  figure(time),
  figure(bound),
  proved ? "yes" : "no",
  merged,
  figure(seconds, 2),
  used,
];
const COLUMNS = ["time", "bound", "proved", "merged sends", "s", "sketch used"];

const sizeName = (bytes) => ["1 KiB", "1 MiB", "1 GiB"][Math.floor(Math.log2(bytes) / 10) - 1];

/** Returns the table of sketches: simulated times in us, and how many times as fast as the libraries' fastest way. */
function sketchTable(times) {
  const baseline = new Map();
  const keyOf = ({ network, collective, sizeBytes }) => `${network} ${collective} ${sizeBytes}`;
  for (const one of times) if (one.what === "baseline") baseline.set(keyOf(one), one);
  const cell = (one) => {
    if (one === undefined) return "";
    if (one.us === null) return "none";
    if (one.what === "baseline") return `${figure(one.us)} (${one.algorithm})`;
    return `${figure(one.us)} (${figure((baseline.get(keyOf(one))?.us ?? Number.NaN) / one.us, 3)})`;
  };
  const groups = groupedBy(times, ({ network, collective, what }) => [network, collective, what].join("\t"));
  const sorted = [...groups].sort(([, [a]], [, [b]]) => {
    const of = ({ network, collective }) => `${network} ${collective}`;
    return of(a) < of(b) ? -1 : of(a) > of(b) ? 1 : 0;
  });
  return table(
    ["network", "collective", "sketch", "1 KiB", "1 MiB", "1 GiB"],
    sorted.map(([key, found]) => [...key.split("\t"), ...found.map(cell)]),
  );
}

/** Returns the table of instances: predicted times in us, and how many each search found. */
function instancesTable(times, counts) {
  const found = ({ us, instances }) => `${figure(us)} (${instances})`;
  return table(
    ["network", "collective", "size", ...counts, "export", "export --instances auto"],
    times.map((one) => [
      one.network,
      one.collective,
      sizeName(one.sizeBytes),
      ...counts.map((many) => (one.us[many] === null ? "none" : figure(one.us[many]))),
      found(one.usual),
      found(one.auto),
    ]),
  );
}

/** Returns what is said of sketches and instances. */
const ablationLines = ({ sketches, instances, counts, solvedMs }) => [
  "",
  "## What sketches decide (7.1, 7.2)",
  "",
  `Simulated time in us (how many times as fast as the baseline); "baseline": the fastest of \`ring\`, \`rings\`, \`nccl-rings\`, \`nccl-tree\` and`,
  "`direct`. Below the first sketch of a network each line changes one thing of it. Data in more chunks is also more to solve, in",
  `the same ${solvedMs / 1000} s a schedule. The simulation knows bandwidths and latencies, but no cost of many connections of a NIC.`,
  "",
  sketchTable(sketches),
  "",
  "## Instances (7.2)",
  "",
  "Predicted time in us of programs for Azure's executor if a thread block moves no more than NCCL counts for it (V100: 20 GB/s, H100:",
  "36.7), by number of instances; then what `export` finds (instances) where it does not count with that, and where it does. On DGX-2 and",
  "NDv2 by `taccl`, on a DGX H100 by `rhd`.",
  "",
  instancesTable(instances, counts),
];

function report({ machine: where, rows, others, ablation }) {
  const lines = reportHead("taccl", "TACCL's examples", ABOUT, where);
  lines.push(
    table(
      ["profile", "unit", "boxes", "collective", "chunks", "public routing", "public", "paper s", ...COLUMNS, ""],
      rows.map((row) => [
        row.profile,
        PROFILES[row.profile].unit,
        row.boxes,
        row.collective,
        row.chunks,
        row.routing ?? "-",
        row.published ?? "-",
        row.paper ?? "-",
        ...alike(row),
        row.missed ? "MISSED" : "",
      ]),
    ),
    "",
    "## Networks without a file of TACCL's, in us",
    "",
    table(
      ["network", "collective", "size", ...COLUMNS],
      others.map((row) => [row.network, row.collective, row.size, ...alike(row)]),
    ),
  );
  lines.push(...ablationLines(ablation));
  const told = [...rows, ...others].flatMap((row) =>
    row.notes.map((note) => `* ${row.profile ?? row.network} x${row.boxes ?? 1}, ${row.collective}: ${note}`),
  );
  if (told.length > 0) lines.push("", "## What the command says beside", "", ...new Set(told));
  return lines.join("\n");
}

/** Measures, prints and writes; returns how many schedules are longer than the public ones or took too long to make. */
export async function run() {
  if (!existsSync(FILES)) {
    console.log("bench taccl: skipped, for TACCL's topologies and sketches are not there (../shared/data/taccl)");
    return 0;
  }
  const where = machine();
  const rows = [];
  for (const one of CASES) rows.push(await tacclRow(one));
  const others = [];
  for (const one of OTHERS) others.push(await otherRow(one));
  const module = await loaded("bench/taccl-sketches.ts");
  const ablation = {
    sketches: await listed(module.sketchTimes(), "times of sketches"),
    instances: await listed(module.instancesTimes(), "programs in instances"),
    counts: module.INSTANCES,
    solvedMs: module.SOLVED_MS,
  };
  const data = { machine: where, rows, others, ablation };
  publish("taccl", data, report(data));
  return rows.filter(({ missed }) => missed).length;
}
