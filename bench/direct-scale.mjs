// How large direct-connect networks may be: broadcasts, all-to-alls and the finder against the seconds asked of each.

import { loadKernels } from "../dist/engine/kernels/load.js";
import { allToAll, leastBandwidthTime, openEngine, search } from "../dist/index.js";
import { commTimes, timesOfLoads } from "../dist/model/comm/schedule.js";
import { diameter, networkOf } from "../dist/model/direct/digraph.js";
import { compare, format, toNumber } from "../dist/model/numbers/rational.js";
import { sweep } from "../dist/run/search/search-sweep.js";
import { bestParts, bfbLoads, bfbSchedule } from "../dist/synthesize/bfb/broadcast.js";
import { ALL_SIZES, ALL_TO_ALLS, BROADCASTS, ONE_SIZE } from "./direct-scale-cases.mjs";
import { figure, machine, median, progress, publish, reportHead, table } from "./support.mjs";

const GAP = 0.01;
const MOST_PARTS = 32_767;
const LINK = { bytesPerSecond: 25e9 / 8, latencyPs: 10_000_000 };
const ABOUT = [
  "Seconds, medians; answers are checked before the clock starts: T_B and steps of broadcasts against least times, diameters and the",
  "other backends, bounds of all-to-alls against their rates. Broadcasts compute all nodes, native on all cores; wasm and js have one.",
];

async function timed(runs, work) {
  const seconds = [];
  let found;
  for (let i = 0; i < runs; i++) {
    found = undefined;
    const start = performance.now();
    found = await work();
    seconds.push((performance.now() - start) / 1000);
  }
  return { seconds: median(seconds), found };
}

/** Throws unless the times are those of a breadth-first broadcast, the least where that is known. */
function checkTimes({ name, isLeast }, graph, { steps, bandwidth }, hops) {
  const least = leastBandwidthTime(graph.nodes);
  if (steps !== hops) throw new Error(`${name}: ${steps} steps, not its diameter ${hops}`);
  const order = compare(bandwidth, least);
  if (order < 0 || (isLeast && order !== 0)) throw new Error(`${name}: T_B ${format(bandwidth)}`);
}

/** Times a broadcast on every backend that the trial names; the answers have to be the same. */
async function broadcast(trial, backends, threads) {
  const graph = trial.graph();
  const hops = diameter(graph);
  const seconds = {};
  let first = null;
  let bandwidth = "";
  for (const backend of ["native", ...trial.peers]) {
    progress(`direct-scale: ${trial.name}${trial.schedule ? ", schedule" : ""}, ${backend}`);
    const balance = async (problem) =>
      backends[backend].balance({ ...problem, threads: backend === "native" ? threads : 1 });
    const loads = await bfbLoads(graph, balance);
    const times = timesOfLoads(graph, loads);
    checkTimes(trial, graph, times, hops);
    bandwidth = format(times.bandwidth);
    const text = loads.map(format).join();
    if (first !== null && text !== first) throw new Error(`${trial.name}: ${backend} finds other loads`);
    first = text;
    const parts = bestParts(loads, MOST_PARTS);
    const work = trial.schedule ? () => bfbSchedule(graph, parts, balance) : () => bfbLoads(graph, balance);
    if (trial.schedule) checkTimes(trial, graph, commTimes(await work()), hops);
    seconds[backend] = (await timed(trial.runs, work)).seconds;
  }
  const what = trial.schedule ? "broadcast, its schedule" : "broadcast, its times";
  return { what, network: trial.name, seconds, asked: trial.asked, found: `T_L ${hops}, T_B ${bandwidth} M/B` };
}

async function flow(trial, engine) {
  progress(`direct-scale: all-to-all of ${trial.name}`);
  const { topology } = networkOf(trial.graph(), trial.name, LINK);
  const { seconds, found } = await timed(trial.runs, () => allToAll({ engine, topology, gap: GAP }));
  const [rate, bound] = [toNumber(found.rate), toNumber(found.bound)];
  if (!(rate > 0 && bound >= rate && bound <= rate * (1 + GAP))) throw new Error(`${trial.name}: ${rate} of ${bound}`);
  const gap = `${figure((bound / rate - 1) * 100, 2)} % proved, ${found.method}`;
  return { what: "all-to-all", network: trial.name, seconds: { native: seconds }, asked: trial.asked, found: gap };
}

async function oneSize({ nodes, degree, runs, asked, allreduceUs }, engine) {
  progress("direct-scale: finder, one size");
  const request = {
    ...{ engine, nodes, degree, bidirectional: false, collective: "allreduce", verify: false, alltoall: false },
    ...{ alphaPs: LINK.latencyPs, bytesPerSecond: degree * LINK.bytesPerSecond },
    sizes: [{ sizeBytes: 2 ** 20, weight: 1 }],
  };
  const { seconds, found } = await timed(runs, () => search(request));
  const best = found.rows[found.best];
  if (!(best.allreduceUs <= allreduceUs)) throw new Error(`finder: ${best.topology} takes ${best.allreduceUs} us`);
  const answer = `${found.rows.length} networks, best ${best.topology}, ${figure(best.allreduceUs)} us`;
  return { what: "finder", network: `N = ${nodes}, d = ${degree}`, seconds: { native: seconds }, asked, found: answer };
}

async function allSizes({ degrees, most, runs, asked }, engine) {
  progress("direct-scale: finder, all sizes");
  const { seconds, found } = await timed(runs, async () => {
    const sizes = new Set();
    let rows = 0;
    for await (const { nodes, degree } of sweep(engine, degrees, most, false)) {
      sizes.add(`${nodes} ${degree}`);
      rows++;
    }
    return { sizes: sizes.size, rows };
  });
  const network = `N <= ${most}, d in {${degrees.join(",")}}`;
  const answer = `${found.rows} networks of ${found.sizes} sizes`;
  return { what: "finder", network, seconds: { native: seconds }, asked, found: answer };
}

/** Measures, prints and writes; returns the number of requirements missed. */
export async function run() {
  const where = machine();
  const backends = {};
  for (const backend of ["native", "wasm", "js"]) backends[backend] = (await loadKernels(backend)).kernels;
  const engine = await openEngine();
  const rows = [];
  try {
    for (const trial of BROADCASTS) rows.push(await broadcast(trial, backends, where.cores));
    for (const trial of ALL_TO_ALLS) rows.push(await flow(trial, engine));
    rows.push(await oneSize(ONE_SIZE, engine), await allSizes(ALL_SIZES, engine));
  } finally {
    await engine.close();
  }
  const isReached = ({ seconds, asked }) => seconds.native <= asked;
  const text = [
    ...reportHead("direct-scale", "Large direct-connect networks", ABOUT, where),
    table(
      ["what", "network", "native s", "wasm s", "js s", "asked s", "reached", "found"],
      rows.map((row) => {
        const { native, wasm, js } = row.seconds;
        const verdict = isReached(row) ? "yes" : "NO";
        return [row.what, row.network, figure(native), figure(wasm), figure(js), `<= ${row.asked}`, verdict, row.found];
      }),
    ),
  ].join("\n");
  publish("direct-scale", { machine: where, rows }, text);
  return rows.filter((row) => !isReached(row)).length;
}
