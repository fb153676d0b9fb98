import { options, type VNode } from "preact";
import { visible, visibleLines } from "../../visible.ts";

/** Attributes that are shown or read out. */
const SHOWN = ["title", "alt", "placeholder", "aria-label", "aria-description", "aria-valuetext"] as const;

/** Makes every text that the page shows from now on visible (`visible`); what people type and what is sent stays as it is. */
export function showVisibleTexts(): void {
  const before = options.vnode;
  options.vnode = (node: VNode<unknown>) => {
    if (typeof node.props === "string") node.props = visibleLines(node.props);
    else if (typeof node.type === "string") {
      const props = node.props as Record<string, unknown>;
      for (const name of SHOWN) {
        const text = props[name];
        if (typeof text === "string") props[name] = visible(text);
      }
    }
    before?.(node);
  };
}
