import { describe, expect, it } from "vitest";
import type { Options } from "../../../src/request/option-table.ts";
import { exportsOf } from "../../../src/web/worker/export.ts";
import { unexpected } from "../../support/refusals.ts";
import { ask, wishOf } from "../../support/worker-asks.ts";

/** The page as one file is not there in tests. */
const FORMATS = exportsOf().filter(({ name, of }) => of.includes("schedule") && name !== "html");

const NOT_IN_NETWORK = [
  ...["bys", "steps", "csv", "perfetto"],
  ...["msccl-xml", "mpi", "msccl-lang", "mscclpp-dsl", "chakra", "astra-sim", "jax", "torch"],
];

const CASES: readonly (readonly [topology: string, options: Options, lacks: readonly string[]])[] = [
  ["dgx-h100:1", { collective: "allreduce", algorithm: "nvls" }, NOT_IN_NETWORK],
  ["dgx-h100:2", { collective: "allreduce", algorithm: "nvls" }, NOT_IN_NETWORK],
  ["dgx-h100:1", { collective: "allreduce", algorithm: "forestcoll" }, []],
  ["ring:4", { collective: "allgather", algorithm: "ring" }, ["forestcoll-xml"]],
];

describe("formats that a schedule cannot become", () => {
  it.each(CASES)("are told before, and are those that refuse it: %s %o", async (topology, options, expected) => {
    const { ref, lacks } = await ask("make", { wish: wishOf(topology, { ...options, size: "1MiB" }) });
    const subject = { kind: "schedule", schedule: ref } as const;
    const refused: string[] = [];
    for (const { name } of FORMATS) {
      const error = await ask("export", { subject, to: name, options: {} }).then(
        () => null,
        (refusal: Error) => refusal,
      );
      if (error === null) continue;
      refused.push(name);
      expect(error).toMatchObject({
        mistake: "unexpected",
        place: `--to ${name}`,
        expected: expect.stringContaining("--algorithm forestcoll"),
      });
    }
    expect(refused).toEqual(expected);
    expect(Object.keys(lacks).filter((name) => name !== "svg: time")).toEqual(expected);
    const inTime = ask("export", { subject, to: "svg", options: { view: "time" } });
    if ("svg: time" in lacks)
      await expect(inTime).rejects.toThrow(
        unexpected("--view time", "trees whose switches duplicate and sum (NVLS)", "--algorithm"),
      );
    else expect((await inTime).file.content.size).toBeGreaterThan(0);
  });
});
