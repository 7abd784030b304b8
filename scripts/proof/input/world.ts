// Appliance with two mutually isolated organizations, or with a single one, and its callers. Fills it, and refills it
// after requests have emptied or locked it. Must not judge.

import { Database } from "bun:sqlite";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "../../../test/support/appliance/client.ts";
import { PASSWORD, type Running, SET_UP_KEY, setUpBy, Workplace } from "../../../test/support/executable/executable.ts";
import { HANG_MS } from "../../../test/support/measure/limits.ts";
import type { Asker } from "./generate.ts";
import { KeptConnection } from "./wire.ts";

type Wire = Record<string, any>;

/** Marks in the texts of each organization that must not reach the other. */
export const MARKS = { first: "FIRST-ONLY", second: "SECOND-ONLY" } as const;
export type Whose = keyof typeof MARKS;

export interface Transaction {
  readonly sequence: number;
  readonly request_id: string | null;
}

interface Organization {
  readonly whose: Whose;
  readonly id: string;
  /** Its Owner, by a key that no request names. */
  readonly keeper: Client;
  readonly email: string;
  readonly networkId: string;
  /** Ids of live records by path, in creation order. */
  readonly pools: Map<string, string[]>;
}

/** Records of each kind for requests. */
const POOL_SIZE = 8;
/** Live records per kind after a refill: drafts create more than they delete, and memory would grow with them. */
const LIVE_MAX = 3 * POOL_SIZE;
/** Kinds without a DELETE for single records. */
const NEVER_DELETED: ReadonlySet<string> = new Set(["discovery/scans", "discovery/ignored"]);
const PLURALS = [
  "networks",
  "vlans",
  "subnets",
  "tags",
  "hosts",
  "ip-addresses",
  "ports",
  "services",
  "bindings",
  "if-entries",
  "credentials",
  "users",
  "auth/keys",
  "discovery/schedules",
  "discovery/scans",
  "discovery/ignored",
  "custom-fields",
  "markers",
  "ip-ranges",
] as const;

/** Both organizations have the same kinds of records; only a single one may use operations on the whole appliance. */
export type Organizations = "two" | "one";

export interface Footprint {
  /** Anonymous memory, KiB. */
  readonly memoryKib: number;
  readonly descriptors: number;
  readonly threads: number;
}

export class InputWorld {
  readonly place: Workplace;
  readonly appliance: Running;
  readonly connection: KeptConnection;
  /** Requests of its keeper are not part of the test. */
  readonly first: Organization;
  /** Null if the first is the only organization. */
  readonly second: Organization | null;
  private readonly cookies = new Map<Asker, string>();
  /** Ids of the callers' users. */
  private readonly users = new Map<Asker, string>();
  private last = 0;

  private constructor(place: Workplace, appliance: Running, first: Organization, second: Organization | null) {
    this.place = place;
    this.appliance = appliance;
    this.first = first;
    this.second = second;
    this.connection = new KeptConnection(this.port);
  }

  static async open(executable: string, directory: string, organizations: Organizations = "two"): Promise<InputWorld> {
    const place = new Workplace(directory);
    try {
      const command = { command: [executable] };
      const passwordFile = await place.passwordFile();
      const run = (args: readonly string[]) => place.run([...args, "--data", place.data], command);
      const made = [];
      for (const whose of organizations === "two" ? (["first", "second"] as const) : (["first"] as const)) {
        const email = `owner@${whose}.example`;
        const organization = `${whose} organization`;
        made.push({ whose, email, ...(await setUpBy(run, passwordFile, { organization, network: "main", email })) });
      }
      const appliance = await place.serve([], command);
      const [first, second = null] = made.map(
        ({ whose, key, networkId, organizationId, email }): Organization => ({
          whose,
          id: organizationId,
          // A draft may have made change reasons required.
          keeper: appliance.withKey(key).with({ "X-Change-Reason": "requests are to be done again" }),
          email,
          networkId,
          pools: new Map(),
        }),
      ) as [Organization, Organization?];
      const world = new InputWorld(place, appliance, first, second);
      await world.signIn("owner");
      await world.fill();
      await world.ignoreOne();
      for (const asker of ["viewer", "member", "guesser"] as const) {
        const { keeper } = world.of(asker);
        world.users.set(asker, (await ok(keeper.post("/api/v1/users", world.user(asker)))).id);
        await world.signIn(asker);
      }
      return world;
    } catch (error) {
      await place.close();
      throw error;
    }
  }

  get port(): number {
    return Number(new URL(this.appliance.url).port);
  }

  /** Organization of a caller: all except the Owner belong to the second, if it exists. */
  of(asker: Asker): Organization {
    return asker === "owner" ? this.first : (this.second ?? this.first);
  }

  private get organizations(): Organization[] {
    return this.second === null ? [this.first] : [this.first, this.second];
  }

  cookie(asker: Asker): string | null {
    return this.cookies.get(asker) ?? null;
  }

  async signIn(asker: Asker): Promise<void> {
    const began = performance.now();
    const attempt = () =>
      this.appliance.client().post("/api/auth/login", { email: this.emailOf(asker), password: PASSWORD });
    let answer = await attempt();
    // Earlier wrong passwords delay the next attempt.
    while (answer.status === 429 && performance.now() - began < HANG_MS) {
      await Bun.sleep(Number(answer.headers.get("retry-after") ?? 1) * 1_000);
      answer = await attempt();
    }
    const cookie = /session_id=[^;]+/.exec(answer.headers.get("set-cookie") ?? "")?.[0];
    if (cookie === undefined) throw new Error(`input: ${asker} cannot sign in: ${answer.text}`);
    this.cookies.set(asker, cookie);
  }

  /** Resets a caller's password to the common one and signs in: it was changed. */
  async resetPassword(asker: Asker): Promise<void> {
    await ok(this.of(asker).keeper.put(`/api/v1/users/${this.users.get(asker)}`, this.user(asker)));
    await this.signIn(asker);
  }

  private emailOf(asker: Asker): string {
    const { whose, email } = this.of(asker);
    return asker === "owner" ? email : `${asker}@${whose}.example`;
  }

  private user(asker: Asker): Wire {
    const { whose, networkId } = this.of(asker);
    return {
      email: this.emailOf(asker),
      name: `${MARKS[whose]} ${asker}`,
      role: asker === "viewer" ? "Viewer" : "Member",
      network_ids: [networkId],
      password: PASSWORD,
    };
  }

  /** Whether a caller's session is still active with its role; a request may have ended it. */
  async isSignedIn(asker: Asker): Promise<boolean> {
    const cookie = this.cookie(asker);
    if (cookie === null) return true;
    return (await this.appliance.client({ cookie }).get("/api/auth/me")).status === 200;
  }

  /** Replaces the placeholders between @@ by ids, timestamps and other values unknown to drafts. */
  resolve(text: string, asker: Asker): string {
    const own = this.of(asker);
    return text.replaceAll(
      /@@(own|other)\/([a-z/-]+)\/(\d+)@@|@@([a-z]+)@@/g,
      (all, whose: string | undefined, pool: string, n: string, word: string | undefined) => {
        if (word !== undefined) return this.known(word) ?? all;
        const organization = whose === "own" ? own : (this.organizations.find((each) => each !== own) ?? own);
        if (pool === "organizations") return organization.id;
        const ids = organization.pools.get(pool) ?? [];
        return ids[Number(n) % Math.max(ids.length, 1)] ?? "01936f2e-0d5c-7d3a-9a39-3f6f1f7affff";
      },
    );
  }

  private known(word: string): string | null {
    switch (word) {
      case "now":
        return new Date().toISOString();
      case "sequence":
        return String(this.sequence);
      case "backup":
        return this.backup;
      case "password":
        return PASSWORD;
      case "guesser":
        return this.emailOf("guesser");
      case "conflict":
        return this.conflict.value;
      case "fingerprint":
        return this.conflict.fingerprint;
      default:
        return null;
    }
  }

  /** The last seen transaction. */
  sequence = 0;
  private store: Database | null = null;
  /** Name of a backup. */
  private backup = "none";
  /** A subnet in two networks of the first organization. */
  private conflict = { value: "none", fingerprint: "0".repeat(64) };

  async head(): Promise<number> {
    this.sequence = (await ok(this.first.keeper.get("/api/v1/ledger"))).sequence;
    return this.sequence;
  }

  /** Data outside the ledger that only writes may change; without observations, which may change at any time. */
  beside(): Beside {
    this.store ??= new Database(join(this.place.data, "netledger.db"), { readonly: true });
    return this.store.query(BESIDE).get() as Beside;
  }

  /** Transactions of an organization after a sequence, newest first. */
  async transactionsSince(whose: Whose, sequence: number): Promise<Transaction[]> {
    const organization = this.organizations.find((each) => each.whose === whose);
    if (organization === undefined) return [];
    // Most requests make at most one, and a large page takes time.
    for (const limit of [4, 100]) {
      const page = (await ok(organization.keeper.get(`/api/v1/transactions?limit=${limit}`))) as Transaction[];
      const since = page.filter((each) => each.sequence > sequence);
      if (since.length < page.length || limit === 100) return since;
    }
    return [];
  }

  /** Creates missing records, and collects existing ids. */
  async fill(): Promise<void> {
    for (const organization of this.organizations) {
      await unlock(organization);
      for (const plural of PLURALS) await this.fillOne(organization, plural);
    }
    await this.fillSessions();
    await this.fillConflicts();
    await this.noteBackups();
    await this.head();
  }

  /**
   * Creates the subject of an operation if it does not last until the next refill: a scan or a verification to cancel,
   * a backup.
   */
  async prepare(operation: string): Promise<void> {
    const { keeper, networkId, pools } = this.first;
    const owner = this.session(this.first);
    for (const [plural, ids] of this.setAside) pools.set(plural, ids);
    this.setAside.clear();
    switch (operation) {
      case "cancelScan": {
        const path = "/api/v1/discovery/scans";
        await keeper.post(path, { network_id: networkId, kind: "sweep", targets: ["127.0.0.1"], commit: false });
        pools.set("discovery/scans", idsOf((await ok(keeper.get(`${path}?limit=60`))) as Wire[], UNDER_WAY));
        break;
      }
      case "cancelLedgerVerification": {
        if (this.second !== null || owner === null) return;
        const path = "/api/v1/ledger/verifications";
        await owner.post(path, undefined);
        pools.set("ledger/verifications", idsOf((await ok(owner.get(path))) as Wire[], UNDER_WAY));
        break;
      }
      case "createBinding":
      case "importBindings":
      case "splitHost":
        await this.noteOneHost();
        break;
      case "liftIgnored":
      case "liftManyIgnored":
        if (((await ok(keeper.get("/api/v1/discovery/ignored?limit=1"))) as Wire[]).length > 0) return;
        await this.ignoreOne();
        break;
      case "getLedgerVerification": {
        if (this.second !== null || owner === null) return;
        pools.set("ledger/verifications", idsOf((await ok(owner.get("/api/v1/ledger/verifications"))) as Wire[]));
        break;
      }
      case "acceptConflict":
      case "withdrawConflictAcceptance":
        await this.fillConflicts();
        break;
      case "deleteBackup":
      case "downloadBackup":
      case "verifyBackup":
        if (this.second !== null || owner === null) return;
        await this.noteBackups();
        // Only one runs at a time.
        if (operation === "verifyBackup")
          await whileHolds(
            async () => idsOf((await ok(owner.get("/api/v1/ledger/verifications"))) as Wire[], UNDER_WAY).length > 0,
          );
        break;
      default:
        return;
    }
    await this.head();
  }

  /** Pools temporarily restricted to the ids of one host. */
  private readonly setAside = new Map<string, string[]>();

  /** Restricts the pools to one host and its children: the ids must belong together. */
  private async noteOneHost(): Promise<void> {
    const { keeper, pools } = this.first;
    const created = await keeper.post("/api/v1/hosts", this.body(this.first, "hosts", false));
    const host = created.data as Wire;
    if (created.status !== 200) return;
    const parts = [
      ["hosts", [host]],
      ["ip-addresses", host.ip_addresses],
      ["ports", host.ports],
      ["services", host.services],
    ] as const;
    for (const [plural, records] of parts) {
      this.setAside.set(plural, pools.get(plural) ?? []);
      pools.set(plural, idsOf(records as Wire[]));
    }
  }

  /** Selects the newest complete backup; creates one if there is none. */
  private async noteBackups(): Promise<void> {
    const { keeper } = this.first;
    const list = async () => (await ok(keeper.get("/api/v1/backups?limit=0"))) as Wire[];
    let backups = await list();
    const whole = () => backups.find((each) => each.state === "Done");
    if (whole() === undefined) {
      await keeper.post("/api/v1/backups", undefined);
      await whileHolds(async () => {
        backups = await list();
        return whole() === undefined;
      });
    }
    this.backup = whole()?.name ?? "none";
  }

  /** Another session of the Owner, which requests may end. */
  private async fillSessions(): Promise<void> {
    const owner = this.session(this.first);
    if (owner === null) return;
    const list = async () =>
      ((await ok(owner.get("/api/auth/sessions"))) as Wire[]).filter((each) => each.is_current !== true);
    if ((await list()).length === 0)
      await this.appliance.client().post("/api/auth/login", { email: this.first.email, password: PASSWORD });
    this.first.pools.set("auth/sessions", idsOf(await list()));
  }

  /** A subnet in two networks, which is a conflict, and another, accepted one. */
  private async fillConflicts(): Promise<void> {
    const { keeper, networkId, pools } = this.first;
    const list = async () => (await ok(keeper.get("/api/v1/conflicts?type=Subnet&limit=0"))) as Wire[];
    let conflicts = await list();
    const open = () => conflicts.find((each) => each.acceptance === null);
    for (let made = 0; conflicts.length < 2 || open() === undefined; made += 1) {
      if (made > 3) throw new Error("input: a subnet of two networks is no conflict");
      if (made === 0) await unlock(this.first);
      this.last += 1;
      const name = `${MARKS.first} twin ${this.last}`;
      const other = await ok(keeper.post("/api/v1/networks", { name }));
      for (const network_id of [networkId, other.id])
        await ok(
          keeper.post("/api/v1/subnets", {
            network_id,
            // Loopback is never in conflict. No scan draft can name these.
            cidr: `10.${this.last >> 8}.${this.last & 255}.0/24`,
            name,
            subnet_type: "Lan",
          }),
        );
      conflicts = await list();
    }
    const { value, fingerprint } = open() as Wire;
    this.conflict = { value, fingerprint };
    const accepted = () => conflicts.flatMap(({ acceptance }) => (acceptance === null ? [] : [acceptance as Wire]));
    const other = conflicts.find((each) => each.acceptance === null && each.fingerprint !== fingerprint);
    if (accepted().length === 0 && other !== undefined) {
      const { type, value, fingerprint } = other;
      await ok(keeper.post("/api/v1/conflicts/acceptances", { type, value, fingerprint }));
      conflicts = await list();
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
    try {
      return (
        readFileSync(`/proc/${this.appliance.pid}/stat`, "utf8").includes(") ") &&
        !readFileSync(`/proc/${this.appliance.pid}/stat`, "utf8").includes(") Z")
      );
    } catch {
      return false;
    }
  }

  async close(): Promise<void> {
    this.store?.close();
    this.connection.close();
    await this.place.close();
  }

  private async fillOne(organization: Organization, plural: (typeof PLURALS)[number]): Promise<void> {
    const { keeper } = organization;
    const by = plural === "auth/keys" ? this.session(organization) : keeper;
    if (by === null) return;
    const list = async () =>
      ((await ok(by.get(`/api/v1/${plural}?limit=60`))) as Wire[])
        .filter((each) => !isKeptOut(each, organization))
        .map((each) => each.id as string);
    let ids = await list();
    let isMade = false;
    for (let missing = POOL_SIZE - ids.length; missing > 0; missing -= 1) {
      const body =
        plural === "bindings"
          ? await this.bindingBody(organization)
          : this.body(organization, plural, missing === POOL_SIZE);
      if (body === null) break;
      // A network may have been deleted, and a name may be taken: the next one will do.
      isMade = (await by.post(`/api/v1/${plural}`, body)).status === 200 || isMade;
    }
    if (isMade) ids = await list();
    organization.pools.set(plural, ids.slice(0, POOL_SIZE));
    if (NEVER_DELETED.has(plural)) return;
    // Best effort: a record may be the last Owner's, or in use by one that goes with it.
    for (const id of ids.slice(LIVE_MAX)) await by.delete(`/api/v1/${plural}/${id}?cascade=true`);
  }

  /** A service bound to a port of the same host. */
  private async bindingBody({ keeper }: Organization): Promise<Wire | null> {
    this.last += 1;
    const hosts = ((await ok(keeper.get("/api/v1/hosts?limit=60"))) as Wire[]).filter(
      (host) => host.services.length > 0 && host.ports.length > 0,
    );
    const host = hosts[this.last % Math.max(hosts.length, 1)];
    return host === undefined ? null : { type: "Port", service_id: host.services[0].id, port_id: host.ports[0].id };
  }

  /** Deletes a discovered record: the only way to create an ignored one. */
  private async ignoreOne(): Promise<void> {
    const { keeper, networkId, pools } = this.first;
    await unlock(this.first);
    const found = await ok(keeper.post("/api/v1/discovery/self", { network_id: networkId }));
    await ok(keeper.delete(`/api/v1/hosts/${found.host_id}?cascade=true`));
    await this.fill();
    if ((pools.get("discovery/ignored") ?? []).length === 0)
      throw new Error("input: nothing is ignored, although a discovered host was deleted");
  }

  /** Client with the session of an organization's Owner; only the first one's has one. */
  private session(organization: Organization): Client | null {
    const cookie = organization === this.first ? this.cookie("owner") : null;
    return cookie === null ? null : this.appliance.client({ cookie });
  }

  /** Body of a create; null for kinds created along with others. */
  private body(
    { whose, id: organizationId, networkId, pools }: Organization,
    plural: string,
    isFirst: boolean,
  ): Wire | null {
    this.last += 1;
    const n = this.last;
    const name = `${MARKS[whose]} ${n}`;
    const some = (pool: string) => pools.get(pool)?.[n % POOL_SIZE] ?? pools.get(pool)?.[0];
    switch (plural) {
      case "networks":
        return { name, description: name };
      case "vlans":
        return { network_id: networkId, number: 1 + (n % 4_094), name };
      case "subnets":
        // The first subnet contains all host addresses.
        return {
          network_id: networkId,
          cidr: isFirst ? "127.1.0.0/16" : `127.2.${n % 256}.0/24`,
          name,
          subnet_type: "Lan",
        };
      case "tags":
        return { name, color: "Green", description: name };
      case "hosts":
        return {
          name,
          network_id: networkId,
          description: name,
          ip_addresses: [{ ip_address: `127.1.${n % 250}.${1 + (n % 250)}`, name }],
          ports: [{ number: 1 + (n % 60_000), protocol: "Tcp" }],
          services: [{ name, service_definition: "Nginx" }],
        };
      case "if-entries":
        return { host_id: some("hosts"), if_index: n, if_descr: name };
      case "credentials":
        return {
          organization_id: organizationId,
          name,
          credential_type: { type: "SnmpV2c", community: { mode: "Inline", value: "public" } },
          assigned_network_ids: [],
          host_assignments: [],
          tags: [],
        };
      case "users":
        return {
          email: `u${n}-${whose}@pool.example`,
          name,
          role: "Member",
          network_ids: [networkId],
          password: PASSWORD,
        };
      case "auth/keys":
        return { name, organization_id: organizationId, user_id: some("users"), tags: [], permissions: "Viewer" };
      case "discovery/schedules":
        return {
          network_id: networkId,
          name,
          cron: "30 2 29 2 *",
          kind: "sweep",
          targets: ["127.0.0.1"],
          is_enabled: false,
        };
      case "custom-fields":
        return { key: `field_${n}`, label: name, kinds: ["host"], type: "text" };
      case "markers":
        return { name };
      case "ip-ranges":
        return {
          network_id: networkId,
          first: `127.1.252.${n % 250}`,
          last: `127.1.252.${n % 250}`,
          purpose: "Static",
        };
      case "discovery/scans":
        return (pools.get("discovery/scans") ?? []).length > 0
          ? null
          : { network_id: networkId, kind: "sweep", targets: ["127.0.0.1"], commit: false };
      default:
        return null;
    }
  }
}

/**
 * Undoes settings by drafts that would refuse most later requests: required reasons and required fields. Deletes custom
 * fields of drafts, whose number is limited.
 */
async function unlock({ keeper }: Organization): Promise<void> {
  const { name, require_change_reason } = await ok(keeper.get("/api/v1/organizations"));
  if (require_change_reason) await ok(keeper.put("/api/v1/organizations", { name, require_change_reason: false }));
  const fields = (await ok(keeper.get("/api/v1/custom-fields?limit=0"))) as Wire[];
  for (const [place, { id, required }] of fields.entries())
    if (required || place >= POOL_SIZE) await ok(keeper.delete(`/api/v1/custom-fields/${id}`));
}

/** Waits while a condition holds, up to a limit. */
async function whileHolds(holds: () => Promise<boolean>): Promise<void> {
  const began = performance.now();
  while ((await holds()) && performance.now() - began < HANG_MS) await Bun.sleep(10);
}

/** States that a cancellation ends. */
const UNDER_WAY: ReadonlySet<unknown> = new Set(["Queued", "Running"]);

function idsOf(records: readonly Wire[], statuses?: ReadonlySet<unknown>): string[] {
  return records
    .filter(({ status }) => statuses?.has(status) ?? true)
    .slice(0, POOL_SIZE)
    .map(({ id }) => id as string);
}

/** Requests may not delete the callers and the records that keep order. */
function isKeptOut(record: Wire, organization: Organization): boolean {
  if (record.id === organization.networkId || record.name === SET_UP_KEY) return true;
  const email = record.email;
  return typeof email === "string" && !email.endsWith("@pool.example");
}

/** @throws Error on a refusal: the proof could not continue */
export async function ok(answer: ReturnType<Client["get"]>): Promise<Wire> {
  const { status, text, data } = await answer;
  if (status !== 200) throw new Error(`input: the keeper was answered ${status}: ${text.slice(0, 500)}`);
  return data as Wire;
}

type Beside = Readonly<Record<string, string | null>>;

/** Names of what differs. */
export function differing(one: Beside, other: Beside): string[] {
  return Object.keys(one).filter((name) => one[name] !== other[name]);
}

const BESIDE = `SELECT
  (SELECT group_concat(credential_n || field || hex(sealed))
    FROM (SELECT * FROM credential_secrets ORDER BY credential_n, field)) AS secrets,
  (SELECT group_concat(user_n || hash) FROM (SELECT * FROM user_passwords ORDER BY user_n)) AS passwords,
  (SELECT group_concat(api_key_n || hex(hash)) FROM (SELECT * FROM api_key_hashes ORDER BY hash)) AS keys,
  (SELECT group_concat(user_n || hex(hash)) FROM (SELECT * FROM sessions ORDER BY hash)) AS sessions`;
