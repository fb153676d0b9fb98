import { describe, expect, it } from "vitest";
import { type Random, random } from "../../../src/base/random.ts";
import { openHighs } from "../../../src/engine/milp/highs.ts";
import { collective } from "../../../src/model/collective/collective.ts";
import { rational, toNumber } from "../../../src/model/numbers/rational.ts";
import type { Topology } from "../../../src/model/topology/topology.ts";
import { topologyBuilder } from "../../../src/model/topology/topology-builder.ts";
import { copiesOf } from "../../../src/model/trees/tree-flow.ts";
import { forestcoll } from "../../../src/synthesize/forestcoll/forestcoll.ts";
import { judgeCertificate, throughputOf } from "../../../src/verify/trees/certificate.ts";
import { verifyTreeFlow } from "../../../src/verify/trees/tree-flow.ts";
import { availableKernels } from "../../support/backends.ts";
import { triesAll } from "../../support/runs.ts";
import { treeContext, treeRequest, type Wish } from "../../support/tree-requests.ts";
import { bestInNetworkRate } from "./in-network-oracle.ts";

const [kernels] = await availableKernels();
const lp = await openHighs();
const context = { ...treeContext(kernels), lp: async () => lp };

type Kind = "allgather" | "reducescatter" | "allreduce" | "broadcast" | "reduce";

async function made(network: Topology | string, kind: Kind, wish?: Wish) {
  const { flow } = await forestcoll.make(treeRequest(network, kind, { own: { offload: true }, ...wish }), context);
  expect(flow.inNetwork).toBe(true);
  expect(verifyTreeFlow(flow).violations).toEqual([]);
  expect(judgeCertificate(flow).violations).toEqual([]);
  return flow;
}

/** Returns a few NPUs and switches, some of which can duplicate and sum, with links that may have other room the other way. */
function drawnNetwork(draws: Random, evenly: boolean): Topology {
  const builder = topologyBuilder("drawn");
  const npus = 2 + draws.below(2);
  const switches = 1 + draws.below(3);
  const nodes = npus + switches;
  for (let v = 0; v < npus; v++) builder.addNpu(`${v}`);
  for (let s = 0; s < switches; s++) {
    const able = draws.below(3) > 0 || s === 0;
    builder.addSwitch(`s${s}`, { multicast: able, aggregation: able });
  }
  const gbps = (): number => (1 + draws.below(4)) * 1e9;
  const join = (a: number, b: number): void => {
    if (evenly) builder.addDuplex(a, b, gbps(), 0);
    else {
      builder.addLink(a, b, gbps(), 0);
      builder.addLink(b, a, gbps(), 0);
    }
  };
  for (let s = 1; s < switches; s++) join(npus + s, npus + draws.below(s));
  for (let v = 0; v < npus; v++) join(v, npus + draws.below(switches));
  for (let more = draws.below(3); more > 0; more--) {
    const a = draws.below(nodes);
    join(a, (a + 1 + draws.below(nodes - 1)) % nodes);
  }
  return builder.build();
}

/** What the flows of each collective are made of, for the oracle. */
const DIRECTIONS = { allgather: ["out"], reducescatter: ["in"], allreduce: ["in", "out"] } as const;

describe("forestcoll over switches that duplicate and sum", () => {
  it.each([
    ["as wide both ways", true],
    ["of other width each way", false],
  ])("is as fast as the best of all trees on small random networks with links %s", async (_, evenly) => {
    const draws = random(7, evenly ? 1 : 2);
    let [best, proved, all] = [0, 0, 0];
    for (let round = 0; round < (triesAll ? 60 : 15); round++) {
      const topology = drawnNetwork(draws, evenly);
      const members = [...Array(topology.npuCount).keys()];
      for (const kind of ["allgather", "reducescatter", "allreduce"] as const) {
        const flow = await made(topology, kind);
        const most = bestInNetworkRate(topology, members, DIRECTIONS[kind], lp);
        const share = toNumber(throughputOf(flow)) / most;
        expect(share).toBeLessThan(1 + 1e-6);
        const { proof } = judgeCertificate(flow);
        all++;
        if (share > 1 - 1e-6) best++;
        if (proof?.optimal === true) proved++;
        // what is proved optimal is what the oracle finds
        if (proof?.optimal === true) expect(share).toBeGreaterThan(1 - 1e-6);
      }
    }
    // the others would pass a forwarding switch twice
    expect(best).toBeGreaterThanOrEqual(0.97 * all);
    expect(proved).toBeGreaterThanOrEqual(0.97 * all);
  });

  it.each([
    ["dgx-h100:1", "allgather", rational(3600e9, 7)],
    ["dgx-h100:2", "allgather", rational(1600e9, 3)],
    ["dgx-h100:2", "reducescatter", rational(1600e9, 3)],
    ["dgx-h100:4", "allgather", rational(16000e9, 31)],
    ["dgx-h100:1", "allreduce", rational(450e9)],
    ["dgx-h100:2", "allreduce", rational(400e9)],
    ["dgx-h100:4", "allreduce", rational(800e9, 3)],
    ["dgx-h100:1", "broadcast", rational(450e9)],
    ["dgx-h100:1", "reduce", rational(450e9)],
  ] as const)("reaches on %s an %s the proved optimum", async (name, kind, rate) => {
    const flow = await made(name, kind);
    expect(throughputOf(flow)).toEqual(rate);
    expect(judgeCertificate(flow).proof?.optimal).toBe(true);
  });

  it("serves groups whose outsiders forward, and links of which only a part is usable", async () => {
    const members = [0, 1, 2, 5, 9, 12];
    const whole = treeRequest("dgx-h100:2", "allgather");
    const usable = whole.usable.map((b, link) => (link % 7 === 0 ? b / 2 : b));
    for (const kind of ["allgather", "reducescatter", "allreduce"] as const) {
      await made("dgx-h100:2", kind, { members });
      const flow = await made("dgx-h100:2", kind, { usable });
      const topology = { ...flow.topology, linkBytesPerSecond: usable };
      expect(verifyTreeFlow({ ...flow, topology }).violations).toEqual([]);
    }
  });

  it("has as many copies at each root as asked for", async () => {
    for (const [kind, name] of [
      ["allgather", "dgx-h100:2"],
      ["allreduce", "dgx-h100:2"],
      ["allreduce", "switch:16,sum"],
    ] as const) {
      const flow = await made(name, kind, { copiesPerRoot: 1 });
      for (const forest of flow.forests) expect(copiesOf(forest, flow.symmetry)).toBe(16n);
    }
  });

  it("refuses networks without such switches, repairs and several groups", async () => {
    const own = { offload: true };
    const request = treeRequest("fat-tree:4x2", "allgather", { own });
    await expect(forestcoll.make(request, context)).rejects.toMatchObject({ option: "offload" });
    const flow = await made("dgx-h100:1", "allgather");
    const repaired = treeRequest("dgx-h100:1", "allgather", { own, repair: flow });
    await expect(forestcoll.make(repaired, context)).rejects.toMatchObject({ option: "repair" });
    const groups = [Int32Array.of(0, 1), Int32Array.of(2, 3)];
    const several = {
      ...request,
      collective: collective({ kind: "allgather", groups, sizeBytes: 1024, chunksPerNpu: 1, rootRank: 0 }),
    };
    await expect(forestcoll.makeGroups?.(several, context)).rejects.toMatchObject({ option: "offload" });
  });
});
