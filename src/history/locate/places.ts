// Possible locations of a subject: classifies the ports that forward to it as edges, or as uplinks to other switches.
// Pure.

import {
  CROWDED_MIN,
  crowdOf,
  isUp,
  LISTED_MAX,
  type LinkFact,
  type NamingFact,
  type PortFact,
  type RecordRef,
  type Sighting,
  type Subject,
} from "./facts.ts";

/** Far end of a port that forwards to the subject. */
type End = "itself" | "switch" | "host" | "unknown";

/** Reason to classify a port as an uplink. */
type Onward =
  /** Its neighbor has a forwarding table. */
  | { readonly kind: "Switch" }
  /** Other switches report the same far end on crowded ports. */
  | { readonly kind: "Named"; readonly at: readonly NamingFact[] }
  /** It learned the MAC address of a device that has the subject on a port of its own. */
  | { readonly kind: "LeadsTo"; readonly devices: readonly RecordRef[] }
  /** Like every other port that forwards to the subject, it has most of its device's entries. */
  | { readonly kind: "HoldsMost" }
  /** Another port has fewer entries. */
  | { readonly kind: "Crowd" };

export interface LocatedPlace {
  /** Edge: the subject is connected there. Uplink: it is somewhere beyond. */
  readonly role: "Edge" | "Uplink";
  readonly device: LinkFact["device"];
  /** Null if only the device is known. */
  readonly port: PortFact | null;
  readonly sighting: Sighting | null;
  readonly link: LinkFact | null;
  /** Whether the subject is known to be the far end of the link. */
  readonly isDirect: boolean;
  /** Whether the far end is another host, not known to be a switch. */
  readonly endsAtHost: boolean;
  /** Forwarding entries of the port, except the subject's. */
  readonly others: number;
  /** Null for an edge. */
  readonly onward: Onward | null;
}

export interface Places {
  /** Not empty if anything is known about the subject's location. */
  readonly places: readonly LocatedPlace[];
  readonly uplinks: readonly LocatedPlace[];
  /** Classified as uplinks only because of a slightly larger crowd. */
  readonly closeCalls: readonly LocatedPlace[];
}

/** A crowd that an edge port may have too. */
const SMALL_CROWD = 1;
/** Crowds from this index on count as many (CROWDS). */
export const MANY = 3;
/**
 * With this many devices reporting a far end on crowded ports it is certainly a switch; with fewer than the minimum it
 * is not significant.
 */
const NAMING_SURE = 3;
const NAMING_MIN = 2;

/**
 * Classifies ports as edges or uplinks, by these rules in order:
 * 1. A port whose far end is known to be the subject itself (LLDP, or an entered neighbor) is an edge. CDP is no proof,
 *    as it passes through bridges.
 * 2. A port whose far end is a switch is an uplink. A switch has a forwarding table, or several devices report it on
 *    crowded ports: three, or two whose ports have most of their tables (a virtualization host may connect to two
 *    switches, but is not the way to most of the network).
 * 3. A port that learned the MAC address of another device that also forwards to the subject is an uplink, unless that
 *    device has learned this one's address on its port as well: then the subject is between them.
 * 4. A port whose far end is a host without a forwarding table is an edge, unless it is crowded and another device
 *    forwards to the subject on a port with an unknown far end and a small crowd or, if the port has many entries and
 *    most of its table, any smaller crowd: then the host passes traffic on.
 * 5. Of ports with an unknown far end, those with the smallest crowd (facts.ts, CROWDS) are edges, unless the rules
 *    above find the subject on a live port with no larger crowd; the others are uplinks. If several devices forward to
 *    it, each on a port with many entries and most of its table, all of these are uplinks: the same switch is between
 *    them. Ports that are down are excluded from the comparison, unless all are.
 *
 * If no edge remains, links that no forwarding table confirms are the locations; otherwise only the uplink with the
 * smallest crowd is known.
 */
export function placesOf(subject: Subject): Places {
  const { links, exact, edges, uplinks, closeCalls } = sorted(subject);
  const places = [...edges.map(({ place }) => place), ...exact];
  if (places.length > 0) return { places: withDevices(places, links), uplinks, closeCalls };
  const loose = withDevices(links.filter((link) => link.port !== null).map(linkPlace), links);
  if (loose.length > 0) return { places: loose, uplinks, closeCalls: [] };
  const [nearest, ...rest] = [...uplinks].sort(byNearness);
  return { places: nearest === undefined ? [] : [nearest], uplinks: rest, closeCalls: [] };
}

/**
 * Ports whose learned device MAC addresses are needed (PortFact.leadsTo), nearest first: shared edges while other
 * devices forward to the subject on similar ports, ports with the same switch between them, and ports of devices behind
 * these.
 */
export function contestedPorts(subject: Subject): PortFact[] {
  const { edges, ending, common } = sorted(subject);
  const isOpen = ({ place, end }: Seen) =>
    end !== "itself" && isLive(place) && place.port?.leadsTo === null && place.others > 0 && place.others <= LISTED_MAX;
  // A device behind the port has the subject among hardly more entries.
  const isContested = (each: Seen) =>
    isOpen(each) &&
    ending.some(
      ({ place }) =>
        isLive(place) &&
        place.device.ref.id !== each.place.device.ref.id &&
        place.others <= LISTED_MAX &&
        crowdOf(place.others) <= crowdOf(each.place.others) + 1,
    );
  const led = new Set(ending.flatMap(({ place }) => place.port?.leadsTo?.map(({ id }) => id) ?? []));
  const found = [
    ...[...edges, ...common].filter(isContested),
    ...ending.filter((each) => led.has(each.place.device.ref.id) && isOpen(each)),
  ].map(({ place }) => place);
  return [...new Set(found)].sort(byNearness).flatMap(({ port }) => port ?? []);
}

/** Whether the location may still be current. */
export function isLive({ port }: { readonly port: PortFact | null }): boolean {
  return port === null || isUp(port);
}

/** Whether a device learned the subject well after another one did, on a port that existed before: it moved there. */
export function isAfter(one: LocatedPlace, other: LocatedPlace): boolean {
  if (
    one.sighting === null ||
    other.sighting === null ||
    one.port === null ||
    one.device.ref.id === other.device.ref.id
  )
    return false;
  return one.port.createdAt < learned(other) && Date.parse(learned(one)) - Date.parse(learned(other)) >= AFTER_MS;
}

/** Switches are polled in turn: smaller differences are not significant. */
const AFTER_MS = 3_600_000;

interface Sorted {
  readonly links: readonly LinkFact[];
  /** Ports known from links only. */
  readonly exact: readonly LocatedPlace[];
  /** Ports that forward to the subject and do not lead to a switch. */
  readonly ending: readonly Seen[];
  readonly edges: readonly Seen[];
  /** Uplinks only because each has most of its device's table. */
  readonly common: readonly Seen[];
  readonly uplinks: readonly LocatedPlace[];
  readonly closeCalls: readonly LocatedPlace[];
}

function sorted(subject: Subject): Sorted {
  const ownId = subject.host?.ref.id ?? null;
  const links = towardsSwitches(withoutDoubles(subject.links.filter(({ device }) => device.ref.id !== ownId)), subject);
  // A device's own table also contains its own addresses.
  const all = subject.sightings
    .filter(({ port }) => port.device.ref.id !== ownId)
    .map((sighting) => seenPlace(sighting, subject, links));
  const aggregating = new Set(
    all.flatMap(({ place }) =>
      place.link?.port != null && place.link.port.ref.id !== place.port?.ref.id ? [place.device.ref.id] : [],
    ),
  );
  const exact = links
    .filter(
      (link) =>
        link.isExact &&
        link.port !== null &&
        !aggregating.has(link.device.ref.id) &&
        !all.some(({ place }) => place.port?.ref.id === link.port?.ref.id),
    )
    .map(linkPlace);
  const seen = all.map((each) => passingOn(each, all));
  const ending = seen.filter(({ end }) => end !== "switch");
  const live = ending.filter(({ place }) => isLive(place));
  const isFound = live.some(({ end }) => end === "itself") || exact.some((place) => place.isDirect && isLive(place));
  const isCommon =
    !isFound &&
    live.every(
      ({ end, place }) => end === "unknown" && crowdOf(place.others) >= MANY && place.port?.holdsMost === true,
    ) &&
    new Set(live.map(({ place }) => place.device.ref.id)).size > 1;
  const passed = new Set(isCommon ? [] : live.filter((each) => each.end === "host" && isOutdone(each, live)));
  const measure = (live.length > 0 ? live : ending).filter((each) => !passed.has(each));
  const least = Math.min(...measure.map(({ place }) => crowdOf(place.others)));
  const leastAtHost = Math.min(
    ...measure.filter(({ end }) => end === "host").map(({ place }) => crowdOf(place.others)),
  );
  const isEdge = (each: Seen) => {
    const { end, place } = each;
    if (passed.has(each) || (isCommon && isLive(place))) return false;
    return end !== "unknown" || (!isFound && crowdOf(place.others) <= least && crowdOf(place.others) < leastAtHost);
  };
  const outdone = ending.filter((each) => !isEdge(each));
  const beyond = outdone.map(({ place }) =>
    asUplink(place, { kind: isCommon && isLive(place) ? "HoldsMost" : "Crowd" }),
  );
  const isClose = ({ place }: Seen) =>
    isLive(place) &&
    (crowdOf(place.others) <= SMALL_CROWD ||
      (place.endsAtHost && (place.port === null || namings(place.port) < NAMING_MIN)));
  return {
    links,
    exact,
    ending,
    edges: ending.filter(isEdge),
    common: isCommon ? live : [],
    uplinks: [...seen.filter(({ end }) => end === "switch").map(({ place }) => place), ...beyond],
    closeCalls: isFound || isCommon ? [] : beyond.filter((_, position) => isClose(outdone[position] as Seen)),
  };
}

/** Nearest first: live before down, then smaller crowds, then most recently learned. */
export function byNearness(one: LocatedPlace, other: LocatedPlace): number {
  return (
    Number(isLive(other)) - Number(isLive(one)) ||
    crowdOf(one.others) - crowdOf(other.others) ||
    compare(learned(other), learned(one)) ||
    compare(one.port?.ref.id ?? "", other.port?.ref.id ?? "")
  );
}

function learned({ sighting }: LocatedPlace): string {
  return sighting?.entries.reduce((last, { ref }) => (ref.valid_from > last ? ref.valid_from : last), "") ?? "";
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

interface Seen {
  readonly place: LocatedPlace;
  readonly end: End;
}

function seenPlace(sighting: Sighting, subject: Subject, links: readonly LinkFact[]): Seen {
  const { port } = sighting;
  const isNeighborItself = port.neighbor?.host != null && port.neighbor.host.ref.id === subject.host?.ref.id;
  const own: LinkFact | null =
    isNeighborItself && port.neighbor !== null
      ? {
          device: port.device,
          port,
          source: port.neighbor.source,
          isExact: false,
          reportedBy: port.ref,
          announced: null,
        }
      : null;
  // Prefer links that are proof.
  const here = [...links.filter((each) => each.port?.ref.id === port.ref.id), ...(own === null ? [] : [own])];
  const link = here.find((each) => each.source !== "Cdp") ?? here[0] ?? memberLink(port, subject, links);
  const isDirect = link !== null && link.source !== "Cdp";
  const neighbor = port.neighbor?.host ?? null;
  const others = Math.max(0, port.forwards - sighting.entries.length);
  const onward = isDirect || isNeighborItself ? null : onwardOf(port, others);
  const end: End = isDirect
    ? "itself"
    : onward !== null
      ? "switch"
      : neighbor === null || isNeighborItself
        ? "unknown"
        : "host";
  return {
    end,
    place: {
      role: onward === null ? "Edge" : "Uplink",
      device: port.device,
      port,
      sighting,
      link,
      isDirect,
      endsAtHost: end === "host",
      others,
      onward,
    },
  };
}

/**
 * An aggregate forwards while its members have the neighbors: finds a link to the subject on a non-forwarding port of
 * the device.
 */
function memberLink(port: PortFact, { sightings }: Subject, links: readonly LinkFact[]): LinkFact | null {
  if (!port.isAggregate || port.neighbor !== null) return null;
  return (
    links.find(
      (each) =>
        each.port !== null &&
        each.source !== "Cdp" &&
        each.device.ref.id === port.device.ref.id &&
        isLive(each) &&
        !sightings.some((sighting) => sighting.port.ref.id === each.port?.ref.id),
    ) ?? null
  );
}

/** Reason why the far end is a switch, from the port and others that report the same far end; null if unknown. */
function onwardOf(port: PortFact, others: number): Onward | null {
  if (port.neighbor?.host?.isSwitch === true) return { kind: "Switch" };
  const at = port.neighbor?.namedAt ?? [];
  const isNaming = isUp(port) && others >= CROWDED_MIN;
  const count = at.length + Number(isNaming);
  const isMostly = at.every(({ holdsMost }) => holdsMost) && (!isNaming || port.holdsMost);
  return count >= NAMING_SURE || (count >= NAMING_MIN && isMostly) ? { kind: "Named", at } : null;
}

/** Number of devices that report the far end on crowded ports, including this one. */
function namings({ neighbor }: PortFact): number {
  return (neighbor?.namedAt.length ?? 0) + 1;
}

/** Reclassifies the far end as a switch if the port leads to a device that is nearer to the subject. */
function passingOn(each: Seen, all: readonly Seen[]): Seen {
  const { place, end } = each;
  if (end === "itself" || end === "switch" || !isLive(place) || place.port?.leadsTo == null) return each;
  const isNearer = ({ place: other, end: otherEnd }: Seen) =>
    isLive(other) &&
    otherEnd !== "switch" &&
    (other.others === 0 || other.port?.leadsTo?.every(({ id }) => id !== place.device.ref.id));
  const devices = place.port.leadsTo.filter(({ id }) =>
    all.some((other) => other.place.device.ref.id === id && isNearer(other)),
  );
  return devices.length === 0
    ? each
    : { end: "switch", place: asUplink({ ...place, endsAtHost: false }, { kind: "LeadsTo", devices }) };
}

/** Whether a port with a host behind it more likely leads on, by the crowd of another port with an unknown end. */
function isOutdone({ place }: Seen, live: readonly Seen[]): boolean {
  const crowd = crowdOf(place.others);
  // A far end reported twice is a switch or connects to both, and the way to most addresses is likely a switch: then
  // any smaller crowd decides.
  const isSuspect =
    place.port !== null && (namings(place.port) >= NAMING_MIN || (place.port.holdsMost && crowd >= MANY));
  const limit = isSuspect ? crowd - 1 : place.others >= CROWDED_MIN ? SMALL_CROWD : -1;
  return live.some(
    (other) =>
      other.end === "unknown" &&
      other.place.device.ref.id !== place.device.ref.id &&
      crowdOf(other.place.others) <= limit,
  );
}

function linkPlace(link: LinkFact): LocatedPlace {
  return {
    role: "Edge",
    device: link.device,
    port: link.port,
    sighting: null,
    link,
    isDirect: link.source !== "Cdp",
    endsAtHost: false,
    others: 0,
    onward: null,
  };
}

function asUplink(place: LocatedPlace, onward: Onward): LocatedPlace {
  return { ...place, role: "Uplink", onward };
}

/** One link per port, or per device without a port: prefers proof; exact if any is. */
function withoutDoubles(links: readonly LinkFact[]): LinkFact[] {
  const best = new Map<string, LinkFact>();
  for (const link of links) {
    const key = link.port?.ref.id ?? link.device.ref.id;
    const known = best.get(key) ?? link;
    best.set(key, { ...(known.source === "Cdp" ? link : known), isExact: known.isExact || link.isExact });
  }
  return [...best.values()];
}

/** A switch is not located at its attached hosts, and a link to a switch is more informative than one between hosts. */
function towardsSwitches(links: readonly LinkFact[], { host }: Subject): readonly LinkFact[] {
  const towards = links.filter(({ device }) => device.isSwitch);
  return towards.length > 0 || host?.isSwitch === true ? towards : links;
}

/** Adds links known by device only, for devices without a located port. */
function withDevices(places: readonly LocatedPlace[], links: readonly LinkFact[]): LocatedPlace[] {
  const bare = links.filter(
    (link) => link.port === null && !places.some((place) => place.device.ref.id === link.device.ref.id),
  );
  return [...places, ...bare.map(linkPlace)];
}
