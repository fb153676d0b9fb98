import type { NetworkView } from "../protocol.ts";
import type { Selection } from "../state/store.ts";
import { type Camera, covers, type Extent, fitted, type Region, seen, widened } from "./camera.ts";
import type { NetworkMarks, NodeMark, WireMark } from "./marks.ts";
import { wiresAt } from "./network-index.ts";
import {
  type Base,
  baseOf,
  nodesSeen,
  paintBase,
  paintDots,
  paintLabels,
  paintNodeMarks,
  paintNodes,
  paintWireMarks,
} from "./paint.ts";
import { atNextFrame, onScheme, type Palette, paletteOf } from "./palette.ts";

/** A picture of the base that was painted earlier, to be shown while the camera moves. */
interface Plate {
  readonly canvas: HTMLCanvasElement;
  readonly camera: Camera;
  readonly region: Region;
}

/** A base of more wires is not repainted for every frame of a movement, nor is one with which frames took longer (ms). */
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
    this.frame = atNextFrame(() => {
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
    const brush = { context, network, camera, region, palette };
    if (marks?.wires !== undefined) paintWireMarks(brush, marks.wires);
    const strong = emphasis(network, selected, pointed);
    paintWireMarks(brush, strong.wires);
    const shown = nodesSeen(network, region);
    // what is on its way goes in under a node, whose name it must not cover
    if (marks?.dots !== undefined) paintDots(brush, marks.dots);
    paintNodes(brush, shown, marks);
    paintNodeMarks(brush, [...strong.nodes.keys()], strong.nodes);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    if (!isMoving || shown.length <= MOST_MOVING_NAMES) paintLabels(brush, shown, marks);
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

  /** Copies the base onto the canvas, repainted first unless it would take too long for a frame of a movement. */
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

/** Returns whether marks change what lies under them. */
const sameBase = (one: NetworkMarks | undefined, other: NetworkMarks | undefined): boolean =>
  one?.heat === other?.heat && (one?.fadeOthers ?? false) === (other?.fadeOthers ?? false);

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
