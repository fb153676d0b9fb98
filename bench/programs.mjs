// What programs take beside their schedules, and then all of program-matrix.mjs. One is missed where a program takes more than 1.1
// times its schedule's time (1.25 up to 64 KiB).
import { run as runMatrix } from "./program-matrix.mjs";
import { loaded } from "./sources.mjs";
import { groupedBy, listed, machine, publish, published, reportHead, table } from "./support.mjs";

const ABOUT_TIMES = [
  "Time of the program that `export` finds (of trees also with few copies, of phases with few chunks, among many ranks with few peers) divided by the time",
  "of the schedule that `synth` makes, both simulated. `azure` is MSCCL XML, `mscclpp` MSCCL++ plans. `!`: more than 1.1, up to 64 KiB 1.25.",
];
/** A program may take so many times what its schedule takes. */
const allowed = ({ sizeBytes }) => (sizeBytes <= 65_536 ? 1.25 : 1.1);
const keepsTime = (one) => one.programUs !== null && one.programUs <= one.scheduleUs * allowed(one);
const sizeName = (bytes) =>
  bytes >= 2 ** 30 ? `${bytes / 2 ** 30} GiB` : bytes >= 2 ** 20 ? `${bytes / 2 ** 20} MiB` : `${bytes / 1024} KiB`;

/** Returns tables of program : schedule, a column for each size. */
function timeTables(times) {
  const groups = groupedBy(times, ({ topology, collective, algorithm, target }) =>
    [topology, collective, algorithm, target].join("\t"),
  );
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

const caseOf = ({ topology, collective, algorithm, target, sizeBytes }) =>
  [topology, collective, algorithm, target, sizeBytes].join("\t");

/** Publishes these rows, and those of earlier commits of what is not among them: a run takes hours, and may be stopped. */
function publishTimes(where, made, earlier) {
  const measured = new Set(made.map(caseOf));
  const times = [...made, ...earlier.filter((one) => !measured.has(caseOf(one)))];
  const late = times.filter((one) => !keepsTime(one));
  const commits = [...groupedBy(times, ({ commit }) => commit)].map(([commit, { length }]) => `${length} of ${commit}`);
  const lines = [
    ...reportHead("programs", "Programs beside their schedules", ABOUT_TIMES, where),
    `${times.length - late.length} of ${times.length} within 1.1 (1.25 up to 64 KiB); rows by commit: ${commits.join(", ")}:`,
    "",
    timeTables(times),
  ];
  publish("program-times", { ...where, times }, lines.join("\n"));
  return late.length;
}

/** Runs the bench; returns how many rows missed. */
export async function run() {
  const where = machine();
  const module = await loaded("bench/program-times.ts");
  const { commit, times } = published("program-times");
  const earlier = times.map((one) => ({ commit, ...one }));
  const made = [];
  let late = 0;
  for (const cases of module.CASES) {
    for (const one of await listed(module.programTimes(cases), "programs timed"))
      made.push({ ...one, commit: where.commit });
    late = publishTimes(where, made, earlier);
  }
  return late + (await runMatrix());
}
