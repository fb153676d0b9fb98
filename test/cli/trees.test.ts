import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { BACKENDS } from "../../src/engine/kernels/kernels.ts";
import { banyan, cliFolder } from "../support/cli.ts";

const folder = cliFolder();

/** Returns what a command writes; fails unless it ends with the exit code and says nothing on standard error. */
async function run(line: string, code = 0): Promise<string> {
  const ran = await banyan(line.split(" "), { cwd: folder.at() });
  expect([ran.code, ran.err]).toEqual([code, ""]);
  return ran.out;
}
const json = async (line: string, code = 0) => JSON.parse(await run(`${line} --json`, code));
const TREES = "--algorithm forestcoll";
const gather = (network: string, more = "") => `synth ${network} --collective allgather ${TREES}${more}`;

/** Runs a command that is refused: exit code, nothing on standard output, exactly one line. */
async function refuses(line: string, sentence: string, code = 2): Promise<void> {
  const { out, err, code: actual } = await banyan(line.split(" "), { cwd: folder.at() });
  expect([actual, out, err]).toEqual([code, "", `banyan: ${sentence}\n`]);
}

describe("banyan synth --algorithm forestcoll", () => {
  it.each<readonly [network: string, exact: string, k: number | null]>([
    ["dgx-a100:1", "2400/7", null],
    ["dgx-a100:2", "1040/3", 13],
    ["dgx-a100:3", "300", null],
    ["dgx-a100:4", "800/3", null],
    ["dgx-a100:5", "250", null],
    ["dgx-a100:6", "240", null],
    ["dgx-a100:128", "25600/127", 1],
  ])("reaches the published optimum on %s: %s GB/s", async (network, exact, k) => {
    const report = await json(gather(network));
    expect(report).toMatchObject({
      throughput: { exact, ...(k === null ? {} : { treesPerRoot: k }) },
      schedule: { kind: "trees" },
      optimality: 1,
      verified: true,
      deterministic: true,
    });
    expect(report.bound.us).toBeLessThanOrEqual(report.simulated.us);
    expect(report.limit.us).toBeLessThanOrEqual(report.simulated.us);
  });

  it.each([
    [1, "320"],
    [2, "1024/3"],
    [3, "2400/7"],
    [4, "1024/3"],
    [5, "8000/23"],
  ])("reaches the published throughput with %i copies per root on two MI250 boxes: %s GB/s", async (k, exact) => {
    const { throughput, verified, notes, optimality } = await json(gather("mi250:2", ` --k ${k}`));
    expect(throughput).toMatchObject({ exact, treesPerRoot: k });
    expect(verified).toBe(true);
    expect(optimality).toBeLessThan(1);
    expect(notes[0]).toMatch(/ of trees per root reach(es)? 9\d.*% of the optimum .*, which takes 83$/);
  });

  it("takes fewer copies with --k auto where that is faster at the size asked for", async () => {
    const [most, auto] = [
      await json(gather("mi250:2", " --size 1MiB")),
      await json(gather("mi250:2", " --size 1MiB --k auto")),
    ];
    expect(most).toMatchObject({ throughput: { exact: "5312/15", treesPerRoot: 83 }, optimality: 1 });
    expect(auto.throughput.treesPerRoot).toBeLessThan(83);
    expect(auto.simulated.us).toBeLessThan(most.simulated.us);
  });

  it.each([
    ["3x3", "3/2"],
    ["4x4", "8/5"],
    ["5x5", "5/3"],
  ])("reduces a buffer on a %s mesh at %s of a link's rate", async (shape, exact) => {
    const report = await json(`synth mesh:${shape}@1GB/s,1us --collective allreduce ${TREES}`);
    expect(report).toMatchObject({ throughput: { exact }, optimality: 1, verified: true });
  });

  it.each([
    ["broadcast", " --root 3", "100"],
    ["reduce", " --root 3", "100"],
    ["reducescatter", "", "800/7"],
    ["allreduce", "", "400/7"],
  ])("makes trees for %s", async (collective, root, exact) => {
    const report = await json(`synth ring:8@50GB/s,1us --collective ${collective}${root} ${TREES}`);
    expect(report).toMatchObject({ throughput: { exact }, verified: true });
  });

  it("makes trees for a group, and for shards of unequal size", async () => {
    const group = await json(gather("dgx-a100:2", " --group 0,1,8,9"));
    expect(group).toMatchObject({ throughput: { exact: "400" }, optimality: 1, verified: true });
    const chunk = (holder: number) => ({ pre: [holder], post: [0, 1, 2] });
    const chunks = [0, 0, 1, 2].map(chunk);
    folder.put("own.json", { format: "banyan-collective", version: 1, chunkBytes: "1MiB", chunks });
    const unequal = await json(`synth ring:3@50GB/s,1us --collective custom:own.json ${TREES}`);
    // NPU 1 receives three of four chunks through two links.
    expect(unequal).toMatchObject({
      throughput: { exact: "400/3", treesPerRoot: null },
      optimality: 1,
      verified: true,
    });
  });

  it("says for people how many trees there are, how high, what they reach and why it cannot be more", async () => {
    const text = await run(gather("dgx-a100:2"));
    for (const line of [
      / schedule +32 different trees, 13 copies per root by forestcoll, verified\n/,
      / trees +height 2, 2 on average; a copy holds 1\.667 GB\/s and is sent in \d+ pieces\n/,
      / throughput +346\.7 GB\/s +325 GB\/s +1040\/3, with ever more pieces\n/,
      / bound +3\.0973 ms +100 % of throughput +NPU 0 receives 1\.0066 GB through 325 GB\/s\n/,
      / synthesis +[\d.]+ \w+ on \w+; seed 1; one root for all by symmetry\n/,
    ]) {
      expect(text).toMatch(line);
    }
  });

  it("names the collective's own bytes in the bound where latency rules its time", async () => {
    const { bound } = await json(gather("ring:6@50GB/s,1us", " --size 6KB --without 0>1 --eulerian trim"));
    expect(bound).toMatchObject({ us: 0.1, because: "NPU 1 receives 5 KB through 50 GB/s" });
  });

  it("keeps fractions of a GB/s exactly", async () => {
    const rate = "12.345678901GB/s,1us";
    folder.put("frac.csv", `from,to,bandwidth,latency\n0,1,${rate}\n1,0,${rate}\n`);
    expect(await json(gather("frac.csv"))).toMatchObject({ throughput: { exact: "12345678901/500000000" } });
  });

  it("makes the same file on every backend, with any number of threads", async () => {
    const files: string[] = [];
    for (const how of [...BACKENDS.map((backend) => `--backend ${backend}`), "--threads 0", "--threads 2"]) {
      const line = `${gather("dgx-a100:2 --without 0-ib")} --quiet -o same.json ${how}`;
      const { code } = await banyan(line.split(" "), { cwd: folder.at() });
      // A backend that is not built here cannot be compared.
      if (code === 0) files.push(readFileSync(folder.at("same.json"), "utf8"));
    }
    expect(files.length).toBeGreaterThanOrEqual(3);
    expect(new Set(files).size).toBe(1);
  });
});

describe("a file of trees", () => {
  const RING = "ring:4@50GB/s,1us";
  const make = () => run(gather(RING, " --size 4MB --quiet -o ring.json"));
  const file = (name: string) => JSON.parse(readFileSync(folder.at(name), "utf8"));

  it("is judged with its certificate", async () => {
    await make();
    expect(await run(`verify ring.json --topology ${RING}`)).toBe(
      "correct: 8 trees (images of 2) make 133.3 GB/s (400/3); proved optimal for every schedule: NPU 0 receives 3 MB through 100 GB/s\n",
    );
    expect(await run("verify ring.json --quiet")).toBe("");
    expect(await json("verify ring.json")).toMatchObject({
      correct: true,
      throughput: { exact: "400/3" },
      certificate: { kind: "cut", valid: true, boundGBps: "400/3", optimal: true, holdsFor: "every schedule" },
      violations: [],
    });
  });

  it("is simulated as synth said, in as many pieces as asked for", async () => {
    const made = await json(gather(RING, " --size 4MB -o ring.json"));
    const again = await json("simulate ring.json");
    expect(again).toMatchObject({ verified: true, simulated: made.simulated, pieces: made.schedule.pieces });
    const coarse = await json("simulate ring.json --chunks 1");
    // One piece of 4 MB / 8 copies at a third of 50 GB/s: 30 us, over two hops with 1 us of latency each.
    expect(coarse).toMatchObject({ pieces: 1, transfers: 24, simulated: { us: 62 } });
  });

  it("can be written transfer by transfer, which the judges of steps accept and replay in the same time", async () => {
    await make();
    const trees = await json("simulate ring.json");
    expect(await run("export ring.json --to steps -o steps.json")).toMatch(
      new RegExp(`^steps\\.json: ${trees.transfers} transfers, `),
    );
    expect(await json("verify steps.json")).toMatchObject({ correct: true, transfers: trees.transfers });
    const steps = await json("simulate steps.json");
    expect(steps.simulated.us).toBeCloseTo(trees.simulated.us, 3);
  });

  it("is read and written without a change", async () => {
    await make();
    await run("export ring.json --to json -o copy.json --quiet");
    const [{ about: _, ...first }, { about: _a, ...second }] = [file("ring.json"), file("copy.json")];
    expect(second).toEqual(first);
  });

  it("is what compare and list know as well", async () => {
    const { rows } = await json(
      "compare dgx-a100:2 --collective allgather --sizes 1MiB,1GiB --algorithms forestcoll,ring",
    );
    expect(rows.map(({ algorithm, best }: never) => [algorithm, best])).toEqual([
      ["forestcoll", true],
      ["ring", false],
      ["forestcoll", true],
      ["ring", false],
    ]);
    const { items } = await json("list algorithms");
    const found = items.find(({ name }: { name: string }) => name === "forestcoll");
    expect(found).toMatchObject({ policies: ["shallow", "even"] });
    expect(found.collectives).toContain("allreduce");
  });

  it("is repaired after a failure: most trees stay, and the throughput is that of the new optimum within 1 %", async () => {
    await run(gather("dgx-h100:2", " --quiet -o whole.json"));
    const report = await json(gather("dgx-h100:2", " --without 0-rail0 --repair whole.json -o repaired.json"));
    const { kept, changed } = report.repaired;
    expect(kept).toBeGreaterThanOrEqual(16);
    expect(kept + changed).toBe(report.throughput.distinctTrees);
    expect(report.optimality).toBeGreaterThanOrEqual(0.99);
    expect(await run("verify repaired.json")).toMatch(/^correct: /);
  });

  it("is made anew, with the reason, where it cannot be repaired", async () => {
    await make();
    const { notes, repaired } = await json(`synth ring:4 --collective broadcast ${TREES} --repair ring.json`);
    expect(repaired).toBeUndefined();
    expect(notes).toEqual([
      "made anew, for the old trees could not be repaired: its trees are those of another collective (allgather)",
    ]);
  });
});

describe("a damaged file of trees", () => {
  type Tree = { root: number; copies: unknown; edges: unknown[] };
  type Fields = {
    topology: { hash: string };
    k: number;
    symmetry: { steps: number[][] };
    certificate: { nodes: number[] };
    forests: { copyBytesPerSecond: string; trees: Tree[] }[];
  };
  const firstTree = ({ forests }: Fields): Tree => forests[0]?.trees[0] as Tree;

  async function damaged(change: (fields: Fields) => void): Promise<void> {
    await run(gather("ring:4@50GB/s,1us", " --size 4MB --quiet -o good.json"));
    const fields = JSON.parse(readFileSync(folder.at("good.json"), "utf8"));
    change(fields);
    folder.put("bad.json", fields);
  }

  it.each<readonly [title: string, change: (fields: Fields) => void, line: string]>([
    [
      "more copies than k says",
      (fields) => {
        firstTree(fields).copies = 2;
      },
      "expected 3 copies a root, as the trees have, for bad.json: k but received 2",
    ],
    [
      "half a copy",
      (fields) => {
        firstTree(fields).copies = 1.5;
      },
      "expected an integer of 1 or more for bad.json: forests[0].trees[0].copies but received 1.5",
    ],
    [
      "an edge that is missing",
      (fields) => {
        firstTree(fields).edges.pop();
      },
      "expected 3 edges, one to each other member, for bad.json: forests[0].trees[0].edges but received 2",
    ],
    [
      "a link that is not there",
      (fields) => {
        firstTree(fields).edges[0] = 99;
      },
      "expected an integer in 0 .. 7 for bad.json: forests[0].trees[0].edges[0] but received 99",
    ],
    [
      "a root that is not there",
      (fields) => {
        firstTree(fields).root = 7;
      },
      "expected an integer in 0 .. 3 for bad.json: forests[0].trees[0].root but received 7",
    ],
    [
      "no bandwidth",
      ({ forests: [forest] }) => {
        if (forest !== undefined) forest.copyBytesPerSecond = "0";
      },
      'expected a positive fraction as a text such as "2400/7" for bad.json: forests[0].copyBytesPerSecond but received "0"',
    ],
    [
      "a symmetry of too few nodes",
      ({ symmetry }) => {
        symmetry.steps[0]?.pop();
      },
      "expected 4 nodes for bad.json: symmetry.steps[0] but received 3",
    ],
    [
      "another network",
      ({ topology }) => {
        topology.hash = "0123456789abcdef";
      },
      'expected 707af383948390a5 (this schedule is for another topology) for bad.json: topology.hash but received "0123456789abcdef"',
    ],
  ])("is refused by its reader: %s", async (_, change, line) => {
    await damaged(change);
    await refuses("verify bad.json", line);
  });

  it("is refused by its reader: cut short", async () => {
    await damaged(() => undefined);
    const text = readFileSync(folder.at("good.json"), "utf8");
    folder.put("bad.json", text.slice(0, text.indexOf('"edges"')));
    const { code, out, err } = await banyan(["verify", "bad.json"], { cwd: folder.at() });
    expect([code, out]).toEqual([2, ""]);
    expect(err).toMatch(/^banyan: expected [^\n]* for bad\.json line \d+, column \d+ but received [^\n]*\n$/);
  });

  it.each<readonly [title: string, change: (fields: Fields) => void, violation: string]>([
    [
      "an edge from where the tree has not been",
      (fields) => {
        firstTree(fields).edges.reverse();
      },
      "out-tree 0 at rank 0: edge 0 over link 1>2 starts at rank 1, where the tree has not been",
    ],
    [
      "a map that is no automorphism",
      ({ symmetry }) => {
        symmetry.steps[0] = [1, 3, 0, 2];
      },
      "map 0 of the symmetry takes link 0>1 to none like it",
    ],
    [
      "a map that is no permutation",
      ({ symmetry }) => {
        symmetry.steps[0] = [1, 2, 3, 3];
      },
      "map 0 of the symmetry takes two nodes to rank 3",
    ],
    [
      "a certificate that proves nothing",
      ({ certificate }) => {
        certificate.nodes = [0, 1, 2, 3];
      },
      "the certificate proves nothing: no member is outside the set",
    ],
  ])("is found wrong by its judges: %s", async (_, change, violation) => {
    await damaged(change);
    expect(await run("verify bad.json", 1)).toBe(`wrong: 1 violation in bad.json\n  ${violation}\n`);
  });

  it("is found wrong by its judges: more bandwidth than links have, on every link", async () => {
    await damaged(({ forests: [forest] }) => {
      if (forest !== undefined) forest.copyBytesPerSecond = "25000000000";
    });
    const text = await run("verify bad.json", 1);
    expect(text).toMatch(/^wrong: 8 violations in bad\.json\n/);
    expect(text).toContain(
      "3 copies of the out-forest hold 75000000000 bytes/s of link 0>1, more than its 50000000000",
    );
  });

  it("is no schedule to be simulated", async () => {
    await damaged((fields) => {
      firstTree(fields).edges.reverse();
    });
    const { code, out, err } = await banyan(["simulate", "bad.json"], { cwd: folder.at() });
    expect([code, out]).toEqual([1, ""]);
    expect(err).toBe("banyan: these trees are wrong (1 violation; `banyan verify bad.json` lists them)\n");
  });
});

describe("a network on which trees cannot be packed", () => {
  const HEAD = "from,to,bandwidth,latency\n";
  const TILTED = `${HEAD}0,1,10GB/s,1us\n1,0,20GB/s,1us\n0,2,15GB/s,1us\n2,0,10GB/s,1us\n1,2,10GB/s,1us\n2,1,10GB/s,1us\n`;

  it("is refused where a node has more bandwidth in than out, with its name and the way out", () =>
    refuses(
      gather(folder.put("tilted.csv", TILTED)),
      'expected as much bandwidth in as out (or --eulerian trim, which leaves some bandwidth unused) for node 0 of tilted but received "30 GB/s in, 25 GB/s out"',
    ));

  it("is refused where a link of a preset is slower one way, down to the byte", () =>
    refuses(
      gather("ring:4@50GB/s,1us --degrade 0>1=0.999999999"),
      'expected as much bandwidth in as out (or --eulerian trim, which leaves some bandwidth unused) for node 0 of ring:4@50GB/s,1us degraded 0>1=0.999999999 but received "100000000000 B/s in, 99999999950 B/s out"',
    ));

  it("is used in part with --eulerian trim, which says what it left unused", async () => {
    const report = await json(gather(folder.put("tilted.csv", TILTED), " --eulerian trim"));
    expect(report).toMatchObject({ throughput: { exact: "30" }, verified: true });
    expect(report.notes[0]).toBe(
      "10 GB/s of 75 GB/s taken from 2 of 6 links, so that every node has as much in as out: 1>0 20 GB/s to 15 GB/s, 1>2 10 GB/s to 5 GB/s",
    );
  });

  it("is used as it is with --eulerian switches where only NPUs are unbalanced", async () => {
    const report = await json(gather(folder.put("tilted.csv", TILTED), " --eulerian switches"));
    expect(report).toMatchObject({ throughput: { exact: "30" }, optimality: 1, verified: true });
  });

  it.each([
    ["0GB/s", "zero"],
    ["-5GB/s", "negative"],
    ["9007200GB/s", "beyond 2^53 bytes/s"],
  ])("is refused by its reader for a bandwidth of %s: %s", (bandwidth) =>
    refuses(
      gather(folder.put("net.csv", `${HEAD}0,1,${bandwidth},1us\n1,0,10GB/s,1us\n`)),
      `expected a positive bandwidth such as "25GB/s", "50GiB/s" or "400Gbps" for net.csv line 2, bandwidth but received "${bandwidth}"`,
    ),
  );

  it.each([0, 9007200])("is refused by its reader for a bandwidthGBps of %d", (bandwidthGBps) => {
    const nodes = ["a", "b"].map((id) => ({ id, kind: "npu" }));
    const links = [{ from: "a", to: "b", bandwidthGBps, latencyUs: 1, bidirectional: true }];
    folder.put("net.json", { format: "banyan-topology", version: 1, name: "pair", nodes, links });
    return refuses(
      gather("net.json"),
      `expected a positive number of GB/s for net.json: links[0].bandwidthGBps but received ${bandwidthGBps}`,
    );
  });

  it("has no schedule where NPUs cannot reach each other", () =>
    refuses(gather("mesh:3x3 --without 1,3"), "mesh:3x3 without 1,3 is not connected: NPU 0 cannot reach NPU 2", 3));

  it.each([
    ["allgather", "0,2", "leaves {0}: NPU 0 cannot reach NPU 2"],
    ["broadcast", "2,0", "enters {0}: NPU 2 cannot reach NPU 0"],
    ["reduce", "2,0", "leaves {0}: NPU 0 cannot reach NPU 2"],
  ])("has no schedule where members of a group cannot: %s among %s, with the cut", (collective, group, cut) =>
    refuses(
      `synth mesh:3x3 --without 1,3 --collective ${collective} --group ${group} ${TREES}`,
      `no usable link of mesh:3x3 without 1,3 ${cut}`,
      3,
    ),
  );

  it("has no schedule where the greatest balanced part leaves an NPU alone", () => {
    const links = ["a,b", "b,c", "c,a", "b,d", "d,e", "e,a"].map((ends) => `${ends},1GB/s,1us\n`).join("");
    return refuses(
      gather(folder.put("fork.csv", `${HEAD}${links}`), " --eulerian trim"),
      "no usable link of fork enters {c}: NPU a cannot reach NPU c",
      3,
    );
  });
});

describe("a request that trees cannot serve", () => {
  const makes = "allgather, reducescatter, allreduce, broadcast, reduce, custom";
  it.each<readonly [title: string, line: string, sentence: string]>([
    ["no copies", gather("ring:4", " --k 0"), 'expected a whole number, 1 or more for --k but received "0"'],
    ["half a copy", gather("ring:4", " --k 1.5"), 'expected a whole number, 1 or more for --k but received "1.5"'],
    [
      "copies without end",
      gather("ring:4", " --k 1e7"),
      'expected trees per root, an integer in 1 .. 1000000, or "auto" for --k but received 10000000',
    ],
    [
      "a collective of pairs",
      `synth ring:4 --collective alltoall ${TREES}`,
      `expected one that forestcoll makes (${makes}) for --collective but received "alltoall"`,
    ],
    [
      "an unknown policy",
      gather("ring:4", " --policy oldest"),
      'expected one of shallow, even for --policy but received "oldest"',
    ],
    [
      "a policy where there is none",
      "synth ring:4 --collective allgather --algorithm multitree --policy even",
      'expected none (multitree has no policies) for --policy but received "even"',
    ],
    [
      "several groups",
      gather("ring:4", " --group 0,1;2,3"),
      "expected one group (forestcoll packs the trees of one at a time) for --group but received 2",
    ],
    [
      "a group of one",
      gather("ring:4", " --group 2"),
      "expected at least two NPUs (one alone has nothing to send) for --group but received 1",
    ],
    [
      "a network of one",
      gather("mesh:1x1"),
      "expected at least two NPUs (one alone has nothing to send) for --group but received 1",
    ],
    [
      "an unknown relaxation, with those there are",
      gather("ring:4", " --eulerian trims"),
      'expected one of trim, switches (did you mean "trim"?) for --eulerian but received "trims"',
    ],
    [
      "several collectives at once",
      "synth ring:4 --collectives several.json --eulerian trim",
      'expected nothing beside --collectives (it is for trees) for --eulerian but received "trim"',
    ],
    [
      "copies of an algorithm without trees",
      "synth ring:4 --collective allgather --k 2",
      'expected an algorithm that makes trees (forestcoll) beside it for --k but received "tacos"',
    ],
    [
      "a repair of no file",
      gather("ring:4", " --repair no.json"),
      'expected a file that exists for the schedule but received "no.json"',
    ],
    [
      "a file for large schedules",
      gather("ring:4", " -o trees.bys"),
      'expected a JSON file for trees (`banyan export FILE --to bys` writes their transfers) for -o but received "trees.bys"',
    ],
  ])("%s", (_, line, sentence) => refuses(line, sentence));

  it("a repair of a schedule without trees", async () => {
    await run("synth ring:4 --collective allgather --quiet -o steps.json");
    await refuses(
      gather("ring:4", " --repair steps.json"),
      'expected a file of trees (synth --algorithm forestcoll -o FILE) for --repair but received "steps.json"',
    );
  });

  it.each([
    ["--trace t.json", "--trace"],
    ["--reference", "--reference"],
  ])("simulate with %s, which is for transfers", async (option, place) => {
    await run(gather("ring:4", " --quiet -o trees.json"));
    await refuses(
      `simulate trees.json ${option}`,
      `expected a schedule of transfers (\`banyan export FILE --to steps\` makes one of trees) for ${place} but received "trees.json"`,
    );
  });

  it("simulate store-and-forward", async () => {
    await run(gather("ring:4", " --quiet -o trees.json"));
    await refuses(
      "simulate trees.json --switching store-and-forward",
      'expected cut-through, or nothing, for trees for --switching but received "store-and-forward"',
    );
  });
});
