import { InputError } from "../../base/errors.ts";
import { type Collective, membersOf } from "../../model/collective/collective.ts";

/** Chunks that travel from one NPU to another, in ascending order of (source, chunk). */
export interface Messages {
  /** [messages] */
  readonly chunk: Int32Array;
  readonly source: Int32Array;
  readonly target: Int32Array;
  /** [npus + 1] messages of an NPU: bySource[npu] .. bySource[npu + 1]. */
  readonly bySource: Int32Array;
}

/**
 * Returns what an all-to-all(v) sends: every chunk whose one target is not its one source. Throws InputError for a chunk that
 * has several holders or goes to several NPUs. O(chunks + NPUs).
 */
export function messagesOf(collective: Collective, npuCount: number): Messages {
  const { chunkCount, pre, post } = collective;
  if (collective.reduces) throw new InputError("--collective", "an all-to-all(v), which copies,", "one that reduces");
  const from = new Int32Array(chunkCount);
  const to = new Int32Array(chunkCount);
  for (let c = 0; c < chunkCount; c++) {
    const holders = membersOf(collective, pre, c);
    const targets = membersOf(collective, post, c);
    if (holders.length !== 1 || targets.length !== 1) {
      const received = `chunk ${c} of ${holders.length} for ${targets.length}`;
      throw new InputError("--collective", "an all-to-all(v): chunks of one NPU for one NPU,", received);
    }
    from[c] = holders[0];
    to[c] = targets[0];
  }
  const bySource = new Int32Array(npuCount + 1);
  for (let c = 0; c < chunkCount; c++) if (from[c] !== to[c]) bySource[from[c] + 1]++;
  for (let v = 0; v < npuCount; v++) bySource[v + 1] += bySource[v];
  const count = bySource[npuCount];
  const next = bySource.slice(0, npuCount);
  const chunk = new Int32Array(count);
  for (let c = 0; c < chunkCount; c++) if (from[c] !== to[c]) chunk[next[from[c]]++] = c;
  return { chunk, source: chunk.map((c) => from[c]), target: chunk.map((c) => to[c]), bySource };
}

/** Returns how many messages each NPU has for each, [npus * npus], row by source. */
export function demandMatrix({ source, target }: Messages, npuCount: number): Float64Array {
  const demand = new Float64Array(npuCount * npuCount);
  for (let m = 0; m < source.length; m++) demand[source[m] * npuCount + target[m]]++;
  return demand;
}
