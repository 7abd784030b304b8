// Common parts of the compared servers on loopback: requests and changes.

import { requestBytes } from "../../benchmark/load.ts";
import {
  type BulkHost,
  normalRecord,
  type Operation,
  type PagePlace,
  type PageSeen,
  pick,
  updatedFields,
} from "./product.ts";
import type { Entry } from "./rows.ts";

export abstract class Served {
  abstract readonly name: string;
  port = 0;
  protected abstract readonly headers: Record<string, string>;
  private updates = 0;

  protected getting(path: (i: number) => string): Operation {
    return { each: 1, requests: (i) => requestBytes("GET", path(i), this.headers) };
  }

  protected gettingPages(places: readonly PagePlace[], path: (networkId: string) => string): Operation {
    return this.getting((i) => {
      const { networkId, offset } = pick(places, i);
      return `${path(networkId)}&offset=${offset}`;
    });
  }

  protected updating(method: string, list: string, entries: readonly Entry[], more: () => object = Object): Operation {
    return {
      each: 1,
      requests: () => {
        const i = (this.updates += 1);
        const { id, if_index, if_descr } = entries[i % entries.length] as Entry;
        const body = { if_index, if_descr, ...updatedFields(i), ...more() };
        return requestBytes(method, `${list}/${id}`, this.headers, JSON.stringify(body));
      },
    };
  }

  protected url(path: string): string {
    return `http://127.0.0.1:${this.port}${path}`;
  }

  protected async ask<T>(method: string, path: string, body?: unknown): Promise<T> {
    const answer = await fetch(this.url(path), {
      method,
      ...(body === undefined
        ? { headers: this.headers }
        : { headers: { ...this.headers, "content-type": "application/json" }, body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`${this.name} answered ${answer.status}: ${(await answer.text()).slice(0, 300)}`);
    return (await answer.json()) as T;
  }
}

/** A server with netledger's API. */
export abstract class ServedByApi extends Served {
  protected abstract pagePath(networkId: string | null, at: string | null): string;

  update(entries: readonly Entry[]): Operation {
    return this.updating("PUT", "/api/v1/if-entries", entries);
  }

  async bulk(hosts: readonly BulkHost[]): Promise<void> {
    await this.ask("POST", "/api/v1/hosts/bulk", hosts);
  }

  async diff(from: string, to: string): Promise<number> {
    const path = `/api/v1/diff?from=${from}&to=${to}&types=if_entry`;
    return (await this.ask<{ data: { changed: unknown[] } }>("GET", path)).data.changed.length;
  }

  async page(networkId: string | null, at: string | null): Promise<PageSeen> {
    const { data, meta } = await this.ask<{
      data: Array<Record<string, unknown>>;
      meta: { pagination: { total_count: number } };
    }>("GET", this.pagePath(networkId, at));
    return { total: meta.pagination.total_count, records: data.map((record) => normalRecord(record)) };
  }
}
