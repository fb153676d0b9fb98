import type { NetworkView } from "../protocol.ts";
import { pointOn, shapesOf } from "./shapes.ts";

/** Adds the arrowhead of a wire to a path, a share of the way along it, `size` long. */
export function arrow(
  path: Path2D | CanvasRenderingContext2D,
  network: NetworkView,
  wire: number,
  forward: boolean,
  size: number,
  share = 0.5,
): void {
  const along = forward ? share : 1 - share;
  const { x, y } = pointOn(network, wire, along);
  const [dx, dy] = direction(network, wire, along, forward);
  const [tipX, tipY] = [x + dx * size * 0.5, y + dy * size * 0.5];
  const [backX, backY] = [x - dx * size * 0.5, y - dy * size * 0.5];
  path.moveTo(tipX, tipY);
  path.lineTo(backX - dy * size * 0.42, backY + dx * size * 0.42);
  path.lineTo(backX + dy * size * 0.42, backY - dx * size * 0.42);
  path.closePath();
}

/** Returns the unit vector along a wire at a share of its way from a, in the direction that is taken. */
export function direction(network: NetworkView, wire: number, along: number, forward: boolean): [number, number] {
  const { controlX, controlY } = shapesOf(network);
  const { x, y } = network.placement;
  const [a, b] = [network.wires.a[wire], network.wires.b[wire]];
  const dx = (1 - along) * (controlX[wire] - x[a]) + along * (x[b] - controlX[wire]);
  const dy = (1 - along) * (controlY[wire] - y[a]) + along * (y[b] - controlY[wire]);
  const length = (Math.hypot(dx, dy) || 1) * (forward ? 1 : -1);
  return [dx / length, dy / length];
}
