import { useEffect, useRef } from "preact/hooks";
import type { NetworkCanvasProps } from "../../draw/marks.ts";

/** Draws a network. */
export function NetworkCanvas({ network, label, height = 480 }: NetworkCanvasProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const context = canvas.current?.getContext("2d");
    if (context === null || context === undefined) return;
    const { x, y, radius, width, height } = network.placement;
    const scale = Math.min(800 / width, 480 / height);
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.clearRect(0, 0, width, height);
    for (let node = 0; node < x.length; node++) {
      context.beginPath();
      context.arc(x[node], y[node], radius, 0, 7);
      context.stroke();
    }
  }, [network]);
  return <canvas ref={canvas} width={800} height={480} style={{ height }} aria-label={label} role="img" />;
}
