import { describe, expect, it } from "vitest";
import { InputError } from "../../../src/base/errors.ts";
import { optionName } from "../../../src/base/option-names.ts";
import { jsKernels } from "../../../src/engine/kernels/js/kernels.ts";
import type { NamedCollective } from "../../../src/model/collective/collective.ts";
import { constructionTopology } from "../../../src/model/presets/construction.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { isSlotSchedule } from "../../../src/model/slots/slot-schedule.ts";
import type { Topology } from "../../../src/model/topology/topology.ts";
import { roomFor } from "../../../src/synthesize/expand/bases.ts";
import { expand } from "../../../src/synthesize/expand/expand.ts";
import { verify } from "../../../src/verify/verify.ts";
import { unexpected } from "../../support/refusals.ts";
import { inlineRunner, wholeCollective } from "../../support/synthesis.ts";

const context = { runner: inlineRunner(jsKernels) };

interface Ask {
  readonly kind?: NamedCollective;
  readonly sizeBytes?: number;
  readonly chunks?: number;
  readonly policy?: string | null;
}

const requestOf = (
  topology: Topology,
  { kind = "allgather", sizeBytes = 2 ** 20, policy = null }: Ask,
  chunks: number,
) => ({
  topology,
  collective: wholeCollective(topology, kind, sizeBytes, chunks),
  seed: 1,
  trials: null,
  policy,
  switchDegree: null,
});

/** What the synthesizer makes, with its own number of chunks where none is asked for. */
async function made(topology: Topology, ask: Ask = {}) {
  const chunks = ask.chunks ?? (await expand.ownChunks?.(requestOf(topology, ask, 1), context)) ?? 1;
  const found = await expand.synthesize(requestOf(topology, ask, chunks), context);
  return { ...found, chunks };
}

const CONSTRUCTIONS = [
  ...[
    "L(K(2,2))",
    "L2(C(6,{1,2}))",
    "UniRing(1,4)*2",
    "K(3)^2",
    "Diamond^2",
    "L(Pi(2,5))",
    "L(DBJ(2,2))",
    "Bi(Kautz(2,1))",
  ],
  ...[
    "UniRing(2,3)*2",
    "T(L(Pi(2,5)))",
    "Bi(Diamond)",
    "(UniRing(1,2) x UniRing(1,3))^2",
    "L(UniRing(2,3))",
    "L(UniRing(1,3))",
  ],
];

describe("expand", () => {
  it.each(CONSTRUCTIONS)("makes schedules of %s that the verifier passes", async (text) => {
    const topology = constructionTopology(`${text}@25Gbps,1us`);
    for (const kind of ["allgather", "reducescatter", "allreduce"] as const) {
      for (const policy of [null, ...expand.policies]) {
        const { schedule, direct } = await made(topology, { kind, policy });
        expect(verify(schedule).violationCount).toBe(0);
        expect(direct?.nodes).toBe(topology.npuCount);
      }
    }
  });

  it("keeps a large one on a symmetric network as the log of one NPU", async () => {
    const topology = constructionTopology("BiRing(2,32)^2");
    const { schedule, direct } = await made(topology, { kind: "allreduce", sizeBytes: 2 ** 30, policy: "expansion" });
    expect(isSlotSchedule(schedule) && schedule.symmetry).toEqual([32, 32]);
    expect(verify(schedule).violationCount).toBe(0);
    expect(direct).toMatchObject({ steps: 32, bandwidth: "1023/1024", bandwidthOptimal: true });
  });

  it("takes the schedule that is faster for the size, and says what the other would take", async () => {
    const topology = constructionTopology("Diamond^2@25Gbps,10us");
    const large = await made(topology, { sizeBytes: 2 ** 30 });
    expect(large.direct).toMatchObject({ steps: 6, bandwidth: "63/64" });
    expect(large.policy).toMatch(
      /^expansion, faster here than breadth-first broadcast \(6 steps, T_B \d+\/\d+ M\/B\) of Diamond\^2, shards in 4 parts$/,
    );
    const rings = constructionTopology("BiRing(2,8)*2@25Gbps,10us");
    const small = await made(rings, { sizeBytes: 1024 });
    expect(small.direct?.steps).toBe(4);
    expect(small.policy).toContain("breadth-first broadcast, faster here than the expansion (5 steps");
    expect((await made(rings, { sizeBytes: 1024, policy: "expansion" })).direct?.steps).toBe(5);
  });

  it("cuts shards as it is told, and broadcasts breadth-first where expansions cannot", async () => {
    const topology = constructionTopology("K(3)^2");
    expect((await made(topology, { chunks: 6, policy: "expansion" })).policy).toContain("shards in 6 parts");
    expect((await made(topology, { chunks: 3 })).policy).toContain("breadth-first broadcast of K(3)^2");
    await expect(made(topology, { chunks: 3, policy: "expansion" })).rejects.toThrow(
      new InputError(optionName("chunks"), "a multiple of 2 chunks per NPU (the expansions of K(3)^2)", 3).message,
    );
    await expect(made(topology, { chunks: 40_000 })).rejects.toThrow(
      new InputError(optionName("chunks"), "at most 32767 chunks per NPU (expand)", 40_000).message,
    );
  });

  it("is refused on networks that are no constructions, and for groups", async () => {
    await expect(made(presetTopology("ring:4"))).rejects.toThrow(unexpected("expand", "ring:4"));
    const topology = constructionTopology("K(4)");
    const request = requestOf(topology, {}, 1);
    const half = { ...request, collective: { ...request.collective, groupCount: 2, groupSize: 2 } };
    await expect(expand.synthesize(half, context)).rejects.toThrow(unexpected("group", "2 of 2 of 4 NPUs"));
  });

  it("is refused where its rows would not fit in memory", async () => {
    const rows = (about: string) => unexpected("expand", about, "1e+8");
    await expect(made(constructionTopology("Pi(4,16000)"))).rejects.toThrow(rows("about 2.6e+8"));
    expect(() => roomFor(2e8)).toThrow(rows("about 2.0e+8"));
    const ring = made(constructionTopology("UniRing(1,200)^2"), { kind: "reducescatter", chunks: 2 });
    await expect(ring).rejects.toThrow(
      unexpected("expand", "reducescatter on UniRing(1,200)^2: 3.2e+9 transfers", "1e+8"),
    );
  });
});
