import { InputError, InternalError, inWords } from "../../base/errors.ts";
import { withChunks } from "../collective/collective.ts";
import { wiringOf } from "../dimensions/dimensions.ts";
import { type GroupDimension, groupDimensions } from "../dimensions/group-dimensions.ts";
import { heap } from "../graph/graph.ts";
import { listSchedule } from "../messages/list-schedule.ts";
import { messages } from "../messages/messages.ts";
import { type Detours, detoursOn } from "../routes/detours.ts";
import type { MessageRoutes } from "../routes/list-routes.ts";
import { wholeRoutes } from "../routes/routes.ts";
import type { StepSchedule } from "../steps/step-schedule.ts";
import { linkCount, outLinks, type Topology } from "../topology/topology.ts";
import { PHASE_REDUCE_SCATTER, type PhaseSchedule } from "./phase-schedule.ts";
import { type LineSteps, lineSteps, partsOf } from "./phase-times.ts";

/** Returns in how many parts the steps cut each chunk of the phases: 2 where blocks go round some ring both ways. */
const partsOfAll = ({ dimensions, algorithms }: PhaseSchedule): 1 | 2 =>
  dimensions.some((dimension, d) => partsOf(dimension, algorithms[d]) === 2) ? 2 : 1;

/**
 * Returns how many transfers `stepsOfPhases` makes, a double: of a phase in lines of P among N members of all groups, (P - 1) N
 * times the chunks of the collective that a message carries. Infinity where a switch sums: that has no steps. Throws InputError
 * for phases out of order. O(phases x dimensions).
 */
export function phaseTransfers(schedule: PhaseSchedule): number {
  const { collective, dimensions, algorithms, dimension } = schedule;
  if (algorithms.includes("offload")) return Number.POSITIVE_INFINITY;
  let transfers = 0;
  eachPhase(schedule, (phase, scattered) => {
    const d = dimension[phase];
    const carried = dimensions.reduce((all, { size }, e) => (e === d || scattered[e] ? all : all * size), 1);
    transfers += (dimensions[d].size - 1) * collective.groupMembers.length * carried;
  });
  return transfers * partsOfAll(schedule);
}

/** A dimension of groups, whose ranks differ by `place` where one coordinate differs by one. */
interface PlacedDimension extends GroupDimension {
  readonly place: number;
}

/** Returns how the schedule's dimensions are wired. Throws InputError where the groups have others, or a switch sums. */
function wiringOfSchedule({ topology, collective, dimensions, algorithms }: PhaseSchedule): readonly PlacedDimension[] {
  const network = wiringOf(topology);
  const wiring = network === null ? "" : groupDimensions(network, collective);
  if (algorithms.includes("offload")) {
    throw new InputError("the phases", "algorithms that have steps between NPUs", "offload");
  }
  const isSame = ({ kind, size }: GroupDimension, d: number): boolean =>
    kind === dimensions[d]?.kind && size === dimensions[d].size;
  if (typeof wiring === "string" || wiring.length !== dimensions.length || !wiring.every(isSame)) {
    throw new InputError("the phases", "the dimensions of their groups in the network", topology.name);
  }
  let place = 1;
  return wiring.map((one) => {
    const placed = { ...one, place };
    place *= one.size;
    return placed;
  });
}

/** What a message of a phase carries: the blocks of some coordinates of its sender, and of all values of the others. */
interface Cargo {
  /** Dimensions in which the blocks have the sender's coordinate. */
  readonly own: readonly PlacedDimension[];
  /** Ranks of the blocks, less those coordinates and the one of the phase's own dimension. */
  readonly offsets: readonly number[];
}

/** Returns the cargo of chunks that are scattered over some dimensions, made once for each choice of them. */
function cargos(wiring: readonly PlacedDimension[]): (d: number, scattered: readonly boolean[]) => Cargo {
  const known = new Map<string, Cargo>();
  return (d, scattered) => {
    const key = `${d}:${scattered.map(Number).join("")}`;
    let cargo = known.get(key);
    if (cargo === undefined) {
      let offsets = [0];
      for (const [e, { size, place }] of wiring.entries()) {
        if (e === d || scattered[e]) continue;
        const inner = offsets;
        offsets = Array.from({ length: size * inner.length }, (_, i) => {
          const x = Math.floor(i / inner.length);
          return inner[i % inner.length] + x * place;
        });
      }
      cargo = { own: wiring.filter((_, e) => e !== d && scattered[e]), offsets };
      known.set(key, cargo);
    }
    return cargo;
  };
}

/** Returns the rank of the block 0 of the sender's coordinates. */
function baseOf(rank: number, own: readonly PlacedDimension[]): number {
  let base = 0;
  for (let e = 0; e < own.length; e++) base += (Math.floor(rank / own[e].place) % own[e].size) * own[e].place;
  return base;
}

/** Calls `visit` with the ranks of a dimension's lines that have coordinate x. */
function eachOfLines(ranks: number, { place, size }: PlacedDimension, x: number, visit: (rank: number) => void): void {
  for (let first = x * place; first < ranks; first += place * size) {
    for (let rank = first; rank < first + place; rank++) visit(rank);
  }
}

/**
 * Returns every phase's messages as a step schedule of the same collective, whose chunk k of a block is the phases' chunk k (or
 * two of its halves, 2k and 2k + 1, where a ring is used both ways). Messages are issued in the order of the times that phases
 * and steps suggest, on all NPUs alike, and take the links of their dimension. On another network than that of the phases, which
 * is its design (`designOf`), messages whose link failed take detours, of each the one whose first link is free first. Throws
 * InputError where a switch sums, and for phases out of order; InfeasibleError where there is no detour. O(transfers), and for
 * each detour O(links log nodes).
 */
export function stepsOfPhases(schedule: PhaseSchedule, on: Topology = schedule.topology): StepSchedule {
  const { topology, collective, algorithms, dimension, op, chunk } = schedule;
  const wiring = wiringOfSchedule(schedule);
  const parts = partsOfAll(schedule);
  const cut = withChunks(collective, parts * collective.chunksPerNpu);
  const lines: LineSteps[] = wiring.map((one, d) => lineSteps(algorithms[d], one.size, partsOf(one, algorithms[d])));
  const cargoOf = cargos(wiring);
  const cargo: Cargo[] = [];
  eachPhase(schedule, (phase, scattered) => cargo.push(cargoOf(dimension[phase], scattered)));

  const list = messages();
  const { groupCount, groupSize, groupMembers } = cut;
  const perGroup = groupSize * cut.chunksPerNpu;
  const detours = detoursOn(on, cut.chunkBytes);
  const routes = lineRoutes(topology, wiring, (from, to, links) =>
    links.every((link) => link < linkCount(on)) ? [links] : aroundOf(detours, from, to),
  );
  const routeOf: number[] = [];
  const order = issueOrder(schedule, lines);
  for (let i = 0; i < order.phase.length; i++) {
    const phase = order.phase[i];
    const d = dimension[phase];
    const scatters = op[phase] === PHASE_REDUCE_SCATTER;
    const { firstRow, from, to, block, part, parts: ownParts } = lines[d];
    const { own, offsets } = cargo[phase];
    for (let row = firstRow[order.step[i]]; row < firstRow[order.step[i] + 1]; row++) {
      const [sender, receiver] = scatters ? [from[row], to[row]] : [to[row], from[row]];
      const firstPart = ownParts === 2 ? part[row] : 0;
      const endPart = ownParts === 2 ? firstPart + 1 : parts;
      eachOfLines(groupSize, wiring[d], sender, (rank) => {
        const base = baseOf(rank, own) + block[row] * wiring[d].place;
        const peer = rank + (receiver - sender) * wiring[d].place;
        for (let group = 0; group < groupCount; group++) {
          const [npu, target] = [groupMembers[group * groupSize + rank], groupMembers[group * groupSize + peer]];
          const route = routes.of(d, npu, target);
          for (let k = 0; k < offsets.length; k++) {
            const first = group * perGroup + (base + offsets[k]) * cut.chunksPerNpu + chunk[phase] * parts;
            for (let p = firstPart; p < endPart; p++) {
              list.add(first + p, npu, target, scatters);
              routeOf.push(route);
            }
          }
        }
      });
    }
  }
  return listSchedule(on, cut, list, { ...routes.all(), routeOf: Int32Array.from(routeOf) });
}

/** So many ways lead around a failed link at most: messages take the one whose first link is free first. */
const MOST_DETOURS = 3;

/**
 * Returns detours from one NPU to another that begin with different links. With one alone an all-reduce on a 4x4 torus without a
 * cable took 1275 us for 64 MiB, with up to three 850.
 */
function aroundOf(detours: Detours, from: number, to: number): readonly (readonly number[])[] {
  const ways = [detours(from, to)];
  while (ways.length < MOST_DETOURS) {
    const next = detours(from, to);
    if (ways.some(([first]) => first === next[0])) return ways;
    ways.push(next);
  }
  return ways;
}

/** Routes between NPUs of a line over the links of its dimension, numbered as they are first asked for. */
interface LineRoutes {
  /** Returns the route's number. */
  of(dimension: number, from: number, to: number): number;
  all(): Omit<MessageRoutes, "routeOf">;
}

function lineRoutes(
  topology: Topology,
  wiring: readonly GroupDimension[],
  waysOf: (from: number, to: number, links: readonly number[]) => readonly (readonly number[])[],
): LineRoutes {
  const out = outLinks(topology);
  const numbers = new Map<number, number>();
  const source: number[] = [];
  const target: number[] = [];
  const linkOffset = [0];
  const links: number[] = [];
  const alternatives: number[] = [];
  const direct = (from: number, to: number): number => {
    for (let k = out.offset[from]; k < out.offset[from + 1]; k++) {
      if (topology.linkTarget[out.links[k]] === to) return out.links[k];
    }
    throw new InternalError(`no link from NPU ${from} to ${to}, neighbours of a line`);
  };
  return {
    of(dimension, from, to) {
      const key = from * topology.npuCount + to;
      const known = numbers.get(key);
      if (known !== undefined) return known;
      const { kind, of } = wiring[dimension];
      const own = kind === "switch" ? [of.upLink[from], of.downLink[to]] : [direct(from, to)];
      const first = source.length;
      const ways = waysOf(from, to, own);
      for (const way of ways) {
        links.push(...way);
        source.push(from);
        target.push(to);
        linkOffset.push(links.length);
        alternatives.push(ways.length);
      }
      numbers.set(key, first);
      return first;
    },
    all: () => ({ routes: wholeRoutes(source, target, linkOffset, links), alternatives }),
  };
}

/**
 * Calls `visit` with each phase and the dimensions over which its chunk is scattered besides the phase's own. Throws InputError
 * where a chunk is gathered that is not scattered, or the other way round. O(phases).
 */
function eachPhase(schedule: PhaseSchedule, visit: (phase: number, scattered: readonly boolean[]) => void): void {
  const { chunk, dimension, op, dimensions, collective } = schedule;
  const states = Array.from({ length: collective.chunksPerNpu }, () =>
    dimensions.map(() => collective.kind === "allgather"),
  );
  for (let phase = 0; phase < chunk.length; phase++) {
    const d = dimension[phase];
    const scatters = op[phase] === PHASE_REDUCE_SCATTER;
    const state = states[chunk[phase]];
    if (state[d] === scatters) {
      const expected = `a chunk that is ${scatters ? "whole" : "scattered"} in dimension ${d}`;
      throw new InputError(`phase ${phase} (steps need a valid schedule)`, expected, inWords(`chunk ${chunk[phase]}`));
    }
    state[d] = false;
    visit(phase, state);
    state[d] = scatters;
  }
}

/** Steps of phases in the order in which all NPUs issue their messages (Themis, 4.6). */
interface IssueOrder {
  /** [steps of phases] */
  readonly phase: Int32Array;
  /** [steps of phases] 0 the first; all-gathers count from the reduce-scatter's last. */
  readonly step: Int32Array;
}

/** Returns for each phase the next one of its chunk, and each chunk's first; -1 where there is none. */
function successors({ chunk, collective }: PhaseSchedule): { next: Int32Array; first: Int32Array } {
  const next = new Int32Array(chunk.length).fill(-1);
  const first = new Int32Array(collective.chunksPerNpu).fill(-1);
  for (let phase = chunk.length - 1; phase >= 0; phase--) {
    next[phase] = first[chunk[phase]];
    first[chunk[phase]] = phase;
  }
  return { next, first };
}

/** How much longer a step may hold up an earlier phase than its dimension would be idle: what is tried. */
const PATIENCE: readonly number[] = [Number.POSITIVE_INFINITY, 16, 4, 1, 0];

/**
 * Returns the steps of all phases as dimensions would carry them out that fill latencies (4.3: several small chunks at once): a
 * dimension that is free takes the first phase, in the schedule's order, whose chunk or last step has arrived, and serialises
 * its next step; but it waits for a phase before that one where it would hold this up too long. Of several measures of too long
 * the one with which the last step arrives first. O(steps of phases x phases in flight in a dimension).
 */
function issueOrder(schedule: PhaseSchedule, lines: readonly LineSteps[]): IssueOrder {
  return PATIENCE.map((patience) => issued(schedule, lines, patience)).reduce((best, other) =>
    other.lastPs < best.lastPs ? other : best,
  );
}

function issued(
  schedule: PhaseSchedule,
  lines: readonly LineSteps[],
  patience: number,
): IssueOrder & { readonly lastPs: number } {
  const { chunk, dimension, op, dimensions, startPs, endPs } = schedule;
  const { next, first } = successors(schedule);
  let total = 0;
  for (let i = 0; i < chunk.length; i++) total += lines[dimension[i]].steps;
  const order = { phase: new Int32Array(total), step: new Int32Array(total), lastPs: 0 };
  const waiting = dimensions.map(heap);
  const isFree = dimensions.map(() => true);
  const done = new Int32Array(chunk.length);
  /** For each dimension, by phase: when the step in flight arrives, of phases that have another. */
  const inFlight = dimensions.map(() => new Map<number, number>());
  const earliestBefore = (d: number, phase: number): number => {
    let arrival = Number.POSITIVE_INFINITY;
    for (const [other, ps] of inFlight[d]) if (other < phase && ps < arrival) arrival = ps;
    return arrival;
  };
  /** By time: phases whose step has arrived; dimensions, numbered behind them. */
  const events = heap();
  for (const phase of first) if (phase >= 0) waiting[dimension[phase]].add(phase, phase);
  const arrive = (phase: number): void => {
    inFlight[dimension[phase]].delete(phase);
    const ready = ++done[phase] < lines[dimension[phase]].steps ? phase : next[phase];
    if (ready >= 0) waiting[dimension[ready]].add(ready, ready);
  };
  /** Serialises the next step of the first phase that waits, unless an earlier phase comes soon. */
  const serve = (d: number, row: number, now: number): boolean => {
    if (!isFree[d] || waiting[d].size() === 0) return false;
    const phase = waiting[d].key();
    const { steps, firstRow } = lines[d];
    const step = op[phase] === PHASE_REDUCE_SCATTER ? done[phase] : steps - 1 - done[phase];
    const { stepPs } = dimensions[d];
    const serialPs = Math.max(1, endPs[phase] - startPs[phase] - steps * stepPs);
    const freePs = now + Math.ceil((serialPs * (firstRow[step + 1] - firstRow[step])) / firstRow[steps]);
    const expected = earliestBefore(d, phase);
    if (expected < freePs && freePs - expected > patience * (expected - now)) return false;
    waiting[d].take();
    isFree[d] = false;
    if (done[phase] + 1 < steps) inFlight[d].set(phase, freePs + stepPs);
    events.add(freePs, chunk.length + d);
    events.add(freePs + stepPs, phase);
    order.phase[row] = phase;
    order.step[row] = step;
    order.lastPs = Math.max(order.lastPs, freePs + stepPs);
    return true;
  };
  let row = 0;
  for (let now = 0; row < total; now = events.key()) {
    while (events.key() === now) {
      const event = events.take();
      if (event < chunk.length) arrive(event);
      else isFree[event - chunk.length] = true;
    }
    for (let d = 0; d < dimensions.length; d++) if (serve(d, row, now)) row++;
  }
  return order;
}
