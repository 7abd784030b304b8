// Net effect of a transaction: at most one version per record, and one for each owner of a changed part.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { formatInstant } from "../../src/base/instant.ts";
import { operationOf, scopeKey } from "../../src/db/kind.ts";
import type { WriteTransaction } from "../../src/db/writing/transaction.ts";
import { KINDS } from "../../src/records/resources.ts";
import { bindingKind } from "../../src/resources/bindings/binding.ts";
import { fdbEntryKind } from "../../src/resources/fdb-entries/fdb-entry.ts";
import { type HostRecord, hostKind } from "../../src/resources/hosts/host.ts";
import { ifEntryKind } from "../../src/resources/if-entries/if-entry.ts";
import { networkKind } from "../../src/resources/networks/network.ts";
import { portKind } from "../../src/resources/ports/port.ts";
import { serviceKind } from "../../src/resources/services/service.ts";
import { tagKind } from "../../src/resources/tags/tag.ts";
import {
  bindingFields,
  fdbEntryFields,
  hostFields,
  ifEntryFields,
  networkFields,
  portFields,
  Store,
  serviceFields,
  tagFields,
} from "../support/store/store.ts";

let store: Store;
let host: HostRecord;

beforeEach(() => {
  store = new Store();
  host = store.create(hostKind, hostFields(store.networkId, "a"));
});
afterEach(() => store.close());

/** Versions written by a transaction, by kind: `Updated name, ports`. */
function versionsWrittenBy({ sequence }: { sequence: number | null }): Record<string, string> {
  const rows = store.rows<{ kind: number; operation: number; changed: string | null }>(
    `SELECT r.kind, v.operation, v.changed FROM history_versions v JOIN history_records r ON r.n = v.key >> 31
      WHERE v.key & 2147483647 = ? ORDER BY v.key`,
    sequence ?? 0,
  );
  return Object.fromEntries(
    rows.map(({ kind, operation, changed }) => [
      KINDS.find(({ code }) => code === kind)?.name,
      [operationOf(operation), ...(changed === null ? [] : [JSON.parse(changed).join(", ")])].join(" "),
    ]),
  );
}

const createPort = (number: number) => store.create(portKind, portFields(host, number));
const createTag = (name: string) => store.create(tagKind, tagFields(store.organizationId, name));
const tagNames = (): string[] => store.list(tagKind).items.map((tag) => tag.name);

function ledgerSize(): number[] {
  return ["history_transactions", "history_records", "history_versions", "history_spans", "history_census"].map(
    (table) => store.rows<{ n: number }>(`SELECT count(*) AS n FROM ${table}`)[0]?.n as number,
  );
}

function expectNoWrite(command: (tx: WriteTransaction) => unknown): void {
  const before = ledgerSize();
  expect(store.run(command).sequence).toBeNull();
  expect(ledgerSize()).toEqual(before);
}

describe("no version is written by", () => {
  const testNoWrite = (title: string, command: (tx: WriteTransaction) => unknown) =>
    test(title, () => expectNoWrite(command));

  testNoWrite("a command without changes", () => "result");

  testNoWrite("an update with equal values", (tx) =>
    tx.update(hostKind, host.id, { ...hostFields(store.networkId, "a") }),
  );

  test("equal values in another key order, −0 for 0, and undefined for an absent value", () => {
    const entry = store.create(
      ifEntryKind,
      ifEntryFields(host, 1, { speed_bps: 0, lldp_chassis_id: { subtype: "MacAddress", value: "x" } }),
    );
    const chassisId = { value: "x", subtype: "MacAddress" } as const;
    const equal = { speed_bps: -0, lldp_chassis_id: chassisId, if_alias: undefined };
    expectNoWrite((tx) => tx.update(ifEntryKind, entry.id, equal));
  });

  testNoWrite("a record created and removed", (tx) => {
    const created = tx.create(hostKind, store.organizationId, hostFields(store.networkId, "b"));
    const port = tx.create(portKind, store.organizationId, portFields(created, 22));
    tx.remove(portKind, port.id);
    tx.remove(hostKind, created.id);
  });

  testNoWrite("a part of a stored host created and removed", (tx) => {
    const port = tx.create(portKind, store.organizationId, portFields(host, 22));
    tx.remove(portKind, port.id);
  });

  testNoWrite("a change undone in the same command", (tx) => {
    tx.update(hostKind, host.id, { name: "b", hidden: true });
    tx.update(hostKind, host.id, { name: "a" });
    tx.update(hostKind, host.id, { hidden: false });
  });

  test("a failing command", () => {
    const before = ledgerSize();
    expect(() =>
      store.run((tx) => {
        tx.create(hostKind, store.organizationId, hostFields(store.networkId, "b"));
        throw new Error("no");
      }),
    ).toThrow();
    expect(ledgerSize()).toEqual(before);
  });
});

test("several updates of a record are one version with their combined effect", () => {
  const written = store.run((tx) => {
    tx.update(hostKind, host.id, { name: "b", hidden: true });
    tx.update(hostKind, host.id, { name: "c", hidden: false, model: "m" });
  });
  expect(versionsWrittenBy(written)).toEqual({ host: "Updated model, name" });
  expect(store.versions(host.id)).toHaveLength(2);
  const [item] = store.list(hostKind).items;
  expect(item).toMatchObject({ name: "c", hidden: false, model: "m", created_at: host.created_at });
});

test("a record created and then changed is one creation", () => {
  const written = store.run((tx) => {
    const port = tx.create(portKind, store.organizationId, portFields(host, 22));
    tx.update(portKind, port.id, { number: 23 });
    return port.id;
  });
  expect(versionsWrittenBy(written)).toEqual({ host: "Updated ports", port: "Created" });
  expect(store.versions(written.result)[0]?.members).toContain('"number":23');
});

test("an update preserves id, created_at and lineage and moves updated_at with valid_from", () => {
  store.write((tx) => tx.update(hostKind, host.id, { name: "b" }));
  const at = formatInstant(store.clock.at);
  const [item] = store.list(hostKind).items;
  expect(item).toMatchObject({
    id: host.id,
    created_at: host.created_at,
    lineage_id: null,
    updated_at: at,
    valid_from: at,
  });
  expect((item?.updated_at as string) > host.updated_at).toBe(true);
});

describe("a change to a part creates one version of each owner", () => {
  test("a port: its host", () => {
    const port = createPort(22);
    const updated = store.run((tx) => tx.update(portKind, port.id, { number: 23 }));
    expect(versionsWrittenBy(updated)).toEqual({ host: "Updated ports", port: "Updated number" });
    const removed = store.run((tx) => tx.remove(portKind, port.id));
    expect(versionsWrittenBy(removed)).toEqual({ host: "Updated ports", port: "Deleted" });
  });

  test("a binding: its service, and the service's host", () => {
    const { service, port } = store.write((tx) => ({
      port: tx.create(portKind, store.organizationId, portFields(host, 22)),
      service: tx.create(serviceKind, store.organizationId, serviceFields(host, "s")),
    }));
    const created = store.run((tx) => tx.create(bindingKind, store.organizationId, bindingFields(service, port.id)));
    const owners = { host: "Updated services", service: "Updated bindings" };
    expect(versionsWrittenBy(created)).toEqual({ ...owners, binding: "Created" });
    const removed = store.run((tx) => tx.remove(bindingKind, created.result.id));
    expect(versionsWrittenBy(removed)).toEqual({ ...owners, binding: "Deleted" });
  });

  test("a forwarding entry: its interface, and the interface's host", () => {
    const entry = store.create(ifEntryKind, ifEntryFields(host, 1));
    const written = store.run((tx) => {
      tx.create(fdbEntryKind, store.organizationId, fdbEntryFields(entry, "00:00:00:00:00:01"));
      tx.setComposed(ifEntryKind, entry.id, true);
    });
    expect(versionsWrittenBy(written)).toEqual({
      host: "Updated interfaces",
      if_entry: "Updated fdb_macs",
      fdb_entry: "Created",
    });
  });

  test("parts of several kinds and the host's own fields: one version of the host naming them all", () => {
    const { sequence } = store.run((tx) => {
      tx.create(ifEntryKind, store.organizationId, ifEntryFields(host, 1));
      tx.create(portKind, store.organizationId, portFields(host, 22));
      tx.create(portKind, store.organizationId, portFields(host, 23));
      tx.update(hostKind, host.id, { name: "b" });
    });
    const changed = '["interfaces","name","ports"]';
    expect(store.versions(host.id).at(-1)).toMatchObject({ sequence: sequence as number, changed });
    expect(store.versions(host.id)).toHaveLength(2);
  });

  test("a moved part: its previous and its new owner", () => {
    const otherHost = store.create(hostKind, hostFields(store.networkId, "b"));
    const port = createPort(22);
    store.write((tx) => tx.update(portKind, port.id, { host_id: otherHost.id }));
    expect(store.versions(host.id).at(-1)?.changed).toBe('["ports"]');
    expect(store.versions(otherHost.id).at(-1)?.changed).toBe('["ports"]');
  });

  test("a removal of part and owner: tombstones, and no other version of the owner", () => {
    const port = createPort(22);
    const written = store.run((tx) => {
      tx.remove(portKind, port.id);
      tx.remove(hostKind, host.id);
    });
    expect(versionsWrittenBy(written)).toEqual({ host: "Deleted", port: "Deleted" });
    expect(store.list(hostKind)).toEqual({ items: [], total: 0 });
  });
});

test("a move counts at its source and destination, even next to unmoved parts", () => {
  const otherHost = store.create(hostKind, hostFields(store.networkId, "b"));
  const networkId = store.create(networkKind, networkFields(store.organizationId, "second")).id;
  const away = store.create(hostKind, hostFields(networkId, "c"));
  const [stayingPort, movedPort] = [createPort(22), createPort(23)];
  const [portMovedAway, updatedPort] = [createPort(24), createPort(25)];
  const otherPort = store.create(portKind, portFields(otherHost, 26));
  const { sequence } = store.run((tx) => {
    tx.update(portKind, stayingPort.id, { type: "Ssh" });
    tx.update(portKind, movedPort.id, { host_id: otherHost.id });
    tx.update(portKind, otherPort.id, { type: "Ssh" });
    tx.update(portKind, portMovedAway.id, { host_id: away.id, network_id: networkId });
    tx.update(portKind, updatedPort.id, { type: "Ssh" });
  });
  const updated = (id: string) =>
    store.rows<{ updated: number }>(
      `SELECT updated - coalesce((SELECT updated FROM history_change_counts WHERE scope = c.scope
        AND sequence < c.sequence ORDER BY sequence DESC LIMIT 1), 0) AS updated
        FROM history_change_counts c WHERE scope = ? AND sequence = ?`,
      scopeKey(store.n(id), portKind),
      sequence ?? 0,
    )[0]?.updated;
  expect({
    organization: updated(store.organizationId),
    network: updated(store.networkId),
    second: updated(networkId),
    host: updated(host.id),
    otherHost: updated(otherHost.id),
    away: updated(away.id),
  }).toEqual({ organization: 5, network: 5, second: 1, host: 4, otherHost: 2, away: 1 });
  const active = store.rows<{ scope: number }>("SELECT scope FROM history_activity WHERE sequence = ?", sequence ?? 0);
  expect(active.map(({ scope }) => scope).sort((a, b) => a - b)).toEqual(
    [store.organizationId, store.networkId, networkId].map((id) => store.n(id)).sort((a, b) => a - b),
  );
});

describe("assigned numbers", () => {
  test("are in page order for one transaction's records by id, regardless of the order of calls", () => {
    const ids = [
      "ffffffff-0000-4000-8000-000000000000",
      "00000000-0000-4000-8000-000000000000",
      "88888888-0000-7000-8000-000000000000",
    ];
    store.write((tx) => {
      for (const id of ids) tx.create(tagKind, store.organizationId, tagFields(store.organizationId, id), { id });
    });
    expect(store.list(tagKind).items.map((tag) => tag.id)).toEqual([...ids].sort());
    store.create(tagKind, tagFields(store.organizationId, "later"), { id: "00000000-0000-4000-8000-000000000001" });
    expect(tagNames().at(-1)).toBe("later");
  });

  test("have no gaps, and the transaction records the last one", () => {
    store.write((tx) => {
      for (let number = 1; number <= 5; number += 1)
        tx.create(portKind, store.organizationId, portFields(host, number));
    });
    const numbers = store.rows<{ n: number }>("SELECT n FROM history_records ORDER BY n").map((row) => row.n);
    expect(numbers).toEqual(numbers.map((_, position) => position + 1));
    expect(store.transactions().at(-1)?.last_n).toBe(numbers.length);
  });
});

describe("a used id", () => {
  const refusal = { code: "entity_already_exists", params: expect.objectContaining({ field: "id" }) };

  test.each([
    ["is refused for a live record", false],
    ["is refused for a removed record", true],
  ])("%s", (_case, removed) => {
    if (removed) store.write((tx) => tx.remove(hostKind, host.id));
    const before = ledgerSize();
    // Of any kind.
    for (const write of [
      () => store.create(hostKind, hostFields(store.networkId, "b"), { id: host.id }),
      () => store.create(tagKind, tagFields(store.organizationId, "b"), { id: host.id }),
    ])
      expect(write).toThrow(expect.objectContaining(refusal));
    expect(ledgerSize()).toEqual(before);
  });

  test("is refused twice in one transaction, even after a removal in it", () => {
    expect(() =>
      store.write((tx) => {
        tx.remove(hostKind, host.id);
        tx.create(hostKind, store.organizationId, hostFields(store.networkId, "b"), { id: host.id });
      }),
    ).toThrow(expect.objectContaining(refusal));
    expect(store.list(hostKind).total).toBe(1);
  });
});

describe("a unique value", () => {
  test("can be swapped by two records within one transaction", () => {
    const [a, b] = [createTag("a"), createTag("b")];
    store.write((tx) => {
      tx.update(tagKind, a.id, { name: "b" });
      tx.update(tagKind, b.id, { name: "a" });
    });
    expect(tagNames()).toEqual(["b", "a"]);
    expect(() => createTag("a")).toThrow(expect.objectContaining({ code: "entity_already_exists" }));
  });

  test("can rotate among three records, and be taken over from a removed or changed one", () => {
    const [a, b, c] = [createTag("a"), createTag("b"), createTag("c")];
    store.write((tx) => {
      tx.update(tagKind, a.id, { name: "b" });
      tx.update(tagKind, b.id, { name: "c" });
      tx.update(tagKind, c.id, { name: "a" });
    });
    expect(tagNames()).toEqual(["b", "c", "a"]);
    store.write((tx) => {
      tx.create(tagKind, store.organizationId, tagFields(store.organizationId, "b"));
      tx.update(tagKind, b.id, { name: "z" });
      tx.update(tagKind, a.id, { name: "c" });
      tx.remove(tagKind, c.id);
      tx.create(tagKind, store.organizationId, tagFields(store.organizationId, "a"));
    });
    expect(tagNames().sort()).toEqual(["a", "b", "c", "z"]);
    expect(store.rows("SELECT n FROM tags WHERE identity IS NULL")).toEqual([]);
  });

  test("is refused to a second record, and nothing of the transaction is written", () => {
    const tag = createTag("a");
    const before = ledgerSize();
    expect(() =>
      store.write((tx) => {
        tx.create(portKind, store.organizationId, portFields(host, 22));
        tx.create(tagKind, store.organizationId, tagFields(store.organizationId, "a"));
      }),
    ).toThrow(
      expect.objectContaining({ code: "entity_already_exists", params: { entity: "tag", field: "name", value: "a" } }),
    );
    expect(ledgerSize()).toEqual(before);
    expect(store.list(tagKind).items.map(({ id }) => id)).toEqual([tag.id]);
    // The same holds for two in one transaction.
    expect(() =>
      store.write((tx) => {
        for (const description of ["1", "2"])
          tx.create(tagKind, store.organizationId, tagFields(store.organizationId, "twice", { description }));
      }),
    ).toThrow(expect.objectContaining({ code: "entity_already_exists" }));
    expect(ledgerSize()).toEqual(before);
  });
});

describe("lineage", () => {
  test("is the first one's id for every later incarnation", () => {
    const ids = [1, 2, 3].map(() => {
      const port = createPort(22);
      store.write((tx) => tx.remove(portKind, port.id));
      return port;
    });
    expect(ids.map((port) => JSON.parse(`{${store.versions(port.id)[0]?.members}}`).lineage_id)).toEqual([
      null,
      ids[0]?.id,
      ids[0]?.id,
    ]);
  });

  test("is the same if removal and creation are one transaction", () => {
    const port = createPort(22);
    const successor = store.write((tx) => {
      tx.remove(portKind, port.id);
      return tx.create(portKind, store.organizationId, portFields(host, 22));
    });
    expect(store.list(portKind).items).toMatchObject([{ id: successor.id, lineage_id: port.id }]);
  });

  test("is absent for kinds that omit empty values", () => {
    const entry = store.create(ifEntryKind, ifEntryFields(host, 1));
    expect(store.versions(entry.id)[0]?.members).not.toContain("lineage_id");
    store.write((tx) => tx.remove(ifEntryKind, entry.id));
    const successor = store.create(ifEntryKind, ifEntryFields(host, 1));
    expect(store.versions(successor.id)[0]?.members).toContain(`"lineage_id":"${entry.id}"`);
  });

  test("does not link a record to a live one whose former name it took", () => {
    const tag = createTag("a");
    store.write((tx) => tx.update(tagKind, tag.id, { name: "b" }));
    const successor = createTag("a");
    expect(store.versions(successor.id)[0]?.members).toContain('"lineage_id":null');
    store.write((tx) => tx.remove(tagKind, tag.id));
    const b = createTag("b");
    expect(store.versions(b.id)[0]?.members).toContain(`"lineage_id":"${tag.id}"`);
  });
});

describe("a transaction's own changes", () => {
  test("are visible among a record's children, including created, moved and removed ones", () => {
    const otherHost = store.create(hostKind, hostFields(store.networkId, "b"));
    const [stayingPort, movedPort, removedPort] = [createPort(1), createPort(2), createPort(3)];
    const numbers = (tx: WriteTransaction, owner: { id: string }) =>
      tx.children(portKind, "host_n", owner.id).map((port) => port.number);
    store.write((tx) => {
      expect(numbers(tx, host)).toEqual([1, 2, 3]);
      tx.update(portKind, movedPort.id, { host_id: otherHost.id });
      tx.remove(portKind, removedPort.id);
      const created = tx.create(portKind, store.organizationId, portFields(host, 4));
      expect(numbers(tx, host)).toEqual([1, 4]);
      expect(numbers(tx, otherHost)).toEqual([2]);
      tx.update(portKind, stayingPort.id, { number: 5 });
      tx.update(portKind, movedPort.id, { host_id: host.id });
      expect(numbers(tx, host)).toEqual([5, 2, 4]);
      expect(numbers(tx, otherHost)).toEqual([]);
      tx.remove(portKind, created.id);
      expect(numbers(tx, host)).toEqual([5, 2]);
      const newHost = tx.create(hostKind, store.organizationId, hostFields(store.networkId, "c"));
      tx.create(portKind, store.organizationId, portFields(newHost, 9));
      expect(numbers(tx, newHost)).toEqual([9]);
    });
    expect(store.list(portKind).items.map((port) => port.number)).toEqual([5, 2, 9]);
  });

  test.each<[string, (tx: WriteTransaction, ports: { id: string }[], other: HostRecord) => unknown]>([
    ["creation", (tx) => tx.create(portKind, store.organizationId, portFields(host, 3))],
    ["removal", (tx, [port]) => tx.remove(portKind, port?.id as string)],
    ["move", (tx, [port], other) => tx.update(portKind, port?.id as string, { host_id: other.id })],
    ["update", (tx, [port]) => tx.update(portKind, port?.id as string, { number: 4 })],
  ])("leave the stored identities of children unknown after a %s", (_change, change) => {
    const [other, unchanged] = ["b", "c"].map((name) => store.create(hostKind, hostFields(store.networkId, name)));
    const ports = [createPort(1), createPort(2)];
    const otherPort = store.create(portKind, portFields(unchanged as HostRecord, 1));
    store.write((tx) => {
      const identities = (owner: { id: string } | undefined) =>
        tx.storedIdentities(portKind, "host_n", owner?.id as string);
      expect(identities(host)).toEqual(ports.map((port) => portKind.identity(port) as string));
      change(tx, ports, other as HostRecord);
      expect(identities(host)).toBeNull();
      expect(identities(unchanged)).toEqual([portKind.identity(otherPort) as string]);
    });
  });

  test("are visible among records with a reference, including new ones", () => {
    const tag = createTag("a");
    const tagged = (name: string) => ({ ...hostFields(store.networkId, name), tags: [tag.id] });
    const stored = store.create(hostKind, tagged("b"));
    const referringIds = (tx: WriteTransaction) => tx.referringTo("tags", tag.id).map(({ id }) => id);
    store.write((tx) => {
      expect(referringIds(tx)).toEqual([stored.id]);
      tx.update(hostKind, host.id, { tags: [tag.id] });
      const created = tx.create(hostKind, store.organizationId, tagged("c"));
      expect(referringIds(tx)).toEqual([stored.id, host.id, created.id]);
      expect(tx.referringTo("network_ids", tag.id)).toEqual([]);
      // A repeated touch counts once.
      tx.update(hostKind, stored.id, { name: "d" });
      tx.remove(hostKind, created.id);
      expect(referringIds(tx).filter((id) => id !== created.id)).toEqual([stored.id, host.id]);
    });
  });

  test("are visible by unique value", () => {
    const tag = createTag("a");
    const id = (tx: WriteTransaction, name: string) =>
      tx.findByIdentity(tagKind, `${store.organizationId}/${name}`)?.id ?? null;
    store.write((tx) => {
      expect(id(tx, "a")).toBe(tag.id);
      tx.update(tagKind, tag.id, { name: "b" });
      expect([id(tx, "a"), id(tx, "b")]).toEqual([null, tag.id]);
      const created = tx.create(tagKind, store.organizationId, tagFields(store.organizationId, "a"));
      expect(id(tx, "a")).toBe(created.id);
      tx.remove(tagKind, created.id);
      tx.remove(tagKind, tag.id);
      expect([id(tx, "a"), id(tx, "b")]).toEqual([null, null]);
    });
  });
});
