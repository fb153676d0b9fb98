import { InputError } from "../../base/errors.ts";
import type { Via } from "../../model/program/program.ts";
import { asInteger, asList, asObject, refuse } from "../text/json-value.ts";
import type { Side, Slot } from "./mscclpp-json-shapes.ts";
import { type BlockTables, bufferOf, entry, GREATEST, type PeerKind, type Place } from "./mscclpp-json-tables.ts";

export interface PlanOperand {
  readonly rank: number;
  readonly buffer: number;
  /** In chunks of the file. */
  readonly index: number;
  readonly packet: boolean;
}

/** An operand as a file says it: one buffer, or one in each rank of a group. */
export interface Sized {
  readonly size: number;
  readonly operands: readonly PlanOperand[];
}

/**
 * Returns the operands of one side of an operation that reaches other ranks by `via`. Throws InputError where they are not those
 * of the operation's shape. O(operands).
 */
export function side(value: unknown, expected: Side, via: Via, path: string, tables: BlockTables, at: Place): Sized[] {
  const list = asList(value, at(path));
  const least = expected.first.length;
  if (list.length < least || (expected.rest === null && list.length > least)) {
    const count = `${least}${expected.rest === null ? "" : " or more"} buffer${least === 1 && expected.rest === null ? "" : "s"}`;
    throw new InputError(at(path), `a list of ${count}`, list);
  }
  return list.map((member, k) =>
    operand(member, expected.first[k] ?? (expected.rest as Slot), via, `${path}[${k}]`, tables, at),
  );
}

interface OperandFields {
  readonly type?: unknown;
  readonly rank?: unknown;
  readonly buffer_id?: unknown;
  readonly switch_channel_id?: unknown;
  readonly index?: unknown;
  readonly size?: unknown;
}

function operand(value: unknown, slot: Slot, via: Via, path: string, tables: BlockTables, at: Place): Sized {
  const fields = asObject<OperandFields>(value, at(path));
  const index = asInteger(fields.index, at(`${path}.index`), 0, GREATEST);
  const size = asInteger(fields.size, at(`${path}.size`), 1, GREATEST);
  const of = (rank: number, buffer: number): PlanOperand => ({ rank, buffer, index, packet: slot.packet });
  if (slot.kind === "remote") {
    const place = at(`${path}.buffer_id`);
    const what = `remote buffer that the thread block reaches by ${via}`;
    const { rank, buffer } = entry(tables.remotes[via as PeerKind], fields.buffer_id, what, place);
    return { size, operands: [of(rank, buffer)] };
  }
  if (slot.kind === "switch") {
    const place = at(`${path}.switch_channel_id`);
    const { ranks, buffer } = entry(
      tables.switches,
      fields.switch_channel_id,
      "switch channel of the thread block",
      place,
    );
    return { size, operands: ranks.map((rank) => of(rank, buffer)) };
  }
  if (fields.rank !== undefined && fields.rank !== tables.rank)
    refuse(at(`${path}.rank`), `the gpu's own rank ${tables.rank}`, fields.rank);
  return { size, operands: [of(tables.rank, bufferOf(fields.type, at(`${path}.type`)))] };
}
