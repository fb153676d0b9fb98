import { InputError, shown } from "../../base/errors.ts";
import type { Topology } from "../topology/topology.ts";
import { topologyBuilder } from "../topology/topology-builder.ts";
import {
  count,
  DEFAULT_BYTES_PER_SECOND,
  DEFAULT_LATENCY_PS,
  type Expression,
  perDimension,
  refuseHuge,
  sizes,
  sizesError,
} from "./expression.ts";

const FORM = "fat-tree:SxG,leaf=L,tiers=2|3,oversub=R";
const LEAVES_PER_POD = 4;
const DEFAULT_LEAF = 4;

interface Options {
  readonly servers: number;
  readonly gpus: number;
  readonly leaf: number;
  readonly tiers: 2 | 3;
  readonly oversub: number;
}

function ratio(value: string, text: string): number {
  const oversub = /^\d{1,6}(\.\d{1,6})?$/.test(value) ? Number(value) : Number.NaN;
  if (!(oversub >= 1)) throw new InputError(`oversub in ${text}`, "a number, 1 or more, such as 2", value);
  return oversub;
}

function options({ factors, text }: Expression): Options {
  const [size, ...rest] = factors[0].args.split(",").map((part) => part.trim());
  const given = sizes({ name: "fat-tree", args: size }, text);
  if (given.length !== 2) throw sizesError(text, `${FORM} (S servers of G GPUs)`, given);
  let [leaf, tiers, oversub] = [DEFAULT_LEAF, 2, 1];
  const seen = new Set<string>();
  for (const option of rest) {
    const [key, value = ""] = option.split("=").map((part) => part.trim());
    if (seen.has(key)) throw new InputError(text, `${key} once`, option).saying(`${text} has ${key} twice`);
    seen.add(key);
    if (key === "leaf") leaf = count(value, "leaf", text);
    else if (key === "tiers") tiers = count(value, "tiers", text);
    else if (key === "oversub") oversub = ratio(value, text);
    else throw new InputError(text, FORM, option).saying(`${text} has ${shown(option)}; it must be ${FORM}`);
  }
  if (tiers !== 2 && tiers !== 3) throw new InputError(`tiers in ${text}`, "2 or 3", tiers);
  return { servers: given[0], gpus: given[1], leaf, tiers, oversub };
}

/**
 * Returns a fat tree of S servers of G GPUs, GPU id = g + G*s. Each GPU has a link to its server's switch (first bandwidth)
 * and, through its NIC, one to the leaf that its server shares with L - 1 others (second bandwidth). Above the leaves stand
 * G planes: each leaf has one link to the spine of each plane; all of them together carry 1/R of the leaf's downlinks. With
 * three tiers, 4 leaves make a pod with its own G spines, and spine i of every pod has a link to core i, again 1/R of its
 * downlinks. A plane bundles the cables of one NIC position; an empty tier (one leaf, one pod, one GPU a server) is left out.
 */
export function fatTree(expression: Expression): Topology {
  const { text } = expression;
  const { servers, gpus, leaf: perLeaf, tiers, oversub } = options(expression);
  const [inside, nic] = perDimension(expression.bandwidths, 2, DEFAULT_BYTES_PER_SECOND, "bandwidth", text);
  const [insidePs, nicPs] = perDimension(expression.latencies, 2, DEFAULT_LATENCY_PS, "latency", text);
  const leaves = Math.ceil(servers / perLeaf);
  refuseHuge(4 * servers * gpus + 4 * leaves * gpus, text);

  const builder = topologyBuilder(text);
  const uplink = (down: number): number => Math.max(1, Math.round(down / oversub));
  for (let server = 0; server < servers; server++) {
    for (let g = 0; g < gpus; g++) builder.addNpu(`${server * gpus + g}`, { group: `box${server}` });
  }
  for (let server = 0; gpus > 1 && server < servers; server++) {
    const box = builder.addSwitch(`box${server}-sw`, { group: `box${server}` });
    for (let g = 0; g < gpus; g++) builder.addDuplex(server * gpus + g, box, inside, insidePs);
  }
  // one box has no NICs
  const leafNodes = Array.from({ length: servers > 1 ? leaves : 0 }, (_, i) => builder.addSwitch(`leaf${i}`));
  for (let gpu = 0; servers > 1 && gpu < servers * gpus; gpu++) {
    builder.addDuplex(gpu, leafNodes[Math.floor(gpu / (gpus * perLeaf))], nic, nicPs);
  }
  if (leafNodes.length > 1) {
    const podSize = tiers === 3 ? LEAVES_PER_POD : leaves;
    const pods = Math.ceil(leaves / podSize);
    const cores = pods > 1 ? Array.from({ length: gpus }, (_, plane) => builder.addSwitch(`core${plane}`)) : [];
    for (let pod = 0; pod < pods; pod++) {
      const first = pod * podSize;
      const last = Math.min(leaves, first + podSize);
      for (let plane = 0; plane < gpus; plane++) {
        const spine = builder.addSwitch(pods > 1 ? `pod${pod}-spine${plane}` : `spine${plane}`);
        let down = 0;
        for (let leaf = first; leaf < last; leaf++) {
          const below = Math.min(servers, (leaf + 1) * perLeaf) - leaf * perLeaf;
          const capacity = uplink(below * nic);
          builder.addDuplex(leafNodes[leaf], spine, capacity, nicPs);
          down += capacity;
        }
        if (pods > 1) builder.addDuplex(spine, cores[plane], uplink(down), nicPs);
      }
    }
  }
  return builder.build({
    shape: [gpus, servers],
    sources: [
      `fat tree: ${servers} servers of ${gpus} GPUs, ${perLeaf} servers a leaf, ${tiers} tiers, oversubscription ${oversub} a tier`,
      "leaf uplinks are bundled into one link per plane, one plane per GPU of a server (our choice: only the sum is given)",
    ],
  });
}
