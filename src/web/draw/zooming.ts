import { select } from "d3-selection";
import { type D3ZoomEvent, type ZoomBehavior, zoom, zoomIdentity, zoomTransform } from "d3-zoom";
import { between, type Camera, centred, type Extent, fitted, type Region } from "./camera.ts";

/** The camera of an element: moved by wheel, drag and pinch, and on request. */
export interface Zooming {
  /** Shows everything. */
  fit(): void;
  by(factor: number): void;
  pan(dx: number, dy: number): void;
  /** Goes to a region, in steps that can be followed unless motion is not wanted. */
  goTo(region: Region): void;
  /** Keeps what is in the middle there; everything stays in view where it was. */
  resize(view: Extent): void;
  camera(): Camera;
  end(): void;
}

const LONGEST_MS = 260;
/** Nodes are drawn at most so large (pixels, radius). */
const MOST_RADIUS = 70;

/** A network's size, and the radius of its nodes. */
type Whole = Extent & { readonly radius: number };

/** Holds a camera to a network: from a little more than all of it down to large nodes, and not far beyond its edges. */
function limit(behaviour: ZoomBehavior<HTMLElement, unknown>, whole: Whole, view: Extent): void {
  const { k } = fitted(whole, view);
  behaviour
    .extent([
      [0, 0],
      [view.width, view.height],
    ])
    .scaleExtent([k * 0.6, Math.max(k * 3, MOST_RADIUS / whole.radius)])
    .translateExtent([
      [-whole.width * 0.6, -whole.height * 0.6],
      [whole.width * 1.6, whole.height * 1.6],
    ]);
}

/**
 * Returns the zooming of an element, a canvas say, over a picture. `isTaken` says of a gesture's event that it is meant for
 * something else. One finger moves the page as long as everything is in view.
 */
export function zooming(
  element: HTMLElement,
  whole: Whole,
  isTaken: (event: MouseEvent | TouchEvent) => boolean,
  moved: (camera: Camera) => void,
): Zooming {
  let view: Extent = { width: element.clientWidth || 1, height: element.clientHeight || 1 };
  let going = 0;
  const node = select(element);
  const fit = (): Camera => fitted(whole, view);
  const now = (): Camera => zoomTransform(element);
  const isFit = (): boolean => Math.abs(Math.log(now().k / fit().k)) < 0.02;
  const behaviour = zoom<HTMLElement, unknown>()
    .filter((event: MouseEvent & TouchEvent) => {
      if (isTaken(event)) return false;
      if (event.type === "touchstart" && event.touches.length === 1 && isFit()) return false;
      return (!event.ctrlKey || event.type === "wheel") && !event.button;
    })
    .clickDistance(4)
    .on("zoom", ({ transform, sourceEvent }: D3ZoomEvent<HTMLElement, unknown>) => {
      if (sourceEvent !== null) cancelAnimationFrame(going);
      element.style.touchAction = isFit() ? "pan-y" : "none";
      moved(transform);
    });
  const put = ({ k, x, y }: Camera): void => {
    node.call(behaviour.transform, zoomIdentity.translate(x, y).scale(k));
  };
  const go = (to: Camera): void => {
    cancelAnimationFrame(going);
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) {
      put(to);
      return;
    }
    const [from, started] = [now(), performance.now()];
    const step = (): void => {
      const share = Math.min(1, (performance.now() - started) / LONGEST_MS);
      put(share === 1 ? to : between(from, to, share * share * (3 - 2 * share), view));
      if (share < 1) going = requestAnimationFrame(step);
    };
    step();
  };
  limit(behaviour, whole, view);
  node.call(behaviour).on("dblclick.zoom", null);
  put(fit());
  return {
    fit: () => go(fit()),
    by(factor) {
      cancelAnimationFrame(going);
      node.call(behaviour.scaleBy, factor);
    },
    pan(dx, dy) {
      cancelAnimationFrame(going);
      node.call(behaviour.translateBy, dx / now().k, dy / now().k);
    },
    goTo: (region) => go(centred(region, view, 40, Math.max(fit().k, 22 / whole.radius))),
    resize(next) {
      const wasFit = isFit();
      const { k, x, y } = now();
      const middle = [(view.width / 2 - x) / k, (view.height / 2 - y) / k];
      view = next;
      limit(behaviour, whole, view);
      put(wasFit ? fit() : { k, x: view.width / 2 - k * middle[0], y: view.height / 2 - k * middle[1] });
    },
    camera: now,
    end() {
      cancelAnimationFrame(going);
      node.on(".zoom", null);
    },
  };
}
