import type { NetworkView, Placement } from "../protocol.ts";
import type { Region } from "./camera.ts";
import { shapesOf } from "./shapes.ts";

/** Wires that are stroked at once. */
export interface WireBatch {
  readonly path: Path2D;
  readonly region: Region;
  /** Of the classes that the batches were made by. */
  readonly kind: number;
}

/** One path of more wires is slower to paint, and less of it can be left out when it is not seen. */
const MOST_IN_BATCH = 400;

/** Returns the wires in batches of one kind each, kinds ascending. O(wires). */
export function wireBatches(network: NetworkView, kinds: number, kindOf: (wire: number) => number): WireBatch[] {
  const members: number[][] = Array.from({ length: kinds }, () => []);
  for (let wire = 0; wire < network.wires.a.length; wire++) members[kindOf(wire)].push(wire);
  return members.flatMap((wires, kind) => {
    const batches: WireBatch[] = [];
    for (let from = 0; from < wires.length; from += MOST_IN_BATCH) {
      batches.push(batchOf(network, wires.slice(from, from + MOST_IN_BATCH), kind));
    }
    return batches;
  });
}

function batchOf(network: NetworkView, wires: readonly number[], kind: number): WireBatch {
  const path = new Path2D();
  const { x, y } = network.placement;
  const { controlX, controlY } = shapesOf(network);
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const wire of wires) {
    trace(path, network, wire);
    const [a, b] = [network.wires.a[wire], network.wires.b[wire]];
    left = Math.min(left, x[a], x[b], controlX[wire]);
    right = Math.max(right, x[a], x[b], controlX[wire]);
    top = Math.min(top, y[a], y[b], controlY[wire]);
    bottom = Math.max(bottom, y[a], y[b], controlY[wire]);
  }
  return { path, kind, region: { left, top, right, bottom } };
}

/** Adds a wire to a path. */
export function trace(path: Path2D | CanvasRenderingContext2D, network: NetworkView, wire: number): void {
  const { x, y } = network.placement;
  const { controlX, controlY, isCurved } = shapesOf(network);
  const [a, b] = [network.wires.a[wire], network.wires.b[wire]];
  path.moveTo(x[a], y[a]);
  if (isCurved[wire]) path.quadraticCurveTo(controlX[wire], controlY[wire], x[b], y[b]);
  else path.lineTo(x[b], y[b]);
}

/** Returns the step of the colours --band-0 .. --band-5 and the width (in the network's units) of each class of bandwidth. */
export function bandsOf(network: NetworkView): { readonly step: number; readonly width: number }[] {
  const count = network.classes.length;
  const scale = Math.max(0.35, Math.min(1, network.placement.radius / 13));
  return network.classes.map((_, index) => {
    const step = count === 1 ? 2 : Math.round((5 * index) / (count - 1));
    return { step, width: scale * (count === 1 ? 2 : 1.3 + 0.75 * step) };
  });
}

/** Wires that would cover more than this share of the picture are drawn through each other. */
const MOST_INK = 0.4;

/** Returns how opaque wires are drawn, so that where many cross there is still something to see. O(wires). */
export function opacityOf(network: NetworkView): number {
  const { x, y, width, height }: Placement = network.placement;
  const { a, b, bandwidthClass } = network.wires;
  const bands = bandsOf(network);
  let ink = 0;
  for (let wire = 0; wire < a.length; wire++) {
    ink += Math.hypot(x[a[wire]] - x[b[wire]], y[a[wire]] - y[b[wire]]) * bands[bandwidthClass[wire]].width;
  }
  return Math.max(0.1, Math.min(1, (MOST_INK * width * height) / Math.max(1, ink)));
}

/** Returns the wires that lead one way only, with that way. O(wires). */
export function oneWayWires({ wires }: NetworkView): { readonly wire: number; readonly forward: boolean }[] {
  const found: { wire: number; forward: boolean }[] = [];
  for (let wire = 0; wire < wires.a.length; wire++) {
    const [forward, backward] = [wires.forward[wire] > 0, wires.backward[wire] > 0];
    if (forward !== backward) found.push({ wire, forward });
  }
  return found;
}
