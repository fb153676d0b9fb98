import { options, type VNode } from "preact";
import { visible, visibleLines } from "../../base/visible.ts";

/** Attributes that are shown or read out. */
const SHOWN = ["title", "alt", "placeholder", "aria-label", "aria-description", "aria-valuetext"] as const;

/** Returns the texts among an element's children visible, what else they are as it is. */
function shownOf(children: unknown): unknown {
  if (typeof children === "string") return visible(children);
  return Array.isArray(children) ? children.map(shownOf) : children;
}

/**
 * Makes every text that the page shows from now on visible (`visible`); line breaks stay in `pre` and in elements with
 * `data-lines`. What people type and what is sent stays as it is.
 */
export function showVisibleTexts(): void {
  const before = options.vnode;
  options.vnode = (node: VNode<unknown>) => {
    // texts that no element has for a child; what is visible already stays as it is
    if (typeof node.props === "string") Object.assign(node, { props: visibleLines(node.props) });
    else if (typeof node.type === "string") {
      const props = node.props as Record<string, unknown>;
      for (const name of SHOWN) {
        const text = props[name];
        if (typeof text === "string") props[name] = visible(text);
      }
      const { children } = props;
      if (children !== undefined && node.type !== "pre" && props["data-lines"] === undefined)
        props["children"] = shownOf(children);
    }
    before?.(node);
  };
}
