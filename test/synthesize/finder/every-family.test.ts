import { describe, expect, it } from "vitest";
import { random } from "../../../src/base/random.ts";
import { loadKernels } from "../../../src/engine/kernels/load.ts";
import { constructionText } from "../../../src/model/direct/construction.ts";
import { compare, format } from "../../../src/model/numbers/rational.ts";
import type { Balancer } from "../../../src/synthesize/bfb/broadcast.ts";
import { topologyFinder } from "../../../src/synthesize/finder/finder.ts";
import { networksBySize } from "../../support/networks-by-size.ts";
import { runs } from "../../support/runs.ts";

const { kernels } = await loadKernels("js");
const balance: Balancer = async (problem) => kernels.balance({ ...problem, threads: 1 });
const finderOf = (bidirectional: boolean) => topologyFinder(balance, { bidirectional, known: new Map() });
const [directed, paired] = [finderOf(false), finderOf(true)];
const networksOf = networksBySize(balance);

describe("of 200 random sizes", () => {
  const { below } = random(20);
  const sizes = Array.from({ length: 200 }, () => [2 + below(79), 1 + below(8)] as const);

  it.each(sizes.slice(0, runs(sizes.length)))(
    "%i nodes of degree %i: no member of a family, and none of two expansions, takes less than what is found",
    async (nodes, degree) => {
      const networks = await networksOf(nodes, degree);
      if (degree === 1 || degree < nodes) expect(networks).not.toEqual([]);
      const missed: string[] = [];
      for (const { text, steps, bandwidth, paired: isPaired } of networks) {
        for (const finder of isPaired ? [directed, paired] : [directed]) {
          const front = await finder.frontier(nodes, degree);
          if (front.some((row) => row.steps <= steps && compare(row.bandwidth, bandwidth) <= 0)) continue;
          const found = front.map(
            (row) => `${constructionText(row.construction)} ${row.steps} ${format(row.bandwidth)}`,
          );
          missed.push(`${text} ${steps} ${format(bandwidth)}, found ${found.join("; ")}`);
        }
      }
      expect(missed).toEqual([]);
    },
  );
});
