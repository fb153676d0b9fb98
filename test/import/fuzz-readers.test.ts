import { describe, expect, it } from "vitest";
import { fuzzReaders, readAndJudge } from "../support/reader-fuzz.ts";
import { ownSources, realSources } from "../support/reader-sources.ts";

const own = ownSources();

describe("readers of every format", () => {
  it.each(own.map((source) => [source.format, source.name, source] as const))(
    "take what mutants are made of: %s, %s",
    (_format, _name, { text, reader, gpu }) => {
      expect(readAndJudge(reader, text, gpu)).toBe(true);
    },
  );

  it("refuse what they do not read with one sentence, and no judge breaks on what they read", () => {
    const { rows, faults } = fuzzReaders([...own, ...realSources()], { count: 300, seed: 20 });
    expect(faults).toEqual([]);
    const total = (of: "read" | "refused" | "judged") => [...rows.values()].reduce((sum, row) => sum + row[of], 0);
    expect(total("read") + total("refused")).toBe(300);
    expect(total("judged")).toBeGreaterThan(30);
    expect(total("refused")).toBeGreaterThan(100);
  });
});
