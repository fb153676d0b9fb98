import { disjointSets } from "../../../model/graph/disjoint-sets.ts";
import type { GpuHost, HostLink, HostNode, Nic } from "./gpu-box.ts";
import { type DeviceMatrix, PCIE_CLASSES } from "./nvidia-smi-matrix.ts";

/** The PCIe tree that a matrix tells of. */
export interface MatrixHosts {
  readonly hosts: readonly HostNode[];
  readonly hostLinks: readonly HostLink[];
  readonly gpuHosts: readonly GpuHost[];
  readonly nics: readonly Nic[];
}

/**
 * Returns the PCIe tree behind a matrix: devices joined by PIX hang on one PCIe switch, those joined by PIX or PXB below
 * another, which hangs on a CPU by one link; PHB, NODE and equal affinities mean one CPU; CPUs are joined pairwise. A pair of GPUs with
 * NVLink does not tell its way over PCIe; it counts as one CPU where no other cell or affinity speaks against it.
 * O(devices^2), as the matrix is.
 */
export function hostsOf(matrix: DeviceMatrix, pcie: number, socket: number): MatrixHosts {
  const { devices, gpus } = matrix;
  const n = devices.length;
  const near = PCIE_CLASSES.slice(0, 3).map((limit) => joinedUpTo(matrix, PCIE_CLASSES.indexOf(limit)));
  const [pix, pxb, cpu] = near;
  joinAffinities(matrix, cpu);
  joinUndecided(matrix, cpu);

  const hosts: HostNode[] = [];
  const nodes = new Map<string, number>();
  const nodeOf = (name: string, parent: number): number => {
    const known = nodes.get(name);
    if (known !== undefined) return known;
    nodes.set(name, hosts.length);
    return hosts.push({ name, parent, bytesPerSecond: pcie }) - 1;
  };
  const cpus = new Map<number, number>();
  for (let d = 0; d < n; d++) {
    const least = cpu.least(d);
    if (!cpus.has(least)) cpus.set(least, nodeOf(`cpu${cpus.size}`, -1));
  }
  const hostOf = (d: number): number => {
    const root = cpus.get(cpu.least(d)) as number;
    return nodeOf(`pix.${devices[pix.least(d)]}`, nodeOf(`pxb.${devices[pxb.least(d)]}`, root));
  };
  const gpuHosts: GpuHost[] = [];
  const nics: Nic[] = [];
  for (let d = 0; d < n; d++) {
    const host = hostOf(d);
    if (d < gpus) gpuHosts.push({ gpu: d, host, bytesPerSecond: pcie, kind: "pcie" });
    else nics.push({ name: devices[d], host, bytesPerSecond: pcie, portBytesPerSecond: undefined });
  }
  const hostLinks: HostLink[] = [];
  for (let a = 0; a < cpus.size; a++) {
    for (let b = a + 1; b < cpus.size; b++) hostLinks.push({ a, b, bytesPerSecond: socket });
  }
  return { hosts, hostLinks, gpuHosts, nics };
}

type Sets = ReturnType<typeof disjointSets>;

/** Returns the sets of devices that ways of classes up to `limit` join. */
function joinedUpTo({ devices, cell }: DeviceMatrix, limit: number): Sets {
  const sets = disjointSets(devices.length);
  for (let a = 0; a < devices.length; a++) {
    for (let b = 0; b < a; b++) {
      const way = cell(a, b);
      if (typeof way === "string" && PCIE_CLASSES.indexOf(way) <= limit) sets.join(a, b);
    }
  }
  return sets;
}

function joinAffinities({ affinity }: DeviceMatrix, cpu: Sets): void {
  const first = new Map<string, number>();
  for (const [gpu, text] of affinity.entries()) {
    if (text === "") continue;
    const known = first.get(text);
    if (known === undefined) first.set(text, gpu);
    else cpu.join(known, gpu);
  }
}

/** Joins the CPUs of pairs with NVLink where nothing says that they are two. */
function joinUndecided({ gpus, cell, affinity }: DeviceMatrix, cpu: Sets): void {
  /** [gpus][gpus] whether members of two sets are known to be on different CPUs, at the sets' least members. */
  const apart = new Uint8Array(gpus * gpus);
  const known = (a: number, b: number): boolean =>
    cell(a, b) === "SYS" || (affinity[a] !== "" && affinity[b] !== "" && affinity[a] !== affinity[b]);
  for (let a = 0; a < gpus; a++) {
    for (let b = 0; b < gpus; b++) if (a !== b && known(a, b)) apart[cpu.least(a) * gpus + cpu.least(b)] = 1;
  }
  for (let a = 0; a < gpus; a++) {
    for (let b = 0; b < a; b++) {
      const [x, y] = [cpu.least(a), cpu.least(b)];
      if (x === y || typeof cell(a, b) !== "number" || apart[x * gpus + y] === 1) continue;
      cpu.join(a, b);
      const [to, from] = [Math.min(x, y), Math.max(x, y)];
      for (let c = 0; c < gpus; c++) {
        apart[to * gpus + c] |= apart[from * gpus + c];
        apart[c * gpus + to] |= apart[c * gpus + from];
      }
    }
  }
}
