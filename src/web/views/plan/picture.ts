import { type LayeredLayout, layered } from "../../../picture/layered.ts";
import { roundedSize, timeText } from "../../../report/amounts.ts";
import type { AxisLie, PlanNode, PlannedCopy, PlanPart, PlanView, TensorFacts } from "../../plan-protocol.ts";

/** A part of a plan as boxes with rows of words, laid out in layers. */

export type Mesh = PlanView["report"]["plan"]["mesh"];

/** A piece of a row. */
export type Piece =
  | { readonly kind: "text"; readonly style: "name" | "soft" | "move" | "time" | Retention; readonly text: string }
  /** How a tensor lies along an axis. */
  | { readonly kind: "lie"; readonly axis: number; readonly letter: "R" | "S" | "P"; readonly dim: string };
type Retention = "kept" | "again" | "dropped";

export interface Row {
  readonly height: number;
  readonly pieces: readonly Piece[];
}

export interface Box {
  readonly rows: readonly Row[];
  readonly width: number;
  readonly height: number;
  /** It stays inside a kernel, or only passes on what it is given: drawn quieter. */
  readonly isQuiet: boolean;
}

export interface Picture extends LayeredLayout {
  readonly boxes: readonly Box[];
}

/** How wide boxes may be, and how far apart: the first by which a part fits is taken. */
interface Room {
  readonly most: number;
  readonly beside: number;
}
const ROOMS: readonly Room[] = [
  { most: 236, beside: 18 },
  { most: 168, beside: 14 },
  { most: 122, beside: 8 },
];

const BELOW = 22;
const PADDING = 6;
const MARGIN = 8;
/** Widths of a character, and of what stands around it. */
const CHARACTERS = { name: 7.5, soft: 6.3, move: 6.6, time: 6.3, kept: 6, again: 6, dropped: 6 } as const;
const LINE = 16;
const LIES = 19;
const LIE_EDGES = 38;
const PIECE_GAP = 5;

const widthOf = (piece: Piece): number =>
  piece.kind === "lie"
    ? LIE_EDGES + piece.dim.length * 6.4
    : piece.text.length * CHARACTERS[piece.style] + (piece.style in RETENTION_EDGES ? 12 : 0);
const RETENTION_EDGES = { kept: 10, again: 10, dropped: 10 };

/** Returns pieces in rows of a width, in their order. */
function rowsOf(pieces: readonly Piece[], most: number): Row[] {
  const rows: Piece[][] = [];
  let left = 0;
  for (const piece of pieces) {
    const wide = widthOf(piece);
    if (rows.length === 0 || wide > left) {
      rows.push([]);
      left = most;
    }
    rows.at(-1)?.push(piece);
    left -= wide + PIECE_GAP;
  }
  return rows.map((row) => ({ pieces: row, height: row.some(({ kind }) => kind === "lie") ? LIES : LINE }));
}

/** Returns a text in lines of a width, broken between words. */
function textRows(text: string, style: "name" | "soft" | "move", most: number): Row[] {
  const words = text.split(" ");
  const lines: string[] = [];
  for (const word of words) {
    const longer = `${lines.at(-1) ?? ""} ${word}`.trim();
    if (lines.length > 0 && longer.length * CHARACTERS[style] <= most) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines.map((line) => ({ height: LINE, pieces: [{ kind: "text", style, text: line }] }));
}

/** Returns how a tensor lies, a piece an axis. */
export const liePieces = ({ dims }: TensorFacts, lies: readonly AxisLie[]): Piece[] =>
  lies.map((lie, axis) => {
    if (lie === "whole") return { kind: "lie", axis, letter: "R", dim: "" };
    if (lie === "summand") return { kind: "lie", axis, letter: "P", dim: "" };
    return { kind: "lie", axis, letter: "S", dim: dims[lie]?.name ?? "" };
  });

const moveRows = ({ moves }: PlannedCopy, most: number): Row[] =>
  moves.flatMap(({ kind, axes, bytes, us }) =>
    rowsOf(
      [
        { kind: "text", style: "move", text: `${kind} ${axes}` },
        { kind: "text", style: "time", text: roundedSize(bytes) },
        { kind: "text", style: "time", text: timeText(us) },
      ],
      most,
    ),
  );

/** Returns "∇ queries" for "gradient of queries". */
export const shortName = (name: string): string => name.replace(/^gradient of /, "∇ ");

function boxOf(node: PlanNode, tensors: readonly TensorFacts[], count: number, { most }: Room): Box {
  const inner = most - 2 * PADDING - 2;
  const boxed = (rows: readonly Row[], isQuiet: boolean): Box => {
    const wide = Math.max(
      ...rows.map(({ pieces }) => pieces.reduce((all, piece) => all + widthOf(piece) + PIECE_GAP, -PIECE_GAP)),
    );
    const height = rows.reduce((all, row) => all + row.height, 2 * PADDING);
    return { rows, width: Math.min(most, Math.ceil(wide) + 2 * PADDING + 2), height, isQuiet };
  };
  if (node.kind === "to") return boxed(textRows(count > 1 ? "to the next part" : "goes on", "soft", inner), true);
  const tensor = tensors[node.tensor] as TensorFacts;
  const lies = (of: TensorFacts, where: readonly AxisLie[]): Piece[] => liePieces(of, where);
  if (node.kind === "from") {
    const name = textRows(`${node.isKept ? "kept:" : "from before:"} ${shortName(tensor.name)}`, "soft", inner);
    return boxed([...name, ...rowsOf(lies(tensor, tensor.lies), inner)], true);
  }
  if (node.kind === "brought")
    return boxed([...moveRows(node.copy, inner), ...rowsOf(lies(tensor, node.copy.lies), inner)], false);
  const { given, updates, isAgain } = node;
  const what: Retention | null = isAgain ? "again" : tensor.isFused ? null : tensor.retention;
  const mark: Piece[] = what === null ? [] : [{ kind: "text", style: what, text: isAgain ? "made again" : what }];
  const name = textRows(shortName(tensor.name), "name", inner);
  const rows = [...name, ...rowsOf([...lies(tensor, tensor.lies), ...mark], inner)];
  if (tensor.streamed !== null) rows.push(...textRows(`streamed with ${tensor.streamed}`, "soft", inner));
  for (const { tensor: of, copy } of given) {
    const facts = tensors[of] as TensorFacts;
    rows.push(...textRows(`with ${facts.name}`, "soft", inner), ...rowsOf(lies(facts, facts.lies), inner));
    if (copy !== null) rows.push(...moveRows(copy, inner));
  }
  if (updates !== null) {
    rows.push(...textRows(`updates ${tensors[updates.tensor]?.name}`, "soft", inner));
    if (updates.copy !== null)
      rows.push(...moveRows(updates.copy, inner), ...rowsOf(lies(tensor, updates.copy.lies), inner));
  }
  const isTrivial = tensor.operation !== "product" && given.length === 0 && updates === null;
  return boxed(rows, tensor.isFused || isTrivial);
}

/** Returns a part laid out so that it fits a width as far as boxes can be narrower: what is made stands below what it is made of. */
export function pictureOf(part: PlanPart, tensors: readonly TensorFacts[], width: number): Picture {
  let picture: Picture | null = null;
  for (const room of ROOMS) {
    if (picture !== null && picture.width <= width) break;
    const boxes = part.nodes.map((node) => boxOf(node, tensors, part.count, room));
    picture = { ...moved(layered(boxes, part.edges, { beside: room.beside, below: BELOW })), boxes };
  }
  return picture as Picture;
}

/** Returns a layout with a margin around it. */
function moved({ x, y, layer, ways, width, height }: LayeredLayout): LayeredLayout {
  return {
    x: x.map((at) => at + MARGIN),
    y: y.map((at) => at + MARGIN),
    layer,
    ways: ways.map((way) => way.map(([across, down]) => [across + MARGIN, down + MARGIN] as const)),
    width: width + 2 * MARGIN,
    height: height + 2 * MARGIN,
  };
}

/** Returns a way as the path of a line: straight where it runs down, curved between. */
export function pathOf(way: readonly (readonly [x: number, y: number])[]): string {
  return way
    .map(([x, y], i) => {
      if (i === 0) return `M${round(x)} ${round(y)}`;
      const [fromX, fromY] = way[i - 1] as readonly [number, number];
      if (Math.abs(fromX - x) < 0.05) return `V${round(y)}`;
      const bend = (fromY + y) / 2;
      return `C${round(fromX)} ${round(bend)} ${round(x)} ${round(bend)} ${round(x)} ${round(y)}`;
    })
    .join("");
}

const round = (value: number): number => Math.round(10 * value) / 10;

/** Where one looks next. */
export type Direction = "up" | "down" | "left" | "right";

/** Returns the nearest node in a direction; the same one where there is none. O(nodes). */
export function nodeTowards({ x, y, layer }: LayeredLayout, from: number, direction: Direction): number {
  const sign = direction === "up" || direction === "left" ? -1 : 1;
  const isAcross = direction === "left" || direction === "right";
  let [best, least] = [from, Number.POSITIVE_INFINITY];
  for (let node = 0; node < x.length; node++) {
    const [dx, dy] = [(x[node] as number) - (x[from] as number), (y[node] as number) - (y[from] as number)];
    const isThere = isAcross
      ? layer[node] === layer[from] && sign * dx > 0
      : sign * ((layer[node] as number) - (layer[from] as number)) > 0;
    const far = isAcross ? Math.abs(dx) : Math.abs(dy) * 4 + Math.abs(dx);
    if (isThere && far < least) [best, least] = [node, far];
  }
  return best;
}
