// What sketches decide, and how many instances a program has (TACCL, 7.1 and 7.2), as far as simulation can tell.
import { loaded } from "./sources.mjs";
import { figure, groupedBy, listed, machine, publish, reportHead, table } from "./support.mjs";

const ABOUT = [
  "What sketches of two DGX-2 and two NDv2 decide (TACCL, 7.1 and 7.2): simulated time in us (how many times as fast",
  'as the baseline). "baseline": the fastest of `ring`, `rings`, `nccl-rings`, `nccl-tree` and `direct`. Below the first sketch of a network each',
  "line changes one thing of it. More chunks are also more to solve in the same time. The simulation knows bandwidths and latencies, but no",
  "cost of many connections of a NIC.",
];

const ABOUT_INSTANCES = [
  "Predicted time in us of programs for Azure's executor if a thread block moves no more than NCCL counts for it (V100: 20 GB/s, H100:",
  "36.7), by number of instances; then what `export` finds (instances) where it does not count with that, and where it does. On DGX-2 and",
  "NDv2 by `taccl`, on a DGX H100 by `rhd`.",
];

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
    ["network", "collective", "size", ...counts.map(String), "export", "export --instances auto"],
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

/** Prints and writes what was measured. */
export function publishSketches(data) {
  const { machine: where, sketches, instances, counts, solvedMs } = data;
  const lines = reportHead("taccl", "Sketches and instances", ABOUT, where, `solved for ${solvedMs / 1000} s`);
  lines.push(
    sketchTable(sketches),
    "",
    "## Instances (7.2)",
    "",
    ...ABOUT_INSTANCES,
    "",
    instancesTable(instances, counts),
  );
  publish("taccl-sketches", data, lines.join("\n"));
}

/** Measures, prints and writes; returns 0: nothing is missed. */
export async function run() {
  const where = machine();
  const module = await loaded("bench/taccl-sketches.ts");
  const sketches = await listed(module.sketchTimes(), "times of sketches");
  const instances = await listed(module.instancesTimes(), "programs in instances");
  publishSketches({ machine: where, sketches, instances, counts: module.INSTANCES, solvedMs: module.SOLVED_MS });
  return 0;
}
