import { formatTime } from "../numbers/units.ts";
import type { Topology } from "../topology/topology.ts";
import type { Bound } from "./witness.ts";

/**
 * Returns what proves the bound in one phrase: "0 receives 24 chunks through 134.22 GB/s", "the 8 NPUs of box0 ...", "the
 * latency from 0 to 24".
 */
export function describeWitness(topology: Topology, bound: Bound): string {
  const { witness } = bound;
  const name = (node: number): string => npuName(topology, node);
  switch (witness.kind) {
    case "nothing":
      return "nothing has to be sent";
    case "latency":
      return `one chunk travels from ${name(witness.from)} to ${name(witness.to)}`;
    case "program": {
      const { slots, columns, rows, nodes } = witness;
      const searched = nodes === 0 ? "its linear relaxation has no solution" : `no solution in ${nodes} nodes`;
      return `${slots} slots are too few for ${witness.model}: an integer program of ${columns} columns and ${rows} rows, ${searched}`;
    }
    case "dual":
      return `${witness.cuts.length} weighted cuts (dual of the linear program): what is reduced and broadcast shares the links across them`;
    case "lengths": {
      const used = witness.lengths.reduce((count, length) => count + (length > 0 ? 1 : 0), 0);
      return `lengths of ${used} links (dual of the maximum concurrent flow): what is sent takes up the distance from source to target`;
    }
    case "work":
      return `${witness.demand} in all through ${gbps(witness.totalGBps)} in total`;
    case "cut": {
      const verb = witness.direction === "in" ? "receive" : "send";
      const start = witness.from === undefined ? "" : `, none before it has come from ${name(witness.from)}`;
      const end = witness.to === undefined ? "" : `, the last of which must reach ${name(witness.to)}`;
      return `${subject(topology, witness.nodes, verb)} ${witness.demand} through ${gbps(witness.entryGBps)}${start}${end}`;
    }
    case "tail": {
      const into = witness.direction === "in";
      const rest = into
        ? `and what arrives from ${formatTime(witness.afterPs)} on must still reach ${name(witness.npu)}`
        : `and ${name(witness.npu)} must pass its part on ${formatTime(witness.afterPs)} or more before the end`;
      return `${subject(topology, witness.nodes, into ? "receive" : "send")} ${witness.demand} through ${gbps(witness.entryGBps)}, ${rest}`;
    }
  }
}

const gbps = (value: number): string => `${Number(value.toPrecision(5))} GB/s`;

const npuName = (topology: Topology, node: number): string =>
  /^\d+$/.test(topology.nodeNames[node]) ? `NPU ${topology.nodeNames[node]}` : topology.nodeNames[node];

/** Names the set, with the verb in its number: one node, a whole node group, or the first few of many. */
function subject(topology: Topology, nodes: readonly number[], verb: string): string {
  const npus = nodes.filter((v) => v < topology.npuCount);
  if (npus.length === 1) return `${npuName(topology, npus[0])} ${verb}s`;
  const count = `the ${npus.length} NPUs`;
  const group = topology.nodeTraits[npus[0]]?.group;
  if (group !== undefined && npus.every((v) => topology.nodeTraits[v].group === group)) {
    const whole = topology.nodeTraits.slice(0, topology.npuCount).filter((t) => t.group === group).length;
    if (whole === npus.length) return `${count} of ${group} ${verb}`;
  }
  const names = npus.map((v) => topology.nodeNames[v]);
  const follows = (name: string, i: number): boolean =>
    npus[i] === npus[0] + i && (!/^\d+$/.test(name) || Number(name) === Number(names[0]) + i);
  if (names.length > 2 && names.every(follows)) return `${count} ${names[0]} to ${names[names.length - 1]} ${verb}`;
  const shown = names.slice(0, 6);
  return `${count} ${shown.join(", ")}${npus.length > 6 ? ", ..." : ""} ${verb}`;
}
