// Possible locations of a subject: classifies the ports that forward to it as edges, or as uplinks to other switches.
// Pure.

import {
  entryRangeOf,
  isUp,
  LISTED_MAX,
  type LinkFact,
  MANY,
  type PortFact,
  type RecordRef,
  type ReportFact,
  SHARED_PORT_MIN,
  type Sighting,
  type Subject,
} from "./facts.ts";

/** Far end of a port that forwards to the subject. */
type FarEndKind = "itself" | "switch" | "host" | "unknown";

/** Reason to classify a port as an uplink. */
type UplinkReason =
  /** Its neighbor is a network device, or forwards to the subject itself. */
  | { readonly kind: "Switch" }
  /** Other switches report the same far end on shared ports. */
  | { readonly kind: "Named"; readonly at: readonly ReportFact[] }
  /** It learned the MAC address of a device that has the subject on another port. */
  | { readonly kind: "LeadsTo"; readonly devices: readonly RecordRef[] }
  /** Like every other port that forwards to the subject, it has most of its device's entries. */
  | { readonly kind: "HoldsMost" }
  /** Another port has fewer entries. */
  | { readonly kind: "MoreEntries" };

export interface LocatedPlace {
  /** Edge: the subject is connected there. Uplink: it is somewhere behind this port. */
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
  readonly uplinkReason: UplinkReason | null;
}

export interface Places {
  /** Not empty if anything is known about the subject's location. */
  readonly places: readonly LocatedPlace[];
  readonly uplinks: readonly LocatedPlace[];
  /** Classified as uplinks only because of slightly more forwarding entries. */
  readonly closeCalls: readonly LocatedPlace[];
}

/** Largest range of entries (ENTRY_RANGES) that an edge port may have. */
const SMALL_RANGE = 1;
/**
 * With this many devices reporting a far end on shared ports it is certainly a switch; with fewer than the minimum it
 * is not significant.
 */
const REPORTERS_CERTAIN = 3;
const REPORTERS_MIN = 2;

/**
 * Classifies ports as edges or uplinks, by these rules in order:
 * 1. A port whose far end is known to be the subject itself (LLDP, or an entered neighbor) is an edge. CDP proves nothing,
 *    as it passes through bridges.
 * 2. A port whose far end is a network (far-end.ts) is an uplink, as is one whose far end has the subject on a port of
 *    its own, or is reported by several devices on shared ports: three, or two whose ports have most of their tables (a
 *    virtualization host may connect to two switches, but is not the way to most of the network).
 * 3. A port that learned the MAC address of another device that also forwards to the subject is an uplink, unless that
 *    device has learned the address of the port's device on its port as well: then the subject is between them.
 * 4. A port with another host, or the end of a network, at its far end is an edge, unless it is shared and another device
 *    forwards to the subject on a port with an unknown far end and few entries or, if the port has many entries and most
 *    of its table, on any port with fewer entries: then the host forwards traffic.
 * 5. Of ports with an unknown far end, those with the fewest entries (by ENTRY_RANGES of facts.ts) are edges, unless the
 *    rules above find the subject on a live port with no more entries; the others are uplinks. If several devices
 *    forward to it, each on a port with many entries and most of its table, all these are uplinks: the same switch is
 *    between them. Ports that are down are excluded from the comparison, unless all are.
 *
 * If no edge remains, links that no forwarding table confirms are the locations; otherwise only the uplink with the
 * fewest entries is known.
 */
export function placesOf(subject: Subject): Places {
  const { links, exact, edges, uplinks, closeCalls } = classify(subject);
  const places = [...edges.map(({ place }) => place), ...exact];
  if (places.length > 0) return { places: withDevices(places, links), uplinks, closeCalls };
  const fromLinks = withDevices(links.filter((link) => link.port !== null).map(linkPlace), links);
  if (fromLinks.length > 0) return { places: fromLinks, uplinks, closeCalls: [] };
  const [nearest, ...rest] = [...uplinks].sort(byNearness);
  return { places: nearest === undefined ? [] : [nearest], uplinks: rest, closeCalls: [] };
}

/**
 * Ports whose learned device MAC addresses are needed (PortFact.leadsTo), nearest first: shared edges while other
 * devices forward to the subject on similar ports, ports with the same switch between them, and ports of devices behind
 * these.
 */
export function contestedPorts(subject: Subject): PortFact[] {
  const { edges, ending, common } = classify(subject);
  const isOpen = ({ place, end }: SeenPlace) =>
    end !== "itself" && isLive(place) && place.port?.leadsTo === null && place.others > 0 && place.others <= LISTED_MAX;
  // A device behind the port has the subject among hardly more entries.
  const isContested = (each: SeenPlace) =>
    isOpen(each) &&
    ending.some(
      ({ place }) =>
        isLive(place) &&
        place.device.ref.id !== each.place.device.ref.id &&
        place.others <= LISTED_MAX &&
        entryRangeOf(place.others) <= entryRangeOf(each.place.others) + 1,
    );
  const reached = new Set(ending.flatMap(({ place }) => place.port?.leadsTo?.map(({ id }) => id) ?? []));
  const found = [
    ...[...edges, ...common].filter(isContested),
    ...ending.filter((each) => reached.has(each.place.device.ref.id) && isOpen(each)),
  ].map(({ place }) => place);
  return [...new Set(found)].sort(byNearness).flatMap(({ port }) => port ?? []);
}

/** Whether the location may still be current. */
export function isLive({ port }: { readonly port: PortFact | null }): boolean {
  return port === null || isUp(port);
}

/** Whether a device learned the subject well after another one did, on a port that existed before: it moved there. */
export function isLearnedAfter(left: LocatedPlace, right: LocatedPlace): boolean {
  if (
    left.sighting === null ||
    right.sighting === null ||
    left.port === null ||
    left.device.ref.id === right.device.ref.id
  )
    return false;
  return (
    left.port.createdAt < learnedAt(right) && Date.parse(learnedAt(left)) - Date.parse(learnedAt(right)) >= AFTER_MS
  );
}

/** Switches are polled in turn: smaller differences are not significant. */
const AFTER_MS = 3_600_000;

interface Classified {
  readonly links: readonly LinkFact[];
  /** Ports known from links only. */
  readonly exact: readonly LocatedPlace[];
  /** Ports that forward to the subject and do not lead to a switch. */
  readonly ending: readonly SeenPlace[];
  readonly edges: readonly SeenPlace[];
  /** Uplinks only because each has most of its device's table. */
  readonly common: readonly SeenPlace[];
  readonly uplinks: readonly LocatedPlace[];
  readonly closeCalls: readonly LocatedPlace[];
}

function classify(subject: Subject): Classified {
  const ownId = subject.host?.ref.id ?? null;
  const links = preferSwitches(
    withoutDuplicates(subject.links.filter(({ device }) => device.ref.id !== ownId)),
    subject,
  );
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
  const seen = all.map((each) => reclassified(each, all));
  const ending = seen.filter(({ end }) => end !== "switch");
  const live = ending.filter(({ place }) => isLive(place));
  const isFound = live.some(({ end }) => end === "itself") || exact.some((place) => place.isDirect && isLive(place));
  const isCommon =
    !isFound &&
    live.every(
      ({ end, place }) => end === "unknown" && entryRangeOf(place.others) >= MANY && place.port?.holdsMost === true,
    ) &&
    new Set(live.map(({ place }) => place.device.ref.id)).size > 1;
  const passThrough = new Set(
    isCommon ? [] : live.filter((each) => each.end === "host" && hasSmallerRival(each, live)),
  );
  const measure = (live.length > 0 ? live : ending).filter((each) => !passThrough.has(each));
  const smallestRange = Math.min(...measure.map(({ place }) => entryRangeOf(place.others)));
  const smallestHostRange = Math.min(
    ...measure.filter(({ end }) => end === "host").map(({ place }) => entryRangeOf(place.others)),
  );
  const isEdge = (each: SeenPlace) => {
    const { end, place } = each;
    if (passThrough.has(each) || (isCommon && isLive(place))) return false;
    return (
      end !== "unknown" ||
      (!isFound && entryRangeOf(place.others) <= smallestRange && entryRangeOf(place.others) < smallestHostRange)
    );
  };
  const demoted = ending.filter((each) => !isEdge(each));
  const beyond = demoted.map(({ place }) =>
    asUplink(place, { kind: isCommon && isLive(place) ? "HoldsMost" : "MoreEntries" }),
  );
  const isClose = ({ place }: SeenPlace) =>
    isLive(place) &&
    (entryRangeOf(place.others) <= SMALL_RANGE ||
      (place.endsAtHost && (place.port === null || reportCount(place.port) < REPORTERS_MIN)));
  return {
    links,
    exact,
    ending,
    edges: ending.filter(isEdge),
    common: isCommon ? live : [],
    uplinks: [...seen.filter(({ end }) => end === "switch").map(({ place }) => place), ...beyond],
    closeCalls: isFound || isCommon ? [] : beyond.filter((_, position) => isClose(demoted[position] as SeenPlace)),
  };
}

/** Nearest first: live before down, then fewer entries, then most recently learned. */
export function byNearness(left: LocatedPlace, right: LocatedPlace): number {
  return (
    Number(isLive(right)) - Number(isLive(left)) ||
    entryRangeOf(left.others) - entryRangeOf(right.others) ||
    compare(learnedAt(right), learnedAt(left)) ||
    compare(left.port?.ref.id ?? "", right.port?.ref.id ?? "")
  );
}

function learnedAt({ sighting }: LocatedPlace): string {
  return sighting?.entries.reduce((last, { ref }) => (ref.valid_from > last ? ref.valid_from : last), "") ?? "";
}

export function compare(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

interface SeenPlace {
  readonly place: LocatedPlace;
  readonly end: FarEndKind;
}

function seenPlace(sighting: Sighting, subject: Subject, links: readonly LinkFact[]): SeenPlace {
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
  const matching = [...links.filter((each) => each.port?.ref.id === port.ref.id), ...(own === null ? [] : [own])];
  const link = matching.find((each) => each.source !== "Cdp") ?? matching[0] ?? memberLink(port, subject, links);
  const isDirect = link !== null && link.source !== "Cdp";
  const { neighbor } = port;
  const others = Math.max(0, port.forwards - sighting.entries.length);
  const uplinkReason = isDirect || isNeighborItself ? null : uplinkReasonOf(port, others, subject);
  const end: FarEndKind = isDirect
    ? "itself"
    : uplinkReason !== null
      ? "switch"
      : isNeighborItself || (neighbor?.host == null && neighbor?.role !== "End")
        ? "unknown"
        : "host";
  return {
    end,
    place: {
      role: uplinkReason === null ? "Edge" : "Uplink",
      device: port.device,
      port,
      sighting,
      link,
      isDirect,
      endsAtHost: end === "host",
      others,
      uplinkReason,
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
function uplinkReasonOf(port: PortFact, others: number, subject: Subject): UplinkReason | null {
  if (port.neighbor?.role === "Network" || isAtFarEnd(port, subject)) return { kind: "Switch" };
  const at = port.neighbor?.alsoReportedAt ?? [];
  const isReporting = isUp(port) && others >= SHARED_PORT_MIN;
  const count = at.length + Number(isReporting);
  const isMostly = at.every(({ holdsMost }) => holdsMost) && (!isReporting || port.holdsMost);
  return count >= REPORTERS_CERTAIN || (count >= REPORTERS_MIN && isMostly) ? { kind: "Named", at } : null;
}

/** True if the host at the far end forwards to the subject on a port that does not lead back. */
function isAtFarEnd({ neighbor, device }: PortFact, { sightings }: Subject): boolean {
  const host = neighbor?.host?.ref.id;
  return sightings.some(
    ({ port }) =>
      port.device.ref.id === host && port.neighbor?.role !== "Network" && port.neighbor?.host?.ref.id !== device.ref.id,
  );
}

/** Number of devices that report the far end on shared ports, including the given port's. */
function reportCount({ neighbor }: PortFact): number {
  return (neighbor?.alsoReportedAt.length ?? 0) + 1;
}

/** Reclassifies the far end as a switch if the port leads to a device that is nearer to the subject. */
function reclassified(each: SeenPlace, all: readonly SeenPlace[]): SeenPlace {
  const { place, end } = each;
  if (end === "itself" || end === "switch" || !isLive(place) || place.port?.leadsTo == null) return each;
  const isNearer = ({ place: right, end: otherEnd }: SeenPlace) =>
    isLive(right) &&
    otherEnd !== "switch" &&
    (right.others === 0 || right.port?.leadsTo?.every(({ id }) => id !== place.device.ref.id));
  const devices = place.port.leadsTo.filter(({ id }) =>
    all.some((right) => right.place.device.ref.id === id && isNearer(right)),
  );
  return devices.length === 0
    ? each
    : { end: "switch", place: asUplink({ ...place, endsAtHost: false }, { kind: "LeadsTo", devices }) };
}

/**
 * Whether a port with a host behind it more likely leads to further switches, judging by the number of entries on
 * another port with an unknown far end.
 */
function hasSmallerRival({ place }: SeenPlace, live: readonly SeenPlace[]): boolean {
  const range = entryRangeOf(place.others);
  // A far end reported twice is a switch or connects to both, and the port with most of the addresses likely leads to a
  // switch: then any smaller number of entries decides.
  const mayBeSwitch =
    place.port !== null && (reportCount(place.port) >= REPORTERS_MIN || (place.port.holdsMost && range >= MANY));
  const limit = mayBeSwitch ? range - 1 : place.others >= SHARED_PORT_MIN ? SMALL_RANGE : -1;
  return live.some(
    (right) =>
      right.end === "unknown" &&
      right.place.device.ref.id !== place.device.ref.id &&
      entryRangeOf(right.place.others) <= limit,
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
    uplinkReason: null,
  };
}

function asUplink(place: LocatedPlace, uplinkReason: UplinkReason): LocatedPlace {
  return { ...place, role: "Uplink", uplinkReason };
}

/** One link per port, or per device without a port: prefers proof; exact if any is. */
function withoutDuplicates(links: readonly LinkFact[]): LinkFact[] {
  const best = new Map<string, LinkFact>();
  for (const link of links) {
    const key = link.port?.ref.id ?? link.device.ref.id;
    const known = best.get(key) ?? link;
    best.set(key, { ...(known.source === "Cdp" ? link : known), isExact: known.isExact || link.isExact });
  }
  return [...best.values()];
}

/** A switch is not located at its attached hosts, and a link to a switch is more informative than one between hosts. */
function preferSwitches(links: readonly LinkFact[], { host }: Subject): readonly LinkFact[] {
  const towards = links.filter(({ device }) => device.isSwitch);
  return towards.length > 0 || host?.isSwitch === true ? towards : links;
}

/** Adds links known by device only, for devices without a located port. */
function withDevices(places: readonly LocatedPlace[], links: readonly LinkFact[]): LocatedPlace[] {
  const deviceOnly = links.filter(
    (link) => link.port === null && !places.some((place) => place.device.ref.id === link.device.ref.id),
  );
  return [...places, ...deviceOnly.map(linkPlace)];
}
