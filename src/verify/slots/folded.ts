import { groupOf } from "../../model/symmetry/fold.ts";
import type { Names } from "../describe.ts";
import type { Recorder } from "../violation.ts";
import { type Arrivals, checkSources, recordFaults, SOUND } from "./causality.ts";
import { compareWith, npusToCompare } from "./compared.ts";
import type { LogFrame } from "./log.ts";

/** A group of maps and what it makes of NPUs. */
interface Orbits {
  readonly group: readonly Int32Array[];
  /** [NPUs] the least NPU of the orbit. */
  readonly least: Int32Array;
  /** [NPUs] the first map that takes it there. */
  readonly element: Int32Array;
}

/**
 * Judges a schedule by the logs of the least NPUs of the orbits of a group of maps: records every violation that they have
 * under the assumption that the log of NPU w is the image of that of its least NPU u under the first map g, in lexicographic
 * order, that takes u to w; returns whether there was none. O(arrivals of the least NPUs + maps x (NPUs + chunks) + routes).
 *
 * Let u receive c from s in slot t, and r be the least NPU of the orbit of s. Then w = g u receives g c from g s, over a route
 * that exists, for g is checked to take routes to routes and owners to owners of as many chunks. What g s has is the image of
 * what r has under the first map e that takes r to g s. So g c is there in time just when r has had e^-1 g c since slot t. That
 * is looked up for every map e^-1 g that comes up at any w: mostly one, and several only where maps leave r in place.
 */
export function checkFolded(
  frame: LogFrame,
  generators: readonly Int32Array[],
  rows: Arrivals,
  recorder: Recorder,
  words: Names,
  onProgress?: (done: number, total: number) => void,
): boolean {
  const before = recorder.count();
  const orbits = orbitsOf(frame, generators, recorder);
  if (orbits === null || frame.npus === 0) return recorder.count() === before;
  const { npus, ports, schedule } = frame;
  const { least, group } = orbits;
  const views = viewsOf(frame, orbits);
  const chunkMap = chunkMaps(frame, group);
  for (let npu = 0; npu < npus; npu++) {
    if (least[npu] !== npu) continue;
    onProgress?.(npu + 1, npus);
    rows.rowOf(npu);
    if (rows.state[npu] !== SOUND) {
      recordFaults(frame, npu, recorder, words);
      continue;
    }
    checkSources(frame, npu, rows, recorder, words, {
      rowOf: (port) => least[schedule.routes.source[ports.items[port]]],
      mapsOf: (port) => views[port].map(chunkMap),
    });
  }
  markImages(frame, orbits, rows.used);
  if (recorder.count() === before) compareImages(frame, rows, orbits, chunkMap, recorder);
  return recorder.count() === before;
}

/** Returns the orbits; null, with a record of why, where generators are no maps of NPUs, routes and owners onto such. */
function orbitsOf(frame: LogFrame, generators: readonly Int32Array[], recorder: Recorder): Orbits | null {
  const { npus } = frame;
  const malformed = (message: string): null => {
    recorder.record(() => ({ kind: "malformed", message }));
    return null;
  };
  for (const [i, map] of generators.entries()) {
    const fault = mapFault(frame, map);
    if (fault !== null) return malformed(`map ${i} of the symmetry ${fault}`);
  }
  const group = groupOf(generators, npus);
  if (group === null) return malformed("the maps of the symmetry make up too many");
  const least = new Int32Array(npus).fill(-1);
  const element = new Int32Array(npus);
  for (let npu = 0; npu < npus; npu++) {
    if (least[npu] >= 0) continue;
    for (const [g, map] of group.entries()) {
      if (least[map[npu]] >= 0) continue;
      least[map[npu]] = npu;
      element[map[npu]] = g;
    }
  }
  return { group, least, element };
}

/** Returns what keeps a generator from being a map of the NPUs onto themselves with their routes and chunks, or null. */
function mapFault({ npus, held, ports, schedule }: LogFrame, map: Int32Array): string | null {
  const { nodeNames } = schedule.topology;
  const { source } = schedule.routes;
  if (!(map instanceof Int32Array) || map.length !== npus) return `is no list of ${npus} NPUs`;
  const reached = new Uint8Array(npus);
  for (const image of map) {
    if (!(image >= 0 && image < npus) || reached[image] === 1) return `does not take NPUs to different ones: ${image}`;
    reached[image] = 1;
  }
  /** Routes from each NPU into the image at hand, less those that are there by the map. */
  const missing = new Int32Array(npus);
  for (let npu = 0; npu < npus; npu++) {
    const image = map[npu];
    const named = `${nodeNames[npu]} to ${nodeNames[image]}`;
    if (held.offset[npu + 1] - held.offset[npu] !== held.offset[image + 1] - held.offset[image]) {
      return `takes ${named}, which has not as many chunks`;
    }
    for (let i = ports.offset[npu]; i < ports.offset[npu + 1]; i++) missing[map[source[ports.items[i]]]]++;
    for (let i = ports.offset[image]; i < ports.offset[image + 1]; i++) missing[source[ports.items[i]]]--;
    let fits = true;
    for (let i = ports.offset[npu]; i < ports.offset[npu + 1]; i++) {
      if (missing[map[source[ports.items[i]]]] !== 0) fits = false;
      missing[map[source[ports.items[i]]]] = 0;
    }
    for (let i = ports.offset[image]; i < ports.offset[image + 1]; i++) {
      if (missing[source[ports.items[i]]] !== 0) fits = false;
      missing[source[ports.items[i]]] = 0;
    }
    if (!fits) return `takes ${named}, but not the routes into it`;
  }
  return null;
}

/** Returns for each port of a least NPU the members e^-1 g of the group by which what comes through it is looked up. */
function viewsOf({ npus, ports, schedule }: LogFrame, { group, least, element }: Orbits): number[][] {
  const { source } = schedule.routes;
  const memberOf = membersOf(group, npus);
  const inverse = group.map((map) => {
    const back = new Int32Array(npus);
    for (let npu = 0; npu < npus; npu++) back[map[npu]] = npu;
    return back;
  });
  const views: number[][] = Array.from(ports.items, () => []);
  for (let image = 0; image < npus; image++) {
    const map = group[element[image]];
    const npu = least[image];
    for (let port = ports.offset[npu]; port < ports.offset[npu + 1]; port++) {
      const back = inverse[element[map[source[ports.items[port]]]]];
      const view = memberOf((at) => back[map[at]]);
      if (!views[port].includes(view)) views[port].push(view);
    }
  }
  return views;
}

/** Returns the function that says which member of a group a map is: a few NPUs tell all members apart. */
function membersOf(group: readonly Int32Array[], npus: number): (map: (npu: number) => number) => number {
  const base: number[] = [];
  let classes = 1;
  const keyOf = (map: (npu: number) => number): string => base.map(map).join();
  for (let npu = 0; npu < npus && classes < group.length; npu++) {
    base.push(npu);
    const apart = new Set(group.map((map) => keyOf((at) => map[at]))).size;
    if (apart === classes) base.pop();
    classes = apart;
  }
  const members = new Map(group.map((map, g) => [keyOf((at) => map[at]), g]));
  return (map) => members.get(keyOf(map)) ?? -1;
}

/** Returns the function that gives [chunks] where a member takes each chunk: the k-th of an NPU to the k-th of its image. */
function chunkMaps({ npus, chunks, held }: LogFrame, group: readonly Int32Array[]): (member: number) => Int32Array {
  const made: Int32Array[] = [];
  return (member) => {
    if (made[member] === undefined) {
      made[member] = new Int32Array(chunks);
      for (let npu = 0; npu < npus; npu++) {
        const to = held.offset[group[member][npu]] - held.offset[npu];
        for (let i = held.offset[npu]; i < held.offset[npu + 1]; i++) made[member][held.items[i]] = held.items[i + to];
      }
    }
    return made[member];
  };
}

/** Marks the routes that images of marked ones may be: all from the source's image to the target's. */
function markImages({ npus, ports, schedule }: LogFrame, { group, least, element }: Orbits, used: Uint8Array): void {
  const { source } = schedule.routes;
  const inUse = new Uint8Array(npus);
  for (let image = 0; image < npus; image++) {
    const map = group[element[image]];
    const npu = least[image];
    if (npu === image) continue;
    const mark = (value: number): void => {
      for (let port = ports.offset[npu]; port < ports.offset[npu + 1]; port++) {
        if (used[ports.items[port]] === 1) inUse[map[source[ports.items[port]]]] = value;
      }
    };
    mark(1);
    for (let port = ports.offset[image]; port < ports.offset[image + 1]; port++) {
      if (inUse[source[ports.items[port]]] === 1) used[ports.items[port]] = 1;
    }
    mark(0);
  }
}

/** Records logs that are not the images they should be; looks at all of them, or at some where there are many arrivals. */
function compareImages(
  frame: LogFrame,
  rows: Arrivals,
  { group, least, element }: Orbits,
  chunkMap: (member: number) => Int32Array,
  recorder: Recorder,
): void {
  for (const image of npusToCompare(frame)) {
    const npu = least[image];
    if (npu === image) continue;
    const member = element[image];
    compareWith(
      frame,
      rows,
      { npu, log: frame.schedule.row(npu) },
      image,
      { chunk: chunkMap(member), npu: group[member] },
      recorder,
    );
  }
}
