import { BYTES_PER_GB } from "../../../model/numbers/units.ts";
import { integerAttribute, type XmlElement } from "../../text/xml.ts";

/** Figures of PCIe and of CPUs as NCCL counts them (NCCL's topo.cc, topo.h). */

/** 100 Mb/s of a lane, by GT/s. */
const LANES: ReadonlyMap<number, number> = new Map([
  [2.5, 15],
  [5, 30],
  [8, 60],
  [16, 120],
  [32, 240],
  [64, 480],
]);
const USUAL_LANE = 60;
const USUAL_WIDTH = 16;

/** A link of a PCI device. */
export interface PciLink {
  readonly bytesPerSecond: number;
  /** The file gives both speed and width. */
  readonly told: boolean;
}

/**
 * Returns the link of a <pci> element: "16 GT/s", "16.0 GT/s PCIe" ... times lanes; as NCCL, 8 GT/s for a speed of no known
 * generation and 16 lanes where the width is 0 or absent. Throws InputError for a width that is no number.
 */
export function pciLink(element: XmlElement, fileName: string): PciLink {
  const speed = /^\s*(\d+(?:\.\d+)?)\s*GT\/s/i.exec(element.attributes.get("link_speed") ?? "");
  const lane = speed === null ? undefined : LANES.get(Number(speed[1]));
  const hasWidth = (element.attributes.get("link_width") ?? "").trim() !== "";
  const width = hasWidth ? integerAttribute(element, "link_width", fileName, [0, 64]) : 0;
  return {
    bytesPerSecond: ((width === 0 ? USUAL_WIDTH : width) * (lane ?? USUAL_LANE) * BYTES_PER_GB) / 80,
    told: lane !== undefined && width > 0,
  };
}

/** Returns what stands between two CPUs like this one: bytes per second, and the name of the kind. */
export function socketOf({ attributes }: XmlElement): { readonly bytesPerSecond: number; readonly kind: string } {
  const arch = attributes.get("arch") ?? "";
  const vendor = attributes.get("vendor") ?? "";
  const family = Number(attributes.get("familyid"));
  const model = Number(attributes.get("modelid"));
  const of = (gbps: number, kind: string) => ({ bytesPerSecond: gbps * BYTES_PER_GB, kind });
  if (/^ppc/i.test(arch)) return of(32, "POWER9");
  if (/^(arm|aarch)/i.test(arch)) return of(6, "Arm");
  if (vendor === "AuthenticAMD") return of(16, "AMD");
  if (vendor === "CentaurHauls" || vendor.trim() === "Shanghai")
    return of(family === 7 && model === 0x5b ? 9 : 6, "Zhaoxin");
  if (vendor === "GenuineIntel" && family === 6) {
    if (model >= 0xcf) return of(40, "Intel Emerald Rapids");
    if (model >= 0x8f) return of(22, "Intel Sapphire Rapids");
    if (model >= 0x55) return of(10, "Intel Skylake");
  }
  return of(6, vendor === "GenuineIntel" ? "Intel Broadwell" : "unknown CPU");
}
