import { useLayoutEffect, useRef } from "preact/hooks";
import { tipOf } from "../../draw/tips.ts";
import type { NetworkView } from "../../protocol.ts";
import type { Selection } from "../../state/store.ts";

interface TipProps {
  readonly network: NetworkView;
  readonly at: Selection;
  readonly x: number;
  readonly y: number;
}

/** What is said of the node or wire that is pointed at, beside the pointer and inside the picture. */
export function Tip({ network, at, x, y }: TipProps) {
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const element = box.current;
    const parent = element?.offsetParent;
    if (element === null || parent === null || parent === undefined) return;
    const [wide, tall] = [element.offsetWidth, element.offsetHeight];
    const left = x + 14 + wide > parent.clientWidth ? x - 14 - wide : x + 14;
    const top = y + 14 + tall > parent.clientHeight ? y - 10 - tall : y + 14;
    element.style.left = `${Math.max(2, Math.min(left, parent.clientWidth - wide - 2))}px`;
    element.style.top = `${Math.max(2, top)}px`;
  });
  const { title, lines } = tipOf(network, at);
  return (
    <div ref={box} class="network-canvas-tip" role="tooltip">
      <strong>{title}</strong>
      {lines.map((line) => (
        <span key={line}>{line}</span>
      ))}
    </div>
  );
}
