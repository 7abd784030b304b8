// Composition of the load, in tables: an hour of a busy network, and the wire form of each request.

import { requestBytes } from "../../benchmark/load.ts";

/** Records that requests refer to: created before the load, and plain data for use in another process. */
export interface World {
  readonly port: number;
  /** Of several users: some limits are per user. */
  readonly keys: readonly string[];
  readonly networkId: string;
  readonly hostIds: readonly string[];
  readonly entries: readonly {
    readonly id: string;
    readonly host_id: string;
    readonly if_index: number;
    readonly if_descr: string;
  }[];
  /** Hosts with children, as updates send them back. */
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
  /** Addresses of our SNMP agents, with their network. */
  readonly scanTargets: readonly string[];
  readonly scanNetworkId: string;
}

/** Random number from 0 to 1, excluding 1. */
export type Chance = () => number;

interface Class {
  readonly name: string;
  /** Among the interactive requests. */
  readonly share: number;
  readonly isWrite: boolean;
  readonly request: (world: World, chance: Chance) => Uint8Array;
}

/** Requests that people and scripts wait for. The shares add up to 1. */
export const INTERACTIVE: readonly Class[] = [
  {
    name: "live list",
    share: 0.28,
    isWrite: false,
    request: (world, chance) => get(world, chance, pick(LISTS, chance)(world, chance)),
  },
  {
    name: "as-of list",
    share: 0.15,
    isWrite: false,
    request: (world, chance) =>
      get(world, chance, `${pick(LISTS, chance)(world, chance)}&at=${pick(world.instants, chance)}`),
  },
  {
    name: "single record",
    share: 0.2,
    isWrite: false,
    request: (world, chance) =>
      get(
        world,
        chance,
        chance() < 0.5 ? `hosts/${pick(world.hostIds, chance)}` : `if-entries/${pick(world.entries, chance).id}`,
      ),
  },
  {
    name: "search",
    share: 0.1,
    isWrite: false,
    request: (world, chance) =>
      get(world, chance, `hosts?search=switch-${Math.floor(chance() * world.hostIds.length)}&include_children=false`),
  },
  {
    name: "count",
    share: 0.07,
    isWrite: false,
    request: (world, chance) =>
      get(world, chance, `${chance() < 0.5 ? "if-entries" : "ports"}?limit=1&network_id=${world.networkId}`),
  },
  { name: "host update", share: 0.06, isWrite: true, request: hostUpdate },
  { name: "if-entry update", share: 0.1, isWrite: true, request: entryUpdate },
  { name: "tag assignment", share: 0.04, isWrite: true, request: tagAssignment },
];

interface Long {
  readonly name: string;
  /** Number per hour. */
  readonly perHour: number;
  readonly request: (world: World, chance: Chance) => Uint8Array;
}

/** Long requests at their own pace, reported separately and without the limit of the interactive ones. */
export const LONG: readonly Long[] = [
  {
    name: "sign-in",
    perHour: 60,
    request: (world) =>
      requestBytes("POST", "/api/auth/login", {}, JSON.stringify({ email: world.email, password: world.password })),
  },
  {
    name: "CSV export",
    perHour: 30,
    request: (world, chance) => get(world, chance, `${chance() < 0.5 ? "if-entries" : "hosts"}/export/csv`),
  },
  { name: "list without a limit", perHour: 30, request: (world, chance) => get(world, chance, "if-entries?limit=0") },
  {
    name: "diff",
    perHour: 30,
    request: (world, chance) =>
      get(
        world,
        chance,
        `diff?from=${pick(world.instants.slice(-20), chance)}&network_id=${world.networkId}&format=ndjson`,
      ),
  },
  {
    name: "scan ordered",
    perHour: 12,
    request: (world, chance) =>
      send(world, chance, "POST", "discovery/scans", {
        network_id: world.scanNetworkId,
        kind: "snmp",
        targets: world.scanTargets,
      }),
  },
];

/** An hour in ten minutes. */
export const COMPRESSION = 6;

/** Permanent followers of the changes. */
export const FOLLOWERS = { polling: 4, events: 4 } as const;

export type Kind = "mixed" | "reads" | "writes" | "floods";

/** The most expensive page that a caller can request. */
const LARGE_PAGES: Class = {
  name: "page of 1,000",
  share: 1,
  isWrite: false,
  request: (world, chance) => get(world, chance, "if-entries?limit=1000"),
};

/** Request classes where only the kind matters: `reads` and `writes` in the proportions of the mix. */
export function classesOf(kind: Kind): readonly Class[] {
  if (kind === "floods") return [LARGE_PAGES];
  return kind === "mixed" ? INTERACTIVE : INTERACTIVE.filter(({ isWrite }) => isWrite === (kind === "writes"));
}

const LISTS: readonly ((world: World, chance: Chance) => string)[] = [
  () => "if-entries?limit=50",
  (world, chance) => `if-entries?host_id=${pick(world.hostIds, chance)}`,
  (world, chance) =>
    `hosts?limit=50&include_children=false&offset=${50 * Math.floor((chance() * world.hostIds.length) / 50)}`,
  (world) => `hosts?limit=20&network_id=${world.networkId}&include_children=false`,
  () => "tags?limit=50",
];

function hostUpdate(world: World, chance: Chance): Uint8Array {
  const host = pick(world.hosts, chance);
  return send(world, chance, "PUT", `hosts/${host.id}`, {
    ...host,
    ports: host.ports.map((port, i) => (i === 0 ? { ...port, number: 20_000 + Math.floor(chance() * 20_000) } : port)),
  });
}

function entryUpdate(world: World, chance: Chance): Uint8Array {
  const { id, if_index, if_descr } = pick(world.entries, chance);
  return send(world, chance, "PUT", `if-entries/${id}`, {
    if_index,
    if_descr,
    if_alias: `change ${Math.floor(chance() * 1e9)}`,
  });
}

function tagAssignment(world: World, chance: Chance): Uint8Array {
  return send(world, chance, "PUT", "tags/assign", {
    entity_type: "host",
    entity_id: pick(world.hostIds, chance),
    tag_ids: [pick(world.tagIds, chance)],
  });
}

function get(world: World, chance: Chance, path: string): Uint8Array {
  return requestBytes("GET", `/api/v1/${path}`, { authorization: `Bearer ${pick(world.keys, chance)}` });
}

function send(world: World, chance: Chance, method: string, path: string, body: object): Uint8Array {
  return requestBytes(
    method,
    `/api/v1/${path}`,
    { authorization: `Bearer ${pick(world.keys, chance)}` },
    JSON.stringify(body),
  );
}

function pick<T>(items: readonly T[], chance: Chance): T {
  return items[Math.floor(chance() * items.length)] as T;
}
