import { Dialog } from "../parts/dialog.tsx";
import { welcome } from "../state/store.ts";
import "./help.css";

/** Keys, by where they work. */
const KEYS: readonly { readonly where: string; readonly keys: readonly (readonly [keys: string, does: string])[] }[] = [
  {
    where: "Everywhere",
    keys: [
      ["Ctrl Enter", "synthesize (on a Mac also with Command)"],
      ["Esc", "cancel what is under way; close a window or a list"],
      ["/", "type another network in place of the one that is there"],
      ["Ctrl V", "open what was copied: a file, or a text such as that of nvidia-smi topo -m"],
      ["?", "this help"],
    ],
  },
  {
    where: "Tabs of views",
    keys: [
      ["Left Right", "the tab before or after"],
      ["Home End", "the first or last tab"],
      ["Enter", "show its view"],
    ],
  },
  {
    where: "A drawn network",
    keys: [
      ["+ - 0", "closer, farther, all of it"],
      ["Arrows", "move"],
      ["Shift Arrows", "select the next node that way"],
    ],
  },
  {
    where: "The schedule in time",
    keys: [
      ["Space", "play or pause"],
      [", .", "the event before or after"],
      ["Home End", "the beginning or end"],
      ["Arrows", "on the chart: earlier, later"],
      ["+ - 0", "on the chart: closer, farther, all of it"],
    ],
  },
  {
    where: "Lines between panes",
    keys: [
      ["Arrows", "more for one, less for the other"],
      ["Home End", "as little or as much as can be"],
      ["Esc", "back from a pane that has the window"],
    ],
  },
  {
    where: "Trees, tables of cells and charts",
    keys: [
      ["[ ]", "the tree before or after"],
      ["Arrows", "from cell to cell, point to point, line to line"],
      ["Enter", "choose it"],
    ],
  },
];

/** Where the licences are: a file of the site, or inside of the page in one file. */
function licencesAddress(): string {
  const inside = document.getElementById("banyan-licences")?.textContent;
  return inside == null ? "licences.txt" : URL.createObjectURL(new Blob([inside], { type: "text/plain" }));
}

/** What this is, in a few sentences, and its keys. */
export function View({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog title="Help" onClose={onClose}>
      <p>
        Choose a network or drop a file of one, say what is to be communicated, and synthesize. The schedule that comes
        out was judged by code that shares nothing with what made it, simulated on the network, and is compared with a
        proved limit: no algorithm can be faster than that.
      </p>
      <p>
        In the views, choose a link or an NPU to fail or slow it down: a new schedule follows, with the difference. All
        of it happens in this tab; your files are not sent anywhere.
      </p>
      <div class="help-keys">
        {KEYS.map(({ where, keys }) => (
          <section key={where}>
            <h3>{where}</h3>
            <dl>
              {keys.map(([names, does]) => (
                <div key={names}>
                  <dt>
                    {names.split(" ").map((name) => (
                      <kbd key={name}>{name}</kbd>
                    ))}
                  </dt>
                  <dd>{does}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
      <p class="soft">
        Banyan {welcome.value?.version},{" "}
        <a href={licencesAddress()} target="_blank" rel="noopener">
          licences of all that is in it
        </a>
      </p>
    </Dialog>
  );
}
