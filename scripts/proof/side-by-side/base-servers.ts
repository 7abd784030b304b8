// Base classes of the compared servers on loopback, with their common requests.

import { requestBytes } from "../../benchmark/load.ts";
import {
  type BulkHost,
  normalizeRecord,
  type Operation,
  type PagePosition,
  type ProductPage,
  pick,
  updatedFields,
} from "./product.ts";
import type { Entry } from "./rows.ts";

export abstract class ComparedServer {
  abstract readonly name: string;
  port = 0;
  protected abstract readonly headers: Record<string, string>;
  private updates = 0;

  protected getOperation(path: (i: number) => string): Operation {
    return { requestCount: 1, requests: (i) => requestBytes("GET", path(i), this.headers) };
  }

  protected pagesOperation(positions: readonly PagePosition[], path: (networkId: string) => string): Operation {
    return this.getOperation((i) => {
      const { networkId, offset } = pick(positions, i);
      return `${path(networkId)}&offset=${offset}`;
    });
  }

  protected updateOperation(
    method: string,
    list: string,
    entries: readonly Entry[],
    extraFields: () => object = Object,
  ): Operation {
    return {
      requestCount: 1,
      requests: () => {
        const i = (this.updates += 1);
        const { id, if_index, if_descr } = entries[i % entries.length] as Entry;
        const body = { if_index, if_descr, ...updatedFields(i), ...extraFields() };
        return requestBytes(method, `${list}/${id}`, this.headers, JSON.stringify(body));
      },
    };
  }

  protected url(path: string): string {
    return `http://127.0.0.1:${this.port}${path}`;
  }

  protected async request<T>(method: string, path: string, body?: unknown): Promise<T> {
    const response = await fetch(this.url(path), {
      method,
      ...(body === undefined
        ? { headers: this.headers }
        : { headers: { ...this.headers, "content-type": "application/json" }, body: JSON.stringify(body) }),
    });
    if (!response.ok)
      throw new Error(`${this.name} returned ${response.status}: ${(await response.text()).slice(0, 300)}`);
    return (await response.json()) as T;
  }
}

/** Server with netledger's API. */
export abstract class ApiServer extends ComparedServer {
  protected abstract pagePath(networkId: string | null, at: string | null): string;

  update(entries: readonly Entry[]): Operation {
    return this.updateOperation("PUT", "/api/v1/if-entries", entries);
  }

  async bulk(hosts: readonly BulkHost[]): Promise<void> {
    await this.request("POST", "/api/v1/hosts/bulk", hosts);
  }

  async diff(from: string, to: string): Promise<number> {
    const path = `/api/v1/diff?from=${from}&to=${to}&types=if_entry`;
    return (await this.request<{ data: { changed: unknown[] } }>("GET", path)).data.changed.length;
  }

  async page(networkId: string | null, at: string | null): Promise<ProductPage> {
    const { data, meta } = await this.request<{
      data: Array<Record<string, unknown>>;
      meta: { pagination: { total_count: number } };
    }>("GET", this.pagePath(networkId, at));
    return { total: meta.pagination.total_count, records: data.map((record) => normalizeRecord(record)) };
  }
}
