import { boundOf, referencePs } from "../../model/bounds/bounds.ts";
import type { Bound } from "../../model/bounds/witness.ts";
import type { Collective } from "../../model/collective/collective.ts";
import { compare } from "../../model/numbers/rational.ts";
import { routeTimes } from "../../model/routes/routes.ts";
import { portRouteCount, routesOf, type SwitchDegree } from "../../model/routes/routing.ts";
import { switchCount, type Topology } from "../../model/topology/topology.ts";
import { gbpsText, timeText } from "../../report/amounts.ts";
import { boundReport, collectiveSummary, referenceReport, topologySummary } from "../../report/result.ts";
import { collectiveText, networkText } from "../../report/subject-text.ts";
import { optionValue } from "../../request/option-table.ts";
import { problemOf } from "../../request/problem.ts";
import { limitWithFlow } from "../../run/all-to-all.ts";
import { collectiveRequest } from "../collective-option.ts";
import { type Context, outJson, outLines } from "../context.ts";
import { withEngine } from "../engine.ts";
import { networkOf } from "../network.ts";
import { labelled, labelledTable } from "../reports/text.ts";

/** More routes than this through switches are not made unless asked for. */
const MOST_PORT_ROUTES = 1e6;

/** `banyan bound TOPO --collective C`: limit and bound, with what proves them. */
export async function run(context: Context, args: readonly string[]): Promise<number> {
  const { options, json, style, signal } = context;
  const degree = optionValue(options, "switchDegree");
  const whole = await networkOf(args[0] as string, options);
  const { topology, collective } = problemOf(whole, collectiveRequest(options, whole));
  context.progress({ what: "bounding" });
  const known = await withEngine(context, (engine) => limitWithFlow(engine, topology, collective, signal));
  const { limit: proved, foundBy } = known;
  const limit = boundReport(topology, collective, proved);
  const chosen = degree ?? (portRouteCount(topology) <= MOST_PORT_ROUTES ? "ports" : 1);
  const bound = boundOver(topology, collective, chosen, proved);
  const reference = referenceReport(referencePs(topology, collective));
  const network = topologySummary(topology);
  if (json) {
    outJson(context, {
      schema: "banyan/bound@1",
      topology: network,
      collective: collectiveSummary(topology, collective),
      limit,
      ...(foundBy === null ? {} : { limitFoundBy: foundBy }),
      bound,
      reference,
    });
    return 0;
  }
  const rows = [
    ["limit", timeText(limit.us), gbpsText(limit.algbwGBps), limit.because],
    ["bound", timeText(bound.us), gbpsText(bound.algbwGBps), bound.because],
  ];
  if (reference !== null) rows.push(["reference", timeText(reference.us), "", `${reference.name}, not a bound`]);
  const [head, ...lines] = labelledTable([["", "time", "algbw", ""], ...rows], ["left", "right", "right", "left"]);
  const text = [
    "",
    labelled("topology", networkText(network)),
    labelled("collective", collectiveText(topology, collective)),
    "",
    style.dim(head as string),
    ...lines,
    "",
    "limit: for any algorithm, any chunks, any pipelining",
    ...(foundBy === null ? [] : [`limit found by ${foundBy}`]),
    `bound: for whole transfers of these chunks over ${routesText(bound.routes)}`,
  ];
  outLines(
    context,
    text.map((line) => `  ${line}`),
  );
  return 0;
}

/** Returns the bound of whole transfers over the routes that the network and the degree of unwinding give, never below the limit. */
function boundOver(topology: Topology, collective: Collective, degree: SwitchDegree, limit: Bound) {
  const routes = routesOf(topology, degree);
  const times = routeTimes(topology, routes, collective.chunkBytes);
  const ofTransfers = boundOf(topology, collective, routes, times);
  const report = boundReport(topology, collective, compare(limit.ps, ofTransfers.ps) > 0 ? limit : ofTransfers);
  const kind = switchCount(topology) === 0 ? "links" : degree === "ports" ? "ports" : `degree ${degree}`;
  return { ...report, routes: kind };
}

function routesText(kind: string): string {
  if (kind === "links") return "single links";
  return kind === "ports" ? "any route through switches" : `switches unwound with ${kind}`;
}
