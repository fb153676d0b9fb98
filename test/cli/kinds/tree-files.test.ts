import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { commandsHere } from "../../support/cli-here.ts";

const here = commandsHere();
const TREES = "--algorithm forestcoll";
const gather = (network: string, more = "") => `synth ${network} --collective allgather ${TREES}${more}`;

describe("a file of trees", () => {
  const RING = "ring:4@50GB/s,1us";
  const make = () => here.run(gather(RING, " --size 4MB --quiet -o ring.json"));
  const file = (name: string) => JSON.parse(readFileSync(here.at(name), "utf8"));

  it("is judged with its certificate", async () => {
    await make();
    expect(await here.run(`verify ring.json --topology ${RING}`)).toBe(
      "correct: 8 trees (images of 2) make all-gather of 4 MB, 4 chunks of 1 MB, among all 4 NPUs of ring:4@50GB/s,1us (8 links, hash 707af383948390a5) at 133.3 GB/s (400/3); proved optimal for every schedule: NPU 0 receives 3 MB through 100 GB/s\nthe times and limits written in the file were not re-checked; `banyan verify ring.json --independent` does\n",
    );
    expect(await here.run("verify ring.json --quiet")).toBe("");
    expect(await here.json("verify ring.json")).toMatchObject({
      correct: true,
      throughput: { exact: "400/3" },
      certificate: { kind: "cut", valid: true, boundGBps: "400/3", optimal: true, holdsFor: "every schedule" },
      violations: [],
    });
  });

  it("is simulated as synth said, in as many pieces as asked for", async () => {
    const made = await here.json(gather(RING, " --size 4MB -o ring.json"));
    const again = await here.json("simulate ring.json");
    expect(again).toMatchObject({ verified: true, time: made.time, pieces: made.schedule.pieces });
    const coarse = await here.json("simulate ring.json --chunks 1");
    // One piece of 4 MB / 8 copies at a third of 50 GB/s: 30 us, over two hops with 1 us of latency each.
    expect(coarse).toMatchObject({ pieces: 1, transfers: 24, time: { us: 62 } });
  });

  it("can be written transfer by transfer, which the judges of steps accept and replay in the same time", async () => {
    await make();
    const trees = await here.json("simulate ring.json");
    expect(await here.run("export ring.json --to steps -o steps.json")).toMatch(
      new RegExp(`^steps\\.json: ${trees.transfers} transfers, `),
    );
    expect(await here.json("verify steps.json")).toMatchObject({ correct: true, transfers: trees.transfers });
    const steps = await here.json("simulate steps.json");
    expect(steps.time.us).toBeCloseTo(trees.time.us, 3);
  });

  it("is read and written without a change", async () => {
    await make();
    await here.run("export ring.json --to json -o copy.json --quiet");
    const [{ about: _, claims: __, ...first }, { about: _a, ...second }] = [file("ring.json"), file("copy.json")];
    expect(second).toEqual(first);
  });

  it("is what compare and list know as well", async () => {
    const { rows } = await here.json(
      "compare dgx-a100:2 --collective allgather --sizes 1MiB,1GiB --algorithms forestcoll,ring",
    );
    expect(rows.map(({ algorithm, best }: never) => [algorithm, best])).toEqual([
      ["forestcoll", true],
      ["ring", false],
      ["forestcoll", true],
      ["ring", false],
    ]);
    const { items } = await here.json("list algorithms");
    const found = items.find(({ name }: { name: string }) => name === "forestcoll");
    expect(found).toMatchObject({ policies: ["shallow", "even", "quick", "few-peers"] });
    expect(found.collectives).toContain("allreduce");
  });

  it("is repaired after a failure: most trees stay, and the throughput is that of the new optimum within 1 %", async () => {
    await here.run(gather("dgx-h100:2", " --quiet -o whole.json"));
    const report = await here.json(gather("dgx-h100:2", " --without 0-rail0 --repair whole.json -o repaired.json"));
    const { kept, changed } = report.repaired;
    expect(kept).toBeGreaterThanOrEqual(16);
    expect(kept + changed).toBe(report.throughput.distinctTrees);
    expect(report.throughput.ofBound).toBeGreaterThanOrEqual(0.99);
    expect(await here.run("verify repaired.json")).toMatch(/^correct: /);
  });

  it("is made from scratch, with the reason, where it cannot be repaired", async () => {
    await make();
    const { notes, repaired } = await here.json(`synth ring:4 --collective broadcast ${TREES} --repair ring.json`);
    expect(repaired).toBeUndefined();
    expect(notes).toEqual([
      "made from scratch, for the old trees could not be repaired: they are of another collective (allgather)",
    ]);
  });
});
