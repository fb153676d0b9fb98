import { type JointSchedule, jointTransferCount } from "../../model/joint/joint-schedule.ts";
import { count, timeText } from "../../report/amounts.ts";
import type { JointReport, TenantReport } from "../../report/joint-result.ts";
import { collectiveText, networkText } from "../../report/subject-text.ts";
import { chainLines, closingLines } from "./chain-report.ts";
import type { Style } from "./style.ts";
import { labelled } from "./text.ts";

const label = (key: string, text: string): string => `  ${labelled(key, text)}`;

/** Returns a line for each collective: what it is and when its last transfer ends. */
export function tenantLines(joint: JointSchedule, tenants: readonly TenantReport[]): string[] {
  return joint.tenants.map(({ collective }, t) => {
    const { time, planned } = tenants[t] as TenantReport;
    const ends = time === null ? `${timeText(planned.us)} as planned` : timeText(time.us);
    return labelled(
      t === 0 ? "collectives" : "",
      `${t}  ${collectiveText(joint.topology, collective)}, done at ${ends}`,
    );
  });
}

/** Returns the lines of the report of `banyan synth --collectives`; `details`: figures of other models too. */
export function jointReportLines(
  report: JointReport,
  joint: JointSchedule,
  style: Style,
  { fileBytes, details = false }: { readonly fileBytes?: number | undefined; readonly details?: boolean } = {},
): string[] {
  const verdict = report.verified ? style.good("verified") : style.bad("NOT verified");
  const made = `${count(jointTransferCount(joint), "transfer")} by ${report.algorithm}, all together, ${verdict}`;
  return [
    "",
    label("topology", networkText(report.topology)),
    ...tenantLines(joint, report.collectives).map((line) => `  ${line}`),
    label("schedule", made),
    "",
    ...chainLines(report, style, details),
    "",
    ...closingLines(report, { fileBytes, details }),
  ];
}
