import { visible } from "../../visible.ts";
import type { GivenFile } from "../protocol.ts";

/** Hands a file to the browser to be saved. */
export function saveFile({ name, content }: GivenFile): void {
  const address = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = address;
  link.download = visible(name);
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
