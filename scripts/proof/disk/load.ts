// Load of writes with every acknowledgement recorded, and of reads with known answers, neither of which a failing disk
// may affect. Refusals are counted by code; no other answers are allowed.

import type { Answer, Client } from "../../../test/support/appliance/client.ts";
import { type SeededRandom, seededRandom } from "../../../test/support/injected/seeded-random.ts";

type Wire = Record<string, unknown> & { readonly id: string };

/** Acknowledged records by id, as answered; null for deleted ones. */
class Acknowledged {
  readonly subnets = new Map<string, Wire | null>();
  readonly hosts = new Map<string, Wire | null>();
  /** Ids of refused creates. */
  readonly refused = new Set<string>();
}

const PATHS = { subnets: "/api/v1/subnets", hosts: "/api/v1/hosts" } as const;
const CONNECTIONS_OF_READERS = 2;

export class WriteLoad {
  readonly acknowledged = new Acknowledged();
  /** Number of answers by type: `200`, or the code of the refusal. */
  readonly answers = new Map<string, number>();
  /** The first unexpected answers. */
  readonly strange: string[] = [];
  private readonly networkId: string;
  private readonly random: SeededRandom;
  private readonly text: string;
  private readonly refusals: ReadonlySet<string>;
  private made = 0;
  private isStopped = false;
  private workers: Promise<void>[] = [];

  /**
   * @param refusals allowed codes of refused writes
   * @param options.textLength characters of each record's description
   */
  constructor(networkId: string, seed: number, refusals: readonly string[], { textLength = 1_500 } = {}) {
    this.networkId = networkId;
    this.random = seededRandom(seed);
    this.text = "what it is about ".repeat(Math.ceil(textLength / 17)).slice(0, textLength);
    this.refusals = new Set(refusals);
  }

  count(answer: string): number {
    return this.answers.get(answer) ?? 0;
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
        await this.one(client).catch((error: unknown) => {
          this.isStopped = true;
          this.strange.push(String(error));
        });
        // Delay after a refusal: a thousand refusals a second prove nothing more.
        if (this.hasJustBeenRefused) await new Promise((resolve) => setTimeout(resolve, 10));
      }
    });
  }

  /** Waits until every write has its answer. */
  async stop(): Promise<void> {
    this.isStopped = true;
    await Promise.all(this.workers);
  }

  private hasJustBeenRefused = false;

  private async one(client: Client): Promise<void> {
    const turn = this.random.integer(10);
    if (turn < 4) await this.create(client);
    else if (turn < 6) await this.update(client);
    else if (turn < 7) await this.remove(client);
    else if (turn < 9) await this.createHost(client);
    else await this.bulk(client);
  }

  private async create(client: Client): Promise<void> {
    this.made += 1;
    const id = crypto.randomUUID();
    const answer = await client.post(PATHS.subnets, {
      id,
      network_id: this.networkId,
      cidr: this.cidr(this.made),
      name: `made ${this.made}`,
      description: this.text,
    });
    if (this.judge(answer)) this.acknowledged.subnets.set(id, answer.data);
    else this.acknowledged.refused.add(id);
  }

  private async update(client: Client): Promise<void> {
    const live = this.pickLive();
    if (live === null) return this.create(client);
    const { id, cidr } = live;
    this.acknowledged.subnets.delete(id);
    const answer = await client.put(`${PATHS.subnets}/${id}`, {
      network_id: this.networkId,
      cidr,
      name: `renamed ${this.random.integer(1_000_000)}`,
      description: this.text,
    });
    this.acknowledged.subnets.set(id, this.judge(answer) ? answer.data : live);
  }

  private async remove(client: Client): Promise<void> {
    const live = this.pickLive();
    if (live === null) return this.create(client);
    // Reserved while in progress.
    this.acknowledged.subnets.delete(live.id);
    const answer = await client.delete(`${PATHS.subnets}/${live.id}`);
    this.acknowledged.subnets.set(live.id, this.judge(answer) ? null : live);
  }

  private async createHost(client: Client): Promise<void> {
    const id = crypto.randomUUID();
    const answer = await client.post(PATHS.hosts, { id, ...this.host() });
    if (this.judge(answer)) this.acknowledged.hosts.set(id, answer.data);
    else this.acknowledged.refused.add(id);
  }

  /** All or nothing. */
  private async bulk(client: Client): Promise<void> {
    const hosts = Array.from({ length: 20 }, () => ({ id: crypto.randomUUID(), ...this.host() }));
    const answer = await client.post(`${PATHS.hosts}/bulk`, hosts);
    const isDone = this.judge(answer);
    for (const { id, name } of hosts) {
      if (isDone) this.acknowledged.hosts.set(id, { id, name });
      else this.acknowledged.refused.add(id);
    }
  }

  private host() {
    this.made += 1;
    return {
      network_id: this.networkId,
      name: `host ${this.made}`,
      description: this.text.slice(0, 300),
      interfaces: Array.from({ length: 3 }, (_, position) => ({
        if_index: position + 1,
        if_descr: `port ${position + 1}`,
      })),
    };
  }

  private pickLive(): (Wire & { readonly cidr?: unknown }) | null {
    const live = [...this.acknowledged.subnets.values()].filter((each) => each !== null);
    return live.length === 0 ? null : this.random.pick(live);
  }

  private cidr(n: number): string {
    return `10.${(n >> 8) & 255}.${n & 255}.0/24`;
  }

  /** Counts an answer. @returns whether the write was acknowledged */
  private judge(answer: Answer): boolean {
    const code = answer.status === 200 ? "200" : String(answer.body?.code ?? answer.status);
    this.answers.set(code, this.count(code) + 1);
    this.hasJustBeenRefused = answer.status !== 200;
    const isWhole =
      answer.body?.success === (answer.status === 200) &&
      (answer.status === 200 ||
        answer.body.params?.request_id !== undefined ||
        answer.body.params?.retry_after_seconds !== undefined);
    if ((answer.status !== 200 && !this.refusals.has(code)) || !isWhole)
      this.strange.push(`${answer.status} ${answer.text.slice(0, 200)}`);
    return answer.status === 200;
  }
}

/** Differences between live and acknowledged records; empty if correct. */
export async function compare(client: Client, acknowledged: Acknowledged): Promise<string[]> {
  const wrong: string[] = [];
  for (const kind of ["subnets", "hosts"] as const) {
    const list = await client.get(`${PATHS[kind]}?limit=0`);
    if (list.status !== 200) return [`${kind}: ${list.text.slice(0, 200)}`];
    const found = new Map((list.data as Wire[]).map((each) => [each.id, each]));
    for (const [id, state] of acknowledged[kind]) {
      const there = found.get(id);
      if (
        state === null
          ? there !== undefined
          : there === undefined || Object.entries(state).some(([field, value]) => !Bun.deepEquals(there[field], value))
      ) {
        wrong.push(
          `${kind} ${id}: acknowledged ${JSON.stringify(state)?.slice(0, 100)}, found ${JSON.stringify(there)?.slice(0, 100)}`,
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

/** Continuous reads, compared with the answers before the failure. */
export class ReadLoad {
  readonly strange: string[] = [];
  readonly tookMs: number[] = [];
  private isStopped = false;
  private workers: Promise<void>[] = [];

  /** @param at timestamp before which nothing changes any more */
  async start(client: Client, at: string): Promise<void> {
    const asked = [
      `/api/v1/subnets?limit=20&at=${at}`,
      `/api/v1/subnets?limit=0&at=${at}`,
      `/api/v1/hosts?limit=10&at=${at}`,
      `/api/v1/subnets/export/csv?at=${at}`,
      "/api/v1/changes?limit=20",
      "/api/v1/networks",
      "/api/health",
    ];
    const expected = new Map<string, string>();
    for (const path of asked) {
      const answer = await client.get(path);
      if (answer.status !== 200) throw new Error(`${path}: ${answer.text.slice(0, 200)}`);
      expected.set(path, unended(answer.text));
    }
    this.workers = Array.from({ length: CONNECTIONS_OF_READERS }, async () => {
      for (let turn = 0; !this.isStopped; turn += 1) {
        const path = asked[turn % asked.length] as string;
        const began = performance.now();
        const answer = await client.get(path).catch((error: unknown) => ({ status: 0, text: String(error) }));
        this.tookMs.push(performance.now() - began);
        if (answer.status !== 200 || unended(answer.text) !== expected.get(path))
          this.strange.push(`${path}: ${answer.status} ${answer.text.slice(0, 200)}`);
        await new Promise((resolve) => setTimeout(resolve, 3));
      }
    });
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    await Promise.all(this.workers);
  }
}

/** An answer without the only part that later changes add: the end of a state. */
function unended(text: string): string {
  return text
    .replaceAll(/"valid_to":(?:null|"[^"]*")/g, '"valid_to":null')
    .replaceAll(/(Z),[^,\n]*,([^,\n]*)(?=\n|$)/g, "$1,,$2");
}
