import { useSignal } from "@preact/signals";
import { isOffline } from "../offline/register.ts";
import { Icon } from "../parts/icon.tsx";
import { say } from "../state/actions.ts";
import { isOnlyMentioned } from "../state/address-file.ts";
import { presentAddress } from "../state/history.ts";
import { forgetAll, isKeeping, isRefused } from "../state/keep.ts";
import { program, words } from "../state/store.ts";
import "./share.css";

/** Returns what somebody who sends the link should know of it, sentences. */
function warningsOf(fragment: string): string[] {
  const { protocol, hostname } = location;
  const file = program.value?.file ?? words.value.file;
  const isHere = protocol === "file:" || hostname === "localhost" || /^(127\.|\[::1\])/.test(hostname);
  return [
    ...(file !== null && isOnlyMentioned(fragment)
      ? [`${file.name} is too large for a link: send the file as well, or export the page in one file (html).`]
      : []),
    ...(isHere ? ["It leads to this machine only."] : []),
  ];
}

/** Copies a link to what is shown; tells what is kept here, and forgets it. */
export function Share() {
  /** The link, where the browser did not let it be copied. */
  const shown = useSignal("");
  const copyLink = async (): Promise<void> => {
    const fragment = await presentAddress();
    const link = new URL(fragment, location.href).href;
    const warnings = warningsOf(fragment);
    try {
      await navigator.clipboard.writeText(link);
      shown.value = "";
      say(["The link is on the clipboard.", ...warnings].join(" "));
    } catch {
      shown.value = link;
      if (warnings.length > 0) say(warnings.join(" "));
    }
  };
  const forget = async (): Promise<void> => {
    await forgetAll();
    isOffline.value = false;
    say("Forgotten. The address in the bar still says what is shown.");
  };
  return (
    <section class="share" aria-label="Share and keep">
      <button type="button" onClick={() => void copyLink()}>
        <Icon name="copy" /> Copy link
      </button>
      {shown.value !== "" && (
        <label class="share-link">
          The link, to be copied by hand
          <input readOnly value={shown.value} onFocus={({ currentTarget }) => currentTarget.select()} />
        </label>
      )}
      <p class="soft">{keepingText()}</p>
      {isKeeping.value && (
        <button type="button" onClick={() => void forget()}>
          Forget everything kept here
        </button>
      )}
    </section>
  );
}

function keepingText(): string {
  if (!isKeeping.value) return "This browser keeps nothing of this page until it is loaded again.";
  if (isRefused.value)
    return "This browser did not keep all that was shown: it has no room, or its settings forbid it. Copy the link, and keep the file yourself.";
  return isOffline.value
    ? "This browser keeps what is shown for your next visit, and the page itself, which works offline."
    : "This browser keeps what is shown for your next visit.";
}
