// What a question is by its form: an IP address, a MAC address, perhaps the name of a host. Plain functions.

/** What can be located, as `GET /api/v1/locate` is asked. */
export type Asked =
  | { readonly by: "ip"; readonly value: string }
  | { readonly by: "mac"; readonly value: string }
  | { readonly by: "hostname"; readonly value: string };

const HOST_NAME_MAX = 255;

/**
 * Any notation of MAC addresses that devices print is one: colons, dashes, dots, blanks or nothing between the digits.
 * @returns null for what is none of these: parts of addresses, prefixes, numbers, VLANs, interfaces
 */
export function askedOf(question: string): Asked | null {
  const text = question.trim();
  const mac = macIn(text);
  if (mac !== null) return { by: "mac", value: mac };
  if (isIpv4(text) || isIpv6(text)) return { by: "ip", value: text };
  return mayBeName(text) ? { by: "hostname", value: text } : null;
}

/** As one query has it. */
export function locateQuery({ by, value }: Asked): { mac?: string; ip?: string; hostname?: string } {
  return { [by]: value };
}

const IN_PAIRS = /^[0-9a-f]{1,2}([-: ])(?:[0-9a-f]{1,2}\1){4}[0-9a-f]{1,2}$/i;
const IN_FOURS = /^[0-9a-f]{4}([-.: ])[0-9a-f]{4}\1[0-9a-f]{4}$/i;
const BARE = /^[0-9a-f]{12}$/i;

/** Lower case with colons; null for anything else than twelve digits. */
function macIn(text: string): string | null {
  // BSD and Solaris leave the nought before a single digit out.
  if (IN_PAIRS.test(text))
    return text
      .split(/[-: ]/)
      .map((pair) => pair.padStart(2, "0"))
      .join(":")
      .toLowerCase();
  if (!IN_FOURS.test(text) && !BARE.test(text)) return null;
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

function mayBeName(text: string): boolean {
  if (text === "" || text.length > HOST_NAME_MAX || /[\p{Cc}/:]/u.test(text)) return false;
  // Numbers and parts of addresses; VLANs.
  return !/^[\d.]+$/.test(text) && !/^vlan\s*\d+$/i.test(text);
}
