// Data for the load: a store with a history, hosts with children, tags, signed-in users, and switches to scan.

import { Database } from "bun:sqlite";
import { dataFiles } from "../../../src/db/files/data-directory.ts";
import { CHANGE_KINDS } from "../../../src/history/change-view.ts";
import { ask, hostWithChildren } from "../../benchmark/asking.ts";
import type { Running } from "../../benchmark/executable.ts";
import type { BuiltStore } from "../../benchmark/store.ts";
import { addressOf } from "../../benchmark/switches.ts";
import { type Seen, SeenChanges } from "./followers.ts";
import type { World } from "./mix.ts";

/** Populations of the store: one to list and change, and one to scan. */
export const [CAMPUS, LAB] = ["campus", "lab"] as const;
const PASSWORD = "correct horse battery";
/** Number of users, each with an API key. */
const USERS = 8;
/** Numbers of hosts with children, tags, interface entries and timestamps for requests. */
const [HOSTS, TAGS, ENTRIES_OF, INSTANTS] = [40, 20, 60, 400] as const;

/** @param switches number of switches that answer SNMP */
export async function makeWorld(running: Running, store: BuiltStore, switches: number): Promise<World> {
  const networkId = store.networkIds[CAMPUS] as string;
  const scanNetworkId = store.networkIds[LAB] as string;
  const hostIds = store.hostIds[CAMPUS] as string[];
  const entries = [];
  for (const hostId of hostIds.slice(0, ENTRIES_OF))
    entries.push(...(await ask<World["entries"]>(running, store, "GET", `/if-entries?host_id=${hostId}&limit=20`)));
  const hosts = [];
  for (let n = 0; n < HOSTS; n += 1) {
    const body = hostWithChildren(networkId, n, `loaded-${n}`);
    hosts.push(await ask<World["hosts"][number]>(running, store, "POST", "/hosts", body));
  }
  const tagIds = [];
  for (let n = 0; n < TAGS; n += 1)
    tagIds.push(
      (
        await ask<{ id: string }>(running, store, "POST", "/tags", {
          organization_id: store.organizationId,
          name: `load ${n}`,
          color: "Red",
          description: "",
          is_application: false,
        })
      ).id,
    );
  const keys = [];
  for (let n = 0; n < USERS; n += 1) {
    const person = { name: `Load ${n}`, email: emailOf(n), role: "Admin", networkIds: [] };
    keys.push((await newPerson(running, store, person)).key);
  }
  await ask(running, store, "POST", "/credentials", {
    organization_id: store.organizationId,
    name: "public",
    credential_type: { type: "SnmpV2c", community: { mode: "Inline", value: "public" } },
    assigned_network_ids: [scanNetworkId],
    host_assignments: [],
    tags: [],
  });
  return {
    port: running.port,
    keys,
    networkId,
    hostIds,
    entries: entries.map(({ id, host_id, if_index, if_descr }) => ({ id, host_id, if_index, if_descr })),
    hosts,
    tagIds,
    instants: instantsOf(store),
    email: emailOf(0),
    password: PASSWORD,
    scanTargets: Array.from({ length: switches }, (_, n) => addressOf(n)),
    scanNetworkId,
  };
}

/** Creates a user of the store's organization with an API key of that role. */
export async function newPerson(
  running: Running,
  store: BuiltStore,
  {
    name,
    email = `${name}@load.example`,
    role,
    networkIds,
  }: { name: string; email?: string; role: string; networkIds: readonly string[] },
): Promise<{ id: string; key: string }> {
  const { id } = await ask<{ id: string }>(running, store, "POST", "/users", {
    organization_id: store.organizationId,
    email,
    name,
    password: PASSWORD,
    role,
    network_ids: networkIds,
  });
  return { id, key: await keyOf(running, store, email, id, role) };
}

/** Signs a user in and creates the API key: API keys can't create keys. */
async function keyOf(
  running: Running,
  store: BuiltStore,
  email: string,
  userId: string,
  permissions: string,
): Promise<string> {
  const url = `http://127.0.0.1:${running.port}`;
  const json = { "content-type": "application/json" };
  const signedIn = await fetch(`${url}/api/auth/login`, {
    method: "POST",
    headers: json,
    body: JSON.stringify({ email, password: PASSWORD }),
  });
  const cookie = signedIn.headers.get("set-cookie")?.split(";", 1)[0];
  if (cookie === undefined) throw new Error(`the sign-in answered ${signedIn.status}`);
  const body = { organization_id: store.organizationId, user_id: userId, name: "load", tags: [], permissions };
  const made = await fetch(`${url}/api/v1/auth/keys`, {
    method: "POST",
    headers: { ...json, cookie },
    body: JSON.stringify(body),
  });
  if (!made.ok) throw new Error(`the key was answered ${made.status}: ${(await made.text()).slice(0, 300)}`);
  return ((await made.json()) as { data: { key: string } }).data.key;
}

function emailOf(n: number): string {
  return `load-${n}@example.net`;
}

/** The last transaction of the ledger. */
export function headOf(store: BuiltStore): number {
  return reading(
    store,
    (db) => (db.query("SELECT max(sequence) AS head FROM history_transactions").get() as { head: number }).head,
  );
}

/**
 * Changes that a follower must have seen since a transaction, read from the ledger itself.
 * @param missed versions omitted from the last transaction: the report of a follower that missed them
 */
export function changesSince(store: BuiltStore, after: number, missed = 0): Omit<Seen, "by" | "problem"> {
  const seen = new SeenChanges(after);
  const codes = CHANGE_KINDS.map(({ code }) => code).join(",");
  reading(store, (db) => {
    const rows = db.query(
      `SELECT v.key & 0x7fffffff AS sequence, count(*) AS versions FROM history_versions v
        JOIN history_records r ON r.n = v.key >> 31
        WHERE v.key & 0x7fffffff > ? AND r.kind IN (${codes}) GROUP BY 1 ORDER BY 1`,
    );
    const all = (rows.all(after) as { sequence: number; versions: number }[]).flatMap(({ sequence, versions }) =>
      Array.from({ length: versions }, () => sequence),
    );
    for (const sequence of all.slice(0, all.length - missed)) seen.add(sequence);
  });
  const digest = seen.digest();
  return { versions: seen.versions, transactions: seen.transactions, last: seen.last, digest };
}

/** Spread over the part of the ledger in which all records exist. */
function instantsOf(store: BuiltStore): string[] {
  return reading(store, (db) => {
    const rows = db
      .query(
        `SELECT at FROM history_transactions WHERE sequence > (SELECT max(sequence) / 3 FROM history_transactions)
          ORDER BY sequence`,
      )
      .values() as [number][];
    const step = Math.max(1, Math.floor(rows.length / INSTANTS));
    return rows.filter((_, n) => n % step === 0).map(([at]) => new Date(at).toISOString());
  });
}

function reading<T>(store: BuiltStore, read: (db: Database) => T): T {
  const db = new Database(dataFiles(store.directory).database, { readonly: true });
  try {
    return read(db);
  } finally {
    db.close();
  }
}
