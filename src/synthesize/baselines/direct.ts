import { COLLECTIVE_KINDS, type Collective, membersOf } from "../../model/collective.ts";
import { listSchedule } from "../../model/list-schedule.ts";
import { type Messages, messages } from "../../model/messages.ts";
import { orderByTime } from "../../model/ordering.ts";
import type { Synthesizer } from "../synthesizer.ts";

/**
 * Issues every message straight from where a chunk is to where it must go, contributions before copies, round by round: in
 * round k an NPU sends to the k-th after it, so that no two start with the same target.
 */
function issue(list: Messages, collective: Collective, npuCount: number): void {
  const drafts = messages();
  const keys: number[] = [];
  const draft = (phase: number, chunk: number, source: number, target: number): void => {
    if (source === target) return;
    drafts.add(chunk, source, target, collective.reduces && phase === 0);
    const round = (target - source + npuCount) % npuCount;
    keys.push((phase * npuCount + round) * collective.chunkCount + chunk);
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

/** Everyone sends straight to everyone, on shortest paths. */
export const direct: Synthesizer = {
  name: "direct",
  description: "every chunk straight to each of its targets, on shortest paths (baseline)",
  collectives: [...COLLECTIVE_KINDS, "custom"],
  policies: [],
  async synthesize({ topology, collective }) {
    const list = messages();
    issue(list, collective, topology.npuCount);
    return { schedule: listSchedule(topology, collective, list), policy: "rotated", trials: 1 };
  },
};
