import { InputError } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import { jointBoundOf } from "../../model/bounds/joint.ts";
import { type Collective, repeatedCollectives } from "../../model/collective/collective.ts";
import { ceil } from "../../model/numbers/rational.ts";
import { expandSlots, isSlotSchedule } from "../../model/slots/slot-schedule.ts";
import { hasMergedSends, type StepSchedule } from "../../model/steps/step-schedule.ts";
import { USUAL_SOLVE_MS } from "../deadline.ts";
import type { Synthesizer } from "../synthesizer.ts";
import { alongside } from "./alongside.ts";
import { inSequence, type JointContext, type JointRequest, type JointSynthesis, packed } from "./joint.ts";

/** Tries of packing transfers, unless the caller says. */
const TRIALS = 16;

interface ByMaker extends JointSynthesis {
  readonly notes?: readonly string[];
  readonly deterministic?: boolean;
}

/**
 * Returns what makes a schedule of several collectives at once by a maker of steps: each by itself (equal ones once), then all packed
 * by list scheduling; where sends are merged, whole messages. A time limit is shared by those that differ. Throws InputError for a
 * collective that the maker refuses, and as it does.
 */
export const togetherBy =
  (maker: Synthesizer) =>
  async (request: JointRequest, context: JointContext): Promise<ByMaker> => {
    const { topology, collectives, seed } = request;
    const { distinct, of } = repeatedCollectives(collectives);
    for (const collective of distinct) refuse(maker, request, collective);
    const timeLimitMs = (request.timeLimitMs ?? USUAL_SOLVE_MS) / distinct.length;
    const made = [];
    for (const collective of distinct)
      made.push(await maker.synthesize({ ...request, collective, timeLimitMs }, context));
    const alone = made.map(({ schedule }) => (isSlotSchedule(schedule) ? expandSlots(schedule) : schedule));
    const sequence = inSequence(
      topology,
      of.map((index) => alone[index] as StepSchedule),
    );
    const { runner, onProgress } = context;
    const found = alone.some(hasMergedSends)
      ? alongside(sequence)
      : await packed(sequence, {
          targetPs: Number(ceil(jointBoundOf(topology, collectives, sequence.routes).ps)),
          seed,
          trials: request.trials ?? TRIALS,
          runner,
          progress: (done, total) => onProgress?.({ phase: "packing", done, total }),
        });
    const notes = [...new Set(made.flatMap((one) => one.notes ?? []))];
    return {
      schedule: found.joint,
      policy: found.how === null ? "one after the other" : `each by itself, then packed (${found.how})`,
      trials: made.reduce((sum, { trials }) => sum + trials, found.tries),
      ...(notes.length === 0 ? {} : { notes }),
      deterministic: made.every(({ deterministic }) => deterministic !== false),
    };
  };

function refuse(maker: Synthesizer, { topology }: JointRequest, collective: Collective): void {
  const needed = maker.refuses?.(topology, collective) ?? null;
  if (needed === null) return;
  throw new InputError(optionName("algorithm"), `another one (${maker.name} needs ${needed})`, maker.name).as(
    "not-applicable",
  );
}
