import "./draw.css";

/** Colours of the page's scheme, for canvases: a CSS colour stays what it is, "--name" is looked up. */
export interface Palette {
  (colour: string): string;
  /** Black or white, whichever is read better on the colour. */
  on(colour: string): string;
  readonly isDark: boolean;
}

/** Returns the palette as an element sees it now. */
export function paletteOf(element: Element): Palette {
  const style = getComputedStyle(element);
  const found = new Map<string, string>();
  const pens = new Map<string, string>();
  const resolve = (colour: string): string => {
    if (!colour.startsWith("--")) return colour;
    const value = found.get(colour) ?? style.getPropertyValue(colour).trim();
    found.set(colour, value);
    return value;
  };
  const on = (colour: string): string => {
    const pen = pens.get(colour) ?? (lightness(resolve(colour)) > 0.32 ? "#10151d" : "#ffffff");
    pens.set(colour, pen);
    return pen;
  };
  return Object.assign(resolve, { on, isDark: lightness(resolve("--page")) < 0.2 });
}

let reader: CanvasRenderingContext2D | null = null;

/** Returns the relative luminance of a CSS colour, 0 .. 1. */
function lightness(colour: string): number {
  reader ??= new OffscreenCanvas(1, 1).getContext("2d", {
    willReadFrequently: true,
  }) as unknown as CanvasRenderingContext2D;
  reader.clearRect(0, 0, 1, 1);
  reader.fillStyle = "#888";
  reader.fillStyle = colour;
  reader.fillRect(0, 0, 1, 1);
  const [r, g, b] = Array.from(reader.getImageData(0, 0, 1, 1).data.subarray(0, 3), (byte) => {
    const share = byte / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** Calls back when the page turns light or dark; returns what ends that. */
export function onScheme(changed: () => void): () => void {
  const observer = new MutationObserver(changed);
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ["data-scheme"] });
  return () => observer.disconnect();
}

/** Calls back in the next frame, or, where the page is being printed and there is none, now. Returns the frame; 0 where it is done. */
export function atNextFrame(paint: () => void): number {
  if (document.documentElement.dataset["printing"] === undefined) return requestAnimationFrame(paint);
  paint();
  return 0;
}
