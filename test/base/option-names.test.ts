import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { InputError } from "../../src/base/errors.ts";
import { callOptions, optionName } from "../../src/base/option-names.ts";
import { synthesize } from "../../src/index.ts";
import { flagOfProperty, type OptionId, propertyOf, ROWS } from "../../src/request/option-table.ts";

describe("names of options", () => {
  let back = (): void => undefined;
  beforeAll(() => {
    back = callOptions((option) => option);
  });
  afterAll(() => back());

  it("are properties for callers of the API", async () => {
    const asked = { topology: "ring:4", collective: "allgather", algorithm: "tacos" } as const;
    await expect(synthesize({ ...asked, timeLimitMs: 1000 })).rejects.toMatchObject({
      mistake: "not-applicable",
      option: "timeLimitMs",
      received: "tacos",
      message: expect.stringMatching(/^timeLimitMs has no effect with tacos; it works with auto, /),
    });
    await expect(synthesize({ ...asked, seed: -1 })).rejects.toMatchObject({
      mistake: "out-of-range",
      option: "seed",
      message: "seed is -1; it must be an integer in 0 .. 2^32 - 1",
    });
    await expect(synthesize({ ...asked, sizeBytes: 1, chunks: 0 })).rejects.toMatchObject({ option: "chunks" });
  });

  it("are flags once a front end says so, in places and in sentences", () => {
    const end = callOptions(flagOfProperty);
    const error = new InputError(optionName("degrade", " a-b"), `nothing beside ${optionName("timeLimitMs")}`, 3);
    end();
    expect(error.message).toBe("--degrade a-b does not go with --time-limit");
    expect(error).toMatchObject({ option: "degrade", place: "--degrade a-b" });
    expect(`${optionName("nvls")}`).toBe("nvls");
  });

  it("stand in the table, all that the sources use", () => {
    const known = new Set([...(Object.keys(ROWS) as OptionId[]).map(propertyOf), "latencyPs", "bandwidth"]);
    const root = fileURLToPath(new URL("../../src", import.meta.url));
    const used = readdirSync(root, { recursive: true, encoding: "utf8" })
      .filter((file) => /\.tsx?$/.test(file))
      .flatMap((file) => [...readFileSync(`${root}/${file}`, "utf8").matchAll(/optionName\("(\w+)"/g)])
      .map(([, name]) => name as string);
    expect(used.length).toBeGreaterThan(100);
    expect(used.filter((name) => !known.has(name))).toEqual([]);
  });
});
