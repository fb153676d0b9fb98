import { type Signal, useSignal } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import type { NetworkCanvasProps } from "../../draw/marks.ts";
import { bandsOf, nodesWithin, nodeTowards, regionOf, shapesOf, upright, wireAt } from "../../draw/shapes.ts";
import { Stage } from "../../draw/stage.ts";
import { type Zooming, zooming } from "../../draw/zooming.ts";
import { actOnKey } from "../../parts/keys.ts";
import { isPhone } from "../../parts/media.ts";
import { ZoomTools } from "../../parts/zoom-tools.tsx";
import type { Selection } from "../../state/store.ts";
import "./network-canvas.css";
import { heatColours } from "../../../picture/scales.ts";
import { tipOf } from "../../draw/tips.ts";
import type { NetworkView } from "../../protocol.ts";

/** So near (pixels) is near enough to point at something. */
const REACH = 7;
const STEP = 60;
interface Pointed {
  readonly at: Selection;
  readonly x: number;
  readonly y: number;
}

interface Band {
  readonly x: number;
  readonly y: number;
  readonly toX: number;
  readonly toY: number;
}

/** Draws a network: zoomed and moved by wheel, pinch, drag, buttons and keys; pointed at; nodes and wires selected. */
export function NetworkCanvas(given: NetworkCanvasProps) {
  const network = useMemo(
    () => (isPhone.value ? upright(given.network) : given.network),
    [given.network, isPhone.value],
  );
  const props = { ...given, network };
  const { label, marks, height = "auto", hasLegend = true } = props;
  const { width, height: tall } = network.placement;
  const canvas = useRef<HTMLCanvasElement>(null);
  const pointed = useSignal<Pointed | null>(null);
  const { stage, zoomed } = useStage(canvas, props, pointed);
  const { band, ...pointing } = usePointing(canvas, props, pointed, stage, zoomed);
  const isOn = props.onSelect !== undefined && pointed.value !== null;
  const cursor = props.isBoxing === true ? "network-canvas-boxing" : isOn ? "network-canvas-on" : "";
  return (
    <div class="network-canvas" style={{ "--height": height, "--aspect": Math.max(0.5, Math.min(3, width / tall)) }}>
      <div class="network-canvas-picture">
        <canvas
          ref={canvas}
          class={cursor}
          role="img"
          aria-label={label}
          tabIndex={0}
          {...pointing}
          onKeyDown={(event) => onKeyDown(event, zoomed.current as Zooming, props)}
        />
        {pointed.value !== null && <Tip network={network} {...pointed.value} />}
        {band.value !== null && <BandBox {...band.value} />}
      </div>
      <div class="network-canvas-foot">
        {hasLegend && <Legend network={network} isHeat={marks?.heat !== undefined} />}
        <ZoomTools of="the network" zoomed={zoomed} />
      </div>
    </div>
  );
}

type CanvasRef = RefObject<HTMLCanvasElement | null>;

/** Paints the network on the canvas, through a camera that stays where it is while the picture has the same size. */
function useStage(canvas: CanvasRef, props: NetworkCanvasProps, pointed: Signal<Pointed | null>) {
  const { network, marks, selection = null, focus = null } = props;
  const stage = useRef<Stage | null>(null);
  const zoomed = useRef<Zooming | null>(null);
  const latest = useRef(props);
  latest.current = props;

  // with the page, not after it: paper has no later
  useLayoutEffect(() => {
    const made = new Stage(canvas.current as HTMLCanvasElement);
    stage.current = made;
    return () => made.end();
  }, [canvas]);

  // the camera stays where it is when something of the same picture fails
  const { width, height: tall, radius } = network.placement;
  useEffect(() => {
    const element = canvas.current as HTMLCanvasElement;
    const camera = zooming(
      element,
      { width, height: tall, radius },
      (event) => latest.current.onBox !== undefined && (event.shiftKey || latest.current.isBoxing === true),
      (seen) => {
        pointed.value = null;
        stage.current?.move(seen);
      },
    );
    zoomed.current = camera;
    const observer = new ResizeObserver(() => {
      const view = { width: element.clientWidth, height: element.clientHeight };
      if (view.width === 0) return;
      camera.resize(view);
      stage.current?.resize(view, window.devicePixelRatio || 1);
    });
    observer.observe(element);
    return () => {
      observer.disconnect();
      camera.end();
    };
  }, [canvas, width, tall, radius, pointed]);

  useLayoutEffect(() => stage.current?.show(network, marks, selection), [network, marks, selection]);
  useEffect(() => {
    if (focus !== null) zoomed.current?.goTo(regionOf(latest.current.network, focus));
  }, [focus]);
  // where it was pointed at may be something else now
  useEffect(() => {
    pointed.value = null;
  }, [network, pointed]);
  return { stage, zoomed };
}

/** Returns the band that is drawn around nodes, and what the canvas hears of the pointer. */
function usePointing(
  canvas: CanvasRef,
  { network, onBox, isBoxing, onSelect }: NetworkCanvasProps,
  pointed: Signal<Pointed | null>,
  stage: RefObject<Stage | null>,
  zoomed: RefObject<Zooming | null>,
) {
  const band = useSignal<Band | null>(null);
  const boxed = useRef(false);
  const place = (event: MouseEvent): readonly [number, number] => {
    const { left, top } = (canvas.current as HTMLCanvasElement).getBoundingClientRect();
    return [event.clientX - left, event.clientY - top];
  };
  const inNetwork = (x: number, y: number): readonly [number, number] => {
    const camera = (zoomed.current as Zooming).camera();
    return [(x - camera.x) / camera.k, (y - camera.y) / camera.k];
  };
  const found = (event: MouseEvent): Selection | null => {
    const [x, y] = inNetwork(...place(event));
    const { k } = (zoomed.current as Zooming).camera();
    const node = shapesOf(network).nodeAt(x, y, REACH / 2 / k);
    if (node >= 0) return { kind: "node", node };
    const wire = wireAt(network, x, y, REACH / k);
    return wire < 0 ? null : { kind: "wire", wire };
  };
  const point = (at: Selection | null, x: number, y: number): void => {
    pointed.value = at === null ? null : { at, x, y };
    stage.current?.point(at);
  };
  return {
    band,
    onPointerMove(event: PointerEvent): void {
      if (band.value !== null) {
        const [toX, toY] = place(event);
        band.value = { ...band.value, toX, toY };
      } else if (event.buttons === 0 && event.pointerType !== "touch") point(found(event), ...place(event));
    },
    onPointerDown(event: PointerEvent): void {
      if (onBox === undefined || !(event.shiftKey || isBoxing) || event.button !== 0) return;
      event.preventDefault();
      canvas.current?.setPointerCapture(event.pointerId);
      const [x, y] = place(event);
      band.value = { x, y, toX: x, toY: y };
      point(null, 0, 0);
    },
    onPointerUp(): void {
      if (band.value === null) return;
      const { x, y, toX, toY } = band.value;
      band.value = null;
      boxed.current = Math.hypot(toX - x, toY - y) > 4;
      if (!boxed.current) return;
      const [left, top] = inNetwork(Math.min(x, toX), Math.min(y, toY));
      const [right, bottom] = inNetwork(Math.max(x, toX), Math.max(y, toY));
      onBox?.(nodesWithin(network, { left, top, right, bottom }));
    },
    onPointerCancel(): void {
      band.value = null;
    },
    onPointerLeave: (): void => point(null, 0, 0),
    onClick(event: MouseEvent): void {
      if (boxed.current) boxed.current = false;
      else onSelect?.(found(event));
    },
  };
}

/** Zooms and moves; with Shift an arrow goes from node to node. */
function onKeyDown(
  event: KeyboardEvent,
  camera: Zooming,
  { network, selection = null, onSelect }: NetworkCanvasProps,
): void {
  const go = (dx: number, dy: number) => () => {
    if (!event.shiftKey) return camera.pan(-dx * STEP, -dy * STEP);
    const node = selection?.kind === "node" ? nodeTowards(network, selection.node, dx, dy) : 0;
    if (node >= 0) onSelect?.({ kind: "node", node });
  };
  actOnKey(event, {
    ArrowLeft: go(-1, 0),
    ArrowRight: go(1, 0),
    ArrowUp: go(0, -1),
    ArrowDown: go(0, 1),
    "+": () => camera.by(1.4),
    "=": () => camera.by(1.4),
    "-": () => camera.by(1 / 1.4),
    "0": () => camera.fit(),
  });
}

function BandBox({ x, y, toX, toY }: Band) {
  const style = {
    left: `${Math.min(x, toX)}px`,
    top: `${Math.min(y, toY)}px`,
    width: `${Math.abs(toX - x)}px`,
    height: `${Math.abs(toY - y)}px`,
  };
  return <div class="network-canvas-band" style={style} />;
}

interface TipProps {
  readonly network: NetworkView;
  readonly at: Selection;
  readonly x: number;
  readonly y: number;
}

/** What is said of the node or wire that is pointed at, beside the pointer and inside the picture. */
function Tip({ network, at, x, y }: TipProps) {
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

/** What the colours and widths of wires stand for. */
function Legend({ network, isHeat }: { readonly network: NetworkView; readonly isHeat: boolean }) {
  if (isHeat) {
    const scale = (isDark: boolean): string => heatColours(8, isDark).join(",");
    return (
      <div class="network-canvas-legend">
        <span>
          idle
          <i
            class="network-canvas-scale"
            style={{
              "--scale-light": `linear-gradient(90deg,${scale(false)})`,
              "--scale-dark": `linear-gradient(90deg,${scale(true)})`,
            }}
          />
          always busy
        </span>
      </div>
    );
  }
  const bands = bandsOf(network);
  return (
    <div class="network-canvas-legend">
      {network.classes.map(({ text }, index) => (
        <span key={text}>
          <i style={{ borderTop: `${Math.max(2, bands[index].width)}px solid var(--band-${bands[index].step})` }} />
          {text}
        </span>
      ))}
    </div>
  );
}
