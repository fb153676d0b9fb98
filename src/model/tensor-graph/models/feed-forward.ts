import type { Experts } from "../../workload/transformer/config.ts";
import type { GraphBuilder } from "../builder.ts";
import type { Frame } from "./attention.ts";

/** Where a block of two or three products stands. */
interface Block {
  readonly name: string;
  /** Its dimensions but the last, of what comes in. */
  readonly places: readonly number[];
  /** Those of the weights besides the two of each product: experts. */
  readonly each: readonly number[];
  readonly width: number;
}

/**
 * Returns the nodes whose sum a block makes of x: up, an activation (of the gate where there is one: SiLU, Shazeer 2020; else
 * GELU), down. What the activation makes of the gate is fused with the product by it.
 */
function block(
  { config, hidden }: Frame,
  part: GraphBuilder,
  x: number,
  { name, places, each, width }: Block,
): number[] {
  const { gated, biases } = config;
  const up = (what: string): number => {
    const weights = part.placeholder(`${name}${what} weights`, "parameter", [...each, hidden, width]);
    const made = part.einsum(
      biases.ffn ? `${name}${what} unbiased` : `${name}${what}`,
      [x, weights],
      [...places, width],
    );
    if (!biases.ffn) return made;
    const bias = part.placeholder(`${name}${what} bias`, "parameter", [...each, width]);
    // of a gate it is kept; what comes before a GELU is made again
    return part.apply(`${name}${what}`, "add", [made, bias], { isFused: !gated });
  };
  let active: number;
  if (gated) {
    const gate = part.apply(`${name}opened gate`, "silu", [up("gate")], { isFused: true });
    active = part.apply(`${name}gated`, "multiply", [gate, up("up")]);
  } else active = part.apply(`${name}active`, "gelu", [up("up")]);
  const weights = part.placeholder(`${name}down weights`, "parameter", [...each, width, hidden]);
  const down = part.einsum(`${name}down`, [active, weights], [...places, hidden]);
  return biases.ffn ? [down, part.placeholder(`${name}down bias`, "parameter", [...each, hidden])] : [down];
}

/** Returns the nodes whose sum a feed-forward block adds to what came in. */
export function feedForward(frame: Frame, part: GraphBuilder, x: number): number[] {
  const { samples, tokens, config } = frame;
  const width = part.dimension("width", config.ffn);
  return block(frame, part, x, { name: "", places: [samples, tokens], each: [], width });
}

/**
 * Returns the same of a block of experts: each token goes to the experts of its greatest logits as long as they have places (in
 * each sample as many), and takes what comes back by its gates (Lepikhin et al. 2021); and through the shared expert.
 */
export function expertBlock(frame: Frame, part: GraphBuilder, x: number, experts: Experts): number[] {
  const { samples, tokens, hidden, sequence, capacityFactor } = frame;
  const { count, perToken } = experts;
  const expert = part.dimension("experts", count);
  const place = part.dimension("places", Math.ceil((sequence * perToken * capacityFactor) / count));
  const width = part.dimension("width of experts", experts.ffn);
  const weights = part.placeholder("router weights", "parameter", [hidden, expert]);
  let logits = part.einsum(experts.routerBias ? "router unbiased" : "router", [x, weights], [samples, tokens, expert]);
  if (experts.routerBias) {
    logits = part.apply("router", "add", [logits, part.placeholder("router bias", "parameter", [expert])]);
  }
  const routed = { whole: [tokens, expert, place], constant: perToken };
  const route = part.apply("routes", "route", [logits], {
    ...routed,
    dims: [samples, tokens, expert, place],
    isFused: true,
  });
  const gates = part.apply("gates", "gates", [logits], { ...routed, dims: [samples, expert, place] });
  const places = [samples, expert, place];
  const came = part.select("tokens of experts", [route, x], [...places, hidden]);
  const made = block(frame, part, came, { name: "experts' ", places, each: [expert], width });
  const whole = made.length === 1 ? (made[0] as number) : part.apply("experts' output", "add", made);
  // weighed where it is brought back
  const weighed = part.apply("weighed tokens", "multiply", [whole, gates], { isFused: true });
  const back = part.select("tokens from experts", [route, weighed], [samples, tokens, hidden]);
  return [back, ...sharedExpert(frame, part, x, experts)];
}

function sharedExpert(frame: Frame, part: GraphBuilder, x: number, { sharedGate, sharedFfn }: Experts): number[] {
  if (sharedFfn === 0) return [];
  const { samples, tokens, hidden } = frame;
  const places = [samples, tokens];
  const width = part.dimension("width of the shared expert", sharedFfn);
  const made = block(frame, part, x, { name: "shared ", places, each: [], width });
  if (!sharedGate) return made;
  const weights = part.placeholder("gate of the shared expert weights", "parameter", [hidden]);
  const gate = part.apply("gate of the shared expert", "sigmoid", [
    part.einsum("logit of the shared expert", [x, weights], places),
  ]);
  const whole = made.length === 1 ? (made[0] as number) : part.apply("shared output", "add", made);
  return [part.apply("gated shared output", "multiply", [whole, gate])];
}
