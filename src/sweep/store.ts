import { join } from "node:path";
import { InputError } from "../base/errors.ts";
import { nameInStore } from "./stores/content-store.ts";
import { folderStore } from "./stores/folder-store.ts";
import { isS3, readAddress } from "./stores/s3-address.ts";

export type { ContentStore } from "./stores/content-store.ts";

import type { ContentStore } from "./stores/content-store.ts";

/**
 * Opens a store of bytes under their hashes: a folder, or an S3-compatible one as s3://BUCKET/PREFIX?endpoint=URL&region=NAME.
 * Rejects with InputError where it is neither, where a package is missing, and where a server refuses keys or bucket.
 */
export async function openStore(place: string): Promise<ContentStore> {
  if (isS3(place)) return await (await import("./stores/s3-store.ts")).openS3(place);
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(place))
    throw new InputError("the store", "a folder, or s3://BUCKET/PREFIX with ?endpoint=URL&region=NAME", place);
  return folderStore(place);
}

/** Returns where a store has bytes: the path of a file, or an address without what only says how to reach it. */
export function placeInStore(place: string, sha256: string): string {
  if (!isS3(place)) return join(place, ...nameInStore(sha256).split("/"));
  const { bucket, prefix } = readAddress(place);
  return `s3://${bucket}/${prefix}${nameInStore(sha256)}`;
}
