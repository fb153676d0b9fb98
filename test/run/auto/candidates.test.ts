import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { InputError } from "../../../src/base/errors.ts";
import { openEngine } from "../../../src/engine/engine.ts";
import type { Engine } from "../../../src/engine/types.ts";
import { COLLECTIVE_KINDS, type NamedCollective } from "../../../src/model/collective/collective.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { without } from "../../../src/model/topology/modify.ts";
import type { Topology } from "../../../src/model/topology/topology.ts";
import { problemOf } from "../../../src/request/problem.ts";
import { candidatesFor, trialOrder } from "../../../src/run/auto/candidates.ts";
import { synthesize } from "../../../src/run/synthesize.ts";
import { applicableTo, refusalOf } from "../../../src/synthesize/applicable.ts";
import { ALGORITHMS, algorithmNamed } from "../../../src/synthesize/catalog.ts";
import { missing, refused } from "../../support/refusals.ts";
import { quick, triesAll } from "../../support/runs.ts";

/** Time for those that solve integer programs: whatever they make by then is a schedule. */
const SOLVER_MS = triesAll ? 200 : 50;

let engine: Engine;
beforeAll(async () => {
  engine = await openEngine({ threads: 0 });
});
afterAll(async () => engine.close());

const networks: Readonly<Record<string, Topology>> = {
  "ring:6": presetTopology("ring:6"),
  "mesh:3x3": presetTopology("mesh:3x3"),
  "switch:8": presetTopology("switch:8"),
  "fc:4": presetTopology("fc:4"),
  dgx1: presetTopology("dgx1"),
  "dgx-h100:1": presetTopology("dgx-h100:1"),
  "K(3,3)": presetTopology("K(3,3)"),
  "4x4 mesh without a link": without(presetTopology("mesh:4x4"), ["0>1"]),
};

const heedsTrials = (algorithm: (typeof ALGORITHMS)[number]): boolean => algorithm.options?.includes("trials") === true;

const QUICK: readonly string[] = ["ring:6", "dgx-h100:1", "4x4 mesh without a link"];

describe.each(quick(Object.entries(networks), ([name]) => QUICK.includes(name)))("%s", (name, topology) => {
  it("can have exactly what does not refuse it, and the refusals say what is needed and what can be had", async () => {
    for (const collective of COLLECTIVE_KINDS) {
      const request = { collective, sizeBytes: 2 ** 16 } as const;
      const problem = problemOf(topology, request);
      const names = applicableTo(problem.topology, problem.collective);
      for (const algorithm of ALGORITHMS.filter(({ collectives }) => collectives.includes(collective))) {
        const steps = heedsTrials(algorithm) ? { ...request, trials: 1 } : request;
        const limit = algorithm.traits?.solves === true ? { timeLimitMs: SOLVER_MS } : {};
        const made = synthesize(engine, topology, { ...steps, ...limit, algorithm: algorithm.name });
        const needed = refusalOf(algorithm, problem.topology, problem.collective);
        if (needed === null && names.includes(algorithm.name)) {
          expect((await made).report, `${algorithm.name}, ${collective}`).toMatchObject({ verified: true });
          continue;
        }
        await expect(made, `${algorithm.name}, ${collective}`).rejects.toThrow(InputError);
        if (needed === null) continue;
        const can = refused(
          "not-applicable",
          "algorithm",
          algorithm.name,
          topology.name,
          names.join(", "),
          algorithm.name,
          needed,
        );
        await expect(made, name).rejects.toThrow(can);
      }
    }
  });
});

describe("candidates", () => {
  const [mesh] = [presetTopology("mesh:3x3")];

  it("are all that make the collective, and the others with the reason", () => {
    const kinds: NamedCollective[] = ["allreduce", "alltoall"];
    for (const collective of kinds) {
      const { candidates, leftOut } = candidatesFor(mesh, { collective });
      const makers = ALGORITHMS.filter(({ collectives }) => collectives.includes(collective)).map(({ name }) => name);
      const found = [...candidates.map(({ name }) => name), ...leftOut.map(({ algorithm }) => algorithm)];
      expect(found.sort()).toEqual(makers.sort());
      for (const { reason } of leftOut) expect(reason).toMatch(/^(needs \S.*[^,]|tried only where it is named: \S.*)$/);
    }
  });

  it("list no millions of transfers unless they are named", () => {
    const torus = presetTopology("torus:64x64");
    const { candidates, leftOut } = candidatesFor(torus, { collective: "allgather" });
    const names = candidates.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(["tacos", "bfb", "forestcoll"]));
    expect(names).not.toContain("direct");
    expect(leftOut).toContainEqual({
      algorithm: "direct",
      reason: "tried only where it is named: it would list 1.7e+7 transfers",
    });
    expect(candidatesFor(torus, { collective: "allgather" }, ["direct"]).candidates).toHaveLength(1);
  });

  it("send no chunks through tens of millions of links unless they are named", () => {
    const mesh = presetTopology("mesh:40x40");
    const { candidates, leftOut } = candidatesFor(mesh, { collective: "allgather" });
    expect(candidates.map(({ name }) => name)).toEqual(expect.arrayContaining(["pat", "ring"]));
    expect(leftOut).toContainEqual({
      algorithm: "direct",
      reason: "tried only where it is named: chunks would go through links 6.9e+7 times",
    });
    // through a switch everyone is two links away
    const switched = candidatesFor(presetTopology("switch:1600"), { collective: "allgather" });
    expect(switched.candidates.map(({ name }) => name)).toContain("direct");
  });

  it("of many transfers are tried in this order: searches, trees, what lists every transfer", () => {
    const topology = without(presetTopology("dgx-h100:128"), ["0-rail0"]);
    const { candidates } = candidatesFor(topology, { collective: "allreduce" });
    const names = trialOrder(candidates, 2e6).map(({ name }) => name);
    const at = (name: string): number => names.indexOf(name);
    expect(at("tacos")).toBeLessThan(at("multitree"));
    expect(at("multitree")).toBeGreaterThan(0);
    expect(at("multitree")).toBeLessThan(at("nccl-rings"));
    const toAll = candidatesFor(topology, { collective: "alltoall" });
    expect(trialOrder(toAll.candidates, 1e6).map(({ name }) => name)).toEqual([
      "mcf",
      "tacos",
      "direct",
      "ring",
      "bruck",
    ]);
  });

  it("that are named and cannot are refused where no other is left", () => {
    expect(() => candidatesFor(mesh, { collective: "allreduce" }, ["c-cube"])).toThrow(
      refused("not-applicable", "algorithms", "c-cube", 8),
    );
    expect(candidatesFor(mesh, { collective: "allreduce" }, ["c-cube", "ring"])).toMatchObject({
      candidates: [{ name: "ring" }],
      leftOut: [{ algorithm: "c-cube" }],
    });
    expect(() => candidatesFor(mesh, { collective: "allreduce" }, [])).toThrow(missing("algorithms"));
  });

  it("have names that are told apart from misspelt ones", () => {
    expect(() => algorithmNamed("thems")).toThrow(refused("unknown-name", "algorithm", "thems", "themis"));
    expect(() => algorithmNamed("atuo", ["auto"])).toThrow(refused("unknown-name", "algorithm", "atuo", "auto"));
    expect(() => algorithmNamed("auto")).toThrow(InputError);
  });
});
