// Import of a whole source, kind after kind: referenced records before the records that refer to them.

import { parseCidr, parseIp } from "../base/ip.ts";
import { withoutInvisible } from "../base/visible.ts";
import type { CustomFieldRecord } from "../resources/custom-fields/custom-field.ts";
import type { Bringing } from "./bringing.ts";
import { fewAtOnce, oneAhead } from "./few-at-once.ts";
import { bringHosts } from "./hosts.ts";
import type { LedgerRecord } from "./ledger.ts";
import { orRefusal } from "./or-refusal.ts";
import { ensureSubnet, ensureVlan } from "./places.ts";
import type { BroughtKind } from "./plan.ts";
import { bringRecord, RECORD_FORMS } from "./records.ts";
import {
  type Batches,
  isRefused,
  type Origin,
  type WantedField,
  type WantedNetwork,
  type WantedRange,
  type WantedSubnet,
  type WantedTag,
  type WantedVlan,
} from "./wanted.ts";

/** Concurrent writes: many of them share a commit. */
const WRITES_AT_ONCE = 16;

/**
 * Imports tags, custom fields, networks, VLANs, subnets, hosts with their parts, and ranges. Refused records go into
 * the plan, and the import continues.
 * @throws RemoteTrouble if a side can no longer be reached: earlier writes stay, and another run continues from there
 */
export async function bring(bringing: Bringing): Promise<void> {
  await bringTags(bringing);
  await bringFields(bringing);
  await bringNetworks(bringing);
  await bringVlans(bringing);
  await bringSubnets(bringing);
  await eachBatch(bringing, "hosts", bringing.source.hosts(), (hosts) => bringHosts(bringing, hosts));
  await bringRanges(bringing);
}

async function bringTags(bringing: Bringing): Promise<void> {
  const known = new Index();
  for await (const rows of bringing.ledger.list("/tags")) for (const row of rows) known.add(row, row.name as string);
  for (const row of known.all()) bringing.tags.set(row.name as string, row.id);
  const spoken = new Spoken();
  await eachRecord<WantedTag>(bringing, "tags", bringing.source.tags(), async (wanted) => {
    const { name, color, description } = wanted;
    const other = spoken.claim(name, wanted.url);
    if (other !== null) return bringing.plan.refuse("tags", wanted.url, `${other} has this name already`);
    const existing = known.get(wanted.id, name);
    const made = await bringRecord(
      bringing,
      RECORD_FORMS.tag,
      // Every tag has a color: it does not reveal a manual choice.
      {
        origin: wanted,
        label: name,
        fields: { name, description },
        atFirst: existing === null ? { color } : { color: existing.color },
      },
      existing,
    );
    if (made !== null) bringing.tags.set(name, made.id);
  });
}

async function bringFields(bringing: Bringing): Promise<void> {
  const known = new Index();
  for await (const rows of bringing.ledger.list("/custom-fields"))
    for (const row of rows) known.add(row, row.key as string);
  for (const row of known.all()) bringing.fields.set(row.key as string, row as unknown as CustomFieldRecord);
  const spoken = new Spoken();
  await eachRecord<WantedField>(bringing, "fields", bringing.source.fields(), async (wanted) => {
    const { key, label, description, type, url } = wanted;
    const other = spoken.claim(key, url);
    if (other !== null) return bringing.plan.refuse("fields", url, `${other} has the key ${key} already`);
    const existing = known.get(wanted.id, key);
    if (existing !== null && existing.type !== type) {
      bringing.fields.delete(key);
      return bringing.plan.refuse(
        "fields",
        url,
        `there is a field ${key} of type ${existing.type}, and this is ${type}`,
      );
    }
    const together = (name: "kinds" | "choices") => [
      ...new Set([...((existing?.[name] ?? []) as string[]), ...wanted[name]]),
    ];
    const made = await bringRecord(
      bringing,
      RECORD_FORMS.field,
      {
        origin: wanted,
        label: key,
        fields: { key, label, description, kinds: together("kinds"), choices: together("choices") },
        atFirst: { type },
      },
      existing,
    );
    if (made !== null) bringing.fields.set(key, made as unknown as CustomFieldRecord);
  });
}

async function bringNetworks(bringing: Bringing): Promise<void> {
  const { source, options } = bringing;
  const known = new Index();
  for await (const rows of bringing.ledger.list("/networks"))
    for (const row of rows) known.add(row, row.name as string);
  const spoken = new Spoken();
  const bringOne = async (wanted: WantedNetwork) => {
    const { name, description } = wanted;
    const other = spoken.claim(name, wanted.url);
    if (other !== null) return bringing.plan.refuse("networks", wanted.url, `${other} has this name already`);
    const existing = known.get(wanted.id, name);
    const made = await bringRecord(
      bringing,
      RECORD_FORMS.network,
      { origin: wanted, label: name, fields: { name, description }, tags: bringing.tagIds(wanted.tags) },
      existing,
    );
    if (made === null) return;
    known.add(made, name);
    bringing.networks.set(wanted.id, made.id);
  };
  await eachRecord<WantedNetwork>(bringing, "networks", source.networks(), bringOne);
  const { defaultNetwork: name } = options;
  if (name === null) return;
  const there = known.get("", name);
  const id = source.derivedId("", `default network ${name}`);
  if (there === null) await bringOne({ id, url: "--default-network", name, description: null, tags: [] });
  bringing.defaultNetworkId = there?.id ?? bringing.networks.get(id) ?? null;
}

async function bringVlans(bringing: Bringing): Promise<void> {
  const byId = new Map<string, LedgerRecord>();
  for await (const rows of bringing.ledger.list("/vlans")) {
    for (const row of rows) {
      byId.set(row.id, row);
      bringing.vlans.set(`${row.network_id}/${row.number}`, row);
    }
  }
  const spoken = new Spoken();
  await eachRecord<WantedVlan>(bringing, "VLANs", bringing.source.vlans(), async (wanted) => {
    const { number, name, description, url } = wanted;
    const network = bringing.networkOf(wanted.network);
    if ("refused" in network) return bringing.plan.refuse("VLANs", url, network.refused);
    const key = `${network.id}/${number}`;
    const other = spoken.claim(key, url);
    if (other !== null)
      return bringing.plan.refuse("VLANs", url, `its network has VLAN ${number} already, from ${other}`);
    const existing = byId.get(wanted.id) ?? bringing.vlans.get(key) ?? null;
    const made = await bringRecord(
      bringing,
      RECORD_FORMS.vlan,
      {
        origin: wanted,
        label: `${number} ${name ?? ""}`,
        fields: { number, name, description },
        atFirst: { network_id: network.id },
        custom: { kind: "vlan", values: wanted.custom },
      },
      existing,
    );
    bringing.vlans.set(key, made);
  });
}

async function bringSubnets(bringing: Bringing): Promise<void> {
  const known = new Index();
  for await (const rows of bringing.ledger.list("/subnets")) {
    for (const row of rows) {
      known.add(row, `${row.network_id} ${row.cidr}`);
      bringing.subnets.add(row.network_id as string, row.cidr as string);
    }
  }
  const spoken = new Spoken();
  await eachRecord<WantedSubnet>(bringing, "subnets", bringing.source.subnets(), async (wanted) => {
    const { url, name, description } = wanted;
    const network = bringing.networkOf(wanted.network);
    if ("refused" in network) return bringing.plan.refuse("subnets", url, network.refused);
    const cidr = parseCidr(wanted.cidr)?.text ?? wanted.cidr;
    const key = `${network.id} ${cidr}`;
    const other = spoken.claim(key, url);
    if (other !== null) return bringing.plan.refuse("subnets", url, `its network has ${cidr} already, from ${other}`);
    const vlan_id = wanted.vlan === null ? null : await ensureVlan(bringing, network.id, wanted.vlan);
    const made = await bringRecord(
      bringing,
      RECORD_FORMS.subnet,
      {
        origin: wanted,
        label: cidr,
        fields: { cidr, name, description, vlan_id },
        // The source must not decide where credentials are sent.
        atFirst: { network_id: network.id, accepts_credentials: false },
        custom: { kind: "subnet", values: wanted.custom },
        tags: bringing.tagIds(wanted.tags),
      },
      known.get(wanted.id, key),
    );
    if (made !== null) bringing.subnets.add(network.id, cidr);
  });
}

async function bringRanges(bringing: Bringing): Promise<void> {
  const known = new Index();
  for await (const rows of bringing.ledger.list("/ip-ranges"))
    for (const row of rows) known.add(row, `${row.network_id} ${row.first}-${row.last}`);
  const spoken = new Spoken();
  await eachRecord<WantedRange>(bringing, "ranges", bringing.source.ranges(), async (wanted) => {
    const { url, purpose, description, prefixLength } = wanted;
    const network = bringing.networkOf(wanted.network);
    if ("refused" in network) return bringing.plan.refuse("ranges", url, network.refused);
    const [first, last] = [wanted.first, wanted.last].map((text) => parseIp(text)?.text ?? text) as [string, string];
    const key = `${network.id} ${first}-${last}`;
    const other = spoken.claim(key, url);
    if (other !== null) return bringing.plan.refuse("ranges", url, `its network has ${first} already, from ${other}`);
    const existing = known.get(wanted.id, key);
    const refused =
      existing === null ? await ensureSubnet(bringing, network.id, { url, first, last, prefixLength }) : null;
    if (refused !== null) return bringing.plan.refuse("ranges", url, refused);
    await bringRecord(
      bringing,
      RECORD_FORMS.range,
      {
        origin: wanted,
        label: first === last ? first : `${first}-${last}`,
        fields: { first, last, purpose, description },
        atFirst: { network_id: network.id },
        custom: { kind: "ip_range", values: wanted.custom },
        tags: bringing.tagIds(wanted.tags),
      },
      existing,
    );
  });
}

/** Index of records by import ID, else by unique key. */
class Index {
  private readonly byId = new Map<string, LedgerRecord>();
  private readonly byKey = new Map<string, LedgerRecord>();
  add(record: LedgerRecord, key: string): void {
    this.byId.set(record.id, record);
    this.byKey.set(key, record);
    const seen = withoutInvisible(key);
    if (!this.byKey.has(seen)) this.byKey.set(seen, record);
  }

  get(id: string, key: string): LedgerRecord | null {
    return this.byId.get(id) ?? this.byKey.get(key) ?? this.byKey.get(withoutInvisible(key)) ?? null;
  }

  all(): Iterable<LedgerRecord> {
    return this.byId.values();
  }
}

/** Unique keys of the run's objects, with the object that holds each. */
class Spoken {
  private readonly urls = new Map<string, string>();

  /** @returns the URL of the object that already has the key; null if this one has it now */
  claim(key: string, url: string): string | null {
    const seen = withoutInvisible(key);
    const other = this.urls.get(seen);
    if (other === undefined) this.urls.set(seen, url);
    return other ?? null;
  }
}

/** Processes the batches of a list, fetching each while the previous one is written. */
async function eachBatch<T extends object>(
  bringing: Bringing,
  kind: BroughtKind,
  batches: Batches<T>,
  action: (items: T[]) => Promise<void>,
): Promise<void> {
  const { plan, options } = bringing;
  let done = 0;
  for await (const batch of oneAhead(batches)) {
    const items: T[] = [];
    for (const each of batch) {
      if (isRefused(each)) plan.refuse(each.kind ?? kind, each.url, each.refused);
      else items.push(each);
    }
    await action(items);
    done += batch.length;
    options.progress(kind, done);
    await options.flush();
  }
}

function eachRecord<T extends Origin>(
  bringing: Bringing,
  kind: BroughtKind,
  batches: Batches<T>,
  action: (item: T) => Promise<void>,
): Promise<void> {
  return eachBatch(bringing, kind, batches, (items) =>
    fewAtOnce(items, WRITES_AT_ONCE, async (item) => {
      const failed = await orRefusal(item.url, () => action(item));
      if (failed !== undefined) bringing.plan.refuse(kind, failed.url, failed.refused);
    }),
  );
}
