import { useMemo } from "preact/hooks";
import type { TreeView } from "../../protocol.ts";
import { levelsOf } from "./level-layout.ts";
import { depthStep } from "./tree-wires.ts";

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
export function LevelPicture({ tree, nameOf, label }: LevelPictureProps) {
  const count = tree.to.length + 1;
  const levels = useMemo(() => (count > MOST ? null : levelsOf(tree)), [tree, count]);
  if (levels === null)
    return (
      <p class="soft">{`A tree of ${count} nodes is too large to be drawn by itself: see it on the network, or as a list.`}</p>
    );
  const { nodes, edges, columns, rows } = levels;
  const deepest = columns - 1;
  const gap = 46 + LETTER * nodes.reduce((longest, { node }) => Math.max(longest, nameOf(node).length), 1);
  const x = (column: number): number => MARGIN + column * gap;
  const y = (row: number): number => MARGIN + row * ROW;
  const [width, height] = [x(deepest) + gap, y(rows - 1) + MARGIN];
  const colour = (depth: number): string => `var(--tree-${depthStep(depth, Math.max(1, deepest)) + 1})`;
  return (
    <div class="tree-levels">
      <svg width={width} height={height} role="img" aria-label={label}>
        {edges.map(({ parent, child, depth }) => {
          const [a, b] = [nodes[parent], nodes[child]] as const;
          if (a === undefined || b === undefined) return null;
          const start = x(a.column) + RADIUS + LETTER * nameOf(a.node).length + 12;
          const end = x(b.column) - RADIUS - 3;
          const bend = (start + end) / 2;
          const [tip, back] = tree.direction === "out" ? [end, end - 6] : [start, start + 6];
          const at = tree.direction === "out" ? y(b.row) : y(a.row);
          return (
            <g key={b.node} style={{ color: colour(depth) }}>
              <path
                d={`M${start} ${y(a.row)}C${bend} ${y(a.row)} ${bend} ${y(b.row)} ${end} ${y(b.row)}`}
                fill="none"
                stroke="currentColor"
                stroke-width="1.5"
              />
              <path d={`M${tip} ${at}L${back} ${at - 3.5}V${at + 3.5}Z`} fill="currentColor" />
            </g>
          );
        })}
        {nodes.map(({ node, column, row }) => (
          <g key={node}>
            <circle
              cx={x(column)}
              cy={y(row)}
              r={RADIUS}
              style={{ fill: column === 0 ? "var(--text)" : colour(column) }}
            />
            <text x={x(column) + RADIUS + 5} y={y(row) + 4}>
              {nameOf(node)}
            </text>
          </g>
        ))}
      </svg>
    </div>
  );
}
