// How the console speaks with the API: typed by the OpenAPI document, so that the compiler finds what the API does not
// say. A read is a value: it has an address, which is its name in caches and what is copied as curl.

import { signal } from "@preact/signals";
import createClient, { type Client, createFinalURL, createQuerySerializer, defaultPathSerializer } from "openapi-fetch";
import type { paths } from "#api";
import { learnClock } from "../time/clock.ts";
import { Refusal, refusalOf, unreachable } from "./refusal.ts";

const serializer = createQuerySerializer();

/** Writes, and what is answered by no record. Reads are made by `read`. */
export const api: Client<paths, "application/json"> = createClient<paths, "application/json">({
  baseUrl: window.location.origin,
  querySerializer: serializer,
});

/** Whether the API said that nobody is signed in, of a session that there was. */
export const sessionEnded = signal(false);

/** Whether the last request had an answer. */
export const isReachable = signal(true);

let inFlight = 0;

/** How many reads are not yet whole: what comes fast waits for them. */
export function requestsInFlight(): number {
  return inFlight;
}

api.use({
  onResponse: ({ response }) => heed(response),
  onError: ({ error }) => heedFailure(error),
});

/** What every answer says, whatever it was asked. */
async function heed(response: Response): Promise<void> {
  isReachable.value = true;
  learnClock(response.headers.get("date"));
  if (response.status === 401 && !(await isOfPassword(response))) sessionEnded.value = true;
}

function heedFailure(cause: unknown): void {
  if (!isAborted(cause)) isReachable.value = false;
}

/**
 * What has no JSON to be typed by: a HEAD, a table. A refusal is answered like anything else.
 * @throws Refusal where there was no answer
 */
export async function fetchAnswer(path: string, init: RequestInit = {}): Promise<Response> {
  const response = await fetch(path, init).catch((cause: unknown) => {
    heedFailure(cause);
    throw asRefusal(cause);
  });
  await heed(response);
  return response;
}

/** Whether a password or a token that was typed is the wrong one: that ends no session. */
async function isOfPassword(response: Response): Promise<boolean> {
  const told: unknown = await response
    .clone()
    .json()
    .catch(() => null);
  return typeof told === "object" && told !== null && "code" in told && told.code === "auth_invalid_credentials";
}

/** Paths that can be read. */
export type ReadPath = {
  [P in keyof paths]: paths[P] extends { get: { responses: { 200: { content: { "application/json": unknown } } } } }
    ? P
    : never;
}[keyof paths];

type AnswerBody<P extends ReadPath> = paths[P] extends {
  get: { responses: { 200: { content: { "application/json": infer Body } } } };
}
  ? Body
  : never;

type Parameters<P extends ReadPath> = paths[P] extends { get: { parameters: infer All } } ? All : never;

/** The parameters behind the question mark. */
export type QueryOf<P extends ReadPath> = Parameters<P> extends { query?: infer Query } ? NonNullable<Query> : never;
type PathOf<P extends ReadPath> = Parameters<P> extends { path: infer InPath } ? InPath : never;

/** `query` and `path` as the operation has them. */
export type ReadParameters<P extends ReadPath> = ([QueryOf<P>] extends [never]
  ? { readonly query?: undefined }
  : Record<string, never> extends QueryOf<P>
    ? { readonly query?: QueryOf<P> }
    : { readonly query: QueryOf<P> }) &
  ([PathOf<P>] extends [never] ? { readonly path?: undefined } : { readonly path: PathOf<P> });

/** `data` of an answer. */
export type DataOf<P extends ReadPath> = AnswerBody<P> extends { data: infer Data } ? Data : never;
/** `meta` of an answer. */
export type MetaOf<P extends ReadPath> = AnswerBody<P> extends { meta: infer Meta } ? Meta : never;

/** One answer. */
export interface Answered<Data, Meta> {
  readonly data: Data;
  readonly meta: Meta;
}

/** A read that can be made, once or again. */
export interface Read<Data, Meta = unknown> {
  /** Its address below the origin: `/api/v1/hosts?limit=50`. */
  readonly url: string;
  /** @throws Refusal, or what an aborted request throws */
  load(signal?: AbortSignal): Promise<Answered<Data, Meta>>;
}

/** A read of the API. */
export function read<P extends ReadPath>(
  path: P,
  ...[parameters]: Record<string, never> extends ReadParameters<P> ? [ReadParameters<P>?] : [ReadParameters<P>]
): Read<DataOf<P>, MetaOf<P>> {
  const params = (parameters ?? {}) as { query?: Record<string, unknown>; path?: Record<string, string> };
  const url = createFinalURL(path, {
    baseUrl: "",
    params,
    querySerializer: serializer,
    pathSerializer: defaultPathSerializer,
  });
  return {
    url,
    load: async (abort) => (await loadJson(url, abort)) as Answered<DataOf<P>, MetaOf<P>>,
  };
}

async function loadJson(url: string, abort: AbortSignal | undefined): Promise<unknown> {
  const get = api.GET as (
    path: string,
    init: { signal?: AbortSignal },
  ) => Promise<{ data?: unknown; error?: unknown; response: Response }>;
  inFlight += 1;
  const { data, error, response } = await get(url, abort === undefined ? {} : { signal: abort })
    .catch((cause) => {
      throw isAborted(cause) ? cause : unreachable(cause);
    })
    .finally(() => {
      inFlight -= 1;
    });
  if (!response.ok || data === undefined) throw refusalOf(response, error);
  return data;
}

type Writing<Data> = Promise<{ data?: { data: Data } | undefined; error?: unknown; response: Response }>;

/** What a write was answered. @throws Refusal */
export async function done<Data>(writing: Writing<Data>): Promise<Data> {
  return (await written(writing)).data;
}

/** The same, with its transaction: null where it changed nothing. @throws Refusal */
export async function written<Data>(
  writing: Writing<Data>,
): Promise<{ readonly data: Data; readonly sequence: number | null }> {
  const { data, error, response } = await writing.catch(rethrown);
  if (data === undefined) throw refusalOf(response, error);
  const sequence = response.headers.get("x-transaction-sequence");
  return { data: data.data, sequence: sequence === null ? null : Number(sequence) };
}

export function isAborted(cause: unknown): boolean {
  return cause instanceof DOMException && cause.name === "AbortError";
}

/** Any error as one that can be shown. */
export function asRefusal(cause: unknown): Refusal {
  return cause instanceof Refusal ? cause : unreachable(cause);
}

/** In the place of what a request throws. @throws Refusal */
export function rethrown(cause: unknown): never {
  throw asRefusal(cause);
}
