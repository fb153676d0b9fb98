import { type After, type Communication, type Computation, INPUT, type Part, type Pass } from "./layer-work.ts";

/** Equal products of an input with weights: rows x inner times inner x columns. */
export interface Product {
  readonly name: string;
  readonly rows: number;
  readonly inner: number;
  readonly columns: number;
  /** How many of them there are. */
  readonly count: number;
  /** One kernel does them all at once (grouped GEMM), so they fill units together; else they come one after the other. */
  readonly isGrouped?: boolean;
  /** Brings the input together before it; again in the backward pass, where only the own part was kept. */
  readonly gather?: Communication;
  /** Of the gradients of the input, beside the gradients of the weights. */
  readonly inputSum?: Communication;
  /** Of the output. */
  readonly outputSum?: Communication;
  /** Brings the gradients of the output together, in the backward pass. */
  readonly outputGather?: Communication;
  /** Nobody needs gradients of its input. */
  readonly isFirst?: boolean;
  /** It stays in 16 bits where products have fewer. */
  readonly sixteenBits?: boolean;
}

/** A computation that is no product with weights. */
export interface Kernel {
  readonly kind: "kernel";
  readonly forward: Computation;
  /** Null where there is nothing to do. */
  readonly backward: Computation | null;
  /** With selective recomputation it is done again in the backward pass, its results are not kept. */
  readonly again: boolean;
}

/** What a layer does, forward and backward. */
export type Operation =
  | { readonly kind: "product"; readonly product: Product }
  | Kernel
  | {
      readonly kind: "exchange";
      readonly forward: Communication | null;
      readonly backward: Communication | null;
    };

/** Which results of a forward pass are computed again instead of kept (Korthikanti et al. 2022). */
export const RECOMPUTATIONS = ["none", "selective", "full"] as const;
export type Recomputation = (typeof RECOMPUTATIONS)[number];

/** Bytes of the numbers that products read and write. */
export interface ProductBytes {
  /** Of inputs and weights, as products read them. */
  readonly factor: number;
  /** Of results. */
  readonly result: number;
  /** Of gradients of weights; added to those of micro batches before, so read and written. */
  readonly gradient: number;
}

/** Parts of a pass, one after the other unless said otherwise. */
class PassBuilder {
  readonly parts: Part[] = [];
  /** What the next part waits for. */
  ends: readonly After[] = [INPUT];

  /** Adds a computation behind all before it. */
  compute(computation: Computation): void {
    this.ends = [this.beside({ computation })];
  }

  /** Adds a communication behind all before it; what follows waits for it. */
  communicate(communication: Communication | undefined | null): void {
    if (communication) this.ends = [this.beside({ communication })];
  }

  /** Adds a part that what follows does not wait for; returns its number. */
  beside(what: { computation: Computation } | { communication: Communication }): number {
    return this.parts.push({ after: this.ends, ...what }) - 1;
  }

  pass(): Pass {
    return { parts: this.parts, outputs: this.ends.filter((at) => at >= 0) };
  }
}

function computationOf(
  product: Product,
  name: string,
  rows: number,
  inner: number,
  columns: number,
  bytes: number,
): Computation {
  const { count, isGrouped, sixteenBits } = product;
  const computation: Computation = {
    name,
    kind: "matmul",
    flops: 2 * rows * inner * columns * count,
    bytes: bytes * count,
    shape: { rows: isGrouped === true ? rows * count : rows, inner, columns },
  };
  return sixteenBits === true ? { ...computation, sixteenBits } : computation;
}

function addForward(pass: PassBuilder, operation: Operation, size: ProductBytes): void {
  if (operation.kind === "kernel") {
    pass.compute(operation.forward);
    return;
  }
  if (operation.kind === "exchange") {
    pass.communicate(operation.forward);
    return;
  }
  const { product } = operation;
  const { name, rows, inner, columns } = product;
  pass.communicate(product.gather);
  const bytes = (rows * inner + inner * columns) * size.factor + rows * columns * size.result;
  pass.compute(computationOf(product, name, rows, inner, columns, bytes));
  pass.communicate(product.outputSum);
}

/**
 * Adds the two products of a backward pass: gradients of the input, then of the weights. The input is brought together beside the
 * first, and gradients of the input are summed beside the second (Shoeybi et al. 2019; Megatron-LM's overlap of both).
 */
function addBackward(pass: PassBuilder, operation: Operation, size: ProductBytes): void {
  if (operation.kind === "kernel") {
    if (operation.backward !== null) pass.compute(operation.backward);
    return;
  }
  if (operation.kind === "exchange") {
    pass.communicate(operation.backward);
    return;
  }
  const { product } = operation;
  const { name, rows, inner, columns } = product;
  pass.communicate(product.outputGather);
  const gathered = product.gather === undefined ? [] : [pass.beside({ communication: product.gather })];
  const ends: After[] = [];
  if (product.isFirst !== true) {
    const bytes = (rows * columns + inner * columns) * size.factor + rows * inner * size.result;
    pass.compute(computationOf(product, `${name}: gradients of the input`, rows, columns, inner, bytes));
    if (product.inputSum !== undefined) ends.push(pass.beside({ communication: product.inputSum }));
  }
  pass.ends = [...pass.ends, ...gathered];
  const bytes = (rows * inner + rows * columns) * size.factor + 2 * inner * columns * size.gradient;
  pass.compute(computationOf(product, `${name}: gradients of the weights`, inner, rows, columns, bytes));
  pass.ends = [...ends, ...pass.ends];
}

/** Returns the forward pass of a layer. */
export function forwardPass(operations: readonly Operation[], size: ProductBytes): Pass {
  const pass = new PassBuilder();
  for (const operation of operations) addForward(pass, operation, size);
  return pass.pass();
}

/** Returns the backward pass of a layer: its operations from the last to the first, behind what is computed again. */
export function backwardPass(operations: readonly Operation[], size: ProductBytes, recompute: Recomputation): Pass {
  const pass = new PassBuilder();
  if (recompute === "full") for (const operation of operations) addForward(pass, operation, size);
  const isAgain = (operation: Operation | undefined): boolean =>
    recompute === "selective" && operation?.kind === "kernel" && operation.again;
  for (let i = operations.length - 1; i >= 0; i--) {
    if (isAgain(operations[i]) && !isAgain(operations[i + 1])) {
      let from = i;
      while (isAgain(operations[from - 1])) from--;
      for (const operation of operations.slice(from, i + 1)) addForward(pass, operation, size);
    }
    addBackward(pass, operations[i], size);
  }
  return pass.pass();
}
