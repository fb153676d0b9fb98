import { describe, expect, it } from "vitest";
import { commandsHere } from "../support/cli-here.ts";
import { refused, unexpected } from "../support/refusals.ts";

const here = commandsHere();
const run = (line: string) => here.ends(`--quiet ${line}`);

here.put("tenants.json", [
  { kind: "allgather", size: 9000 },
  { kind: "reduce", size: 4000, chunks: 4, root: 4 },
]);
here.put("wrong.json", [{ kind: "reduce", root: 9 }]);

describe("synth --collectives", () => {
  it("makes a file that verify and simulate read", async () => {
    const made = await run("synth mesh:3x3 --collectives tenants.json -o joint.json --json");
    const report = JSON.parse(made.out);
    expect(report).toMatchObject({
      schema: "banyan/result@2",
      collectives: [
        { kind: "allgather", chunks: 9 },
        { kind: "reduce", root: "4", chunks: 4 },
      ],
      schedule: { kind: "steps", transfers: 104, file: "joint.json" },
      verified: true,
    });
    expect(report).not.toHaveProperty("collective");
    const verified = await run("verify joint.json --json");
    const { correct, collectives } = JSON.parse(verified.out);
    expect([verified.code, correct]).toEqual([0, true]);
    type Tenant = { time: object; planned: object };
    expect(collectives.map(({ time }: Tenant) => time)).toEqual(
      report.collectives.map(({ planned }: Tenant) => planned),
    );
    const ends = report.collectives.map(({ time }: { time: { us: number } }) => time.us);
    expect(Math.max(...ends)).toBe(report.time.us);
    const simulated = await run("simulate joint.json --json");
    expect(JSON.parse(simulated.out)).toMatchObject({ time: { us: report.time.us }, verified: true });
    expect((await run("verify joint.json --topology mesh:3x4")).code).toBe(2);
  });

  it.each([
    ["synth mesh:3x3 --collectives wrong.json", unexpected("wrong.json: [0].root", 9, 9)],
    ["synth mesh:3x3 --collectives none.json", unexpected("collectives", "none.json")],
    [
      "synth mesh:3x3 --collectives tenants.json --size 1MiB",
      refused("not-together", "sizeBytes", "1MiB", "--collectives"),
    ],
    ["synth mesh:3x3 --collectives tenants.json -o joint.bys", unexpected("output", "joint.bys")],
    ["synth mesh:3x3 --collectives tenants.json --algorithm ring", refused("not-applicable", "algorithm", "ring")],
    ["export joint.json --to bys -o x.bys", unexpected("joint.json", "one of 2 at once")],
    ["simulate joint.json --reference", refused("not-applicable", "reference", "one of 2 at once")],
  ])("refuses in one sentence: %s", async (line, refusal) => {
    const { code, out, failure } = await run(line);
    expect([code, out, failure]).toEqual([2, "", refusal]);
  });
});

here.put("groups.json", [
  { kind: "allgather", size: "64KiB", group: "0,1;2,3" },
  { kind: "alltoall", size: "64KiB" },
]);
here.put("bytes.txt", "0 4096 512\n1024 0 0\n512 512 0\n");

describe("export of several collectives at once", () => {
  it("makes one program for runtimes that know custom ones, and says how it is called", async () => {
    expect((await run("synth switch:4 --collectives groups.json -o at-once.json")).code).toBe(0);
    const made = await run("export at-once.json --to msccl-xml --dialect msccl -o at-once.xml --json");
    const { program, notes } = JSON.parse(made.out);
    expect(program.instructions).toBeGreaterThan(0);
    expect(notes.join(" ")).toMatch(/ncclCustomCollective on every rank with a count of \d+ bytes/);
    expect((await run("verify at-once.xml --target msccl")).code).toBe(0);
    expect((await run("export at-once.json --to mscclpp-json -o at-once-plan.json")).code).toBe(0);
    expect((await run("verify at-once-plan.json --target mscclpp")).code).toBe(0);
  });

  it("makes a folder with a program for each communicator for those that do not", async () => {
    const made = await run("export at-once.json --to msccl-xml --dialect rccl -o folder --json");
    const { files } = JSON.parse(made.out);
    const groups = files.flatMap(({ groups }: { groups: string[] }) => groups);
    expect(groups).toEqual(["0,1", "2,3", "0,1,2,3"]);
    for (const { file } of files) expect((await run(`verify folder/${file} --target rccl`)).code).toBe(0);
  });

  it("refuses a table where the runtime has no custom collective", () =>
    here.refuses(
      "export switch:3 --collective custom:bytes.txt --to msccl-xml --dialect azure -o x.xml",
      refused("not-applicable", "dialect", "azure"),
    ));
});
