import { describe, expect, it } from "vitest";
import { commandsHere } from "../support/cli-here.ts";
import { infeasible, outOfRange, type Refusal, refused, unexpected } from "../support/refusals.ts";

const here = commandsHere();
const TREES = "--algorithm forestcoll";
const gather = (network: string, more = "") => `synth ${network} --collective allgather ${TREES}${more}`;

describe("a network on which trees are hard to pack", () => {
  const HEAD = "from,to,bandwidth,latency\n";
  const TILTED = `${HEAD}0,1,10GB/s,1us\n1,0,20GB/s,1us\n0,2,15GB/s,1us\n2,0,10GB/s,1us\n1,2,10GB/s,1us\n2,1,10GB/s,1us\n`;

  it("is used as it is where NPUs have more bandwidth in than out", async () => {
    const report = await here.json(gather(here.put("tilted.csv", TILTED)));
    expect(report).toMatchObject({ throughput: { exact: "30", ofBound: 1 }, verified: true });
  });

  it("has a thousand trees per root at most where bandwidths are awkward, within a tenth of a percent; all on request", async () => {
    const awkward = "ring:4@50GB/s,1us --degrade 0>1=0.999999999";
    const few = await here.json(gather(awkward));
    expect(few.verified).toBe(true);
    expect(few.throughput.treesPerRoot).toBeLessThanOrEqual(1000);
    expect(few.throughput.ofBound).toBeGreaterThan(0.999);
    expect(few.notes.join()).toContain("--k exact");
    const exact = await here.json(gather(awkward, " --k exact"));
    expect(exact).toMatchObject({ throughput: { ofBound: 1 }, verified: true });
    expect(exact.throughput.treesPerRoot).toBeGreaterThan(1000);
  });

  const positive = 'a positive bandwidth such as "25GB/s", "50GiB/s" or "400Gbps"';
  const smaller = "at most 2^53 - 1 bytes per second (about 9 PB/s)";
  it.each([
    ["0GB/s", positive],
    ["-5GB/s", positive],
    ["9007200GB/s", `a bandwidth of ${smaller}`],
  ])("is refused by its reader for a bandwidth of %s", (bandwidth, expected) =>
    here.refuses(
      gather(here.put("net.csv", `${HEAD}0,1,${bandwidth},1us\n1,0,10GB/s,1us\n`)),
      unexpected("net.csv line 2, bandwidth", bandwidth, expected),
    ),
  );

  it.each([
    [0, "a positive number of GB/s"],
    [9007200, smaller],
  ])("is refused by its reader for a bandwidthGBps of %d", (bandwidthGBps, expected) => {
    const nodes = ["a", "b"].map((id) => ({ id, kind: "npu" }));
    const links = [{ from: "a", to: "b", bandwidthGBps, latencyUs: 1, bidirectional: true }];
    here.put("net.json", { format: "banyan-topology", version: 1, name: "pair", nodes, links });
    return here.refuses(gather("net.json"), unexpected("net.json: links[0].bandwidthGBps", bandwidthGBps, expected));
  });

  it("has no schedule where NPUs cannot reach each other", () =>
    here.refuses(gather("mesh:3x3 --without 1,3"), infeasible({ from: "0", to: "2" }), 3));

  it.each([
    ["allgather", "0,2", "leaves {0}: NPU 0 cannot reach NPU 2"],
    ["broadcast", "2,0", "enters {0}: NPU 2 cannot reach NPU 0"],
    ["reduce", "2,0", "leaves {0}: NPU 0 cannot reach NPU 2"],
  ])("has no schedule where members of a group cannot: %s among %s, with the cut", (collective, group, cut) =>
    here.refuses(
      `synth mesh:3x3 --without 1,3 --collective ${collective} --group ${group} ${TREES}`,
      `no usable link of mesh:3x3 without 1,3 ${cut}`,
      3,
    ),
  );
});

describe("a request that trees cannot serve", () => {
  const makes = "allgather, reducescatter, allreduce, broadcast, reduce, custom";
  it.each<readonly [title: string, line: string, sentence: Refusal]>([
    ["no copies", gather("ring:4", " --k 0"), outOfRange("k", "0")],
    ["half a copy", gather("ring:4", " --k 1.5"), unexpected("k", "1.5")],
    ["copies without end", gather("ring:4", " --k 1e7"), outOfRange("k", 10000000, 1000000)],
    [
      "a collective of pairs",
      `synth ring:4 --collective alltoall ${TREES}`,
      refused("not-applicable", "collective", "alltoall", makes),
    ],
    ["an unknown policy", gather("ring:4", " --policy oldest"), refused("unknown-name", "policy", "oldest")],
    [
      "a policy where there is none",
      "synth ring:4 --collective allgather --algorithm multitree --policy even",
      refused("unknown-name", "policy", "even"),
    ],
    ["a group of one", gather("ring:4", " --group 2"), outOfRange("group", 1)],
    ["a network of one", gather("mesh:1x1"), outOfRange("group", 1)],
    [
      "copies of an algorithm without trees",
      "synth ring:4 --collective allgather --k 2",
      refused("not-applicable", "k", "tacos"),
    ],
    ["a repair of no file", gather("ring:4", " --repair no.json"), unexpected("the schedule", "no.json")],
    [
      "a file for large schedules",
      gather("ring:4", " -o trees.bys"),
      refused("not-applicable", "output", "trees.bys", "--to"),
    ],
  ])("%s", (_, line, sentence) => here.refuses(line, sentence));

  it("but a schedule without trees stands for what was before a failure", async () => {
    await here.run("synth ring:4 --collective allgather --quiet -o steps.json");
    const { ok, repaired, failure, schedule } = await here.json(gather("ring:4", " --repair steps.json"));
    expect([ok, repaired, schedule.kind, failure.kept]).toEqual([true, undefined, "trees", null]);
  });

  it.each([
    ["--trace t.json", "--trace"],
    ["--reference", "--reference"],
  ])("simulate with %s, which is for transfers", async (option, place) => {
    await here.run(gather("ring:4", " --quiet -o trees.json"));
    await here.refuses(`simulate trees.json ${option}`, refused("not-applicable", `${place}`, "trees.json", "--to"));
  });

  it("simulate store-and-forward", async () => {
    await here.run(gather("ring:4", " --quiet -o trees.json"));
    await here.refuses(
      "simulate trees.json --switching store-and-forward",
      refused("not-applicable", "switching", "store-and-forward"),
    );
  });
});
