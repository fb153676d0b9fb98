import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Collectives of plans, and which of them sum or have a root. */
export const PLAN_COLLECTIVES = [
  ...["allgather", "reducescatter", "allreduce", "broadcast", "reduce", "gather", "scatter", "alltoall"],
] as const;
const SUMS = new Set(["reducescatter", "allreduce", "reduce"]);
const ROOTED = new Set(["broadcast", "reduce", "gather", "scatter"]);

/** How the chunks of a made-up plan travel. */
export type Shape = "ring" | "direct" | "random";

export interface PlanWish {
  readonly collective: string;
  readonly ranks: number;
  readonly shape: Shape;
  /** Returns a number from 0 to below `n`. */
  readonly draw: (n: number) => number;
  readonly root?: number;
  readonly chunks?: number;
  readonly lanes?: number;
  readonly segment?: number;
  readonly bytes?: string;
  /** Lines between `chunks` and `lanes`. */
  readonly between?: readonly string[];
}

interface Instruction {
  readonly text: string;
  readonly waits: ReadonlySet<Instruction>;
  readonly block: string;
  readonly index: number;
}

/** What is known of a place: who wrote it last, and who has read it since. */
interface Place {
  writer: Instruction | null;
  readers: Instruction[];
}

/** A rank of a plan as it is written down. */
class Rank {
  readonly blocks = new Map<string, Instruction[]>();
  readonly places = new Map<string, Place>();
  readonly free: { index: number; count: number }[] = [];
  scratch = 0;

  place(key: string): Place {
    let place = this.places.get(key);
    if (place === undefined) {
      place = { writer: null, readers: [] };
      this.places.set(key, place);
    }
    return place;
  }

  /** Adds an instruction to a block; it waits for whatever of other blocks its places need. */
  add(block: string, text: string, reads: readonly string[], writes: readonly string[]): void {
    const list = this.blocks.get(block) ?? [];
    this.blocks.set(block, list);
    const waits = new Set<Instruction>();
    const instruction = { text, waits, block, index: list.length };
    for (const key of reads) {
      const { writer } = this.place(key);
      if (writer !== null && writer.block !== block) waits.add(writer);
    }
    for (const key of writes) {
      const place = this.place(key);
      for (const other of [...place.readers, ...(place.writer === null ? [] : [place.writer])])
        if (other.block !== block) waits.add(other);
      place.writer = instruction;
      place.readers = [];
    }
    for (const key of reads) this.place(key).readers.push(instruction);
    list.push(instruction);
  }

  /** Takes scratch for some chunks, new or such as was given back. */
  take(count: number, draw: (n: number) => number): number {
    const fits = this.free.findIndex((one) => one.count === count);
    if (fits >= 0 && draw(2) === 0) return this.free.splice(fits, 1)[0].index;
    this.scratch += count;
    return this.scratch - count;
  }

  lines(): string[] {
    const number = new Map([...this.blocks.keys()].map((key, k) => [key, k]));
    const lines: string[] = [];
    for (const [key, list] of this.blocks) {
      lines.push(key);
      for (const { text, waits } of list)
        lines.push(text + [...waits].map((on) => ` @${number.get(on.block)}:${on.index}`).join(""));
    }
    return lines;
  }
}

/** Returns a tree over ranks as [parent, child] arcs, parents before children, that starts at `root`. */
function tree(root: number, ranks: number, wish: PlanWish): [number, number][] {
  const { shape, draw } = wish;
  const around = Array.from({ length: ranks }, (_, k) => (root + k) % ranks);
  if (shape === "direct") return around.slice(1).map((child) => [root, child]);
  if (shape === "ring") return around.slice(1).map((child, k) => [around[k], child]);
  const rest = around.slice(1);
  for (let k = rest.length - 1; k > 0; k--) {
    const other = draw(k + 1);
    [rest[k], rest[other]] = [rest[other], rest[k]];
  }
  const reached = [root];
  return rest.map((child) => {
    const parent = reached[draw(reached.length)];
    reached.push(child);
    return [parent, child];
  });
}

/** Returns the arcs of a tree that lead to the ranks of `to`. */
function pruned(arcs: readonly [number, number][], to: readonly number[]): [number, number][] {
  const wanted = new Set(to);
  const kept: [number, number][] = [];
  for (const [parent, child] of [...arcs].reverse())
    if (wanted.has(child)) {
      kept.push([parent, child]);
      wanted.add(parent);
    }
  return kept.reverse();
}

const hashOf = (text: string): string => {
  let hash = 0xcbf29ce484222325n;
  for (const byte of Buffer.from(text, "latin1")) hash = ((hash ^ BigInt(byte)) * 0x100000001b3n) & 0xffffffffffffffffn;
  return hash.toString(16).padStart(16, "0");
};

/** Returns a plan with the checksum of its text. */
export const sealed = (body: string): string => `${body}end ${hashOf(body)}\n`;

/** Returns a plan that is right: its chunks go along trees, are relayed in outputs and in scratch, and summed on the way. */
export function madeUpPlan(wish: PlanWish): string {
  const {
    collective,
    ranks,
    draw,
    root = 0,
    chunks = 2,
    lanes = 1,
    segment = 4096,
    bytes = "0 -",
    between = [],
  } = wish;
  const all = Array.from({ length: ranks }, () => new Rank());
  const everyone = all.map((_, r) => r);
  const isRooted = ROOTED.has(collective);

  /** Returns where a rank has chunks in a buffer, as text and as what is the same memory; null: nowhere. */
  const placeIn = (r: number, buffer: "i" | "o", block: number, k: number): { text: string; key: string } | null => {
    const at = (slot: number, key: string) => ({ text: `${buffer} ${slot * chunks + k}`, key: `${key}:${block}:${k}` });
    const isRoot = r === root;
    const input = buffer === "i";
    switch (collective) {
      case "allgather":
        if (input) return block === r ? at(0, "x") : null;
        return at(block, "x");
      case "gather":
        if (input) return block === r ? at(0, "x") : null;
        return isRoot ? at(block, "x") : null;
      case "scatter":
        if (input) return isRoot ? at(block, "x") : null;
        return block === r ? at(0, "x") : null;
      case "reducescatter":
        if (input) return at(block, "i");
        return block === r ? at(0, "o") : null;
      case "broadcast":
        return input && !isRoot ? null : at(0, "x");
      case "reduce":
        return input || isRoot ? at(0, "x") : null;
      case "allreduce":
        return at(0, "x");
      default: {
        const [from, to] = [Math.floor(block / ranks), block % ranks];
        if (input) return from === r ? at(to, "i") : null;
        return to === r ? at(from, "o") : null;
      }
    }
  };

  const move = (first: number, count: number) => {
    const [block, k] = [Math.floor(first / chunks), first % chunks];
    const at = `${first} ${count}`;
    const takeScratch = (r: number) => {
      const index = all[r].take(count, draw);
      return { text: `s ${index}`, key: `s${index}`, index };
    };
    /** Sends chunks from where `from` has them along the arcs. */
    const spread = (arcs: readonly [number, number][], start: { text: string; key: string }, final: boolean) => {
      const where = new Map([[arcs[0]?.[0] ?? -1, start]]);
      const given: [number, number][] = [];
      for (const [parent, child] of arcs) {
        const lane = draw(lanes);
        const source = where.get(parent);
        if (source === undefined) throw new Error("parents come first");
        let target = placeIn(child, "o", block, k);
        if (target === null) {
          const scratch = takeScratch(child);
          given.push([child, scratch.index]);
          target = scratch;
        }
        where.set(child, target);
        all[parent].add(`to ${child} ${lane}`, `s ${at} ${source.text}`, [source.key], []);
        all[child].add(`from ${parent} ${lane}`, `r ${at} ${target.text}`, [], [target.key]);
      }
      if (final) for (const [r, index] of given) all[r].free.push({ index, count });
    };
    /** Sums what all have along a tree towards `to`; returns where the sum is. */
    const gatherSum = (to: number) => {
      const arcs = tree(to, ranks, wish).reverse();
      const sums = new Map<number, { text: string; key: string }>();
      for (const [parent, child] of arcs) {
        const lane = draw(lanes);
        const own = placeIn(parent, "i", block, k);
        const from = sums.get(child) ?? placeIn(child, "i", block, k);
        if (own === null || from === null) throw new Error("every rank has an input");
        all[child].add(`to ${parent} ${lane}`, `s ${at} ${from.text}`, [from.key], []);
        const sum = sums.get(parent);
        const target = sum ?? placeIn(parent, "o", block, k) ?? takeScratch(parent);
        const source = sum ?? own;
        if (draw(3) > 0) {
          const text = `rrc ${at} ${source.text} ${target.text}`;
          all[parent].add(`from ${child} ${lane}`, text, [source.key], [target.key]);
        } else {
          const came = takeScratch(parent);
          all[parent].add(`from ${child} ${lane}`, `r ${at} ${came.text}`, [], [came.key]);
          if (sum === undefined)
            all[parent].add("local", `cpy ${at} ${own.text} ${target.text}`, [own.key], [target.key]);
          all[parent].add("local", `re ${at} ${came.text} ${target.text}`, [came.key, target.key], [target.key]);
        }
        sums.set(parent, target);
      }
      return sums.get(to) ?? null;
    };
    const copyOwn = (r: number) => {
      const [from, to] = [placeIn(r, "i", block, k), placeIn(r, "o", block, k)];
      if (from !== null && to !== null) all[r].add("local", `cpy ${at} ${from.text} ${to.text}`, [from.key], [to.key]);
    };
    if (SUMS.has(collective)) {
      const to = collective === "reducescatter" ? block : collective === "reduce" ? root : draw(ranks);
      const sum = gatherSum(to);
      if (sum === null) copyOwn(to);
      else if (collective === "allreduce") spread(tree(to, ranks, wish), sum, true);
      return;
    }
    const source =
      collective === "alltoall"
        ? Math.floor(block / ranks)
        : ["broadcast", "scatter"].includes(collective)
          ? root
          : block;
    const to =
      collective === "alltoall"
        ? [block % ranks]
        : collective === "gather"
          ? [root]
          : collective === "scatter"
            ? [block]
            : everyone;
    const start = placeIn(source, "i", block, k);
    if (start === null) throw new Error("the source has an input");
    spread(pruned(tree(source, ranks, wish), to), start, true);
    copyOwn(source);
  };

  const blocks = ["allreduce", "broadcast", "reduce"].includes(collective)
    ? 1
    : collective === "alltoall"
      ? ranks * ranks
      : ranks;
  const runs: [number, number][] = [];
  for (let block = 0; block < blocks; block++)
    for (let k = 0; k < chunks; ) {
      const count = 1 + draw(chunks - k);
      runs.push([block * chunks + k, count]);
      k += count;
    }
  for (let k = runs.length - 1; k > 0; k--) {
    const other = draw(k + 1);
    [runs[k], runs[other]] = [runs[other], runs[k]];
  }
  for (const [first, count] of runs) move(first, count);
  const lines = [
    ...["banyan-mpi-plan 1", `name ${wish.shape} ${collective} ${ranks}`, `collective ${collective}`, `ranks ${ranks}`],
    ...(isRooted ? [`root ${root}`] : []),
    ...[`bytes ${bytes}`, `chunks ${chunks}`, ...between, `lanes ${lanes}`, `segment ${segment}`],
    ...all.flatMap((rank, r) => [`rank ${r}`, `scratch ${rank.scratch}`, ...rank.lines()]),
  ];
  return sealed(`${lines.join("\n")}\n`);
}

/** Returns draws by a seed (xorshift). */
export function draws(seed: number): (n: number) => number {
  let state = (seed * 2654435761) >>> 0 || 1;
  return (n) => {
    state ^= state << 13;
    state >>>= 0;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state % n;
  };
}

/** Writes plans for all collectives (and roots) of communicators of so many ranks into a folder. */
export function writePlans(folder: string, sizes: readonly number[], shape: Shape, seed: number): void {
  mkdirSync(folder, { recursive: true });
  const draw = draws(seed);
  for (const ranks of sizes)
    for (const collective of PLAN_COLLECTIVES)
      for (let root = 0; root < (ROOTED.has(collective) ? ranks : 1); root++) {
        const wish = {
          ...{ collective, ranks, root, shape, draw },
          ...{ chunks: 1 + draw(4), lanes: 1 + draw(2), segment: [0, 64, 1024, 8192, 61440][draw(5)] },
          between: collective === "alltoall" ? ["unequal"] : [],
        };
        writeFileSync(join(folder, `${collective}-${ranks}-${root}.plan`), madeUpPlan(wish));
      }
}
