// Routes for GET /api/v1/locate and /api/v1/locate/timeline: the host of an address or name, and its switch port.

import { type Static, Type } from "@sinclair/typebox";
import { type Access, type Actor, plainActor, VIEWER } from "../../access/actor.ts";
import { invalid } from "../../base/errors.ts";
import { formatInstant } from "../../base/instant.ts";
import type { Surface } from "../../http/surface.ts";
import type { Backend, ResourceCall } from "../../records/backend.ts";
import { respondWithLongRead } from "../../records/long-read-responses.ts";
import { fixedMoment, readingAt, settledAt } from "../../records/read-instant.ts";
import { AtQuery, InstantOrAge, IpAddressText, MacText, Name, Uuid } from "../../schemas/schemas.ts";
import { pastRange } from "../period.ts";
import { LOCATE_TERM_TYPES, type LocateTerm, SHARED_PORT_MIN } from "./facts.ts";
import { type LocateInput, type LocateQuery, locate } from "./locate.ts";
import { FACTORS, LOCATION_EXAMPLE, Location, TIMELINE_EXAMPLE, Timeline } from "./locate-schema.ts";
import { locateTimeline, TIMELINE_POINTS_MAX, type TimelineInput } from "./timeline.ts";

const subjectParameters = {
  mac: Type.Optional({ ...MacText, description: "Exactly one of `mac`, `ip` and `hostname` is required." }),
  ip: Type.Optional({
    ...IpAddressText,
    description: "An address of a host, or one that a device announces as its management address.",
  }),
  hostname: Type.Optional({
    ...Name,
    description:
      "A host's name, hostname or SNMP system name, ignoring case; if none matches exactly, its first part up to a dot. Also the names that devices announce by LLDP or CDP.",
  }),
  network_id: Type.Optional({ ...Uuid, description: "Only in this network." }),
};
const LocateParameters = Type.Object({ ...subjectParameters, ...AtQuery });
const TimelineParameters = Type.Object({
  ...subjectParameters,
  from: Type.Optional(
    InstantOrAge(
      "Start of the range: a timestamp, an age (`-24h`, `-7d`), or a marker. Default: the start of the ledger.",
    ),
  ),
  to: Type.Optional(InstantOrAge("End of the range, not included. Default: now.")),
});
type Parameters = Static<typeof LocateParameters> | Static<typeof TimelineParameters>;

const factors = Object.values(FACTORS).map(({ kind, factor, meaning }) => `| \`${kind}\` | ${factor} | ${meaning} |`);

const LOCATE_DESCRIPTION = `Where a station is or, with \`at\` was: combines addresses, interface entries, forwarding tables (\`fdb_macs\`), LLDP, CDP and the state of interfaces as of one timestamp.
If its MAC address is at no edge port, \`last_seen\` is the last edge port that had learned it, and until when: also for the name or the address of a host that ended.
If nothing is known, the status is 200 and \`candidates\` is empty.

A port that forwards to the MAC address is an **uplink** if its neighbor is a network device: a host whose \`device_type\` is a router, a switch, a firewall
or a wireless controller; otherwise, one that announces itself as a router or a bridge and not as a phone, an access point or a station; or a host of unknown
type with a forwarding table of its own. It is also an uplink if the host there forwards to the MAC address itself, or if several
devices name by LLDP, CDP or as their neighbor on ports with more than ${SHARED_PORT_MIN - 1} other entries: three devices, or two that have most of their entries on those
ports. It is also an uplink if it learned the MAC address of another switch that forwards to the same MAC address.

Of ports without a known neighbor, those with the fewest other entries are **edges** and the rest uplinks, by orders of magnitude: none, up to 3, up to
15, up to 63, more. If every port that forwards to it has more than 15 others and most of its switch's entries, and the ports are on several switches, all are
uplinks. A port is an edge if LLDP (or an entered neighbor) says that its far end is the station itself, or another device that is not a network device; the latter is an
uplink if it has more than ${SHARED_PORT_MIN - 1} others and another switch forwards to the station on a port with at most ${SHARED_PORT_MIN - 1} (or with
fewer by an order of magnitude, if it has more than 15 and most of its switch's entries). Ports that are down are not compared.

The **confidence** of a candidate is the product of the factors of its evidence: one for the location, times one for each doubt.

| Evidence | Factor | When |
|---|---|---|
${factors.join("\n")}

All other evidence is information only (factor 1). Records out of the caller's reach do not count: not as candidates, not as evidence, and not for the confidence.`;

/** Registers /api/v1/locate and its timeline. */
export function locateRoutes(surface: Surface<Actor, Access>, backend: Backend): void {
  surface
    .get(
      "/api/v1/locate",
      {
        operationId: "locate",
        summary: "Locate a MAC address, an IP address or a host",
        description: LOCATE_DESCRIPTION,
        group: "Locate",
        access: VIEWER,
        query: LocateParameters,
        responseSchema: Location,
        example: { parameters: { ip: "10.2.3.4" }, data: LOCATION_EXAMPLE },
      },
      (call) => {
        const term = locateQueryOf(call);
        return readingAt(backend, call, (moment) => {
          const input: LocateInput = { ...term, moment: fixedMoment(backend.reader, moment) };
          return respondWithLongRead(backend, call, locate, input);
        });
      },
    )
    .get(
      "/api/v1/locate/timeline",
      {
        operationId: "locateTimeline",
        summary: "List the locations of a MAC address, an IP address or a host over time",
        description: `The intervals in which the most likely candidate of locate was the same, in the same place, with the same confidence. Half-open, \`to\` is not included, and clipped to the range. Evaluated at up to ${TIMELINE_POINTS_MAX} changes; if there were more, \`truncated\` is true and \`next_from\` continues.`,
        group: "Locate",
        access: VIEWER,
        query: TimelineParameters,
        responseSchema: Timeline,
        example: { parameters: { mac: "00:1b:21:aa:bb:cc" }, data: TIMELINE_EXAMPLE },
      },
      (call) => {
        const term = locateQueryOf(call);
        const { from, to } = pastRange(backend.reader, call);
        // The end is exclusive, so the last included state is one millisecond earlier. Up to the present, only the
        // start of the range is past.
        return settledAt(backend, to === null ? from : to - 1, (settled) => {
          const asOf = to === null ? null : settled;
          const { reader } = backend;
          const head = reader.head().sequence;
          const input: TimelineInput = {
            ...term,
            from:
              from === null
                ? null
                : { at: formatInstant(from), sequence: (reader.resolve(from) ?? { sequence: head }).sequence },
            to: to === null ? null : formatInstant(to),
            until: asOf?.sequence ?? head,
          };
          return respondWithLongRead(backend, call, locateTimeline, input);
        });
      },
    );
}

/** @throws DomainError validation_failed unless exactly one of mac, ip and hostname is given */
function locateQueryOf({ actor, query }: ResourceCall<unknown, Parameters, unknown>): LocateQuery {
  const given = LOCATE_TERM_TYPES.flatMap((by): LocateTerm[] => {
    const value = query[by];
    return value === undefined ? [] : [{ by, value }];
  });
  const [first, ...more] = given;
  if (first === undefined) throw invalid([{ path: "/mac", message: "is required, or ip or hostname instead" }]);
  if (more.length > 0)
    throw invalid(
      more.map(({ by, value }) => ({
        path: `/${by}`,
        message: `cannot be combined with ${first.by}: give one of mac, ip and hostname`,
        value,
      })),
    );
  return { actor: plainActor(actor), term: first, networkId: query.network_id ?? null };
}
