import { InputError } from "../../base/errors.ts";
import { bandwidthFromGBps, latencyFromUs } from "../numbers/units.ts";
import type { Topology } from "../topology/topology.ts";
import { topologyBuilder } from "../topology/topology-builder.ts";
import { refuseHuge } from "./expression.ts";

/** Cable between two nodes of a box: local indices, GB/s each way, its latency where it is not the box's. */
export type Cable = readonly [a: number, b: number, gbps: number, latencyUs?: number];

/** How boxes are joined; every figure is per link and direction. */
export interface ScaleOut {
  /**
   * `rails`: GPU g of each box has a link to leaf floor(g / gpusPerRail). `one`: every GPU has a link to one switch.
   * `shared-nic`: all GPUs of a box reach its only NIC over PCIe; the NICs have a link to one switch.
   */
  readonly wiring: "rails" | "one" | "shared-nic";
  readonly gbps: number;
  readonly latencyUs: number;
  readonly gpusPerRail?: number;
  readonly pcie?: { readonly gbps: number; readonly latencyUs: number };
}

/** A box of GPUs with its wiring, and how several of them are joined. Figures per link and direction. */
export interface Box {
  readonly gpus: number;
  readonly latencyUs: number;
  /** Every GPU has a link to the box's NVSwitch. */
  readonly nvswitch?: { readonly gbps: number; readonly inNetwork: boolean };
  /** Direct links; an index from `gpus` on is one of `switches`. */
  readonly cables?: readonly Cable[];
  /** Names of further switches of the box. */
  readonly switches?: readonly string[];
  /** Absent where no scale-out figure is known: then there is one box only. */
  readonly scaleOut?: ScaleOut;
  /** Where the figures come from. */
  readonly sources: readonly string[];
}

/**
 * Returns `boxes` boxes, GPU id = g + gpus*box, group `box0` ...; switches `nvsw0` (one a box), `nic0`, `rail0` or `ib`.
 * One box has no NICs. The shape is [gpus, boxes] (or [gpus]). Throws InputError for more boxes than the platform has.
 */
export function boxTopology(name: string, box: Box, boxes: number): Topology {
  const { gpus, nvswitch, cables = [], scaleOut } = box;
  if (boxes > 1 && scaleOut === undefined) throw new InputError(name, "one box (no scale-out network is known)", boxes);
  refuseHuge(boxes * (4 * gpus + 2 * cables.length + 2), name);
  const builder = topologyBuilder(name);
  const links = (a: number, b: number, gbps: number, us: number): void =>
    builder.addDuplex(a, b, bandwidthFromGBps(gbps, name), latencyFromUs(us, name));

  const traits = Array.from({ length: boxes }, (_, b) => ({ group: `box${b}` }));
  builder.addNumberedNpus(boxes * gpus, (npu) => traits[Math.floor(npu / gpus)]);
  for (let b = 0; b < boxes; b++) {
    const group = `box${b}`;
    const inner = (box.switches ?? []).map((label) =>
      builder.addSwitch(boxes > 1 ? `${label}-${group}` : label, { group }),
    );
    const node = (local: number): number => (local < gpus ? b * gpus + local : inner[local - gpus]);
    for (const [from, to, gbps, us = box.latencyUs] of cables) links(node(from), node(to), gbps, us);
    if (nvswitch === undefined) continue;
    const able = nvswitch.inNetwork ? { multicast: true, aggregation: true } : {};
    const hub = builder.addSwitch(`nvsw${b}`, { group, ...able });
    for (let g = 0; g < gpus; g++) links(b * gpus + g, hub, nvswitch.gbps, box.latencyUs);
  }

  if (boxes > 1 && scaleOut !== undefined) {
    const { wiring, gbps, latencyUs, gpusPerRail = 1, pcie } = scaleOut;
    const railCount = wiring === "rails" ? gpus / gpusPerRail : 1;
    const leaves = Array.from({ length: railCount }, (_, i) =>
      builder.addSwitch(wiring === "rails" ? `rail${i}` : "ib"),
    );
    for (let b = 0; b < boxes; b++) {
      const nic = wiring === "shared-nic" ? builder.addSwitch(`nic${b}`, { group: `box${b}` }) : -1;
      for (let g = 0; g < gpus; g++) {
        if (nic >= 0 && pcie !== undefined) links(b * gpus + g, nic, pcie.gbps, pcie.latencyUs);
        else links(b * gpus + g, leaves[wiring === "rails" ? Math.floor(g / gpusPerRail) : 0], gbps, latencyUs);
      }
      if (nic >= 0) links(nic, leaves[0], gbps, latencyUs);
    }
  }
  return builder.build({ shape: boxes > 1 ? [gpus, boxes] : [gpus], sources: box.sources });
}

/** Returns the cables of a full mesh of `gpus` GPUs, without the pairs in `except` (written `a-b`, a < b). */
export function fullMesh(gpus: number, gbps: number, except: readonly string[] = []): Cable[] {
  const cables: Cable[] = [];
  for (let a = 0; a < gpus; a++) {
    for (let b = a + 1; b < gpus; b++) if (!except.includes(`${a}-${b}`)) cables.push([a, b, gbps]);
  }
  return cables;
}

/** Returns cables from a list such as `0-3 0-4*2`: `*n` = n links of `gbps` in one cable. */
export function cableList(list: string, gbps: number): Cable[] {
  return list.split(" ").map((text): Cable => {
    const [ends, links = "1"] = text.split("*");
    const [a, b] = ends.split("-").map(Number);
    return [a, b, Number(links) * gbps];
  });
}
