import { groupedBy } from "../graph/graph.ts";
import { composed, inverted } from "../numbers/ordering.ts";
import { isPeriodSchedule, type PeriodSchedule, treesOf } from "../periods/period-schedule.ts";
import { isPhaseSchedule } from "../phases/phase-schedule.ts";
import type { RouteSet } from "../routes/routes.ts";
import { isSlotSchedule, type SlotSchedule } from "../slots/slot-schedule.ts";
import type { AnySchedule } from "../steps/schedule.ts";
import { type IndexColumn, indexColumn, inRowOrder, type StepSchedule } from "../steps/step-schedule.ts";
import type { NetworkMap } from "../symmetry/network-maps.ts";
import type { Topology } from "../topology/topology.ts";
import { type Certificate, isTreeFlow, type TreeFlow } from "../trees/tree-flow.ts";
import { type MappedCollective, mappedCollective } from "./mapped-collective.ts";
import { demandMap } from "./part-map.ts";

/**
 * Returns the schedule as it is on another network, to which a map takes its own: the same times and rates, every node, link, chunk and
 * rank another one, a certificate too. `map` says where nodes and links of schedule.topology go in `topology`. What a group of maps
 * makes of few arrival logs is written out, for the other network's numbers may have no such group. Throws InputError for what is no map
 * from one network to the other, and for a custom collective whose NPUs change. O(nodes + links + what the schedule lists); rows of
 * arrival logs when they are asked for.
 */
export function mappedSchedule(schedule: AnySchedule, topology: Topology, map: NetworkMap): AnySchedule {
  demandMap(schedule.topology, topology, map);
  const npu = map.node.slice(0, schedule.topology.npuCount);
  const mapped = mappedCollective(schedule.collective, npu, isPhaseSchedule(schedule));
  const { collective } = mapped;
  if (isPhaseSchedule(schedule)) return { ...schedule, topology, collective };
  if (isTreeFlow(schedule)) return { ...mappedTrees(schedule, map), topology, collective };
  const routes = mappedRoutes(schedule.routes, map);
  if (isPeriodSchedule(schedule)) return { ...mappedPeriods(schedule, npu), topology, collective, routes };
  if (isSlotSchedule(schedule)) return mappedLogs(schedule, npu, { topology, routes, mapped });
  return mappedRows(schedule, { topology, routes, mapped });
}

/** Returns routes in their order, over other nodes and links. */
const mappedRoutes = ({ source, target, links, ...rest }: RouteSet, { node, link }: NetworkMap): RouteSet => ({
  ...rest,
  source: composed(node, source),
  target: composed(node, target),
  links: composed(link, links),
});

/** Where a schedule goes. */
interface Place {
  readonly topology: Topology;
  readonly routes: RouteSet;
  readonly mapped: MappedCollective;
}

function mappedRows(steps: StepSchedule, { topology, routes, mapped }: Place): StepSchedule {
  const { collective, chunkOf } = mapped;
  const chunk = indexColumn(steps.chunk.length, collective.chunkCount);
  for (let row = 0; row < chunk.length; row++) chunk[row] = chunkOf(steps.chunk[row]);
  // rows that tie are put in order in place
  const route = steps.route.slice() as IndexColumn;
  const [endPs, op] = [steps.endPs.slice(), steps.op.slice()];
  return inRowOrder({ topology, collective, routes, chunk, route, startPs: steps.startPs, endPs, op });
}

function mappedLogs(logs: SlotSchedule, npu: Int32Array, { topology, routes, mapped }: Place): SlotSchedule {
  const { collective, chunkOf } = mapped;
  const back = inverted(npu);
  const chunks = Int32Array.from({ length: collective.chunkCount }, (_, chunk) => chunkOf(chunk));
  const origin = new Int32Array(logs.origin.length);
  logs.origin.forEach((owner, chunk) => {
    origin[chunks[chunk]] = npu[owner];
  });
  const { offset } = groupedBy(origin, topology.npuCount);
  const row: SlotSchedule["row"] = (at) => {
    const log = logs.row(back[at]);
    const chunk = indexColumn(log.chunk.length, collective.chunkCount);
    for (let i = 0; i < chunk.length; i++) chunk[i] = chunks[log.chunk[i]];
    chunk.subarray(0, offset[at + 1] - offset[at]).sort();
    return { chunk, ports: log.ports };
  };
  return { ...logs, topology, collective, routes, origin, symmetry: null, row };
}

function mappedPeriods(periods: PeriodSchedule, npu: Int32Array): PeriodSchedule {
  const count = npu.length;
  const entry = new Int32Array(periods.entry.length);
  const startPs = new Float64Array(periods.startPs.length);
  for (let tree = 0; tree < treesOf(periods); tree++) {
    for (let v = 0; v < count; v++) {
      entry[tree * count + npu[v]] = periods.entry[tree * count + v];
      for (const half of [2 * tree, 2 * tree + 1]) startPs[half * count + npu[v]] = periods.startPs[half * count + v];
    }
  }
  return { ...periods, entry, startPs };
}

function mappedTrees(flow: TreeFlow, { node, link }: NetworkMap): TreeFlow {
  const back = inverted(node);
  const { symmetry, certificate } = flow;
  return {
    ...flow,
    forests: flow.forests.map((forest) => ({
      ...forest,
      root: composed(node, forest.root),
      links: composed(link, forest.links),
    })),
    symmetry: symmetry && { ...symmetry, steps: symmetry.steps.map((step) => composed(node, composed(step, back))) },
    certificate: certificate && mappedCertificate(certificate, node),
  };
}

function mappedCertificate(certificate: Certificate, node: Int32Array): Certificate {
  const there = (nodes: Int32Array): Int32Array => composed(node, nodes).sort();
  if (certificate.kind === "cut") return { ...certificate, nodes: there(certificate.nodes) };
  const { cuts, potentials, ...rest } = certificate;
  const moved = potentials?.map((one) => ({ ...one, node: node[one.node] })).sort((a, b) => a.node - b.node);
  return {
    ...rest,
    cuts: cuts.map((cut) => ({ ...cut, nodes: there(cut.nodes) })),
    ...(moved === undefined ? {} : { potentials: moved }),
  };
}
