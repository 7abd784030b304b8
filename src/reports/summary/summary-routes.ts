// Route for GET /api/v1/summary: all data of a start page in one response.

import { Type } from "@sinclair/typebox";
import { type Access, type Actor, plainActor, VIEWER } from "../../access/actor.ts";
import type { Clock } from "../../base/clock.ts";
import { ChangeLog } from "../../db/reading/change-log.ts";
import type { Moment } from "../../db/reading/list-query.ts";
import { CHANGE_TYPES } from "../../history/change-view.ts";
import { EDGE_PORT } from "../../history/edge-ports.ts";
import type { Surface } from "../../http/surface.ts";
import type { Backend } from "../../records/backend.ts";
import { respondWithLongRead } from "../../records/long-read-responses.ts";
import { fixedMoment, readingAt } from "../../records/read-instant.ts";
import { networkKind } from "../../resources/networks/network.ts";
import { AtQuery, Nullable, OneOf, Timestamp, Uuid } from "../../schemas/schemas.ts";
import { CONFLICT_EXAMPLE, ConflictBody } from "../conflicts/conflict-schema.ts";
import { Attention } from "./attention.ts";
import { FLAPPING_CHANGES } from "./flapping.ts";
import { dayBefore, SUMMARY_LISTED, type SummaryInput, summary } from "./summary.ts";
import { WANDERING_PORTS } from "./wandering.ts";

const Count = Type.Integer({ minimum: 0 });
const counts = { created: Count, updated: Count, deleted: Count };
const NullableUuid = Nullable(Uuid);
const Record = Type.Object(
  {
    entity_type: OneOf(CHANGE_TYPES),
    id: Uuid,
    name: Nullable(Type.String()),
    network_id: NullableUuid,
    at: Timestamp,
  },
  { $id: "SummaryRecord" },
);

const Port = Type.Object(
  { id: Uuid, name: Type.String(), host: Nullable(Type.Object({ id: Uuid, name: Type.String() })) },
  { $id: "SummaryPort" },
);

const Summary = Type.Object(
  {
    from: Type.String({ format: "date-time", description: "Start of the last day: 24 hours before `to`." }),
    to: Type.String({ format: "date-time", description: "The timestamp of the summary." }),
    counts: Type.Record(Type.String(), Count, {
      description:
        "Number of records by kind, for kinds that the caller may list; with `network_id`, for kinds in networks.",
    }),
    interfaces_by_oper_status: Type.Record(Type.String(), Count),
    changes: Type.Object({
      ...counts,
      types: Type.Record(Type.String(), Type.Object(counts), { description: "By kind of record." }),
    }),
    new: Type.Array(Record, {
      description: `The latest ${SUMMARY_LISTED} records created in the last day, without parts of other records: a host, not its ports.`,
    }),
    vanished: Type.Array(Record, { description: "The same for deleted records." }),
    flapping: Type.Object({
      count: Type.Integer({
        minimum: 0,
        description: `Interfaces whose \`oper_status\` changed ${FLAPPING_CHANGES} times or more in the last day.`,
      }),
      ports: Type.Array(Type.Object({ ...Port.properties, changes: Count, last: Timestamp }), {
        description: `The ${SUMMARY_LISTED} with the most changes.`,
      }),
    }),
    wandering: Type.Object({
      count: Type.Integer({
        minimum: 0,
        description: `MAC addresses that were at ${WANDERING_PORTS} edge ports or more in the last day. ${EDGE_PORT}`,
      }),
      macs: Type.Array(
        Type.Object({
          mac_address: Type.String(),
          network_id: Uuid,
          port_count: Count,
          ports: Type.Array(Port, { description: `${SUMMARY_LISTED} of its edge ports at most.` }),
        }),
        { description: `The ${SUMMARY_LISTED} seen at the most ports.` },
      ),
    }),
    stale: Type.Object({
      count: Type.Integer({
        minimum: 0,
        description: "Hosts not seen for longer than their network's `stale_after_hours`.",
      }),
      hosts: Type.Array(
        Type.Object({ id: Uuid, name: Type.String(), network_id: NullableUuid, stale_since: Timestamp }),
        { description: `The ${SUMMARY_LISTED} not seen for the longest time.` },
      ),
    }),
    failed_scans: Type.Object({
      count: Type.Integer({ minimum: 0, description: "Scans that ended as Failed in the last day." }),
      scans: Type.Array(Type.Object({ id: Uuid, network_id: Uuid, ended_at: Timestamp }), {
        description: `The latest ${SUMMARY_LISTED}.`,
      }),
    }),
    conflicts: Type.Object({
      count: Type.Integer({
        minimum: 0,
        description: "Unaccepted conflicts of addresses and of subnets.",
      }),
      accepted_count: Count,
      conflicts: Type.Array(ConflictBody, {
        description: `The first ${SUMMARY_LISTED} unaccepted ones.`,
      }),
    }),
    needs_attention: Type.Array(Attention, {
      description: "Most urgent first; kinds without items are omitted.",
    }),
  },
  { $id: "Summary" },
);

const EXAMPLE = {
  from: "2026-11-20T09:15:00.000Z",
  to: "2026-11-21T09:15:00.000Z",
  counts: { network: 1, host: 2, if_entry: 96 },
  interfaces_by_oper_status: { Up: 60, Down: 36 },
  changes: { created: 1, updated: 6, deleted: 0, types: { host: { created: 1, updated: 0, deleted: 0 } } },
  new: [
    {
      entity_type: "host",
      id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0010",
      name: "core-1",
      network_id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0002",
      at: "2026-11-21T09:00:00.000Z",
    },
  ],
  vanished: [],
  flapping: { count: 0, ports: [] },
  wandering: { count: 0, macs: [] },
  stale: { count: 0, hosts: [] },
  failed_scans: { count: 0, scans: [] },
  conflicts: { count: 1, accepted_count: 0, conflicts: [CONFLICT_EXAMPLE] },
  needs_attention: [{ kind: "Conflict", count: 1, request: "/api/v1/conflicts?accepted=false&type=Address%2CSubnet" }],
};

/** /api/v1/summary. */
export function summaryRoutes(surface: Surface<Actor, Access>, backend: Backend, clock: Clock): void {
  const { reader } = backend;
  surface.get(
    "/api/v1/summary",
    {
      operationId: "summary",
      summary: "Get a summary for a start page",
      description: `Record counts, and the events of the 24 hours before \`at\`, or before now: new and deleted records, flapping ports, stale hosts, failed scans; current conflicts; and the problems that need attention, most urgent first. Lists have at most ${SUMMARY_LISTED} entries; their counts cover all.`,
      group: "Questions",
      access: VIEWER,
      query: Type.Object({
        network_id: Type.Optional({ ...Uuid, description: "Only this network." }),
        ...AtQuery,
      }),
      responseSchema: Summary,
      example: { data: EXAMPLE },
    },
    (call) => {
      const now = clock.now();
      const { network_id } = call.query;
      const read = (requestedMoment: Moment) => {
        const moment = fixedMoment(reader, requestedMoment);
        // A future timestamp means the present.
        const to = Math.min(moment.at ?? now, now);
        const input: SummaryInput = {
          actor: plainActor(call.actor),
          networkN:
            network_id === undefined
              ? null
              : (new ChangeLog(reader).everVisible(networkKind, network_id, call.actor) ?? 0),
          networkId: network_id ?? null,
          moment,
          day: dayBefore(reader, to, moment.asOf.sequence),
          to,
        };
        return respondWithLongRead(backend, call, summary, input);
      };
      return readingAt(backend, call, read, now);
    },
  );
}
