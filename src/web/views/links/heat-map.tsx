import { useSignal } from "@preact/signals";
import { select } from "d3-selection";
import { type ZoomBehavior, zoom, zoomIdentity, zoomTransform } from "d3-zoom";
import { useEffect, useRef } from "preact/hooks";
import { paletteOf } from "../../draw/palette.ts";
import { scheme } from "../../parts/chart-scheme.ts";
import { type Place, paintMarks, paintMatrix } from "./heat-canvas.ts";
import { cameraOf, type Frame, frameOf } from "./heat-paint.ts";
import { entryBeside, type Matrix } from "./matrix.ts";

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
export function HeatMap({ matrix, label, chosen, onPoint, onPick }: HeatMapProps) {
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
