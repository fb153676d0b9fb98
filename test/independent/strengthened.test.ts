import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { random } from "../../src/base/random.ts";
import { type ClaimedFile, claimedFiles, type Json, opinionOf } from "../support/claimed-files.ts";
import { pick } from "../support/draws.ts";
import { runs } from "../support/runs.ts";
import { STRENGTHENINGS } from "../support/strengthened.ts";

const COUNT = 10_000;
const LONGEST = 40_000;

describe("claims", () => {
  let files: ClaimedFile[] = [];
  beforeAll(async () => {
    files = (await claimedFiles()).filter(({ text }) => text.length < LONGEST);
  }, 600_000);

  it(`that say more are refused, all of ${COUNT}`, () => {
    const draws = random(fc.readConfigureGlobal().seed as number, 0xc1a1);
    const names = Object.keys(STRENGTHENINGS);
    const tried = new Map<string, number>();
    const accepted: unknown[] = [];
    const parsed = new Map<ClaimedFile, Json>();
    for (let left = runs(COUNT); left > 0; ) {
      const name = pick(names, draws);
      let [claim, origin, file]: [string | null, string, Json] = [null, "", null];
      for (let tries = 0; claim === null && tries < 5000; tries++) {
        const drawn = pick(files, draws);
        [origin, file] = [drawn.name, parsed.get(drawn) ?? JSON.parse(drawn.text)];
        claim = STRENGTHENINGS[name]?.(file, draws) ?? null;
        // what found nothing to change left the file as it was
        if (claim === null) parsed.set(drawn, file);
        else parsed.delete(drawn);
      }
      if (claim === null) throw new Error(`nothing to strengthen: ${name}`);
      left--;
      tried.set(name, (tried.get(name) ?? 0) + 1);
      const opinion = opinionOf(JSON.stringify(file));
      const isRefused = typeof opinion === "string" || opinion[claim]?.startsWith("wrong") === true;
      if (!isRefused)
        accepted.push({ origin, name, claim, claims: JSON.stringify(file.claims).slice(0, 1500), opinion });
    }
    expect(accepted.slice(0, 5)).toEqual([]);
    expect([...tried.keys()].sort()).toEqual(names.sort());
  });
});
