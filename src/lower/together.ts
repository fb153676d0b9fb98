import { InputError, inWords } from "../base/errors.ts";
import { type Collective, membersOf, placementOfLists } from "../model/collective/collective.ts";
import { type JointSchedule, jointRows } from "../model/joint/joint-schedule.ts";
import { divide, format, type Rational, rational } from "../model/numbers/rational.ts";
import type { StepSchedule } from "../model/steps/step-schedule.ts";
import type { UnequalBlocks } from "./moves.ts";

/** Above this many equal parts of all chunks nothing is lowered. */
const MOST_PARTS = 4e6;

/** Several collectives as one. */
export interface Together {
  /** Of a custom collective whose chunks are those of all collectives, one after the other, and differ in size. */
  readonly schedule: StepSchedule;
  /** Its chunks in equal parts. */
  readonly blocks: UnequalBlocks;
}

/**
 * Returns several collectives, or several groups of one, as a single collective among all who take part: members and relays in
 * ascending order. A rank's input is what the first collective wants of it, then what the second wants, and so on; its output
 * alike. Chunks are cut into the largest parts that make up all of them.
 *
 * Throws InputError where these are more than 4e6. O(transfers log transfers + chunks x members).
 */
export function together(joint: JointSchedule): Together {
  const { topology, routes, tenants } = joint;
  const collectives = tenants.map(({ collective }) => collective);
  const part = collectives.map(({ chunkBytes }) => chunkBytes).reduce(commonPart);
  const partsOf = collectives.map(({ chunkBytes }) => Number(divide(chunkBytes, part).num));
  const all = collectives.reduce((sum, { chunkCount }, t) => sum + chunkCount * (partsOf[t] as number), 0);
  if (all > MOST_PARTS) {
    const expected = `chunks of several collectives that are made of at most ${MOST_PARTS} equal parts (sizes with a larger common divisor)`;
    throw new InputError("a schedule to be lowered", expected, inWords(`${all} of ${format(part)} bytes`)).as(
      "out-of-range",
    );
  }
  const groupMembers = takingPart(joint);
  const rows = jointRows(joint);
  const firsts: number[] = [];
  const start = [0];
  const sums: number[] = [];
  const pre: Int32Array[] = [];
  const post: Int32Array[] = [];
  collectives.forEach((collective, t) => {
    firsts.push(sums.length);
    for (let c = 0; c < collective.chunkCount; c++) {
      start.push((start[start.length - 1] as number) + (partsOf[t] as number));
      sums.push(collective.reduces ? 1 : 0);
      pre.push(membersOf(collective, collective.pre, c).slice().sort());
      post.push(membersOf(collective, collective.post, c).slice().sort());
    }
  });
  const collective: Collective = {
    kind: "custom",
    groupCount: 1,
    groupSize: groupMembers.length,
    groupMembers,
    rootRank: 0,
    sizeBytes: collectives.reduce((sum, { sizeBytes, groupCount }) => sum + sizeBytes * groupCount, 0),
    chunksPerNpu: 1,
    chunkCount: sums.length,
    chunkBytes: part,
    reduces: sums.includes(1),
    pre: placementOfLists(pre),
    post: placementOfLists(post),
  };
  const { route, startPs, endPs, op } = rows;
  const chunk = rows.chunk.map((c, row) => c + (firsts[rows.tenant[row]] as number));
  return {
    schedule: { topology, collective, routes, chunk, route, startPs, endPs, op },
    blocks: { start: Int32Array.from(start), sums: Uint8Array.from(sums) },
  };
}

/** Returns the members of all groups and the NPUs that relay, ascending. O(members + transfers). */
export function takingPart({ routes, tenants }: JointSchedule): Int32Array {
  const npus = new Set<number>();
  for (const { collective, route } of tenants) {
    for (const npu of collective.groupMembers) npus.add(npu);
    for (const r of route) npus.add(routes.source[r]).add(routes.target[r]);
  }
  return Int32Array.from(npus).sort();
}

/** Returns the largest size of which both are multiples. */
function commonPart(a: Rational, b: Rational): Rational {
  let [x, y] = [a.num * b.den, b.num * a.den];
  while (y > 0n) [x, y] = [y, x % y];
  return rational(x, a.den * b.den);
}
