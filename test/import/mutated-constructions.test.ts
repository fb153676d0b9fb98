import { describe, expect, it } from "vitest";
import { InputError } from "../../src/base/errors.ts";
import { random as draws } from "../../src/base/random.ts";
import { readAlltoallv } from "../../src/import/collectives/collective.ts";
import { constructionText, sizeOf } from "../../src/model/direct/construction.ts";
import { parseConstruction } from "../../src/model/direct/parse.ts";
import { presetTopology } from "../../src/model/presets/preset.ts";
import { pick } from "../support/draws.ts";
import { mutatedText } from "../support/mutated-text.ts";
import { ONE_SENTENCE } from "./support.ts";

const CONSTRUCTIONS = [
  "L3(C(16,{3,4}))",
  "(UniRing(1,4) x UniRing(1,8))^2",
  "BiRing(2,5)*2",
  "T(L(K(4,4))) x Bi(Pi(2,9))",
  "Π_{4,1024}",
  "SkewTorus(4,6,{2})",
];
const MATRICES = ["# bytes\n0 4MiB 4096\n512K 0 1M\n4096 8192 0\n", "0,1,2\n3,0,4\n5,6,0\n"];
const RUNS = 4000;

/** Returns what a reader makes of a changed text: a value, or the sentence of an InputError; anything else is thrown. */
function outcome<Value>(read: () => Value): Value | string {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    expect(error.message.split("\n")[0]).toMatch(ONE_SENTENCE);
    return error.message;
  }
}

describe("changed texts", () => {
  it("of constructions are read, and written as they are read again, or refused in a sentence", () => {
    const random = draws(6);
    let read = 0;
    for (let i = 0; i < RUNS; i++) {
      const [text, other] = [0, 1].map(() => pick(CONSTRUCTIONS, random));
      const changed = mutatedText(text as string, other as string, random);
      const found = outcome(() => parseConstruction(changed));
      if (typeof found === "string") continue;
      read++;
      outcome(() => sizeOf(found));
      expect(parseConstruction(constructionText(found))).toEqual(found);
    }
    expect(read).toBeGreaterThan(RUNS / 100);
  });

  it("of demand matrices are collectives of chunks between different NPUs, or refused in a sentence", () => {
    const random = draws(7);
    const topology = presetTopology("ring:3");
    let read = 0;
    for (let i = 0; i < RUNS; i++) {
      const [text, other] = [0, 1].map(() => pick(MATRICES, random));
      const found = outcome(() =>
        readAlltoallv(mutatedText(text as string, other as string, random), "m.txt", topology),
      );
      if (typeof found === "string") continue;
      read++;
      expect(found.chunkCount).toBeGreaterThan(0);
      expect(found.chunkCount).toBeLessThanOrEqual(2 ** 20);
    }
    expect(read).toBeGreaterThan(RUNS / 100);
  });
});
