import { WrongScheduleError } from "../../base/errors.ts";
import { piecesOf } from "../../kinds/expand.ts";
import { judgeTrees } from "../../kinds/trees.ts";
import { format, toNumber } from "../../model/numbers/rational.ts";
import { toExactGBps } from "../../model/numbers/units.ts";
import type { TreeFlow } from "../../model/trees/tree-flow.ts";
import { treeTransfers } from "../../model/trees/tree-steps.ts";
import { heightsOf } from "../../model/trees/tree-times.ts";
import { count, gbpsText } from "../../report/amounts.ts";
import { collectiveSummary, timingOf, topologySummary } from "../../report/result.ts";
import { networkText, treesText } from "../../report/subject-text.ts";
import { utilisation } from "../../simulate/steps/utilisation.ts";
import { simulateTreeFlow } from "../../simulate/trees/tree-flow.ts";
import { type Context, outJson, outLines } from "../context.ts";
import { labelled, labelledTable, linksJson, linksText, timingCells } from "../reports/text.ts";
import { wrongText } from "./verdict.ts";

/** `banyan simulate FILE` for a file of trees. */
export function simulateTreesFile(context: Context, file: string, flow: TreeFlow, chunks: string | undefined): number {
  const { json, style } = context;
  const { topology, collective } = flow;
  context.progress({ what: "verifying" });
  const { violationCount, certificate: verdict } = judgeTrees(flow, { limit: 0 });
  const wrong = wrongText("these trees are", violationCount, file);
  if (verdict === null) throw new WrongScheduleError(wrong);
  if (violationCount > 0) context.note(wrong);
  context.progress({ what: "simulating" });
  const pieces = piecesOf(flow, chunks);
  const { ps, model, linkBusyPs } = simulateTreeFlow(flow, pieces);
  const simulated = { ...timingOf(collective, ps), model };
  const links = utilisation(topology, ps, linkBusyPs);
  const transfers = flow.inNetwork === true ? null : treeTransfers(flow, pieces);
  const achieved = toExactGBps(verdict.achieved);
  const code = violationCount === 0 ? 0 : 1;
  if (json) {
    outJson(context, {
      schema: "banyan/simulation@1",
      file,
      topology: topologySummary(topology),
      collective: collectiveSummary(topology, collective),
      transfers,
      pieces,
      verified: code === 0,
      throughput: { algbwGBps: toNumber(achieved), exact: format(achieved) },
      simulated,
      links: linksJson(links),
      trace: null,
    });
    return code;
  }
  const [head, ...rows] = labelledTable(
    [
      ["", "time", "algbw", "busbw", ""],
      ["simulated", ...timingCells(simulated), simulated.model],
    ],
    ["left", "right", "right", "right", "left"],
  );
  const verified = code === 0 ? style.good("verified") : style.bad("NOT correct");
  const lines = [
    "",
    labelled("topology", networkText(topologySummary(topology))),
    labelled("trees", `${treesText(flow)}, height ${heightsOf(flow).greatest}, ${verified}`),
    labelled(
      "pipeline",
      `${count(pieces, "piece")} of each tree's part${transfers === null ? "" : `, ${count(transfers, "transfer")}`}`,
    ),
    "",
    style.dim(head as string),
    ...rows,
    labelled("throughput", `${gbpsText(toNumber(achieved))} (${format(achieved)} GB/s exactly) with ever more pieces`),
    "",
    labelled("links", linksText(links)),
  ];
  outLines(
    context,
    lines.map((line) => `  ${line}`),
  );
  return code;
}
