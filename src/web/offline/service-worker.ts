import { isolated } from "./headers.ts";
import { CACHE_PREFIX, TAKE_OVER } from "./names.ts";

/**
 * Keeps all files of one build and serves them before it asks the network, so that the page works without one, and with the
 * headers that give it threads on hosts that send none. A new build is another worker with a cache of its own: it waits until
 * the page says that it may take over, and then the old cache goes.
 */

/** Paths of all files of the build within the site's folder. */
declare const BANYAN_FILES: readonly string[];
/** What tells this build from others. */
declare const BANYAN_BUILD: string;

interface LifeEvent extends Event {
  waitUntil(done: Promise<unknown>): void;
}
interface AskedEvent extends LifeEvent {
  readonly request: Request;
  respondWith(response: Promise<Response>): void;
}
interface Scope {
  readonly registration: { readonly scope: string };
  readonly clients: { claim(): Promise<void> };
  skipWaiting(): Promise<void>;
  addEventListener(name: "install" | "activate", hear: (event: LifeEvent) => void): void;
  addEventListener(name: "fetch", hear: (event: AskedEvent) => void): void;
  addEventListener(name: "message", hear: (event: LifeEvent & { readonly data: unknown }) => void): void;
}

const scope = globalThis as unknown as Scope;
const folder = scope.registration.scope;
const ownCache = `${CACHE_PREFIX}${folder} ${BANYAN_BUILD}`;
/** A page is known by its folder: hosts may send those who ask for index.html there. */
const plain = (url: string): string => url.replace(/\/index\.html$/, "/");
/** The app as one page: hosts may leave it away, and only a download asks for it. */
const onePage = new URL("banyan.html", folder).href;
const ownFiles = new Set(BANYAN_FILES.map((path) => plain(new URL(path, folder).href)));

/**
 * Fetches every file of the build, all or none, and the app as one page where it is there. Files whose names say what is in them
 * may come from the browser's cache.
 */
async function fill(): Promise<void> {
  const cache = await caches.open(ownCache);
  const mode = (url: string): RequestCache => (url.startsWith(`${folder}assets/`) ? "default" : "no-cache");
  await cache.addAll([...ownFiles].map((url) => new Request(url, { cache: mode(url), credentials: "same-origin" })));
  await cache.add(new Request(onePage, { cache: "no-cache" })).catch(() => undefined);
}

/** Removes the caches of other builds in this folder. */
async function tidy(): Promise<void> {
  const old = (await caches.keys()).filter((key) => key.startsWith(`${CACHE_PREFIX}${folder} `) && key !== ownCache);
  await Promise.all(old.map((key) => caches.delete(key)));
}

/** Returns the address under which the build has what was asked for; null where it is not of the build. */
function fileOf(request: Request): string | null {
  const url = new URL(request.url);
  url.search = "";
  url.hash = "";
  const file = plain(url.href);
  return ownFiles.has(file) || file === onePage ? file : null;
}

async function answer(request: Request, file: string): Promise<Response> {
  const cache = await caches.open(ownCache);
  const kept = await cache.match(file, { ignoreVary: true });
  return isolated(kept ?? (await fetch(request)));
}

scope.addEventListener("install", (event) => event.waitUntil(fill()));
scope.addEventListener("activate", (event) => event.waitUntil(tidy().then(() => scope.clients.claim())));
scope.addEventListener("message", (event) => {
  if (event.data === TAKE_OVER) event.waitUntil(scope.skipWaiting());
});
scope.addEventListener("fetch", (event) => {
  const file = event.request.method === "GET" ? fileOf(event.request) : null;
  if (file !== null) event.respondWith(answer(event.request, file));
});
