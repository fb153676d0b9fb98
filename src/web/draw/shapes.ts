import { quadtree } from "d3-quadtree";
import { bandOf, bendOf, inkOpacity, switchHalfWidth, switchHeight, wireScale } from "../../picture/shapes.ts";
import type { NetworkView, Placement } from "../protocol.ts";
import type { Region } from "./camera.ts";
import type { Focus } from "./marks.ts";
import { wiresAt } from "./network-index.ts";

/** A network's forms, in its own coordinates. */
interface Shapes {
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
    const bent = bendOf(x[a], y[a], x[b], y[b], bend[wire]);
    controlX[wire] = bent.controlX;
    controlY[wire] = bent.controlY;
    isCurved[wire] = bend[wire] === 0 ? 0 : 1;
  }
  const halfHeight = switchHeight(radius) / 2;
  const halfWidth = new Float32Array(nodeNames.length).fill(radius);
  for (let node = npuCount; node < nodeNames.length; node++) {
    halfWidth[node] = switchHalfWidth(nodeNames[node].length, radius, room[node]);
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

/** Wider than high by more than this is too wide for a narrow page. */
const WIDE = 1.2;

/** Returns a network as a narrow page draws it: one that is wide goes down instead of to the right, where its switches have room. */
export function upright(network: NetworkView): NetworkView {
  const { placement, gone, npuCount } = network;
  const { x, y, width, height, room, radius, bend, boxes } = placement;
  const { halfWidth, halfHeight } = shapesOf(network);
  const isRoomy = room.every((wide, node) => node < npuCount || wide >= 2 * halfHeight);
  if (width < WIDE * height || !isRoomy) return network;
  // names of switches still go to the right
  const more = halfWidth.reduce((most, half) => Math.max(most, half), radius) - Math.max(radius, halfHeight);
  const [atX, atY] = [y.map((place) => place + more), x.slice()];
  return {
    ...network,
    placement: {
      ...placement,
      x: atX,
      y: atY,
      width: height + more,
      height: width,
      bend: bend.map((off) => -off),
      boxes: boxes.map((box) => ({ ...box, x: box.y + more, y: box.x, width: box.height, height: box.width })),
    },
    gone: {
      nodes: gone.nodes.map((node) => ({ ...node, x: node.y + more, y: node.x })),
      wires: gone.wires.map((wire) => ({
        ...{ ...wire, bend: -wire.bend },
        ...{ x1: wire.y1 + more, y1: wire.x1, x2: wire.y2 + more, y2: wire.x2 },
      })),
    },
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

/** Returns the part of the network to look at for a node with its nearer neighbours, a wire, or a group. O(nodes) for a group. */
export function regionOf(network: NetworkView, { at }: Focus): Region {
  const { x, y, radius } = network.placement;
  const { a, b } = network.wires;
  const around = (nodes: readonly number[]): Region => ({
    left: Math.min(...nodes.map((node) => x[node])) - 4 * radius,
    top: Math.min(...nodes.map((node) => y[node])) - 4 * radius,
    right: Math.max(...nodes.map((node) => x[node])) + 4 * radius,
    bottom: Math.max(...nodes.map((node) => y[node])) + 4 * radius,
  });
  if (at.kind === "wire") return around([a[at.wire], b[at.wire]]);
  if (at.kind === "node") {
    const near = Array.from(wiresAt(network, at.node), (wire) => (a[wire] === at.node ? b[wire] : a[wire]))
      .map((node) => ({ node, off: Math.hypot(x[node] - x[at.node], y[node] - y[at.node]) }))
      .sort((one, other) => one.off - other.off || one.node - other.node)
      .slice(0, 4);
    return around([at.node, ...near.map(({ node }) => node)]);
  }
  const members: number[] = [];
  network.nodeGroup.forEach((group, node) => {
    if (group === at.group && (node < network.npuCount || members.length === 0)) members.push(node);
  });
  return members.length === 0 ? around([0]) : around(members);
}

/** Returns the node nearest to another one in a direction (a unit vector), by angle and distance; -1 where there is none. O(nodes). */
export function nodeTowards(network: NetworkView, from: number, dx: number, dy: number): number {
  const { x, y } = network.placement;
  let [best, least] = [-1, Number.POSITIVE_INFINITY];
  for (let node = 0; node < x.length; node++) {
    const along = (x[node] - x[from]) * dx + (y[node] - y[from]) * dy;
    if (node === from || along <= 0) continue;
    const aside = Math.abs((x[node] - x[from]) * dy - (y[node] - y[from]) * dx);
    if (aside > along * 1.2) continue;
    const cost = along + 2.5 * aside;
    if (cost < least) [best, least] = [node, cost];
  }
  return best;
}

/** Adds the arrowhead of a wire to a path, a share of the way along it, `size` long. */
export function arrow(
  path: Path2D | CanvasRenderingContext2D,
  network: NetworkView,
  wire: number,
  forward: boolean,
  size: number,
  share = 0.5,
): void {
  const along = forward ? share : 1 - share;
  const { x, y } = pointOn(network, wire, along);
  const [dx, dy] = direction(network, wire, along, forward);
  const [tipX, tipY] = [x + dx * size * 0.5, y + dy * size * 0.5];
  const [backX, backY] = [x - dx * size * 0.5, y - dy * size * 0.5];
  path.moveTo(tipX, tipY);
  path.lineTo(backX - dy * size * 0.42, backY + dx * size * 0.42);
  path.lineTo(backX + dy * size * 0.42, backY - dx * size * 0.42);
  path.closePath();
}

/** Returns the unit vector along a wire at a share of its way from a, in the direction that is taken. */
export function direction(network: NetworkView, wire: number, along: number, forward: boolean): [number, number] {
  const { controlX, controlY } = shapesOf(network);
  const { x, y } = network.placement;
  const [a, b] = [network.wires.a[wire], network.wires.b[wire]];
  const dx = (1 - along) * (controlX[wire] - x[a]) + along * (x[b] - controlX[wire]);
  const dy = (1 - along) * (controlY[wire] - y[a]) + along * (y[b] - controlY[wire]);
  const length = (Math.hypot(dx, dy) || 1) * (forward ? 1 : -1);
  return [dx / length, dy / length];
}

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
  const scale = wireScale(network.placement.radius);
  return network.classes.map((_, index) => {
    const { step, width } = bandOf(index, count);
    return { step, width: scale * width };
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
  return inkOpacity(ink, width * height, MOST_INK, 0.1);
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
