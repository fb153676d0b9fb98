import { PS_PER_SECOND, PS_PER_US } from "../../../model/numbers/units.ts";

/** Marks of a time axis. */
export interface Tick {
  readonly ps: number;
  readonly text: string;
}

const UNITS: readonly (readonly [string, number])[] = [
  ["s", PS_PER_SECOND],
  ["ms", PS_PER_US * 1000],
  ["us", PS_PER_US],
  ["ns", PS_PER_US / 1000],
  ["ps", 1],
];

/** Returns round times (1, 2 or 5 times a power of ten, at least 1 ps apart) between two, about `count`, all in one unit. */
export function timeTicks(from: number, to: number, count: number): Tick[] {
  if (!(to > from) || count < 1) return [];
  const rough = Math.max(1, (to - from) / count);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * (rough / power <= 1 ? 1 : rough / power <= 2 ? 2 : rough / power <= 5 ? 5 : 10);
  const [unit, scale] = UNITS.find(([, ps]) => ps <= to) ?? ["ps", 1];
  const digits = Math.max(0, Math.ceil(Math.log10(scale / step) - 1e-9));
  const ticks: Tick[] = [];
  for (let i = Math.ceil(from / step); i * step <= to; i++) {
    ticks.push({ ps: i * step, text: `${((i * step) / scale).toFixed(digits)} ${unit}` });
  }
  return ticks;
}
