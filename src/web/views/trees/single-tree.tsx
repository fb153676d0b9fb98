import { signal, useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { formatBandwidth } from "../../../model/numbers/units.ts";
import { DEPTHS, depthStep, firstDepth } from "../../../picture/scales.ts";
import { levelsOf, type TreeLevels } from "../../../picture/tree-levels.ts";
import { count } from "../../../report/amounts.ts";
import type { NetworkMarks, NodeMark } from "../../draw/marks.ts";
import { OneOf } from "../../parts/one-of.tsx";
import type { NetworkView, TreeView } from "../../protocol.ts";
import { failureOf } from "../../state/client.ts";
import { type Made, selection } from "../../state/store.ts";
import { NetworkCanvas } from "../network/network-canvas.tsx";
import { loadTree } from "./load-trees.ts";
import { copyBytesPerSecond, type ForestView, type Outline, outlineOf, stepsOf } from "./trees.ts";

interface SingleTreeProps {
  readonly made: Made;
  readonly network: NetworkView;
  readonly forest: ForestView;
  readonly number: number;
  readonly tree: number;
}

/** Stays from tree to tree. */
const drawn = signal<"network" | "levels">("network");
const DRAWN = [
  ["network", "On the network"],
  ["levels", "By itself"],
] as const;

/** A tree on the network: arrows as the data runs, coloured by how far from the root they are. */
export function SingleTree({ made, network, forest, number, tree }: SingleTreeProps) {
  const view = useSignal<TreeView | null>(null);
  const trouble = useSignal("");
  useEffect(() => {
    const controller = new AbortController();
    trouble.value = "";
    loadTree(made.schedule, number, tree, controller.signal).then(
      (loaded) => {
        if (!controller.signal.aborted) view.value = loaded;
      },
      (error) => {
        if (!controller.signal.aborted) trouble.value = failureOf(error).message;
      },
    );
    return () => controller.abort();
  }, [made, number, tree, trouble, view]);
  // while the next one comes the last stays, so that nothing flickers
  const shown = view.value;
  const marks = useMemo(() => (shown === null ? {} : marksOf(network, shown)), [network, shown]);
  const nameOf = (node: number): string => network.nodeNames[node] ?? "";
  const into = forest.direction === "in";
  const [root, copies, height] = [forest.root[tree], forest.copies[tree], forest.height[tree]];
  const rate = copyBytesPerSecond(made);
  const name = network.nodeNames[root];
  const facts = [
    `${count(copies, "copy", "copies")}`,
    `${count(height, "edge")} deep`,
    ...(rate === null ? [] : [`${formatBandwidth(rate * copies)}`]),
  ].join(", ");
  const sentence = `Tree ${tree + 1} of ${forest.root.length}, ${into ? "to" : "from"} ${name}: ${facts}.`;
  return (
    <div class="tree-picture">
      <p class="tree-picture-said" aria-live="polite">
        <strong>{sentence}</strong>{" "}
        {into ? "Data runs to the root and is summed on the way." : "Data runs from the root to all."}
      </p>
      {trouble.value !== "" && <p class="trees-none">{trouble.value}</p>}
      <OneOf
        title="How the tree is drawn"
        isUntitled
        choices={DRAWN}
        value={drawn.value}
        onChange={(way) => {
          drawn.value = way;
        }}
      />
      {drawn.value === "network" ? (
        <div class="tree-picture-canvas">
          <NetworkCanvas
            network={network}
            label={`${sentence} The list below says the same in words.`}
            marks={marks}
            hasLegend={false}
            selection={selection.value}
            onSelect={(next) => {
              selection.value = next;
            }}
            height="100%"
          />
        </div>
      ) : (
        shown !== null && <LevelPicture tree={shown} nameOf={nameOf} label={sentence} />
      )}
      <DepthLegend deepest={height} />
      {shown !== null && <OutlineList tree={shown} nameOf={nameOf} />}
    </div>
  );
}

/** Trees over more wires are drawn in thinner lines. */
const MANY_STEPS = 120;

const colourOf = (depth: number, deepest: number): string => `--tree-${depthStep(depth, deepest) + 1}`;

function marksOf(network: NetworkView, tree: TreeView): NetworkMarks {
  const deepest = tree.depth.reduce((most, depth) => Math.max(most, depth), 1);
  const steps = stepsOf(network.wires, tree);
  return {
    fadeOthers: true,
    nodes: new Map<number, NodeMark>([
      [tree.root, { colour: "--text" }],
      ...Array.from(tree.to, (node, edge) => [node, { colour: colourOf(tree.depth[edge], deepest) }] as const),
    ]),
    wires: steps.map(({ wire, forward, depth }) => ({
      wire,
      forward,
      colour: colourOf(depth, deepest),
      width: steps.length > MANY_STEPS ? 1.4 : 2.5,
    })),
  };
}

function DepthLegend({ deepest }: { readonly deepest: number }) {
  const shown = Math.min(deepest, DEPTHS);
  const first = (step: number): number => firstDepth(step, deepest);
  return (
    <p class="tree-legend">
      <span class="tree-legend-step">
        <span class="tree-legend-root" aria-hidden="true" />
        root
      </span>
      <span>edges from it:</span>
      {Array.from({ length: shown }, (_, step) => (
        <span key={first(step)} class="tree-legend-step">
          <span style={{ background: `var(--tree-${step + 1})` }} aria-hidden="true" />
          {step + 1 === shown || first(step + 1) === first(step) + 1
            ? first(step)
            : `${first(step)}–${first(step + 1) - 1}`}
          {step + 1 === shown && deepest > DEPTHS ? `–${deepest}` : ""}
        </span>
      ))}
    </p>
  );
}

interface OutlineListProps {
  readonly tree: TreeView;
  readonly nameOf: (node: number) => string;
}

/** Deeper branches than this are not set further in. */
const MOST_INDENT = 12;

/** A tree as a nested list; nodes that follow one another without a branch stand on one line. */
function OutlineList({ tree, nameOf }: OutlineListProps) {
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

type Placed = TreeLevels["nodes"][number];

interface LevelPictureProps {
  readonly tree: TreeView;
  readonly nameOf: (node: number) => string;
  readonly label: string;
}

const ROW = 20;
const RADIUS = 4;
const MARGIN = 12;
const LETTER = 7;
/** More nodes make a picture that nobody reads. */
const MOST = 600;

/** A tree by itself, root at the left, arrows as the data runs. */
function LevelPicture({ tree, nameOf, label }: LevelPictureProps) {
  const count = tree.to.length + 1;
  const levels = useMemo(() => (count > MOST ? null : levelsOf(tree)), [tree, count]);
  if (levels === null)
    return (
      <p class="soft">{`A tree of ${count} nodes is too large to be drawn by itself: see it on the network, or as a list.`}</p>
    );
  const { nodes, edges } = levels;
  const deepest = levels.levels - 1;
  const gap = 46 + LETTER * nodes.reduce((longest, { node }) => Math.max(longest, nameOf(node).length), 1);
  const x = ({ level }: Placed): number => MARGIN + level * gap;
  const y = ({ place }: Placed): number => MARGIN + place * ROW;
  const [width, height] = [MARGIN + levels.levels * gap, 2 * MARGIN + (levels.leaves - 1) * ROW];
  const colour = (depth: number): string => `var(--tree-${depthStep(depth, Math.max(1, deepest)) + 1})`;
  return (
    <div class="tree-levels">
      <svg width={width} height={height} role="img" aria-label={label}>
        {edges.map(({ parent, child, depth }) => {
          const [a, b] = [nodes[parent], nodes[child]];
          const start = x(a) + RADIUS + LETTER * nameOf(a.node).length + 12;
          const end = x(b) - RADIUS - 3;
          const bend = (start + end) / 2;
          const [tip, back] = tree.direction === "out" ? [end, end - 6] : [start, start + 6];
          const at = tree.direction === "out" ? y(b) : y(a);
          return (
            <g key={b.node} style={{ color: colour(depth) }}>
              <path
                d={`M${start} ${y(a)}C${bend} ${y(a)} ${bend} ${y(b)} ${end} ${y(b)}`}
                fill="none"
                stroke="currentColor"
                stroke-width="1.5"
              />
              <path d={`M${tip} ${at}L${back} ${at - 3.5}V${at + 3.5}Z`} fill="currentColor" />
            </g>
          );
        })}
        {nodes.map((at) => (
          <g key={at.node}>
            <circle
              cx={x(at)}
              cy={y(at)}
              r={RADIUS}
              style={{ fill: at.level === 0 ? "var(--text)" : colour(at.level) }}
            />
            <text x={x(at) + RADIUS + 5} y={y(at) + 4}>
              {nameOf(at.node)}
            </text>
          </g>
        ))}
      </svg>
    </div>
  );
}
