// Where a subject may be: which of the ports that know of it are edges, and which only lead on to other switches.
// Pure: from facts to places. What a place is worth is judged elsewhere.

import { crowdOf, type LinkFact, type PortFact, type Sighting, type Subject } from "./locate-facts.ts";

/** What stands at the other end of a port that forwards to the subject. */
type End = "itself" | "switch" | "host" | "unknown";

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
  /** Whether the port ends at another host, which is no switch. */
  readonly endsAtHost: boolean;
  /** Rows of the forwarding table that lead to the port, besides the subject's. */
  readonly others: number;
}

export interface Places {
  /** One or more where anything is known of where the subject is. */
  readonly places: readonly Place[];
  /** The other ports that forward to it. */
  readonly uplinks: readonly Place[];
  /** Those of them that are taken for uplinks for no better reason than a few MAC addresses more. */
  readonly closeCalls: readonly Place[];
}

/** A crowd so small that an edge may have it as well. */
const SMALL_CROWD = 1;

/**
 * Tells edges from uplinks, by these rules in turn:
 * 1. A port at whose other end the subject itself is known to be (LLDP, or a neighbor that was entered) is an edge. CDP is no proof, it passes
 *    through bridges.
 * 2. A port whose neighbor has a forwarding table is an uplink; one whose neighbor is a host without is an edge.
 * 3. Of ports with no known neighbor those with the smallest crowd (locate-facts.ts, CROWDS) are edges, unless the subject is found by the
 *    rules above at a live port with no greater crowd; the others are uplinks. Ports that are down are not measured against, unless all are.
 * Where that leaves no edge, links that no forwarding table confirms are places; else the uplink with the smallest crowd is all that is known.
 */
export function placesOf(subject: Subject): Places {
  const ownId = subject.host?.ref.id ?? null;
  const links = towardsSwitches(withoutDoubles(subject.links.filter(({ device }) => device.ref.id !== ownId)), subject);
  // A device's own table knows its own addresses too.
  const seen = subject.sightings.filter(({ port }) => port.device.ref.id !== ownId).map((sighting) => seenPlace(sighting, subject, links));
  const exact = links.filter((link) => link.isExact && link.port !== null && !seen.some(({ place }) => place.port?.ref.id === link.port?.ref.id)).map(linkPlace);
  const onward = seen.filter(({ end }) => end === "switch");
  const ending = seen.filter(({ end }) => end !== "switch");
  const live = ending.filter(({ place }) => isLive(place));
  const measure = live.length > 0 ? live : ending;
  const isFound = measure.some(({ end }) => end === "itself") || exact.some((place) => place.isDirect && isLive(place));
  const least = Math.min(...measure.map(({ place }) => crowdOf(place.others)));
  const leastAtHost = Math.min(...measure.filter(({ end }) => end === "host").map(({ place }) => crowdOf(place.others)));
  const isEdge = ({ end, place }: Seen) => end !== "unknown" || (!isFound && crowdOf(place.others) <= least && crowdOf(place.others) < leastAtHost);
  const edges = ending.filter(isEdge).map(({ place }) => place);
  const outnumbered = ending.filter((each) => !isEdge(each)).map(({ place }) => asUplink(place));
  const uplinks = [...onward.map(({ place }) => asUplink(place)), ...outnumbered];
  const places = [...edges, ...exact];
  if (places.length > 0) {
    const closeCalls = isFound ? [] : outnumbered.filter((place) => isLive(place) && crowdOf(place.others) <= SMALL_CROWD);
    return { places: withDevices(places, links), uplinks, closeCalls };
  }
  const loose = withDevices(links.filter((link) => link.port !== null).map(linkPlace), links);
  if (loose.length > 0) return { places: loose, uplinks, closeCalls: [] };
  const [nearest, ...rest] = uplinks.sort(byNearness);
  return { places: nearest === undefined ? [] : [nearest], uplinks: rest, closeCalls: [] };
}

/** Whether what is told of the place may still hold: a port that is down forwards to nobody. */
export function isLive({ port }: { readonly port: PortFact | null }): boolean {
  return port === null || (port.adminStatus !== "Down" && !DOWN.has(port.operStatus));
}

const DOWN: ReadonlySet<string> = new Set(["Down", "NotPresent", "LowerLayerDown"]);

/** The nearest first: live before down, small crowds before great ones, what was learned last before what has long been known. */
export function byNearness(one: Place, other: Place): number {
  return Number(isLive(other)) - Number(isLive(one)) || crowdOf(one.others) - crowdOf(other.others) || compare(learned(other), learned(one)) || compare(one.port?.ref.id ?? "", other.port?.ref.id ?? "");
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
  const own: LinkFact | null = isNeighborItself && port.neighbor !== null ? { device: port.device, port, source: port.neighbor.source, isExact: false, reportedBy: port.ref, announced: null } : null;
  // What is no proof does not hide what is.
  const here = [...links.filter((each) => each.port?.ref.id === port.ref.id), ...(own === null ? [] : [own])];
  const link = here.find((each) => each.source !== "Cdp") ?? here[0] ?? null;
  const isDirect = link !== null && link.source !== "Cdp";
  const neighbor = port.neighbor?.host ?? null;
  const end: End = isDirect ? "itself" : neighbor === null || isNeighborItself ? "unknown" : neighbor.isSwitch ? "switch" : "host";
  const others = Math.max(0, port.forwards - sighting.entries.length);
  return { end, place: { role: "Edge", device: port.device, port, sighting, link, isDirect, endsAtHost: end === "host", others } };
}

function linkPlace(link: LinkFact): Place {
  return { role: "Edge", device: link.device, port: link.port, sighting: null, link, isDirect: link.source !== "Cdp", endsAtHost: false, others: 0 };
}

function asUplink(place: Place): Place {
  return { ...place, role: "Uplink" };
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
  const bare = links.filter((link) => link.port === null && !places.some((place) => place.device.ref.id === link.device.ref.id));
  return [...places, ...bare.map(linkPlace)];
}
