import type { Dimension } from "../../model/tensor-graph/graph.ts";
import type { Mesh, MeshAxis } from "../../model/tensor-plan/mesh.ts";
import type { Pattern } from "../../model/tensor-plan/patterns.ts";
import type { TensorPlan } from "../../model/tensor-plan/plan.ts";
import { KEYWORDS, listText, oneLine, pythonString } from "../programs/python-tables.ts";
import { type PlacedTensors, placedPlan } from "./placed-tensors.ts";

/** How a framework says where tensors lie. */
export interface PlanDialect {
  /** Lines of the file's docstring behind those that all have. */
  readonly notes: readonly string[];
  readonly imports: readonly string[];
  /** The function that makes the mesh. */
  readonly mesh: string;
  /** Returns how a tensor of so many dimensions lies, as an expression; null where the framework cannot say it. */
  readonly placement: (pattern: Pattern, rank: number) => string | null;
}

/**
 * Returns the axes' names as identifiers of Python, each another: other characters become _, and names that come again get a number.
 */
export function axisNames({ axes }: Pick<Mesh, "axes">): string[] {
  const taken = new Set<string>();
  return axes.map(({ name }) => {
    const plain = name.replace(/[^A-Za-z0-9_]/g, "_").slice(0, 80);
    const base = /^[A-Za-z]/.test(plain) && !KEYWORDS.has(plain) ? plain : `axis_${plain}`;
    let free = base;
    for (let count = 2; taken.has(free); count++) free = `${base}_${count}`;
    taken.add(free);
    return free;
  });
}

/** Returns items as a tuple of Python. */
export const tupleText = (items: readonly string[]): string => `(${items.join(", ")}${items.length === 1 ? "," : ""})`;

/**
 * Returns a plan as a file of Python: the mesh of a stage, and tables of tensors by their names, a line for those of a class that lie
 * alike; of several stages tables of each, `PARAMETERS_OF_STAGE_1`.
 */
export function pythonPlan(plans: readonly TensorPlan[], { notes, imports, mesh, placement }: PlanDialect): string {
  const { graph, mesh: planned } = plans[0] as TensorPlan;
  const shape = planned.axes.map(({ size }: MeshAxis) => `${size}`);
  const table = (name: string, comment: string, rows: readonly PlacedTensors[], areLists = false): string => {
    const lines = rows.map(({ names, dims, patterns }) => {
      const placed = patterns.map((pattern) => placement(pattern, dims.length));
      if (placed.includes(null))
        return `    # left out, not summed: ${names.map(pythonString).join(", ")}${sizesNote(dims)}`;
      return `    ${entryText(names, areLists ? `[${placed.join(", ")}]` : `${placed[0]}`)},${sizesNote(dims)}`;
    });
    return `# ${comment}\n${name} = {${lines.map((line) => `\n${line}`).join("")}${lines.length > 0 ? "\n" : ""}}\n`;
  };
  const isStaged = plans.length > 1;
  const tablesOf = (plan: TensorPlan, s: number): string[] => {
    const tables = placedPlan(plan);
    const [suffix, where] = isStaged ? [`_OF_STAGE_${s + 1}`, `Of stage ${s + 1}: w`] : ["", "W"];
    const rest = isStaged ? `Of stage ${s + 1}: h` : "H";
    const to = isStaged ? `Of stage ${s + 1}: t` : "T";
    return [
      table(`PARAMETERS${suffix}`, `${where}here parameters lie between steps.`, tables.parameters),
      table(
        `OPTIMIZER${suffix}`,
        `${where}here the optimiser's state and the gradient of a parameter lie, if not as the parameter.`,
        tables.optimizer,
      ),
      table(`INPUTS${suffix}`, `${where}hat a step is given.`, tables.inputs),
      table(`ACTIVATIONS${suffix}`, `${rest}ow tensors of the forward pass are made.`, tables.activations),
      table(
        `COPIES${suffix}`,
        `${to}o what tensors are brought for those that take them in the forward pass.`,
        tables.copies,
        true,
      ),
    ];
  };
  const devices = isStaged ? `${plans.length} stages of ${shape.join(" x ")}` : `a mesh of ${shape.join(" x ")}`;
  return [
    `"""How the tensors of ${oneLine(graph.name)} lie on ${devices} devices.\n\nWritten by Banyan. ${notes.join("\n")}\n"""\n`,
    `${imports.join("\n")}\n`,
    `${isStaged ? `STAGES = ${plans.length}\n` : ""}MESH_SHAPE = ${tupleText(shape)}\nMESH_AXES = ${tupleText(axisNames(planned).map(pythonString))}\n`,
    `\n${mesh}\n\n`,
    ...plans.flatMap(tablesOf),
  ].join("\n");
}

/** Returns a comment with a tensor's dimensions, in the order in which they are numbered. */
const sizesNote = (dims: readonly Dimension[]): string =>
  dims.length === 0 ? "  # a number" : `  # ${dims.map(({ name, size }) => `${oneLine(name)} ${size}`).join(" x ")}`;

/** Returns entries of a dictionary with one value: names that differ in a number as `f"layer {i} up" .. for i in range(1, 13)`. */
function entryText(names: readonly string[], value: string): string {
  if (names.length === 1) return `${pythonString(names[0] as string)}: ${value}`;
  const numbered = numberedNames(names);
  if (numbered === null) return `**{name: ${value} for name in ${tupleText(names.map(pythonString))}}`;
  return `**{${numbered.text}: ${value} for i in ${listText(numbered.numbers)}}`;
}

/** Returns names that differ in one number, which may come more than once, as a formatted string of Python; null of others. */
function numberedNames(
  names: readonly string[],
): { readonly text: string; readonly numbers: readonly number[] } | null {
  const all = names.map((name) => name.split(/(\d+)/));
  const [first] = all as [string[]];
  if (all.some((parts) => parts.length !== first.length)) return null;
  const varies = first.map((part, at) => all.some((parts) => parts[at] !== part));
  const place = varies.indexOf(true);
  const isAlike = all.every((parts) => parts.every((part, at) => !varies[at] || part === parts[place]));
  const numbers = all.map((parts) => Number(parts[place]));
  const isPlain = numbers.every((number, n) => Number.isSafeInteger(number) && `${number}` === all[n]?.[place]);
  if (!isAlike || !isPlain) return null;
  const literal = (part: string): string => pythonString(part).slice(1, -1).replace(/[{}]/g, "$&$&");
  return { text: `f"${first.map((part, at) => (varies[at] ? "{i}" : literal(part))).join("")}"`, numbers };
}
