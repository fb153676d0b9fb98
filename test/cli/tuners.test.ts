import { describe, expect, it } from "vitest";
import { TUNER_FORMATS } from "../../src/export/tables/tuners.ts";
import { commandsHere } from "../support/cli-here.ts";
import { refused } from "../support/refusals.ts";

const here = commandsHere();
const LINE = "compare ring:4 -c allreduce --sizes 1KiB,1MiB";

describe("files that tell a library which of its own algorithms to use", () => {
  it("are written for each, and say by a note what is left to it", async () => {
    const files = new Set<string>();
    for (const format of TUNER_FORMATS) {
      const wanted = format === "tuner-mpich" ? "rhd" : "ring";
      files.add(await here.run(`${LINE} --algorithms ${wanted},tacos --format ${format} -q`));
    }
    expect(files.size).toBe(TUNER_FORMATS.length);
    const { err } = await here.ends(`${LINE},8GiB --algorithms rhd,tacos --format tuner-mpich`);
    expect(err).toContain("MPICH 4 or 5 keeps its own choice for 8 GiB");
  });

  it("go by the times of the target's library, whose algorithms alone count", async () => {
    const rows = await here.json(`${LINE} --algorithms ring,rhd,tacos --target mpi`);
    const file = await here.run(`${LINE} --algorithms ring,rhd,tacos --target mpi --format tuner-openmpi-json -q`);
    const [{ rules }] = JSON.parse(file).collectives.allreduce;
    for (const bytes of [2 ** 10, 2 ** 20]) {
      const own = rows.rows.filter((row: { sizeBytes: number }) => row.sizeBytes === bytes);
      const usOf = (name: string): number =>
        own.find(({ algorithm }: { algorithm: string }) => algorithm === name).libraryUs;
      const rule = rules.find(
        ({ msg_size_min: from, msg_size_max: to }: Record<string, number>) =>
          (from as number) <= bytes && ((to as unknown) === "inf" || bytes <= (to as number)),
      );
      expect(rule.alg).toBe(usOf("rhd") < usOf("ring") ? "rabenseifner" : "ring");
    }
  });

  it("refuse what is not modelled, and a target of another library, with those that are", async () => {
    await here.refuses(`${LINE} --format tuner-lam`, refused("unknown-name", "format", "tuner-lam", ...TUNER_FORMATS));
    await here.refuses(
      `${LINE} --format tuner-mpich --target azure`,
      /--target is "azure"; it must be mpi, or nothing/,
    );
    await here.refuses(`${LINE} --format tuner-ncclx --target mpi`, /must be msccl, azure, mscclpp, nccl, or nothing/);
  });
});
