import { InputError } from "../../../base/errors.ts";

/** A switch or host adapter, told by the id that ibnetdiscover quotes: `S-2c5e...`, `H-e09d...`. */
export interface FabricNode {
  readonly id: string;
  readonly kind: "switch" | "adapter";
  readonly description: string;
}

/** A cable between two ports. */
export interface FabricLink {
  readonly a: string;
  readonly portA: number;
  readonly b: string;
  readonly portB: number;
  readonly bytesPerSecond: number;
}

export interface Fabric {
  /** By id, in the order of first appearance. */
  readonly nodes: ReadonlyMap<string, FabricNode>;
  readonly links: readonly FabricLink[];
  /** Cables that only one of their ends lists. */
  readonly oneSided: number;
  /** Cables whose ends disagree on the rate. */
  readonly unequal: number;
  /** Cables from a node to itself, which are left out. */
  readonly loops: number;
}

/** Gb/s of four lanes: InfiniBand Trade Association's roadmap. */
const GBPS_OF_4X: Readonly<Record<string, number>> = {
  SDR: 10,
  DDR: 20,
  QDR: 40,
  FDR10: 41.25,
  FDR: 56,
  EDR: 100,
  HDR: 200,
  NDR: 400,
  XDR: 800,
};
const NODE = /^(?:Switch|Ca|Rt)\s+\d+\s+"([SHR]-[0-9a-f]+)"\s*(?:#\s*"([^"]*)".*)?$/i;
const PORT =
  /^\[(\d+)\](?:\[ext [^\]]*\])?(?:\([0-9a-f]*\))?\s*"([SHR]-[0-9a-f]+)"\[(\d+)\](?:\[ext [^\]]*\])?(?:\([0-9a-f]*\))?\s*(?:#(.*))?$/i;
const OTHER = /^(?:#|[a-z]+=|Chassis\b|Spine\b|Leaf\b|Line\b|$)/i;

interface Seen {
  readonly link: FabricLink;
  readonly from: string;
  both: boolean;
}

/**
 * Returns the nodes and cables of ibnetdiscover's output, each cable once although both ends list it; where they disagree,
 * the lower rate. Ports without a rate have `otherwise`. Throws InputError with the line. O(text).
 */
export function parseFabric(text: string, fileName: string, otherwise: number | undefined): Fabric {
  const nodes = new Map<string, FabricNode>();
  const seen = new Map<string, Seen>();
  let unequal = 0;
  let loops = 0;
  let current: string | null = null;
  text.split(/\r\n|\n|\r/).forEach((raw, index) => {
    const place = `${fileName} line ${index + 1}`;
    const line = raw.replace(/^\ufeff/, "").trim();
    const node = NODE.exec(line);
    if (node !== null) {
      const [, id, description = ""] = node as unknown as [string, string, string?];
      current = id;
      nodes.set(id, nodeOf(id, description));
      return;
    }
    const port = PORT.exec(line);
    if (port === null) {
      if (!OTHER.test(line)) throw new InputError(place, "a line of ibnetdiscover", line);
      return;
    }
    if (current === null) throw new InputError(place, "a Switch or Ca line above its ports", line);
    const [, here, id, there, comment = ""] = port as unknown as [string, string, string, string, string?];
    if (!nodes.has(id)) nodes.set(id, nodeOf(id, /"([^"]*)"/.exec(comment)?.[1] ?? ""));
    if (id === current) {
      loops++;
      return;
    }
    const bytesPerSecond = rateOf(comment, place, otherwise);
    const ends = [`${current} ${Number(here)}`, `${id} ${Number(there)}`];
    const key = ends.sort().join(" ");
    const known = seen.get(key);
    if (known === undefined) {
      const link = { a: current, portA: Number(here), b: id, portB: Number(there), bytesPerSecond };
      seen.set(key, { link, from: current, both: false });
    } else if (known.from !== current && !known.both) {
      const slower = Math.min(known.link.bytesPerSecond, bytesPerSecond);
      if (known.link.bytesPerSecond !== bytesPerSecond) unequal++;
      seen.set(key, { link: { ...known.link, bytesPerSecond: slower }, from: known.from, both: true });
    }
  });
  const cables = [...seen.values()];
  return {
    nodes,
    links: cables.map(({ link }) => link),
    oneSided: cables.filter(({ both }) => !both).length,
    unequal,
    loops: Math.ceil(loops / 2),
  };
}

const nodeOf = (id: string, description: string): FabricNode => ({
  id,
  kind: id.startsWith("H") || id.startsWith("h") ? "adapter" : "switch",
  description: description.trim(),
});

/** Returns the rate at the end of a port's comment: `... lid 5 4xNDR`. */
function rateOf(comment: string, place: string, otherwise: number | undefined): number {
  const match = /\b(\d{1,2})x([A-Z]+\d*)\s*$/.exec(comment);
  if (match === null) {
    if (otherwise !== undefined) return otherwise;
    throw new InputError(place, "a rate such as 4xNDR (or --assume nic=400Gbps)");
  }
  const [, lanes, name] = match as unknown as [string, string, string];
  const gbps = Object.hasOwn(GBPS_OF_4X, name) ? GBPS_OF_4X[name] : 0;
  const rate = (Number(lanes) * gbps * 1e9) / 32;
  if (rate < 1) throw new InputError(place, `lanes and one of ${Object.keys(GBPS_OF_4X).join(", ")}`, match[0].trim());
  return rate;
}
