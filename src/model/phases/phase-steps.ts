import { InputError } from "../../base/errors.ts";
import { withChunks } from "../collective/collective.ts";
import { type DimensionWiring, wiringOf } from "../dimensions/dimensions-of.ts";
import { type LineSteps, lineSteps, partsOf } from "../dimensions/line-steps.ts";
import { listSchedule } from "../messages/list-schedule.ts";
import { messages } from "../messages/messages.ts";
import type { StepSchedule } from "../steps/step-schedule.ts";
import { PHASE_REDUCE_SCATTER, type PhaseSchedule } from "./phase-schedule.ts";
import { eachPhase, issueOrder } from "./phase-steps-order.ts";
import { lineRoutes } from "./phase-steps-routes.ts";

/** Returns in how many parts the steps cut each chunk of the phases: 2 where blocks go round some ring both ways. */
const partsOfAll = ({ dimensions, algorithms }: PhaseSchedule): 1 | 2 =>
  dimensions.some((dimension, d) => partsOf(dimension, algorithms[d]) === 2) ? 2 : 1;

/**
 * Returns how many transfers `stepsOfPhases` makes, a double: of a phase in lines of P among N NPUs, (P - 1) N times the chunks
 * of the collective that a message carries. Infinity where a switch sums: that has no steps. Throws InputError for phases out of
 * order. O(phases x dimensions).
 */
export function phaseTransfers(schedule: PhaseSchedule): number {
  const { topology, dimensions, algorithms, dimension } = schedule;
  if (algorithms.includes("offload")) return Number.POSITIVE_INFINITY;
  let transfers = 0;
  eachPhase(schedule, (phase, scattered) => {
    const d = dimension[phase];
    const carried = dimensions.reduce((all, { size }, e) => (e === d || scattered[e] ? all : all * size), 1);
    transfers += (dimensions[d].size - 1) * topology.npuCount * carried;
  });
  return transfers * partsOfAll(schedule);
}

/** Returns the wiring of the schedule's dimensions. Throws InputError where the network has others, or a switch sums. */
function wiringOfSchedule({ topology, dimensions, algorithms }: PhaseSchedule): readonly DimensionWiring[] {
  const wiring = wiringOf(topology);
  if (algorithms.includes("offload")) {
    throw new InputError("the phases", "algorithms that have steps between NPUs", "offload");
  }
  const same = wiring?.every(({ kind, size }, d) => kind === dimensions[d]?.kind && size === dimensions[d].size);
  if (wiring === null || same !== true || wiring.length !== dimensions.length) {
    throw new InputError("the phases", "the dimensions of their network", topology.name);
  }
  return wiring;
}

/** What a message of a phase carries: the blocks of some coordinates of its sender, and of all values of the others. */
interface Cargo {
  /** Dimensions in which the blocks have the sender's coordinate. */
  readonly own: readonly DimensionWiring[];
  /** Ids of the blocks, less those coordinates and the one of the phase's own dimension. */
  readonly offsets: readonly number[];
}

/** Returns the cargo of chunks that are scattered over some dimensions, made once for each choice of them. */
function cargos(wiring: readonly DimensionWiring[]): (d: number, scattered: readonly boolean[]) => Cargo {
  const known = new Map<string, Cargo>();
  return (d, scattered) => {
    const key = `${d}:${scattered.map(Number).join("")}`;
    let cargo = known.get(key);
    if (cargo === undefined) {
      let offsets = [0];
      for (const [e, { size, stride }] of wiring.entries()) {
        if (e === d || scattered[e]) continue;
        const inner = offsets;
        offsets = Array.from({ length: size * inner.length }, (_, i) => {
          const x = Math.floor(i / inner.length);
          return inner[i % inner.length] + x * stride;
        });
      }
      cargo = { own: wiring.filter((_, e) => e !== d && scattered[e]), offsets };
      known.set(key, cargo);
    }
    return cargo;
  };
}

/** Returns the id of the block 0 of the sender's coordinates. */
function baseOf(npu: number, own: readonly DimensionWiring[]): number {
  let base = 0;
  for (let e = 0; e < own.length; e++) base += (Math.floor(npu / own[e].stride) % own[e].size) * own[e].stride;
  return base;
}

/** Calls `visit` with the NPUs of a dimension's lines that have coordinate x. */
function eachOfLines(npus: number, { stride, size }: DimensionWiring, x: number, visit: (npu: number) => void): void {
  for (let first = x * stride; first < npus; first += stride * size) {
    for (let npu = first; npu < first + stride; npu++) visit(npu);
  }
}

/**
 * Returns every phase's messages as a step schedule of the same collective, whose chunk k of a block is the phases' chunk k (or
 * two of its halves, 2k and 2k + 1, where a ring is used both ways). Messages are issued in the order of the times that phases
 * and steps suggest, on all NPUs alike, and take the links of their dimension. Throws InputError where a switch sums, and for
 * phases out of order. O(transfers).
 */
export function stepsOfPhases(schedule: PhaseSchedule): StepSchedule {
  const { topology, collective, algorithms, dimension, op, chunk } = schedule;
  const wiring = wiringOfSchedule(schedule);
  const parts = partsOfAll(schedule);
  const cut = withChunks(collective, parts * collective.chunksPerNpu);
  const lines: LineSteps[] = wiring.map((one, d) => lineSteps(algorithms[d], one.size, partsOf(one, algorithms[d])));
  const cargoOf = cargos(wiring);
  const cargo: Cargo[] = [];
  eachPhase(schedule, (phase, scattered) => cargo.push(cargoOf(dimension[phase], scattered)));

  const list = messages();
  const routes = lineRoutes(topology, wiring);
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
      eachOfLines(topology.npuCount, wiring[d], sender, (npu) => {
        const target = npu + (receiver - sender) * wiring[d].stride;
        const route = routes.of(d, npu, target);
        const base = baseOf(npu, own) + block[row] * wiring[d].stride;
        for (let k = 0; k < offsets.length; k++) {
          for (let p = firstPart; p < endPart; p++) {
            list.add((base + offsets[k]) * cut.chunksPerNpu + chunk[phase] * parts + p, npu, target, scatters);
            routeOf.push(route);
          }
        }
      });
    }
  }
  const all = routes.all();
  return listSchedule(topology, cut, list, {
    routes: all,
    routeOf: Int32Array.from(routeOf),
    alternatives: new Array<number>(all.source.length).fill(1),
  });
}
