import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Ajv } from "ajv";
import { beforeAll, describe, expect, it } from "vitest";
import { quickLookup } from "../../src/cli/quick-lookup.ts";
import type { AtlasIndex } from "../../src/model/atlas/atlas-index.ts";
import { presetTopology } from "../../src/model/presets/preset.ts";
import { poolOf } from "../../src/model/topology/failure-sets.ts";
import { compile } from "../support/cli.ts";
import { commandsHere } from "../support/cli-here.ts";

const here = commandsHere();
const MAKE = "atlas dgx-a100:2 -c allgather,allreduce --size 1MiB --failures links,switches,npus -o atlas";
const index = (folder = "atlas"): AtlasIndex => JSON.parse(readFileSync(here.at(folder, "index.json"), "utf8"));
const cables = poolOf(presetTopology("dgx-a100:2"), "links", "links");

// tasks are done by processes of the build
beforeAll(compile, 120_000);

describe("an atlas in a folder", () => {
  beforeAll(async () => {
    await here.run(`${MAKE} -q`);
  }, 120_000);

  it("has an index that is what its schema says, its schedules, the network, and a page", () => {
    const schemas = fileURLToPath(new URL("../../schemas", import.meta.url));
    const ajv = new Ajv({ strict: true, allErrors: true, allowUnionTypes: true });
    for (const name of ["error", "atlas"])
      ajv.addSchema(JSON.parse(readFileSync(`${schemas}/${name}.schema.json`, "utf8")));
    expect(ajv.validate("atlas.schema.json#/definitions/Index", index()), ajv.errorsText()).toBe(true);
    expect(ajv.validate("atlas.schema.json#/definitions/Index", { ...index(), collectives: [] })).toBe(false);
    expect(readdirSync(here.at("atlas")).sort()).toEqual([
      ...["index.html", "index.json", "network.json", "schedules", "work"],
    ]);
    const { failures } = index().collectives["allgather"] as AtlasIndex["collectives"][string];
    expect(Object.keys(failures)).toEqual(expect.arrayContaining([...cables, "nvsw0", "ib", "15"]));
  });

  it("says in the terminal what is worst", async () => {
    const out = await here.run("atlas lookup atlas -c allgather");
    expect(out).toMatch(/without +time +slower by +limit +rise +kept +cut to blame/);
    expect(out).toMatch(/all-gather: 51 failures in \d classes/);
    const ranking = (await here.json("atlas lookup atlas")).collectives.allgather.ranking;
    // no box reaches the other without the switch between them
    expect(ranking[0]).toMatchObject({ failed: ["ib"], status: "impossible", slower: null, failures: 1 });
    const harms = ranking.slice(1).map(({ slower }: { slower: number }) => slower);
    expect(harms).toEqual([...harms].sort((a, b) => b - a));
    expect(ranking.reduce((sum: number, { failures }: { failures: number }) => sum + failures, 0)).toBe(51);
  });

  it("finds every member, and the schedule is right by two judges", { timeout: 240_000 }, async () => {
    const { classes, failures } = index().collectives["allgather"] as AtlasIndex["collectives"][string];
    await here.refuses("atlas lookup atlas --failed ib -c allgather -o moved.json", /^banyan: .*\n$/, 3);
    for (const [name, at] of Object.entries(failures)) {
      if (name === "ib") continue;
      const answer = await here.json(`atlas lookup atlas --failed ${name} -c allgather -o moved.json`);
      const { allgather } = answer.results;
      expect([name, answer.failed, allgather.class.failed]).toEqual([name, [name], classes[at]?.failed]);
      expect(allgather.isMoved).toBe(classes[at]?.failed[0] !== name);
      expect(await here.run("verify moved.json")).toMatch(/^correct/);
      expect(await here.run("verify moved.json --independent")).toMatch(/^checked: rules/);
      expect(JSON.parse(readFileSync(here.at("moved.json"), "utf8")).topology.name).toBe(`dgx-a100:2 without ${name}`);
      const { time } = await here.json("simulate moved.json");
      expect(time.us).toBeCloseTo(classes[at]?.schedule?.us as number, 6);
    }
  });

  it("hears a link from either end, and moves a schedule once", async () => {
    for (const name of ["ib-9", "9>ib", "ib>9", "9-ib"]) {
      const { failed, results } = await here.json(`atlas lookup atlas --failed ${name} -c allreduce`);
      expect([name, failed]).toEqual([name, ["9-ib"]]);
      expect(results.allreduce.file).toMatch(/^atlas\/moved\/[0-9a-f]{40}\.json$/);
    }
  });

  it("answers at once what the command answers, where no schedule is to be moved", async () => {
    for (const line of [
      "atlas lookup atlas --failed 0-nvsw0 --json",
      "atlas lookup atlas --json --failed nvsw0-3",
      "atlas lookup atlas --failed nvsw0 -c allgather --json",
    ])
      expect(quickLookup(line.split(" "))).toBe((await here.ends(line)).out);
    // these are the command's to answer, or to refuse
    for (const line of [
      "atlas lookup atlas --failed 0-nvsw0",
      "atlas lookup atlas --failed 0-nvsw9 --json",
      "atlas lookup atlas --failed 0-nvsw0 --json -o x.json",
      "atlas lookup atlas --failed 0-nvsw0 --failed 1-nvsw0 --json",
      "atlas lookup atlas --failed 0-nvsw0 -c broadcast --json",
      "atlas lookup nowhere --failed 0-nvsw0 --json",
    ])
      expect([line, quickLookup(line.split(" "))]).toEqual([line, null]);
  });

  it("does nothing again, and adds what is new", async () => {
    const before = index();
    await here.run(`${MAKE} -q`);
    expect(index()).toEqual(before);
    await here.run("atlas dgx-a100:2 -c allgather --failures boxes -o atlas -q");
    const after = index();
    expect(after.collectives["allreduce"]).toEqual(before.collectives["allreduce"]);
    expect(Object.keys(after.collectives["allgather"]?.failures ?? {})).toEqual([
      ...Object.keys(before.collectives["allgather"]?.failures ?? {}),
      ...["box0", "box1"],
    ]);
  });

  it("says of two failures what it has of each, the command that adds them, and then what both cost", async () => {
    const asked = "atlas lookup atlas --failed 12-ib,ib-3 -c allgather";
    const ran = await here.json(asked, 1);
    expect(ran.results.allgather.found).toBe(false);
    expect(Object.keys(ran.alone)).toEqual(["12-ib", "3-ib"]);
    expect(ran.alone["12-ib"].allgather.found).toBe(true);
    expect(ran.add).toBe("banyan atlas dgx-a100:2 --collective allgather --on 12-ib --failures 3-ib -o atlas");
    await here.run(`${ran.add.replace("banyan ", "")} -q`);
    for (const pair of ["12-ib,3-ib", "3-ib,12-ib", "ib>3,12-ib"]) {
      const { results } = await here.json(`atlas lookup atlas --failed ${pair} -c allgather -o pair.json`);
      expect(results.allgather.class.on).toEqual(["12-ib"]);
      expect(await here.run("verify pair.json")).toContain("without");
    }
    // alike, of other names
    const alike = await here.json("atlas lookup atlas --failed 1-ib,9-ib -c allgather -o pair.json");
    expect([alike.results.allgather.class.on, alike.results.allgather.isMoved]).toEqual([["12-ib"], true]);
    expect(await here.run("verify pair.json --topology dgx-a100:2 -w 1-ib,9-ib")).toMatch(/^correct/);
  });
});

describe("what is refused", () => {
  it.each([
    ["atlas mesh:3x3 -c allgather -o atlas", /an atlas of dgx-a100:2 .* and not of mesh:3x3/],
    [
      "atlas dgx-a100:2 --size 2MiB -o atlas",
      /made with .*--size 1MiB.*, and not with --size 2MiB; name another folder/,
    ],
    ["atlas dgx-a100:2 -c allgather", /^banyan: -o is missing: the folder of the atlas\n$/],
    ["atlas dgx-a100:2 -o new", /--collective is missing/],
    ["atlas dgx-a100:2 -c allgather --failures cabels -o new", /--failures is "cabels"/],
    ["atlas dgx-a100:2 -c allgather --failures random:2:links -o new", /random:K:POOL:N/],
    ["atlas dgx-a100:2 -c allgather --failures 0-9 -o new", /no link between 0 and 9/],
    ["atlas dgx-h100:128 -c allgather --failures pairs:links -o new", /2096128 failures, more than 1000000/],
    ["atlas torus:4x4 -c allgather --failures nics -o new", /has no boxes/],
    ["atlas dgx-a100:2 -c allgather --failed 0 -o new", /--failed .*lookup/],
    ["atlas lookup", /needs the folder of an atlas/],
    ["atlas lookup nowhere --failed 0", /no folder of an atlas/],
    ["atlas lookup atlas --failed 99", /--failed is 99/],
    ["atlas lookup atlas --failed 0 -c broadcast", /allgather, allreduce/],
    ["atlas lookup atlas --failed 0 -o x.json", /-o/],
    ["atlas lookup atlas --failed 0 --size 1MiB", /--size/],
    ["atlas dgx-a100:2 atlas -c allgather", /takes one network; the folder is -o atlas/],
    ["atlas dgx-a100:2 -c allgather -o strange", /and not one with thing\.txt/],
    ["atlas dgx-a100:2 -c allgather -o strange/thing.txt", /a folder, not a file/],
    ["atlas lookup damaged --failed 0", /damaged\/index\.json/],
    ["atlas lookup outside --failed 0", /a file in the folder of the atlas/],
  ])("%s", async (line, refusal) => {
    mkdirSync(here.at("strange"), { recursive: true });
    writeFileSync(here.at("strange/thing.txt"), "mine");
    for (const folder of ["damaged", "outside"]) mkdirSync(here.at(folder), { recursive: true });
    writeFileSync(here.at("damaged/index.json"), readFileSync(here.at("atlas/index.json"), "utf8").slice(0, 5000));
    const out = index();
    const { healthy, ...rest } = out.collectives["allgather"] as AtlasIndex["collectives"][string];
    const collectives = { allgather: { ...rest, healthy: { ...healthy, file: "../../etc/passwd" } } };
    writeFileSync(here.at("outside/index.json"), JSON.stringify({ ...out, collectives }));
    await here.refuses(line, refusal);
    rmSync(here.at("new"), { recursive: true, force: true });
  });

  it("a folder that another process works on", async () => {
    writeFileSync(here.at("atlas/work/lock"), `${process.ppid} ${(await import("node:os")).hostname()}\n`);
    await here.refuses(`${MAKE} -q`, /is worked on by process/);
    rmSync(here.at("atlas/work/lock"));
  });
});

it("names that hide or that a page would run are escaped, and found", { timeout: 60_000 }, async () => {
  const name = "<img src=x onerror=alert(1)>\u202e";
  const ids = [name, "b", "c"];
  here.put("odd.json", {
    ...{ format: "banyan-topology", version: 1, name: "odd</script>" },
    nodes: ids.map((id) => ({ id, kind: "npu" })),
    links: ids.map((id, i) => ({
      from: id,
      to: ids[(i + 1) % 3],
      bandwidthGBps: 10,
      latencyUs: 1,
      bidirectional: true,
    })),
  });
  await here.run("atlas odd.json -c allgather --size 4KiB -a tacos --failures npus,links -o odd -q");
  const page = readFileSync(here.at("odd/index.html"), "utf8");
  expect(page).not.toContain("<img");
  expect(page).not.toContain("\u202e");
  expect(page.match(/<\/script>/g)).toHaveLength(2);
  expect((await here.json("atlas lookup odd --failed c-b")).failed).toEqual(["b-c"]);
});
