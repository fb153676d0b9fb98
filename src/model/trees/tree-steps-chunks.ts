import { InputError } from "../../base/errors.ts";
import { type Collective, collective as named } from "../collective/collective.ts";
import { divide, rational } from "../numbers/rational.ts";
import type { Forest, TreeFlow } from "./tree-flow.ts";
import { dataBytesOf } from "./tree-times.ts";

/** Which chunks the copies of each root carry: copy i of a root has the chunks (firstCopy + i) * pieces onwards. */
export interface Chunking {
  /** The flow's collective, cut into chunks of one piece of one copy. */
  readonly collective: Collective;
  readonly pieces: number;
  /** [NPUs] copies of the roots of lower rank. */
  readonly firstCopy: Float64Array;
}

/**
 * Returns the chunks of a flow without symmetry whose copies are cut into `pieces`: in the order of the roots' ranks, so those
 * of an all-gather are numbered as its collective numbers them. The chunks of an all-reduce belong to nobody; where they are
 * not as many for each NPU, its `chunksPerNpu` is rounded down.
 * Throws InputError where copies per root are not what the kind of collective asks for. O(trees + NPUs + chunks).
 */
export function chunkingOf(flow: TreeFlow, pieces: number): Chunking {
  const { collective, topology, forests } = flow;
  const { groupMembers, groupCount } = collective;
  if (groupCount !== 1) throw new InputError("a tree flow", "one process group", groupCount);
  const [copies, ...others] = forests.map((forest) => copiesPerRoot(forest, topology.npuCount));
  for (const other of others) {
    const npu = other.findIndex((many, v) => many !== copies[v]);
    if (npu < 0) continue;
    throw new InputError(
      `copies at root ${topology.nodeNames[npu]}`,
      `as many as in the first forest (${copies[npu]})`,
      other[npu],
    );
  }
  const firstCopy = new Float64Array(topology.npuCount);
  let sum = 0;
  for (const npu of groupMembers) {
    firstCopy[npu] = sum;
    sum += copies[npu];
  }
  const all = copies.reduce((total, many) => total + many, 0);
  if (sum !== all)
    throw new InputError("roots of a tree flow", "members of its process group", `${all - sum} copies elsewhere`);
  return { collective: cut(flow, sum * pieces, copies), pieces, firstCopy };
}

function copiesPerRoot({ root, copies }: Forest, npus: number): Float64Array {
  const sum = new Float64Array(npus);
  for (let tree = 0; tree < root.length; tree++) sum[root[tree]] += copies[tree];
  return sum;
}

/** Returns the flow's collective with so many equal chunks. */
function cut(flow: TreeFlow, chunkCount: number, copies: Float64Array): Collective {
  const { kind, groupMembers, groupSize, rootRank, sizeBytes } = flow.collective;
  const request = { groups: [groupMembers], sizeBytes, rootRank };
  switch (kind) {
    case "broadcast":
    case "reduce":
      if (copies.some((many, npu) => many > 0 && npu !== groupMembers[rootRank])) {
        throw new InputError(`the trees of a ${kind}`, "the collective's root as their only root", "others");
      }
      return named({ ...request, kind, chunksPerNpu: chunkCount });
    case "allgather":
    case "reducescatter":
      if (groupMembers.some((npu) => copies[npu] !== copies[groupMembers[0]])) {
        throw new InputError(`the trees of the ${kind}`, "as many copies at every root", "different numbers");
      }
      return named({ ...request, kind, chunksPerNpu: chunkCount / groupSize });
    case "allreduce": {
      const whole = named({ ...request, kind, chunksPerNpu: Math.max(1, Math.floor(chunkCount / groupSize)) });
      return { ...whole, chunkCount, chunkBytes: divide(dataBytesOf(flow), rational(chunkCount)) };
    }
    case "custom":
      return cutTable(flow, chunkCount, copies);
    default:
      throw new InputError("the collective of a tree flow", "one that trees carry", kind);
  }
}

/** [trees + 1] tree t carries chunk[offset[t] .. offset[t + 1]], in the order in which it sends them. */
export interface Carried {
  readonly offset: Int32Array;
  readonly chunk: Int32Array;
}

/** Returns what each tree carries: piece after piece, of each the copies one after the other. O(chunks). */
export function carriedChunks({ root, copies }: Forest, { firstCopy, pieces, collective }: Chunking): Carried {
  const nextCopy = firstCopy.slice();
  const offset = new Int32Array(root.length + 1);
  const chunk = new Int32Array(collective.chunkCount);
  let at = 0;
  for (let tree = 0; tree < root.length; tree++) {
    const first = nextCopy[root[tree]];
    nextCopy[root[tree]] += copies[tree];
    for (let piece = 0; piece < pieces; piece++) {
      for (let copy = first; copy < first + copies[tree]; copy++) chunk[at++] = copy * pieces + piece;
    }
    offset[tree + 1] = at;
  }
  return { offset, chunk };
}

/** The collective is a table: an all-gather (or, where it reduces, a reduce-scatter) of unequal shards. */
function cutTable(flow: TreeFlow, chunkCount: number, copies: Float64Array): Collective {
  const { collective } = flow;
  const npu = new Int32Array(chunkCount);
  const pieces = chunkCount / copies.reduce((sum, many) => sum + many, 0);
  let chunk = 0;
  for (const member of collective.groupMembers) {
    npu.fill(member, chunk, chunk + copies[member] * pieces);
    chunk += copies[member] * pieces;
  }
  const [root, everyone] = [{ kind: "one", npu }, { kind: "group" }] as const;
  return {
    ...collective,
    chunksPerNpu: 1,
    chunkCount,
    chunkBytes: divide(dataBytesOf(flow), rational(chunkCount)),
    ...(collective.reduces ? { pre: everyone, post: root } : { pre: root, post: everyone }),
  };
}
