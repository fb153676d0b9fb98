// What programs take beside their schedules, and then all of program-matrix.mjs. One is missed where a program takes more than 1.1
// times its schedule's time (1.25 up to 64 KiB).
import { run as runMatrix } from "./program-matrix.mjs";
import { loaded } from "./sources.mjs";
import { groupedBy, listed, machine, publish, reportHead, table } from "./support.mjs";

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

/** Runs the bench; returns how many rows missed. */
export async function run() {
  const where = machine();
  const module = await loaded("bench/program-times.ts");
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
  return times.filter((one) => !keepsTime(one)).length + (await runMatrix());
}
