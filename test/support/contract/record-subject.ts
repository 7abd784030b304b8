// Kind of record under test: its description for the battery, and the operations that the tests share.

import { type TObject, type TUnion, TypeGuard } from "@sinclair/typebox";
import { ROLES, type Role } from "../../../src/access/role.ts";
import { formatInstant, parseInstant } from "../../../src/base/instant.ts";
import type { TestAppliance } from "../appliance/appliance.ts";
import type { ApplianceUnderTest } from "../appliance/appliance-for-each.ts";
import type { Answer, Client } from "../appliance/client.ts";
import { made, type Wire } from "../appliance/factories.ts";

/** Owner and location of the created records. */
export interface Place {
  readonly organizationId: string;
  /** The organization's Owner by default. */
  readonly userId: string;
  readonly networkId: string;
}

export interface RecordBattery {
  /** `/api/v1/tags` */
  readonly path: string;
  /** `tag`, as in errors. */
  readonly entity: string;
  /** Minimum role for writes. */
  readonly writeRole: Role;
  /** Scope of the records, which decides on access. */
  readonly place: "in the organization" | "in a network" | "is a network";
  /**
   * Container of records in a network, as the body names it; the network itself by default. `make` prepares a network
   * for them.
   */
  readonly container?: {
    readonly field: string;
    readonly entity: string;
    readonly make: (by: Client, networkId: string) => Promise<string>;
  };
  /** Valid body with every optional field; a distinct record per position. */
  readonly body: (containerId: string, position: number, place: Place) => Wire;
  /** A body's fields in answers, and therefore in updates: no password, secrets masked. */
  readonly shown?: (body: Wire) => Wire;
  /** The record within the answer of a create with further data. */
  readonly createdIn?: (data: Wire) => Wire;
  /** Fields without a value in records made of `body`, where the kind omits these (handbook: api, "Values"). */
  readonly leftOut?: readonly string[];
  /** False for records that can't be deleted. */
  readonly isDeletable?: false;
  /** Query that deletes the records of `body`: `?cascade=true`. */
  readonly deletion?: string;
  /** Further writes of each write, by operation and kind: `{ "Updated host": 1 }`. */
  readonly writes?: {
    readonly created?: Record<string, number>;
    readonly updated?: Record<string, number>;
    readonly deleted?: Record<string, number>;
  };
  /** API keys are refused. */
  readonly isSessionOnly?: true;
  /** The body has a secret: values of unknown fields may be secret too, and are not echoed. */
  readonly holdsSecrets?: true;
  /** A change of a body, with its field. */
  readonly change: { readonly field: string; readonly to: (body: Wire) => unknown };
  /** Unique field: a body with an existing value is refused. Null if values may repeat. */
  readonly unique: string | null;
  /** The unique field never changes, so no update can duplicate it. */
  readonly isUniqueFixed?: true;
  /** No successors: each record is the first of its kind. */
  readonly hasLineage?: false;
  /** A body with many errors, and the pointers to all of them. */
  readonly invalid: { readonly body: Wire; readonly paths: readonly string[] };
  /** Reference fields, each with a body that names `id`. */
  readonly references: ReadonlyArray<{
    readonly field: string;
    readonly entity: string;
    readonly naming: (body: Wire, id: string) => Wire;
    readonly make: (by: Client, networkId: string, containerId: string) => Promise<string>;
  }>;
}

type Reference = RecordBattery["references"][number];

/** Reference to a record that `make` creates; by default the body names it in the field itself. */
export const reference = (
  field: string,
  entity: string,
  make: Reference["make"],
  naming: Reference["naming"] = (body, id) => ({ ...body, [field]: id }),
): Reference => ({ field, entity, naming, make });

/** Reference to a new network. */
export const networkReference = (field = "network_id", naming?: Reference["naming"]): Reference =>
  reference(field, "network", async (by) => (await made(by.post("networks", { name: "Reference" }))).id, naming);

/** Reference to a new host. */
export const hostReference = (field = "host_id", naming?: Reference["naming"]): Reference => {
  const body = (networkId: string) => ({ network_id: networkId, name: "Reference" });
  return reference(field, "host", async (by, network) => (await made(by.post("hosts", body(network)))).id, naming);
};

/** Reference to a new subnet that contains every other one. */
export const subnetReference = (field = "subnet_id", naming?: Reference["naming"]): Reference => {
  const body = (networkId: string) => ({ network_id: networkId, cidr: "10.0.0.0/8" });
  return reference(field, "subnet", async (by, network) => (await made(by.post("subnets", body(network)))).id, naming);
};

/** List of tags, with one new tag twice. */
export const tagReference = (
  field = "tags",
  naming: Reference["naming"] = (body, id) => ({ ...body, tags: [id, id] }),
): Reference =>
  reference(field, "tag", async (by) => (await made(by.post("tags", { name: "Reference", color: "Red" }))).id, naming);

export const UNKNOWN_ID = "01936f2e-0d5c-7d3a-9a39-00000000dead";

interface Other extends Place {
  readonly containerId: string;
  readonly client: Client;
}

const THE_NETWORK = {
  field: "network_id",
  entity: "network",
  make: async (_by: Client, networkId: string) => networkId,
};

/** The functions are bound: they may be destructured. */
export class RecordSubject {
  readonly battery: RecordBattery;
  readonly appliance: ApplianceUnderTest;
  containerId!: string;
  private idIsRequired!: boolean;

  constructor(battery: RecordBattery, appliance: ApplianceUnderTest) {
    this.battery = battery;
    this.appliance = appliance;
  }

  async begin(): Promise<void> {
    this.containerId = await this.container.make(this.owner, this.appliance.first.networkId);
    this.idIsRequired = !isOptional(this.appliance, this.path, "id");
  }

  get owner(): Client {
    return this.appliance.owner;
  }

  get path(): string {
    return this.battery.path;
  }

  get entity(): string {
    return this.battery.entity;
  }

  get change(): RecordBattery["change"] {
    return this.battery.change;
  }

  get container(): NonNullable<RecordBattery["container"]> {
    return this.battery.container ?? THE_NETWORK;
  }

  get deletion(): string {
    return this.battery.deletion ?? "";
  }

  get leftOut(): readonly string[] {
    return this.battery.leftOut ?? [];
  }

  /** The role just below the one that writes require. */
  get roleBelow(): Role {
    return ROLES[ROLES.indexOf(this.battery.writeRole) + 1] as Role;
  }

  get inNetwork(): boolean {
    return this.battery.place === "in a network";
  }

  get isDeletable(): boolean {
    return this.battery.isDeletable !== false;
  }

  /** Fields without a value: null or missing. */
  readonly none = (...fields: string[]): Wire =>
    Object.fromEntries(fields.filter((field) => !this.leftOut.includes(field)).map((field) => [field, null]));

  readonly shown = (body: Wire): Wire => this.battery.shown?.(body) ?? body;

  readonly body = (position = 1, within = this.containerId, place: Place = this.appliance.first): Wire =>
    this.battery.body(within, position, place);

  /** Body of an update. */
  readonly known = (position = 1, within?: string, place?: Place): Wire =>
    this.shown(this.body(position, within, place));

  readonly changed = (from: Wire): Wire => ({ ...from, [this.change.field]: this.change.to(from) });

  readonly recordIn = (data: Wire): Wire => this.battery.createdIn?.(data) ?? data;

  readonly createAs = async (by: Client, sent: Wire): Promise<Wire> =>
    this.recordIn(await made(by.post(this.path, sent)));

  readonly create = (position = 1): Promise<Wire> => this.createAs(this.owner, this.body(position));

  readonly update = (id: string, sent: Wire, by = this.owner, headers: Record<string, string> = {}): Promise<Answer> =>
    by.put(`${this.path}/${id}`, this.idIsRequired ? { id, ...sent } : sent, headers);

  readonly remove = (id: string, by = this.owner, headers: Record<string, string> = {}): Promise<Answer> =>
    by.delete(`${this.path}/${id}${this.deletion}`, headers);

  readonly other = async (): Promise<Other> => {
    const second = await this.appliance.newOrganization("Second");
    const client = await this.appliance.signedIn(second.userId);
    return { ...second, client, containerId: await this.container.make(client, second.networkId) };
  };
}

/** An answer without an id that must not matter. */
export function withoutId(answer: Answer, id: string): { status: number; body: unknown } {
  return { status: answer.status, body: JSON.parse(answer.text.replaceAll(id, "<id>")) };
}

/** A record with its children, and theirs, ended at a timestamp. */
export function withEndedParts(record: Wire, at: string): Wire {
  const ended = (part: unknown): unknown => {
    if (part === null || typeof part !== "object" || Array.isArray(part)) return part;
    const isRecord = (part as Wire).valid_to === null;
    return { ...withEndedParts(part as Wire, at), ...(isRecord ? { valid_to: at } : {}) };
  };
  return Object.fromEntries(
    Object.entries(record).map(([field, value]) => [field, Array.isArray(value) ? value.map(ended) : value]),
  );
}

export function shift(instant: string, ms: number): string {
  return formatInstant((parseInstant(instant) as number) + ms);
}

export function isOptional(appliance: TestAppliance, path: string, field: string): boolean {
  const schema = appliance.surface.routes.find((route) => route.method === "PUT" && route.path === `${path}/:id`)
    ?.operation.body as TObject | TUnion<TObject[]>;
  // Where a body has alternatives, the battery uses the first.
  const form = TypeGuard.IsUnion(schema) ? (schema.anyOf[0] as TObject) : schema;
  return !(form.required ?? []).includes(field);
}
