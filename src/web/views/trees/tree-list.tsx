import { useSignal } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { count } from "../../../report/amounts.ts";
import { actOnKey } from "../../parts/keys.ts";
import type { ForestView, Row } from "./trees.ts";

interface TreeListProps {
  readonly forest: ForestView;
  readonly rows: readonly Row[];
  readonly nameOf: (node: number) => string;
  readonly current: number;
  readonly chosen: ReadonlySet<number>;
  readonly onShow: (tree: number) => void;
  readonly onToggle: (tree: number) => void;
}

const ROW = 30;
/** Rows drawn above and below those seen. */
const MORE = 6;
const PAGE = 10;

/** Trees to choose from, only those in sight drawn. Arrows show another tree, Space chooses it for the overlay. */
export function TreeList(props: TreeListProps) {
  const { rows, nameOf, current, onShow, onToggle } = props;
  const box = useRef<HTMLDivElement>(null);
  const at = rows.findIndex((row) => row.kind === "tree" && row.tree === current);
  const { seen, look } = useSeen(box, rows, at);
  const trees = rows.reduce((sum, row) => sum + (row.kind === "tree" ? 1 : 0), 0);

  /** Shows the next tree from a row on, upwards or downwards. */
  function go(from: number, by: 1 | -1): void {
    for (let row = from; row >= 0 && row < rows.length; row += by) {
      const found = rows[row];
      if (found.kind === "tree") {
        onShow(found.tree);
        return;
      }
    }
  }
  const acts = {
    ArrowDown: () => go(at + 1, 1),
    ArrowUp: () => go(at - 1, -1),
    PageDown: () => go(Math.min(rows.length - 1, at + PAGE), -1),
    PageUp: () => go(Math.max(0, at - PAGE), 1),
    Home: () => go(0, 1),
    End: () => go(rows.length - 1, -1),
    " ": () => at >= 0 && onToggle(current),
  };
  const { first, last } = seen;
  return (
    <div
      class="tree-list"
      ref={box}
      role="listbox"
      tabIndex={0}
      aria-label="Trees"
      aria-multiselectable="true"
      aria-activedescendant={at >= first && at < last ? `tree-list-${current}` : undefined}
      onScroll={look}
      onKeyDown={(event) => actOnKey(event, acts)}
    >
      <div class="tree-list-all" style={{ height: `${rows.length * ROW}px` }}>
        {rows.slice(first, last).map((row, i) => {
          const style = { top: `${(first + i) * ROW}px`, height: `${ROW}px` };
          if (row.kind === "tree") return <Tree key={row.tree} row={row} trees={trees} style={style} {...props} />;
          return (
            <div key={`root ${row.root}`} class="tree-list-root" style={style} role="presentation">
              {`${nameOf(row.root)}: ${count(row.trees, "tree")}`}
            </div>
          );
        })}
      </div>
    </div>
  );
}

/** Returns which rows are in sight, and what looks again; the row at `at` is scrolled into sight. */
function useSeen(box: RefObject<HTMLDivElement | null>, rows: readonly Row[], at: number) {
  const seen = useSignal({ first: 0, last: 40 });
  const look = (): void => {
    const element = box.current;
    if (element === null) return;
    const first = Math.max(0, Math.floor(element.scrollTop / ROW) - MORE);
    const last = Math.min(rows.length, Math.ceil((element.scrollTop + element.clientHeight) / ROW) + MORE);
    if (first !== seen.peek().first || last !== seen.peek().last) seen.value = { first, last };
  };
  useEffect(look, [rows]);
  useEffect(() => {
    const element = box.current;
    if (element === null || at < 0) return;
    const [top, bottom] = [at * ROW, (at + 1) * ROW];
    if (top < element.scrollTop) element.scrollTop = top - ROW;
    else if (bottom > element.scrollTop + element.clientHeight) element.scrollTop = bottom - element.clientHeight + ROW;
  }, [at]);
  return { seen: seen.value, look };
}

interface TreeProps extends TreeListProps {
  readonly row: Extract<Row, { kind: "tree" }>;
  /** How many there are. */
  readonly trees: number;
  readonly style: Readonly<Record<string, string>>;
}

/** A tree of the list, with the box that puts it into the overlay. */
function Tree({ forest, nameOf, current, chosen, onShow, onToggle, row: { tree, index }, trees, style }: TreeProps) {
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are the list's
    // biome-ignore lint/a11y/useFocusableInteractive: the list has the focus
    <div
      id={`tree-list-${tree}`}
      class="tree-list-tree"
      style={style}
      role="option"
      aria-selected={chosen.has(tree)}
      data-current={tree === current}
      aria-setsize={trees}
      aria-posinset={index + 1}
      onClick={() => onShow(tree)}
    >
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: Space does it */}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the option says whether it is chosen */}
      <span
        class="tree-list-check"
        title="Into the overlay"
        onClick={(event) => {
          event.stopPropagation();
          onToggle(tree);
        }}
      >
        {chosen.has(tree) ? "✓" : ""}
      </span>
      <span class="tree-list-name">{nameOf(forest.root[tree])}</span>
      <span class="tree-list-copies">{`× ${forest.copies[tree]}`}</span>
      <span class="tree-list-height">{`${forest.height[tree]} deep`}</span>
    </div>
  );
}
