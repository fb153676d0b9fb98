// One collective on one network by the baseline and by Themis, dimension by dimension; and what a dimension does that carries out several chunks at once.
import { collective } from "../dist/model/collective/collective.js";
import { dimensionsOf } from "../dist/model/dimensions/dimensions.js";
import { toNumber } from "../dist/model/numbers/rational.js";
import { presetTopology } from "../dist/model/presets/preset.js";
import { simulatePhases } from "../dist/simulate/phases/phases.js";
import {
  baselineOrders,
  executed,
  opAt,
  PUBLISHED,
  problemOf,
  themisOrders,
} from "../dist/synthesize/themis/orders.js";

const topologies = new Map();

/** Returns the network of a preset, remembered. */
export function network(preset) {
  if (!topologies.has(preset)) topologies.set(preset, presetTopology(preset));
  return topologies.get(preset);
}

export function requestFor(topology, kind, sizeBytes, chunks) {
  const everyone = Int32Array.from({ length: topology.npuCount }, (_, npu) => npu);
  const of = collective({ kind, groups: [everyone], sizeBytes, chunksPerNpu: chunks, rootRank: 0 });
  return { topology, collective: of, policy: null, offload: false };
}

export function problem(topology, kind, sizeBytes, chunks, offload = false) {
  return problemOf(topology, requestFor(topology, kind, sizeBytes, chunks).collective, dimensionsOf(topology), offload);
}

const replayed = (schedule) => {
  const simulation = simulatePhases(schedule);
  return { schedule, ps: simulation.ps, utilisation: 100 * toNumber(simulation.utilisation), simulation };
};

/** Returns the baseline, Themis+FIFO and Themis+SCF (table 3) as published, without any guard. */
export function methods(of, options = PUBLISHED) {
  const orders = themisOrders(of, options);
  return {
    baseline: replayed(executed(of, baselineOrders(of), "fifo")),
    fifo: replayed(executed(of, orders, "fifo")),
    scf: replayed(executed(of, orders, "scf")),
  };
}

/**
 * Returns picoseconds and utilisation where every dimension carries out up to `atOnce` chunks side by side, each with an equal
 * share of its bandwidth, first come, first served (4.3).
 */
export function sideBySide(of, orders, atOnce) {
  const { chunks, perChunk, dimensions, scatters, collective: what, costs } = of;
  const position = new Int32Array(chunks);
  const holders = new Float64Array(chunks).fill(scatters === 0 ? what.groupSize : 1);
  const queues = dimensions.map(() => []);
  const active = dimensions.map(() => []);
  let arriving = [];
  let now = 0;
  let left = chunks;
  let bytes = 0;
  const enqueue = (chunk) => {
    const d = orders[chunk * perChunk + position[chunk]];
    const op = opAt(of, position[chunk]);
    if (op === 1) holders[chunk] /= dimensions[d].size;
    const { serialPs, latencyPs, bytesSent } = costs(d, op, holders[chunk]);
    if (op === 0) holders[chunk] *= dimensions[d].size;
    bytes += toNumber(bytesSent);
    queues[d].push({ chunk, restPs: serialPs, latencyPs });
  };
  for (let chunk = 0; chunk < chunks; chunk++) enqueue(chunk);
  while (left > 0) {
    let next = Math.min(...arriving.map(({ ps }) => ps));
    for (const [d, running] of active.entries()) {
      running.push(...queues[d].splice(0, Math.max(0, atOnce - running.length)));
      for (const { restPs } of running) next = Math.min(next, now + restPs * running.length);
    }
    for (const [d, running] of active.entries()) {
      for (const one of running) one.restPs -= (next - now) / running.length;
      for (const { chunk, restPs, latencyPs } of running)
        if (restPs < 0.5) arriving.push({ chunk, ps: next + latencyPs });
      active[d] = running.filter(({ restPs }) => restPs >= 0.5);
    }
    now = next;
    const there = arriving.filter(({ ps }) => ps <= now).sort((a, b) => a.ps - b.ps || a.chunk - b.chunk);
    arriving = arriving.filter(({ ps }) => ps > now);
    for (const { chunk } of there) {
      if (++position[chunk] < perChunk) enqueue(chunk);
      else left--;
    }
  }
  const bandwidth = dimensions.reduce((sum, { bytesPerSecond }) => sum + bytesPerSecond, 0);
  return { ps: now, utilisation: (100 * bytes) / ((now / 1e12) * bandwidth) };
}

/**
 * Returns for each dimension the percentage of each window in which some chunk is in it, waiting, on its way or arriving (figure
 * 9), until the collective is done.
 */
export function activity({ schedule, simulation }, windowPs) {
  const windows = Math.ceil(simulation.ps / windowPs);
  const readyPs = new Float64Array(schedule.collective.chunksPerNpu);
  const intervals = schedule.dimensions.map(() => []);
  for (let i = 0; i < schedule.chunk.length; i++) {
    intervals[schedule.dimension[i]].push([readyPs[schedule.chunk[i]], simulation.endPs[i]]);
    readyPs[schedule.chunk[i]] = simulation.endPs[i];
  }
  return intervals.map((own) => {
    const active = new Float64Array(windows);
    let covered = 0;
    for (const [from, to] of own.sort((a, b) => a[0] - b[0])) {
      for (let start = Math.max(from, covered); start < to; ) {
        const window = Math.floor(start / windowPs);
        const end = Math.min(to, (window + 1) * windowPs);
        active[window] += end - start;
        start = end;
      }
      covered = Math.max(covered, to);
    }
    return [...active].map((ps, w) => (100 * ps) / (Math.min((w + 1) * windowPs, simulation.ps) - w * windowPs));
  });
}
