// The store alone, on a real SQLite file in this process: the real kinds, a writer that runs any function as a command,
// a reader, and a manual clock. No resource commands, no HTTP.

import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { SYSTEM_AUTHOR } from "../../../src/access/actor.ts";
import type { Clock } from "../../../src/base/clock.ts";
import type { Instant } from "../../../src/base/instant.ts";
import { openReadOnly, openWritable, type Sql } from "../../../src/db/connection.ts";
import type { AnyKind, Kind, NoOtherFields, OwnFields, RecordBase } from "../../../src/db/kind.ts";
import { writtenSql } from "../../../src/db/packing.ts";
import type { ListQuery, Reach } from "../../../src/db/reading/list-query.ts";
import { Reader } from "../../../src/db/reading/reader.ts";
import type { Author } from "../../../src/db/writing/ledger.ts";
import type { WriteTransaction } from "../../../src/db/writing/transaction.ts";
import { outcomeOf, type WriteReply, type WriteRequest, Writer } from "../../../src/db/writing/writer.ts";
import { KINDS } from "../../../src/records/resources.ts";
import type { BindingRecord } from "../../../src/resources/bindings/binding.ts";
import type { FdbEntryRecord } from "../../../src/resources/fdb-entries/fdb-entry.ts";
import { HOST_DEFAULTS, type HostRecord } from "../../../src/resources/hosts/host.ts";
import type { IfEntryRecord } from "../../../src/resources/if-entries/if-entry.ts";
import type { IpAddressRecord } from "../../../src/resources/ip-addresses/ip-address.ts";
import { EXPIRY_DEFAULTS, type NetworkRecord, networkKind } from "../../../src/resources/networks/network.ts";
import { organizationKind } from "../../../src/resources/organizations/organization.ts";
import type { PortRecord } from "../../../src/resources/ports/port.ts";
import type { ServiceRecord } from "../../../src/resources/services/service.ts";
import type { SubnetRecord } from "../../../src/resources/subnets/subnet.ts";
import type { TagRecord } from "../../../src/resources/tags/tag.ts";
import { type SeededRandom, seededRandom } from "../injected/seeded-random.ts";
import { scratchParent } from "../measure/scratch-parent.ts";
import { writeNewDatabase } from "./new-database.ts";

export const DAY_MS = 86_400_000;

/** Clock that stands still until it is set. */
class StoreClock implements Clock {
  at: Instant = Date.UTC(2026, 10, 21, 9, 0, 0, 0);

  now(): Instant {
    return this.at;
  }
}

export type StoreCommand<T> = (tx: WriteTransaction) => T;

export class Store {
  readonly directory: string;
  readonly path: string;
  readonly clock = new StoreClock();
  readonly random: SeededRandom;
  /** The writer's connection. */
  readonly db: Sql;
  readonly readDb: Sql;
  readonly writer: Writer;
  readonly reader: Reader;
  readonly organizationId: string;
  readonly networkId: string;
  private readonly kinds: readonly AnyKind[];

  constructor(options: { kinds?: readonly AnyKind[]; seed?: number; migration?: string } = {}) {
    this.directory = mkdtempSync(join(scratchParent(), "netledger-store-"));
    this.path = join(this.directory, "netledger.db");
    this.random = seededRandom(options.seed ?? 1);
    this.kinds = options.kinds ?? KINDS;
    writeNewDatabase(this.path);
    this.db = openWritable(this.path);
    // As in appliance tests, commits need no fsync.
    this.db.$client.run("PRAGMA synchronous = OFF");
    if (options.migration !== undefined) this.db.$client.run(options.migration);
    this.writer = new Writer({
      db: this.db,
      kinds: this.kinds,
      commands: { test: (tx: WriteTransaction, input: StoreCommand<unknown>) => input(tx) },
      clock: this.clock,
      random: this.random,
    });
    this.readDb = openReadOnly(this.path);
    this.reader = new Reader(this.readDb, this.clock);
    const created = this.write((tx) => {
      const organizationId = tx.newId();
      tx.create(
        organizationKind,
        organizationId,
        { name: "Test", require_change_reason: false },
        { id: organizationId },
      );
      return {
        organizationId,
        networkId: tx.create(networkKind, organizationId, networkFields(organizationId, "first")).id,
      };
    });
    this.organizationId = created.organizationId;
    this.networkId = created.networkId;
  }

  /** Runs one command in a separate commit, a second after the previous one. @throws DomainError */
  write<T>(command: StoreCommand<T>): T {
    return this.run(command).result;
  }

  /** Like write, and also returns the transaction's sequence. */
  run<T>(command: StoreCommand<T>, author: Author = SYSTEM_AUTHOR): { sequence: number | null; result: T } {
    this.clock.at += 1_000;
    const reply = this.writer.execute([request(command, author)])[0] as WriteReply;
    // Most likely a failed assertion within the command: rethrown with its own message.
    if (!reply.ok && reply.code === "internal_error") throw new Error(reply.cause ?? reply.message);
    return outcomeOf<T>(reply);
  }

  /** Runs several commands in one commit. */
  group(...commands: Array<StoreCommand<unknown>>): WriteReply[] {
    return this.writer.execute(commands.map((command) => request(command)));
  }

  create<R extends RecordBase, T extends OwnFields<R>>(
    kind: Kind<R>,
    fields: T & NoOtherFields<R, T>,
    options: { id?: string; composed?: boolean } = {},
  ): R {
    return this.write((tx) => tx.create(kind, this.organizationId, fields, options));
  }

  /** Access scope of a caller with these networks; by default all of the organization. */
  reach(networkIds: readonly string[] | null = null): Reach {
    return {
      organizationN: this.n(this.organizationId),
      networkNs: networkIds === null ? null : networkIds.map((id) => this.n(id)),
    };
  }

  n(id: string): number {
    const n = this.reader.recordN(id);
    if (n === null) throw new Error(`no record has the id ${id}`);
    return n;
  }

  /** Reads a list. */
  list(kind: AnyKind, query: Partial<ListQuery> = {}): { items: JsonRecord[]; total: number } {
    const page = this.reader.page({ kind, reach: this.reach(), asOf: null, limit: 1_000, offset: 0, ...query });
    return { items: parseItems(page.items), total: page.total };
  }

  /** The versions of a record, oldest first. */
  versions(id: string): Version[] {
    return this.rows<Version>(
      `SELECT key & 2147483647 AS sequence, operation, valid_from, composed, changed,
          ${writtenSql("v", "observed")} AS observed, ${writtenSql("v", "members")} AS members
        FROM history_versions v WHERE key >> 31 = (SELECT n FROM history_records WHERE id = ?) ORDER BY key`,
      id,
    );
  }

  transactions(): Array<{ sequence: number; at: number; wall_at: number; last_n: number }> {
    return this.rows("SELECT sequence, at, wall_at, last_n FROM history_transactions ORDER BY sequence");
  }

  rows<T>(sql: string, ...values: Array<string | number>): T[] {
    return this.db.$client.query(sql).all(...values) as T[];
  }

  close(): void {
    this.readDb.$client.close();
    this.db.$client.close();
    rmSync(this.directory, { recursive: true, force: true });
  }
}

/** A record in wire format. */
export type JsonRecord = Record<string, any>;

interface Version {
  readonly sequence: number;
  readonly operation: number;
  readonly valid_from: string;
  readonly composed: number;
  readonly changed: string | null;
  readonly observed: string;
  readonly members: string | null;
}

export function request(command: StoreCommand<unknown>, actor: Author = SYSTEM_AUTHOR): WriteRequest {
  return { command: "test", input: command, actor };
}

export function parseItems(items: Uint8Array): JsonRecord[] {
  return JSON.parse(`[${new TextDecoder().decode(items)}]`) as JsonRecord[];
}

export function networkFields(organizationId: string, name: string): OwnFields<NetworkRecord> {
  return {
    organization_id: organizationId,
    name,
    description: null,
    tags: [],
    stale_after_hours: null,
    ...EXPIRY_DEFAULTS,
  };
}

export function tagFields(
  organizationId: string,
  name: string,
  fields: Partial<OwnFields<TagRecord>> = {},
): OwnFields<TagRecord> {
  return { organization_id: organizationId, name, description: "", color: "Green", is_application: false, ...fields };
}

export function hostFields(
  networkId: string,
  name: string,
  fields: Partial<OwnFields<HostRecord>> = {},
): OwnFields<HostRecord> {
  return { name, network_id: networkId, source: { type: "Manual" }, ...HOST_DEFAULTS, ...fields };
}

export function subnetFields(
  networkId: string,
  cidr: string,
  fields: Partial<OwnFields<SubnetRecord>> = {},
): OwnFields<SubnetRecord> {
  return {
    network_id: networkId,
    cidr,
    name: cidr,
    description: null,
    subnet_type: "Lan",
    vlan_id: null,
    source: { type: "Manual" },
    tags: [],
    accepts_credentials: true,
    ...fields,
  };
}

/** The host of a child record, with its network. */
interface HostReference {
  readonly id: string;
  readonly network_id: string;
}

export function addressFields(
  host: HostReference,
  subnetId: string,
  ip: string,
  fields: Partial<OwnFields<IpAddressRecord>> = {},
): OwnFields<IpAddressRecord> {
  return {
    host_id: host.id,
    network_id: host.network_id,
    subnet_id: subnetId,
    ip_address: ip,
    mac_address: null,
    name: "",
    position: 0,
    first_discovery_id: null,
    ...fields,
  };
}

export function portFields(
  host: HostReference,
  number: number,
  fields: Partial<OwnFields<PortRecord>> = {},
): OwnFields<PortRecord> {
  return {
    host_id: host.id,
    network_id: host.network_id,
    number,
    protocol: "Tcp",
    type: "Custom",
    first_discovery_id: null,
    ...fields,
  };
}

export function serviceFields(
  host: HostReference,
  name: string,
  fields: Partial<OwnFields<ServiceRecord>> = {},
): OwnFields<ServiceRecord> {
  return {
    host_id: host.id,
    network_id: host.network_id,
    name,
    position: 0,
    service_definition: "ssh",
    source: { type: "Manual" },
    tags: [],
    virtualization: null,
    first_discovery_id: null,
    ...fields,
  };
}

export function bindingFields(
  service: { id: string; host_id: string; network_id: string },
  portId: string,
): OwnFields<BindingRecord> {
  return {
    service_id: service.id,
    host_id: service.host_id,
    network_id: service.network_id,
    type: "Port",
    port_id: portId,
    ip_address_id: null,
    first_discovery_id: null,
  };
}

export function ifEntryFields(
  host: HostReference,
  ifIndex: number,
  fields: Partial<OwnFields<IfEntryRecord>> = {},
): OwnFields<IfEntryRecord> {
  return {
    host_id: host.id,
    network_id: host.network_id,
    if_index: ifIndex,
    if_descr: `eth${ifIndex}`,
    if_type: 6,
    admin_status: "Up",
    oper_status: "Up",
    ...fields,
  };
}

export function fdbEntryFields(
  entry: { id: string; host_id: string; network_id: string },
  mac: string,
): OwnFields<FdbEntryRecord> {
  return {
    if_entry_id: entry.id,
    host_id: entry.host_id,
    network_id: entry.network_id,
    mac_address: mac,
    vlan_number: null,
  };
}
