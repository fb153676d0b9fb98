/** Which rule of a schedule is broken: of a step schedule or periods, then of trees, then of phases within dimensions. */
export type ViolationKind =
  /** The data is not a schedule: lengths, ranges, a route that is no path, a reduction in a collective without one. */
  | "malformed"
  /** A transfer ends before latency and serialisation allow. */
  | "too-fast"
  /** A transfer departs before its chunk (any contribution to it) is at the source. */
  | "absent-chunk"
  /** More than the whole of a physical link is in use. */
  | "link-conflict"
  /** A second chunk departs on a route that still carries one. */
  | "route-conflict"
  /** An NPU of the postcondition never holds the chunk. */
  | "missing-chunk"
  /** An NPU of the postcondition ends without some NPU's contribution. */
  | "missing-contribution"
  /** A contribution is added to a sum that has it already. */
  | "repeated-contribution"
  /** The forests are not those of the collective, or run side by side where they cannot. */
  | "wrong-forests"
  /** The maps by which trees are repeated do not map the network onto itself, or form no abelian group of the sizes given. */
  | "false-symmetry"
  /** An edge of a tree does not run along links, or through a member, or twice through a node. */
  | "broken-path"
  /** An edge starts where the tree has not been, or ends where it has, or at no member; a way up ends at no root, or there are two. */
  | "not-a-tree"
  /** An NPU is the root of more or fewer copies than the collective wants. */
  | "wrong-copies"
  /** The copies on a link hold more than its bandwidth. */
  | "link-overload"
  /** What is to prove a bound proves none. */
  | "false-certificate"
  /** A dimension that a schedule of phases states is not in the network: links are missing, too narrow or too slow. */
  | "no-product"
  /** The algorithm of a dimension's lines does not do its work, or not in the time it is given. */
  | "wrong-line"
  /** A chunk lacks a phase that the collective wants, has one twice or too early, or two at once. */
  | "wrong-phases"
  /** A dimension serialises two phases at once. */
  | "dimension-conflict";

/** One broken rule, with indices for programs and one sentence for people. */
export interface Violation {
  readonly kind: ViolationKind;
  /** NPU id: the sender, or the receiver where something is missing or repeated. */
  readonly npu?: number;
  readonly chunk?: number;
  /** Link id: the one in conflict, else the first of the route (the last one where the receiver is at fault). */
  readonly link?: number;
  /** Row of the schedule. */
  readonly transfer?: number;
  readonly timePs?: number;
  /** Forest of a tree flow; tree of it, or of periods; edge of the tree. */
  readonly forest?: number;
  readonly tree?: number;
  readonly edge?: number;
  /** Dimension of a schedule of phases, phase (row) of it. */
  readonly dimension?: number;
  readonly phase?: number;
  /** Names rank, chunk, link and time. */
  readonly message: string;
}

/** So many violations are kept for people and files, on the command line as in the app: both count the same. */
export const KEPT = 1000;

/** Counts violations and keeps the first of them. */
export interface Recorder {
  /** Counts one violation; `describe` runs only where it is kept. */
  record(describe: () => Violation): void;
  /** The violations kept, in the order in which they were found. */
  readonly kept: readonly Violation[];
  /** Returns how many there were. */
  count(): number;
}

/** Returns a recorder that keeps at most `limit` violations. */
export function recorder(limit: number): Recorder {
  const kept: Violation[] = [];
  let count = 0;
  return {
    kept,
    count: () => count,
    record(describe) {
      count++;
      if (kept.length < limit) kept.push(describe());
    },
  };
}
