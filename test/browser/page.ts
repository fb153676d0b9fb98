import { openEngine } from "../../src/engine/engine.browser.ts";
import type { MatchProblem } from "../../src/engine/kernels/kernels.ts";

/** The page under test: runs one kernel problem and puts what it got on the window, as plain arrays. */
async function run(problem: MatchProblem): Promise<unknown> {
  const engine = await openEngine();
  const { chunk, route, startPs } = await engine.pool().run({ kind: "match", problem });
  return { backend: engine.backend, chunk: [...chunk], route: [...route], startPs: [...startPs] };
}

const columns = (json: string): MatchProblem =>
  JSON.parse(json, (_, value) =>
    value?.column === undefined
      ? value
      : value.column === "f64"
        ? Float64Array.from(value.values)
        : Int32Array.from(value.values),
  );

Object.assign(globalThis, { runProblem: (json: string) => run(columns(json)) });
