import { describe, expect, it } from "vitest";
import { loadKernels } from "../../../src/engine/kernels/load.ts";
import { directNetworkOf } from "../../../src/model/comm/schedule.ts";
import { constructionText } from "../../../src/model/direct/construction.ts";
import { type Digraph, digraph, regularDegree } from "../../../src/model/direct/digraph.ts";
import { CONSTRUCTION_FORMS } from "../../../src/model/direct/parse.ts";
import { gcd } from "../../../src/model/numbers/integers.ts";
import { compare, format } from "../../../src/model/numbers/rational.ts";
import { PRESETS, presetTopology } from "../../../src/model/presets/preset.ts";
import type { Topology } from "../../../src/model/topology/topology.ts";
import { type Balancer, bfbTimes } from "../../../src/synthesize/bfb/broadcast.ts";
import { topologyFinder } from "../../../src/synthesize/finder/finder.ts";
import { quick } from "../../support/runs.ts";

const { kernels } = await loadKernels("js");
const balance: Balancer = async (problem) => kernels.balance({ ...problem, threads: 1 });
const finders = [false, true].map((bidirectional) => topologyFinder(balance, { bidirectional, known: new Map() }));

/** Forms with networks that have no switches and equally many links at every NPU; null: the form has none. */
const NETWORKS: Readonly<Record<string, readonly string[] | null>> = {
  "ring:N": ["ring:2", "ring:5", "ring:64"],
  "line:N": ["line:2"],
  "mesh:AxB[x...]": ["mesh:2x2", "mesh:2x2x2"],
  "grid:AxBxC[x...]": ["grid:2x2x2"],
  "torus:AxB[x...]": ["torus:4x4", "torus:5x7", "torus:8x8", "torus:3x4x5", "torus:4x4x4"],
  "hypercube:D": ["hypercube:3", "hypercube:4", "hypercube:5", "hypercube:6", "hypercube:7"],
  "fc:N": ["fc:2", "fc:9"],
  "switch:N[,sum]": null,
  "circulant:N,A[,B...]": ["circulant:20,3,4", "circulant:36,1,6,10", "circulant:50,4,25"],
  "shifted-ring:N": ["shifted-ring:12", "shifted-ring:37"],
  "dbt:N": null,
  "dragonfly:AxG": ["dragonfly:2x3", "dragonfly:4x5", "dragonfly:3x7", "dragonfly:4x9", "dragonfly:6x13"],
  "fat-tree:SxG[,leaf=L][,tiers=2|3][,oversub=R]": null,
  dgx1: ["dgx1"],
  mi300x: ["mi300x"],
  mi325x: ["mi325x"],
  mi355x: ["mi355x"],
  "mi100-8p6l": ["mi100-8p6l"],
  frontier: null,
  gaudi2: ["gaudi2"],
  gaudi3: ["gaudi3"],
  "tpu-v2[:AxB]": ["tpu-v2"],
  "tpu-v3[:AxB]": ["tpu-v3"],
  "tpu-v4[:AxBxC]": ["tpu-v4:4x4x4", "tpu-v4:4x4x8"],
  "tpu-v5e[:AxB]": ["tpu-v5e"],
  "tpu-v5p[:AxBxC]": ["tpu-v5p:4x4x4"],
  "tpu-v6e[:AxB]": ["tpu-v6e"],
  "tpu-7x[:AxBxC]": ["tpu-7x:4x4x4"],
  trn1: ["trn1"],
  trn2: ["trn2"],
  "trn2-ultra": ["trn2-ultra"],
};

const PRODUCTS = ["ring:2*fc:4", "ring:5*ring:4", "fc:4*fc:4", "ring:4*fc:3*fc:2"];
const GRAPHS = [
  "TQ(4)",
  "TQ(6)",
  "CCC(3)",
  "CCC(4)",
  "CCC(5)",
  "TwistedTorus(8,4)",
  "TwistedTorus(4,4,8)",
  "SkewTorus(5,5,{2})",
  "SkewTorus(3,2,10,{1,5,0})",
  "Coxeter",
  "BiggsSmith",
  "Cayley(7,3,2,{1,7})",
  "L2(K(4)) x K(2)",
  "Bi(Kautz(2,3))",
  "Crown(6)*2",
  "J(7,3)",
];

/** Returns the network as links of one bandwidth, faster ones as several; null behind switches and where NPUs have unequal links. */
function regularGraphOf(topology: Topology): { readonly graph: Digraph; readonly degree: number } | null {
  const direct = directNetworkOf(topology);
  if (direct === null) return null;
  const { graph, linkOfArc } = direct;
  const speeds = Array.from(linkOfArc, (link) => topology.linkBytesPerSecond[link]);
  const unit = speeds.reduce(gcd);
  const parallel = digraph(graph.nodes, (v) =>
    Array.from(graph.target.subarray(graph.offset[v], graph.offset[v + 1])).flatMap((to, k) =>
      new Array<number>(speeds[graph.offset[v] + k] / unit).fill(to),
    ),
  );
  const degree = regularDegree(parallel);
  return degree === null ? null : { graph: parallel, degree };
}

describe("what `banyan list presets` has", () => {
  it("is in the table above, but for graphs and their expansions, and what has switches", () => {
    const forms = new Set(CONSTRUCTION_FORMS.map(({ form }) => form));
    const others = PRESETS.filter(({ form }) => !forms.has(form) && !(form in NETWORKS)).map(({ form }) => form);
    for (const form of others)
      expect([form, regularGraphOf(presetTopology((form.split("[")[0] as string).replace("BOXES", "2")))]).toEqual([
        form,
        null,
      ]);
    expect(others.length).toBeLessThan(20);
  });

  const networks = [...Object.values(NETWORKS).flatMap((some) => some ?? []), ...PRODUCTS, ...GRAPHS];
  it.each(quick(networks, (name) => presetTopology(name).npuCount <= 64))(
    "takes nowhere less than what is found at its size and degree: %s",
    async (name) => {
      const regular = regularGraphOf(presetTopology(name));
      if (regular === null) throw new Error(`${name} is not regular`);
      const { graph, degree } = regular;
      const { steps, bandwidth } = await bfbTimes(
        graph,
        Int32Array.from({ length: graph.nodes }, (_, v) => v),
        balance,
      );
      const isPaired = !name.startsWith("L2") && !name.startsWith("Cayley");
      for (const finder of isPaired ? finders : finders.slice(0, 1)) {
        const front = await finder.frontier(graph.nodes, degree);
        const told = front.map((row) => `${constructionText(row.construction)} ${row.steps} ${format(row.bandwidth)}`);
        const reached = front.some((row) => row.steps <= steps && compare(row.bandwidth, bandwidth) <= 0);
        expect([reached, reached || `${name} ${steps} ${format(bandwidth)}, found ${told.join("; ")}`]).toEqual([
          true,
          true,
        ]);
      }
    },
  );
});
