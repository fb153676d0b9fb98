import { random } from "../base/random.ts";
import type { Experiment, ProbeFlow } from "../model/probe/measurements.ts";
import { type Answer, type Asking, median, together } from "./asking.ts";
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
export function mixes(endpoints: number, count: number, bytes: number, seed: number): Experiment[] {
  const draws = random(seed, 31);
  return Array.from({ length: count }, () => {
    const size = 2 + draws.below(2 * endpoints - 1);
    const flows = Array.from({ length: size }, () => {
      const source = draws.below(endpoints);
      return { source, target: (source + 1 + draws.below(endpoints - 1)) % endpoints };
    });
    return together(flows, bytes, REPEATS);
  });
}

/** Measures random mixes and holds them against what they should take. One batch. */
export async function check(
  asking: Asking,
  figures: PairFigures,
  sharing: Sharing,
  count: number,
  seed: number,
): Promise<Check> {
  return judge(await asking.ask(mixes(sharing.endpoints, count, figures.bytes, seed)), figures, sharing);
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
