// Concurrent writes of every kind over several connections, until the appliance is killed. `Acknowledged` records which
// requests got a response.

import { createHash } from "node:crypto";
import type { ApiResponse, Client } from "../../../test/support/appliance/client.ts";
import type { JsonRecord } from "../../../test/support/appliance/factories.ts";
import type { SeededRandom } from "../../../test/support/injected/seeded-random.ts";
import { Acknowledged, type Known, matchesKnown, type PendingWrite } from "./acknowledged.ts";
import { DEVICE_TARGETS, type Devices } from "./devices.ts";

export const HOSTS = "/api/v1/hosts";
export const IF_ENTRIES = "/api/v1/if-entries";
export const KEYS = "/api/v1/auth/keys";
export const SCANS = "/api/v1/discovery/scans";
export const TAGS = "/api/v1/tags";

/** Records that the load uses. */
export interface LoadTarget {
  readonly organizationId: string;
  readonly userId: string;
  /** Network of the written hosts; scans have another one. */
  readonly networkId: string;
  readonly scannedNetworkId: string;
}

/** A response about the past, which must never change. */
interface PastResponse {
  readonly path: string;
  /** The body as received. */
  readonly text: string;
}

interface SeenBackup {
  readonly name: string;
  readonly sequence: number;
  readonly hash: string;
  /** Digest of the file. */
  readonly sha256: string;
}

/** Expected state of one store, kept over all rounds. */
export class KnownState {
  readonly acknowledged = new Acknowledged();
  readonly past: PastResponse[] = [];
  readonly backups: SeenBackup[] = [];
  /** Scans by id, as last returned. */
  readonly scans = new Map<string, JsonRecord>();
  /** Text of API keys by id; null after a rotation without a response. */
  readonly keyTexts = new Map<string, string | null>();
  /** Ids of the records that each connection created. */
  readonly hostIds: string[][] = [];
  readonly bulkWrites: string[][] = [];
  readonly tagIds: string[][] = [];
  readonly keyIds: string[][] = [];
  readonly ifEntryIds: string[][] = [];
  readonly switchIds: string[] = [];
  /** Interrupted requests of the last round. */
  interrupted: InterruptedRequest[] = [];
  /** Responses other than success. */
  readonly refusals: string[] = [];
}

/** A POST without a response, to be repeated. */
interface InterruptedRequest {
  readonly request: number;
  readonly path: string;
  readonly body: unknown;
  /** Idempotency-Key of the request. */
  readonly key: string;
  readonly list: string;
  readonly expected: ReadonlyMap<string, PendingWrite["matches"]>;
  readonly records: (data: any) => ReadonlyMap<string, Known>;
}

/** Maximum number of past responses that are kept for a later comparison. */
const PAST_MAX = 40;
const BULK_CONNECTION = 4;
const CONNECTIONS = 6;

interface LoadOptions {
  readonly state: KnownState;
  readonly target: LoadTarget;
  /** Client with a session: only users create API keys. */
  readonly client: Client;
  readonly devices: Devices;
  readonly random: SeededRandom;
  readonly withScans: boolean;
  readonly withBackup: boolean;
  /** Directory of the backups. */
  readonly backups: string;
}

export class Load {
  private readonly options: LoadOptions;
  private readonly bulkListeners: Array<() => void> = [];
  private readonly enough = Promise.withResolvers<void>();
  private remainingWrites = Number.POSITIVE_INFINITY;
  private isOver = false;

  constructor(options: LoadOptions) {
    this.options = options;
  }

  /** Resolves just before a bulk write is sent. */
  get bulk(): Promise<void> {
    return new Promise((resolve) => this.bulkListeners.push(resolve));
  }

  /** Resolves after this many more acknowledged writes. */
  acknowledged(count: number): Promise<void> {
    this.remainingWrites = count;
    return this.enough.promise;
  }

  /** Stops new requests; those in progress finish. */
  end(): void {
    this.isOver = true;
  }

  /** Runs until the appliance or the load ends. */
  async run(): Promise<void> {
    const { withScans, withBackup } = this.options;
    const tasks = Array.from({ length: CONNECTIONS }, (_, connection) => this.write(connection));
    tasks.push(this.readPast());
    if (withScans) tasks.push(this.scan());
    if (withBackup) tasks.push(this.takeBackup());
    await Promise.all(tasks.map((task) => task.catch(ignoreDisconnect)));
  }

  private async write(connection: number): Promise<void> {
    const { state, random } = this.options;
    for (const list of [state.hostIds, state.bulkWrites, state.tagIds, state.keyIds, state.ifEntryIds])
      list[connection] ??= [];
    if (state.switchIds[connection] === undefined) await this.createSwitch(connection);
    while (!this.isOver) {
      const choice = random.integer(20);
      if (connection === BULK_CONNECTION)
        await (random.integer(2) === 0 ? this.bulkHosts(connection) : this.tagMany(connection));
      else if (choice < 4) await this.createHost(connection);
      else if (choice < 8) await this.updateHost(connection);
      else if (choice < 9) await this.remove(HOSTS, state.hostIds[connection] ?? []);
      else if (choice < 11) await this.createTag(connection);
      else if (choice < 12) await this.tagHost(connection);
      else if (choice < 15) await this.changeKeys(connection);
      else if (choice < 18) await this.changeIfEntries(connection);
      else await this.tagMany(connection);
    }
  }

  /** Creates a host with interface entries, which are checked one by one. */
  private async createSwitch(connection: number): Promise<void> {
    const { state, target } = this.options;
    const [id, name] = [this.id(), `switch ${connection}`];
    state.acknowledged.limitFields(HOSTS, id, ["id", "name"]);
    const body = { id, network_id: target.networkId, name };
    await this.sendOne(id, ["POST", HOSTS], body, HOSTS, hasName(name), () => ({ id, name }));
    state.switchIds[connection] = id;
  }

  private async createHost(connection: number): Promise<void> {
    const { client, state, target, random } = this.options;
    const id = this.id();
    const body = { id, network_id: target.networkId, ...this.hostFields() };
    const data = await this.sendOne(id, ["POST", HOSTS], body, HOSTS, asRequested(body));
    if (data === null) return;
    state.hostIds[connection]?.push(id);
    if (random.integer(8) !== 0) return;
    const read = await client.get(`${HOSTS}/${id}`);
    if (!matchesKnown(read.data, data))
      state.refusals.push(`a host was read differently than acknowledged: ${read.text.slice(0, 300)}`);
  }

  private async updateHost(connection: number): Promise<void> {
    const { state, random } = this.options;
    const ids = state.hostIds[connection] ?? [];
    if (ids.length === 0) return;
    const id = random.pick(ids);
    const known = state.acknowledged.known(id);
    if (known === null) return;
    // Interfaces have separate routes: an update of the host ignores them.
    const { interfaces: _, ...fields } = this.hostFields();
    const body = { id, hidden: false, tags: known.tags ?? [], ...fields };
    await this.sendOne(id, ["PUT", `${HOSTS}/${id}`], body, HOSTS, asRequested(body));
  }

  /** Random fields of a host, with children of every kind. */
  private hostFields(): JsonRecord {
    const { random } = this.options;
    const name = `host ${random.integer(1_000_000)}`;
    const times = <T>(count: number, make: (index: number) => T) =>
      Array.from({ length: count }, (_, index) => make(index));
    const ports = times(random.integer(4), (index) => ({
      id: this.id(),
      number: 1 + random.integer(60_000) + index,
      protocol: "Tcp",
    }));
    return {
      name,
      description: "d".repeat(random.integer(2_000)),
      ip_addresses: times(random.integer(3), () => ({
        ip_address: `10.${random.integer(256)}.${random.integer(256)}.${random.integer(256)}`,
      })),
      ports,
      services: ports.map(({ id }, index) => ({
        name: `${name} service ${index}`,
        service_definition: "OpenSSH",
        bindings: [{ type: "Port", port_id: id }],
      })),
      interfaces: times(random.integer(6), (index) => ({
        if_index: index + 1,
        if_descr: `${name} port ${index}`,
        fdb_macs: times(random.integer(4), () => `02:00:${hex(random)}:${hex(random)}:${hex(random)}:${hex(random)}`),
      })),
    };
  }

  private async remove(path: string, ids: string[]): Promise<void> {
    const [id] = ids.splice(this.options.random.integer(Math.max(1, ids.length)), 1);
    if (id === undefined) return;
    const isGone = (found: Known) => found === null;
    await this.sendOne(id, ["DELETE", `${path}/${id}`], undefined, path, isGone, () => null);
  }

  /** Writes many hosts in one transaction: new ones, or renames of earlier ones. */
  private async bulkHosts(connection: number): Promise<void> {
    const { state, target, random } = this.options;
    const known = state.bulkWrites[connection] ?? [];
    const word = `bulk ${random.integer(1_000_000)}`;
    const isNew = known.length === 0 || random.integer(3) > 0;
    const count = 2 + random.integer(random.pick([10, 60, 400]));
    const ids = isNew ? Array.from({ length: count }, () => this.id()) : known.slice(0, count);
    const body = ids.map((id, index) =>
      isNew
        ? { id, network_id: target.networkId, name: `${word} ${index}`, interfaces: [{ if_index: 1, if_descr: word }] }
        : { id, name: `${word} ${index}` },
    );
    const expected = new Map(ids.map((id, index) => [id, hasName(`${word} ${index}`)] as const));
    for (const listener of this.bulkListeners.splice(0)) listener();
    const answered = (data: JsonRecord[]) =>
      new Map(data.map(({ id, name, updated_at }) => [String(id), { id, name, updated_at }]));
    // Few enough not to dominate every start by lists.
    const data = await this.send("POST", `${HOSTS}/bulk`, body, HOSTS, expected, answered);
    if (data !== null && isNew) state.bulkWrites[connection] = ids.slice(0, 100);
  }

  private async createTag(connection: number): Promise<void> {
    const { state, random } = this.options;
    const ids = state.tagIds[connection] ?? [];
    const name = `tag ${random.integer(1_000_000_000)}`;
    // The first three tags are assigned to hosts and never removed.
    const free = ids.slice(3);
    if (free.length > 4 && random.integer(2) === 0) {
      const removed = random.pick(free);
      ids.splice(ids.indexOf(removed), 1);
      return this.remove(TAGS, [removed]);
    }
    const id = free.length > 0 && random.integer(2) === 0 ? random.pick(free) : this.id();
    const isNew = !ids.includes(id);
    const body = { name, color: random.pick(["Green", "Red"]), description: "t".repeat(random.integer(200)) };
    const request = isNew ? (["POST", TAGS] as const) : (["PUT", `${TAGS}/${id}`] as const);
    const data = await this.sendOne(id, request, { id, ...body }, TAGS, asRequested(body));
    if (data !== null && isNew) ids.push(id);
  }

  private async tagHost(connection: number): Promise<void> {
    const { state, random } = this.options;
    const [ids, tags] = [state.hostIds[connection] ?? [], (state.tagIds[connection] ?? []).slice(0, 3)];
    if (ids.length === 0 || tags.length === 0) return;
    const id = random.pick(ids);
    const known = state.acknowledged.known(id);
    if (known === null) return;
    const expected = tags.filter(() => random.integer(2) === 0);
    const after = { ...withoutVersion(known), tags: expected };
    const body = { entity_type: "host", entity_id: id, tag_ids: expected };
    await this.sendOne(id, ["PUT", `${TAGS}/assign`], body, HOSTS, isTagged(after), () => after);
  }

  /** Tags several hosts that lack the tag, so that a partial write would be visible. */
  private async tagMany(connection: number): Promise<void> {
    const { state, random } = this.options;
    const tag = (state.tagIds[connection] ?? [])[0];
    if (tag === undefined) return this.createTag(connection);
    const ids = (state.hostIds[connection] ?? [])
      .filter((id) => !(state.acknowledged.known(id)?.tags ?? [tag]).includes(tag))
      .slice(0, 2 + random.integer(8));
    if (ids.length === 0) return this.createHost(connection);
    const after = new Map(
      ids.map((id) => {
        const known = state.acknowledged.known(id) as JsonRecord;
        return [id, { ...withoutVersion(known), tags: [...known.tags, tag] }] as const;
      }),
    );
    const expected = new Map([...after].map(([id, record]) => [id, isTagged(record)] as const));
    const body = { entity_type: "host", entity_ids: ids, tag_id: tag };
    await this.send("POST", `${TAGS}/assign/bulk-add`, body, HOSTS, expected, () => after);
  }

  private async changeKeys(connection: number): Promise<void> {
    const { state, target, random } = this.options;
    const ids = state.keyIds[connection] ?? [];
    const fields = {
      name: `key ${random.integer(1_000_000)}`,
      organization_id: target.organizationId,
      user_id: target.userId,
      tags: [],
      permissions: random.pick(["Viewer", "Member"]),
    };
    const choice = ids.length < 3 ? 0 : random.integer(5);
    if (choice <= 1) {
      const id = this.id();
      const keyOf = (data: JsonRecord) => data.api_key;
      const data = await this.sendOne(id, ["POST", KEYS], { id, ...fields }, KEYS, asRequested(fields), keyOf);
      if (data === null) return;
      state.keyTexts.set(id, data.key);
      ids.push(id);
      return;
    }
    const id = random.pick(ids);
    if (choice === 2) {
      ids.splice(ids.indexOf(id), 1);
      state.keyTexts.delete(id);
      return this.remove(KEYS, [id]);
    }
    const known = state.acknowledged.known(id);
    if (known === null) return;
    if (choice === 3) {
      const keyOf = (data: JsonRecord) => data.api_key ?? data;
      await this.sendOne(id, ["PUT", `${KEYS}/${id}`], fields, KEYS, asRequested(fields), keyOf);
      return;
    }
    state.keyTexts.set(id, null);
    const rotated = (found: Known) => found !== null && found.key !== known.key && found.name === known.name;
    const keyOf = (data: JsonRecord) => data.api_key ?? { id, name: known.name };
    const data = await this.sendOne(id, ["POST", `${KEYS}/${id}/rotate`], undefined, KEYS, rotated, keyOf);
    if (data !== null) state.keyTexts.set(id, data.key);
  }

  private async changeIfEntries(connection: number): Promise<void> {
    const { state, random } = this.options;
    const ids = state.ifEntryIds[connection] ?? [];
    const hostId = state.switchIds[connection] as string;
    const fields = {
      if_index: 1 + random.integer(2_000_000_000),
      if_descr: `entry ${random.integer(1_000_000)}`,
      if_alias: "a".repeat(random.integer(300)),
    };
    const choice = ids.length < 5 ? 0 : random.integer(4);
    if (choice === 3) return this.remove(IF_ENTRIES, ids);
    const id = choice === 0 ? this.id() : random.pick(ids);
    const request = choice === 0 ? (["POST", IF_ENTRIES] as const) : (["PUT", `${IF_ENTRIES}/${id}`] as const);
    const body = choice === 0 ? { id, host_id: hostId, ...fields } : fields;
    const data = await this.sendOne(id, request, body, IF_ENTRIES, asRequested(fields));
    if (data !== null && choice === 0) ids.push(id);
  }

  /** Reads lists and records at past timestamps and stores the responses. */
  private async readPast(): Promise<void> {
    const { client, state, target, random } = this.options;
    const startedAt = Date.now();
    while (!this.isOver) {
      // Usually a while ago, occasionally almost now, which makes the writer wait.
      const agoMs = random.integer(10) === 0 ? 1 : 300 + random.integer(300 + Date.now() - startedAt);
      const at = new Date(Date.now() - agoMs).toISOString();
      const switchIds = state.switchIds.filter((id) => id !== undefined);
      const anyHost = random.pick([...state.hostIds.flat(), ...switchIds, "none"]);
      const path = random.pick([
        `${HOSTS}?network_id=${target.networkId}&limit=20&offset=${random.integer(3) * 10}`,
        `${HOSTS}?network_id=${target.scannedNetworkId}&limit=0`,
        `${HOSTS}?limit=5&search=${random.integer(10)}`,
        ...(anyHost === "none" ? [] : [`${HOSTS}/${anyHost}?`, `${HOSTS}/${anyHost}?`]),
        `${IF_ENTRIES}?network_id=${random.pick([target.scannedNetworkId, target.networkId])}&limit=50`,
        `${TAGS}?limit=50`,
        `${KEYS}?limit=20`,
      ]);
      const full = `${path}${path.endsWith("?") ? "" : "&"}at=${at}`;
      const response = await client.get(full);
      // 404: the host did not exist at that timestamp, and that never changes.
      if (response.status !== 200 && response.status !== 404)
        state.refusals.push(`GET ${full}: ${response.status} ${response.text.slice(0, 200)}`);
      else if (state.past.length < PAST_MAX) state.past.push({ path: full, text: statusAndBody(response) });
      else state.past[random.integer(PAST_MAX)] = { path: full, text: statusAndBody(response) };
    }
  }

  private async scan(): Promise<void> {
    const { client, devices, state, target, random } = this.options;
    while (!this.isOver) {
      await devices.change(1 + random.integer(1_000_000));
      const scan = { network_id: target.scannedNetworkId, kind: "snmp", targets: DEVICE_TARGETS, commit: true };
      const started = await client.post(SCANS, scan);
      if (started.status !== 200) {
        state.refusals.push(`POST ${SCANS}: ${started.status} ${started.text}`);
        return;
      }
      const id = String(started.data.id);
      state.scans.set(id, started.data);
      // The event stream closes when the scan ends.
      await client.get(`${SCANS}/${id}/events`);
      const { data } = await client.get(`${SCANS}/${id}`);
      state.scans.set(id, data);
    }
  }

  private async takeBackup(): Promise<void> {
    const { backups, client, state } = this.options;
    const started = await client.send("POST", "/api/v1/backups");
    if (started.status !== 200 && started.status !== 202) {
      state.refusals.push(`POST backups: ${started.status} ${started.text}`);
      return;
    }
    const { name } = started.data;
    // Continues after the load has ended: a started backup completes, or dies with the appliance.
    for (let backup = started.data; ; ) {
      if (backup.state === "Done") {
        const sha256 = sha256Of(`${backups}/${name}`, await Bun.file(`${backups}/${name}`).bytes());
        state.backups.push({ name, sequence: backup.sequence, hash: backup.hash, sha256 });
        return;
      }
      if (backup.state === "Failed") {
        state.refusals.push(`the backup ${name} failed: ${backup.reason}`);
        return;
      }
      ({ data: backup } = await client.get(`/api/v1/backups/${name}`));
    }
  }

  /** Sends a write of one record. @param known extracts the record from the response */
  private sendOne(
    id: string,
    [method, path]: readonly [string, string],
    body: unknown,
    list: string,
    matches: PendingWrite["matches"],
    known: (data: JsonRecord) => Known = (data) => data,
  ): Promise<JsonRecord | null> {
    return this.send(method, path, body, list, new Map([[id, matches]]), (data) => new Map([[id, known(data)]]));
  }

  /** Sends a write. @returns the data; null for a refusal, which is recorded @throws Error if there is no response */
  private async send(
    method: string,
    path: string,
    body: unknown,
    list: string,
    expected: ReadonlyMap<string, PendingWrite["matches"]>,
    records: InterruptedRequest["records"],
  ): Promise<JsonRecord | null> {
    const { client, state } = this.options;
    const answered = state.acknowledged.register(list, expected);
    const request = state.acknowledged.lastRequest;
    const key = method === "POST" ? this.id() : null;
    const response = await client
      .send(method, path, body, key === null ? {} : { "idempotency-key": key })
      .catch((error: unknown) => {
        if (key !== null) state.interrupted.push({ request, path, body, key, list, expected, records });
        throw error;
      });
    const isDone = response.status === 200;
    answered(isDone ? records(response.data) : null);
    this.remainingWrites -= 1;
    if (this.remainingWrites === 0) this.enough.resolve();
    if (!isDone) state.refusals.push(`${method} ${path}: ${response.status} ${response.text.slice(0, 300)}`);
    return isDone ? (response.data ?? {}) : null;
  }

  /** Generates a version-7 UUID, derived from the seed. */
  private id(): string {
    const bytes = this.options.random.bytes(16);
    bytes[6] = 0x70 | ((bytes[6] ?? 0) & 0x0f);
    bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f);
    const text = bytes.toHex();
    return [text.slice(0, 8), text.slice(8, 12), text.slice(12, 16), text.slice(16, 20), text.slice(20)].join("-");
  }
}

/** Status and body of a response: the other parts contain the time. */
export function statusAndBody(response: ApiResponse): string {
  return `${response.status} ${response.status === 200 ? response.text : ""}`;
}

export function sha256Of(path: string, bytes: Uint8Array): string {
  if (bytes.length === 0) throw new Error(`${path} is empty`);
  return createHash("sha256").update(bytes).digest("hex");
}

/** Ignores a closed connection, which is expected, and rethrows any other error. */
function ignoreDisconnect(error: unknown): void {
  const text = `${error instanceof Error && "code" in error ? error.code : ""} ${error}`;
  if (!/ECONNRESET|ECONNREFUSED|ConnectionRefused|ConnectionClosed|ConnectionReset|closed|socket|connect/i.test(text))
    throw error;
}

function hasName(name: string): PendingWrite["matches"] {
  return (found) => found?.name === name;
}

/** Matches records with every field as requested; lists of children are compared by number or names. */
function asRequested(body: JsonRecord): PendingWrite["matches"] {
  const childName = (child: JsonRecord) => child.if_descr ?? child.name ?? child.ip_address ?? child.number;
  return (found) =>
    found !== null &&
    Object.entries(body).every(([field, requested]) => {
      const value = found[field];
      if (field === "ip_addresses") return value.length === requested.length;
      if (field === "ports")
        return Bun.deepEquals(
          value.map((port: JsonRecord) => port.id).sort(),
          requested.map((port: JsonRecord) => port.id).sort(),
        );
      if (field === "services" || field === "interfaces")
        return Bun.deepEquals(value.map(childName).sort(), requested.map(childName).sort());
      if (field === "tags") return sameTags(found, body);
      return Bun.deepEquals(value, requested);
    });
}

function isTagged(after: JsonRecord): PendingWrite["matches"] {
  const { tags: _, ...rest } = after;
  return (found) => found !== null && sameTags(found, after) && matchesKnown(found, rest);
}

function sameTags(left: JsonRecord, right: JsonRecord): boolean {
  return Bun.deepEquals([...(left.tags ?? [])].sort(), [...(right.tags ?? [])].sort());
}

/** Returns a known record without the fields that an assignment changes. */
function withoutVersion(known: JsonRecord): JsonRecord {
  const { updated_at: _, valid_from: __, ...rest } = known;
  return rest;
}

function hex(random: SeededRandom): string {
  return random.integer(256).toString(16).padStart(2, "0");
}
