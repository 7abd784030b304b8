// Where a subject may be: which of the ports that know of it are edges, and which only lead on to other switches.
// Pure: from facts to places. What a place is worth is judged elsewhere.

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

/** What stands at the other end of a port that forwards to the subject. */
type End = "itself" | "switch" | "host" | "unknown";

/** Why a port that forwards to the subject is taken for an uplink. */
export type Onward =
  /** Its neighbor has a forwarding table. */
  | { readonly kind: "Switch" }
  /** Other switches name its far end as well, at crowded ports. */
  | { readonly kind: "Named"; readonly at: readonly NamingFact[] }
  /** It has learned the MAC address of a device that knows the subject at a port of its own. */
  | { readonly kind: "LeadsTo"; readonly devices: readonly RecordRef[] }
  /** As every other port that forwards to it, it holds most of what its device knows. */
  | { readonly kind: "HoldsMost" }
  /** Another port forwards to fewer. */
  | { readonly kind: "Crowd" };

export interface Place {
  /** Edge: it is there. Uplink: it is somewhere beyond. */
  readonly role: "Edge" | "Uplink";
  readonly device: LinkFact["device"];
  /** Null where only the device is known. */
  readonly port: PortFact | null;
  readonly sighting: Sighting | null;
  readonly link: LinkFact | null;
  /** Whether the subject is known to be at the other end of the link itself. */
  readonly isDirect: boolean;
  /** Whether the port ends at another host, which is not known to be a switch. */
  readonly endsAtHost: boolean;
  /** Rows of the forwarding table that lead to the port, besides the subject's. */
  readonly others: number;
  /** Null for an edge. */
  readonly onward: Onward | null;
}

export interface Places {
  /** One or more where anything is known of where the subject is. */
  readonly places: readonly Place[];
  /** The other ports that forward to it. */
  readonly uplinks: readonly Place[];
  /** Those of them that are taken for uplinks for no better reason than their crowd, where that is not much of a reason. */
  readonly closeCalls: readonly Place[];
}

/** A crowd so small that an edge may have it as well. */
const SMALL_CROWD = 1;
/** Crowds from this one on are many (CROWDS). */
export const MANY = 3;
/** So many devices that name one far end at crowded ports leave no doubt that it is a switch; fewer than the other number say nothing. */
const NAMING_SURE = 3;
const NAMING_MIN = 2;

/**
 * Tells edges from uplinks, by these rules in turn:
 * 1. A port at whose other end the subject itself is known to be (LLDP, or a neighbor that was entered) is an edge. CDP is no proof, it passes
 *    through bridges.
 * 2. A port whose far end is a switch is an uplink. A switch is what has a forwarding table, or what several devices name at crowded ports: three,
 *    or two of which the port holds most of the table (a virtualization host may hang on two switches, but is not the way to most of the network).
 * 3. A port at which the MAC address of another device was learned that forwards to the subject too is an uplink, unless that device has learned
 *    this one's at its port as well: then the subject is between them.
 * 4. A port whose far end is a host without a forwarding table is an edge, unless it is crowded and another device forwards to the subject at a
 *    port with no known far end and a small crowd, or, where the port has many and holds most of its table, any smaller crowd: then the host passes on
 *    what it forwards to.
 * 5. Of ports with no known far end those with the smallest crowd (facts.ts, CROWDS) are edges, unless the subject is found by the rules above
 *    at a live port with no greater crowd; the others are uplinks. Where several devices forward to it, and each at a port with many that holds most of
 *    its table, all of these are uplinks: they have the same switch between them, which tells nothing. Ports that are down are not measured against,
 *    unless all are.
 * Where that leaves no edge, links that no forwarding table confirms are places; else the uplink with the smallest crowd is all that is known.
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
 * The ports of which it has to be known which devices' MAC addresses they have learned (PortFact.leadsTo), the nearest first: edges that others share
 * while other devices forward to the subject at ports like these, ports that have the same switch between them, and the ports of devices that one of these leads to.
 */
export function contestedPorts(subject: Subject): PortFact[] {
  const { edges, ending, common } = sorted(subject);
  const isOpen = ({ place, end }: Seen) =>
    end !== "itself" && isLive(place) && place.port?.leadsTo === null && place.others > 0 && place.others <= LISTED_MAX;
  // What a port leads to knows the subject among hardly more than are there.
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

/** Whether what is told of the place may still hold. */
export function isLive({ port }: { readonly port: PortFact | null }): boolean {
  return port === null || isUp(port);
}

/** Whether one device learned the subject well after another one, at a port that it had known all the time: that it came there from the other one. */
export function isAfter(one: Place, other: Place): boolean {
  if (
    one.sighting === null ||
    other.sighting === null ||
    one.port === null ||
    one.device.ref.id === other.device.ref.id
  )
    return false;
  return one.port.createdAt < learned(other) && Date.parse(learned(one)) - Date.parse(learned(other)) >= AFTER_MS;
}

/** Switches are read one after the other: that one of them is the later within this says nothing. */
const AFTER_MS = 3_600_000;

interface Sorted {
  readonly links: readonly LinkFact[];
  /** Ports that links alone lead to. */
  readonly exact: readonly Place[];
  /** What forwards to the subject and ends at no switch. */
  readonly ending: readonly Seen[];
  readonly edges: readonly Seen[];
  /** Uplinks for no other reason than that each of them holds most of its device's table. */
  readonly common: readonly Seen[];
  readonly uplinks: readonly Place[];
  readonly closeCalls: readonly Place[];
}

function sorted(subject: Subject): Sorted {
  const ownId = subject.host?.ref.id ?? null;
  const links = towardsSwitches(withoutDoubles(subject.links.filter(({ device }) => device.ref.id !== ownId)), subject);
  // A device's own table knows its own addresses too.
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

/** The nearest first: live before down, small crowds before great ones, what was learned last before what has long been known. */
export function byNearness(one: Place, other: Place): number {
  return (
    Number(isLive(other)) - Number(isLive(one)) ||
    crowdOf(one.others) - crowdOf(other.others) ||
    compare(learned(other), learned(one)) ||
    compare(one.port?.ref.id ?? "", other.port?.ref.id ?? "")
  );
}

function learned({ sighting }: Place): string {
  return sighting?.entries.reduce((last, { ref }) => (ref.valid_from > last ? ref.valid_from : last), "") ?? "";
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

interface Seen {
  readonly place: Place;
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
  // What is no proof does not hide what is.
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

/** An aggregate forwards, and its members have the neighbors: a link to the subject at another port of the device that forwards to nothing of it. */
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

/** Why the far end of a port is a switch, as far as the port and who else names that far end tell; null where it is not known to be one. */
function onwardOf(port: PortFact, others: number): Onward | null {
  if (port.neighbor?.host?.isSwitch === true) return { kind: "Switch" };
  const at = port.neighbor?.namedAt ?? [];
  const isNaming = isUp(port) && others >= CROWDED_MIN;
  const count = at.length + Number(isNaming);
  const isMostly = at.every(({ holdsMost }) => holdsMost) && (!isNaming || port.holdsMost);
  return count >= NAMING_SURE || (count >= NAMING_MIN && isMostly) ? { kind: "Named", at } : null;
}

/** How many devices name the far end of a port at crowded ports, itself included. */
function namings({ neighbor }: PortFact): number {
  return (neighbor?.namedAt.length ?? 0) + 1;
}

/** As a switch's, where the port leads to a device that knows the subject nearer. */
function passingOn(each: Seen, all: readonly Seen[]): Seen {
  const { place, end } = each;
  if (end === "itself" || end === "switch" || !isLive(place) || place.port?.leadsTo == null) return each;
  const isNearer = ({ place: other, end: otherEnd }: Seen) =>
    isLive(other) &&
    otherEnd !== "switch" &&
    (other.others === 0 ||
      (other.port?.leadsTo != null && other.port.leadsTo.every(({ id }) => id !== place.device.ref.id)));
  const devices = place.port.leadsTo.filter(({ id }) =>
    all.some((other) => other.place.device.ref.id === id && isNearer(other)),
  );
  return devices.length === 0
    ? each
    : { end: "switch", place: asUplink({ ...place, endsAtHost: false }, { kind: "LeadsTo", devices }) };
}

/** Whether a port that ends at a host is likelier to lead on, by the crowd at another device's port whose far end is not known. */
function isOutdone({ place }: Seen, live: readonly Seen[]): boolean {
  const crowd = crowdOf(place.others);
  // What two name is a switch or hangs on two of them, and what is the way to most is likely a switch: any smaller crowd says which.
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

function linkPlace(link: LinkFact): Place {
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

function asUplink(place: Place, onward: Onward): Place {
  return { ...place, role: "Uplink", onward };
}

/** One link for each port, and for each device without one: what is proof stands for what is not, and is exact where either is. */
function withoutDoubles(links: readonly LinkFact[]): LinkFact[] {
  const best = new Map<string, LinkFact>();
  for (const link of links) {
    const key = link.port?.ref.id ?? link.device.ref.id;
    const known = best.get(key) ?? link;
    best.set(key, { ...(known.source === "Cdp" ? link : known), isExact: known.isExact || link.isExact });
  }
  return [...best.values()];
}

/** What hangs on a switch is not where the switch is; and a link to a switch says more than one between two hosts. */
function towardsSwitches(links: readonly LinkFact[], { host }: Subject): readonly LinkFact[] {
  const towards = links.filter(({ device }) => device.isSwitch);
  return towards.length > 0 || host?.isSwitch === true ? towards : links;
}

/** Links of which only the device is known, where no port of it is. */
function withDevices(places: readonly Place[], links: readonly LinkFact[]): Place[] {
  const bare = links.filter(
    (link) => link.port === null && !places.some((place) => place.device.ref.id === link.device.ref.id),
  );
  return [...places, ...bare.map(linkPlace)];
}
