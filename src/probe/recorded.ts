import { InputError } from "../base/errors.ts";
import type { Experiment, Measurement, Prober } from "../model/probe/measurements.ts";

/** Returns a prober that keeps what another one measures in `kept`, and asks each experiment at most `mostRepeats` times. */
export const recording = (prober: Prober, kept: Measurement[], mostRepeats = Number.POSITIVE_INFINITY): Prober => ({
  ...prober,
  async measure(experiments) {
    const asked = experiments.map((one) => ({ ...one, repeats: Math.min(one.repeats, mostRepeats) }));
    const measured = await prober.measure(asked);
    kept.push(...measured);
    return measured;
  },
});

const keyOf = ({ flows, bytes }: Experiment): string =>
  `${bytes} ${flows.map(({ source, target }) => `${source}>${target}`).join(" ")}`;

/**
 * Returns a prober that measures nothing but answers with what was measured before, in the same order where the same was asked
 * several times. Throws InputError for what was not measured: the measurements are of another version, or other options.
 */
export function replaying(
  recorded: Pick<Prober, "endpoints" | "resolutionS"> & { readonly measurements: readonly Measurement[] },
  fileName: string,
): Prober {
  const waiting = new Map<string, Measurement[]>();
  for (const one of recorded.measurements) {
    const key = keyOf(one.experiment);
    const before = waiting.get(key);
    if (before === undefined) waiting.set(key, [one]);
    else before.push(one);
  }
  const answerTo = (experiment: Experiment): Measurement => {
    const known = waiting.get(keyOf(experiment));
    if (known === undefined)
      throw new InputError(fileName, "a measurement of everything that is asked", keyOf(experiment)).saying(
        `${fileName} has no measurement of ${experiment.bytes} bytes over ${experiment.flows.length} flows from ${experiment.flows[0]?.source} to ${experiment.flows[0]?.target} ...; infer with the options that it was measured with, or measure again`,
      );
    return known.length > 1 ? (known.shift() as Measurement) : (known[0] as Measurement);
  };
  const { endpoints, resolutionS } = recorded;
  return { endpoints, resolutionS, measure: async (experiments) => experiments.map(answerTo) };
}
