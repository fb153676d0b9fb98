import { type Collective, collective as named, type Placement } from "../../model/collective/collective.ts";
import { format } from "../../model/numbers/rational.ts";

/**
 * Returns the JSON of a collective, from which it can be rebuilt exactly: a named collective by its kind, groups, root and
 * sizes; any other (custom, or changed in some way) with its chunks' sizes and placements besides.
 */
export function collectiveJson(collective: Collective, indent: string): string {
  const { kind, groupCount, groupSize, groupMembers, rootRank, sizeBytes, chunksPerNpu } = collective;
  const groups = Array.from({ length: groupCount }, (_, g) =>
    groupMembers.subarray(g * groupSize, (g + 1) * groupSize),
  );
  const fields = [
    `"kind": "${kind}"`,
    `"groups": [${groups.map((members) => `[${members.join(",")}]`).join(", ")}]`,
    `"rootRank": ${rootRank}`,
    `"sizeBytes": ${sizeBytes}`,
    `"chunksPerNpu": ${chunksPerNpu}`,
  ];
  const plain = kind !== "custom" && same(collective, named({ kind, groups, sizeBytes, chunksPerNpu, rootRank }));
  if (!plain) {
    fields.push(
      `"chunkCount": ${collective.chunkCount}`,
      `"chunkBytes": "${format(collective.chunkBytes)}"`,
      `"reduces": ${collective.reduces}`,
      `"pre": ${placementJson(collective.pre)}`,
      `"post": ${placementJson(collective.post)}`,
    );
  }
  return `{\n${fields.map((field) => `${indent}  ${field}`).join(",\n")}\n${indent}}`;
}

function placementJson(placement: Placement): string {
  switch (placement.kind) {
    case "group":
      return '{ "kind": "group" }';
    case "one":
      return `{ "kind": "one", "npu": [${placement.npu.join(",")}] }`;
    case "sets":
      return `{ "kind": "sets", "offset": [${placement.offset.join(",")}], "members": [${placement.members.join(",")}] }`;
  }
}

function same(a: Collective, b: Collective): boolean {
  return (
    a.chunkCount === b.chunkCount &&
    a.chunkBytes.num === b.chunkBytes.num &&
    a.chunkBytes.den === b.chunkBytes.den &&
    a.reduces === b.reduces &&
    samePlacement(a.pre, b.pre) &&
    samePlacement(a.post, b.post)
  );
}

function samePlacement(a: Placement, b: Placement): boolean {
  if (a.kind === "group") return b.kind === "group";
  return (
    a.kind === "one" && b.kind === "one" && a.npu.length === b.npu.length && a.npu.every((npu, i) => npu === b.npu[i])
  );
}
