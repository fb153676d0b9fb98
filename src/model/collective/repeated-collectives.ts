import type { Collective, Placement } from "./collective.ts";

/** So many collectives at once are scheduled in seconds on a small network; more are refused. */
export const MOST_COLLECTIVES = 10_000;

/** Collectives of which many may be the same. */
export interface RepeatedCollectives {
  /** Those that differ, in order of appearance. */
  readonly distinct: readonly Collective[];
  /** [distinct] how many times each is there. */
  readonly times: readonly number[];
  /** [collectives] number of each among those that differ. */
  readonly of: readonly number[];
}

function placementText(placement: Placement): string {
  if (placement.kind === "group") return "group";
  return placement.kind === "one"
    ? `one ${placement.npu.join()}`
    : `sets ${placement.offset.join()} ${placement.members.join()}`;
}

const textOf = (c: Collective): string =>
  [
    ...[c.kind, c.groupCount, c.rootRank, c.sizeBytes, c.chunksPerNpu, c.chunkCount, c.reduces],
    ...[c.chunkBytes.num, c.chunkBytes.den, c.groupMembers.join(), placementText(c.pre), placementText(c.post)],
  ].join(" ");

/** Returns which of the collectives are equal in all they say. O(what they say; of the same object once). */
export function repeatedCollectives(collectives: readonly Collective[]): RepeatedCollectives {
  const distinct: Collective[] = [];
  const times: number[] = [];
  const byText = new Map<string, number>();
  const byObject = new Map<Collective, number>();
  const of = collectives.map((collective) => {
    let index = byObject.get(collective);
    if (index === undefined) {
      const text = textOf(collective);
      index = byText.get(text) ?? distinct.push(collective) - 1;
      byText.set(text, index);
      byObject.set(collective, index);
    }
    times[index] = (times[index] ?? 0) + 1;
    return index;
  });
  return { distinct, times, of };
}

/** Returns for each collective the number of its chunk size among the different ones, in order of appearance. O(collectives). */
export function sizeClasses(collectives: readonly Collective[]): {
  readonly classes: readonly Collective[];
  readonly of: readonly number[];
} {
  const classes: Collective[] = [];
  const known = new Map<string, number>();
  const of = collectives.map((collective) => {
    const { num, den } = collective.chunkBytes;
    const text = `${num}/${den}`;
    const index = known.get(text) ?? classes.push(collective) - 1;
    known.set(text, index);
    return index;
  });
  return { classes, of };
}
