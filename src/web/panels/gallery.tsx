import { Dialog } from "../parts/dialog.tsx";
import { EXAMPLES } from "../state/examples.ts";
import { wantedExample } from "../state/store.ts";
import "./gallery.css";

/** Finished answers, each a click away. */
export function View({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog title="Examples" onClose={onClose}>
      <ul class="gallery">
        {EXAMPLES.map(({ title, says, address }) => (
          <li key={title}>
            <a
              href={address}
              onClick={() => {
                wantedExample.value = address;
                onClose();
              }}
            >
              {title}
            </a>
            <p>{says}</p>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
