import { InputError } from "../../../base/errors.ts";
import { BYTES_PER_GB } from "../../../model/numbers/units.ts";
import { integerAttribute, type XmlElement, xmlPlace } from "../../text/xml.ts";
import type { TopologyOptions } from "../topology-options.ts";
import type { HostLink, HostNode, Nic } from "./gpu-box.ts";
import { counted } from "./gpu-figures.ts";

/** A GPU of the file: its <pci> and, where there is one, its <gpu>. */
export interface GpuElement {
  readonly pci: XmlElement;
  readonly gpu: XmlElement | null;
  readonly busid: string;
  readonly machine: number;
  readonly host: number;
  /** The CPU above it. */
  readonly cpu: number;
  /** Of its PCIe. */
  readonly bytesPerSecond: number;
}

/** What the file has, in its order. */
export interface Devices {
  readonly gpus: readonly GpuElement[];
  readonly hosts: readonly HostNode[];
  readonly hostLinks: readonly HostLink[];
  readonly nics: readonly Nic[];
  readonly machines: number;
  readonly notes: readonly string[];
}

const MOST_GPUS = 8192;
const MOST_CPUS = 512;
/** What NCCL counts within a device. */
const LOCAL_BYTES_PER_SECOND = 5000 * BYTES_PER_GB;
const GPU_CLASS = /^0x(0300|0302|0380|1200)/i;
const NIC_CLASS = /^0x02/i;

/** Returns a bus id in one form: small letters, a domain of eight digits. */
export function plainBusid(text: string): string {
  const parts = text.trim().toLowerCase().split(":");
  return parts.length < 3
    ? parts.join(":")
    : [parts[0].replace(/^0+/, "").padStart(8, "0"), ...parts.slice(1)].join(":");
}

/**
 * Returns GPUs, NICs and the PCIe tree of a <system>; bandwidths as NCCL counts them, or as --assume says. A <pci> without
 * <gpu> is a GPU where its class says so and the file has no <gpu> at all. Throws InputError with the line. O(elements +
 * CPUs^2 of a machine).
 */
export function devicesOf(system: XmlElement, fileName: string, options: TopologyOptions): Devices {
  const hosts: HostNode[] = [];
  const gpus: GpuElement[] = [];
  const nics: Nic[] = [];
  const hostLinks: HostLink[] = [];
  const names = new Map<string, number>();
  const bridges = new Map<string, number>();
  const pciLinks: { readonly host: number; readonly target: string }[] = [];
  let untold = 0;

  /** Returns the name, or with a number behind it where it was used before. */
  const fresh = (name: string): string => {
    const times = names.get(name) ?? 0;
    names.set(name, times + 1);
    return times === 0 ? name : `${name}.${times}`;
  };
  const rateOf = (pci: XmlElement): number => {
    const { bytesPerSecond, told } = pciLink(pci, fileName);
    if (!told) untold++;
    return options.bandwidth?.pcie ?? bytesPerSecond;
  };
  const addNics = (nic: XmlElement, host: number, bytesPerSecond: number): void => {
    for (const net of nic.children) {
      if (net.name !== "net") continue;
      const megabits = Number(net.attributes.get("speed"));
      const portBytesPerSecond = megabits >= 1 && megabits <= 1e9 ? Math.round(megabits * 125_000) : undefined;
      nics.push({ name: fresh(net.attributes.get("name") || "nic"), host, bytesPerSecond, portBytesPerSecond });
    }
  };
  const addPci = (pci: XmlElement, host: number, cpu: number, machine: number): void => {
    const bytesPerSecond = rateOf(pci);
    const busid = plainBusid(pci.attributes.get("busid") ?? "");
    const kind = pci.attributes.get("class") ?? "";
    const gpu = pci.children.find(({ name }) => name === "gpu") ?? null;
    if (gpu !== null || (GPU_CLASS.test(kind) && pci.children.length === 0)) {
      gpus.push({ pci, gpu, busid, machine, host, cpu, bytesPerSecond });
      return;
    }
    const nic = pci.children.filter(({ name }) => name === "nic");
    for (const part of nic) addNics(part, host, bytesPerSecond);
    if (nic.length === 0 && NIC_CLASS.test(kind)) {
      nics.push({
        name: fresh(`nic.${pci.attributes.get("busid")}`),
        host,
        bytesPerSecond,
        portBytesPerSecond: undefined,
      });
    }
    if (nic.length > 0 || NIC_CLASS.test(kind)) return;
    const bridge = hosts.push({ name: fresh(`pci.${pci.attributes.get("busid")}`), parent: host, bytesPerSecond }) - 1;
    bridges.set(`${machine} ${busid}`, bridge);
    for (const child of pci.children) {
      if (child.name === "pci") addPci(child, bridge, cpu, machine);
      const target = child.name === "pcilink" ? child.attributes.get("target") : undefined;
      if (target !== undefined) pciLinks.push({ host: bridge, target: `${machine} ${plainBusid(target)}` });
    }
  };

  const machines = new Map<string, { readonly id: number; readonly cpus: { host: number; element: XmlElement }[] }>();
  for (const cpu of system.children) {
    if (cpu.name !== "cpu") continue;
    const hash = cpu.attributes.get("host_hash") ?? "";
    const machine = machines.get(hash) ?? { id: machines.size, cpus: [] };
    machines.set(hash, machine);
    const host =
      hosts.push({ name: fresh(`cpu${cpu.attributes.get("numaid") ?? ""}`), parent: -1, bytesPerSecond: 1 }) - 1;
    machine.cpus.push({ host, element: cpu });
    if (machine.cpus.length > MOST_CPUS) {
      throw new InputError(xmlPlace(fileName, cpu), `at most ${MOST_CPUS} <cpu> of a host`, machine.cpus.length);
    }
    for (const child of cpu.children) {
      if (child.name === "pci") addPci(child, host, host, machine.id);
      else if (child.name === "nic") addNics(child, host, LOCAL_BYTES_PER_SECOND);
    }
  }
  const withGpu = gpus.filter(({ gpu }) => gpu !== null);
  const found = withGpu.length > 0 ? withGpu : gpus;
  if (found.length === 0) throw new InputError(fileName, "GPUs in the topology: <gpu>, or <pci> of a GPU's class,");
  if (found.length > MOST_GPUS) throw new InputError(fileName, `at most ${MOST_GPUS} GPUs`, found.length);
  joinPciLinks(pciLinks, bridges, hostLinks);
  const kinds = joinCpus([...machines.values()], options, hostLinks);
  const notes = ["PCIe: GT/s x lanes as NCCL counts them, 16 GT/s x 16 = 24 GB/s"];
  if (untold > 0)
    notes.push(`${counted(untold, "device")} without speed or lanes: 8 GT/s, 16 lanes, as NCCL takes them`);
  if (options.bandwidth?.pcie !== undefined) notes.splice(0, notes.length, "PCIe: as --assume says");
  if (kinds.size > 0) notes.push(`CPU to CPU: ${[...kinds].join(", ")}`);
  return { gpus: found, hosts, hostLinks, nics, machines: machines.size, notes };
}

/** Adds the links that <pcilink> names: parts of one PCIe switch. */
function joinPciLinks(
  links: readonly { readonly host: number; readonly target: string }[],
  bridges: ReadonlyMap<string, number>,
  hostLinks: HostLink[],
): void {
  const seen = new Set<string>();
  for (const { host, target } of links) {
    const other = bridges.get(target);
    if (other === undefined || other === host) continue;
    const [a, b] = [Math.min(host, other), Math.max(host, other)];
    if (seen.has(`${a} ${b}`)) continue;
    seen.add(`${a} ${b}`);
    hostLinks.push({ a, b, bytesPerSecond: LOCAL_BYTES_PER_SECOND });
  }
}

/** Adds a link between any two CPUs of a machine; returns the words for them. */
function joinCpus(
  machines: readonly { readonly cpus: readonly { readonly host: number; readonly element: XmlElement }[] }[],
  options: TopologyOptions,
  hostLinks: HostLink[],
): Set<string> {
  const kinds = new Set<string>();
  for (const { cpus } of machines) {
    for (let i = 0; i < cpus.length; i++) {
      const { bytesPerSecond, kind } = socketOf(cpus[i].element);
      const rate = options.bandwidth?.socket ?? bytesPerSecond;
      const why =
        options.bandwidth?.socket === undefined ? `as NCCL counts for ${kind} (--assume socket=)` : "as --assume says";
      for (let j = 0; j < i; j++) {
        kinds.add(`${rate / BYTES_PER_GB} GB/s ${why}`);
        hostLinks.push({ a: cpus[j].host, b: cpus[i].host, bytesPerSecond: rate });
      }
    }
  }
  return kinds;
}

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
interface PciLink {
  readonly bytesPerSecond: number;
  /** The file gives both speed and width. */
  readonly told: boolean;
}

/**
 * Returns the link of a <pci> element: "16 GT/s", "16.0 GT/s PCIe" ... times lanes; as NCCL, 8 GT/s for a speed of no known
 * generation and 16 lanes where the width is 0 or absent. Throws InputError for a width that is no number.
 */
function pciLink(element: XmlElement, fileName: string): PciLink {
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
function socketOf({ attributes }: XmlElement): { readonly bytesPerSecond: number; readonly kind: string } {
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
