import { random } from "../base/random.ts";
import { median } from "../model/numbers/median.ts";
import { canSend, type Experiment, type ProbeFlow } from "../model/probe/measurements.ts";
import { type Answer, type Asking, together } from "./asking.ts";
import type { PairFigures } from "./pairs.ts";
import { predicted, type Sharing } from "./sharing.ts";

/** How well what was inferred tells random mixes of flows that it was not made of. */
export interface Check {
  readonly experiments: number;
  readonly flows: number;
  /** Of |measured / predicted - 1| of the last flow to arrive of each set of flows that share something. */
  readonly medianError: number;
  readonly worstError: number;
  /** Flows that arrive last of their set and are off by more than `OFF`, and such as arrive before they could alone. */
  readonly off: readonly { readonly flow: ProbeFlow; readonly measured: number; readonly predicted: number }[];
}

/**
 * A set of flows that share something is explained where its last arrives when predicted but for this part. What the others take is
 * not asked: few networks are as fair as max-min, but all that are busy carry as much.
 */
export const OFF = 0.15;
const REPEATS = 9;

/** Returns random sets of flows, from few to twice as many as endpoints. */
function mixes(
  possible: readonly ProbeFlow[],
  endpoints: number,
  count: number,
  bytes: number,
  seed: number,
): Experiment[] {
  const draws = random(seed, 31);
  return Array.from({ length: count }, () => {
    const size = 2 + draws.below(2 * endpoints - 1);
    const flows = new Set<ProbeFlow>();
    for (let i = 0; i < size; i++) flows.add(possible[draws.below(possible.length)]);
    return together([...flows], bytes, REPEATS);
  });
}

/** Of the flows of mixes this part may be off by chance. */
const BY_CHANCE = 0.02;

/** Returns what mixes say against what was inferred, a sentence; null where they fit it. */
export function objection({ off, flows }: Check): string | null {
  if (off.length <= BY_CHANCE * flows) return null;
  const percent = Math.round(100 * OFF);
  return `${off.length} of ${flows} flows in random mixes took other than predicted by more than ${percent} %`;
}

/** Measures random mixes and holds them against what they should take. One batch. */
export async function check(
  asking: Asking,
  figures: PairFigures,
  sharing: Sharing,
  count: number,
  seed: number,
): Promise<Check> {
  const n = sharing.endpoints;
  const possible = Array.from({ length: n * n }, (_, p) => ({ source: Math.floor(p / n), target: p % n })).filter(
    ({ source, target }) => canSend(asking.prober, source, target),
  );
  return judge(await asking.ask(mixes(possible, n, count, figures.bytes, seed)), figures, sharing);
}

function judge(answers: readonly Answer[], figures: PairFigures, sharing: Sharing): Check {
  const errors: number[] = [];
  const off: Check["off"][number][] = [];
  let count = 0;
  const bytes = figures.bytes - figures.burstBytes;
  for (const { experiment, taken } of answers) {
    const { flows } = experiment;
    const measured = taken.map(({ seconds }) => seconds);
    const fair = predicted(sharing, flows, bytes);
    count += flows.length;
    for (const own of sharers(sharing, flows)) {
      const last = own.reduce((late, i) => (measured[i] > measured[late] ? i : late));
      const lastFair = Math.max(...own.map((i) => fair[i]));
      const error = Math.abs(measured[last] / lastFair - 1);
      errors.push(Number.isNaN(error) ? 1 : error);
      if (!(error <= OFF)) off.push({ flow: flows[last], measured: measured[last], predicted: lastFair });
      for (const i of own) {
        const [alone] = predicted(sharing, [flows[i]], bytes);
        if (i !== last && measured[i] < (1 - OFF) * alone)
          off.push({ flow: flows[i], measured: measured[i], predicted: alone });
      }
    }
  }
  return {
    experiments: answers.length,
    flows: count,
    medianError: median(errors),
    worstError: Math.max(0, ...errors),
    off,
  };
}

/** Returns flows, by their places, in sets of those that share something, also by way of others. */
function sharers({ ways, endpoints }: Sharing, flows: readonly ProbeFlow[]): number[][] {
  const sets: { readonly things: Set<number>; readonly flows: number[] }[] = [];
  for (const [i, { source, target }] of flows.entries()) {
    const way = ways[source * endpoints + target] ?? [];
    const own = { things: new Set(way), flows: [i] };
    for (const other of sets.filter(({ things }) => way.some((one) => things.has(one)))) {
      sets.splice(sets.indexOf(other), 1);
      for (const one of other.things) own.things.add(one);
      own.flows.push(...other.flows);
    }
    sets.push(own);
  }
  return sets.map((one) => one.flows);
}
