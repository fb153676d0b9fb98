import { InputError } from "../base/errors.ts";
import type { Place } from "../base/option-names.ts";
import { parseBandwidth, parseSize, TERA } from "../model/numbers/units.ts";
import {
  ACCELERATOR_NAMES,
  type Accelerator,
  acceleratorNamed,
  customAccelerator,
  type Precision,
} from "../model/workload/accelerators.ts";
import { listOf } from "./values.ts";

const WORDS = "a name such as h100, or figures: peak=989TFLOPS, bandwidth=3.35TB/s, memory=80GB,";
const SCALES: Readonly<Record<string, number>> = { G: TERA / 1000, T: TERA, P: 1000 * TERA };

function flops(text: string, place: Place): number {
  const found = /^([\d.]+(?:e\d+)?)\s*(?:([GTP])(?:FLOP(?:S|\/s)?)?)?$/i.exec(text);
  const value = found === null ? Number.NaN : Number(found[1]) * (SCALES[(found[2] ?? "").toUpperCase()] ?? 1);
  if (!(value > 0)) throw new InputError(place, "operations a second, such as peak=989TFLOPS", text);
  return value;
}

/** Returns the accelerator that a network's name tells; null where it tells none. */
export function acceleratorTold(networkName: string): Accelerator | null {
  const words = networkName.toLowerCase().split(/[^a-z0-9]+/);
  const name = [...ACCELERATOR_NAMES].sort((a, b) => b.length - a.length).find((known) => words.includes(known));
  return name === undefined ? null : acceleratorNamed(name);
}

/**
 * Returns the accelerator of a text such as "h100,memory=94GB", or without one that of the network's name. Throws InputError where
 * neither tells it, and for what is no figure of one.
 */
export function acceleratorOf(
  text: string | undefined,
  networkName: string,
  precision: Precision,
  place: Place,
): Accelerator {
  if (text === undefined) {
    const known = acceleratorTold(networkName);
    if (known === null) throw new InputError(place, WORDS);
    return known;
  }
  let base: Accelerator | null = null;
  const figures: Record<string, number> = {};
  for (const word of listOf(text, place, WORDS)) {
    const [name = "", value] = word.split("=", 2);
    if (value === undefined) base = acceleratorNamed(name, place);
    else if (name === "peak") figures["peak"] = flops(value, place);
    else if (name === "bandwidth") figures["memoryBandwidth"] = parseBandwidth(value, place);
    else if (name === "memory") figures["memory"] = parseSize(value, place);
    else throw new InputError(place, WORDS, word);
  }
  return customAccelerator(figures, precision, base);
}
