// Fixture for the load part: a store with history, hosts with children, tags, users with API keys, and switches to
// scan.

import { Database } from "bun:sqlite";
import { dataFiles } from "../../../src/db/files/data-directory.ts";
import { CHANGE_KINDS } from "../../../src/history/change-view.ts";
import type { Running } from "../../benchmark/executable.ts";
import { callApi, clientWith, hostWithChildren } from "../../benchmark/requests.ts";
import { addSnmpCredential } from "../../benchmark/scans.ts";
import type { BuiltStore } from "../../benchmark/store.ts";
import { addressOf } from "../../benchmark/switches.ts";
import { ChangeCollector, type FollowerReport } from "./followers.ts";
import type { LoadFixture } from "./mix.ts";

/** Networks of the store: one to list and change, one to scan. */
export const [CAMPUS, LAB] = ["campus", "lab"] as const;
const PASSWORD = "correct horse battery";
/** Number of users, each with an API key. */
const USERS = 8;
/** Numbers of hosts with children, tags, hosts whose interface entries are used, and timestamps. */
const [HOSTS, TAGS, HOSTS_WITH_ENTRIES, INSTANTS] = [40, 20, 60, 400] as const;

/** Creates the records for the load. @param switches number of switches that respond to SNMP */
export async function createFixture(running: Running, store: BuiltStore, switches: number): Promise<LoadFixture> {
  const networkId = store.networkIds[CAMPUS] as string;
  const scanNetworkId = store.networkIds[LAB] as string;
  const hostIds = store.hostIds[CAMPUS] as string[];
  const entries = [];
  for (const hostId of hostIds.slice(0, HOSTS_WITH_ENTRIES))
    entries.push(
      ...(await callApi<LoadFixture["entries"]>(running, store, "GET", `/if-entries?host_id=${hostId}&limit=20`)),
    );
  const hosts = [];
  for (let n = 0; n < HOSTS; n += 1) {
    const body = hostWithChildren(networkId, n, `loaded-${n}`);
    hosts.push(await callApi<LoadFixture["hosts"][number]>(running, store, "POST", "/hosts", body));
  }
  const tagIds = [];
  for (let n = 0; n < TAGS; n += 1) {
    const tag = { organization_id: store.organizationId, name: `load ${n}`, color: "Red", description: "" };
    const { id } = await callApi<{ id: string }>(running, store, "POST", "/tags", { ...tag, is_application: false });
    tagIds.push(id);
  }
  const keys = [];
  for (let n = 0; n < USERS; n += 1) {
    const user = { name: `Load ${n}`, email: emailOf(n), role: "Admin", networkIds: [] };
    keys.push((await createUser(running, store, user)).key);
  }
  await addSnmpCredential(running, store, scanNetworkId);
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

/** Creates a user of the store's organization, and an API key with the user's role. */
export async function createUser(
  running: Running,
  store: BuiltStore,
  {
    name,
    email = `${name}@load.example`,
    role,
    networkIds,
  }: { name: string; email?: string; role: string; networkIds: readonly string[] },
): Promise<{ id: string; key: string }> {
  const { id } = await callApi<{ id: string }>(running, store, "POST", "/users", {
    organization_id: store.organizationId,
    email,
    name,
    password: PASSWORD,
    role,
    network_ids: networkIds,
  });
  return { id, key: await keyOf(running, store, email, id, role) };
}

/** Creates an API key in a session of the user: API keys can't create API keys. */
async function keyOf(
  running: Running,
  store: BuiltStore,
  email: string,
  userId: string,
  permissions: string,
): Promise<string> {
  const client = clientWith(running);
  const signIn = await client.post("/api/auth/login", { email, password: PASSWORD });
  const cookie = signIn.headers.get("set-cookie")?.split(";", 1)[0];
  if (cookie === undefined) throw new Error(`the sign-in returned ${signIn.status}`);
  const body = { organization_id: store.organizationId, user_id: userId, name: "load", tags: [], permissions };
  const { status, text, data } = await client.with({ cookie }).post("auth/keys", body);
  if (status !== 200) throw new Error(`creating the key returned ${status}: ${text.slice(0, 300)}`);
  return data.key;
}

function emailOf(n: number): string {
  return `load-${n}@example.net`;
}

/** Reads the sequence of the last transaction. */
export function headOf(store: BuiltStore): number {
  return withDatabase(
    store,
    (db) => (db.query("SELECT max(sequence) AS head FROM history_transactions").get() as { head: number }).head,
  );
}

/**
 * Reads from the ledger the changes that a follower must have seen since a transaction.
 * @param missed number of versions to omit from the end, as if a follower had missed them
 */
export function changesSince(store: BuiltStore, after: number, missed = 0): Omit<FollowerReport, "mode" | "problem"> {
  const collector = new ChangeCollector(after);
  const codes = CHANGE_KINDS.map(({ code }) => code).join(",");
  withDatabase(store, (db) => {
    const rows = db.query(
      `SELECT v.key & 0x7fffffff AS sequence, count(*) AS versions FROM history_versions v
        JOIN history_records r ON r.n = v.key >> 31
        WHERE v.key & 0x7fffffff > ? AND r.kind IN (${codes}) GROUP BY 1 ORDER BY 1`,
    );
    const sequences = (rows.all(after) as { sequence: number; versions: number }[]).flatMap(({ sequence, versions }) =>
      Array.from({ length: versions }, () => sequence),
    );
    for (const sequence of sequences.slice(0, sequences.length - missed)) collector.add(sequence);
  });
  const digest = collector.digest();
  return { versions: collector.versions, transactions: collector.transactions, last: collector.last, digest };
}

/** Timestamps spread over the part of the ledger in which all records exist. */
function instantsOf(store: BuiltStore): string[] {
  return withDatabase(store, (db) => {
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

function withDatabase<T>(store: BuiltStore, read: (db: Database) => T): T {
  const db = new Database(dataFiles(store.directory).database, { readonly: true });
  try {
    return read(db);
  } finally {
    db.close();
  }
}
