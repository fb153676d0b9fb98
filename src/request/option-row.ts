import type { Place } from "../base/option-names.ts";

/** What an option is of. */
export type Part =
  /** Networks: how a file is read, and what of it is taken. */
  | "reading"
  | "network"
  /** What is communicated, and how a schedule of it is made. */
  | "collective"
  | "making"
  /** How a program is made of a schedule. */
  | "program"
  /** What a training step is. */
  | "training"
  /** How states of tensors are searched. */
  | "planning"
  /** How a sweep's tasks are done. */
  | "sweep"
  /** What one command does. */
  | "command";

/** How the page asks for an option. */
interface Field {
  readonly label: string;
  /** "{first}" and "{second}" stand for names of NPUs. */
  readonly placeholder?: string;
  readonly hint?: string;
  /** Values with what they mean; "" is the usual. Null: those of the algorithm. */
  readonly choices?: readonly (readonly [value: string, meaning: string])[] | null;
}

export interface OptionRow {
  readonly part: Part;
  /** What stands for its value in help: "<n>"; absent: the option has none. */
  readonly value?: string;
  /** In help, where a command has no words of its own for it. */
  readonly help: string;
  /** The property of the API's requests; without it the row's name. */
  readonly property?: string;
  /** On the command line without its dashes; without it the row's name in small letters. */
  readonly flag?: string;
  /** One letter for it; `isCalledShort`: errors and hints call it by that. */
  readonly short?: string;
  readonly isCalledShort?: true;
  /** Given several times, the values are joined by commas. */
  readonly repeats?: true;
  /** What an option without a value sets; true without it. */
  readonly sets?: boolean;
  /** Returns the value of a text; without it the text. Throws InputError for `place`. */
  readonly parse?: ((text: string, place: Place) => unknown) & { readonly words?: readonly string[] };
  /** Throws InputError for a value of the API that is none. */
  readonly check?: (value: never, place: Place) => void;
  readonly field?: Field;
  /** Only some makers take it (Maker.options): "auto" hands it on to them, or takes it itself; or it is for a maker that is named. */
  readonly own?: "handed on" | "named only";
}
