import { describe, expect, it } from "vitest";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { routeCount } from "../../../src/model/routes/routes.ts";
import { routesOf } from "../../../src/model/routes/routing.ts";
import { degreeText, mostDegree, type SwitchDegree } from "../../../src/model/routes/switch-degrees.ts";
import { refusalFrom } from "../../support/refusals.ts";

const boxes = presetTopology("dgx-h100:4");

/** Returns, for routes within a box and between boxes, the shares of their links that come up, as "1/7". */
function sharesOf(degree: SwitchDegree) {
  const { source, target, linkOffset, links, shareNum, shareDen } = routesOf(boxes, degree);
  const within = new Set<string>();
  const between = new Set<string>();
  source.forEach((from, route) => {
    const shares = Math.floor(from / 8) === Math.floor(target[route] / 8) ? within : between;
    for (let i = linkOffset[route]; i < linkOffset[route + 1]; i++) shares.add(`${shareNum[i]}/${shareDen[i]}`);
  });
  return { routes: links.length / 2, within: [...within], between: [...between] };
}

describe("degrees of unwinding by names of switches", () => {
  it("unwind each connected set of switches with its own", () => {
    expect(sharesOf({ "nvsw*": 7, "rail*": 1 })).toEqual({ routes: 32 * 8, within: ["1/7"], between: ["1/1"] });
    expect(sharesOf({ "rail*": 3, "nvsw*": 2 })).toEqual({ routes: 32 * 5, within: ["1/2"], between: ["1/3"] });
  });

  it("are 1 where no name fits, and the first that fits counts", () => {
    expect(routesOf(boxes, {})).toEqual(routesOf(boxes, 1));
    expect(routesOf(boxes, { "*": 2 })).toEqual(routesOf(boxes, 2));
    expect(routesOf(boxes, { nvsw0: 2, "nvsw*": 1 })).toEqual(routesOf(boxes, { nvsw0: 2 }));
    expect(routeCount(routesOf(boxes, { nvsw0: 2 }))).toBe(64 + 8);
  });

  it.each<[Readonly<Record<string, number>>, string, string?]>([
    [{ nvsw: 2 }, "no switch is called nvsw; its switches are nvsw0, nvsw1, nvsw2, nvsw3, rail0, rail1, rail2, ..."],
    [{ "nv*": 2, nvsw0: 1 }, "no switch is called nvsw0 that an earlier name does not fit"],
    [{ "nvsw.": 2 }, "no switch is called nvsw."],
    [{ "a*": 2 }, "the network has no switches", "mesh:4x4"],
    [{ "leaf*": 2, spine0: 1 }, "leaf0 (2) and spine0 (1) are connected switches", "fat-tree:8x4"],
  ])("%j is refused: %s", (degrees, sentence, network = "dgx-h100:4") => {
    expect(refusalFrom(() => routesOf(presetTopology(network), degrees)).message).toContain(sentence);
  });

  it("have words, and a greatest one", () => {
    expect(degreeText({ "nvsw*": 7, "rail*": 1 })).toBe("degrees nvsw*=7,rail*=1");
    expect([mostDegree("ports"), mostDegree(3), mostDegree({}), mostDegree({ a: 4, b: 2 })]).toEqual([0, 3, 1, 4]);
  });
});
