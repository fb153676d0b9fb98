/**
 * Does what a table says of a pressed key, which then means nothing else. Keys with Ctrl or Meta are the browser's; with Alt too,
 * unless asked otherwise.
 */
export function actOnKey(
  event: KeyboardEvent,
  acts: Readonly<Record<string, () => unknown>>,
  { withAlt = false }: { readonly withAlt?: boolean } = {},
): void {
  const act = acts[event.key];
  if (act === undefined || event.ctrlKey || event.metaKey || (event.altKey && !withAlt)) return;
  event.preventDefault();
  event.stopPropagation();
  act();
}
