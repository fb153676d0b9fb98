// TACCL's example topologies and sketches, and then all of taccl-sketches.mjs: how long our schedules take, in units of the profiles, beside those of its public code.
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { asPlanned, command, figure, machine, progress, publish, reportHead, table } from "./support.mjs";
import { CASES, FILES, MOST_SECONDS, OTHERS, PROFILES } from "./taccl-cases.mjs";
import { run as runSketches } from "./taccl-sketches.mjs";

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

function report({ machine: where, rows, others }) {
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
  const told = [...rows, ...others].flatMap((row) =>
    row.notes.map((note) => `* ${row.profile ?? row.network} x${row.boxes ?? 1}, ${row.collective}: ${note}`),
  );
  if (told.length > 0) lines.push("", "## What the command says beside", "", ...new Set(told));
  return lines.join("\n");
}

/** Measures, prints and writes; returns how many schedules are longer than the public ones or took too long to make. */
export async function run() {
  if (!existsSync(FILES)) {
    console.log(
      "bench taccl: only sketches of its own, for TACCL's topologies and sketches are not there (../shared/data/taccl)",
    );
    return runSketches();
  }
  const where = machine();
  const rows = [];
  for (const one of CASES) rows.push(await tacclRow(one));
  const others = [];
  for (const one of OTHERS) others.push(await otherRow(one));
  const data = { machine: where, rows, others };
  publish("taccl", data, report(data));
  return rows.filter(({ missed }) => missed).length + (await runSketches());
}
