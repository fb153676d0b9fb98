// Quality: how far schedules are from their proved bounds, all networks in one table, the bad ones too.
import { COLLECTIVE_KINDS, makespanPs, openEngine, synthesize, topology, without } from "../dist/index.js";
import { routeTimes } from "../dist/model/routes/routes.js";
import { COLLECTIVE_NETWORKS, FAILED_MESH, NETWORKS, REQUIREMENTS } from "./quality-cases.mjs";
import { policiesAlone, policyReport } from "./quality-policies.mjs";
import { asPlanned, figure, machine, progress, progressDone, publish, reportHead, table } from "./support.mjs";

const SIZE = 2 ** 30;
const PS_PER_US = 1e6;

const shortest = (value) => String(Math.round(value * 1e6) / 1e6);
const yes = (value) => (value ? "yes" : "NO");

/** Returns the one slot time of a schedule whose routes are all equally long; null for any other. */
function slotOf({ topology: network, routes, collective }) {
  const { slotPs } = routeTimes(network, routes, collective.chunkBytes);
  return slotPs.every((slot) => slot === slotPs[0]) ? slotPs[0] : null;
}

/** Returns what was found on one network; a failure becomes a row as well. */
async function allGather(engine, entry) {
  try {
    const { schedule, report } = await synthesize({
      engine,
      topology: networkOf(entry),
      collective: "allgather",
      sizeBytes: SIZE,
      chunks: entry.chunks ?? 1,
      simulate: true,
    });
    const slot = slotOf(schedule);
    const { us, bound, share } = asPlanned(report);
    const above = makespanPs(schedule) - bound.us * PS_PER_US;
    return {
      ...entry,
      npus: report.topology.npus,
      timeUs: us,
      boundUs: bound.us,
      slots: slot === null ? null : makespanPs(schedule) / slot,
      boundSlots: slot === null ? null : (bound.us * PS_PER_US) / slot,
      // Times are whole picoseconds: less than one above is none above.
      slotsAbove: slot === null ? null : above < 1 ? 0 : above / slot,
      atBound: above < 1,
      optimality: share,
      ofLimit: report.ofLimit,
      policy: report.synthesis.policy,
      trials: report.synthesis.trials,
      ms: report.synthesis.ms,
      verified: report.verified,
      simulatedUs: report.time.us,
      witness: bound.kind,
    };
  } catch (error) {
    return { ...entry, verified: false, error: error.message };
  }
}

const networkOf = ({ network, topology: text = network, without: gone = [] }) => without(topology(text), gone);
const nameOf = (entry) => entry.topology + (entry.without === undefined ? "" : ` without ${entry.without.join(", ")}`);

async function collectives(engine) {
  const rows = [];
  for (const entry of COLLECTIVE_NETWORKS) {
    for (const collective of COLLECTIVE_KINDS) {
      const name = nameOf(entry);
      progress(`quality: ${collective} on ${name}`);
      try {
        const { report } = await synthesize({ engine, topology: networkOf(entry), collective, sizeBytes: SIZE });
        const { us, bound, share } = asPlanned(report);
        rows.push({
          network: name,
          collective,
          timeUs: us,
          boundUs: bound.us,
          optimality: share,
          simulatedUs: report.time.us,
          limitUs: report.limit.us,
          ofLimit: report.ofLimit,
          policy: report.synthesis.policy,
          trials: report.synthesis.trials,
          ms: report.synthesis.ms,
          verified: report.verified,
          witness: bound.kind,
        });
      } catch (error) {
        rows.push({ network: name, collective, verified: false, error: error.message });
      }
    }
  }
  return rows;
}

/** Returns TACOS against the ring in natural order, one way, both simulated store-and-forward, per number of chunks and at best. */
async function failedMesh(engine) {
  const { sizeBytes, chunks: counts, paper, atLeast } = FAILED_MESH;
  const network = networkOf(FAILED_MESH);
  const rows = [];
  for (const chunks of counts) {
    progress(`quality: all-reduce on the failed mesh against a ring, ${chunks} chunks`);
    const simulated = async (maker) => {
      const request = { engine, topology: network, collective: "allreduce", sizeBytes, chunks, ...maker };
      const { report } = await synthesize({ ...request, switching: "store-and-forward" });
      return report.time.us;
    };
    const tacosUs = await simulated({ algorithm: "tacos" });
    const ringUs = await simulated({ algorithm: "ring", policy: "natural" });
    rows.push({ chunks, tacosUs, ringUs, ratio: ringUs / tacosUs });
  }
  const tacosUs = Math.min(...rows.map((row) => row.tacosUs));
  const ringUs = Math.min(...rows.map((row) => row.ringUs));
  return { network: nameOf(FAILED_MESH), rows, best: { tacosUs, ringUs, ratio: ringUs / tacosUs }, paper, atLeast };
}

function summaryOf(rows, others, mesh) {
  const judged = REQUIREMENTS.map(({ text, aim = false, of, holds }) => {
    const asked = rows.filter(of);
    const missed = asked.filter((row) => row.error !== undefined || !holds(row));
    return { text, aim, asked: asked.length, met: asked.length - missed.length, missed: missed.map(describe) };
  });
  const failed = others.filter((row) => row.error !== undefined || !row.verified || row.ofLimit === null);
  judged.push({
    text: "eight collectives on six networks: verified and simulated",
    aim: false,
    asked: others.length,
    met: others.length - failed.length,
    missed: failed.map((row) => `${row.collective} on ${row.network}`),
  });
  const isShort = ({ ratio }) => ratio < mesh.atLeast;
  const [oneChunk, ...more] = mesh.rows;
  for (const [text, aim, asked] of [
    ["one chunk per NPU", false, [oneChunk]],
    ["more chunks, as many for the ring", true, more],
    ["each with its best number of chunks", true, [{ chunks: "best", ...mesh.best }]],
  ]) {
    const missed = asked.filter(isShort);
    judged.push({
      text: `all-reduce on the failed mesh at least ${mesh.atLeast} x faster than the ring: ${text}`,
      aim,
      asked: asked.length,
      met: asked.length - missed.length,
      missed: missed.map(({ chunks, ratio }) => `chunks ${chunks} (${figure(ratio)} x)`),
    });
  }
  return judged;
}

function describe(row) {
  if (row.error !== undefined) return `${row.network} (${row.error})`;
  const by =
    row.slotsAbove === null ? `optimality ${figure(row.optimality, 5)}` : `${shortest(row.slotsAbove)} slots above`;
  return `${row.network} (${by})`;
}

/** Measures, prints and writes; returns the number of requirements (not aims) missed. */
export async function run() {
  const where = machine();
  const started = performance.now();
  const engine = await openEngine();
  const rows = [];
  let policies;
  let others;
  let mesh;
  try {
    for (const entry of NETWORKS) {
      progress(`quality: ${rows.length + 1} of ${NETWORKS.length}, ${entry.network}`);
      rows.push(await allGather(engine, entry));
    }
    policies = await policiesAlone(engine, networkOf);
    others = await collectives(engine);
    mesh = await failedMesh(engine);
  } finally {
    await engine.close();
    progressDone();
  }
  const summary = summaryOf(rows, others, mesh);
  const seconds = Math.round((performance.now() - started) / 1000);
  const data = { machine: where, backend: engine.backend, seconds, sizeBytes: SIZE, summary, failedMesh: mesh };
  publish(
    "quality",
    { ...data, networks: rows, policies, collectives: others },
    report(where, engine, seconds, rows, policies, others, mesh, summary),
  );
  return summary.filter(({ aim, met, asked }) => !aim && met < asked).length;
}

const ABOUT = [
  "TACOS with its default trials, seed 1, 1 GiB, one chunk per NPU. Times are the schedule's own (link-busy); the",
  "bound is proved for the same chunks and the same model. Slots where all links are equal.",
];

function report(where, engine, seconds, rows, policies, others, mesh, summary) {
  const parts = [
    ...reportHead("quality", "Quality", ABOUT, where, `${engine.backend} kernels`, `${seconds} s in all`),
    "## All-gather",
    "",
    table(
      [
        "network",
        "NPUs",
        "time us",
        "bound us",
        "slots",
        "bound slots",
        "above",
        "optimality",
        "policy",
        "trials",
        "ms",
        "verified",
        "simulated us",
        "sim <= time",
        "witness",
      ],
      rows.map((r) =>
        r.error !== undefined
          ? [r.network, "", "", "", "", "", "", "", r.error, "", "", "NO"]
          : [
              r.network,
              r.npus,
              shortest(r.timeUs),
              shortest(r.boundUs),
              r.slots === null ? "" : shortest(r.slots),
              r.slots === null ? "" : shortest(r.boundSlots),
              r.slots === null ? "" : shortest(r.slotsAbove),
              r.optimality.toFixed(5),
              r.policy,
              r.trials,
              r.ms.toFixed(1),
              yes(r.verified),
              shortest(r.simulatedUs),
              yes(r.simulatedUs <= r.timeUs),
              r.witness,
            ],
      ),
    ),
    "",
    ...policyReport(policies),
    "",
    "## Eight collectives",
    "",
    table(
      [
        "network",
        "collective",
        "time us",
        "bound us",
        "optimality",
        "simulated us",
        "limit us",
        "of limit",
        "policy",
        "trials",
        "ms",
        "verified",
        "witness",
      ],
      others.map((r) =>
        r.error !== undefined
          ? [r.network, r.collective, "", "", "", "", "", "", r.error, "", "", "NO"]
          : [
              r.network,
              r.collective,
              shortest(r.timeUs),
              shortest(r.boundUs),
              r.optimality.toFixed(4),
              shortest(r.simulatedUs),
              shortest(r.limitUs),
              r.ofLimit.toFixed(4),
              r.policy,
              r.trials,
              r.ms.toFixed(1),
              yes(r.verified),
              r.witness,
            ],
      ),
    ),
    "",
    `## All-reduce of 64 MiB on ${mesh.network}, simulated store-and-forward`,
    "",
    table(
      ["chunks per NPU", "tacos us", "ring us", "ring / tacos", "asked", "paper"],
      [...mesh.rows, { chunks: "each at its best", ...mesh.best }].map((r) => [
        r.chunks,
        shortest(r.tacosUs),
        shortest(r.ringUs),
        figure(r.ratio),
        `>= ${mesh.atLeast}`,
        mesh.paper,
      ]),
    ),
    "",
    "## Requirements",
    "",
    table(
      ["requirement", "met", "of", "", "missed by"],
      summary.map(({ text, aim, asked, met, missed }) => [
        text,
        met,
        asked,
        met === asked ? "met" : aim ? "aim missed" : "MISSED",
        missed.join("; "),
      ]),
    ),
  ];
  return parts.join("\n");
}
