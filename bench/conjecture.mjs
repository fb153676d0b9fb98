// Conjecture 1 of Zhao 2026, that every circulant C(n, {a1, ..., ak}) has a bandwidth-optimal breadth-first broadcast: all with two
// offsets up to 200 nodes, all with three up to 60, seeded ones with three beyond. One node stands for all.
import { figure, machine, progress, publish, reportHead, table } from "./support.mjs";

const TWO_UP_TO = 200;
const THREE_UP_TO = 60;
const SEEDED = { count: 10_000, seed: 1, from: 7, to: 500 };
/** Counterexamples listed in the text; the JSON has all. */
const SHOWN = 40;
const ABOUT = [
  "Loads of the busiest link in each comm step, exactly (LP 3.1), against those of balanced links: shards at the step's distance,",
  "divided by its links. By theorem 19 a counterexample has links that must carry more. Offsets are different and below n / 2;",
  "n / 2, where the last one is, is one link. The paper proves two offsets below n / 2.",
];

const gcd = (a, b) => (b === 0 ? a : gcd(b, a % b));

/** Yields the rising lists of so many offsets up to `most`. */
function* offsetsUpTo(most, count, from = 1) {
  if (count === 0) yield [];
  for (let a = from; count > 0 && a <= most; a++) {
    for (const rest of offsetsUpTo(most, count - 1, a + 1)) yield [a, ...rest];
  }
}

function* all(from, to, count, withHalf) {
  for (let n = from; n <= to; n++) {
    const most = withHalf ? n / 2 : (n - 1) / 2;
    for (const offsets of offsetsUpTo(Math.floor(most), count)) {
      if (!withHalf || 2 * offsets[count - 1] === n) yield { n, offsets };
    }
  }
}

function* seeded({ below }) {
  for (let found = 0; found < SEEDED.count; ) {
    const n = SEEDED.from + below(SEEDED.to - SEEDED.from + 1);
    const most = Math.floor((n - 1) / 2);
    const offsets = [...new Set([1, 2, 3].map(() => 1 + below(most)))].sort((a, b) => a - b);
    if (offsets.length < 3 || offsets.reduce(gcd, n) !== 1) continue;
    found++;
    yield { n, offsets };
  }
}

/** Returns null where the broadcast is optimal, else the first step whose links cannot be balanced, and T_B. */
function counterexample(kernels, { n, offsets }) {
  const by = [...new Set(offsets.flatMap((a) => [a, n - a]))];
  const ports = by.length;
  const inOffset = Int32Array.from({ length: n + 1 }, (_, v) => v * ports);
  const inSource = Int32Array.from({ length: n * ports }, (_, i) => (Math.floor(i / ports) + by[i % ports]) % n);
  const targets = Int32Array.of(0);
  const shared = { nodeCount: n, inOffset, inSource, targets, parts: 0, wantsShares: 0, threads: 1 };
  const { steps, loadNum, loadDen } = kernels.balance({ ...shared, maxSteps: n, maxRows: 0 });
  let sum = 0;
  for (let t = 0; t < steps; t++) sum += loadNum[t] / loadDen[t];
  if (Math.abs(sum * ports - (n - 1)) < 0.5 / 60) return null;
  const distance = distances(n, by);
  const counts = Array.from({ length: steps }, (_, t) => distance.filter((d) => d === t + 1).length);
  const step = counts.findIndex((count, t) => loadNum[t] * ports !== count * loadDen[t]);
  const load = `${loadNum[step]}/${loadDen[step]}`;
  const balanced = `${counts[step]}/${ports}`;
  return { n, offsets, step: step + 1, load, balanced, bandwidth: (sum * ports) / n, least: (n - 1) / n };
}

function distances(n, by) {
  const distance = new Int32Array(n).fill(-1);
  distance[0] = 0;
  const queue = [0];
  for (const v of queue) {
    for (const a of by) {
      const w = (v + a) % n;
      if (distance[w] >= 0) continue;
      distance[w] = distance[v] + 1;
      queue.push(w);
    }
  }
  return distance;
}

/** Measures, prints and writes; returns the number of requirements missed: counterexamples to what is proved. */
export async function run() {
  const { openEngine } = await import("../dist/index.js");
  const { random } = await import("../dist/base/random.js");
  const where = machine();
  const engine = await openEngine({ threads: 0 });
  const groups = [
    { name: `k = 2, all up to ${TWO_UP_TO} nodes`, graphs: all(5, TWO_UP_TO, 2, false), proved: true },
    { name: `k = 2, all with n / 2 up to ${TWO_UP_TO}`, graphs: all(4, TWO_UP_TO, 2, true), proved: false },
    { name: `k = 3, all up to ${THREE_UP_TO} nodes`, graphs: all(7, THREE_UP_TO, 3, false), proved: false },
    {
      name: `k = 3, ${SEEDED.count} seeded ones of ${SEEDED.from} to ${SEEDED.to} nodes`,
      graphs: seeded(random(SEEDED.seed)),
      proved: false,
    },
  ];
  const rows = groups.map(({ name, graphs, proved }) => {
    const started = performance.now();
    const broken = [];
    let count = 0;
    for (const given of graphs) {
      if (given.offsets.reduce(gcd, given.n) !== 1) continue;
      if (count++ % 10_000 === 0) progress(`conjecture: ${name}, ${count}`);
      const found = counterexample(engine.kernels, given);
      if (found !== null) broken.push(found);
    }
    return { name, proved, count, broken, seconds: (performance.now() - started) / 1000 };
  });
  await engine.close();
  const broken = rows.flatMap((row) => row.broken);
  const worst = [...broken].sort((a, b) => b.bandwidth / b.least - a.bandwidth / a.least)[0];
  const line = (c) => [
    `C(${c.n},{${c.offsets.join(",")}})`,
    c.step,
    c.load,
    c.balanced,
    figure(c.bandwidth),
    figure(c.least),
  ];
  const columns = ["graph", "step", "load", "balanced", "T_B", "least"];
  const text = [
    ...reportHead("conjecture", "Conjecture 1: circulants are bandwidth-optimal", ABOUT, where),
    table(
      ["graphs", "count", "counterexamples", "s"],
      rows.map((row) => [row.name, row.count, row.broken.length, figure(row.seconds)]),
    ),
    "",
    ...(broken.length === 0
      ? []
      : [
          `The first ${Math.min(SHOWN, broken.length)} of ${broken.length} counterexamples, and the worst:`,
          "",
          table(columns, [...broken.slice(0, SHOWN), worst].map(line)),
        ]),
  ].join("\n");
  publish("conjecture", { machine: where, rows }, text);
  return rows.reduce((missed, row) => missed + (row.proved ? row.broken.length : 0), 0);
}
