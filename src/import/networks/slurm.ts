import { InputError, inWords } from "../../base/errors.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { asInteger, asList, asObject, asText, type JsonFields } from "../text/json.ts";
import { parseYaml, type Yaml } from "../text/yaml-text.ts";
import {
  clusterFigures,
  expandHostlist,
  gridNetwork,
  type ListedGrid,
  type ListedSwitch,
  MAX_HOSTS,
  switchTree,
} from "./cluster-network.ts";
import { baseName } from "./topology-json.ts";
import type { TopologyOptions } from "./topology-options.ts";

/** The entries of a line, keys in lower case. */
interface Line {
  readonly entries: ReadonlyMap<string, string>;
  readonly place: string;
}

const KINDS = ["switchname", "blockname", "ringname"] as const;
const KEYS = [...KINDS, "switches", "nodes", "linkspeed", "blocksizes"];
const WRITTEN = "SwitchName=, BlockName= or RingName=";

/** Returns true where the first line that says something is one of a Slurm topology.conf. */
export function looksLikeSlurm(text: string): boolean {
  return /^\ufeff?(?:[ \t\r]*(?:#[^\n]*)?\n)*[ \t]*(?:SwitchName|BlockName|BlockSizes|RingName)[ \t]*=/i.test(
    text.slice(0, 65536),
  );
}

/**
 * Returns the network of a Slurm topology.conf, with one NPU for each host: a tree (`SwitchName=s0 Nodes=n[0-3]`,
 * `SwitchName=s1 Switches=s0,s2`) as it stands; blocks (`BlockName=b0 Nodes=...`) as a switch each and one switch over them;
 * a ring (`RingName=r0 Nodes=...`) as links between neighbours. The file has no rates: see `clusterFigures`; `LinkSpeed` and
 * `BlockSizes` are not used, as in Slurm's own placement they are no rates. Throws InputError with the line. O(text + hosts).
 */
export function readSlurm(text: string, fileName: string, options: TopologyOptions = {}): Topology {
  const figures = clusterFigures(options);
  const lines = linesOf(text, fileName).filter(({ entries }) => !isSizesOnly(entries));
  const [first] = lines;
  if (first === undefined) throw new InputError(fileName, `lines of ${WRITTEN}`);
  const kind = KINDS.find((key) => first.entries.has(key)) ?? "switchname";
  let hosts = 0;
  const listed = lines.map(({ entries, place }): ListedSwitch => {
    const name = entries.get(kind);
    if (name === undefined || name === "")
      throw new InputError(place, `${written(kind)}=NAME`, [...entries.keys()].join(", "));
    const nodesText = entries.get("nodes");
    const nodes = nodesText === undefined ? [] : expandHostlist(nodesText, place, MAX_HOSTS - hosts);
    hosts += nodes.length;
    const below = entries.get("switches");
    if (kind !== "switchname" && below !== undefined) throw new InputError(place, "Nodes=", `Switches=${below}`);
    return { name, nodes, switches: below === undefined ? [] : expandHostlist(below, place), place };
  });
  if (hosts === 0) throw new InputError(fileName, "at least one line with Nodes=").as("out-of-range");
  return networkOf(kind, listed, baseName(fileName), [`Slurm topology ${fileName}`, ...figures.notes], figures);
}

/** Returns the network of listed switches, blocks or rings. */
function networkOf(
  kind: (typeof KINDS)[number],
  listed: readonly ListedSwitch[],
  name: string,
  sources: readonly string[],
  figures: ReturnType<typeof clusterFigures>,
): Topology {
  if (kind === "switchname") return switchTree(name, listed, figures, sources);
  if (kind === "ringname") {
    const rings = listed.map((ring) => ({ ...ring, sizes: [ring.nodes.length] }));
    return gridNetwork(name, rings, figures, sources);
  }
  if (listed.length === 1) return switchTree(name, listed, figures, sources);
  const top = {
    name: "blocks",
    nodes: [],
    switches: listed.map((block) => block.name),
    place: (listed[0] as ListedSwitch).place,
  };
  return switchTree(name, [...listed, top], figures, [...sources, "blocks joined by one switch, assumed"]);
}

const written = (key: string): string => key.replace(/^./, (c) => c.toUpperCase()).replace("name", "Name");

const isSizesOnly = (entries: ReadonlyMap<string, string>): boolean => entries.size === 1 && entries.has("blocksizes");

/** Returns the lines that say something; a backslash at the end goes on in the next line, `#` starts a comment. */
function linesOf(text: string, fileName: string): Line[] {
  const lines: Line[] = [];
  let pending = "";
  let start = 0;
  text
    .replace(/^\ufeff/, "")
    .split(/\r\n|\n|\r/)
    .forEach((raw, index) => {
      const line = raw.replace(/#.*/, "").trimEnd();
      if (pending === "") start = index + 1;
      if (line.endsWith("\\")) {
        pending += `${line.slice(0, -1)} `;
        return;
      }
      const whole = `${pending}${line}`.trim();
      pending = "";
      if (whole !== "") lines.push(lineOf(whole, `${fileName} line ${start}`));
    });
  if (pending.trim() !== "") lines.push(lineOf(pending.trim(), `${fileName} line ${start}`));
  return lines;
}

function lineOf(text: string, place: string): Line {
  const entries = new Map<string, string>();
  for (const part of text.split(/\s+/)) {
    const equals = part.indexOf("=");
    const key = part.slice(0, Math.max(equals, 0)).toLowerCase();
    if (!KEYS.includes(key)) throw new InputError(place, `${WRITTEN} with Nodes= or Switches=`, part);
    if (entries.has(key)) throw new InputError(place, "every key once", part);
    entries.set(key, part.slice(equals + 1));
  }
  return { entries, place };
}

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
type Fields = JsonFields<Key>;
const YAML_KINDS = ["tree", "block", "ring", "torus3d"] as const;

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
  const kind = YAML_KINDS.find((key) => chosen[key] !== undefined);
  if (kind === undefined) {
    throw new InputError(
      yaml.at(chosen, "topology"),
      `one of ${YAML_KINDS.join(", ")}`,
      Object.keys(chosen).join(", "),
    ).as("unknown-name");
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
  if (listed.length === 0)
    throw new InputError(yaml.at(body, list), `at least one of ${list}`, inWords("none")).as("out-of-range");
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
