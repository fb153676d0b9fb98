import { reload, reloadOffer } from "../offline/register.ts";
import "./reload-note.css";

const REASONS = {
  version: "A new version is ready.",
  threads: "Loaded again, this page may use all processor cores.",
};

/** Offers to load the page again, where that brings something. */
export function ReloadNote() {
  const why = reloadOffer.value;
  return (
    <div class="reload-note" role="status">
      {why !== null && (
        <p>
          {REASONS[why]} What you see comes back.
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
