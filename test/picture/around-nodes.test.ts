import { describe, expect, it } from "vitest";
import { topologySvg } from "../../src/export/pictures/svg-topology.ts";
import { presetTopology } from "../../src/model/presets/preset.ts";
import { layoutOf } from "../../src/picture/scene/layout.ts";
import { wiresOf } from "../../src/picture/scene/wires.ts";
import { SMALL_PRESETS } from "../support/small-presets.ts";

/** What an SVG shows, read from its text: nodes with their outlines, wires by their points, names with what they cover. */
interface Seen {
  readonly nodes: readonly { readonly name: string; inside(x: number, y: number): boolean }[];
  readonly wires: readonly {
    readonly ends: readonly string[];
    readonly points: readonly (readonly [number, number])[];
  }[];
  readonly texts: readonly { readonly text: string; readonly box: readonly [number, number, number, number] }[];
}

const number = (text: string, name: string): number =>
  Number(new RegExp(` ${name}="(-?[\\d.]+)"`).exec(text)?.[1] ?? Number.NaN);

function seenIn(svg: string): Seen {
  const circles = [...svg.matchAll(/<circle [^>]*class="npu[^>]*><title>NPU ([^<]*)<\/title>/g)].map(([text, name]) => {
    const [x, y, r] = ["cx", "cy", "r"].map((key) => number(text, key));
    return { name, inside: (atX: number, atY: number) => Math.hypot(atX - x, atY - y) < r };
  });
  const rects = [...svg.matchAll(/<rect [^>]*class="switch[^>]*><title>switch ([^<]*)<\/title>/g)].map(
    ([text, name]) => {
      const [x, y, wide, tall] = ["x", "y", "width", "height"].map((key) => number(text, key));
      return { name, inside: (atX: number, atY: number) => atX > x && atX < x + wide && atY > y && atY < y + tall };
    },
  );
  const wires = [...svg.matchAll(/<path d="M([^"]*)" class="wire[^>]*><title>([^<]*): [^<]*<\/title>/g)].map(
    ([, way, ends]) => {
      const [x0, y0, ...rest] = way
        .split(/[LQ ]+/)
        .filter((part) => part !== "")
        .map(Number);
      const [cx, cy, x1, y1] = rest.length === 4 ? rest : [(x0 + rest[0]) / 2, (y0 + rest[1]) / 2, rest[0], rest[1]];
      const points = Array.from({ length: 301 }, (_, i): readonly [number, number] => {
        const share = i / 300;
        const [first, middle, last] = [(1 - share) ** 2, 2 * share * (1 - share), share ** 2];
        return [first * x0 + middle * cx + last * x1, first * y0 + middle * cy + last * y1];
      });
      return { ends: ends.split(" – "), points };
    },
  );
  const texts = [...svg.matchAll(/<text ([^>]*text-anchor="middle"[^>]*)>([^<]*)<\/text>/g)].map(([, given, text]) => {
    const size = Number(/font-size:([\d.]+)px/.exec(given)?.[1] ?? 12);
    const [x, y] = [number(` ${given}`, "x"), number(` ${given}`, "y")];
    const half = 0.3 * size * [...text].length;
    return { text, box: [x - half, y - 0.8 * size, x + half, y + 0.2 * size] as const };
  });
  return { nodes: [...circles, ...rects], wires, texts };
}

describe("the picture of a network", () => {
  it.each(SMALL_PRESETS)("of %s has no wire through a node that is not its end, and no name over another", (name) => {
    const topology = presetTopology(name);
    const { nodes, wires, texts } = seenIn([...topologySvg(topology)].join(""));
    expect(nodes).toHaveLength(topology.nodeNames.length);
    expect(wires).toHaveLength(wiresOf(topology).length);
    const through = wires.flatMap(({ ends, points }) =>
      nodes
        .filter((node) => !ends.includes(node.name) && points.some(([x, y]) => node.inside(x, y)))
        .map((node) => `${ends.join(" - ")} through ${node.name}`),
    );
    expect(through).toEqual([]);
    const over = texts.flatMap(({ text, box: a }, i) =>
      texts
        .slice(0, i)
        .filter(({ box: b }) => a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3])
        .map((other) => `${text} over ${other.text}`),
    );
    expect(over).toEqual([]);
  });

  it("bends only wires that would meet a node: those of two rails on two boxes", () => {
    const topology = presetTopology("dgx-h100:2");
    const wires = wiresOf(topology);
    const { bend } = layoutOf(topology, wires);
    const bent = wires.filter(({ a, b }) => bend(a, b) !== 0).map(({ b }) => topology.nodeNames[b]);
    expect(bent).toEqual(["rail2", "rail5"]);
  });
});
