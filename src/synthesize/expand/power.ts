import type { CommSchedule } from "../../model/comm/schedule.ts";
import { arcSources, type Digraph } from "../../model/direct/digraph.ts";
import { addRow, roomFor, scheduleOf } from "./rows.ts";

/**
 * Returns the all-gather on a Cartesian power of the schedule's graph (Zhao 2026, definition 14): a shard is cut into as many
 * subshards as there are dimensions; subshard i is gathered along dimension i, then i + 1, ..., round to i - 1, so that all
 * dimensions are in use at any time. `power` is numbered as in `construction.ts`. A schedule that does not change under
 * translations gives one that does not. T_L is the exponent times that of the base, T_B exactly by theorem 12.
 * O(rows of the answer).
 */
export function powerSchedule(base: CommSchedule, exponent: number, power: Digraph): CommSchedule {
  if (exponent === 1) return base;
  const { nodes, offset } = base.graph;
  const { parts, steps, symmetry } = base;
  const leaves = arcSources(base.graph);
  const rows = roomFor(rowsOfPower(base.arc.length, nodes, exponent, symmetry !== null));
  const portsOf = (node: number): number => offset[node + 1] - offset[node];
  /** Arcs that leave the node in dimensions below d come before those of dimension d. */
  const portsBelow = (node: number, d: number): number => {
    let ports = 0;
    for (let k = 0, rest = node; k < d; k++, rest = Math.floor(rest / nodes)) ports += portsOf(rest % nodes);
    return ports;
  };
  for (let subshard = 0; subshard < exponent; subshard++) {
    const dimension = (stage: number): number => (subshard + stage) % exponent;
    for (let stage = 0; stage < exponent; stage++) {
      const along = dimension(stage);
      const weight = nodes ** along;
      const done = combinations(
        Array.from({ length: stage }, (_, k) => nodes ** dimension(k)),
        nodes,
      );
      const later = Array.from({ length: exponent - stage - 1 }, (_, k) => nodes ** dimension(stage + 1 + k));
      const rests = symmetry === null ? combinations(later, nodes) : ZERO;
      const heres = symmetry === null ? done : ZERO;
      for (const rest of rests) {
        for (const here of heres) {
          for (let i = 0; i < base.arc.length; i++) {
            const u = leaves[base.arc[i]];
            const node = here + rest + u * weight;
            const arc = power.offset[node] + portsBelow(node, along) + base.arc[i] - offset[u];
            const owner = rest + base.source[i] * weight;
            const step = base.step[i] + stage * steps;
            const from = base.from[i] + subshard * parts;
            const to = base.to[i] + subshard * parts;
            for (const there of done) addRow(rows, step, owner + there, arc, from, to);
          }
        }
      }
    }
  }
  const sizes = symmetry === null ? null : Array.from({ length: exponent }, () => symmetry).flat();
  return scheduleOf(power, parts * exponent, rows, sizes);
}

const ZERO = Int32Array.of(0);

/** Returns how many rows the power of a schedule has; a double, so that absurd ones can be refused. */
export function rowsOfPower(rows: number, nodes: number, exponent: number, isSymmetric: boolean): number {
  let count = 0;
  for (let stage = 0; stage < exponent; stage++) {
    count += isSymmetric ? nodes ** stage : nodes ** (stage + exponent - 1);
  }
  return rows * exponent * count;
}

/** Returns the sums of multiples 0 .. below - 1 of the weights, the multiples of the first fastest. */
function combinations(weights: readonly number[], below: number): Int32Array {
  let sums = Int32Array.of(0);
  for (const weight of weights) {
    const more = new Int32Array(sums.length * below);
    for (let x = 0; x < below; x++) {
      for (let i = 0; i < sums.length; i++) more[x * sums.length + i] = sums[i] + x * weight;
    }
    sums = more;
  }
  return sums;
}
