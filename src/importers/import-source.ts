// Complete import of a source, kind by kind: referenced records before the records that refer to them.

import { parseCidr, parseIp } from "../base/ip.ts";
import { withoutInvisible } from "../base/visible.ts";
import type { CustomFieldRecord } from "../resources/custom-fields/custom-field.ts";
import { forEachConcurrently, prefetched } from "./concurrency.ts";
import { importHosts } from "./hosts.ts";
import type { ImportRun } from "./import-run.ts";
import {
  type Batches,
  type ImportedField,
  type ImportedNetwork,
  type ImportedRange,
  type ImportedSubnet,
  type ImportedTag,
  type ImportedVlan,
  isRefused,
  type Origin,
} from "./imported-objects.ts";
import type { LedgerRecord } from "./ledger.ts";
import { catchRefusal } from "./or-refusal.ts";
import { ensureSubnet, ensureVlan } from "./places.ts";
import type { ImportKind } from "./plan.ts";
import { importRecord, RECORD_FORMS } from "./records.ts";

/** Concurrent writes: many of them share a commit. */
const CONCURRENT_WRITES = 16;

/**
 * Imports tags, custom fields, networks, VLANs, subnets, hosts with their parts, and ranges. Refused records go into
 * the plan, and the import continues.
 * @throws RemoteError if a side can no longer be reached: earlier writes are kept, and another run continues from there
 */
export async function importSource(run: ImportRun): Promise<void> {
  await importTags(run);
  await importFields(run);
  await importNetworks(run);
  await importVlans(run);
  await importSubnets(run);
  await forEachBatch(run, "hosts", run.source.hosts(), (hosts) => importHosts(run, hosts));
  await importRanges(run);
}

async function importTags(run: ImportRun): Promise<void> {
  const known = new Index();
  for await (const rows of run.ledger.list("/tags")) for (const row of rows) known.add(row, row.name as string);
  for (const row of known.all()) run.tags.set(row.name as string, row.id);
  const claimed = new ClaimedKeys();
  await forEachRecord<ImportedTag>(run, "tags", run.source.tags(), async (wanted) => {
    const { name, color, description } = wanted;
    const other = claimed.claim(name, wanted.url);
    if (other !== null) return run.plan.refuse("tags", wanted.url, `${other} has this name already`);
    const existing = known.get(wanted.id, name);
    const created = await importRecord(
      run,
      RECORD_FORMS.tag,
      // Every tag has a color: it does not reveal a manual choice.
      {
        origin: wanted,
        label: name,
        fields: { name, description },
        onCreate: existing === null ? { color } : { color: existing.color },
      },
      existing,
    );
    if (created !== null) run.tags.set(name, created.id);
  });
}

async function importFields(run: ImportRun): Promise<void> {
  const known = new Index();
  for await (const rows of run.ledger.list("/custom-fields")) for (const row of rows) known.add(row, row.key as string);
  for (const row of known.all()) run.fields.set(row.key as string, row as unknown as CustomFieldRecord);
  const claimed = new ClaimedKeys();
  await forEachRecord<ImportedField>(run, "fields", run.source.fields(), async (wanted) => {
    const { key, label, description, type, url } = wanted;
    const other = claimed.claim(key, url);
    if (other !== null) return run.plan.refuse("fields", url, `${other} has the key ${key} already`);
    const existing = known.get(wanted.id, key);
    if (existing !== null && existing.type !== type) {
      run.fields.delete(key);
      return run.plan.refuse("fields", url, `there is a field ${key} of type ${existing.type}, and this is ${type}`);
    }
    const merged = (name: "kinds" | "choices") => [
      ...new Set([...((existing?.[name] ?? []) as string[]), ...wanted[name]]),
    ];
    const created = await importRecord(
      run,
      RECORD_FORMS.field,
      {
        origin: wanted,
        label: key,
        fields: { key, label, description, kinds: merged("kinds"), choices: merged("choices") },
        onCreate: { type },
      },
      existing,
    );
    if (created !== null) run.fields.set(key, created as unknown as CustomFieldRecord);
  });
}

async function importNetworks(run: ImportRun): Promise<void> {
  const { source, options } = run;
  const known = new Index();
  for await (const rows of run.ledger.list("/networks")) for (const row of rows) known.add(row, row.name as string);
  const claimed = new ClaimedKeys();
  const importNetwork = async (wanted: ImportedNetwork) => {
    const { name, description } = wanted;
    const other = claimed.claim(name, wanted.url);
    if (other !== null) return run.plan.refuse("networks", wanted.url, `${other} has this name already`);
    const existing = known.get(wanted.id, name);
    const created = await importRecord(
      run,
      RECORD_FORMS.network,
      { origin: wanted, label: name, fields: { name, description }, tags: run.tagIds(wanted.tags) },
      existing,
    );
    if (created === null) return;
    known.add(created, name);
    run.networks.set(wanted.id, created.id);
  };
  await forEachRecord<ImportedNetwork>(run, "networks", source.networks(), importNetwork);
  const { defaultNetwork: name } = options;
  if (name === null) return;
  const existingDefault = known.get("", name);
  const id = source.derivedId("", `default network ${name}`);
  if (existingDefault === null)
    await importNetwork({ id, url: "--default-network", name, description: null, tags: [] });
  run.defaultNetworkId = existingDefault?.id ?? run.networks.get(id) ?? null;
}

async function importVlans(run: ImportRun): Promise<void> {
  const byId = new Map<string, LedgerRecord>();
  for await (const rows of run.ledger.list("/vlans")) {
    for (const row of rows) {
      byId.set(row.id, row);
      run.vlans.set(`${row.network_id}/${row.number}`, row);
    }
  }
  const claimed = new ClaimedKeys();
  await forEachRecord<ImportedVlan>(run, "VLANs", run.source.vlans(), async (wanted) => {
    const { number, name, description, url } = wanted;
    const network = run.networkOf(wanted.network);
    if ("refused" in network) return run.plan.refuse("VLANs", url, network.refused);
    const key = `${network.id}/${number}`;
    const other = claimed.claim(key, url);
    if (other !== null) return run.plan.refuse("VLANs", url, `its network has VLAN ${number} already, from ${other}`);
    const existing = byId.get(wanted.id) ?? run.vlans.get(key) ?? null;
    const created = await importRecord(
      run,
      RECORD_FORMS.vlan,
      {
        origin: wanted,
        label: `${number} ${name ?? ""}`,
        fields: { number, name, description },
        onCreate: { network_id: network.id },
        custom: { kind: "vlan", values: wanted.custom },
      },
      existing,
    );
    run.vlans.set(key, created);
  });
}

async function importSubnets(run: ImportRun): Promise<void> {
  const known = new Index();
  for await (const rows of run.ledger.list("/subnets")) {
    for (const row of rows) {
      known.add(row, `${row.network_id} ${row.cidr}`);
      run.subnets.add(row.network_id as string, row.cidr as string);
    }
  }
  const claimed = new ClaimedKeys();
  await forEachRecord<ImportedSubnet>(run, "subnets", run.source.subnets(), async (wanted) => {
    const { url, name, description } = wanted;
    const network = run.networkOf(wanted.network);
    if ("refused" in network) return run.plan.refuse("subnets", url, network.refused);
    const cidr = parseCidr(wanted.cidr)?.text ?? wanted.cidr;
    const key = `${network.id} ${cidr}`;
    const other = claimed.claim(key, url);
    if (other !== null) return run.plan.refuse("subnets", url, `its network has ${cidr} already, from ${other}`);
    const vlan_id = wanted.vlan === null ? null : await ensureVlan(run, network.id, wanted.vlan);
    const created = await importRecord(
      run,
      RECORD_FORMS.subnet,
      {
        origin: wanted,
        label: cidr,
        fields: { cidr, name, description, vlan_id, subnet_type: wanted.type },
        // The source must not determine where credentials are sent.
        onCreate: { network_id: network.id, accepts_credentials: false },
        custom: { kind: "subnet", values: wanted.custom },
        tags: run.tagIds(wanted.tags),
      },
      known.get(wanted.id, key),
    );
    if (created !== null) run.subnets.add(network.id, cidr);
  });
}

async function importRanges(run: ImportRun): Promise<void> {
  const known = new Index();
  for await (const rows of run.ledger.list("/ip-ranges"))
    for (const row of rows) known.add(row, `${row.network_id} ${row.first}-${row.last}`);
  const claimed = new ClaimedKeys();
  await forEachRecord<ImportedRange>(run, "ranges", run.source.ranges(), async (wanted) => {
    const { url, purpose, description, prefixLength } = wanted;
    const network = run.networkOf(wanted.network);
    if ("refused" in network) return run.plan.refuse("ranges", url, network.refused);
    const [first, last] = [wanted.first, wanted.last].map((text) => parseIp(text)?.text ?? text) as [string, string];
    const key = `${network.id} ${first}-${last}`;
    const other = claimed.claim(key, url);
    if (other !== null) return run.plan.refuse("ranges", url, `its network has ${first} already, from ${other}`);
    const existing = known.get(wanted.id, key);
    const refused = existing === null ? await ensureSubnet(run, network.id, { url, first, last, prefixLength }) : null;
    if (refused !== null) return run.plan.refuse("ranges", url, refused);
    await importRecord(
      run,
      RECORD_FORMS.range,
      {
        origin: wanted,
        label: first === last ? first : `${first}-${last}`,
        fields: { first, last, purpose, description },
        onCreate: { network_id: network.id },
        custom: { kind: "ip_range", values: wanted.custom },
        tags: run.tagIds(wanted.tags),
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
    const visibleKey = withoutInvisible(key);
    if (!this.byKey.has(visibleKey)) this.byKey.set(visibleKey, record);
  }

  get(id: string, key: string): LedgerRecord | null {
    return this.byId.get(id) ?? this.byKey.get(key) ?? this.byKey.get(withoutInvisible(key)) ?? null;
  }

  all(): Iterable<LedgerRecord> {
    return this.byId.values();
  }
}

/** Unique keys of the run's objects, with the object that holds each. */
class ClaimedKeys {
  private readonly urls = new Map<string, string>();

  /** @returns the URL of the object that already has the key; null if this object now has it */
  claim(key: string, url: string): string | null {
    const visibleKey = withoutInvisible(key);
    const other = this.urls.get(visibleKey);
    if (other === undefined) this.urls.set(visibleKey, url);
    return other ?? null;
  }
}

/** Processes the batches of a list, fetching each while the previous one is written. */
async function forEachBatch<T extends object>(
  run: ImportRun,
  kind: ImportKind,
  batches: Batches<T>,
  action: (items: T[]) => Promise<void>,
): Promise<void> {
  const { plan, options } = run;
  let done = 0;
  for await (const batch of prefetched(batches)) {
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

function forEachRecord<T extends Origin>(
  run: ImportRun,
  kind: ImportKind,
  batches: Batches<T>,
  action: (item: T) => Promise<void>,
): Promise<void> {
  return forEachBatch(run, kind, batches, (items) =>
    forEachConcurrently(items, CONCURRENT_WRITES, async (item) => {
      const failed = await catchRefusal(item.url, () => action(item));
      if (failed !== undefined) run.plan.refuse(kind, failed.url, failed.refused);
    }),
  );
}
