// Candidate ranking by confidence, the product of their evidence factors (locate-schema.ts). places.ts classifies edges and
// uplinks. Pure.

import { isGroupAddress, isLocallyAdministered, virtualRouterOf } from "../../base/mac.ts";
import { withoutBidiControls } from "../../base/text.ts";
import {
  entryRangeOf,
  type Facts,
  type Identity,
  type LinkSource,
  MANY,
  type RecordRef,
  type Subject,
  type VlanFact,
} from "./facts.ts";
import {
  CANDIDATES_MAX,
  type Candidate,
  type Evidence,
  type EvidenceKind,
  FACTORS,
  type PresentLocation,
} from "./locate-schema.ts";
import { byNearness, compare, isLearnedAfter, isLive, type LocatedPlace, type Places, placesOf } from "./places.ts";

/** Maximum ports named in one list. */
const NAMED_MAX = 5;

/**
 * Most likely candidates first. A confidence is the product of factors (FACTORS): one for the location, one per doubt.
 * Ties sort by nearness (places.ts), then name. Yields after each subject.
 */
export function* rank(facts: Facts): Generator<void, PresentLocation> {
  const several = severalSubjects(facts);
  const hosts = facts.subjects.flatMap(({ host }) => host?.ref ?? []);
  const doubt = several === null ? [] : [item("SeveralHosts", several, hosts, FACTORS.severalHosts.factor)];
  const ranked: Array<{
    readonly subject: Subject;
    readonly place: LocatedPlace | null;
    readonly found: Places;
    readonly candidate: Candidate;
  }> = [];
  for (const subject of facts.subjects) {
    const found = placesOf(subject);
    const places: (LocatedPlace | null)[] = found.places.length === 0 ? [null] : [...found.places];
    for (const place of places)
      ranked.push({ subject, place, found, candidate: candidateOf(facts, subject, place, found, doubt) });
    yield;
  }
  ranked.sort(
    (left, right) =>
      right.candidate.confidence - left.candidate.confidence ||
      nearness(left.place, right.place) ||
      compare(sortName(left.candidate), sortName(right.candidate)),
  );
  const candidates = ranked.slice(0, CANDIDATES_MAX).map(({ candidate }) => candidate);
  const first = ranked[0];
  const rivals = first?.place == null ? [] : rivalsOf(first.place, first.found);
  const seenTwice =
    rivals.length === 0 || first === undefined
      ? null
      : `${capitalize(subjectLabel(first.subject))} may be at any of ${rivals.length + 1} ports: ${portList([first.place as LocatedPlace, ...rivals])}.`;
  return {
    asked: { by: facts.term.by, value: facts.term.value },
    explanation: candidates[0]?.explanation ?? withoutBidiControls(unknownText(facts)),
    ambiguity: withoutBidiControls([several, seenTwice].filter((each) => each !== null).join(" ")) || null,
    candidates,
    truncated: facts.isTruncated || ranked.length > CANDIDATES_MAX,
  };
}

function candidateOf(
  facts: Facts,
  subject: Subject,
  place: LocatedPlace | null,
  found: Places,
  several: readonly Evidence[],
): Candidate {
  const { host, address, mac } = subject;
  const vlan = vlanOf(facts, subject, place);
  const evidence = [
    ...subject.identities.map((identity) => identityEvidence(identity, subject)),
    ...(place === null ? [noLocation(subject)] : placeEvidence(place, subject)),
    ...(place === null ? [] : doubts(place, found, subject)),
    ...several,
    ...virtualRouter(mac),
    ...(place === null ? [] : pathEvidence(found.uplinks)),
    ...(place?.port == null ? [] : unknownNeighbor(place)),
    ...(vlan === null ? [] : [vlan.evidence]),
    ...locallyAdministered(mac),
  ];
  const explanation = withoutBidiControls(explain(subject, place, vlan?.sentence ?? ""));
  const port = place?.port ?? null;
  const behind = place?.role === "Edge" && place.endsAtHost ? (port?.neighbor?.host ?? null) : null;
  return {
    confidence: confidenceOf(evidence),
    explanation,
    network_id: subject.networkId,
    host: host === null ? null : { id: host.ref.id, name: host.ref.name, hostname: host.hostname },
    ip_address: address === null ? null : { id: address.ref.id, ip_address: address.ipAddress },
    mac_address: mac,
    switch: place === null ? null : { id: place.device.ref.id, name: place.device.ref.name },
    port:
      port === null || place === null
        ? null
        : {
            id: port.ref.id,
            name: port.ref.name,
            if_index: port.ifIndex,
            if_descr: port.ifDescr,
            role: place.role,
            admin_status: port.adminStatus,
            oper_status: port.operStatus,
            units: (place.sighting?.units ?? []).map(({ id, name }) => ({ id, name })),
            members: port.members.map(({ id, name }) => ({ id, name })),
          },
    behind: behind === null ? null : { id: behind.ref.id, name: behind.ref.name },
    vlan: vlan?.vlan ?? null,
    subnet:
      address?.subnet == null
        ? null
        : { id: address.subnet.ref.id, name: address.subnet.ref.name, cidr: address.subnet.cidr },
    evidence,
  };
}

/** Product of the factors, rounded to two digits. */
function confidenceOf(evidence: readonly Evidence[]): number {
  const product = evidence.reduce((all, { factor }) => all * factor, 1);
  // Binary fractions must not decide on rounding of a half.
  return Math.round(Number((product * 100).toFixed(6))) / 100;
}

function item(kind: EvidenceKind, sentence: string, records: readonly RecordRef[], factor = 1): Evidence {
  // Several rows may refer to one record.
  const byId = new Map(
    records.map(({ entity_type, id, name, valid_from }) => [id, { entity_type, id, name, valid_from }]),
  );
  return { kind, factor, sentence: withoutBidiControls(sentence), records: [...byId.values()] };
}

function identityEvidence(identity: Identity, { host, mac }: Subject): Evidence {
  const { kind, record } = identity;
  const records = kind === "AddressInterface" ? [record, identity.address] : [record];
  const sentence = identitySentence(identity, host?.ref.name ?? "an unknown device", mac);
  return item(kind, sentence, records, kind === "ShortName" ? FACTORS.shortName.factor : 1);
}

function identitySentence(identity: Identity, name: string, mac: string | null): string {
  const { kind, record } = identity;
  switch (kind) {
    case "Address":
      return `${record.name} is an address of ${name}${mac === null ? ", without a MAC address" : ""}.`;
    case "AddressMac":
      return `${mac} is the MAC address of ${name} at ${record.name}.`;
    case "InterfaceMac":
      return `${mac} is the MAC address of ${name}'s interface ${record.name}.`;
    case "AddressInterface":
      return `${identity.address.name} is at ${name}'s interface ${record.name}${mac === null ? "" : `, with the MAC address ${mac}`}.`;
    case "Name":
      if (identity.matchedName === name) return `A host is called ${name}.`;
      return `The host ${name} is also called ${identity.matchedName}.`;
    case "ShortName":
      return `The host ${name} is called ${identity.matchedName}, which begins with the query.`;
    case "Announced":
      return `At the port ${record.name} ${name} announces itself as ${identity.matchedName}.`;
  }
}

function placeEvidence(place: LocatedPlace, subject: Subject): Evidence[] {
  const { port, device, sighting, link, others } = place;
  const list: Evidence[] = [];
  if (sighting !== null && port !== null) {
    const isAlone = place.role === "Edge" && !place.isDirect && !place.endsAtHost && others === 0;
    const sharing = others === 0 ? "nothing else leads there" : `${entries(others, "other")} there`;
    const sentence = `${device.ref.name} forwards to ${subject.mac} at ${port.ref.name}; ${sharing}.`;
    const records = [...sighting.entries.map(({ ref }) => ref), port.ref];
    list.push(item("Forwarding", sentence, records, isAlone ? FACTORS.alone.factor : 1));
  }
  if (place.role === "Uplink") {
    const { why, records } = describeUplink(place);
    const sentence = `${portName(place)} leads to other switches: ${why}; no port that ends at a device forwards to it.`;
    return [...list, item("UplinkOnly", sentence, [...refs([place]), ...records], FACTORS.uplinkOnly.factor)];
  }
  if (link !== null) {
    const records = [link.reportedBy, ...(subject.host === null ? [] : [subject.host.ref])];
    list.push(item("Neighbor", linkSentence(place, subject), records, linkFactor(place)));
  }
  const behind = behindOf(place);
  if (behind !== null && port !== null) {
    const isMany = entryRangeOf(others) >= MANY;
    const doubt = isMany ? `, with ${others} more: a hypervisor, or a switch whose forwarding table is unknown` : "";
    const sentence = `${sourcePhrase(port.neighbor?.source)}${behind.name}, which is not known to be a switch, is at the other end of ${port.ref.name}: it is behind that host${doubt}.`;
    const { factor } = isMany ? FACTORS.behindMany : FACTORS.behind;
    list.push(item("Behind", sentence, [port.ref, ...behind.records], factor));
  } else if (sighting !== null && !place.isDirect && others > 0 && port !== null) {
    const isMany = entryRangeOf(others) >= MANY;
    const announced = port.neighbor === null ? "" : `${port.neighbor.announced ?? "the device there"}, or `;
    const what = isMany ? "something unknown with many stations" : "an unmanaged switch or a hypervisor";
    const sentence = `${entries(others, "more")} to ${port.ref.name}: ${announced}${what} is likely in between.`;
    list.push(item("SharedPort", sentence, [port.ref], isMany ? FACTORS.manyShare.factor : FACTORS.fewShare.factor));
  }
  return list;
}

/** The host or the announced device at the end of a port, if the subject is behind it. */
function behindOf({ endsAtHost, port }: LocatedPlace): { name: string; records: readonly RecordRef[] } | null {
  if (!endsAtHost || port?.neighbor == null) return null;
  const { host, announced } = port.neighbor;
  return host === null ? { name: announced ?? "a device", records: [] } : { name: host.ref.name, records: [host.ref] };
}

function linkFactor({ port, sighting, link, isDirect }: LocatedPlace): number {
  if (port === null) return FACTORS.deviceOnly.factor;
  if (sighting !== null) return isDirect ? FACTORS.confirmed.factor : 1;
  return link?.source === "Cdp" ? FACTORS.cdpOnly.factor : FACTORS.announced.factor;
}

function linkSentence({ link, port, device }: LocatedPlace, subject: Subject): string {
  const name = subject.host?.ref.name ?? link?.announced ?? "it";
  if (port === null)
    return `${sourcePhrase(link?.source)}the interface ${link?.reportedBy.name} of ${name} is linked to ${device.ref.name}; the port there is unknown.`;
  const caution = link?.source === "Cdp" ? "; CDP passes through bridges, so the link may not be direct" : "";
  const member = link?.port ?? port;
  const aggregate =
    member.ref.id === port.ref.id ? "" : `; ${port.ref.name}, which bundles several ports, forwards to it`;
  return `${sourcePhrase(link?.source)}${name} is at the other end of ${member.ref.name} of ${device.ref.name}${aggregate}${caution}.`;
}

function sourcePhrase(source: LinkSource | undefined): string {
  return source === "Lldp" ? "By LLDP, " : source === "Cdp" ? "By CDP, " : "As entered, ";
}

function entries(count: number, which: "more" | "other"): string {
  return `${count} ${which} ${count === 1 ? "entry leads" : "entries lead"}`;
}

function noLocation({ mac, host }: Subject): Evidence {
  const why =
    mac === null
      ? "Without a MAC address no forwarding table can locate it, and"
      : "No forwarding table has its MAC address, and";
  return item("NoPlace", `${why} no link to it is known.`, host === null ? [] : [host.ref], FACTORS.noPlace.factor);
}

function doubts(place: LocatedPlace, found: Places, { mac }: Subject): Evidence[] {
  const list: Evidence[] = [];
  const add = (kind: EvidenceKind, sentence: string, places: readonly LocatedPlace[], { factor }: { factor: number }) =>
    list.push(item(kind, sentence, refs(places), factor));
  const { port, device } = place;
  if (port !== null && !isLive(place)) {
    const state = port.adminStatus === "Down" ? "switched off" : `down (${port.operStatus})`;
    add("PortDown", `${portName(place)} is ${state}: its data is outdated.`, [place], FACTORS.portDown);
  }
  const rivals = rivalsOf(place, found);
  const later = rivals.filter((each) => isLearnedAfter(each, place));
  const former = rivals.filter((each) => isLearnedAfter(place, each));
  const equal = rivals.filter((each) => !later.includes(each) && !former.includes(each));
  if (equal.length > 0) add("AlsoSeen", `It could just as well be at ${portList(equal)}.`, equal, FACTORS.alsoSeen);
  if (later.length > 0) {
    const sentence = `It was learned later at ${portList(later)}, where it was not known before: the entry of ${device.ref.name} is probably old.`;
    add("MovedOn", sentence, later, FACTORS.movedOn);
  }
  if (former.length > 0) {
    const sentence = `It was learned here later than at ${portList(former)}, which may not have been read since.`;
    add("MovedHere", sentence, former, FACTORS.movedHere);
  }
  if (
    place.role === "Edge" &&
    place.sighting !== null &&
    !place.isDirect &&
    !place.endsAtHost &&
    isLive(place) &&
    found.closeCalls.length > 0
  ) {
    const [forward, are] = found.closeCalls.length === 1 ? ["forwards", "is"] : ["forward", "are"];
    const sentence = `${portList(found.closeCalls)} ${forward} to ${mac} as well, and ${are} regarded as an uplink only because more MAC addresses are there.`;
    add("CloseCall", sentence, found.closeCalls, FACTORS.closeCall);
  }
  return list;
}

/** Other live locations that contradict the given one. A direct link is certain: a device may have several. */
function rivalsOf(place: LocatedPlace, { places }: Places): LocatedPlace[] {
  const behind = place.endsAtHost ? place.port?.neighbor?.host?.ref.id : undefined;
  const isSameHost = (right: LocatedPlace) =>
    behind !== undefined && right.endsAtHost && right.port?.neighbor?.host?.ref.id === behind;
  return place.isDirect ? [] : places.filter((right) => right !== place && isLive(right) && !isSameHost(right));
}

/** Nearest first. */
function pathEvidence(uplinks: readonly LocatedPlace[]): Evidence[] {
  const [...nearest] = uplinks;
  const described = nearest
    .sort(byNearness)
    .slice(0, NAMED_MAX)
    .map((place) => {
      const { why, records } = describeUplink(place);
      return item("Uplink", `${portName(place)} forwards to it as an uplink: ${why}.`, [
        ...(place.sighting?.entries.map(({ ref }) => ref) ?? []),
        ...refs([place]),
        ...records,
      ]);
    });
  const rest = uplinks.length - described.length;
  if (rest <= 0) return described;
  const sentence = `${rest} more ${rest === 1 ? "port forwards" : "ports forward"} to it as uplinks.`;
  return [...described, item("Uplink", sentence, [])];
}

function describeUplink({ uplinkReason: onward, port, device, others }: LocatedPlace): {
  why: string;
  records: RecordRef[];
} {
  const neighbor = port?.neighbor?.host ?? null;
  const known = neighbor === null ? [] : [neighbor.ref];
  const announcedName = neighbor?.ref.name ?? port?.neighbor?.announced ?? "the device there";
  switch (onward?.kind) {
    case "Switch": {
      const what = neighbor?.isSwitch === true ? "a switch" : "a router or a switch";
      return { why: `its neighbor ${announcedName} is ${what}`, records: known };
    }
    case "Named": {
      const at = onward.at.slice(0, NAMED_MAX);
      const more = onward.at.length > at.length ? ", and others" : "";
      return {
        why: `its neighbor ${announcedName} is a switch, since ${at.map((each) => `${each.device.name} at ${each.port.name}`).join(", ")}${more} ${onward.at.length === 1 ? "names" : "name"} it too, with many MAC addresses behind it`,
        records: [...known, ...at.map((each) => each.port)],
      };
    }
    case "LeadsTo":
      return {
        why: `the MAC address of ${onward.devices.map(({ name }) => name).join(", ")}, which forwards to it as well, was learned there`,
        records: onward.devices.slice(0, NAMED_MAX),
      };
    case "HoldsMost": {
      const why = `most entries of ${device.ref.name} are there, as at every other port that forwards to it`;
      return { why, records: [] };
    }
    default:
      return { why: `${entries(others, "other")} there, and another port is nearer`, records: known };
  }
}

function unknownNeighbor({ port, link }: LocatedPlace): Evidence[] {
  if (port?.neighbor == null || port.neighbor.host !== null || link !== null) return [];
  const name = port.neighbor.announced === null ? "" : `: ${port.neighbor.announced}`;
  const sentence = `${sourcePhrase(port.neighbor.source)}a device that is not in the inventory is at the other end of ${port.ref.name}${name}.`;
  return [item("UnknownNeighbor", sentence, [port.ref])];
}

function virtualRouter(mac: string | null): Evidence[] {
  const router = mac === null ? null : virtualRouterOf(mac);
  if (router === null) return [];
  const sentence = `${mac} is the virtual MAC address of ${router.protocol} group ${router.group}: it is with whichever router of the group is active.`;
  return [item("VirtualRouter", sentence, [], FACTORS.virtualRouter.factor)];
}

function locallyAdministered(mac: string | null): Evidence[] {
  if (mac === null || !isLocallyAdministered(mac)) return [];
  const sentence = `${mac} is assigned by software: a virtual machine, a container, or a device that changes it now and then.`;
  return [item("LocallyAdministered", sentence, [])];
}

interface ChosenVlan {
  readonly vlan: NonNullable<Candidate["vlan"]>;
  readonly sentence: string;
  readonly evidence: Evidence;
}

/** VLAN of the forwarding entry; else of the port, if it is the subnet's or the only one; else of the subnet. */
function vlanOf(facts: Facts, subject: Subject, place: LocatedPlace | null): ChosenVlan | null {
  const port = place?.port ?? null;
  const subnet = subject.address?.subnet ?? null;
  const subnetVlan = subnet?.vlan ?? null;
  const rows = place?.sighting?.entries.filter(({ vlanNumber }) => vlanNumber !== null) ?? [];
  const numbers = [...new Set(rows.map(({ vlanNumber }) => vlanNumber as number))].sort((a, b) => a - b);
  const number = numbers.find((each) => each === subnetVlan?.number) ?? numbers[0];
  if (number !== undefined) {
    const vlan = facts.vlans.get(`${subject.networkId}/${number}`) ?? null;
    const others = numbers.length === 1 ? "" : `, of ${numbers.join(", ")}`;
    const sentence = `The forwarding table has it in VLAN ${number}${others}.`;
    const refs = rows.filter(({ vlanNumber }) => vlanNumber === number).map(({ ref }) => ref);
    return chooseVlan(vlan, number, "ForwardingTable", sentence, refs);
  }
  const ids =
    port === null || place?.role !== "Edge" ? [] : [port.nativeVlanId, ...port.vlanIds].filter((id) => id !== null);
  if (port !== null && subnetVlan !== null && subnet !== null && ids.includes(subnetVlan.ref.id)) {
    const sentence = `${port.ref.name} is in VLAN ${subnetVlan.number}, as ${subnet.cidr} is.`;
    return chooseVlan(subnetVlan, subnetVlan.number, "Port", sentence, [port.ref, subnet.ref]);
  }
  const own = facts.vlans.get(port?.nativeVlanId ?? (new Set(ids).size === 1 ? (ids[0] as string) : "")) ?? null;
  if (port !== null && ids.length > 0 && own !== null)
    return chooseVlan(own, own.number, "Port", `${port.ref.name} is in VLAN ${own.number}.`, [port.ref]);
  if (subnetVlan === null || subnet === null) return null;
  const sentence = `${subnet.cidr} is in VLAN ${subnetVlan.number}.`;
  return chooseVlan(subnetVlan, subnetVlan.number, "Subnet", sentence, [subnet.ref]);
}

function chooseVlan(
  vlan: VlanFact | null,
  number: number,
  source: ChosenVlan["vlan"]["source"],
  sentence: string,
  records: readonly RecordRef[],
): ChosenVlan {
  const name = vlan?.ref.name ?? null;
  return {
    vlan: { id: vlan?.ref.id ?? null, number, name, source },
    // A VLAN without a name is shown by number only.
    sentence: `, VLAN ${number}${name === null || name === `VLAN ${number}` ? "" : ` (${name})`}`,
    evidence: item("Vlan", sentence, [...records, ...(vlan === null ? [] : [vlan.ref])]),
  };
}

function explain(subject: Subject, place: LocatedPlace | null, vlan: string): string {
  const label = capitalize(subjectLabel(subject));
  if (place === null) {
    const { address, host } = subject;
    const where = address?.subnet == null ? "" : ` Its subnet is ${address.subnet.cidr}${vlan}.`;
    return `${label} is ${host === null ? "known" : "in the inventory"}, but its port is unknown.${where}`;
  }
  const { port, device, others } = place;
  if (port === null) return `${label} is linked to ${device.ref.name}; the port is unknown.`;
  const state = isLive(place) ? "" : " That port is down.";
  const at = `${portName(place)}${vlan}`;
  if (place.role === "Uplink") return `${label} is somewhere beyond ${at}, which leads to other switches.${state}`;
  const behind = behindOf(place);
  if (behind !== null) return `${label} is behind ${behind.name} at ${at}.${state}`;
  const sharing = place.isDirect || others === 0 ? "" : `, which it shares with ${others} more`;
  return `${label} is at ${at}${sharing}.${state}`;
}

/** `web-1 (10.2.3.4, 00:1b:21:aa:bb:cc)`, `an unknown device (00:1b:21:aa:bb:cc)`. */
function subjectLabel({ host, address, mac, identities, links }: Subject): string {
  const announcedName =
    identities.find((identity) => identity.kind === "Announced")?.matchedName ??
    links.find(({ announced }) => announced !== null)?.announced ??
    null;
  const details = [
    ...new Set([host === null && announcedName !== mac ? announcedName : null, address?.ipAddress ?? null, mac]),
  ].filter((each) => each !== null);
  return `${host?.ref.name ?? "an unknown device"}${details.length === 0 ? "" : ` (${details.join(", ")})`}`;
}

/** Null if the query matches a single host. */
function severalSubjects({ term: asked, subjects }: Facts): string | null {
  const labels = new Map(
    subjects.map((subject) => [
      subject.host?.ref.id ?? subject.networkId,
      subject.host?.ref.name ?? "an unknown device",
    ]),
  );
  if (labels.size < 2) return null;
  const names = [...labels.values()];
  const list = `${names.slice(0, NAMED_MAX).join(", ")}${names.length > NAMED_MAX ? ", …" : ""}`;
  const isInSeveralNetworks = new Set(subjects.map(({ networkId }) => networkId)).size > 1;
  const what =
    asked.by === "hostname"
      ? `${names.length} hosts are called ${asked.value}`
      : `${asked.value} belongs to ${names.length} hosts`;
  return `${what}: ${list}.${isInSeveralNetworks ? " They are in different networks: select one with network_id." : ""}`;
}

function unknownText({ term: asked }: Facts): string {
  const group =
    asked.by === "mac" && isGroupAddress(asked.value) ? " It is a group address, not that of a single station." : "";
  return `${asked.value} is unknown.${group}`;
}

function portName({ port, device }: LocatedPlace): string {
  return port === null ? device.ref.name : `${port.ref.name} of ${device.ref.name}`;
}

function portList(places: readonly LocatedPlace[]): string {
  return `${places.slice(0, NAMED_MAX).map(portName).join(", ")}${places.length > NAMED_MAX ? `, and ${places.length - NAMED_MAX} more` : ""}`;
}

function refs(places: readonly LocatedPlace[]): RecordRef[] {
  return places.slice(0, NAMED_MAX).flatMap(({ port }) => (port === null ? [] : [port.ref]));
}

function nearness(left: LocatedPlace | null, right: LocatedPlace | null): number {
  return left === null || right === null ? Number(left === null) - Number(right === null) : byNearness(left, right);
}

function sortName({ host, mac_address: mac, network_id: network }: Candidate): string {
  return `${host?.name ?? "\uffff"} ${host?.id ?? network} ${mac ?? ""}`;
}

function capitalize(text: string): string {
  return text.startsWith("an unknown") || text === "it" ? text.charAt(0).toUpperCase() + text.slice(1) : text;
}
