// Concurrent writes of every kind over several connections until the appliance dies. Answered and unanswered requests
// are recorded in `Acknowledged`.

import { createHash } from "node:crypto";
import type { Answer, Client } from "../../../test/support/appliance/client.ts";
import type { Wire } from "../../../test/support/appliance/factories.ts";
import type { SeededRandom } from "../../../test/support/injected/seeded-random.ts";
import { Acknowledged, type Doubt, isAs, type Known } from "./acknowledged.ts";
import { DEVICE_TARGETS, type Devices } from "./devices.ts";

export const HOSTS = "/api/v1/hosts";
export const IF_ENTRIES = "/api/v1/if-entries";
export const KEYS = "/api/v1/auth/keys";
export const SCANS = "/api/v1/discovery/scans";
export const TAGS = "/api/v1/tags";

/** Target of the load. */
export interface Place {
  readonly organizationId: string;
  readonly userId: string;
  /** Networks of the load, and of the scans. */
  readonly networkId: string;
  readonly scannedNetworkId: string;
}

/** An answer about the past, which must never change. */
interface PastAnswer {
  readonly path: string;
  /** The body as received. */
  readonly text: string;
}

interface BackupSeen {
  readonly name: string;
  readonly sequence: number;
  readonly hash: string;
  /** Of the file. */
  readonly sha256: string;
}

/** Known state of one store over all rounds. */
export class Memory {
  readonly acknowledged = new Acknowledged();
  readonly past: PastAnswer[] = [];
  readonly backups: BackupSeen[] = [];
  /** By id, as last answered. */
  readonly scans = new Map<string, Wire>();
  /** Texts of keys by key id; null after a rotation without an answer. */
  readonly keyTexts = new Map<string, string | null>();
  /** Records created by each connection. */
  readonly hostIds: string[][] = [];
  readonly bulks: string[][] = [];
  readonly tagIds: string[][] = [];
  readonly keyIds: string[][] = [];
  readonly ifEntryIds: string[][] = [];
  readonly switchIds: string[] = [];
  /** Of the last round. */
  cutOff: CutOff[] = [];
  /** Answers other than success or the end of the connection. */
  readonly refusals: string[] = [];
}

/** A POST without an answer, to be sent again. */
interface CutOff {
  readonly request: number;
  readonly path: string;
  readonly body: unknown;
  /** Its Idempotency-Key. */
  readonly key: string;
  readonly list: string;
  readonly wanted: ReadonlyMap<string, Doubt["matches"]>;
  readonly records: (data: Wire) => ReadonlyMap<string, Known>;
}

/** Number of answers about the past kept for repetition. */
const PAST_MAX = 40;
const BULK_CONNECTION = 4;
const CONNECTIONS = 6;

interface LoadOptions {
  readonly memory: Memory;
  readonly place: Place;
  /** With a session: only users create keys. */
  readonly client: Client;
  readonly devices: Devices;
  readonly random: SeededRandom;
  readonly withScans: boolean;
  readonly withBackup: boolean;
  /** Backup folder. */
  readonly backups: string;
}

export class Load {
  private readonly options: LoadOptions;
  private readonly bulkListeners: Array<() => void> = [];
  private readonly enough = Promise.withResolvers<void>();
  private answersToGo = Number.POSITIVE_INFINITY;
  private isOver = false;

  constructor(options: LoadOptions) {
    this.options = options;
  }

  /** Resolves just before a bulk write is sent. */
  get bulk(): Promise<void> {
    return new Promise((resolve) => this.bulkListeners.push(resolve));
  }

  /** Resolves after this many further acknowledged writes. */
  acknowledged(count: number): Promise<void> {
    this.answersToGo = count;
    return this.enough.promise;
  }

  /** Stops new requests; those in progress finish. */
  end(): void {
    this.isOver = true;
  }

  /** Runs until the appliance or the load ends. */
  async run(): Promise<void> {
    const { withScans, withBackup } = this.options;
    const all: Array<() => Promise<void>> = Array.from(
      { length: CONNECTIONS },
      (_, connection) => () => this.write(connection),
    );
    all.push(() => this.lookBack());
    if (withScans) all.push(() => this.scan());
    if (withBackup) all.push(() => this.backUp());
    await Promise.all(all.map((each) => each().catch(endOfConnection)));
  }

  private async write(connection: number): Promise<void> {
    const { memory, random } = this.options;
    for (const list of [memory.hostIds, memory.bulks, memory.tagIds, memory.keyIds, memory.ifEntryIds])
      list[connection] ??= [];
    if (memory.switchIds[connection] === undefined) await this.makeSwitch(connection);
    while (!this.isOver) {
      const choice = random.integer(20);
      if (connection === BULK_CONNECTION)
        await (random.integer(2) === 0 ? this.bulkHosts(connection) : this.tagMany(connection));
      else if (choice < 4) await this.makeHost(connection);
      else if (choice < 8) await this.changeHost(connection);
      else if (choice < 9) await this.remove(HOSTS, memory.hostIds[connection] ?? []);
      else if (choice < 11) await this.makeTag(connection);
      else if (choice < 12) await this.tagHost(connection);
      else if (choice < 15) await this.workOnKeys(connection);
      else if (choice < 18) await this.workOnIfEntries(connection);
      else await this.tagMany(connection);
    }
  }

  /** Creates a host with interface entries, which are checked one by one. */
  private async makeSwitch(connection: number): Promise<void> {
    const { memory, place } = this.options;
    const [id, name] = [this.id(), `switch ${connection}`];
    memory.acknowledged.narrow(HOSTS, id, ["id", "name"]);
    await this.ask(
      "POST",
      HOSTS,
      { id, network_id: place.networkId, name },
      HOSTS,
      new Map([[id, named(name)]]),
      () => new Map([[id, { id, name }]]),
    );
    memory.switchIds[connection] = id;
  }

  private async makeHost(connection: number): Promise<void> {
    const { memory, place, random } = this.options;
    const id = this.id();
    const body = { id, network_id: place.networkId, ...this.hostFields() };
    const data = await this.ask(
      "POST",
      HOSTS,
      body,
      HOSTS,
      new Map([[id, asWished(body)]]),
      (data) => new Map([[id, data]]),
    );
    if (data === null) return;
    memory.hostIds[connection]?.push(id);
    if (random.integer(8) === 0) this.know(await this.options.client.get(`${HOSTS}/${id}`), data);
  }

  private async changeHost(connection: number): Promise<void> {
    const { memory, random } = this.options;
    const ids = memory.hostIds[connection] ?? [];
    if (ids.length === 0) return;
    const id = random.pick(ids);
    const known = memory.acknowledged.known(id);
    if (known === null) return;
    // Interfaces have separate routes: an update ignores those sent back.
    const { interfaces: _, ...fields } = this.hostFields();
    const body = { id, hidden: false, tags: known.tags ?? [], ...fields };
    await this.ask(
      "PUT",
      `${HOSTS}/${id}`,
      body,
      HOSTS,
      new Map([[id, asWished(body)]]),
      (data) => new Map([[id, data]]),
    );
  }

  /** With children of every kind, random in number and names. */
  private hostFields(): Wire {
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
    await this.ask(
      "DELETE",
      `${path}/${id}`,
      undefined,
      path,
      new Map([[id, (found) => found === null]]),
      () => new Map([[id, null]]),
    );
  }

  /** Writes many hosts in one transaction: new ones, or renames of earlier ones. */
  private async bulkHosts(connection: number): Promise<void> {
    const { memory, place, random } = this.options;
    const bulks = memory.bulks;
    const known = bulks[connection] ?? [];
    const word = `bulk ${random.integer(1_000_000)}`;
    const isNew = known.length === 0 || random.integer(3) > 0;
    const count = 2 + random.integer(random.pick([10, 60, 400]));
    const ids = isNew ? Array.from({ length: count }, () => this.id()) : known.slice(0, count);
    const body = ids.map((id, index) =>
      isNew
        ? { id, network_id: place.networkId, name: `${word} ${index}`, interfaces: [{ if_index: 1, if_descr: word }] }
        : { id, name: `${word} ${index}` },
    );
    const wanted = new Map(ids.map((id, index) => [id, named(`${word} ${index}`)] as const));
    for (const listener of this.bulkListeners.splice(0)) listener();
    const answered = (data: Wire[]) =>
      new Map(data.map(({ id, name, updated_at }) => [String(id), { id, name, updated_at }]));
    // Few enough not to dominate every start by lists.
    const data = await this.ask("POST", `${HOSTS}/bulk`, body, HOSTS, wanted, (data) =>
      answered(data as unknown as Wire[]),
    );
    if (data !== null && isNew) bulks[connection] = ids.slice(0, 100);
  }

  private async makeTag(connection: number): Promise<void> {
    const { memory, random } = this.options;
    const ids = memory.tagIds[connection] ?? [];
    const name = `tag ${random.integer(1_000_000_000)}`;
    // The first three are assigned to hosts, and stay.
    const free = ids.slice(3);
    if (free.length > 4 && random.integer(2) === 0) return this.removeTag(ids, random.pick(free));
    const id = free.length > 0 && random.integer(2) === 0 ? random.pick(free) : this.id();
    const isNew = !ids.includes(id);
    const body = { name, color: random.pick(["Green", "Red"]), description: "t".repeat(random.integer(200)) };
    const data = await this.ask(
      isNew ? "POST" : "PUT",
      isNew ? TAGS : `${TAGS}/${id}`,
      { id, ...body },
      TAGS,
      new Map([[id, asWished(body)]]),
      (data) => new Map([[id, data]]),
    );
    if (data !== null && isNew) ids.push(id);
  }

  private async removeTag(ids: string[], id: string): Promise<void> {
    ids.splice(ids.indexOf(id), 1);
    await this.remove(TAGS, [id]);
  }

  private async tagHost(connection: number): Promise<void> {
    const { memory, random } = this.options;
    const [ids, tags] = [memory.hostIds[connection] ?? [], (memory.tagIds[connection] ?? []).slice(0, 3)];
    if (ids.length === 0 || tags.length === 0) return;
    const id = random.pick(ids);
    const known = memory.acknowledged.known(id);
    if (known === null) return;
    const wanted = tags.filter(() => random.integer(2) === 0);
    const after = { ...withoutVersion(known), tags: wanted };
    await this.ask(
      "PUT",
      `${TAGS}/assign`,
      { entity_type: "host", entity_id: id, tag_ids: wanted },
      HOSTS,
      new Map([[id, (found) => isTagged(found, after)]]),
      () => new Map([[id, after]]),
    );
  }

  /** Hosts without the tag, so that a partial write would be visible. */
  private async tagMany(connection: number): Promise<void> {
    const { memory, random } = this.options;
    const tag = (memory.tagIds[connection] ?? [])[0];
    if (tag === undefined) return this.makeTag(connection);
    const ids = (memory.hostIds[connection] ?? [])
      .filter((id) => !(memory.acknowledged.known(id)?.tags ?? [tag]).includes(tag))
      .slice(0, 2 + random.integer(8));
    if (ids.length === 0) return this.makeHost(connection);
    const after = new Map(
      ids.map((id) => {
        const known = memory.acknowledged.known(id) as Wire;
        return [id, { ...withoutVersion(known), tags: [...known.tags, tag] }] as const;
      }),
    );
    const wanted = new Map(ids.map((id) => [id, (found: Known) => isTagged(found, after.get(id) as Wire)] as const));
    await this.ask(
      "POST",
      `${TAGS}/assign/bulk-add`,
      { entity_type: "host", entity_ids: ids, tag_id: tag },
      HOSTS,
      wanted,
      () => after,
    );
  }

  private async workOnKeys(connection: number): Promise<void> {
    const { memory, place, random } = this.options;
    const ids = memory.keyIds[connection] ?? [];
    const fields = {
      name: `key ${random.integer(1_000_000)}`,
      organization_id: place.organizationId,
      user_id: place.userId,
      tags: [],
      permissions: random.pick(["Viewer", "Member"]),
    };
    const choice = ids.length < 3 ? 0 : random.integer(5);
    if (choice <= 1) {
      const id = this.id();
      const data = await this.ask(
        "POST",
        KEYS,
        { id, ...fields },
        KEYS,
        new Map([[id, asWished(fields)]]),
        (data) => new Map([[id, data.api_key]]),
      );
      if (data === null) return;
      memory.keyTexts.set(id, data.key);
      ids.push(id);
      return;
    }
    const id = random.pick(ids);
    if (choice === 2) {
      ids.splice(ids.indexOf(id), 1);
      memory.keyTexts.delete(id);
      return this.remove(KEYS, [id]);
    }
    const known = memory.acknowledged.known(id);
    if (known === null) return;
    if (choice === 3) {
      await this.ask(
        "PUT",
        `${KEYS}/${id}`,
        fields,
        KEYS,
        new Map([[id, asWished(fields)]]),
        (data) => new Map([[id, data.api_key ?? data]]),
      );
      return;
    }
    memory.keyTexts.set(id, null);
    const rotated = (found: Known) => found !== null && found.key !== known.key && found.name === known.name;
    const data = await this.ask(
      "POST",
      `${KEYS}/${id}/rotate`,
      undefined,
      KEYS,
      new Map([[id, rotated]]),
      (data) => new Map([[id, data.api_key ?? { id, name: known.name }]]),
    );
    if (data !== null) memory.keyTexts.set(id, data.key);
  }

  private async workOnIfEntries(connection: number): Promise<void> {
    const { memory, random } = this.options;
    const ids = memory.ifEntryIds[connection] ?? [];
    const hostId = memory.switchIds[connection] as string;
    const fields = {
      if_index: 1 + random.integer(2_000_000_000),
      if_descr: `entry ${random.integer(1_000_000)}`,
      if_alias: "a".repeat(random.integer(300)),
    };
    const choice = ids.length < 5 ? 0 : random.integer(4);
    if (choice === 3) return this.remove(IF_ENTRIES, ids);
    const id = choice === 0 ? this.id() : random.pick(ids);
    const [method, path] = choice === 0 ? ["POST", IF_ENTRIES] : ["PUT", `${IF_ENTRIES}/${id}`];
    const data = await this.ask(
      method,
      path,
      choice === 0 ? { id, host_id: hostId, ...fields } : fields,
      IF_ENTRIES,
      new Map([[id, asWished(fields)]]),
      (data) => new Map([[id, data]]),
    );
    if (data !== null && choice === 0) ids.push(id);
  }

  /** Reads lists and records as of an earlier timestamp and keeps the answers. */
  private async lookBack(): Promise<void> {
    const { client, memory, place, random } = this.options;
    const began = Date.now();
    while (!this.isOver) {
      // Occasionally of just now, which makes the writer wait; usually of a while ago.
      const agoMs = random.integer(10) === 0 ? 1 : 300 + random.integer(300 + Date.now() - began);
      const at = new Date(Date.now() - agoMs).toISOString();
      const anyHost = random.pick([
        ...memory.hostIds.flat(),
        ...memory.switchIds.filter((id) => id !== undefined),
        "none",
      ]);
      const path = random.pick([
        `${HOSTS}?network_id=${place.networkId}&limit=20&offset=${random.integer(3) * 10}`,
        `${HOSTS}?network_id=${place.scannedNetworkId}&limit=0`,
        `${HOSTS}?limit=5&search=${random.integer(10)}`,
        ...(anyHost === "none" ? [] : [`${HOSTS}/${anyHost}?`, `${HOSTS}/${anyHost}?`]),
        `${IF_ENTRIES}?network_id=${random.pick([place.scannedNetworkId, place.networkId])}&limit=50`,
        `${TAGS}?limit=50`,
        `${KEYS}?limit=20`,
      ]);
      const full = `${path}${path.endsWith("?") ? "" : "&"}at=${at}`;
      const answer = await client.get(full);
      // A host that did not exist yet, and never will have.
      if (answer.status !== 200 && answer.status !== 404)
        memory.refusals.push(`GET ${full}: ${answer.status} ${answer.text.slice(0, 200)}`);
      else if (memory.past.length < PAST_MAX) memory.past.push({ path: full, text: timeless(answer) });
      else memory.past[random.integer(PAST_MAX)] = { path: full, text: timeless(answer) };
    }
  }

  private async scan(): Promise<void> {
    const { client, devices, memory, place, random } = this.options;
    while (!this.isOver) {
      await devices.change(1 + random.integer(1_000_000));
      const begun = await client.post(SCANS, {
        network_id: place.scannedNetworkId,
        kind: "snmp",
        targets: DEVICE_TARGETS,
        commit: true,
      });
      if (begun.status !== 200) {
        memory.refusals.push(`POST ${SCANS}: ${begun.status} ${begun.text}`);
        return;
      }
      const id = String(begun.data.id);
      memory.scans.set(id, begun.data);
      // The scan's end closes its event stream.
      await client.get(`${SCANS}/${id}/events`);
      const { data } = await client.get(`${SCANS}/${id}`);
      memory.scans.set(id, data);
    }
  }

  private async backUp(): Promise<void> {
    const { backups, client, memory } = this.options;
    const begun = await client.send("POST", "/api/v1/backups");
    if (begun.status !== 200 && begun.status !== 202) {
      memory.refusals.push(`POST backups: ${begun.status} ${begun.text}`);
      return;
    }
    const { name } = begun.data;
    // Also when stopped: a started backup completes, or dies with the appliance.
    for (let backup = begun.data; ; ) {
      if (backup.state === "Done") {
        const sha256 = sha256Of(`${backups}/${name}`, await Bun.file(`${backups}/${name}`).bytes());
        memory.backups.push({ name, sequence: backup.sequence, hash: backup.hash, sha256 });
        return;
      }
      if (backup.state === "Failed") {
        memory.refusals.push(`the backup ${name} failed: ${backup.reason}`);
        return;
      }
      ({ data: backup } = await client.get(`/api/v1/backups/${name}`));
    }
  }

  /** @returns the answer; null for a refusal, which is recorded @throws without an answer */
  private async ask(
    method: string,
    path: string,
    body: unknown,
    list: string,
    wanted: ReadonlyMap<string, Doubt["matches"]>,
    records: (data: Wire) => ReadonlyMap<string, Known>,
  ): Promise<Wire | null> {
    const { client, memory } = this.options;
    const answered = memory.acknowledged.ask(list, wanted);
    const request = memory.acknowledged.lastRequest;
    const key = method === "POST" ? this.id() : null;
    const answer = await client
      .send(method, path, body, key === null ? {} : { "idempotency-key": key })
      .catch((error: unknown) => {
        if (key !== null) memory.cutOff.push({ request, path, body, key, list, wanted, records });
        throw error;
      });
    const isDone = answer.status === 200;
    answered(isDone ? records(answer.data) : null);
    this.answersToGo -= 1;
    if (this.answersToGo === 0) this.enough.resolve();
    if (!isDone) memory.refusals.push(`${method} ${path}: ${answer.status} ${answer.text.slice(0, 300)}`);
    return isDone ? (answer.data ?? {}) : null;
  }

  private know(answer: Answer, data: Wire): void {
    if (!isAs(answer.data, data))
      this.options.memory.refusals.push(`a host is not read as answered: ${answer.text.slice(0, 300)}`);
  }

  /** A UUID of version 7, derived from the seed. */
  private id(): string {
    const bytes = this.options.random.bytes(16);
    bytes[6] = 0x70 | ((bytes[6] ?? 0) & 0x0f);
    bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f);
    const text = bytes.toHex();
    return [text.slice(0, 8), text.slice(8, 12), text.slice(12, 16), text.slice(16, 20), text.slice(20)].join("-");
  }
}

/** Status and body: other parts of an answer contain the time. */
export function timeless(answer: Answer): string {
  return `${answer.status} ${answer.status === 200 ? answer.text : ""}`;
}

export function sha256Of(path: string, bytes: Uint8Array): string {
  if (bytes.length === 0) throw new Error(`${path} is empty`);
  return createHash("sha256").update(bytes).digest("hex");
}

/** The end of the appliance is expected; other errors are mistakes. */
function endOfConnection(error: unknown): void {
  const text = `${error instanceof Error && "code" in error ? error.code : ""} ${error}`;
  if (!/ECONNRESET|ECONNREFUSED|ConnectionRefused|ConnectionClosed|ConnectionReset|closed|socket|connect/i.test(text))
    throw error;
}

function named(name: string): Doubt["matches"] {
  return (found) => found?.name === name;
}

/** Every field as requested; for lists of children their number and names. */
function asWished(body: Wire): Doubt["matches"] {
  const childName = (child: Wire) => child.if_descr ?? child.name ?? child.ip_address ?? child.number;
  return (found) =>
    found !== null &&
    Object.entries(body).every(([field, wish]) => {
      const value = found[field];
      if (field === "ip_addresses") return value.length === wish.length;
      if (field === "ports")
        return Bun.deepEquals(value.map((port: Wire) => port.id).sort(), wish.map((port: Wire) => port.id).sort());
      if (field === "services" || field === "interfaces")
        return Bun.deepEquals(value.map(childName).sort(), wish.map(childName).sort());
      if (field === "tags") return sameTags(found, body);
      return Bun.deepEquals(value, wish);
    });
}

function isTagged(found: Known, after: Wire): boolean {
  if (found === null) return false;
  const { tags: _, ...rest } = after;
  return sameTags(found, after) && isAs(found, rest);
}

function sameTags(one: Wire, other: Wire): boolean {
  return Bun.deepEquals([...(one.tags ?? [])].sort(), [...(other.tags ?? [])].sort());
}

/** The known record without the fields that an assignment changes. */
function withoutVersion(known: Wire): Wire {
  const { updated_at: _, valid_from: __, ...rest } = known;
  return rest;
}

function hex(random: SeededRandom): string {
  return random.integer(256).toString(16).padStart(2, "0");
}
