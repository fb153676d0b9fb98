import { Fragment, h, options, type VNode } from "preact";
import { expect, it } from "vitest";
import { showVisibleTexts, withMicro } from "../../../src/web/parts/visible-texts.ts";

it("makes shown texts and attributes visible, and leaves what people type and what is sent", () => {
  const before = options.vnode;
  const seen: unknown[] = [];
  options.vnode = (node: VNode) => void seen.push(node);
  try {
    showVisibleTexts();
    const button = h("button", { title: "a\u202eb\n", "aria-label": "\u200b", value: "\u202e" }, "x");
    expect(button.props).toMatchObject({ title: "a\\u202eb\\n", "aria-label": "\\u200b", value: "\u202e" });
    // how the library makes the node of a text
    const node = { type: null, props: "\u202e\u001b\n" } as unknown as VNode;
    options.vnode?.(node);
    expect(node.props).toBe("\\u202e\\u001b\n");
    expect(h(Fragment, {}, "\u202e").props.children).toBe("\u202e");
    expect(seen.length).toBe(3);
    const [list, kept] = [h("p", {}, "a\n", ["\u202e"], 7), h("pre", {}, "a\n")];
    expect(list.props.children).toEqual(["a\\n", ["\\u202e"], 7]);
    expect(kept.props.children).toBe("a\n");
    expect(h("p", { "data-lines": true }, "a\n").props.children).toBe("a\n");
  } finally {
    if (before === undefined) delete options.vnode;
    else options.vnode = before;
  }
});

it("writes microseconds with their sign, and leaves what is typed and what is no time", () => {
  expect(withMicro("takes 1.5 us, 3 us.")).toBe("takes 1.5 \u00b5s, 3 \u00b5s.");
  for (const kept of ["mesh:4x4@50GiB/s,0.5us", "give us 4 users", "2 us-east", "4 uses"])
    expect(withMicro(kept)).toBe(kept);
});
