import { InputError, inWords } from "../../base/errors.ts";
import { bandwidthFromGBps, PS_PER_SECOND, PS_PER_US } from "../../model/numbers/units.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { type TopologyBuilder, topologyBuilder } from "../../model/topology/topology-builder.ts";
import { asInteger, asList, asObject, asText, type JsonFields, placeIn, refuse } from "../text/json.ts";

type Params = JsonFields<"name" | "chassis" | "alpha" | "side_length">;
type Fields = JsonFields<"TopologyParams" | "capacity">;
type At = (key: string) => string;

/** Pairs of GPUs and how many links join them, as TE-CCL's dgx1.py and ndv2.py have them. */
const HYBRID_CUBE_MESH = "0-1*2 0-4*2 1-3*2 2-3*2 2-6*2 4-5*2 5-7*2 6-7*2 0-2 0-3 1-2 1-5 3-7 4-6 4-7 5-6";
/** As TE-CCL's amd.py has them. */
const MI250 =
  "0-1*4 0-4*2 0-8 1-5 1-9 1-10 2-3*4 2-6 2-9 2-10 3-7*2 3-11 4-5*4 4-6 5-6 5-7 6-7*4 8-9*4 8-12*2 9-13 10-11*4 10-14 11-15*2 12-13*4 12-14 13-14 13-15 14-15*4";
const US = PS_PER_US;
const MAX_CHASSIS = 4096;

/** Builders of the networks that TE-CCL knows by name; each returns its notes. */
const KNOWN: Readonly<Record<string, (builder: TopologyBuilder, params: Params, at: At) => string[]>> = {
  DGX1: (builder, params, at) => {
    addBox(builder, 0, 8, HYBRID_CUBE_MESH, 25, alphaPs(params, 0, at));
    return [];
  },
  NDv2: ndv2,
  DGX2: dgx2,
  AMD: amd,
  Mesh: mesh,
};

/** Returns true where a parsed JSON value has TE-CCL's TopologyParams. */
export function looksLikeTeCcl(value: unknown): boolean {
  return typeof value === "object" && value !== null && "TopologyParams" in value;
}

/**
 * Returns the network of a TE-CCL input: one that microsoft/TE-CCL knows by `name` (DGX1, NDv2, DGX2, AMD, Mesh; figures of
 * its Python files), or, where the input has them, the matrices `capacity` [from][to] in GB/s and `alpha` in seconds (-1
 * where there is no link) with `switch_indices`. Notes in `sources` say where its code differs from the machine. Throws
 * InputError for other names.
 */
export function readTeCcl(value: unknown, fileName: string): Topology {
  const fields = asObject<Fields>(value, fileName);
  const at: At = (key) => placeIn(fileName, `TopologyParams.${key}`);
  const params = asObject<Params>(fields.TopologyParams, placeIn(fileName, "TopologyParams"));
  const name = asText(params.name, at("name"));
  const builder = topologyBuilder(name);
  if (fields.capacity !== undefined) {
    addTeCclMatrices(builder, fields, fileName);
    return builder.build({ sources: [`TE-CCL matrices ${fileName}`] });
  }
  const known = Object.keys(KNOWN).find((key) => key.toLowerCase() === name.toLowerCase());
  if (known === undefined) {
    throw new InputError(
      at("name"),
      `one of ${Object.keys(KNOWN).join(", ")} (or matrices capacity and alpha)`,
      name,
    ).as("unknown-name");
  }
  const notes = KNOWN[known](builder, params, at);
  return builder.build({ sources: [`TE-CCL input ${fileName}: figures of microsoft/TE-CCL's ${known}`, ...notes] });
}

const chassisOf = (params: Params, at: At): number => asInteger(params.chassis ?? 1, at("chassis"), 1, MAX_CHASSIS);

/** Returns entry `index` of `alpha`, in seconds, as picoseconds; 0 where the input has none, as TE-CCL does. */
function alphaPs(params: Params, index: number, at: At): number {
  if (params.alpha === undefined) return 0;
  const alphas = asList(params.alpha, at("alpha"));
  const value = alphas[index];
  const ps = typeof value === "number" ? Math.round(value * PS_PER_SECOND) : Number.NaN;
  if (!Number.isSafeInteger(ps) || ps < 0) refuse(at(`alpha[${index}]`), "a latency in seconds, 0 or more", value);
  return ps;
}

/** Adds the GPUs of a chassis, named by their ranks, and the cables between them; returns the index of the first. */
function addBox(builder: TopologyBuilder, box: number, gpus: number, cables: string, gbps: number, ps: number): void {
  const group = `box${box}`;
  for (let gpu = 0; gpu < gpus; gpu++) builder.addNpu(String(box * gpus + gpu), { group });
  const first = builder.indexOf(String(box * gpus)) as number;
  for (const cable of cables === "" ? [] : cables.split(" ")) {
    const [a, b, links = "1"] = cable.split(/[-*]/) as [string, string, string?];
    const rate = bandwidthFromGBps(gbps * Number(links), cable);
    builder.addDuplex(first + Number(a), first + Number(b), rate, ps);
  }
}

function ndv2(builder: TopologyBuilder, params: Params, at: At): string[] {
  const chassis = chassisOf(params, at);
  for (let box = 0; box < chassis; box++) addBox(builder, box, 8, HYBRID_CUBE_MESH, 25, 0.7 * US);
  const gpu = (box: number, local: number): number => builder.indexOf(String(8 * box + local)) as number;
  const nic = bandwidthFromGBps(12.5, "NDv2");
  if (chassis === 2) {
    for (const box of [0, 1]) builder.addLink(gpu(box, 0), gpu(1 - box, 1), nic, 1.3 * US);
    return ["the first GPU of each chassis sends to the second one of the other"];
  }
  if (chassis === 1) return ["one chassis has no way out"];
  const hub = builder.addSwitch("ib");
  for (let box = 0; box < chassis; box++) {
    builder.addLink(gpu(box, 0), hub, nic, 1.3 * US);
    builder.addLink(hub, gpu(box, 1), nic, 1.3 * US);
  }
  return ["the first GPU of each chassis sends to a switch, the second one receives from it"];
}

function dgx2(builder: TopologyBuilder, params: Params, at: At): string[] {
  const chassis = asInteger(params.chassis ?? 2, at("chassis"), 2, 2);
  for (let box = 0; box < chassis; box++) addBox(builder, box, 16, "", 0, 0);
  for (let box = 0; box < chassis; box++) {
    const hub = builder.addSwitch(`nvsw${box}`, { group: `box${box}` });
    for (let gpu = 16 * box; gpu < 16 * (box + 1); gpu++) {
      builder.addDuplex(gpu, hub, bandwidthFromGBps(125, "DGX2"), 0.35 * US);
    }
  }
  for (let odd = 1; odd < 16; odd += 2) {
    for (const box of [0, 1]) {
      builder.addLink(16 * box + odd, 16 * (1 - box) + odd - 1, bandwidthFromGBps(12.5, "DGX2"), 2.6 * US);
    }
  }
  return ["each odd GPU sends to the even one before it in the other chassis"];
}

function amd(builder: TopologyBuilder, params: Params, at: At): string[] {
  const chassis = chassisOf(params, at);
  const near = alphaPs(params, 0, at);
  for (let box = 0; box < chassis; box++) addBox(builder, box, 16, MI250, 50, near);
  if (chassis === 1) return [];
  const far = alphaPs(params, 1, at);
  const rate = bandwidthFromGBps(25, "AMD");
  const hub = builder.addSwitch("ib");
  for (let box = 0; box < chassis; box++) {
    for (let nic = 0; nic < 8; nic++) {
      const port = builder.addSwitch(`nic${box}.${nic}`, { group: `box${box}` });
      const first = builder.indexOf(String(16 * box + 2 * nic)) as number;
      for (const gpu of [first, first + 1]) builder.addDuplex(gpu, port, rate, far);
      builder.addDuplex(port, hub, rate, far);
    }
  }
  return ["all links of NICs 25 GB/s, as meant (its code gives those of the first NIC 50 GB/s)"];
}

function mesh(builder: TopologyBuilder, params: Params, at: At): string[] {
  const side = asInteger(params.side_length ?? 4, at("side_length"), 1, 1024);
  const ps = alphaPs(params, 0, at);
  const rate = bandwidthFromGBps(100, "Mesh");
  const count = side * side;
  for (let node = 0; node < count; node++) builder.addNpu(String(node));
  for (let node = 0; node < count; node++) {
    if (node + 1 < count) builder.addDuplex(node, node + 1, rate, ps);
    if (side > 1 && node + side < count) builder.addDuplex(node, node + side, rate, ps);
  }
  return ["the last node of a row is joined to the first one of the next, as in its code"];
}

type Matrices = JsonFields<"capacity" | "alpha" | "switch_indices">;

/**
 * Adds the nodes and links of TE-CCL's matrices: `capacity` [from][to] in GB/s, 0 where there is no link, `alpha` [from][to]
 * in seconds, and `switch_indices`. NPUs are named by their ranks, switches `sw0` ... Throws InputError with the place.
 */
function addTeCclMatrices(builder: TopologyBuilder, value: object, fileName: string): void {
  const fields = asObject<Matrices>(value, fileName);
  const at = (path: string): string => placeIn(fileName, path);
  const capacity = asList(fields.capacity, at("capacity"), "a square matrix");
  const count = capacity.length;
  const rows = (matrix: unknown, key: string): (readonly unknown[])[] => {
    const list = asList(matrix, at(key), `a matrix of ${count} rows`);
    if (list.length !== count) throw new InputError(at(key), `${count} rows`, inWords(`${list.length}`));
    return list.map((row, i) => {
      const cells = asList(row, at(`${key}[${i}]`), `${count} numbers`);
      if (cells.length !== count)
        throw new InputError(at(`${key}[${i}]`), `${count} numbers`, inWords(`${cells.length}`));
      return cells;
    });
  };
  const rates = rows(capacity, "capacity");
  const alphas = rows(fields.alpha, "alpha");
  const switches = new Set(
    asList(fields.switch_indices ?? [], at("switch_indices")).map((index, i) =>
      asInteger(index, at(`switch_indices[${i}]`), 0, count - 1),
    ),
  );
  let npus = 0;
  let hubs = 0;
  for (let node = 0; node < count; node++) {
    if (switches.has(node)) builder.addSwitch(`sw${hubs++}`);
    else builder.addNpu(String(npus++));
  }
  for (let from = 0; from < count; from++) {
    for (let to = 0; to < count; to++) {
      const rate = rates[from]?.[to];
      if (rate === 0) continue;
      const place = `[${from}][${to}]`;
      if (from === to) throw new InputError(at(`capacity${place}`), "0, as no node has a link to itself,", rate);
      const alpha = alphas[from]?.[to];
      const ps = typeof alpha === "number" ? Math.round(alpha * PS_PER_SECOND) : Number.NaN;
      if (!Number.isSafeInteger(ps) || ps < 0) refuse(at(`alpha${place}`), "a latency in seconds, 0 or more", alpha);
      builder.addLink(from, to, bandwidthFromGBps(rate, at(`capacity${place}`)), ps);
    }
  }
}
