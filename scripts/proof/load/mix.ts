// Load mix: tables of the requests in an hour of a busy network, and their bytes on the wire.

import { requestBytes } from "../../benchmark/load.ts";

/** Records that requests refer to, created before the load; plain data, as another process uses them. */
export interface LoadFixture {
  readonly port: number;
  /** API keys of several users, as some limits are per user. */
  readonly keys: readonly string[];
  readonly networkId: string;
  readonly hostIds: readonly string[];
  readonly entries: readonly {
    readonly id: string;
    readonly host_id: string;
    readonly if_index: number;
    readonly if_descr: string;
  }[];
  /** Hosts with children, which updates send back. */
  readonly hosts: readonly {
    readonly id: string;
    readonly name: string;
    readonly ports: readonly { readonly id: string; readonly number: number; readonly protocol: string }[];
  }[];
  readonly tagIds: readonly string[];
  /** Timestamps of writes. */
  readonly instants: readonly string[];
  readonly email: string;
  readonly password: string;
  /** Addresses of the simulated SNMP agents, and their network. */
  readonly scanTargets: readonly string[];
  readonly scanNetworkId: string;
}

/** Returns a random number from 0 to 1, excluding 1. */
export type Chance = () => number;

interface RequestClass {
  readonly name: string;
  /** Share of the interactive requests. */
  readonly share: number;
  readonly isWrite: boolean;
  readonly request: (fixture: LoadFixture, chance: Chance) => Uint8Array;
}

/** Returns a string for a request, such as its path. */
type TextOf = (fixture: LoadFixture, chance: Chance) => string;

function reading(name: string, share: number, path: TextOf): RequestClass {
  return { name, share, isWrite: false, request: (fixture, chance) => get(fixture, chance, path(fixture, chance)) };
}

/** Requests that users and scripts wait for. The shares add up to 1. */
export const INTERACTIVE: readonly RequestClass[] = [
  reading("live list", 0.28, listPath),
  reading("as-of list", 0.15, (fixture, chance) => `${listPath(fixture, chance)}&at=${pick(fixture.instants, chance)}`),
  reading("single record", 0.2, ({ hostIds, entries }, chance) =>
    chance() < 0.5 ? `hosts/${pick(hostIds, chance)}` : `if-entries/${pick(entries, chance).id}`,
  ),
  reading("search", 0.1, ({ hostIds }, chance) => {
    return `hosts?search=switch-${Math.floor(chance() * hostIds.length)}&include_children=false`;
  }),
  reading("count", 0.07, ({ networkId }, chance) => {
    return `${chance() < 0.5 ? "if-entries" : "ports"}?limit=1&network_id=${networkId}`;
  }),
  { name: "host update", share: 0.06, isWrite: true, request: hostUpdate },
  { name: "if-entry update", share: 0.1, isWrite: true, request: entryUpdate },
  { name: "tag assignment", share: 0.04, isWrite: true, request: tagAssignment },
];

interface LongRequest {
  readonly name: string;
  /** Number per hour. */
  readonly perHour: number;
  readonly request: (fixture: LoadFixture, chance: Chance) => Uint8Array;
}

/** Long requests, sent at a separate pace and reported separately; the limit of interactive ones does not apply. */
export const LONG: readonly LongRequest[] = [
  { name: "sign-in", perHour: 60, request: signIn },
  {
    name: "CSV export",
    perHour: 30,
    request: (fixture, chance) => get(fixture, chance, `${chance() < 0.5 ? "if-entries" : "hosts"}/export/csv`),
  },
  {
    name: "list without a limit",
    perHour: 30,
    request: (fixture, chance) => get(fixture, chance, "if-entries?limit=0"),
  },
  { name: "diff", perHour: 30, request: diff },
  { name: "scan request", perHour: 12, request: scanRequest },
];

/** Factor that compresses an hour to ten minutes. */
export const COMPRESSION = 6;

/** Number of permanent followers of the changes. */
export const FOLLOWERS = { polling: 4, events: 4 } as const;

export type Kind = "mixed" | "reads" | "writes" | "floods";

/** The most expensive page that a caller can request. */
const LARGE_PAGES = reading("page of 1,000", 1, () => "if-entries?limit=1000");

/** Request classes of a kind of load; `reads` and `writes` keep the proportions of the mix. */
export function classesOf(kind: Kind): readonly RequestClass[] {
  if (kind === "floods") return [LARGE_PAGES];
  return kind === "mixed" ? INTERACTIVE : INTERACTIVE.filter(({ isWrite }) => isWrite === (kind === "writes"));
}

const LISTS: readonly TextOf[] = [
  () => "if-entries?limit=50",
  ({ hostIds }, chance) => `if-entries?host_id=${pick(hostIds, chance)}`,
  ({ hostIds }, chance) =>
    `hosts?limit=50&include_children=false&offset=${50 * Math.floor((chance() * hostIds.length) / 50)}`,
  ({ networkId }) => `hosts?limit=20&network_id=${networkId}&include_children=false`,
  () => "tags?limit=50",
];

function listPath(fixture: LoadFixture, chance: Chance): string {
  return pick(LISTS, chance)(fixture, chance);
}

function signIn({ email, password }: LoadFixture): Uint8Array {
  return requestBytes("POST", "/api/auth/login", {}, JSON.stringify({ email, password }));
}

function diff(fixture: LoadFixture, chance: Chance): Uint8Array {
  const from = pick(fixture.instants.slice(-20), chance);
  return get(fixture, chance, `diff?from=${from}&network_id=${fixture.networkId}&format=ndjson`);
}

function scanRequest(fixture: LoadFixture, chance: Chance): Uint8Array {
  const body = { network_id: fixture.scanNetworkId, kind: "snmp", targets: fixture.scanTargets };
  return send(fixture, chance, "POST", "discovery/scans", body);
}

function hostUpdate(fixture: LoadFixture, chance: Chance): Uint8Array {
  const host = pick(fixture.hosts, chance);
  return send(fixture, chance, "PUT", `hosts/${host.id}`, {
    ...host,
    ports: host.ports.map((port, i) => (i === 0 ? { ...port, number: 20_000 + Math.floor(chance() * 20_000) } : port)),
  });
}

function entryUpdate(fixture: LoadFixture, chance: Chance): Uint8Array {
  const { id, if_index, if_descr } = pick(fixture.entries, chance);
  const body = { if_index, if_descr, if_alias: `change ${Math.floor(chance() * 1e9)}` };
  return send(fixture, chance, "PUT", `if-entries/${id}`, body);
}

function tagAssignment(fixture: LoadFixture, chance: Chance): Uint8Array {
  const [entity_id, tag_ids] = [pick(fixture.hostIds, chance), [pick(fixture.tagIds, chance)]];
  return send(fixture, chance, "PUT", "tags/assign", { entity_type: "host", entity_id, tag_ids });
}

function get(fixture: LoadFixture, chance: Chance, path: string): Uint8Array {
  return requestBytes("GET", `/api/v1/${path}`, { authorization: `Bearer ${pick(fixture.keys, chance)}` });
}

function send(fixture: LoadFixture, chance: Chance, method: string, path: string, body: object): Uint8Array {
  const headers = { authorization: `Bearer ${pick(fixture.keys, chance)}` };
  return requestBytes(method, `/api/v1/${path}`, headers, JSON.stringify(body));
}

function pick<T>(items: readonly T[], chance: Chance): T {
  return items[Math.floor(chance() * items.length)] as T;
}
