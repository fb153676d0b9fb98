import { percent, timeText } from "../../../report/amounts.ts";
import { gainText } from "../../../report/gains.ts";
import { groupText, type TrainingRow } from "../../../report/training.ts";

/** Part of a step's time, on average over the stages. */
export interface SpentPart {
  /** "compute", "bubble", or the group that is waited for. */
  readonly kind: string;
  readonly us: number;
}

/** Returns where the time of a step goes: computations, what is waited for from the most on, and the bubble. */
export function spentOf({
  computeUs,
  exposedUs,
  bubbleUs,
}: Pick<TrainingRow, "computeUs" | "exposedUs" | "bubbleUs">): SpentPart[] {
  const exposed = Object.entries(exposedUs)
    .map(([kind, us]) => ({ kind, us }))
    .sort((a, b) => b.us - a.us);
  return [{ kind: "compute", us: computeUs }, ...exposed, { kind: "bubble", us: bubbleUs }].filter(({ us }) => us > 0);
}

/** Returns what a part is, in words: "waiting for tp". */
export const partText = (kind: string): string =>
  kind === "compute" ? "computing" : kind === "bubble" ? "bubble of the pipeline" : `waiting for ${groupText(kind)}`;

/** Returns where the time goes, in words. */
export const spentText = (row: TrainingRow): string =>
  spentOf(row)
    .map(({ kind, us }) => `${partText(kind)} ${percent(us / row.us)}`)
    .join(", ");

/** Returns who makes the collectives of a row, in words. */
export const makerText = (collectives: string): string =>
  ({ library: "those of libraries", best: "the best of all", ideal: "at the limit" })[collectives] ?? collectives;

/** Returns what a failure, or what was slowed down, costs a step, in a sentence; null where the whole network is not known. */
export function costText(
  rows: readonly TrainingRow[],
  whole: readonly TrainingRow[] | null,
  failed: boolean,
): string | null {
  if (whole === null) return null;
  const parts = rows.map((row, i) => {
    const before = (whole[i] as TrainingRow).us;
    const how = row.us / before - 1;
    const change = Math.abs(how) < 5e-5 ? "as long" : how < 0 ? `${percent(-how)} less` : `${percent(how)} more`;
    return `with ${collectivesText(row.collectives)} ${change} (${timeText(before)} before, now ${timeText(row.us)})`;
  });
  return `${failed ? "The failure costs" : "What was slowed down costs"} a step ${parts.join(", ")}.`;
}

const collectivesText = (collectives: string): string =>
  ({ library: "the collectives of libraries", best: "the best", ideal: "those at the limit" })[collectives] ??
  collectives;

/** Returns what a row gains over the first, "" for the first itself. */
export const gainOf = (rows: readonly TrainingRow[], at: number): string =>
  at === 0 ? "" : gainText((rows[0] as TrainingRow).us, (rows[at] as TrainingRow).us);
