/// <reference types="vite/client" />

/** The package's version, written in by the build. */
declare const BANYAN_VERSION: string;
