import { membersOf, type Placement } from "../../model/collective/collective.ts";
import { orderByTime } from "../../model/numbers/ordering.ts";
import type { HopsView } from "../protocol.ts";
import { linkWires } from "./link-wires.ts";
import type { Moves } from "./moves.ts";

/** Chunks of each NPU: those of NPU v are chunk[offset[v] .. offset[v + 1]], ascending. */
interface PerNpu {
  readonly offset: Int32Array;
  readonly chunk: Int32Array;
}

/** Returns the chunks that a placement puts at each NPU. O(chunks x NPUs of each). */
function chunksAt({ topology, collective }: Moves, placement: Placement): PerNpu {
  const { chunkCount } = collective;
  const offset = new Int32Array(topology.npuCount + 1);
  const members = (chunk: number): Int32Array =>
    membersOf(collective as Parameters<typeof membersOf>[0], placement, chunk);
  for (let c = 0; c < chunkCount; c++) for (const npu of members(c)) offset[npu + 1]++;
  for (let npu = 0; npu < topology.npuCount; npu++) offset[npu + 1] += offset[npu];
  const next = offset.slice();
  const chunk = new Int32Array(offset[topology.npuCount]);
  for (let c = 0; c < chunkCount; c++) for (const npu of members(c)) chunk[next[npu]++] = c;
  return { offset, chunk };
}

/** Returns [chunks] the one NPU of a placement, -1 where there are many. */
function onlyAt({ collective }: Moves, placement: Placement): Int32Array {
  const { chunkCount } = collective;
  if (placement.kind === "one") return placement.npu.slice(0, chunkCount);
  return Int32Array.from({ length: chunkCount }, (_, c) => {
    const members = membersOf(collective as Parameters<typeof membersOf>[0], placement, c);
    return members.length === 1 ? members[0] : -1;
  });
}

/** Returns the moves in the order in which they arrive, for the page. O(moves x links of a way). */
export function hopsView(moves: Moves): HopsView {
  const { topology, collective, chunk, way, startPs, endPs, reduces, ways, chunkBytes, heldPs, totalPs, note } = moves;
  const { pre, post } = collective;
  const { ofLink } = linkWires(topology);
  const order = orderByTime(endPs);
  const count = order.length;
  const wireOffset = new Int32Array(count + 1);
  for (let i = 0; i < count; i++) {
    const w = way[order[i]];
    wireOffset[i + 1] = wireOffset[i] + ways.linkOffset[w + 1] - ways.linkOffset[w];
  }
  const view = {
    chunk: new Int32Array(count),
    source: new Int32Array(count),
    target: new Int32Array(count),
    startPs: new Float64Array(count),
    endPs: new Float64Array(count),
    reduces: new Uint8Array(count),
    wires: new Int32Array(wireOffset[count]),
  };
  let at = 0;
  for (let i = 0; i < count; i++) {
    const move = order[i];
    const w = way[move];
    view.chunk[i] = chunk[move];
    view.source[i] = ways.source[w];
    view.target[i] = ways.target[w];
    view.startPs[i] = startPs[move];
    view.endPs[i] = endPs[move];
    view.reduces[i] = reduces[move];
    for (let p = ways.linkOffset[w]; p < ways.linkOffset[w + 1]; p++) view.wires[at++] = ofLink[ways.links[p]];
  }
  const held = chunksAt(moves, pre);
  const wanted = chunksAt(moves, post);
  return {
    ...view,
    wireOffset,
    chunkCount: collective.chunkCount,
    chunkBytes,
    chunkOrigin: onlyAt(moves, collective.reduces ? post : pre),
    heldOffset: held.offset,
    held: held.chunk,
    wantedOffset: wanted.offset,
    wanted: wanted.chunk,
    isPipelined: heldPs !== null,
    totalPs,
    note,
  };
}
