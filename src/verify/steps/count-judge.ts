import { OP_COPY } from "../../model/steps/step-schedule.ts";
import { type ChunkLife, play } from "./chunk-life.ts";
import type { PlacementView } from "./placement.ts";

/**
 * Returns a function that says whether a chunk's life is sound, knowing of each set of contributions only its size; false
 * means unsound or not to be told from sizes. O(transfers + members), memory O(NPUs).
 *
 * Why sizes are enough. Call a set complete when it is the whole of P contributions, partial when it is neither that nor
 * empty. A partial set is *live* at the NPU that holds it until it departs, and then in flight; what stays behind at the
 * sender is *spent*. At all times the live partial sets are pairwise disjoint: so they are at the start, and
 *   - a departure passes the live set on; a second departure of a spent one is refused;
 *   - a reduce unites two live sets, disjoint by the invariant, so nothing repeats and sizes add; a reduce into a spent set
 *     is refused; one into an empty set is a move;
 *   - a copy drops what was there and is a move.
 * A set of size P is therefore the complete one, known member by member, and may be sent any number of times. While it
 * exists no live partial set does: what is reduced is then complete too, and repeats unless its target is empty.
 */
export function countJudge(
  npus: number,
  mostTransfers: number,
): (life: ChunkLife, pre: PlacementView, post: PlacementView) => boolean {
  const size = new Int32Array(npus);
  const spent = new Uint8Array(npus);
  const payload = new Int32Array(mostTransfers);
  let whole = 0;
  let source: Int32Array = size;
  let target: Int32Array = size;
  let op: Uint8Array = spent;

  const depart = (i: number): boolean => {
    const npu = source[i];
    const sent = size[npu];
    if (sent === 0) return false;
    if (sent < whole) {
      if (spent[npu] === 1) return false;
      spent[npu] = 1;
    }
    payload[i] = sent;
    return true;
  };
  const arrive = (i: number): boolean => {
    const npu = target[i];
    if (op[i] === OP_COPY || size[npu] === 0) {
      size[npu] = payload[i];
      spent[npu] = 0;
      return true;
    }
    if (spent[npu] === 1 || payload[i] === whole) return false;
    size[npu] += payload[i];
    return true;
  };

  return (life, pre, post) => {
    ({ source, target, op } = life);
    whole = pre.to - pre.from;
    for (let i = pre.from; i < pre.to; i++) size[pre.members[i]] = 1;
    let sound = play(life, depart, arrive);
    for (let i = post.from; i < post.to && sound; i++) sound = size[post.members[i]] === whole;
    for (let i = pre.from; i < pre.to; i++) {
      size[pre.members[i]] = 0;
      spent[pre.members[i]] = 0;
    }
    for (let i = 0; i < life.count; i++) {
      size[target[i]] = 0;
      spent[target[i]] = 0;
    }
    return sound;
  };
}
