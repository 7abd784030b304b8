// Record kind under test: its description for the suite, and the operations that the tests share.

import { type TObject, type TUnion, TypeGuard } from "@sinclair/typebox";
import { ROLES, type Role } from "../../../src/access/role.ts";
import { formatInstant, parseInstant } from "../../../src/base/instant.ts";
import type { TestAppliance } from "../appliance/appliance.ts";
import type { ApplianceUnderTest } from "../appliance/appliance-for-each.ts";
import type { ApiResponse, Client } from "../appliance/client.ts";
import { expectOk, type JsonRecord } from "../appliance/factories.ts";

/** Owner and location of the created records. */
export interface RecordScope {
  readonly organizationId: string;
  /** The organization's Owner by default. */
  readonly userId: string;
  readonly networkId: string;
}

export interface RecordSuite {
  /** `/api/v1/tags` */
  readonly path: string;
  /** `tag`, as in errors. */
  readonly entity: string;
  /** Minimum role for writes. */
  readonly writeRole: Role;
  /** Scope of the records, which decides on access. */
  readonly scope: "in the organization" | "in a network" | "is a network";
  /**
   * Record that contains the records and is named in their body; the network itself by default. `create` creates one
   * in a network.
   */
  readonly container?: {
    readonly field: string;
    readonly entity: string;
    readonly create: (client: Client, networkId: string) => Promise<string>;
  };
  /** Valid body with every optional field; a distinct record per position. */
  readonly body: (containerId: string, position: number, scope: RecordScope) => JsonRecord;
  /** A body's fields in responses, and therefore in updates: no password, secrets masked. */
  readonly inResponse?: (body: JsonRecord) => JsonRecord;
  /** The record within a create response that has additional data. */
  readonly createdIn?: (data: JsonRecord) => JsonRecord;
  /** Fields without a value in records created from `body`, if the kind omits these (handbook: api, "Values"). */
  readonly omitted?: readonly string[];
  /** False for records that can't be deleted. */
  readonly isDeletable?: false;
  /** Query needed to delete records created from `body`: `?cascade=true`. */
  readonly deletion?: string;
  /** Additional writes caused by each write, by operation and kind: `{ "Updated host": 1 }`. */
  readonly writes?: {
    readonly created?: Record<string, number>;
    readonly updated?: Record<string, number>;
    readonly deleted?: Record<string, number>;
  };
  /** API keys are refused. */
  readonly isSessionOnly?: true;
  /** The body has a secret: values of unknown fields may be secret too, and are not echoed. */
  readonly hasSecrets?: true;
  /** A field to change, and its new value in a body. */
  readonly change: { readonly field: string; readonly to: (body: JsonRecord) => unknown };
  /** Field whose values must not repeat; null for none. */
  readonly unique: string | null;
  /** The unique field never changes, so no update can duplicate it. */
  readonly isUniqueFixed?: true;
  /** No successors: each record is the first of its kind. */
  readonly hasLineage?: false;
  /** A body with many errors, and the pointers to all of them. */
  readonly invalid: { readonly body: JsonRecord; readonly paths: readonly string[] };
  /** Reference fields, each with a body that names `id`. */
  readonly references: ReadonlyArray<{
    readonly field: string;
    readonly entity: string;
    readonly withReference: (body: JsonRecord, id: string) => JsonRecord;
    readonly create: (client: Client, networkId: string, containerId: string) => Promise<string>;
  }>;
}

type Reference = RecordSuite["references"][number];

/** Reference to a record made by `create`; by default the body names it in the field itself. */
export const reference = (
  field: string,
  entity: string,
  create: Reference["create"],
  withReference: Reference["withReference"] = (body, id) => ({ ...body, [field]: id }),
): Reference => ({ field, entity, withReference, create });

/** Reference to a record created with a POST request. */
const newReference =
  (defaultField: string, entity: string, bodyIn: (networkId: string) => JsonRecord) =>
  (field = defaultField, withReference?: Reference["withReference"]): Reference =>
    reference(
      field,
      entity,
      async (client, networkId) => (await expectOk(client.post(`${entity}s`, bodyIn(networkId)))).id,
      withReference,
    );

/** Reference to a new network. */
export const networkReference = newReference("network_id", "network", () => ({ name: "Reference" }));

/** Reference to a new host. */
export const hostReference = newReference("host_id", "host", (network_id) => ({ network_id, name: "Reference" }));

/** Reference to a new subnet that contains every other one. */
export const subnetReference = newReference("subnet_id", "subnet", (network_id) => ({
  network_id,
  cidr: "10.0.0.0/8",
}));

/** Reference to a new tag, listed twice. */
export const tagReference = (
  field = "tags",
  withReference: Reference["withReference"] = (body, id) => ({ ...body, tags: [id, id] }),
): Reference => newReference(field, "tag", () => ({ name: "Reference", color: "Red" }))(field, withReference);

export const UNKNOWN_ID = "01936f2e-0d5c-7d3a-9a39-00000000dead";

interface OtherOrganization extends RecordScope {
  readonly containerId: string;
  readonly client: Client;
}

const THE_NETWORK = {
  field: "network_id",
  entity: "network",
  create: async (_client: Client, networkId: string) => networkId,
};

/** The functions are bound: they may be destructured. */
export class RecordSubject {
  readonly suite: RecordSuite;
  readonly appliance: ApplianceUnderTest;
  containerId!: string;
  private idIsRequired!: boolean;

  constructor(suite: RecordSuite, appliance: ApplianceUnderTest) {
    this.suite = suite;
    this.appliance = appliance;
  }

  async prepare(): Promise<void> {
    this.containerId = await this.container.create(this.owner, this.appliance.first.networkId);
    this.idIsRequired = !isOptional(this.appliance, this.path, "id");
  }

  get owner(): Client {
    return this.appliance.owner;
  }

  get path(): string {
    return this.suite.path;
  }

  get entity(): string {
    return this.suite.entity;
  }

  get change(): RecordSuite["change"] {
    return this.suite.change;
  }

  get container(): NonNullable<RecordSuite["container"]> {
    return this.suite.container ?? THE_NETWORK;
  }

  get deletion(): string {
    return this.suite.deletion ?? "";
  }

  get omitted(): readonly string[] {
    return this.suite.omitted ?? [];
  }

  /** The role just below the one that writes require. */
  get roleBelow(): Role {
    return ROLES[ROLES.indexOf(this.suite.writeRole) + 1] as Role;
  }

  get inNetwork(): boolean {
    return this.suite.scope === "in a network";
  }

  get isDeletable(): boolean {
    return this.suite.isDeletable !== false;
  }

  /** Fields without a value: null or missing. */
  readonly emptyFields = (...fields: string[]): JsonRecord =>
    Object.fromEntries(fields.filter((field) => !this.omitted.includes(field)).map((field) => [field, null]));

  readonly inResponse = (body: JsonRecord): JsonRecord => this.suite.inResponse?.(body) ?? body;

  readonly body = (
    position = 1,
    containerId = this.containerId,
    scope: RecordScope = this.appliance.first,
  ): JsonRecord => this.suite.body(containerId, position, scope);

  /** Body of an update. */
  readonly updateBody = (position = 1, containerId?: string, scope?: RecordScope): JsonRecord =>
    this.inResponse(this.body(position, containerId, scope));

  readonly withChange = (from: JsonRecord): JsonRecord => ({ ...from, [this.change.field]: this.change.to(from) });

  readonly recordIn = (data: JsonRecord): JsonRecord => this.suite.createdIn?.(data) ?? data;

  readonly createAs = async (client: Client, requestBody: JsonRecord): Promise<JsonRecord> =>
    this.recordIn(await expectOk(client.post(this.path, requestBody)));

  readonly create = (position = 1): Promise<JsonRecord> => this.createAs(this.owner, this.body(position));

  readonly update = (
    id: string,
    requestBody: JsonRecord,
    client = this.owner,
    headers: Record<string, string> = {},
  ): Promise<ApiResponse> =>
    client.put(`${this.path}/${id}`, this.idIsRequired ? { id, ...requestBody } : requestBody, headers);

  readonly remove = (id: string, client = this.owner, headers: Record<string, string> = {}): Promise<ApiResponse> =>
    client.delete(`${this.path}/${id}${this.deletion}`, headers);

  readonly otherOrganization = async (): Promise<OtherOrganization> => {
    const second = await this.appliance.newOrganization("Second");
    const client = await this.appliance.signedIn(second.userId);
    return { ...second, client, containerId: await this.container.create(client, second.networkId) };
  };
}

/** Response with an id replaced, for comparison with the response for another id. */
export function withoutId(response: ApiResponse, id: string): { status: number; body: unknown } {
  return { status: response.status, body: JSON.parse(response.text.replaceAll(id, "<id>")) };
}

/** Record whose descendants were deleted at a timestamp. */
export function withDeletedParts(record: JsonRecord, at: string): JsonRecord {
  const deleted = (part: unknown): unknown => {
    if (part === null || typeof part !== "object" || Array.isArray(part)) return part;
    const isRecord = (part as JsonRecord).valid_to === null;
    return { ...withDeletedParts(part as JsonRecord, at), ...(isRecord ? { valid_to: at } : {}) };
  };
  return Object.fromEntries(
    Object.entries(record).map(([field, value]) => [field, Array.isArray(value) ? value.map(deleted) : value]),
  );
}

export function shift(instant: string, ms: number): string {
  return formatInstant((parseInstant(instant) as number) + ms);
}

export function isOptional(appliance: TestAppliance, path: string, field: string): boolean {
  const schema = appliance.surface.routes.find((route) => route.method === "PUT" && route.path === `${path}/:id`)
    ?.operation.body as TObject | TUnion<TObject[]>;
  // Where a body has alternatives, the suite uses the first.
  const form = TypeGuard.IsUnion(schema) ? (schema.anyOf[0] as TObject) : schema;
  return !(form.required ?? []).includes(field);
}
