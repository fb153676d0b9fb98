import { describe, expect, it } from "vitest";
import { topologyToTaccl } from "../../src/export/networks/taccl-topology.ts";
import { readTacclTopology } from "../../src/import/networks/taccl-topology.ts";
import { findingsOf } from "../../src/infer/findings.ts";
import { inferNetwork } from "../../src/infer/infer.ts";
import { findingsLines } from "../../src/report/findings.ts";
import { DGX2, hiddenMachines, type Machine, NDV2, TACCL_DOUBLES, TACCL_SINGLES } from "../support/hidden-machines.ts";
import { hiddenProber, randomOrder, renumbered } from "../support/hidden-network.ts";
import { triesAll } from "../support/runs.ts";

/** Two DGX-2 are 52 endpoints: fewer seeds do. */
const FEW = triesAll ? 20 : 1;
const SEEDS = Array.from({ length: triesAll ? 100 : 3 }, (_, i) => i + 1);

/** Returns what is inferred of machines whose endpoints stand in a random order, and where each stood: `g3`, `cpu0`, `nic1`. */
async function inferHidden(machine: Machine, hosts: number, seed: number) {
  const machines = hiddenMachines(machine, hosts);
  const order = randomOrder(machines.endpoints.length, seed);
  const hidden = renumbered(machines, order);
  const n = hidden.endpoints.length;
  const prober = {
    ...hiddenProber(hidden, seed),
    reaches: (a: number, b: number): boolean => (hidden.routes[a * n + b] as readonly number[]).length > 0,
  };
  const inferred = await inferNetwork(prober, { seed });
  const place = order.map((old) => machines.endpoints[old]?.name.replace(/^h\d+/, "") as string);
  return { inferred, hidden, place };
}

const sorted = (lists: readonly (readonly string[])[]): string[] =>
  lists.map((list) => [...list].sort().join(" ")).sort();

/** Holds rates of resources against those of the hidden machines, by kind. */
function expectRates(
  inferred: Awaited<ReturnType<typeof inferHidden>>["inferred"],
  wanted: Readonly<Record<string, readonly number[]>>,
) {
  for (const { kind, bytesPerSecond, name } of inferred.sharing.resources) {
    const nearest = Math.min(...(wanted[kind] ?? []).map((gbps) => Math.abs(bytesPerSecond / 1e9 / gbps - 1)));
    expect(nearest, `${name} ${bytesPerSecond}`).toBeLessThan(0.05);
  }
}

describe("inference of a hidden NDv2", () => {
  it.each([1, 2])(
    "finds switches, CPUs, the NIC, NVLinks and usual numbers of %i of them, figures within 5 %%",
    async (hosts) => {
      for (const seed of SEEDS) {
        const { inferred, place } = await inferHidden(NDV2, hosts, seed);
        expect(inferred.unexplained).toEqual([]);
        expect(inferred.machines.length).toBe(hosts);
        expectRates(inferred, {
          nvlink: [NDV2.nvlinkGBps, 2 * NDV2.nvlinkGBps],
          pcie: [NDV2.pcieGBps],
          cpu: [NDV2.betweenCpusGBps],
          nic: [NDV2.nicGBps],
        });
        for (const { gpus, switches, nvlinkCounts, usual, taccl, switched } of inferred.machines) {
          expect(switched).toBe(false);
          const at = (i: number): string => place[i] as string;
          expect(sorted(switches.map((one) => [at(one.cpu), ...one.gpus.map(at), ...one.nics.map(at)]))).toEqual(
            sorted(
              NDV2.switches.map((one) => [one.on, ...one.gpus.map((g) => `g${g}`), ...one.nics.map((k) => `nic${k}`)]),
            ),
          );
          const linksOf = (a: number, b: number): number =>
            nvlinkCounts[gpus.indexOf(a) * gpus.length + gpus.indexOf(b)] as number;
          const trueLinks = (a: string, b: string): number =>
            NDV2.nvlinks?.find(([x, y]) => (`g${x}` === a && `g${y}` === b) || (`g${x}` === b && `g${y}` === a))?.[2] ??
            0;
          for (const a of gpus) for (const b of gpus) expect(linksOf(a, b)).toBe(trueLinks(at(a), at(b)));
          // usual numbers: NVLinks and switches are where they usually are, the NIC beside number 0
          expect(usual.name).toBe("DGX-1V");
          const numbers = usual.order.map(at);
          for (let a = 0; a < 8; a++)
            for (let b = 0; b < 8; b++)
              expect(trueLinks(numbers[a] as string, numbers[b] as string)).toBe(trueLinks(`g${a}`, `g${b}`));
          const pairs = [0, 2, 4, 6].map((k) => numbers.slice(k, k + 2));
          expect(sorted(pairs)).toEqual(sorted(NDV2.switches.map((one) => one.gpus.map((g) => `g${g}`))));
          expect(sorted([pairs[0] as string[]])).toEqual(["g0 g1"]);
          const inTaccl = (taccl as readonly number[]).map(at);
          expect(["g0", "g1"]).toContain(inTaccl[0]);
          for (const [a, b] of TACCL_DOUBLES) expect(trueLinks(inTaccl[a] as string, inTaccl[b] as string)).toBe(2);
          for (const [a, b] of TACCL_SINGLES) expect(trueLinks(inTaccl[a] as string, inTaccl[b] as string)).toBe(1);
        }
      }
    },
  );

  it("writes a TACCL profile that reads back with the same figures", async () => {
    const { inferred } = await inferHidden(NDV2, 2, 4);
    const npus = [...inferred.endpoints.keys()].filter((i) => inferred.endpoints[i]?.kind === "npu");
    const orders = inferred.machines.map(({ taccl }) => (taccl as readonly number[]).map((one) => npus.indexOf(one)));
    const text = topologyToTaccl(inferred.topology, { orders });
    const profile = JSON.parse(text) as Record<string, unknown>;
    expect(profile["name"]).toBe("NDv2_1MB");
    const read = readTacclTopology(text, "profile.json", { nodes: 2 });
    expect(read.npuCount).toBe(16);
    const rates = [...new Set(read.linkBytesPerSecond)].map((rate) => rate / 1e9);
    for (const gbps of [NDV2.nvlinkGBps, 2 * NDV2.nvlinkGBps, NDV2.nicGBps])
      expect(Math.min(...rates.map((rate) => Math.abs(rate / gbps - 1)))).toBeLessThan(0.05);
  });

  it("is said in lines", async () => {
    const { inferred } = await inferHidden(NDV2, 1, 1);
    const lines = findingsLines(findingsOf(inferred));
    expect(lines.filter((line) => line.includes("PCIe switch on")).length).toBe(4);
    expect(lines.some((line) => line.startsWith("NVLink: 16 of"))).toBe(true);
    expect(lines.some((line) => line.startsWith("not explained"))).toBe(false);
  });
});

describe("inference of a hidden DGX-2", () => {
  it.each([1, 2])(
    "finds both levels of switches, NICs, CPUs and NVSwitch ports of %i of them, figures within 5 %%",
    async (hosts) => {
      for (const seed of hosts === 1 ? SEEDS : SEEDS.slice(0, FEW)) {
        const { inferred, place } = await inferHidden(DGX2, hosts, seed);
        expect(inferred.unexplained).toEqual([]);
        expectRates(inferred, {
          nvlink: [6 * DGX2.nvlinkGBps],
          pcie: [DGX2.pcieGBps],
          cpu: [DGX2.betweenCpusGBps],
          nic: [DGX2.nicGBps],
        });
        for (const { switches, switched } of inferred.machines) {
          expect(switched).toBe(true);
          const at = (i: number): string => place[i] as string;
          const leaves = switches.flatMap((one) =>
            one.inner.map((below) => [at(one.cpu), ...below.gpus.map(at), ...below.nics.map(at)]),
          );
          const isRoot = (name: string): boolean => name.startsWith("root");
          const cpuOf = (root: string): string => DGX2.switches.find(({ name }) => name === root)?.on as string;
          const lower = DGX2.switches.filter(({ on }) => isRoot(on));
          expect(sorted(leaves)).toEqual(
            sorted(
              lower.map((one) => [cpuOf(one.on), ...one.gpus.map((g) => `g${g}`), ...one.nics.map((k) => `nic${k}`)]),
            ),
          );
          expect(sorted(switches.map(({ gpus }) => gpus.map(at)))).toEqual(
            sorted([0, 1, 2, 3].map((r) => [0, 1, 2, 3].map((k) => `g${4 * r + k}`))),
          );
        }
      }
    },
  );
});
