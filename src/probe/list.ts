import type { Experiment } from "../model/probe/measurements.ts";

/**
 * Returns experiments as the text that probing programs read (`native/mpi/probe.cpp`, `scripts/torch-prober.py`): a line each, and a
 * last one that counts them, so that a text that was cut off is told.
 */
export function probeList(experiments: readonly Experiment[]): string {
  const lines = experiments.map(({ bytes, repeats, flows }) =>
    [bytes, repeats, ...flows.map(({ source, target }) => `${source}>${target}`)].join(" "),
  );
  return `${["banyan-probe-list 1", ...lines, `end ${experiments.length}`].join("\n")}\n`;
}
