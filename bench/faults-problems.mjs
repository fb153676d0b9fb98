// What kernels are asked in campaigns of faults, and how two of their ends are compared.
import { inlinePool } from "../dist/engine/pool/inline.js";
import { allToAll, degrade, synthesize, topology, without } from "../dist/index.js";

const KNOWN_PER_KERNEL = 60;

/** What became of a call. */
export const outcome = (kernel, problem) => {
  try {
    return { answer: kernel(problem) };
  } catch (error) {
    return { error };
  }
};

/** Returns the problems that syntheses put to each kernel, by its name; `sizes` are of the meshes. */
export async function kernelProblems(kernels, [width, height] = [4, 4]) {
  const problems = new Map();
  const remembering = Object.fromEntries(
    Object.entries(kernels).map(([name, kernel]) => {
      if (typeof kernel !== "function") return [name, kernel];
      problems.set(name, []);
      const remember = (problem, cancel) => {
        const known = problems.get(name);
        if (known.length < KNOWN_PER_KERNEL) known.push(structuredClone(problem));
        return kernel(problem, cancel);
      };
      return [name, remember];
    }),
  );
  const engine = {
    backend: kernels.backend,
    kernels: remembering,
    pool: () => inlinePool(remembering),
    freeMemory: () => null,
    close: async () => {},
  };
  const sizeBytes = 2 ** 20;
  for (const request of [
    { topology: "mesh:3x3", collective: "allreduce" },
    { topology: `mesh:${width}x${height}`, collective: "allgather" },
    { topology: "dgx-a100:2", collective: "alltoall", switchDegree: "ports" },
    { topology: "dgx-a100:2", collective: "allgather" },
    { topology: "dgx-a100:2", collective: "allgather", algorithm: "forestcoll" },
    { topology: "hypercube:4", collective: "allgather", algorithm: "bfb" },
    { topology: without(topology("hypercube:5"), ["7"]), collective: "allgather", algorithm: "bfb" },
    {
      topology: degrade(topology(`mesh:${Math.max(3, width - 1)}x${Math.max(3, height - 1)}`), new Map([["0-1", 0.5]])),
      collective: "allreduce",
    },
    { topology: degrade(topology("dgx-a100:2"), new Map([["0", 0.5]])), collective: "allgather" },
    { topology: without(topology("mesh:3x3"), ["8"]), collective: "allgather", algorithm: "forestcoll" },
  ])
    await synthesize({ ...request, sizeBytes, simulate: true, engine });
  await allToAll({ topology: "mesh:3x3", engine });
  const ints = (...values) => Int32Array.from(values);
  remembering.arborescence({
    ...{ nodeCount: 4, root: 0, arcSource: ints(0, 1, 2, 3, 0), arcTarget: ints(1, 2, 3, 1, 3) },
    cost: Float64Array.of(5, 1, 1, 1, 4),
  });

  remembering.sweep({
    ...{ nodeCount: 4, linkSource: ints(0, 0, 1, 2, 1), linkTarget: ints(1, 2, 3, 3, 2), sinks: ints(3, 2) },
    ...{ capacity: Float64Array.of(5, 3, 2, 9, 1), supply: Float64Array.of(6, 0, 0, 0) },
  });
  return problems;
}
