/** How panes share the room of a view: plain data, so that it can be kept and tested. */

/** A pane's own wishes. */
export interface PaneRoom {
  readonly name: string;
  /** What it has of the room at first, beside and below others, relative to theirs. */
  readonly wide: number;
  readonly tall: number;
}

/** What was done to the panes of a view. */
export interface PaneState {
  /** What panes have of the room where that was changed: "wide timeline", "tall network". */
  readonly shares: Readonly<Record<string, number>>;
  readonly folded: readonly string[];
  /** The one that fills all; null: none. */
  readonly maximised: string | null;
}

const UNTOUCHED: PaneState = { shares: {}, folded: [], maximised: null };

export type Axis = "wide" | "tall";

/** Returns what panes share of an axis: as it was chosen, else as they wish. */
export const shareOf = ({ shares }: PaneState, axis: Axis, pane: PaneRoom): number =>
  shares[`${axis} ${pane.name}`] ?? pane[axis];

/** Returns what was kept of panes of these names; what is not understood, or is of no such pane, counts for nothing. */
export function readPanes(text: string | null, panes: readonly PaneRoom[]): PaneState {
  let read: unknown;
  try {
    read = JSON.parse(text ?? "{}");
  } catch {
    return UNTOUCHED;
  }
  const { shares, folded, maximised } = (read ?? {}) as Readonly<Record<string, unknown>>;
  const names = panes.map(({ name }) => name);
  const keys = names.flatMap((name) => [`wide ${name}`, `tall ${name}`]);
  const known = (value: unknown): value is string => typeof value === "string" && names.includes(value);
  return {
    shares: Object.fromEntries(
      Object.entries(shares ?? {}).filter(
        ([key, share]) => keys.includes(key) && typeof share === "number" && share > 0 && share < 1e6,
      ),
    ),
    folded: Array.isArray(folded) ? folded.filter(known) : [],
    maximised: known(maximised) ? maximised : null,
  };
}

/** Returns how panes are kept; null where nothing was done to them. */
export function writePanes(state: PaneState): string | null {
  const isUntouched = Object.keys(state.shares).length === 0 && state.folded.length === 0 && state.maximised === null;
  return isUntouched ? null : JSON.stringify(state);
}

/** Where the line between two panes stands and may stand, in percent of the room of both. */
export interface Split {
  readonly now: number;
  readonly least: number;
  readonly most: number;
}

/** Returns the split of two shares of a room of so many pixels, of which both keep at least `least`. */
export function splitOf(before: number, after: number, pixels: number, least: number): Split {
  const edge = pixels > 0 ? Math.min(45, Math.ceil((100 * least) / pixels)) : 0;
  const now = Math.round((100 * before) / (before + after));
  return { now: Math.max(edge, Math.min(100 - edge, now)), least: edge, most: 100 - edge };
}

/** Returns the state after the line between two panes was moved to so many percent of the room of both. */
export function splitAt(
  state: PaneState,
  axis: Axis,
  [one, other]: readonly [PaneRoom, PaneRoom],
  to: number,
): PaneState {
  const both = shareOf(state, axis, one) + shareOf(state, axis, other);
  const shares = { [`${axis} ${one.name}`]: (both * to) / 100, [`${axis} ${other.name}`]: (both * (100 - to)) / 100 };
  return { ...state, shares: { ...state.shares, ...shares } };
}

/** Returns the state after a pane was folded, or unfolded; what is folded does not fill all. */
export function foldedAt(state: PaneState, name: string, isFolded: boolean): PaneState {
  const others = state.folded.filter((one) => one !== name);
  return {
    ...state,
    folded: isFolded ? [...others, name] : others,
    maximised: state.maximised === name && isFolded ? null : state.maximised,
  };
}

/** Returns the state after a pane was made to fill all, or (null) none. */
export const maximisedAt = (state: PaneState, name: string | null): PaneState => ({
  ...state,
  folded: state.folded.filter((one) => one !== name),
  maximised: name,
});

/** Returns the percentage that a key moves a split to; null for other keys. */
export function splitAfter(key: string, { now, least, most }: Split): number | null {
  const step = { ArrowLeft: -2, ArrowUp: -2, ArrowRight: 2, ArrowDown: 2, PageUp: -10, PageDown: 10 }[key];
  if (key === "Home") return least;
  if (key === "End") return most;
  return step === undefined ? null : Math.max(least, Math.min(most, now + step));
}
