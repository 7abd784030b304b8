// /api/v1/discovery/scans: requesting scans and reading their results.

import { type Static, Type } from "@sinclair/typebox";
import { type Access, type Actor, MEMBER, plainActor, VIEWER } from "../../access/actor.ts";
import { DomainError, invalid, notFound } from "../../base/errors.ts";
import type { CommitWatch } from "../../db/commit-watch.ts";
import { untilOver } from "../../db/reading/long-reads.ts";
import type { Reader } from "../../db/reading/reader.ts";
import { EVENT_STREAM, STREAM_HEADERS } from "../../http/accepts.ts";
import { byteStream } from "../../http/byte-stream.ts";
import { HeldConnections } from "../../http/held-connections.ts";
import type { Surface } from "../../http/surface.ts";
import type { Backend, ResourceCall } from "../../records/backend.ts";
import { logBrokenStream } from "../../records/broken-stream.ts";
import { filterText } from "../../records/list-answers.ts";
import { FilterQuery } from "../../records/list-filter.ts";
import { answerLongRead } from "../../records/long-read-answers.ts";
import { notFoundThen, readingAt } from "../../records/read-instant.ts";
import { RowFilter } from "../../records/row-filter.ts";
import { runWrite, tellOutcome, termsOf } from "../../records/write-answers.ts";
import { ORDER_DIRECTIONS } from "../../resources/ordering.ts";
import { commaSeparated, LIST_HEAD, listMeta, listTail, META, metaAt, successBody } from "../../schemas/envelope.ts";
import { At, IdParams, LIMIT_DEFAULT, OneOf, PageQuery, QueryList, Uuid } from "../../schemas/schemas.ts";
import { FINDING_TYPES } from "../sightings.ts";
import type { ScanCommands, ScanQueueing } from "./commands.ts";
import type { Scans } from "./director.ts";
import {
  type FilteredFindingsInput,
  type FilteredScansInput,
  filteredFindings,
  filteredScans,
} from "./filtered-scans.ts";
import {
  FINDING_EXAMPLE,
  FINDINGS_KEPT,
  NO_PROGRESS,
  QUEUED_EXAMPLE,
  READS_KEPT,
  SCAN_EXAMPLE,
  SCAN_STATUSES,
  SCANS_KEPT,
  SCANS_RUNNING_MAX,
  SCANS_WAITING_MAX,
  SCANS_WAITING_OF_ADMINS,
  SCANS_WAITING_OF_USER_MAX,
  SCANS_WITH_READS,
  Scan,
  ScanCreate,
  ScanFinding,
} from "./scan.ts";
import {
  countScans,
  type FoundScan,
  findingsAfter,
  findingsOf,
  findScan,
  pageOfScans,
  type ScanQuery,
  scansAfter,
  scansThen,
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
    OneOf(ORDER_DIRECTIONS, { default: "asc", description: "Of the order they were requested in." }),
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
type Shown = (scan: FoundScan) => Scan;

/** /api/v1/discovery/scans. */
export function scanRoutes(
  surface: Surface<Actor, Access>,
  backend: Backend<ScanCommands>,
  scans: Scans,
  watch: CommitWatch,
): void {
  const { reader } = backend;
  const shown: Shown = ({ row, networkId }) =>
    scanOf(row, networkId, row.status === "Running" ? (scans.live(row.id)?.progress ?? null) : null);

  surface
    .post(
      "/api/v1/discovery/scans",
      {
        operationId: "createScan",
        summary: "Start a scan of a network",
        description: `Returns at once, with the scan Queued. Scans of one network never overlap: further ones wait, ${SCANS_WAITING_MAX} at most, ${SCANS_WAITING_OF_USER_MAX} of a user with their API keys, and ${SCANS_WAITING_MAX - SCANS_WAITING_OF_ADMINS} of all Members; users take turns. ${SCANS_RUNNING_MAX} networks are scanned at a time. Without \`targets\`, the scan covers the network's subnets, except those of type Internet, Remote and Loopback, and the \`target_ips\` of its credentials, and nothing else. Credentials are sent only where an Admin has allowed it; findings of type Skipped list the devices that were not read because of this. Results are written as the scan runs; unchanged records get no new version. The scan is cancelled if the user who started it loses the right to.`,
        group,
        access: MEMBER,
        body: ScanCreate,
        answer: Scan,
        errors: ["entity_reference_invalid", "entity_in_use"],
        example: { body: { network_id: SCAN_EXAMPLE.network_id, kind: "full" }, data: QUEUED_EXAMPLE },
      },
      async (call) => {
        const { network_id, kind, targets: named = null, commit = true, allow_large = false } = call.body;
        const problems = targetProblems(named ?? [], allow_large);
        if (problems.length > 0)
          throw invalid(
            problems.map(({ index, message }) => ({ path: `/targets/${index}`, message, value: named?.[index] })),
          );
        const targets = named === null ? null : [...new Set(named)];
        const input: ScanQueueing = { network_id, kind, targets, commit, allow_large, schedule: null };
        const author = backend.authorOf(call);
        const outcome = await backend.writes.run("discovery.queue", input, author, termsOf(call));
        tellOutcome(call, outcome);
        if (outcome.isReplayed !== true) scans.take(outcome.result, author.userId);
        return json(call, successBody(JSON.stringify(outcome.result), META));
      },
    )
    .get(
      "/api/v1/discovery/scans",
      {
        operationId: "listScans",
        summary: "List scans",
        description: `In the order they were requested. The last ${SCANS_KEPT} of each network are kept. With \`at\`, those requested by then, in their state at that instant.`,
        group,
        access: VIEWER,
        query: List,
        answer: Type.Array(Scan),
        isList: true,
        example: { data: [SCAN_EXAMPLE] },
      },
      (call) => {
        const { limit = LIMIT_DEFAULT, offset = 0, order_direction: direction = "asc" } = call.query;
        const { actor } = call;
        return readingAt(backend, call, (moment) => {
          const then = scansThen(moment);
          const query: ScanQuery = {
            reach: actor,
            then,
            networkId: call.query.network_id,
            statuses: call.query.status,
            direction,
          };
          const filter = filterText(call, reader, moment);
          if (RowFilter.of(reader, SCAN_FIELDS, actor, filter) !== null) {
            const { reach: _, then: _then, ...rest } = query;
            const input: FilteredScansInput = {
              ...rest,
              actor: plainActor(actor),
              filter,
              limit,
              offset,
              moment,
              live: scans.progress(),
            };
            return answerLongRead(backend, call, filteredScans, input);
          }
          const tail = listTail(listMeta({ limit, offset, total: countScans(reader, query) }, moment));
          if (limit === 0)
            return json(
              call,
              byteStream(
                LIST_HEAD,
                commaSeparated(allOf(reader, query, offset, shown)),
                tail,
                logBrokenStream(backend, call),
              ),
            );
          return json(
            call,
            LIST_HEAD +
              pageOfScans(reader, query, limit, offset)
                .map((each) => JSON.stringify(shown(each)))
                .join(",") +
              tail,
          );
        });
      },
    )
    .get(
      "/api/v1/discovery/scans/:id",
      {
        operationId: "getScan",
        summary: "Get a scan with its progress or outcome",
        description:
          "Its progress while it runs; afterwards, the counts of what it found and wrote. With `at`, its state at that instant. The details are in its findings.",
        group,
        access: VIEWER,
        params: IdParams,
        query: At,
        answer: Scan,
        example: { data: SCAN_EXAMPLE },
      },
      (call) =>
        readingAt(backend, call, (moment) => {
          const found = findScan(reader, call.params.id, call.actor, scansThen(moment));
          if (found === null) throw notFoundThen({ name: "scan" }, call.params.id, moment);
          return json(call, successBody(JSON.stringify(shown(found)), metaAt(moment)));
        }),
    )
    .post(
      "/api/v1/discovery/scans/:id/cancel",
      {
        operationId: "cancelScan",
        makesNoTransaction: true,
        summary: "Cancel a scan",
        description:
          "A waiting scan is cancelled at once. A running scan stops within a second; what it has written stays.",
        group,
        access: MEMBER,
        params: IdParams,
        answer: Scan,
        errors: ["entity_stale"],
        example: { data: { ...SCAN_EXAMPLE, status: "Cancelled" } },
      },
      async (call) => {
        const { result } = await runWrite(backend, call, "discovery.cancel", { id: call.params.id });
        await scans.cancel(result.id);
        const found = call.again((actor) => findScan(reader, call.params.id, actor, null));
        if (found === null) throw notFound({ name: "scan" }, call.params.id);
        return json(call, successBody(JSON.stringify(shown(found)), META));
      },
    );
  outcomeRoutes(surface, backend, scans, watch, shown);
}

/** Findings and live events of a scan. */
function outcomeRoutes(
  surface: Surface<Actor, Access>,
  backend: Backend,
  scans: Scans,
  watch: CommitWatch,
  shown: Shown,
): void {
  const { reader } = backend;
  const streams = new HeldConnections({
    maxOfUser: SCAN_STREAMS_OF_USER_MAX,
    max: SCAN_STREAMS_MAX,
    what: "streams of scans open",
    remedy: "close one, or poll the scan instead",
  });
  surface
    .get(
      "/api/v1/discovery/scans/:id/findings",
      {
        operationId: "listScanFindings",
        summary: "List the findings of a scan",
        description: `What it created, changed, closed and could not reach, in the order it found them, ${FINDINGS_KEPT} at most. With an \`at\` before its end there are none. Findings of type Read, one per device and table that was read, account for every row: kept, or set aside for a reason. At most ${READS_KEPT} of these are kept, for the ${SCANS_WITH_READS} newest scans of a network.`,
        group,
        access: VIEWER,
        params: IdParams,
        query: Findings,
        answer: Type.Array(ScanFinding),
        isList: true,
        example: { data: [FINDING_EXAMPLE] },
      },
      (call) => {
        const { limit = LIMIT_DEFAULT, offset = 0, type } = call.query;
        const { id } = call.params;
        const { actor } = call;
        return readingAt(backend, call, (moment) => {
          const then = scansThen(moment);
          const found = findScan(reader, id, actor, then);
          if (found === null) throw notFoundThen({ name: "scan" }, id, moment);
          const isKnown = then === null || found.row.ended_at !== null;
          const filter = filterText(call, reader, moment);
          if (RowFilter.of(reader, FINDING_FIELDS, actor, filter) !== null && isKnown) {
            const input: FilteredFindingsInput = {
              actor: plainActor(actor),
              scanId: id,
              types: type,
              filter,
              limit,
              offset,
              moment,
            };
            return answerLongRead(backend, call, filteredFindings, input);
          }
          const { items, total } = isKnown
            ? findingsOf(reader, id, type, limit === 0 ? STEP_ROWS : limit, offset)
            : { items: [], total: 0 };
          const tail = listTail(listMeta({ limit, offset, total }, moment));
          if (limit !== 0 || items.length < STEP_ROWS) return json(call, LIST_HEAD + items.join(",") + tail);
          return json(
            call,
            byteStream(
              LIST_HEAD,
              commaSeparated(allFindings(reader, id, type, offset)),
              tail,
              logBrokenStream(backend, call),
            ),
          );
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
        answer: null,
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
        return new Response(
          byteStream(
            `retry: ${RETRY_MS}\n\n`,
            untilOver(follow(call, reader, scans, watch, shown), release),
            "",
            logBrokenStream(backend, call),
          ),
          { headers },
        );
      },
    );
}

/** Each step reads the current state. */
function* allOf(reader: Reader, query: ScanQuery, offset: number, shown: Shown): Generator<Uint8Array> {
  let step = pageOfScans(reader, query, STEP_ROWS, offset);
  for (let last = step.at(-1); last !== undefined; last = step.at(-1)) {
    yield encoder.encode(step.map((each) => JSON.stringify(shown(each))).join(","));
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
    yield encoder.encode(step.items.join(","));
    step = findingsAfter(reader, id, types, step.last, STEP_ROWS, 0);
  }
}

async function* follow(
  call: ResourceCall<Params, unknown, unknown>,
  reader: Reader,
  scans: Scans,
  watch: CommitWatch,
  shown: Shown,
): AsyncGenerator<Uint8Array> {
  let [sentStatus, sentVersion] = ["", -1];
  try {
    for (;;) {
      // Uses current permissions each time: a disabled key receives nothing more.
      const found = call.again((actor) => findScan(reader, call.params.id, actor, null));
      if (found === null) return;
      const { row } = found;
      const live = scans.live(row.id);
      if (row.ended_at !== null) {
        yield event("end", shown(found));
        return;
      }
      // No runner has it: the next start marks it as interrupted.
      if (live === null) return;
      if (row.status !== sentStatus) yield event("scan", shown(found));
      else if (live.version !== sentVersion && live.progress !== null)
        yield event("progress", { ...live.progress, findings: live.findings });
      [sentStatus, sentVersion] = [row.status, live.version];
      const { signal, release } = watch.deadline(HEARTBEAT_MS, call.request.signal);
      const outcome = await scans.beyond(row.id, live.version, signal);
      release();
      if (outcome === "closed" || call.request.signal.aborted) return;
      if (outcome === "elapsed") yield HEARTBEAT;
    }
  } catch (error) {
    // Lost permissions end the stream: reconnecting reports why. Any other error breaks it off and is logged.
    if (!(error instanceof DomainError && error.code.startsWith("auth_"))) throw error;
  }
}

function json(call: { readonly headers: Record<string, string> }, body: string | ReadableStream<Uint8Array>): Response {
  return new Response(body, { headers: { ...call.headers, "content-type": "application/json" } });
}

function event(name: string, data: object): Uint8Array {
  return encoder.encode(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
}

const encoder = new TextEncoder();
const HEARTBEAT = encoder.encode(": still here\n\n");
