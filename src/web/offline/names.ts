/** What the page and its service worker have to agree on. */

/** A cache is called by this, the address of the site's folder, a space and the build. */
export const CACHE_PREFIX = "banyan ";

/** What the page says to a new version that waits. */
export const TAKE_OVER = "take over";
