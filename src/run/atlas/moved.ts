import { InternalError } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import { kindOf } from "../../kinds/kinds.ts";
import type { AtlasIndex } from "../../model/atlas/atlas-index.ts";
import { mappedSchedule } from "../../model/mapped/mapped-schedule.ts";
import { mapOfParts } from "../../model/mapped/part-map.ts";
import type { AnySchedule } from "../../model/steps/schedule.ts";
import { resolver, without } from "../../model/topology/modify.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { mapOnto } from "./lookup.ts";

/**
 * Returns the schedule for what one failure of a class leaves, moved to what another one leaves by a symmetry of the whole network, and
 * judged there. Throws InputError where the two are not alike.
 */
export function movedSchedule(
  index: AtlasIndex,
  kind: string,
  topology: Topology,
  schedule: AnySchedule,
  first: readonly string[],
  failed: readonly string[],
): AnySchedule {
  const targets = (names: readonly string[]) => names.map(resolver(topology, optionName("failed")));
  const map = mapOfParts(topology, mapOnto(index, kind, topology, first, failed), targets(first), targets(failed));
  const moved = mappedSchedule(schedule, without(topology, failed), map);
  const { violations } = kindOf(moved).judge({ limit: 1 });
  const [fault] = violations;
  if (fault !== undefined)
    throw new InternalError(`the schedule for ${first.join(",")} is wrong for ${failed.join(",")}: ${fault.message}`);
  return moved;
}
