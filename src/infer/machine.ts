import { median } from "../model/numbers/median.ts";
import { canSend, type Experiment, type ProbeEndpoint, type ProbeFlow } from "../model/probe/measurements.ts";
import { type Answer, type Asking, inRounds, type Line, together } from "./asking.ts";
import { matchings, noteAlone, noteRates, type PairFigures, rateExperiments, slowdown } from "./pairs.ts";
import { partition, SLOWED } from "./partition.ts";
import { sharedCapacity } from "./sharing.ts";

/** What hangs on one way into a CPU: a PCIe switch, or a slot; perhaps with switches below. */
export interface PcieSwitch {
  readonly cpu: number;
  readonly gpus: readonly number[];
  readonly nics: readonly number[];
  /** Switches below it, where it has several; GPUs and NICs of each. */
  readonly inner: readonly { readonly gpus: readonly number[]; readonly nics: readonly number[] }[];
  /** Bytes per second to the CPU and from it. */
  readonly up: number;
  readonly down: number;
}

/** The PCIe side of a machine. Endpoints by number. */
export interface FoundMachine {
  readonly host: string;
  readonly gpus: readonly number[];
  readonly cpus: readonly number[];
  readonly nics: readonly number[];
  readonly switches: readonly PcieSwitch[];
  /** Bytes per second between its two CPUs; Infinity where there is but one. */
  readonly betweenCpus: number;
  /** Pairs of GPUs that are faster than PCIe: by NVLink. */
  readonly nvlinks: readonly ProbeFlow[];
}

const REPEATS = 15;
const CONTENTION_REPEATS = 9;
/** A pair of GPUs that is so much faster than PCIe has a link of its own. */
const FASTER = 1.25;

const rateOf = (figures: PairFigures, source: number, target: number): number =>
  figures.rate[source * figures.endpoints + target];

/** Returns the machines among the endpoints that have CPUs to send to, by host. */
export function machinesAmong(
  endpoints: readonly ProbeEndpoint[],
): Pick<FoundMachine, "host" | "gpus" | "cpus" | "nics">[] {
  const hosts = [...new Set(endpoints.map(({ host }) => host))];
  const of = (host: string, kind: ProbeEndpoint["kind"]): number[] =>
    [...endpoints.keys()].filter((i) => endpoints[i].host === host && endpoints[i].kind === kind);
  return hosts
    .map((host) => ({ host, gpus: of(host, "npu"), cpus: of(host, "cpu"), nics: of(host, "nic") }))
    .filter(({ cpus }) => cpus.length > 0);
}

/** Returns the CPU that is nearest, by the latency there and back. */
function nearestCpu({ latencyS, endpoints: n }: PairFigures, cpus: readonly number[], one: number): number {
  const loop = (cpu: number): number => latencyS[one * n + cpu] + latencyS[cpu * n + one];
  return cpus.reduce((best, cpu) => (loop(cpu) < loop(best) ? cpu : best));
}

/**
 * Infers what is inside of machines as TACCL infers it for NDv2 (section 4): which CPU is nearest to each GPU and NIC, by the latency of
 * loops; which GPUs share a PCIe switch, by copies to the CPU at once; which switch has the NIC, by copies to the CPU while the NIC
 * loops. GPU pairs that are faster than PCIe have NVLinks. Latencies must be known; machines are asked at once. Batches: 6 to 9.
 */
export async function askMachines(asking: Asking, figures: PairFigures): Promise<FoundMachine[]> {
  const machines = machinesAmong(asking.prober.endpoints);
  const each = machines.map((_, i) => i);
  await inRounds(
    asking,
    machines.map((machine) => rateLine(figures, machine)),
    each,
  );
  const below = machines.flatMap((machine) =>
    machine.cpus.map((cpu) => ({
      cpu,
      gpus: machine.gpus.filter((gpu) => nearestCpu(figures, machine.cpus, gpu) === cpu),
      nics: machine.nics.filter((nic) => nearestCpu(figures, machine.cpus, nic) === cpu),
      machine,
    })),
  );
  const classes = await inRounds(
    asking,
    below.map(({ cpu, gpus }) => cpuFanLine(figures, cpu, gpus)),
    below.map((_, i) => i),
  );
  const trees = await inRounds(
    asking,
    below.map((part, i) => switchesLine(asking, figures, part, classes[i])),
    below.map((_, i) => i),
  );
  const between = await inRounds(
    asking,
    machines.map((machine) => betweenLine(figures, machine)),
    each,
  );
  return machines.map((machine, i) => ({
    ...machine,
    switches: below.flatMap((part, b) => (part.machine === machine ? trees[b] : [])),
    betweenCpus: between[i],
    nvlinks: nvlinksOf(figures, machine),
  }));
}

/** Measures what one flow reaches: between GPUs, between GPUs and CPUs, CPUs, NICs and CPUs. */
function* rateLine(
  figures: PairFigures,
  { gpus, cpus, nics }: Pick<FoundMachine, "gpus" | "cpus" | "nics">,
): Line<void> {
  const pairs = gpus.flatMap((source) => gpus.filter((g) => g !== source).map((target) => ({ source, target })));
  const both = (a: readonly number[], b: readonly number[]): ProbeFlow[] =>
    a.flatMap((x) =>
      b
        .filter((y) => y !== x)
        .flatMap((y) => [
          { source: x, target: y },
          { source: y, target: x },
        ]),
    );
  const ordered = cpus.flatMap((source) => cpus.filter((c) => c !== source).map((target) => ({ source, target })));
  const others = [...both(gpus, cpus), ...ordered, ...both(nics, cpus)];
  const rounds = rateExperiments(figures, matchings(pairs), REPEATS);
  const answers = yield [...rounds, ...others.map((flow) => together([flow], figures.bytes, REPEATS))];
  noteRates(figures, answers.slice(0, rounds.length));
  for (const { experiment, taken } of answers.slice(rounds.length)) noteAlone(figures, experiment.flows[0], taken[0]);
  // beside others PCIe is shared: all but the fastest of their source and target are measured alone
  const best = (flow: ProbeFlow, end: "source" | "target"): number =>
    Math.max(
      ...pairs.filter((other) => other[end] === flow[end]).map(({ source, target }) => rateOf(figures, source, target)),
    );
  const slow = pairs.filter(
    (flow) => rateOf(figures, flow.source, flow.target) < 0.92 * Math.min(best(flow, "source"), best(flow, "target")),
  );
  const alone = yield slow.map((flow) => together([flow], figures.bytes, REPEATS));
  for (const { experiment, taken } of alone) noteAlone(figures, experiment.flows[0], taken[0]);
}

/** Asks which GPUs share a way to their CPU; returns their classes. */
function* cpuFanLine(figures: PairFigures, cpu: number, gpus: readonly number[]): Line<number[][]> {
  if (gpus.length === 0) return [];
  const flows = gpus.map((source) => ({ source, target: cpu }));
  const line = partition(
    gpus.map((gpu) => rateOf(figures, gpu, cpu)),
    figures.bytes - figures.burstBytes,
    cpu,
  );
  let step = line.next();
  while (step.done !== true) {
    const sets = step.value.map((set) => set.map((i) => flows[i]));
    const answers: readonly Answer[] = yield sets.map((set) => together(set, figures.bytes, CONTENTION_REPEATS));
    step = line.next(answers.map(({ taken }, s) => taken.map((one, i) => slowdown(figures, sets[s][i], one))));
  }
  const { classOf, capacity } = step.value;
  return capacity.map((_, one) => gpus.filter((__, i) => classOf[i] === one));
}

/** Asks what the switches below a CPU let through, which has which NIC, and which have further switches below. */
function* switchesLine(
  asking: Asking,
  figures: PairFigures,
  { cpu, gpus, nics }: { readonly cpu: number; readonly gpus: readonly number[]; readonly nics: readonly number[] },
  classes: readonly (readonly number[])[],
): Line<PcieSwitch[]> {
  if (gpus.length === 0) return [];
  const first = classes.map((members) => members[0]);
  const nicExperiments = nics.map((nic) =>
    together(
      [{ source: nic, target: cpu }, { source: cpu, target: nic }, ...first.map((source) => ({ source, target: cpu }))],
      figures.bytes,
      CONTENTION_REPEATS,
    ),
  );
  const [upAll, downAll, ...loops] = yield [
    together(
      gpus.map((source) => ({ source, target: cpu })),
      figures.bytes,
      CONTENTION_REPEATS,
    ),
    together(
      gpus.map((target) => ({ source: cpu, target })),
      figures.bytes,
      CONTENTION_REPEATS,
    ),
    ...nicExperiments,
  ];
  const nicClass = loops.map(({ experiment, taken }) => {
    const slowed = first.map((_, c) => slowdown(figures, experiment.flows[2 + c], taken[2 + c]));
    const most = slowed.indexOf(Math.max(...slowed));
    return slowed[most] > SLOWED ? most : -1;
  });
  const nicsOf = (one: number): number[] => nics.filter((_, k) => nicClass[k] === one);
  const tests = classes.flatMap((members, one) =>
    members.length < 3 ? [] : innerTests(asking, cpu, members, nicsOf(one)).map((test) => ({ one, ...test })),
  );
  const most = Math.max(0, ...classes.map((_, one) => tests.filter((test) => test.one === one).length));
  // classes do not disturb each other: the k-th test of each at once
  const rows = Array.from({ length: most }, (_, k) =>
    classes.flatMap((__, one) => tests.filter((test) => test.one === one).slice(k, k + 1)),
  );
  const answers =
    rows.length === 0
      ? []
      : yield rows.map((row) =>
          together(
            row.flatMap(({ flows }) => flows),
            figures.bytes,
            CONTENTION_REPEATS,
          ),
        );
  const meets: { one: number; pair: readonly [number, number]; nic: number }[] = [];
  for (const [r, row] of rows.entries()) {
    for (const [t, { one, pair, nic, flows }] of row.entries()) {
      // the copy to the CPU, whose rate alone is known
      if (slowdown(figures, flows[1], answers[r].taken[2 * t + 1]) > SLOWED) meets.push({ one, pair, nic });
    }
  }
  const rates = (flows: readonly ProbeFlow[]): number[] =>
    flows.map(({ source, target }) => rateOf(figures, source, target));
  const shared = ({ experiment, taken }: Answer, members: readonly number[], end: "source" | "target"): number => {
    const own = [...experiment.flows.keys()].filter((i) => members.includes(experiment.flows[i][end]));
    const flows = own.map((i) => experiment.flows[i]);
    const net = figures.bytes - figures.burstBytes;
    const last = Math.max(
      ...own.map((i) => (slowdown(figures, experiment.flows[i], taken[i]) * net) / rates([experiment.flows[i]])[0]),
    );
    const capacity = sharedCapacity(rates(flows), net, last);
    const alone = median(rates(flows));
    return capacity === Number.POSITIVE_INFINITY ? alone * members.length : capacity;
  };
  return classes.map((members, one) => ({
    cpu,
    gpus: members,
    nics: nicsOf(one),
    inner: innerOf(
      members,
      nicsOf(one),
      meets.filter((meeting) => meeting.one === one),
    ),
    up: shared(upAll, members, "source"),
    down: shared(downAll, members, "target"),
  }));
}

/** Returns tests of whether two GPUs of a class have a further switch: one sends to a NIC of the class, the other to the CPU. */
function innerTests(asking: Asking, cpu: number, members: readonly number[], nics: readonly number[]) {
  return members.flatMap((a, i) =>
    members.slice(i + 1).flatMap((b) =>
      nics
        .filter((nic) => canSend(asking.prober, a, nic))
        .map((nic) => ({
          pair: [a, b] as const,
          nic,
          flows: [
            { source: a, target: nic },
            { source: b, target: cpu },
          ],
        })),
    ),
  );
}

/** Returns the switches below one: GPUs that meet on the way to a NIC which is not theirs share one; a NIC where they do not is theirs. */
function innerOf(
  members: readonly number[],
  nics: readonly number[],
  meets: readonly { readonly pair: readonly [number, number]; readonly nic: number }[],
): { gpus: number[]; nics: number[] }[] {
  if (meets.length === 0) return [];
  const groups: number[][] = [];
  for (const one of members) {
    const own = groups.find((group) =>
      group.some((other) => meets.some(({ pair }) => pair.includes(one) && pair.includes(other))),
    );
    if (own === undefined) groups.push([one]);
    else own.push(one);
  }
  return groups.map((gpus) => ({
    gpus,
    nics: nics.filter(
      (nic) =>
        gpus.length > 1 &&
        !meets.some(
          (meeting) => meeting.nic === nic && gpus.includes(meeting.pair[0]) && gpus.includes(meeting.pair[1]),
        ),
    ),
  }));
}

/** Asks what is between two CPUs: all GPUs of one to the other at once. */
function* betweenLine(figures: PairFigures, { gpus, cpus }: Pick<FoundMachine, "gpus" | "cpus">): Line<number> {
  if (cpus.length !== 2) return Number.POSITIVE_INFINITY;
  const far = (gpu: number): number => cpus.find((cpu) => cpu !== nearestCpu(figures, cpus, gpu)) as number;
  const flows = gpus.map((source) => ({ source, target: far(source) }));
  const experiments: Experiment[] = [together(flows, figures.bytes, CONTENTION_REPEATS)];
  const [{ taken }] = yield experiments;
  const net = figures.bytes - figures.burstBytes;
  const found = cpus.map((cpu) => {
    const own = [...flows.keys()].filter((i) => flows[i].target === cpu);
    if (own.length === 0) return Number.POSITIVE_INFINITY;
    const rates = own.map((i) => rateOf(figures, flows[i].source, cpu));
    const last = Math.max(...own.map((i, k) => (slowdown(figures, flows[i], taken[i]) * net) / rates[k]));
    return sharedCapacity(rates, net, last);
  });
  const [a, b] = cpus;
  const alone = (rateOf(figures, a, b) + rateOf(figures, b, a)) / 2;
  const finite = found.filter((rate) => rate !== Number.POSITIVE_INFINITY);
  // where the ways up to a CPU are narrower than what is between them, only the CPUs themselves fill it
  return finite.length === 0 ? alone : Math.max(alone, median(finite));
}

/** Returns the pairs of GPUs that are faster than the PCIe ways of both. */
function nvlinksOf(figures: PairFigures, { gpus, cpus }: Pick<FoundMachine, "gpus" | "cpus">): ProbeFlow[] {
  return gpus.flatMap((source) =>
    gpus
      .filter((target) => target !== source)
      .filter((target) => {
        const up = rateOf(figures, source, nearestCpu(figures, cpus, source));
        const down = rateOf(figures, nearestCpu(figures, cpus, target), target);
        return rateOf(figures, source, target) > FASTER * Math.min(up, down);
      })
      .map((target) => ({ source, target })),
  );
}
