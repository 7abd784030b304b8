// Reach of a caller in all its implementations: in SQL for lists and single records, now and at a timestamp, and for
// locate; in code for commands. Random inventories, callers and timestamps check that they agree.

import { afterAll, describe, expect, test } from "bun:test";
import { type Actor, type CommandActor, VIEWER } from "../../src/access/actor.ts";
import { generateApiKey, hashApiKey, maskApiKey } from "../../src/access/api-key.ts";
import { AuthorPermissions } from "../../src/access/current-permissions.ts";
import { findReachable, isInReach } from "../../src/access/reach.ts";
import { ROLES } from "../../src/access/role.ts";
import { generateSessionToken, hashSessionToken } from "../../src/access/session-token.ts";
import { apiKeyHashes, sessions } from "../../src/access/tables.ts";
import type { DomainError } from "../../src/base/errors.ts";
import { type AnyKind, type Kind, parseMembers, type RecordBase } from "../../src/db/kind.ts";
import { ChangeLog } from "../../src/db/reading/change-log.ts";
import type { AsOf } from "../../src/db/reading/list-query.ts";
import { withChecksum } from "../../src/db/row-checksum.ts";
import { Past, type PastRecord } from "../../src/db/writing/past.ts";
import type { WriteTransaction } from "../../src/db/writing/transaction.ts";
import { RecordsAt } from "../../src/history/records-at.ts";
import { KINDS } from "../../src/records/resources.ts";
import { apiKeyKind, networksInForce } from "../../src/resources/api-keys/api-key.ts";
import { networkKind } from "../../src/resources/networks/network.ts";
import { organizationKind } from "../../src/resources/organizations/organization.ts";
import { userKind } from "../../src/resources/users/user.ts";
import { AccessGate, SESSION_COOKIE } from "../../src/sessions/gate.ts";
import { discovery, inventory } from "../support/store/population.ts";
import { networkFields, Store } from "../support/store/store.ts";

const store = new Store({ seed: 20_261_121 });
const { random, reader, clock } = store;
afterAll(() => store.close());

const gate = new AccessGate({ reader, clock, usage: { keyUsed: () => {}, sessionUsed: () => {} } });
const permissionsNow = new AuthorPermissions(store.db.$client);
const log = new ChangeLog(reader);

type LocatedRecord = RecordBase & { readonly network_id: string };

interface Organization {
  readonly id: string;
  readonly networkIds: readonly string[];
  readonly userIds: readonly string[];
}

/** Credentials of each caller: a user's session, or an API key. */
const credentials: Array<{ readonly id: string; readonly headers: Record<string, string> }> = [];
const organizations = [newOrganization("one", 4), newOrganization("other", 3), newOrganization("small", 1)];
/** Kinds that no others reference, and kinds whose records move between networks. */
const UNREFERENCED = "fdb_entry binding ignored schedule credential_assignment api_key marker ip_range".split(" ");
const MOVING = ["host", "port", "if_entry", "ip_address", "service", "ignored", "marker"];

describe("access by reach", () => {
  test("is the same for reads and commands, for every kind and caller, after any changes", () => {
    for (let round = 0; round < 6; round += 1) {
      for (let step = 0; step < 12; step += 1) store.write(mutate);
      for (const { actor, author } of callers()) {
        const reached = store.write((tx) =>
          KINDS.map((kind) => idsOf(kind).filter((id) => findReachable(tx, kind, id, author) !== null)),
        );
        for (const [index, kind] of KINDS.entries())
          expect([kind.name, visibleIds(kind, actor, null)]).toEqual([kind.name, reached[index] as string[]]);
      }
    }
  });

  test("is the same for both at any past timestamp", () => {
    const past = new Past(store.db, KINDS);
    const last = reader.head().sequence;
    for (let round = 0; round < 8; round += 1) {
      const asOf = reader.atSequence(1 + random.integer(last));
      const pastRecords = KINDS.map((kind) => idsOf(kind).flatMap((id) => past.at(store.n(id), asOf.sequence) ?? []));
      for (const { actor, author } of callers().filter(() => random.integer(3) === 0)) {
        const { organizationN } = actor;
        const located = new RecordsAt(reader, asOf.sequence, { organizationN, networkIds: author.networkIds });
        for (const [index, kind] of KINDS.entries()) {
          const members = (pastRecords[index] as PastRecord[]).filter(({ n }) =>
            past.wasMember(organizationN, kind, n, asOf.sequence),
          );
          const reached = members.flatMap(({ record }) => (isInReach(kind, record, author) ? [record.id] : []));
          expect([kind.name, visibleIds(kind, actor, asOf)]).toEqual([kind.name, reached]);
          if (kind.scopes.network === "network_id" && kind.networkIsOptional !== true)
            expect([...located.byIds(kind as Kind<LocatedRecord>, idsOf(kind)).keys()].sort()).toEqual(reached);
        }
      }
    }
  });

  test("is the same for both in histories: every record ever within reach", () => {
    for (const { actor, author } of callers()) {
      for (const kind of KINDS) {
        const everMembers = idsOf(kind).filter((id) => wasEverIn(actor.organizationN, kind, id));
        const reached = everMembers.filter((id) => statesOf(id).some((state) => isInReach(kind, state, author)));
        const visible = idsOf(kind).filter((id) => log.everVisible(kind, id, actor) !== null);
        expect([kind.name, visible]).toEqual([kind.name, reached]);
      }
    }
  });

  test("is the same for writer and gate, and a key is shown with its effective networks", () => {
    for (const { id, actor, author } of callers()) {
      expect(permissionsNow.currentAuthor(author, clock.now())).toEqual({ ...author, standing: undefined } as never);
      const allNetworks = visibleIds(networkKind, { ...actor, networkNs: null }, null);
      const { user, key } = store.write((tx) => ({
        user: tx.get(userKind, author.userId as string),
        key: tx.find(apiKeyKind, id) ?? { all_networks: true, network_ids: [] },
      }));
      const expected = [...(author.networkIds ?? allNetworks)].sort();
      expect([...networksInForce(key, user, allNetworks)].sort()).toEqual(expected);
    }
  });
});

/** Creates users and keys of every role, with access to some networks each, and records of every kind per network. */
function newOrganization(name: string, networks: number): Organization {
  const id = store.write((tx) => {
    const ownId = tx.newId();
    return tx.create(organizationKind, ownId, { name, require_change_reason: false }, { id: ownId }).id;
  });
  const networkIds = Array.from({ length: networks }, (_, index) =>
    store.write((tx) => tx.create(networkKind, id, networkFields(id, `${name} ${index}`)).id),
  );
  const userIds = ROLES.map((role) => {
    const user = { name: role, email: `${role}@${name}.example`, role, is_enabled: true };
    const fields = { organization_id: id, ...user, network_ids: randomSubset(networkIds) };
    return store.write((tx) => tx.create(userKind, id, fields).id);
  });
  for (const [index, networkId] of networkIds.entries()) {
    const location = { organizationId: id, networkId };
    const { hostId } = store.write((tx) => inventory(tx, location, random.pick(userIds), ` ${index}`));
    store.write((tx) => discovery(tx, location, hostId));
  }
  for (const userId of userIds) {
    store.write((tx) => signIn(tx, userId));
    for (let key = 0; key < 2; key += 1) store.write((tx) => newKey(tx, id, userId, networkIds));
  }
  return { id, networkIds, userIds };
}

function signIn(tx: WriteTransaction, userId: string): void {
  const token = generateSessionToken(random);
  const hash = Buffer.from(hashSessionToken(token));
  const session = { hash, user_n: tx.recordN(userId) as number, created_at: clock.at, last_used_at: clock.at };
  tx.db.insert(sessions).values(withChecksum(sessions, session)).run();
  credentials.push({ id: userId, headers: { cookie: `${SESSION_COOKIE}=${token}` } });
}

function newKey(tx: WriteTransaction, organizationId: string, userId: string, networkIds: readonly string[]): void {
  const text = generateApiKey(random);
  const { id } = tx.create(apiKeyKind, organizationId, {
    name: "key",
    organization_id: organizationId,
    user_id: userId,
    tags: [],
    expires_at: null,
    is_enabled: true,
    permissions: random.pick(ROLES),
    all_networks: random.integer(2) === 0,
    network_ids: randomSubset(networkIds),
    allowed_sources: null,
    key: maskApiKey(text),
  });
  const hash = Buffer.from(hashApiKey(text));
  tx.runAfterWrite(() => {
    const row = withChecksum(apiKeyHashes, { hash, api_key_n: tx.recordN(id) as number });
    tx.db.insert(apiKeyHashes).values(row).run();
  });
  credentials.push({ id, headers: { authorization: `Bearer ${text}` } });
}

/** Changes permissions, or moves, removes or restores a record. */
function mutate(tx: WriteTransaction): void {
  const { id: organizationId, networkIds, userIds } = random.pick(organizations);
  const choice = random.integer(10);
  if (choice < 2)
    tx.update(userKind, random.pick(userIds), { role: random.pick(ROLES), network_ids: randomSubset(networkIds) });
  else if (choice < 4)
    tx.update(apiKeyKind, random.pick(keysOf(tx, userIds)), {
      all_networks: random.integer(2) === 0,
      network_ids: randomSubset(networkIds),
    });
  else if (choice < 7) {
    const [kind, record] = randomRecord(tx, organizationId, MOVING);
    const isOutsideNetworks = kind.networkIsOptional === true && random.integer(2) === 0;
    tx.update(kind, record.id, { network_id: isOutsideNetworks ? null : random.pick(networkIds) });
  } else {
    const [kind, record] = randomRecord(tx, organizationId, UNREFERENCED);
    tx.remove(kind, record.id);
    if (choice === 9) removedRecords.push([kind, organizationId, record]);
    else {
      const restored = removedRecords.pop();
      if (restored !== undefined) tx.revive(...restored);
    }
  }
}
const removedRecords: Array<[AnyKind, string, RecordBase]> = [];

function randomRecord(tx: WriteTransaction, organizationId: string, names: readonly string[]): [AnyKind, RecordBase] {
  for (;;) {
    const kind = KINDS.find(({ name }) => name === random.pick(names));
    if (kind === undefined) continue;
    const record = tx.find(kind, random.pick(idsOf(kind)));
    if (record !== null && tx.organizationNOf(record.id) === tx.recordN(organizationId)) return [kind, record];
  }
}

function keysOf(tx: WriteTransaction, userIds: readonly string[]): string[] {
  return userIds.flatMap((id) => tx.children(apiKeyKind, "user_n", id).map((key) => key.id));
}

function randomSubset(ids: readonly string[]): string[] {
  return ids.filter(() => random.integer(2) === 0);
}

/** Callers with access at present, in the forms for reads and for commands. */
function callers(): Array<{ id: string; actor: Actor; author: CommandActor }> {
  const identify = ({ id, headers }: (typeof credentials)[number]) => {
    const request = new Request("http://localhost/", { headers });
    try {
      const actor = gate.identify({ request } as never, VIEWER);
      const context = { actor, access: VIEWER, request, requestId: "", source: "192.0.2.1", reason: null };
      return [{ id, actor, author: gate.authorOf(context) }];
    } catch (error) {
      // The caller's key was deleted.
      expect((error as DomainError).code).toBe("auth_not_authenticated");
      return [];
    }
  };
  return reader.snapshot(() => credentials.flatMap(identify));
}

/** Ids of all records that a kind ever had, ascending. */
function idsOf(kind: AnyKind): string[] {
  return store
    .rows<{ id: string }>("SELECT id FROM history_records WHERE kind = ? ORDER BY id", kind.code)
    .map(({ id }) => id);
}

/** Ids in a list; its count and single reads must agree. */
function visibleIds(kind: AnyKind, actor: Actor, asOf: AsOf | null): string[] {
  return reader.snapshot(() => {
    const query = { kind, reach: actor, asOf, limit: 0, offset: 0 };
    const ids = reader.recordIds(reader.items(query).map(({ n }) => n)).sort();
    expect(idsOf(kind).filter((id) => reader.find(kind, id, actor, asOf) !== null)).toEqual(ids);
    expect(reader.total(query)).toBe(ids.length);
    return ids;
  });
}

function statesOf(id: string): RecordBase[] {
  return store.versions(id).flatMap(({ members }) => (members === null ? [] : [parseMembers<RecordBase>(members)]));
}

function wasEverIn(organizationN: number, kind: AnyKind, id: string): boolean {
  return new Past(store.db, KINDS).wasEverMember(organizationN, kind, store.n(id));
}
