import { select } from "d3-selection";
import { type ZoomBehavior, zoom, zoomIdentity, zoomTransform } from "d3-zoom";
import { paletteOf } from "../../draw/palette.ts";
import { type Camera, cameraOf, type Frame, frameOf, type Place, paintMarks, paintMatrix } from "./heat-paint.ts";
import type { Matrix } from "./matrix.ts";

const MOST_HEIGHT = 520;
/** Zoomed in, a cell is as large. */
const LARGE_CELL = 26;

/** Paints one matrix on two canvases, cells below and marks above, and zooms them: the upper one takes the gestures. */
export class HeatStage {
  readonly #cells: HTMLCanvasElement;
  readonly #marks: HTMLCanvasElement;
  #frame: Frame = { left: 0, top: 0, width: 1, height: 1, cell: 1 };
  #zoom: ZoomBehavior<HTMLCanvasElement, unknown> | null = null;
  #pointed: Place | null = null;
  #chosen: readonly Place[] = [];

  constructor(cells: HTMLCanvasElement, marks: HTMLCanvasElement) {
    this.#cells = cells;
    this.#marks = marks;
  }

  /** Shows a matrix, all of it, in a box so wide; returns what ends that. */
  show(matrix: Matrix, width: number): () => void {
    const laid = frameOf(matrix, width, MOST_HEIGHT);
    const [cells, marks] = [this.#cells, this.#marks];
    this.#frame = laid;
    for (const canvas of [cells, marks]) {
      const [w, h] = [Math.min(width, laid.left + laid.width + 2), laid.top + laid.height + 2];
      canvas.width = Math.round(w * devicePixelRatio);
      canvas.height = Math.round(h * devicePixelRatio);
      canvas.style.width = `${w}px`;
      canvas.style.height = `${h}px`;
    }
    let asked = 0;
    const paint = (): void => {
      asked = 0;
      paintMatrix(cells, matrix, laid, this.#camera(), paletteOf(cells));
      this.#paintMarks();
    };
    const ask = (): void => {
      asked ||= requestAnimationFrame(paint);
    };
    const most = Math.max(1, LARGE_CELL / laid.cell);
    const all: [[number, number], [number, number]] = [
      [0, 0],
      [laid.width, laid.height],
    ];
    this.#zoom = zoom<HTMLCanvasElement, unknown>()
      .scaleExtent([1, most])
      .extent(all)
      .translateExtent(all)
      .filter((event: Event) => isGesture(event, zoomTransform(marks).k))
      .on("zoom", ({ transform }: { transform: { k: number } }) => {
        marks.style.touchAction = transform.k > 1 ? "none" : "pan-y";
        ask();
      });
    const selected = select(marks);
    if (most > 1) selected.call(this.#zoom).on("dblclick.zoom", null);
    selected.property("__zoom", zoomIdentity);
    marks.style.touchAction = "pan-y";
    ask();
    return () => {
      cancelAnimationFrame(asked);
      selected.on(".zoom", null);
    };
  }

  /** Marks the cell pointed at and those chosen. */
  mark(pointed: Place | null, chosen: readonly Place[]): void {
    this.#pointed = pointed;
    this.#chosen = chosen;
    this.#paintMarks();
  }

  /** Returns the cell under the pointer; null beside the cells. */
  placeOf(event: MouseEvent): Place | null {
    const { left, top, width, height } = this.#frame;
    const corner = this.#marks.getBoundingClientRect();
    const [x, y] = [event.clientX - corner.left - left, event.clientY - corner.top - top];
    if (x < 0 || y < 0 || x >= width || y >= height) return null;
    const { left: first, top: above, cell } = this.#camera();
    return { row: Math.floor(above + y / cell), column: Math.floor(first + x / cell) };
  }

  /** Moves the picture so that a cell is seen. */
  follow({ row, column }: Place): void {
    const { left, top, cell } = this.#camera();
    const { width, height, cell: fit } = this.#frame;
    const isSeen = (at: number, from: number, pixels: number): boolean =>
      at >= from && at + 1 <= from + pixels / cell + 0.01;
    if (isSeen(row, top, height) && isSeen(column, left, width)) return;
    this.#zoom?.translateTo(select(this.#marks), (column + 0.5) * fit, (row + 0.5) * fit);
  }

  /** Zooms in or out; 0 shows all. */
  scale(by: number): void {
    const selected = select(this.#marks);
    if (by === 0) this.#zoom?.transform(selected, zoomIdentity);
    else this.#zoom?.scaleBy(selected, by);
  }

  #camera(): Camera {
    return cameraOf(zoomTransform(this.#marks), this.#frame);
  }

  #paintMarks(): void {
    paintMarks(this.#marks, this.#frame, this.#camera(), paletteOf(this.#marks), this.#pointed, this.#chosen);
  }
}

/** Whether an event zooms or moves: two fingers or the wheel; one finger or the mouse where there is something to move. */
function isGesture(event: Event, k: number): boolean {
  if (event.type === "wheel") return true;
  if (event.type.startsWith("touch")) return (event as TouchEvent).touches.length > 1 || k > 1;
  return k > 1 && (event as MouseEvent).button === 0;
}
