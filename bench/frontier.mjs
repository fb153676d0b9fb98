// Frontier: how far the best schedule is from the proved limit on networks of all families, the farthest first: what to do next.
import { degrade, openEngine, synthesize, topology, without } from "../dist/index.js";
import { parseSize } from "../dist/model/numbers/units.js";
import { COLLECTIVES, NETWORKS, partsOf, SIZES } from "./frontier-cases.mjs";
import { figure, groupedBy, machine, median, progress, publish, reportHead, table } from "./support.mjs";

const SECONDS = 1;
/** Those that the limit of time cut short and that are farthest from their limit are given longer. */
const AGAIN = { rows: 30, seconds: 10 };
/** Rows of the report; the file beside it has all. */
const LISTED = 200;
/** An algorithm that is tried first is tried to its end, but no longer than this. */
const MOST_SECONDS = 60;

function networkOf(text) {
  const { preset, gone, slower } = partsOf(text);
  return degrade(without(topology(preset), gone), slower);
}

/** Returns a case with what the best of all algorithms makes of it, or with the reason why there is none. */
async function measured(engine, one, seconds) {
  try {
    const { report } = await synthesize({
      engine,
      topology: networkOf(one.network),
      collective: one.collective,
      sizeBytes: parseSize(one.size),
      algorithm: "auto",
      timeLimitMs: 1000 * seconds,
      signal: AbortSignal.timeout(1000 * MOST_SECONDS),
    });
    const { algorithm, time, limit, classLimit, ofLimit, ofClassLimit, gaps, deterministic } = report;
    return {
      ...one,
      seconds,
      algorithm,
      us: time.us,
      limitUs: limit.us,
      limitKind: limit.kind,
      overLimit: 1 / ofLimit,
      classOf: classLimit?.of ?? null,
      overClassLimit: ofClassLimit === null ? null : 1 / ofClassLimit,
      cut: !deterministic,
      gaps: gaps.map(({ because }) => because),
    };
  } catch (error) {
    return { ...one, seconds, error: error.message };
  }
}

/** Failed ones first, then by how far they are from the limit. */
const farthestFirst = (rows) =>
  [...rows].sort((a, b) => (b.overLimit ?? Number.POSITIVE_INFINITY) - (a.overLimit ?? Number.POSITIVE_INFINITY) || 0);

function summary(rows, keyOf, heading) {
  return table(
    [heading, "rows", "at the limit", "within 5 %", "median", "worst", "failed"],
    [...groupedBy(rows, keyOf)].map(([key, all]) => {
      const over = all.filter(({ error }) => error === undefined).map(({ overLimit }) => overLimit);
      const below = (most) => over.filter((one) => one <= most).length;
      const figures = over.length === 0 ? ["", ""] : [figure(median(over)), figure(Math.max(...over))];
      return [key, all.length, below(1.0005), below(1.05), ...figures, all.length - over.length];
    }),
  );
}

function report(where, rows) {
  return [
    ...reportHead(
      "frontier",
      "How far from the limit the best schedule is, the farthest first",
      [
        `\`--algorithm auto\` with ${SECONDS} s, and ${AGAIN.seconds} s for the ${AGAIN.rows} farthest that this cut short.`,
        `Of all cases the ${LISTED} farthest. Simulated time over the limit that is proved for any algorithm; over the limit of its class where one is known.`,
        "Figures are simulated times, which the machine's load changes only in rows that are cut: there algorithms were left out.",
      ],
      where,
    ),
    summary(rows, ({ family }) => family, "networks"),
    "",
    summary(rows, ({ collective }) => collective, "collective"),
    "",
    summary(rows, ({ size }) => size, "size"),
    "",
    table(
      [
        "network",
        "collective",
        "size",
        "over limit",
        "algorithm",
        "time us",
        "limit us",
        "proof",
        "class",
        "over class",
        "cut",
        "the rest",
      ],
      farthestFirst(rows)
        .slice(0, LISTED)
        .map((r) =>
          r.error !== undefined
            ? [r.network, r.collective, r.size, "", "", "", "", "", "", "", "", r.error]
            : [
                r.network,
                r.collective,
                r.size,
                r.overLimit.toFixed(4),
                r.algorithm,
                figure(r.us, 6),
                figure(r.limitUs, 6),
                r.limitKind,
                r.classOf,
                r.overClassLimit?.toFixed(4),
                r.cut ? `${r.seconds} s` : "",
                r.overLimit > 1.05 ? r.gaps.join("; ") : "",
              ],
        ),
    ),
  ].join("\n");
}

/** Measures and publishes; returns how many rows failed, or are below their limit. */
export async function run() {
  const where = machine();
  const cases = Object.entries(NETWORKS).flatMap(([family, networks]) =>
    networks.flatMap((network) =>
      COLLECTIVES.flatMap((collective) => SIZES.map((size) => ({ family, network, collective, size }))),
    ),
  );
  const engine = await openEngine({ threads: 1 });
  const rows = new Map();
  const measure = async (one, seconds) => {
    progress(
      `frontier: ${rows.size}/${cases.length}, ${one.collective} of ${one.size} on ${one.network}, ${seconds} s`,
    );
    rows.set(one, await measured(engine, one, seconds));
  };
  try {
    for (const one of cases) await measure(one, SECONDS);
    const again = farthestFirst(cases.filter((one) => rows.get(one).cut).map((one) => ({ one, ...rows.get(one) })));
    for (const { one } of again.slice(0, AGAIN.rows)) await measure(one, AGAIN.seconds);
  } finally {
    await engine.close();
  }
  const all = [...rows.values()];
  publish("frontier", { machine: where, rows: farthestFirst(all) }, report(where, all));
  return all.filter(({ error, overLimit }) => error !== undefined || overLimit < 1 - 1e-9).length;
}
