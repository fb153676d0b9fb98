/** Strokes of icons on a field of 16 x 16. */
const STROKES = {
  close: "M3 3l10 10M13 3L3 13",
  down: "M3 6l5 5 5-5",
  up: "M3 10l5-5 5 5",
  larger: "M9.5 2.5h4v4M6.5 13.5h-4v-4M13.5 2.5l-4.5 4.5M2.5 13.5L7 9",
  smaller: "M13 7H9V3M3 9h4v4M9 7l4.5-4.5M7 9l-4.5 4.5",
  copy: "M6 6h7v8H6zM10 6V2H3v9h3",
  done: "M3 8.5l3.5 3.5L13 4.5",
  download: "M8 2v8M4.5 7L8 10.5 11.5 7M3 14h10",
  open: "M2 13V4h4l1.5 2H14v7z",
  paste: "M5 3H3v11h10V3h-2M5.5 2h5v3h-5zM5.5 8.5h5M5.5 11h5",
  light:
    "M8 5a3 3 0 100 6 3 3 0 000-6zM8 1v1.5M8 13.5V15M1 8h1.5M13.5 8H15M3 3l1.1 1.1M11.9 11.9L13 13M13 3l-1.1 1.1M4.1 11.9L3 13",
  dark: "M13.5 9.5A6 6 0 016.5 2.5a6 6 0 107 7z",
  auto: "M8 2a6 6 0 100 12A6 6 0 008 2zM8 2v12M8 5l4.5 0M8 8h6M8 11h4.5",
} as const;

type IconName = keyof typeof STROKES;

/** A small picture beside or instead of a word; the word comes from what holds it. */
export const Icon = ({ name }: { readonly name: IconName }) => (
  <svg
    width="16"
    height="16"
    viewBox="0 0 16 16"
    fill="none"
    stroke="currentColor"
    stroke-width="1.5"
    stroke-linecap="round"
    stroke-linejoin="round"
    aria-hidden="true"
  >
    <path d={STROKES[name]} />
  </svg>
);
