import type { Signal } from "@preact/signals";
import { useId } from "preact/hooks";
import type { NetworkView } from "../../protocol.ts";
import { words } from "../../state/store.ts";
import { setGroup, setOutsiders } from "../../state/what-if.ts";

interface GroupProps {
  readonly network: NetworkView;
  /** NPUs that are being chosen by pointer, in the order of their ranks; null: none are. */
  readonly choosing: Signal<readonly number[] | null>;
}

/** Chooses the NPUs that take part: by pointer, by a box, by names. */
export function Group({ network, choosing }: GroupProps) {
  const id = useId();
  const { group, outsiders } = words.value.options;
  const given = typeof group === "string" ? group : "";
  const chosen = choosing.value;
  const names = chosen?.map((npu) => network.nodeNames[npu]) ?? [];
  const hasComma = names.some((name) => name.includes(","));
  return (
    <section class="what-if" aria-label="Process group">
      <h3>Process group</h3>
      {chosen === null ? (
        <>
          <p class="network-group">{given === "" ? "All NPUs take part." : `Ranks in order: ${given}`}</p>
          <div class="what-if-row">
            <button type="button" onClick={() => (choosing.value = membersOf(network, given))}>
              {given === "" ? "Choose NPUs" : "Change"}
            </button>
            {given !== "" && (
              <button type="button" onClick={() => void setGroup([])}>
                All NPUs again
              </button>
            )}
          </div>
          {given !== "" && (
            <label class="what-if-row" for={`${id}-relay`}>
              <input
                id={`${id}-relay`}
                type="checkbox"
                checked={outsiders !== "none"}
                onChange={(event) => void setOutsiders(event.currentTarget.checked)}
              />
              others may pass data on (--outsiders)
            </label>
          )}
        </>
      ) : (
        <>
          <p>
            Click NPUs, or draw a box around them: the order is that of the ranks. <b>{chosen.length} chosen</b>
            {names.length > 0 && `: ${names.slice(0, 24).join(", ")}${names.length > 24 ? " ..." : ""}`}
          </p>
          {hasComma && <p class="network-missed">Names with a comma cannot be listed.</p>}
          <div class="what-if-row">
            <button
              type="button"
              disabled={chosen.length < 2 || hasComma}
              onClick={() => {
                choosing.value = null;
                void setGroup(names);
              }}
            >
              Use these {chosen.length}
            </button>
            <button type="button" onClick={() => (choosing.value = [])}>
              Clear
            </button>
            <button type="button" onClick={() => (choosing.value = null)}>
              Leave it
            </button>
          </div>
        </>
      )}
    </section>
  );
}

/** Returns the NPUs of a group as it is written, those of all groups where there are several; none for what is not there. */
export function membersOf({ nodeNames, npuCount }: NetworkView, group: string): number[] {
  const names = group.split(/[,;]/).map((name) => name.trim());
  return names.map((name) => nodeNames.indexOf(name)).filter((npu) => npu >= 0 && npu < npuCount);
}
