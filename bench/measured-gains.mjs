// What our schedules would take on the measured networks, beside the fastest that was measured there.
import { topologyOf } from "./measured-cases.mjs";
import { NETWORKS } from "./measured-networks.mjs";

const MEASURED_SIZES = [2 ** 20, 4 * 2 ** 20, 64 * 2 ** 20, 256 * 2 ** 20, 512 * 2 ** 20];

/**
 * Algorithms that are made within seconds on networks of a size; on one switch those that send one message at a time, for many at
 * once cost a processor more than a link's latency says.
 */
function algorithmsOn({ npuCount, shape }, isMpi) {
  if (!isMpi)
    return npuCount > 512 ? ["nvls", "forestcoll"] : ["nccl-rings", "nccl-tree", "nvls", "rhd", "themis", "forestcoll"];
  if (shape.length < 2) return ["rhd", "ring", "bruck", "themis"];
  return npuCount > 512 ? ["themis", "blueconnect"] : ["bfb", "themis", "rings", "rhd", "forestcoll"];
}

/** Returns the fastest of the points at a size. */
function fastestAt(rows, bytes) {
  const found = rows.flatMap((row) => row.points.filter(([size]) => size === bytes).map(([, us]) => ({ us, row })));
  return found.reduce((best, one) => (best === null || one.us < best.us ? one : best), null);
}

/**
 * Returns what links give of the label, as label / share: of a torus by the algorithm that gets most of them, of a switch in the middle.
 * Where most shares are above 1 the network has more ways than it is modelled with: then 1.
 */
function wireShare({ parts, figures }, direct) {
  const shares = parts.flatMap(({ name }, j) => (name.startsWith("wire") ? [figures[j]] : [])).sort((a, b) => a - b);
  const told = shares.filter((share) => share >= 1);
  if (2 * told.length <= shares.length) return 1;
  return told[direct ? 0 : told.length >> 1];
}

const figureOf = ({ parts, figures }, name) => figures[parts.findIndex((part) => part.name === name)] ?? 0;

/** Returns the network with what a message costs as latency (each that starts together costs it) and what links give as bandwidth. */
function calibratedTopology(lib, { network, ...fit }) {
  const topology = lib.presetTopology(network.topology);
  const direct = topology.shape.length > 1;
  const started = direct ? topology.linkSource.filter((node) => node === 0).length : 1;
  const message = figureOf(fit, "message") * started + figureOf(fit, "rendezvous");
  const us = direct ? message + figureOf(fit, "hop") : message / 2;
  const gbps = topology.linkBytesPerSecond[0] / 1e9 / wireShare(fit, direct);
  return lib.presetTopology(`${network.topology.split("@")[0]}@${gbps.toFixed(3)}GB/s,${us.toFixed(3)}us`);
}

/** Resolves to the fastest of ours and of the libraries' on a network, simulated, and the limit. */
async function simulated(lib, engine, topology, collective, bytes, isMpi = true) {
  const options = { collective, sizesBytes: [bytes], algorithms: algorithmsOn(topology, isMpi) };
  const { rows, limits } = await lib.compare(engine, topology, options);
  const best = (of) =>
    rows.filter(of).reduce((least, row) => (least === null || row.us < least.us ? row : least), null);
  return { ours: best(() => true), library: best((row) => row.library !== undefined), limitUs: limits[0].limit.us };
}

/** Resolves to the least time of any schedule on the network with the figures of its data sheet. */
async function labelLimitUs(lib, engine, { network }, collective, bytes) {
  const topology = lib.presetTopology(network.topology);
  const algorithms = topology.npuCount > 512 ? ["themis"] : topology.shape.length > 1 ? ["bfb"] : ["ring"];
  const { limits } = await lib.compare(engine, topology, { collective, sizesBytes: [bytes], algorithms });
  return limits[0].limit.us;
}

async function ofMpi(lib, engine, fit, fastest, collective, bytes) {
  const topology = calibratedTopology(lib, fit);
  const ranks = topology.npuCount;
  const { ours, library } = await simulated(lib, engine, topology, collective, bytes);
  const inCache = bytes <= fit.network.cacheBytes;
  const perByte = collective === "allreduce" ? figureOf(fit, inCache ? "sums in cache" : "sums in memory") / 1e3 : 0;
  const sumsUs = ((ranks - 1) / ranks) * bytes * perByte;
  const call = figureOf(fit, "call");
  const limitUs = await labelLimitUs(lib, engine, fit, collective, bytes);
  // each rank sums at least this much: on tori while other parts are on their way, as the fastest there do
  if (topology.shape.length > 1)
    return { algorithm: ours.algorithm, us: call + Math.max(ours.us, sumsUs), limitUs, fastest };
  // through one switch the library's are of the same kind: what they take tells what ours would
  const part = (call + sumsUs + ours.us) / (call + sumsUs + library.us);
  return { algorithm: ours.algorithm, us: fastest.us * part, limitUs, fastest };
}

/** What the library's best lacks of its own simulation, ours lack too. */
async function ofNccl(lib, engine, fit, fastest, collective, bytes) {
  const { key } = fit;
  const topology = topologyOf(lib, key, fastest.row.ranks);
  const { ours, library, limitUs } = await simulated(lib, engine, topology, collective, bytes, false);
  if (library === null) return null;
  const slower = Math.max(1, fastest.us / library.us);
  return {
    algorithm: ours.algorithm,
    us: ours.us * slower,
    limitUs,
    fastest,
    share: 1 / slower,
  };
}

/** Resolves to what our schedules would take, for every network at the sizes that its fastest is kept of; calls `onCase` between. */
export async function gains(lib, engine, fits, rows, onCase = () => {}) {
  const found = [];
  for (const fit of fits) {
    const { key } = fit;
    // its cards are assumed: no gain can rest on them
    if (NETWORKS[key].kind === "rccl") continue;
    const isMpi = NETWORKS[key].kind === "mpi";
    for (const collective of isMpi ? ["allreduce", "allgather"] : ["allreduce"]) {
      const all = rows.filter((row) => row.network === key && row.collective === collective);
      const most = all
        .filter(({ points }) => isMpi || points.length > 1)
        .reduce((a, { ranks }) => Math.max(a, ranks), 0);
      const own = all.filter(({ ranks }) => ranks === most);
      const sizes = [...new Set(own.flatMap(({ points }) => points.map(([bytes]) => bytes)))].sort((a, b) => a - b);
      const kept = isMpi ? sizes.filter((size) => MEASURED_SIZES.includes(size)) : sizes.slice(-1);
      for (const bytes of isMpi ? [...new Set([kept[0], kept.at(-1)])] : kept) {
        if (bytes === undefined) continue;
        const fastest = fastestAt(own, bytes);
        const made = await (isMpi ? ofMpi : ofNccl)(lib, engine, fit, fastest, collective, bytes);
        if (made !== null) found.push({ key, collective, bytes, ...made });
        onCase(found.length);
      }
    }
  }
  return found;
}
