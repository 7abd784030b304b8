// Standard operations of every resource: their contract and documentation, so that a resource's routes need not repeat
// them.

import { type TProperties, type TSchema, Type } from "@sinclair/typebox";
import type { Access } from "../access/actor.ts";
import { entityWords, oneEntity } from "../base/entity-words.ts";
import type { ErrorCode } from "../base/errors.ts";
import { pascalCase } from "../base/text.ts";
import type { Operation } from "../http/surface.ts";
import type { Resource } from "../resources/resource.ts";
import { schemaColumns } from "../schemas/csv.ts";
import { At, BulkIds, Cascade, IdParams, listQueries } from "../schemas/schemas.ts";
import { csvAnswer } from "./csv-answers.ts";
import { FilterQuery } from "./list-filter.ts";

/** Properties of an operation that a resource changes or adds. */
type Overrides = Partial<Pick<Operation<Access>, "operationId" | "summary" | "description" | "errors">>;

/** Default errors of a create. */
const CREATE_ERRORS: readonly ErrorCode[] = [
  "entity_reference_invalid",
  "entity_access_denied",
  "entity_already_exists",
];

/** @returns the operations of a resource by action; `filters` are the query parameters of its lists */
export function standardOperations<Filters extends TProperties>(resource: Resource, filters: Filters) {
  const { kind, group, read, write, answer, listed = answer, example } = resource;
  const [one, many] = [oneEntity(kind), entityWords(kind)];
  const [title, titles] = [pascalCase(kind.name), pascalCase(kind.plural)];
  const queries = listQueries({ ...filters, ...FilterQuery });
  const data = { data: example };
  const reading = { group, access: read, answer, example: data };
  const writing = { group, access: write, answer, example: data };
  return {
    list: (overrides: Overrides = {}) => ({
      ...reading,
      operationId: `list${titles}`,
      summary: `List ${many}`,
      query: queries.List,
      answer: Type.Array(listed),
      isList: true,
      example: { data: [example] },
      ...overrides,
    }),
    /** @param words the table's content, as part of a sentence */
    table: (overrides: Overrides = {}, words = many) => ({
      ...reading,
      operationId: `export${titles}`,
      summary: `Export ${many} as CSV`,
      query: queries.Export,
      ...csvAnswer(words, resource.columns ?? schemaColumns(answer), example),
      ...overrides,
    }),
    /** @param sent example body without the id */
    create: <B extends TSchema>(body: B, sent: object, overrides: Overrides = {}) => ({
      ...writing,
      operationId: `create${title}`,
      summary: `Create ${one}`,
      body,
      errors: CREATE_ERRORS,
      example: { ...data, body: { id: example.id, ...sent } },
      ...overrides,
    }),
    get: (overrides: Overrides = {}) => ({
      ...reading,
      operationId: `get${title}`,
      summary: `Get ${one}`,
      params: IdParams,
      query: At,
      ...overrides,
    }),
    /** @param sent example body */
    update: <B extends TSchema>(body: B, sent: object, overrides: Overrides) => ({
      ...writing,
      operationId: `update${title}`,
      summary: `Update ${one}`,
      params: IdParams,
      body,
      example: { ...data, body: sent },
      ...overrides,
    }),
    remove: (overrides: Overrides = {}) => ({
      ...writing,
      operationId: `delete${title}`,
      summary: `Delete ${one}`,
      params: IdParams,
      query: Cascade,
      ...overrides,
    }),
    removeMany: ({ errors = [], ...overrides }: Overrides = {}) => ({
      ...writing,
      operationId: `delete${titles}`,
      summary: `Delete many ${many}, all or none`,
      query: Cascade,
      body: BulkIds,
      answer: Type.Array(answer),
      errors: ["entity_reference_invalid" as const, ...errors],
      example: { data: [example], body: [example.id] },
      ...overrides,
    }),
  };
}
