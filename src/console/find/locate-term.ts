// Search term classification by form: IP address, MAC address, or possibly a host name. Pure.

/** Locatable term, as for `GET /api/v1/locate`. */
export type LocateTerm =
  | { readonly by: "ip"; readonly value: string }
  | { readonly by: "mac"; readonly value: string }
  | { readonly by: "hostname"; readonly value: string };

const HOST_NAME_MAX = 255;

/**
 * Accepts every MAC address notation printed by devices: colons, dashes, dots, spaces, or no separators.
 * @returns null for anything else: partial addresses, prefixes, numbers, VLANs, interfaces
 */
export function locateTermOf(search: string): LocateTerm | null {
  const text = search.trim();
  const mac = normalizedMac(text);
  if (mac !== null) return { by: "mac", value: mac };
  if (isIpv4(text) || isIpv6(text)) return { by: "ip", value: text };
  return couldBeName(text) ? { by: "hostname", value: text } : null;
}

/** Query parameters. */
export function locateQuery({ by, value }: LocateTerm): { mac?: string; ip?: string; hostname?: string } {
  return { [by]: value };
}

const PAIRS = /^[0-9a-f]{1,2}([-: ])(?:[0-9a-f]{1,2}\1){4}[0-9a-f]{1,2}$/i;
const GROUPS_OF_FOUR = /^[0-9a-f]{4}([-.: ])[0-9a-f]{4}\1[0-9a-f]{4}$/i;
const BARE = /^[0-9a-f]{12}$/i;

/** Lower case with colons; null unless there are twelve digits. */
function normalizedMac(text: string): string | null {
  // BSD and Solaris omit the leading zero of an octet.
  if (PAIRS.test(text))
    return text
      .split(/[-: ]/)
      .map((pair) => pair.padStart(2, "0"))
      .join(":")
      .toLowerCase();
  if (!GROUPS_OF_FOUR.test(text) && !BARE.test(text)) return null;
  return text
    .replaceAll(/[^0-9a-f]/gi, "")
    .toLowerCase()
    .replaceAll(/(..)(?=.)/g, "$1:");
}

function isIpv4(text: string): boolean {
  const octets = text.split(".");
  return octets.length === 4 && octets.every((octet) => /^(?:0|[1-9]\d{0,2})$/.test(octet) && Number(octet) <= 255);
}

function isIpv6(text: string): boolean {
  return /^[0-9a-f:.]+$/i.test(text) && text.includes(":") && URL.canParse(`http://[${text}]/`);
}

function couldBeName(text: string): boolean {
  if (text === "" || text.length > HOST_NAME_MAX || /[\p{Cc}/:]/u.test(text)) return false;
  // Excludes numbers, partial addresses and VLANs.
  return !/^[\d.]+$/.test(text) && !/^vlan\s*\d+$/i.test(text);
}
