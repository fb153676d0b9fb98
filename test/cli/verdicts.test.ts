import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import { commandsHere } from "../support/cli-here.ts";
import { missing, unexpected } from "../support/refusals.ts";

const here = commandsHere();

type Json = Record<string, unknown>;
const read = (name: string): Record<string, Json> => JSON.parse(readFileSync(here.at(name), "utf8"));
const sha256 = (name: string): string =>
  createHash("sha256")
    .update(readFileSync(here.at(name)))
    .digest("hex");

/** Writes a changed copy of a JSON file. */
function changed(from: string, to: string, change: (file: Record<string, Json>) => void): void {
  const file = read(from);
  change(file);
  here.put(to, file);
}

beforeAll(async () => {
  await here.run("synth mesh:3x3 --collective allreduce --size 9MiB --chunks 1 --quiet -o steps.json");
  await here.run("synth dgx-a100:2 --collective allgather --algorithm forestcoll --quiet -o trees.json");
  await here.run("synth mesh:3x3 --collective allgather --group 0,1,3,4 --size 4MiB --quiet -o group.json");
  here.put("jobs.json", [
    { kind: "allgather", size: "9MiB" },
    { kind: "broadcast", size: "1MiB", root: 2 },
  ]);
  await here.run("synth mesh:3x3 --collectives jobs.json --quiet -o joint.json");
  await here.run("export steps.json --to msccl-xml -o program.xml --quiet");
});

/** The table of a collective in which nothing is to be done. */
const NOTHING = { chunkCount: 1, chunkBytes: 9437184, pre: { kind: "one", npu: [0] }, post: { kind: "one", npu: [0] } };

describe("a file that calls itself what it is not", () => {
  it("is refused as an all-reduce that has nothing to do", async () => {
    changed("steps.json", "idle.json", (file) => {
      Object.assign(file["collective"] as Json, NOTHING, { reduces: false });
      file["chunks"] = { count: 1, bytes: 9437184 };
      file["transfers"] = { count: 0, chunk: [], route: [], startPs: [], endPs: [], op: [] };
    });
    for (const verb of ["verify", "simulate", "explain", "export --to msccl-xml -o idle.xml"]) {
      const [name, ...more] = verb.split(" ");
      await here.refuses([name, "idle.json", ...more].join(" "), unexpected("idle.json: collective.kind", "allreduce"));
    }
    expect(existsSync(here.at("idle.xml"))).toBe(false);
  });

  it("is called custom where its table is, and nothing is said to be all-reduced", async () => {
    changed("idle.json", "custom.json", (file) => Object.assign(file["collective"] as Json, { kind: "custom" }));
    expect(await here.run("verify custom.json")).toBe(
      [
        "correct: 0 transfers make custom of 9 MiB, 1 chunk of 9 MiB, 0 deliveries, among all 9 NPUs of mesh:3x3 (24 links, hash ef1df2e5bb323451) planned to end after 0 us (link-busy)",
        "the times and limits written in the file were not re-checked; `banyan verify custom.json --independent` does\n",
      ].join("\n"),
    );
    changed("custom.json", "large.json", (file) => Object.assign(file["collective"] as Json, { sizeBytes: 1e15 }));
    await here.refuses(
      "verify large.json",
      unexpected("large.json: collective.sizeBytes", 1000000000000000, 1000000000000000, 9437184),
    );
  });

  it("is refused as trees of a petabyte", async () => {
    const table = { chunkCount: 16, chunkBytes: "67108864", reduces: false, post: { kind: "group" } };
    const pre = { kind: "one", npu: Array.from({ length: 16 }, (_, npu) => npu) };
    for (const [kind, sizeBytes, fault] of [
      ["allreduce", 1e15, "its chunks are copied"],
      [
        "allgather",
        1e15,
        "its chunks have 67108864 bytes each, where 1000000000000000 bytes make chunks of 62500000000000",
      ],
    ] as const) {
      changed("trees.json", "petabyte.json", (file) =>
        Object.assign(file["collective"] as Json, table, { kind, sizeBytes, pre }),
      );
      await here.refuses("verify petabyte.json", new RegExp(`petabyte.json: collective.kind is .*\\(${fault}\\)`));
    }
  });

  it("is refused where the table is there in part", async () => {
    changed("steps.json", "part.json", (file) => Object.assign(file["collective"] as Json, { reduces: false }));
    await here.refuses("verify part.json", missing("part.json: collective.chunkCount"));
  });

  it("is refused among several collectives at once", async () => {
    changed("joint.json", "terabyte.json", (file) => {
      const [first] = file["tenants"] as unknown as [Record<string, Json>];
      Object.assign(first["collective"] as Json, NOTHING, { kind: "allreduce", sizeBytes: 1e12, reduces: true });
      first["chunks"] = { count: 1, bytes: 9437184 };
      first["transfers"] = { count: 0, chunk: [], route: [], startPs: [], endPs: [], op: [] };
    });
    await here.refuses(
      "verify terabyte.json",
      unexpected("terabyte.json: tenants[0]: collective.kind", "allreduce", 9437184, 1000000000000),
    );
  });
});

describe("a verdict", () => {
  it("names who takes part", async () => {
    expect(await here.run("verify group.json")).toMatch(
      /all-gather of 4 MiB, 4 chunks of 1 MiB, among 4 of 9 NPUs of mesh:3x3/,
    );
    expect(await here.run("verify joint.json")).toMatch(
      /among all 9 NPUs; broadcast of 1 MiB, root 2, 1 chunk of 1 MiB, among/,
    );
    expect(await here.json("verify group.json")).toMatchObject({
      collective: {
        kind: "allgather",
        sizeBytes: 4194304,
        chunks: 4,
        chunkBytes: "1048576",
        participants: 4,
        groups: 1,
      },
      topology: { name: "mesh:3x3", npus: 9, links: 24, hash: "ef1df2e5bb323451" },
    });
  });
});

describe("what runs", () => {
  it("is not made of a schedule that is wrong", async () => {
    changed("steps.json", "wrong.json", ({ transfers }) => {
      for (const column of ["chunk", "route", "startPs", "endPs", "op"])
        ((transfers as Json)[column] as number[]).pop();
      (transfers as Json)["count"] = ((transfers as Json)["count"] as number) - 1;
    });
    for (const format of ["msccl-xml", "mscclpp-json", "chakra", "jax", "torch"]) {
      await here.refuses(
        `export wrong.json --to ${format} -o made`,
        /^banyan: wrong.json is wrong, so nothing is made of it \(1 violation: rank \d+ /,
        1,
      );
      expect(existsSync(here.at("made"))).toBe(false);
    }
    // a picture, or the same in another form, runs nowhere
    await here.run("export wrong.json --to bys -o wrong.bys");
  });
});

describe("a record", () => {
  it("is written of what is correct, with hashes that others compute, and found again in another format", async () => {
    expect(await here.run("verify steps.json --record steps-record.json")).toMatch(
      /\n {2}record: steps-record.json\n$/,
    );
    const record = read("steps-record.json") as Json;
    await here.run("export steps.json --to bys -o same.bys");
    await here.run("topology mesh:3x3 -o network.json");
    expect(record).toMatchObject({
      schema: "banyan/verification-record@1",
      topology: { sha256: sha256("network.json") },
      collectives: [{ kind: "allreduce", sizeBytes: 9437184, participants: 9 }],
      schedule: { kind: "steps", as: "bys", sha256: sha256("same.bys") },
      limit: { kind: "partition" },
    });
    expect(await here.run("verify same.bys --record-of steps-record.json")).toMatch(
      /\nsame: what steps-record.json records\n$/,
    );
    expect(await here.json("verify same.bys --record-of steps-record.json")).toMatchObject({
      same: true,
      differences: [],
    });
  });

  it.each(["trees.json", "joint.json", "program.xml", "group.json"])("is the same again: %s", async (file) => {
    await here.run(`verify ${file} --record again.json --quiet`);
    expect(await here.json(`verify ${file} --record-of again.json`)).toMatchObject({
      same: true,
      differences: [],
      notes: [],
    });
  });

  it("of a program has the hash of its file, byte for byte", async () => {
    writeFileSync(
      here.at("marked.xml"),
      `\ufeff${readFileSync(here.at("program.xml"), "utf8").replaceAll("\n", "\r\n")}`,
    );
    await here.run("verify marked.xml --record marked.json --quiet");
    expect(read("marked.json")["sha256"]).toBe(sha256("marked.xml"));
  });

  it("that cannot be written or read is told before the work", async () => {
    const nowhere = unexpected("record", "nowhere/r.json");
    await here.refuses("verify not-there.json --record nowhere/r.json", nowhere);
    await here.refuses("verify not-there.json --record-of not-here.json", unexpected("recordOf", "not-here.json"));
  });

  it("tells what is another schedule, another network, another kind", async () => {
    await here.run("verify steps.json --record one.json --quiet");
    await here.run("synth mesh:3x3 --collective allreduce --size 9MiB --chunks 1 --seed 5 --quiet -o other.json");
    expect(await here.run("verify other.json --record-of one.json", 1)).toMatch(
      /\ndifferent: 1 difference from one.json\n {2}schedule.sha256 was "[0-9a-f]{64}", is "[0-9a-f]{64}"\n$/,
    );
    expect(await here.json("verify group.json --record-of one.json", 1)).toMatchObject({ correct: true, same: false });
    expect(await here.run("verify program.xml --record-of one.json", 1)).toMatch(
      / {2}what was verified was "a schedule", is "a program"\n$/,
    );
  });

  it("of another version is a note, not a difference", async () => {
    await here.run("verify steps.json --record one.json --quiet");
    changed("one.json", "older.json", (record) => {
      (record as Json)["version"] = "0.0.9";
      (record["limit"] as Json)["exactUs"] = "1";
    });
    const { same, differences, notes } = await here.json("verify steps.json --record-of older.json");
    expect({ same, differences }).toEqual({ same: true, differences: [] });
    expect(notes.map(({ path }: { path: string }) => path)).toEqual(["version", "limit.exactUs"]);
  });

  it("is not written of what is wrong, nor read from what is none", async () => {
    expect(await here.run("verify wrong.json --record none.json", 1)).toContain(
      "no record is written of what is wrong",
    );
    expect(existsSync(here.at("none.json"))).toBe(false);
    await here.refuses("verify steps.json --record-of steps.json", missing("steps.json: schema", "--record"));
  });
});
