import { COLLECTIVE_KINDS, type NamedCollective } from "../../model/collective.ts";
import { listSchedule } from "../../model/list-schedule.ts";
import { type Blocks, blocksOf, type Messages, messages } from "../../model/messages.ts";
import type { Synthesizer } from "../synthesizer.ts";

type Issue = (list: Messages, blocks: Blocks, group: number, root: number) => void;

/** N - 1 steps; in step k rank r passes on the block that `blockOf(r, k)` names. */
function rounds(
  list: Messages,
  b: Blocks,
  group: number,
  reduce: boolean,
  blockOf: (r: number, k: number) => number,
): void {
  for (let k = 0; k < b.size - 1; k++) {
    for (let r = 0; r < b.size; r++) {
      b.each(group, blockOf(r, k), (chunk) => {
        list.add(chunk, b.npu(group, r), b.npu(group, r + 1), reduce);
      });
    }
  }
}

/** Passes one block round the ring from rank `from` to rank `to`. */
function passOn(
  list: Messages,
  b: Blocks,
  group: number,
  block: number,
  from: number,
  to: number,
  reduce = false,
): void {
  const hops = (to - from + b.size) % b.size;
  b.each(group, block, (chunk) => {
    for (let h = 0; h < hops; h++) list.add(chunk, b.npu(group, from + h), b.npu(group, from + h + 1), reduce);
  });
}

const allgather: Issue = (list, b, group) => rounds(list, b, group, false, (r, k) => r - k);
const reducescatter: Issue = (list, b, group) => rounds(list, b, group, true, (r, k) => r - k - 1);

const ISSUES: Record<NamedCollective, Issue> = {
  allgather,
  reducescatter,
  allreduce: (list, b, group, root) => {
    reducescatter(list, b, group, root);
    allgather(list, b, group, root);
  },
  broadcast: (list, b, group, root) => passOn(list, b, group, 0, root, root - 1),
  reduce: (list, b, group, root) => passOn(list, b, group, 0, root + 1, root, true),
  gather: (list, b, group, root) => {
    for (let r = 0; r < b.size; r++) passOn(list, b, group, r, r, root);
  },
  scatter: (list, b, group, root) => {
    for (let r = 0; r < b.size; r++) passOn(list, b, group, root - 1 - r, root, root - 1 - r);
  },
  alltoall: (list, b, group) => {
    for (let distance = b.size - 1; distance > 0; distance--) {
      for (let r = 0; r < b.size; r++) passOn(list, b, group, r * b.size + ((r + distance) % b.size), r, r + distance);
    }
  },
};

/** One ring in natural rank order, one direction; each hop takes the shortest way, lowest node first. */
export const ring: Synthesizer = {
  name: "ring",
  description: "one ring in natural rank order, each hop on a shortest path (baseline)",
  collectives: COLLECTIVE_KINDS,
  policies: [],
  async synthesize({ topology, collective }) {
    const list = messages();
    const blocks = blocksOf(collective);
    for (let group = 0; group < blocks.groups; group++) {
      ISSUES[collective.kind as NamedCollective](list, blocks, group, collective.rootRank);
    }
    return { schedule: listSchedule(topology, collective, list), policy: "natural order", trials: 1 };
  },
};
