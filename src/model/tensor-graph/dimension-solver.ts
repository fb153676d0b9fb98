/**
 * Finds the named dimensions of tensors that are given by shapes (Zhao 2026, 5.3). An axis of a tensor is a list of atoms, whose sizes
 * multiply to its size: one until a view divides it. Atoms that are found to count the same are united, and one that is divided
 * is divided in every tensor that has it. No tensor has an atom twice: atoms that some node sees together are kept apart for good,
 * and where they would have to be one, the node sees one as the other (`Operand.dims`).
 */
export interface Atoms {
  /** [atoms] */
  readonly sizes: number[];
  /** [atoms] the atom that it was united with; itself for the one that stands for all. */
  readonly unitedWith: Atom[];
  /** [atoms] what it was divided into, the slower factor first. */
  readonly factors: (readonly [Atom, Atom] | null)[];
  /** [atoms] those that some node sees together with it. */
  readonly apart: Set<Atom>[];
}

export type Atom = number;
/** Slowest first. Of an axis of size 1: one atom; of others none has size 1. */
export type Axis = readonly Atom[];

export const noAtoms = (): Atoms => ({ sizes: [], unitedWith: [], factors: [], apart: [] });

/** Returns an atom of its own. */
export function freshAtom({ sizes, unitedWith, factors, apart }: Atoms, size: number): Atom {
  sizes.push(size);
  factors.push(null);
  apart.push(new Set());
  return unitedWith.push(sizes.length - 1) - 1;
}

/** Returns the atom that stands for an atom. Near O(1). */
function standing({ unitedWith }: Atoms, atom: Atom): Atom {
  let root = atom;
  while (unitedWith[root] !== root) root = unitedWith[root] as Atom;
  for (let at = atom; at !== root; ) {
    const next = unitedWith[at] as Atom;
    unitedWith[at] = root;
    at = next;
  }
  return root;
}

/** Returns the atoms that stand for those of a list now: of those that were divided, their factors. */
export function atomsNow(atoms: Atoms, axis: Axis): Atom[] {
  const found: Atom[] = [];
  const waiting = [...axis].reverse();
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const root = standing(atoms, next);
    const parts = atoms.factors[root];
    if (parts) waiting.push(parts[1], parts[0]);
    else found.push(root);
  }
  return found;
}

/** Returns the size of an axis. */
export const sizeOfAxis = ({ sizes }: Atoms, axis: Axis): number =>
  axis.reduce((all, atom) => all * (sizes[atom] as number), 1);

/** Keeps atoms apart that one node sees. O(atoms ** 2). */
export function keepApart(atoms: Atoms, seen: Axis): void {
  const now = atomsNow(atoms, seen);
  for (const one of now) for (const other of now) if (one !== other) (atoms.apart[one] as Set<Atom>).add(other);
}

/** Divides an atom everywhere into two, the slower of size `first`, which has to divide its size. */
function divide(atoms: Atoms, atom: Atom, first: number): readonly [Atom, Atom] {
  const parts = [freshAtom(atoms, first), freshAtom(atoms, (atoms.sizes[atom] as number) / first)] as const;
  atoms.factors[atom] = parts;
  const before = atoms.apart[atom] as Set<Atom>;
  for (const other of before) {
    const others = atoms.apart[other] as Set<Atom>;
    others.delete(atom);
    for (const part of parts) {
      others.add(part);
      (atoms.apart[part] as Set<Atom>).add(other);
    }
  }
  before.clear();
  keepApart(atoms, parts);
  return parts;
}

/** Unites two atoms of one size that stand for themselves. Returns false where some node sees both, which stay two. */
export function unite(atoms: Atoms, one: Atom, other: Atom): boolean {
  if (one === other) return true;
  const [kept, gone] = one < other ? [one, other] : [other, one];
  const [ours, theirs] = [atoms.apart[kept] as Set<Atom>, atoms.apart[gone] as Set<Atom>];
  if (ours.has(gone)) return false;
  for (const third of theirs) {
    const others = atoms.apart[third] as Set<Atom>;
    others.delete(gone);
    others.add(kept);
    ours.add(third);
  }
  theirs.clear();
  atoms.unitedWith[gone] = kept;
  return true;
}

/**
 * Returns the atoms of two axes of one size, divided so that they correspond one by one; null where the factors of one do not divide
 * those of the other (4 x 6 and 6 x 4).
 */
export function aligned(atoms: Atoms, left: Axis, right: Axis): readonly [Atom[], Atom[]] | null {
  const found: readonly [Atom[], Atom[]] = [[], []];
  const waiting = [atomsNow(atoms, left).reverse(), atomsNow(atoms, right).reverse()] as const;
  for (;;) {
    const pair = waiting.map((side) => {
      const next = side.pop();
      if (next === undefined) return undefined;
      const [first, ...rest] = atomsNow(atoms, [next]);
      side.push(...rest.reverse());
      return first;
    });
    const [one, other] = pair;
    if (one === undefined || other === undefined) break;
    const [size, otherSize] = [atoms.sizes[one] as number, atoms.sizes[other] as number];
    if (size === otherSize) {
      found[0].push(one);
      found[1].push(other);
      continue;
    }
    const least = Math.min(size, otherSize);
    if (Math.max(size, otherSize) % least !== 0) return null;
    divide(atoms, size > otherSize ? one : other, least);
    // what was divided is met again by its factors
    waiting[0].push(one);
    waiting[1].push(other);
  }
  // an atom that both have may have been divided after it was found
  const now = [atomsNow(atoms, found[0]), atomsNow(atoms, found[1])] as const;
  const isWhole = now.every((side, k) => side.length === (found[k] as Atom[]).length);
  return isWhole ? now : aligned(atoms, ...now);
}

/**
 * Returns the axes of a view of other sizes, of which each has some neighbouring factors of the tensor's axes; atoms are divided for
 * it. Null where an axis would mix factors (4 x 6 seen as 6 x 4), or there are more or fewer elements.
 */
export function reshaped(atoms: Atoms, axes: readonly Axis[], sizes: readonly number[]): Axis[] | null {
  const elements = axes.reduce((all, axis) => all * sizeOfAxis(atoms, axis), 1);
  if (elements !== sizes.reduce((all, size) => all * size, 1)) return null;
  const waiting = axes.flatMap((axis) => atomsNow(atoms, axis)).reverse();
  const isUnit = (atom: Atom | undefined): boolean => atom !== undefined && atoms.sizes[atom] === 1;
  const found: Axis[] = [];
  for (const size of sizes) {
    if (size === 1) {
      found.push([isUnit(waiting.at(-1)) ? (waiting.pop() as Atom) : freshAtom(atoms, 1)]);
      continue;
    }
    const axis: Atom[] = [];
    for (let left = size; left > 1; ) {
      const next = waiting.pop();
      if (next === undefined) return null;
      const factor = atoms.sizes[next] as number;
      if (factor === 1) continue;
      if (left % factor === 0) {
        axis.push(next);
        left /= factor;
      } else if (factor % left === 0) waiting.push(...[...divide(atoms, next, left)].reverse());
      else return null;
    }
    found.push(axis);
  }
  return found.map((axis) => atomsNow(atoms, axis));
}

/** Returns the name of dimension `at`: a .. z, then a1 .. z1, a2 .. */
export function letter(at: number): string {
  const round = Math.floor(at / 26);
  return `${String.fromCharCode(97 + (at % 26))}${round === 0 ? "" : round}`;
}

/**
 * Returns the names of atoms, which all stand for themselves, in the order in which axes first show them: an axis of several atoms
 * takes a letter of its own, which is no atom's.
 */
export function namesOfAtoms(axes: Iterable<Axis>): Map<Atom, string> {
  const names = new Map<Atom, string>();
  const merged = new Set<string>();
  for (const axis of axes) {
    const [first] = axis;
    const key = axis.join();
    if (first === undefined || (axis.length === 1 ? names.has(first) : merged.has(key))) continue;
    const name = letter(names.size + merged.size);
    if (axis.length === 1) names.set(first, name);
    else merged.add(key);
  }
  return names;
}
