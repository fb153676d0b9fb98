import { NODE_TYPE } from "../../model/files/chakra-format.ts";
import type { Matches, Trace } from "./chakra-match.ts";
import type { TraceNode } from "./chakra-trace.ts";

/** NPUs that do the same at the same time, where links are alike. */
export interface NpuClasses {
  /** [NPUs] */
  readonly classOf: Int32Array;
  /** [classes] NPUs, ascending; classes by their first NPUs. */
  readonly npus: readonly Int32Array[];
}

/** Numbers by key, in the order in which they come. */
function numbering(): (key: string) => number {
  const known = new Map<string, number>();
  return (key) => {
    const number = known.get(key) ?? known.size;
    known.set(key, number);
    return number;
  };
}

/**
 * Returns the coarsest classes of NPUs whose traces are equal and whose communications are with the same nodes of the same
 * classes: partition refinement (Hopcroft 1971) from equal traces on, in rounds. Two NPUs of a class wait for nodes that end at
 * the same time, so all their nodes do. O(rounds x nodes log nodes), rounds at most NPUs; a ring or a mesh takes two or three.
 */
export function classesOf(traces: readonly Trace[], matches: Matches): NpuClasses {
  const { offset, matchOf } = matches;
  let colour = contents(traces, matches);
  let count = new Set(colour).size;
  for (;;) {
    const told = signatures(colour, matches);
    const number = numbering();
    const known = numbering();
    const refined = Int32Array.from(traces, ({ nodes }, npu) => {
      const words = [colour[npu]];
      for (let n = offset[npu]; n < offset[npu] + nodes.length; n++) {
        if (matchOf[n] >= 0) words.push(known(told[matchOf[n]]));
      }
      return number(words.join(" "));
    });
    const now = new Set(refined).size;
    colour = refined;
    if (now === count) break;
    count = now;
  }
  const npus: number[][] = Array.from({ length: count }, () => []);
  for (const [npu, c] of colour.entries()) npus[c].push(npu);
  return { classOf: colour, npus: npus.map((all) => Int32Array.from(all)) };
}

/**
 * Returns what matches have in common that are one for the classes: class and node of each member, ascending and each with how
 * often it occurs; of a send first the sender's.
 */
export function signatures(classOf: Int32Array, { offset, matches, communicator }: Matches): string[] {
  const npuOf = new Int32Array(offset[offset.length - 1]);
  for (let npu = 0; npu + 1 < offset.length; npu++) npuOf.fill(npu, offset[npu], offset[npu + 1]);
  return matches.map((nodes, match) => {
    const seats = Array.from(nodes, (node) => `${classOf[npuOf[node]]}.${node - offset[npuOf[node]]}`);
    if (communicator[match] < 0) return `send ${seats.join(" ")}`;
    const counts = new Map<string, number>();
    for (const seat of seats.sort()) counts.set(seat, (counts.get(seat) ?? 0) + 1);
    return [...counts].map(([seat, count]) => `${seat}x${count}`).join(" ");
  });
}

/** Those say which NPUs and groups; all else is the same for NPUs of a class. */
const OF_AN_NPU: ReadonlySet<string> = new Set(["pg_name", "comm_src", "comm_dst", "comm_tag"]);

/** Returns numbers of NPUs by what their traces have in them, but for the numbers of NPUs and groups. O(nodes). */
function contents(traces: readonly Trace[], { offset, matchOf, communicator }: Matches): Int32Array {
  const number = numbering();
  const known = numbering();
  /** Nodes whose contents are numbered; equal ones of several traces are mostly one. */
  const told = new Map<TraceNode, number>();
  const contentOf = (node: TraceNode): number => {
    let content = told.get(node);
    if (content !== undefined) return content;
    const { type, name, durationMicros, attributes } = node;
    const values = [...attributes].filter(([key]) => !OF_AN_NPU.has(key)).sort(([a], [b]) => (a < b ? -1 : 1));
    // names of messages have numbers of NPUs in them
    const isMessage = type === NODE_TYPE.send || type === NODE_TYPE.receive;
    content = known(JSON.stringify([type, isMessage ? "" : name, durationMicros, values]));
    told.set(node, content);
    return content;
  };
  return Int32Array.from(traces, ({ nodes, deps }, npu) => {
    const words: number[] = [];
    for (const [i, node] of nodes.entries()) words.push(contentOf(node), deps[i].length, ...deps[i]);
    // groups and peers by when they first occur, so that what goes through one of them does so for every NPU of the class
    const group = numbering();
    for (const [i, { type, attributes }] of nodes.entries()) {
      if (type === NODE_TYPE.collective) words.push(group(`among ${communicator[matchOf[offset[npu] + i]]}`));
      else if (type === NODE_TYPE.send) words.push(group(`to ${attributes.get("comm_dst")}`));
    }
    return number(words.join(" "));
  });
}
