// Tree packing on random balanced networks: node bench/forest-random.mjs [small [large [backend]]], 1,000 each and the fastest
// backend where nothing is given; "paper" for a backend: only the dissertation's own algorithms. Prints what became of them and
// ends with status 1 where an optimum was missed, a forest is wrong or a packing that exists was refused.
//   small: 3 to 6 NPUs, up to 3 switches, bandwidths up to 1e9: the rate against every cut, then packed with 1/x* and with k = 1 .. 5
//   large: up to 48 NPUs and 16 switches, made by laying trees over each other, most without any capacity to spare
import { loaded } from "./sources.mjs";
import { table } from "./support.mjs";

const graphs = await loaded("test/support/eulerian-graphs.ts");
const { loadKernels } = await loaded("src/engine/kernels/load.ts");
const { optimumOf, packable } = await loaded("src/synthesize/forestcoll/optimum.ts");
const { fixedCopies } = await loaded("src/synthesize/forestcoll/optimum.ts");
const { paperTrees } = await loaded("src/synthesize/forestcoll/grow.ts");

const [small = 1000, large = 1000] = process.argv.slice(2, 4).map(Number);
const backend = process.argv[4];
const { kernels } = await loadKernels(backend === "paper" ? "js" : backend);
const usesKernel = backend !== "paper" && kernels.pack !== undefined;
const LIMITS = [1, 10, 1000, 1e6, 1e9];
const MOST_K = 5;

const rows = [];

/** Returns the kernel's forest, tree by tree, or why there is none. */
function packed({ nodeCount, npuCount, linkSource, linkTarget }, { capacity, copies }, seed) {
  const setting =
    seed % 2 === 0
      ? { depthPrice: 10, loadPrice: 2, scheduled: false }
      : { depthPrice: 10, loadPrice: 40, scheduled: true };
  const repairs = seed % 7 === 0 ? 20 : 0;
  for (let room = 4 * linkSource.length + npuCount; ; room *= 4) {
    const outcome = kernels.pack({
      nodeCount,
      npuCount,
      linkSource,
      linkTarget,
      capacity,
      copies,
      ...setting,
      seed,
      repairs,
      enoughHeight: 1,
      maxTrees: room,
      maxLinks: 4 * room * npuCount,
    });
    if (outcome === null) continue;
    return outcome.kind === "packed" ? { trees: listed(outcome.trees, npuCount - 1) } : outcome;
  }
}

const listed = ({ root: roots, copies, linkOffset, links }, edges) =>
  Array.from(roots, (at, t) => ({
    root: at,
    copies: BigInt(copies[t]),
    edges: Array.from({ length: edges }, (_, i) =>
      Array.from(links.subarray(linkOffset[t * edges + i], linkOffset[t * edges + i + 1])),
    ),
  }));

class Count {
  networks = 0;
  packings = 0;
  byKernel = 0;
  beyondDoubles = 0;
  stuck = 0;
  wrong = [];
  seconds = 0;

  constructor(name) {
    this.name = name;
  }

  /** Packs with the kernel, else as published; counts what is wrong with the forest. */
  pack(network, packing, seed, what) {
    this.packings++;
    const columns = packable(packing);
    const began = performance.now();
    let trees = null;
    if (columns === null) this.beyondDoubles++;
    else if (usesKernel) {
      const outcome = packed(network, columns, seed);
      if (outcome.kind === "violated") this.wrong.push(`seed ${seed}, ${what}: a packing that exists was refused`);
      if (outcome.kind === "stuck") this.stuck++;
      trees = outcome.trees ?? null;
      if (trees !== null) this.byKernel++;
    }
    trees ??= paperTrees(network, packing);
    this.seconds += (performance.now() - began) / 1000;
    const [fault] = graphs.forestFaults(network, packing, trees);
    if (fault !== undefined) this.wrong.push(`seed ${seed}, ${what}: ${fault}`);
  }

  row() {
    const { name, networks, packings, byKernel, stuck, beyondDoubles, wrong, seconds } = this;
    return [name, networks, packings, byKernel, stuck, beyondDoubles, wrong.length, seconds.toFixed(1)];
  }
}

const optimal = new Count("small, optimum");
const fixed = new Count(`small, k = 1 .. ${MOST_K}, no switch wider out than in`);
const uneven = new Count(`small, k = 1 .. ${MOST_K}, a switch wider out than in`);
const saturated = new Count("large, nearly saturated");
let refused = 0;

for (let seed = 0; seed < small; seed++) {
  const network = graphs.smallNetwork(seed, LIMITS[seed % LIMITS.length]);
  const weight = new Float64Array(network.npuCount).fill(1);
  const optimum = await optimumOf(network, weight, kernels.rate);
  const ones = Array.from(weight, BigInt);
  const narrowest = graphs.narrowestOfAll(network, Array.from(network.bandwidth, BigInt), ones);
  if (optimum.inverse.num * narrowest.leaving !== optimum.inverse.den * narrowest.weight) {
    optimal.wrong.push(`seed ${seed}: the rate is not that of the narrowest cut`);
  }
  optimal.networks++;
  optimal.pack(network, optimum, seed, "optimum");
  const k = BigInt(1 + (seed % MOST_K));
  const packing = await fixedCopies(network, weight, k, optimum, kernels.rate);
  const count = packing.wider === null ? fixed : uneven;
  count.networks++;
  try {
    count.pack(network, packing, seed, `k = ${k}`);
  } catch (error) {
    if (packing.wider === null) throw error;
    refused++;
  }
}
for (let seed = 0; seed < large; seed++) {
  const { network, packing } = graphs.saturatedNetwork(seed, 48, 16);
  saturated.networks++;
  saturated.pack(network, packing, seed, "as laid");
}

const headings = ["random networks", "networks", "packings", "by the kernel", "stuck", "beyond 2^53", "wrong", "s"];
const counts = [optimal, fixed, uneven, saturated];
for (const count of counts) rows.push(count.row());
console.log(usesKernel ? `packed by the ${kernels.backend} kernel, else as published` : "packed as published");
console.log(table(headings, rows));
console.log(`${refused} of the uneven ones have no trees that the published algorithms find`);
const wrong = counts.flatMap((count) => count.wrong.map((text) => `${count.name}: ${text}`));
for (const text of wrong.slice(0, 20)) console.error(text);
process.exitCode = wrong.length > 0 ? 1 : 0;
