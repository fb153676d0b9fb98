import { describe, expect, it } from "vitest";
import { presetTopology } from "../../src/model/presets/preset.ts";
import { refusalOf } from "../../src/synthesize/applicable.ts";
import { tacosIlp } from "../../src/synthesize/ilp/ilp.ts";
import { tacos } from "../../src/synthesize/tacos/tacos.ts";
import { commandsHere } from "../support/cli-here.ts";
import { wholeCollective } from "../support/synthesis.ts";

const here = commandsHere();

describe("matching on more NPUs than it can relay between", () => {
  it("is refused by what is asked alone, for collectives whose chunks have one source and one target", () => {
    const large = presetTopology("mesh:6001x1");
    const small = presetTopology("mesh:6000x1");
    for (const maker of [tacos, tacosIlp]) {
      for (const kind of ["gather", "scatter"] as const) {
        expect(refusalOf(maker, large, wholeCollective(large, kind, 6001))).toMatch(/^at most 6000 NPUs/);
        expect(refusalOf(maker, small, wholeCollective(small, kind, 6000))).toBeNull();
      }
      for (const kind of ["allgather", "allreduce", "reducescatter", "broadcast"] as const)
        expect(refusalOf(maker, large, wholeCollective(large, kind, 6001))).toBeNull();
    }
  });

  it("is refused before anything is bounded or solved", async () => {
    const { failure } = await here.ends("synth mesh:100x100 -c alltoall -a tacos-ilp");
    expect(failure).toMatchObject({ code: 2, place: "--algorithm" });
    expect(failure?.message).toMatch(/tacos-ilp needs at most 6000 NPUs for a gather, scatter or all-to-all/);
  });
});
