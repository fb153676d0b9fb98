import { InputError } from "../../base/errors.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { asList, asObject, asText, type JsonFields } from "../text/json.ts";
import { parseYaml, type Yaml } from "../text/yaml-text.ts";
import { clusterFigures, expandHostlist, type ListedSwitch, MAX_HOSTS, switchTree } from "./cluster-network.ts";
import { baseName } from "./topology-json.ts";
import type { TopologyOptions } from "./topology-options.ts";

/** The keys of the mappings in such a file that are used. */
type Key = "switches" | "nodes" | "capacity_blocks" | "blocks" | "switch" | "name";
type Fields = JsonFields<Key>;
type HostReader = (value: unknown, place: string) => string[];

/** Returns true where a text has the top-level keys of a topograph model. */
export function looksLikeTopograph(text: string): boolean {
  return /^switches\s*:/m.test(text) && !/^(?:topology|npus_count)\s*:/m.test(text.slice(0, 65536));
}

/**
 * Returns the network of an NVIDIA/topograph model: `switches`, a mapping (or a list with `name`) of switches with
 * `switches`, `nodes` (hostlists) and `capacity_blocks` below them; `blocks`, a list with a `switch` and its `nodes`; and
 * `capacity_blocks` with their `nodes`. One NPU for each host; rates as in `clusterFigures`. NVLink domains, labels and
 * metadata are not used. Throws InputError with the line. O(text + hosts).
 */
export function readTopograph(text: string, fileName: string, options: TopologyOptions = {}): Topology {
  const yaml = parseYaml(text, fileName);
  const root = asObject<Fields>(yaml.value, fileName);
  const hosts = hostReader();
  const capacity = namedEntries(yaml, root, "capacity_blocks");
  const nodesOfBlock = new Map(
    capacity.map(({ name, fields }) => [name, hosts(fields.nodes ?? [], yaml.at(fields, "nodes"))]),
  );
  const bySwitch = blocksOf(yaml, root, hosts);
  const listed = namedEntries(yaml, root, "switches").map(({ name, fields, place }): ListedSwitch => {
    const capacityBlocks = namesIn(fields.capacity_blocks ?? [], yaml.at(fields, "capacity_blocks"));
    const nodes = hosts(fields.nodes ?? [], yaml.at(fields, "nodes"));
    for (const block of capacityBlocks) {
      const own = nodesOfBlock.get(block);
      if (own === undefined) throw new InputError(place, "capacity blocks that the file lists", block);
      for (const node of own) nodes.push(node);
    }
    for (const node of bySwitch.get(name) ?? []) nodes.push(node);
    bySwitch.delete(name);
    return { name, switches: namesIn(fields.switches ?? [], yaml.at(fields, "switches")), nodes, place };
  });
  for (const name of bySwitch.keys())
    throw new InputError(yaml.at(root, "blocks"), "switches that the file lists", name);
  if (listed.length === 0) throw new InputError(yaml.at(root, "switches"), "at least one switch");
  const figures = clusterFigures(options);
  return switchTree(baseName(fileName), listed, figures, [`topograph model ${fileName}`, ...figures.notes]);
}

/** Returns a reader of a hostlist or a list of them, which counts the hosts of all. */
function hostReader(): HostReader {
  let left = MAX_HOSTS;
  return (value, place) => {
    return namesIn(value, place).flatMap((text) => {
      const names = expandHostlist(text, place, left);
      left -= names.length;
      return names;
    });
  };
}

const namesIn = (value: unknown, place: string): string[] =>
  asList(value, place, "a list of names").map((name) => asText(name, place, "a list of names"));

/** Returns the entries of a mapping by name, or of a list whose entries have a `name`; none where it is absent. */
function namedEntries(yaml: Yaml, root: Fields, key: Key): { name: string; fields: Fields; place: string }[] {
  const value = root[key];
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) {
    return value.map((entry, i) => {
      const place = yaml.at(value, i);
      const fields = asObject<Fields>(entry, place);
      return { name: asText(fields.name, place, "a name"), fields, place };
    });
  }
  const mapping = asObject<Readonly<Record<string, unknown>>>(value, yaml.at(root, key));
  return Object.entries(mapping).map(([name, entry]) => {
    const place = yaml.at(mapping, name);
    return { name, fields: asObject<Fields>(entry ?? {}, place), place };
  });
}

/** Returns the hosts that `blocks` puts below each switch. */
function blocksOf(yaml: Yaml, root: Fields, hosts: HostReader): Map<string, string[]> {
  const bySwitch = new Map<string, string[]>();
  const blocks = root.blocks === undefined ? [] : asList(root.blocks, yaml.at(root, "blocks"), "a list of blocks");
  blocks.forEach((value, i) => {
    const place = yaml.at(blocks, i);
    const fields = asObject<Fields>(value, place);
    const name = asText(fields.switch, place, "the name of a switch");
    const nodes = hosts(fields.nodes ?? [], yaml.at(fields, "nodes"));
    const all = bySwitch.get(name);
    if (all === undefined) bySwitch.set(name, nodes);
    else for (const node of nodes) all.push(node);
  });
  return bySwitch;
}
