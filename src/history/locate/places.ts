// Where a subject may be: which ports that know it are edges, and which lead on to other switches. Pure.

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

/** What is at the other end of a port that forwards to the subject. */
type End = "itself" | "switch" | "host" | "unknown";

/** Why such a port is taken for an uplink. */
type Onward =
  /** Its neighbor has a forwarding table. */
  | { readonly kind: "Switch" }
  /** Other switches name its far end too, at crowded ports. */
  | { readonly kind: "Named"; readonly at: readonly NamingFact[] }
  /** It learned the MAC address of a device that knows the subject at its own port. */
  | { readonly kind: "LeadsTo"; readonly devices: readonly RecordRef[] }
  /** Like every other port that forwards to it, it holds most of its device's entries. */
  | { readonly kind: "HoldsMost" }
  /** Another port has fewer. */
  | { readonly kind: "Crowd" };

export interface LocatedPlace {
  /** Edge: it is there. Uplink: it is somewhere beyond. */
  readonly role: "Edge" | "Uplink";
  readonly device: LinkFact["device"];
  /** Null if only the device is known. */
  readonly port: PortFact | null;
  readonly sighting: Sighting | null;
  readonly link: LinkFact | null;
  /** Whether the subject is known to be at the other end of the link. */
  readonly isDirect: boolean;
  /** Whether it ends at another host, not known to be a switch. */
  readonly endsAtHost: boolean;
  /** Forwarding entries of the port, without the subject's. */
  readonly others: number;
  /** Null for an edge. */
  readonly onward: Onward | null;
}

export interface Places {
  /** At least one if anything is known of where the subject is. */
  readonly places: readonly LocatedPlace[];
  readonly uplinks: readonly LocatedPlace[];
  /** Uplinks only by a weak crowd. */
  readonly closeCalls: readonly LocatedPlace[];
}

/** A crowd that an edge may have too. */
const SMALL_CROWD = 1;
/** Crowds from this one on are many (CROWDS). */
export const MANY = 3;
/**
 * From so many devices naming one far end at crowded ports it is certainly a switch; below the other number it means
 * nothing.
 */
const NAMING_SURE = 3;
const NAMING_MIN = 2;

/**
 * Tells edges from uplinks, by these rules in turn:
 * 1. A port at whose other end the subject itself is known to be (LLDP, or a neighbor that was entered) is an edge. CDP
 * is no proof, it passes
 *    through bridges.
 * 2. A port whose far end is a switch is an uplink. A switch is what has a forwarding table, or what several devices
 * name at crowded ports: three,
 *    or two of which the port holds most of the table (a virtualization host may hang on two switches, but is not the way to most of the network).
 * 3. A port at which the MAC address of another device was learned that forwards to the subject too is an uplink,
 * unless that device has learned
 *    this one's at its port as well: then the subject is between them.
 * 4. A port whose far end is a host without a forwarding table is an edge, unless it is crowded and another device
 * forwards to the subject at a
 *    port with no known far end and a small crowd, or, where the port has many and holds most of its table, any smaller crowd: then the host passes on
 *    what it forwards to.
 * 5. Of ports with no known far end those with the smallest crowd (facts.ts, CROWDS) are edges, unless the subject is
 * found by the rules above
 *    at a live port with no greater crowd; the others are uplinks. Where several devices forward to it, and each at a port with many that holds most of
 *    its table, all of these are uplinks: they have the same switch between them, which tells nothing. Ports that are down are not measured against,
 *    unless all are.
 * Where that leaves no edge, links that no forwarding table confirms are places; else the uplink with the smallest
 * crowd is all that is known.
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
 * The ports for which learned device MAC addresses must be known (PortFact.leadsTo), nearest first: shared edges while
 * other devices forward to the subject at similar ports, ports with the same switch between them, and ports of devices
 * that these lead to.
 */
export function contestedPorts(subject: Subject): PortFact[] {
  const { edges, ending, common } = sorted(subject);
  const isOpen = ({ place, end }: Seen) =>
    end !== "itself" && isLive(place) && place.port?.leadsTo === null && place.others > 0 && place.others <= LISTED_MAX;
  // What a port leads to knows the subject among hardly more entries.
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

/** Whether the place may still hold. */
export function isLive({ port }: { readonly port: PortFact | null }): boolean {
  return port === null || isUp(port);
}

/** Whether a device learned the subject well after another, at a port already known: it moved there. */
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

/** Switches are read in turn: smaller differences mean nothing. */
const AFTER_MS = 3_600_000;

interface Sorted {
  readonly links: readonly LinkFact[];
  /** Ports known by links only. */
  readonly exact: readonly LocatedPlace[];
  /** What forwards to the subject without ending at a switch. */
  readonly ending: readonly Seen[];
  readonly edges: readonly Seen[];
  /** Uplinks only because each holds most of its device's table. */
  readonly common: readonly Seen[];
  readonly uplinks: readonly LocatedPlace[];
  readonly closeCalls: readonly LocatedPlace[];
}

function sorted(subject: Subject): Sorted {
  const ownId = subject.host?.ref.id ?? null;
  const links = towardsSwitches(withoutDoubles(subject.links.filter(({ device }) => device.ref.id !== ownId)), subject);
  // A device's own table has its own addresses too.
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

/** Nearest first: live before down, then small crowds, then the latest learned. */
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
  // Proof goes before what is none.
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
 * An aggregate forwards, its members have the neighbors: a link to the subject at a non-forwarding port of the device.
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

/** Why the far end is a switch, by the port and those that name that end; null if unknown. */
function onwardOf(port: PortFact, others: number): Onward | null {
  if (port.neighbor?.host?.isSwitch === true) return { kind: "Switch" };
  const at = port.neighbor?.namedAt ?? [];
  const isNaming = isUp(port) && others >= CROWDED_MIN;
  const count = at.length + Number(isNaming);
  const isMostly = at.every(({ holdsMost }) => holdsMost) && (!isNaming || port.holdsMost);
  return count >= NAMING_SURE || (count >= NAMING_MIN && isMostly) ? { kind: "Named", at } : null;
}

/** The devices that name the far end at crowded ports, itself included. */
function namings({ neighbor }: PortFact): number {
  return (neighbor?.namedAt.length ?? 0) + 1;
}

/** Treated as a switch's if it leads to a device that knows the subject nearer. */
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

/** Whether a port that ends at a host likelier leads on, by another port's crowd with an unknown far end. */
function isOutdone({ place }: Seen, live: readonly Seen[]): boolean {
  const crowd = crowdOf(place.others);
  // A far end named by two is a switch or hangs on both, and the way to most is likely a switch: any smaller crowd
  // decides.
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

/** One link per port, and per device without one: proof first, exact if either is. */
function withoutDoubles(links: readonly LinkFact[]): LinkFact[] {
  const best = new Map<string, LinkFact>();
  for (const link of links) {
    const key = link.port?.ref.id ?? link.device.ref.id;
    const known = best.get(key) ?? link;
    best.set(key, { ...(known.source === "Cdp" ? link : known), isExact: known.isExact || link.isExact });
  }
  return [...best.values()];
}

/** A switch is not where its attached hosts are; and a link to a switch says more than one between two hosts. */
function towardsSwitches(links: readonly LinkFact[], { host }: Subject): readonly LinkFact[] {
  const towards = links.filter(({ device }) => device.isSwitch);
  return towards.length > 0 || host?.isSwitch === true ? towards : links;
}

/** Links known only by device, where none of its ports is. */
function withDevices(places: readonly LocatedPlace[], links: readonly LinkFact[]): LocatedPlace[] {
  const bare = links.filter(
    (link) => link.port === null && !places.some((place) => place.device.ref.id === link.device.ref.id),
  );
  return [...places, ...bare.map(linkPlace)];
}
