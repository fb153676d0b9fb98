import type { StepSchedule } from "../../src/model/steps/step-schedule.ts";

/** A node of a trace, as far as it counts here. */
export interface TraceNode {
  readonly id: number;
  readonly type: number;
  readonly deps: readonly number[];
  readonly attributes: Readonly<Record<string, unknown>>;
}

const [COMP, SEND, RECV] = [4, 5, 6] as const;
const COMP_PS = 1000;

/**
 * Returns when the traces end in a network of queues, written from what such simulators say of themselves: a message takes the
 * links of its route one by one, each link takes one message at a time in the order of their coming, a SEND and its RECV end
 * when the message has come, a COMP takes 1 ns, and of nodes that become free at the same time the last is issued first.
 * Fails where some never become free.
 */
export function queuedPs(schedule: StepSchedule, traces: readonly (readonly TraceNode[])[], bytes: number): number {
  const { topology, routes } = schedule;
  const routeOf = new Map(Array.from(routes.source, (source, r) => [`${source}>${routes.target[r]}`, r]));
  const freePs = new Float64Array(topology.linkSource.length);
  const events: { readonly ps: number; readonly does: (ps: number) => void }[] = [];
  const at = (ps: number, does: (ps: number) => void): void => {
    let low = 0;
    for (let high = events.length; low < high; ) {
      const middle = (low + high) >> 1;
      if ((events[middle] as { ps: number }).ps > ps) low = middle + 1;
      else high = middle;
    }
    events.splice(low, 0, { ps, does });
  };
  const left = traces.map((nodes) => nodes.map(({ deps }) => deps.length));
  const behind = traces.map((nodes) => nodes.map((): number[] => []));
  traces.forEach((nodes, npu) => {
    for (const { id, deps } of nodes) for (const dep of deps) behind[npu]?.[dep]?.push(id);
  });
  const come = new Set<string>();
  const awaited = new Map<string, number>();
  let ended = 0;
  let lastPs = 0;
  const end = (npu: number, id: number, ps: number): void => {
    ended++;
    lastPs = ps;
    const free = ((behind[npu] as number[][])[id] as number[]).filter((next) => --(left[npu] as number[])[next] === 0);
    for (const next of free.reverse()) issue(npu, next, ps);
  };
  const travel = (links: Int32Array, ps: number, arrive: (ps: number) => void): void => {
    const [link] = links;
    if (link === undefined) {
      arrive(ps);
      return;
    }
    const lastsPs = (bytes / topology.linkBytesPerSecond[link]) * 1e12;
    freePs[link] = Math.max(ps, freePs[link]) + lastsPs;
    at(freePs[link] + topology.linkLatencyPs[link], (now) => travel(links.subarray(1), now, arrive));
  };
  const issue = (npu: number, id: number, ps: number): void => {
    const { type, attributes: a } = (traces[npu] as readonly TraceNode[])[id] as TraceNode;
    if (type === COMP) {
      at(ps + COMP_PS, (now) => end(npu, id, now));
      return;
    }
    if (type === RECV) {
      const message = `${a["comm_src"]}>${npu} ${a["comm_tag"]}`;
      if (come.has(message)) end(npu, id, ps);
      else awaited.set(message, id);
      return;
    }
    if (type !== SEND) throw new Error(`a node of type ${type}`);
    const target = a["comm_dst"] as number;
    const message = `${npu}>${target} ${a["comm_tag"]}`;
    const r = routeOf.get(`${npu}>${target}`) as number;
    travel(routes.links.subarray(routes.linkOffset[r], routes.linkOffset[r + 1]), ps, (now) => {
      end(npu, id, now);
      const receive = awaited.get(message);
      if (receive === undefined) come.add(message);
      else end(target, receive, now);
    });
  };
  traces.forEach((nodes, npu) => {
    const roots = nodes.filter(({ deps }) => deps.length === 0);
    for (const { id } of roots.reverse()) issue(npu, id, 0);
  });
  for (let event = events.pop(); event !== undefined; event = events.pop()) event.does(event.ps);
  const all = traces.reduce((sum, nodes) => sum + nodes.length, 0);
  if (ended !== all) throw new Error(`${all - ended} of ${all} nodes never became free`);
  return lastPs;
}
