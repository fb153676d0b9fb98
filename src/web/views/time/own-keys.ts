/**
 * Returns whether a key that is pressed on an element is the player's: fields for text keep all keys, lists all but those that
 * step, and what Space presses keeps Space.
 */
export function isPlayersKey(key: string, target: Element): boolean {
  if (target.closest("textarea, input:not([type='range'], [type='checkbox'])") !== null) return false;
  if (target.closest("select") !== null) return key === "," || key === ".";
  return key !== " " || target.closest("button, summary, a, [type='checkbox']") === null;
}
