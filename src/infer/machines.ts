import type { Asking } from "./asking.ts";
import { CUBE_MESH, TACCL_NDV2, usualOrder } from "./canonical.ts";
import { type Check, check, objection } from "./check.ts";
import { equalsAmong } from "./equals.ts";
import { askMachines, type FoundMachine } from "./machine.ts";
import { askBetween, machineWiring } from "./machine-network.ts";
import type { PairFigures } from "./pairs.ts";
import { askPorts, type Fabric, fabricsOf } from "./segments.ts";
import type { Sharing } from "./sharing.ts";
import type { Wiring } from "./wiring.ts";

/** A machine with what was found inside of it, and the usual numbers of its GPUs. */
export interface InferredMachine extends FoundMachine {
  /** [gpus x gpus] NVLinks between GPUs, in multiples of the least; of GPUs on NVSwitches 0. */
  readonly nvlinkCounts: Int32Array;
  /** Its GPUs are on NVSwitches. */
  readonly switched: boolean;
  /** Endpoints by their usual numbers, and whose numbers these are; those of the wiring, where the NVLinks are no usual ones. */
  readonly usual: { readonly name: string; readonly order: readonly number[] };
  /** Endpoints in TACCL's numbering of an NDv2; null where it is none. */
  readonly taccl: readonly number[] | null;
}

/** What was found out about machines. */
export interface MachinesFound {
  readonly machines: readonly InferredMachine[];
  readonly fabrics: readonly Fabric[];
  readonly wiring: Wiring;
  readonly sharing: Sharing;
  readonly check: Check;
  readonly unexplained: readonly string[];
}

/** Infers machines with CPUs and NICs, what joins them, and holds it against mixes. Latencies must be known. */
export async function inferMachines(
  asking: Asking,
  figures: PairFigures,
  { seed, mixes }: { readonly seed: number; readonly mixes: number },
): Promise<MachinesFound> {
  const { endpoints } = asking.prober;
  const n = endpoints.length;
  const unexplained: string[] = [];
  const found = await askMachines(asking, figures);
  const fast = new Uint8Array(n * n);
  for (const { source, target } of found.flatMap(({ nvlinks }) => nvlinks)) fast[source * n + target] = 1;
  const hostOf = (endpoint: number): number => found.findIndex(({ host }) => host === endpoints[endpoint].host);
  const { out, into } = await askPorts(asking, figures, fast, new Map(), hostOf);
  const fabrics = fabricsOf(fast, figures, out, into);
  if (found.length > 1) await askBetween(asking, figures, found);
  for (const { host, nics } of found)
    if (found.length > 1 && nics.length === 0)
      unexplained.push(`no NIC of ${host} can be asked, so nothing is known of what leaves it`);
  for (const { host, switches, nics } of found) {
    const placed = switches.flatMap((one) => one.nics);
    for (const nic of nics)
      if (!placed.includes(nic)) unexplained.push(`${endpoints[nic].name} of ${host} shares no PCIe switch with a GPU`);
  }
  const { wiring, ways } = machineWiring(endpoints, figures, found, fabrics);
  const sharing: Sharing = { endpoints: n, resources: wiring.resources, ways, latencyS: figures.latencyS };
  const checked = await check(asking, figures, sharing, mixes, seed);
  const against = objection(checked);
  if (against !== null) unexplained.push(against);
  const counts = linkCounts(figures, fabrics);
  return {
    machines: found.map((machine) => numbered(machine, counts, fabrics, n)),
    fabrics,
    wiring,
    sharing,
    check: checked,
    unexplained,
  };
}

/** Returns how many NVLinks each direct link is, [source * endpoints + target]: its class's rate over the least. */
function linkCounts(figures: PairFigures, fabrics: readonly Fabric[]): ReadonlyMap<number, number> {
  const pairs = fabrics
    .filter(({ flows }) => flows.length === 1)
    .map(({ flows: [{ source, target }] }) => source * figures.endpoints + target);
  const equal = equalsAmong(
    pairs.map((p) => figures.rate[p]),
    pairs.map((p) => figures.rateError[p]),
  );
  return new Map(pairs.map((p, i) => [p, Math.round(equal.value[equal.classOf[i]] / equal.value[0])]));
}

function numbered(
  machine: FoundMachine,
  counts: ReadonlyMap<number, number>,
  fabrics: readonly Fabric[],
  n: number,
): InferredMachine {
  const { gpus, switches, cpus } = machine;
  const nvlinkCounts = Int32Array.from(
    { length: gpus.length ** 2 },
    (_, i) => counts.get(gpus[Math.floor(i / gpus.length)] * n + gpus[i % gpus.length]) ?? 0,
  );
  const classes = switches.map((one) => one.gpus.map((gpu) => gpus.indexOf(gpu)));
  const nicSwitch = switches.findIndex(({ nics }) => nics.length > 0);
  const orderBy = (usual: typeof CUBE_MESH): number[] | null =>
    usualOrder(usual, nvlinkCounts, classes, nicSwitch)?.map((gpu) => gpus[gpu]) ?? null;
  const mesh = orderBy(CUBE_MESH);
  const byWiring = [...switches]
    .sort((a, b) => cpus.indexOf(a.cpu) - cpus.indexOf(b.cpu))
    .flatMap((one) => (one.inner.length > 0 ? one.inner.flatMap(({ gpus: own }) => own) : one.gpus));
  return {
    ...machine,
    nvlinkCounts,
    switched: fabrics.some(({ flows }) => flows.length > 1 && gpus.includes(flows[0].source)),
    usual: mesh === null ? { name: "PCIe order", order: byWiring } : { name: CUBE_MESH.name, order: mesh },
    taccl: orderBy(TACCL_NDV2),
  };
}
