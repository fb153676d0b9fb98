import { isPowerOfTwo } from "../../model/numbers/integers.ts";
import { indicesBelow } from "../../model/numbers/ordering.ts";

/**
 * What MPI libraries send, round by round, in their own algorithms: Open MPI's coll/base (4.1, 5.0) and MPICH's src/mpi/coll (4, 5).
 * Ranks are counted from the root on, `v`, where there is one. Papers: Thakur, Rabenseifner and Gropp 2005; Bruck et al. 1997; Chen et
 * al. 2005 (neighbour exchange); Traff 2005 (butterfly).
 */

/** Cells of the sender's memory, and the first of those of the receiver where they are put or, if `sums`, added. */
export interface CellMessage {
  readonly from: number;
  readonly to: number;
  readonly first: number;
  readonly cells: number;
  readonly landing: number;
  readonly sums: boolean;
}
/** A rank begins a round when all is over that it sends and receives in those before. */
type Round = readonly CellMessage[];

/** What ranks send; each has memory of as many equal cells. */
export interface LibraryRun {
  readonly cells: number;
  readonly rounds: readonly Round[];
  /** Of an all-to-all: where the block for a rank is at the start, and where the one from a rank is in the end. */
  readonly start?: (v: number, block: number) => number;
  readonly end?: (v: number, block: number) => number;
}

const message = (from: number, to: number, first: number, cells: number, sums = false): CellMessage => ({
  from,
  to,
  first,
  cells,
  landing: first,
  sums,
});

/** Returns messages of the cells of a list, neighbours in one. */
function messagesOf(from: number, to: number, cells: readonly number[], sums = false): CellMessage[] {
  const found: CellMessage[] = [];
  let at = 0;
  while (at < cells.length) {
    let end = at + 1;
    while (end < cells.length && cells[end] === (cells[at] as number) + end - at) end++;
    found.push(message(from, to, cells[at] as number, end - at, sums));
    at = end;
  }
  return found;
}

/** Returns `cells` cells from `first` on, counted round. */
const around = (first: number, cells: number, of: number): number[] =>
  Array.from({ length: cells }, (_, i) => (first + i) % of).sort((a, b) => a - b);

const ranksOf = (count: number): number[] => [...indicesBelow(count)];

/** Returns 1, 2, 4, ... below a number. */
function powersBelow(count: number): number[] {
  const powers: number[] = [];
  for (let power = 1; power < count; power *= 2) powers.push(power);
  return powers;
}

const roundsFor = <T>(items: readonly T[], of: (item: T) => readonly CellMessage[]): Round[] =>
  items.map(of).filter(({ length }) => length > 0);

/** Returns a run whose cells are cut into as many each. */
const finer = ({ cells, rounds }: LibraryRun, by: number): LibraryRun => ({
  cells: cells * by,
  rounds: rounds.map((round) =>
    round.map((one) => ({ ...one, first: one.first * by, landing: one.landing * by, cells: one.cells * by })),
  ),
});

/** Returns one run after another on the same memory. */
export function inTurn(one: LibraryRun, other: LibraryRun): LibraryRun {
  let cells = one.cells;
  while (cells % other.cells !== 0) cells += one.cells;
  const [first, second] = [finer(one, cells / one.cells), finer(other, cells / other.cells)];
  return { cells, rounds: [...first.rounds, ...second.rounds] };
}

// trees: [ranks] children of each, in the order in which they are sent to

type Children = readonly (readonly number[])[];

const childrenBy = (ranks: number, of: (v: number) => readonly number[]): Children =>
  ranksOf(ranks).map((v) => of(v).filter((child) => child < ranks));

/** Returns as many chains from the root, the first ones longer where they differ. */
export function chains(ranks: number, asked: number): Children {
  const many = Math.min(asked, ranks - 1);
  const [least, longer] = [Math.floor((ranks - 1) / many), (ranks - 1) % many];
  const heads = Array.from({ length: many }, (_, i) => 1 + i * least + Math.min(i, longer));
  return childrenBy(ranks, (v) => (v === 0 ? heads : heads.includes(v + 1) ? [] : [v + 1]));
}

/** Level by level: rank v on level l has v + 2^l and v + 2^(l+1) below it. */
export const binaryTree = (ranks: number): Children =>
  childrenBy(ranks, (v) => {
    const level = 2 ** Math.floor(Math.log2(v + 1));
    return [v + level, v + 2 * level];
  });

/** The parent of a rank lacks its highest bit. */
export const binomialTree = (ranks: number): Children =>
  childrenBy(ranks, (v) =>
    powersBelow(ranks)
      .filter((power) => power > v)
      .map((power) => v + power),
  );

/** The parent of a rank lacks its lowest bit. */
export const inOrderBinomialTree = (ranks: number): Children =>
  childrenBy(ranks, (v) =>
    powersBelow(ranks)
      .filter((power) => v % (2 * power) === 0)
      .map((power) => v + power),
  );

/** As that, in digits to a base. */
export const knomialTree = (ranks: number, base: number): Children => {
  const masks: number[] = [];
  for (let mask = 1; mask < ranks; mask *= base) masks.unshift(mask);
  return childrenBy(ranks, (v) =>
    masks
      .filter((mask) => v % (base * mask) === 0)
      .flatMap((mask) => Array.from({ length: base - 1 }, (_, i) => v + (i + 1) * mask)),
  );
};

/** Returns a broadcast down a tree, or a reduction up, in so many segments, which follow each other. */
export function alongTree(children: Children, segments: number, up: boolean): LibraryRun {
  const ranks = children.length;
  /** Of the sender of an edge, in rounds: how deep it is, or how much is below it. */
  const when = new Int32Array(ranks);
  const order = [0];
  for (const v of order) order.push(...(children[v] as number[]));
  for (const v of up ? order.toReversed() : order)
    for (const child of children[v] as number[]) {
      if (up) when[v] = Math.max(when[v], when[child] + 1);
      else when[child] = when[v] + 1;
    }
  const rounds: CellMessage[][] = [];
  for (const v of order)
    for (const child of children[v] as number[])
      for (let segment = 0; segment < segments; segment++) {
        const round = (up ? when[child] : when[v]) + segment;
        while (rounds.length <= round) rounds.push([]);
        (rounds[round] as CellMessage[]).push(up ? message(child, v, segment, 1, true) : message(v, child, segment, 1));
      }
  return { cells: segments, rounds };
}

/** Returns all ranks but one. */
const others = (ranks: number, root: number): number[] => ranksOf(ranks).filter((rank) => rank !== root);

/** Returns a broadcast to all at once. Ranks as they are, as in all that is linear. */
export const linearBroadcast = (ranks: number, root: number): LibraryRun => ({
  cells: 1,
  rounds: [others(ranks, root).map((rank) => message(root, rank, 0, 1))],
});

/** Returns a reduction from all at once, the last rank first. */
export const linearReduce = (ranks: number, root: number): LibraryRun => ({
  cells: 1,
  rounds: [
    others(ranks, root)
      .reverse()
      .map((rank) => message(rank, root, 0, 1, true)),
  ],
});

/** Returns messages of a binomial tree in which each rank speaks to one child at a time, from the farthest on: of what `cells` says. */
const binomialRounds = (ranks: number, cells: (child: number, power: number) => readonly [number, number]): Round[] =>
  roundsFor(powersBelow(ranks).toReversed(), (power) =>
    ranksOf(ranks).flatMap((v) =>
      v % (2 * power) === 0 && v + power < ranks ? [message(v, v + power, ...cells(v + power, power))] : [],
    ),
  );

/** Returns a broadcast by a binomial tree in which each rank sends to one child at a time. */
export const binomialBroadcast = (ranks: number): LibraryRun => ({
  cells: 1,
  rounds: binomialRounds(ranks, () => [0, 1]),
});

/** Returns a run backwards, in which receivers become senders. */
const backwards = (rounds: readonly Round[], sums: boolean): Round[] =>
  rounds.toReversed().map((round) => round.map((one) => ({ ...one, from: one.to, to: one.from, sums })));

export const binomialReduce = (ranks: number): LibraryRun => ({
  cells: 1,
  rounds: backwards(binomialBroadcast(ranks).rounds, true),
});

/** Returns a scatter by a binomial tree: a rank gets what is for it and all below it. */
export const binomialScatter = (ranks: number): LibraryRun => ({
  cells: ranks,
  rounds: binomialRounds(ranks, (child, power) => [child, Math.min(power, ranks - child)]),
});

export const binomialGather = (ranks: number): LibraryRun => ({
  cells: ranks,
  rounds: backwards(binomialScatter(ranks).rounds, false),
});

/** Returns a scatter from the root to one after the other, or to all at once. */
export function linearScatter(ranks: number, root: number, atOnce: boolean): LibraryRun {
  const sends = others(ranks, root).map((rank) => message(root, rank, rank, 1));
  return { cells: ranks, rounds: atOnce ? [sends] : sends.map((one) => [one]) };
}

export const linearGather = (ranks: number, root: number): LibraryRun => ({
  cells: ranks,
  rounds: backwards(linearScatter(ranks, root, true).rounds, false),
});

// rings

/** Returns the rounds of a ring, in the first of which rank r sends block r + `ahead`. */
const ringRounds = (ranks: number, ahead: number, sums: boolean): Round[] =>
  ranksOf(ranks - 1).map((round) =>
    ranksOf(ranks).map((rank) =>
      message(rank, (rank + 1) % ranks, (rank + ahead - round + 2 * ranks) % ranks, 1, sums),
    ),
  );

export const ringAllgather = (ranks: number): LibraryRun => ({ cells: ranks, rounds: ringRounds(ranks, 0, false) });

export const ringAllreduce = (ranks: number): LibraryRun => ({
  cells: ranks,
  rounds: [...ringRounds(ranks, 0, true), ...ringRounds(ranks, 1, false)],
});

export const scatterRing = (ranks: number): LibraryRun => inTurn(binomialScatter(ranks), ringAllgather(ranks));

// recursive doubling and halving

/**
 * Returns the rounds of a recursive doubling that gathers cells of ranks: with more ranks than a power of two, those that have a partner
 * pass on what they get to those of their half that have none.
 */
function doublingRounds(ranks: number): Round[] {
  const rounds: Round[] = [];
  for (const mask of powersBelow(ranks)) {
    const base = (v: number): number => v - (v % mask);
    const width = (first: number): number => Math.min(mask, ranks - first);
    rounds.push(
      ranksOf(ranks).flatMap((v) => ((v ^ mask) < ranks ? [message(v, v ^ mask, base(v), width(base(v)))] : [])),
    );
    for (let half = mask / 2; half >= 1; half /= 2)
      rounds.push(
        ranksOf(ranks).flatMap((v) => {
          const first = base(v ^ mask);
          const served = ranks - base(v) - mask;
          const bound = v - (v % (2 * half)) + served;
          const other = v ^ half;
          return first < ranks && first + mask > ranks && other > v && v < bound && other >= bound && other < ranks
            ? [message(v, other, first, width(first))]
            : [];
        }),
      );
  }
  return rounds.filter(({ length }) => length > 0);
}

export const doublingAllgather = (ranks: number): LibraryRun => ({ cells: ranks, rounds: doublingRounds(ranks) });

export const scatterDoubling = (ranks: number): LibraryRun => inTurn(binomialScatter(ranks), doublingAllgather(ranks));

/** A power of two of the ranks, and the others, who stand aside: of the first pairs the even or the odd ones. */
interface Fold {
  readonly core: number;
  readonly extra: number;
  readonly rankOf: (v: number) => number;
  readonly aside: (v: number) => number;
}

function foldOf(ranks: number, stays: "odd" | "even"): Fold {
  const core = 2 ** Math.floor(Math.log2(ranks));
  const extra = ranks - core;
  const [own, other] = stays === "odd" ? [1, 0] : [0, 1];
  return {
    core,
    extra,
    rankOf: (v) => (v < extra ? 2 * v + own : v + extra),
    aside: (v) => 2 * v + other,
  };
}

/** Returns a round in which those who stand aside hand over, or get back, cells. */
const handOver = ({ extra, rankOf, aside }: Fold, back: boolean, cells: number, sums: boolean): Round =>
  ranksOf(extra).map((v) =>
    back ? message(rankOf(v), aside(v), 0, cells, sums) : message(aside(v), rankOf(v), 0, cells, sums),
  );

const withoutEmpty = (rounds: readonly Round[]): Round[] => rounds.filter(({ length }) => length > 0);

export function doublingAllreduce(ranks: number): LibraryRun {
  const fold = foldOf(ranks, "odd");
  const { core, rankOf } = fold;
  const doubled = powersBelow(core).map((mask) =>
    ranksOf(core).map((v) => message(rankOf(v), rankOf(v ^ mask), 0, 1, true)),
  );
  return {
    cells: 1,
    rounds: withoutEmpty([handOver(fold, false, 1, true), ...doubled, handOver(fold, true, 1, false)]),
  };
}

/** Returns the first of the cells that are left to a rank after so many halvings, nearest ranks first. */
function windowOf(core: number, v: number, steps: number): number {
  let first = 0;
  for (let step = 0; step < steps; step++) if ((v >> step) % 2 === 1) first += core / 2 ** (step + 1);
  return first;
}

/** Returns the rounds in which halves of a power of two of cells are summed, nearest ranks first. */
const halvedSums = ({ core, rankOf }: Fold): Round[] =>
  powersBelow(core).map((mask, step) => {
    const half = core / 2 ** (step + 1);
    return ranksOf(core).map((v) => {
      const first = windowOf(core, v, step) + ((v & mask) === 0 ? half : 0);
      return message(rankOf(v), rankOf(v ^ mask), first, half, true);
    });
  });

/** How those who stand aside hand over: halves of the data both ways, or all of it. */
export type Folding = "halves" | "whole";

function foldedSums(fold: Fold, folding: Folding): Round[] {
  const { core, extra, rankOf, aside } = fold;
  if (folding === "whole") return [handOver(fold, false, core, true), ...halvedSums(fold)];
  const half = core / 2;
  return [
    ranksOf(extra).flatMap((v) => [
      message(aside(v), rankOf(v), 0, half, true),
      message(rankOf(v), aside(v), half, half, true),
    ]),
    ranksOf(extra).map((v) => message(aside(v), rankOf(v), half, half)),
    ...halvedSums(fold),
  ];
}

export function rabenseifnerAllreduce(ranks: number, folding: Folding): LibraryRun {
  const fold = foldOf(ranks, folding === "halves" ? "even" : "odd");
  const { core, rankOf } = fold;
  const gathered = powersBelow(core)
    .map((mask, step) =>
      ranksOf(core).map((v) =>
        message(rankOf(v), rankOf(v ^ mask), windowOf(core, v, step + 1), core / 2 ** (step + 1)),
      ),
    )
    .reverse();
  return {
    cells: core,
    rounds: withoutEmpty([...foldedSums(fold, folding), ...gathered, handOver(fold, true, core, false)]),
  };
}

/** Returns a reduction to a rank by halves that are summed, then gathered. Ranks as they are. */
export function rabenseifnerReduce(ranks: number, root: number, folding: Folding): LibraryRun {
  const fold = foldOf(ranks, "even");
  const { core, extra, rankOf } = fold;
  const isAside = root < 2 * extra && root % 2 === 1;
  const vroot = isAside ? 0 : root < 2 * extra ? Math.floor(root / 2) : root - extra;
  // a root that stood aside takes the place of the first
  const placed = (v: number): number => (isAside && v === 0 ? root : rankOf(v));
  const gathered = powersBelow(core)
    .map((mask, step) =>
      ranksOf(core).flatMap((v) =>
        v >> (step + 1) === vroot >> (step + 1) && ((v ^ vroot) & mask) !== 0
          ? [message(placed(v), placed(v ^ mask), windowOf(core, v, step + 1), core / 2 ** (step + 1))]
          : [],
      ),
    )
    .reverse();
  const replaced = isAside ? [message(rankOf(0), root, 0, 1)] : [];
  return { cells: core, rounds: withoutEmpty([...foldedSums(fold, folding), replaced, ...gathered]) };
}

/** Returns the cells that a rank of a power of two stands for: its own, and that of who stands aside. */
const cellsFor = ({ extra }: Fold, v: number): number[] => (v < extra ? [2 * v, 2 * v + 1] : [v + extra]);

/** Returns a reduce-scatter by halves, the farthest ranks first. */
export function halvingReduceScatter(ranks: number): LibraryRun {
  const fold = foldOf(ranks, "odd");
  const { core, extra, rankOf, aside } = fold;
  const halved = powersBelow(core)
    .reverse()
    .map((mask) =>
      ranksOf(core).flatMap((v) => {
        const other = v ^ mask;
        const first = other - (other % mask);
        const cells = Array.from({ length: mask }, (_, i) => cellsFor(fold, first + i)).flat();
        return messagesOf(rankOf(v), rankOf(other), cells, true);
      }),
    );
  const back = ranksOf(extra).map((v) => message(rankOf(v), aside(v), 2 * v, 1));
  return { cells: ranks, rounds: withoutEmpty([handOver(fold, false, ranks, true), ...halved, back]) };
}

/** Returns the bits of a number in reverse. */
function mirrored(v: number, core: number): number {
  let [result, rest] = [0, v];
  for (let power = 1; power < core; power *= 2, rest >>= 1) result = 2 * result + (rest % 2);
  return result;
}

/** Returns a reduce-scatter by halves, the nearest ranks first: of a power of two each ends with its own block, else those are exchanged. */
export function butterflyReduceScatter(ranks: number): LibraryRun {
  const fold = foldOf(ranks, "odd");
  const { core, extra, rankOf, aside } = fold;
  /** Which part is at a place of the memory that is halved. */
  const partAt = (place: number): number => (extra === 0 ? mirrored(place, core) : place);
  const halved = powersBelow(core).map((mask, step) => {
    const half = core / 2 ** (step + 1);
    return ranksOf(core).flatMap((v) => {
      const first = windowOf(core, v, step) + ((v & mask) === 0 ? half : 0);
      const cells = Array.from({ length: half }, (_, i) => cellsFor(fold, partAt(first + i))).flat();
      return messagesOf(
        rankOf(v),
        rankOf(v ^ mask),
        [...cells].sort((a, b) => a - b),
        true,
      );
    });
  });
  if (extra === 0) return { cells: ranks, rounds: halved };
  const forAside = ranksOf(core).flatMap((v) => {
    const part = mirrored(v, core);
    return part < extra ? [message(rankOf(v), aside(part), 2 * part, 1)] : [];
  });
  const forOwn = ranksOf(core).flatMap((v) => {
    const part = mirrored(v, core);
    return part === v ? [] : [message(rankOf(v), rankOf(part), cellsFor(fold, part).at(-1) as number, 1)];
  });
  return { cells: ranks, rounds: withoutEmpty([handOver(fold, false, ranks, true), ...halved, forAside, forOwn]) };
}

/** Returns a reduce-scatter in which partners exchange all that neither has to itself; null unless ranks are a power of two. */
export function doublingReduceScatter(ranks: number): LibraryRun | null {
  if (!isPowerOfTwo(ranks)) return null;
  const rounds = powersBelow(ranks).map((mask) =>
    ranksOf(ranks).flatMap((v) => {
      const first = v - (v % mask);
      const cells = ranksOf(ranks).filter((cell) => cell < first || cell >= first + mask);
      return messagesOf(v, v ^ mask, cells, true);
    }),
  );
  return { cells: ranks, rounds };
}

/** Returns a reduce-scatter in which each rank sends every other its block, one after the other. */
export const pairwiseReduceScatter = (ranks: number): LibraryRun => ({
  cells: ranks,
  rounds: ranksOf(ranks - 1).map((i) =>
    ranksOf(ranks).map((rank) => {
      const to = (rank + i + 1) % ranks;
      return message(rank, to, to, 1, true);
    }),
  ),
});

// other all-gathers

export const bruckAllgather = (ranks: number): LibraryRun => ({
  cells: ranks,
  rounds: powersBelow(ranks).map((distance) =>
    ranksOf(ranks).flatMap((rank) =>
      messagesOf(rank, (rank - distance + ranks) % ranks, around(rank, Math.min(distance, ranks - distance), ranks)),
    ),
  ),
});

/** Returns an all-gather among an even number of ranks in which each speaks with its two neighbours in turns, of two blocks. */
export function neighborAllgather(ranks: number): LibraryRun {
  const partner = (rank: number, round: number): number => (rank + ((rank + round) % 2 === 0 ? 1 : ranks - 1)) % ranks;
  /** [ranks] the first of the two blocks that a rank sends next. */
  let next = ranksOf(ranks).map((rank) => rank - (rank % 2));
  const rounds: Round[] = [ranksOf(ranks).map((rank) => message(rank, partner(rank, 0), rank, 1))];
  for (let round = 1; round < ranks / 2; round++) {
    const sent = next;
    rounds.push(ranksOf(ranks).map((rank) => message(rank, partner(rank, round), sent[rank] as number, 2)));
    next = ranksOf(ranks).map((rank) => sent[partner(rank, round)] as number);
  }
  return { cells: ranks, rounds };
}

// all-to-alls: what is to be sent is in the first cells, what comes in the others

const exchanged = (ranks: number, from: number, to: number): CellMessage => ({
  ...message(from, to, to, 1),
  landing: ranks + from,
});

const direct = (ranks: number, rounds: readonly Round[]): LibraryRun => ({
  cells: 2 * ranks,
  rounds,
  start: (_, block) => block,
  end: (v, block) => (block === v ? block : ranks + block),
});

/** Returns an all-to-all in which all is sent at once, to the rank before first, or so many at a time. */
export function linearAllToAll(ranks: number, atATime = ranks): LibraryRun {
  const rounds: Round[] = [];
  for (let first = 0; first < ranks; first += atATime) {
    const backs = ranksOf(Math.min(atATime, ranks - first)).map((i) => first + i);
    rounds.push(
      backs.flatMap((back) =>
        back === 0 ? [] : ranksOf(ranks).map((rank) => exchanged(ranks, rank, (rank - back + ranks) % ranks)),
      ),
    );
  }
  return direct(ranks, withoutEmpty(rounds));
}

/** Returns an all-to-all with one rank after the other, by differences or, `byBits`, in pairs. */
export const pairwiseAllToAll = (ranks: number, byBits: boolean): LibraryRun =>
  direct(
    ranks,
    ranksOf(ranks - 1).map((i) =>
      ranksOf(ranks).map((rank) => exchanged(ranks, rank, byBits ? rank ^ (i + 1) : (rank + i + 1) % ranks)),
    ),
  );

/** Returns an all-to-all in rounds of distances 1, 2, 4 ...: the block for the rank at a distance is in that cell. */
export const bruckAllToAll = (ranks: number): LibraryRun => ({
  cells: ranks,
  rounds: powersBelow(ranks).map((distance) => {
    const cells = ranksOf(ranks).filter((cell) => (cell & distance) !== 0);
    return ranksOf(ranks).flatMap((rank) => messagesOf(rank, (rank + distance) % ranks, cells));
  }),
  start: (v, block) => (block - v + ranks) % ranks,
  end: (v, block) => (v - block + ranks) % ranks,
});
