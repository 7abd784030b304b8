// Standard operations for every resource (JSON and CSV lists, get, create, update, delete), with their documentation
// and routes.

import { type TProperties, type TSchema, Type } from "@sinclair/typebox";
import type { Access, Actor } from "../access/actor.ts";
import { entityWords, oneEntity } from "../base/entity-words.ts";
import type { ErrorCode } from "../base/errors.ts";
import { pascalCase } from "../base/text.ts";
import type { RecordBase, Written } from "../db/kind.ts";
import type { BulkRemoval, Calls, Removal, Removing } from "../db/writing/command.ts";
import type { Operation, Surface } from "../http/surface.ts";
import { isIgnorable } from "../resources/ignored/ignored.ts";
import type { Resource } from "../resources/resource.ts";
import { schemaColumns } from "../schemas/csv.ts";
import { At, BulkIds, Cascade, CascadeOrIgnore, IdParams, listQueries } from "../schemas/schemas.ts";
import type { Backend } from "./backend.ts";
import { csvResponse, respondWithCsv } from "./csv-responses.ts";
import { FilterQuery } from "./list-filter.ts";
import { type ListOptions, respondWithList } from "./list-responses.ts";
import { listing, type Meanings } from "./listing.ts";
import { respondWithRecord } from "./record-responses.ts";
import { respondWithBulkRemoval, respondWithRemoval, respondWithWrite } from "./write-responses.ts";

/** Operation properties that a resource may override. */
type Overrides = Partial<Pick<Operation<Access>, "operationId" | "summary" | "description" | "errors">>;

/** Default errors of a create. */
const CREATE_ERRORS: readonly ErrorCode[] = [
  "entity_reference_invalid",
  "entity_access_denied",
  "entity_already_exists",
];
/** Default errors of an update. */
const UPDATE_ERRORS: readonly ErrorCode[] = ["validation_id_mismatch", ...CREATE_ERRORS];

/** @returns the operations of a resource by action; `filters` are the query parameters of its lists */
function standardOperations<Filters extends TProperties>(resource: Resource, filters: Filters) {
  const { kind, group, read, write, responseSchema, listSchema: listed = responseSchema, example } = resource;
  const [singular, plural] = [oneEntity(kind), entityWords(kind)];
  const [title, titles] = [pascalCase(kind.name), pascalCase(kind.plural)];
  const removalQuery = isIgnorable(kind.name) ? CascadeOrIgnore : Cascade;
  const queries = listQueries({ ...filters, ...FilterQuery });
  const data = { data: example };
  const readOperation = { group, access: read, responseSchema: resource.responseSchema, example: data };
  const writeOperation = { group, access: write, responseSchema: resource.responseSchema, example: data };
  return {
    list: (overrides: Overrides = {}) => ({
      ...readOperation,
      operationId: `list${titles}`,
      summary: `List ${plural}`,
      query: queries.List,
      responseSchema: Type.Array(listed),
      isList: true,
      example: { data: [example] },
      ...overrides,
    }),
    table: (overrides: Overrides = {}) => ({
      ...readOperation,
      operationId: `export${titles}`,
      summary: `Export ${plural} as CSV`,
      query: queries.Export,
      ...csvResponse(plural, resource.columns ?? schemaColumns(responseSchema), example),
      ...overrides,
    }),
    /** @param exampleBody example body without the id */
    create: <B extends TSchema>(body: B, exampleBody: object, overrides: Overrides = {}) => ({
      ...writeOperation,
      operationId: `create${title}`,
      summary: `Create ${singular}`,
      body,
      errors: CREATE_ERRORS,
      example: { ...data, body: { id: example.id, ...exampleBody } },
      ...overrides,
    }),
    get: (overrides: Overrides = {}) => ({
      ...readOperation,
      operationId: `get${title}`,
      summary: `Get ${singular}`,
      params: IdParams,
      query: At,
      ...overrides,
    }),
    /** @param exampleBody example body */
    update: <B extends TSchema>(body: B, exampleBody: object, overrides: Overrides = {}) => ({
      ...writeOperation,
      operationId: `update${title}`,
      summary: `Update ${singular}`,
      params: IdParams,
      body,
      errors: UPDATE_ERRORS,
      example: { ...data, body: exampleBody },
      ...overrides,
    }),
    remove: (overrides: Overrides = {}) => ({
      ...writeOperation,
      operationId: `delete${title}`,
      summary: `Delete ${singular}`,
      params: IdParams,
      query: removalQuery,
      ...overrides,
    }),
    removeMany: ({ errors = [], ...overrides }: Overrides = {}) => ({
      ...writeOperation,
      operationId: `delete${titles}`,
      summary: `Delete many ${plural} atomically`,
      query: removalQuery,
      body: BulkIds,
      responseSchema: Type.Array(responseSchema),
      errors: ["entity_reference_invalid" as const, ...errors],
      example: { data: [example], body: [example.id] },
      ...overrides,
    }),
  };
}

type ListOverrides = Overrides & Partial<Pick<Operation<Access>, "query" | "responseSchema">>;

/** Request body of a command; `never` for an unknown command. */
type BodyOf<C, Command extends string> = C extends {
  readonly [Name in Command]: { readonly input: { readonly body: infer Body } };
}
  ? Body
  : never;

/** Schema whose values a command accepts. */
type SchemaFor<Body> = TSchema & { readonly static: Body };
/** `acceptsRawBody` requires a command that accepts bytes: see fromCheckedBody. */
type WriteOverrides<Body> = Overrides & { readonly acceptsRawBody?: Uint8Array extends Body ? true : never };

type RemovalCalls<Name extends string> = Record<`${Name}.delete`, Removing<Removal>> &
  Record<`${Name}.bulk_delete`, Removing<BulkRemoval>>;
/** Commands whose input types are already checked by the signatures below. */
type CheckedCalls = Readonly<
  Record<string, { readonly input: never; readonly takes: (input: object) => void; readonly result: Written }>
>;

/**
 * Defines the standard operations of a resource.
 * @param filters query parameters of its lists
 * @param meanings how each of them is applied: see listing
 */
export function standardRoutes<R extends RecordBase, Filters extends TProperties>(
  resource: Resource<R>,
  filters: Filters,
  meanings: Meanings<R, Filters>,
) {
  const operations = standardOperations(resource, filters);
  const plainOperations = operations as unknown as ReturnType<typeof standardOperations>;
  const listOptions = listing(resource, filters, meanings) as (query: never) => ListOptions;
  const path = `/api/v1/${resource.path}`;

  /** Registers the routes that read, in the order of the calls. */
  function readsOn(surface: Surface<Actor, Access>, backend: Backend) {
    return {
      /** The list and its CSV export. */
      lists(list: ListOverrides = {}, table: Overrides = {}): void {
        surface
          .get(path, { ...plainOperations.list(), ...list }, (call) =>
            respondWithList(backend, call as never, listOptions(call.query as never)),
          )
          .get(`${path}/export/csv`, plainOperations.table(table), (call) =>
            respondWithCsv(backend, call as never, listOptions(call.query as never)),
          );
      },
      get(overrides: Overrides = {}): void {
        surface.get(`${path}/:id`, plainOperations.get(overrides), (call) =>
          respondWithRecord(backend, call, resource),
        );
      },
    };
  }

  /**
   * Registers routes, in the order of the calls.
   * @param name prefix of the resource's commands
   */
  function routesOn<Name extends string, C extends Calls & RemovalCalls<Name>>(
    surface: Surface<Actor, Access>,
    backend: Backend<C>,
    name: Name,
  ) {
    const checked = backend as unknown as Backend<CheckedCalls>;
    const command = (action: string): string => `${name}.${action}`;
    return {
      ...readsOn(surface, backend as unknown as Backend),
      create(
        schema: SchemaFor<BodyOf<C, `${Name}.create`>>,
        exampleBody: object,
        overrides: WriteOverrides<BodyOf<C, `${Name}.create`>> = {},
      ): void {
        surface.post(path, plainOperations.create(schema as TSchema, exampleBody, overrides), (call) =>
          respondWithWrite(checked, call, command("create"), { body: call.body } as never, resource),
        );
      },
      update(
        schema: SchemaFor<BodyOf<C, `${Name}.update`>>,
        exampleBody: object,
        overrides: WriteOverrides<BodyOf<C, `${Name}.update`>> = {},
      ): void {
        surface.put(`${path}/:id`, plainOperations.update(schema as TSchema, exampleBody, overrides), (call) => {
          const input = { id: call.params.id, body: call.body };
          return respondWithWrite(checked, call, command("update"), input as never, resource);
        });
      },
      /** Single and bulk deletion. */
      removals(one: Overrides = {}, many: Overrides = one): void {
        surface
          .delete(`${path}/:id`, plainOperations.remove(one), (call) =>
            respondWithRemoval(checked, call, command("delete"), resource),
          )
          .post(`${path}/bulk-delete`, plainOperations.removeMany(many), (call) =>
            respondWithBulkRemoval(checked, call, command("bulk_delete"), resource),
          );
      },
    };
  }
  return { operations, routesOn, readsOn };
}
