import { describe, expect, it } from "vitest";
import { random } from "../../src/base/random.ts";
import { smallPrograms } from "../support/executable-programs.ts";
import { plainProgram, programOfPlain } from "../support/plain-programs.ts";
import { campaign } from "../support/program-campaign.ts";
import { mutantOf, PROGRAM_MUTATIONS } from "../support/program-mutants.ts";

describe("mutants of programs", () => {
  it("are written down like the originals", () => {
    for (const { program } of smallPrograms()) {
      const again = programOfPlain(plainProgram(program));
      expect(again).toEqual(program);
    }
  });

  it("the verifier rejects every one that goes wrong under some interleaving (60; bench/mutants.mjs for more)", () => {
    const { kinds, missed } = campaign(smallPrograms(), { count: 60, interleavings: 12, seed: 7 });
    expect(missed).toEqual([]);
    const changed = [...kinds.values()].reduce((sum, kind) => sum + kind.changed, 0);
    expect(changed).toBeGreaterThan(30);
  });

  it("come in every kind", () => {
    const seen = new Set<string>();
    const programs = smallPrograms();
    for (let seed = 0; seed < 1000 && seen.size < Object.keys(PROGRAM_MUTATIONS).length; seed++)
      seen.add(mutantOf(programs[seed % programs.length].program, random(seed)).what);
    expect([...seen].sort()).toEqual(Object.keys(PROGRAM_MUTATIONS).sort());
  });
});
