import type { Program } from "../../model/program/program.ts";
import { latencyOf, type ProgramNetwork } from "./program-network.ts";
import type { ProgramRoutes } from "./program-routes.ts";

/** FIFO connections of an msccl program: (sender, receiver, channel). */
export interface Connections {
  /** [blocks] connection into which it sends, and from which it receives; -1: none. */
  readonly sendsInto: Int32Array;
  readonly receivesFrom: Int32Array;
  /** [connections] ranks */
  readonly source: Int32Array;
  readonly target: Int32Array;
  /** [connections] */
  readonly route: readonly Int32Array[];
  readonly latencyPs: Float64Array;
}

/** Returns the connections; those of two ranks are spread over equal ways between them. O(blocks + links of routes). */
export function connectionsOf(
  program: Program,
  rankOfBlock: Int32Array,
  npuOfRank: Int32Array,
  routes: ProgramRoutes,
  network: ProgramNetwork,
): Connections {
  const { sendPeer, recvPeer, channel, rankCount } = program;
  const numbers = new Map<string, number>();
  const ofPair = new Map<number, number>();
  const source: number[] = [];
  const target: number[] = [];
  const route: Int32Array[] = [];
  const numberOf = (from: number, to: number, through: number): number => {
    if (from < 0 || to < 0 || from >= rankCount || to >= rankCount || from === to) return -1;
    const key = `${from} ${to} ${through}`;
    const known = numbers.get(key);
    if (known !== undefined) return known;
    const pair = from * rankCount + to;
    const ordinal = ofPair.get(pair) ?? 0;
    ofPair.set(pair, ordinal + 1);
    numbers.set(key, source.length);
    target.push(to);
    route.push(routes.between(npuOfRank[from], npuOfRank[to], npuOfRank[to] + ordinal));
    return source.push(from) - 1;
  };
  const sendsInto = Int32Array.from(rankOfBlock, (rank, b) => numberOf(rank, sendPeer[b], channel[b]));
  const receivesFrom = Int32Array.from(rankOfBlock, (rank, b) => numberOf(recvPeer[b], rank, channel[b]));
  return {
    sendsInto,
    receivesFrom,
    source: Int32Array.from(source),
    target: Int32Array.from(target),
    route,
    latencyPs: Float64Array.from(route, (links) => latencyOf(network, links)),
  };
}
