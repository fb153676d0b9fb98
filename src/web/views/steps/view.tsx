import { useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { plainName } from "../../../report/file-name.ts";
import { ChunkField } from "../../parts/chunk-field.tsx";
import { colours } from "../../parts/colours.ts";
import { hasNoMessages, NoMessages } from "../../parts/no-messages.tsx";
import { useAnswer } from "../../parts/use-answer.ts";
import type { HopsView, NetworkView } from "../../protocol.ts";
import { offerFile } from "../../state/actions.ts";
import type { Made } from "../../state/store.ts";
import { type ChunkPalette, chunkPalette } from "../time/chunk-colours.ts";
import { type Holdings, heldAt, holdingsOf } from "../time/holdings.ts";
import { TransfersTable } from "../time/transfers-table.tsx";
import type { ViewProps } from "../view-props.ts";
import { type Expansion, expansionOf, tooLarge } from "./expansion.ts";
import "./view.css";
import type { RefObject } from "preact";
import { formatTime } from "../../../model/numbers/units.ts";
import type { Palette } from "../../draw/palette.ts";

/** The time-expanded network of a small schedule. */
export function View({ made }: ViewProps) {
  return hasNoMessages(made) ? <NoMessages /> : <Expanded made={made} />;
}

function Expanded({ made }: { readonly made: Made }) {
  const hops = useAnswer("hops", made.schedule).value;
  if (hops.kind === "waiting") {
    return (
      <p class="steps-note" role="status">
        Laying out the schedule in time ...
      </p>
    );
  }
  const refusal = hops.kind === "failed" ? hops.message : tooLarge(made.network, hops.value);
  if (refusal !== null || hops.kind === "failed") return <p class="steps-note">{refusal}</p>;
  return <Shown made={made} hops={hops.value} />;
}

function Shown({ made: { network, words }, hops }: { readonly made: Made; readonly hops: HopsView }) {
  const drawing = useRef<SVGSVGElement>(null);
  const page = colours.value;
  const chosen = useSignal<number | null>(null);
  const pointed = useSignal<number | null>(null);
  const isToScale = useSignal(false);
  const holdings = useMemo(() => holdingsOf(hops, network.npuCount), [hops, network]);
  const expansion = useMemo(() => expansionOf(hops), [hops]);
  const palette = useMemo(() => chunkPalette(hops.chunkCount, page.isDark), [hops, page]);
  const all = useMemo(() => [...hops.chunk.keys()], [hops]);
  // chunks of another schedule are others
  useEffect(() => {
    chosen.value = null;
  }, [hops, chosen]);
  const choose = (chunk: number): void => {
    chosen.value = chunk === chosen.value ? null : chunk;
  };
  const save = (): void => {
    const text = new XMLSerializer().serializeToString(drawing.current as SVGSVGElement);
    const name = [words.topology, words.options["collective"], "expanded"].filter(Boolean).join("-");
    const content = new Blob([text], { type: "image/svg+xml" });
    void offerFile({ name: `${plainName(name)}.svg`, content });
  };
  const listed = chosen.value === null ? all : all.filter((hop) => hops.chunk[hop] === chosen.value);
  return (
    <div class="steps">
      <div class="steps-tools">
        <ChunkField chunkCount={hops.chunkCount} chosen={chosen} />
        <label>
          <input
            type="checkbox"
            checked={isToScale.value}
            onChange={({ currentTarget }) => {
              isToScale.value = currentTarget.checked;
            }}
          />
          Time to scale
        </label>
        <button type="button" onClick={save}>
          Save as SVG
        </button>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys */}
      <section class="steps-scroll sideways" tabIndex={0} aria-label="Time-expanded network">
        <ExpandedDrawing
          network={network}
          holdings={holdings}
          expansion={expansion}
          colours={page}
          palette={palette}
          chunk={pointed.value ?? chosen.value}
          isToScale={isToScale.value}
          element={drawing}
          onPoint={(chunk) => {
            pointed.value = chunk;
          }}
          onChoose={choose}
        />
      </section>
      <p class="soft steps-legend">
        A row is an NPU, a column a time at which a transfer starts or ends, an arrow a transfer in the colour of its
        chunk
        {hops.reduces.includes(1) ? "; dashed arrows add to a sum" : ""}. Point at an arrow to see where its chunk goes.
        {hops.note === "" ? "" : ` ${hops.note}`}
      </p>
      <details class="steps-table">
        <summary>Transfers as a table</summary>
        <TransfersTable
          network={network}
          holdings={holdings}
          palette={palette}
          hops={listed}
          caption={`${listed.length.toLocaleString("en")} ${listed.length === 1 ? "transfer" : "transfers"}${chosen.value === null ? "" : ` of chunk ${chosen.value}`}.`}
          chunk={chosen.value}
          onChoose={choose}
        />
      </details>
    </div>
  );
}

interface DrawingProps {
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
/** Columns are as far apart as fits this many pixels, within limits. */
const GOOD_WIDTH = 880;
const LEAST_APART = 34;
const MOST_APART = 150;
const LABEL_APART = 62;

/** Where things stand in the drawing. */
interface Places {
  readonly names: readonly string[];
  /** Of the first column. */
  readonly left: number;
  readonly width: number;
  readonly height: number;
  readonly x: (column: number) => number;
  readonly y: (npu: number) => number;
}

function placesOf({ network, expansion: { times }, isToScale }: DrawingProps): Places {
  const names = network.nodeNames.slice(0, network.npuCount);
  const left = 20 + CHARACTER * names.reduce((most, name) => Math.max(most, name.length), 2);
  const apart = Math.min(MOST_APART, Math.max(LEAST_APART, GOOD_WIDTH / Math.max(1, times.length - 1)));
  const plot = apart * Math.max(1, times.length - 1);
  const last = Math.max(1, times[times.length - 1]);
  return {
    names,
    left,
    width: left + plot + 40,
    height: TOP + names.length * ROW + 8,
    x: (column) => left + (isToScale ? (times[column] / last) * plot : column * apart),
    y: (npu) => TOP + (npu + 0.5) * ROW,
  };
}

/** Rows are NPUs, columns times, arrows transfers; all colours are in the picture itself, so that it can be copied. */
function ExpandedDrawing(props: DrawingProps) {
  const { holdings, expansion, colours, chunk, element } = props;
  const { hops } = holdings;
  const places = placesOf(props);
  const { names, width, height } = places;
  const order = [...hops.chunk.keys()].sort(
    (a, b) => Number(hops.chunk[a] === chunk) - Number(hops.chunk[b] === chunk),
  );
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
      aria-label={`The time-expanded network: ${names.length} NPUs, ${expansion.times.length} times, ${hops.chunk.length} transfers. The table below says the same.`}
    >
      <rect width={width} height={height} fill={colours("--panel")} />
      <Grid places={places} times={expansion.times} colours={colours} />
      {order.map((hop) => (
        <Transfer key={hop} hop={hop} places={places} {...props} />
      ))}
      <Nodes places={places} {...props} />
    </svg>
  );
}

interface GridProps {
  readonly places: Places;
  readonly times: readonly number[];
  readonly colours: Palette;
}

/** A line for each time and each NPU, with what it stands for. */
function Grid({ places: { names, left, height, x, y }, times, colours }: GridProps) {
  const labels = labelled(times, x);
  return (
    <>
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
    </>
  );
}

/** An arrow from where and when a transfer starts to where and when it ends. */
function Transfer(props: DrawingProps & { readonly hop: number; readonly places: Places }) {
  const { hop, holdings, expansion, palette, chunk, onPoint, onChoose } = props;
  const { names, x, y } = props.places;
  const { hops } = holdings;
  const own = hops.chunk[hop];
  const isSum = hops.reduces[hop] === 1;
  const colour = palette.css[palette.ofChunk(own)];
  const [x1, x2] = [x(expansion.from[hop]), x(expansion.to[hop])];
  const [y1, y2] = [y(hops.source[hop]), y(hops.target[hop])];
  const long = Math.hypot(x2 - x1, y2 - y1);
  const [dx, dy] = [(x2 - x1) / long, (y2 - y1) / long];
  const [tipX, tipY] = [x2 - dx * NODE, y2 - dy * NODE];
  const [backX, backY] = [tipX - dx * HEAD, tipY - dy * HEAD];
  const half = HEAD * 0.42;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: a pointer's shortcut; the field and the table choose chunks too
    <g
      opacity={chunk !== null && own !== chunk ? 0.13 : 1}
      onPointerEnter={() => onPoint(own)}
      onPointerLeave={() => onPoint(null)}
      onClick={() => onChoose(own)}
      style={{ cursor: "pointer" }}
    >
      <title>{`Chunk ${own}${isSum ? ", added to the sum" : ""}: ${names[hops.source[hop]]} to ${names[hops.target[hop]]}, ${formatTime(hops.startPs[hop])} to ${formatTime(hops.endPs[hop])}`}</title>
      <line x1={x1} y1={y1} x2={x2} y2={y2} stroke="transparent" stroke-width="10" />
      <line
        x1={x1}
        y1={y1}
        x2={backX}
        y2={backY}
        stroke={colour}
        stroke-width="1.8"
        stroke-dasharray={isSum ? "5 3" : undefined}
      />
      <path
        d={`M${tipX} ${tipY}L${backX - dy * half} ${backY + dx * half}L${backX + dy * half} ${backY - dx * half}Z`}
        fill={colour}
      />
    </g>
  );
}

/** Every NPU at every time, filled by what it holds of the chunk that stands out. */
function Nodes({ places, holdings, expansion, colours, palette, chunk }: DrawingProps & { readonly places: Places }) {
  const full = chunk === null ? "" : palette.css[palette.ofChunk(chunk)];
  return expansion.times.map((time, column) => {
    const held = chunk === null ? null : heldAt(holdings, chunk, time);
    return places.names.map((name, npu) => {
      const part = held === null || chunk === null ? 0 : Math.min(1, held[npu] / holdings.whole[chunk]);
      return (
        <circle
          key={`${time} ${name}`}
          cx={places.x(column)}
          cy={places.y(npu)}
          r={NODE}
          fill={part > 0 ? full : colours("--panel")}
          fill-opacity={part > 0 ? 0.35 + 0.65 * part : 1}
          stroke={part > 0 ? full : colours("--soft")}
        />
      );
    });
  });
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
