/**
 * What a runtime adds to the messages of a schedule, in the order in which it is counted. Without any of them an instruction's chunks
 * travel one by one, links are taken as a schedule takes them, connections have room for all, and nobody waits but for data.
 */
export const MECHANISMS = [
  "order",
  "routes",
  "messages",
  "slices",
  "switches",
  "slots",
  "flags",
  "sending",
  "copying",
  "requests",
  "signals",
  "ports",
] as const;
export type Mechanism = (typeof MECHANISMS)[number];

/** Which of them a simulation has. */
export type Adds = Readonly<Record<Mechanism, boolean>>;

/** Returns all of them but these. */
export const allBut = (without: readonly Mechanism[] = []): Adds =>
  Object.fromEntries(MECHANISMS.map((mechanism) => [mechanism, !without.includes(mechanism)])) as Record<
    Mechanism,
    boolean
  >;
