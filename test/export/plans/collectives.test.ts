import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { collectiveCommand, collectivesScript } from "../../../src/export/plans/collectives.ts";
import { withGradients } from "../../../src/model/tensor-graph/backward.ts";
import { mlpGraph } from "../../../src/model/tensor-graph/models/mlp.ts";
import { planCollectives } from "../../../src/model/tensor-plan/collectives.ts";
import { type Mesh, meshOf } from "../../../src/model/tensor-plan/mesh.ts";
import { pipelineTasks } from "../../../src/model/tensor-plan/pipeline-tasks.ts";
import { planOf, planProblem } from "../../../src/model/tensor-plan/problem-of.ts";
import { randomPlan } from "../../model/tensor-plan/random-plan.ts";
import { banyanHere } from "../../support/cli-here.ts";
import { aloneOf, COSTS, handPlan, TERMS } from "../../support/small-plans.ts";

const MLP = withGradients(mlpGraph([8, 16, 8], 8));
const MESH = meshOf([2, 4], ["dp", "tp"]);

const collectivesOf = (plan: ReturnType<typeof handPlan>, microBatches: number, npuCount = plan.mesh.npuCount) =>
  planCollectives(aloneOf(plan, { ...TERMS, microBatches }), npuCount);

/** Returns the words that a shell makes of a command line, behind the first. */
function wordsOf(command: string): string[] {
  const { stdout } = spawnSync("sh", ["-c", `printf '%s\\0' ${command}`], { encoding: "utf8" });
  return stdout.split("\0").slice(1, -1);
}

describe("the collectives of a plan", () => {
  it("are these for a perceptron in two passes, data by tensor parallel and fully sharded", () => {
    const plan = handPlan(MLP, MESH, ["data", "tensor"], "parameters");
    // a pass: the first product, forward and for the gradient of its ReLU, and that ReLU's gradient, 4 x 16 of two bytes, are summed;
    // weights, 256 bytes in 4 parts, are gathered: the first forward, the second both ways; two gradients are dealt
    const script = [
      "# 6 a step, tp: 2 groups of 4 NPUs",
      "banyan synth dgx-h100:1 --collective allreduce --size 128 --group '0,1,2,3;4,5,6,7'",
      "# 6 a step, dp: 4 groups of 2 NPUs",
      "banyan synth dgx-h100:1 --collective allgather --size 64 --group '0,4;1,5;2,6;3,7'",
      "# 4 a step, dp: 4 groups of 2 NPUs",
      "banyan synth dgx-h100:1 --collective reducescatter --size 64 --group '0,4;1,5;2,6;3,7'",
      "",
    ];
    expect(collectivesScript("dgx-h100:1", collectivesOf(plan, 2))).toBe(script.join("\n"));
  });

  it("are among all NPUs without groups, unless the network has more", () => {
    const plan = handPlan(MLP, meshOf([8]), ["data"], "none");
    const [one] = collectivesOf(plan, 1);
    expect(one).toEqual({
      asked: { collective: "allreduce", sizeBytes: 256 },
      ...{ axes: "axis 0", groupCount: 1, groupSize: 8, times: 2 },
    });
    expect(collectivesOf(plan, 1, 16)[0]?.asked.group).toBe("0,1,2,3,4,5,6,7");
  });

  it.each([
    ["2 x 4", MESH],
    ["2 x 2 x 2", meshOf([2, 2, 2])],
  ] as const)("come as often as the tasks of all passes say, on %s", (_, mesh: Mesh) => {
    const stated = planProblem(MLP, mesh, COSTS, TERMS);
    let tried = 0;
    for (let seed = 0; tried < 10; seed++) {
      const choice = randomPlan(stated.problem, seed);
      if (choice === null) continue;
      tried++;
      const plan = planOf(MLP, stated, choice);
      for (const passes of [1, 2, 3, 5]) {
        const { tasks, groups } = pipelineTasks(aloneOf(plan, TERMS), passes);
        const counts = new Map<string, number>();
        for (const w of tasks.work) {
          const work = tasks.works[w];
          if (work?.kind !== "communication") continue;
          const { collective, bytes } = work.communication;
          const size = groups[w]?.size as number;
          const key = `${collective} ${work.communication.among?.name} ${Math.ceil(bytes / size) * size}`;
          counts.set(key, (counts.get(key) ?? 0) + 1);
        }
        const found = collectivesOf(plan, passes).map(
          ({ axes, times, asked }) => [`${asked.collective} ${axes} ${asked.sizeBytes}`, times] as const,
        );
        expect(new Map(found)).toEqual(counts);
        expect(found.length).toBe(counts.size);
      }
    }
  });

  it("are made by their command lines", async () => {
    const plan = handPlan(MLP, MESH, ["data", "tensor"], "parameters");
    for (const one of collectivesOf(plan, 2)) {
      const { code, out, err } = await banyanHere([
        ...wordsOf(collectiveCommand("synth", "dgx-h100:1", one)),
        "--json",
      ]);
      expect(code, err).toBe(0);
      const { collective } = JSON.parse(out);
      expect(collective).toMatchObject({
        ...{ kind: one.asked.collective, sizeBytes: one.asked.sizeBytes },
        ...{ groups: one.groupCount, groupSize: one.groupSize },
      });
    }
    const [first] = collectivesOf(handPlan(MLP, meshOf([8]), ["data"], "none"), 1);
    const folder = mkdtempSync(join(tmpdir(), "banyan-plan-collectives-"));
    try {
      const file = join(folder, "it's all.xml");
      const more = { "--algorithm": "ring", "--to": "msccl-xml", "--output": file };
      const command = collectiveCommand("export", "dgx-h100:1", first as NonNullable<typeof first>, more);
      const { code, err } = await banyanHere(wordsOf(command));
      expect(code, err).toBe(0);
      expect(readFileSync(file, "utf8")).toMatch(/<algo .*coll="allreduce"/);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it("keep a network in one word, whatever it is called", () => {
    const [one] = collectivesOf(handPlan(MLP, MESH, ["data", "tensor"], "none"), 1);
    for (const network of ["L(K(4,4))", "it's; a $(file).json", 'a "b"'])
      expect(wordsOf(collectiveCommand("synth", network, one as NonNullable<typeof one>))[1]).toBe(network);
  });
});
