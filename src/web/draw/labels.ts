import { visible } from "../../base/visible.ts";
import type { NetworkView } from "../protocol.ts";
import { type Camera, meets, type Region } from "./camera.ts";
import type { NetworkMarks } from "./marks.ts";
import { shapesOf } from "./shapes.ts";

/** A text on a drawn network: its middle and the size of its letters, in pixels. */
export interface Label {
  /** The name of a box below it, of a node inside it, or the text of a mark beside its node. */
  readonly kind: "box" | "node" | "mark";
  /** -1 for boxes. */
  readonly node: number;
  readonly text: string;
  readonly x: number;
  readonly y: number;
  readonly size: number;
}

/** Smaller letters (pixels) are left out, greater ones are not needed. */
const LEAST_TYPE = 7;
const MOST_TYPE = 15;
/** Names of boxes have so much room below them, in the network's units. */
const BOX_TYPE = 22;
const MARK_TYPE = 12;
/** A letter is about so wide, in its own size. */
const LETTER = 0.6;
/** Between a mark's text and its node (pixels). */
const APART = 4;

/** Returns the last letters of a text, at most `most`, for names differ there; "" where hardly any fit. */
function shortened(text: string, most: number): string {
  const shown = visible(text);
  const letters = [...shown];
  if (letters.length <= most) return shown;
  return most < 3 ? "" : `…${letters.slice(letters.length - most + 1).join("")}`;
}

/** Returns what a label covers. */
export function areaOf({ text, x, y, size }: Label): Region {
  const [wide, tall] = [([...text].length * LETTER * size) / 2, size / 2];
  return { left: x - wide, top: y - tall, right: x + wide, bottom: y + tall };
}

/** Returns the labels of the nodes and boxes that are seen, none over another. O(nodes + boxes + texts of marks x nodes). */
export function labelsOf(
  network: NetworkView,
  camera: Camera,
  region: Region,
  shown: readonly number[],
  marks: NetworkMarks | undefined,
): Label[] {
  const labels = [...boxLabels(network, camera, region), ...nodeLabels(network, camera, shown)];
  return [...labels, ...markLabels(network, camera, shown, marks?.nodes, labels)];
}

function boxLabels({ placement }: NetworkView, { k, x: left, y: top }: Camera, region: Region): Label[] {
  const size = Math.min(12, BOX_TYPE * k);
  if (size < LEAST_TYPE) return [];
  return placement.boxes.flatMap(({ x, y, width, height, name }) => {
    if (width * k < 16 || !meets(region, { left: x, top: y, right: x + width, bottom: y + height + 20 })) return [];
    const text = shortened(name, Math.floor((width * k) / (size * LETTER)));
    const [atX, atY] = [(x + width / 2) * k + left, (y + height) * k + top + 0.75 * size];
    return text === "" ? [] : [{ kind: "box", node: -1, text, x: atX, y: atY, size }];
  });
}

function nodeLabels(network: NetworkView, { k, x: left, y: top }: Camera, shown: readonly number[]): Label[] {
  const { placement, nodeNames, npuCount } = network;
  const { halfWidth, halfHeight } = shapesOf(network);
  const { x, y, radius } = placement;
  if (Math.max(1.2 * radius, 1.3 * halfHeight) * k < LEAST_TYPE) return [];
  return shown.flatMap((node) => {
    const isNpu = node < npuCount;
    const wide = (isNpu ? 1.8 * radius : 2 * halfWidth[node] - 7) * k;
    const tall = (isNpu ? 1.2 * radius : 1.3 * halfHeight) * k;
    const letters = [...visible(nodeNames[node])].length;
    const type = Math.min(MOST_TYPE, tall, Math.max(LEAST_TYPE, wide / (LETTER * letters)));
    if (type < LEAST_TYPE) return [];
    const text = shortened(nodeNames[node], Math.floor(wide / (LETTER * type) + 0.3));
    if (text === "") return [];
    const size = Math.round(2 * type) / 2;
    return [{ kind: "node", node, text, x: x[node] * k + left, y: y[node] * k + top + 0.5, size }];
  });
}

/** Returns the texts of marks where they cover no node and no label: to the right of their node, else below, above, to its left, else not at all. */
function markLabels(
  network: NetworkView,
  { k, x: left, y: top }: Camera,
  shown: readonly number[],
  marked: NetworkMarks["nodes"],
  others: readonly Label[],
): Label[] {
  const { x, y, radius } = network.placement;
  const { halfWidth, halfHeight } = shapesOf(network);
  const areaOfNode = (node: number): Region => {
    const tall = node < network.npuCount ? radius : halfHeight;
    const [atX, atY, wide, high] = [x[node] * k + left, y[node] * k + top, halfWidth[node] * k, tall * k];
    return { left: atX - wide, top: atY - high, right: atX + wide, bottom: atY + high };
  };
  const texts = shown.flatMap((node) => {
    const text = visible(marked?.get(node)?.text ?? "");
    return text === "" ? [] : [{ node, text }];
  });
  if (texts.length === 0) return [];
  const taken = [...shown.map(areaOfNode), ...others.filter(({ kind }) => kind === "box").map(areaOf)];
  return texts.flatMap(({ node, text }) => {
    const { left: west, right: east, top: north, bottom: south } = areaOfNode(node);
    const [midX, midY] = [(west + east) / 2, (north + south) / 2];
    const wide = ([...text].length * LETTER * MARK_TYPE) / 2 + APART;
    const tall = MARK_TYPE / 2 + APART / 2;
    const places: readonly (readonly [number, number])[] = [
      [east + wide, midY],
      [midX, south + tall],
      [midX, north - tall],
      [west - wide, midY],
    ];
    const labels = places.map(([atX, atY]): Label => ({ kind: "mark", node, text, x: atX, y: atY, size: MARK_TYPE }));
    const free = labels.find((label) => !taken.some((area) => meets(area, areaOf(label))));
    if (free === undefined) return [];
    taken.push(areaOf(free));
    return [free];
  });
}
