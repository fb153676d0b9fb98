// Meshes, grids and tori that lost NPUs or links, drawn with a seed.
import { random } from "../dist/base/random.js";
import { topology } from "../dist/index.js";

const CASES = 200;
const SIDES = { least: 20, most: 100 };
/** NPUs of grids, as of meshes. */
const GRID_SIDES = { least: 7, most: 22 };
const MOST_FAILURES = 20;

/** Returns a network of a kind with what failed in it, drawn from the generator. */
function drawn(generator) {
  const kind = ["mesh", "torus", "grid"][generator.below(3)];
  const { least, most } = kind === "grid" ? GRID_SIDES : SIDES;
  const sides = Array.from({ length: kind === "grid" ? 3 : 2 }, () => least + generator.below(most - least + 1));
  const expression = `${kind === "torus" ? "torus" : "mesh"}:${sides.join("x")}`;
  const { npuCount, linkSource, linkTarget } = topology(expression);
  const npus = new Set();
  const links = [];
  for (let left = 1 + generator.below(MOST_FAILURES); left > 0; left--) {
    if (generator.below(2) === 0) npus.add(generator.below(npuCount));
    else links.push(generator.below(linkSource.length));
  }
  const kept = links.filter((link) => !npus.has(linkSource[link]) && !npus.has(linkTarget[link]));
  const failed = [...npus].map(String).concat(kept.map((link) => `${linkSource[link]}-${linkTarget[link]}`));
  return { kind, expression, failed: [...new Set(failed)] };
}

/** [cases] drawn one after the other: the first n stay the first n. */
export const FAILED_NETWORKS = (() => {
  const generator = random(2024, 24);
  return Array.from({ length: CASES }, () => drawn(generator));
})();

/** Always measured as well. */
export const NAMED_NETWORKS = [
  ["mesh:50x50", "100"],
  ["mesh:50x50", "7"],
  ["mesh:50x50", "5-6"],
  ["mesh:80x80", "7"],
].map(([expression, name]) => ({ kind: "mesh", expression, failed: [name] }));
