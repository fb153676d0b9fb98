import { random } from "../base/random.ts";
import { edgeColours } from "../model/graph/edge-colouring.ts";
import { median } from "../model/numbers/median.ts";
import { canSend, type Experiment, type ProbeFlow } from "../model/probe/measurements.ts";
import { type Answer, type Asking, type Taken, together } from "./asking.ts";

/** What is known of ordered pairs by themselves, [endpoints x endpoints] each; NaN where nothing is. */
export interface PairFigures {
  readonly endpoints: number;
  /** Seconds of a message of a few bytes, and one standard error: at least as great as the two directions of pairs differ. */
  readonly latencyS: Float64Array;
  readonly latencyError: Float64Array;
  /** Bytes per second alone, and one standard error. */
  readonly rate: Float64Array;
  readonly rateError: Float64Array;
  /** Bytes per second at best while others were under way that should not matter; that of `rate` until that is measured alone. */
  readonly besideRate: Float64Array;
  /** Bytes that arrive as if at once: what a token bucket lets through; the same for all. */
  burstBytes: number;
  /** Size that bandwidths are measured with. */
  bytes: number;
}

/** A message of so few bytes takes a latency. */
export const FEW_BYTES = 8;
const LATENCY_REPEATS = 41;
const FIRST_BYTES = 1 << 17;
const MOST_BYTES = 2 ** 32;
/** A flow is to take so many latencies. */
const LATENCIES = 64;

export const emptyFigures = (endpoints: number): PairFigures => {
  const column = (): Float64Array => new Float64Array(endpoints * endpoints).fill(Number.NaN);
  return {
    endpoints,
    latencyS: column(),
    latencyError: column(),
    rate: column(),
    rateError: column(),
    besideRate: column(),
    burstBytes: 0,
    bytes: FIRST_BYTES,
  };
};

/**
 * Measures the latency of all ordered pairs in rounds of one flow from and to each endpoint, and finds out, by a few pairs alone,
 * which size tells bandwidths: one batch of endpoints + 3 experiments.
 */
export async function measureLatencies(asking: Asking, figures: PairFigures, bytes: number | undefined): Promise<void> {
  const n = figures.endpoints;
  const possible = ({ source, target }: ProbeFlow): boolean => canSend(asking.prober, source, target);
  const rounds = Array.from({ length: n - 1 }, (_, k) =>
    together(
      Array.from({ length: n }, (_, source) => ({ source, target: (source + k + 1) % n })).filter(possible),
      FEW_BYTES,
      LATENCY_REPEATS,
    ),
  ).filter(({ flows }) => flows.length > 0);
  const draws = random(n, 21);
  const all = rounds.flatMap(({ flows }) => flows);
  const some = Array.from({ length: Math.min(4, all.length) }, () => all[draws.below(all.length)]);
  const answers = await asking.ask([...rounds, ...some.map((flow) => together([flow], FIRST_BYTES, 5))]);
  for (const { experiment, taken } of answers.slice(0, rounds.length)) {
    for (const [i, { source, target }] of experiment.flows.entries()) {
      figures.latencyS[source * n + target] = taken[i].seconds;
      figures.latencyError[source * n + target] = taken[i].error;
    }
  }
  widenErrors(figures);
  const usual = median(figures.latencyS.filter((value) => !Number.isNaN(value)));
  const fastest = Math.max(
    ...answers
      .slice(rounds.length)
      .map(
        ({ taken }, i) => FIRST_BYTES / Math.max(taken[0].seconds - latency(figures, some[i]), taken[0].seconds / 100),
      ),
  );
  const wanted = Math.max(FIRST_BYTES, LATENCIES * usual * fastest, LATENCIES * asking.prober.resolutionS * fastest);
  figures.bytes = bytes ?? Math.min(MOST_BYTES, 2 ** Math.ceil(Math.log2(wanted)));
}

/** Of normally distributed numbers: standard deviation / median of the distance between two of them. */
const DEVIATION = 1.4826 / Math.SQRT2;

/** Makes errors of latencies as great as those of the two directions of a pair differ: busy machines are late alike in all repeats. */
function widenErrors({ endpoints: n, latencyS, latencyError }: PairFigures): void {
  const differences = flowsOf(new Uint8Array(n * n).fill(1), n).flatMap(({ source: a, target: b }) => {
    const [there, back] = [latencyS[a * n + b], latencyS[b * n + a]];
    return a < b && there + back > 0 ? [(2 * Math.abs(there - back)) / (there + back)] : [];
  });
  if (differences.length === 0) return;
  const part = DEVIATION * median(differences);
  for (const [p, seconds] of latencyS.entries()) latencyError[p] = Math.max(latencyError[p], part * seconds);
}

const latency = ({ latencyS, endpoints }: PairFigures, { source, target }: ProbeFlow): number =>
  latencyS[source * endpoints + target];

/** Distance in standard errors from which on a difference is one. */
export const SURE = 4;

/**
 * Returns the pairs that seem to be joined by themselves: no third endpoint is nearer to both. Where latencies tell nothing these
 * are all pairs. [endpoints x endpoints]. O(endpoints^3).
 */
export function nearPairs({ endpoints: n, latencyS, latencyError }: PairFigures): Uint8Array {
  const near = new Uint8Array(n * n);
  for (let a = 0; a < n; a++) {
    for (let c = 0; c < n; c++) {
      if (a === c) continue;
      const own = latencyS[a * n + c];
      const between = (b: number): boolean => {
        const leg = latencyS[a * n + b] > latencyS[b * n + c] ? a * n + b : b * n + c;
        const error = Math.hypot(latencyError[leg], latencyError[a * n + c]);
        return own - latencyS[leg] > Math.max(SURE * error, 0.03 * own);
      };
      near[a * n + c] = 1;
      for (let b = 0; b < n; b++) if (b !== a && b !== c && between(b)) near[a * n + c] = 0;
    }
  }
  return near;
}

/** Returns pairs as flows, by source, then target. */
export function flowsOf(chosen: Uint8Array, n: number): ProbeFlow[] {
  const flows: ProbeFlow[] = [];
  for (let p = 0; p < n * n; p++) if (chosen[p] === 1) flows.push({ source: Math.floor(p / n), target: p % n });
  return flows;
}

/** Returns sets of flows, none with two flows from or to the same endpoint, which have every flow once. */
export function matchings(flows: readonly ProbeFlow[]): ProbeFlow[][] {
  const { colour, count } = edgeColours(
    flows.map(({ source }) => source),
    flows.map(({ target }) => target),
  );
  return Array.from({ length: count }, (_, c) => flows.filter((_, i) => colour[i] === c));
}

/** Returns the experiments that measure flows in matchings, with the whole size and a quarter of it. */
export function rateExperiments(
  figures: PairFigures,
  sets: readonly (readonly ProbeFlow[])[],
  repeats: number,
): Experiment[] {
  return sets.flatMap((set) => [
    together(set, figures.bytes, repeats),
    together(set, Math.ceil(figures.bytes / 4), repeats),
  ]);
}

/** Notes what came of `rateExperiments`: rates beside others, and the burst that fits most of them. */
export function noteRates(figures: PairFigures, answers: readonly Answer[]): void {
  const { bytes, endpoints: n } = figures;
  const bursts: number[] = [];
  for (let i = 0; i < answers.length; i += 2) {
    const quarter = answers[i + 1].experiment.bytes;
    answers[i].experiment.flows.forEach((flow, f) => {
      const [whole, part] = [answers[i].taken[f].seconds, answers[i + 1].taken[f].seconds];
      if (whole <= part) return;
      const rate = (bytes - quarter) / (whole - part);
      bursts.push(bytes - (whole - latency(figures, flow)) * rate);
    });
  }
  const burst = median(bursts);
  // below what the noise of so many flows makes it is no burst
  const spread = median(bursts.map((one) => Math.abs(one - burst))) * (1.9 / Math.sqrt(Math.max(1, bursts.length)));
  figures.burstBytes = burst > 3 * spread && burst < bytes / 5 ? burst : 0;
  for (let i = 0; i < answers.length; i += 2) {
    answers[i].experiment.flows.forEach((flow, f) => {
      const p = flow.source * n + flow.target;
      const { rate } = rateOf(figures, flow, answers[i].taken[f]);
      figures.besideRate[p] = Math.max(rate, Number.isNaN(figures.besideRate[p]) ? 0 : figures.besideRate[p]);
      if (Number.isNaN(figures.rate[p])) noteAlone(figures, flow, answers[i].taken[f]);
    });
  }
}

/** Returns the rate of a flow that took so long. */
function rateOf(figures: PairFigures, flow: ProbeFlow, { seconds, error }: Taken): { rate: number; error: number } {
  const net = Math.max(seconds - latency(figures, flow), seconds / 100);
  const rate = (figures.bytes - figures.burstBytes) / net;
  return { rate, error: (rate * error) / net };
}

/** Notes the rate of a flow that was alone. */
export function noteAlone(figures: PairFigures, flow: ProbeFlow, taken: Taken): void {
  const p = flow.source * figures.endpoints + flow.target;
  const { rate, error } = rateOf(figures, flow, taken);
  figures.rate[p] = rate;
  figures.rateError[p] = error;
}

/** Returns how many times as long as alone a flow took; its rate alone must be known. */
export function slowdown(figures: PairFigures, flow: ProbeFlow, taken: Taken): number {
  return figures.rate[flow.source * figures.endpoints + flow.target] / rateOf(figures, flow, taken).rate;
}
