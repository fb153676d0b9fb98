import { InputError } from "../base/errors.ts";
import type { Place } from "../base/option-names.ts";
import { ALONE, MESH_AXES, type MeshAxis, npusOf, type Parallelism } from "../model/workload/parallelism.ts";

/** Ways of splitting, as people write them. */
const WAYS = {
  dp: "data",
  tp: "tensor",
  pp: "pipeline",
  cp: "context",
  ep: "expert",
  etp: "expertTensor",
  vp: "interleaved",
} as const;

const AXIS_WORDS: Readonly<Record<string, MeshAxis>> = { dp: "data", tp: "tensor", pp: "pipeline", cp: "context" };
const SHORT = Object.fromEntries(Object.entries(AXIS_WORDS).map(([word, axis]) => [axis, word])) as Record<
  MeshAxis,
  string
>;
const EXAMPLE = "ways such as dp=8,tp=8,pp=4 (also cp, ep, etp, vp, zero, sp, order=tp-cp-dp-pp)";

/** Returns a parallelism as people write it, factors of 1 left out: "tp=8,dp=4". */
export function parallelText(parallelism: Parallelism): string {
  const { order, expert, expertTensor, tensor, interleaved, zero, sequence } = parallelism;
  const factors = order.filter((axis) => parallelism[axis] > 1).map((axis) => `${SHORT[axis]}=${parallelism[axis]}`);
  const rest = [
    ...(expert > 1 ? [`ep=${expert}`] : []),
    ...(expert > 1 && expertTensor !== tensor ? [`etp=${expertTensor}`] : []),
    ...(interleaved > 1 ? [`vp=${interleaved}`] : []),
    ...(zero > 0 ? [`zero=${zero}`] : []),
    ...(tensor > 1 && !sequence ? ["sp=0"] : []),
    ...(order.every((axis, i) => axis === MESH_AXES[i]) ? [] : [`order=${order.map((axis) => SHORT[axis]).join("-")}`]),
  ];
  return [...factors, ...rest].join(",") || "dp=1";
}

function orderOf(text: string, place: Place): MeshAxis[] {
  const axes = text.split("-").map((word) => AXIS_WORDS[word]);
  if (axes.length !== MESH_AXES.length || MESH_AXES.some((axis) => !axes.includes(axis))) {
    throw new InputError(place, "order=tp-cp-dp-pp or another order of these four, neighbours first", text);
  }
  return axes as MeshAxis[];
}

/** Returns the ways of splitting whose product is not the network, in words: what would do. */
function products(npus: number, { tensor, context, pipeline }: Parallelism): string {
  const rest = tensor * context * pipeline;
  return npus % rest === 0
    ? `dp=${npus / rest} makes them ${npus}`
    : `tp x cp x pp = ${rest} does not divide ${npus}; choose divisors of ${npus}`;
}

/**
 * Returns the parallelism of texts like "tp=8" on so many NPUs. Without dp the copies are what is left; sequence parallelism goes
 * with tp unless sp=0. Throws InputError, also where the product is not the number of NPUs.
 */
export function parallelismOf(ways: readonly string[], npus: number, place: Place): Parallelism {
  const found: { -readonly [Key in keyof Parallelism]: Parallelism[Key] } = { ...ALONE, data: 0, expertTensor: 0 };
  const said = new Set<string>();
  let sequence: boolean | null = null;
  for (const way of ways) {
    const [name = "", value = ""] = way.split("=", 2);
    if (said.has(name)) throw new InputError(place, `each way once, not ${name} again,`, way);
    said.add(name);
    if (name === "order") {
      found.order = orderOf(value, place);
      continue;
    }
    const count = /^\d+$/.test(value) ? Number(value) : Number.NaN;
    if (name === "zero" && [0, 1, 2, 3].includes(count)) found.zero = count as 0;
    else if (name === "sp" && (count === 0 || count === 1)) sequence = count === 1;
    else if (Object.hasOwn(WAYS, name) && count >= 1) found[WAYS[name as keyof typeof WAYS]] = count;
    else throw new InputError(place, EXAMPLE, way);
  }
  found.sequence = sequence ?? found.tensor > 1;
  if (found.expertTensor === 0) found.expertTensor = found.tensor;
  const rest = found.tensor * found.context * found.pipeline;
  if (found.data === 0) found.data = Math.max(1, Math.floor(npus / rest));
  if (npusOf(found) !== npus) {
    throw new InputError(
      place,
      `a product of ${npus} NPUs; ${products(npus, found)}`,
      `${parallelText(found)} (${npusOf(found)} NPUs)`,
    );
  }
  return found;
}
