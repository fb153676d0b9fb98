import { InputError } from "../../base/errors.ts";

/** Where an S3-compatible store is. */
export interface S3Address {
  readonly bucket: string;
  /** "" or a text that ends with "/". */
  readonly prefix: string;
  /** The server; null: Amazon's, or what the environment says. */
  readonly endpoint: string | null;
  readonly region: string | null;
  /** The profile of the files of credentials; null: what the environment says. */
  readonly profile: string | null;
}

const PARAMETERS: readonly string[] = ["endpoint", "region", "profile"];

/** Returns whether a place is an address of an S3-compatible store. */
export const isS3 = (place: string): boolean => /^s3:\/\//i.test(place);

const refused = (expected: string, received: string): InputError => new InputError("the store", expected, received);

/** Returns the server of an address, without a slash at its end. */
function readEndpoint(text: string, place: string): string {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw refused("s3://BUCKET/PREFIX with an endpoint such as https://objects.example.com", place);
  }
  if (!/^https?:$/.test(url.protocol)) throw refused("s3://BUCKET/PREFIX with an endpoint of http or https", place);
  if (url.username !== "" || url.password !== "") throw keysInAddress();
  if (url.search !== "" || url.hash !== "") throw refused("an address whose endpoint has neither ? nor #", place);
  return url.href.replace(/\/+$/, "");
}

/** Keys in an address would be in every log. */
const keysInAddress = (): InputError =>
  refused("an address without keys", "one with keys").saying(
    "the store's address has keys in it, which logs would show; put them into AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or into a profile of ~/.aws/credentials",
  );

/** Returns an address taken apart. Throws InputError. */
export function readAddress(place: string): S3Address {
  const [, authority = "", path = "", , query = ""] = /^s3:\/\/([^/?#]*)([^?#]*)(\?(.*))?$/i.exec(place) ?? [];
  if (authority.includes("@")) throw keysInAddress();
  if (!/^[a-z0-9A-Z][a-zA-Z0-9._-]{1,254}$/.test(authority))
    throw refused("s3://BUCKET/PREFIX, whose bucket has 2 to 255 letters, digits, dots and dashes", place);
  const said = new URLSearchParams(query);
  for (const name of said.keys())
    if (!PARAMETERS.includes(name))
      throw refused(`an address with no more than ${PARAMETERS.join(", ")} behind ?`, place);
  let prefix: string;
  try {
    prefix = decodeURIComponent(path).replace(/^\/+|\/+$/g, "");
  } catch {
    throw refused("s3://BUCKET/PREFIX, whose % are escapes such as %20", place);
  }
  if (prefix.split("/").some((part) => part === "." || part === ".."))
    throw refused("s3://BUCKET/PREFIX without . and .. among its parts", place);
  const endpoint = said.get("endpoint");
  return {
    bucket: authority,
    prefix: prefix === "" ? "" : `${prefix}/`,
    endpoint: endpoint === null ? null : readEndpoint(endpoint, place),
    region: said.get("region"),
    profile: said.get("profile"),
  };
}

/** What signs requests, and where they go. */
export interface S3Access {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string | undefined;
  readonly region: string;
  /** The address of the bucket, which ends with "/". */
  readonly bucketUrl: string;
}

/** Returns the sections of a file such as ~/.aws/credentials. */
export function readIni(text: string): ReadonlyMap<string, ReadonlyMap<string, string>> {
  const sections = new Map<string, Map<string, string>>();
  let section = new Map<string, string>();
  for (const line of text.split(/\r?\n/)) {
    const [, name] = /^\s*\[\s*(?:profile\s+)?([^\]]*?)\s*\]/.exec(line) ?? [];
    if (name !== undefined) {
      section = sections.get(name) ?? new Map();
      sections.set(name, section);
      continue;
    }
    const [, key, value] = /^([A-Za-z][\w-]*)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
    if (key !== undefined) section.set(key.toLowerCase(), value as string);
  }
  return sections;
}

/** The environment, and files of it by their usual names: "" where there is none. */
export interface S3World {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly credentials: string;
  readonly config: string;
}

/** Returns keys, region and server as AWS's own tools find them. Throws InputError where there are no keys. */
export function accessOf(address: S3Address, { env, credentials, config }: S3World): S3Access {
  const given = (name: string): string | undefined => (env[name] === "" ? undefined : env[name]);
  const profile = address.profile ?? given("AWS_PROFILE") ?? "default";
  const keys = readIni(credentials).get(profile);
  const settings = readIni(config).get(profile);
  const inFile = (name: string): string | undefined => keys?.get(name) ?? settings?.get(name);
  const fromEnvironment = address.profile === null && given("AWS_ACCESS_KEY_ID") !== undefined;
  const accessKeyId = fromEnvironment ? given("AWS_ACCESS_KEY_ID") : inFile("aws_access_key_id");
  const secretAccessKey = fromEnvironment ? given("AWS_SECRET_ACCESS_KEY") : inFile("aws_secret_access_key");
  if (accessKeyId === undefined || secretAccessKey === undefined)
    throw refused("one whose keys are known", profile).saying(
      `the store s3://${address.bucket} needs keys: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or the profile ${profile} in ~/.aws/credentials`,
    );
  const region =
    address.region ?? given("AWS_REGION") ?? given("AWS_DEFAULT_REGION") ?? settings?.get("region") ?? "us-east-1";
  if (!/^[\w-]+$/.test(region)) throw refused("one in a region such as eu-central-1", region);
  const endpoint = address.endpoint ?? given("AWS_ENDPOINT_URL_S3") ?? given("AWS_ENDPOINT_URL");
  const { bucket } = address;
  const bucketUrl =
    endpoint !== undefined
      ? `${readEndpoint(endpoint, endpoint)}/${bucket}/`
      : bucket.includes(".")
        ? `https://s3.${region}.amazonaws.com/${bucket}/`
        : `https://${bucket}.s3.${region}.amazonaws.com/`;
  return {
    accessKeyId,
    secretAccessKey,
    sessionToken: fromEnvironment ? given("AWS_SESSION_TOKEN") : inFile("aws_session_token"),
    region,
    bucketUrl,
  };
}
