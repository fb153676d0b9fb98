import { join } from "node:path";
import { InputError } from "../../base/errors.ts";
import { readSmall } from "./lines.ts";

/** What all shares of a sweep's tasks have in common, in a file of their folder. */
export interface SharesFacts {
  readonly schema: "banyan/shares@1";
  readonly name: string;
  readonly version: string;
  readonly backend: string | null;
  readonly store: string;
  /** What every process that has the store finds there. */
  readonly probe: string;
  readonly shares: number;
}

/** A worker that is not to do a share, and why. */
export interface ShareRefusal {
  readonly host: string;
  readonly pid: number;
  readonly reason: string;
}

/** The names of what is in the folder of shares; of each share, from 1 on: its tasks, what came of them, and how much of that was taken. */
export const sharesIn = (folder: string, shares: number) => {
  const root = join(folder, `shares-${shares}`);
  const of = (share: number, what: string): string => join(root, `${share}.${what}`);
  return {
    root,
    facts: join(root, "shares.json"),
    /** It is there where no tasks will come any more. */
    closed: join(root, "closed"),
    /** Names of the arrays that were submitted. */
    arrays: join(root, "arrays"),
    script: join(root, "array.sh"),
    tasks: (share: number) => of(share, "tasks.jsonl"),
    outcomes: (share: number) => of(share, "outcomes.jsonl"),
    taken: (share: number) => of(share, "taken"),
    /** Who does it, said again and again. */
    beat: (share: number) => of(share, "beat"),
    refused: (share: number) => of(share, "refused"),
    log: (share: string) => join(root, `${share}.log`),
  };
};
export type SharesFiles = ReturnType<typeof sharesIn>;

/** Returns the share, from 1 on, that a task is of. */
export const shareOf = (hash: string, shares: number): number => 1 + (Number.parseInt(hash.slice(0, 12), 16) % shares);

/** Returns what shares have in common. Throws InputError where there are none in the folder. */
export function factsIn(folder: string, shares: number): SharesFacts {
  const text = readSmall(sharesIn(folder, shares).facts);
  if (text === null)
    throw new InputError("the folder", `one that --engine slurm made with ${shares} shares`, folder).saying(
      `${folder} has no ${shares} shares of a sweep: \`banyan sweep FILE --engine 'slurm?shares=${shares}'\` makes them`,
    );
  return JSON.parse(text) as SharesFacts;
}
