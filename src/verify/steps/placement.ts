import { type Collective, groupOfChunk, type Placement } from "../../model/collective/collective.ts";

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
