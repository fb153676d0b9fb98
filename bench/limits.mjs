// Limits: on every preset with boxes, which share of the least possible time the best algorithm reaches, and what the rest is.
import { degrade, openEngine, synthesize, topology, without } from "../dist/index.js";
import { CASES, COLLECTIVES, LEAST_SHARE } from "./limits-cases.mjs";
import { figure, machine, progress, progressDone, publish, reportHead, table } from "./support.mjs";

const SIZE = 2 ** 30;
const MOST_MS = 4000;

const nameOf = ({ network, without: gone, degrade: slow }) =>
  network +
  (gone === undefined ? "" : ` without ${gone.join(", ")}`) +
  (slow === undefined
    ? ""
    : ` at ${Object.entries(slow)
        .map(([link, share]) => `${link}=${share}`)
        .join(", ")}`);

/** Returns what the best of all algorithms makes of a collective. */
async function row(engine, entry, collective) {
  const network = degrade(without(topology(entry.network), entry.without ?? []), Object.entries(entry.degrade ?? {}));
  const asked = { engine, topology: network, collective, sizeBytes: SIZE, algorithm: "auto", timeLimitMs: MOST_MS };
  const { report } = await synthesize(asked);
  const { algorithm, time, limit, classLimit, ofLimit, ofClassLimit, gaps } = report;
  return {
    network: nameOf(entry),
    collective,
    algorithm,
    us: time.us,
    limitUs: limit.us,
    limitKind: limit.kind,
    ofLimit,
    classLimitUs: classLimit?.us ?? null,
    classOf: classLimit?.of ?? null,
    ofClassLimit,
    gaps: gaps.map(({ because }) => because),
  };
}

const share = (value) => (value === null ? "" : `${figure(100 * value)} %`);

function report(where, rows) {
  return [
    ...reportHead(
      "limits",
      "How near the best algorithm comes to the limit",
      [
        `1 GiB, \`--algorithm auto\` with ${MOST_MS / 1000} s. The limit holds for any algorithm, the limit of its class for`,
        "schedules that have something in common with this one; both are proved. What is missing is said in a sentence.",
      ],
      where,
    ),
    table(
      [
        "network",
        "collective",
        "algorithm",
        "time us",
        "limit us",
        "of limit",
        "proof",
        "class",
        "of class",
        "the rest",
      ],
      rows.map((r) =>
        r.error !== undefined
          ? [r.network, r.collective, "", "", "", "", "", "", "", r.error]
          : [
              r.network,
              r.collective,
              r.algorithm,
              figure(r.us, 6),
              figure(r.limitUs, 6),
              share(r.ofLimit),
              r.limitKind,
              r.classOf,
              share(r.ofClassLimit),
              r.ofLimit >= LEAST_SHARE ? "" : `missing: ${r.gaps.join("; ")}`,
            ],
      ),
    ),
  ].join("\n");
}

/** Measures and publishes; returns how many lines are above their limit, or failed. */
export async function run() {
  const where = machine();
  const engine = await openEngine();
  const rows = [];
  try {
    for (const entry of CASES) {
      for (const collective of COLLECTIVES) {
        progress(`limits: ${collective} on ${nameOf(entry)}`);
        try {
          rows.push(await row(engine, entry, collective));
        } catch (error) {
          rows.push({ network: nameOf(entry), collective, error: error.message });
        }
      }
    }
  } finally {
    progressDone();
    await engine.close();
  }
  publish("limits", { machine: where, sizeBytes: SIZE, rows }, report(where, rows));
  return rows.filter(({ error, ofLimit }) => error !== undefined || ofLimit > 1).length;
}
