import { median } from "../model/numbers/median.ts";
import type { Experiment, ProbeFlow, Prober } from "../model/probe/measurements.ts";

/** What a flow took: the median of its repeats and that median's standard error, seconds. */
export interface Taken {
  readonly seconds: number;
  readonly error: number;
}

/** An experiment with what each of its flows took. */
export interface Answer {
  readonly experiment: Experiment;
  /** [flows] */
  readonly taken: readonly Taken[];
}

/** Asks a prober and counts what it was asked. */
export interface Asking {
  readonly prober: Prober;
  readonly count: { batches: number; experiments: number; flows: number };
  /** Everything that was asked, in order. */
  readonly answers: Answer[];
  /** Returns the answers to a batch; asks nothing where it is empty. */
  ask(experiments: readonly Experiment[]): Promise<readonly Answer[]>;
}

/** Returns one that asks this prober. */
export function askingOf(prober: Prober): Asking {
  const count = { batches: 0, experiments: 0, flows: 0 };
  const answers: Answer[] = [];
  return {
    prober,
    count,
    answers,
    async ask(experiments) {
      if (experiments.length === 0) return [];
      const measured = await prober.measure(experiments);
      count.batches++;
      count.experiments += experiments.length;
      for (const { flows } of experiments) count.flows += flows.length;
      const batch = measured.map(
        // a prober may repeat less often than it was asked to
        ({ experiment, seconds }, i): Answer => ({
          experiment: experiments[i],
          taken: experiment.flows.map((_, flow) => medianOf(repeatsOf(seconds, experiment, flow))),
        }),
      );
      answers.push(...batch);
      return batch;
    },
  };
}

function repeatsOf(seconds: Float64Array, { flows, repeats }: Experiment, flow: number): Float64Array {
  return Float64Array.from({ length: repeats }, (_, r) => seconds[r * flows.length + flow]);
}

/** Of normally distributed numbers: standard deviation / median distance from the median; the median's error / that of the mean. */
const PER_DISTANCE = 1.4826;
const OF_MEDIAN = 1.2533;

/** Returns the median with its standard error, from the median distance to it: late ones do not count. */
export function medianOf(values: Float64Array): Taken {
  const seconds = median(values);
  const distance = median(values.map((value) => Math.abs(value - seconds)));
  return { seconds, error: (OF_MEDIAN * PER_DISTANCE * distance) / Math.sqrt(values.length) };
}

/** Returns an experiment. */
export const together = (flows: readonly ProbeFlow[], bytes: number, repeats: number): Experiment => ({
  flows,
  bytes,
  repeats,
});

/** A line of questions: yields experiments, gets their answers, and at last returns something. */
export type Line<Result> = Generator<readonly Experiment[], Result, readonly Answer[]>;

/**
 * Runs several lines of questions at once, a batch a round. `apart`: [lines] a number; experiments of lines with different numbers do not
 * disturb each other (they are of other machines, or below other CPUs) and are made together. Without it all are made one by one.
 */
export async function inRounds<Result>(
  asking: Asking,
  lines: readonly Line<Result>[],
  apart: readonly number[] = lines.map(() => 0),
): Promise<Result[]> {
  const results: Result[] = new Array(lines.length);
  let open = lines.map((line, index) => ({ line, index, step: line.next() }));
  for (;;) {
    for (const { step, index } of open) if (step.done === true) results[index] = step.value;
    open = open.filter(({ step }) => step.done !== true);
    if (open.length === 0) return results;
    const merged = mergedBatch(
      open.map(({ step, index }) => ({ experiments: step.value as readonly Experiment[], part: apart[index] })),
    );
    const answers = await asking.ask(merged.experiments);
    open = open.map(({ line, index }, i) => ({ line, index, step: line.next(merged.answersOf(i, answers)) }));
  }
}

/** Returns experiments of several lines with those of different parts put together, and how to take the answers apart. */
function mergedBatch(lines: readonly { readonly experiments: readonly Experiment[]; readonly part: number }[]) {
  const rows: { flows: ProbeFlow[]; bytes: number; repeats: number; parts: Set<number> }[] = [];
  const places = lines.map(({ experiments, part }) =>
    experiments.map(({ flows, bytes, repeats }) => {
      const fits = rows.findIndex((row) => !row.parts.has(part) && row.bytes === bytes && row.repeats === repeats);
      const row = fits >= 0 ? fits : rows.push({ flows: [], bytes, repeats, parts: new Set() }) - 1;
      const from = rows[row].flows.length;
      rows[row].flows.push(...flows);
      rows[row].parts.add(part);
      return { row, from };
    }),
  );
  return {
    experiments: rows.map(({ flows, bytes, repeats }) => together(flows, bytes, repeats)),
    answersOf: (line: number, answers: readonly Answer[]): Answer[] =>
      lines[line].experiments.map((experiment, i): Answer => {
        const { row, from } = places[line][i];
        return { experiment, taken: answers[row].taken.slice(from, from + experiment.flows.length) };
      }),
  };
}
