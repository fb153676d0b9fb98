import { InputError } from "../../base/errors.ts";
import { outLinks, type Topology } from "../../model/topology/topology.ts";
import type { ProgramRoutes } from "./program-routes.ts";

/** Ways of an operation of a switch: every link is loaded once. */
export interface SwitchWays {
  /** From the sources to the switch; of a store, one. */
  readonly up: readonly Int32Array[];
  /** From the switch; of a load, one, to who asks. `operand`: which of the operands it serves. */
  readonly down: readonly { readonly route: Int32Array; readonly operand: number }[];
}

interface Group {
  readonly npu: number;
  readonly operand: number;
}

/**
 * Returns the ways of a load-reduce: everyone's data goes up to the switch, the sum comes down to `reader`. Throws InputError
 * where what lies between is no switch that reduces.
 */
export function loadWays(
  topology: Topology,
  routes: ProgramRoutes,
  reader: number,
  group: readonly Group[],
): SwitchWays {
  const once = onceOnly();
  const others = group.filter(({ npu }) => npu !== reader).map(({ npu }) => routes.between(npu, reader, 0));
  const last = others[0][others[0].length - 1];
  const hub = topology.linkSource[last];
  if (topology.nodeTraits[hub].aggregation !== true) throw unable(topology, hub, "reduces (aggregation)");
  const own = others.length < group.length ? [linkBetween(topology, reader, hub)] : [];
  const up = [...others.map((way) => once(way.subarray(0, -1))), ...own.map(once)].filter((way) => way.length > 0);
  return { up, down: [{ route: Int32Array.of(last), operand: -1 }] };
}

/**
 * Returns the ways of a store: the data goes up to the switch once, and down to everyone. Throws InputError where what lies
 * between is no switch that duplicates.
 */
export function storeWays(
  topology: Topology,
  routes: ProgramRoutes,
  writer: number,
  group: readonly Group[],
): SwitchWays {
  const once = onceOnly();
  const remote = group.find(({ npu }) => npu !== writer) as Group;
  const first = routes.between(writer, remote.npu, 0)[0];
  const hub = topology.linkTarget[first];
  if (topology.nodeTraits[hub].multicast !== true) throw unable(topology, hub, "duplicates (multicast)");
  const wayTo = (npu: number): Int32Array =>
    npu === writer ? linkBetween(topology, hub, writer) : routes.between(writer, npu, 0).subarray(1);
  const down = group.map(({ npu, operand }) => ({ route: once(wayTo(npu)), operand }));
  return { up: [Int32Array.of(first)], down: down.filter(({ route }) => route.length > 0) };
}

/** Returns a function that drops links it has seen before. */
function onceOnly(): (way: Int32Array) => Int32Array {
  const seen = new Set<number>();
  return (way) => way.filter((link) => !seen.has(link) && seen.add(link) !== undefined);
}

function linkBetween(topology: Topology, from: number, to: number): Int32Array {
  const out = outLinks(topology);
  const links = out.links.subarray(out.offset[from], out.offset[from + 1]);
  return links.filter((link) => topology.linkTarget[link] === to).subarray(0, 1);
}

const unable = (topology: Topology, node: number, does: string): InputError =>
  new InputError(`the network ${topology.name}`, `a switch that ${does}`, topology.nodeNames[node]);
