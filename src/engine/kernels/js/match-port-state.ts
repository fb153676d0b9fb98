import type { TenNetwork } from "../../contract/kernels.ts";
import { find, group, type Lists, NONE, range, unite } from "./lists.ts";
import { groupRoutes, type SlotRanks, shared } from "./ten.ts";

/**
 * Groups of routes that contend for resources, with their sending and receiving ports: the first and the last resource of a
 * route. The twin of native/kernels/match_port_state.h, function by function.
 */
export interface PortState {
  /** [resources] */
  readonly groupOfResource: Int32Array;
  /** Routes into each receiving port; receiving ports of each group; groups that each NPU sends into. */
  readonly portRoutes: Lists;
  readonly groupPorts: Lists;
  readonly nodeGroups: Lists;
  /** [groups] slowest rank of the group's routes; instants at which something departed. */
  readonly groupRank: Int32Array;
  readonly tick: Uint32Array;
  /** [resources] route matched to a sending port; to a receiving port. */
  readonly matched: Int32Array;
  readonly chosen: Int32Array;
  /** [resources] where a receiving port's list starts. */
  readonly rotation: Int32Array;
  /** [resources] stamp of the last augmenting step. */
  readonly visited: Int32Array;
  /** [resources] scratch: receiving ports not yet matched. */
  readonly open: Int32Array;
  /** [resources + 1] scratch of an augmenting step: ports, places in their lists of routes, and the routes tried there. */
  readonly trail: { readonly port: Int32Array; readonly place: Int32Array; readonly route: Int32Array };
  stamp: number;
}

export const sendPort = (network: TenNetwork, route: number): number => network.useResource[network.useOffset[route]];
export const receivePort = (network: TenNetwork, route: number): number =>
  network.useResource[network.useOffset[route + 1] - 1];

/** Returns the group of each resource, numbered by their least resources, and how many there are. */
function numberGroups(network: TenNetwork) {
  const resources = network.capacity.length;
  const parent = range(resources);
  for (let r = 0; r < network.slotPs.length; r++) {
    for (let i = network.useOffset[r]; i < network.useOffset[r + 1]; i++) {
      unite(parent, sendPort(network, r), network.useResource[i]);
    }
  }
  const groupOfResource = new Int32Array(resources);
  let groups = 0;
  for (let i = 0; i < resources; i++) {
    const root = find(parent, i);
    groupOfResource[i] = root === i ? groups++ : groupOfResource[root];
  }
  return { groupOfResource, groups };
}

/** Returns the receiving ports of each group, the routes into each, and each group's slowest rank. */
function buildGroupPorts(network: TenNetwork, ranks: SlotRanks, groupOfResource: Int32Array, groups: number) {
  const resources = network.capacity.length;
  const portOfRoute = new Int32Array(network.slotPs.length).fill(NONE);
  const groupOfPort = new Int32Array(resources).fill(NONE);
  const groupRank = new Int32Array(groups);
  for (let r = 0; r < network.slotPs.length; r++) {
    if (!shared(network, r)) continue;
    const port = receivePort(network, r);
    const g = groupOfResource[port];
    portOfRoute[r] = port;
    groupOfPort[port] = g;
    if (ranks.rank[r] > groupRank[g]) groupRank[g] = ranks.rank[r];
  }
  return { portRoutes: group(portOfRoute, resources), groupPorts: group(groupOfPort, groups), groupRank };
}

/** Returns the groups that each NPU sends into. */
function buildNodeGroups(network: TenNetwork, groupOfResource: Int32Array, groups: number): Lists {
  const npus = network.npuCount;
  const seen = new Int32Array(groups);
  const out = groupRoutes(network, network.routeSource, true);
  const offset = new Int32Array(npus + 1);
  const items = new Int32Array(out.items.length);
  let count = 0;
  for (let v = 0; v < npus; v++) {
    for (let i = out.offset[v]; i < out.offset[v + 1]; i++) {
      const g = groupOfResource[sendPort(network, out.items[i])];
      if (seen[g] === v + 1) continue;
      seen[g] = v + 1;
      items[count++] = g;
    }
    offset[v + 1] = count;
  }
  return { offset, items };
}

export function buildPorts(network: TenNetwork, ranks: SlotRanks): PortState {
  const resources = network.capacity.length;
  const { groupOfResource, groups } = numberGroups(network);
  return {
    groupOfResource,
    ...buildGroupPorts(network, ranks, groupOfResource, groups),
    nodeGroups: buildNodeGroups(network, groupOfResource, groups),
    tick: new Uint32Array(groups),
    matched: new Int32Array(resources),
    chosen: new Int32Array(resources),
    rotation: new Int32Array(resources),
    visited: new Int32Array(resources),
    open: new Int32Array(resources),
    trail: {
      port: new Int32Array(resources + 1),
      place: new Int32Array(resources + 1),
      route: new Int32Array(resources + 1),
    },
    stamp: 0,
  };
}
