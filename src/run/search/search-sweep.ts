import { cancelOn } from "../../engine/pool/pool.ts";
import type { Engine } from "../../engine/types.ts";
import { constructionText } from "../../model/direct/construction.ts";
import { format } from "../../model/numbers/rational.ts";
import type { Balancer } from "../../synthesize/bfb/broadcast.ts";
import { topologyFinder } from "../../synthesize/finder/finder.ts";
import { runnerFor } from "../threads/runner.ts";
import type { SearchHooks } from "./search.ts";

/** A size of a sweep with the networks that are efficient there. */
export interface SweepRow {
  readonly nodes: number;
  readonly degree: number;
  readonly topology: string;
  readonly steps: number;
  readonly bandwidth: string;
}

/** From this many visits of arcs on, a balance runs on the pool, beside other sizes. */
const POOL_FROM = 3e5;

/**
 * Yields the efficient networks of every size up to `most` for each degree, a degree's after the other's. Several sizes are
 * searched at once; the result does not depend on how many. Kept evaluations make later searches shorter.
 */
export async function* sweep(
  engine: Engine,
  degrees: readonly number[],
  most: number,
  bidirectional: boolean,
  { known = new Map(), signal, onProgress = () => undefined }: SearchHooks = {},
): AsyncGenerator<SweepRow> {
  const { runner, dispose } = runnerFor(engine, 0, signal, () => undefined);
  const { flag, dispose: disposeFlag } = cancelOn(signal);
  const pool = engine.pool();
  const balance: Balancer = (problem) =>
    problem.targets.length * problem.inSource.length < POOL_FROM
      ? runner.balance(problem)
      : pool.run({ kind: "balance", problem: { ...problem, threads: 1 } }, flag);
  const finder = topologyFinder(balance, { bidirectional, known });
  const search = async (nodes: number, degree: number): Promise<SweepRow[]> =>
    (await finder.frontier(nodes, degree)).map(({ construction, steps, bandwidth }) => ({
      nodes,
      degree,
      topology: constructionText(construction),
      steps,
      bandwidth: format(bandwidth),
    }));
  const atOnce = 1 + 2 * Math.max(1, pool.threads);
  const total = (most - 1) * degrees.length;
  const sizeAt = (i: number): [number, number] => [2 + (i % (most - 1)), degrees[Math.floor(i / (most - 1))] as number];
  const started: Promise<SweepRow[]>[] = [];
  try {
    for (let i = 0; i < total; i++) {
      for (; started.length < Math.min(total, i + atOnce); ) {
        const rows = search(...sizeAt(started.length));
        rows.catch(() => undefined); // told when its turn comes
        started.push(rows);
      }
      const [nodes, degree] = sizeAt(i);
      onProgress(`networks of degree ${degree}`, nodes, most);
      yield* await (started[i] as Promise<SweepRow[]>);
    }
  } finally {
    disposeFlag();
    dispose();
  }
}
