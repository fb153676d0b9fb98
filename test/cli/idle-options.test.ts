import { describe, expect, it } from "vitest";
import { collective as makeCollective } from "../../src/model/collective/collective.ts";
import { presetTopology } from "../../src/model/presets/preset.ts";
import { problemOf } from "../../src/request/problem.ts";
import { commandsHere } from "../support/cli-here.ts";
import { refused } from "../support/refusals.ts";

/** An option that nothing heeds is refused, whatever the verb, the collective and the algorithm. */
const here = commandsHere();
const BASELINES = ["ring", "rings", "direct", "rhd", "bruck", "pat", "bfb"];

describe("an option that the algorithm has no use for", () => {
  it.each(BASELINES)("is refused: %s", async (algorithm) => {
    const make = `synth fc:4 --collective allgather --algorithm ${algorithm}`;
    await here.refuses(
      `${make} --trials 2`,
      /--trials has no effect with [a-z]+; it works with auto, tacos, mcf, tacos-ilp$/m,
    );
    await here.refuses(
      `${make} --switch-degree 1`,
      /--switch-degree has no effect with [a-z]+; it works with auto, tacos, mcf, tacos-ilp, sccl$/m,
    );
    await here.refuses(
      `${make} --no-nvls`,
      /--no-nvls has no effect with [a-z]+; it works with auto, forestcoll, blink, multitree, c-cube, tto, nvls$/m,
    );
  });
  it.each(["tacos", "taccl", "ring"])("is refused: slots by %s", async (algorithm) => {
    await here.refuses(
      `synth fc:4 --collective allgather --algorithm ${algorithm} --discretization 2us`,
      new RegExp(`--discretization has no effect with ${algorithm}; it works with tacos-ilp$`, "m"),
    );
  });
  it("is refused for phases and for trees", async () => {
    await here.refuses(
      "synth torus:4x4 --collective allreduce --algorithm themis --no-nvls",
      /--no-nvls has no effect with themis/,
    );
    const trees = "synth mesh:3x3 --collective allgather --algorithm forestcoll";
    await here.refuses(
      `${trees} --switching store-and-forward`,
      refused("not-applicable", "switching", "store-and-forward"),
    );
    await here.run(`${trees} --switching cut-through`);
  });
  it("is refused where none of those compared heeds it, and taken where one does", async () => {
    const compare = "compare fc:4 --collective allgather --sizes 1MiB --algorithms";
    for (const option of ["--trials 2", "--switch-degree 1", "--k 2"])
      await here.refuses(`${compare} ring,direct ${option}`, / has no effect with any of ring, direct$/m);
    await here.run(`${compare} ring,tacos --trials 2`);
    await here.run(`${compare} ring,forestcoll --k 2`);
  });
  it("is refused beside several collectives", async () => {
    here.put("two.json", [
      { kind: "allgather", size: "1MiB" },
      { kind: "allgather", size: "1MiB" },
    ]);
    await here.refuses(
      "synth mesh:3x3 --collectives two.json --offload",
      /does not go with several collectives at once/,
    );
    await here.refuses(
      "synth mesh:3x3 --collectives two.json --no-nvls",
      /does not go with several collectives at once/,
    );
  });
});

describe("--outsiders without a group", () => {
  it.each(["none", "relay"])("is refused: %s", async (what) => {
    const sentence = refused("not-alone", "outsiders", what, "--group");
    await here.refuses(`synth mesh:3x3 --collective allgather --outsiders ${what}`, sentence);
    await here.refuses(`bound mesh:3x3 --collective allgather --outsiders ${what}`, sentence);
    await here.refuses(`compare mesh:3x3 --collective allgather --sizes 1MiB --outsiders ${what}`, sentence);
  });
});

describe("an option that the written format has no use for", () => {
  it("is refused", async () => {
    await here.run("synth fc:4 --collective allgather --algorithm ring --quiet -o s.json");
    await here.refuses("export s.json --to dot -o s.dot --no-nvls", refused("not-alone", "nvls", "dot", "--to"));
    await here.refuses("export fc:4 --to dot -o s.dot --no-nvls", /--no-nvls needs/);
    await here.refuses("export s.json --to msccl-xml -o s.xml --parts 2", refused("not-alone", "parts", "2"));
    await here.refuses(
      "export s.json --to msccl-xml -o s.xml --thread-blocks 3",
      refused("not-alone", "threadBlocks", "3"),
    );
    await here.run("export s.json --to mscclpp-json -o plan.json --no-nvls");
  });
});

describe("the API beside a collective of one's own", () => {
  const topology = presetTopology("fc:4");
  const groups = [Int32Array.of(0, 1, 2, 3)];
  const own = makeCollective({ kind: "broadcast", groups, sizeBytes: 64, chunksPerNpu: 1, rootRank: 2 });
  it.each([{ root: 1 }, { group: "0,1" }, { outsiders: "none" as const }])(
    "refuses %j, which it would ignore",
    (options) => {
      expect(() => problemOf(topology, { collective: own, ...options })).toThrow(
        /does not go with a collective of one's own/,
      );
    },
  );
});
