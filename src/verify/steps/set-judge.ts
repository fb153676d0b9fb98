import { OP_COPY, type StepSchedule } from "../../model/steps/step-schedule.ts";
import type { Describer } from "../describe.ts";
import type { Recorder } from "../violation.ts";
import { type ChunkLife, play } from "./chunk-life.ts";
import type { PlacementView } from "./placement.ts";

/** Contributions as a bit set over the chunk's precondition, never changed once made; null is the empty set. */
type Contributions = Uint32Array | null;

/** Returns the least member of the set, a position in the precondition. */
function first(set: Uint32Array): number {
  const word = set.findIndex((bits) => bits !== 0);
  return 32 * word + 31 - Math.clz32(set[word] & -set[word]);
}

function united(a: Uint32Array, b: Uint32Array): Uint32Array {
  const union = a.slice();
  for (let w = 0; w < union.length; w++) union[w] |= b[w];
  return union;
}

/** Returns the members of both, null where there are none. */
function common(a: Uint32Array, b: Uint32Array): Contributions {
  for (let w = 0; w < a.length; w++) if ((a[w] & b[w]) !== 0) return a.map((bits, v) => bits & b[v]);
  return null;
}

function sizeOf(set: Contributions): number {
  let size = 0;
  for (let bits of set ?? []) {
    bits -= (bits >>> 1) & 0x55555555;
    bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333);
    size += Math.imul((bits + (bits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
  }
  return size;
}

/**
 * Returns a function that plays a chunk's life with whole sets of contributions and records what is wrong. A transfer that
 * departs with nothing changes nothing; after a repetition the target holds the union.
 * O(members / 32) time for each transfer, O(NPUs x members / 32) words of memory.
 */
export function setJudge(
  schedule: StepSchedule,
  recorder: Recorder,
  words: Describer,
): (life: ChunkLife, pre: PlacementView, post: PlacementView) => void {
  const { routes, topology } = schedule;
  const held: Contributions[] = new Array<Contributions>(topology.npuCount).fill(null);

  return (life, pre, post) => {
    const { chunk, source, target, op, row } = life;
    const whole = pre.to - pre.from;
    const payload: Contributions[] = new Array<Contributions>(life.count).fill(null);
    const named = (position: number): string => words.npu(pre.members[pre.from + position], chunk);
    for (let i = 0; i < whole; i++) {
      const own = new Uint32Array((whole + 31) >>> 5);
      own[i >>> 5] = 1 << (i & 31);
      held[pre.members[pre.from + i]] = own;
    }

    const depart = (i: number): boolean => {
      payload[i] = held[source[i]];
      if (payload[i] === null) {
        recorder.record(() => words.departure("absent-chunk", row[i], " but holds no contribution to it then"));
      }
      return true;
    };
    const arrive = (i: number): boolean => {
      const sent = payload[i];
      payload[i] = null;
      if (sent === null) return true;
      const npu = target[i];
      const before = held[npu];
      if (op[i] === OP_COPY || before === null) {
        held[npu] = sent;
        return true;
      }
      const twice = common(before, sent);
      if (twice !== null) recorder.record(() => repetition(i, first(twice)));
      held[npu] = united(before, sent);
      return true;
    };
    const repetition = (i: number, position: number) => {
      const npu = target[i];
      const end = routes.linkOffset[life.route[i] + 1];
      const arrival = `receives chunk ${chunk} on ${words.route(life.route[i])} at ${words.time(life.end[i])} (transfer ${row[i]})`;
      return {
        kind: "repeated-contribution" as const,
        npu,
        chunk,
        link: routes.links[end - 1],
        transfer: row[i],
        timePs: life.end[i],
        message: `${words.npu(npu, chunk)} ${arrival} with the contribution of ${named(position)}, which it has already`,
      };
    };
    play(life, depart, arrive);

    for (let i = post.from; i < post.to; i++) {
      const npu = post.members[i];
      const set = held[npu];
      const size = sizeOf(set);
      if (size === whole) continue;
      recorder.record(() => {
        let absent = 0;
        while (set !== null && ((set[absent >>> 5] >>> (absent & 31)) & 1) === 1) absent++;
        const message = `${words.npu(npu, chunk)} ends with ${size} of the ${whole} contributions to chunk ${chunk}, without that of ${named(absent)}`;
        return { kind: "missing-contribution", npu, chunk, message };
      });
    }
    for (let i = pre.from; i < pre.to; i++) held[pre.members[i]] = null;
    for (let i = 0; i < life.count; i++) held[target[i]] = null;
  };
}
