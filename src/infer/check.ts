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
  /** Of |measured / predicted - 1|. */
  readonly medianError: number;
  readonly worstError: number;
  /** Flows off by more than `OFF`. */
  readonly off: readonly { readonly flow: ProbeFlow; readonly measured: number; readonly predicted: number }[];
}

/** A flow is explained where it takes what was predicted but for this part. */
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
const BY_CHANCE = 0.01;

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
  for (const { experiment, taken } of answers) {
    const times = predicted(sharing, experiment.flows, figures.bytes - figures.burstBytes);
    experiment.flows.forEach((flow, i) => {
      const error = Math.abs(taken[i].seconds / times[i] - 1);
      errors.push(Number.isNaN(error) ? 1 : error);
      if (!(error <= OFF)) off.push({ flow, measured: taken[i].seconds, predicted: times[i] });
    });
  }
  return {
    experiments: answers.length,
    flows: errors.length,
    medianError: median(errors),
    worstError: Math.max(0, ...errors),
    off,
  };
}
