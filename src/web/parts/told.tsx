import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { say } from "../state/actions.ts";

interface ToldProps {
  readonly class: string;
  /** The same in words. */
  readonly text: string;
  /** What it answers: another one is told anew. */
  readonly of: unknown;
  readonly children: ComponentChildren;
}

/** What an act led to. Where it comes out of sight, because the page was scrolled to what was pressed, a note says it too. */
export function Told({ class: name, text, of, children }: ToldProps) {
  const place = useRef<HTMLParagraphElement>(null);
  useEffect(() => {
    const observer = new IntersectionObserver(([seen]) => {
      observer.disconnect();
      if (!seen.isIntersecting) say(text);
    });
    observer.observe(place.current as HTMLParagraphElement);
    return () => observer.disconnect();
  }, [of]);
  return (
    <p ref={place} class={name} role="status">
      {children}
    </p>
  );
}
