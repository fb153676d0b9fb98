import type { Pieces } from "./pieces.ts";

/** Ways times their messages that are tried; more would take seconds. */
const MOST_WORK = 2e7;
/** What the busiest ends of all rounds carry may grow by this. */
const MOST_GROWTH = 1.25;
/** Fewer messages than this part of all are worth it. */
const WORTH = 0.75;

/**
 * Returns how many chunks each piece stands for where small data, which pays for messages rather than bytes, goes fewer ways: 0
 * for pieces that are left out, whose part of the block goes with the others, which stand for as many as before. Any of a
 * block's ways would do for all of it. Ways that share no message go first, of these the one between the busiest NPUs; of all that
 * this comes by, what has the fewest messages and leaves the busiest ends of each round at most a quarter more. Null where
 * nothing much is gained. O(pieces x steps of pieces).
 */
export function fewPieces({ first, chunks, rounds }: Pieces): Int32Array | null {
  const count = chunks.length;
  const { messageOf, messages, ends } = stepsOfPieces(count, rounds);
  const steps = messageOf.reduce((sum, { length }) => sum + length, 0);
  if (count * steps > MOST_WORK) return null;
  const left = chunks.slice();
  const blockOf = new Int32Array(count);
  const ways = new Int32Array(first.length - 1);
  for (let block = 0; block < ways.length; block++) {
    blockOf.fill(block, first[block], first[block + 1]);
    ways[block] = first[block + 1] - first[block];
  }
  const uses = new Int32Array(messages);
  for (const list of messageOf) for (const message of list) uses[message]++;

  const busiest = (): number => {
    const sizes = new Float64Array(ways.length);
    for (let piece = 0; piece < count; piece++) sizes[blockOf[piece]] += left[piece];
    const loads = new Float64Array(ends.count);
    for (let piece = 0; piece < count; piece++) {
      if (left[piece] === 0) continue;
      for (const message of messageOf[piece]) {
        loads[ends.from[message]] += left[piece] / sizes[blockOf[piece]];
        loads[ends.to[message]] += left[piece] / sizes[blockOf[piece]];
      }
    }
    const most = new Float64Array(rounds.length);
    for (let end = 0; end < loads.length; end++) most[ends.round[end]] = Math.max(most[ends.round[end]], loads[end]);
    return most.reduce((sum, load) => sum + load, 0);
  };
  const worst = MOST_GROWTH * busiest();
  let [fewest, best]: [number, Int32Array | null] = [WORTH * messages, null];
  for (;;) {
    const crowd = new Int32Array(ends.count);
    let used = 0;
    for (let message = 0; message < messages; message++) {
      if (uses[message] === 0) continue;
      used++;
      crowd[ends.from[message]]++;
      crowd[ends.to[message]]++;
    }
    if (used <= fewest && busiest() <= worst) [fewest, best] = [used - 1, left.slice()];
    let [chosen, spared, crowded] = [-1, 0, 0];
    for (let piece = 0; piece < count; piece++) {
      if (left[piece] === 0 || ways[blockOf[piece]] === 1) continue;
      const list = messageOf[piece];
      const spares = list.reduce((sum, message) => sum + 1 / uses[message], 0);
      const crowds = list.reduce((sum, message) => sum + crowd[ends.from[message]] + crowd[ends.to[message]], 0);
      if (chosen >= 0 && (spares < spared || (spares === spared && crowds <= crowded))) continue;
      [chosen, spared, crowded] = [piece, spares, crowds];
    }
    if (chosen < 0) return best;
    left[chosen] = 0;
    ways[blockOf[chosen]]--;
    for (const message of messageOf[chosen]) uses[message]--;
  }
}

/** The ends of messages: an NPU that sends in a round, an NPU that receives in it. */
interface Ends {
  readonly count: number;
  /** [messages] */
  readonly from: readonly number[];
  readonly to: readonly number[];
  /** [ends] */
  readonly round: readonly number[];
}

/** Returns the messages that each piece goes in, numbered through all rounds, how many there are, and their ends. */
function stepsOfPieces(count: number, rounds: Pieces["rounds"]) {
  const messageOf: number[][] = Array.from({ length: count }, () => []);
  const [from, to, round]: [number[], number[], number[]] = [[], [], []];
  rounds.forEach((messages, k) => {
    const numbers = new Map<string, number>();
    const end = (name: string): number => {
      const known = numbers.get(name) ?? round.push(k) - 1;
      numbers.set(name, known);
      return known;
    };
    for (const { source, target, stored, added } of messages) {
      for (const piece of [...stored, ...added]) messageOf[piece].push(from.length);
      from.push(end(`from ${source}`));
      to.push(end(`to ${target}`));
    }
  });
  const ends: Ends = { count: round.length, from, to, round };
  return { messageOf, messages: from.length, ends };
}
