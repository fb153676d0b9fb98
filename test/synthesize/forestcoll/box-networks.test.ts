import { expect, it } from "vitest";
import { random } from "../../../src/base/random.ts";
import { openHighs } from "../../../src/engine/milp/highs.ts";
import type { Topology } from "../../../src/model/topology/topology.ts";
import { topologyBuilder } from "../../../src/model/topology/topology-builder.ts";
import { forestcoll } from "../../../src/synthesize/forestcoll/forestcoll.ts";
import { judgeCertificate } from "../../../src/verify/trees/certificate.ts";
import { verifyTreeFlow } from "../../../src/verify/trees/tree-flow.ts";
import { availableKernels } from "../../support/backends.ts";
import { triesAll } from "../../support/runs.ts";
import { treeContext, treeRequest } from "../../support/tree-requests.ts";

const [kernels] = await availableKernels();
const context = { ...treeContext(kernels), lp: openHighs };

const GBPS = 1e9;

/**
 * Returns boxes of GPUs as clusters have them: inside a switch that all GPUs are linked to, cables between some pairs, or both;
 * between boxes network cards, each behind a PCIe switch that some GPUs share, on one fabric or one for each rail; some cards are
 * slower, or missing. `isLopsided`: the two directions of each link have rates of their own.
 */
function boxes(seed: number, isLopsided: boolean): Topology {
  const draws = random(seed, isLopsided ? 4282 : 4281);
  const boxCount = 1 + draws.below(4);
  const gpus = [2, 4, 4, 8][draws.below(4)] as number;
  const perCard = [1, 2][draws.below(2)] as number;
  const [inside, outside] = [20 * (1 + draws.below(30)), 5 * (1 + draws.below(10))];
  const hasSwitch = draws.below(3) > 0;
  const hasRails = draws.below(2) === 0;
  const builder = topologyBuilder(`boxes ${seed}${isLopsided ? ", lopsided" : ""}`);
  builder.addNumberedNpus(boxCount * gpus);
  const link = (a: number, b: number, rate: number): void => {
    builder.addLink(a, b, rate * GBPS, 0);
    builder.addLink(b, a, (isLopsided ? Math.max(1, rate - draws.below(rate)) : rate) * GBPS, 0);
  };
  const cards = gpus / perCard;
  const fabrics = Array.from({ length: hasRails ? cards : 1 }, (_, rail) => builder.addSwitch(`fabric ${rail}`));
  for (let box = 0; box < boxCount; box++) {
    const first = box * gpus;
    if (hasSwitch) {
      const hub = builder.addSwitch(`hub ${box}`);
      for (let gpu = 0; gpu < gpus; gpu++) link(first + gpu, hub, inside);
    }
    if (!hasSwitch || draws.below(4) === 0) {
      for (let gpu = 0; gpu < gpus; gpu++)
        if (gpus > 2 || gpu === 0) link(first + gpu, first + ((gpu + 1) % gpus), inside);
      for (let extra = draws.below(gpus); extra > 0; extra--) {
        const [a, b] = [draws.below(gpus), draws.below(gpus)];
        if (a !== b) link(first + a, first + b, 10 * (1 + draws.below(20)));
      }
    }
    for (let card = 0; card < cards; card++) {
      if (card > 0 && draws.below(10) === 0) continue;
      const pcie = builder.addSwitch(`pcie ${box}.${card}`);
      const rate = draws.below(6) === 0 ? Math.ceil(outside / 2) : outside;
      for (let gpu = 0; gpu < perCard; gpu++) link(first + card * perCard + gpu, pcie, 2 * outside);
      link(pcie, fabrics[hasRails ? card : 0] as number, rate);
    }
  }
  return builder.build();
}

/** BANYAN_TESTS=large tries all, in a quarter of an hour. */
const count = (part: number, large: number): number =>
  process.env["BANYAN_TESTS"] === "large" ? large : triesAll ? 2 * part : part;

it.each([
  ["balanced", false, count(10, 405)],
  ["lopsided", true, count(5, 30)],
] as const)(
  "forestcoll proves the optimum of random boxes: %s",
  async (_, isLopsided, tried) => {
    const proved = { allgather: 0, reducescatter: 0, allreduce: 0, broadcast: 0 };
    for (let seed = 0; seed < tried; seed++) {
      const topology = boxes(seed, isLopsided);
      for (const kind of ["allgather", "reducescatter", "allreduce", "broadcast"] as const) {
        const { flow } = await forestcoll.make(treeRequest(topology, kind, { copiesPerRoot: "exact" }), context);
        expect(verifyTreeFlow(flow).violations, `${seed} ${kind}`).toEqual([]);
        const { violations, proof } = judgeCertificate(flow);
        expect(violations, `${seed} ${kind}`).toEqual([]);
        if (proof?.optimal === true) proved[kind]++;
      }
    }
    expect(proved).toEqual({ allgather: tried, reducescatter: tried, allreduce: tried, broadcast: tried });
  },
  3_600_000,
);
