import { InputError } from "../../base/errors.ts";
import { NAMES_IN_DESCRIPTIONS } from "../../model/files/infragraph.ts";
import { formatBandwidth, formatTime, PS_PER_NS, PS_PER_US } from "../../model/numbers/units.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { topologyBuilder } from "../../model/topology/topology-builder.ts";
import { asInteger, asList, asObject, asText, below, type JsonFields, placeIn, refuse } from "../text/json.ts";
import { parseYaml } from "../text/yaml-text.ts";
import { pcieRate, socketRate } from "./gpu-boxes/gpu-box.ts";
import { type Segment, simplified } from "./infragraph-segments.ts";
import { baseName } from "./topology-json.ts";
import type { LinkKind, TopologyOptions } from "./topology-options.ts";

const MOST_NODES = 1e7;
const MOST_EDGES = 2 ** 24;
const MOST_LEVELS = 32;
const DEFAULT_LATENCY_PS = PS_PER_US / 2;
/** A link of a V100 to H100; a link of an MI300X; a port. */
const ASSUMED: Readonly<Partial<Record<LinkKind, number>>> = { nvlink: 25e9, xgmi: 64e9, nic: 50e9 };
const PCIE_LANES = 16;

type Fields = JsonFields<
  | "infrastructure"
  | "annotations"
  | "devices"
  | "instances"
  | "edges"
  | "links"
  | "components"
  | "name"
  | "description"
  | "count"
  | "choice"
  | "custom"
  | "type"
  | "device"
  | "instance"
  | "component"
  | "ep1"
  | "ep2"
  | "scheme"
  | "link"
  | "physical"
  | "bandwidth"
  | "latency"
>;

/** Returns true where a parsed JSON value has the lists of an InfraGraph infrastructure, bare or beside annotations. */
export function looksLikeInfragraph(value: unknown): boolean {
  const isOne = (one: unknown): boolean =>
    typeof one === "object" && one !== null && "devices" in one && "instances" in one;
  return isOne(value) || (typeof value === "object" && value !== null && isOne((value as Fields).infrastructure));
}

/** Returns true where a YAML text does. */
export function looksLikeInfragraphYaml(text: string): boolean {
  return /^(?: {2})?devices[ \t]*:/m.test(text) && /^(?: {2})?instances[ \t]*:/m.test(text);
}

/** `readInfragraph` of a YAML text. */
export const readInfragraphYaml = (text: string, fileName: string, options: TopologyOptions = {}): Topology =>
  readInfragraph(parseYaml(text, fileName).value, fileName, options);

/**
 * Returns the network of an InfraGraph infrastructure (schema 2.4): a node for every component of every instance, composed
 * devices included; an NPU for an xpu, a switch for any other. What is no xpu and no switch and leads nowhere is left out;
 * between two others it becomes a part of the link: the least bandwidth, the sum of latencies. A link joins both ways; of
 * several edges between two components the last counts, as in InfraGraph's own graph. Bandwidths that are left open are the
 * options' or assumed, by what a link joins. Throws InputError with the place. O(nodes + edges).
 */
export function readInfragraph(value: unknown, fileName: string, options: TopologyOptions = {}): Topology {
  const whole = asObject<Fields>(value, fileName);
  const path = whole.infrastructure === undefined ? "" : "infrastructure";
  const root = path === "" ? whole : asObject<Fields>(whole.infrastructure, placeIn(fileName, path));
  const left: string[] = [];
  const file: Source = { left, at: (inner) => placeIn(fileName, below(path, inner)) };
  const templates = templatesOf(root, file);
  const instances = instancesOf(root, file, templates);
  const segments = segmentsOf(root, file, instances);
  const kinds: string[] = [];
  for (const { template, count } of instances.values())
    for (let i = 0; i < count; i++) for (const kind of template.kinds) kinds.push(kind);
  if (!kinds.includes("xpu"))
    throw new InputError(file.at("devices"), "at least one component of choice xpu in an instance");
  const kept = simplified(kinds.length, segments, (node) => kinds[node] !== "xpu" && kinds[node] !== "switch");
  const notes =
    left.length === 0
      ? []
      : [
          `edges to components that no device has are left out: ${left.slice(0, 4).join(", ")}${left.length > 4 ? ` and ${left.length - 4} more` : ""}`,
        ];
  if (whole.annotations !== undefined) notes.push("annotations are not read");
  return networkOf(root, fileName, instances, kinds, kept, options, notes);
}

/** What a link says of itself; null where it does not. */
interface Figures {
  readonly bytesPerSecond: number | null;
  readonly latencyPs: number | null;
}

/** A device: its components one by one, those of composed devices in place of them. */
interface Template {
  readonly components: ReadonlyMap<string, Component>;
  /** [nodes] "xpu.0", "cx5.0.port.1". */
  readonly names: readonly string[];
  /** [nodes] the component's choice, or the type of a custom one. */
  readonly kinds: readonly string[];
  readonly edges: readonly Segment[];
}

interface Component {
  /** Of its first node; the next one's nodes follow. */
  readonly first: number;
  readonly count: number;
  /** Null where it is no device. */
  readonly inner: Template | null;
}

interface Instance {
  readonly name: string;
  readonly description: string;
  readonly first: number;
  readonly count: number;
  readonly template: Template;
}

/** What is read. */
interface Source {
  /** Returns the place of a path within. */
  at(inner: string): string;
  /** Ends of edges that name no component, which InfraGraph's own library leaves out too. */
  readonly left: string[];
}

/** Returns the entries of a list of objects by name, each with its path. */
function named(list: unknown, path: string, file: Source): Map<string, { fields: Fields; path: string }> {
  const byName = new Map<string, { fields: Fields; path: string }>();
  asList(list ?? [], file.at(path)).forEach((entry, i) => {
    const own = `${path}[${i}]`;
    const fields = asObject<Fields>(entry, file.at(own));
    const name = asText(fields.name, file.at(`${own}.name`), "a name");
    if (byName.has(name)) throw new InputError(file.at(`${own}.name`), "a name not used before", name);
    byName.set(name, { fields, path: own });
  });
  return byName;
}

/** Returns a way to the template of each device by name, made when first asked for. */
function templatesOf(root: Fields, file: Source): (name: string, place: string) => Template {
  const devices = named(root.devices, "devices", file);
  const made = new Map<string, Template>();
  const open: string[] = [];
  const templateOf = (name: string, place: string): Template => {
    const known = made.get(name);
    if (known !== undefined) return known;
    const device = devices.get(name);
    if (device === undefined) throw new InputError(place, "the name of a device that the file lists", name);
    if (open.includes(name)) throw new InputError(place, "a device that does not contain itself", name);
    if (open.length >= MOST_LEVELS) throw new InputError(place, `at most ${MOST_LEVELS} devices within devices`, name);
    open.push(name);
    const template = templateOfDevice(device.fields, device.path, file, templateOf);
    open.pop();
    made.set(name, template);
    return template;
  };
  return templateOf;
}

function templateOfDevice(
  device: Fields,
  path: string,
  file: Source,
  templateOf: (name: string, place: string) => Template,
): Template {
  const components = new Map<string, Component>();
  const names: string[] = [];
  const kinds: string[] = [];
  const edges: Segment[] = [];
  for (const [name, { fields, path: own }] of named(device.components, `${path}.components`, file)) {
    const choice = asText(fields.choice, file.at(`${own}.choice`), "a kind of component");
    const count = asInteger(fields.count, file.at(`${own}.count`), 0, MOST_NODES);
    const inner = choice === "device" ? templateOf(name, file.at(`${own}.name`)) : null;
    components.set(name, { first: names.length, count, inner });
    const custom = choice === "custom" ? asObject<Fields>(fields.custom ?? {}, file.at(`${own}.custom`)).type : choice;
    const kind = typeof custom === "string" && custom !== "xpu" && custom !== "switch" ? custom : choice;
    if (names.length + count * (inner?.names.length ?? 1) > MOST_NODES)
      throw new InputError(file.at(own), `at most ${MOST_NODES} components`, count).as("out-of-range");
    for (let i = 0; i < count; i++) {
      const first = names.length;
      if (inner === null) {
        names.push(`${name}.${i}`);
        kinds.push(kind);
        continue;
      }
      for (const [k, innerName] of inner.names.entries()) {
        names.push(`${name}.${i}.${innerName}`);
        kinds.push(inner.kinds[k] as string);
      }
      for (const edge of inner.edges) edges.push({ ...edge, a: first + edge.a, b: first + edge.b });
      demandFew(edges.length, file.at(own));
    }
  }
  const template = { components, names, kinds, edges };
  const ends = (fields: Fields, own: string): number[] => {
    const composed = fields.device === undefined || fields.device === null ? "" : `${fields.device}.`;
    return nodesAt(
      template,
      composed + asText(fields.component, file.at(`${own}.component`)),
      file,
      `${own}.component`,
    );
  };
  addEdges(edges, device, path, file, ends);
  return template;
}

function demandFew(edges: number, place: string): void {
  if (edges > MOST_EDGES) throw new InputError(place, `at most ${MOST_EDGES} edges`, edges).as("out-of-range");
}

/** Returns the instances by name, their nodes one behind the other's. */
function instancesOf(
  root: Fields,
  file: Source,
  templateOf: (name: string, place: string) => Template,
): Map<string, Instance> {
  const instances = new Map<string, Instance>();
  let first = 0;
  for (const [name, { fields, path }] of named(root.instances, "instances", file)) {
    const count = asInteger(fields.count ?? 1, file.at(`${path}.count`), 0, MOST_NODES);
    const template = templateOf(asText(fields.device, file.at(`${path}.device`)), file.at(`${path}.device`));
    const description = typeof fields.description === "string" ? fields.description : "";
    instances.set(name, { name, description, first, count, template });
    first += count * template.names.length;
    if (first > MOST_NODES)
      throw new InputError(file.at(path), `at most ${MOST_NODES} components`, first).as("out-of-range");
  }
  return instances;
}

/** Returns all edges of all instances, then those between instances. */
function segmentsOf(root: Fields, file: Source, instances: ReadonlyMap<string, Instance>): Segment[] {
  const segments: Segment[] = [];
  for (const { first, count, template } of instances.values()) {
    for (let i = 0; i < count; i++) {
      const base = first + i * template.names.length;
      for (const edge of template.edges) segments.push({ ...edge, a: base + edge.a, b: base + edge.b });
      demandFew(segments.length, file.at("instances"));
    }
  }
  addEdges(segments, root, "", file, (fields, own) => {
    const text = asText(fields.instance, file.at(`${own}.instance`));
    const { name, slice } = element(text, file.at(`${own}.instance`));
    const instance = instances.get(name);
    if (instance === undefined)
      throw new InputError(file.at(`${own}.instance`), "an instance that the file lists", name);
    const { first, count, template } = instance;
    const component = asText(fields.component, file.at(`${own}.component`));
    const inner = nodesAt(template, component, file, `${own}.component`);
    const chosen = indices(slice, count, file.at(`${own}.instance`), text);
    return chosen.flatMap((i) => inner.map((node) => first + i * template.names.length + node));
  });
  return segments;
}

/** Adds what the edges of a device or infrastructure join, by its links. */
function addEdges(
  into: Segment[],
  owner: Fields,
  path: string,
  file: Source,
  ends: (fields: Fields, path: string) => number[],
): void {
  const links = new Map<string, Figures>();
  for (const [name, { fields, path: own }] of named(owner.links, below(path, "links"), file))
    links.set(name, figuresOf(fields, own, file));
  asList(owner.edges ?? [], file.at(below(path, "edges"))).forEach((entry, i) => {
    const own = below(path, `edges[${i}]`);
    const edge = asObject<Fields>(entry, file.at(own));
    const [from, to] = (["ep1", "ep2"] as const).map((end) =>
      ends(asObject<Fields>(edge[end], file.at(`${own}.${end}`)), `${own}.${end}`),
    ) as [number[], number[]];
    const link = asText(edge.link, file.at(`${own}.link`), "the name of a link");
    const figures = links.get(link);
    if (figures === undefined)
      throw new InputError(file.at(`${own}.link`), "a link that is listed beside its edges", link);
    const join = (a: number, b: number): void => {
      if (a !== b) into.push({ a, b, ...figures, name: link });
    };
    if (edge.scheme === "one2one") {
      for (let k = 0; k < Math.min(from.length, to.length); k++) join(from[k] as number, to[k] as number);
    } else if (edge.scheme === "many2many") {
      demandFew(into.length + from.length * to.length, file.at(own));
      for (const a of from) for (const b of to) join(a, b);
    } else {
      refuse(file.at(`${own}.scheme`), "one2one or many2many", edge.scheme);
    }
    demandFew(into.length, file.at(own));
  });
}

/**
 * Returns the nodes of a device that an endpoint such as `xpu[0:2]` or `cx5[0].port` stands for, first index slowest; none where
 * it names what the device lacks.
 */
function nodesAt(template: Template, text: string, file: Source, path: string): number[] {
  const place = file.at(path);
  let found = [0];
  let device: Template | null = template;
  for (const part of text.split(".")) {
    if (device === null) throw new InputError(place, "a component within a device", text);
    const { name, slice } = element(part, place);
    const component: Component | undefined = device.components.get(name);
    if (component === undefined) {
      file.left.push(`${path} (${name})`);
      return [];
    }
    const { first, count, inner }: Component = component;
    const chosen = indices(slice, count, place, part);
    if (found.length * chosen.length > MOST_NODES)
      throw new InputError(place, `at most ${MOST_NODES} components`, text).as("out-of-range");
    const size = inner?.names.length ?? 1;
    found = found.flatMap((base) => chosen.map((i) => base + first + i * size));
    device = inner;
  }
  if (device !== null) throw new InputError(place, "a component of the device within, such as port[0]", text);
  return found;
}

/** Returns the name and the slice of `name[slice]`; null where there is none. */
function element(text: string, place: string): { name: string; slice: string | null } {
  const [, name = "", slice] = /^([^[\].:]+)(?:\[([^[\]]*)\])?$/.exec(text.trim()) ?? [];
  if (name === "") throw new InputError(place, "a name with a slice, such as xpu[0:8]", text);
  return { name, slice: slice ?? null };
}

/** Returns the indices below `count` of a slice of Python: "", "3", "0:8", "::2", ":". */
function indices(slice: string | null, count: number, place: string, text: string): number[] {
  const parts = (slice ?? ":").split(":").map((part) => part.trim());
  const numbers = parts.map((part) => (/^\d{1,9}$/.test(part) ? Number(part) : part === "" ? null : Number.NaN));
  const one = parts.length === 1 && parts[0] !== "" ? (numbers[0] as number) : null;
  const [start, stop, step] = one === null ? numbers : [one, one + 1];
  const [low, high, stride] = [start ?? 0, stop ?? count, step ?? 1];
  const sound = parts.length <= 3 && ![low, high, stride].some(Number.isNaN) && stride > 0;
  if (!sound || high > count || (one === null ? low > high : low >= count)) {
    const range = count === 0 ? "no index, for there are none" : `a slice of 0:${count}`;
    throw new InputError(place, range, text);
  }
  const chosen: number[] = [];
  for (let i = low; i < high; i += stride) chosen.push(i);
  return chosen;
}

const BYTES_PER_SECOND: Readonly<Record<string, (value: number) => number>> = {
  gigabits_per_second: (value) => value * 1.25e8,
  gigabytes_per_second: (value) => value * 1e9,
  // 16 lanes; up to 5 GT/s 8 of 10 bits are data, beyond 128 of 130
  gigatransfers_per_second: (value) => (value * 1e9 * PCIE_LANES * (value <= 5 ? 0.8 : 128 / 130)) / 8,
};
const PICOSECONDS: Readonly<Record<string, (value: number) => number>> = {
  ms: (value) => value * 1000 * PS_PER_US,
  us: (value) => value * PS_PER_US,
  ns: (value) => value * PS_PER_NS,
};

function figuresOf(link: Fields, path: string, file: Source): Figures {
  const physical = asObject<Fields>(link.physical ?? {}, file.at(`${path}.physical`));
  const figure = (key: "bandwidth" | "latency", units: typeof PICOSECONDS, least: number): number | null => {
    const own = `${path}.physical.${key}`;
    const fields = asObject<Readonly<Record<string, unknown>>>(physical[key] ?? {}, file.at(own));
    const choice = fields["choice"] ?? Object.keys(units).find((unit) => fields[unit] !== undefined);
    if (choice === undefined || choice === null) return null;
    if (typeof choice !== "string" || !Object.hasOwn(units, choice))
      refuse(file.at(`${own}.choice`), `one of ${Object.keys(units).join(", ")}`, choice);
    const value = fields[choice];
    // a choice without its value is how their library writes that nothing is known
    if (value === undefined || value === null) return null;
    const scaled =
      typeof value === "number" ? Math.round((units[choice] as (value: number) => number)(value)) : Number.NaN;
    if (!Number.isSafeInteger(scaled) || scaled < least)
      refuse(file.at(`${own}.${choice}`), least > 0 ? "a positive number" : "a number, 0 or more,", value);
    return scaled;
  };
  return { bytesPerSecond: figure("bandwidth", BYTES_PER_SECOND, 1), latencyPs: figure("latency", PICOSECONDS, 0) };
}

/** Returns what kind of link joins two components. */
function linkKind(names: string, a: string, b: string): LinkKind {
  if (/pci/i.test(names)) return "pcie";
  if (a === "xpu" || b === "xpu") return /infinity|xgmi/i.test(names) ? "xgmi" : "nvlink";
  return a === "cpu" && b === "cpu" ? "socket" : "nic";
}

/** Returns the network of what was kept, with figures for what is left open. */
function networkOf(
  root: Fields,
  fileName: string,
  instances: ReadonlyMap<string, Instance>,
  kinds: readonly string[],
  { nodes, segments }: { readonly nodes: readonly number[]; readonly segments: readonly Segment[] },
  options: TopologyOptions,
  told: readonly string[],
): Topology {
  const said = typeof root.description === "string" ? root.description : "";
  const described = said.startsWith(NAMES_IN_DESCRIPTIONS);
  const written = described ? said.slice(NAMES_IN_DESCRIPTIONS.length) : root.name;
  const given = typeof written === "string" && written !== "" ? written : baseName(fileName);
  const builder = topologyBuilder(given, 2 * segments.length);
  const indexOf = new Int32Array(kinds.length).fill(-1);
  const kept = new Uint8Array(kinds.length);
  for (const node of nodes) kept[node] = 1;
  for (const { name, description, first, count, template } of instances.values()) {
    const size = template.names.length;
    for (let i = 0; i < count; i++) {
      for (let k = 0; k < size; k++) {
        const node = first + i * size + k;
        if (kept[node] === 0) continue;
        const alone = count === 1 && size === 1;
        const full = alone
          ? described && description !== ""
            ? description
            : name
          : `${name}.${i}.${template.names[k]}`;
        const traits = size > 1 ? { group: `${name}.${i}` } : {};
        indexOf[node] = kinds[node] === "xpu" ? builder.addNpu(full, traits) : builder.addSwitch(full, traits);
      }
    }
  }
  const latencyPs = options.latencyPs ?? DEFAULT_LATENCY_PS;
  const open = new Map<LinkKind, { names: Set<string>; bytesPerSecond: number; note: string }>();
  let late = 0;
  for (const { a, b, name, bytesPerSecond, latencyPs: own } of segments) {
    let rate = bytesPerSecond;
    if (rate === null) {
      const kind = linkKind(name, kinds[a] as string, kinds[b] as string);
      const assumed = open.get(kind) ?? { names: new Set<string>(), ...assumedRate(kind, options) };
      open.set(kind, assumed);
      assumed.names.add(name);
      rate = assumed.bytesPerSecond;
    }
    if (own === null) late++;
    builder.addDuplex(indexOf[a], indexOf[b], rate, own ?? latencyPs);
  }
  const notes = [...told, ...[...open.values()].map(({ names, note }) => `${[...names].join(", ")}: ${note}`)];
  if (late > 0) {
    const why = options.latencyPs === undefined ? "assumed" : "as given";
    notes.push(`${formatTime(latencyPs)} a link where the file tells no latency, ${why}`);
  }
  return builder.build({ sources: [`InfraGraph ${fileName}`, ...notes] });
}

/** Returns the bandwidth of links whose file does not tell it, and says where it is from. */
function assumedRate(kind: LinkKind, options: TopologyOptions): { bytesPerSecond: number; note: string } {
  if (kind === "pcie") return pcieRate(null, options);
  if (kind === "socket") return socketRate(options);
  const given = options.bandwidth?.[kind];
  const bytesPerSecond = given ?? (ASSUMED[kind] as number);
  const rate = formatBandwidth(bytesPerSecond);
  return {
    bytesPerSecond,
    note: given === undefined ? `${rate} assumed (--assume ${kind}=)` : `${rate}, as --assume says`,
  };
}
