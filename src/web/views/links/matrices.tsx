import { useComputed, useSignal } from "@preact/signals";
import { select } from "d3-selection";
import { type ZoomBehavior, zoom, zoomIdentity, zoomTransform } from "d3-zoom";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { count, percent, roundedSize } from "../../../report/amounts.ts";
import { paletteOf } from "../../draw/palette.ts";
import { HeatLegend } from "../../parts/chart-heat-legend.tsx";
import { scheme } from "../../parts/chart-scheme.ts";
import { OneOf } from "../../parts/one-of.tsx";
import type { LoadsView, NetworkView, TrafficView } from "../../protocol.ts";
import { choose } from "../../state/actions.ts";
import { MATRICES, type MatrixName } from "../../state/choices.ts";
import { selection, words } from "../../state/store.ts";
import { type Place, paintMarks, paintMatrix } from "./heat-canvas.ts";
import { cameraOf, type Frame, frameOf } from "./heat-paint.ts";
import { entryAt, entryBeside, insideOf, type Matrix, type Nodes, npusOf, type Pairs, wholeMatrix } from "./matrix.ts";

/** What a matrix tells, in words. */
interface About {
  /** "Share of the time that links were busy". */
  readonly title: string;
  /** What the colours stand for, and what is there without any. */
  readonly colours: string;
  readonly none: string;
  /** What is walked through, "link", and what choosing it does. */
  readonly pair: string;
  readonly pick: string;
  /** Returns a value with its unit. */
  amount(value: number): string;
  /** Returns what an entry of one or more pairs has. */
  textOf(value: number, pairs: number): string;
}

export const ABOUT_LINKS: About = {
  title: "Share of the time that links were busy",
  colours: "share of the time that a link is busy",
  none: "no link",
  pair: "link",
  pick: "selects the wire",
  amount: percent,
  textOf: (value, pairs) => `${percent(value)} busy${pairs > 1 ? ` (mean of ${pairs} links)` : ""}`,
};

export const ABOUT_TRAFFIC: About = {
  title: "What NPUs send each other",
  colours: "what one sends the other",
  none: "nothing",
  pair: "pair",
  pick: "selects the NPU that sends",
  amount: roundedSize,
  textOf: (value, pairs) => `${roundedSize(value)}${pairs > 1 ? ` (${pairs} pairs)` : ""}`,
};

/** Returns how many pairs send how much, and who sends most. */
export function trafficText({ source, target, bytes }: TrafficView, names: readonly string[]): string {
  if (bytes.length === 0) return "Nothing is sent.";
  let [all, first, least] = [0, 0, 0];
  for (let pair = 0; pair < bytes.length; pair++) {
    all += bytes[pair];
    if (bytes[pair] > bytes[first]) first = pair;
    if (bytes[pair] < bytes[least]) least = pair;
  }
  const most = bytes[first];
  // sums of the same parts in another order
  const areAlike = most - bytes[least] <= 1e-9 * most;
  const each = areAlike ? "each" : `at most (from ${names[source[first]]} to ${names[target[first]]})`;
  return `${count(bytes.length, "pair")} of NPUs: ${roundedSize(all)} in all, ${roundedSize(most)} ${each}.`;
}

interface MatricesProps {
  readonly network: NetworkView;
  readonly loads: LoadsView;
  readonly shares: Float64Array;
  readonly chosenWire: number | null;
  readonly onWire: (wire: number) => void;
}

const MATRIX_NAMES: Readonly<Record<MatrixName, string>> = {
  traffic: ABOUT_TRAFFIC.title,
  links: "Use of the links",
};

/** The heat maps from each node to each. Where switches are between NPUs, links alone say little of who talks to whom. */
export function Matrices(props: MatricesProps) {
  const { network, loads } = props;
  const hasSwitches = network.nodeNames.length > network.npuCount;
  const usual = hasSwitches ? "traffic" : "links";
  const shown = loads.traffic === null ? "links" : (words.value.choices.matrix ?? usual);
  return (
    <>
      {loads.traffic !== null && (
        <OneOf
          title="What the matrix shows"
          isUntitled
          choices={MATRICES.map((name) => [name, MATRIX_NAMES[name]] as const)}
          value={shown}
          onChange={(name) => choose({ matrix: name === usual ? undefined : name })}
        />
      )}
      {shown === "traffic" && loads.traffic !== null ? (
        <TrafficMatrix network={network} traffic={loads.traffic} />
      ) : (
        <LinkMatrix {...props} />
      )}
    </>
  );
}

function LinkMatrix({ network, shares, chosenWire, onWire }: MatricesProps) {
  const { linkSource, linkTarget, wires } = network;
  const pairs = useMemo<Pairs>(
    () => ({ source: linkSource, target: linkTarget, value: shares, together: "mean" }),
    [linkSource, linkTarget, shares],
  );
  const chosen = useMemo(() => {
    if (chosenWire === null) return [];
    const [a, b] = [wires.a[chosenWire] as number, wires.b[chosenWire] as number];
    return [[a, b] as const, [b, a] as const];
  }, [wires, chosenWire]);
  return (
    <MatrixPanel
      nodes={network}
      pairs={pairs}
      about={ABOUT_LINKS}
      chosen={chosen}
      onPick={(link) => onWire(wires.ofLink[link] as number)}
    />
  );
}

const NONE: readonly never[] = [];

function TrafficMatrix({ network, traffic }: { readonly network: NetworkView; readonly traffic: TrafficView }) {
  const nodes = useMemo(() => npusOf(network), [network]);
  const pairs = useMemo<Pairs>(
    () => ({ source: traffic.source, target: traffic.target, value: traffic.bytes, together: "sum" }),
    [traffic],
  );
  const sentence = useMemo(() => trafficText(traffic, network.nodeNames), [traffic, network]);
  return (
    <>
      <p class="links-note">{sentence}</p>
      <MatrixPanel
        nodes={nodes}
        pairs={pairs}
        about={ABOUT_TRAFFIC}
        chosen={NONE}
        onPick={(pair) => {
          selection.value = { kind: "node", node: traffic.source[pair] as number };
        }}
      />
    </>
  );
}

interface MatrixPanelProps {
  readonly nodes: Nodes;
  readonly pairs: Pairs;
  readonly about: About;
  /** Nodes from and to which something is chosen elsewhere. */
  readonly chosen: readonly (readonly [from: number, to: number])[];
  readonly onPick: (pair: number) => void;
}

/** The heat map with its legend, what is pointed at in words, and the way into coarse cells and back. */
function MatrixPanel({ nodes, pairs, about, chosen, onPick }: MatrixPanelProps) {
  const whole = useMemo(() => wholeMatrix(nodes, pairs), [nodes, pairs]);
  const inside = useSignal<{ readonly matrix: Matrix; readonly name: string } | null>(null);
  const pointed = useSignal<Place | null>(null);
  useEffect(() => {
    inside.value = null;
  }, [inside, whole]);
  const matrix = inside.value?.matrix ?? whole;
  const isCoarse = matrix.rows.note !== null;
  const places = useMemo(() => placesOf(matrix, chosen), [matrix, chosen]);
  const spoken = useComputed(() => textAt(inside.value?.matrix ?? whole, about, pointed.value));

  function pick({ row, column }: Place): void {
    const entry = entryAt(matrix, row, column);
    if (entry < 0) return;
    if (isCoarse)
      inside.value = { matrix: insideOf(nodes, pairs, matrix, row, column), name: nameAt(matrix, row, column) };
    else onPick(matrix.first[entry] as number);
  }
  const label = `${about.title}: ${matrix.rows.names.length} sources by ${matrix.columns.names.length} destinations. Arrow keys walk through it, PageUp and PageDown from ${about.pair} to ${about.pair}, Enter ${isCoarse ? "looks inside" : about.pick}.`;
  return (
    <div class="matrix-panel">
      <div class="matrix-panel-head">
        <span>rows: source, columns: destination</span>
        {inside.value !== null && (
          <button
            type="button"
            onClick={() => {
              inside.value = null;
            }}
          >
            {`Back to all (now inside ${inside.value.name})`}
          </button>
        )}
      </div>
      <HeatMap
        matrix={matrix}
        label={label}
        chosen={places}
        onPoint={(place) => {
          pointed.value = place;
        }}
        onPick={pick}
      />
      <p class="matrix-panel-said" aria-live="polite">
        {spoken.value || "Point at a cell, or walk with the arrow keys."}
      </p>
      <HeatLegend label={about.colours} low={about.amount(0)} high={about.amount(matrix.whole)} none={about.none} />
      {matrix.rows.note !== null && <p class="links-note">{matrix.rows.note}</p>}
    </div>
  );
}

const nameAt = ({ rows, columns }: Matrix, row: number, column: number): string =>
  `${rows.names[row]} → ${columns.names[column]}`;

function textAt(matrix: Matrix, about: About, place: Place | null): string {
  if (place === null) return "";
  const entry = entryAt(matrix, place.row, place.column);
  const text = entry < 0 ? about.none : about.textOf(matrix.value[entry] as number, matrix.pairs[entry] as number);
  return `${nameAt(matrix, place.row, place.column)}: ${text}`;
}

/** Returns the cells of what is chosen. */
const placesOf = ({ rows, columns, entryOf }: Matrix, chosen: MatrixPanelProps["chosen"]): Place[] =>
  chosen.flatMap(([from, to]) => {
    const [row, column] = [rows.cellOf[from] ?? -1, columns.cellOf[to] ?? -1];
    return row >= 0 && column >= 0 && entryOf.has(row * columns.names.length + column) ? [{ row, column }] : [];
  });

interface HeatMapProps {
  readonly matrix: Matrix;
  /** What a screen reader says of the picture. */
  readonly label: string;
  /** Cells of what is chosen elsewhere. */
  readonly chosen: readonly Place[];
  readonly onPoint: (place: Place | null) => void;
  readonly onPick: (place: Place) => void;
}

const MOST_HEIGHT = 520;
/** Zoomed in, a cell is as large. */
const LARGE_CELL = 26;

/**
 * Shares by source and destination. The pointer or, with the focus, the arrow keys choose a cell (Shift: ten further; PageUp, PageDown: with
 * links), Enter picks it; + and - zoom, 0 shows all.
 */
function HeatMap({ matrix, label, chosen, onPoint, onPick }: HeatMapProps) {
  const box = useRef<HTMLDivElement>(null);
  const cells = useRef<HTMLCanvasElement>(null);
  const marks = useRef<HTMLCanvasElement>(null);
  const frame = useRef<Frame>({ left: 0, top: 0, width: 1, height: 1, cell: 1 });
  const zooming = useRef<ZoomBehavior<HTMLCanvasElement, unknown> | null>(null);
  const pointed = useSignal<Place | null>(null);
  const width = useSignal(0);
  const repaint = scheme.value;
  const camera = () => cameraOf(marks.current === null ? zoomIdentity : zoomTransform(marks.current), frame.current);

  useEffect(() => {
    const element = box.current as HTMLDivElement;
    const measure = (): void => {
      width.value = element.clientWidth;
    };
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    measure();
    return () => observer.disconnect();
  }, [width]);

  const paintOver = useRef(() => {});
  paintOver.current = () => {
    if (marks.current !== null)
      paintMarks(marks.current, frame.current, camera(), paletteOf(marks.current), pointed.peek(), chosen);
  };

  useEffect(() => {
    const [below, above] = [cells.current as HTMLCanvasElement, marks.current as HTMLCanvasElement];
    if (width.value === 0) return;
    const laid = frameOf(matrix, width.value, MOST_HEIGHT);
    frame.current = laid;
    pointed.value = null;
    onPoint(null);
    for (const canvas of [below, above]) {
      const [w, h] = [Math.min(width.value, laid.left + laid.width + 2), laid.top + laid.height + 2];
      canvas.width = Math.round(w * devicePixelRatio);
      canvas.height = Math.round(h * devicePixelRatio);
      canvas.style.width = `${w}px`;
      canvas.style.height = `${h}px`;
    }
    let asked = 0;
    const paint = (): void => {
      asked = 0;
      paintMatrix(below, matrix, laid, camera(), paletteOf(below));
      paintOver.current();
    };
    const ask = (): void => {
      asked ||= requestAnimationFrame(paint);
    };
    const most = Math.max(1, LARGE_CELL / laid.cell);
    const behaviour = zoom<HTMLCanvasElement, unknown>()
      .scaleExtent([1, most])
      .extent([
        [0, 0],
        [laid.width, laid.height],
      ])
      .translateExtent([
        [0, 0],
        [laid.width, laid.height],
      ])
      .filter((event: Event) => isGesture(event, zoomTransform(above).k))
      .on("zoom", ({ transform }: { transform: { k: number } }) => {
        above.style.touchAction = transform.k > 1 ? "none" : "pan-y";
        ask();
      });
    zooming.current = behaviour;
    const selected = select(above);
    if (most > 1) selected.call(behaviour).on("dblclick.zoom", null);
    selected.property("__zoom", zoomIdentity);
    above.style.touchAction = "pan-y";
    ask();
    return () => {
      cancelAnimationFrame(asked);
      selected.on(".zoom", null);
    };
  }, [matrix, width.value, repaint]);

  useEffect(() => paintOver.current(), [chosen, pointed.value]);

  function placeOf(event: MouseEvent): Place | null {
    const { left, top, width: wide, height: tall } = frame.current;
    const corner = (marks.current as HTMLCanvasElement).getBoundingClientRect();
    const [x, y] = [event.clientX - corner.left - left, event.clientY - corner.top - top];
    if (x < 0 || y < 0 || x >= wide || y >= tall) return null;
    const { left: first, top: above, cell } = camera();
    return { row: Math.floor(above + y / cell), column: Math.floor(first + x / cell) };
  }
  function point(place: Place | null): void {
    const before = pointed.peek();
    if (before?.row === place?.row && before?.column === place?.column) return;
    pointed.value = place;
    onPoint(place);
  }
  function move(rows: number, columns: number): void {
    const { row, column } = pointed.peek() ?? { row: -Math.min(rows, 0), column: -Math.min(columns, 0) };
    const held = (at: number, count: number): number => Math.max(0, Math.min(count - 1, at));
    const start = pointed.peek() === null ? 0 : 1;
    const next = {
      row: held(row + start * rows, matrix.rows.names.length),
      column: held(column + start * columns, matrix.columns.names.length),
    };
    point(next);
    follow(next);
  }
  /** Goes to the next cell with links, row by row. */
  function jump(by: 1 | -1): void {
    const entry = entryBeside(matrix, pointed.peek(), by);
    if (entry < 0) return;
    const next = { row: matrix.row[entry] as number, column: matrix.column[entry] as number };
    point(next);
    follow(next);
  }
  /** Moves the picture so that a cell is seen. */
  function follow({ row, column }: Place): void {
    const { left, top, cell } = camera();
    const { width: wide, height: tall } = frame.current;
    const isSeen = (at: number, from: number, pixels: number): boolean =>
      at >= from && at + 1 <= from + pixels / cell + 0.01;
    if (isSeen(row, top, tall) && isSeen(column, left, wide)) return;
    const { cell: fit } = frame.current;
    if (marks.current !== null)
      zooming.current?.translateTo(select(marks.current), (column + 0.5) * fit, (row + 0.5) * fit);
  }
  function scale(by: number): void {
    if (marks.current === null || zooming.current === null) return;
    const selected = select(marks.current);
    if (by === 0) zooming.current.transform(selected, zoomIdentity);
    else zooming.current.scaleBy(selected, by);
    if (pointed.peek() !== null) follow(pointed.peek() as Place);
  }
  function onKeyDown(event: KeyboardEvent): void {
    const far = event.shiftKey ? 10 : 1;
    const KEYS: Readonly<Record<string, () => void>> = {
      ArrowUp: () => move(-far, 0),
      ArrowDown: () => move(far, 0),
      ArrowLeft: () => move(0, -far),
      ArrowRight: () => move(0, far),
      PageDown: () => jump(1),
      PageUp: () => jump(-1),
      Enter: () => pointed.peek() !== null && onPick(pointed.peek() as Place),
      "+": () => scale(1.6),
      "=": () => scale(1.6),
      "-": () => scale(1 / 1.6),
      "0": () => scale(0),
    };
    const act = KEYS[event.key];
    if (act === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  }
  return (
    <div
      class="heat-map"
      ref={box}
      role="application"
      aria-roledescription="heat map"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: keys walk from cell to cell
      tabIndex={0}
      aria-label={label}
      onKeyDown={onKeyDown}
      onPointerMove={(event) => point(placeOf(event))}
      onPointerLeave={() => point(null)}
      onClick={(event) => {
        const place = placeOf(event);
        if (place === null) return;
        point(place);
        onPick(place);
      }}
    >
      <canvas ref={cells} />
      <canvas ref={marks} />
    </div>
  );
}

/** Whether an event zooms or moves: two fingers or the wheel; one finger or the mouse where there is something to move. */
function isGesture(event: Event, k: number): boolean {
  if (event.type === "wheel") return true;
  if (event.type.startsWith("touch")) return (event as TouchEvent).touches.length > 1 || k > 1;
  return k > 1 && (event as MouseEvent).button === 0;
}
