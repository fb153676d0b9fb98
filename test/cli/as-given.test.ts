import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { topologyToJson } from "../../src/export/networks/topology-json.ts";
import { presetTopology } from "../../src/model/presets/preset.ts";
import { without } from "../../src/model/topology/modify.ts";
import { commandsHere } from "../support/cli-here.ts";
import { type Refusal, refused } from "../support/refusals.ts";

/** What people see is what they gave: names of NPUs, also where NPUs are left out and the others renumbered. */
const here = commandsHere();
const FAILED = "mesh:4x4 --without 7,9";

describe("a root on a network that has lost NPUs", () => {
  const make = `synth ${FAILED} --collective broadcast --root 10 --trials 1`;
  it("is the one that was given in the report, not its new number", async () => {
    expect(await here.run(make)).toMatch(/broadcast of 1 GiB, root 10, 1 chunk/);
    expect(await here.run(`bound ${FAILED} --collective broadcast --root 10`)).toMatch(/root 10,/);
  });
  it("is named in JSON, by verify and by simulate", async () => {
    expect((await here.json(`${make} -o b.json`)).collective).toMatchObject({ kind: "broadcast", root: "10" });
    expect(await here.run("verify b.json")).toMatch(/make broadcast of 1 GiB, root 10,/);
    expect((await here.json("verify b.json")).collective.root).toBe("10");
    expect(await here.run("simulate b.json")).toMatch(/root 10,/);
    expect((await here.json("simulate b.json")).collective.root).toBe("10");
    expect(await here.run("explain b.json")).toMatch(/chunk 0: 10 →/);
  });
  it("is named for trees and for several collectives", async () => {
    const trees = await here.run(`synth ${FAILED} --collective reduce --root 10 --algorithm forestcoll -o t.json`);
    expect(trees).toMatch(/reduce of 1 GiB, root 10/);
    expect((await here.json("verify t.json")).collective).toMatchObject({ root: "10" });
    here.put("two.json", [
      { kind: "broadcast", size: "1MiB", root: "10" },
      { kind: "reduce", size: "1MiB", root: "8" },
    ]);
    const both = await here.run(`synth ${FAILED} --collectives two.json --trials 1`);
    expect(both).toMatch(/broadcast of 1 MiB, root 10,/);
    expect(both).toMatch(/reduce of 1 MiB, root 8,/);
  });
});

describe("a network whose NPUs have names", () => {
  it.each([
    ["broadcast --root u10", "tacos"],
    ["allgather", "tacos"],
    ["allreduce", "ring"],
    ["gather --root u10", "direct"],
    ["alltoall", "mcf"],
    ["reduce --root u10", "forestcoll"],
    ["allreduce", "forestcoll"],
  ])("is spoken of by them alone: %s by %s", async (collective, algorithm) => {
    const given = without(presetTopology("mesh:4x4"), ["7", "9"]);
    const topology = { ...given, name: "named", nodeNames: given.nodeNames.map((name) => `u${name}`) };
    here.put("named.json", topologyToJson(topology));
    const asked = `--collective ${collective} --algorithm ${algorithm}`;
    const texts = [
      await here.run(`synth named.json ${asked} -o n.json`),
      await here.run(`bound named.json --collective ${collective}`),
      await here.run("verify n.json"),
      await here.run("simulate n.json"),
      await here.run("explain n.json"),
    ];
    await here.run("export n.json --to report -o n.html");
    texts.push(readFileSync(here.at("n.html"), "utf8").replace(/<[^>]*>/g, " "));
    for (const text of texts) expect(text).not.toMatch(/\b(?:NPU|root|rank) \d/);
  });
  it("has a run of consecutive NPUs told only where the names are consecutive too", async () => {
    const text = await here.run(`bound ${FAILED} --collective allgather --group 6,8,10`);
    expect(text).not.toMatch(/NPUs 6 to 10/);
  });
});

describe("a root of a collective that has none", () => {
  const refusal = (kind: string): Refusal => refused("not-together", "root", "4", kind);
  it.each(["allgather", "reducescatter", "allreduce", "alltoall"])("is refused: %s", async (kind) => {
    await here.refuses(`synth mesh:3x3 --collective ${kind} --root 4`, refusal(kind));
    await here.refuses(`bound mesh:3x3 --collective ${kind} --root 4`, refusal(kind));
    await here.refuses(`compare mesh:3x3 --collective ${kind} --root 4 --sizes 1MiB`, refusal(kind));
    await here.refuses(`export mesh:3x3 --collective ${kind} --root 4 --to dot -o x.dot`, refusal(kind));
    await here.refuses(`synth mesh:3x3 --collective ${kind} --root 4 --algorithm auto`, refusal(kind));
  });
  it("is refused in a list of collectives, with its place", async () => {
    here.put("list.json", [{ kind: "allgather", size: "1MiB", root: 4 }]);
    await here.refuses("synth mesh:3x3 --collectives list.json", refused("not-together", "list.json: [0].root", 4));
  });
});

describe("--json", () => {
  it("has a schema in every object, and what `topology --json` prints is read back", async () => {
    const printed = await here.json("topology ring:3");
    expect(printed).toMatchObject({ schema: "banyan/topology@1", format: "banyan-topology", version: 1 });
    const { format: _, version: _v, ...bare } = printed;
    here.put("whole.json", printed);
    here.put("bare.json", bare);
    const [whole, again] = [await here.json("topology whole.json"), await here.json("topology bare.json")];
    expect([whole, again]).toEqual([printed, printed]);
    expect((await here.json("list backends")).schema).toBe("banyan/list@1");
  });
  it("prints the object also where it is written to a file", async () => {
    const line = "compare ring:3 --collective allgather --sizes 1KiB --algorithms ring,direct -o c.json";
    const printed = await here.json(line);
    expect(JSON.parse(readFileSync(here.at("c.json"), "utf8"))).toEqual(printed);
  });
});

describe("a sketch beside options that say otherwise", () => {
  const sketch = (fields: object) => ({ intranode_sketch: { strategy: "none" }, ...fields });
  const make = "synth dgx-a100:1 --collective allgather --algorithm taccl --time-limit 1s --sketch";
  it("is overruled with a note for its size and its chunks", async () => {
    here.put("sk.json", sketch({ hyperparameters: { input_size: "64M", input_chunkup: 2 } }));
    const { notes, collective } = await here.json(`${make} sk.json --size 32MiB --chunks 1`);
    expect(collective).toMatchObject({ sizeBytes: 2 ** 25, chunksPerNpu: 1 });
    expect(notes).toContain(
      'the input_size of 64 MiB in sketch "sk.json" per NPU, which makes --size 512 MiB, is not used: --size says 32 MiB',
    );
    expect(notes).toContain('the input_chunkup of 2 in sketch "sk.json" is not used: --chunks says 1');
  });
  it("has no note where both say the same", async () => {
    here.put("same.json", sketch({ hyperparameters: { input_size: "4M" } }));
    const { notes, collective } = await here.json(`${make} same.json --size 32MiB`);
    expect([collective.sizeBytes, notes.filter((note: string) => note.includes("not used"))]).toEqual([2 ** 25, []]);
    expect((await here.json(`${make} same.json`)).collective.sizeBytes).toBe(2 ** 25);
  });
  it("holds for what is left of its network, relays that failed replaced", async () => {
    here.put("open.json", sketch({ internode_sketch: { strategy: "relay", internode_conn: { "1": [0] } } }));
    const line =
      "synth dgx-a100:2 --collective allgather --algorithm taccl --time-limit 1s --sketch open.json --without";
    const told = async (failed: string) => (await here.json(`${line} ${failed}`)).notes.join("\n");
    expect(await told("3")).toMatch(/open\.json holds without what failed or is slower: NPU 3$/m);
    const relay = await told("1");
    expect(relay).toContain("open.json leaves no way: internode_sketch.internode_conn: nothing leaves node 0");
    expect(relay).toContain("the nearest sketch that has ways: internode_conn also from each GPU to its like");
  });
});

describe("the gap below the limit of a class", () => {
  it("is laid to routes where they leave links unused, not to chunks", async () => {
    const text = await here.run("synth mesh:4x4 --collective allgather --algorithm ring --size 16MiB");
    expect(text).toMatch(/through 50 GB\/s, all that these routes use of 100 GB\/s/);
    expect(text).toMatch(/gap +[\d.]+ us is the cost of these routes, which leave bandwidth unused: another algorithm/);
    expect(text).not.toMatch(/cost of whole chunks/);
  });
});

describe("the hint at --chunks auto", () => {
  it("is not given to those who have just used it, nor of algorithms that choose by themselves", async () => {
    const line = "synth mesh:3x3 --collective allreduce --algorithm ring --size 9";
    const [one, chosen, own] = [
      await here.run(`${line} --chunks 1`),
      await here.run(`${line} --chunks auto`),
      await here.run(line),
    ];
    expect(one).toMatch(/gap +[\d.]+ us is the cost of whole chunks .*\(--chunks auto\) reduce it\n/);
    expect(one).toMatch(/is not proved to be necessary: more chunks \(--chunks auto\) or another algorithm/);
    expect(chosen).toMatch(/9 chunks of 1 B/);
    expect(chosen).toMatch(/is not proved to be necessary: another algorithm/);
    for (const text of [chosen, own]) expect(text).not.toMatch(/--chunks/);
  });

  it("is not to try all algorithms where that was done, but to give more time where it was short", async () => {
    const line = "synth dgx-a100:2 --collective allreduce --algorithm auto --time-limit";
    const [all, few] = [await here.run(`${line} 600s`), await here.run(`${line} 0s`)];
    expect(all).toMatch(/is not proved to be necessary; of the \d+ algorithms tried none takes less\n/);
    expect(all).not.toMatch(/--algorithm/);
    expect(few.replace(/\s+/g, " ")).toMatch(/longer --time-limit tries more/);
    expect(few).not.toMatch(/--algorithm/);
    const first = await here.run("synth mesh:3x3 --collective alltoall --algorithm auto --time-limit 0s --size 9MiB");
    expect(first.replace(/\s+/g, " ")).toMatch(/another algorithm, with more time \(--time-limit\), may save some/);
  });

  it("is not to try chunks that --chunks auto would not try", async () => {
    const line = "synth mesh:32x32 --collective allgather --size 64MiB --trials 1";
    expect(await here.run(line)).not.toMatch(/--chunks/);
  });
});
