import { COLLECTIVE_KINDS, type Collective, membersOf } from "../../model/collective/collective.ts";
import { listSchedule } from "../../model/messages/list-schedule.ts";
import { type Messages, messages } from "../../model/messages/messages.ts";
import { orderByTime } from "../../model/numbers/ordering.ts";
import { boxesOf } from "../../model/routes/rings.ts";
import type { Topology } from "../../model/topology/topology.ts";
import type { Synthesizer } from "../synthesizer.ts";

/** Rounds in each of which an NPU has one target, another than any other NPU. */
interface Rounds {
  readonly policy: string;
  readonly count: number;
  /** The round from a source to a target; 0: to itself. */
  readonly of: (source: number, target: number) => number;
}

/** In round k an NPU sends to the k-th after it. */
const rotated = (npuCount: number): Rounds => ({
  policy: "rotated",
  count: npuCount,
  of: (source, target) => (target - source + npuCount) % npuCount,
});

/**
 * Returns rounds that rotate over the boxes and, for each, over the places in them, as NCCL schedules its sends and receives:
 * one rotation over all NPUs would have a whole box begin with the same NPU of the next.
 */
function rotatedOverBoxes(boxes: readonly Int32Array[]): Rounds {
  const size = (boxes[0] as Int32Array).length;
  const count = boxes.length * size;
  const [boxOf, placeOf] = [new Int32Array(count), new Int32Array(count)];
  boxes.forEach((npus, box) => {
    npus.forEach((npu, place) => {
      boxOf[npu] = box;
      placeOf[npu] = place;
    });
  });
  const after = (column: Int32Array, source: number, target: number, around: number): number =>
    (column[target] - column[source] + around) % around;
  return {
    policy: "rotated over boxes",
    count,
    of: (source, target) => after(boxOf, source, target, boxes.length) * size + after(placeOf, source, target, size),
  };
}

function roundsOf(topology: Topology): Rounds {
  const boxes = boxesOf(topology);
  return boxes === null || boxes.length === 1 ? rotated(topology.npuCount) : rotatedOverBoxes(boxes);
}

/** Issues every message straight from where a chunk is to where it must go, contributions before copies, round by round. */
function issue(list: Messages, collective: Collective, rounds: Rounds): void {
  const drafts = messages();
  const keys: number[] = [];
  const draft = (phase: number, chunk: number, source: number, target: number): void => {
    if (source === target) return;
    drafts.add(chunk, source, target, collective.reduces && phase === 0);
    keys.push((phase * rounds.count + rounds.of(source, target)) * collective.chunkCount + chunk);
  };
  for (let c = 0; c < collective.chunkCount; c++) {
    const owner = ownerOf(collective, c);
    const holders = membersOf(collective, collective.pre, c);
    if (collective.reduces) for (const source of holders) draft(0, c, source, owner);
    for (const target of membersOf(collective, collective.post, c)) {
      if (collective.reduces || !holders.includes(target)) draft(1, c, owner, target);
    }
  }
  for (const i of orderByTime(Float64Array.from(keys))) {
    list.add(drafts.chunk[i], drafts.source[i], drafts.target[i], drafts.reduce[i] === 1);
  }
}

/** Where a chunk is complete first: its block's rank where every rank both starts and ends with it, else the first holder. */
function ownerOf(collective: Collective, chunk: number): number {
  const { pre, post, reduces } = collective;
  if (!reduces) return membersOf(collective, pre, chunk)[0];
  if (post.kind !== "group") return membersOf(collective, post, chunk)[0];
  const perGroup = collective.chunkCount / collective.groupCount;
  const rank = Math.floor((chunk % perGroup) / collective.chunksPerNpu);
  return membersOf(collective, post, chunk)[rank];
}

/**
 * Everyone sends straight to everyone, on shortest paths: the all-to-all of every library and, where all can reach all at once, the
 * all-pairs reduction and all-gather of RCCL with MSCCL++ and of NCCL's symmetric memory kernels (2.27).
 */
export const direct: Synthesizer = {
  name: "direct",
  makes: "steps",
  traits: { goesAllTheWay: true, library: "within a box", librariesOf: "NCCL, RCCL and MPI" },
  description: "every chunk straight to each of its targets, on shortest paths (baseline)",
  collectives: [...COLLECTIVE_KINDS, "custom"],
  policies: [],
  async synthesize({ topology, collective }) {
    const list = messages();
    const rounds = roundsOf(topology);
    issue(list, collective, rounds);
    return { schedule: listSchedule(topology, collective, list), policy: rounds.policy, trials: 1 };
  },
};
