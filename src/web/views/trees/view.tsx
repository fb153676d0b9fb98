import { type Signal, useSignal } from "@preact/signals";
import { listed } from "../../../base/listed.ts";
import "./trees.css";
import { useEffect, useMemo } from "preact/hooks";
import { count, percent } from "../../../report/amounts.ts";
import { HeatLegend } from "../../parts/chart-legend.tsx";
import { ColumnHeads } from "../../parts/column-heads.tsx";
import { FORWARDING, SynthesizeWith } from "../../parts/no-messages.tsx";
import { OneOf } from "../../parts/one-of.tsx";
import { useAnswer } from "../../parts/use-answer.ts";
import type { NetworkView, TreesView } from "../../protocol.ts";
import { failureOf } from "../../state/client.ts";
import { type Made, selection, welcome, words } from "../../state/store.ts";
import { NetworkCanvas } from "../network/network-canvas.tsx";
import type { ViewProps } from "../view-props.ts";
import { loadUses } from "./load-trees.ts";
import { SingleTree } from "./single-tree.tsx";
import { TreeList } from "./tree-list.tsx";
import {
  busierWay,
  busiestWays,
  copyBytesPerSecond,
  type ForestView,
  rateSentences,
  rowsOf,
  sharesOf,
  treeBeside,
  treesOf,
  type Uses,
} from "./trees.ts";

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
      <p>{`This ${nameOf(done.kind)} (algorithm: ${algorithm}) is made of ${kind}, not of trees with rates.`}</p>
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
  periods: "rounds that repeat every period",
  phases: "phases within dimensions",
  trees: "trees",
} as const;

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
  const found = `${trees === allTrees ? count(trees, "tree") : `${trees} of ${allTrees} trees`}, ${count(roots, "root")}`;
  const show = (tree: number): void => {
    chosen.value = new Set();
    current.value = tree;
  };
  const step = (by: number): void => show(treeBeside(rows, current.value, by));
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
        {roots > MANY_ROOTS && <RootSearch text={search} />}
        <p class="forest-panel-count">{`${found}${rows.length === 0 ? "; none has that name" : ""}`}</p>
        <TreeList
          {...{ forest, rows, nameOf }}
          current={current.value}
          chosen={chosen.value}
          onShow={show}
          onToggle={(tree) => {
            const next = new Set(chosen.value);
            if (!next.delete(tree)) next.add(tree);
            chosen.value = next;
          }}
        />
        <OverlayBar forest={forest} root={forest.root[current.value]} nameOf={nameOf} chosen={chosen} />
      </div>
      {chosen.value.size > 0 ? (
        <Overlay {...{ made, network, forest, number }} trees={chosen.value} />
      ) : (
        <SingleTree {...{ made, network, forest, number }} tree={current.value} />
      )}
    </div>
  );
}

const RootSearch = ({ text }: { readonly text: Signal<string> }) => (
  <label class="forest-panel-search">
    Roots
    <input
      type="search"
      placeholder="part of a name"
      value={text.value}
      onInput={({ currentTarget }) => {
        text.value = currentTarget.value;
      }}
    />
  </label>
);

interface OverlayBarProps {
  readonly forest: ForestView;
  /** Of the tree that is shown. */
  readonly root: number;
  readonly nameOf: (node: number) => string;
  readonly chosen: Signal<ReadonlySet<number>>;
}

/** Chooses many trees at once for the overlay. */
function OverlayBar({ forest, root, nameOf, chosen }: OverlayBarProps) {
  const choose = (all: Iterable<number>): void => {
    chosen.value = new Set(all);
  };
  return (
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
  const roots = useMemo(() => [...new Set([...trees].map((tree) => forest.root[tree]))], [trees, forest]);
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
          const ends = [nodeNames[wires.a[way >> 1]], nodeNames[wires.b[way >> 1]]];
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
              <td class="n">{percent(shares[way])}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
