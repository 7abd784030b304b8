// /api/v1/discovery/scans: requesting scans and reading their results.

import { type Static, Type } from "@sinclair/typebox";
import { type Access, type Actor, MEMBER, plainActor, VIEWER } from "../../access/actor.ts";
import { DomainError, invalid, notFound } from "../../base/errors.ts";
import type { CommitWatch } from "../../db/commit-watch.ts";
import { utf8, withEndCallback } from "../../db/reading/long-reads.ts";
import type { Reader } from "../../db/reading/reader.ts";
import { EVENT_STREAM, STREAM_HEADERS } from "../../http/accepts.ts";
import { byteStream } from "../../http/byte-stream.ts";
import { HeldConnections } from "../../http/held-connections.ts";
import { json } from "../../http/json-response.ts";
import type { Surface } from "../../http/surface.ts";
import type { Backend, ResourceCall } from "../../records/backend.ts";
import { logBrokenStream } from "../../records/broken-stream.ts";
import { FilterQuery } from "../../records/list-filter.ts";
import { requestFilter } from "../../records/list-responses.ts";
import { respondWithLongRead } from "../../records/long-read-responses.ts";
import { notFoundAt, readingAt } from "../../records/read-instant.ts";
import { RowFilter } from "../../records/row-filter.ts";
import { runWrite, setOutcomeHeaders, termsOf } from "../../records/write-responses.ts";
import { ORDER_DIRECTIONS } from "../../resources/ordering.ts";
import { commaSeparated, LIST_HEAD, listMeta, listTail, META, metaAt, successBody } from "../../schemas/envelope.ts";
import { At, IdParams, LIMIT_DEFAULT, OneOf, PageQuery, QueryList, Uuid } from "../../schemas/schemas.ts";
import { FINDING_TYPES } from "../sightings.ts";
import type { QueueScanInput, ScanCommands } from "./commands.ts";
import type { Scans } from "./director.ts";
import {
  type FilteredFindingsInput,
  type FilteredScansInput,
  filteredFindings,
  filteredScans,
} from "./filtered-scans.ts";
import {
  FINDING_EXAMPLE,
  NO_PROGRESS,
  QUEUED_EXAMPLE,
  SCAN_EXAMPLE,
  SCAN_STATUSES,
  SCANS_RUNNING_MAX,
  SCANS_WAITING_MAX,
  SCANS_WAITING_OF_ADMINS,
  SCANS_WAITING_OF_USER_MAX,
  SCANS_WITH_READS,
  Scan,
  ScanCreate,
  ScanFinding,
  STORED_FINDINGS_MAX,
  STORED_READS_MAX,
  STORED_SCANS_MAX,
} from "./scan.ts";
import {
  countScans,
  findingsAfter,
  findingsOf,
  findScan,
  pageOfScans,
  pastOf,
  type ScanQuery,
  type StoredScanRow,
  scansAfter,
} from "./scan-reads.ts";
import { FINDING_FIELDS, SCAN_FIELDS } from "./scan-rows.ts";
import { targetProblems } from "./scope.ts";
import { scanOf } from "./stored-scan.ts";

/** Concurrent event streams, in total and per user including the user's API keys. */
const SCAN_STREAMS_MAX = 256;
export const SCAN_STREAMS_OF_USER_MAX = 32;
/** Interval of heartbeats on a stream. */
const HEARTBEAT_MS = 15_000;
/** Client delay before reconnecting. */
const RETRY_MS = 3_000;
/** Rows read at once for a list without a limit. */
const STEP_ROWS = 100;

const group = "Discovery";

const List = Type.Object({
  network_id: Type.Optional(Uuid),
  status: Type.Optional(QueryList(OneOf(SCAN_STATUSES), { description: "Only scans in one of these states." })),
  order_direction: Type.Optional(
    OneOf(ORDER_DIRECTIONS, { default: "asc", description: "The order of the request times." }),
  ),
  ...FilterQuery,
  ...PageQuery,
});
const Findings = Type.Object({
  type: Type.Optional(QueryList(OneOf(FINDING_TYPES), { description: "Only findings of these types." })),
  ...FilterQuery,
  ...PageQuery,
});

type Params = Static<typeof IdParams>;

/** Converts a scan to its response, with progress while it runs. */
type ToScan = (scan: StoredScanRow) => Scan;

/** /api/v1/discovery/scans. */
export function scanRoutes(
  surface: Surface<Actor, Access>,
  backend: Backend<ScanCommands>,
  scans: Scans,
  watch: CommitWatch,
): void {
  const { reader } = backend;
  const toScan: ToScan = ({ row, networkId }) =>
    scanOf(row, networkId, row.status === "Running" ? (scans.live(row.id)?.progress ?? null) : null);

  surface
    .post(
      "/api/v1/discovery/scans",
      {
        operationId: "createScan",
        summary: "Start a scan of a network",
        description: `Returns immediately, with the scan \`Queued\`. Scans of one network never overlap: further ones wait, ${SCANS_WAITING_MAX} at most, ${SCANS_WAITING_OF_USER_MAX} of a user with their API keys, and ${SCANS_WAITING_MAX - SCANS_WAITING_OF_ADMINS} of all Members; users take turns. ${SCANS_RUNNING_MAX} networks are scanned at a time. Without \`targets\`, the scan covers the network's subnets, except those of type Internet, Remote and Loopback, and the \`target_ips\` of its credentials, and nothing else. Credentials are sent only where an Admin has allowed it; findings of type Skipped list the devices that were not read because of this. Results are written as the scan runs; unchanged records get no new version. The scan is cancelled if the user who started it loses the right to.`,
        group,
        access: MEMBER,
        body: ScanCreate,
        responseSchema: Scan,
        errors: ["entity_reference_invalid", "entity_in_use"],
        example: { body: { network_id: SCAN_EXAMPLE.network_id, kind: "full" }, data: QUEUED_EXAMPLE },
      },
      async (call) => {
        const { network_id, kind, targets: requestedTargets = null, commit = true, allow_large = false } = call.body;
        const problems = targetProblems(requestedTargets ?? [], allow_large);
        if (problems.length > 0)
          throw invalid(
            problems.map(({ index, message }) => ({
              path: `/targets/${index}`,
              message,
              value: requestedTargets?.[index],
            })),
          );
        const targets = requestedTargets === null ? null : [...new Set(requestedTargets)];
        const input: QueueScanInput = { network_id, kind, targets, commit, allow_large, schedule: null };
        const author = backend.authorOf(call);
        const outcome = await backend.writes.run("discovery.queue", input, author, termsOf(call));
        setOutcomeHeaders(call, outcome);
        if (outcome.isReplayed !== true) scans.enqueue(outcome.result, author.userId);
        return json(call, successBody(JSON.stringify(outcome.result), META));
      },
    )
    .get(
      "/api/v1/discovery/scans",
      {
        operationId: "listScans",
        summary: "List scans",
        description: `In the order they were requested. The last ${STORED_SCANS_MAX} of each network are kept. With \`at\`, those requested by then, in their state at that timestamp.`,
        group,
        access: VIEWER,
        query: List,
        responseSchema: Type.Array(Scan),
        isList: true,
        example: { data: [SCAN_EXAMPLE] },
      },
      (call) => {
        const { limit = LIMIT_DEFAULT, offset = 0, order_direction: direction = "asc" } = call.query;
        const { actor } = call;
        return readingAt(backend, call, (moment) => {
          const past = pastOf(moment);
          const { network_id: networkId, status: statuses } = call.query;
          const query: ScanQuery = { reach: actor, past, networkId, statuses, direction };
          const filter = requestFilter(call, reader, moment);
          if (RowFilter.of(reader, SCAN_FIELDS, actor, filter) !== null) {
            const { reach: _, past: _past, ...rest } = query;
            const page = { filter, limit, offset, moment };
            const input: FilteredScansInput = { ...rest, ...page, actor: plainActor(actor), live: scans.progress() };
            return respondWithLongRead(backend, call, filteredScans, input);
          }
          const tail = listTail(listMeta({ limit, offset, total: countScans(reader, query) }, moment));
          if (limit === 0) {
            const chunks = commaSeparated(allScans(reader, query, offset, toScan));
            return json(call, byteStream(LIST_HEAD, chunks, tail, logBrokenStream(backend, call)));
          }
          const items = pageOfScans(reader, query, limit, offset).map((each) => JSON.stringify(toScan(each)));
          return json(call, LIST_HEAD + items.join(",") + tail);
        });
      },
    )
    .get(
      "/api/v1/discovery/scans/:id",
      {
        operationId: "getScan",
        summary: "Get a scan with its progress or outcome",
        description:
          "Its progress while it runs; afterwards, the counts of what it found and wrote. With `at`, its state at that timestamp. The details are in its findings.",
        group,
        access: VIEWER,
        params: IdParams,
        query: At,
        responseSchema: Scan,
        example: { data: SCAN_EXAMPLE },
      },
      (call) =>
        readingAt(backend, call, (moment) => {
          const found = findScan(reader, call.params.id, call.actor, pastOf(moment));
          if (found === null) throw notFoundAt({ name: "scan" }, call.params.id, moment);
          return json(call, successBody(JSON.stringify(toScan(found)), metaAt(moment)));
        }),
    )
    .post(
      "/api/v1/discovery/scans/:id/cancel",
      {
        operationId: "cancelScan",
        writesNoTransaction: true,
        summary: "Cancel a scan",
        description:
          "A waiting scan is cancelled immediately. A running scan stops within a second; what it has written stays.",
        group,
        access: MEMBER,
        params: IdParams,
        responseSchema: Scan,
        errors: ["entity_stale"],
        example: { data: { ...SCAN_EXAMPLE, status: "Cancelled" } },
      },
      async (call) => {
        const { result } = await runWrite(backend, call, "discovery.cancel", { id: call.params.id });
        await scans.cancel(result.id);
        const found = call.again((actor) => findScan(reader, call.params.id, actor, null));
        if (found === null) throw notFound({ name: "scan" }, call.params.id);
        return json(call, successBody(JSON.stringify(toScan(found)), META));
      },
    );
  outcomeRoutes(surface, backend, scans, watch, toScan);
}

/** Findings and live events of a scan. */
function outcomeRoutes(
  surface: Surface<Actor, Access>,
  backend: Backend,
  scans: Scans,
  watch: CommitWatch,
  toScan: ToScan,
): void {
  const { reader } = backend;
  const streams = new HeldConnections({
    maxOfUser: SCAN_STREAMS_OF_USER_MAX,
    max: SCAN_STREAMS_MAX,
    description: "scan streams open",
    remedy: "close one, or poll the scan instead",
  });
  surface
    .get(
      "/api/v1/discovery/scans/:id/findings",
      {
        operationId: "listScanFindings",
        summary: "List the findings of a scan",
        description: `What it created, changed, closed and could not reach, in the order it found them, ${STORED_FINDINGS_MAX} at most. With an \`at\` before its end there are none. Findings of type Read, one per device and table that was read, account for every row: kept, or discarded for a reason. At most ${STORED_READS_MAX} of these are kept, for the ${SCANS_WITH_READS} newest scans of a network.`,
        group,
        access: VIEWER,
        params: IdParams,
        query: Findings,
        responseSchema: Type.Array(ScanFinding),
        isList: true,
        example: { data: [FINDING_EXAMPLE] },
      },
      (call) => {
        const { limit = LIMIT_DEFAULT, offset = 0, type } = call.query;
        const { id } = call.params;
        const { actor } = call;
        return readingAt(backend, call, (moment) => {
          const past = pastOf(moment);
          const found = findScan(reader, id, actor, past);
          if (found === null) throw notFoundAt({ name: "scan" }, id, moment);
          const isKnown = past === null || found.row.ended_at !== null;
          const filter = requestFilter(call, reader, moment);
          if (RowFilter.of(reader, FINDING_FIELDS, actor, filter) !== null && isKnown) {
            const page = { filter, limit, offset, moment };
            const input: FilteredFindingsInput = { actor: plainActor(actor), scanId: id, types: type, ...page };
            return respondWithLongRead(backend, call, filteredFindings, input);
          }
          const { items, total } = isKnown
            ? findingsOf(reader, id, type, limit === 0 ? STEP_ROWS : limit, offset)
            : { items: [], total: 0 };
          const tail = listTail(listMeta({ limit, offset, total }, moment));
          if (limit !== 0 || items.length < STEP_ROWS) return json(call, LIST_HEAD + items.join(",") + tail);
          const chunks = commaSeparated(allFindings(reader, id, type, offset));
          return json(call, byteStream(LIST_HEAD, chunks, tail, logBrokenStream(backend, call)));
        });
      },
    )
    .get(
      "/api/v1/discovery/scans/:id/events",
      {
        operationId: "followScan",
        summary: "Follow a scan as server-sent events",
        description:
          "`scan` is the scan in its current state, at the beginning and when it starts; `progress` is its progress with the number of `findings` so far, at most four times a second; `end` is the scan with its outcome, and the stream ends.",
        group,
        access: VIEWER,
        params: IdParams,
        responseSchema: null,
        media: [
          {
            type: EVENT_STREAM,
            description: `The events, with a keep-alive comment every 15 seconds. A user and their keys can have ${SCAN_STREAMS_OF_USER_MAX} of these streams open at a time.`,
            example: `event: progress\ndata: ${JSON.stringify({ ...NO_PROGRESS, phase: "sweep", addresses_total: 254, addresses_done: 97, hosts_found: 12, seconds_left: 3, findings: 0 })}\n\n`,
          },
        ],
        errors: ["rate_limit_exceeded"],
        example: { data: null },
      },
      (call) => {
        if (findScan(reader, call.params.id, call.actor, null) === null)
          throw notFound({ name: "scan" }, call.params.id);
        const release = streams.take(call.actor.userN);
        const headers = { ...call.headers, ...STREAM_HEADERS, "content-type": EVENT_STREAM };
        if (call.request.method === "HEAD") {
          release();
          return new Response(null, { headers });
        }
        const events = withEndCallback(follow(call, reader, scans, watch, toScan), release);
        const body = byteStream(`retry: ${RETRY_MS}\n\n`, events, "", logBrokenStream(backend, call));
        return new Response(body, { headers });
      },
    );
}

/** Each step reads the current state. */
function* allScans(reader: Reader, query: ScanQuery, offset: number, toScan: ToScan): Generator<Uint8Array> {
  let step = pageOfScans(reader, query, STEP_ROWS, offset);
  for (let last = step.at(-1); last !== undefined; last = step.at(-1)) {
    yield utf8(step.map((each) => JSON.stringify(toScan(each))).join(","));
    step = scansAfter(reader, query, last.row.id, STEP_ROWS);
  }
}

function* allFindings(
  reader: Reader,
  id: string,
  types: Static<typeof Findings>["type"],
  offset: number,
): Generator<Uint8Array> {
  let step = findingsAfter(reader, id, types, -1, STEP_ROWS, offset);
  while (step.items.length > 0) {
    yield utf8(step.items.join(","));
    step = findingsAfter(reader, id, types, step.last, STEP_ROWS, 0);
  }
}

async function* follow(
  call: ResourceCall<Params, unknown, unknown>,
  reader: Reader,
  scans: Scans,
  watch: CommitWatch,
  toScan: ToScan,
): AsyncGenerator<Uint8Array> {
  let [sentStatus, sentVersion] = ["", -1];
  try {
    for (;;) {
      // Uses current permissions each time: a disabled key receives nothing more.
      const found = call.again((actor) => findScan(reader, call.params.id, actor, null));
      if (found === null) return;
      const { row } = found;
      const live = scans.live(row.id);
      if (row.ended_at !== null) return yield event("end", toScan(found));
      // No runner has it: the next start marks it as interrupted.
      if (live === null) return;
      if (row.status !== sentStatus) yield event("scan", toScan(found));
      else if (live.version !== sentVersion && live.progress !== null)
        yield event("progress", { ...live.progress, findings: live.findings });
      [sentStatus, sentVersion] = [row.status, live.version];
      const { signal, release } = watch.deadline(HEARTBEAT_MS, call.request.signal);
      const outcome = await scans.waitForChange(row.id, live.version, signal);
      release();
      if (outcome === "closed" || call.request.signal.aborted) return;
      if (outcome === "elapsed") yield HEARTBEAT;
    }
  } catch (error) {
    // Lost permissions end the stream: reconnecting reports why. Any other error breaks it off and is logged.
    if (!(error instanceof DomainError && error.code.startsWith("auth_"))) throw error;
  }
}

function event(name: string, data: object): Uint8Array {
  return utf8(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
}

const HEARTBEAT = utf8(": still here\n\n");
