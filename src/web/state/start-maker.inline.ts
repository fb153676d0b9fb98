/**
 * Returns the worker that makes everything, from the page's own text, where it stands packed: a page that was opened as a file
 * may load no other.
 */
export async function startMaker(): Promise<Worker> {
  const packed = document.getElementById("banyan-maker")?.textContent ?? "";
  const bytes = await (await fetch(`data:application/gzip;base64,${packed.trim()}`)).blob();
  const text = await new Response(bytes.stream().pipeThrough(new DecompressionStream("gzip"))).blob();
  const address = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
  return new Worker(address, { name: "banyan" });
}
