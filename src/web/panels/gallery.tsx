import { signal } from "@preact/signals";
import { Dialog } from "../parts/dialog.tsx";
import { EXAMPLES } from "../state/examples.ts";
import "./gallery.css";

export const isGalleryShown = signal(false);

/** Finished answers, each a click away. */
export function Gallery() {
  const close = (): void => {
    isGalleryShown.value = false;
  };
  return (
    <Dialog title="Examples" onClose={close}>
      <ul class="gallery">
        {EXAMPLES.map(({ title, says, address }) => (
          <li key={title}>
            <a href={address} onClick={close}>
              {title}
            </a>
            <p>{says}</p>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
