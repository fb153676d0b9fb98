import { options, type VNode } from "preact";
import { visible, visibleLines } from "../../base/visible.ts";

/** Returns a text with microseconds as people write them; what is typed, as in "0.5us", has no space before its unit. */
export const withMicro = (text: string): string => text.replace(/(\d) us(?![\w-])/g, "$1 \u00b5s");

/** Returns a text within a line as the page shows it. */
export const shownText = (text: string): string => withMicro(visible(text));

/** Attributes that are shown or read out. */
const SHOWN = ["title", "alt", "placeholder", "aria-label", "aria-description", "aria-valuetext"] as const;

/** Returns the texts among an element's children visible, what else they are as it is. */
function shownOf(children: unknown): unknown {
  if (typeof children === "string") return shownText(children);
  return Array.isArray(children) ? children.map(shownOf) : children;
}

/**
 * Makes every text that the page shows from now on visible (`visible`), microseconds with their sign; line breaks stay in `pre` and in elements with
 * `data-lines`. What people type and what is sent stays as it is.
 */
export function showVisibleTexts(): void {
  const before = options.vnode;
  options.vnode = (node: VNode<unknown>) => {
    // texts that no element has for a child; what is shown already stays as it is
    if (typeof node.props === "string") Object.assign(node, { props: withMicro(visibleLines(node.props)) });
    else if (typeof node.type === "string") {
      const props = node.props as Record<string, unknown>;
      for (const name of SHOWN) {
        const text = props[name];
        if (typeof text === "string") props[name] = shownText(text);
      }
      const { children } = props;
      if (children !== undefined && node.type !== "pre" && props["data-lines"] === undefined)
        props["children"] = shownOf(children);
    }
    before?.(node);
  };
}
