import { useSignal } from "@preact/signals";
import "./trees.css";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { count, percent } from "../../../report/amounts.ts";
import { HeatLegend } from "../../parts/chart-heat-legend.tsx";
import { ColumnHeads } from "../../parts/column-heads.tsx";
import { FORWARDING } from "../../parts/no-messages.tsx";
import { OneOf } from "../../parts/one-of.tsx";
import { SynthesizeWith } from "../../parts/synthesize-with.tsx";
import { useAnswer } from "../../parts/use-answer.ts";
import type { NetworkView, TreesView } from "../../protocol.ts";
import { failureOf } from "../../state/client.ts";
import { type Made, selection, welcome, words } from "../../state/store.ts";
import { NetworkCanvas } from "../network/network-canvas.tsx";
import type { ViewProps } from "../view-props.ts";
import { copyBytesPerSecond } from "./copy-rate.ts";
import { loadUses } from "./load-trees.ts";
import { rateSentences } from "./rate-sentences.ts";
import { SingleTree } from "./single-tree.tsx";
import { type ForestView, type Row, rowsOf, treeBeside, treesOf } from "./tree-rows.ts";
import { busierWay, busiestWays, sharesOf, type Uses } from "./tree-wires.ts";

/** The trees along which the data flows. */
export function View({ made }: ViewProps) {
  const schedule = made.schedule.kind === "trees" ? made.schedule : null;
  const answer = useAnswer("trees", schedule).value;
  if (schedule === null) return <NoTrees made={made} />;
  if (answer.kind === "waiting") return <p class="trees-none">Listing the trees…</p>;
  if (answer.kind === "failed") return <p class="trees-none">{answer.message}</p>;
  return <Forests made={made} trees={answer.value} />;
}

const NAMES = { out: "From the roots to all", in: "From all to the roots" } as const;

function Forests({ made, trees }: { readonly made: Made; readonly trees: TreesView }) {
  const { forests } = trees;
  const chosen = useSignal(0);
  const number = Math.min(chosen.value, forests.length - 1);
  const forest = forests[number];
  if (forest === undefined) return <p class="trees-none">The schedule has no trees.</p>;
  return (
    <div class="trees">
      <Rate trees={trees} />
      {forests.length > 1 && (
        <OneOf
          title="Trees"
          choices={forests.map(({ direction }, i) => [i, NAMES[direction]] as const)}
          value={number}
          onChange={(i) => {
            chosen.value = i;
          }}
        />
      )}
      <ForestPanel
        key={`${made.schedule.ref.id} ${number}`}
        made={made}
        forest={forest}
        number={number}
        allTrees={forests.reduce((sum, { root }) => sum + root.length, 0)}
      />
    </div>
  );
}

/** How fast the trees are, and why not faster: a proof where there is one, else how far they are from the bound. */
function Rate({ trees: { rate, boundRate, share, because, fullest } }: { readonly trees: TreesView }) {
  if (rate === "-") return null;
  const parts = rateSentences({ boundRate, share, because, fullest });
  return (
    <p class="trees-rate">
      <strong>{`All trees together: ${rate}.`}</strong> {parts.join(" ")}
    </p>
  );
}

const FALLBACK = "allgather";

/** Says which algorithms make trees, and makes a schedule of them. */
function NoTrees({ made }: { readonly made: Made }) {
  const collective = String(words.value.options["collective"] ?? FALLBACK);
  const makers = (welcome.value?.algorithms ?? []).filter(
    ({ makes, collectives }) => makes === "trees" && collectives.includes(collective),
  );
  const maker = makers.find(({ name }) => name === FORWARDING) ?? makers[0];
  const { algorithm, collective: done } = made.schedule.report;
  const kind = KINDS[made.schedule.kind];
  const nameOf = (kind: string): string =>
    welcome.value?.collectives.find((known) => known.kind === kind)?.name ?? `${kind} collective`;
  return (
    <div class="trees-none">
      <p>{`This ${nameOf(done.kind)} (algorithm: ${algorithm}) is made of ${kind}, not of trees.`}</p>
      {maker === undefined ? (
        <p>{`No algorithm makes trees for the ${nameOf(collective)}.`}</p>
      ) : (
        <>
          <p>{`Trees for the ${nameOf(collective)} are made by ${listed(makers.map(({ name }) => name))}.`}</p>
          <SynthesizeWith algorithm={maker.name} />
        </>
      )}
    </div>
  );
}

const KINDS = {
  steps: "transfers at times",
  slots: "transfers in time slots",
  phases: "phases within dimensions",
  trees: "trees",
} as const;

const listed = (names: readonly string[]): string =>
  names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names[names.length - 1]}`;

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
function ForestPanel({ made, forest, number, allTrees }: ForestPanelProps) {
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
function TreeList({ forest, rows, nameOf, current, chosen, onShow, onToggle }: TreeListProps) {
  const box = useRef<HTMLDivElement>(null);
  const seen = useSignal({ first: 0, last: 40 });
  const trees = rows.reduce((sum, row) => sum + (row.kind === "tree" ? 1 : 0), 0);
  const at = rows.findIndex((row) => row.kind === "tree" && row.tree === current);

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

  /** Shows the next tree from a row on, upwards or downwards. */
  function go(from: number, by: 1 | -1): void {
    for (let row = from; row >= 0 && row < rows.length; row += by) {
      const found = rows[row] as Row;
      if (found.kind === "tree") {
        onShow(found.tree);
        return;
      }
    }
  }
  const KEYS: Readonly<Record<string, () => void>> = {
    ArrowDown: () => go(at + 1, 1),
    ArrowUp: () => go(at - 1, -1),
    PageDown: () => go(Math.min(rows.length - 1, at + PAGE), -1),
    PageUp: () => go(Math.max(0, at - PAGE), 1),
    Home: () => go(0, 1),
    End: () => go(rows.length - 1, -1),
    " ": () => at >= 0 && onToggle(current),
  };
  const { first, last } = seen.value;
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
      onKeyDown={(event) => {
        const act = KEYS[event.key];
        if (act === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
        event.preventDefault();
        event.stopPropagation();
        act();
      }}
    >
      <div class="tree-list-all" style={{ height: `${rows.length * ROW}px` }}>
        {rows.slice(first, last).map((row, i) => {
          const style = { top: `${(first + i) * ROW}px`, height: `${ROW}px` };
          if (row.kind === "root")
            return (
              <div key={`root ${row.root}`} class="tree-list-root" style={style} role="presentation">
                {`${nameOf(row.root)}: ${count(row.trees, "tree")}`}
              </div>
            );
          const { tree } = row;
          return (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are the list's
            // biome-ignore lint/a11y/useFocusableInteractive: the list has the focus
            <div
              key={tree}
              id={`tree-list-${tree}`}
              class="tree-list-tree"
              style={style}
              role="option"
              aria-selected={chosen.has(tree)}
              data-current={tree === current}
              aria-setsize={trees}
              aria-posinset={row.index + 1}
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
              <span class="tree-list-name">{nameOf(forest.root[tree] as number)}</span>
              <span class="tree-list-copies">{`× ${forest.copies[tree]}`}</span>
              <span class="tree-list-height">{`${forest.height[tree]} deep`}</span>
            </div>
          );
        })}
      </div>
    </div>
  );
}

interface OverlayProps {
  readonly made: Made;
  readonly network: NetworkView;
  readonly forest: ForestView;
  readonly number: number;
  readonly trees: ReadonlySet<number>;
}

const ROWS = 12;

/** Several trees over each other: what share of each wire's bandwidth they hold. */
function Overlay({ made, network, forest, number, trees }: OverlayProps) {
  const uses = useSignal<Uses | null>(null);
  const done = useSignal(0);
  const trouble = useSignal("");
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    done.value = 0;
    trouble.value = "";
    const show = (some: Uses, number: number): void => {
      if (signal.aborted) return;
      uses.value = some;
      done.value = number;
    };
    loadUses(made.schedule, network.wires, number, [...trees], signal, show).then(
      (all) => show(all, trees.size),
      (error) => {
        if (!signal.aborted) trouble.value = failureOf(error).message;
      },
    );
    return () => controller.abort();
  }, [made, network, number, trees, uses, done, trouble]);
  const rate = copyBytesPerSecond(made);
  const shares = useMemo(
    () => (uses.value === null ? null : sharesOf(network.wires, uses.value, rate)),
    [network, uses.value, rate],
  );
  const roots = useMemo(() => [...new Set([...trees].map((tree) => forest.root[tree] as number))], [trees, forest]);
  const marks = useMemo(() => {
    const few = roots.length <= ROWS ? roots : [];
    return {
      ...(shares === null ? {} : { heat: busierWay(shares) }),
      nodes: new Map(few.map((root) => [root, { colour: "--accent", ring: true }])),
    };
  }, [shares, roots]);
  const what =
    rate === null ? "of the trees here, on the wire used most" : "of the wire's bandwidth that these trees hold";
  const sentence = `${count(trees.size, "tree")} of ${count(roots.length, "root")} over each other.`;
  return (
    <div class="tree-picture">
      <p class="tree-picture-said" aria-live="polite">
        <strong>{sentence}</strong>{" "}
        {done.value < trees.size && trouble.value === "" ? `${done.value} are here.` : usedText(shares)}
      </p>
      {done.value < trees.size && trouble.value === "" && (
        <progress value={done.value} max={trees.size} aria-label="Trees loaded" />
      )}
      {trouble.value !== "" && <p class="trees-none">{trouble.value}</p>}
      <div class="tree-picture-canvas">
        <NetworkCanvas
          network={network}
          label={`${sentence} Wires are coloured by the share ${what}; the table below names those used most.`}
          marks={marks}
          hasLegend={false}
          selection={selection.value}
          onSelect={(next) => {
            selection.value = next;
          }}
          height="100%"
        />
      </div>
      <HeatLegend label={`share ${what} (busier direction)`} low="0 %" high="100 %" />
      {uses.value !== null && shares !== null && <UsesTable network={network} uses={uses.value} shares={shares} />}
    </div>
  );
}

function usedText(shares: Float32Array | null): string {
  if (shares === null) return "";
  const used = shares.filter((share) => share > 0);
  const full = used.filter((share) => share >= 0.9999).length;
  return `They run over ${count(used.length, "direction")} of wires${full > 0 ? `, ${full} of them full` : ""}.`;
}

interface UsesTableProps {
  readonly network: NetworkView;
  readonly uses: Uses;
  readonly shares: Float32Array;
}

/** The wires that the trees use most. */
function UsesTable({ network: { nodeNames, wires }, uses, shares }: UsesTableProps) {
  return (
    <table class="trees-table">
      <caption>Used most</caption>
      <ColumnHeads names={["Wire", "Trees", "Copies", "Share"]} />
      <tbody>
        {busiestWays(shares, ROWS).map((way) => {
          const ends = [nodeNames[wires.a[way >> 1] as number], nodeNames[wires.b[way >> 1] as number]];
          return (
            <tr key={way}>
              <th scope="row">
                <button
                  type="button"
                  onClick={() => {
                    selection.value = { kind: "wire", wire: way >> 1 };
                  }}
                >
                  {((way & 1) === 0 ? ends : ends.reverse()).join(" → ")}
                </button>
              </th>
              <td class="n">{uses.trees[way]}</td>
              <td class="n">{uses.copies[way]}</td>
              <td class="n">{percent(shares[way] as number)}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
