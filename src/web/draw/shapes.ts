import { quadtree } from "d3-quadtree";
import type { NetworkView } from "../protocol.ts";

/** A network's forms, in its own coordinates. */
export interface Shapes {
  /** [wires] the point that a curve is drawn towards; the middle of the two ends where it is straight. */
  readonly controlX: Float32Array;
  readonly controlY: Float32Array;
  readonly isCurved: Uint8Array;
  /** Half the sides of a switch; `halfWidth` by node, for some have little room. */
  readonly halfWidth: Float32Array;
  readonly halfHeight: number;
  /** Returns the node at a point, or the nearest within `reach`; -1: none. */
  nodeAt(x: number, y: number, reach: number): number;
}

const known = new WeakMap<NetworkView, Shapes>();

/** Returns the shapes of a network, made at the first call. O(wires + nodes log nodes) then, O(1) later. */
export function shapesOf(network: NetworkView): Shapes {
  const found = known.get(network) ?? made(network);
  known.set(network, found);
  return found;
}

function made({ placement, wires, npuCount, nodeNames }: NetworkView): Shapes {
  const { x, y, bend, radius, room } = placement;
  const count = wires.a.length;
  const controlX = new Float32Array(count);
  const controlY = new Float32Array(count);
  const isCurved = new Uint8Array(count);
  for (let wire = 0; wire < count; wire++) {
    const [a, b] = [wires.a[wire], wires.b[wire]];
    const [dx, dy] = [x[b] - x[a], y[b] - y[a]];
    const off = (2 * bend[wire]) / (Math.hypot(dx, dy) || 1);
    controlX[wire] = (x[a] + x[b]) / 2 + dy * off;
    controlY[wire] = (y[a] + y[b]) / 2 - dx * off;
    isCurved[wire] = bend[wire] === 0 ? 0 : 1;
  }
  const halfHeight = Math.max(3, Math.min(12, 0.85 * radius));
  const halfWidth = new Float32Array(nodeNames.length).fill(radius);
  for (let node = npuCount; node < nodeNames.length; node++) {
    const letters = Math.min(12, nodeNames[node].length);
    const wish = Math.max(1.4 * halfHeight, letters * halfHeight * 0.31 + 6);
    halfWidth[node] = Math.max(1, Math.min(room[node] / 2, wish));
  }
  const widest = halfWidth.reduce((most, half) => Math.max(most, half), 0);
  const tree = quadtree<number>(
    nodeNames.map((_, node) => node),
    (node) => x[node],
    (node) => y[node],
  );
  const offBy = (node: number, atX: number, atY: number): number => {
    if (node < npuCount) return Math.max(0, Math.hypot(x[node] - atX, y[node] - atY) - radius);
    const dx = Math.max(0, Math.abs(x[node] - atX) - halfWidth[node]);
    return Math.hypot(dx, Math.max(0, Math.abs(y[node] - atY) - halfHeight));
  };
  return {
    controlX,
    controlY,
    isCurved,
    halfWidth,
    halfHeight,
    nodeAt(atX, atY, reach) {
      const span = reach + Math.max(radius, halfHeight, widest);
      let [best, least] = [-1, reach];
      tree.visit((quad, left, top, right, bottom) => {
        if (left > atX + span || right < atX - span || top > atY + span || bottom < atY - span) return true;
        if (Array.isArray(quad)) return false;
        for (let leaf: typeof quad | undefined = quad; leaf !== undefined; leaf = leaf.next) {
          const off = offBy(leaf.data, atX, atY);
          if (off < least || (off === least && leaf.data > best)) [best, least] = [leaf.data, off];
        }
        return false;
      });
      return best;
    },
  };
}

/** Returns the point of a wire a share (0: a, 1: b) of the way along it. */
export function pointOn(network: NetworkView, wire: number, share: number): { x: number; y: number } {
  const { controlX, controlY } = shapesOf(network);
  const { x, y } = network.placement;
  const [a, b] = [network.wires.a[wire], network.wires.b[wire]];
  const [first, middle, last] = [(1 - share) ** 2, 2 * share * (1 - share), share ** 2];
  return {
    x: first * x[a] + middle * controlX[wire] + last * x[b],
    y: first * y[a] + middle * controlY[wire] + last * y[b],
  };
}

const PIECES = 8;

/** Returns the wire nearest to a point and less than `reach` off; -1: none. O(wires). */
export function wireAt(network: NetworkView, atX: number, atY: number, reach: number): number {
  const { controlX, controlY, isCurved } = shapesOf(network);
  const { x, y } = network.placement;
  const { a, b } = network.wires;
  let [best, least] = [-1, reach];
  for (let wire = 0; wire < a.length; wire++) {
    const [x0, y0, x1, y1, cx, cy] = [x[a[wire]], y[a[wire]], x[b[wire]], y[b[wire]], controlX[wire], controlY[wire]];
    if (Math.min(x0, x1, cx) > atX + least || Math.max(x0, x1, cx) < atX - least) continue;
    if (Math.min(y0, y1, cy) > atY + least || Math.max(y0, y1, cy) < atY - least) continue;
    const off = isCurved[wire] ? offCurve(wire) : offSegment(x0, y0, x1, y1, atX, atY);
    if (off < least) [best, least] = [wire, off];
  }
  return best;

  function offCurve(wire: number): number {
    let off = Number.POSITIVE_INFINITY;
    let from = pointOn(network, wire, 0);
    for (let piece = 1; piece <= PIECES; piece++) {
      const to = pointOn(network, wire, piece / PIECES);
      off = Math.min(off, offSegment(from.x, from.y, to.x, to.y, atX, atY));
      from = to;
    }
    return off;
  }
}

function offSegment(x0: number, y0: number, x1: number, y1: number, x: number, y: number): number {
  const [dx, dy] = [x1 - x0, y1 - y0];
  const along = ((x - x0) * dx + (y - y0) * dy) / (dx * dx + dy * dy || 1);
  const share = Math.max(0, Math.min(1, along));
  return Math.hypot(x0 + share * dx - x, y0 + share * dy - y);
}

/** Returns the nodes inside a rectangle, ascending. O(nodes). */
export function nodesWithin(
  { placement: { x, y } }: NetworkView,
  box: { left: number; top: number; right: number; bottom: number },
): number[] {
  const found: number[] = [];
  for (let node = 0; node < x.length; node++) {
    if (x[node] >= box.left && x[node] <= box.right && y[node] >= box.top && y[node] <= box.bottom) found.push(node);
  }
  return found;
}
