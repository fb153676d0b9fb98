import { median } from "../model/numbers/median.ts";
import type { ProbeEndpoint, ProbeFlow } from "../model/probe/measurements.ts";
import { type Asking, together } from "./asking.ts";
import { equalsAmong } from "./equals.ts";
import type { FoundMachine, PcieSwitch } from "./machine.ts";
import { noteAlone, type PairFigures } from "./pairs.ts";
import type { Fabric } from "./segments.ts";
import { type Figure, type Wiring, wiringOf } from "./wiring.ts";

const REPEATS = 15;
/** Links within a machine but NVLinks. */
const INSIDE = ["pcie", "cpu"] as const;

/** The NIC that each GPU sends and receives through to other machines: [endpoints], -1 where it has none. */
export function nicsOfGpus(machines: readonly FoundMachine[], endpoints: number): Int32Array {
  const nicOf = new Int32Array(endpoints).fill(-1);
  for (const { gpus, nics, switches } of machines) {
    for (const gpu of gpus) {
      const own = switches.find((one) => one.gpus.includes(gpu));
      const inner = own?.inner.find((one) => one.gpus.includes(gpu));
      const near = [
        inner?.nics ?? [],
        own?.nics ?? [],
        switches.filter(({ cpu }) => cpu === own?.cpu).flatMap((s) => s.nics),
        nics,
      ];
      const choice = near.find((list) => list.length > 0) ?? [];
      const mates = (inner ?? own)?.gpus ?? [gpu];
      if (choice.length > 0) nicOf[gpu] = choice[mates.indexOf(gpu) % choice.length];
    }
  }
  return nicOf;
}

/** Measures what a GPU of each NIC reaches to another machine, both ways: an experiment per ordered pair of machines. */
export async function askBetween(
  asking: Asking,
  figures: PairFigures,
  machines: readonly FoundMachine[],
): Promise<void> {
  const nicOf = nicsOfGpus(machines, figures.endpoints);
  const first = ({ gpus, nics }: FoundMachine): number[] =>
    nics.length === 0 ? gpus.slice(0, 1) : nics.flatMap((nic) => gpus.filter((gpu) => nicOf[gpu] === nic).slice(0, 1));
  const pairs = machines.flatMap((a) => machines.filter((b) => b !== a).map((b) => [first(a), first(b)]));
  const experiments = pairs.map(([from, to]) =>
    together(
      from.slice(0, to.length).map((source, i) => ({ source, target: to[i] })),
      figures.bytes,
      REPEATS,
    ),
  );
  for (const { experiment, taken } of await asking.ask(experiments))
    for (const [i, flow] of experiment.flows.entries()) noteAlone(figures, flow, taken[i]);
}

/** Returns how the insides of machines and what joins them are wired, with figures of equal ones put together. */
export function machineWiring(
  endpoints: readonly ProbeEndpoint[],
  figures: PairFigures,
  machines: readonly FoundMachine[],
  nvlinks: readonly Fabric[],
): { wiring: Wiring; ways: (readonly number[] | null)[] } {
  const n = figures.endpoints;
  const rate = (source: number, target: number): number => figures.rate[source * n + target];
  const latency = (source: number, target: number): number => figures.latencyS[source * n + target];
  const wiring = wiringOf(endpoints);
  const ways: (readonly number[] | null)[] = Array.from({ length: n * n }, () => null);
  for (let i = 0; i < n; i++) ways[i * n + i] = [];
  const nicOf = nicsOfGpus(machines, n);
  const pcieRates: number[] = [];
  const pcieErrors: number[] = [];
  const seen = new Map<string, number>();
  /** Notes a rate of PCIe under a key; equal ones are put together below. */
  const note = (key: string, value: number, error: number): void => {
    seen.set(key, pcieRates.push(value) - 1);
    pcieErrors.push(error);
  };
  const cpuOf = (machine: FoundMachine, gpu: number): number =>
    machine.switches.find(({ gpus }) => gpus.includes(gpu))?.cpu ?? machine.cpus[0];
  const nicCpu = (machine: FoundMachine, nic: number): number =>
    machine.switches.find(({ nics }) => nics.includes(nic))?.cpu ?? machine.cpus[0];
  for (const machine of machines) {
    for (const [one, cpu] of [
      ...machine.gpus.map((gpu) => [gpu, cpuOf(machine, gpu)]),
      ...machine.nics.map((nic) => [nic, nicCpu(machine, nic)]),
    ]) {
      note(`${one} up`, rate(one, cpu), figures.rateError[one * n + cpu]);
      note(`${one} down`, rate(cpu, one), figures.rateError[cpu * n + one]);
    }
    for (const [s, { gpus, up, down }] of machine.switches.entries()) {
      const error = 0.01 / Math.sqrt(gpus.length);
      note(`${machine.host} ${s} up`, up, up * error);
      note(`${machine.host} ${s} down`, down, down * error);
    }
  }
  const equal = equalsAmong(pcieRates, pcieErrors);
  const known = (key: string): Figure => {
    const one = equal.classOf[seen.get(key) as number];
    return { bytesPerSecond: equal.value[one], error: equal.error[one] };
  };
  const usualPort: Figure = {
    bytesPerSecond: median(pcieRates),
    error: median(pcieErrors),
  };
  const hosts = machines.length;
  const nicRates = outsideRates(figures, machines, nicOf);
  const middle = hosts > 1 ? wiring.addSwitch("ib") : -1;
  const nodes = new Map<number, number>();
  for (const machine of machines) {
    const { host } = machine;
    const label = (text: string): string => (hosts > 1 ? `${text}-${host}` : text);
    for (const [c, cpu] of machine.cpus.entries()) nodes.set(cpu, wiring.addSwitch(label(`cpu${c}`), host));
    for (const [k, nic] of machine.nics.entries()) nodes.set(nic, wiring.addSwitch(label(`nic${k}`), host));
    const nodeOf = (endpoint: number): number => nodes.get(endpoint) ?? endpoint;
    const hop = hopLatency(figures, machine);
    const join = (low: number, high: number, up: Figure, down: Figure): void => {
      wiring.addLink("pcie", low, high, up, hop);
      wiring.addLink("pcie", high, low, down, hop);
    };
    let plx = 0;
    for (const [s, one] of machine.switches.entries()) {
      const top = wiring.addSwitch(label(`pcie${plx++}`), host);
      join(top, nodeOf(one.cpu), known(`${host} ${s} up`), known(`${host} ${s} down`));
      for (const { members, place } of placesOf(one)) {
        const below = place < 0 ? top : wiring.addSwitch(label(`pcie${plx++}`), host);
        if (place >= 0) join(below, top, usualPort, usualPort);
        for (const member of members) join(nodeOf(member), below, known(`${member} up`), known(`${member} down`));
      }
    }
    if (machine.cpus.length === 2 && Number.isFinite(machine.betweenCpus)) {
      const [a, b] = machine.cpus.map(nodeOf);
      const figure = { bytesPerSecond: machine.betweenCpus, error: machine.betweenCpus * 0.01 };
      wiring.addLink("cpu", a, b, figure, hop);
      wiring.addLink("cpu", b, a, figure, hop);
    }
    if (middle < 0) continue;
    const outside = machine.nics.length > 0 ? machine.nics : [];
    for (const nic of outside) {
      const figure = nicRates.get(nic);
      if (figure === undefined) continue;
      const far = farLatency(figures, machines, hop);
      wiring.addLink("nic", nodeOf(nic), middle, figure.out, far);
      wiring.addLink("nic", middle, nodeOf(nic), figure.in, far);
    }
  }
  const fast = new Set<number>();
  addNvlinks(wiring, endpoints, figures, nvlinks, hosts, ways, fast);
  for (let a = 0; a < n; a++) {
    for (let b = 0; b < n; b++) {
      if (a === b || fast.has(a * n + b) || Number.isNaN(latency(a, b))) continue;
      const [from, to] = [nodes.get(a) ?? a, nodes.get(b) ?? b];
      if (endpoints[a].host === endpoints[b].host) ways[a * n + b] = wiring.treeWay(from, to, INSIDE);
      else if (nicOf[a] >= 0 && nicOf[b] >= 0) {
        const [x, y] = [nodes.get(nicOf[a]) as number, nodes.get(nicOf[b]) as number];
        const parts = [wiring.treeWay(from, x, INSIDE), wiring.treeWay(x, y, ["nic"]), wiring.treeWay(y, to, INSIDE)];
        ways[a * n + b] = parts.includes(null) ? null : parts.flatMap((part) => part as readonly number[]);
      }
    }
  }
  return { wiring, ways };
}

/** Returns the endpoints right below a switch (place -1), and those below each further switch. */
function placesOf({ gpus, nics, inner }: PcieSwitch): { members: number[]; place: number }[] {
  const deeper = new Set(inner.flatMap((one) => [...one.gpus, ...one.nics]));
  return [
    { members: [...gpus, ...nics].filter((one) => !deeper.has(one)), place: -1 },
    ...inner.map((one, place) => ({ members: [...one.gpus, ...one.nics], place })),
  ];
}

/** Returns what NICs send and receive at most, from GPUs of theirs alone. */
function outsideRates(
  { rate, rateError, endpoints: n }: PairFigures,
  machines: readonly FoundMachine[],
  nicOf: Int32Array,
) {
  const flows: { p: number; from: number; to: number }[] = [];
  const gpus = machines.flatMap((machine, m) => machine.gpus.map((gpu) => [gpu, m]));
  for (const [a, m] of gpus)
    for (const [b, k] of gpus)
      if (m !== k && !Number.isNaN(rate[a * n + b])) flows.push({ p: a * n + b, from: nicOf[a], to: nicOf[b] });
  const equal = equalsAmong(
    flows.map(({ p }) => rate[p]),
    flows.map(({ p }) => rateError[p]),
  );
  const best = (own: (flow: (typeof flows)[number]) => boolean): Figure | null => {
    const classes = flows.flatMap((flow, i) => (own(flow) ? [equal.classOf[i]] : []));
    if (classes.length === 0) return null;
    const most = Math.max(...classes);
    return { bytesPerSecond: equal.value[most], error: equal.error[most] };
  };
  const found = new Map<number, { out: Figure; in: Figure }>();
  for (const nic of machines.flatMap(({ nics }) => nics)) {
    const out = best(({ from }) => from === nic);
    const into = best(({ to }) => to === nic);
    if (out !== null || into !== null) found.set(nic, { out: (out ?? into) as Figure, in: (into ?? out) as Figure });
  }
  return found;
}
/** Returns the latency of a hop of PCIe: half of a copy to the nearest CPU. */
function hopLatency({ latencyS, endpoints: n }: PairFigures, { switches }: FoundMachine): number {
  return median(switches.flatMap(({ cpu, gpus }) => gpus.map((gpu) => latencyS[gpu * n + cpu]))) / 2;
}

/** Returns the latency from a NIC to the switch between machines: half of what is left of the nearest pair. */
function farLatency({ latencyS, endpoints: n }: PairFigures, machines: readonly FoundMachine[], hop: number): number {
  const [a, b] = machines;
  const least = Math.min(...a.gpus.flatMap((x) => b.gpus.map((y) => latencyS[x * n + y])));
  return Math.max(0, (least - 4 * hop) / 2);
}

/** Adds NVLinks: direct ones, and a switch for those that meet in ports; notes their ways. */
function addNvlinks(
  wiring: Wiring,
  endpoints: readonly ProbeEndpoint[],
  figures: PairFigures,
  fabrics: readonly Fabric[],
  hosts: number,
  ways: (readonly number[] | null)[],
  fast: Set<number>,
): void {
  const n = figures.endpoints;
  const single = fabrics.filter(({ flows }) => flows.length === 1).map(({ flows }) => flows[0]);
  const at = ({ source, target }: ProbeFlow): number => source * n + target;
  const equal = equalsAmong(
    single.map((flow) => figures.rate[at(flow)]),
    single.map((flow) => figures.rateError[at(flow)]),
  );
  for (const [i, flow] of single.entries()) {
    const one = equal.classOf[i];
    const figure = { bytesPerSecond: equal.value[one], error: equal.error[one] };
    ways[at(flow)] = [wiring.addLink("nvlink", flow.source, flow.target, figure, figures.latencyS[at(flow)])];
    fast.add(at(flow));
  }
  let switches = 0;
  for (const fabric of fabrics.filter(({ flows }) => flows.length > 1)) {
    const { host } = endpoints[fabric.flows[0].source];
    const hub = wiring.addSwitch(hosts > 1 ? `nvsw${switches++}-${host}` : `nvsw${switches++}`, host);
    const ports = [...fabric.out, ...fabric.in];
    const same = equalsAmong(
      ports.map(({ bytesPerSecond }) => bytesPerSecond),
      ports.map(({ error }) => error),
    );
    const half = median(fabric.flows.map((flow) => figures.latencyS[at(flow)])) / 2;
    const linkOf = ports.map(({ endpoint, direction }, i) => {
      const figure = { bytesPerSecond: same.value[same.classOf[i]], error: same.error[same.classOf[i]] };
      const [from, to] = direction === "out" ? [endpoint, hub] : [hub, endpoint];
      return wiring.addLink("nvlink", from, to, figure, half);
    });
    for (const flow of fabric.flows) {
      const out = ports.findIndex(
        (port) => port.direction === "out" && port.endpoint === flow.source && port.others.includes(flow.target),
      );
      const into = ports.findIndex(
        (port) => port.direction === "in" && port.endpoint === flow.target && port.others.includes(flow.source),
      );
      ways[at(flow)] = [linkOf[out], linkOf[into]];
      fast.add(at(flow));
    }
  }
}
