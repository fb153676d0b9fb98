import { readdirSync, readFileSync } from "node:fs";
import { Session } from "node:inspector";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { NETWORK_FORMATS } from "../../src/import/networks/network-formats.ts";
import { keptInputs } from "../support/fuzz/corpus.ts";
import { targetOfFormat } from "../support/fuzz/file-targets.ts";
import { outcomeOf } from "../support/fuzz/law.ts";
import { fuzzTargets } from "../support/fuzz/targets.ts";

const targets = fuzzTargets();
const SRC = new URL("../../src/", import.meta.url);

/** Readers by their names, as src/ exports them: what is called with a text, a parsed value or bytes. */
const READER =
  /^export (?:async )?function ((?:read|parse|unpack)[A-Z]\w*|\w+FromJson|evaluationsOf|utf8Text)\(\s*(?:text|value|source|fragment|expression|packed|bytes|argv)\b/gm;

/** Exported readers, each as "file name". */
function readers(): string[] {
  return readdirSync(SRC, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .flatMap((file) => {
      const text = readFileSync(new URL(file, SRC), "utf8");
      return [...text.matchAll(READER)].map(([, name]) => `${file} ${name}`);
    })
    .sort();
}

/** Called with what no fuzzer makes up: a stream of the system's, an element of a browser. */
const session = new Session();
const command = <T>(method: string, parameters: object = {}): Promise<T> =>
  new Promise((resolve, reject) => {
    session.post(method, parameters, (error, result) => (error === null ? resolve(result as T) : reject(error)));
  });

interface Coverage {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly {
      readonly functionName: string;
      readonly ranges: readonly { readonly count: number }[];
    }[];
  }[];
}

describe("readers", () => {
  beforeAll(async () => {
    session.connect();
    await command("Profiler.enable");
    await command("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  });
  afterAll(() => session.disconnect());

  it.each(targets.map((target) => [target.name, target] as const))(
    "take what fuzzing begins with: %s",
    async (_, target) => {
      const seeds = target.seeds();
      expect(seeds.length).toBeGreaterThan(0);
      for (const seed of seeds)
        expect([seed, await outcomeOf(target, seed)]).toEqual([seed, { read: expect.anything(), breach: null }]);
      const outcomes = await Promise.all(seeds.slice(0, 1).map((seed) => outcomeOf(target, seed)));
      expect(outcomes.some(({ read }) => read)).toBe(true);
    },
  );

  it.each(targets.map((target) => [target.name, target] as const))(
    "keep the law on the corpus: %s",
    async (_, target) => {
      const inputs = keptInputs(target.name);
      expect(inputs.length).toBeGreaterThan(0);
      const breaches: unknown[] = [];
      for (const input of inputs) {
        const { breach } = await outcomeOf(target, input);
        if (breach !== null) breaches.push([input, breach]);
      }
      expect(breaches).toEqual([]);
    },
  );

  it("all have a target: what src/ exports is called", async () => {
    const { result } = await command<Coverage>("Profiler.takePreciseCoverage");
    const called = new Set(
      result.flatMap(({ url, functions }) => {
        const path = url.replace(/^file:\/\//, "").replace(/\?.*$/, "");
        const file = path.startsWith(fileURLToPath(SRC)) ? path.slice(fileURLToPath(SRC).length) : null;
        if (file === null) return [];
        return functions
          .filter(({ ranges }) => (ranges[0]?.count ?? 0) > 0)
          .map(({ functionName }) => `${file} ${functionName}`);
      }),
    );
    const all = readers();
    expect(all.length).toBeGreaterThan(40);
    expect(all.filter((reader) => !called.has(reader))).toEqual([]);
  });

  it("of networks have a target each, which begins with a network of its format", () => {
    const seeded = new Map(targets.map(({ name, seeds }) => [name, seeds().length]));
    for (const { name } of NETWORK_FORMATS)
      expect([name, seeded.get(targetOfFormat(name)) ?? 0]).not.toEqual([name, 0]);
  });
});
