// What holds for every operation, in words: the introduction of the OpenAPI document, and of each group in it.

import { MAX_WAITING_BYTES_OF_USER, MAX_WAITING_OF_USER, OUTCOME_LIMITS } from "../base/write-limits.ts";
import { OVERLOAD_RETRY_AFTER_S, ROUND_ALWAYS_ADMITTED, ROUND_PATIENCE_MS } from "./admission.ts";
import {
  BODIES_OF_CALLER_LIMIT_BYTES,
  BODY_LIMIT_BYTES,
  BODY_MAX_CONTAINERS,
  BODY_MAX_DEPTH,
  BODY_PATIENCE_MS,
  BULK_BODY_LIMIT_BYTES,
} from "./body.ts";
import {
  BULK_MAX,
  CHILDREN_MAX,
  DESCRIPTION_MAX_LENGTH,
  IDS_MAX,
  LIMIT_DEFAULT,
  LIMIT_MAX,
  NAME_MAX_LENGTH,
  TAGS_MAX,
} from "./schemas.ts";

const count = (n: number) => n.toLocaleString("en");

/** Markdown. */
export const INTRODUCTION = `A network inventory that remembers: every record can be asked what it was at any instant.

## Answers

Every answer is JSON in one envelope: \`success\`, \`data\` and \`meta\`; or \`success\`, \`code\`, \`error\`, \`params\` and \`meta\`
where something is wrong. Every success has the status 200, creates included; a delete answers the record as it was closed.
\`code\` is stable, \`error\` is one sentence that a person can act on, \`params\` holds the values in it. \`validation_failed\`
lists every offender at once in \`params.issues\`. The header \`X-Request-Id\` names the request in the appliance's log.

Timestamps are RFC 3339 in UTC with three fractional digits (\`2026-11-21T09:15:00.123Z\`); input may have any offset and any
number of digits. UUIDs and MAC addresses are lower case, IP addresses canonical (RFC 5952); input is normalised.

## Authentication

An API key as \`Authorization: Bearer nlk_…\`, or the cookie \`session_id\` of a sign-in. Keys are made by whoever has signed in. The
roles are Owner, Admin, Member and Viewer; each may do what the later ones may. What lies below a network that the caller does
not reach does not exist for the caller: 404, and absent from every list.

## Time

\`at\` asks for the state at an instant, or so long ago (\`-24h\`), instead of the live one, for lists and single records alike; filters, order and pages mean the
same then. A version of a record lives from its \`valid_from\` up to, and without, its \`valid_to\`; at \`valid_from\` itself it holds.
\`valid_to\` is null on the live version (interface entries leave out every field without a value). An \`at\` before the first transaction finds nothing; one in the future is the present.
\`meta.at\` echoes the instant, of an age the one that it comes to. The caller's rights are those of today. An unchanged write makes no version. A record that was made
again for the same real thing has a new \`id\` and carries the id of its first incarnation as \`lineage_id\`.
Asked again, a question about the past is answered the same, but for \`valid_to\`: it is null while a version is still the newest, and its end from then on.
Where the operator has thinned history, \`meta\` says so (\`resolution\`, \`resolved_at\`).

## Lists

\`limit\` is 0 to ${count(LIMIT_MAX)}, by default ${LIMIT_DEFAULT}; 0 is no limit, answered as a stream of any length. \`offset\` passes over rows. Rows come by
\`created_at\` and then \`id\` unless another order is asked for, so pages are stable. \`meta.pagination.total_count\` counts what matches the
filters. Lists of ids are repeated (\`ids=a&ids=b\`) or separated by commas (\`ids=a,b\`), at most ${IDS_MAX}. An unknown parameter or a value
out of its range is refused with 400, never ignored. Every list is there as a table too (\`…/export/csv\`), by the same filters and orders.
Texts are ordered without regard to case, then by code point; addresses by their numbers; what has no value comes first.

## Writes

A PUT replaces what its body requires; an optional field that is absent keeps its value, and \`null\` clears it where that is allowed. Read-only
fields may be sent back and are ignored, so that GET, edit, PUT works; a field that the record does not have is refused. A create may
bring its own \`id\` (a UUID that was never used).

A POST with an \`Idempotency-Key\` (1 to 255 visible ASCII characters) can be repeated: for 24 hours the same caller, key and request get the answer of the
first time, marked \`Idempotency-Replayed: true\`, and nothing is done again; the same key with another request is 422. A caller whose role has become
less since is answered 403, and one who no longer reaches all the networks of then 404.

\`POST …/{id}/restore\` brings a record back to what it was at an instant, a host with its children, and \`POST /api/v1/transactions/{sequence}/revert\` undoes
one transaction; both with \`dry_run\` first, all or none, and each is itself a transaction that can be undone.

Every GET of one record carries its version as \`ETag\`. With \`If-None-Match\` it answers 304 while the record is that version; with \`If-Match\` a PUT
or DELETE answers 412 when it is not.

## Examples

The examples are of one world: each record that one of them names is made by the example of another operation. They can be sent one after the other, once
the ids of the organization (\`…0001\`), of its network (\`…0002\`) and of the user who sends them (\`…0007\`) are put in.

## Limits

| What | At most |
|---|---|
| Request body | ${BODY_LIMIT_BYTES / 1024 / 1024} MiB; of a bulk write ${BULK_BODY_LIMIT_BYTES / 1024 / 1024} MiB |
| Request bodies of one user, with those of the user's keys, at a time | ${BODIES_OF_CALLER_LIMIT_BYTES / 1024 / 1024} MiB |
| Until the next MiB of a body, or its end, is there | ${BODY_PATIENCE_MS / 1_000} seconds |
| Arrays and objects in a request body | ${count(BODY_MAX_CONTAINERS)}, ${BODY_MAX_DEPTH} deep |
| Requests with an \`Idempotency-Key\` that are remembered of one user | ${count(OUTCOME_LIMITS.ofUser.count)}, with up to ${OUTCOME_LIMITS.ofUser.bytes / 1024 / 1024} MiB of answers; the oldest are forgotten first |
| Names | ${NAME_MAX_LENGTH} characters |
| Descriptions | ${count(DESCRIPTION_MAX_LENGTH)} characters |
| Tags of a record | ${count(TAGS_MAX)} |
| Children of each kind of a host | ${count(CHILDREN_MAX)} |
| Ids in a query | ${IDS_MAX} |
| Records of one bulk request | ${count(BULK_MAX)} |
| Writes of one user and that user's keys that wait for their turn | ${count(MAX_WAITING_OF_USER)}, and ${MAX_WAITING_BYTES_OF_USER / 1024 / 1024} MiB |
| Rows of a page | ${count(LIMIT_MAX)}, or all with \`limit=0\` |

What is too much at once is refused with 429 \`rate_limit_exceeded\`; \`Retry-After\` says when to come again. So is a request that came together with more than
${ROUND_ALWAYS_ADMITTED} others and could not be taken up within ${ROUND_PATIENCE_MS} ms: come again after ${OVERLOAD_RETRY_AFTER_S === 1 ? "a second" : `${OVERLOAD_RETRY_AFTER_S} seconds`}. Nothing was done then. Whoever sends very many
requests at once does not shut out others: those with valid credentials are counted by user, all others by address. Only \`/api/health\` always answers.
Writes wait in a line of each user and are done line by line in turn; what only lowers rights goes first. A write is done with the rights that its caller has when it is its turn.
`;

/** Groups of operations in the order in which they are shown. */
export const GROUPS: readonly { readonly name: string; readonly description: string }[] = [
  { name: "Appliance", description: "Whether it runs, and which version." },
  { name: "Access", description: "Set-up, sign-in and sign-out, the own user and password." },
  { name: "Organizations", description: "The caller's organization." },
  { name: "Users", description: "The people of the organization, their roles and the networks that they reach." },
  {
    name: "API keys",
    description: "Keys act for their user, within the user's role and networks. Managed by sign-in only.",
  },
  { name: "Networks", description: "Where hosts, subnets and VLANs live, and what rights are given by." },
  { name: "Subnets", description: "The IP prefixes of a network." },
  { name: "VLANs", description: "The numbered broadcast domains of a network (IEEE 802.1Q)." },
  { name: "Hosts", description: "Devices with their addresses, ports, services and interface entries." },
  { name: "IP addresses", description: "The addresses of hosts, each in a subnet of the host's network." },
  { name: "Ports", description: "The TCP and UDP ports that hosts serve." },
  { name: "Services", description: "What runs on hosts, and where it listens." },
  {
    name: "Bindings",
    description:
      "Where a service listens: on a port of its host, at one address or at all, or at an address as a whole.",
  },
  {
    name: "Interface entries",
    description: "The rows of hosts' interface tables, with what is known of their links (IF-MIB, LLDP, CDP).",
  },
  {
    name: "Credentials",
    description: "What discovery signs in to devices with. Secrets are sealed, and never answered.",
  },
  { name: "Tags", description: "Labels of the organization, and which records carry them." },
  { name: "Locate", description: "Where something is or was: behind which port of which switch, and why." },
  { name: "Changes", description: "What happened to the inventory, in the order in which it was committed." },
  { name: "Discovery", description: "What the appliance finds by itself." },
  {
    name: "Backups",
    description:
      "Verified copies of all that is stored, on the appliance's own disk: those of the operator, of all organizations together.",
  },
];
