// Client for netledger's own API: lists, single writes, bulk writes of hosts, histories.

import { createHash } from "node:crypto";
import { IDS_MAX, LIMIT_MAX } from "../schemas/schemas.ts";
import { type JsonClient, type JsonResponse, onOneLine, RemoteError } from "./json-client.ts";
import { asInteger, asObject } from "./object-fields.ts";
import { PagedList } from "./paged-list.ts";

/** Maximum records read per list. */
const RECORDS_MAX = 20_000_000;

/** A record from a list. */
export interface LedgerRecord {
  readonly id: string;
  readonly [field: string]: unknown;
}

/** A version from a record's history. */
export interface HistoryVersion {
  readonly operation: "Created" | "Updated" | "Deleted";
  readonly changed_fields: readonly string[];
  readonly transaction: {
    readonly at: string;
    readonly actor: { readonly type: string; readonly name: string | null };
    readonly reason: string | null;
  };
  readonly record: Readonly<Record<string, unknown>>;
}

export interface LedgerIssue {
  readonly path: string;
  readonly message: string;
  readonly code?: string;
}

/** A refused write: one sentence, with its issues if any. */
export interface WriteRefused {
  readonly code: string;
  readonly message: string;
  readonly issues: readonly LedgerIssue[];
}

export type WriteOutcome = { readonly data: unknown } | { readonly refusal: WriteRefused };

export interface LedgerOptions {
  /** `X-Change-Reason` of all writes. */
  readonly reason: string;
  /** Writes nothing: every write reports success. */
  readonly isDryRun: boolean;
  /** Distinguishes the requests of this run from those of another. */
  readonly run: string;
}

export class Ledger {
  readonly isDryRun: boolean;
  private readonly client: JsonClient;
  private readonly reason: string;
  private readonly run: string;

  constructor(client: JsonClient, options: LedgerOptions) {
    this.client = client;
    this.run = options.run;
    this.isDryRun = options.isDryRun;
    this.reason = options.reason;
  }

  /** @throws RemoteError if the server is not netledger or rejects the key */
  async connect(): Promise<void> {
    dataOf(await this.client.get("/api/v1/organizations"), this.client);
  }

  /** All records of a list, page by page. @throws RemoteError */
  async *list(path: string, query = ""): AsyncGenerator<readonly LedgerRecord[]> {
    const list = new PagedList<LedgerRecord>(
      this.client.urlOf(`/api/v1${path}`),
      { pageRows: LIMIT_MAX, rows: RECORDS_MAX },
      ({ id }) => id,
    );
    while (!list.isComplete) {
      const response = await this.client.get(`/api/v1${path}?limit=${LIMIT_MAX}&offset=${list.offset}${query}`);
      const rows = this.rows(response);
      const { pagination } = (response.body as { meta: { pagination?: unknown } }).meta;
      const count = asInteger(asObject(pagination)?.total_count);
      if (count === null) throw new RemoteError(unexpectedForm(response, this.client));
      yield list.take({ rows: rows as LedgerRecord[], count });
      if (rows.length < LIMIT_MAX) return;
    }
  }

  /** Returns the existing records with these IDs, by ID. @throws RemoteError */
  async byIds(path: string, ids: readonly string[]): Promise<Map<string, LedgerRecord>> {
    const found = new Map<string, LedgerRecord>();
    for (let start = 0; start < ids.length; start += IDS_MAX) {
      const batch = ids.slice(start, start + IDS_MAX).join(",");
      const rows = this.rows(await this.client.get(`/api/v1${path}?ids=${batch}&limit=${LIMIT_MAX}`)) as LedgerRecord[];
      for (const row of rows) found.set(row.id, row);
    }
    return found;
  }

  /** Versions of a record, newest first; none if it never existed. @throws RemoteError */
  async history(
    path: string,
    id: string,
    limit: number,
    offset = 0,
    filter: string | null = null,
  ): Promise<readonly HistoryVersion[]> {
    const childrenParameter = path === "/hosts" ? "&include_children=false" : "";
    const filterParameter = filter === null ? "" : `&filter=${encodeURIComponent(filter)}`;
    const page = `limit=${limit}&offset=${offset}${childrenParameter}${filterParameter}`;
    const response = await this.client.get(`/api/v1${path}/${id}/history?${page}`);
    if (response.status === 404) return [];
    return this.rows(response) as HistoryVersion[];
  }

  /** True if any transaction has this reason, or one that contains it. @throws RemoteError */
  async hasWrittenFor(reason: string): Promise<boolean> {
    const path = `/api/v1/transactions?limit=1&reason=${encodeURIComponent(reason)}`;
    return this.rows(await this.client.get(path)).length > 0;
  }

  /** @returns the response data or the refusal @throws RemoteError if writing is no longer possible */
  async write(method: "POST" | "PUT", path: string, body: unknown): Promise<WriteOutcome> {
    if (this.isDryRun) return { data: null };
    const response = await this.client.request(method, `/api/v1${path}`, body, {
      "x-change-reason": `UTF-8''${encodeURIComponent(this.reason)}`,
      // A retry after a lost response receives the original response.
      "idempotency-key": createHash("sha256")
        .update(`${this.run} ${method} ${path} ${JSON.stringify(body)}`)
        .digest("hex"),
    });
    if (response.status < 300) return { data: dataOf(response, this.client) };
    const error = (response.body ?? {}) as { code?: unknown; error?: unknown; params?: { issues?: unknown } };
    if (typeof error.code !== "string" || response.status === 401 || response.status >= 500)
      throw new RemoteError(problemOf(response, this.client));
    const { issues } = error.params ?? {};
    return {
      refusal: {
        code: error.code,
        message: onOneLine(String(error.error)),
        issues: Array.isArray(issues) ? (issues as LedgerIssue[]) : [],
      },
    };
  }

  /** Returns the data of a response that is a list of objects. */
  private rows(response: JsonResponse): readonly unknown[] {
    const data = dataOf(response, this.client);
    if (!Array.isArray(data) || !data.every((each) => asObject(each) !== null))
      throw new RemoteError(unexpectedForm(response, this.client));
    return data;
  }
}

function dataOf(response: JsonResponse, client: JsonClient): unknown {
  const body = response.body as { success?: unknown; data?: unknown; meta?: { api_version?: unknown } } | null;
  if (response.status === 200 && body?.success === true && body.meta?.api_version === 1) return body.data;
  throw new RemoteError(problemOf(response, client));
}

function problemOf(response: JsonResponse, client: JsonClient): string {
  const error = (response.body as { error?: unknown } | null)?.error;
  const where = client.urlOf("");
  if (response.status === 401) return `${where} rejects the key: ${onOneLine(String(error))}`;
  if (typeof error === "string") return `${where} returns ${response.status}: ${onOneLine(error)}`;
  return unexpectedForm(response, client);
}

function unexpectedForm({ status }: JsonResponse, client: JsonClient): string {
  return `${client.urlOf("")} is not netledger: it returns ${status} with unexpected JSON`;
}
