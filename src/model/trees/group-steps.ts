import { InternalError } from "../../base/errors.ts";
import { type Collective, withChunks } from "../collective/collective.ts";
import { compare } from "../numbers/rational.ts";
import type { RouteSet } from "../routes/routes.ts";
import { indexColumn, inRowOrder, type StepSchedule } from "../steps/step-schedule.ts";

/** Returns the routes of all, those of each behind those of the ones before. */
function joined(sets: readonly RouteSet[]): RouteSet {
  const all = <Column extends Int32Array | Float64Array>(
    make: (length: number) => Column,
    of: (set: RouteSet) => Column,
  ): Column => {
    const column = make(sets.reduce((sum, set) => sum + of(set).length, 0));
    let at = 0;
    for (const set of sets) {
      column.set(of(set), at);
      at += of(set).length;
    }
    return column;
  };
  const whole = (of: (set: RouteSet) => Int32Array): Int32Array => all((length) => new Int32Array(length), of);
  const shares = (of: (set: RouteSet) => Float64Array): Float64Array => all((length) => new Float64Array(length), of);
  const linkOffset = [0];
  for (const { linkOffset: own } of sets) {
    const from = linkOffset[linkOffset.length - 1];
    for (let route = 1; route < own.length; route++) linkOffset.push(from + own[route]);
  }
  return {
    source: whole(({ source }) => source),
    target: whole(({ target }) => target),
    linkOffset: Int32Array.from(linkOffset),
    links: whole(({ links }) => links),
    shareNum: shares(({ shareNum }) => shareNum),
    shareDen: shares(({ shareDen }) => shareDen),
  };
}

/** Returns the collective of all groups in the chunks of one of them. */
function together(whole: Collective, one: Collective): Collective {
  const cut = withChunks(whole, one.chunksPerNpu);
  // the chunks of an all-reduce belong to nobody, and need not be as many for each NPU
  return { ...cut, chunkCount: whole.groupCount * one.chunkCount, chunkBytes: one.chunkBytes };
}

/**
 * Returns the schedules of a collective's groups, each of one group, as one of all: the chunks of group g follow those of group
 * g - 1, and all run side by side as they are planned. Their shares of each link must fit together, and all must have as many
 * chunks of the same size: InternalError. O(transfers log transfers).
 */
export function stepsOfGroups(whole: Collective, groups: readonly StepSchedule[]): StepSchedule {
  const { topology, collective } = groups[0];
  const { chunkCount, chunkBytes } = collective;
  for (const { collective: own } of groups) {
    if (own.chunkCount !== chunkCount || compare(own.chunkBytes, chunkBytes) !== 0)
      throw new InternalError(`groups of ${chunkCount} and of ${own.chunkCount} chunks`);
  }
  const routes = joined(groups.map((one) => one.routes));
  const count = groups.reduce((sum, { chunk }) => sum + chunk.length, 0);
  const rows = {
    chunk: indexColumn(count, whole.groupCount * chunkCount),
    route: indexColumn(count, routes.source.length),
    startPs: new Float64Array(count),
    endPs: new Float64Array(count),
    op: new Uint8Array(count),
  };
  let [at, firstChunk, firstRoute] = [0, 0, 0];
  for (const one of groups) {
    rows.startPs.set(one.startPs, at);
    rows.endPs.set(one.endPs, at);
    rows.op.set(one.op, at);
    for (let row = 0; row < one.chunk.length; row++, at++) {
      rows.chunk[at] = firstChunk + one.chunk[row];
      rows.route[at] = firstRoute + one.route[row];
    }
    firstChunk += chunkCount;
    firstRoute += one.routes.source.length;
  }
  return inRowOrder({ topology, collective: together(whole, collective), routes, ...rows });
}
