// Section 6.1 of Themis (Rashidi et al., ISCA 2022) with our figures beside the printed ones; Themis against the baseline over networks and sizes; both levels of simulation beside each other.
import { dimensionsOf } from "../dist/model/dimensions/dimensions.js";
import { toNumber } from "../dist/model/numbers/rational.js";
import { phaseTransfers, stepsOfPhases } from "../dist/model/phases/phase-steps.js";
import { presetTopology } from "../dist/model/presets/preset.js";
import { simulatePhases } from "../dist/simulate/phases/phases.js";
import { simulateSchedule } from "../dist/simulate/steps/replay.js";
import { PUBLISHED, themisOrders } from "../dist/synthesize/themis/orders.js";
import { blueconnect, themis } from "../dist/synthesize/themis/themis.js";
import { verifySchedule } from "../dist/verify/steps/schedule.js";
import { machine, progress, publish } from "./support.mjs";
import {
  ACTIVITY,
  ASKED,
  BEST,
  CHUNKS,
  EXAMPLE,
  GRANULARITY,
  GRANULARITY_PRINTED,
  LEVELS,
  NETWORKS,
  SCALE,
  SIZES,
  SWEEP,
} from "./themis-cases.mjs";
import { themisReport } from "./themis-report.mjs";
import { activity, methods, network, problem, requestFor, sideBySide } from "./themis-trials.mjs";

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
const WITHOUT_LATENCY = { ...PUBLISHED, countsLatency: false };
const figuresOf = ({ ps, utilisation }) => ({ us: ps / 1e6, utilisation });

/** Figures 8 and 11. */
function times() {
  return NETWORKS.flatMap((name) =>
    SIZES.map((sizeBytes) => {
      const { baseline, fifo, scf } = methods(problem(network(name), "allreduce", sizeBytes, CHUNKS));
      return { network: name, sizeBytes, baseline: figuresOf(baseline), fifo: figuresOf(fifo), scf: figuresOf(scf) };
    }),
  );
}

/** The means over figures 8 and 11. */
function means(rows) {
  const speedUps = (of) => rows.map((row) => row.baseline.us / row[of].us);
  return {
    ...Object.fromEntries(["baseline", "fifo", "scf"].map((of) => [of, mean(rows.map((row) => row[of].utilisation))])),
    fifoSpeedUp: mean(speedUps("fifo")),
    scfSpeedUp: mean(speedUps("scf")),
    greatest: Math.max(...speedUps("scf")),
  };
}

const asked = (found) =>
  ASKED.map(({ figure, key, printed, points, share }) => {
    const within = points ?? share * printed;
    return { figure, printed, within, reached: found[key], missed: Math.abs(found[key] - printed) > within };
  });

/** The same means in other ways that the text of the paper leaves open. */
function attempts() {
  const over = (of) => {
    const rows = NETWORKS.flatMap((name) =>
      SIZES.map((sizeBytes) => {
        const one = problem(network(name), "allreduce", sizeBytes, CHUNKS);
        return { us: methods(one).baseline.ps / 1e6, ...of(one) };
      }),
    );
    return {
      utilisation: mean(rows.map((row) => row.utilisation)),
      speedUp: mean(rows.map((row) => row.us / row.own)),
    };
  };
  const figures = ({ ps, utilisation }) => ({ own: ps / 1e6, utilisation });
  return [
    ...["fifo", "scf"].map((key) => ({
      method: key,
      what: "loads start at 0 instead of A_K",
      ...over((one) => figures(methods(one, WITHOUT_LATENCY)[key])),
    })),
    ...[2, 8].map((atOnce) => ({
      method: "fifo",
      what: `${atOnce} chunks at once in a dimension, sharing its bandwidth (4.3)`,
      ...over((one) => figures(sideBySide(one, themisOrders(one), atOnce))),
    })),
  ];
}

/** Figure 10, with loads that start at A_K and at 0. */
function granularity() {
  const rows = GRANULARITY.chunks.map((chunks) => {
    const found = GRANULARITY.networks.map((name) => {
      const one = problem(network(name), "allreduce", GRANULARITY.sizeBytes, chunks);
      return { published: methods(one), without: methods(one, WITHOUT_LATENCY) };
    });
    const over = (from, key) => found.map((one) => one[from][key].utilisation);
    return {
      chunks,
      baseline: over("published", "baseline"),
      fifo: over("published", "fifo"),
      scf: over("published", "scf"),
      fifoWithoutLatency: over("without", "fifo"),
      scfWithoutLatency: over("without", "scf"),
    };
  });
  const ends = [rows[0], rows[rows.length - 1]];
  const sameShape =
    ends.every((row) => mean(row.fifo) < mean(row.scf)) &&
    ["fifo", "scf"].every((key) => {
      const [from, to] = ends.map((row) => mean(row[key]));
      const [low, high] = GRANULARITY_PRINTED[key];
      return Math.abs(from - low) < 10 && Math.abs(to - high) < 10;
    }) &&
    rows.every((row) => Math.max(...row.baseline) - Math.min(...rows[0].baseline) < 5);
  return { rows, printed: GRANULARITY_PRINTED, missed: !sameShape };
}

function example() {
  const one = problem(network(EXAMPLE.network), "allreduce", EXAMPLE.sizeBytes, EXAMPLE.chunks);
  const unitPs = one.costs(0, 0, 1).serialPs;
  const loads = [];
  themisOrders(one, PUBLISHED, (after) => loads.push(after.map((ps) => ps / unitPs)));
  const { baseline, fifo, scf } = methods(one);
  const units = { baseline: baseline.ps / unitPs, fifo: fifo.ps / unitPs, scf: scf.ps / unitPs };
  const missed =
    JSON.stringify(loads) !== JSON.stringify(EXAMPLE.loads) ||
    units.baseline !== EXAMPLE.units.baseline ||
    units.scf !== EXAMPLE.units.scf;
  return { loads, units, missed };
}

function activities() {
  const { network: name, sizeBytes, windowUs } = ACTIVITY;
  const found = methods(problem(network(name), "allreduce", sizeBytes, CHUNKS));
  return Object.entries(found).map(([method, one]) => ({ method, dimensions: activity(one, windowUs * 1e6) }));
}

/** Themis as published and as shipped against the baseline. */
function sweep() {
  return SWEEP.networks.map((name) => {
    progress(`themis: ${name}`);
    const row = {
      network: name,
      cases: 0,
      publishedSlower: 0,
      publishedWorst: 0,
      slower: 0,
      worst: 0,
      gain: 0,
      best: 0,
    };
    for (const kind of SWEEP.collectives) {
      for (const sizeBytes of SWEEP.sizes) {
        for (const chunks of SWEEP.chunks) {
          const request = requestFor(network(name), kind, sizeBytes, chunks);
          const { baseline, ...published } = methods(problem(network(name), kind, sizeBytes, chunks));
          for (const policy of ["fifo", "scf"]) {
            const raw = published[policy].ps / baseline.ps;
            const shipped = simulatePhases(themis.makePhases({ ...request, policy }).schedule).ps / baseline.ps;
            row.cases++;
            if (raw > 1 + SWEEP.share) row.publishedSlower++;
            row.publishedWorst = Math.max(row.publishedWorst, raw);
            if (shipped > 1 + SWEEP.share) row.slower++;
            row.worst = Math.max(row.worst, shipped);
            row.gain += 1 / shipped;
            row.best = Math.max(row.best, 1 / shipped);
          }
        }
      }
    }
    return { ...row, gain: row.gain / row.cases, missed: row.slower > 0 };
  });
}

/** The mean utilisation of table 2's networks by each policy of the maker, with few and with many chunks. */
function policies() {
  return BEST.chunks.map((chunks) => {
    const over = (maker, policy) =>
      mean(
        NETWORKS.map((name) => {
          const request = requestFor(network(name), "allreduce", BEST.sizeBytes, chunks);
          return 100 * toNumber(simulatePhases(maker.makePhases({ ...request, policy }).schedule).utilisation);
        }),
      );
    const [baseline, fifo, scf, best] = [
      over(blueconnect, null),
      ...["fifo", "scf", "best"].map((policy) => over(themis, policy)),
    ];
    return { chunks, baseline, fifo, scf, best };
  });
}

/** Steps in the network beside phases dimension by dimension. */
function levels() {
  return LEVELS.networks.flatMap((name) =>
    LEVELS.cases.flatMap(({ sizeBytes, chunks }) =>
      [blueconnect, themis].flatMap((maker) => {
        const { schedule } = maker.makePhases(requestFor(network(name), "allreduce", sizeBytes, chunks));
        if (phaseTransfers(schedule) > LEVELS.mostTransfers) return [];
        progress(`themis: steps of ${maker.name} on ${name}`);
        const steps = stepsOfPhases(schedule);
        const verified = verifySchedule(steps).violationCount === 0;
        const [stepsPs, phasesPs] = [simulateSchedule(steps).ps, simulatePhases(schedule).ps];
        const missed = !verified || stepsPs > (1 + LEVELS.share) * phasesPs + steps.chunk.length;
        return { network: name, sizeBytes, chunks, algorithm: maker.name, stepsPs, phasesPs, verified, missed };
      }),
    ),
  );
}

/** Table 2's networks with switches that sum, and DGX boxes. */
function offloaded() {
  return [...NETWORKS, "dgx-h100", "dgx-h100:4"].map((name) => {
    const topology = network(name);
    const able = { multicast: true, aggregation: true };
    const summing = {
      ...topology,
      nodeTraits: topology.nodeTraits.map((traits, node) =>
        node < topology.npuCount ? traits : { ...traits, ...able },
      ),
    };
    const [plain, offload] = [
      methods(problem(topology, "allreduce", 1e9, CHUNKS)),
      methods(problem(summing, "allreduce", 1e9, CHUNKS, true)),
    ];
    return {
      network: name,
      plain: { baseline: plain.baseline.ps / 1e6, scf: plain.scf.ps / 1e6 },
      offload: { baseline: offload.baseline.ps / 1e6, scf: offload.scf.ps / 1e6 },
    };
  });
}

/** Dimensions, Themis and its replay, from a network without anything known of it. */
function scale() {
  return SCALE.map(({ network: name, sizeBytes, chunks }) => {
    const topology = presetTopology(name);
    const request = requestFor(topology, "allreduce", sizeBytes, chunks);
    const started = performance.now();
    dimensionsOf(topology);
    const { schedule } = themis.makePhases(request);
    const { ps } = simulatePhases(schedule);
    return {
      network: name,
      npus: topology.npuCount,
      links: topology.linkSource.length,
      us: ps / 1e6,
      ms: performance.now() - started,
    };
  });
}

/** Measures, prints and writes; returns the number of figures that are missed. */
export async function run() {
  const where = machine();
  const scaled = scale();
  const rows = times();
  const data = {
    asked: asked(means(rows)),
    times: rows,
    attempts: attempts(),
    example: example(),
    granularity: granularity(),
    activity: activities(),
    offload: offloaded(),
    policies: policies(),
    levels: levels(),
    sweep: sweep(),
    scale: scaled,
  };
  const missed = [data.asked, data.levels, data.sweep, [data.example, data.granularity]]
    .flat()
    .filter((one) => one.missed).length;
  publish("themis", { machine: where, ...data, missed }, themisReport(where, data));
  return missed;
}
