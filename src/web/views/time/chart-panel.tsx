import { type Signal, useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { formatTime } from "../../../model/numbers/units.ts";
import { withMicro } from "../../parts/visible-texts.ts";
import type { HopsView, NetworkView, TimelineView } from "../../protocol.ts";
import { type ChunkPalette, chunkPalette } from "./chunk-colours.ts";
import { ChunkLegend } from "./chunk-legend.tsx";
import { Gantt } from "./gantt.tsx";
import {
  COLOURINGS,
  type Colouring,
  colourCount,
  ROW_KINDS,
  type RowKind,
  type Rows,
  rowsOf,
  sliceColours,
} from "./gantt-rows.ts";
import type { Chart, ChartLine } from "./gantt-stage.ts";
import type { Player } from "./player.ts";

interface ChartPanelProps {
  readonly network: NetworkView;
  readonly timeline: TimelineView;
  readonly hops: HopsView | null;
  readonly chunkCount: number;
  readonly player: Player;
  readonly boundPs: number;
  readonly isDark: boolean;
  readonly chunk: number | null;
  readonly npu: number | null;
  readonly onChoose: (chunk: number) => void;
}

const ROW_NAMES: Readonly<Record<RowKind, string>> = {
  links: "Links",
  wires: "Wires, both ways",
  sent: "Nodes, what they send",
  received: "Nodes, what they receive",
  boxes: "Boxes, what they send",
};
const COLOUR_NAMES: Readonly<Record<Colouring, string>> = {
  chunk: "Chunk",
  origin: "NPU of the chunk",
  class: "Bandwidth of the link",
  sum: "Copy or sum",
};
const HEIGHTS = [
  ["Thin", 4],
  ["Normal", 16],
  ["Tall", 28],
] as const;

/** What can be chosen of the chart. */
interface Choices {
  readonly kind: Signal<RowKind>;
  readonly colouring: Signal<Colouring>;
  readonly rowHeight: Signal<number>;
  readonly onlyOfNpu: Signal<boolean>;
}

/** The chart in time with what can be chosen of it. */
export function ChartPanel(props: ChartPanelProps) {
  const { network, timeline, player, boundPs, npu, onChoose } = props;
  const choices: Choices = {
    kind: useSignal<RowKind>("links"),
    colouring: useSignal<Colouring>("chunk"),
    rowHeight: useSignal(16),
    onlyOfNpu: useSignal(false),
  };
  const { palette, ...chart } = useChart(props, choices);
  const { rows } = chart;
  const kind = choices.kind.value;
  const label = `${rows.names.length.toLocaleString("en")} rows (${ROW_NAMES[kind].toLowerCase()}), ${rows.slice.length.toLocaleString("en")} bars over ${formatTime(player.totalPs)}.`;
  return (
    <section class="chart-panel" aria-label="Chart in time">
      <Tools network={network} npu={npu} choices={choices} />
      <Gantt
        chart={chart}
        lastsPs={Math.max(1, Math.max(player.totalPs, boundPs) * 1.01)}
        time={player.time}
        isPlaying={player.isPlaying}
        label={label}
        tell={(i) => told(network, timeline, rows.slice[i])}
        onSeek={player.seek}
        onChoose={(i) => onChoose(timeline.chunk[rows.slice[i]])}
      />
      {choices.colouring.value === "chunk" && <ChunkLegend count={props.chunkCount} palette={palette} />}
      <p class="chart-panel-notes soft">
        {boundPs > 0 && (
          <span>
            <span class="chart-panel-bound" aria-hidden="true" /> It cannot end before {formatTime(boundPs)}.{" "}
          </span>
        )}
        {rows.idle > 0 && <span>{idleText(kind, rows.idle)} </span>}
        {timeline.planned && <span>Times are those of the plan. </span>}
        {timeline.note !== "" && <span>{timeline.note}</span>}
      </p>
    </section>
  );
}

/** Returns the chart as it was chosen. */
function useChart(
  { network, timeline, hops, chunkCount, boundPs, isDark, chunk, npu }: ChartPanelProps,
  choices: Choices,
): Chart & { readonly rows: Rows; readonly palette: ChunkPalette } {
  const { linkSource, linkTarget } = network;
  const [kind, colouring, rowHeight] = [choices.kind.value, choices.colouring.value, choices.rowHeight.value];
  const only = choices.onlyOfNpu.value ? npu : null;
  const rows = useMemo(() => {
    const isWanted = (link: number): boolean => only === null || linkSource[link] === only || linkTarget[link] === only;
    return rowsOf(network, timeline, kind, isWanted);
  }, [network, timeline, kind, only, linkSource, linkTarget]);
  const palette = useMemo(
    () => chunkPalette(colourCount(colouring, network, chunkCount), isDark),
    [colouring, network, chunkCount, isDark],
  );
  const colour = useMemo(() => {
    const isWanted = (c: number): boolean => chunk === null || c === chunk;
    return sliceColours(rows, network, timeline, hops?.chunkOrigin ?? null, colouring, palette, isWanted);
  }, [rows, network, timeline, hops, colouring, palette, chunk]);
  return useMemo(() => {
    const lines: ChartLine[] =
      boundPs > 0 ? [{ ps: boundPs, colour: "--cut", text: withMicro(`limit ${formatTime(boundPs)}`) }] : [];
    return { rows, rowHeight, colour, pixel: palette.pixel, lines, palette };
  }, [rows, rowHeight, colour, palette, boundPs]);
}

/** Returns what the bubble at a slice of the timeline says. */
function told(network: NetworkView, timeline: TimelineView, slice: number): readonly string[] {
  const { linkSource, linkTarget, linkBytesPerSecond, nodeNames } = network;
  const link = timeline.link[slice];
  const [start, lasts] = [timeline.startPs[slice], timeline.lastsPs[slice]];
  const share = timeline.share[slice];
  return [
    `Chunk ${timeline.chunk[slice]}${timeline.reduces[slice] === 1 ? ", added to the sum" : ""}`,
    `${nodeNames[linkSource[link]]} > ${nodeNames[linkTarget[link]]}, ${Number((linkBytesPerSecond[link] / 1e9).toPrecision(4))} GB/s`,
    `${formatTime(start)} to ${formatTime(start + lasts)} (${formatTime(lasts)})`,
    ...(share < 0.9999 ? [`${(100 * share).toFixed(0)} % of the link`] : []),
  ];
}

interface ToolsProps {
  readonly network: NetworkView;
  readonly npu: number | null;
  readonly choices: Choices;
}

function Tools({ network, npu, choices: { kind, colouring, rowHeight, onlyOfNpu } }: ToolsProps) {
  const kinds = ROW_KINDS.filter((name) => name !== "boxes" || network.groups.length > 0);
  return (
    <div class="chart-panel-tools">
      <Choice label="Rows" value={kind} options={kinds.map((name) => [name, ROW_NAMES[name]])} />
      <Choice label="Colour" value={colouring} options={COLOURINGS.map((name) => [name, COLOUR_NAMES[name]])} />
      <label>
        Height
        <select
          value={rowHeight.value}
          onChange={({ currentTarget }) => (rowHeight.value = Number(currentTarget.value))}
        >
          {HEIGHTS.map(([name, pixels]) => (
            <option key={name} value={pixels}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <label class={npu === null ? "soft" : ""}>
        <input
          type="checkbox"
          disabled={npu === null}
          checked={onlyOfNpu.value && npu !== null}
          onChange={({ currentTarget }) => (onlyOfNpu.value = currentTarget.checked)}
        />
        Only links of {npu === null ? "the chosen NPU" : network.nodeNames[npu]}
      </label>
    </div>
  );
}

const idleText = (kind: RowKind, count: number): string => {
  const noun = { links: "link", wires: "wire", sent: "node", received: "node", boxes: "box" }[kind];
  const nouns = count === 1 ? noun : noun === "box" ? "boxes" : `${noun}s`;
  return `${count.toLocaleString("en")} ${nouns} without traffic ${count === 1 ? "is" : "are"} left out.`;
};

interface ChoiceProps<Value extends string> {
  readonly label: string;
  readonly value: { value: Value };
  readonly options: readonly (readonly [Value, string])[];
}

function Choice<Value extends string>({ label, value, options }: ChoiceProps<Value>) {
  return (
    <label>
      {label}
      <select value={value.value} onChange={({ currentTarget }) => (value.value = currentTarget.value as Value)}>
        {options.map(([name, text]) => (
          <option key={name} value={name}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}
