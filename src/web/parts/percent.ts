/** Returns a share as a percentage: "97.3 %", "<0.1 %"; never 100 % for less than all. */
export function percent(share: number): string {
  if (share > 0 && share < 0.0005) return "<0.1 %";
  if (share < 1 && share >= 0.9995) return "99.9 %";
  return `${Math.round(share * 1000) / 10} %`;
}
