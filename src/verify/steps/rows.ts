import { type Collective, groupOfChunk, type Placement } from "../../model/collective/collective.ts";

/** Sorts `items` by ascending key, then by item, in place; O(items) where they are in order of their keys already. */
export function sortByKey(items: Int32Array, key: Float64Array): void {
  for (let i = 1; i < items.length; i++) {
    if (key[items[i - 1]] > key[items[i]]) {
      items.sort((a, b) => key[a] - key[b] || a - b);
      return;
    }
  }
}

/** Returns the array, or one of at least `length` places where it is too short. */
export function roomFor(array: Int32Array, length: number): Int32Array {
  return array.length >= length ? array : new Int32Array(Math.max(length, 2 * array.length));
}

/** A cursor over a placement that allocates nothing: after `look(c)` chunk c's NPUs are `members[from .. to]`. */
export interface PlacementView {
  readonly members: Int32Array;
  from: number;
  to: number;
  look(chunk: number): void;
}

/** Returns a cursor over a placement of the collective. */
export function placementView(collective: Collective, placement: Placement): PlacementView {
  const { groupMembers, groupSize } = collective;
  switch (placement.kind) {
    case "one":
      return {
        members: placement.npu,
        from: 0,
        to: 0,
        look(chunk) {
          this.from = chunk;
          this.to = chunk + 1;
        },
      };
    case "group":
      return {
        members: groupMembers,
        from: 0,
        to: 0,
        look(chunk) {
          this.from = groupOfChunk(collective, chunk) * groupSize;
          this.to = this.from + groupSize;
        },
      };
    case "sets":
      return {
        members: placement.members,
        from: 0,
        to: 0,
        look(chunk) {
          this.from = placement.offset[chunk];
          this.to = placement.offset[chunk + 1];
        },
      };
  }
}
