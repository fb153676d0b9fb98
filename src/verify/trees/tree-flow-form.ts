import type { Rational } from "../../model/numbers/rational.ts";
import { linkCount, nodeCount } from "../../model/topology/topology.ts";
import type { Forest, NetworkSymmetry, TreeFlow } from "../../model/trees/tree-flow.ts";
import { type Faults, isBelow, isCount } from "../well-formed.ts";

/** An abelian group that moves something in each generator of an order up to 2^53 has fewer. */
const MOST_GENERATORS = 64;

const isPositive = ({ num, den }: Rational): boolean => num > 0n && den > 0n;

/**
 * Yields what keeps the data from being a tree flow at all; the network and the collective must be in order. The later checks
 * trust lengths, offsets and ranges. O(edges + links).
 */
export function* treeFaults(flow: TreeFlow): Faults {
  const { collective, forests, symmetry } = flow;
  const { groupCount, groupSize, chunkCount } = collective;
  if (groupCount !== 1 || groupSize < 1 || chunkCount < 1) {
    yield {
      message: `trees are for one group of NPUs, not for ${groupCount} of ${groupSize} with ${chunkCount} chunks`,
    };
    return;
  }
  if (flow.inNetwork !== undefined && flow.inNetwork !== true) {
    yield { message: `inNetwork is ${flow.inNetwork}, neither true nor left out` };
    return;
  }
  if (forests.length !== 1 && forests.length !== 2) {
    yield { message: `a tree flow has one forest or two, not ${forests.length}` };
    return;
  }
  for (const [forest, columns] of forests.entries()) {
    const message = columnFault(flow, columns);
    if (message !== null) yield { forest, message: `forest ${forest} ${message}` };
  }
  const message = symmetry === null ? null : shapeFault(symmetry, nodeCount(flow.topology));
  if (message !== null) yield { message };
}

function columnFault({ topology, collective }: TreeFlow, forest: Forest): string | null {
  const { direction, root, copies, linkOffset, links, copyBytesPerSecond } = forest;
  const trees = root.length;
  const edges = trees * (collective.groupSize - 1);
  if (direction !== "out" && direction !== "in") return `has direction ${direction}, neither out nor in`;
  if (!isPositive(copyBytesPerSecond)) return "gives its copies no bandwidth";
  if (trees === 0) return "has no trees";
  if (copies.length !== trees || linkOffset.length !== edges + 1) {
    return `does not have the columns of ${trees} trees over ${collective.groupSize} members`;
  }
  for (let tree = 0; tree < trees; tree++) {
    if (!isBelow(root[tree], topology.npuCount))
      return `has tree ${tree} rooted at node ${root[tree]}, which is no NPU`;
    if (!isCount(copies[tree]) || copies[tree] === 0) {
      return `has ${copies[tree]} copies of tree ${tree}, not a whole number above 0`;
    }
  }
  if (linkOffset[0] !== 0 || linkOffset[edges] !== links.length) return "does not have the links of its edges";
  for (let edge = 0; edge < edges; edge++) {
    const from = linkOffset[edge];
    if (!(from <= linkOffset[edge + 1]) || Math.floor(from) !== from) return `has no list of links for edge ${edge}`;
  }
  const all = linkCount(topology);
  for (let i = 0; i < links.length; i++) {
    if (links[i] < 0 || links[i] >= all) return `has link number ${links[i]}, which the network does not have`;
  }
  return null;
}

function shapeFault({ sizes, steps }: NetworkSymmetry, nodes: number): string | null {
  if (sizes.length !== steps.length || sizes.length > MOST_GENERATORS) {
    return `the symmetry has ${sizes.length} sizes and ${steps.length} maps`;
  }
  let order = 1;
  for (const size of sizes) order *= isCount(size) && size > 0 ? size : Number.NaN;
  if (!Number.isSafeInteger(order))
    return `the symmetry has sizes ${sizes.join(" x ")}, not whole numbers below 2^53 in all`;
  for (const [d, step] of steps.entries()) {
    if (step.length !== nodes) return `map ${d} of the symmetry is for ${step.length} nodes, not for ${nodes}`;
    for (let v = 0; v < nodes; v++) {
      if (!isBelow(step[v], nodes)) return `map ${d} of the symmetry takes node ${v} to ${step[v]}, which is no node`;
    }
  }
  return null;
}
