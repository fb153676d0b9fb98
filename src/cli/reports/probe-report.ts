import type { Findings } from "../../model/probe/findings.ts";
import type { ProbeEndpoint } from "../../model/probe/measurements.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { count } from "../../report/amounts.ts";
import { findingsLines } from "../../report/findings.ts";
import { topologySummary } from "../../report/result.ts";
import { networkText } from "../../report/subject-text.ts";
import { labelled } from "./text.ts";

/** What a probe found, and how it measured. */
export interface Probed {
  /** "Open MPI 4.1.4: mpirun -np 4" */
  readonly by: string;
  readonly endpoints: readonly ProbeEndpoint[];
  readonly resolutionS: number;
  readonly topology: Topology;
  readonly findings: Findings;
}

/** Returns the report as --json has it. */
export function probeReport({ by, endpoints, resolutionS, topology, findings }: Probed) {
  const { format: _, version: __, endpoints: ___, hosts: ____, ...found } = findings;
  return { schema: "banyan/probe@1", by, resolutionS, endpoints, topology: topologySummary(topology), ...found };
}

/** Returns the lines of a report. */
export function probeLines({ by, endpoints, topology, findings }: Probed): string[] {
  const kinds = (["npu", "cpu", "nic"] as const).flatMap((kind) => {
    const many = endpoints.filter((one) => one.kind === kind).length;
    return many === 0 ? [] : [kind === "npu" ? count(many, "process", "processes") : count(many, kind)];
  });
  const inHosts = `${kinds.join(", ")} on ${count(findings.hosts, "host")}`;
  return [
    "",
    labelled("measured", by),
    labelled("endpoints", inHosts),
    ...findingsLines(findings).map((line) => {
      const at = line.indexOf(": ");
      const label = line.slice(0, at);
      return labelled(label === "not explained" ? "but" : label, line.slice(at + 2));
    }),
    labelled("network", networkText(topologySummary(topology))),
    ...(findings.unexplained.length === 0
      ? []
      : [
          labelled(
            "",
            "what is not explained makes the network a guess; other load on machine or network is one reason",
          ),
        ]),
  ];
}
