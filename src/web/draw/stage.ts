import { visible } from "../../base/visible.ts";
import type { NetworkView } from "../protocol.ts";
import type { Selection } from "../state/store.ts";
import { arrow, direction } from "./arrows.ts";
import { type Camera, covers, type Extent, fitted, meets, type Region, seen, widened } from "./camera.ts";
import type { Dot, NetworkMarks, NodeMark, WireMark } from "./marks.ts";
import { wiresAt } from "./network-index.ts";
import { type Base, baseOf, paintBase } from "./paint-base.ts";
import { nodesSeen, paintNodeMarks, paintNodes } from "./paint-nodes.ts";
import { onScheme, type Palette, paletteOf } from "./palette.ts";
import { pointOn, shapesOf } from "./shapes.ts";
import { bandsOf, trace } from "./wire-paths.ts";

/** A picture of the base that was painted earlier, to be shown while the camera moves. */
interface Plate {
  readonly canvas: HTMLCanvasElement;
  readonly camera: Camera;
  readonly region: Region;
}

/** A base of more wires is not painted anew for every frame of a movement, nor is one with which frames took longer (ms). */
const QUICK_WIRES = 1500;
const QUICK_MS = 26;
/** The camera rests when it has not moved for so long (ms). */
const REST_MS = 110;
/** The plate reaches so far beyond the view, as a share of it, where it has no more pixels than MOST_PIXELS. */
const BEYOND = 0.3;
const MOST_PIXELS = 9e6;
/** More names than this are left out while the camera moves. */
const MOST_MOVING_NAMES = 120;

/**
 * Paints one network on one canvas. The base (boxes, wires) is painted on a plate that is kept: a frame copies it, scaled and
 * moved while the camera moves where painting it takes long, and paints marks, nodes and names over it. Nothing is painted when
 * nothing changed.
 */
export class Stage {
  private readonly canvas: HTMLCanvasElement;
  private readonly context: CanvasRenderingContext2D;
  private readonly endScheme: () => void;
  private palette: Palette;
  private network: NetworkView | null = null;
  private base: Base | null = null;
  private plate: Plate | null = null;
  private whole: Plate | null = null;
  private marks: NetworkMarks | undefined;
  private selected: Selection | null = null;
  private pointed: Selection | null = null;
  private camera: Camera = { k: 1, x: 0, y: 0 };
  private view: Extent = { width: 0, height: 0 };
  private ratio = 1;
  private frame = 0;
  private isQuick = true;
  private lateFrames = 0;
  private framedAt = 0;
  private movedAt = Number.NEGATIVE_INFINITY;
  private rest: ReturnType<typeof setTimeout> | undefined;

  constructor(canvas: HTMLCanvasElement) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d", { alpha: false }) as CanvasRenderingContext2D;
    this.palette = paletteOf(canvas);
    this.endScheme = onScheme(() => {
      this.palette = paletteOf(canvas);
      this.forget();
    });
  }

  /** Shows another network, or other marks on it. */
  show(network: NetworkView, marks: NetworkMarks | undefined, selected: Selection | null): void {
    const isOther = network !== this.network;
    if (isOther || marks?.heat !== this.marks?.heat || this.base === null) this.base = baseOf(network, marks?.heat);
    if (isOther) {
      this.pointed = null;
      this.isQuick = network.wires.a.length <= QUICK_WIRES;
      this.lateFrames = 0;
    }
    if (isOther || !sameBase(marks, this.marks)) this.forget();
    this.network = network;
    this.marks = marks;
    this.selected = selected;
    this.ask();
  }

  /** Points at a node or wire. */
  point(at: Selection | null): void {
    if (JSON.stringify(at) === JSON.stringify(this.pointed)) return;
    this.pointed = at;
    this.ask();
  }

  resize(view: Extent, ratio: number): void {
    if (view.width === this.view.width && view.height === this.view.height && ratio === this.ratio) return;
    this.view = view;
    this.ratio = ratio;
    this.canvas.width = Math.max(1, Math.round(view.width * ratio));
    this.canvas.height = Math.max(1, Math.round(view.height * ratio));
    this.forget();
    // an emptied canvas would flash until the next frame
    this.paint();
  }

  move(camera: Camera): void {
    this.camera = camera;
    this.movedAt = performance.now();
    clearTimeout(this.rest);
    this.rest = setTimeout(() => this.ask(), REST_MS + 10);
    this.ask();
  }

  end(): void {
    cancelAnimationFrame(this.frame);
    clearTimeout(this.rest);
    this.endScheme();
  }

  private forget(): void {
    this.plate = null;
    this.whole = null;
    this.ask();
  }

  private ask(): void {
    if (this.frame !== 0) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.paint();
    });
  }

  private paint(): void {
    const { network, context, camera, view, ratio, palette } = this;
    if (network === null || view.width === 0) return;
    const isMoving = performance.now() - this.movedAt < REST_MS;
    this.time(isMoving);
    this.paintPlates(isMoving && this.plate !== null && !this.isQuick);
    const { k } = camera;
    const region = seen(camera, view);
    context.setTransform(ratio * k, 0, 0, ratio * k, ratio * camera.x, ratio * camera.y);
    const { marks, selected, pointed } = this;
    if (marks?.wires !== undefined) paintWireMarks(context, network, marks.wires, k, palette);
    const strong = emphasis(network, selected, pointed);
    paintWireMarks(context, network, strong.wires, k, palette);
    const shown = nodesSeen(network, region);
    const brush = { context, network, camera, region, palette };
    paintNodes(brush, shown, marks);
    if (marks?.dots !== undefined) paintDots(context, network, marks.dots, k, palette);
    paintNodeMarks(brush, [...strong.nodes.keys()], strong.nodes);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    if (!isMoving || shown.length <= MOST_MOVING_NAMES) {
      paintLabels(context, network, camera, region, shown, marks, palette);
    }
  }

  /** Notes how long frames of a movement take: what painting costs is only seen when the next one is late. */
  private time(isMoving: boolean): void {
    const now = performance.now();
    const took = now - this.framedAt;
    this.framedAt = now;
    if (!isMoving || took > REST_MS) return;
    this.lateFrames = took > QUICK_MS ? this.lateFrames + 1 : 0;
    if (this.lateFrames >= 3) this.isQuick = false;
  }

  /** Copies the base onto the canvas, painted anew first unless it would take too long for a frame of a movement. */
  private paintPlates(isLate: boolean): void {
    const { context, camera, view, ratio, palette } = this;
    if (!isLate && !this.isFresh()) this.plate = this.develop(camera, this.beyond());
    const plate = this.plate as Plate;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.imageSmoothingEnabled = plate.camera.k !== camera.k;
    if (!covers(plate.region, seen(camera, view))) {
      context.fillStyle = palette("--panel");
      context.fillRect(0, 0, view.width * ratio, view.height * ratio);
      const network = (this.network as NetworkView).placement;
      this.whole ??= this.develop(fitted(network, view, 0), { width: 0, height: 0 });
      this.copy(this.whole);
    }
    this.copy(plate);
  }

  /** Returns whether the plate shows what the camera sees, pixel for pixel. */
  private isFresh(): boolean {
    if (this.plate === null || this.plate.camera.k !== this.camera.k) return false;
    return covers(widened(this.plate.region, 0.5 / this.camera.k), seen(this.camera, this.view));
  }

  private beyond(): Extent {
    const { width, height } = this.view;
    const grown = (1 + 2 * BEYOND) ** 2 * width * height * this.ratio ** 2;
    // what is quick to paint is painted as it is seen
    const share = grown > MOST_PIXELS || this.isQuick ? 0 : BEYOND;
    return { width: Math.round(width * share), height: Math.round(height * share) };
  }

  /** Returns a plate of the base: what a camera sees, and `beyond` pixels on every side. */
  private develop(camera: Camera, beyond: Extent): Plate {
    const canvas =
      this.plate?.canvas !== undefined && beyond.width > 0 ? this.plate.canvas : document.createElement("canvas");
    const view = { width: this.view.width + 2 * beyond.width, height: this.view.height + 2 * beyond.height };
    canvas.width = Math.max(1, Math.round(view.width * this.ratio));
    canvas.height = Math.max(1, Math.round(view.height * this.ratio));
    const shifted = { k: camera.k, x: camera.x + beyond.width, y: camera.y + beyond.height };
    const context = canvas.getContext("2d", { alpha: false }) as CanvasRenderingContext2D;
    paintBase(context, this.base as Base, shifted, view, this.ratio, this.palette, this.marks?.fadeOthers === true);
    return { canvas, camera: shifted, region: seen(shifted, view) };
  }

  private copy({ canvas, camera }: Plate): void {
    const { k, x, y } = this.camera;
    const scale = k / camera.k;
    const [left, top] = [(x - camera.x * scale) * this.ratio, (y - camera.y * scale) * this.ratio];
    if (scale === 1) this.context.drawImage(canvas, Math.round(left), Math.round(top));
    else this.context.drawImage(canvas, left, top, canvas.width * scale, canvas.height * scale);
  }
}

/** Of a node with more wires than this only the node is marked. */
const MOST_WIRES = 3000;

/** Returns how what is selected and what is pointed at stand out: themselves, and the wires of a node. */
export function emphasis(
  network: NetworkView,
  selected: Selection | null,
  pointed: Selection | null,
): { readonly wires: WireMark[]; readonly nodes: Map<number, NodeMark> } {
  const wires: WireMark[] = [];
  const nodes = new Map<number, NodeMark>();
  const mark = (what: Selection | null, colour: string): void => {
    if (what?.kind === "wire") {
      wires.push({ wire: what.wire, colour, forward: null });
      for (const end of [network.wires.a[what.wire], network.wires.b[what.wire]])
        nodes.set(end, { colour, ring: true });
    } else if (what?.kind === "node") {
      const own = wiresAt(network, what.node);
      if (own.length <= MOST_WIRES) {
        for (const wire of own) wires.push({ wire, colour, forward: null, width: own.length > 60 ? 1 : 2 });
      }
      nodes.set(what.node, { colour, ring: true });
    }
  };
  mark(pointed, "--accent");
  mark(selected, "--chosen");
  return { wires, nodes };
}

const LEAST_WIDTH = 1.6;
/** More wires than this are a pixel wide while NPUs are smaller (pixels, radius). */
const MOST_WIDE = 1200;
const LEAST_ROOMY = 8;
/** More dots than this are squares. */
const MOST_ROUND = 600;

/** Paints the wires that are marked, in their order; neighbours in it that look alike at once. The context is in the network's units. */
function paintWireMarks(
  context: CanvasRenderingContext2D,
  network: NetworkView,
  marks: readonly WireMark[],
  k: number,
  palette: Palette,
): void {
  const bands = bandsOf(network);
  const { bandwidthClass } = network.wires;
  // many lines a pixel wide are painted several times as fast as wider ones
  const isCrowded = marks.length > MOST_WIDE && network.placement.radius * k < LEAST_ROOMY;
  const widthOf = ({ wire, width }: WireMark): number =>
    isCrowded ? 1 / k : Math.max(LEAST_WIDTH, width ?? Math.min(6, bands[bandwidthClass[wire]].width * k + 1)) / k;
  for (let from = 0; from < marks.length; ) {
    const { colour, dashed = false } = marks[from];
    const width = widthOf(marks[from]);
    let to = from;
    context.beginPath();
    do trace(context, network, marks[to++].wire);
    while (
      to < marks.length &&
      marks[to].colour === colour &&
      (marks[to].dashed ?? false) === dashed &&
      widthOf(marks[to]) === width
    );
    context.strokeStyle = palette(colour);
    context.lineWidth = width;
    context.setLineDash(dashed ? [6 / k, 4 / k] : []);
    context.stroke();
    context.setLineDash([]);
    context.fillStyle = context.strokeStyle;
    context.beginPath();
    for (let i = from; i < to; i++) {
      const { wire, forward } = marks[i];
      if (forward !== null) arrow(context, network, wire, forward, arrowSize(network, width, k), 0.6);
    }
    context.fill();
    from = to;
  }
}

/** Arrows grow with their line, and are never so small that they cannot be seen. */
const arrowSize = ({ placement }: NetworkView, width: number, k: number): number =>
  Math.max(6 / k, Math.min(3.4 * width, Math.max(0.9 * placement.radius, 8 / k)));

/** Paints things on their way, each on the right-hand side of its wire. */
function paintDots(
  context: CanvasRenderingContext2D,
  network: NetworkView,
  dots: readonly Dot[],
  k: number,
  palette: Palette,
): void {
  const size = Math.max(2.6, Math.min(5.5, 0.3 * network.placement.radius * k)) / k;
  const byColour = new Map<string, Dot[]>();
  for (const dot of dots) {
    const alike = byColour.get(dot.colour);
    if (alike === undefined) byColour.set(dot.colour, [dot]);
    else alike.push(dot);
  }
  for (const [colour, alike] of byColour) {
    context.fillStyle = palette(colour);
    context.beginPath();
    // squares are painted several times as fast
    const isSquare = dots.length > MOST_ROUND;
    for (const { wire, forward, at } of alike) {
      const rim = rimOf(network, wire);
      const way = rim + at * (1 - 2 * rim);
      const along = forward ? way : 1 - way;
      const { x, y } = pointOn(network, wire, along);
      const [dx, dy] = direction(network, wire, along, forward);
      const [centreX, centreY] = [x - dy * size * 0.7, y + dx * size * 0.7];
      if (isSquare) {
        context.fillRect(centreX - size, centreY - size, 2 * size, 2 * size);
        continue;
      }
      context.moveTo(centreX + size, centreY);
      context.arc(centreX, centreY, size, 0, 2 * Math.PI);
    }
    if (!isSquare) context.fill();
  }
}

/** Returns the share of a wire that lies under the node at each of its ends, so that nothing covers a node's name. */
function rimOf({ placement: { x, y, radius }, wires: { a, b } }: NetworkView, wire: number): number {
  const length = Math.hypot(x[a[wire]] - x[b[wire]], y[a[wire]] - y[b[wire]]);
  return length > 0 ? Math.min(0.3, radius / length) : 0;
}

/** Returns whether marks change what lies under them. */
const sameBase = (one: NetworkMarks | undefined, other: NetworkMarks | undefined): boolean =>
  one?.heat === other?.heat && (one?.fadeOthers ?? false) === (other?.fadeOthers ?? false);

/** Smaller letters (pixels) are left out, greater ones are not needed. */
const LEAST_TYPE = 7;
const MOST_TYPE = 15;
/** Names of boxes have so much room below them, in the network's units. */
const BOX_TYPE = 22;
const FONT = "system-ui, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif";
/** A letter is about so wide, in its own size. */
const LETTER = 0.6;

/** Returns the last letters of a text, at most `most`, for names differ there; "" where hardly any fit. */
function shortened(text: string, most: number): string {
  const shown = visible(text);
  const letters = [...shown];
  if (letters.length <= most) return shown;
  return most < 3 ? "" : `…${letters.slice(letters.length - most + 1).join("")}`;
}

/** Paints names: of boxes below them, of nodes inside them where there is room, and the texts of marks beside their nodes. */
function paintLabels(
  context: CanvasRenderingContext2D,
  network: NetworkView,
  camera: Camera,
  region: Region,
  shown: readonly number[],
  marks: NetworkMarks | undefined,
  palette: Palette,
): void {
  context.textBaseline = "middle";
  context.textAlign = "center";
  paintBoxNames(context, network, camera, region, palette);
  paintNodeNames(context, network, camera, shown, marks, palette);
  if (marks?.nodes !== undefined) paintTexts(context, network, camera, shown, marks.nodes, palette);
}

function paintBoxNames(
  context: CanvasRenderingContext2D,
  { placement: { boxes } }: NetworkView,
  { k, x: left, y: top }: Camera,
  region: Region,
  palette: Palette,
): void {
  context.fillStyle = palette("--soft");
  const type = Math.min(12, BOX_TYPE * k);
  if (type < LEAST_TYPE) return;
  context.font = `${type}px ${FONT}`;
  for (const { x, y, width, height, name } of boxes) {
    if (width * k < 16 || !meets(region, { left: x, top: y, right: x + width, bottom: y + height + 20 })) continue;
    const text = shortened(name, Math.floor((width * k) / (type * LETTER)));
    if (text !== "") context.fillText(text, (x + width / 2) * k + left, (y + height) * k + top + 0.75 * type);
  }
}

function paintNodeNames(
  context: CanvasRenderingContext2D,
  network: NetworkView,
  { k, x: left, y: top }: Camera,
  shown: readonly number[],
  marks: NetworkMarks | undefined,
  palette: Palette,
): void {
  const { placement, nodeNames, npuCount } = network;
  const { halfWidth, halfHeight } = shapesOf(network);
  const { x, y, radius } = placement;
  if (Math.max(radius * 0.95, halfHeight) * k < LEAST_TYPE) return;
  let font = 0;
  const paleness = marks?.fadeOthers === true ? 0.5 : 1;
  for (const node of shown) {
    const isNpu = node < npuCount;
    const wide = (isNpu ? 1.8 * radius : 2 * halfWidth[node] - 4) * k;
    const tall = (isNpu ? 0.95 * radius : halfHeight) * k;
    const name = visible(nodeNames[node]);
    const type = Math.min(MOST_TYPE, tall, Math.max(LEAST_TYPE, wide / (LETTER * [...name].length)));
    if (type < LEAST_TYPE) continue;
    const text = shortened(name, Math.floor(wide / (LETTER * type) + 0.3));
    if (text === "") continue;
    const size = Math.round(2 * type) / 2;
    if (size !== font) {
      context.font = `${size}px ${FONT}`;
      font = size;
    }
    const mark = marks?.nodes?.get(node);
    const pen = mark === undefined || mark.ring === true ? palette("--text") : palette.on(mark.colour);
    context.globalAlpha = mark === undefined ? paleness : 1;
    context.fillStyle = pen;
    context.fillText(text, x[node] * k + left, y[node] * k + top + 0.5);
  }
  context.globalAlpha = 1;
}

function paintTexts(
  context: CanvasRenderingContext2D,
  network: NetworkView,
  { k, x: left, y: top }: Camera,
  shown: readonly number[],
  marked: NonNullable<NetworkMarks["nodes"]>,
  palette: Palette,
): void {
  const { x, y } = network.placement;
  const { halfWidth } = shapesOf(network);
  context.font = `600 12px ${FONT}`;
  context.textAlign = "left";
  context.lineWidth = 3;
  context.lineJoin = "round";
  context.strokeStyle = palette("--panel");
  context.fillStyle = palette("--text");
  for (const node of shown) {
    const text = marked.get(node)?.text;
    if (text === undefined || text === "") continue;
    const [atX, atY] = [(x[node] + halfWidth[node]) * k + left + 4, y[node] * k + top];
    context.strokeText(visible(text), atX, atY);
    context.fillText(visible(text), atX, atY);
  }
}
