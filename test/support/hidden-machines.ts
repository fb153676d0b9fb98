import type { ProbeEndpoint } from "../../src/model/probe/measurements.ts";
import type { HiddenNetwork } from "./hidden-network.ts";

/** Machines with GPUs, CPUs and NICs as public sources describe them; every figure is per direction. */
export interface Machine {
  readonly gpus: number;
  /** GPU pairs with NVLinks and how many; null: all on NVSwitches. */
  readonly nvlinks: readonly (readonly [number, number, number])[] | null;
  readonly nvlinkGBps: number;
  /** PCIe switches: what each hangs on (`cpu0`, or the name of another), its GPUs and NICs. */
  readonly switches: readonly {
    readonly name: string;
    readonly on: string;
    readonly gpus: readonly number[];
    readonly nics: readonly number[];
  }[];
  readonly nics: number;
  readonly pcieGBps: number;
  readonly betweenCpusGBps: number;
  readonly nicGBps: number;
}

/** NVLinks of eight V100 in NVIDIA's numbering (nvidia-smi topo -m). */
const CUBE_MESH: readonly (readonly [number, number, number])[] = [
  ...[
    [0, 3],
    [0, 4],
    [1, 2],
    [1, 5],
    [2, 3],
    [4, 7],
    [5, 6],
    [6, 7],
  ].map(([a, b]) => [a, b, 2]),
  ...[
    [0, 1],
    [0, 2],
    [1, 3],
    [2, 6],
    [3, 7],
    [4, 5],
    [4, 6],
    [5, 7],
  ].map(([a, b]) => [a, b, 1]),
] as [number, number, number][];

/** TACCL, section 4: two CPUs, two PCIe switches each, two GPUs each, one NIC beside GPUs 0 and 1; 46 us per MB and NVLink. */
export const NDV2: Machine = {
  gpus: 8,
  nvlinks: CUBE_MESH,
  nvlinkGBps: 22.8,
  switches: [
    { name: "plx0", on: "cpu0", gpus: [0, 1], nics: [0] },
    { name: "plx1", on: "cpu0", gpus: [2, 3], nics: [] },
    { name: "plx2", on: "cpu1", gpus: [4, 5], nics: [] },
    { name: "plx3", on: "cpu1", gpus: [6, 7], nics: [] },
  ],
  nics: 1,
  pcieGBps: 12.3,
  betweenCpusGBps: 15.5,
  nicGBps: 10,
};

/** Sixteen V100 with six NVLinks each to the NVSwitches; two levels of PCIe switches, a NIC beside each two GPUs. */
export const DGX2: Machine = {
  gpus: 16,
  nvlinks: null,
  nvlinkGBps: 22.8,
  switches: [
    ...[0, 1, 2, 3].map((r) => ({ name: `root${r}`, on: `cpu${r >> 1}`, gpus: [], nics: [] })),
    ...[0, 1, 2, 3, 4, 5, 6, 7].map((s) => ({
      name: `plx${s}`,
      on: `root${s >> 1}`,
      gpus: [2 * s, 2 * s + 1],
      nics: [s],
    })),
  ],
  nics: 8,
  pcieGBps: 12.3,
  betweenCpusGBps: 30,
  nicGBps: 10,
};

/** Links of a V100. */
const LINKS = 6;
const CPUS = 2;

/**
 * Returns `hosts` machines: GPUs of all hosts first, then each host's CPUs and NICs. GPUs send over NVLink where they have it, else over
 * PCIe; to another host through the NIC nearest to each.
 */
export function hiddenMachines(machine: Machine, hosts: number): HiddenNetwork {
  const { gpus, nics } = machine;
  const endpoints: ProbeEndpoint[] = [];
  for (let h = 0; h < hosts; h++)
    for (let g = 0; g < gpus; g++) endpoints.push({ kind: "npu", name: `h${h}g${g}`, host: `host${h}` });
  for (let h = 0; h < hosts; h++) {
    for (let c = 0; c < CPUS; c++) endpoints.push({ kind: "cpu", name: `h${h}cpu${c}`, host: `host${h}` });
    for (let k = 0; k < nics; k++) endpoints.push({ kind: "nic", name: `h${h}nic${k}`, host: `host${h}` });
  }
  const names: string[] = [];
  const capacity: number[] = [];
  const resource = (name: string, gbps: number): number => {
    const known = names.indexOf(name);
    if (known >= 0) return known;
    capacity.push(gbps * 1e9);
    return names.push(name) - 1;
  };
  /** Places from one up to the CPU: `g3`, `plx1`, `cpu0`. */
  const upFrom = (place: string): string[] => {
    const places = [place];
    for (;;) {
      const last = places[places.length - 1] as string;
      const kind = last.replace(/\d+$/, "");
      const number = Number(last.slice(kind.length));
      const on =
        kind === "g" || kind === "nic"
          ? machine.switches.find((s) => (kind === "g" ? s.gpus : s.nics).includes(number))?.name
          : machine.switches.find(({ name }) => name === last)?.on;
      if (on === undefined) return places;
      places.push(on);
    }
  };
  const pcieRoute = (h: number, from: string, to: string): { route: number[]; hops: number } => {
    const [up, down] = [upFrom(from), upFrom(to)];
    const meet = up.find((place) => down.includes(place));
    const climbing = meet === undefined ? up : up.slice(0, up.indexOf(meet) + 1);
    const falling = (meet === undefined ? down : down.slice(0, down.indexOf(meet) + 1)).reverse();
    const route: number[] = [];
    for (let i = 1; i < climbing.length; i++)
      route.push(resource(`h${h} ${climbing[i - 1]}>${climbing[i]}`, machine.pcieGBps));
    if (meet === undefined)
      route.push(resource(`h${h} ${climbing[climbing.length - 1]}>${falling[0]}`, machine.betweenCpusGBps));
    for (let i = 1; i < falling.length; i++)
      route.push(resource(`h${h} ${falling[i - 1]}>${falling[i]}`, machine.pcieGBps));
    return { route, hops: route.length + (meet === undefined ? 2 : 0) };
  };
  const nicOf = (g: number): string => {
    for (const place of upFrom(`g${g}`).slice(1)) {
      const own = machine.switches.find(({ name }) => name === place);
      if (own !== undefined && own.nics.length > 0) return `nic${own.nics[0]}`;
    }
    return "nic0";
  };
  const count = endpoints.length;
  const routes: number[][] = [];
  const latencyS = new Float64Array(count * count);
  const placeOf = (i: number): string => (endpoints[i] as ProbeEndpoint).name.replace(/^h\d+/, "");
  const hostOf = (i: number): number => Number(/^h(\d+)/.exec((endpoints[i] as ProbeEndpoint).name)?.[1]);
  for (let a = 0; a < count; a++) {
    for (let b = 0; b < count; b++) {
      const [from, to, h, k] = [placeOf(a), placeOf(b), hostOf(a), hostOf(b)];
      const [g, j] = [Number(from.slice(1)), Number(to.slice(1))];
      const both = from.startsWith("g") && to.startsWith("g");
      if (a === b || (h !== k && !both)) {
        routes.push([]);
        continue;
      }
      if (h !== k) {
        const out = pcieRoute(h, from, nicOf(g));
        const into = pcieRoute(k, nicOf(j), to);
        routes.push([
          ...out.route,
          resource(`h${h} ${nicOf(g)} out`, machine.nicGBps),
          resource(`h${k} ${nicOf(j)} in`, machine.nicGBps),
          ...into.route,
        ]);
        latencyS[a * count + b] = (4 + 0.25 * (out.hops + into.hops)) * 1e-6;
        continue;
      }
      if (both && machine.nvlinks === null) {
        const rate = LINKS * machine.nvlinkGBps;
        routes.push([resource(`h${h} ${from} nvlink out`, rate), resource(`h${h} ${to} nvlink in`, rate)]);
        latencyS[a * count + b] = 1.2e-6;
        continue;
      }
      const link = machine.nvlinks?.find(([x, y]) => (x === g && y === j) || (x === j && y === g));
      if (both && link !== undefined) {
        routes.push([resource(`h${h} ${from}>${to}`, link[2] * machine.nvlinkGBps)]);
        latencyS[a * count + b] = 0.9e-6;
        continue;
      }
      const { route, hops } = pcieRoute(h, from, to);
      routes.push(route);
      latencyS[a * count + b] = (1.2 + 0.25 * hops) * 1e-6;
    }
  }
  return { endpoints, names, capacity, routes, latencyS };
}

const pairsOf = (text: string): [number, number][] =>
  text.split(" ").map((pair) => pair.split("-").map(Number) as [number, number]);

/** Pairs with two NVLinks and with one in TACCL's numbering of an NDv2 (its topology `NDv2`). */
export const TACCL_DOUBLES = pairsOf("0-1 0-4 1-3 2-3 2-6 4-5 5-7 6-7");
export const TACCL_SINGLES = pairsOf("0-2 0-3 1-2 1-5 3-7 4-6 4-7 5-6");
