import { visible } from "../../base/visible.ts";
import type { GivenFile } from "../protocol.ts";

/**
 * Hands a file to the browser to be saved. Rejects where its bytes cannot be had: the browser has no room for them, or a file on
 * the disk was changed or is gone. A download would end without a word in the page.
 */
export async function saveFile({ name, content }: GivenFile): Promise<void> {
  await content.slice(0, 1).arrayBuffer();
  const address = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = address;
  link.download = visible(name);
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
