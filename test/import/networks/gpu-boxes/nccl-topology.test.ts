import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { looksLikeNcclTopology, readNcclTopology } from "../../../../src/import/networks/gpu-boxes/nccl-topology.ts";
import type { TopologyOptions } from "../../../../src/import/networks/topology-options.ts";
import { presetTopology } from "../../../../src/model/presets/preset.ts";
import { topologyHash } from "../../../../src/model/topology/topology.ts";
import { anyTextChange, changedText } from "../../../support/changed-text.ts";
import {
  expectConnected,
  fixtureText,
  isomorphic,
  linkList,
  type RealFile,
  summaryOf,
  testRealFiles,
} from "../../../support/gpu-machines.ts";
import { missing, outOfRange, refusalFrom, unexpected } from "../../../support/refusals.ts";
import { runs } from "../../../support/runs.ts";
import { hasSharedData, sharedFiles, sharedText } from "../../../support/shared-data.ts";
import { isRefused } from "../../support.ts";

const fixture = fixtureText("four-gpus.nccl-topology.xml");
const read = (text: string, options?: TopologyOptions) => readNcclTopology(text, "t.xml", options);

const CPU = '<cpu numaid="0" arch="x86_64" vendor="AuthenticAMD" familyid="23" modelid="49">';
const system = (...parts: readonly string[]): string => `<system version="1">${parts.join("\n")}</system>`;
const pci = (busid: string, inner = "", kind = "0x030200"): string =>
  `<pci busid="${busid}" class="${kind}" link_speed="16 GT/s" link_width="16">${inner}</pci>`;
const gpu = (dev: number, inner = "", sm = 80, rank = dev): string =>
  `<gpu dev="${dev}" sm="${sm}" rank="${rank}">${inner}</gpu>`;
const nvlink = (target: string, count: number, kind: string): string =>
  `<nvlink target="${target}" count="${count}" tclass="${kind}"/>`;
/** Returns a file as clouds ship them: GPUs without <gpu>. */
const hint = (gpus: number): string =>
  system(CPU, ...Array.from({ length: gpus }, (_, g) => pci(`000${(g * 7) % 16}:00:00.0`)), "</cpu>");

describe("NCCL topology", () => {
  it("numbers GPUs by rank and joins them by NVLinks, PCIe switches and CPUs", () => {
    const topology = read(fixture);
    expect(linkList(topology)).toEqual([
      "gpu0>gpu1 75",
      "gpu1>gpu0 75",
      "gpu0>pci.0000:10:00.0 24",
      "pci.0000:10:00.0>gpu0 24",
      "gpu1>pci.0000:10:00.0 24",
      "pci.0000:10:00.0>gpu1 24",
      "gpu2>cpu1 12",
      "cpu1>gpu2 12",
      "gpu3>cpu1 24",
      "cpu1>gpu3 24",
      "pci.0000:10:00.0>cpu0 24",
      "cpu0>pci.0000:10:00.0 24",
      "cpu1>cpu0 22",
      "cpu0>cpu1 22",
    ]);
    expect(topology.sources).toEqual([
      "NCCL topology version 1 in t.xml",
      "GPUs of sm 80 have the links of a100",
      "each NVLink at the maker's 25 GB/s of a100, each way (NCCL counts 20 GB/s: --assume nvlink=20GB/s)",
      "2 links from a GPU to itself left out",
      "2 links to devices that the file lacks left out",
      "1 pair whose ends list different numbers of links: the lesser counts",
      "PCIe and CPUs: included",
      "2 NICs left out: there is one box (--nodes)",
      "PCIe: GT/s x lanes as NCCL counts them, 16 GT/s x 16 = 24 GB/s",
      "1 device without speed or lanes: 8 GT/s, 16 lanes, as NCCL takes them",
      "CPU to CPU: 22 GB/s as NCCL counts for Intel Sapphire Rapids (--assume socket=)",
      "latencies are model figures, not measured: nvlink 0.7 us, pcie 0.5 us, socket 0.5 us a link (--assume latency=)",
    ]);
  });

  it("takes what --assume says before the file", () => {
    const topology = read(fixture, { bandwidth: { nvlink: 20e9, pcie: 30e9, socket: 40e9 }, latencyPs: 5 });
    expect(new Set(linkList(topology).map((link) => link.split(" ")[1]))).toEqual(new Set(["60", "30", "40"]));
    expect(new Set(topology.linkLatencyPs)).toEqual(new Set([5]));
  });

  it("joins boxes by the NICs nearest to their GPUs, at the speed of the file", () => {
    const topology = read(fixture, { nodes: 2 });
    expect(linkList(topology).filter((link) => /^(mlx5_0|eth0)-box1>/.test(link))).toEqual([
      "eth0-box1>cpu1-box1 5000",
      "eth0-box1>net 1.25",
      "mlx5_0-box1>pci.0000:10:00.0-box1 24",
      "mlx5_0-box1>net 25",
    ]);
    expectConnected(topology);
  });

  it("takes NVSwitches as one switch, named one by one or as one", () => {
    const listed = ["07", "06", "05", "08"]
      .map((bus, i) => nvlink(`0000:${bus}:00.0`, [5, 5, 4, 4][i], "0x068000"))
      .join("");
    const virtual = nvlink("fffffff:ffff:ff", 18, "0x068000");
    for (const links of [listed, virtual, virtual.replace(' tclass="0x068000"', "")]) {
      const parts = Array.from({ length: 8 }, (_, g) => pci(`0000:${g}0:00.0`, gpu(g, links, 90)));
      const topology = read(system(CPU, ...parts, "</cpu>"));
      expect(topologyHash(topology)).toBe(topologyHash(presetTopology("dgx-h100:1")));
      expect(topology.nodeTraits[8]).toMatchObject({ multicast: true, aggregation: true });
    }
  });

  it("asks for --gpu where a file lists no GPUs' links, and takes that model's board", () => {
    expect(refusalFrom(() => read(hint(8)))).toEqual(
      unexpected("the NVLinks that t.xml does not list", "8 GPUs without <gpu>", "--gpu"),
    );
    expect(topologyHash(read(hint(8), { gpu: "a100" }))).toBe(topologyHash(presetTopology("dgx-a100:1")));
    expect(topologyHash(read(hint(8), { gpu: "v100" }))).toBe(topologyHash(presetTopology("dgx1")));
    expect(topologyHash(read(hint(8), { gpu: "mi300x" }))).toBe(topologyHash(presetTopology("mi300x")));
    expect(summaryOf(read(hint(4), { gpu: "a100" }))).toEqual([4, 0, 12, 1200]);
    expect(summaryOf(read(hint(4), { gpu: "none" }))).toEqual([4, 1, 8, 192]);
    expect(summaryOf(read(hint(4), { gpu: "a10g" }))).toEqual([4, 1, 8, 192]);
    expect(refusalFrom(() => read(hint(5), { gpu: "v100" }))).toEqual(unexpected("--gpu v100", 5, 8, 16));
  });

  it("numbers GPUs without ranks by dev, else by bus id", () => {
    const parts = [
      pci("0000:30:00.0", gpu(2, "", 80, -1)),
      pci("0000:20:00.0", gpu(0, nvlink("0000:30:00.0", 2, "0x030200"), 80, -1)),
      pci("0000:10:00.0", gpu(1, nvlink("0000:30:00.0", 1, "0x030200"), 80, -1)),
    ];
    const pairs = (text: string) => linkList(read(text)).filter((_, link) => link % 2 === 0);
    expect(pairs(system(CPU, ...parts, "</cpu>"))).toEqual(["gpu0>gpu2 50", "gpu1>gpu2 25"]);
    const same = system(CPU, ...parts, "</cpu>").replace(/dev="\d"/g, 'dev="0"');
    expect(pairs(same)).toEqual(["gpu0>gpu2 25", "gpu1>gpu2 50"]);
  });

  it("gives each GPU the NIC below its own PCIe switch, and shares those of one switch out evenly", () => {
    const nic = (bus: string, name: string, speed: number): string =>
      pci(bus, `<nic><net name="${name}" speed="${speed}"/></nic>`, "0x020700");
    const pairs = nvlink("0000:01:00.0", 12, "0x030200");
    const toNet = (...parts: readonly string[]): string[] =>
      linkList(read(system(CPU, ...parts, "</cpu>"), { nodes: 2 })).filter((link) => /^gpu[01]>net /.test(link));
    const [first, second] = [pci("0000:01:00.0", gpu(0)), pci("0000:02:00.0", gpu(1, pairs))];
    const own = toNet(
      pci("0000:10:00.0", first + nic("0000:11:00.0", "a", 400_000), "0x060400"),
      nic("0000:12:00.0", "b", 10_000),
      pci("0000:20:00.0", nic("0000:21:00.0", "c", 100_000) + second, "0x060400"),
    );
    expect(own).toEqual(["gpu0>net 50", "gpu1>net 12.5"]);
    const speeds = [100_000, 200_000, 300_000, 400_000];
    const even = toNet(first, second, ...speeds.map((speed, i) => nic(`0000:3${i}:00.0`, `n${i}`, speed)));
    expect(even).toEqual(["gpu0>net 37.5", "gpu1>net 87.5"]);
  });

  it("counts the slowest link of a chain of PCIe switches", () => {
    const slow = (inner: string): string => pci("0000:10:00.0", inner, "0x060400").replace("16 GT/s", "8 GT/s");
    const chain = slow(pci("0000:11:00.0", pci("0000:12:00.0", gpu(0)), "0x060400"));
    expect(linkList(read(system(CPU, chain, pci("0000:20:00.0", gpu(1)), "</cpu>")))).toEqual([
      "gpu0>cpu0 12",
      "cpu0>gpu0 12",
      "gpu1>cpu0 24",
      "cpu0>gpu1 24",
    ]);
  });

  it("knows a bus id in small and large letters, with four and eight digits of domain", () => {
    const links = nvlink("00000000:0C:00.0", 2, "0x030200");
    const text = system(CPU, pci("0000:0c:00.0", gpu(0)), pci("0000:0d:00.0", gpu(1, links)), "</cpu>");
    expect(linkList(read(text))).toEqual(["gpu1>gpu0 50", "gpu0>gpu1 50"]);
  });

  it("leaves out GPUs without <gpu> beside others with one", () => {
    expect(read(system(CPU, pci("0:1:0", gpu(0)), pci("0:2:0"), pci("0:3:0", gpu(1)), "</cpu>")).npuCount).toBe(2);
  });

  it("reads NVLink and C2C to CPUs, and PCIe switches of several parts", () => {
    const text = system(
      CPU,
      pci(
        "0000:01:00.0",
        pci("0000:02:00.0", gpu(0, '<c2c bw="50000" count="4"/>')) +
          pci("0000:03:00.0", gpu(1)) +
          '<pcilink target="0000:04:00.0"/>',
        "0x060400",
      ),
      pci(
        "0000:04:00.0",
        pci("0000:05:00.0", gpu(2, nvlink("0000:ff:00.0", 3, "0x068001"))) +
          pci("0000:06:00.0", gpu(3)) +
          '<pcilink target="0000:01:00.0"/>',
        "0x060400",
      ),
      "</cpu>",
    );
    expect(linkList(read(text)).filter((link) => /cpu0 |^pci.*>pci/.test(link))).toEqual([
      "gpu0>cpu0 200",
      "gpu2>cpu0 75",
      "pci.0000:01:00.0>cpu0 24",
      "pci.0000:04:00.0>cpu0 24",
      "pci.0000:01:00.0>pci.0000:04:00.0 5000",
      "pci.0000:04:00.0>pci.0000:01:00.0 5000",
    ]);
  });

  it("keeps hosts apart where a file has several", () => {
    const host = (hash: string, first: number, link: string): string =>
      CPU.replace("<cpu", `<cpu host_hash="${hash}"`) +
      pci("0000:10:00.0", gpu(0, link, 100, first)) +
      pci("0000:20:00.0", gpu(1, link, 100, first + 1)) +
      pci("0000:30:00.0", '<nic><net name="mlx5_0" dev="0" speed="400000"/></nic>', "0x020700") +
      "</cpu>";
    const switched = read(
      system(
        host("0x1", 0, nvlink("fffffff:ffff:ff", 18, "0x068000")),
        host("0x2", 2, nvlink("fffffff:ffff:ff", 18, "0x068000")),
      ),
    );
    expect(summaryOf(switched)).toEqual([4, 1, 8, 7200]);
    expect(switched.nodeTraits.slice(0, 4).map(({ group }) => group)).toEqual(["box0", "box0", "box1", "box1"]);
    const apart = read(system(host("0x1", 0, ""), host("0x2", 2, "")));
    expect(linkList(apart).filter((link) => link.includes(">net"))).toEqual(["mlx5_0>net 50", "mlx5_0.1>net 50"]);
    expect(linkList(apart).filter((link) => link.startsWith("cpu0>cpu"))).toEqual([]);
    expectConnected(apart);
  });

  it.each([
    ["16 GT/s", "16", 24],
    ["16.0 GT/s PCIe", "16", 24],
    ["32.0 GT/s PCIe", "8", 24],
    ["2.5 GT/s", "1", 0.1875],
    ["64 GT/s", "16", 96],
    ["Unknown speed", "16", 12],
    ["", "0", 12],
    ["8 GT/s", "", 12],
  ])("counts PCIe of %j x %j as %d GB/s", (speed, width, gbps) => {
    const device = pci("0000:01:00.0", gpu(0))
      .replace("16 GT/s", speed)
      .replace('link_width="16"', `link_width="${width}"`);
    expect(linkList(read(system(CPU, device, pci("0000:02:00.0", gpu(1)), "</cpu>")))[0]).toBe(`gpu0>cpu0 ${gbps}`);
  });

  it.each([
    ["AuthenticAMD", "x86_64", 23, 49, 16],
    ["GenuineIntel", "x86_64", 6, 207, 40],
    ["GenuineIntel", "x86_64", 6, 143, 22],
    ["GenuineIntel", "x86_64", 6, 85, 10],
    ["GenuineIntel", "x86_64", 6, 79, 6],
    ["CentaurHauls", "x86_64", 7, 91, 9],
    ["", "ppc64", 0, 0, 32],
    ["", "arm64", 0, 0, 6],
  ])("counts CPUs of %j %j %d %d as %d GB/s apart", (vendor, arch, family, model, gbps) => {
    const cpu = (bus: string, dev: number): string =>
      `<cpu numaid="${dev}" arch="${arch}" vendor="${vendor}" familyid="${family}" modelid="${model}">${pci(bus, gpu(dev))}</cpu>`;
    expect(linkList(read(system(cpu("0000:01:00.0", 0), cpu("0000:02:00.0", 1)))).at(-1)).toBe(`cpu1>cpu0 ${gbps}`);
  });

  it.each([
    ["no XML", "x", unexpected("t.xml line 1", "text data outside of root node")],
    ["another root", "<graphs/>", unexpected("t.xml line 1", "<graphs>")],
    ["no GPUs", system(CPU, "</cpu>"), missing("t.xml")],
    [
      "a count that is none",
      system(CPU, "\n", pci("0:1:0", gpu(0, nvlink("0:2:0", 1, "").replace('"1"', '"many"'))), "</cpu>"),
      outOfRange("attribute count of <nvlink> at t.xml line 4", "many", 1024),
    ],
    [
      "no target",
      system(CPU, pci("0:1:0", gpu(0, '<nvlink count="1"/>')), "</cpu>"),
      missing("attribute target of <nvlink> at t.xml line 2"),
    ],
    [
      "lanes that are none",
      system(CPU, pci("0:1:0", gpu(0)).replace('"16"', '"x"'), "</cpu>"),
      outOfRange("attribute link_width of <pci> at t.xml line 2", "x", 64),
    ],
    [
      "an unknown GPU",
      system(CPU, pci("0:1:0", gpu(0, nvlink("0:2:0", 1, ""), 12)), "</cpu>"),
      unexpected("the GPU at t.xml line 2", "sm 12", "--gpu"),
    ],
    ["a DTD", '<!DOCTYPE system [<!ENTITY a "b">]><system/>', unexpected("t.xml line 1", "<!DOCTYPE")],
  ])("refuses %s in one sentence", (_, text, sentence) => {
    expect(refusalFrom(() => read(text))).toEqual(sentence);
  });

  it("refuses more CPUs than it would join pairwise", () => {
    expect(refusalFrom(() => read(system(...Array(600).fill(`${CPU}</cpu>`))))).toEqual(
      outOfRange("t.xml line 513", 513, 512),
    );
  });

  it("is told by its first element", () => {
    expect(looksLikeNcclTopology(fixture)).toBe(true);
    expect(looksLikeNcclTopology(`\ufeff${fixture}`)).toBe(true);
    expect(looksLikeNcclTopology("<system/>")).toBe(true);
    for (const text of ["", "<systems>", "<!-- <system> -->", "<!-- <system>", "<graphs/>", "{}", "<algo/><system/>"]) {
      expect(looksLikeNcclTopology(text)).toBe(false);
    }
  });

  it("answers any change of a file with a connected network or an InputError", () => {
    const files = sharedFiles("nccl-topo/nccl-xml").map((name) => sharedText(`nccl-topo/nccl-xml/${name}`));
    const texts = [fixture, hint(4), ...files];
    const words = fc.constantFrom(
      "<pci>",
      "</pci>",
      '"0"',
      "fffffff:ffff:ff",
      "0x068000",
      "<gpu/>",
      "/>",
      ' host_hash="1"',
    );
    const changes = fc.array(anyTextChange(words), { minLength: 1, maxLength: 3 });
    const attribute = fc.record({
      at: fc.nat(),
      put: fc.constantFrom("", "0", "-1", "1e9", "7", "0x0302", "x", "NaN"),
    });
    const property = fc.property(fc.nat(), changes, attribute, fc.nat(2), (file, list, { at, put }, way) => {
      const text = texts[file % texts.length];
      const values = [...text.matchAll(/"[^"]*"/g)];
      const value = values[at % values.length];
      const changed =
        way < 2
          ? `${text.slice(0, value.index)}"${put}"${text.slice(value.index + value[0].length)}`
          : list.reduce((now, change) => changedText(now, change, null), text);
      const options = [{}, { gpu: "a100", nodes: 2, bandwidth: { nic: 1e9 } }, { gpu: "none" }][at % 3];
      isRefused(() => {
        const topology = readNcclTopology(changed, "t.xml", options);
        if (!changed.includes("host_hash")) expectConnected(topology);
      });
    });
    fc.assert(property, { numRuns: runs(800), seed: 31 });
  });
});

describe.skipIf(!hasSharedData)("real topologies", () => {
  const nic = { nic: 12.5e9 };
  const real: readonly RealFile[] = [
    ["aws-p4d-24xl-topo.xml", { gpu: "a100" }, [8, 1, 16, 4800]],
    ["aws-p4d-24xl-topo.xml", { gpu: "a100", nodes: 2, bandwidth: nic }, [16, 11, 80, 10_184]],
    ["aws-p4d-24xl-topo.xml", { gpu: "none" }, [8, 6, 26, 308]],
    ["azure-nc48v4-topo.xml", {}, [2, 0, 2, 600]],
    ["issue-h200-baremetal-3gpu-excerpt.xml", {}, [3, 1, 6, 2700]],
    ["issue-h200-baremetal-3gpu-excerpt.xml", { nodes: 2 }, [6, 3, 24, 6000]],
    ["issue762-a100-pcie-nvbridge-excerpt.xml", {}, [2, 0, 2, 600]],
    ["ncv4-topo.xml", {}, [4, 4, 20, 288]],
    ["ndv4-topo.xml", { gpu: "A100-SXM4-40GB" }, [8, 1, 16, 4800]],
    ["ndv4-topo.xml", { gpu: "none" }, [8, 8, 36, 768]],
    ["rccl-topo_16p1h.xml", {}, [16, 0, 56, 5600]],
    ["rccl-topo_16p1h.xml", { nodes: 2 }, [32, 17, 208, 13_536]],
    ["rccl-topo_4p3l.xml", {}, [4, 0, 12, 552]],
    ["rccl-topo_8p6l.xml", {}, [8, 0, 48, 2208]],
    ["rccl-topo_8p_940.xml", {}, [8, 0, 56, 3584]],
    ["rccl-topo_8p_rome_n4.xml", {}, [8, 6, 62, 1600]],
  ];
  const load = (name: string, options: TopologyOptions) =>
    readNcclTopology(sharedText(`nccl-topo/nccl-xml/${name}`), name, options);

  testRealFiles("nccl-topo/nccl-xml", real, looksLikeNcclTopology, readNcclTopology);

  it("are the networks of the presets, GPUs renamed", () => {
    for (const [name, preset, options] of [
      ["rccl-topo_16p1h.xml", "mi250:1", {}],
      ["rccl-topo_8p_940.xml", "mi300x", {}],
      ["rccl-topo_8p6l.xml", "mi100-8p6l", {}],
      ["ndv4-topo.xml", "ndv4", { gpu: "a100" }],
      ["ndv4-topo.xml", "dgx-a100:2", { gpu: "a100", nodes: 2, bandwidth: { nic: 25e9 } }],
    ] as const) {
      expect(isomorphic(load(name, options), presetTopology(preset))).toBe(true);
    }
  });

  it("ask for --gpu where a cloud's file lists no NVLinks", () => {
    expect(refusalFrom(() => load("aws-p4d-24xl-topo.xml", {}))).toEqual(
      unexpected(
        "the NVLinks that aws-p4d-24xl-topo.xml does not list",
        "8 GPUs (PCI device 0x20b0) without <gpu>",
        "--gpu",
      ),
    );
    expect(refusalFrom(() => load("ndv4-topo.xml", {}))).toEqual(
      unexpected("the NVLinks that ndv4-topo.xml does not list", "8 GPUs without <gpu>", "--gpu"),
    );
  });
});
