import type { RefObject } from "preact";
import { formatTime } from "../../../model/numbers/units.ts";
import type { Palette } from "../../draw/palette.ts";
import type { NetworkView } from "../../protocol.ts";
import type { ChunkPalette } from "../time/chunk-colours.ts";
import { type Holdings, heldAt } from "../time/holdings.ts";
import type { Expansion } from "./expansion.ts";

interface Props {
  readonly network: NetworkView;
  readonly holdings: Holdings;
  readonly expansion: Expansion;
  readonly colours: Palette;
  readonly palette: ChunkPalette;
  /** Chunk that stands out; null: all alike. */
  readonly chunk: number | null;
  /** Columns stand as far apart as their times. */
  readonly isToScale: boolean;
  readonly element: RefObject<SVGSVGElement | null>;
  readonly onPoint: (chunk: number | null) => void;
  readonly onChoose: (chunk: number) => void;
}

const ROW = 30;
const TOP = 34;
const NODE = 4;
const HEAD = 7;
const CHARACTER = 7;
/** Columns are as far apart as fits so many pixels, within limits. */
const GOOD_WIDTH = 880;
const LEAST_APART = 34;
const MOST_APART = 150;
const LABEL_APART = 62;

/** Rows are NPUs, columns times, arrows transfers; all colours are in the picture itself, so that it can be copied. */
export function ExpandedDrawing(props: Props) {
  const { network, holdings, expansion, colours, palette, chunk, isToScale, element, onPoint, onChoose } = props;
  const { hops } = holdings;
  const { times, from, to } = expansion;
  const names = network.nodeNames.slice(0, network.npuCount);
  const left = 20 + CHARACTER * names.reduce((most, name) => Math.max(most, name.length), 2);
  const apart = Math.min(MOST_APART, Math.max(LEAST_APART, GOOD_WIDTH / Math.max(1, times.length - 1)));
  const plot = apart * Math.max(1, times.length - 1);
  const last = Math.max(1, times[times.length - 1]);
  const x = (column: number): number => left + (isToScale ? (times[column] / last) * plot : column * apart);
  const y = (npu: number): number => TOP + (npu + 0.5) * ROW;
  const width = left + plot + 40;
  const height = TOP + names.length * ROW + 8;
  const order = [...hops.chunk.keys()].sort(
    (a, b) => Number(hops.chunk[a] === chunk) - Number(hops.chunk[b] === chunk),
  );
  const labels = labelled(times, x);
  return (
    <svg
      ref={element}
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
      xmlns="http://www.w3.org/2000/svg"
      font-family="system-ui, sans-serif"
      font-size="12"
      role="img"
      aria-label={`The time-expanded network: ${names.length} NPUs, ${times.length} times, ${hops.chunk.length} transfers. The table below says the same.`}
    >
      <rect width={width} height={height} fill={colours("--panel")} />
      {times.map((time, column) => (
        <g key={time}>
          <line
            x1={x(column)}
            x2={x(column)}
            y1={TOP - 4}
            y2={height - 6}
            stroke={colours("--line")}
            stroke-width="1"
          />
          {labels.has(column) && (
            <text x={x(column)} y={TOP - 14} text-anchor="middle" fill={colours("--soft")}>
              {formatTime(time)}
            </text>
          )}
        </g>
      ))}
      {names.map((name, npu) => (
        <g key={name}>
          <text x={left - 12} y={y(npu) + 4} text-anchor="end" fill={colours("--text")}>
            {name}
          </text>
          <line
            x1={x(0)}
            x2={x(times.length - 1)}
            y1={y(npu)}
            y2={y(npu)}
            stroke={colours("--line")}
            stroke-width="1"
          />
        </g>
      ))}
      {order.map((hop) => {
        const colour = palette.css[palette.ofChunk(hops.chunk[hop])];
        const isPale = chunk !== null && hops.chunk[hop] !== chunk;
        const [x1, y1, x2, y2] = [x(from[hop]), y(hops.source[hop]), x(to[hop]), y(hops.target[hop])];
        const long = Math.hypot(x2 - x1, y2 - y1);
        const [dx, dy] = [(x2 - x1) / long, (y2 - y1) / long];
        const [tipX, tipY] = [x2 - dx * NODE, y2 - dy * NODE];
        const [backX, backY] = [tipX - dx * HEAD, tipY - dy * HEAD];
        const half = HEAD * 0.42;
        return (
          // biome-ignore lint/a11y/noStaticElementInteractions: a pointer's shortcut; the field and the table choose chunks too
          <g
            key={hop}
            opacity={isPale ? 0.13 : 1}
            onPointerEnter={() => onPoint(hops.chunk[hop])}
            onPointerLeave={() => onPoint(null)}
            onClick={() => onChoose(hops.chunk[hop])}
            style={{ cursor: "pointer" }}
          >
            <title>{`Chunk ${hops.chunk[hop]}${hops.reduces[hop] === 1 ? ", added to the sum" : ""}: ${names[hops.source[hop]]} to ${names[hops.target[hop]]}, ${formatTime(hops.startPs[hop])} to ${formatTime(hops.endPs[hop])}`}</title>
            <line x1={x1} y1={y1} x2={x2} y2={y2} stroke="transparent" stroke-width="10" />
            <line
              x1={x1}
              y1={y1}
              x2={backX}
              y2={backY}
              stroke={colour}
              stroke-width="1.8"
              stroke-dasharray={hops.reduces[hop] === 1 ? "5 3" : undefined}
            />
            <path
              d={`M${tipX} ${tipY}L${backX - dy * half} ${backY + dx * half}L${backX + dy * half} ${backY - dx * half}Z`}
              fill={colour}
            />
          </g>
        );
      })}
      {times.map((time, column) => {
        const held = chunk === null ? null : heldAt(holdings, chunk, time);
        return names.map((name, npu) => {
          const part = held === null || chunk === null ? 0 : Math.min(1, held[npu] / holdings.whole[chunk]);
          const full = chunk === null ? "" : palette.css[palette.ofChunk(chunk)];
          return (
            <circle
              key={`${time} ${name}`}
              cx={x(column)}
              cy={y(npu)}
              r={NODE}
              fill={part > 0 ? full : colours("--panel")}
              fill-opacity={part > 0 ? 0.35 + 0.65 * part : 1}
              stroke={part > 0 ? full : colours("--soft")}
            />
          );
        });
      })}
    </svg>
  );
}

/** Returns the columns whose times are written: as many as there is room for, the first and the last among them. */
function labelled(times: readonly number[], x: (column: number) => number): Set<number> {
  const last = times.length - 1;
  const chosen = new Set([0, last]);
  let at = x(0);
  for (let column = 1; column < last; column++) {
    if (x(column) - at < LABEL_APART || x(last) - x(column) < LABEL_APART) continue;
    chosen.add(column);
    at = x(column);
  }
  return chosen;
}
