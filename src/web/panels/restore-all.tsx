import { changes, restoreAll, setGroup } from "../state/what-if.ts";

/** Takes all failures and degradations back; where there are none, the group. */
export const RestoreAll = () => (
  <button type="button" onClick={() => void (changes.value.length > 0 ? restoreAll() : setGroup([]))}>
    {changes.value.length > 0 ? "Restore all" : "All NPUs again"}
  </button>
);
