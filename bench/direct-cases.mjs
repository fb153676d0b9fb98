// Tables 3.4, 3.5, A.1 and A.2 of Zhao 2026: what they print of each network. Steps and diameters in hops, tb in M/B, rate is f of
// (A.1) in units of a link; the bounds of tables 3.4 and A.1 are the rows without a network.

/**
 * What was tried where the printed flow is above what is proved to be possible, and what explains it: networks with the same T_L
 * and T_B.
 */
export const TRIED = {
  "L3(C(16,{3,4}))": {
    networks: ["L3(C(16,{1,6}))", "L3(DBJMod(4,2))"],
    reason:
      "no all-to-all on L3(C(16,{3,4})) is faster than the proved bound, nor on that of the other circulant of 16 nodes, 4 ports and " +
      "diameter 3; the printed figure is that of L3(DBJMod(4,2)), which has the same T_L and T_B and continues the rows of N = 64 and 256",
  },
};

/** Table 3.4: N = 1,024, d = 4, alpha = 10 us, M = 1 MiB, B = 100 Gb/s a node; times in us. */
export const TABLE_3_4 = {
  nodes: 1024,
  degree: 4,
  rows: [
    { network: "Pi(4,1024)", steps: 5, tb: "1.332", allReduceUs: 323.5, diameter: 5, allToAllUs: 409.1 },
    { network: "L3(C(16,{3,4}))", steps: 6, tb: "1.020", allReduceUs: 291.0, diameter: 6, allToAllUs: 403.5 },
    { network: "L2(Diamond^2)", steps: 8, tb: "1.004", allReduceUs: 328.4, diameter: 8, allToAllUs: 446.6 },
    { network: "L(DBJMod(2,4)^2)", steps: 11, tb: "1.000", allReduceUs: 387.8, diameter: 9, allToAllUs: 529.9 },
    {
      network: "(UniRing(1,4) x UniRing(1,8))^2",
      steps: 20,
      tb: "0.999",
      allReduceUs: 567.6,
      diameter: 20,
      allToAllUs: 1174.4,
    },
    { network: null, steps: 5, tb: "0.999", allReduceUs: 267.6, diameter: 5, allToAllUs: 382.3 },
  ],
};

/** Table 3.5: d = 4, all bandwidth-optimal; steps of an all-reduce, twice those of an all-gather. */
export const TABLE_3_5 = [
  { nodes: 5, network: "K(5)", allReduceSteps: 2 },
  { nodes: 6, network: "K(3)*2", allReduceSteps: 4 },
  { nodes: 7, network: "C(7,{2,3})", allReduceSteps: 4 },
  { nodes: 8, network: "K(4,4)", allReduceSteps: 4 },
  { nodes: 9, network: "H(2,3)", allReduceSteps: 4 },
  { nodes: 10, network: "BiRing(2,5)*2", allReduceSteps: 4 },
  { nodes: 11, network: "C(11,{2,3})", allReduceSteps: 4 },
  { nodes: 12, network: "C(12,{2,3})", allReduceSteps: 4 },
];

const row = (network, steps, tb, diameter, rate) => ({ network, steps, tb, diameter, rate });

/** Table A.1: d = 4. */
export const TABLE_A_1 = [
  {
    nodes: 32,
    rows: [
      row("L(K(4,4))", 3, "1.000", 3, "5.71e-2"),
      row("DistReg(4,32)", 4, "0.969", 4, "5.26e-2"),
      row(null, 3, "0.969", 3, "5.80e-2"),
    ],
  },
  {
    nodes: 64,
    rows: [
      row("Pi(4,64)", 3, "1.312", 3, "2.17e-2"),
      row("L(DBJMod(4,2))", 4, "1.000", 4, "2.21e-2"),
      row("Diamond^2", 6, "0.984", 6, "1.87e-2"),
      row(null, 3, "0.984", 3, "2.42e-2"),
    ],
  },
  {
    nodes: 128,
    rows: [
      row("L2(K(4,4))", 4, "1.031", 4, "9.89e-3"),
      row("L(DistReg(4,32))", 5, "1.000", 5, "9.26e-3"),
      row("BiRing(2,8) x UniRing(1,4)^2", 10, "0.992", 10, "5.21e-3"),
      row(null, 4, "0.992", 4, "1.00e-2"),
    ],
  },
  {
    nodes: 256,
    rows: [
      row("DBJ(4,4)", 4, "1.328", 4, "4.04e-3"),
      row("L2(DBJMod(4,2))", 5, "1.016", 5, "4.10e-3"),
      row("L(Diamond^2)", 7, "1.000", 7, "3.62e-3"),
      row("DBJMod(2,4)^2", 10, "0.996", 8, "2.94e-3"),
      row(null, 4, "0.996", 4, "4.39e-3"),
    ],
  },
  {
    nodes: 512,
    rows: [
      row("L3(K(4,4))", 5, "1.039", 5, "1.88e-3"),
      row("L2(DistReg(4,32))", 6, "1.008", 6, "1.78e-3"),
      // printed as BiRing(1,4)^3, which has no degree of 1; N, d and T_L are those of UniRing(1,4)^3
      row("L(UniRing(1,4)^3 x UniRing(1,2))", 11, "1.000", 11, "1.12e-3"),
      row("UniRing(1,4)^3 x UniRing(1,8)", 16, "0.998", 16, "5.58e-4"),
      row(null, 5, "0.998", 5, "1.90e-3"),
    ],
  },
  {
    nodes: 1024,
    rows: [
      row("Pi(4,1024)", 5, "1.332", 5, "8.01e-4"),
      row("L3(C(16,{3,4}))", 6, "1.020", 6, "8.12e-4"),
      row("L2(Diamond^2)", 8, "1.004", 8, "7.34e-4"),
      row("L(DBJMod(2,4)^2)", 11, "1.000", 9, "6.18e-4"),
      row("(UniRing(1,4) x UniRing(1,8))^2", 20, "0.999", 20, "2.79e-4"),
      row(null, 5, "0.999", 5, "8.57e-4"),
    ],
  },
];

/** Table A.2: distance-regular graphs of degree 4; the least steps of digraphs (T_L*) and of undirected graphs (T_L**). */
export const TABLE_A_2 = [
  ["Octahedron J(4,2)", 6, 2, 2, 2],
  ["Paley graph P9", 9, 2, 2, 2],
  ["K5,5 - I", 10, 3, 2, 2],
  ["Distance-3 graph of Heawood graph", 14, 3, 2, 2],
  ["Line graph of Petersen graph", 15, 3, 2, 2],
  ["4-cube Q4", 16, 4, 2, 2],
  ["Line graph of Heawood graph", 21, 3, 2, 3],
  ["Incidence graph of PG(2,3)", 26, 3, 3, 3],
  ["Incidence graph of AG(2,4) minus a parallel class", 32, 4, 3, 3],
  ["Odd graph O4", 35, 3, 3, 3],
  ["Line graph of Tutte's 8-cage", 45, 4, 3, 3],
  ["Doubled odd graph D(O4)", 70, 7, 3, 4],
  ["Incidence graph of GQ(3,3)", 80, 4, 3, 4],
  ["Line graph of Tutte's 12-cage", 189, 6, 4, 5],
  ["Incidence graph of GH(3,3)", 728, 6, 5, 6],
].map(([name, nodes, steps, moore, bidirectionalMoore]) => ({
  name,
  nodes,
  network: `DistReg(4,${nodes})`,
  steps,
  moore,
  bidirectionalMoore,
}));
