import { describe, expect, it } from "vitest";
import { InputError } from "../../src/base/errors.ts";
import { random } from "../../src/base/random.ts";
import { changedInput } from "../support/fuzz/changed-input.ts";
import { type Coverage, fewest, type SearchOptions, search, shortest } from "../support/fuzz/fuzzer.ts";
import { outcomeOf } from "../support/fuzz/law.ts";
import { fuzzTargets } from "../support/fuzz/targets.ts";

/** A reader with counted branches, one deeper in the other, and a fault at the bottom. */
function toyReader(isCounted: boolean) {
  const reached = new Set<number>();
  const coverage: Coverage = {
    clear: () => reached.clear(),
    reached: () => (isCounted ? [...reached].map((branch) => branch * 8).sort((a, b) => a - b) : []),
    words: () => ["kind", "ring"],
  };
  const check = (input: string): void => {
    const deeper = (branch: number, holds: boolean): void => {
      reached.add(branch * 2 + Number(holds));
      if (!holds) throw new InputError("the input", `step ${branch}`, input);
    };
    deeper(0, input.startsWith("{"));
    deeper(1, input.includes('"kind"'));
    deeper(2, input.includes("ring"));
    deeper(3, input.includes("ring9"));
    throw new TypeError("the fault");
  };
  const target = { name: "toy", seeds: () => ["{}"], check };
  return { coverage, run: (input: string) => outcomeOf(target, input) };
}

const options = (run: SearchOptions["run"], runs: number, seed: number): SearchOptions => ({
  given: ["{}"],
  seed,
  goesOn: (so) => so < runs,
  run,
});

describe("the search for inputs", () => {
  it("goes step by step where branches are counted, finds the fault and shortens what shows it", async () => {
    const { coverage, run } = toyReader(true);
    const found = await search(coverage, options(run, 3_000, 2));
    expect(found.findings.map(({ kind }) => kind)).toEqual(["TypeError"]);
    const [{ input }] = found.findings;
    expect(input).toMatch(/^\{.*ring9/);
    expect(input.length).toBeLessThan(16);
    expect(found.branches.size).toBe(7);
    const again = await search(coverage, options(run, 3_000, 2));
    expect([again.corpus, again.findings[0]?.input]).toEqual([found.corpus, input]);
  });

  it("does not get there where they are not", async () => {
    const { coverage, run } = toyReader(false);
    const { findings, corpus } = await search(coverage, options(run, 3_000, 2));
    expect([findings, corpus]).toEqual([[], []]);
  });

  it("keeps few and short inputs that reach as much", async () => {
    const { coverage, run } = toyReader(true);
    const inputs = ["{}", "[]", '{"kind":1}', '{"kind":"bus"} and more', '{"kind":"ring"} and much more', "x"];
    const kept = await fewest(coverage, inputs, run);
    expect(kept.length).toBe(4);
    expect(kept.join("").length).toBeLessThan(40);
    const reached = new Set<number>();
    for (const input of kept) {
      coverage.clear();
      await run(input);
      for (const feature of coverage.reached()) reached.add(feature);
    }
    expect([...reached].sort((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6].map((branch) => branch * 8));
  });

  it("leaves out all that is not needed", async () => {
    expect(await shortest("many words, a needle, and more", async (text) => text.includes("needle"))).toBe("needle");
  });
});

describe("an input", () => {
  it("is told from the law by what is thrown and by what is changed", async () => {
    const outcome = (check: () => unknown) => outcomeOf({ name: "x", seeds: () => [], check }, "");
    const refusal = (sentence: string) => () => {
      throw new InputError("x", sentence);
    };
    expect(await outcome(() => 1)).toEqual({ read: true, breach: null });
    expect(await outcome(refusal("a number"))).toEqual({ read: false, breach: null });
    // what the class would show escaped, as an error whose message was set
    const lines = () => {
      throw Object.assign(new InputError("x", "a number"), { message: "a\nnumber" });
    };
    expect((await outcome(lines)).breach?.kind).toBe("a sentence of several lines");
    expect((await outcome(refusal("x".repeat(2000)))).breach?.kind).toBe("a long sentence");
    expect((await outcome(() => Promise.reject(new RangeError("deep")))).breach?.kind).toMatch(/^RangeError/);
    const polluted = Object.prototype as { fuzzed?: number };
    expect((await outcome(() => Object.assign(polluted, { fuzzed: 1 }))).breach?.kind).toBe("a changed prototype");
    delete polluted.fuzzed;
  });

  it("is changed in ways that stay JSON, and with names that every object has", () => {
    const material = { words: ["kind"], others: ['{"a":1}'] };
    const changed = Array.from({ length: 2000 }, (_, seed) =>
      changedInput('{"a":[1,{"b":"c"}],"d":2}', random(seed), material),
    );
    const isJson = (text: string): boolean => {
      try {
        return typeof JSON.parse(text) === "object";
      } catch {
        return false;
      }
    };
    expect(new Set(changed).size).toBeGreaterThan(1000);
    expect(changed.filter(isJson).length).toBeGreaterThan(200);
    expect(changed.some((text) => text.includes("__proto__"))).toBe(true);
    expect(changed.some((text) => text.includes("kind"))).toBe(true);
  });
});

describe("changed inputs of every reader (bench/fuzz.mjs for more)", () => {
  it.each(fuzzTargets().map((target) => [target.name, target] as const))("keep the law: %s", async (_, target) => {
    const seeds = target.seeds();
    const breaches: unknown[] = [];
    for (let turn = 0; turn < 12; turn++) {
      const draws = random(77, turn);
      const input = changedInput(seeds[draws.below(seeds.length)] as string, draws, { words: [], others: seeds });
      const { breach } = await outcomeOf(target, input);
      if (breach !== null) breaches.push([input, breach]);
    }
    expect(breaches).toEqual([]);
  });
});
