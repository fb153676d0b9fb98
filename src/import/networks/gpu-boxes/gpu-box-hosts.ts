import type { GpuBox, GpuHost, HostLink, HostNode, Nic } from "./gpu-box.ts";

/** The part of a box's PCIe tree that carries traffic between GPUs and the NICs in use. */
export interface HostPart {
  readonly hosts: readonly HostNode[];
  readonly hostLinks: readonly HostLink[];
  readonly gpuHosts: readonly GpuHost[];
  readonly nics: readonly Nic[];
}

/**
 * Returns the box's PCIe switches and CPUs less those that make no choice: without a GPU or NIC below, or, other than CPUs,
 * with a single one (the slower of its two links stays), and a last CPU with one child. `nics` are those in use.
 * O(hosts + GPUs + links).
 */
export function usefulHosts(box: GpuBox, nics: readonly Nic[]): HostPart {
  const { hosts } = box;
  const below = new Int32Array(hosts.length);
  for (const { host } of box.gpuHosts) below[host]++;
  for (const { host } of nics) below[host]++;
  const linked = new Uint8Array(hosts.length);
  for (const { a, b } of box.hostLinks) if (hosts[a].parent >= 0 || hosts[b].parent >= 0) linked[a] = linked[b] = 1;
  const hostsBelow = new Int32Array(hosts.length);
  for (let h = hosts.length - 1; h >= 0; h--) {
    const { parent } = hosts[h];
    if (parent < 0 || (below[h] === 0 && linked[h] === 0)) continue;
    below[parent]++;
    hostsBelow[parent]++;
  }
  const roots = hosts.filter(({ parent }, h) => parent < 0 && below[h] > 0).length;

  /** For each host the kept one that stands for it (-1: none) and the slowest link on the way up to that. */
  const stand = new Int32Array(hosts.length).fill(-1);
  const slowest = new Float64Array(hosts.length).fill(Infinity);
  const kept: HostNode[] = [];
  for (const [h, { name, parent, bytesPerSecond }] of hosts.entries()) {
    if (below[h] === 0 && linked[h] === 0) continue;
    const up = parent < 0 ? -1 : stand[parent];
    const narrow = parent < 0 ? Infinity : Math.min(bytesPerSecond, slowest[parent]);
    const top = up < 0 && (roots > 1 || below[h] > hostsBelow[h]);
    if (below[h] > 1 || linked[h] === 1 || top) {
      stand[h] = kept.push({ name, parent: up, bytesPerSecond: narrow }) - 1;
    } else {
      stand[h] = up;
      slowest[h] = up < 0 ? Infinity : narrow;
    }
  }
  const narrowed = (host: number, bytesPerSecond: number): number => Math.min(bytesPerSecond, slowest[host]);
  return {
    hosts: kept,
    hostLinks: box.hostLinks
      .map(({ a, b, bytesPerSecond }) => ({ a: stand[a], b: stand[b], bytesPerSecond }))
      .filter(({ a, b }) => a >= 0 && b >= 0 && a !== b),
    gpuHosts: box.gpuHosts.map((port) => ({
      ...port,
      host: stand[port.host],
      bytesPerSecond: narrowed(port.host, port.bytesPerSecond),
    })),
    nics: nics.map((nic) => ({
      ...nic,
      host: stand[nic.host],
      bytesPerSecond: narrowed(nic.host, nic.bytesPerSecond),
    })),
  };
}

/** NICs, each with the GPUs that use it. */
export interface NicUse {
  readonly nic: Nic;
  readonly gpus: readonly number[];
}

/**
 * Returns which NICs the GPUs use: a GPU's are those nearest in the tree (under the lowest PCIe switch above it that has
 * any, else its CPU's, else all); GPUs with the same choice share it evenly, neighbours together. O((GPUs + NICs) x depth).
 */
export function nicUses(box: GpuBox): NicUse[] {
  const { hosts, nics } = box;
  const under = new Map<number, number[]>();
  for (const [i, nic] of nics.entries()) {
    for (let h = nic.host; h >= 0; h = hosts[h].parent) {
      const list = under.get(h);
      if (list === undefined) under.set(h, [i]);
      else list.push(i);
    }
  }
  /** GPUs by the host whose NICs they use; -1: all. */
  const sharers = new Map<number, number[]>();
  const done = new Uint8Array(box.gpus);
  for (const { gpu, host } of box.gpuHosts) {
    if (done[gpu] === 1) continue;
    done[gpu] = 1;
    let h = host;
    while (h >= 0 && !under.has(h)) h = hosts[h].parent;
    const list = sharers.get(h);
    if (list === undefined) sharers.set(h, [gpu]);
    else list.push(gpu);
  }
  const users: number[][] = nics.map(() => []);
  for (const [host, gpus] of sharers) {
    const choice = under.get(host) ?? [...nics.keys()];
    const [m, n] = [gpus.length, choice.length];
    if (n >= m) for (const [i, nic] of choice.entries()) users[nic].push(gpus[Math.floor((i * m) / n)]);
    else for (const [g, gpu] of gpus.entries()) users[choice[Math.floor((g * n) / m)]].push(gpu);
  }
  return nics.map((nic, i) => ({ nic, gpus: users[i] })).filter(({ gpus }) => gpus.length > 0);
}
