import { describe, expect, it } from "vitest";
import { recordJsonParts } from "../../src/export/measurements/record-json.ts";
import { readProbeRecord } from "../../src/import/measurements/record-json.ts";
import { inferNetwork } from "../../src/infer/infer.ts";
import { topologyHash } from "../../src/model/topology/topology.ts";
import { recording, replaying } from "../../src/probe/recorded.ts";
import { probeRecord } from "../support/probe-record.ts";
import { refusalFrom } from "../support/refusals.ts";

describe("files of measurements", () => {
  it.each(["ring:4@0.025GB/s", "switch:5@0.025GB/s"])(
    "of %s are read as they were written, and infer the same",
    async (network) => {
      const { text, inferred, kept } = await probeRecord(network, 3);
      const record = readProbeRecord(text, "m.json");
      expect([...recordJsonParts(record)].join("")).toBe(text);
      expect(record.measurements).toEqual(kept);
      const again = await inferNetwork(replaying(record, "m.json"), { mixes: 4 });
      expect(topologyHash(again.topology)).toBe(topologyHash(inferred.topology));
      expect(again.check).toEqual(inferred.check);
      expect(again.topology.npuCount).toBe(inferred.endpoints.length);
    },
  );

  it("of fewer repeats than were asked for hold what was measured", async () => {
    const { kept, inferred } = await probeRecord("ring:4@0.025GB/s", 5, 7);
    expect(kept.every(({ experiment }) => experiment.repeats <= 7)).toBe(true);
    expect(kept.some(({ experiment }) => experiment.repeats === 7)).toBe(true);
    for (const { experiment, seconds } of kept)
      expect(seconds.length).toBe(experiment.repeats * experiment.flows.length);
    expect(inferred.topology.linkSource.length).toBe(8);
    // rates are those of the hidden links, with the noise of the simulation
    for (const rate of inferred.topology.linkBytesPerSecond) expect(Math.abs(rate / 25e6 - 1)).toBeLessThan(0.15);
  });

  it("answer what was asked twice in the order in which it was measured, and refuse what was not measured", async () => {
    const flows = [{ source: 0, target: 1 }];
    const one = (seconds: number) => ({
      experiment: { flows, bytes: 8, repeats: 1 },
      seconds: Float64Array.of(seconds),
    });
    const endpoints = [0, 1].map((i) => ({ kind: "npu" as const, name: `${i}`, host: "h" }));
    const prober = replaying({ endpoints, resolutionS: 1e-6, measurements: [one(1), one(2)] }, "m.json");
    const kept: ReturnType<typeof one>[] = [];
    const keeping = recording(prober, kept as never);
    for (const seconds of [1, 2, 2])
      expect([...(await keeping.measure([one(0).experiment]))[0].seconds]).toEqual([seconds]);
    expect(kept.map(({ seconds }) => seconds[0])).toEqual([1, 2, 2]);
    await expect(prober.measure([{ flows, bytes: 9, repeats: 1 }])).rejects.toThrow(
      "m.json has no measurement of 9 bytes",
    );
  });

  const small = {
    ...{ format: "banyan-measurements", version: 1, asked: { bytes: 8, mixes: null }, by: "x", resolutionS: 1e-6 },
    endpoints: [
      { kind: "npu", name: "0", host: "a" },
      { kind: "cpu", name: "cpu0", host: "b" },
      { kind: "npu", name: "1", host: "b" },
    ],
    measurements: [{ bytes: 8, repeats: 2, flows: "0>2", seconds: [1e-5, 2e-5] }],
  };
  const measured = (change: object) => ({ ...small, measurements: [{ ...small.measurements[0], ...change }] });
  it.each([
    ["another format", { ...small, format: "banyan-topology" }, "m.json: format"],
    ["another version", { ...small, version: 2 }, "m.json: version"],
    ["no word of what was asked", { ...small, asked: null }, "m.json: asked"],
    ["no mixes", { ...small, asked: { bytes: 8, mixes: 0 } }, "m.json: asked.mixes"],
    ["no clock", { ...small, resolutionS: 0 }, "m.json: resolutionS"],
    ["one endpoint", { ...small, endpoints: small.endpoints.slice(0, 1) }, "m.json: endpoints"],
    ["two of one name", { ...small, endpoints: [small.endpoints[0], small.endpoints[0]] }, "m.json: endpoints"],
    [
      "a strange endpoint",
      { ...small, endpoints: [{ kind: "gpu", name: "0", host: "a" }] },
      "m.json: endpoints[0].kind",
    ],
    ["a flow to nobody", measured({ flows: "0>3" }), "m.json: measurements[0].flows"],
    ["a flow to itself", measured({ flows: "0>0" }), "m.json: measurements[0].flows"],
    ["a flow that cannot be sent", measured({ flows: "0>1" }), "m.json: measurements[0].flows"],
    ["a time too few", measured({ seconds: [1] }), "m.json: measurements[0].seconds"],
    ["no time", measured({ seconds: [1, null] }), "m.json: measurements[0].seconds[1]"],
    ["no repeats", measured({ repeats: 0 }), "m.json: measurements[0].repeats"],
  ])("with %s are refused at the place", (_, value, place) => {
    expect(refusalFrom(() => readProbeRecord(JSON.stringify(value), "m.json"))).toMatchObject({ place });
  });

  it("that were cut off are refused", () => {
    const text = JSON.stringify(small);
    for (const length of [0, 1, 40, text.length - 1])
      expect(() => readProbeRecord(text.slice(0, length), "m.json")).toThrow("m.json");
    expect(readProbeRecord(text, "m.json").measurements).toHaveLength(1);
  });
});
