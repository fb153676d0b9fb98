import { WrongScheduleError } from "../../base/errors.ts";
import { describeWitness } from "../../model/bounds/bounds.ts";
import { format, toNumber } from "../../model/numbers/rational.ts";
import { toExactGBps } from "../../model/numbers/units.ts";
import { listedTrees, type TreeFlow } from "../../model/trees/tree-flow.ts";
import { treeTransfers } from "../../model/trees/tree-steps.ts";
import { heightsOf } from "../../model/trees/tree-times.ts";
import { count, gbpsText, percent } from "../../report/amounts.ts";
import { collectiveSummary, timingOf, topologySummary } from "../../report/result.ts";
import { boundOfCertificate } from "../../report/trees-result.ts";
import { piecesOf } from "../../run/export/steps.ts";
import { judgeTrees } from "../../run/judge.ts";
import { recordOfJudged } from "../../run/record.ts";
import { collectiveFacts } from "../../report/collective-facts.ts";
import { utilisation } from "../../simulate/steps/utilisation.ts";
import { simulateTreeFlow } from "../../simulate/trees/tree-flow.ts";
import type { CertificateVerdict } from "../../verify/trees/certificate.ts";
import { type Context, outJson, outLines, outRows } from "../context.ts";
import type { Recording } from "../files/record-file.ts";
import { networkText } from "../reports/synthesis-report.ts";
import { labelled, labelledTable, linksJson, linksText, timingCells } from "../reports/text.ts";
import { treesText } from "../reports/trees-report.ts";
import { version } from "../version.ts";
import {
  KEPT,
  provedNetworkText,
  provedText,
  violationJson,
  violationLines,
  writeRecorded,
  wrongText,
} from "./verdict.ts";

/** Returns what a certificate proves in a phrase. */
function proofText(flow: TreeFlow, { proof }: CertificateVerdict): string {
  if (flow.certificate === null) return "no certificate";
  if (proof === null) return "a false certificate";
  const because = describeWitness(flow.topology, boundOfCertificate(flow, flow.certificate, proof.bound));
  if (proof.optimal) return `proved optimal for ${proof.holdsFor}: ${because}`;
  if (proof.phases?.optimal === true) return `proved optimal for a reduce-scatter and then an all-gather: ${because}`;
  return `${percent(1 - toNumber(proof.gap))} of a proved bound of ${gbpsText(toNumber(toExactGBps(proof.bound)))}: ${because}`;
}

/** `banyan verify FILE` for a file of trees: the trees, and independently of them the certificate. */
export function verifyTreesFile(context: Context, file: string, flow: TreeFlow, record: Recording): number {
  const { json, quiet, style } = context;
  const { topology, collective } = flow;
  context.progress({ what: "verifying" });
  const { violations, violationCount, truncated, certificate: verdict } = judgeTrees(flow, { limit: KEPT });
  const correct = violationCount === 0;
  const recorded = record(correct, () => recordOfJudged(flow, version));
  if (json) {
    const proof = verdict?.proof ?? null;
    outJson(context, {
      schema: "banyan/verification@1",
      file,
      topology: topologySummary(topology),
      collective: collectiveFacts(topology, collective),
      trees: listedTrees(flow),
      correct,
      ...recorded.json,
      throughput:
        verdict === null
          ? null
          : { algbwGBps: toNumber(toExactGBps(verdict.achieved)), exact: format(toExactGBps(verdict.achieved)) },
      certificate:
        flow.certificate === null
          ? null
          : {
              kind: flow.certificate.kind,
              valid: verdict === null ? null : proof !== null,
              boundGBps: proof === null ? null : format(toExactGBps(proof.bound)),
              optimal: proof?.optimal ?? false,
              gap: proof === null ? null : toNumber(proof.gap),
              holdsFor: proof?.holdsFor ?? null,
            },
      violationCount,
      truncated,
      violations: violationJson(topology, violations),
    });
  } else if (correct && verdict !== null) {
    const what = `${treesText(flow)} make ${provedText(topology, collective)} ${provedNetworkText(topology)} at ${gbpsText(toNumber(toExactGBps(verdict.achieved)))} (${format(toExactGBps(verdict.achieved))})`;
    if (!quiet) outRows(context, [`${style.good("correct")}: ${what}; ${proofText(flow, verdict)}`]);
  } else {
    outRows(context, [
      `${style.bad("wrong")}: ${count(violationCount, "violation")} in ${file}`,
      ...violationLines(violations, violationCount, truncated),
    ]);
  }
  return writeRecorded(context, correct, recorded);
}

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
