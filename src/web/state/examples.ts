import { FIRST_EXAMPLE } from "./words.ts";

/** Finished answers to look at. */

export interface Example {
  readonly title: string;
  /** What there is to see, a sentence or two. */
  readonly says: string;
  /** The fragment of its address. */
  readonly address: string;
}

/** What a course on collectives would begin with, then what is hard. */
export const EXAMPLES: readonly Example[] = [
  {
    title: "Ring all-reduce",
    says: "Parts are summed around the ring, then the sums go around once more; both directions carry half.",
    address: "#topology=ring:8&collective=allreduce&size=64MiB&algorithm=ring&view=time&run=1",
  },
  {
    title: "Double binary tree",
    says: "Two trees in which every NPU is a leaf of one and inside the other, each for half of the data.",
    address: "#topology=switch:8&collective=allreduce&size=64MiB&algorithm=dbt&view=time&run=1",
  },
  {
    title: "Halving and doubling",
    says: "Partners at distances 1, 2, 4 and 8 swap halves: few steps, so it is fast for small sizes.",
    address: "#topology=hypercube:4&collective=allreduce&size=1MiB&algorithm=rhd&view=time&run=1",
  },
  {
    title: "A mesh, matched by TACOS",
    says: "16 NPUs gather each other's parts over 48 links; TACOS fills the links slot by slot, from what neighbours hold.",
    address: FIRST_EXAMPLE,
  },
  {
    title: "Trees and the cut that proves them",
    says: "ForestColl packs trees into two DGX A100; the cut in the picture shows that nothing can be faster.",
    address: "#topology=dgx-a100:2&collective=allgather&size=256MiB&algorithm=forestcoll&view=bound&run=1",
  },
  {
    title: "Dimensions of a torus, by Themis",
    says: "Every chunk takes the three dimensions in an order of its own, so that all of them are busy all the time.",
    address: "#topology=torus:4x4x2&collective=allreduce&size=256MiB&algorithm=themis&view=links&run=1",
  },
  {
    title: "A direct-connect network, by BFB",
    says: "On a complete bipartite graph, breadth-first broadcasts from all NPUs load every link alike.",
    address: "#topology=K(4,4)&collective=allreduce&size=1MiB&algorithm=bfb&view=time&run=1",
  },
  {
    title: "A link has failed",
    says: "The mesh without the link between 5 and 6, both ways: the schedule goes around, and the limit says what that costs.",
    address: "#topology=mesh:4x4&without=5-6&collective=allgather&size=256MiB&algorithm=tacos&view=network&run=1",
  },
  {
    title: "All-to-all on a torus",
    says: "Every NPU has something for every other; the matrix shows which way takes which link.",
    address: "#topology=torus:4x4&collective=alltoall&size=64MiB&algorithm=auto&view=links&run=1",
  },
  {
    title: "A training step",
    says: "Llama 3 8B on 16 H100: what computes, what communicates, and what better collectives gain.",
    address:
      "#topology=dgx-h100:2&collective=allreduce&size=256MiB&algorithm=auto&view=training&model=llama3-8b&parallel=tp=8,dp=2",
  },
];
