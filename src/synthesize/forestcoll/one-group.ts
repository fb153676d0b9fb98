import { InputError } from "../../base/errors.ts";
import type { Collective } from "../../model/collective/collective.ts";

/** Throws InputError unless the collective has one group, and at least two NPUs in it. `why` says what the algorithm does to one. */
export function refuseSeveralGroups({ groupCount, groupSize, kind }: Collective, why: string): void {
  if (groupCount > 1) throw new InputError("--group", `one group (${why})`, groupCount);
  if (kind !== "custom" && groupSize < 2) {
    throw new InputError("--group", "at least two NPUs (one alone has nothing to send)", groupSize);
  }
}
