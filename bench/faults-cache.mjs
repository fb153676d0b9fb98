// Several searches on one cache at once, one of them killed: every answer is right, and the cache is whole.
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { evaluationsOf } from "../dist/cli/files/search-cache.js";
import { ran } from "./faults-files.mjs";

const SIZES = [5, 6, 7, 8];
const search = (nodes, more = []) => [
  "search",
  "--nodes",
  String(nodes),
  "--degree",
  "2",
  "--threads",
  "0",
  "--json",
  ...more,
];

/** Runs so many rounds; gives what is wrong to `onFault`. Returns how many searches there were, and how many were killed. */
export async function shareCache({ root, rounds, draw, onFault }) {
  const folder = join(root, "cache");
  const env = { BANYAN_CACHE_DIR: folder };
  const alone = await Promise.all(SIZES.map(async (nodes) => (await ran(search(nodes, ["--no-cache"]))).out));
  let [searches, killed, ms] = [0, 0, 1000];
  for (let round = 0; round < rounds; round++) {
    if (draw() < 0.3) rmSync(folder, { recursive: true, force: true });
    mkdirSync(root, { recursive: true });
    const victim = Math.floor(draw() * SIZES.length);
    const results = await Promise.all(
      SIZES.map((nodes, i) => ran(search(nodes), { env, ...(i === victim && { killAfterMs: ms * (0.3 + draw()) }) })),
    );
    for (const [i, { code, signal, hung, out, err, ms: took }] of results.entries()) {
      searches++;
      const say = (what) => onFault(`round ${round}, a search of ${SIZES[i]} nodes: ${what}`);
      if (i === victim && signal === "SIGKILL" && !hung) {
        killed++;
        continue;
      }
      ms = took;
      if (code !== 0 || err !== "") say(`ends with ${code} and says ${JSON.stringify(err)}`);
      if (out !== alone[i]) say("gives something else than alone");
    }
    const file = join(folder, "networks-2.json");
    if (existsSync(file) && evaluationsOf(readFileSync(file).toString()) === null)
      onFault(`round ${round}: the cache is damaged`);
  }
  return { rounds, searches, killed };
}
