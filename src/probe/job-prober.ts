import { InputError } from "../base/errors.ts";
import type { Experiment, Measurement, ProbeEndpoint, Prober } from "../model/probe/measurements.ts";
import { type ProbeAnswer, probeAnswer } from "./answer.ts";
import { type Job, runJob } from "./job.ts";
import { probeList } from "./list.ts";

/** How far a batch is, in repeats of experiments. */
export interface ProbeProgress {
  readonly done: number;
  readonly total: number;
}

export interface ProberOptions {
  readonly signal: AbortSignal;
  readonly silenceMs?: number;
  readonly onProgress?: (progress: ProbeProgress) => void;
  /** Told how many repeats of a batch began late on some process, however often they were tried. */
  readonly onLate?: (late: number, repeats: number) => void;
}

/** Returns the job that measures a list. */
export type JobOf = (list: string) => Job;

async function answerOf(
  jobOf: JobOf,
  experiments: readonly Experiment[],
  options: ProberOptions,
): Promise<ProbeAnswer> {
  const job = jobOf(probeList(experiments));
  const answer = probeAnswer(experiments, job.name);
  const total = experiments.reduce((sum, { repeats }) => sum + repeats, 0);
  const { signal, silenceMs, onProgress } = options;
  const { code, error } = await runJob(job, {
    signal,
    ...(silenceMs !== undefined && { silenceMs }),
    onLine(line) {
      answer.take(line);
      if (total > 0) onProgress?.({ done: answer.repeats, total });
    },
    isDone: () => answer.isWhole,
  });
  if (answer.refused !== null)
    throw new InputError(job.name, "a job that can measure").saying(`${job.name}: ${answer.refused}`);
  if (answer.isWhole) return answer;
  const why = error === "" ? `it ended with ${code === null ? "a signal" : `exit code ${code}`}` : error;
  throw new InputError(job.name, "a job that runs to its end").saying(
    `${job.name} did not measure to the end${answer.repeats > 0 ? ` (${answer.repeats} of ${total} repeats)` : ""}: ${why}`,
  );
}

/** Returns what one job measures. Throws InputError where it cannot be started or ends early; CancelledError where `signal` aborts. */
export const measuredBy = async (
  jobOf: JobOf,
  experiments: readonly Experiment[],
  options: ProberOptions,
): Promise<readonly Measurement[]> => (await answerOf(jobOf, experiments, options)).measurements();

const placesOf = (endpoints: readonly ProbeEndpoint[]): string =>
  endpoints.map(({ kind, host }) => `${kind} ${host}`).join("\n");

/**
 * Returns a prober whose every batch is a job. It is asked at once who takes part. Throws InputError where the job cannot be
 * started, ends early, or has fewer than two processes; CancelledError where `signal` aborts.
 */
export async function openJobProber(jobOf: JobOf, options: ProberOptions): Promise<Prober> {
  const { endpoints, resolutionS } = await answerOf(jobOf, [], options);
  const places = placesOf(endpoints);
  return {
    endpoints,
    resolutionS,
    async measure(experiments) {
      if (experiments.length === 0) return [];
      const answer = await answerOf(jobOf, experiments, options);
      if (placesOf(answer.endpoints) !== places) {
        const { name: launch } = jobOf("");
        throw new InputError(launch, "the same processes on the same hosts each time").saying(
          `${launch} put the processes elsewhere than before; it must place them the same way each time, so name the hosts`,
        );
      }
      options.onLate?.(answer.late, answer.repeats);
      return answer.measurements();
    },
  };
}
