// The bill of materials of the package, CycloneDX 1.6 as JSON, from package-lock.json and NOTICE: what is installed with it, and
// what is bundled in it. The same input gives the same bytes: no time, no serial number, no address.
//   node scripts/sbom.mjs   writes sbom.cdx.json
import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { at } from "./paths.mjs";

export const SBOM = "sbom.cdx.json";

const NODE_MODULES = "node_modules/";
const nameOf = (path) => path.slice(path.lastIndexOf(NODE_MODULES) + NODE_MODULES.length);
const purlOf = (name, version) => `pkg:npm/${name.replace(/^@/, "%40")}@${version}`;
const order = (a, b) => (a < b ? -1 : a > b ? 1 : 0);

/** Returns an SPDX expression, or the id of a licence, as CycloneDX wants it. */
const licencesOf = (license) =>
  license === undefined
    ? {}
    : { licenses: [/\s/.test(license) ? { expression: license } : { license: { id: license } }] };

/** Returns the hash of a package's file in the lock, in hex. */
function hashesOf(integrity) {
  const [, sha512] = /^sha512-(\S+)$/.exec(integrity ?? "") ?? [];
  return sha512 === undefined
    ? {}
    : { hashes: [{ alg: "SHA-512", content: Buffer.from(sha512, "base64").toString("hex") }] };
}

/** Returns the path in the lock of what a package means by a name: the nearest one up the folders. */
function resolved(packages, from, name) {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf(`/${NODE_MODULES}`)))) {
    const path = `${folder === "" ? "" : `${folder}/`}${NODE_MODULES}${name}`;
    if (packages[path] !== undefined) return path;
    if (folder === "") return undefined;
  }
}

/** Returns what NOTICE names, in its order: packages as "name version", and parts of WebAssembly modules. */
const namedIn = (notice) =>
  [...notice.matchAll(/^={80}\n([^=]+)\n={80}$/gm)].flatMap(([, names]) =>
    names.split("\n").map((line) => /^(.+) \(([^()]+)\)$/.exec(line).slice(1)),
  );

/** Returns the bill of materials as text. O(packages x dependencies). */
export function sbomOf(lock, notice) {
  const { packages, name, version } = lock;
  const named = namedIn(notice);
  const bundled = new Set(named.map(([one]) => one));
  const isBundled = (path) => bundled.has(`${nameOf(path)} ${packages[path].version}`);
  // what only some platforms or builds need is left out: optional parts of development tools
  const paths = Object.keys(packages)
    .filter((path) => path !== "" && (packages[path].dev !== true || isBundled(path)))
    .sort(order);
  const refOf = (path) =>
    path === "" ? purlOf(name, version) : `${purlOf(nameOf(path), packages[path].version)}#${path}`;
  const component = (path) => ({
    type: "library",
    "bom-ref": refOf(path),
    name: nameOf(path),
    version: packages[path].version,
    ...hashesOf(packages[path].integrity),
    ...licencesOf(packages[path].license),
    purl: purlOf(nameOf(path), packages[path].version),
    scope: packages[path].optional === true ? "optional" : "required",
    properties: [
      { name: "banyan:installed", value: String(packages[path].dev !== true) },
      { name: "banyan:bundled", value: String(isBundled(path)) },
    ],
  });
  const isPackage = (one) => paths.some((path) => one === `${nameOf(path)} ${packages[path].version}`);
  const linked = named
    .filter(([one]) => !isPackage(one))
    .map(([one, license]) => ({
      type: "library",
      "bom-ref": `linked:${one}`,
      name: one,
      ...licencesOf(license),
      scope: "required",
      properties: [
        { name: "banyan:installed", value: "false" },
        { name: "banyan:bundled", value: "true" },
      ],
    }));
  const dependsOn = (path) => {
    const { dependencies = {}, optionalDependencies = {}, peerDependencies = {} } = packages[path];
    const names = Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies });
    const found = names
      .map((one) => resolved(packages, path, one))
      .filter((one) => one !== undefined && paths.includes(one));
    const own = path === "" ? paths.filter((one) => packages[one].dev === true && isBundled(one)) : [];
    const parts = path === "" ? linked.map((one) => one["bom-ref"]) : [];
    return [...new Set([...[...found, ...own].map(refOf), ...parts])].sort(order);
  };
  const bom = {
    $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: {
      component: {
        type: "application",
        "bom-ref": refOf(""),
        name,
        version,
        ...licencesOf(packages[""].license),
        purl: refOf(""),
      },
    },
    components: [...paths.map(component), ...linked],
    dependencies: ["", ...paths].map((path) => ({ ref: refOf(path), dependsOn: dependsOn(path) })),
  };
  return `${JSON.stringify(bom, null, 2)}\n`;
}

/** Returns the bill of materials of this tree. */
export const sbomHere = () =>
  sbomOf(JSON.parse(readFileSync(at("package-lock.json"), "utf8")), readFileSync(at("NOTICE"), "utf8"));

if (import.meta.url === pathToFileURL(process.argv[1]).href) writeFileSync(at(SBOM), sbomHere());
