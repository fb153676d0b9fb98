import type { RefObject } from "preact";
import type { Zooming } from "../draw/zooming.ts";
import "./zoom-tools.css";

interface ZoomToolsProps {
  /** Of what the view is. */
  readonly of: string;
  readonly zoomed: RefObject<Zooming | null>;
}

/** Buttons that zoom a picture, which keys do too. */
export const ZoomTools = ({ of, zoomed }: ZoomToolsProps) => (
  <fieldset class="zoom-tools" aria-label={`View of ${of}`}>
    <button type="button" title="Zoom in (+)" aria-label="Zoom in" onClick={() => zoomed.current?.by(1.5)}>
      +
    </button>
    <button type="button" title="Zoom out (-)" aria-label="Zoom out" onClick={() => zoomed.current?.by(1 / 1.5)}>
      −
    </button>
    <button
      type="button"
      title="Show everything (0)"
      aria-label="Show everything"
      onClick={() => zoomed.current?.fit()}
    >
      ⤢
    </button>
  </fieldset>
);
