// What serve says on standard output when it listens: where that is, where its data are, and how one gets in. The
// set-up token is nowhere else.

import { formatInstant } from "../base/instant.ts";
import { SERVER_VERSION } from "../schemas/envelope.ts";
import type { ServedTls } from "../server/tls-listener.ts";
import type { ListenAddress } from "./config.ts";

/** More of a machine's addresses are no help to whoever looks for the one to open. */
const LINKS_MAX = 4;

export interface DemoAccount {
  readonly email: string;
  readonly password: string;
}

interface Greeted {
  readonly url: string;
  readonly tls: ServedTls | null;
  readonly directory: string;
}

/**
 * Of an appliance that can be written to.
 * @param ownAddresses of this machine, where it listens on all of them
 */
export function greeting(
  { url, tls, directory, setupToken }: Greeted & { readonly setupToken: string | null },
  listen: ListenAddress,
  account: DemoAccount | null,
  ownAddresses: () => readonly string[],
): string {
  const [here = url] = openableUrls(url, listen, []);
  const wayIn =
    account !== null
      ? `A demo: everything in it is made up. Sign in at ${here}/ as ${account.email} with the password ${account.password}`
      : setupToken === null
        ? `Claimed: sign in at ${here}/; the operations are at ${here}/docs`
        : `Claim it in a browser: ${setupLinks(openableUrls(url, listen, ownAddresses()), setupToken)}`;
  return `netledger ${SERVER_VERSION} listens on ${url}\nIts data is in ${directory}\n${wayIn}\n${certificateLine(tls)}`;
}

/** Of a backup that is served. */
export function readOnlyGreeting({
  url,
  tls,
  directory: file,
  asOf,
}: Greeted & { readonly asOf: number | null }): string {
  const last = asOf === null ? "it is empty" : `last change ${formatInstant(asOf)}`;
  return `netledger ${SERVER_VERSION} listens on ${url}\nRead-only: ${file}; ${last}\nSign in at ${url}/ with a password of the backup, or use one of its keys; the operations are at ${url}/docs\n${certificateLine(tls)}`;
}

/** In the fragment, which browsers keep to themselves: it is in no request, so in no log, and no page learns it. */
function setupLinks(urls: readonly string[], setupToken: string): string {
  return urls.map((url) => `${url}/#setup=${setupToken}`).join(" or ");
}

/**
 * Where a browser finds it. A wildcard is an address to listen on, not one to open.
 * @param ownAddresses of this machine, for whoever sits at another one
 */
function openableUrls(url: string, { host }: ListenAddress, ownAddresses: readonly string[]): string[] {
  if (host !== "0.0.0.0" && host !== "::") return [url];
  const urlAt = (address: string) => {
    const at = new URL(url);
    at.hostname = address.includes(":") ? `[${address}]` : address;
    return at.origin;
  };
  const known = ownAddresses.filter((address) => !/^(127\.|::1$)/.test(address));
  const v4 = known.filter((address) => !address.includes(":"));
  const v6 = host === "::" ? known.filter((address) => address.includes(":")) : [];
  return [urlAt(host === "::" ? "::1" : "127.0.0.1"), ...[...v4, ...v6].map(urlAt)].slice(0, LINKS_MAX);
}

/** For people to compare with what their browser shows. */
function certificateLine(tls: ServedTls | null): string {
  return tls === null
    ? ""
    : `Its ${tls.isSelfSigned ? "own certificate" : "certificate"} is ${tls.path}, SHA-256 fingerprint ${tls.pair.fingerprint}\n`;
}
