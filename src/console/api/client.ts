// API client, typed by the OpenAPI document. A read is a value whose URL is its cache key and its curl command.

import { signal } from "@preact/signals";
import createClient, { type Client, createFinalURL, createQuerySerializer, defaultPathSerializer } from "openapi-fetch";
import type { paths } from "#api";
import { syncClock } from "../time/clock.ts";
import { Refusal, refusalOf, unreachable } from "./refusal.ts";

const querySerializer = createQuerySerializer();

/** For writes, and for responses without records. Use `read` for reads. */
export const api: Client<paths, "application/json"> = createClient<paths, "application/json">({
  baseUrl: window.location.origin,
  querySerializer,
});

/** Whether the API reported the end of an existing session. */
export const sessionEnded = signal(false);

/** Whether the last request had a response. */
export const isReachable = signal(true);

let inFlight = 0;

/** Number of pending reads; frequent events wait for them. */
export function requestsInFlight(): number {
  return inFlight;
}

api.use({ onResponse: ({ response }) => inspectResponse(response), onError: ({ error }) => noteFailure(error) });

/** Updates reachability, clock and session from a response. */
async function inspectResponse(response: Response): Promise<void> {
  isReachable.value = true;
  syncClock(response.headers.get("date"));
  if (response.status === 401 && !(await isWrongPassword(response))) sessionEnded.value = true;
}

function noteFailure(cause: unknown): void {
  if (!isAborted(cause)) isReachable.value = false;
}

/**
 * Sends a request whose response is not typed JSON, such as a HEAD or a download. Returns error responses as well.
 * @throws Refusal if there was no response
 */
export async function fetchResponse(path: string, init: RequestInit = {}): Promise<Response> {
  const response = await fetch(path, init).catch((cause: unknown) => {
    noteFailure(cause);
    throw asRefusal(cause);
  });
  await inspectResponse(response);
  return response;
}

/** Whether a 401 reports a wrong password or token in the form; that does not end the session. */
async function isWrongPassword(response: Response): Promise<boolean> {
  const body: unknown = await response
    .clone()
    .json()
    .catch(() => null);
  return typeof body === "object" && body !== null && "code" in body && body.code === "auth_invalid_credentials";
}

/** Paths with a GET operation. */
export type ReadPath = {
  [P in keyof paths]: paths[P] extends { get: { responses: { 200: { content: { "application/json": unknown } } } } }
    ? P
    : never;
}[keyof paths];

type ResponseBody<P extends ReadPath> = paths[P] extends {
  get: { responses: { 200: { content: { "application/json": infer Body } } } };
}
  ? Body
  : never;

type Parameters<P extends ReadPath> = paths[P] extends { get: { parameters: infer All } } ? All : never;

/** Query parameters. */
export type QueryOf<P extends ReadPath> = Parameters<P> extends { query?: infer Query } ? NonNullable<Query> : never;
type PathOf<P extends ReadPath> = Parameters<P> extends { path: infer InPath } ? InPath : never;

/** `query` and `path` of the operation. */
export type ReadParameters<P extends ReadPath> = ([QueryOf<P>] extends [never]
  ? { readonly query?: undefined }
  : Record<string, never> extends QueryOf<P>
    ? { readonly query?: QueryOf<P> }
    : { readonly query: QueryOf<P> }) &
  ([PathOf<P>] extends [never] ? { readonly path?: undefined } : { readonly path: PathOf<P> });

/** `data` of a response. */
export type DataOf<P extends ReadPath> = ResponseBody<P> extends { data: infer Data } ? Data : never;
/** `meta` of a response. */
export type MetaOf<P extends ReadPath> = ResponseBody<P> extends { meta: infer Meta } ? Meta : never;

export interface ResponseData<Data, Meta> {
  readonly data: Data;
  readonly meta: Meta;
}

/** A read that can be performed repeatedly. */
export interface Read<Data, Meta = unknown> {
  /** URL below the origin: `/api/v1/hosts?limit=50`. */
  readonly url: string;
  /** @throws Refusal, or the error of an aborted request */
  load(signal?: AbortSignal): Promise<ResponseData<Data, Meta>>;
}

/** Creates a read of the API. */
export function read<P extends ReadPath>(
  path: P,
  ...[parameters]: Record<string, never> extends ReadParameters<P> ? [ReadParameters<P>?] : [ReadParameters<P>]
): Read<DataOf<P>, MetaOf<P>> {
  const params = (parameters ?? {}) as { query?: Record<string, unknown>; path?: Record<string, string> };
  const url = createFinalURL(path, { baseUrl: "", params, querySerializer, pathSerializer: defaultPathSerializer });
  return { url, load: async (abort) => (await loadJson(url, abort)) as ResponseData<DataOf<P>, MetaOf<P>> };
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

/** Response to a write. @throws Refusal */
export async function unwrap<Data>(writing: Writing<Data>): Promise<Data> {
  return (await unwrapWrite(writing)).data;
}

/** Response to a write, with its transaction's sequence number: null if nothing changed. @throws Refusal */
export async function unwrapWrite<Data>(
  writing: Writing<Data>,
): Promise<{ readonly data: Data; readonly sequence: number | null }> {
  const { data, error, response } = await writing.catch(throwRefusal);
  if (data === undefined) throw refusalOf(response, error);
  const sequence = response.headers.get("x-transaction-sequence");
  return { data: data.data, sequence: sequence === null ? null : Number(sequence) };
}

export function isAborted(cause: unknown): boolean {
  return cause instanceof DOMException && cause.name === "AbortError";
}

/** Converts any error to one that can be shown. */
export function asRefusal(cause: unknown): Refusal {
  return cause instanceof Refusal ? cause : unreachable(cause);
}

/** Converts the error of a request. @throws Refusal */
export function throwRefusal(cause: unknown): never {
  throw asRefusal(cause);
}
