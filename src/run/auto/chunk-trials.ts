import { CancelledError } from "../../base/errors.ts";
import { isOutOfTime } from "../../base/stopping.ts";
import { toNumber } from "../../model/numbers/rational.ts";
import { CHUNKS_TRIED, leastTransfers } from "../../model/steps/estimate.ts";
import type { Topology } from "../../model/topology/topology.ts";
import type { Report } from "../../report/result.ts";
import { askedOf } from "../../request/maker-options.ts";
import type { SynthesizeOptions } from "../../request/options.ts";
import { usOf } from "./best.ts";
import { type Algorithm, wholeProblem } from "./candidates.ts";

const TRIALS_EACH = 4;
/** While schedules have at most this many transfers. */
const MOST_TRANSFERS = 20_000;
/** What takes this many times as long as the best of the others after a few trials does not win with more. */
const HOPELESS = 1.15;
/** Nor is there much to win from another that is so near to the limit. */
const NEAR = 1.01;

/** Returns whether another is better and so near to the limit that hardly anything can be won from it. */
const isBeaten = ({ report }: { readonly report: Report }, rivalUs: number): boolean =>
  usOf(report) > rivalUs && rivalUs <= NEAR * report.limit.us;

/** What an algorithm made; `isCut`: the time of the request's signal was over before all trials were done. */
type Contender<Result> = Result & { readonly isCut?: true };

/**
 * Returns what an algorithm makes of a request, as it is compared with others: a search with the chunks per NPU that do best in a
 * few trials, unless the request says how many, these and one of them with all its trials unless the best of the others (`rivalUs`) cannot be beaten.
 * `make` synthesizes, and may be called several times. Where the time of the request's signal (endingIn) is over in a later call,
 * what the earlier ones made is returned; in the first, CancelledError is thrown.
 */
export async function contender<Result extends { readonly report: Report }>(
  algorithm: Algorithm,
  topology: Topology,
  options: Omit<SynthesizeOptions, "algorithm">,
  make: (options: SynthesizeOptions) => Promise<Result>,
  rivalUs = Number.POSITIVE_INFINITY,
): Promise<Contender<Result>> {
  const asked = askedOf(algorithm, options);
  if (algorithm.traits?.triesChunks !== true || options.chunks !== undefined || typeof options.collective !== "string")
    return make(asked);
  const { collective } = wholeProblem(topology, options);
  const transfers = leastTransfers(collective);
  const bytes = toNumber(collective.chunkBytes);
  const affordable = CHUNKS_TRIED.filter((chunks) => chunks * transfers <= MOST_TRANSFERS && chunks <= bytes);
  if (affordable.length < 2) return make(asked);
  const trials = Math.min(TRIALS_EACH, options.trials ?? TRIALS_EACH);
  const tried: number[] = [];
  let ms = 0;
  let best: Result | null = null;
  let isCut = false;
  /** Null where time ended it and something was made before. */
  const madeInTime = async (more: SynthesizeOptions): Promise<Result | null> => {
    try {
      const result = await make(more);
      ms += result.report.synthesis.ms;
      return result;
    } catch (error) {
      if (best === null || !(error instanceof CancelledError) || !isOutOfTime(asked.signal)) throw error;
      isCut = true;
      return null;
    }
  };
  const isFarBehind = (): boolean => best !== null && usOf(best.report) > HOPELESS * rivalUs;
  for (let worse = 0; worse < (isFarBehind() ? 1 : 2) && tried.length < affordable.length; ) {
    const chunks = affordable[tried.length] as number;
    const result = await madeInTime({ ...asked, chunks, trials });
    if (result === null) break;
    tried.push(chunks);
    const isBetter = best === null || usOf(result.report) < usOf(best.report);
    worse = isBetter ? 0 : worse + 1;
    if (isBetter) best = result;
  }
  let kept = best as Result;
  // as few as usual may do best with all trials
  const isDone = isCut || isFarBehind() || isBeaten(kept, rivalUs);
  const inFull = isDone ? [] : [affordable[0], kept.report.collective.chunksPerNpu];
  for (const chunks of new Set(inFull)) {
    const result = await madeInTime({ ...asked, chunks });
    if (result === null) break;
    if (usOf(result.report) <= usOf(kept.report)) kept = result;
  }
  const { report } = kept;
  const { chunksPerNpu } = report.collective;
  const policy = `${report.synthesis.policy}, ${chunksPerNpu} of ${tried.join(", ")} chunks per NPU`;
  const made = { ...kept, report: { ...report, synthesis: { ...report.synthesis, ms, policy, choseChunks: true } } };
  return isCut ? { ...made, isCut } : made;
}
