import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { count } from "../../../report/amounts.ts";
import type { NetworkView } from "../../protocol.ts";
import type { Made } from "../../state/store.ts";
import { Overlay } from "./overlay.tsx";
import { SingleTree } from "./single-tree.tsx";
import { TreeList } from "./tree-list.tsx";
import { type ForestView, rowsOf, treeBeside, treesOf } from "./tree-rows.ts";

interface ForestPanelProps {
  readonly made: Made;
  readonly forest: ForestView;
  readonly number: number;
  /** Trees of all forests. */
  readonly allTrees: number;
}

/** More roots than this can be searched. */
const MANY_ROOTS = 16;

/** One tree at a time, or several over each other. */
export function ForestPanel({ made, forest, number, allTrees }: ForestPanelProps) {
  const network: NetworkView = made.schedule.network ?? made.network;
  const current = useSignal(0);
  const chosen = useSignal<ReadonlySet<number>>(new Set());
  const search = useSignal("");
  const nameOf = (node: number): string => network.nodeNames[node] ?? `node ${node}`;
  const rows = useMemo(() => {
    const wanted = search.value.trim().toLowerCase();
    return rowsOf(forest, (root) => (network.nodeNames[root] ?? "").toLowerCase().includes(wanted));
  }, [forest, network, search.value]);
  const roots = useMemo(() => new Set(forest.root).size, [forest]);
  const trees = forest.root.length;
  const root = forest.root[current.value] as number;
  const choose = (all: Iterable<number>): void => {
    chosen.value = new Set(all);
  };
  const step = (by: number): void => {
    choose([]);
    current.value = treeBeside(rows, current.value, by);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: keys beside the buttons that do the same
    <div
      class="forest-panel"
      onKeyDown={(event) => {
        if (event.target instanceof HTMLInputElement && event.target.type === "search") return;
        if (event.key === "[") step(-1);
        else if (event.key === "]") step(1);
        else return;
        event.preventDefault();
      }}
    >
      <div class="forest-panel-side">
        <div class="forest-panel-bar">
          <button type="button" aria-keyshortcuts="[" title="Previous tree ( [ )" onClick={() => step(-1)}>
            ‹ Previous
          </button>
          <button type="button" aria-keyshortcuts="]" title="Next tree ( ] )" onClick={() => step(1)}>
            Next ›
          </button>
        </div>
        {roots > MANY_ROOTS && (
          <label class="forest-panel-search">
            Roots
            <input
              type="search"
              placeholder="part of a name"
              value={search.value}
              onInput={({ currentTarget }) => {
                search.value = currentTarget.value;
              }}
            />
          </label>
        )}
        <p class="forest-panel-count">
          {`${trees === allTrees ? count(trees, "tree") : `${trees} of ${allTrees} trees`}, ${count(roots, "root")}${rows.length === 0 ? "; none has that name" : ""}`}
        </p>
        <TreeList
          forest={forest}
          rows={rows}
          nameOf={nameOf}
          current={current.value}
          chosen={chosen.value}
          onShow={(tree) => {
            choose([]);
            current.value = tree;
          }}
          onToggle={(tree) => {
            const next = new Set(chosen.value);
            if (!next.delete(tree)) next.add(tree);
            chosen.value = next;
          }}
        />
        <div class="forest-panel-bar">
          <span>Overlay</span>
          <button type="button" onClick={() => choose(forest.root.keys())}>
            all trees
          </button>
          <button type="button" onClick={() => choose(treesOf(forest, root))}>
            {`those of ${nameOf(root)}`}
          </button>
          {chosen.value.size > 0 && (
            <button type="button" onClick={() => choose([])}>
              none
            </button>
          )}
        </div>
      </div>
      {chosen.value.size > 0 ? (
        <Overlay made={made} network={network} forest={forest} number={number} trees={chosen.value} />
      ) : (
        <SingleTree made={made} network={network} forest={forest} number={number} tree={current.value} />
      )}
    </div>
  );
}
