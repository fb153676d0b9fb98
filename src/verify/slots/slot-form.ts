import type { Placement } from "../../model/collective/collective.ts";
import type { SlotSchedule } from "../../model/slots/slot-schedule.ts";
import { placementView } from "../steps/placement.ts";
import { type Faults, isBelow, isCount } from "../well-formed.ts";
import { mirrors } from "./slot-mirror.ts";

/** The last slot whose end fits the rows of arrivals (slot-arrivals.ts), below the mark of an absent chunk. */
const MOST_SLOTS = 0x7ffffffe;

/** What a sequence of passes does: from whom to whom, and whether it reduces. */
interface Effect {
  readonly pre: "origin" | "everyone";
  readonly post: "origin" | "everyone";
  readonly reduces: boolean;
}

/** The sequences of passes that are collectives. */
const EFFECTS: ReadonlyMap<string, Effect> = new Map([
  ["forward copying", { pre: "origin", post: "everyone", reduces: false }],
  ["reversed reducing", { pre: "everyone", post: "origin", reduces: true }],
  ["reversed reducing, forward copying", { pre: "everyone", post: "everyone", reduces: true }],
]);

/**
 * Yields what keeps the data around the logs from being a slot schedule: numbers, origins, passes that do not make the
 * collective, routes that cannot be run backwards. The network, the collective and the routes must be in order.
 * O(chunks + routes).
 */
export function* slotFaults(schedule: SlotSchedule): Faults {
  const { topology, collective, routes, slotPs, slots, passes, origin } = schedule;
  const { npuCount, nodeNames } = topology;
  const { chunkCount } = collective;
  const wayOf = (pass: (typeof passes)[number]): string =>
    `${pass?.reversed ? "reversed" : "forward"} ${pass?.reduces ? "reducing" : "copying"}`;
  const way = Array.isArray(passes) ? passes.map(wayOf).join(", ") : "";
  const effect = EFFECTS.get(way);
  if (!isCount(slots) || slots > MOST_SLOTS) yield { message: `the schedule has ${slots} slots` };
  else if (!isCount(slotPs) || (slotPs === 0 && slots > 0)) {
    yield { message: `a slot lasts ${slotPs} ps, not a whole number above 0` };
  } else if (!isCount(slots * slotPs * 2))
    yield { message: `${slots} slots of ${slotPs} ps are more than can be told` };
  if (origin.length !== chunkCount) {
    yield { message: `the schedule has origins for ${origin.length} chunks, not for ${chunkCount}` };
    return;
  }
  for (let chunk = 0; chunk < chunkCount; chunk++) {
    if (Number.isInteger(origin[chunk]) && isBelow(origin[chunk], npuCount)) continue;
    yield { chunk, message: `the origin of chunk ${chunk} is no NPU: ${origin[chunk]}` };
    return;
  }
  if (effect === undefined) {
    yield { message: `passes that are ${way === "" ? "none" : way} make no collective` };
    return;
  }
  if (collective.reduces !== effect.reduces) {
    yield { message: `the passes ${effect.reduces ? "reduce" : "copy"} but the collective does not` };
  }
  yield* placementFaults(schedule, collective.pre, effect.pre, "precondition");
  yield* placementFaults(schedule, collective.post, effect.post, "postcondition");
  const mirror = effect.reduces ? mirrors(routes, npuCount) : null;
  if (mirror === null || mirror instanceof Int32Array) return;
  const from = nodeNames[routes.source[mirror.without]];
  const to = nodeNames[routes.target[mirror.without]];
  yield { message: `a pass is reversed, but fewer routes run from ${to} to ${from} than back` };
}

/** Yields the first chunk whose placement is not its origin alone, or not everyone. */
function* placementFaults(
  { topology, collective, origin }: SlotSchedule,
  placement: Placement,
  who: "origin" | "everyone",
  name: string,
): Faults {
  const view = placementView(collective, placement);
  for (let chunk = 0; chunk < collective.chunkCount; chunk++) {
    view.look(chunk);
    const size = view.to - view.from;
    // members are distinct NPUs, so as many as there are is all of them
    const fits =
      who === "everyone" ? size === topology.npuCount : size === 1 && view.members[view.from] === origin[chunk];
    if (fits) continue;
    const should = who === "everyone" ? "every NPU" : `its origin ${topology.nodeNames[origin[chunk]]} alone`;
    yield { chunk, message: `the ${name} of chunk ${chunk} is not ${should}, as the passes make it` };
    return;
  }
}
