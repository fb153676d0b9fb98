import type { ChoiceGroup } from "../parts/choices.ts";
import type { Welcome } from "../protocol.ts";

/** Returns the presets as choices: examples with what they are, and of each preset's first one the form that it follows. */
export function networkChoices(presets: Welcome["presets"]): ChoiceGroup[] {
  const known = new Map(presets.map((preset) => [preset.name, preset]));
  return NETWORK_EXAMPLES.map(({ title, of }) => ({
    title,
    choices: Object.entries(of).flatMap(([name, examples]) => {
      const preset = known.get(name);
      if (preset === undefined) return [];
      const { form, description } = preset;
      return examples.map((value, i) => ({
        value,
        detail: description,
        ...(i > 0 || form === value ? {} : { form }),
      }));
    }),
  }));
}

/** Networks to choose from: of every preset one or more that are worth a look, in groups; forms and descriptions are the worker's. */
export const NETWORK_EXAMPLES: readonly { readonly title: string; readonly of: Readonly<Record<string, string[]>> }[] =
  [
    {
      title: "Clusters of GPU boxes",
      of: {
        "dgx-a100": ["dgx-a100:2", "dgx-a100:8"],
        "dgx-h100": ["dgx-h100:2", "dgx-h100:16", "dgx-h100:4,ib"],
        "hgx-h100": ["hgx-h100:2"],
        "hgx-h200": ["hgx-h200:2"],
        "hgx-b200": ["hgx-b200:2"],
        "hgx-b300": ["hgx-b300:2"],
        dgx2: ["dgx2:2"],
        ndv2: ["ndv2:2"],
        ndv4: ["ndv4:2"],
        ndv5: ["ndv5:2"],
        p4d: ["p4d:2"],
        p5: ["p5:2"],
        mi250: ["mi250:2"],
      },
    },
    {
      title: "Single boxes and domains",
      of: {
        "gb200-nvl72": ["gb200-nvl72"],
        dgx1: ["dgx1"],
        mi300x: ["mi300x"],
        mi325x: ["mi325x"],
        mi355x: ["mi355x"],
        "mi100-8p6l": ["mi100-8p6l"],
        "mi100-2hives": ["mi100-2hives"],
        frontier: ["frontier"],
        gaudi2: ["gaudi2"],
        gaudi3: ["gaudi3"],
        trn1: ["trn1"],
        trn2: ["trn2"],
        "trn2-ultra": ["trn2-ultra"],
      },
    },
    {
      title: "TPU pods and slices of them",
      of: {
        "tpu-v2": ["tpu-v2:8x8"],
        "tpu-v3": ["tpu-v3:16x16"],
        "tpu-v4": ["tpu-v4:4x4x4"],
        "tpu-v5e": ["tpu-v5e:8x8"],
        "tpu-v5p": ["tpu-v5p:4x4x8"],
        "tpu-v6e": ["tpu-v6e"],
        "tpu-7x": ["tpu-7x:4x4x4"],
      },
    },
    {
      title: "Grids, rings and cubes",
      of: {
        mesh: ["mesh:4x4", "mesh:32x32", "mesh:4x4@100,50GB/s,0.7us"],
        grid: ["grid:4x4x4"],
        torus: ["torus:8x8", "torus:4x4x4"],
        ring: ["ring:8", "ring:2*fc:4*switch:8@200,100,50GB/s"],
        line: ["line:8"],
        hypercube: ["hypercube:5"],
        circulant: ["circulant:16,1,3"],
        "shifted-ring": ["shifted-ring:12"],
        dbt: ["dbt:16"],
      },
    },
    {
      title: "Switches and groups",
      of: {
        switch: ["switch:16"],
        fc: ["fc:8"],
        "fat-tree": ["fat-tree:8x8,leaf=4"],
        dragonfly: ["dragonfly:4x9"],
        themis: ["themis:3d-fc-ring-sw"],
      },
    },
    {
      title: "Graphs and constructions",
      of: {
        K: ["K(4,4)"],
        H: ["H(2,4)"],
        Kautz: ["Kautz(2,3)"],
        Pi: ["Pi(4,64)@25Gbps,10us"],
        C: ["C(16,{3,4})"],
        MultiC: ["MultiC(2,8,{1,3})"],
        DC: ["DC(12,{1,5})"],
        Cayley: ["Cayley(7,3,2,{1,7})"],
        BiRing: ["BiRing(4,8)"],
        UniRing: ["UniRing(2,8)"],
        Diamond: ["Diamond"],
        DBJ: ["DBJ(2,4)"],
        DBJMod: ["DBJMod(2,4)"],
        DistReg: ["DistReg(4,14)"],
        Paley: ["Paley(13)"],
        J: ["J(5,2)"],
        Odd: ["Odd(4)"],
        DoubledOdd: ["DoubledOdd(3)"],
        PG: ["PG(2,3)"],
        AG: ["AG(2,3)"],
        GQ: ["GQ(2,2)"],
        GH: ["GH(2,2)"],
        LinePG: ["LinePG(2,3)"],
        LineGQ: ["LineGQ(2,2)"],
        LineGH: ["LineGH(2,2)"],
        PointGH: ["PointGH(2,2)"],
        Octahedron: ["Octahedron"],
        HeawoodDistance3: ["HeawoodDistance3"],
        LinePetersen: ["LinePetersen"],
        LineHeawood: ["LineHeawood"],
        LineTutte8: ["LineTutte8"],
        LineTutte12: ["LineTutte12"],
        Dodecahedron: ["Dodecahedron"],
        Coxeter: ["Coxeter"],
        Foster: ["Foster"],
        BiggsSmith: ["BiggsSmith"],
        HoffmanSingleton: ["HoffmanSingleton"],
        Perkel: ["Perkel"],
        Gewirtz: ["Gewirtz"],
        Crown: ["Crown(5)"],
        Q: ["Q(4)"],
        TQ: ["TQ(4)"],
        CCC: ["CCC(3)"],
        Torus: ["Torus(4,4,2)"],
        TwistedTorus: ["TwistedTorus(4,8)"],
        SkewTorus: ["SkewTorus(4,6,{2})"],
        L: ["L(K(4,4))", "L3(C(16,{3,4}))@25Gbps,10us"],
        "K(m)^n": ["K(4)^3"],
        "K(m) x K(n)": ["K(3) x K(5)"],
        "K(m)*n": ["K(4)*2"],
        T: ["T(Kautz(2,3))"],
        Bi: ["Bi(DC(12,{1,5}))"],
      },
    },
  ];
