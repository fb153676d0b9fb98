import { InputError } from "../../base/errors.ts";
import { toNumber } from "../../model/numbers/rational.ts";
import { type Program, VIA } from "../../model/program/program.ts";
import { outLinks, type Topology } from "../../model/topology/topology.ts";
import type { Setup } from "./program-machine.ts";
import { latencyOf, schedule, send, take } from "./program-network.ts";
import type { ProgramRoutes } from "./program-routes.ts";
import type { Signals, Stretch } from "./program-signals.ts";
import { piecesOf, sizeTable } from "./program-sizes.ts";

/** What the data of an instruction does on the network. */
export interface Transfers {
  /** Begins to move the data of an instruction. */
  readonly begin: (instruction: number, rank: number, turn: number, nowPs: number) => void;
  /** Sends the next piece of it. */
  readonly nextPiece: (instruction: number, nowPs: number) => void;
  /** A message has arrived. */
  readonly arrive: (message: number, nowPs: number) => void;
}

export interface TransferEvents {
  /** All that it reads is here, all that it writes has left. `atPs` may lie ahead. */
  readonly issued: (instruction: number, atPs: number) => void;
  /** All that it writes is there. */
  readonly landed: (instruction: number, nowPs: number) => void;
  /** All of a destination is there. */
  readonly written: (operand: number, instruction: number, nowPs: number) => void;
}

interface Way {
  readonly route: Int32Array;
  readonly rank: number;
  readonly operand: number;
}

interface Transfer {
  readonly rank: number;
  readonly reads: readonly Way[];
  readonly writes: readonly Way[];
  readonly load: SwitchWays | null;
  readonly store: SwitchWays | null;
  readonly size: number;
  readonly pieces: number;
  /** [pieces] messages that must come before it can be written, and when the last byte of them is at the switch. */
  readonly awaited: Int32Array;
  readonly tailPs: Float64Array;
  readonly stretches: (readonly Stretch[])[];
  begun: number;
  unsent: number;
  inFlight: number;
  sentPs: number;
}

/** Roles of messages; WRITE + k: to the k-th destination. */
const READ = 0;
const LOAD_HEAD = 1;
const STORE_HEAD = 2;
const WRITE = 3;

const SWITCH = VIA.indexOf("switch");

/**
 * Returns what moves the data of an mscclpp program. The data of an instruction is cut into pieces; a piece is written when it
 * has been read, and the next one begins when links have begun this one, so instructions take turns on a link.
 */
export function transfersOf(setup: Setup, signals: Signals, pieceKind: number, events: TransferEvents): Transfers {
  const { program, topology, npuOfRank, sizes, network, routes, timeline, localPsPerByte } = setup;
  const { operandOffset, sourceCount, operandRank, chunks, via } = program;
  const rowOf = sizeTable(program, sizes, network);
  const chunkPs = toNumber(sizes.chunkBytes) * localPsPerByte;
  const transfers = new Map<number, Transfer>();
  const stretchOf: (Stretch | null)[] = [];

  const make = (i: number, rank: number, turn: number, nowPs: number): Transfer => {
    const middle = operandOffset[i] + sourceCount[i];
    const npu = npuOfRank[rank];
    const ways = (from: number, to: number, inwards: boolean): Way[] => {
      const list: Way[] = [];
      for (let operand = from; operand < to; operand++) {
        const other = operandRank[operand];
        if (other === rank) continue;
        const there = npuOfRank[other];
        const route = inwards ? routes.between(there, npu, npu + turn) : routes.between(npu, there, there + turn);
        list.push({ route, rank: other, operand });
      }
      return list;
    };
    const group = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, k) => ({ npu: npuOfRank[operandRank[from + k]], operand: from + k }));
    const several = (from: number, to: number): boolean => via[i] === SWITCH && to - from > 1;
    const loads = several(operandOffset[i], middle);
    const stores = several(middle, operandOffset[i + 1]);
    const pieces = piecesOf(sizes, chunks[i]);
    return {
      rank,
      reads: loads ? [] : ways(operandOffset[i], middle, true),
      writes: stores ? [] : ways(middle, operandOffset[i + 1], false),
      load: loads ? loadWays(topology, routes, npu, group(operandOffset[i], middle)) : null,
      store: stores ? storeWays(topology, routes, npu, group(middle, operandOffset[i + 1])) : null,
      size: rowOf(chunks[i], true, isPacket(program, i)),
      pieces,
      awaited: new Int32Array(pieces),
      tailPs: new Float64Array(pieces),
      stretches: [],
      begun: 0,
      unsent: pieces,
      inFlight: 0,
      sentPs: nowPs + Math.round(chunkPs * chunks[i]),
    };
  };

  const launch = (
    i: number,
    { size, store, writes }: Transfer,
    what: { readonly route: Int32Array; readonly piece: number; readonly role: number; readonly early?: boolean },
    nowPs: number,
    row: number,
    tailPs = 0,
  ): number => {
    const { route, piece, role, early = false } = what;
    const roles = WRITE + Math.max(writes.length, store?.down.length ?? 0);
    return send(network, nowPs, { route, size, owner: i, part: piece * roles + role, early, row, tailPs });
  };

  const nextPiece = (i: number, nowPs: number): void => {
    const transfer = transfers.get(i) as Transfer;
    const { reads, load, rank } = transfer;
    const piece = transfer.begun++;
    let startPs = nowPs;
    if (load !== null) {
      transfer.awaited[piece] = load.up.length;
      for (const route of load.up) {
        launch(i, transfer, { route, piece, role: LOAD_HEAD, early: true }, nowPs, -1);
        startPs = Math.max(startPs, network.startPs);
      }
    } else if (reads.length > 0) {
      transfer.awaited[piece] = reads.length;
      for (const { route, rank: from } of reads) {
        launch(i, transfer, { route, piece, role: READ }, nowPs, timeline.begin(nowPs, from, rank, i));
        startPs = Math.max(startPs, network.startPs);
      }
    } else startPs = write(i, transfer, piece, nowPs);
    if (transfer.begun < transfer.pieces) schedule(network, startPs, pieceKind, i);
  };

  /** Sends a piece to its destinations; returns when links have begun it. */
  const write = (i: number, transfer: Transfer, piece: number, nowPs: number): number => {
    const { rank, writes, store } = transfer;
    let startPs = nowPs;
    writes.forEach(({ route, rank: to }, k) => {
      const row = timeline.begin(nowPs, rank, to, i);
      const message = launch(i, transfer, { route, piece, role: WRITE + k }, nowPs, row);
      stretchOf[message] = signals.begin(rank, to);
      transfer.inFlight++;
      transfer.sentPs = Math.max(transfer.sentPs, network.sentPs);
      startPs = Math.max(startPs, network.startPs);
    });
    if (store !== null) {
      transfer.stretches[piece] = store.down.map(({ operand }) => signals.begin(rank, operandRank[operand]));
      transfer.inFlight += store.down.length;
      launch(i, transfer, { route: store.up[0], piece, role: STORE_HEAD, early: true }, nowPs, -1);
      transfer.sentPs = Math.max(transfer.sentPs, network.sentPs);
      startPs = network.startPs;
    }
    if (--transfer.unsent === 0) {
      events.issued(i, Math.max(transfer.sentPs, nowPs));
      if (transfer.inFlight === 0) events.landed(i, nowPs);
    }
    return startPs;
  };

  const arriveAs = (i: number, transfer: Transfer, piece: number, role: number, nowPs: number, tailPs: number) => {
    const { rank, load, store, writes } = transfer;
    if (role === READ) {
      if (--transfer.awaited[piece] === 0) write(i, transfer, piece, nowPs);
    } else if (role === LOAD_HEAD) {
      transfer.tailPs[piece] = Math.max(transfer.tailPs[piece], tailPs);
      if (--transfer.awaited[piece] > 0) return;
      transfer.awaited[piece] = 1;
      const { route } = (load as SwitchWays).down[0];
      launch(
        i,
        transfer,
        { route, piece, role: READ },
        nowPs,
        timeline.begin(nowPs, rank, rank, i),
        transfer.tailPs[piece],
      );
    } else if (role === STORE_HEAD) {
      (store as SwitchWays).down.forEach(({ route, operand }, k) => {
        const row = timeline.begin(nowPs, rank, operandRank[operand], i);
        const message = launch(i, transfer, { route, piece, role: WRITE + k }, nowPs, row, tailPs);
        stretchOf[message] = transfer.stretches[piece][k];
      });
    } else {
      const { operand } = (store?.down ?? writes)[role - WRITE];
      if (piece === transfer.pieces - 1) events.written(operand, i, nowPs);
      if (--transfer.inFlight === 0 && transfer.unsent === 0) events.landed(i, nowPs);
    }
  };

  return {
    begin(i, rank, turn, nowPs) {
      const transfer = make(i, rank, turn, nowPs);
      transfers.set(i, transfer);
      const { reads, writes, load, store } = transfer;
      if (reads.length + writes.length === 0 && load === null && store === null) {
        events.issued(i, transfer.sentPs);
        events.landed(i, nowPs);
        return;
      }
      // a request goes out before data comes back
      const asks = reads.map(({ rank: from }) =>
        latencyOf(network, routes.between(npuOfRank[rank], npuOfRank[from], npuOfRank[from] + turn)),
      );
      const delay = asks.reduce((most, latency) => Math.max(most, latency), 0);
      if (delay > 0) schedule(network, nowPs + delay, pieceKind, i);
      else nextPiece(i, nowPs);
    },
    nextPiece,
    arrive(number, nowPs) {
      const stretch = stretchOf[number] ?? null;
      stretchOf[number] = null;
      const { owner, part, row, tailPs } = take(network, number);
      timeline.end(row, nowPs);
      const transfer = transfers.get(owner) as Transfer;
      const { writes, store, rank } = transfer;
      const roles = WRITE + Math.max(writes.length, store?.down.length ?? 0);
      const [piece, role] = [Math.floor(part / roles), part % roles];
      if (stretch !== null) {
        const { operand } = (store?.down ?? writes)[role - WRITE];
        signals.arrive(stretch, rank, operandRank[operand], nowPs);
      }
      arriveAs(owner, transfer, piece, role, nowPs, tailPs);
    },
  };
}

/** Returns whether an instruction sends packets, or reads them elsewhere. */
function isPacket({ operandOffset, operandPacket }: Program, i: number): boolean {
  for (let o = operandOffset[i]; o < operandOffset[i + 1]; o++) if (operandPacket[o] === 1) return true;
  return false;
}

/** Ways of an operation of a switch: every link is loaded once. */
interface SwitchWays {
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
function loadWays(topology: Topology, routes: ProgramRoutes, reader: number, group: readonly Group[]): SwitchWays {
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
function storeWays(topology: Topology, routes: ProgramRoutes, writer: number, group: readonly Group[]): SwitchWays {
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
