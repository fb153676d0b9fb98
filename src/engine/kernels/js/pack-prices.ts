import { draw, mix } from "../../../base/random.ts";
import type { PackState } from "./pack-state.ts";

/** What it costs to grow a tree over a link: the twin of native/kernels/pack_prices.h, function by function. */

const UNIT = 1024;
const HOP = 64; // any link costs so much

/** Prices are whole: 1024 of them are 1 of PackProblem's. */
export class PackPrices {
  readonly #depthPrice: number;
  /** Of a link at full load. */
  loadPrice: number;
  /** The most that chance adds to a link, 2^n - 1. */
  chance = 63;
  readonly #scheduled: boolean;
  readonly #seed: number;
  readonly #state: PackState;
  #progress = 0;
  #noise = 0;

  constructor(state: PackState, prices: { depthPrice: number; loadPrice: number; scheduled: boolean; seed: number }) {
    this.#state = state;
    this.#depthPrice = prices.depthPrice;
    this.loadPrice = prices.loadPrice;
    this.#scheduled = prices.scheduled;
    this.#seed = prices.seed;
  }

  /** Sets what the links of the next tree cost; `number` varies its noise. */
  nextTree(number: number): void {
    const { total } = this.#state;
    this.#noise = draw(this.#seed, number, 0x7061636b);
    this.#progress = this.#scheduled ? share(total - this.#state.missing(), total) : 0;
  }

  ofStart(member: number): number {
    return UNIT * this.#depthPrice * this.#state.depth[member];
  }

  ofLink(link: number): number {
    const full = this.#state.full[link];
    const load = share(full - this.#state.left[link], full) - this.#progress;
    const noise = mix(this.#noise ^ link) & this.chance;
    return (load > 0 ? load * this.loadPrice : 0) + HOP + noise;
  }
}

/** part / whole in 1024ths, about right where the product would leave 2^53. */
function share(part: number, whole: number): number {
  if (whole < 2 ** 43) return Math.floor((part * UNIT) / whole);
  const inUnits = Math.floor(part / Math.floor(whole / UNIT));
  return inUnits < UNIT ? inUnits : UNIT;
}
