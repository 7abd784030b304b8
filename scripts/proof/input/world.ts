// An appliance with two organizations that must not know of each other, and who asks it. Fills it, and fills it up
// again when requests have emptied it. Judges nothing.

import { Database } from "bun:sqlite";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "../../../test/support/appliance/client.ts";
import { PASSWORD, type Running, SET_UP_KEY, setUpBy, Workplace } from "../../../test/support/executable/executable.ts";
import type { Asker } from "./generate.ts";
import { KeptConnection } from "./wire.ts";

type Wire = Record<string, any>;

/** Stand in texts of each organization, and must not reach the other. */
export const MARKS = { first: "FIRST-ONLY", second: "SECOND-ONLY" } as const;
type Whose = keyof typeof MARKS;

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
  /** Ids of live records by path, in the order of their making. */
  readonly pools: Map<string, string[]>;
}

/** Records of each kind that requests can meet. */
const POOL_SIZE = 8;
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
] as const;

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
  /** Beside it: what is asked here is no part of what is tried. */
  readonly first: Organization;
  readonly second: Organization;
  private readonly cookies = new Map<Asker, string>();
  private last = 0;

  private constructor(place: Workplace, appliance: Running, first: Organization, second: Organization) {
    this.place = place;
    this.appliance = appliance;
    this.first = first;
    this.second = second;
    this.connection = new KeptConnection(this.port);
  }

  static async open(executable: string, directory: string): Promise<InputWorld> {
    const place = new Workplace(directory);
    try {
      const command = { command: [executable] };
      const passwordFile = await place.passwordFile();
      const run = (args: readonly string[]) => place.run([...args, "--data", place.data], command);
      const made = [];
      for (const whose of ["first", "second"] as const) {
        const email = `owner@${whose}.example`;
        const organization = `${whose} organization`;
        made.push({ whose, email, ...(await setUpBy(run, passwordFile, { organization, network: "main", email })) });
      }
      const appliance = await place.serve([], command);
      const [first, second] = made.map(
        ({ whose, key, networkId, organizationId, email }): Organization => ({
          whose,
          id: organizationId,
          keeper: appliance.withKey(key),
          email,
          networkId,
          pools: new Map(),
        }),
      ) as [Organization, Organization];
      const world = new InputWorld(place, appliance, first, second);
      await world.signIn("owner");
      await world.fill();
      await world.ignoreOne();
      for (const [asker, role] of [
        ["viewer", "Viewer"],
        ["member", "Member"],
        ["guesser", "Member"],
      ] as const) {
        const email = `${asker}@second.example`;
        await ok(
          second.keeper.post("/api/v1/users", {
            email,
            name: `${MARKS.second} ${asker}`,
            role,
            network_ids: [second.networkId],
            password: PASSWORD,
          }),
        );
      }
      for (const asker of ["viewer", "member", "guesser"] as const) await world.signIn(asker);
      return world;
    } catch (error) {
      await place.close();
      throw error;
    }
  }

  get port(): number {
    return Number(new URL(this.appliance.url).port);
  }

  /** The organization that somebody is of; nobody is of the second. */
  of(asker: Asker): Organization {
    return asker === "owner" ? this.first : this.second;
  }

  cookie(asker: Asker): string | null {
    return this.cookies.get(asker) ?? null;
  }

  async signIn(asker: Asker): Promise<void> {
    const email = asker === "owner" ? this.first.email : `${asker}@second.example`;
    const answer = await this.appliance.client().post("/api/auth/login", { email, password: PASSWORD });
    const cookie = /session_id=[^;]+/.exec(answer.headers.get("set-cookie") ?? "")?.[0];
    if (cookie === undefined) throw new Error(`input: ${asker} cannot sign in: ${answer.text}`);
    this.cookies.set(asker, cookie);
  }

  /** Whether somebody's session still is one of the role that it had; a request may have ended it. */
  async isSignedIn(asker: Asker): Promise<boolean> {
    const cookie = this.cookie(asker);
    if (cookie === null) return true;
    return (await this.appliance.client({ cookie }).get("/api/auth/me")).status === 200;
  }

  /** Puts ids and instants in the places of what stands between @@. */
  resolve(text: string, asker: Asker): string {
    const own = this.of(asker);
    return text.replaceAll(
      /@@(own|other)\/([a-z/-]+)\/(\d+)@@|@@(now|sequence|backup)@@/g,
      (_all, whose: string | undefined, pool: string, n: string, word: string | undefined) => {
        if (word === "now") return new Date().toISOString();
        if (word === "sequence") return String(this.sequence);
        if (word === "backup") return this.backup;
        const organization = (whose === "own") === (own === this.first) ? this.first : this.second;
        if (pool === "organizations") return organization.id;
        const ids = organization.pools.get(pool) ?? [];
        return ids[Number(n) % Math.max(ids.length, 1)] ?? "01936f2e-0d5c-7d3a-9a39-3f6f1f7affff";
      },
    );
  }

  /** The last transaction that was seen. */
  sequence = 0;
  private store: Database | null = null;
  /** The name of one. */
  private backup = "none";

  async head(): Promise<number> {
    this.sequence = (await ok(this.first.keeper.get("/api/v1/ledger"))).sequence;
    return this.sequence;
  }

  /**
   * What is stored beside the ledger and must change only by what is done; observations are left out, they may come at
   * any time.
   */
  beside(): string {
    this.store ??= new Database(join(this.place.data, "netledger.db"), { readonly: true });
    return JSON.stringify(this.store.query(BESIDE).values());
  }

  /** An organization's transactions after one, newest first. */
  async transactionsSince(whose: Whose, sequence: number): Promise<Transaction[]> {
    return ((await ok(this[whose].keeper.get("/api/v1/transactions?limit=100"))) as Transaction[]).filter(
      (each) => each.sequence > sequence,
    );
  }

  /** Makes what is missing, and notes what there is. */
  async fill(): Promise<void> {
    for (const organization of [this.first, this.second]) {
      for (const plural of PLURALS) await this.fillOne(organization, plural);
    }
    this.backup = ((await ok(this.first.keeper.get("/api/v1/backups"))) as Wire[])[0]?.name ?? "none";
    await this.head();
  }

  footprint(): Footprint {
    const folder = `/proc/${this.appliance.pid}`;
    return {
      memoryKib: this.appliance.memoryKib("RssAnon"),
      descriptors: readdirSync(`${folder}/fd`).length,
      threads: readdirSync(`${folder}/task`).length,
    };
  }

  /** Whether the process that was started is the one that runs. */
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
      // A network may have been taken away meanwhile, and a name may be taken: the next one will do.
      isMade = (await by.post(`/api/v1/${plural}`, body)).status === 200 || isMade;
    }
    if (isMade) ids = await list();
    organization.pools.set(plural, ids.slice(0, POOL_SIZE));
  }

  /** A service at the port that stands beside it. */
  private async bindingBody({ keeper }: Organization): Promise<Wire | null> {
    this.last += 1;
    const hosts = ((await ok(keeper.get("/api/v1/hosts?limit=60"))) as Wire[]).filter(
      (host) => host.services.length > 0 && host.ports.length > 0,
    );
    const host = hosts[this.last % Math.max(hosts.length, 1)];
    return host === undefined ? null : { type: "Port", service_id: host.services[0].id, port_id: host.ports[0].id };
  }

  /** Deletes what discovery has found: it is noted as ignored, which nothing else makes. */
  private async ignoreOne(): Promise<void> {
    const { keeper, networkId, pools } = this.first;
    const found = await ok(keeper.post("/api/v1/discovery/self", { network_id: networkId }));
    await ok(keeper.delete(`/api/v1/hosts/${found.host_id}?cascade=true`));
    await this.fill();
    if ((pools.get("discovery/ignored") ?? []).length === 0)
      throw new Error("input: nothing is ignored, although a discovered host was deleted");
  }

  /** A client with the session of an organization's Owner; only the first one's has one. */
  private session(organization: Organization): Client | null {
    const cookie = organization === this.first ? this.cookie("owner") : null;
    return cookie === null ? null : this.appliance.client({ cookie });
  }

  /** What a create takes; null for kinds that come with others. */
  private body({ whose, networkId, pools }: Organization, plural: string, isFirst: boolean): Wire | null {
    this.last += 1;
    const n = this.last;
    const name = `${MARKS[whose]} ${n}`;
    const organizationId = this[whose].id;
    const some = (pool: string) => pools.get(pool)?.[n % POOL_SIZE] ?? pools.get(pool)?.[0];
    switch (plural) {
      case "networks":
        return { name, description: name };
      case "vlans":
        return { network_id: networkId, number: 1 + (n % 4_094), name };
      case "subnets":
        // The first is where everybody's addresses are.
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
      case "discovery/scans":
        return (pools.get("discovery/scans") ?? []).length > 0
          ? null
          : { network_id: networkId, kind: "sweep", targets: ["127.0.0.1"], commit: false };
      default:
        return null;
    }
  }
}

/** Who asks, and what keeps order, is no part of what requests may take away. */
function isKeptOut(record: Wire, organization: Organization): boolean {
  if (record.id === organization.networkId || record.name === SET_UP_KEY) return true;
  const email = record.email;
  return typeof email === "string" && !email.endsWith("@pool.example");
}

/** @throws Error when it was refused: the proof could not go on */
export async function ok(answer: ReturnType<Client["get"]>): Promise<Wire> {
  const { status, text, data } = await answer;
  if (status !== 200) throw new Error(`input: the keeper was answered ${status}: ${text.slice(0, 500)}`);
  return data as Wire;
}

const BESIDE = `SELECT
  (SELECT group_concat(credential_n || field || hex(sealed))
    FROM (SELECT * FROM credential_secrets ORDER BY credential_n, field)),
  (SELECT group_concat(user_n || hash) FROM (SELECT * FROM user_passwords ORDER BY user_n)),
  (SELECT group_concat(api_key_n || hex(hash)) FROM (SELECT * FROM api_key_hashes ORDER BY hash)),
  (SELECT group_concat(user_n || hex(hash)) FROM (SELECT * FROM sessions ORDER BY hash))`;
