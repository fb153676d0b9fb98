import { formatTime } from "../../../model/numbers/units.ts";
import { SPEEDS, shareText } from "./clock.ts";
import type { Player } from "./player.ts";
import "./transport.css";

/** Outlines on a field of 16 x 16. */
const SHAPES = {
  start: "M3 3h2v10H3zM13 3v10L6 8z",
  back: "M9 3h2v10H9zM8 3v10L2 8z",
  play: "M4 2l10 6-10 6z",
  pause: "M4 3h3v10H4zM9 3h3v10H9z",
  on: "M5 3h2v10H5zM8 3v10l6-5z",
  end: "M11 3h2v10h-2zM3 3v10l7-5z",
} as const;

const Shape = ({ name }: { readonly name: keyof typeof SHAPES }) => (
  <svg width="16" height="16" viewBox="0 0 16 16" fill="currentColor" aria-hidden="true">
    <path d={SHAPES[name]} />
  </svg>
);

function Act({ shape, label, keys, act }: ActProps) {
  return (
    <button
      type="button"
      class="icon"
      onClick={act}
      aria-label={label}
      aria-keyshortcuts={keys}
      title={`${label} (${keys})`}
    >
      <Shape name={shape} />
    </button>
  );
}

interface ActProps {
  readonly shape: keyof typeof SHAPES;
  readonly label: string;
  readonly keys: string;
  readonly act: () => void;
}

/** The player's buttons, its slider and where it is. */
export function Transport({ time, totalPs, isPlaying, speed, loops, seek, toggle, step }: Player) {
  const at = `${formatTime(Math.round(time.value))}`;
  return (
    <fieldset class="transport">
      <legend class="unseen">Player</legend>
      <div class="transport-acts">
        <Act shape="start" label="To the start" keys="Home" act={() => seek(0)} />
        <Act shape="back" label="Previous event" keys="," act={() => step(-1)} />
        <Act
          shape={isPlaying.value ? "pause" : "play"}
          label={isPlaying.value ? "Pause" : "Play"}
          keys="Space"
          act={toggle}
        />
        <Act shape="on" label="Next event" keys="." act={() => step(1)} />
        <Act shape="end" label="To the end" keys="End" act={() => seek(totalPs)} />
      </div>
      <input
        class="transport-slider"
        type="range"
        min="0"
        max={totalPs}
        step={Math.max(1, totalPs / 1000)}
        value={time.value}
        onInput={({ currentTarget }) => seek(currentTarget.valueAsNumber)}
        aria-label="Time"
        aria-valuetext={`${at}, ${shareText(time.value, totalPs)} of the schedule`}
      />
      <output class="transport-time">
        <strong>{at}</strong>
        <span class="soft">
          of {formatTime(totalPs)}, {shareText(time.value, totalPs)}
        </span>
      </output>
      <label class="transport-speed">
        Speed
        <select value={speed.value} onChange={({ currentTarget }) => (speed.value = Number(currentTarget.value))}>
          {SPEEDS.map((factor) => (
            <option key={factor} value={factor}>
              {factor} x
            </option>
          ))}
        </select>
      </label>
      <label class="transport-loop">
        <input
          type="checkbox"
          checked={loops.value}
          onChange={({ currentTarget }) => (loops.value = currentTarget.checked)}
        />
        Loop
      </label>
    </fieldset>
  );
}
