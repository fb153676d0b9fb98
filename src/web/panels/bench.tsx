import { Dialog } from "../parts/dialog.tsx";
import { useCode } from "../parts/use-code.ts";
import { closeBench } from "../state/history.ts";

const load = () => import("./kernel-table.tsx");

/** What the address #bench shows: how long kernels take in this tab. */
export function Bench() {
  const View = useCode(load, "The table");
  return (
    <Dialog title="Kernels in this tab" onClose={closeBench}>
      {View === null && <p class="soft">Loading the table...</p>}
      {typeof View === "string" && <p role="alert">{View}</p>}
      {View !== null && typeof View !== "string" && <View />}
    </Dialog>
  );
}
