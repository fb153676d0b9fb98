import type { GivenFile } from "../protocol.ts";

/** Returns the canvases of an element that are seen, as one picture on the page's colour; null where there are none. */
function pictureOf(element: Element): HTMLCanvasElement | null {
  const parts = [...element.querySelectorAll("canvas")]
    .map((canvas) => ({ canvas, box: canvas.getBoundingClientRect() }))
    .filter(({ canvas, box }) => box.width > 0 && box.height > 0 && canvas.width > 0);
  if (parts.length === 0) return null;
  const left = Math.min(...parts.map(({ box }) => box.left));
  const top = Math.min(...parts.map(({ box }) => box.top));
  const width = Math.max(...parts.map(({ box }) => box.right)) - left;
  const height = Math.max(...parts.map(({ box }) => box.bottom)) - top;
  const scale = Math.max(...parts.map(({ canvas, box }) => canvas.width / box.width));
  const picture = document.createElement("canvas");
  picture.width = Math.round(width * scale);
  picture.height = Math.round(height * scale);
  const pen = picture.getContext("2d");
  if (pen === null) return null;
  pen.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--panel").trim();
  pen.fillRect(0, 0, picture.width, picture.height);
  pen.scale(scale, scale);
  for (const { canvas, box } of parts) pen.drawImage(canvas, box.left - left, box.top - top, box.width, box.height);
  return picture;
}

/**
 * Returns what the view that is shown has drawn, as PNG; null where it has drawn nothing that is a picture. Rejects where the
 * browser makes none of it, as of one that is too large.
 */
export async function pictureFile(name: string): Promise<GivenFile | null> {
  const view = document.querySelector('[role="tabpanel"]');
  const picture = view === null ? null : pictureOf(view);
  if (picture === null) return null;
  const content = await new Promise<Blob | null>((done) => picture.toBlob(done, "image/png"));
  if (content === null) throw new Error("the browser cannot make a picture of this size");
  return { name, content };
}
