// Running appliance for tests of imports.

import type { Client } from "../appliance/client.ts";
import type { Finished, Running, Workplace } from "../executable/executable.ts";

export const NETBOX_TOKEN = "0123456789abcdef0123456789abcdef01234567";

export class ImportPlace {
  readonly place: Workplace;
  readonly client: Client;
  readonly running: Running;
  private readonly env: Record<string, string>;

  private constructor(place: Workplace, client: Client, running: Running, key: string) {
    this.place = place;
    this.client = client;
    this.running = running;
    this.env = { NETLEDGER_KEY: key, NETLEDGER_TOKEN: NETBOX_TOKEN, NETLEDGER_SERVER: running.url.replace(/\/$/, "") };
  }

  static async open(place: Workplace): Promise<ImportPlace> {
    const { client, running, key } = await place.serveSetUp();
    return new ImportPlace(place, client, running, key);
  }

  /** Runs `netledger import` to completion. @param env replaces its environment */
  import(args: readonly string[], env: Record<string, string> = {}): Promise<Finished> {
    return this.place.run(["import", ...args], { env: { ...this.env, ...env } });
  }

  /** Environment of an import, for tests that start it themselves. */
  get environment(): Record<string, string> {
    return this.env;
  }

  /** All records of a list. */
  async all(path: string): Promise<any[]> {
    const { status, data } = await this.client.get(`${path}${path.includes("?") ? "&" : "?"}limit=1000`);
    if (status !== 200) throw new Error(`${path}: ${status}`);
    return data;
  }

  /** Number of transactions; unchanged by an import without effect. */
  async transactions(): Promise<number> {
    return (await this.client.get("transactions?limit=1")).body.meta.pagination.total_count;
  }

  /** All imported records by list and in id order, without timestamps. */
  async inventory(): Promise<Record<string, any[]>> {
    const lists = ["tags", "networks", "vlans", "subnets", "hosts", "ip-ranges"];
    const found: Record<string, any[]> = {};
    for (const list of lists) {
      const rows = (await this.all(list)).map((row) => withoutInstants(row) as { id: string });
      found[list] = rows.sort((a, b) => (a.id < b.id ? -1 : 1));
    }
    return found;
  }
}

const INSTANTS = new Set(["created_at", "updated_at", "valid_from", "last_seen_at"]);

function withoutInstants(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutInstants);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => !INSTANTS.has(name))
      .map(([name, each]) => [name, withoutInstants(each)]),
  );
}

/** Numbers in a row of a plan: created, changed, unchanged, kept, refused. */
export function counts({ out }: Finished, kind: string): number[] {
  const row = new RegExp(`^${kind} +(\\d+) +(\\d+) +(\\d+) +(\\d+) +(\\d+)$`, "m").exec(out);
  return (row?.slice(1) ?? []).map(Number);
}
