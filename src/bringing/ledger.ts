// netledger's own API, as any client asks it: lists, single writes, bulk writes of hosts, histories.

import { createHash } from "node:crypto";
import { IDS_MAX, LIMIT_MAX } from "../wire/schemas.ts";
import { type JsonAnswer, type JsonClient, onOneLine, RemoteTrouble } from "./json-client.ts";

/** A record as a list answers it. */
export interface LedgerRecord {
  readonly id: string;
  readonly [field: string]: unknown;
}

/** A version of a record, as its history tells it. */
export interface ToldVersion {
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

/** A write that was refused, in one sentence, with its issues where it has any. */
export interface WriteRefused {
  readonly code: string;
  readonly message: string;
  readonly issues: readonly LedgerIssue[];
}

export type WriteOutcome = { readonly data: unknown } | { readonly refusal: WriteRefused };

export interface LedgerOptions {
  /** The `X-Change-Reason` of all writes. */
  readonly reason: string;
  /** Nothing is written: every write is answered as if it were done. */
  readonly isDryRun: boolean;
  /** Tells the requests of this run from those of another. */
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

  /** @throws RemoteTrouble for what is no netledger, and for a key that it does not take */
  async connect(): Promise<void> {
    await this.data("/organizations");
  }

  /** All records of a list, page by page. @throws RemoteTrouble */
  async *list(path: string, query = ""): AsyncGenerator<readonly LedgerRecord[]> {
    for (let offset = 0; ; offset += LIMIT_MAX) {
      const rows = (await this.data(`${path}?limit=${LIMIT_MAX}&offset=${offset}${query}`)) as LedgerRecord[];
      yield rows;
      if (rows.length < LIMIT_MAX) return;
    }
  }

  /** Those of these ids that are there, by id. @throws RemoteTrouble */
  async byIds(path: string, ids: readonly string[]): Promise<Map<string, LedgerRecord>> {
    const found = new Map<string, LedgerRecord>();
    for (let start = 0; start < ids.length; start += IDS_MAX) {
      const some = ids.slice(start, start + IDS_MAX).join(",");
      const rows = (await this.data(`${path}?ids=${some}&limit=${LIMIT_MAX}`)) as LedgerRecord[];
      for (const row of rows) found.set(row.id, row);
    }
    return found;
  }

  /** Versions of a record, newest first; none of one that never was. @throws RemoteTrouble */
  async history(
    path: string,
    id: string,
    limit: number,
    offset = 0,
    filter: string | null = null,
  ): Promise<readonly ToldVersion[]> {
    const alone = path === "/hosts" ? "&include_children=false" : "";
    const filtered = filter === null ? "" : `&filter=${encodeURIComponent(filter)}`;
    const page = `limit=${limit}&offset=${offset}${alone}${filtered}`;
    const answer = await this.client.get(`/api/v1${path}/${id}/history?${page}`);
    if (answer.status === 404) return [];
    return dataOf(answer, this.client) as ToldVersion[];
  }

  /** Whether anything was ever written for this reason, or one that has it in it. @throws RemoteTrouble */
  async hasWrittenFor(reason: string): Promise<boolean> {
    const rows = await this.data(`/transactions?limit=1&reason=${encodeURIComponent(reason)}`);
    return (rows as unknown[]).length > 0;
  }

  /** @returns the answer's data, or why it was refused @throws RemoteTrouble where nothing more can be written */
  async write(method: "POST" | "PUT", path: string, body: unknown): Promise<WriteOutcome> {
    if (this.isDryRun) return { data: null };
    const answer = await this.client.ask(method, `/api/v1${path}`, body, {
      "x-change-reason": `UTF-8''${encodeURIComponent(this.reason)}`,
      // Where the answer was lost, the request that is sent again gets it.
      "idempotency-key": createHash("sha256")
        .update(`${this.run} ${method} ${path} ${JSON.stringify(body)}`)
        .digest("hex"),
    });
    if (answer.status < 300) return { data: dataOf(answer, this.client) };
    const error = (answer.body ?? {}) as { code?: unknown; error?: unknown; params?: { issues?: unknown } };
    if (typeof error.code !== "string" || answer.status === 401 || answer.status >= 500)
      throw new RemoteTrouble(troubleOf(answer, this.client));
    const { issues } = error.params ?? {};
    return {
      refusal: {
        code: error.code,
        message: onOneLine(String(error.error)),
        issues: Array.isArray(issues) ? (issues as LedgerIssue[]) : [],
      },
    };
  }

  private async data(path: string): Promise<unknown> {
    return dataOf(await this.client.get(`/api/v1${path}`), this.client);
  }
}

function dataOf(answer: JsonAnswer, client: JsonClient): unknown {
  const body = answer.body as { success?: unknown; data?: unknown; meta?: { api_version?: unknown } } | null;
  if (answer.status === 200 && body?.success === true && body.meta?.api_version === 1) return body.data;
  throw new RemoteTrouble(troubleOf(answer, client));
}

function troubleOf(answer: JsonAnswer, client: JsonClient): string {
  const error = (answer.body as { error?: unknown } | null)?.error;
  const where = client.urlOf("");
  if (answer.status === 401) return `${where} refuses the key: ${onOneLine(String(error))}`;
  if (typeof error === "string") return `${where} answers ${answer.status}: ${onOneLine(error)}`;
  return `${where} is no netledger: it answers ${answer.status} and JSON of another form`;
}
