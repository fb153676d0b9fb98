import { InputError, inWords } from "../../base/errors.ts";
import {
  type Atom,
  type Atoms,
  type Axis,
  aligned,
  atomsNow,
  freshAtom,
  keepApart,
  noAtoms,
  reshaped,
  sizeOfAxis,
  unite,
} from "../../model/tensor-graph/dimension-solver.ts";
import type { Phase, Reduction, Role } from "../../model/tensor-graph/graph.ts";

/** A tensor of a node as a program sees it: some view of it. */
export interface Value {
  /** Index of the node that makes the tensor. */
  readonly node: number;
  /** The tensor's own atoms, and as which each is seen here; DROPPED: it has size 1 and is not seen. */
  readonly own: Axis;
  readonly seen: Axis;
  /** As they are seen. An atom that the tensor does not have is one along which it is repeated. */
  readonly axes: readonly Axis[];
}

/** A value as a node takes it. */
export type Taken = Pick<Value, "node" | "own" | "seen">;

/** What a node does, whatever its dimensions come to be called. */
export type Deed =
  | { readonly kind: "placeholder"; readonly role: Role }
  | { readonly kind: "einsum"; readonly selects: boolean }
  | { readonly kind: "elementwise"; readonly function: string; readonly constant: number; readonly whole: Axis }
  | { readonly kind: "reduction"; readonly function: Reduction["function"]; readonly over: Axis };

/** A node whose dimensions may still be divided. */
export interface Draft {
  readonly name: string;
  readonly deed: Deed;
  readonly operands: readonly Taken[];
  readonly dims: Axis;
  readonly elementBytes: number;
  readonly phase: Phase;
  readonly isFused: boolean;
}

/** A graph while a reader goes through a program. */
export interface Assembly {
  readonly atoms: Atoms;
  readonly drafts: Draft[];
  readonly names: Set<string>;
  /** Of what is read now: the file and the node, for sentences, and what it is made for. */
  place: string;
  phase: Phase;
}

/** What a tensor that is made is called, and how it is kept. */
export interface Made {
  readonly name: string;
  readonly bytes: number;
  readonly isFused?: boolean;
}

export const newAssembly = (place: string): Assembly => ({
  atoms: noAtoms(),
  drafts: [],
  names: new Set(),
  place,
  phase: "forward",
});

/** Returns a tensor's name with what it is of its node. */
export const partOf = ({ name, bytes }: Made, part: string): Made => ({
  name: `${name}.${part}`,
  bytes,
  isFused: true,
});

/** Returns the sizes of a value. */
export const sizesOf = ({ atoms }: Assembly, { axes }: Value): number[] => axes.map((axis) => sizeOfAxis(atoms, axis));

/** Returns the error for a node that is not as this can be read. */
export const refusal = ({ place }: Assembly, expected: string, found: unknown): InputError =>
  new InputError(place, expected, found);

const shape = (sizes: readonly number[]): unknown => inWords(sizes.length === 0 ? "one number" : sizes.join(" x "));

const DROPPED = -1;

/** Returns the pairs of a value's own atoms and what they are seen as, as they are divided now. */
export function pairsNow(atoms: Atoms, { own, seen }: Taken): readonly [Atom[], Atom[]] {
  const pairs: readonly [Atom[], Atom[]] = [[], []];
  own.forEach((atom, i) => {
    const as = seen[i] as Atom;
    if (as === DROPPED) {
      const now = atomsNow(atoms, [atom]);
      pairs[0].push(...now);
      pairs[1].push(...now.map(() => DROPPED));
      return;
    }
    // of one size, so they can be
    const [ours, theirs] = aligned(atoms, [atom], [as]) as readonly [Atom[], Atom[]];
    pairs[0].push(...ours);
    pairs[1].push(...theirs);
  });
  return pairs;
}

function draft(assembly: Assembly, made: Made, deed: Deed, operands: readonly Taken[], axes: readonly Axis[]): Value {
  const { atoms, drafts, names, phase } = assembly;
  let { name } = made;
  for (let i = 2; names.has(name); i++) name = `${made.name}.${i}`;
  names.add(name);
  const dims = atomsNow(atoms, axes.flat());
  drafts.push({ name, deed, operands, dims, elementBytes: made.bytes, phase, isFused: made.isFused ?? false });
  return { node: drafts.length - 1, own: dims, seen: dims, axes };
}

/** Returns axes of these sizes, each a dimension of its own. */
export function freshAxes(atoms: Atoms, sizes: readonly number[]): Axis[] {
  const axes = sizes.map((size) => [freshAtom(atoms, size)]);
  keepApart(atoms, axes.flat());
  return axes;
}

/** Returns a tensor that is given, of axes that may be those of another. */
export const placeholder = (assembly: Assembly, made: Made, role: Role, axes: readonly Axis[]): Value =>
  draft(assembly, made, { kind: "placeholder", role }, [], axes);

type Label = number | string;

/** A value with what each of its axes is called in a node; axes of one name are one dimension, of size 1 in some where it is repeated. */
export interface Labelled {
  readonly value: Value;
  readonly labels: readonly Label[];
}

type AxesByLabel = ReadonlyMap<Label, Axis>;

/** Returns the axes by labels as a node sees them all, and the operands seen so. Throws InputError where sizes differ. */
export function seenTogether(
  assembly: Assembly,
  operands: readonly Labelled[],
): { readonly axes: AxesByLabel; readonly taken: readonly Taken[] } {
  const { atoms } = assembly;
  const sizes = new Map<Label, number>();
  for (const { value, labels } of operands) {
    sizesOf(assembly, value).forEach((size, i) => {
      const label = labels[i] as Label;
      const before = sizes.get(label) ?? 1;
      if (before !== 1 && size !== 1 && before !== size)
        throw refusal(
          assembly,
          "of operands whose sizes go together",
          inWords(`of one of ${before} and one of ${size}`),
        );
      sizes.set(label, Math.max(before, size));
    });
  }
  /** Axes that are not repeated. */
  const parts = operands.map(({ value, labels }) =>
    value.axes.flatMap((axis, i) => {
      const label = labels[i] as Label;
      return sizeOfAxis(atoms, axis) === sizes.get(label) ? [{ label, axis }] : [];
    }),
  );
  const axes = new Map<Label, Axis>();
  const used = new Set<Atom>();
  for (const { label, axis } of parts.flat()) {
    if (axes.has(label)) continue;
    const now = atomsNow(atoms, axis);
    const own = now.some((atom) => used.has(atom))
      ? now.map((atom) => freshAtom(atoms, atoms.sizes[atom] as number))
      : now;
    for (const atom of own) used.add(atom);
    axes.set(label, own);
  }
  keepApart(atoms, [...axes.values()].flat());
  const pairs = (label: Label, axis: Axis): readonly [Atom[], Atom[]] => {
    const found = aligned(atoms, axes.get(label) as Axis, axis);
    if (found !== null) return found;
    const [ours, theirs] = [axes.get(label) as Axis, axis].map((one) =>
      atomsNow(atoms, one).map((a) => atoms.sizes[a]),
    );
    throw refusal(
      assembly,
      "of operands whose dimensions have the same factors",
      inWords(`of one of ${ours?.join(" x ")} and one of ${theirs?.join(" x ")}`),
    );
  };
  for (const { label, axis } of parts.flat()) {
    const [ours, theirs] = pairs(label, axis);
    ours.forEach((atom, i) => {
      const [one, other] = [atomsNow(atoms, [atom])[0], atomsNow(atoms, [theirs[i] as Atom])[0]] as [Atom, Atom];
      unite(atoms, one, other);
    });
  }
  const taken = operands.map(({ value }, k): Taken => {
    const as = new Map<Atom, Atom>();
    for (const { label, axis } of parts[k] as { label: Label; axis: Axis }[]) {
      const [ours, theirs] = pairs(label, axis);
      theirs.forEach((atom, i) => {
        as.set(atom, ours[i] as Atom);
      });
    }
    const [own, seen] = pairsNow(atoms, value);
    return { node: value.node, own, seen: seen.map((atom) => as.get(atom) ?? DROPPED) };
  });
  return { axes, taken };
}

const axesOf = (axes: AxesByLabel, labels: readonly Label[]): Axis[] => labels.map((label) => axes.get(label) as Axis);

/** Returns operands of which one has each dimension that is to be summed or kept: one that is repeated along it is made so. */
function withAllDimensions(assembly: Assembly, made: Made, operands: readonly Labelled[]): readonly Labelled[] {
  const { axes, taken } = seenTogether(assembly, operands);
  const { atoms } = assembly;
  const there = new Set(taken.flatMap((one) => pairsNow(atoms, one)[1]));
  const lacking = [...axes].find(([, axis]) => atomsNow(atoms, axis).some((atom) => !there.has(atom)))?.[0];
  if (lacking === undefined) return operands;
  const at = operands.findIndex(({ value, labels }) => {
    const axis = value.axes[labels.indexOf(lacking)];
    return axis !== undefined && sizeOfAxis(atoms, axis) === sizeOfAxis(atoms, axes.get(lacking) as Axis);
  });
  const one = operands[at] as Labelled;
  const whole = elementwise(assembly, partOf(made, "repeated"), "copy", [one.value]);
  return withAllDimensions(assembly, made, operands.with(at, { ...one, value: whole }));
}

/** Returns a sum of products: of all labels that the result does not have. With `selects` the first says what goes where. */
export function einsum(
  assembly: Assembly,
  made: Made,
  operands: readonly Labelled[],
  result: readonly Label[],
  selects = false,
): Value {
  const { axes, taken } = seenTogether(assembly, withAllDimensions(assembly, made, operands));
  return draft(assembly, made, { kind: "einsum", selects }, taken, axesOf(axes, result));
}

/** What an elementwise node takes besides. */
export interface Besides {
  readonly constant?: number;
  /** Axes of the result, or of the first operand, that have to be whole. */
  readonly whole?: readonly number[];
}

/** Returns a function of elements; axes correspond from the last, and those of size 1 are repeated. */
export function elementwise(
  assembly: Assembly,
  made: Made,
  name: string,
  operands: readonly Value[],
  besides: Besides = {},
): Value {
  const rank = Math.max(...operands.map(({ axes }) => axes.length));
  const labels = Array.from({ length: rank }, (_, i) => i);
  const labelled = operands.map((value) => ({ value, labels: labels.slice(rank - value.axes.length) }));
  return elementwiseOf(assembly, made, name, labelled, labels, { ...besides, whole: besides.whole ?? [] });
}

/** Returns a function of elements of operands with labels. */
export function elementwiseOf(
  assembly: Assembly,
  made: Made,
  name: string,
  operands: readonly Labelled[],
  result: readonly Label[],
  { constant = 0, whole = [] }: { readonly constant?: number; readonly whole?: readonly Label[] } = {},
): Value {
  const { axes, taken } = seenTogether(assembly, operands);
  const deed = { kind: "elementwise", function: name, constant, whole: axesOf(axes, whole).flat() } as const;
  return draft(assembly, made, deed, taken, axesOf(axes, result));
}

/** Returns a sum, or the greatest, over axes, which stay as axes of size 1 where they are kept. */
export function reduction(
  assembly: Assembly,
  made: Made,
  name: Reduction["function"],
  value: Value,
  over: readonly number[],
  keeps: boolean,
): Value {
  const labels = value.axes.map((_, i) => i);
  const { axes, taken } = seenTogether(assembly, withAllDimensions(assembly, made, [{ value, labels }]));
  const result = labels.flatMap((label) => {
    if (!over.includes(label)) return [axes.get(label) as Axis];
    return keeps ? freshAxes(assembly.atoms, [1]) : [];
  });
  const deed = { kind: "reduction", function: name, over: over.flatMap((at) => axes.get(at) as Axis) } as const;
  keepApart(assembly.atoms, [...result.flat(), ...deed.over]);
  return draft(assembly, made, deed, taken, result);
}

/** Returns for each index along `axis` where it stands: 1 there, 0 elsewhere. It is made where it is used. */
export function oneHot(assembly: Assembly, made: Made, indices: Value, axis: Axis): Value {
  const { atoms } = assembly;
  const labels = indices.axes.map((_, i) => i);
  const { axes, taken } = seenTogether(assembly, [{ value: indices, labels }]);
  const kept = axesOf(axes, labels);
  const seen = new Set(kept.flatMap((one) => atomsNow(atoms, one)));
  const now = atomsNow(atoms, axis);
  const own = now.some((atom) => seen.has(atom))
    ? now.map((atom) => freshAtom(atoms, atoms.sizes[atom] as number))
    : now;
  keepApart(atoms, [...seen, ...own]);
  const deed = { kind: "elementwise", function: "one-hot", constant: 0, whole: own } as const;
  return draft(assembly, { ...made, isFused: true }, deed, taken, [...kept, own]);
}

/** Returns the value as a tensor whose dimensions are those of another of its sizes: itself where it is. */
export function madeLike(assembly: Assembly, made: Made, value: Value, like: Value): Value {
  const { atoms } = assembly;
  const labels = like.axes.map((_, i) => i);
  const { axes, taken } = seenTogether(assembly, [
    { value: like, labels },
    { value, labels },
  ]);
  const [own, seen] = pairsNow(atoms, taken[1] as Taken);
  const wanted = axesOf(axes, labels);
  const isThere = wanted.flat().every((atom) => atoms.sizes[atom] === 1 || own.includes(atom));
  if (isThere && own.every((atom, i) => seen[i] === atom || atoms.sizes[atom] === 1)) return value;
  const deed = { kind: "elementwise", function: "copy", constant: 0, whole: [] } as const;
  return draft(assembly, made, deed, [taken[1] as Taken], wanted);
}

/** Returns the value with its axes in another order: axis i is its axis `order[i]`. */
export const permuted = (value: Value, order: readonly number[]): Value => ({
  ...value,
  axes: order.map((at) => value.axes[at] as Axis),
});

/** Returns the value seen in other sizes, of which one may be -1. Throws InputError where that is no view of its dimensions. */
export function viewed(assembly: Assembly, value: Value, sizes: readonly number[]): Value {
  const before = sizesOf(assembly, value);
  const all = before.reduce((a, b) => a * b, 1);
  const others = sizes.reduce((a, b) => (b < 0 ? a : a * b), 1);
  const wanted = sizes.map((size) => (size < 0 ? all / others : size));
  const axes = reshaped(assembly.atoms, value.axes, wanted);
  if (axes !== null) {
    keepApart(assembly.atoms, axes.flat());
    return { ...value, axes };
  }
  const expected = `a view of ${before.join(" x ")} that keeps dimensions, their parts, or products of neighbours`;
  throw refusal(assembly, expected, shape(wanted));
}

/** Returns the value repeated along axes of size 1, or along new ones before its first, to have these sizes; -1: as it is. */
export function expanded(assembly: Assembly, value: Value, sizes: readonly number[]): Value {
  const { atoms } = assembly;
  const added = sizes.length - value.axes.length;
  const axes = sizes.map((size, i): Axis => {
    const axis = value.axes[i - added];
    if (axis === undefined) return [freshAtom(atoms, size)];
    const before = sizeOfAxis(atoms, axis);
    if (size === before || size < 0) return axis;
    if (before !== 1) throw refusal(assembly, "repeated along dimensions of size 1", shape(sizes));
    return [freshAtom(atoms, size)];
  });
  keepApart(atoms, axes.flat());
  return { ...value, axes };
}

/** Returns the value with axes of size 1 more, at these places of the result. */
export function unsqueezed(assembly: Assembly, value: Value, places: readonly number[]): Value {
  const axes = [...value.axes];
  for (const place of [...places].sort((a, b) => a - b)) axes.splice(place, 0, [freshAtom(assembly.atoms, 1)]);
  keepApart(assembly.atoms, axes.flat());
  return { ...value, axes };
}

/** Returns the value without those of these axes that have size 1. */
export const squeezed = ({ atoms }: Assembly, value: Value, places: readonly number[]): Value => ({
  ...value,
  axes: value.axes.filter((axis, i) => !(places.includes(i) && sizeOfAxis(atoms, axis) === 1)),
});
