/** Returns a pasted text as a file, with a name that tells what it looks like. */
export function fileOfText(text: string): File {
  const [first = ""] = text.trimStart();
  const extension = first === "<" ? "xml" : first === "{" || first === "[" ? "json" : "txt";
  return new File([text], `pasted.${extension}`);
}

/** Returns whether a text is more than a word or two that was meant for somewhere else. */
export const looksLikeFile = (text: string): boolean => text.trim().includes("\n") || /^\s*[<{[]/.test(text);
