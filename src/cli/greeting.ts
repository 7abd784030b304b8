// Startup message of serve on standard output: address, data directory and sign-in instructions. The only output that
// contains the setup token.

import { formatInstant } from "../base/instant.ts";
import { SERVER_VERSION } from "../schemas/envelope.ts";
import type { ServedTls } from "../server/tls-listener.ts";
import type { ListenAddress } from "./config.ts";

/** More addresses of the machine do not help in choosing one. */
const LINKS_MAX = 4;

export interface DemoAccount {
  readonly email: string;
  readonly password: string;
}

interface GreetingInfo {
  readonly url: string;
  readonly tls: ServedTls | null;
  readonly directory: string;
}

/**
 * For a writable appliance.
 * @param ownAddresses of this machine, if it listens on all of them
 */
export function greeting(
  { url, tls, directory, setupToken }: GreetingInfo & { readonly setupToken: string | null },
  listen: ListenAddress,
  account: DemoAccount | null,
  ownAddresses: () => readonly string[],
): string {
  const [localUrl = url] = openableUrls(url, listen, []);
  const signInHint =
    account !== null
      ? `A demo with made-up data. Sign in at ${localUrl}/ as ${account.email} with the password ${account.password}`
      : setupToken === null
        ? `Claimed: sign in at ${localUrl}/; the operations are at ${localUrl}/docs`
        : `Claim it in a browser: ${setupLinks(openableUrls(url, listen, ownAddresses()), setupToken)}`;
  return `netledger ${SERVER_VERSION} listens on ${url}\nIts data is in ${directory}\n${signInHint}\n${certificateLine(tls)}`;
}

/** For a backup served read-only. */
export function readOnlyGreeting({
  url,
  tls,
  directory: file,
  asOf,
}: GreetingInfo & { readonly asOf: number | null }): string {
  const last = asOf === null ? "it is empty" : `last change ${formatInstant(asOf)}`;
  return `netledger ${SERVER_VERSION} listens on ${url}\nRead-only: ${file}; ${last}\nSign in at ${url}/ with a password of the backup, or use one of its keys; the operations are at ${url}/docs\n${certificateLine(tls)}`;
}

/** In the fragment, which browsers never send: it appears in no request and thus in no log. */
function setupLinks(urls: readonly string[], setupToken: string): string {
  return urls.map((url) => `${url}/#setup=${setupToken}`).join(" or ");
}

/**
 * URLs for a browser. A wildcard is a listen address and cannot be opened.
 * @param ownAddresses of this machine, for use from other machines
 */
function openableUrls(url: string, { host }: ListenAddress, ownAddresses: readonly string[]): string[] {
  if (host !== "0.0.0.0" && host !== "::") return [url];
  const urlAt = (address: string) => {
    const result = new URL(url);
    result.hostname = address.includes(":") ? `[${address}]` : address;
    return result.origin;
  };
  const external = ownAddresses.filter((address) => !/^(127\.|::1$)/.test(address));
  const v4 = external.filter((address) => !address.includes(":"));
  const v6 = host === "::" ? external.filter((address) => address.includes(":")) : [];
  return [urlAt(host === "::" ? "::1" : "127.0.0.1"), ...[...v4, ...v6].map(urlAt)].slice(0, LINKS_MAX);
}

/** For comparison with the certificate shown by the browser. */
function certificateLine(tls: ServedTls | null): string {
  return tls === null
    ? ""
    : `Its ${tls.isSelfSigned ? "own certificate" : "certificate"} is ${tls.path}, SHA-256 fingerprint ${tls.pair.fingerprint}\n`;
}
