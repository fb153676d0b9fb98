import type { GraphBuilder } from "../builder.ts";

/** Below the root of norms. */
export const EPS = 1e-5;

/**
 * Returns a norm: along `over`, then a scale, and where there are two parameters a shift, of dimensions `own`. What comes between
 * is fused, as kernels do it: of a norm only its input and its result go through memory.
 */
export function norm(
  part: GraphBuilder,
  name: string,
  x: number,
  over: readonly number[],
  { parameters, own = over }: { readonly parameters: 1 | 2; readonly own?: readonly number[] },
): number {
  const kind = parameters === 1 ? "rms-norm" : "layer-norm";
  const normed = part.apply(`${name} unscaled`, kind, [x], { whole: over, constant: EPS, isFused: true });
  const scale = part.placeholder(`${name} scale`, "parameter", own);
  if (parameters === 1) return part.apply(name, "multiply", [normed, scale]);
  const scaled = part.apply(`${name} unshifted`, "multiply", [normed, scale], { isFused: true });
  const shift = part.placeholder(`${name} shift`, "parameter", own);
  return part.apply(name, "add", [scaled, shift]);
}
