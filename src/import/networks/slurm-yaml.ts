import { InputError } from "../../base/errors.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { asInteger, asList, asObject, asText } from "../text/json-value.ts";
import { parseYaml, type Yaml } from "../text/yaml-text.ts";
import { expandHostlist, MAX_HOSTS } from "./hostlist.ts";
import { networkOf } from "./slurm.ts";
import { gridNetwork, type ListedGrid } from "./slurm-grid.ts";
import { clusterFigures, type ListedSwitch } from "./slurm-network.ts";
import { baseName } from "./topology-json.ts";
import type { TopologyOptions } from "./topology-options.ts";

/** The keys of the mappings in such a file. */
type Key =
  | "topology"
  | "cluster_default"
  | "tree"
  | "block"
  | "ring"
  | "torus3d"
  | "switches"
  | "switch"
  | "children"
  | "blocks"
  | "rings"
  | "nodes"
  | "toruses"
  | "name"
  | "dims"
  | "x"
  | "y"
  | "z";
type Fields = { readonly [Name in Key]?: unknown };
const KINDS = ["tree", "block", "ring", "torus3d"] as const;

/** Returns true where a text has the list entries of a Slurm topology.yaml. */
export function looksLikeSlurmYaml(text: string): boolean {
  const start = text.slice(0, 65536);
  return (
    /^[ \t]*-[ \t]+(?:topology|cluster_default|tree|block|ring|torus3d|flat)[ \t]*:/m.test(start) &&
    /^[ \t]*(?:-[ \t]+)?topology[ \t]*:/m.test(start)
  );
}

/**
 * Returns the network of the default topology of a Slurm topology.yaml (that with `cluster_default: true`, else the first),
 * which is a tree, block, ring or torus3d; as `readSlurm`, and a torus lists its hosts with x fastest (assumed). Throws
 * InputError with the line; a flat topology names no hosts and is refused. O(text + hosts).
 */
export function readSlurmYaml(text: string, fileName: string, options: TopologyOptions = {}): Topology {
  const yaml = parseYaml(text, fileName);
  const listed = asList(yaml.value, fileName, "a list of topologies");
  const topologies = listed.map((entry, i) => asObject<Fields>(entry, yaml.at(listed, i)));
  const chosen = topologies.find(({ cluster_default }) => cluster_default === true) ?? topologies[0];
  if (chosen === undefined) throw new InputError(fileName, "at least one topology");
  const name = asText(chosen.topology, yaml.at(chosen, "topology"));
  const kind = KINDS.find((key) => chosen[key] !== undefined);
  if (kind === undefined) {
    throw new InputError(yaml.at(chosen, "topology"), `one of ${KINDS.join(", ")}`, Object.keys(chosen).join(", "));
  }
  const figures = clusterFigures(options);
  const others = topologies.length - 1;
  const note = others === 0 ? "" : ` (of ${topologies.length} in the file)`;
  const sources = [`Slurm topology ${fileName}, ${kind} ${name}${note}`, ...figures.notes];
  const body = asObject<Fields>(chosen[kind], yaml.at(chosen, kind));
  const label = baseName(fileName);
  if (kind === "torus3d") {
    const note3 = "hosts of a torus listed with x fastest, assumed";
    return gridNetwork(label, toriOf(yaml, body), figures, [...sources, note3]);
  }
  const keys = { tree: ["switches", "switch"], block: ["blocks", "block"], ring: ["rings", "ring"] } as const;
  const [list, entry] = keys[kind];
  const runtimeKind = ({ tree: "switchname", block: "blockname", ring: "ringname" } as const)[kind];
  return networkOf(runtimeKind, switchesOf(yaml, body, list, entry), label, sources, figures);
}

/** Returns a reader of hostlists of one file, which counts the hosts of all. */
function hostReader(yaml: Yaml): (container: Fields, key: Key) => string[] {
  let left = MAX_HOSTS;
  return (container, key) => {
    const place = yaml.at(container, key);
    const names = expandHostlist(asText(container[key], place, "a hostlist"), place, left);
    left -= names.length;
    return names;
  };
}

function switchesOf(yaml: Yaml, body: Fields, list: Key, entry: Key): ListedSwitch[] {
  const hosts = hostReader(yaml);
  const listed = asList(body[list], yaml.at(body, list), `a list of ${list}`);
  if (listed.length === 0) throw new InputError(yaml.at(body, list), `at least one of ${list}`, "none");
  return listed.map((value, i) => {
    const fields = asObject<Fields>(value, yaml.at(listed, i));
    const place = yaml.at(fields, entry);
    return {
      name: asText(fields[entry], place),
      switches: fields.children === undefined ? [] : hosts(fields, "children"),
      nodes: fields.nodes === undefined ? [] : hosts(fields, "nodes"),
      place,
    };
  });
}

function toriOf(yaml: Yaml, body: Fields): ListedGrid[] {
  const hosts = hostReader(yaml);
  const listed = asList(body.toruses, yaml.at(body, "toruses"), "a list of tori");
  return listed.map((value, i) => {
    const fields = asObject<Fields>(value, yaml.at(listed, i));
    const place = yaml.at(fields, "name");
    const dims = asObject<Fields>(fields.dims, yaml.at(fields, "dims"));
    const sizes = (["x", "y", "z"] as const).map((axis) => asInteger(dims[axis], yaml.at(dims, axis), 1, MAX_HOSTS));
    return { name: asText(fields.name, place), sizes, nodes: hosts(fields, "nodes"), place };
  });
}
