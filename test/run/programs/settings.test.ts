import { describe, expect, it } from "vitest";
import { ncclEstimates } from "../../../src/model/nccl/model.ts";
import { type Box, boxTopology } from "../../../src/model/presets/boxes.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import type { Topology } from "../../../src/model/topology/topology.ts";
import type { ComparisonRow } from "../../../src/report/comparison.ts";
import {
  kernelsUs,
  leastNvlsUs,
  type NcclKernels,
  ncclKernels,
  ncclSettings,
} from "../../../src/run/programs/settings.ts";

/** Three partitions of GB200 racks, 4 GPUs each, with one network card a GPU. */
const PARTITIONS = boxes({ gpus: 4, nvswitch: { gbps: 900, inNetwork: true } }, 50, 3);
/** MareNostrum 5 ACC: 4 H100, six NVLinks a pair, NDR200 each. */
const MESH = [0, 1, 2, 3].flatMap((a) => [0, 1, 2, 3].filter((b) => b > a).map((b) => [a, b, 150] as const));
const mareNostrum = (count: number): Topology => boxes({ gpus: 4, cables: MESH }, 25, count);

function boxes(box: Pick<Box, "gpus" | "nvswitch" | "cables">, gbps: number, count: number): Topology {
  const scaleOut = { wiring: "rails", gbps, latencyUs: 2.5 } as const;
  return boxTopology("boxes", { ...box, latencyUs: 0.5, scaleOut, sources: [] }, count);
}

/** Returns the least that NCCL's kernels take by an algorithm. */
const least = ({ settings }: NcclKernels, algorithm: string): number =>
  Math.min(...settings.filter((one) => one.algorithm === algorithm).map(({ us }) => us));

const kernelsOf = (topology: Topology, sizeBytes: number): NcclKernels =>
  ncclKernels(topology, "allreduce", 0, sizeBytes) as NcclKernels;

describe("NCCL's kernels beside published times", () => {
  // GB200: github.com/NVIDIA/nccl/issues/1801, NCCL 2.27.3, in place; MareNostrum: the PICO suite's archives
  it.each([
    // a quarter of 16 GiB: nothing but bandwidth counts there
    ["GB200, 12 GPUs of three partitions", PARTITIONS, 2 ** 32, 159_983 / 4, 134_159 / 4],
    ["MareNostrum 5, 8 nodes", mareNostrum(8), 2 ** 27, 3092.4, 3434.9],
    ["MareNostrum 5, 8 nodes", mareNostrum(8), 2 ** 29, 12_628, 13_889.6],
  ] as const)("%s: which of ring and tree is faster, and by about how much", (_, topology, size, ringUs, treeUs) => {
    const kernels = kernelsOf(topology, size);
    const [ring, tree] = [least(kernels, "Ring"), least(kernels, "Tree")];
    expect(tree < ring).toBe(treeUs < ringUs);
    expect(Math.abs(tree / ring / (treeUs / ringUs) - 1)).toBeLessThan(0.07);
    // network cards bring less than is written on them
    for (const [own, measured] of [
      [ring, ringUs],
      [tree, treeUs],
    ] as const) {
      expect(own).toBeLessThan(measured);
      expect(own).toBeGreaterThan(0.78 * measured);
    }
  });

  it("shows what NCCL's own model does not: trees of GB200 partitions are faster than the ring that it takes", () => {
    const estimates = ncclEstimates(PARTITIONS, "allreduce", 2 ** 34) ?? [];
    const modelled = (name: string) => estimates.find(({ algorithm }) => algorithm === name)?.us ?? 0;
    expect(modelled("Tree")).toBeGreaterThan(modelled("Ring"));
  });
});

describe("leastNvlsUs", () => {
  it("makes a B300 box's ring faster than the NVLS that NCCL takes at 64 MiB, as was reported, and not an H100 box's", () => {
    for (const [preset, isRing] of [
      ["hgx-b300:1", true],
      ["dgx-h100:1", false],
    ] as const) {
      const kernels = kernelsOf(presetTopology(preset), 2 ** 26);
      expect(kernels.estimates[0]?.algorithm).toBe("NVLS");
      expect(least(kernels, "Ring") < leastNvlsUs(kernels, "nvls")).toBe(isRing);
      expect(leastNvlsUs(kernels, "nccl-rings")).toBe(0);
    }
  });

  it("is near what two boxes of 8 H100 were measured to take", () => {
    // OCI BM.GPU.H100.8, NCCL 2.23.4: github.com/oracle-quickstart/oci-hpc
    const kernels = kernelsOf(presetTopology("hgx-h100:2"), 2 ** 30);
    expect(leastNvlsUs(kernels, "nvls") / 4463.7).toBeGreaterThan(0.95);
    expect(leastNvlsUs(kernels, "nvls") / 4463.7).toBeLessThan(1);
  });
});

describe("ncclSettings", () => {
  const topology = presetTopology("dgx-a100:2");
  const size = 2 ** 20;

  it("has the default of NCCL's model among the settings, and none is faster than the best by more than a tie", () => {
    const kernels = kernelsOf(topology, size);
    const { chosen, best, settings } = ncclSettings(kernels, size, []) ?? { settings: [] };
    const [first] = kernels.estimates;
    expect(chosen).toMatchObject({
      algorithm: first?.algorithm,
      protocol: first?.protocol,
      channels: first?.channels,
      environment: `NCCL_ALGO=${first?.algorithm} NCCL_PROTO=${first?.protocol}`,
    });
    expect(settings).toContain(chosen);
    for (const { us } of settings) expect(us).toBeGreaterThan((best?.us ?? 0) / 1.01);
    const fewer = settings.find(
      ({ channels, algorithm, protocol }) =>
        channels === 8 && algorithm === first?.algorithm && protocol === first.protocol,
    );
    expect(fewer?.environment).toBe(`${chosen?.environment} NCCL_MAX_NCHANNELS=8`);
    expect(kernelsUs(kernels, "nccl-rings")).toBe(least(kernels, "Ring"));
    expect(kernelsUs(kernels, "tacos")).toBeNull();
  });

  it("takes NVLS from its line, and says nothing where the default has none", () => {
    const box = presetTopology("dgx-h100:1");
    const kernels = kernelsOf(box, 2 ** 24);
    expect(kernels.estimates[0]?.algorithm).toBe("NVLS");
    expect(ncclSettings(kernels, 2 ** 24, [])).toBeNull();
    const line = { sizeBytes: 2 ** 24, algorithm: "nvls", libraryUs: 50 } as ComparisonRow;
    expect(ncclSettings(kernels, 2 ** 24, [line])).toMatchObject({
      chosen: { us: 50, environment: "NCCL_ALGO=NVLS NCCL_PROTO=Simple" },
      best: { us: 50 },
    });
  });

  it("has nothing for networks and collectives that NCCL does not model", () => {
    expect(ncclKernels(presetTopology("mesh:3x3"), "allreduce", 0, size)).toBeNull();
    expect(ncclKernels(topology, "alltoall", 0, size)).toBeNull();
  });
});
