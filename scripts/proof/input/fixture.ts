// Fixture for the input part: an appliance with two isolated organizations, or a single one, and its callers. Restores
// its contents after requests have deleted or locked them.

import { Database } from "bun:sqlite";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "../../../test/support/appliance/client.ts";
import type { JsonRecord } from "../../../test/support/appliance/factories.ts";
import { PASSWORD, type Running, Sandbox, SET_UP_KEY, setUpBy } from "../../../test/support/executable/executable.ts";
import { HANG_MS } from "../../../test/support/measure/limits.ts";
import { communityCredential } from "../../benchmark/requests.ts";
import { isRunning } from "../../testing/processes.ts";
import { texts } from "../string-list.ts";
import type { Caller } from "./generate.ts";
import { KeepAliveConnection } from "./wire.ts";

/** Marks in the strings of each organization, which must not reach the other. */
export const MARKS = { first: "FIRST-ONLY", second: "SECOND-ONLY" } as const;
export type OrgLabel = keyof typeof MARKS;

export interface Transaction {
  readonly sequence: number;
  readonly request_id: string | null;
}

interface Organization {
  readonly org: OrgLabel;
  readonly id: string;
  /** Client with the Owner's API key, which no tested request uses. */
  readonly adminClient: Client;
  readonly email: string;
  readonly networkId: string;
  /** Ids of live records by path, in creation order. */
  readonly pools: Map<string, string[]>;
}

/** Records of each kind that requests refer to. */
const POOL_SIZE = 8;
/** Maximum of live records per kind after a refill: drafts create more than they delete, so memory would grow. */
const LIVE_MAX = 3 * POOL_SIZE;
/** Kinds without a DELETE operation for single records. */
const NEVER_DELETED: ReadonlySet<string> = new Set(["discovery/scans", "discovery/ignored"]);
const PLURALS = texts(`networks ¦ vlans ¦ subnets ¦ tags ¦ hosts ¦ ip-addresses ¦ ports ¦ services ¦ bindings ¦
  if-entries ¦ credentials ¦ users ¦ auth/keys ¦ discovery/schedules ¦ discovery/scans ¦ discovery/ignored ¦
  custom-fields ¦ markers ¦ ip-ranges`);

/** Number of organizations; operations on the entire appliance require a single one. */
export type Organizations = "two" | "one";

export interface Footprint {
  /** Anonymous memory, KiB. */
  readonly memoryKib: number;
  readonly descriptors: number;
  readonly threads: number;
}

export class InputFixture {
  readonly sandbox: Sandbox;
  readonly appliance: Running;
  readonly connection: KeepAliveConnection;
  /** The Owner's organization. */
  readonly first: Organization;
  /** Null if the first is the only organization. */
  readonly second: Organization | null;
  private readonly cookies = new Map<Caller, string>();
  /** Ids of the callers' users. */
  private readonly users = new Map<Caller, string>();
  private lastNumber = 0;

  private constructor(sandbox: Sandbox, appliance: Running, first: Organization, second: Organization | null) {
    this.sandbox = sandbox;
    this.appliance = appliance;
    this.first = first;
    this.second = second;
    this.connection = new KeepAliveConnection(this.port);
  }

  static async open(
    executable: string,
    directory: string,
    organizations: Organizations = "two",
  ): Promise<InputFixture> {
    const sandbox = new Sandbox(directory);
    try {
      const command = { command: [executable] };
      const passwordFile = await sandbox.passwordFile();
      const run = (args: readonly string[]) => sandbox.run([...args, "--data", sandbox.data], command);
      const created = [];
      for (const org of organizations === "two" ? (["first", "second"] as const) : (["first"] as const)) {
        const email = `owner@${org}.example`;
        const organization = `${org} organization`;
        created.push({ org, email, ...(await setUpBy(run, passwordFile, { organization, network: "main", email })) });
      }
      const appliance = await sandbox.serve([], command);
      const [first, second = null] = created.map(
        ({ org, key, networkId, organizationId, email }): Organization => ({
          org,
          id: organizationId,
          // A draft may have made change reasons mandatory.
          adminClient: appliance.withKey(key).with({ "X-Change-Reason": "requests must succeed again" }),
          email,
          networkId,
          pools: new Map(),
        }),
      ) as [Organization, Organization?];
      const fixture = new InputFixture(sandbox, appliance, first, second);
      await fixture.signIn("owner");
      await fixture.fill();
      await fixture.createIgnored();
      for (const caller of ["viewer", "member", "guesser"] as const) {
        const { adminClient } = fixture.organizationOf(caller);
        fixture.users.set(caller, (await ok(adminClient.post("/api/v1/users", fixture.user(caller)))).id);
        await fixture.signIn(caller);
      }
      return fixture;
    } catch (error) {
      await sandbox.close();
      throw error;
    }
  }

  get port(): number {
    return Number(new URL(this.appliance.url).port);
  }

  /** Organization of a caller: all except the Owner belong to the second, if it exists. */
  organizationOf(caller: Caller): Organization {
    return caller === "owner" ? this.first : (this.second ?? this.first);
  }

  private get organizations(): Organization[] {
    return this.second === null ? [this.first] : [this.first, this.second];
  }

  cookie(caller: Caller): string | null {
    return this.cookies.get(caller) ?? null;
  }

  async signIn(caller: Caller): Promise<void> {
    const started = performance.now();
    const attempt = () =>
      this.appliance.client().post("/api/auth/login", { email: this.emailOf(caller), password: PASSWORD });
    let response = await attempt();
    // Earlier wrong passwords delay the next attempt.
    while (response.status === 429 && performance.now() - started < HANG_MS) {
      await Bun.sleep(Number(response.headers.get("retry-after") ?? 1) * 1_000);
      response = await attempt();
    }
    const cookie = /session_id=[^;]+/.exec(response.headers.get("set-cookie") ?? "")?.[0];
    if (cookie === undefined) throw new Error(`input: ${caller} cannot sign in: ${response.text}`);
    this.cookies.set(caller, cookie);
  }

  /** Resets a caller's changed password to the common one and signs in. */
  async resetPassword(caller: Caller): Promise<void> {
    await ok(this.organizationOf(caller).adminClient.put(`/api/v1/users/${this.users.get(caller)}`, this.user(caller)));
    await this.signIn(caller);
  }

  private emailOf(caller: Caller): string {
    const { org, email } = this.organizationOf(caller);
    return caller === "owner" ? email : `${caller}@${org}.example`;
  }

  private user(caller: Caller): JsonRecord {
    const { org, networkId } = this.organizationOf(caller);
    return {
      email: this.emailOf(caller),
      name: `${MARKS[org]} ${caller}`,
      role: caller === "viewer" ? "Viewer" : "Member",
      network_ids: [networkId],
      password: PASSWORD,
    };
  }

  /** Whether a caller's session is still active with its role; a request may have ended it. */
  async isSignedIn(caller: Caller): Promise<boolean> {
    const cookie = this.cookie(caller);
    if (cookie === null) return true;
    return (await this.appliance.client({ cookie }).get("/api/auth/me")).status === 200;
  }

  /** Replaces placeholders between @@ with ids, timestamps and other values that drafts cannot know. */
  resolve(text: string, caller: Caller): string {
    const mine = this.organizationOf(caller);
    return text.replaceAll(
      /@@(own|other)\/([a-z/-]+)\/(\d+)@@|@@([a-z]+)@@/g,
      (all, org: string | undefined, pool: string, n: string, word: string | undefined) => {
        if (word !== undefined) return this.placeholderValue(word) ?? all;
        const organization = org === "own" ? mine : (this.organizations.find((other) => other !== mine) ?? mine);
        if (pool === "organizations") return organization.id;
        const ids = organization.pools.get(pool) ?? [];
        return ids[Number(n) % Math.max(ids.length, 1)] ?? "01936f2e-0d5c-7d3a-9a39-3f6f1f7affff";
      },
    );
  }

  private placeholderValue(word: string): string | null {
    const values: Record<string, string> = {
      now: new Date().toISOString(),
      sequence: String(this.sequence),
      backup: this.backup,
      password: PASSWORD,
      guesser: this.emailOf("guesser"),
      conflict: this.conflict.value,
      fingerprint: this.conflict.fingerprint,
    };
    return values[word] ?? null;
  }

  /** Sequence of the last transaction seen. */
  sequence = 0;
  private store: Database | null = null;
  /** Name of a complete backup; "none" without one. */
  private backup = "none";
  /** Conflict of a subnet that is in two networks of the first organization. */
  private conflict = { value: "none", fingerprint: "0".repeat(64) };

  async head(): Promise<number> {
    this.sequence = (await ok(this.first.adminClient.get("/api/v1/ledger"))).sequence;
    return this.sequence;
  }

  /** Reads data outside the ledger that only writes may change; observations may change at any time. */
  otherData(): OtherData {
    this.store ??= new Database(join(this.sandbox.data, "netledger.db"), { readonly: true });
    return this.store.query(OTHER_DATA_SQL).get() as OtherData;
  }

  /** Transactions of an organization after a sequence, newest first. */
  async transactionsSince(org: OrgLabel, sequence: number): Promise<Transaction[]> {
    const organization = this.organizations.find((candidate) => candidate.org === org);
    if (organization === undefined) return [];
    // Most requests make at most one transaction, and a large page takes time.
    for (const limit of [4, 100]) {
      const page = (await ok(organization.adminClient.get(`/api/v1/transactions?limit=${limit}`))) as Transaction[];
      const since = page.filter((transaction) => transaction.sequence > sequence);
      if (since.length < page.length || limit === 100) return since;
    }
    return [];
  }

  /** Creates missing records, and collects existing ids. */
  async fill(): Promise<void> {
    for (const organization of this.organizations) {
      await unlock(organization);
      for (const plural of PLURALS) await this.fillKind(organization, plural);
    }
    await this.fillSessions();
    await this.fillConflicts();
    await this.selectBackup();
    await this.head();
  }

  /**
   * Creates what an operation needs if it would not last until the next refill: a scan or a verification to cancel, a
   * backup.
   */
  async prepare(operation: string): Promise<void> {
    const { adminClient, networkId, pools } = this.first;
    const owner = this.session(this.first);
    for (const [plural, ids] of this.savedPools) pools.set(plural, ids);
    this.savedPools.clear();
    switch (operation) {
      case "cancelScan": {
        const path = "/api/v1/discovery/scans";
        await adminClient.post(path, { network_id: networkId, kind: "sweep", targets: ["127.0.0.1"], commit: false });
        pools.set("discovery/scans", idsOf(await list(adminClient, `${path}?limit=60`), IN_PROGRESS));
        break;
      }
      case "cancelLedgerVerification":
        if (this.second !== null || owner === null) return;
        await owner.post(VERIFICATIONS, undefined);
        pools.set("ledger/verifications", idsOf(await list(owner, VERIFICATIONS), IN_PROGRESS));
        break;
      case "createBinding":
      case "importBindings":
      case "splitHost":
        await this.useSingleHost();
        break;
      case "liftIgnored":
      case "liftManyIgnored":
        if ((await list(adminClient, "/api/v1/discovery/ignored?limit=1")).length > 0) return;
        await this.createIgnored();
        break;
      case "getLedgerVerification":
        if (this.second !== null || owner === null) return;
        pools.set("ledger/verifications", idsOf(await list(owner, VERIFICATIONS)));
        break;
      case "acceptConflict":
      case "withdrawConflictAcceptance":
        await this.fillConflicts();
        break;
      case "deleteBackup":
      case "downloadBackup":
      case "verifyBackup":
        if (this.second !== null || owner === null) return;
        await this.selectBackup();
        // Only one verification runs at a time.
        if (operation === "verifyBackup")
          await waitWhile(async () => idsOf(await list(owner, VERIFICATIONS), IN_PROGRESS).length > 0);
        break;
      default:
        return;
    }
    await this.head();
  }

  /** Pools temporarily restricted to the ids of one host. */
  private readonly savedPools = new Map<string, string[]>();

  /** Restricts the pools to one host and its children: the ids must belong together. */
  private async useSingleHost(): Promise<void> {
    const { adminClient, pools } = this.first;
    const created = await adminClient.post("/api/v1/hosts", this.body(this.first, "hosts", false));
    const host = created.data as JsonRecord;
    if (created.status !== 200) return;
    const parts = [
      ["hosts", [host]],
      ["ip-addresses", host.ip_addresses],
      ["ports", host.ports],
      ["services", host.services],
    ] as const;
    for (const [plural, records] of parts) {
      this.savedPools.set(plural, pools.get(plural) ?? []);
      pools.set(plural, idsOf(records as JsonRecord[]));
    }
  }

  /** Selects the newest complete backup; creates one if there is none. */
  private async selectBackup(): Promise<void> {
    const { adminClient } = this.first;
    let backups = await list(adminClient, "/api/v1/backups?limit=0");
    const completeBackup = () => backups.find((backup) => backup.state === "Done");
    if (completeBackup() === undefined) {
      await adminClient.post("/api/v1/backups", undefined);
      await waitWhile(async () => {
        backups = await list(adminClient, "/api/v1/backups?limit=0");
        return completeBackup() === undefined;
      });
    }
    this.backup = completeBackup()?.name ?? "none";
  }

  /** Creates another session of the Owner, which requests may end. */
  private async fillSessions(): Promise<void> {
    const owner = this.session(this.first);
    if (owner === null) return;
    const others = async () =>
      (await list(owner, "/api/auth/sessions")).filter(({ is_current }) => is_current !== true);
    if ((await others()).length === 0)
      await this.appliance.client().post("/api/auth/login", { email: this.first.email, password: PASSWORD });
    this.first.pools.set("auth/sessions", idsOf(await others()));
  }

  /** Creates subnets in two networks each, which are conflicts: one open, one accepted. */
  private async fillConflicts(): Promise<void> {
    const { adminClient, networkId, pools } = this.first;
    const subnetConflicts = () => list(adminClient, "/api/v1/conflicts?type=Subnet&limit=0");
    let conflicts = await subnetConflicts();
    const open = () => conflicts.find(({ acceptance }) => acceptance === null);
    for (let created = 0; conflicts.length < 2 || open() === undefined; created += 1) {
      if (created > 3) throw new Error("input: a subnet in two networks is not reported as a conflict");
      if (created === 0) await unlock(this.first);
      this.lastNumber += 1;
      const name = `${MARKS.first} duplicate ${this.lastNumber}`;
      const network = await ok(adminClient.post("/api/v1/networks", { name }));
      // Loopback is never in conflict. No draft of a scan can contain these addresses.
      const subnet = { cidr: `10.${this.lastNumber >> 8}.${this.lastNumber & 255}.0/24`, name, subnet_type: "Lan" };
      for (const network_id of [networkId, network.id])
        await ok(adminClient.post("/api/v1/subnets", { network_id, ...subnet }));
      conflicts = await subnetConflicts();
    }
    const { value, fingerprint } = open() as JsonRecord;
    this.conflict = { value, fingerprint };
    const accepted = () => conflicts.flatMap(({ acceptance }) => (acceptance === null ? [] : [acceptance]));
    const other = conflicts.find((conflict) => conflict.acceptance === null && conflict.fingerprint !== fingerprint);
    if (accepted().length === 0 && other !== undefined) {
      const { type, value, fingerprint } = other;
      await ok(adminClient.post("/api/v1/conflicts/acceptances", { type, value, fingerprint }));
      conflicts = await subnetConflicts();
    }
    pools.set("conflicts/acceptances", idsOf(accepted()));
  }

  footprint(): Footprint {
    const folder = `/proc/${this.appliance.pid}`;
    return {
      memoryKib: this.appliance.memoryKib("RssAnon"),
      descriptors: readdirSync(`${folder}/fd`).length,
      threads: readdirSync(`${folder}/task`).length,
    };
  }

  /** Whether the started process is still running. */
  isAlive(): boolean {
    return isRunning(this.appliance.pid);
  }

  async close(): Promise<void> {
    this.store?.close();
    this.connection.close();
    await this.sandbox.close();
  }

  private async fillKind(organization: Organization, plural: string): Promise<void> {
    const { adminClient } = organization;
    const client = plural === "auth/keys" ? this.session(organization) : adminClient;
    if (client === null) return;
    const liveIds = async () =>
      (await list(client, `/api/v1/${plural}?limit=60`))
        .filter((record) => !isExcluded(record, organization))
        .map(({ id }) => id as string);
    let ids = await liveIds();
    let hasCreated = false;
    for (let missing = POOL_SIZE - ids.length; missing > 0; missing -= 1) {
      const body =
        plural === "bindings"
          ? await this.bindingBody(organization)
          : this.body(organization, plural, missing === POOL_SIZE);
      if (body === null) break;
      // A network may have been deleted, or a name taken: the next attempt may succeed.
      hasCreated = (await client.post(`/api/v1/${plural}`, body)).status === 200 || hasCreated;
    }
    if (hasCreated) ids = await liveIds();
    organization.pools.set(plural, ids.slice(0, POOL_SIZE));
    if (NEVER_DELETED.has(plural)) return;
    // Best effort: a record may still be in use, or belong to the last Owner.
    for (const id of ids.slice(LIVE_MAX)) await client.delete(`/api/v1/${plural}/${id}?cascade=true`);
  }

  /** Body that binds a service to a port of the same host; null without such a host. */
  private async bindingBody({ adminClient }: Organization): Promise<JsonRecord | null> {
    this.lastNumber += 1;
    const hosts = (await list(adminClient, "/api/v1/hosts?limit=60")).filter(
      (host) => host.services.length > 0 && host.ports.length > 0,
    );
    const host = hosts[this.lastNumber % Math.max(hosts.length, 1)];
    return host === undefined ? null : { type: "Port", service_id: host.services[0].id, port_id: host.ports[0].id };
  }

  /** Creates an ignored record. */
  private async createIgnored(): Promise<void> {
    const { adminClient, networkId, pools } = this.first;
    await unlock(this.first);
    const found = await ok(adminClient.post("/api/v1/discovery/self", { network_id: networkId }));
    await ok(adminClient.delete(`/api/v1/hosts/${found.host_id}?cascade=true&ignore=true`));
    await this.fill();
    if ((pools.get("discovery/ignored") ?? []).length === 0)
      throw new Error("input: nothing is ignored, although a host was deleted with ignore=true");
  }

  /** Client with the session of the first organization's Owner; null for the second organization. */
  private session(organization: Organization): Client | null {
    const cookie = organization === this.first ? this.cookie("owner") : null;
    return cookie === null ? null : this.appliance.client({ cookie });
  }

  /** Request body that creates a record; null for kinds created along with others. */
  private body(
    { org, id: organizationId, networkId, pools }: Organization,
    plural: string,
    isFirst: boolean,
  ): JsonRecord | null {
    this.lastNumber += 1;
    const n = this.lastNumber;
    const name = `${MARKS[org]} ${n}`;
    const poolId = (pool: string) => pools.get(pool)?.[n % POOL_SIZE] ?? pools.get(pool)?.[0];
    const inNetwork = { network_id: networkId, name };
    const address = `127.1.252.${n % 250}`;
    const sweep = { network_id: networkId, kind: "sweep", targets: ["127.0.0.1"] };
    const bodies: Record<string, JsonRecord> = {
      networks: { name, description: name },
      vlans: { ...inNetwork, number: 1 + (n % 4_094) },
      // The first subnet contains all host addresses.
      subnets: { ...inNetwork, cidr: isFirst ? "127.1.0.0/16" : `127.2.${n % 256}.0/24`, subnet_type: "Lan" },
      tags: { name, color: "Green", description: name },
      hosts: {
        ...inNetwork,
        description: name,
        ip_addresses: [{ ip_address: `127.1.${n % 250}.${1 + (n % 250)}`, name }],
        ports: [{ number: 1 + (n % 60_000), protocol: "Tcp" }],
        services: [{ name, service_definition: "Nginx" }],
      },
      "if-entries": { host_id: poolId("hosts"), if_index: n, if_descr: name },
      credentials: communityCredential(organizationId, name, "public"),
      users: { email: `u${n}-${org}@pool.example`, name, role: "Member", network_ids: [networkId], password: PASSWORD },
      "auth/keys": { name, organization_id: organizationId, user_id: poolId("users"), tags: [], permissions: "Viewer" },
      "discovery/schedules": { ...sweep, name, cron: "30 2 29 2 *", is_enabled: false },
      "custom-fields": { key: `field_${n}`, label: name, kinds: ["host"], type: "text" },
      markers: { name },
      "ip-ranges": { network_id: networkId, first: address, last: address, purpose: "Static" },
    };
    if (plural === "discovery/scans" && (pools.get(plural) ?? []).length === 0) return { ...sweep, commit: false };
    return bodies[plural] ?? null;
  }
}

/**
 * Undoes what drafts have set and what would refuse most later requests: required reasons and required fields. Deletes
 * surplus custom fields, whose number is limited.
 */
async function unlock({ adminClient }: Organization): Promise<void> {
  const { name, require_change_reason } = await ok(adminClient.get("/api/v1/organizations"));
  if (require_change_reason) await ok(adminClient.put("/api/v1/organizations", { name, require_change_reason: false }));
  const fields = await list(adminClient, "/api/v1/custom-fields?limit=0");
  for (const [index, { id, required }] of fields.entries())
    if (required || index >= POOL_SIZE) await ok(adminClient.delete(`/api/v1/custom-fields/${id}`));
}

/** Waits while a condition holds, up to a timeout. */
async function waitWhile(condition: () => Promise<boolean>): Promise<void> {
  const started = performance.now();
  while ((await condition()) && performance.now() - started < HANG_MS) await Bun.sleep(10);
}

const VERIFICATIONS = "/api/v1/ledger/verifications";
/** States in which a job can be canceled. */
const IN_PROGRESS: ReadonlySet<unknown> = new Set(["Queued", "Running"]);

function idsOf(records: readonly JsonRecord[], statuses?: ReadonlySet<unknown>): string[] {
  return records
    .filter(({ status }) => statuses?.has(status) ?? true)
    .slice(0, POOL_SIZE)
    .map(({ id }) => id as string);
}

/** Whether requests must not delete a record: callers, and records that the test depends on. */
function isExcluded(record: JsonRecord, organization: Organization): boolean {
  if (record.id === organization.networkId || record.name === SET_UP_KEY) return true;
  const email = record.email;
  return typeof email === "string" && !email.endsWith("@pool.example");
}

/** Awaits the data of a response. @throws Error for a refusal, after which the proof could not continue */
export async function ok(response: ReturnType<Client["get"]>): Promise<JsonRecord> {
  const { status, text, data } = await response;
  if (status !== 200) throw new Error(`input: the admin client got ${status}: ${text.slice(0, 500)}`);
  return data as JsonRecord;
}

async function list(client: Client, path: string): Promise<JsonRecord[]> {
  return (await ok(client.get(path))) as JsonRecord[];
}

type OtherData = Readonly<Record<string, string | null>>;

/** Finds the names of data that changed. */
export function changedNames(before: OtherData, after: OtherData): string[] {
  return Object.keys(before).filter((name) => before[name] !== after[name]);
}

const OTHER_DATA_SQL = `SELECT
  (SELECT group_concat(credential_n || field || hex(sealed))
    FROM (SELECT * FROM credential_secrets ORDER BY credential_n, field)) AS secrets,
  (SELECT group_concat(user_n || hash) FROM (SELECT * FROM user_passwords ORDER BY user_n)) AS passwords,
  (SELECT group_concat(api_key_n || hex(hash)) FROM (SELECT * FROM api_key_hashes ORDER BY hash)) AS keys,
  (SELECT group_concat(user_n || hex(hash)) FROM (SELECT * FROM sessions ORDER BY hash)) AS sessions`;
