import { describe, expect, it } from "vitest";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { fitted, seen } from "../../../src/web/draw/camera.ts";
import { areaOf, type Label, labelsOf } from "../../../src/web/draw/labels.ts";
import { nodesSeen } from "../../../src/web/draw/paint.ts";
import { pointOn, shapesOf, upright } from "../../../src/web/draw/shapes.ts";
import type { NetworkView } from "../../../src/web/protocol.ts";
import { networkView } from "../../../src/web/worker/network-view.ts";
import { SMALL_PRESETS } from "../../support/small-presets.ts";

/** As wide pages draw it, and as narrow ones do. */
const drawings = (preset: string): readonly NetworkView[] => {
  const network = networkView(presetTopology(preset));
  const turned = upright(network);
  return turned === network ? [network] : [network, turned];
};

const VIEWS = [
  { width: 360, height: 220 },
  { width: 640, height: 360 },
  { width: 1500, height: 900 },
];

/** Wires, as "a-b through c", that pass within what is drawn of a node that is not their end. */
function through(network: NetworkView): string[] {
  const { x, y, radius } = network.placement;
  const { a, b } = network.wires;
  const { halfWidth, halfHeight } = shapesOf(network);
  const { nodeNames, npuCount } = network;
  const found = new Set<string>();
  for (let wire = 0; wire < a.length; wire++) {
    for (let i = 0; i <= 150; i++) {
      const at = pointOn(network, wire, i / 150);
      for (let node = 0; node < x.length; node++) {
        const [dx, dy] = [Math.abs(at.x - x[node]), Math.abs(at.y - y[node])];
        const isInside = node < npuCount ? Math.hypot(dx, dy) < radius : dx < halfWidth[node] && dy < halfHeight;
        if (isInside && node !== a[wire] && node !== b[wire])
          found.add(`${nodeNames[a[wire]]}-${nodeNames[b[wire]]} through ${nodeNames[node]}`);
      }
    }
  }
  return [...found];
}

function overlaps(labels: readonly Label[]): string[] {
  return labels.flatMap((label, i) => {
    const one = areaOf(label);
    return labels
      .slice(0, i)
      .filter((other) => {
        const two = areaOf(other);
        return one.left < two.right && two.left < one.right && one.top < two.bottom && two.top < one.bottom;
      })
      .map((other) => `${label.text} over ${other.text}`);
  });
}

const labelsIn = (network: NetworkView, view: (typeof VIEWS)[number], ranks: boolean): Label[] => {
  const camera = fitted(network.placement, view);
  const region = seen(camera, view);
  const members = Array.from({ length: Math.min(64, network.npuCount) }, (_, npu) => npu);
  const nodes = new Map(members.map((npu) => [npu, { colour: "--chosen", text: `${npu}` }] as const));
  return labelsOf(network, camera, region, nodesSeen(network, region), ranks ? { nodes } : undefined);
};

describe("a drawn network", () => {
  it.each(SMALL_PRESETS)("of %s has no wire through a node that is not its end", (preset) => {
    expect(drawings(preset).flatMap(through)).toEqual([]);
  });

  it.each(SMALL_PRESETS)(
    "of %s has no label over another, in small and in large pictures, with ranks or not",
    (preset) => {
      for (const network of drawings(preset)) {
        for (const view of VIEWS) {
          for (const ranks of [false, true]) expect(overlaps(labelsIn(network, view, ranks))).toEqual([]);
        }
      }
    },
  );

  it("has the name of every node of a large picture, and of every chosen NPU its rank", () => {
    const labels = labelsIn(networkView(presetTopology("dgx-h100:2")), VIEWS[2], true);
    const texts = (kind: Label["kind"]): string[] =>
      labels.filter((label) => label.kind === kind).map(({ text }) => text);
    expect(texts("box")).toEqual(["box0", "box1"]);
    expect(texts("node")).toHaveLength(26);
    expect(texts("mark")).toEqual(Array.from({ length: 16 }, (_, rank) => `${rank}`));
  });
});
