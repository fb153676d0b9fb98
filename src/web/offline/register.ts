import { signal } from "@preact/signals";
import { TAKE_OVER } from "./names.ts";

/** The page's side of its service worker: registered once the page has loaded, and what a reload would bring. */

/** Why the page should be loaded again: "version": a new build waits; "threads": only then it may have threads. */
export const reloadOffer = signal<"version" | "threads" | null>(null);

/** Whether the page works without a network from now on. */
export const isOffline = signal(false);

const SCRIPT = "./service-worker.js";
/** Set once the page was loaded again for threads, so that a browser that gives none is not asked for ever. */
const ASKED = "banyan.reloaded-for-threads";

let waiting: ServiceWorker | null = null;

const wasAsked = (): boolean => {
  try {
    return sessionStorage.getItem(ASKED) !== null;
  } catch {
    // without a memory nobody could tell a loop
    return true;
  }
};

/** Whether headers would give the page threads that it lacks. */
const lacksThreads = (): boolean =>
  globalThis.crossOriginIsolated === false && (navigator.hardwareConcurrency ?? 1) > 1 && !wasAsked();

/** Offers the new build that waits, if one does. */
function watch(registration: ServiceWorkerRegistration): void {
  const look = (worker: ServiceWorker | null): void => {
    const isNew = worker?.state === "installed" && navigator.serviceWorker.controller !== null;
    if (!isNew || worker !== registration.waiting) return;
    waiting = worker;
    reloadOffer.value = "version";
  };
  look(registration.waiting);
  registration.addEventListener("updatefound", () => {
    const fresh = registration.installing;
    fresh?.addEventListener("statechange", () => look(fresh));
  });
}

/** Loads the page again, as was offered; the address says what it shows. */
export function reload(): void {
  if (reloadOffer.value === "threads") {
    try {
      sessionStorage.setItem(ASKED, "1");
    } catch {
      // then it is not offered either
    }
  }
  if (waiting === null) {
    location.reload();
    return;
  }
  navigator.serviceWorker.addEventListener("controllerchange", () => location.reload(), { once: true });
  waiting.postMessage(TAKE_OVER);
}

/**
 * Registers the service worker where there may be one: on http(s) in a secure context, for the page that is a site. Never
 * rejects: a page without one works, but not without a network.
 */
export async function goOffline(): Promise<void> {
  const isSite = location.protocol.startsWith("http") && document.getElementById("banyan-maker") === null;
  if (!isSite || !isSecureContext || !("serviceWorker" in navigator)) return;
  try {
    const registration = await navigator.serviceWorker.register(SCRIPT, { updateViaCache: "none" });
    watch(registration);
    await navigator.serviceWorker.ready;
    isOffline.value = true;
    if (reloadOffer.value === null && lacksThreads()) reloadOffer.value = "threads";
  } catch {
    // refused by the browser's settings, or there is no such file (a server for development)
  }
}
