import { InputError } from "../../base/errors.ts";
import type { Collective } from "../../model/collective/collective.ts";
import { canBeSlots, leastTransfers } from "../../model/steps/estimate.ts";
import type { SynthesisRequest } from "../synthesizer.ts";
import { MOST_PARTS } from "./broadcast.ts";

/** What makers of schedules in comm steps ask of a request: whom it serves, and how finely it cuts shards. */

/** Transfers that parts of shards may lead to where the user does not say how many: listed one by one, and in logs. */
const MOST_LISTED = 1e7;
export const MOST_LOGGED = 1e8;

type Request = Pick<SynthesisRequest, "topology" | "collective">;

/** Whether the collective is among all NPUs, in one group. */
const isWhole = ({ topology, collective: { groupCount, groupSize } }: Request): boolean =>
  groupCount === 1 && groupSize === topology.npuCount;

/** Returns what groups lack, for `refuses`; null where the collective is among all NPUs. */
export const groupRefusal = (request: Request): string | null => (isWhole(request) ? null : "one group of all NPUs");

/** Throws InputError unless the collective is among all NPUs, in one group. */
export function refuseGroups(algorithm: string, { topology, collective }: Request): void {
  const { groupCount, groupSize } = collective;
  if (isWhole({ topology, collective })) return;
  const sizes = `${groupCount} of ${groupSize} of ${topology.npuCount} NPUs`;
  throw new InputError("--group", `one group of all NPUs (${algorithm} broadcasts to everyone)`, sizes);
}

/** Throws InputError for more parts of a shard than can be numbered. */
export function refuseParts(algorithm: string, { chunksPerNpu }: Collective): void {
  if (chunksPerNpu <= MOST_PARTS) return;
  throw new InputError("--chunks", `at most ${MOST_PARTS} chunks per NPU (${algorithm})`, chunksPerNpu);
}

/** Returns the most parts of a shard, at least 1, for which transfers stay few enough: `logged` of them where logs hold them. */
export function affordableParts({ topology, collective }: Request, logged = MOST_LOGGED): number {
  const perPart = leastTransfers(collective) / collective.chunksPerNpu;
  const most = (canBeSlots(topology, collective) ? logged : MOST_LISTED) / perPart;
  return Math.max(1, Math.min(MOST_PARTS, Math.floor(most)));
}

/** Returns the passes of a collective that these all-gathers make: logs of one run both ways in an all-reduce. */
export const passesOf = <T>({ kind }: Collective, gathers: readonly T[]): readonly T[] =>
  kind === "allreduce" && gathers.length === 1 ? [...gathers, ...gathers] : gathers;
