// Write load that records every acknowledgement, and read load with known responses; a failing disk must not affect
// either. Counts rejections by code and allows no other responses.

import type { ApiResponse, Client } from "../../../test/support/appliance/client.ts";
import { type SeededRandom, seededRandom } from "../../../test/support/injected/seeded-random.ts";

type JsonRecord = Record<string, unknown> & { readonly id: string };

/** Acknowledged records by id, as returned; null for deleted records. */
class Acknowledged {
  readonly subnets = new Map<string, JsonRecord | null>();
  readonly hosts = new Map<string, JsonRecord | null>();
  /** Ids of records whose creation was refused. */
  readonly refused = new Set<string>();
}

const PATHS = { subnets: "/api/v1/subnets", hosts: "/api/v1/hosts" } as const;
const READER_CONNECTIONS = 2;

export class WriteLoad {
  readonly acknowledged = new Acknowledged();
  /** Number of responses by `200` or error code. */
  readonly counts = new Map<string, number>();
  /** The first unexpected responses. */
  readonly unexpected: string[] = [];
  private readonly networkId: string;
  private readonly random: SeededRandom;
  private readonly text: string;
  private readonly refusals: ReadonlySet<string>;
  private createdCount = 0;
  private isStopped = false;
  private workers: Promise<void>[] = [];

  /**
   * @param refusals allowed codes of refused writes
   * @param options.textLength length of each record's description in characters
   */
  constructor(networkId: string, seed: number, refusals: readonly string[], { textLength = 1_500 } = {}) {
    this.networkId = networkId;
    this.random = seededRandom(seed);
    this.text = "what it is about ".repeat(Math.ceil(textLength / 17)).slice(0, textLength);
    this.refusals = new Set(refusals);
  }

  count(response: string): number {
    return this.counts.get(response) ?? 0;
  }

  get acknowledgements(): number {
    return this.count("200");
  }

  get refusalCount(): number {
    return [...this.refusals].reduce((sum, code) => sum + this.count(code), 0);
  }

  start(client: Client, writers: number): void {
    this.isStopped = false;
    this.workers = Array.from({ length: writers }, async () => {
      while (!this.isStopped) {
        await this.writeOnce(client).catch((error: unknown) => {
          this.isStopped = true;
          this.unexpected.push(String(error));
        });
        // Waits after a refusal: more refusals per second would prove nothing more.
        if (this.wasRefused) await Bun.sleep(10);
      }
    });
  }

  /** Waits until every write has its response. */
  async stop(): Promise<void> {
    this.isStopped = true;
    await Promise.all(this.workers);
  }

  private wasRefused = false;

  private async writeOnce(client: Client): Promise<void> {
    const choice = this.random.integer(10);
    if (choice < 4) await this.create(client);
    else if (choice < 6) await this.update(client);
    else if (choice < 7) await this.remove(client);
    else if (choice < 9) await this.createHost(client);
    else await this.bulk(client);
  }

  private async create(client: Client): Promise<void> {
    this.createdCount += 1;
    const id = crypto.randomUUID();
    const response = await client.post(PATHS.subnets, {
      id,
      network_id: this.networkId,
      cidr: this.cidr(this.createdCount),
      name: `made ${this.createdCount}`,
      description: this.text,
    });
    if (this.assess(response)) this.acknowledged.subnets.set(id, response.data);
    else this.acknowledged.refused.add(id);
  }

  private async update(client: Client): Promise<void> {
    const live = this.pickLive();
    if (live === null) return this.create(client);
    const { id, cidr } = live;
    this.acknowledged.subnets.delete(id);
    const response = await client.put(`${PATHS.subnets}/${id}`, {
      network_id: this.networkId,
      cidr,
      name: `renamed ${this.random.integer(1_000_000)}`,
      description: this.text,
    });
    this.acknowledged.subnets.set(id, this.assess(response) ? response.data : live);
  }

  private async remove(client: Client): Promise<void> {
    const live = this.pickLive();
    if (live === null) return this.create(client);
    // Other writers must not pick the record while the request is in progress.
    this.acknowledged.subnets.delete(live.id);
    const response = await client.delete(`${PATHS.subnets}/${live.id}`);
    this.acknowledged.subnets.set(live.id, this.assess(response) ? null : live);
  }

  private async createHost(client: Client): Promise<void> {
    const id = crypto.randomUUID();
    const response = await client.post(PATHS.hosts, { id, ...this.host() });
    if (this.assess(response)) this.acknowledged.hosts.set(id, response.data);
    else this.acknowledged.refused.add(id);
  }

  /** Creates hosts in one request; afterwards all must exist, or none. */
  private async bulk(client: Client): Promise<void> {
    const hosts = Array.from({ length: 20 }, () => ({ id: crypto.randomUUID(), ...this.host() }));
    const response = await client.post(`${PATHS.hosts}/bulk`, hosts);
    const isDone = this.assess(response);
    for (const { id, name } of hosts) {
      if (isDone) this.acknowledged.hosts.set(id, { id, name });
      else this.acknowledged.refused.add(id);
    }
  }

  private host() {
    this.createdCount += 1;
    return {
      network_id: this.networkId,
      name: `host ${this.createdCount}`,
      description: this.text.slice(0, 300),
      interfaces: Array.from({ length: 3 }, (_, position) => ({
        if_index: position + 1,
        if_descr: `port ${position + 1}`,
      })),
    };
  }

  private pickLive(): (JsonRecord & { readonly cidr?: unknown }) | null {
    const live = [...this.acknowledged.subnets.values()].filter((record) => record !== null);
    return live.length === 0 ? null : this.random.pick(live);
  }

  private cidr(n: number): string {
    return `10.${(n >> 8) & 255}.${n & 255}.0/24`;
  }

  /** Counts a response. @returns whether the write was acknowledged */
  private assess(response: ApiResponse): boolean {
    const code = response.status === 200 ? "200" : String(response.body?.code ?? response.status);
    this.counts.set(code, this.count(code) + 1);
    this.wasRefused = response.status !== 200;
    const isDone = response.status === 200;
    const { request_id, retry_after_seconds } = response.body?.params ?? {};
    const isComplete =
      response.body?.success === isDone && (isDone || request_id !== undefined || retry_after_seconds !== undefined);
    if ((!isDone && !this.refusals.has(code)) || !isComplete)
      this.unexpected.push(`${response.status} ${response.text.slice(0, 200)}`);
    return isDone;
  }
}

/** Compares live with acknowledged records. @returns the differences */
export async function compare(client: Client, acknowledged: Acknowledged): Promise<string[]> {
  const wrong: string[] = [];
  for (const kind of ["subnets", "hosts"] as const) {
    const list = await client.get(`${PATHS[kind]}?limit=0`);
    if (list.status !== 200) return [`${kind}: ${list.text.slice(0, 200)}`];
    const found = new Map((list.data as JsonRecord[]).map((record) => [record.id, record]));
    for (const [id, state] of acknowledged[kind]) {
      const record = found.get(id);
      if (
        state === null
          ? record !== undefined
          : record === undefined ||
            Object.entries(state).some(([field, value]) => !Bun.deepEquals(record[field], value))
      ) {
        wrong.push(
          `${kind} ${id}: acknowledged ${JSON.stringify(state)?.slice(0, 100)}, found ${JSON.stringify(record)?.slice(0, 100)}`,
        );
      }
    }
    for (const id of found.keys()) {
      if (acknowledged.refused.has(id)) wrong.push(`${kind} ${id}: was refused, but exists`);
      else if (!acknowledged[kind].has(id)) wrong.push(`${kind} ${id}: never requested`);
    }
  }
  return wrong;
}

/** Reads continuously and compares the responses with those before the failure. */
export class ReadLoad {
  readonly unexpected: string[] = [];
  readonly tookMs: number[] = [];
  private isStopped = false;
  private workers: Promise<void>[] = [];

  /** @param at timestamp in the past, so that its state no longer changes */
  async start(client: Client, at: string): Promise<void> {
    const paths = [
      `/api/v1/subnets?limit=20&at=${at}`,
      `/api/v1/subnets?limit=0&at=${at}`,
      `/api/v1/hosts?limit=10&at=${at}`,
      `/api/v1/subnets/export/csv?at=${at}`,
      "/api/v1/changes?limit=20",
      "/api/v1/networks",
      "/api/health",
    ];
    const expected = new Map<string, string>();
    for (const path of paths) {
      const response = await client.get(path);
      if (response.status !== 200) throw new Error(`${path}: ${response.text.slice(0, 200)}`);
      expected.set(path, withoutEnds(response.text));
    }
    this.workers = Array.from({ length: READER_CONNECTIONS }, async () => {
      for (let i = 0; !this.isStopped; i += 1) {
        const path = paths[i % paths.length] as string;
        const started = performance.now();
        const response = await client.get(path).catch((error: unknown) => ({ status: 0, text: String(error) }));
        this.tookMs.push(performance.now() - started);
        if (response.status !== 200 || withoutEnds(response.text) !== expected.get(path))
          this.unexpected.push(`${path}: ${response.status} ${response.text.slice(0, 200)}`);
        await Bun.sleep(3);
      }
    });
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    await Promise.all(this.workers);
  }
}

/** Removes the only part of a response that later changes affect: the end of each state. */
function withoutEnds(text: string): string {
  return text
    .replaceAll(/"valid_to":(?:null|"[^"]*")/g, '"valid_to":null')
    .replaceAll(/(Z),[^,\n]*,([^,\n]*)(?=\n|$)/g, "$1,,$2");
}
