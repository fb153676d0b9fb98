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
