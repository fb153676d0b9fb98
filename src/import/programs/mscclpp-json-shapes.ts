import type { Op, Via } from "../../model/program/program.ts";

/** What an operand is: a buffer of the gpu itself, of another, or of all of a group behind a switch; and whether in packets. */
export interface Slot {
  readonly kind: "local" | "remote" | "switch";
  readonly packet: boolean;
}

/** Operands of one side in order: some that must be there, then any number of others, where `rest` says which. */
export interface Side {
  readonly first: readonly Slot[];
  readonly rest: Slot | null;
}

/** Operands of an operation that moves data. */
export interface Shape {
  readonly sources: Side;
  readonly destinations: Side;
  /** The k-th source goes to the k-th destination; otherwise the sum of all sources goes to all destinations. */
  readonly pairs: boolean;
  /** Its `channel_type`; none for what stays in the gpu. */
  readonly by: readonly Via[];
  /** It posts on its channels. */
  readonly posts: boolean;
}

const LOCAL: Slot = { kind: "local", packet: false };
const LOCAL_PACKET: Slot = { kind: "local", packet: true };
const REMOTE: Slot = { kind: "remote", packet: false };
const REMOTE_PACKET: Slot = { kind: "remote", packet: true };
const SWITCH: Slot = { kind: "switch", packet: false };
const SWITCH_PACKET: Slot = { kind: "switch", packet: true };

const one = (slot: Slot): Side => ({ first: [slot], rest: null });
const some = (slot: Slot): Side => ({ first: [slot], rest: slot });
const then = (slot: Slot, rest: Slot): Side => ({ first: [slot], rest });

const shape = (sources: Side, destinations: Side, by: readonly Via[]): Shape => ({
  sources,
  destinations,
  by,
  pairs: false,
  posts: false,
});
const pairs = (source: Slot, destination: Slot, by: readonly Via[], posts = false): Shape => ({
  ...shape(some(source), some(destination), by),
  pairs: true,
  posts,
});

/**
 * Operations that move data (microsoft/mscclpp, execution_kernel.hpp). Packets carry the flag that readers wait for, except
 * where `ppkt` sends over a port: that sends packets on as they lie there, without a look at flags, so its source is no packet
 * here.
 */
export const SHAPES: ReadonlyMap<unknown, Shape> = new Map<Op, Shape>([
  ["put", pairs(LOCAL, REMOTE, ["memory", "port"])],
  ["pws", pairs(LOCAL, REMOTE, ["port"], true)],
  ["pwsf", pairs(LOCAL, REMOTE, ["port"], true)],
  ["get", pairs(REMOTE, LOCAL, ["memory"])],
  ["copy", shape(one(LOCAL), one(LOCAL), [])],
  ["re", shape(some(LOCAL), one(LOCAL), [])],
  ["rre", shape(then(LOCAL, REMOTE), one(LOCAL), ["memory"])],
  ["res", shape(some(LOCAL), then(LOCAL, REMOTE), ["memory"])],
  ["rres", shape(then(LOCAL, REMOTE), then(LOCAL, REMOTE), ["memory"])],
  ["glres", shape(one(SWITCH), one(SWITCH), ["switch"])],
  ["gstore", shape(one(LOCAL), one(SWITCH), ["switch"])],
  ["gstorepkt", shape(one(LOCAL), one(SWITCH_PACKET), ["switch"])],
  ["cpkt", shape(one(LOCAL), one(LOCAL_PACKET), [])],
  ["upkt", shape(one(LOCAL_PACKET), one(LOCAL), [])],
  ["ppkt", pairs(LOCAL, REMOTE_PACKET, ["memory", "port"])],
  ["rppkt", shape(one(LOCAL_PACKET), some(REMOTE_PACKET), ["memory", "port"])],
  ["repkt", shape(then(LOCAL, LOCAL_PACKET), one(LOCAL), [])],
  ["respkt", shape(then(LOCAL, LOCAL_PACKET), then(LOCAL, REMOTE_PACKET), ["memory"])],
  ["recpkt", shape(then(LOCAL, LOCAL_PACKET), { first: [LOCAL, LOCAL_PACKET], rest: null }, [])],
  ["recspkt", shape(then(LOCAL, LOCAL_PACKET), { first: [LOCAL, LOCAL_PACKET], rest: REMOTE_PACKET }, ["memory"])],
]);

/** Returns whether a shape has packets: the executor moves those whole in every iteration of a pipeline. */
export const hasPackets = ({ sources, destinations }: Shape): boolean =>
  [sources, destinations].some(({ first, rest }) => rest?.packet === true || first.some(({ packet }) => packet));
