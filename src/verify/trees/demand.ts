import type { Collective, Placement } from "../../model/collective/collective.ts";
import { NO_ROUTES } from "../../model/routes/routes.ts";
import type { Forest, TreeFlow } from "../../model/trees/tree-flow.ts";
import { names } from "../describe.ts";
import { placementView } from "../steps/rows.ts";
import type { Recorder } from "../violation.ts";

/** What a collective wants of forests. */
export interface TreeDemand {
  readonly directions: readonly Forest["direction"][];
  /** [nodes] chunks that start (out) or end (in) at each node, in proportion to which copies are rooted there; null: any. */
  readonly share: Float64Array | null;
}

/**
 * Returns what a collective of one group wants, as its chunks say, not its name, so that custom ones of any shares
 * count (all-gather-v): copied from one member each to all: out-trees; summed from all to one: in-trees; summed for all:
 * both, with any roots. Null where trees make no such collective. O(chunks + their holders).
 */
export function treeDemand(collective: Collective, nodes: number): TreeDemand | null {
  const { kind, reduces, pre, post, groupSize, groupMembers } = collective;
  const isMember = new Uint8Array(nodes);
  for (let i = 0; i < groupMembers.length; i++) isMember[groupMembers[i]] = 1;
  const all = (placement: Placement): boolean => everywhere(collective, placement, isMember);
  if (!reduces) {
    const share = all(post) ? owners(collective, pre, isMember) : null;
    return share === null ? null : { directions: ["out"], share };
  }
  if (!all(pre)) return null;
  const toAll = all(post);
  // for a single member one is all, and only the name tells the two apart
  if (toAll && (groupSize > 1 || kind === "allreduce")) return { directions: ["in", "out"], share: null };
  const share = owners(collective, post, isMember);
  return share === null ? null : { directions: ["in"], share };
}

function everywhere(collective: Collective, placement: Placement, isMember: Uint8Array): boolean {
  const view = placementView(collective, placement);
  for (let chunk = 0; placement.kind !== "group" && chunk < collective.chunkCount; chunk++) {
    view.look(chunk);
    if (view.to - view.from !== collective.groupSize) return false;
    for (let i = view.from; i < view.to; i++) if (isMember[view.members[i]] === 0) return false;
  }
  return true;
}

/** Returns the chunks of each node, or null where a chunk is not at one member alone. */
function owners(collective: Collective, placement: Placement, isMember: Uint8Array): Float64Array | null {
  const share = new Float64Array(isMember.length);
  const view = placementView(collective, placement);
  for (let chunk = 0; chunk < collective.chunkCount; chunk++) {
    view.look(chunk);
    const owner = view.members[view.from];
    if (view.to - view.from !== 1 || isMember[owner] === 0) return null;
    share[owner]++;
  }
  return share;
}

/** Records forests that are not those of the collective, and forests side by side that are not an all-reduce's. */
export function checkForests(flow: TreeFlow, demand: TreeDemand | null, recorder: Recorder): void {
  const { collective, forests, concurrent } = flow;
  const wrong = (message: string): void => recorder.record(() => ({ kind: "wrong-forests", message }));
  if (demand === null) {
    const right = "chunks copied from one member to all, summed from all to one, or summed for all";
    wrong(`trees do not make this ${collective.kind}: they are for ${right}`);
    return;
  }
  const list = (directions: readonly string[]): string => directions.map((one) => `"${one}"`).join(" then ");
  const own = list(forests.map(({ direction }) => direction));
  const wanted = list(demand.directions);
  if (own !== wanted) wrong(`this ${collective.kind} takes forests ${wanted} but has ${own}`);
  else if (concurrent && forests.length === 1) wrong("a single forest cannot run side by side with another");
}

/** The words of violations of tree flows. */
export interface TreeWords {
  /** Returns "rank 3 (gpu3)" for a member; "gpu9 (outside the group)" for another NPU; a switch's name. */
  node(node: number): string;
  /** Returns the link's name. */
  link(link: number): string;
  /** Returns "the out-forest". */
  forest(forest: number): string;
  /** Returns "out-tree 5 at rank 3 (gpu3)". */
  tree(forest: number, tree: number): string;
  /** Returns "link a>b" or "links a>s, s>b": those of edge i of the forest. */
  edge(forest: number, i: number): string;
}

/** Returns the words for a tree flow; each is made when it is asked for. */
export function treeWords({ topology, collective, forests }: TreeFlow): TreeWords {
  const words = names({ topology, collective, routes: NO_ROUTES });
  const node = (id: number): string => (id < topology.npuCount ? words.npu(id, 0) : topology.nodeNames[id]);
  return {
    node,
    link: words.link,
    forest: (f) => `the ${forests[f].direction}-forest`,
    tree: (f, t) => `${forests[f].direction}-tree ${t} at ${node(forests[f].root[t])}`,
    edge(f, i) {
      const { links, linkOffset } = forests[f];
      const named = Array.from(links.subarray(linkOffset[i], linkOffset[i + 1]), words.link);
      return `${named.length === 1 ? "link" : "links"} ${named.join(", ")}`;
    },
  };
}
