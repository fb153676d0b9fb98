import { jsonText } from "../../base/visible.ts";
import { PROBE_RECORD, type ProbeRecord } from "../../model/probe/record.ts";

/** Yields the text of a `banyan-measurements` file: a line per endpoint and per experiment. */
export function* recordJsonParts({ by, asked, resolutionS, endpoints, measurements }: ProbeRecord): Generator<string> {
  yield `{\n  "format": "${PROBE_RECORD}",\n  "version": 1,\n  "by": ${jsonText(by)},\n  "asked": ${jsonText(asked)},\n  "resolutionS": ${resolutionS},`;
  yield `\n  "endpoints": [\n${endpoints.map((one) => `    ${jsonText(one)}`).join(",\n")}\n  ],\n  "measurements": [`;
  for (const [i, { experiment, seconds }] of measurements.entries()) {
    const { bytes, repeats, flows } = experiment;
    const pairs = flows.map(({ source, target }) => `${source}>${target}`).join(" ");
    yield `${i === 0 ? "" : ","}\n    { "bytes": ${bytes}, "repeats": ${repeats}, "flows": "${pairs}", "seconds": [${Array.from(seconds).join(",")}] }`;
  }
  yield "\n  ]\n}\n";
}
