// Introduction of the OpenAPI document, common to all operations, and descriptions of its groups.

import {
  FIELD_CHOICES_MAX,
  FIELD_KEY_MAX_LENGTH,
  FIELD_TEXT_MAX_LENGTH,
  FIELD_URL_MAX_LENGTH,
  FIELDS_OF_KIND_MAX,
} from "../base/custom-field-limits.ts";
import { FILTER_MAX_DEPTH, FILTER_MAX_LENGTH, FILTER_MAX_REFERENCES, FILTER_MAX_TERMS } from "../base/filter-limits.ts";
import { groupedDigits } from "../base/text.ts";
import { MAX_WAITING_BYTES_OF_USER, MAX_WAITING_OF_USER, OUTCOME_LIMITS } from "../base/write-limits.ts";
import {
  BULK_MAX,
  BULK_UPDATE_MAX,
  CHANGE_REASON_MAX_LENGTH,
  CHILDREN_MAX,
  DESCRIPTION_MAX_LENGTH,
  IDS_MAX,
  LIMIT_DEFAULT,
  LIMIT_MAX,
  NAME_MAX_LENGTH,
  TABLE_ROWS_MAX,
  TAGS_MAX,
} from "../schemas/schemas.ts";
import { OVERLOAD_RETRY_AFTER_S, ROUND_ALWAYS_ADMITTED, ROUND_WAIT_MS } from "./admission.ts";
import {
  BODIES_OF_CALLER_LIMIT_BYTES,
  BODY_LIMIT_BYTES,
  BODY_MAX_CONTAINERS,
  BODY_MAX_DEPTH,
  BODY_TIMEOUT_MS,
  BULK_BODY_LIMIT_BYTES,
} from "./body.ts";

/** Markdown. */
export const INTRODUCTION = `A network inventory with full history: every record can be read as of any timestamp.
The [handbook](/handbook) explains how to run and use the appliance.

## Responses

Every response is JSON in one envelope: \`success\`, \`data\` and \`meta\`, or for an error \`success\`, \`code\`,
\`error\`, \`params\` and \`meta\`. Every success has status 200, creates included; a delete returns the deleted
record. \`code\` is stable, \`error\` is one sentence that you can act on, \`params\` holds its values.
\`validation_failed\` lists all problems in \`params.issues\`. \`X-Request-Id\` identifies the request in the log.

Timestamps are RFC 3339 in UTC with three fractional digits (\`2026-11-21T09:15:00.123Z\`); input may have any offset
and any number of digits. UUIDs and MAC addresses are lower case, IP addresses canonical (RFC 5952); input is normalised.

## Authentication

Send an API key as \`Authorization: Bearer nlk_…\`, or the cookie \`session_id\` of a sign-in. API keys are created after
a sign-in. The roles are Owner, Admin, Member and Viewer; each includes the rights of those after it. For the caller,
records of networks out of reach do not exist: 404, and absent from every list.

## Time

\`at\` returns the state at a timestamp, at an age (\`-24h\`) or at a marker (\`marker:NAME\`), instead of the current
one, for lists and single records alike; filters, order and pages work the same. A version lives from its \`valid_from\`, inclusive, to its \`valid_to\`,
exclusive. \`valid_to\` is null on the live version (interface entries leave out every field without a value). An \`at\`
before the first transaction finds nothing; one in the future means now. \`meta.at\` is the resolved timestamp. The caller's
current rights apply. A write that changes nothing creates no version. A record that is created again for the same real-world
object has a new \`id\`, and the id of the first record as \`lineage_id\`.
The same query about the past always returns the same result, except for \`valid_to\`: null while the version is the
newest, its end afterwards. Where the operator has thinned history, \`meta\` reports it (\`resolution\`, \`resolved_at\`).

## Lists

\`limit\` is 0 to ${groupedDigits(LIMIT_MAX)}, by default ${LIMIT_DEFAULT}; 0 streams all rows. \`offset\` skips rows. The default
order is \`created_at\`, then \`id\`, so pages are stable. \`meta.pagination.total_count\` counts the matches on all pages.
Lists of ids are repeated (\`ids=a&ids=b\`) or comma-separated (\`ids=a,b\`), at most ${IDS_MAX}. Unknown parameters and
values out of range are rejected with 400, never ignored. Every list can be exported as CSV (\`…/export/csv\`) with the
same filters and order. \`filter\` takes an expression over the records' fields, over referenced records and over time
([handbook](/handbook/questions)). Text is ordered case-insensitively, then by code point; addresses by number; missing values
come first.

## Writes

A PUT replaces the required fields; an optional field that is absent keeps its value, and \`null\` clears it where that is
allowed. Read-only fields are ignored, so that GET, edit, PUT works; unknown fields are rejected. A create may specify its
own \`id\` (a UUID that was never used).

A write with an \`Idempotency-Key\` (1 to 255 visible ASCII characters) can be repeated: for 24 hours the same caller, key
and request get the first response, marked \`Idempotency-Replayed: true\`, and nothing is done again; the same key with
another request is 422. The repeat is 403 if the caller's role has become lower, 404 if the caller no longer reaches all
the networks involved.

The response to a write has the sequence of its transaction as \`X-Transaction-Sequence\`, unless nothing
changed.

\`X-Change-Reason\` (at most ${CHANGE_REASON_MAX_LENGTH} characters) is the reason: a write stores it in its transaction, and it is
shown as \`reason\` wherever the transaction is. Beyond ASCII it is UTF-8, or percent-encoded as
\`UTF-8''Gr%C3%BC%C3%9Fe\` (RFC 8187). A repeated request may have a different one: the first is stored.
If the organization requires it (\`require_change_reason\`), any change by a user or an API key without one is 400
\`validation_failed\` with an issue at \`/X-Change-Reason\`, and nothing is written. A request that changes nothing needs none.

\`POST …/{id}/restore\` restores a record to its state at a timestamp, a host with its children.
\`POST /api/v1/transactions/{sequence}/revert\` undoes one transaction. Both accept \`dry_run\`, apply all or nothing, and can
be undone like any transaction.

Every GET of one record carries its version as \`ETag\`. With \`If-None-Match\` it returns 304 while the record is that
version; with \`If-Match\` a PUT or DELETE returns 412 if it is not.

## Examples

The examples fit together: each referenced record is created by the example of another operation. Replace the ids of the
organization (\`…0001\`), its network (\`…0002\`) and the user (\`…0007\`), and you can send them one after the other.

## Limits

| Limit | Maximum |
|---|---|
| Request body | ${BODY_LIMIT_BYTES / 1024 / 1024} MiB; of a bulk write ${BULK_BODY_LIMIT_BYTES / 1024 / 1024} MiB |
| Request bodies of one user and their keys at a time | ${BODIES_OF_CALLER_LIMIT_BYTES / 1024 / 1024} MiB |
| Time until the next MiB of a body, or its end, arrives | ${BODY_TIMEOUT_MS / 1_000} seconds |
| Arrays and objects in a request body | ${groupedDigits(BODY_MAX_CONTAINERS)}, ${BODY_MAX_DEPTH} deep |
| Requests with an \`Idempotency-Key\` remembered per user | ${groupedDigits(OUTCOME_LIMITS.perUser.count)}, with ${
  OUTCOME_LIMITS.perUser.bytes / 1024 / 1024
} MiB of responses; the oldest are dropped first |
| Names | ${NAME_MAX_LENGTH} characters |
| Descriptions | ${groupedDigits(DESCRIPTION_MAX_LENGTH)} characters |
| An \`X-Change-Reason\` | ${CHANGE_REASON_MAX_LENGTH} characters |
| Tags of a record | ${groupedDigits(TAGS_MAX)} |
| Children of each kind of a host | ${groupedDigits(CHILDREN_MAX)} |
| Custom fields of one kind of record | ${FIELDS_OF_KIND_MAX} |
| A custom field's key, its choices, a text in it, a link in it | ${FIELD_KEY_MAX_LENGTH} characters, ${FIELD_CHOICES_MAX}, ${groupedDigits(FIELD_TEXT_MAX_LENGTH)} characters, ${groupedDigits(FIELD_URL_MAX_LENGTH)} characters |
| Ids in a query | ${IDS_MAX} |
| Rows of a table that is imported | ${groupedDigits(TABLE_ROWS_MAX)} |
| Records of one bulk request | ${groupedDigits(BULK_MAX)}; of a bulk update ${groupedDigits(BULK_UPDATE_MAX)} |
| Waiting writes of one user and their keys | ${groupedDigits(MAX_WAITING_OF_USER)}, and ${
  MAX_WAITING_BYTES_OF_USER / 1024 / 1024
} MiB |
| A filter | ${groupedDigits(FILTER_MAX_LENGTH)} characters, ${FILTER_MAX_TERMS} comparisons, ${FILTER_MAX_DEPTH} deep, ${FILTER_MAX_REFERENCES} references through one field |
| Rows of a page | ${groupedDigits(LIMIT_MAX)}, or all with \`limit=0\` |

Too many requests are rejected with 429 \`rate_limit_exceeded\`; \`Retry-After\` says when to retry. So is a request
that arrives together with more than ${ROUND_ALWAYS_ADMITTED} others and cannot be started within
${ROUND_WAIT_MS} ms; nothing was done in that case, so retry after ${
  OVERLOAD_RETRY_AFTER_S === 1 ? "a second" : `${OVERLOAD_RETRY_AFTER_S} seconds`
}. One client's flood does not shut out others:
requests with valid credentials are counted by user, all others by address. Only \`/api/health\` is always served.
Each user's writes wait in their own queue, and the queues take turns; writes that only reduce permissions go first. A write
runs with the rights that its caller has at that time.
`;

/** A group of operations in the documentation. */
export interface Group {
  readonly name: string;
  readonly description: string;
}

/** All groups in display order. @param resources groups with one resource each */
export const groupsWith = (resources: readonly Group[]): readonly Group[] => [
  { name: "Appliance", description: "Health and version." },
  { name: "Access", description: "Set-up, sign-in and sign-out, your own user and password." },
  { name: "Organizations", description: "The caller's organization." },
  { name: "Users", description: "The users of the organization, their roles and the networks they reach." },
  {
    name: "API keys",
    description: "Keys act for their user, within that user's role and networks. Managed after a sign-in only.",
  },
  ...resources,
  { name: "Questions", description: "Filter fields, and reports over all records." },
  { name: "Locate", description: "The switch port at which a station is or was, with evidence." },
  { name: "Changes", description: "Every change to the inventory, in commit order." },
  { name: "Discovery", description: "Discovery of devices on the network." },
  {
    name: "Backups",
    description:
      "Verified copies of the whole store, with all organizations, on the appliance's disk. For the operator.",
  },
];
