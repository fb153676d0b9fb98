/** Where the eye is: a point of the network is drawn at (x, y) times k plus the camera's x, y. */
export interface Camera {
  readonly k: number;
  readonly x: number;
  readonly y: number;
}

export interface Extent {
  readonly width: number;
  readonly height: number;
}

/** A rectangle of the network. */
export interface Region {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** Returns the camera that shows all of `whole` in the middle of `view`, with a margin in pixels. */
export function fitted(whole: Extent, view: Extent, margin = 14): Camera {
  return centred({ left: 0, top: 0, right: whole.width, bottom: whole.height }, view, margin);
}

/** Returns the camera that shows a region in the middle of `view`, no larger than `most`. */
export function centred(region: Region, view: Extent, margin: number, most = Number.POSITIVE_INFINITY): Camera {
  const room = (length: number): number => Math.max(1, length - 2 * margin);
  const wide = Math.max(1e-6, region.right - region.left);
  const tall = Math.max(1e-6, region.bottom - region.top);
  const k = Math.min(room(view.width) / wide, room(view.height) / tall, most);
  return {
    k,
    x: view.width / 2 - (k * (region.left + region.right)) / 2,
    y: view.height / 2 - (k * (region.top + region.bottom)) / 2,
  };
}

/** Returns what of the network is seen. */
export function seen({ k, x, y }: Camera, { width, height }: Extent): Region {
  return { left: -x / k, top: -y / k, right: (width - x) / k, bottom: (height - y) / k };
}

/** Returns a region with `by` more on every side. */
export const widened = ({ left, top, right, bottom }: Region, by: number): Region => ({
  left: left - by,
  top: top - by,
  right: right + by,
  bottom: bottom + by,
});

/** Returns whether `inner` lies within `outer`. */
export const covers = (outer: Region, inner: Region): boolean =>
  inner.left >= outer.left && inner.top >= outer.top && inner.right <= outer.right && inner.bottom <= outer.bottom;

/** Returns whether two regions share a point. */
export const meets = (one: Region, other: Region): boolean =>
  one.left <= other.right && other.left <= one.right && one.top <= other.bottom && other.top <= one.bottom;

/** Returns the camera a share (0 .. 1) of the way from one to another; scales go in equal ratios, as the eye expects. */
export function between(from: Camera, to: Camera, share: number, view: Extent): Camera {
  const k = from.k * (to.k / from.k) ** share;
  // the point in the middle moves evenly in the scale that is reached
  const weight = Math.abs(to.k - from.k) < 1e-9 * from.k ? share : (1 / from.k - 1 / k) / (1 / from.k - 1 / to.k);
  const middle = ({ k: scale, x, y }: Camera): readonly [number, number] => [
    (view.width / 2 - x) / scale,
    (view.height / 2 - y) / scale,
  ];
  const [[x0, y0], [x1, y1]] = [middle(from), middle(to)];
  return {
    k,
    x: view.width / 2 - k * (x0 + (x1 - x0) * weight),
    y: view.height / 2 - k * (y0 + (y1 - y0) * weight),
  };
}
