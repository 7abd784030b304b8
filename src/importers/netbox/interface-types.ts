// ifType (IANAifType-MIB) of NetBox interface types. Detail beyond ifType is lost.

const BY_SLUG: ReadonlyMap<string, number> = new Map([
  ["virtual", 53],
  ["bridge", 209],
  ["lag", 161],
  ["e1", 18],
  ["t1", 18],
  ["e3", 30],
  ["t3", 30],
  ["xdsl", 97],
  ["docsis", 127],
  ["gsm", 243],
  ["lte", 243],
  ["4g", 243],
  ["5g", 243],
  ["cdma", 244],
  ["gpon", 250],
]);
/** By slug prefix. */
const BY_PREFIX: ReadonlyArray<readonly [beginning: string, ifType: number]> = [
  ["ieee802.11", 71],
  ["ieee802.15", 259],
  ["sonet", 39],
  ["infiniband", 199],
];
const FIBRE_CHANNEL = /^\d+gfc/;
const ETHERNET_MEDIA = /base|sfp|xfp|cfp|cpak|gbic|x2|xenpak|osfp|cdfp|stackwise|flexstack|summitstack|^epon/;
const OTHER = 1;

/** @param slug `1000base-t`; null if none @returns null for a null slug */
export function ifTypeOf(slug: string | null): number | null {
  if (slug === null) return null;
  const known = BY_SLUG.get(slug) ?? BY_PREFIX.find(([prefix]) => slug.startsWith(prefix))?.[1];
  if (known !== undefined) return known;
  if (FIBRE_CHANNEL.test(slug)) return 56;
  return ETHERNET_MEDIA.test(slug) ? 6 : OTHER;
}
