import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { keptFiles, type Plans } from "../../src/cli/laboratory/plans.ts";
import { readMpiPlan } from "../../src/import/programs/mpi-plan.ts";
import { commandsHere } from "../support/cli-here.ts";

const here = commandsHere();
const SIZES = [1024, 65_536, 1_048_576];

it("plans leave the library the sizes at which it was faster, by files that come first", async () => {
  await here.run("export ring:4 -q -c allgather -a ring -s 1MiB --to mpi -o ring.plan");
  const text = readFileSync(here.at("ring.plan"), "utf8");
  const made = { program: readMpiPlan(text, "ring.plan"), parts: () => [text] };
  const plans = {
    planned: SIZES.map((sizeBytes) => ({ sizeBytes, algorithm: "ring", rootRank: 0, predictedSeconds: 1 })),
    ranges: [{ minBytes: 0, maxBytes: null, made }],
  } as unknown as Plans;
  const rangesLeft = (...left: number[]): string[] => {
    const files = keptFiles(plans, (size) => left.includes(size));
    expect(files.map(({ name }) => name)).toEqual([...files.map(({ name }) => name)].sort());
    expect(files).toHaveLength(left.length + 1);
    return files.slice(0, -1).map(({ parts }) => /^bytes .*$/m.exec([...parts].join(""))?.[0] ?? "");
  };
  expect(rangesLeft()).toEqual([]);
  expect(rangesLeft(65_536)).toEqual(["bytes 8192 262143"]);
  expect(rangesLeft(...SIZES)).toEqual(["bytes 0 8191", "bytes 8192 262143", "bytes 262144 -"]);

  const folder = here.at("kept");
  mkdirSync(folder);
  for (const { name, parts } of keptFiles(plans, (size) => size === 1024))
    writeFileSync(`${folder}/${name}`, [...parts].join(""));
  const { correct, leftToLibrary, files } = (await here.json("verify kept")) as Record<string, unknown>;
  expect([correct, leftToLibrary, files]).toMatchObject([true, ["+000-library-1KiB.plan"], [{ correct: true }]]);
  expect(await here.run("verify kept")).toContain("+000-library-1KiB.plan: leaves its calls to the MPI library");
  const left = readFileSync(`${folder}/+000-library-1KiB.plan`, "utf8");
  writeFileSync(`${folder}/+000-library-1KiB.plan`, left.replace("bytes 0", "bytes 1"));
  expect((await here.ends("verify kept")).failure?.message).toContain(
    "+000-library-1KiB.plan is damaged: its checksum is",
  );
});
