import type { NamedCollective } from "../collective/collective.ts";
import type { NpuGroups } from "./layer-work.ts";

/** A collective of groups as requests and command lines ask for it. */
export interface AskedCollective {
  readonly collective: NamedCollective;
  /** nccl-tests size. */
  readonly sizeBytes: number;
  /** Groups, "a,b;c,d"; absent where all NPUs are one. */
  readonly group?: string;
}

/** Bytes, for a size that need not be whole; every member's part has one at least. */
const wholeBytes = (bytes: number, size: number): number => Math.max(size, Math.ceil(bytes / size) * size);

/** Returns groups as the option of that name has them. */
function groupText({ members, size }: NpuGroups): string {
  const groups: string[] = [];
  for (let at = 0; at < members.length; at += size) groups.push(members.subarray(at, at + size).join(","));
  return groups.join(";");
}

/** Returns how a collective of groups is asked for on a network of so many NPUs; bytes are rounded up to whole parts. O(members). */
export const askedCollective = (
  npuCount: number,
  collective: NamedCollective,
  groups: NpuGroups,
  bytes: number,
): AskedCollective => ({
  collective,
  sizeBytes: wholeBytes(bytes, groups.size),
  ...(groups.size === npuCount ? {} : { group: groupText(groups) }),
});
