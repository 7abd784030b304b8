// Appliance with a random history and its callers, to compare filtered lists with a reference implementation, which
// checks every record of the unfiltered list. Independent of the filter syntax.

import { newAppliance, type UnclaimedAppliance } from "../appliance/appliance.ts";
import type { ApiResponse, Client } from "../appliance/client.ts";
import { type JsonRecord, newApiKey, newMember, prune } from "../appliance/factories.ts";
import { type SeededRandom, seededRandom } from "../injected/seeded-random.ts";
import {
  type Dataset,
  LISTS,
  QUERIED_KINDS,
  type QueriedKind,
  readRecords,
  readVersions,
  type Version,
} from "./filter-dataset.ts";
import { FilterHistory } from "./filter-history.ts";
import { matchesFilter } from "./filter-reference.ts";
import { type DescribedField, type DrawnFilter, RandomFilters, startsIn, wordsIn } from "./random-filters.ts";

export interface Caller {
  readonly name: string;
  readonly client: Client;
  /** Networks in reach; null for all. */
  readonly reach: ReadonlySet<string> | null;
}

/** Parameters of a list request. */
export interface ListRequest {
  readonly kind: QueriedKind;
  readonly caller: Caller;
  /** Null for live records. */
  readonly at: string | null;
  /** Parameters in addition to the filter. */
  readonly parameters: JsonRecord;
}

/** An unused id. */
const UNUSED_ID = "01936f2e-0d5c-7d3a-9a39-3f6f1f7a00ff";
const DAY_MS = 86_400_000;
/** Kinds with the most fields, and with prefixes. */
const FREQUENT_KINDS = (["host", "if_entry", "subnet"] as const).flatMap((kind) => [kind, kind, kind]);
/** Kinds that only Admins may list. */
const ADMIN_KINDS: ReadonlySet<QueriedKind> = new Set(["credential", "user", "api_key"]);

/** An appliance with history. */
interface SetupOptions {
  readonly appliance: UnclaimedAppliance;
  readonly owner: Client;
  readonly history: Pick<FilterHistory, "instants" | "markers" | "networks" | "done">;
  readonly seed: number;
}

export class FilterSetup {
  readonly appliance: UnclaimedAppliance;
  readonly owner: Client;
  readonly history: SetupOptions["history"];
  readonly random: SeededRandom;
  readonly fields = new Map<QueriedKind, readonly DescribedField[]>();
  readonly callers: Caller[];
  versions: ReadonlyMap<string, readonly Version[]> = new Map();
  filters!: RandomFilters;
  prunedUntil = Number.NEGATIVE_INFINITY;
  /** Timestamps of the pruned transactions, in order. */
  private prunedInstants: readonly number[] = [];
  private readonly recordsByInstant = new Map<string | null, Dataset["records"]>();

  private constructor(options: SetupOptions, callers: Caller[]) {
    this.appliance = options.appliance;
    this.owner = options.owner;
    this.history = options.history;
    this.random = seededRandom(options.seed + 1);
    this.callers = callers;
  }

  static async open(seed: number, steps: number): Promise<FilterSetup> {
    const appliance = await newAppliance();
    const history = await FilterHistory.create(appliance, seed, steps);
    const some = history.networks.slice(0, 2);
    return FilterSetup.of({ appliance, owner: appliance.owner, history, seed }, [
      { name: "member", client: (await newMember(appliance)).client, reach: new Set(some.slice(0, 1)) },
      { name: "key", client: newApiKey(appliance, { networkIds: some }).client, reach: new Set(some) },
    ]);
  }

  /** Creates a setup from an existing history. @param others callers in addition to the Owner */
  static async of(options: SetupOptions, others: readonly Caller[]): Promise<FilterSetup> {
    const setup = new FilterSetup(options, [{ name: "owner", client: options.owner, reach: null }, ...others]);
    // Every transaction has a distinct timestamp, the last ones slightly ahead of the clock.
    options.appliance.clock.advance(1_000);
    // The last use of a key is stored once a minute, and no minute passes from here on.
    for (const { client } of setup.callers) await client.get("networks?limit=1");
    await setup.read();
    return setup;
  }

  /** Reads all current versions and the filterable fields. */
  async read(): Promise<void> {
    const { owner } = this;
    this.recordsByInstant.clear();
    this.versions = await readVersions(owner);
    const searched = new Set<QueriedKind>();
    for (const kind of QUERIED_KINDS) {
      const { data } = await owner.get(`fields/${kind}`);
      this.fields.set(kind, data.fields);
      if (data.is_searched) searched.add(kind);
    }
    const { random, fields, versions, history } = this;
    this.filters = new RandomFilters({
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
    this.prunedInstants = data
      .map((transaction: JsonRecord) => Date.parse(transaction.at))
      .filter((at: number) => at < before)
      .sort((a: number, b: number) => a - b);
    this.prunedUntil = this.prunedInstants.at(-1) as number;
    const { report } = prune(appliance, before, "daily");
    if (report === null || report.findings.length > 0) throw new Error("pruning damaged the store");
    appliance.clock.advance(1_000);
    await this.read();
  }

  /** Timestamp of the state that a read returns; in pruned history, of the last transaction of a day. */
  private storedInstant(instant: number): number {
    if (instant >= this.prunedUntil) return instant;
    const day = (at: number) => Math.floor(at / DAY_MS);
    const before = this.prunedInstants.filter((at) => at <= instant);
    const isLastOfDay = (at: number) => this.prunedInstants.findLast((other) => day(other) === day(at)) === at;
    return before.findLast(isLastOfDay) ?? Number.NEGATIVE_INFINITY;
  }

  /** Draws a list request of any kind, with other parameters in half of all cases. */
  async draw(instants: readonly (string | null)[]): Promise<ListRequest> {
    const { random, callers } = this;
    const kind = random.pick<QueriedKind>([...QUERIED_KINDS, ...FREQUENT_KINDS]);
    const caller = ADMIN_KINDS.has(kind) ? (callers[0] as Caller) : random.pick(callers);
    const at = random.pick(instants);
    return { kind, caller, at, parameters: random.integer(2) === 0 ? {} : await this.drawParameters(kind, at) };
  }

  /** Time from which relative ages in a filter are counted. */
  referenceTime(at: string | null): number {
    return at === null ? this.appliance.clock.now() : Date.parse(at);
  }

  /** Ids that the reference implementation finds, in list order, and the length of the unfiltered list. */
  async evaluate(request: ListRequest, { filter }: DrawnFilter): Promise<{ ids: string[]; unfilteredCount: number }> {
    const { kind, at, parameters } = request;
    const all = idsOf(await this.list(request, { ...parameters, limit: 0 }));
    const found = new Map<string, Set<string>>();
    for (const search of wordsIn(filter))
      found.set(search, new Set(idsOf(await this.list(request, { limit: 0, search }))));
    const dataset: Dataset = {
      at: this.referenceTime(at),
      reach: request.caller.reach,
      records: await this.records(at),
      versions: this.versions,
      prunedUntil: this.prunedUntil,
      storedInstant: (instant) => this.storedInstant(instant),
      searchResults: (words) => found.get(words) as Set<string>,
    };
    const records = dataset.records.get(kind);
    return {
      ids: all.filter((id) => matchesFilter(filter, dataset, kind, records?.get(id) as JsonRecord)),
      unfilteredCount: all.length,
    };
  }

  /** Expected response field for a filter that reaches into pruned history: the end of the incomplete period. */
  prunedUntilOf({ filter }: DrawnFilter): string | undefined {
    const isPruned = startsIn(filter).some((start) => this.storedInstant(start) < this.prunedUntil);
    return isPruned ? new Date(this.prunedUntil).toISOString() : undefined;
  }

  list({ kind, caller, at }: ListRequest, query: JsonRecord, suffix = ""): Promise<ApiResponse> {
    // Full documents of all children make a response ten times slower.
    const include_children = this.random.integer(20) === 0;
    const options = { ...query, ...(at === null ? {} : { at }), ...(kind === "host" ? { include_children } : {}) };
    const entries = Object.entries(options).map(([name, value]) => [name, String(value)] as [string, string]);
    return caller.client.get(`${LISTS[kind]}${suffix}?${new URLSearchParams(entries)}`);
  }

  async records(at: string | null): Promise<Dataset["records"]> {
    const records = this.recordsByInstant.get(at) ?? (await readRecords(this.owner, at));
    this.recordsByInstant.set(at, records);
    return records;
  }

  private async drawParameters(kind: QueriedKind, at: string | null): Promise<JsonRecord> {
    const { random, history } = this;
    const randomId = async (target: QueriedKind) =>
      random.pick([...((await this.records(at)).get(target)?.keys() ?? []), UNUSED_ID]);
    const hasHost = ["ip_address", "port", "service", "if_entry"].includes(kind);
    const isSortable = ["host", "service", "subnet", "vlan", "network", "tag"].includes(kind);
    const hasNetwork = hasHost || ["host", "binding", "subnet", "vlan"].includes(kind);
    const choices: JsonRecord[] = [
      ...(hasNetwork ? [{ network_id: random.pick(history.networks) }] : []),
      ...(hasHost ? [{ host_id: await randomId("host") }] : []),
      ...(isSortable ? [{ order_by: "name", order_direction: random.pick(["asc", "desc"]) }] : []),
      ...(kind === "host"
        ? [{ hidden: random.integer(2) === 0 }, { tag_ids: await randomId("tag"), order_by: "name" }]
        : []),
      ...(kind === "binding" ? [] : [{ search: random.pick(["sw", "core", "1", "e"]) }]),
    ];
    return choices.length === 0 ? {} : random.pick(choices);
  }
}

export function idsOf({ status, text, data }: ApiResponse): string[] {
  if (status !== 200) throw new Error(`unexpected response ${status}: ${text}`);
  return data.map((record: JsonRecord) => record.id);
}
