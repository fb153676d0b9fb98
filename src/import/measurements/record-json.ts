import { canSend, type Measurement, type ProbeEndpoint, type ProbeFlow } from "../../model/probe/measurements.ts";
import { PROBE_RECORD, type ProbeRecord } from "../../model/probe/record.ts";
import {
  asInteger,
  asList,
  asObject,
  asText,
  checkHeader,
  type JsonFields,
  parseJson,
  placeIn,
  refuse,
} from "../text/json.ts";

const KINDS: readonly unknown[] = ["npu", "cpu", "nic"] satisfies readonly ProbeEndpoint["kind"][];
const MOST_BYTES = 2 ** 40;
const MOST_REPEATS = 1000;
const MOST_ENDPOINTS = 4096;
const MOST_MIXES = 10_000;

function endpointOf(value: unknown, place: string): ProbeEndpoint {
  const { kind, name, host } = asObject<JsonFields<"kind" | "name" | "host">>(value, place);
  if (!KINDS.includes(kind)) refuse(`${place}.kind`, "npu, cpu or nic", kind);
  return {
    kind: kind as ProbeEndpoint["kind"],
    name: asText(name, `${place}.name`),
    host: asText(host, `${place}.host`),
  };
}

const orNull = (value: unknown, place: string, most: number): number | null =>
  value === null ? null : asInteger(value, place, 1, most);

/** A flow between two of so many endpoints that can be sent. */
function flowOf(text: string, endpoints: readonly ProbeEndpoint[], place: string): ProbeFlow {
  const [, source, target] = /^(\d{1,6})>(\d{1,6})$/.exec(text) ?? [];
  const flow = { source: Number(source), target: Number(target) };
  if (source === undefined || !(flow.source < endpoints.length && flow.target < endpoints.length))
    refuse(place, `flows between endpoints 0 to ${endpoints.length - 1}, as "0>1 2>3"`, text);
  if (!canSend({ endpoints }, flow.source, flow.target)) refuse(place, "flows that can be sent", text);
  return flow;
}

function measurementOf(value: unknown, endpoints: readonly ProbeEndpoint[], place: string): Measurement {
  const one = asObject<JsonFields<"bytes" | "repeats" | "flows" | "seconds">>(value, place);
  const bytes = asInteger(one.bytes, `${place}.bytes`, 0, MOST_BYTES);
  const repeats = asInteger(one.repeats, `${place}.repeats`, 1, MOST_REPEATS);
  const flows = asText(one.flows, `${place}.flows`)
    .split(" ")
    .map((text) => flowOf(text, endpoints, `${place}.flows`));
  const list = asList(one.seconds, `${place}.seconds`);
  if (list.length !== repeats * flows.length)
    refuse(`${place}.seconds`, `${repeats * flows.length} times, one per repeat and flow`, list.length);
  const seconds = Float64Array.from(list, (time, i) => {
    if (typeof time !== "number" || !(time >= 0)) refuse(`${place}.seconds[${i}]`, "seconds", time);
    return time;
  });
  return { experiment: { bytes, repeats, flows }, seconds };
}

/** Returns what a `banyan-measurements` file has of a probe. Throws InputError with the place in the file. O(text). */
export function readProbeRecord(text: string, fileName: string): ProbeRecord {
  const at = (path: string): string => placeIn(fileName, path);
  const value = parseJson(text, fileName);
  checkHeader(value, fileName, "", PROBE_RECORD);
  const record = asObject<JsonFields<"by" | "asked" | "resolutionS" | "endpoints" | "measurements">>(value, fileName);
  const { resolutionS } = record;
  if (typeof resolutionS !== "number" || !(resolutionS > 0 && resolutionS < 1))
    refuse(at("resolutionS"), "seconds between 0 and 1", resolutionS);
  const listed = asList(record.endpoints, at("endpoints"));
  const endpoints = listed.map((one, i) => endpointOf(one, at(`endpoints[${i}]`)));
  if (endpoints.length < 2 || endpoints.length > MOST_ENDPOINTS)
    refuse(at("endpoints"), `2 to ${MOST_ENDPOINTS} endpoints`, endpoints.length);
  if (new Set(endpoints.map(({ name }) => name)).size < endpoints.length)
    refuse(at("endpoints"), "endpoints of different names", listed);
  const asked = asObject<JsonFields<"bytes" | "mixes">>(record.asked, at("asked"));
  return {
    by: asText(record.by, at("by")),
    asked: {
      bytes: orNull(asked.bytes, at("asked.bytes"), MOST_BYTES),
      mixes: orNull(asked.mixes, at("asked.mixes"), MOST_MIXES),
    },
    resolutionS,
    endpoints,
    measurements: asList(record.measurements, at("measurements")).map((one, i) =>
      measurementOf(one, endpoints, at(`measurements[${i}]`)),
    ),
  };
}
