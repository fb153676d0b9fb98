import type { Model } from "../../model/workload/models.ts";

/** Returns the model of Hugging Face's config.json. Throws InputError for one that it does not know. */
export async function configuredModel(content: string, name: string): Promise<Model> {
  const { readHuggingFace } = await import("../../import/workloads/hugging-face.ts");
  const config = readHuggingFace(content, name);
  return { name: config.name, aliases: [], source: name, sizes: { kind: "transformer", config } };
}
