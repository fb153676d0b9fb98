import { expect, it } from "vitest";
import { commandsHere } from "../support/cli-here.ts";

const here = commandsHere();

it("fails a schedule or program that makes another collective than --collective says, and takes one that makes it", async () => {
  await here.run("synth mesh:3x3 -c allgather -s 9KiB -o plan.json -q");
  await here.run("export plan.json --to msccl-xml -o program.xml -q");
  for (const file of ["plan.json", "program.xml"]) {
    const other = await here.ends(`verify ${file} -c allreduce`);
    expect([other.code, other.failure?.message]).toEqual([
      1,
      `${file} makes all-gather, not all-reduce (--collective)`,
    ]);
    expect((await here.ends(`verify ${file} -c AllGather`)).code).toBe(0);
  }
});

it("judges a folder of plans with the file that makes them known", async () => {
  await here.run("export dgx-a100:1 -c allgather -a direct --sizes 1KiB,16MiB --to mscclpp-json -o plans -q");
  const { code, out } = await here.ends("verify plans");
  expect(code).toBe(0);
  expect(out).toContain("correct: 2 files held against MSCCL++");
  const wrong = await here.ends("verify plans --target azure");
  expect([wrong.code, wrong.failure?.message]).toEqual([
    2,
    '--target is "azure"; it must be mscclpp for an MSCCL++ plan',
  ]);
});
