// Running appliance that tests import into.

import type { Client } from "../appliance/client.ts";
import type { CommandResult, Running, Sandbox } from "../executable/executable.ts";

export const NETBOX_TOKEN = "0123456789abcdef0123456789abcdef01234567";

export class ImportAppliance {
  readonly sandbox: Sandbox;
  readonly client: Client;
  readonly running: Running;
  /** Environment of an import, for tests that start the process themselves. */
  readonly environment: Record<string, string>;

  private constructor(sandbox: Sandbox, client: Client, running: Running, key: string) {
    this.sandbox = sandbox;
    this.client = client;
    this.running = running;
    const server = running.url.replace(/\/$/, "");
    this.environment = { NETLEDGER_KEY: key, NETLEDGER_TOKEN: NETBOX_TOKEN, NETLEDGER_SERVER: server };
  }

  static async open(sandbox: Sandbox): Promise<ImportAppliance> {
    const { key } = await sandbox.setUp();
    return ImportAppliance.serve(sandbox, key);
  }

  /** Serves the data of a sandbox. @param key an API key of these data */
  static async serve(sandbox: Sandbox, key: string): Promise<ImportAppliance> {
    const running = await sandbox.serve();
    return new ImportAppliance(sandbox, running.withKey(key), running, key);
  }

  /** Runs `netledger import` to completion. @param env variables, instead of `environment` */
  import(args: readonly string[], env: Record<string, string> = {}): Promise<CommandResult> {
    return this.sandbox.run(["import", ...args], { env: { ...this.environment, ...env } });
  }

  /** All records of a list. */
  async list(path: string): Promise<any[]> {
    const { status, data } = await this.client.get(`${path}${path.includes("?") ? "&" : "?"}limit=1000`);
    if (status !== 200) throw new Error(`${path}: ${status}`);
    return data;
  }

  /** Number of transactions; an import that changes nothing adds none. */
  async transactions(): Promise<number> {
    return (await this.client.get("transactions?limit=1")).body.meta.pagination.total_count;
  }

  /** All imported records by list and in id order, without timestamps. */
  async inventory(): Promise<Record<string, any[]>> {
    const lists = ["tags", "networks", "vlans", "subnets", "hosts", "ip-ranges"];
    const found: Record<string, any[]> = {};
    for (const list of lists) {
      const rows = (await this.list(list)).map((row) => withoutTimestamps(row) as { id: string });
      found[list] = rows.sort((a, b) => (a.id < b.id ? -1 : 1));
    }
    return found;
  }
}

const TIMESTAMP_FIELDS = new Set(["created_at", "updated_at", "valid_from", "last_seen_at"]);

function withoutTimestamps(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutTimestamps);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => !TIMESTAMP_FIELDS.has(name))
      .map(([name, child]) => [name, withoutTimestamps(child)]),
  );
}

/** Numbers in a row of a plan: created, changed, unchanged, kept, refused. */
export function counts({ out }: CommandResult, kind: string): number[] {
  const row = new RegExp(`^${kind} +(\\d+) +(\\d+) +(\\d+) +(\\d+) +(\\d+)$`, "m").exec(out);
  return (row?.slice(1) ?? []).map(Number);
}
