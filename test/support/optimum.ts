import { type Collective, membersOf } from "../../src/model/collective/collective.ts";
import { linksOfRoute, type RouteSet } from "../../src/model/routes/routes.ts";

/**
 * Returns the least makespan, in units, of any schedule in the link-busy model, by breadth-first search over all states;
 * null when more than `cap` states would be needed. `slot[route]` is the whole number of units that a transfer takes.
 *
 * An independent oracle for tiny cases: what an NPU holds of a chunk is a set of contributions (one for a copy), a transfer
 * carries what its source held at the start, and receiving is a union, which is at least as strong as any real reduction.
 * Starts at whole units lose nothing: every start can be moved down to the unit below. With `serial[route]`, any number of
 * chunks may go as one message, each after the first in that many more units.
 */
export function optimalUnits(
  collective: Collective,
  npus: number,
  routes: RouteSet,
  slot: readonly number[],
  cap = 60_000,
  serial: readonly number[] | null = null,
): number | null {
  const chunks = collective.chunkCount;
  const start = new Array<number>(npus * chunks).fill(0);
  const full: number[] = [];
  const post: Int32Array[] = [];
  for (let c = 0; c < chunks; c++) {
    const pre = membersOf(collective, collective.pre, c);
    pre.forEach((v, i) => {
      start[v * chunks + c] = collective.reduces ? 1 << i : 1;
    });
    full.push(collective.reduces ? (1 << pre.length) - 1 : 1);
    post.push(membersOf(collective, collective.post, c));
  }
  const done = (held: readonly number[]): boolean =>
    post.every((members, c) => members.every((v) => held[v * chunks + c] === full[c]));
  const finished = (held: readonly number[], c: number): boolean =>
    (post[c] as Int32Array).every((v) => held[v * chunks + c] === full[c]);
  const idleHelps =
    serial !== null ||
    slot.some((s) => s !== slot[0]) ||
    slot[0] !== 1 ||
    [...routes.linkOffset].some((o, r) => o !== r);

  /** What is held, and for each route [units left, payload of each chunk] flattened. */
  interface State {
    readonly held: readonly number[];
    readonly flying: readonly number[];
  }
  let layer = new Map<string, State>();
  const width = 1 + chunks;
  const first: State = { held: start, flying: new Array<number>(width * slot.length).fill(0) };
  layer.set("", first);
  let states = 0;
  for (let time = 0; ; time++) {
    const next = new Map<string, State>();
    for (const state of layer.values()) {
      if (done(state.held)) return time;
      const flying = [...state.flying];
      const depart = (route: number): void => {
        if (route === slot.length) {
          const held = [...state.held];
          const after = [...flying];
          for (let r = 0; r < slot.length; r++) {
            if (after[width * r] === 0 || --after[width * r] > 0) continue;
            for (let c = 0; c < chunks; c++) held[routes.target[r] * chunks + c] |= after[width * r + 1 + c];
            after.fill(0, width * r, width * (r + 1));
          }
          const key = `${held.join()};${after.join()}`;
          if (!next.has(key)) next.set(key, { held, flying: after });
          return;
        }
        let options = 0;
        if (flying[width * route] === 0 && fits(routes, flying, route, width)) {
          const sendFrom = (chunk: number): void => {
            for (let c = chunk; c < chunks; c++) {
              const payload = state.held[routes.source[route] * chunks + c];
              if ((payload & ~state.held[routes.target[route] * chunks + c]) === 0 || finished(state.held, c)) continue;
              options++;
              const before = flying[width * route];
              flying[width * route] = before === 0 ? slot[route] : before + (serial as readonly number[])[route];
              flying[width * route + 1 + c] = payload;
              depart(route + 1);
              if (serial !== null && next.size <= cap) sendFrom(c + 1);
              flying[width * route] = before;
              flying[width * route + 1 + c] = 0;
              if (next.size > cap) return;
            }
          };
          sendFrom(0);
        }
        if (options === 0 || idleHelps) depart(route + 1);
      };
      depart(0);
      states++;
      if (states + next.size > cap) return null;
    }
    layer = next;
  }
}

/** Whether the links of an idle route have room for it beside the transfers in flight. */
function fits(routes: RouteSet, flying: readonly number[], route: number, width: number): boolean {
  const load = new Map<number, number>();
  for (let r = 0; width * r < flying.length; r++) {
    if (flying[width * r] === 0) continue;
    for (let i = routes.linkOffset[r]; i < routes.linkOffset[r + 1]; i++) {
      load.set(routes.links[i], (load.get(routes.links[i]) ?? 0) + routes.shareNum[i] / routes.shareDen[i]);
    }
  }
  return [...linksOfRoute(routes, route)].every((link, j) => {
    const i = routes.linkOffset[route] + j;
    return (load.get(link) ?? 0) + routes.shareNum[i] / routes.shareDen[i] <= 1 + 1e-9;
  });
}
