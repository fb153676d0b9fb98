import { InputError, shown } from "../../base/errors.ts";
import { NODE_TYPE } from "../../model/files/chakra-format.ts";
import { asInteger, asList, asObject, type JsonFields, parseJson } from "../text/json.ts";
import type { TraceNode } from "./chakra-trace.ts";

/** A communicator of a trace. */
export interface Communicator {
  readonly name: string;
  /** NPUs in the order of the group. */
  readonly members: Int32Array;
}

/** Who takes part in the collectives of traces. */
export interface Communicators {
  /** Each once. */
  readonly all: readonly Communicator[];
  /** Returns the number of the communicator of an NPU's collective. Throws InputError where there is none, or not with the NPU. */
  of(npu: number, node: TraceNode, place: () => string): number;
}

/** What traces leave to others to say. */
export interface GroupSources {
  readonly npuCount: number;
  /** The file of groups: `{"1": [0, 1], ...}`; null without. */
  readonly file: { readonly name: string; readonly text: string } | null;
  /** Sizes of the network's dimensions, NPUs with neighbouring numbers first, for collectives along some of them. */
  readonly dimensions: readonly number[] | null;
}

/** In the traces: all NPUs. */
const EVERYONE: ReadonlySet<string> = new Set(["", "0"]);

/**
 * Returns the communicators of collectives: groups of the file, those that an NPU's METADATA nodes define, which come first,
 * dimensions of the network, or all NPUs. Throws InputError for groups that no NPUs could form.
 */
export function communicatorsOf(
  { npuCount, file, dimensions }: GroupSources,
  traces: readonly (readonly TraceNode[])[],
  names: readonly string[],
): Communicators {
  const everyone = Int32Array.from({ length: npuCount }, (_, npu) => npu);
  if (dimensions !== null && dimensions.reduce((all, size) => all * size, 1) !== npuCount) {
    throw new InputError("the network's dimensions", `of ${npuCount} NPUs, one a trace`, dimensions.join(" x "));
  }
  const inFile = file === null ? new Map<string, Int32Array>() : groupsOfFile(file.name, file.text, npuCount);
  const ofTrace = new Map<readonly TraceNode[], Map<string, Int32Array>>();
  for (const [npu, nodes] of traces.entries()) {
    if (!ofTrace.has(nodes)) ofTrace.set(nodes, groupsOfTrace(nodes, names[npu], everyone));
  }

  const all: Communicator[] = [];
  const known = new Map<string, number>();
  /** Lists as keys, once each. */
  const keys = new Map<Int32Array, string>();
  const numberOf = (name: string, members: Int32Array): number => {
    const list = keys.get(members) ?? members.join(" ");
    keys.set(members, list);
    const key = `${name}: ${list}`;
    let number = known.get(key);
    if (number === undefined) {
      number = all.push({ name, members }) - 1;
      known.set(key, number);
    }
    return number;
  };
  /** NPUs that are known to be members. */
  const seated = new Set<number>();
  const along = new Map<string, Int32Array>();
  const dimensionsOf = (npu: number, flags: readonly boolean[], place: () => string): number => {
    if (dimensions === null) {
      throw new InputError(
        `${place()}: involved_dim`,
        "all dimensions, where those of the network are not given",
        flags,
      );
    }
    if (flags.length < dimensions.length) {
      throw new InputError(`${place()}: involved_dim`, `${dimensions.length} flags, one a dimension`, flags);
    }
    const used = dimensions.map((_, d) => d).filter((d) => flags[d]);
    let [first, stride] = [npu, 1];
    const offsets = [0];
    for (const [d, size] of dimensions.entries()) {
      if (flags[d]) {
        first -= (Math.floor(npu / stride) % size) * stride;
        const inner = [...offsets];
        for (let i = 1; i < size; i++) for (const offset of inner) offsets.push(offset + i * stride);
      }
      stride *= size;
    }
    const key = `${first} ${used.join(" ")}`;
    const members = along.get(key) ?? Int32Array.from(offsets, (offset) => first + offset);
    along.set(key, members);
    return numberOf(`dimension ${used.join(" and ")}`, members);
  };

  return {
    all,
    of(npu, node, place) {
      const name = node.attributes.get("pg_name") ?? "";
      const dims = node.attributes.get("involved_dim");
      if (EVERYONE.has(`${name}`)) {
        if (Array.isArray(dims) && dims.includes(false)) return dimensionsOf(npu, dims, place);
        return numberOf("all NPUs", everyone);
      }
      const members = ofTrace.get(traces[npu])?.get(`${name}`) ?? inFile.get(`${name}`);
      if (members === undefined) {
        const where = file === null ? "and no file of groups was given" : `which ${file.name} has not`;
        throw new InputError(`${place()}: pg_name`, "a group that is known", name).saying(
          `${place()} is of group ${shown(name)}, ${where}`,
        );
      }
      const number = numberOf(`group ${name}`, members);
      const seat = number * npuCount + npu;
      if (!seated.has(seat) && !members.includes(npu)) {
        throw new InputError(`${place()}: pg_name`, `a group of NPU ${npu}`, name).saying(
          `${place()} is of group ${shown(name)}, in which NPU ${npu} is not`,
        );
      }
      seated.add(seat);
      return number;
    },
  };
}

/** Returns the groups of a file as ASTRA-sim takes it: numbers of NPUs by the name of the group. */
function groupsOfFile(name: string, text: string, npuCount: number): Map<string, Int32Array> {
  const value = asObject<Record<string, unknown>>(parseJson(text, name), name);
  const groups = new Map<string, Int32Array>();
  for (const [key, list] of Object.entries(value)) {
    if (EVERYONE.has(key)) throw new InputError(`${name}: group names`, "other than 0, which is all NPUs", key);
    groups.set(key, membersOf(list, `${name}: ${key}`, npuCount));
  }
  return groups;
}

/** Returns a list of NPUs, each once. */
function membersOf(value: unknown, place: string, npuCount: number): Int32Array {
  const list = asList(value, place, "a list of NPUs");
  const members = Int32Array.from(list, (npu, i) => asInteger(npu, `${place}[${i}]`, 0, npuCount - 1));
  if (members.length === 0) throw new InputError(place, "at least one NPU", "none");
  const seen = new Set<number>();
  for (const [i, npu] of members.entries()) {
    if (seen.has(npu)) throw new InputError(`${place}[${i}]`, "an NPU that is not yet in the group", npu);
    seen.add(npu);
  }
  return members;
}

/** Returns the groups that METADATA nodes define: JSON within two marks of a list on each side; no ranks are all. */
function groupsOfTrace(nodes: readonly TraceNode[], name: string, everyone: Int32Array): Map<string, Int32Array> {
  const groups = new Map<string, Int32Array>();
  for (const { id, type, inputs } of nodes) {
    if (type !== NODE_TYPE.metadata || !inputs.includes("pg_name")) continue;
    const place = `${name}: groups of node ${id}`;
    for (const [i, entry] of asList(parseJson(inputs.slice(2, -2), place), place).entries()) {
      const at = `${place}[${i}]`;
      const { pg_name: group, ranks } = asObject<JsonFields<"pg_name" | "ranks">>(entry, at);
      const members =
        asList(ranks, `${at}.ranks`).length === 0 ? everyone : membersOf(ranks, `${at}.ranks`, everyone.length);
      groups.set(`${group}`, members);
    }
  }
  return groups;
}
