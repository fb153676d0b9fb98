import { Fragment, h, options, type VNode } from "preact";
import { expect, it } from "vitest";
import { showVisibleTexts } from "../../../src/web/parts/visible-texts.ts";

it("makes shown texts and attributes visible, and leaves what people type and what is sent", () => {
  const before = options.vnode;
  const seen: unknown[] = [];
  options.vnode = (node: VNode) => void seen.push(node);
  try {
    showVisibleTexts();
    const button = h("button", { title: "a\u202eb\n", "aria-label": "\u200b", value: "\u202e" }, "x");
    expect(button.props).toMatchObject({ title: "a\\u202eb\\n", "aria-label": "\\u200b", value: "\u202e" });
    // how the library makes the node of a text
    const text = h("p", {}, "\u202e\u001b\n").props;
    const node = { type: null, props: text.children as string } as unknown as VNode;
    options.vnode?.(node);
    expect(node.props).toBe("\\u202e\\u001b\n");
    expect(h(Fragment, {}, "\u202e").props.children).toBe("\u202e");
    expect(seen.length).toBe(4);
  } finally {
    if (before === undefined) delete options.vnode;
    else options.vnode = before;
  }
});
