import { useSignal } from "@preact/signals";
import { useEffect, useId, useRef } from "preact/hooks";
import { type Choice, type ChoiceGroup, matching } from "./choices.ts";
import type { ControlProps } from "./field.tsx";
import { Icon } from "./icon.tsx";
import { actOnKey } from "./keys.ts";
import "./combobox.css";

interface ComboboxProps {
  readonly control: ControlProps;
  readonly value: string;
  readonly placeholder: string;
  readonly groups: readonly ChoiceGroup[];
  /** Of the button that opens the list. */
  readonly openLabel: string;
  readonly onType: (text: string) => void;
  readonly onChoose: (value: string) => void;
}

const allOf = (groups: readonly ChoiceGroup[]): Choice[] => groups.flatMap(({ choices }) => choices);

/** A text to type, or to choose from a list that a click or an arrow opens and typing filters: arrows walk, Enter chooses, Escape closes. */
export function Combobox(props: ComboboxProps) {
  const { control, value, placeholder, groups, openLabel, onType } = props;
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  const isOpen = useSignal(false);
  const filter = useSignal("");
  const at = useSignal(-1);
  const shown = isOpen.value ? matching(groups, filter.value) : [];
  const flat = allOf(shown);
  const isShown = flat.length > 0;

  const open = (): void => {
    filter.value = "";
    at.value = allOf(matching(groups, "")).findIndex((choice) => choice.value === value);
    isOpen.value = true;
  };
  const close = (): void => {
    isOpen.value = false;
  };
  const onChoose = (chosen: string): void => {
    close();
    props.onChoose(chosen);
  };
  const walk = (to: number): void => {
    at.value = Math.max(0, Math.min(flat.length - 1, to));
  };
  const acts = {
    ArrowDown: () => (isShown ? walk(at.value + 1) : open()),
    ArrowUp: () => (isShown ? walk(at.value - 1) : open()),
    ...(isShown ? { PageDown: () => walk(at.value + 8), PageUp: () => walk(at.value - 8), Escape: close } : {}),
    ...(isShown && at.value >= 0 ? { Enter: () => onChoose(flat[at.value].value) } : {}),
  };

  return (
    <div class="combobox">
      <input
        ref={input}
        {...control}
        type="text"
        role="combobox"
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        aria-autocomplete="list"
        aria-expanded={isShown}
        aria-controls={`${id}-list`}
        aria-activedescendant={isShown && at.value >= 0 ? `${id}-${at.value}` : undefined}
        placeholder={placeholder}
        value={value}
        onInput={({ currentTarget }) => {
          filter.value = currentTarget.value;
          at.value = -1;
          isOpen.value = currentTarget.value !== "";
          onType(currentTarget.value);
        }}
        onKeyDown={(event) => actOnKey(event, acts, { withAlt: true })}
        onClick={() => !isOpen.value && open()}
        onBlur={close}
      />
      <OpenButton
        label={openLabel}
        onPress={() => {
          if (isOpen.value) close();
          else open();
          input.current?.focus();
        }}
      />
      <ChoiceList
        id={id}
        label={openLabel}
        under={input.current}
        groups={shown}
        at={at.value}
        onClose={close}
        onChoose={onChoose}
      />
    </div>
  );
}

/** Opens and closes the list; the input keeps the focus. */
const OpenButton = ({ label, onPress }: { readonly label: string; readonly onPress: () => void }) => (
  <button
    type="button"
    class="combobox-open icon quiet"
    tabIndex={-1}
    aria-label={label}
    onMouseDown={(event) => event.preventDefault()}
    onClick={onPress}
  >
    <Icon name="down" />
  </button>
);

interface ChoiceListProps {
  /** Of the combobox; choices are called by it and their number. */
  readonly id: string;
  readonly label: string;
  readonly under: HTMLElement | null;
  readonly groups: readonly ChoiceGroup[];
  /** The number of the choice that the keys are at. */
  readonly at: number;
  readonly onClose: () => void;
  readonly onChoose: (value: string) => void;
}

/** The list of a combobox, there as long as it has choices, in sight of its input. */
function ChoiceList({ id, label, under, groups, at, onClose, onChoose }: ChoiceListProps) {
  const list = useRef<HTMLDivElement>(null);
  const flat = allOf(groups);
  const isShown = flat.length > 0;
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" });
  }, [at, isShown]);
  useEffect(() => {
    if (!isShown) return;
    const leave = (event: Event): void => {
      if (!(event.target instanceof Node && list.current?.contains(event.target))) onClose();
    };
    addEventListener("resize", leave);
    document.addEventListener("scroll", leave, true);
    return () => {
      removeEventListener("resize", leave);
      document.removeEventListener("scroll", leave, true);
    };
  }, [isShown]);
  return (
    <div
      id={`${id}-list`}
      ref={list}
      role="listbox"
      aria-label={label}
      class="combobox-list"
      hidden={!isShown}
      style={isShown ? placeUnder(under) : undefined}
    >
      {groups.map(({ title, choices }) => (
        // biome-ignore lint/a11y/useSemanticElements: a fieldset groups controls, this groups options
        <div key={title} role="group" aria-label={title}>
          <div class="combobox-title" aria-hidden="true">
            {title}
          </div>
          {choices.map((choice) => {
            const place = flat.indexOf(choice);
            return (
              // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are the input's
              <div
                key={choice.value}
                id={`${id}-${place}`}
                role="option"
                tabIndex={-1}
                aria-selected={place === at}
                class="combobox-option"
                onMouseDown={(event) => event.preventDefault()}
                onClick={() => onChoose(choice.value)}
              >
                <span class="mono">{choice.value}</span> <span class="soft">{choice.detail}</span>
                {choice.form !== undefined && <span class="combobox-form soft">{choice.form}</span>}
              </div>
            );
          })}
        </div>
      ))}
    </div>
  );
}

const WIDTH = 440;
const MARGIN = 8;

/** Returns where a list stands under its input, above the edges of the window. */
function placeUnder(input: HTMLElement | null): Record<string, string> {
  if (input === null) return {};
  const { left, bottom } = input.getBoundingClientRect();
  const width = Math.min(WIDTH, innerWidth - 2 * MARGIN);
  return {
    left: `${Math.max(MARGIN, Math.min(left, innerWidth - width - MARGIN))}px`,
    top: `${bottom + 4}px`,
    width: `${width}px`,
    maxHeight: `${Math.max(160, Math.min(420, innerHeight - bottom - 4 - MARGIN))}px`,
  };
}
