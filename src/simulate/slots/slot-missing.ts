import { InputError } from "../../base/errors.ts";
import type { Streams } from "./slot-streams.ts";

/**
 * How many arrivals a chunk still waits for at an NPU before it can be sent on: a matrix of counters of 2^log bits, those of
 * NPU v from word v * words on.
 */
export interface Missing {
  readonly counters: Int32Array;
  readonly words: number;
  readonly log: number;
}

const MOST_WORDS = 2 ** 31 - 1;

function missing(npus: number, chunks: number, most: number): Missing {
  let log = 0;
  while (2 ** (2 ** log) <= most) log++;
  const words = Math.ceil((chunks * 2 ** log) / 32);
  if (npus * words > MOST_WORDS) {
    throw new InputError(
      "NPUs times chunks",
      `at most ${Math.floor((MOST_WORDS * 32) / 2 ** log)} to simulate`,
      npus * chunks,
    );
  }
  return { counters: new Int32Array(npus * words), words, log };
}

/** Returns 1 for every pair: all chunks still have to come. */
export function missingEverywhere(npus: number, chunks: number): Missing {
  const matrix = missing(npus, chunks, 1);
  matrix.counters.fill(-1);
  return matrix;
}

/**
 * Returns the number of contributions that the streams bring to each pair, origins apart, whose counters stay 0.
 * Throws InputError for a chunk that an NPU receives through all its streams: one of them leads to where it goes next.
 * O(transfers).
 */
export function missingContributions(streams: Streams, origin: Int32Array): Missing {
  const { into, columns, holder, receiver, count, first, step } = streams;
  const npus = into.offset.length - 1;
  let most = 1;
  for (let v = 0; v < npus; v++) most = Math.max(most, into.offset[v + 1] - into.offset[v] - 1);
  const matrix = missing(npus, origin.length, most);
  const { counters, words, log } = matrix;
  const mask = 2 ** (2 ** log) - 1;
  for (let s = 0; s < receiver.length; s++) {
    const column = columns[holder[s]];
    const v = receiver[s];
    const row = v * words;
    for (let k = 0, at = first[s]; k < count[s]; k++, at += step) {
      const chunk = column[at];
      if (origin[chunk] === v) continue;
      const word = row + (chunk >>> (5 - log));
      const shift = (chunk << log) & 31;
      if (((counters[word] >>> shift) & mask) === most) {
        throw new InputError(
          `chunk ${chunk} at NPU ${v} (simulate needs a valid schedule)`,
          `at most ${most} contributions`,
        );
      }
      counters[word] += 1 << shift;
    }
  }
  return matrix;
}
