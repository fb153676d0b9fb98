import { escapeOf, replaceHidden } from "../base/visible.ts";

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** What XML 1.0 cannot hold at all: most controls, two noncharacters, halves of characters. */
const FOREIGN = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u;

/**
 * Returns a text as the value of an attribute that programs read: hidden characters as references, so that they are read back as
 * they were; those that XML cannot hold as their escapes (`\u001b`).
 */
export const xmlAttribute = (text: string): string =>
  replaceHidden(
    text.replace(/[&<>"]/g, (character) => ENTITIES[character]),
    (character) => (FOREIGN.test(character) ? escapeOf(character) : `&#${character.codePointAt(0)};`),
  );
