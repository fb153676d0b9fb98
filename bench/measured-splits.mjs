// Stricter judgements of the same model: fits that have not seen a half of the sizes, the larger ones, a series, a number of ranks, a network.
import { NETWORKS } from "./measured-networks.mjs";
import { fitParts, partedUs } from "./measured-parts.mjs";

/** Returns points of several networks as those of one: parts by their names, each with the label of the first that has it. */
function pooled(cases) {
  const names = [...new Set(cases.flatMap(({ parts }) => parts.map(({ name }) => name)))];
  const labels = Float64Array.from(names, (name) => {
    const own = cases.flatMap(({ parts }) => parts).find((part) => part.name === name);
    return own.label;
  });
  const points = cases.flatMap(({ parts, points: own }) => {
    const to = parts.map(({ name }) => names.indexOf(name));
    return own.map((point) => ({
      ...point,
      ways: point.ways.map((way) => {
        const wide = new Float64Array(names.length);
        way.forEach((amount, j) => {
          wide[to[j]] = amount;
        });
        return wide;
      }),
    }));
  });
  return { labels, points };
}

/** Returns the points of a pool, each predicted by a fit to all points of other folds; nothing where there is one fold only. */
function leftOut(lib, { labels, points }, foldOf) {
  const folds = points.map(foldOf);
  const names = [...new Set(folds)];
  if (names.length < 2) return [];
  return names.flatMap((fold) => {
    const { figures } = fitParts(
      lib,
      points.filter((_, i) => folds[i] !== fold),
      labels,
    );
    return points
      .filter((_, i) => folds[i] === fold)
      .map((point) => ({
        ...point,
        judged: true,
        labelled: partedUs(point, labels),
        fitted: partedUs(point, figures),
      }));
  });
}

/** Returns a bit of a point that looks drawn, the same in each run. */
function coin({ row, bytes }, seed) {
  let state = seed * 2654435761;
  for (const letter of `${row.runAs} ${row.collective} ${row.ranks} ${row.source.slice(-40)} ${bytes}`)
    state = Math.imul(state ^ letter.charCodeAt(0), 16777619);
  state ^= state >>> 15;
  return (Math.imul(state, 2246822519) >>> 31) & 1;
}

const SEEDS = [1, 2, 3, 4, 5];

/** Returns judgements: what a fit was not shown, and the points with what it makes of them. */
export function stricter(lib, cases) {
  const alone = cases.map((own) => pooled([own]));
  const machines = new Map();
  // rails, box sizes and generations differ among GPU clusters, NCCL's model is to know them: one pool of all
  for (const own of cases) {
    const key = own.network.kind === "nccl" ? "GPUs" : NETWORKS[own.key].machine;
    machines.set(key, [...(machines.get(key) ?? []), own]);
  }
  const pools = [...machines].map(([key, members]) => [key, pooled(members)]);
  const each = (foldOf) => alone.flatMap((pool) => leftOut(lib, pool, foldOf));
  const middleOf = ({ row }) => row.points[Math.max(0, Math.ceil(row.points.length / 2) - 1)][0];
  const seriesOf = ({ row }) =>
    `${row.collective} ${row.algorithm} ${row.ports} ${row.ranks} ${row.runAs} ${row.source}`;
  return [
    ...SEEDS.map((seed) => ({
      name: `a drawn half of the points, draw ${seed}`,
      points: each((point) => coin(point, seed)),
    })),
    {
      name: "the larger half of each series' sizes: fitted below, carried on upwards",
      points: each((point) => (point.bytes > middleOf(point) ? "above" : "below")).filter(
        (point) => point.bytes > middleOf(point),
      ),
    },
    {
      name: "a series: every size of one run of one algorithm",
      points: each(seriesOf),
    },
    {
      name: "an algorithm: every size of all its runs; what links give it is the label's",
      points: each(({ row }) => row.algorithm),
    },
    ...cases
      .map((own) => [own.key, leftOut(lib, pooled([own]), ({ row }) => row.ranks)])
      .filter(([, points]) => points.length > 0)
      .map(([key, points]) => ({ name: `a number of ranks: ${key}, predicted from the others`, points })),
    ...pools
      .filter(([, { points }]) => new Set(points.map(({ row }) => row.network)).size > 1)
      .map(([key, pool]) => ({
        name: `a network: ${key}, predicted from the others`,
        points: leftOut(lib, pool, ({ row }) => row.network),
      })),
  ];
}
