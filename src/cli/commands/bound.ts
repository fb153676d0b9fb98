import { boundOf, referencePs } from "../../model/bounds/bounds.ts";
import { limitOfForwarding, wholeChunksLimit } from "../../model/bounds/class-limit.ts";
import type { Collective } from "../../model/collective/collective.ts";
import { type RouteSet, routeTimes } from "../../model/routes/routes.ts";
import { portRouteCount, routesOf } from "../../model/routes/routing.ts";
import { degreeText } from "../../model/routes/switch-degrees.ts";
import { switchCount, type Topology } from "../../model/topology/topology.ts";
import { timeText } from "../../report/amounts.ts";
import {
  type BoundReport,
  boundReport,
  classLimitReport,
  collectiveSummary,
  referenceReport,
  topologySummary,
} from "../../report/result.ts";
import { collectiveText, networkText } from "../../report/subject-text.ts";
import { optionValue } from "../../request/option-table.ts";
import { problemOf } from "../../request/problem.ts";
import { limitWithFlow } from "../../run/all-to-all.ts";
import { limitsBy } from "../../run/bottleneck.ts";
import { failuresNamed, type NamedFailure, rankFailures } from "../../run/failures.ts";
import { sumsLimit } from "../../run/sums-limit.ts";
import { collectiveRequest, demandCollective } from "../collective-option.ts";
import { type Context, noteExtrapolation, noteTaken, outJson, outLines } from "../context.ts";
import { withEngine } from "../engine.ts";
import { networkOf } from "../network.ts";
import { chainTable, limitCells } from "../reports/chain-report.ts";
import { rankingLines } from "../reports/failure-report.ts";
import { labelled } from "../reports/text.ts";

/** More routes than this through switches are not made unless asked for. */
const MOST_PORT_ROUTES = 1e6;

/** `banyan bound TOPO --collective C`: what no algorithm beats, and no schedule of some class, with what proves it. */
export async function run(context: Context, args: readonly string[]): Promise<number> {
  const { options, json, style, signal } = context;
  const degree = optionValue(options, "switchDegree");
  const whole = await networkOf(args[0] as string, options);
  noteTaken(context, whole);
  const each = optionValue(options, "withoutEach");
  await demandCollective(options, async () => whole);
  if (each !== undefined) return rankByLimit(context, whole, failuresNamed(whole, each));
  const { topology, collective } = problemOf(whole, collectiveRequest(options, whole));
  noteExtrapolation(context, topology, [collective.sizeBytes]);
  context.progress({ what: "bounding" });
  const { known, forwarding, sums } = await withEngine(context, async (engine) => ({
    known: await limitWithFlow(engine, topology, collective, signal),
    forwarding: limitOfForwarding(topology, collective, limitsBy(engine.kernels)),
    sums: await sumsLimit(engine, topology, collective),
  }));
  const { limit: proved, foundBy } = known;
  const limit = boundReport(topology, collective, proved);
  const routes = degree ?? (portRouteCount(topology) <= MOST_PORT_ROUTES ? "ports" : 1);
  const over = routesOf(topology, routes);
  const classes = [forwarding, sums, wholeChunksLimit(topology, collective, over, false)]
    .filter((one) => one !== null)
    .map((one) => classLimitReport(topology, collective, one))
    .filter(({ us }) => us > limit.us);
  const routesKind = switchCount(topology) === 0 ? "links" : degreeText(routes);
  // figures of other models take as long as the rest
  const planned = json || options["details"] === true ? linkBusyReport(topology, collective, over, limit) : null;
  const reference = referenceReport(referencePs(topology, collective));
  const network = topologySummary(topology);
  if (json) {
    outJson(context, {
      schema: "banyan/bound@2",
      topology: network,
      collective: collectiveSummary(topology, collective),
      limit,
      ...(foundBy === null ? {} : { limitFoundBy: foundBy }),
      classLimits: classes,
      details: { plannedBound: planned, reference, routes: routesKind },
    });
    return 0;
  }
  const ideal =
    reference === null ? [] : [["reference", timeText(reference.us), "", "", "", `${reference.name}, not a bound`]];
  const details = planned === null ? [] : [limitCells("planned", planned, "link-busy, whole chunks"), ...ideal];
  const rows = [
    limitCells("limit", limit, "any algorithm"),
    ...classes.map((one) => limitCells("class limit", one, one.holdsFor)),
    ...details,
  ];
  const isOverRoutes = classes.some(({ of }) => of === "whole chunks") || planned !== null;
  const text = [
    "",
    labelled("topology", networkText(network)),
    labelled("collective", collectiveText(topology, collective)),
    "",
  ].map((line) => `  ${line}`);
  const routesLine = isOverRoutes ? ["", `  ${labelled("routes", routesText(routesKind))}`] : [];
  const foundLine = foundBy === null ? [] : [`  ${labelled("note", `limit found by ${foundBy}`)}`];
  outLines(context, [...text, ...chainTable(rows, style), ...foundLine, ...routesLine]);
  return 0;
}

/** `--without-each`: what each failure does to the limit, the worst first. */
async function rankByLimit(context: Context, whole: Topology, failures: readonly NamedFailure[]): Promise<number> {
  const { options, json, style, signal } = context;
  const ranking = await withEngine(context, (engine) =>
    rankFailures(engine, whole, failures, {
      request: (topology) => collectiveRequest(options, topology),
      signal,
      onFailure: (done, total) =>
        context.progress(
          done === null
            ? { what: "bounding the whole network" }
            : { what: "bounding what failures leave", done, total, unit: "unlike failures" },
        ),
    }),
  );
  const { topology, collective } = problemOf(whole, collectiveRequest(options, whole));
  const about = { topology: topologySummary(topology), collective: collectiveSummary(topology, collective) };
  if (json) outJson(context, { schema: "banyan/failures@1", ...about, ...ranking });
  else
    outLines(context, [
      "",
      `  ${labelled("topology", networkText(about.topology))}`,
      `  ${labelled("collective", collectiveText(topology, collective))}`,
      ...rankingLines(ranking, style, options["details"] === true),
    ]);
  return 0;
}

/** Returns the bound of planned times: whole chunks over these routes, which they occupy for the latency too; `limit` or more. */
function linkBusyReport(topology: Topology, collective: Collective, routes: RouteSet, limit: BoundReport): BoundReport {
  const bound = boundOf(topology, collective, routes, routeTimes(topology, routes, collective.chunkBytes));
  const report = boundReport(topology, collective, bound);
  return report.us < limit.us ? limit : report;
}

function routesText(kind: string): string {
  if (kind === "links") return "single links";
  return kind === "ports" ? "any route through switches" : `switches unwound with ${kind}`;
}
