import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { InfeasibleError, InputError } from "../../../src/base/errors.ts";
import { random } from "../../../src/base/random.ts";
import { treeFlowToJson } from "../../../src/export/schedules/tree-flow-json.ts";
import { readTreeFlow } from "../../../src/import/schedules/tree-flow-json.ts";
import { lowerToPlan } from "../../../src/lower/mscclpp/plan.ts";
import type { NamedCollective } from "../../../src/model/collective/collective.ts";
import { compare, format, rational, toNumber } from "../../../src/model/numbers/rational.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { OPS } from "../../../src/model/program/program.ts";
import { without } from "../../../src/model/topology/modify.ts";
import type { Topology } from "../../../src/model/topology/topology.ts";
import { topologyBuilder } from "../../../src/model/topology/topology-builder.ts";
import { groupOrder, listedTrees } from "../../../src/model/trees/tree-flow.ts";
import { stepsOfTrees } from "../../../src/model/trees/tree-steps.ts";
import { nvls, switchBoxes } from "../../../src/synthesize/trees/nvls.ts";
import { verifyProgram } from "../../../src/verify/program/program.ts";
import { planLimitViolations } from "../../../src/verify/runtime/plan-limits.ts";
import { judgeCertificate, throughputOf } from "../../../src/verify/trees/certificate.ts";
import { verifyTreeFlow } from "../../../src/verify/trees/tree-flow.ts";
import { ABLE, withTraits } from "../../support/able-switches.ts";
import { availableKernels } from "../../support/backends.ts";
import { shuffle } from "../../support/draws.ts";
import { runPlan } from "../../support/plan-run.ts";
import { unexpected } from "../../support/refusals.ts";
import { runs } from "../../support/runs.ts";
import { treeContext, treeRequest, type Wish } from "../../support/tree-requests.ts";

const [kernels] = await availableKernels();
const context = treeContext(kernels);

async function made(network: Topology | string, kind: NamedCollective, wish?: Wish) {
  const { flow } = await nvls.make(treeRequest(network, kind, wish), context);
  expect(verifyTreeFlow(flow).violations).toEqual([]);
  expect(judgeCertificate(flow).violations).toEqual([]);
  return flow;
}

/** What the links of `boxes` boxes of 8 GPUs with 450 GB/s to the switch and 50 GB/s to the rail let, in GB/s: by hand. */
const byHand = {
  /** NVLink: 8 B copies each way of 8 B, and B of the member's own; rails: B - 1 sums and B - 1 results. */
  allreduce: (boxes: number): number =>
    Math.min((8 / 9) * 450, boxes === 1 ? Infinity : (8 * boxes * 50) / (2 * (boxes - 1))),
  /** NVLink: 7 B results down; rails: B - 1. */
  allgather: (boxes: number): number =>
    Math.min((8 * 450) / 7, boxes === 1 ? Infinity : (8 * boxes * 50) / (boxes - 1)),
};

describe("nvls", () => {
  it.each([1, 2, 3, 4, 16, 128])("reaches on %i H100 boxes the rates that are told by hand", async (boxes) => {
    for (const name of boxes === 1 ? ["dgx-h100:1"] : [`dgx-h100:${boxes}`, `dgx-h100:${boxes},ib`]) {
      for (const kind of ["allreduce", "allgather", "reducescatter"] as const) {
        const flow = await made(name, kind);
        const gbps = byHand[kind === "allreduce" ? kind : "allgather"](boxes);
        expect(Math.abs(toNumber(throughputOf(flow)) / 1e9 - gbps), `${name} ${kind}`).toBeLessThan(1e-6);
        expect(listedTrees(flow) * groupOrder(flow.symmetry)).toBe((kind === "allreduce" ? 2 : 1) * 8 * boxes);
      }
    }
  });

  it.each([
    ["dgx-h100:1", 450, [8, 9]],
    ["gb200-nvl72", 900, [72, 73]],
    ["dgx-h100:2", 400, [1, 1]],
  ] as const)(
    "makes on %s an all-reduce of %i GB/s but for what is the members' own",
    async (name, gbps, [part, of]) => {
      const flow = await made(name, "allreduce");
      expect(throughputOf(flow)).toEqual(rational(gbps * 1e9 * part, of));
      // all data must leave every set of NPUs
      expect(judgeCertificate(flow).proof).toMatchObject({ optimal: part === of, holdsFor: "every schedule" });
    },
  );

  it("is as fast by the trees of all roots as by one that stands for all", async () => {
    for (const name of ["dgx-h100:1", "dgx-h100:3", "dgx-h100:2,ib"]) {
      const symmetric = await made(name, "allreduce");
      const members = [...Array(symmetric.topology.npuCount).keys()].reverse();
      const listed = await made(name, "allreduce", { members });
      expect(symmetric.symmetry).not.toBeNull();
      expect(listed.symmetry).toBeNull();
      expect(throughputOf(listed)).toEqual(throughputOf(symmetric));
    }
  });

  it("makes broadcasts and reductions of one box at the rate of a link", async () => {
    for (const kind of ["broadcast", "reduce"] as const) {
      const flow = await made("dgx-h100:1", kind, { rootRank: 3, members: [5, 1, 2, 7] });
      expect(throughputOf(flow)).toEqual(rational(450e9));
      expect(judgeCertificate(flow).proof?.optimal).toBe(true);
    }
  });

  it("sums on rails too where those can", async () => {
    const whole = presetTopology("dgx-h100:4");
    const plain = await made(whole, "allreduce");
    const able = await made(
      withTraits(whole, () => ABLE),
      "allreduce",
    );
    expect(format(throughputOf(plain))).toBe("800000000000/3");
    // rails: of each of the B roots a sum out or a result, each once: 8 B x 50 GB/s over B
    expect(throughputOf(able)).toEqual(rational(400e9));
    expect(judgeCertificate(able).proof?.optimal).toBe(true);
  });

  it("spans groups, boxes of unequal size and what failed nets leave, soundly", async () => {
    const draws = random(8, 8);
    for (let round = 0; round < 30; round++) {
      const name = ["dgx-h100:3", "dgx-h100:2,ib", "hgx-b200:4"][round % 3];
      const whole = presetTopology(name);
      const npus = Int32Array.from({ length: whole.npuCount }, (_, npu) => npu);
      shuffle(npus, draws);
      const members = [...npus.subarray(0, 9 + draws.below(whole.npuCount - 9))];
      const kind = (["allreduce", "allgather", "reducescatter"] as const)[draws.below(3)];
      await made(whole, kind, { members });
      const gone = [...npus.subarray(0, 1 + draws.below(3))].map((npu) => whole.nodeNames[npu]);
      const cut = without(whole, gone);
      await made(cut, kind);
      // rail 0 is gone: the GPUs of that place reach other boxes by others
      if (name !== "dgx-h100:2,ib") await made(without(whole, ["rail0"]), kind);
    }
  });

  it("uses no more of links than is usable", async () => {
    const request = treeRequest("dgx-h100:2", "allreduce");
    const usable = request.usable.map((b, link) => (link % 7 === 0 ? b / 2 : b));
    const flow = await made("dgx-h100:2", "allreduce", { usable });
    const narrowed = { ...flow, topology: { ...flow.topology, linkBytesPerSecond: usable }, symmetry: null };
    expect(flow.symmetry).toBeNull();
    expect(verifyTreeFlow(narrowed).violations).toEqual([]);
  });

  it("takes the widest link of a GPU to a switch that can, and no bandwidth is left on the busiest link", async () => {
    const bandwidth = fc.integer({ min: 1, max: 9 });
    await fc.assert(
      fc.asyncProperty(fc.array(bandwidth, { minLength: 2, maxLength: 6 }), bandwidth, async (ports, second) => {
        const builder = topologyBuilder("a box of unequal ports");
        ports.forEach((_, v) => {
          builder.addNpu(`${v}`);
        });
        const hub = builder.addSwitch("hub", ABLE);
        ports.forEach((gbps, v) => {
          builder.addDuplex(v, hub, gbps * 1e9, 0);
        });
        builder.addDuplex(0, hub, second * 1e9, 0);
        const topology = builder.build();
        const boxes = switchBoxes(topology, Int32Array.from(ports.keys()), topology.linkBytesPerSecond, ["multicast"]);
        expect(topology.linkBytesPerSecond[boxes?.up[0] as number]).toBe(Math.max(ports[0], second) * 1e9);
        const flow = await made(topology, "allreduce");
        // every port carries all of the data once each way, and its own part once more
        const least = Math.min(Math.max(ports[0], second), ...ports.slice(1));
        expect(throughputOf(flow)).toEqual(rational(least * 1e9 * ports.length, ports.length + 1));
      }),
      { numRuns: runs(60) },
    );
  });

  it("is not slower than phases without switches that sum, in a box of three or more", async () => {
    for (const npus of [3, 8, 20]) {
      const topology = withTraits(presetTopology(`switch:${npus}@10GB/s`), () => ABLE);
      const flow = await made(topology, "allreduce");
      expect(compare(throughputOf(flow), rational(10e9 * npus, 2 * (npus - 1)))).toBeGreaterThanOrEqual(0);
      expect(throughputOf(flow)).toEqual(rational(10e9 * npus, npus + 1));
    }
  });
});

describe("nvls refuses", () => {
  it.each([
    ["dgx-a100:1", "allreduce", ["sum", "duplicate"]],
    ["ring:8", "allgather", ["duplicate"]],
    ["dgx1", "reducescatter", ["sum"]],
    ["dgx-h100:2", "broadcast", ["one"]],
  ] as const)("%s for %s", async (name, kind, needed) => {
    const request = treeRequest(name, kind);
    expect(nvls.refuses?.(request.topology, request.collective)).not.toBeNull();
    await expect(nvls.make(request, context)).rejects.toThrow(unexpected("the topology", name, ...needed));
  });

  it("groups with one GPU of each box, and switches that cannot do all that is needed", async () => {
    await expect(made("dgx-h100:3", "allreduce", { members: [0, 8, 16] })).rejects.toThrow(
      unexpected("the topology", "dgx-h100:3"),
    );
    const box = withTraits(presetTopology("dgx-h100:1"), () => ({ multicast: true }));
    await expect(made(box, "allreduce")).rejects.toThrow(unexpected("the topology", "dgx-h100:1"));
    expect(throughputOf(await made(box, "allgather"))).toEqual(rational(3600e9, 7));
  });

  it("options that it does not have, and boxes that nothing joins", async () => {
    await expect(made("dgx-h100:1", "allreduce", { copiesPerRoot: 2 })).rejects.toThrow(unexpected("k", 2));
    const flow = await made("dgx-h100:1", "allreduce", { copiesPerRoot: 1 });
    await expect(made("dgx-h100:1", "allreduce", { repair: flow })).rejects.toThrow(unexpected("repair", "a schedule"));
    await expect(made("dgx-h100:1", "allreduce", { members: [3] })).rejects.toThrow(InputError);
    const { usable, topology } = treeRequest("dgx-h100:2", "allreduce");
    const apart = usable.map((b, link) => (topology.linkTarget[link] > 17 || topology.linkSource[link] > 17 ? 0 : b));
    await expect(made("dgx-h100:2", "allreduce", { usable: apart })).rejects.toThrow(InfeasibleError);
  });
});

describe("a flow whose switches duplicate and sum", () => {
  it("is written and read with its flag, without which a file is as before", async () => {
    const flow = await made("dgx-h100:1", "allreduce");
    const text = treeFlowToJson(flow);
    expect(text).toContain('"concurrent": true,\n  "inNetwork": true,\n  "symmetry"');
    expect(readTreeFlow(text, "t.json")).toEqual(flow);
    const { inNetwork: _, ...plain } = flow;
    const old = text.replace('  "inNetwork": true,\n', "");
    expect(treeFlowToJson(plain)).toBe(old);
    expect(readTreeFlow(old, "t.json")).toEqual(plain);
    expect(readTreeFlow(text.replace('"inNetwork": true', '"inNetwork": false'), "t.json")).toEqual(plain);
    expect(() => readTreeFlow(text.replace('"inNetwork": true', '"inNetwork": 1'), "t.json")).toThrow(
      unexpected("t.json: inNetwork", 1),
    );
    expect(verifyTreeFlow(plain).violations[0]?.kind).toBe("link-overload");
    const { topology } = flow;
    expect(readTreeFlow(text, "t.json", { topology })).toEqual(flow);
    const unable = { topology: withTraits(topology, () => ({ multicast: true })) };
    expect(readTreeFlow(old, "t.json", unable)).toEqual(plain);
    expect(() => readTreeFlow(text, "t.json", unable)).toThrow(unexpected("the topology", "nvsw0, which does not"));
  });

  it("becomes a plan through the switch in one box, and nothing else that NPUs alone would do", async () => {
    const box = await made("dgx-h100:1", "allreduce");
    const plan = lowerToPlan(box, { placement: "in" });
    expect(new Set(Array.from(plan.op, (op) => OPS[op]))).toContain("glres");
    expect(() => stepsOfTrees(box, 1)).toThrow(
      unexpected("the steps of a tree flow", "trees whose switches duplicate and sum (NVLS)", "--algorithm"),
    );
    expect(() => lowerToPlan(box, { placement: "in", throughSwitch: false })).toThrow(
      unexpected("messages between GPUs", "trees whose switches duplicate and sum (NVLS)", "--algorithm"),
    );
  });

  it.each(["allreduce", "allgather", "reducescatter"] as const)("becomes a plan over two boxes: %s", async (kind) => {
    const flow = await made("dgx-h100:2", kind);
    for (const placement of ["in", "out"] as const) {
      const plan = lowerToPlan(flow, { placement });
      const ops = new Set(Array.from(plan.op, (op) => OPS[op]));
      expect(ops.has("glres")).toBe(kind !== "allgather");
      expect(ops.has("gstore")).toBe(kind !== "reducescatter");
      expect(ops.has("pws")).toBe(true);
      expect(runPlan(plan, random(1, 2))).toBeNull();
      expect(verifyProgram(plan).violations).toEqual([]);
      expect(planLimitViolations(plan)).toEqual([]);
    }
  });

  it("proves nothing by potentials, which hold where switches only forward", async () => {
    const flow = await made("dgx-h100:1", "allreduce");
    const cuts = Array.from({ length: 8 }, (_, npu) => ({
      nodes: Int32Array.of(npu),
      direction: "out" as const,
      weight: rational(1),
    }));
    const dual = { kind: "dual" as const, cuts };
    expect(judgeCertificate({ ...flow, certificate: dual }).proof?.holdsFor).toContain("sums each byte at one NPU");
    const potentials = [{ node: 8, out: rational(1), in: rational(0) }];
    const { proof, violations } = judgeCertificate({ ...flow, certificate: { ...dual, potentials } });
    expect(proof).toBeNull();
    expect(violations[0]?.message).toContain("potentials count on switches that only forward");
  });
});
