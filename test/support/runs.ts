/** Whether tests try all that they can: `npm run test:all`, and bench/. `npm test` tries a part, for somebody is waiting. */
export const triesAll =
  ["all", "large"].includes(process.env["BANYAN_TESTS"] ?? "") || process.env["VITEST"] === undefined;

const PART = 5;
const LEAST = 5;

/** Returns how many cases a property draws: as many as it says, or a fifth of them. */
export const runs = (count: number): number =>
  triesAll ? count : Math.max(Math.min(count, LEAST), Math.ceil(count / PART));

/** Returns how many of the drawn cases must at least have been of some sort, for a property to say something: of a part, a part. */
export const seen = (count: number): number => (triesAll ? count : Math.floor(count / (3 * PART)));

/** Returns the cases of a table that are tried: all, or those that are quick. test/TIERS.md says what the quick ones keep. */
export const quick = <T>(cases: readonly T[], isQuick: (one: T, index: number) => boolean): readonly T[] =>
  triesAll ? cases : cases.filter(isQuick);
