/**
 * Returns the groups of NPUs of a product that differ in these dimensions only, the first of them the fastest of the ranks: a list
 * of members for each way to choose the other coordinates, in the order of their ids.
 */
export function groupsAlong(sizes: readonly number[], dimensions: readonly number[]): number[][] {
  const strides = sizes.map((_, d) => sizes.slice(0, d).reduce((product, size) => product * size, 1));
  const along = (from: readonly number[], d: number): number[] =>
    Array.from({ length: sizes[d] as number }, (_, x) => from.map((npu) => npu + x * (strides[d] as number))).flat();
  const others = sizes.map((_, d) => d).filter((d) => !dimensions.includes(d));
  return others.reduce(along, [0]).map((base) => dimensions.reduce(along, [base]));
}

/** Returns groups as the option says them. */
export const groupText = (groups: readonly (readonly number[])[]): string =>
  groups.map((members) => members.join(",")).join(";");
