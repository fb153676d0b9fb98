import { linkCount, nodeCount, switchCount, type Topology } from "../../model/topology/topology.ts";
import { groupsOf } from "./coarse.ts";
import { isDrawable, layoutOf } from "./layout.ts";
import { type Cut, drawnBoxes, drawnNodes, drawnWires, strokeOf } from "./network.ts";
import { framed, label, type Picture, type PictureOptions } from "./svg.ts";
import { type BandwidthClass, bandwidthClasses, type Wire, wiresOf } from "./wires.ts";

export interface TopologyPictureOptions {
  /** Draws what proves a bound: its nodes are marked, and links across its border stand out. */
  readonly cut?: Cut;
}

/** Returns "16 NPUs, 3 switches, 64 links". */
export function sizeText(topology: Topology): string {
  const count = (n: number, what: string): string => `${n} ${what}${n === 1 ? "" : what === "switch" ? "es" : "s"}`;
  const switches = switchCount(topology);
  const parts = [
    count(topology.npuCount, "NPU"),
    ...(switches > 0 ? [count(switches, "switch")] : []),
    count(linkCount(topology), "link"),
  ];
  return parts.join(", ");
}

/**
 * Yields the parts of an SVG of the network: nodes in a grid, in tiers under their switches, on a circle or by springs; a line
 * for all links between two nodes, wider and stronger with more bandwidth; a legend. No scripts, nothing loaded, light and dark.
 * Above 5,000 nodes or 20,000 pairs of linked nodes a circle stands for each group, which the picture says. Throws InputError where
 * there are no groups, or too many.
 */
export const topologySvg = (
  topology: Topology,
  options: TopologyPictureOptions & PictureOptions = {},
): Generator<string> => framed(topologyPicture(topology, options), options);

/** Returns that picture without its frame. */
export function topologyPicture(topology: Topology, options: TopologyPictureOptions = {}): Picture {
  const wires = wiresOf(topology);
  if (isDrawable(topology, wires)) return pictureOf(topology, wires, options.cut);
  const groups = groupsOf(topology);
  if (groups === null) return pictureOf(topology, wires, options.cut);
  const sentence = `${sizeText(topology)}. Each circle stands for a group; links inside groups are left out.`;
  return { ...pictureOf(groups, wiresOf(groups), undefined), sentence };
}

function pictureOf(topology: Topology, wires: readonly Wire[], cut: Cut | undefined): Picture {
  const layout = layoutOf(topology, wires);
  const classes = bandwidthClasses(wires);
  const inside = cut === undefined ? null : marked(topology, cut);
  const marks = (node: number): string => (inside?.[node] === 1 ? " chosen" : "");
  const width = Math.max(layout.width, 180);
  const perRow = Math.max(1, Math.floor(width / LEGEND_PITCH));
  const height = layout.height + 14 + 22 * Math.ceil(classes.length / perRow);
  function* parts(): Generator<string> {
    yield* drawnBoxes(layout);
    yield* drawnWires(topology, layout, wires, classes, inside);
    yield* drawnNodes(topology, layout, marks);
    yield* legend(classes, layout.radius, layout.height + 20, perRow);
  }
  const same = inside === null ? "" : " Marked: the cut, with the links that cross it.";
  return {
    title: topology.name || "Network",
    sentence: `${sizeText(topology)}.${same}`,
    width,
    height,
    parts: parts(),
  };
}

function marked(topology: Topology, cut: Cut): Uint8Array {
  const inside = new Uint8Array(nodeCount(topology));
  for (const node of cut.nodes) inside[node] = 1;
  return inside;
}

const LEGEND_PITCH = 150;

/** Yields the bandwidths that each colour and width stands for. */
function* legend(classes: readonly BandwidthClass[], radius: number, top: number, perRow: number): Generator<string> {
  for (const [i, { to, text }] of classes.entries()) {
    const { colour, width } = strokeOf(classes, to, radius);
    const [x, y] = [(i % perRow) * LEGEND_PITCH, top + 22 * Math.floor(i / perRow)];
    yield `<path d="M${x} ${y}h26" class="wire ${colour}" stroke-width="${width}"/>${label(x + 33, y + 4, text, "label", "start")}`;
  }
}
