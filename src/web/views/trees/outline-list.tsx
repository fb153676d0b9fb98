import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import type { TreeView } from "../../protocol.ts";
import { type Outline, outlineOf } from "./tree-outline.ts";

interface OutlineListProps {
  readonly tree: TreeView;
  readonly nameOf: (node: number) => string;
}

/** Deeper branches than this are not set further in. */
const MOST_INDENT = 12;

/** A tree as a nested list; nodes that follow one another without a branch stand on one line. */
export function OutlineList({ tree, nameOf }: OutlineListProps) {
  const isOpen = useSignal(false);
  const outline = useMemo(() => (isOpen.value ? outlineOf(tree) : null), [isOpen.value, tree]);
  const arrow = tree.direction === "out" ? " → " : " ← ";
  return (
    <details
      class="tree-outline"
      onToggle={({ currentTarget }) => {
        isOpen.value = currentTarget.open;
      }}
    >
      <summary>The tree as a list</summary>
      {outline !== null && (
        <ul>
          <Branch outline={outline} arrow={arrow} nameOf={nameOf} depth={0} />
        </ul>
      )}
    </details>
  );
}

interface BranchProps {
  readonly outline: Outline;
  readonly arrow: string;
  readonly nameOf: (node: number) => string;
  readonly depth: number;
}

function Branch({ outline: { nodes, branches }, arrow, nameOf, depth }: BranchProps) {
  return (
    <li>
      {`${depth > 0 ? arrow.trimStart() : ""}${nodes.map(nameOf).join(arrow)}`}
      {branches.length > 0 && (
        <ul data-flat={depth >= MOST_INDENT}>
          {branches.map((branch) => (
            <Branch key={branch.nodes[0]} outline={branch} arrow={arrow} nameOf={nameOf} depth={depth + 1} />
          ))}
        </ul>
      )}
    </li>
  );
}
