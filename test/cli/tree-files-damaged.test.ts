import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { commandsHere } from "../support/cli-here.ts";
import { missing, type Refusal, unexpected } from "../support/refusals.ts";

const here = commandsHere();
const gather = (network: string, more = "") => `synth ${network} --collective allgather --algorithm forestcoll${more}`;

describe("a damaged file of trees", () => {
  type Tree = { root: number; copies: unknown; edges: unknown[] };
  type Fields = {
    topology: { hash: string };
    k: number;
    symmetry: { steps: number[][] };
    certificate: { nodes: number[] };
    forests: { copyBytesPerSecond: string; trees: Tree[] }[];
  };
  const firstTree = ({ forests }: Fields): Tree => forests[0]?.trees[0] as Tree;

  async function damaged(change: (fields: Fields) => void): Promise<void> {
    await here.run(gather("ring:4@50GB/s,1us", " --size 4MB --quiet -o good.json"));
    const fields = JSON.parse(readFileSync(here.at("good.json"), "utf8"));
    change(fields);
    here.put("bad.json", fields);
  }

  it.each<readonly [title: string, change: (fields: Fields) => void, line: Refusal]>([
    [
      "more copies than k says",
      (fields) => {
        firstTree(fields).copies = 2;
      },
      unexpected("bad.json: k", 2, 3),
    ],
    [
      "half a copy",
      (fields) => {
        firstTree(fields).copies = 1.5;
      },
      unexpected("bad.json: forests[0].trees[0].copies", 1.5),
    ],
    [
      "an edge that is missing",
      (fields) => {
        firstTree(fields).edges.pop();
      },
      unexpected("bad.json: forests[0].trees[0].edges", 2, 3),
    ],
    [
      "a link that is not there",
      (fields) => {
        firstTree(fields).edges[0] = 99;
      },
      unexpected("bad.json: forests[0].trees[0].edges[0]", 99, 7),
    ],
    [
      "a root that is not there",
      (fields) => {
        firstTree(fields).root = 7;
      },
      unexpected("bad.json: forests[0].trees[0].root", 7, 3),
    ],
    [
      "no bandwidth",
      ({ forests: [forest] }) => {
        if (forest !== undefined) forest.copyBytesPerSecond = "0";
      },
      unexpected("bad.json: forests[0].copyBytesPerSecond", "0"),
    ],
    [
      "a symmetry of too few nodes",
      ({ symmetry }) => {
        symmetry.steps[0]?.pop();
      },
      unexpected("bad.json: symmetry.steps[0]", 3, 4),
    ],
    [
      "another network",
      ({ topology }) => {
        topology.hash = "0123456789abcdef";
      },
      unexpected("bad.json: topology.hash", "0123456789abcdef"),
    ],
  ])("is refused by its reader: %s", async (_, change, line) => {
    await damaged(change);
    await here.refuses("verify bad.json", line);
  });

  it("is refused by its reader: cut short", async () => {
    await damaged(() => undefined);
    const text = readFileSync(here.at("good.json"), "utf8");
    here.put("bad.json", text.slice(0, text.indexOf('"edges"')));
    const line = text.slice(0, text.indexOf('"edges"')).split("\n").length;
    await here.refuses("verify bad.json", missing(`bad.json line ${line}, column 30`));
  });

  it.each<readonly [title: string, change: (fields: Fields) => void, violation: string]>([
    [
      "an edge from where the tree has not been",
      (fields) => {
        firstTree(fields).edges.reverse();
      },
      "out-tree 0 at rank 0: edge 0 over link 1>2 starts at rank 1, where the tree has not been",
    ],
    [
      "a map that is no automorphism",
      ({ symmetry }) => {
        symmetry.steps[0] = [1, 3, 0, 2];
      },
      "map 0 of the symmetry takes link 0>1 to none like it",
    ],
    [
      "a map that is no permutation",
      ({ symmetry }) => {
        symmetry.steps[0] = [1, 2, 3, 3];
      },
      "map 0 of the symmetry takes two nodes to rank 3",
    ],
    [
      "a certificate that proves nothing",
      ({ certificate }) => {
        certificate.nodes = [0, 1, 2, 3];
      },
      "the certificate proves nothing: no member is outside the set",
    ],
  ])("is found wrong by its judges: %s", async (_, change, violation) => {
    await damaged(change);
    expect(await here.run("verify bad.json", 1)).toBe(`wrong: 1 violation in bad.json\n  ${violation}\n`);
  });

  it("is found wrong by its judges: more bandwidth than links have, on every link", async () => {
    await damaged(({ forests: [forest] }) => {
      if (forest !== undefined) forest.copyBytesPerSecond = "25000000000";
    });
    const text = await here.run("verify bad.json", 1);
    expect(text).toMatch(/^wrong: 8 violations in bad\.json\n/);
    expect(text).toContain(
      "3 copies of the out-forest hold 75000000000 bytes/s of link 0>1, more than its 50000000000",
    );
  });

  it("is no schedule to be simulated", async () => {
    await damaged((fields) => {
      firstTree(fields).edges.reverse();
    });
    const sentence = "these trees are wrong (1 violation; `banyan verify bad.json` lists them)";
    await here.refuses("simulate bad.json", sentence, 1);
  });
});
