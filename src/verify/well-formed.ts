import { type Collective, collectiveName, type Placement } from "../model/collective/collective.ts";
import { kindFault } from "../model/collective/collective-definition.ts";
import { type RouteSet, routeCount } from "../model/routes/routes.ts";
import { OP_COPY, OP_REDUCE, type StepSchedule, transferCount } from "../model/steps/step-schedule.ts";
import { linkCount, nodeCount, type Topology } from "../model/topology/topology.ts";
import type { Recorder, Violation } from "./violation.ts";

/** What is wrong, and the row, link, chunk or NPU where it is, if it is one. */
type Fault = Omit<Violation, "kind">;
export type Faults = Generator<Fault, void, undefined>;

export const isCount = (value: number): boolean => Number.isSafeInteger(value) && value >= 0;
export const isBelow = (value: number, bound: number): boolean => value >= 0 && value < bound;

/**
 * Records what keeps the data from being a schedule at all, and returns whether there was nothing: the later checks trust
 * every index, path, share and time. Each part is looked at only where those before it are in order.
 * O(transfers + route links + members + links).
 */
export const checkForm = (schedule: StepSchedule, recorder: Recorder): boolean =>
  checkParts(schedule, () => rowFaults(schedule), recorder);

/** What any schedule is about. */
export type Frame = Pick<StepSchedule, "topology" | "collective" | "routes">;

/** The same for any kind of schedule, whose own faults come last; null where they are looked for elsewhere. */
export function checkParts(
  { topology, collective, routes }: Frame,
  ownFaults: (() => Faults) | null,
  recorder: Recorder,
): boolean {
  const before = recorder.count();
  const parts = [
    () => topologyFaults(topology),
    () => collectiveFaults(topology, collective),
    () => kindFaults(collective),
    () => routeFaults(topology, routes),
    ...(ownFaults === null ? [] : [ownFaults]),
  ];
  for (const faultsOf of parts) {
    for (const fault of faultsOf()) recorder.record(() => ({ kind: "malformed", ...fault }));
    if (recorder.count() > before) return false;
  }
  return true;
}

function* topologyFaults(topology: Topology): Faults {
  const { npuCount, linkSource, linkTarget, linkBytesPerSecond, linkLatencyPs } = topology;
  const nodes = nodeCount(topology);
  const links = linkCount(topology);
  if (!isCount(npuCount) || npuCount > nodes) {
    yield { message: `the network has ${nodes} nodes but ${npuCount} NPUs` };
    return;
  }
  for (const column of [linkTarget, linkBytesPerSecond, linkLatencyPs]) {
    if (column.length === links) continue;
    yield { message: "the link columns of the network differ in length" };
    return;
  }
  for (let link = 0; link < links; link++) {
    if (!isBelow(linkSource[link], nodes) || !isBelow(linkTarget[link], nodes)) {
      yield { link, message: `link number ${link} joins nodes that the network does not have` };
    }
    if (!isCount(linkBytesPerSecond[link]) || linkBytesPerSecond[link] === 0 || !isCount(linkLatencyPs[link])) {
      yield { link, message: `link number ${link} has no whole bandwidth above 0 bytes/s and latency from 0 ps on` };
    }
  }
}

function* collectiveFaults(topology: Topology, collective: Collective): Faults {
  const { npuCount, nodeNames } = topology;
  const { chunkCount, chunkBytes, groupCount, groupSize, groupMembers } = collective;
  if (!isCount(chunkCount) || chunkCount > 0x7fffffff) {
    yield { message: `the collective has ${chunkCount} chunks` };
    return;
  }
  if (chunkBytes.num < 0n || chunkBytes.den <= 0n) yield { message: "the collective's chunks have a negative size" };
  if (!isCount(groupCount) || !isCount(groupSize) || groupMembers.length !== groupCount * groupSize) {
    yield { message: `the collective does not have the members of ${groupCount} process groups of ${groupSize} NPUs` };
    return;
  }
  const groupOf = new Int32Array(npuCount).fill(-1);
  for (let i = 0; i < groupMembers.length; i++) {
    const npu = groupMembers[i];
    const group = Math.floor(i / groupSize);
    if (!isBelow(npu, npuCount)) yield { message: `process group ${group} has a member that is no NPU: ${npu}` };
    else if (groupOf[npu] === group) yield { npu, message: `process group ${group} has NPU ${nodeNames[npu]} twice` };
    else groupOf[npu] = group;
  }
  yield* placementFaults(topology, collective, collective.pre, "precondition");
  yield* placementFaults(topology, collective, collective.post, "postcondition");
}

function* kindFaults(collective: Collective): Faults {
  const fault = kindFault(collective);
  if (fault !== null) yield { message: `the collective is no ${collectiveName(collective.kind)}: ${fault}` };
}

function* placementFaults(topology: Topology, collective: Collective, placement: Placement, name: string): Faults {
  const { chunkCount, groupCount } = collective;
  if (placement.kind === "group") {
    if (groupCount === 0 && chunkCount > 0) yield { message: `the ${name} is for process groups, but there are none` };
    return;
  }
  const members = placement.kind === "one" ? placement.npu : placement.members;
  const offset = placement.kind === "one" ? null : placement.offset;
  const fits = offset === null ? members.length === chunkCount : offset.length === chunkCount + 1 && offset[0] === 0;
  if (!fits) {
    yield { message: `the ${name} is not for ${chunkCount} chunks` };
    return;
  }
  for (let i = 0; i < members.length; i++) {
    if (!isBelow(members[i], topology.npuCount))
      yield { message: `the ${name} has a member that is no NPU: ${members[i]}` };
  }
  for (let chunk = 0; offset !== null && chunk < chunkCount; chunk++) {
    if (offset[chunk + 1] < offset[chunk] || offset[chunk + 1] > members.length) {
      yield { chunk, message: `the ${name} of chunk ${chunk} ends outside its list of members` };
      return;
    }
    for (let i = offset[chunk] + 1; i < offset[chunk + 1]; i++) {
      if (members[i - 1] >= members[i])
        yield { chunk, message: `the ${name} of chunk ${chunk} is not in ascending order` };
    }
  }
}

/**
 * A route is a walk along links from an NPU to an NPU; nodes on the way, switches and NPUs alike, only forward. A link
 * that it uses twice is charged twice.
 */
function* routeFaults(topology: Topology, routes: RouteSet): Faults {
  const { source, target, linkOffset, links, shareNum, shareDen } = routes;
  const { npuCount, nodeNames } = topology;
  const count = routeCount(routes);
  const total = links.length;
  const columnsFit = target.length === count && linkOffset.length === count + 1 && linkOffset[0] === 0;
  if (!columnsFit || linkOffset[count] !== total || shareNum.length !== total || shareDen.length !== total) {
    yield { message: "the columns of the routes differ in length" };
    return;
  }
  for (let route = 0; route < count; route++) {
    if (!(linkOffset[route] < linkOffset[route + 1] && linkOffset[route + 1] <= total)) {
      yield { message: `route ${route} has no links` };
      return;
    }
    if (!isBelow(source[route], npuCount) || !isBelow(target[route], npuCount)) {
      yield { message: `route ${route} does not run from an NPU to an NPU` };
      continue;
    }
    const fault = walkFault(topology, routes, route);
    if (fault !== null)
      yield { npu: source[route], message: `route ${route} from ${nodeNames[source[route]]} ${fault}` };
  }
}

/** Follows a route's links; returns what is wrong on the way, or null. */
function walkFault(topology: Topology, routes: RouteSet, route: number): string | null {
  const { linkSource, linkTarget, nodeNames } = topology;
  const { links, linkOffset, shareNum, shareDen, target } = routes;
  let node = routes.source[route];
  for (let i = linkOffset[route]; i < linkOffset[route + 1]; i++) {
    const link = links[i];
    if (!isBelow(link, linkSource.length)) return `uses link number ${link}, which the network does not have`;
    if (linkSource[link] !== node) return `uses link number ${link}, which does not leave ${nodeNames[node]}`;
    if (!isCount(shareNum[i]) || !isCount(shareDen[i]) || shareNum[i] === 0 || shareNum[i] > shareDen[i]) {
      return `has share ${shareNum[i]}/${shareDen[i]} of link number ${link}, where a share is above 0 and at most 1`;
    }
    node = linkTarget[link];
  }
  return node === target[route] ? null : `ends at ${nodeNames[node]}, not at ${nodeNames[target[route]]}`;
}

function* rowFaults(schedule: StepSchedule): Faults {
  const { chunk, route, startPs, endPs, op, collective } = schedule;
  const count = transferCount(schedule);
  for (const column of [route, startPs, endPs, op]) {
    if (column.length === count) continue;
    yield { message: "the columns of the schedule differ in length" };
    return;
  }
  const { chunkCount } = collective;
  const routes = routeCount(schedule.routes);
  const highestOp = collective.reduces ? OP_REDUCE : OP_COPY;
  for (let row = 0; row < count; row++) {
    const start = startPs[row];
    const end = endPs[row];
    const right =
      chunk[row] >= 0 &&
      chunk[row] < chunkCount &&
      route[row] >= 0 &&
      route[row] < routes &&
      op[row] <= highestOp &&
      start >= 0 && // false for NaN
      start < end &&
      end <= Number.MAX_SAFE_INTEGER &&
      Math.floor(start) === start &&
      Math.floor(end) === end;
    if (!right) yield { chunk: chunk[row], transfer: row, message: `transfer ${row} ${rowFault(schedule, row)}` };
  }
}

function rowFault(schedule: StepSchedule, row: number): string {
  const { collective } = schedule;
  const chunk = schedule.chunk[row];
  const route = schedule.route[row];
  const start = schedule.startPs[row];
  const end = schedule.endPs[row];
  const op = schedule.op[row];
  const faults: string[] = [];
  if (!isBelow(chunk, collective.chunkCount)) faults.push(`is of chunk ${chunk}, which does not exist`);
  if (!isBelow(route, routeCount(schedule.routes))) faults.push(`is on route ${route}, which does not exist`);
  if (!isCount(start) || !isCount(end)) faults.push(`lasts from ${start} to ${end} ps, not whole numbers from 0 on`);
  else if (start >= end) faults.push(`ends at ${end} ps, not after its start at ${start} ps`);
  if (op > OP_REDUCE) faults.push(`has operation ${op}, neither copy (0) nor reduce (1)`);
  else if (op === OP_REDUCE && !collective.reduces)
    faults.push(`reduces chunk ${chunk} in a collective that only copies`);
  return faults.join(" and ");
}
