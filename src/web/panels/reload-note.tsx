import { reload, reloadOffer } from "../offline/register.ts";
import "./reload-note.css";

const REASONS = {
  version: "A new version is ready.",
  threads: "Reload once to use all processor cores instead of one.",
};

/** Offers to load the page again, where that brings something. */
export function ReloadNote() {
  const why = reloadOffer.value;
  return (
    <div class="reload-note" role="status">
      {why !== null && (
        <p>
          {REASONS[why]} What is shown stays.
          <button type="button" onClick={reload}>
            Reload
          </button>
          <button
            type="button"
            onClick={() => {
              reloadOffer.value = null;
            }}
          >
            Later
          </button>
        </p>
      )}
    </div>
  );
}
