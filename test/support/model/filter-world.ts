// Appliance with a random history and its callers, to compare filtered lists with plain code that checks every record
// of the unfiltered list. Must not know the filter syntax.

import { newAppliance, type UnclaimedAppliance } from "../appliance/appliance.ts";
import type { Answer, Client } from "../appliance/client.ts";
import { newApiKey, newMember, pruned, type Wire } from "../appliance/factories.ts";
import { type SeededRandom, seededRandom } from "../injected/seeded-random.ts";
import { isAskedFor } from "./filter-answers.ts";
import { FilterHistory } from "./filter-history.ts";
import { type DescribedField, FilterQuestions, type Question, startsIn, wordsIn } from "./filter-question.ts";
import {
  ASKED_KINDS,
  type AskedKind,
  LISTS,
  readRecords,
  readVersions,
  type Scene,
  type Version,
} from "./filter-scene.ts";

export interface Caller {
  readonly name: string;
  readonly client: Client;
  /** Networks in reach; null for all. */
  readonly reach: ReadonlySet<string> | null;
}

/** Parameters of a list request. */
export interface Asked {
  readonly kind: AskedKind;
  readonly caller: Caller;
  /** Null for live. */
  readonly at: string | null;
  /** Parameters in addition to the filter. */
  readonly more: Wire;
}

/** An unused id. */
const NOBODY = "01936f2e-0d5c-7d3a-9a39-3f6f1f7a00ff";
const DAY_MS = 86_400_000;
/** Kinds with the most fields, and with prefixes. */
const OFTEN = ["host", "host", "host", "if_entry", "if_entry", "if_entry", "subnet", "subnet", "subnet"] as const;
/** Kinds that only Admins may list. */
const OF_ADMINS: ReadonlySet<AskedKind> = new Set(["credential", "user", "api_key"]);

/** An appliance with history. */
interface Given {
  readonly appliance: UnclaimedAppliance;
  readonly owner: Client;
  readonly history: Pick<FilterHistory, "instants" | "markers" | "networks" | "done">;
  readonly seed: number;
}

export class FilterWorld {
  readonly appliance: UnclaimedAppliance;
  readonly owner: Client;
  readonly history: Given["history"];
  readonly random: SeededRandom;
  readonly fields = new Map<AskedKind, readonly DescribedField[]>();
  readonly callers: Caller[];
  versions: ReadonlyMap<string, readonly Version[]> = new Map();
  questions!: FilterQuestions;
  thinnedUntil = Number.NEGATIVE_INFINITY;
  /** Timestamps of the pruned transactions, in order. */
  private thinned: readonly number[] = [];
  private readonly scenes = new Map<string | null, Scene["records"]>();

  private constructor(given: Given, callers: Caller[]) {
    this.appliance = given.appliance;
    this.owner = given.owner;
    this.history = given.history;
    this.random = seededRandom(given.seed + 1);
    this.callers = callers;
  }

  static async open(seed: number, steps: number): Promise<FilterWorld> {
    const appliance = await newAppliance();
    const history = await FilterHistory.grow(appliance, seed, steps);
    const some = history.networks.slice(0, 2);
    return FilterWorld.of({ appliance, owner: appliance.owner, history, seed }, [
      { name: "member", client: (await newMember(appliance)).client, reach: new Set(some.slice(0, 1)) },
      { name: "key", client: newApiKey(appliance, { networkIds: some }).client, reach: new Set(some) },
    ]);
  }

  /** A world with existing history. @param others callers in addition to an Owner */
  static async of(given: Given, others: readonly Caller[]): Promise<FilterWorld> {
    const world = new FilterWorld(given, [{ name: "owner", client: given.owner, reach: null }, ...others]);
    // Every transaction has a distinct timestamp, the last ones slightly ahead of the clock.
    given.appliance.clock.advance(1_000);
    // The last use of a key is stored once a minute, and no minute passes from here on.
    for (const { client } of world.callers) await client.get("networks?limit=1");
    await world.read();
    return world;
  }

  /** Reads all current versions and the filterable fields. */
  async read(): Promise<void> {
    const { owner } = this;
    this.scenes.clear();
    this.versions = await readVersions(owner);
    const searched = new Set<AskedKind>();
    for (const kind of ASKED_KINDS) {
      const { data } = await owner.get(`fields/${kind}`);
      this.fields.set(kind, data.fields);
      if (data.is_searched) searched.add(kind);
    }
    const { random, fields, versions, history } = this;
    this.questions = new FilterQuestions({
      random,
      fields,
      searched,
      versions,
      instants: history.instants,
      markers: history.markers,
    });
  }

  /** Prunes history before a timestamp to one state per day. */
  async prune(before: number): Promise<void> {
    const { appliance } = this;
    const { data } = await this.owner.get("transactions?limit=0");
    this.thinned = data
      .map((transaction: Wire) => Date.parse(transaction.at))
      .filter((at: number) => at < before)
      .sort((a: number, b: number) => a - b);
    this.thinnedUntil = this.thinned.at(-1) as number;
    const { report } = pruned(appliance, before, "daily");
    if (report === null || report.findings.length > 0) throw new Error("the prune left a damaged store");
    appliance.clock.advance(1_000);
    await this.read();
  }

  /** The last transaction of its day or of an earlier one; later history is complete. */
  private known(instant: number): number {
    if (instant >= this.thinnedUntil) return instant;
    const day = (at: number) => Math.floor(at / DAY_MS);
    const before = this.thinned.filter((at) => at <= instant);
    const isLastOfDay = (at: number) => this.thinned.findLast((each) => day(each) === day(at)) === at;
    return before.findLast(isLastOfDay) ?? Number.NEGATIVE_INFINITY;
  }

  /** Draws a list of any kind, half of them with other parameters. */
  async draw(instants: readonly (string | null)[]): Promise<Asked> {
    const { random, callers } = this;
    const kind = random.pick<AskedKind>([...ASKED_KINDS, ...OFTEN]);
    const caller = OF_ADMINS.has(kind) ? (callers[0] as Caller) : random.pick(callers);
    const at = random.pick(instants);
    return { kind, caller, at, more: random.integer(2) === 0 ? {} : await this.drawMore(kind, at) };
  }

  /** End of ages. */
  until(at: string | null): number {
    return at === null ? this.appliance.clock.now() : Date.parse(at);
  }

  /** Ids that plain code finds, and the length of the unfiltered list; in list order. */
  async answer(asked: Asked, { ask }: Question): Promise<{ ids: string[]; of: number }> {
    const { kind, at, more } = asked;
    const all = idsOf(await this.list(asked, { ...more, limit: 0 }));
    const found = new Map<string, Set<string>>();
    for (const search of wordsIn(ask)) found.set(search, new Set(idsOf(await this.list(asked, { limit: 0, search }))));
    const scene: Scene = {
      at: this.until(at),
      reach: asked.caller.reach,
      records: await this.records(at),
      versions: this.versions,
      thinnedUntil: this.thinnedUntil,
      known: (instant) => this.known(instant),
      found: (words) => found.get(words) as Set<string>,
    };
    const records = scene.records.get(kind);
    return { ids: all.filter((id) => isAskedFor(ask, scene, kind, records?.get(id) as Wire)), of: all.length };
  }

  /** Expected answer field for a filter that reaches into pruned history: the end of the incomplete period. */
  thinnedUntilOf({ ask }: Question): string | undefined {
    const isThinned = startsIn(ask).some((start) => this.known(start) < this.thinnedUntil);
    return isThinned ? new Date(this.thinnedUntil).toISOString() : undefined;
  }

  list({ kind, caller, at }: Asked, query: Wire, suffix = ""): Promise<Answer> {
    // Full documents of all children make an answer ten times slower.
    const include_children = this.random.integer(20) === 0;
    const given = { ...query, ...(at === null ? {} : { at }), ...(kind === "host" ? { include_children } : {}) };
    const texts = Object.entries(given).map(([name, value]) => [name, String(value)] as [string, string]);
    return caller.client.get(`${LISTS[kind]}${suffix}?${new URLSearchParams(texts)}`);
  }

  async records(at: string | null): Promise<Scene["records"]> {
    const records = this.scenes.get(at) ?? (await readRecords(this.owner, at));
    this.scenes.set(at, records);
    return records;
  }

  private async drawMore(kind: AskedKind, at: string | null): Promise<Wire> {
    const { random, history } = this;
    const one = async (of: AskedKind) => random.pick([...((await this.records(at)).get(of)?.keys() ?? []), NOBODY]);
    const isOfHost = ["ip_address", "port", "service", "if_entry"].includes(kind);
    const isOrdered = ["host", "service", "subnet", "vlan", "network", "tag"].includes(kind);
    const isOfNetwork = isOfHost || ["host", "binding", "subnet", "vlan"].includes(kind);
    const choices: Wire[] = [
      ...(isOfNetwork ? [{ network_id: random.pick(history.networks) }] : []),
      ...(isOfHost ? [{ host_id: await one("host") }] : []),
      ...(isOrdered ? [{ order_by: "name", order_direction: random.pick(["asc", "desc"]) }] : []),
      ...(kind === "host"
        ? [{ hidden: random.integer(2) === 0 }, { tag_ids: await one("tag"), order_by: "name" }]
        : []),
      ...(kind === "binding" ? [] : [{ search: random.pick(["sw", "core", "1", "e"]) }]),
    ];
    return choices.length === 0 ? {} : random.pick(choices);
  }
}

export function idsOf({ status, text, data }: Answer): string[] {
  if (status !== 200) throw new Error(`answered ${status}: ${text}`);
  return data.map((record: Wire) => record.id);
}
