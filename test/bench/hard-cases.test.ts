import { describe, expect, it } from "vitest";
import { HARD_NETWORKS, HARD_REQUIREMENTS, POLICY_NETWORKS } from "../../bench/hard-cases.mjs";
import { presetTopology } from "../../src/model/presets/preset.ts";
import { unreachablePair, without } from "../../src/model/topology/modify.ts";

/** An entry as a plain record: the bench is JavaScript. */
type Entry = { network: string; group: string; topology?: string; without?: string[]; chunks?: number };

const entries = [...HARD_NETWORKS, ...POLICY_NETWORKS] as unknown as Entry[];
const built = ({ network, topology = network, without: gone = [] }: Entry) => without(presetTopology(topology), gone);

describe("the hard networks", () => {
  it("can be built, and everything still reaches everything", () => {
    for (const entry of entries) expect(unreachablePair(built(entry)), entry.network).toBeNull();
  });

  it("lack what their names say", () => {
    for (const entry of entries) {
      const whole = presetTopology(entry.topology ?? entry.network);
      const t = built(entry);
      const gone = entry.without?.length ?? 0;
      const byLinks = entry.without?.some((name) => name.includes("-")) ?? false;
      expect(whole.npuCount - t.npuCount, entry.network).toBe(byLinks ? 0 : gone);
      if (byLinks) expect(whole.linkSource.length - t.linkSource.length, entry.network).toBe(2 * gone);
    }
  });

  it("are all asked something, by name", () => {
    const networks = HARD_NETWORKS as unknown as Entry[];
    expect(new Set(networks.map(({ network }) => network)).size).toBe(networks.length);
    const asked = networks.filter((entry) => HARD_REQUIREMENTS.some(({ of }) => of({ ...entry } as never)));
    expect(asked).toEqual(networks);
    expect(POLICY_NETWORKS.length).toBeGreaterThan(10);
  });
});
