// Reach of a caller in its many implementations: in SQL for lists and single records, now and at a timestamp, and for
// locate; in code for commands. Random inventories, callers and timestamps check that they agree.

import { afterAll, describe, expect, test } from "bun:test";
import { type Actor, type CommandActor, VIEWER } from "../../src/access/actor.ts";
import { generateApiKey, hashApiKey, maskApiKey } from "../../src/access/api-key.ts";
import { findReachable, liesInReach } from "../../src/access/reach.ts";
import { RightsNow } from "../../src/access/rights-now.ts";
import { ROLES } from "../../src/access/role.ts";
import { generateSessionToken, hashSessionToken } from "../../src/access/session-token.ts";
import { apiKeyHashes, sessions } from "../../src/access/tables.ts";
import type { DomainError } from "../../src/base/errors.ts";
import { type AnyKind, type Kind, parseMembers, type RecordBase } from "../../src/db/kind.ts";
import { ChangeLog } from "../../src/db/reading/change-log.ts";
import type { AsOf } from "../../src/db/reading/list-query.ts";
import { withChecksum } from "../../src/db/row-checksum.ts";
import type { WriteTransaction } from "../../src/db/writing/transaction.ts";
import { RecordsAt } from "../../src/history/records-at.ts";
import { Past, type PastRecord } from "../../src/history/restore/past.ts";
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
const rightsNow = new RightsNow(store.db.$client);
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
/** Kinds without references to them, and kinds that move along between networks. */
const LEAVES = "fdb_entry binding ignored schedule credential_assignment api_key marker ip_range".split(" ");
const MOVING = ["host", "port", "if_entry", "ip_address", "service", "ignored", "marker"];

describe("access by reach", () => {
  test("is the same for reads and commands, for every kind and caller, whatever happens", () => {
    for (let round = 0; round < 6; round += 1) {
      for (let each = 0; each < 12; each += 1) store.write(happen);
      for (const { actor, author } of callers()) {
        const reached = store.write((tx) =>
          KINDS.map((kind) => idsOf(kind).filter((id) => findReachable(tx, kind, id, author) !== null)),
        );
        for (const [place, kind] of KINDS.entries())
          expect([kind.name, seen(kind, actor, null)]).toEqual([kind.name, reached[place] as string[]]);
      }
    }
  });

  test("is the same for both at any past instant", () => {
    const past = new Past(store.db, KINDS);
    const last = reader.head().sequence;
    for (let each = 0; each < 8; each += 1) {
      const asOf = reader.atSequence(1 + random.integer(last));
      const there = KINDS.map((kind) => idsOf(kind).flatMap((id) => past.at(store.n(id), asOf.sequence) ?? []));
      for (const { actor, author } of callers().filter(() => random.integer(3) === 0)) {
        const { organizationN } = actor;
        const located = new RecordsAt(reader, asOf.sequence, { organizationN, networkIds: author.networkIds });
        for (const [place, kind] of KINDS.entries()) {
          const reached = (there[place] as PastRecord[])
            .filter(
              ({ n, record }) =>
                past.didLiveIn(organizationN, kind, n, asOf.sequence) && liesInReach(kind, record, author),
            )
            .map(({ record }) => record.id);
          expect([kind.name, seen(kind, actor, asOf)]).toEqual([kind.name, reached]);
          if (kind.scopes.network === "network_id" && kind.networkIsOptional !== true)
            expect([...located.byIds(kind as Kind<LocatedRecord>, idsOf(kind)).keys()].sort()).toEqual(reached);
        }
      }
    }
  });

  test("is the same for both in histories: to every record that was ever within reach", () => {
    for (const { actor, author } of callers()) {
      for (const kind of KINDS) {
        const reached = idsOf(kind).filter(
          (id) =>
            wasEverIn(actor.organizationN, kind, id) && statesOf(id).some((state) => liesInReach(kind, state, author)),
        );
        expect([kind.name, idsOf(kind).filter((id) => log.everSeen(kind, id, actor) !== null)]).toEqual([
          kind.name,
          reached,
        ]);
      }
    }
  });

  test("is the same for writer and gate, and a key is shown with its effective networks", () => {
    for (const { id, actor, author } of callers()) {
      expect(rightsNow.of(author, clock.now())).toEqual({ ...author, standing: undefined } as never);
      const every = seen(networkKind, { ...actor, networkNs: null }, null);
      const { user, key } = store.write((tx) => ({
        user: tx.get(userKind, author.userId as string),
        key: tx.find(apiKeyKind, id) ?? { all_networks: true, network_ids: [] },
      }));
      expect([...networksInForce(key, user, every)].sort()).toEqual([...(author.networkIds ?? every)].sort());
    }
  });
});

/** With users and keys of every role, each with some of its networks, and records of every kind in each. */
function newOrganization(name: string, networks: number): Organization {
  const id = store.write((tx) => {
    const made = tx.newId();
    tx.create(organizationKind, made, { name, require_change_reason: false }, { id: made });
    return made;
  });
  const networkIds = Array.from({ length: networks }, (_, place) =>
    store.write((tx) => tx.create(networkKind, id, networkFields(id, `${name} ${place}`)).id),
  );
  const userIds = ROLES.map((role) =>
    store.write(
      (tx) =>
        tx.create(userKind, id, {
          organization_id: id,
          email: `${role}@${name}.example`,
          name: role,
          role,
          network_ids: someOf(networkIds),
          is_enabled: true,
        }).id,
    ),
  );
  for (const [place, networkId] of networkIds.entries()) {
    const hostId = store.write(
      (tx) => inventory(tx, { organizationId: id, networkId }, random.pick(userIds), ` ${place}`).hostId,
    );
    store.write((tx) => discovery(tx, { organizationId: id, networkId }, hostId));
  }
  for (const userId of userIds) {
    store.write((tx) => signIn(tx, userId));
    for (let each = 0; each < 2; each += 1) store.write((tx) => newKey(tx, id, userId, networkIds));
  }
  return { id, networkIds, userIds };
}

function signIn(tx: WriteTransaction, userId: string): void {
  const token = generateSessionToken(random);
  const session = {
    hash: Buffer.from(hashSessionToken(token)),
    user_n: tx.recordN(userId) as number,
    created_at: clock.at,
    last_used_at: clock.at,
  };
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
    network_ids: someOf(networkIds),
    allowed_sources: null,
    key: maskApiKey(text),
  });
  const hash = Buffer.from(hashApiKey(text));
  tx.afterwardsRun(() =>
    tx.db
      .insert(apiKeyHashes)
      .values(withChecksum(apiKeyHashes, { hash, api_key_n: tx.recordN(id) as number }))
      .run(),
  );
  credentials.push({ id, headers: { authorization: `Bearer ${text}` } });
}

/** Changes rights; moves, ends and restores records. */
function happen(tx: WriteTransaction): void {
  const { id: organizationId, networkIds, userIds } = random.pick(organizations);
  const dice = random.integer(10);
  if (dice < 2)
    tx.update(userKind, random.pick(userIds), { role: random.pick(ROLES), network_ids: someOf(networkIds) });
  else if (dice < 4)
    tx.update(apiKeyKind, random.pick(keysOf(tx, userIds)), {
      all_networks: random.integer(2) === 0,
      network_ids: someOf(networkIds),
    });
  else if (dice < 7) {
    const [kind, record] = someRecord(tx, organizationId, MOVING);
    const isBeside = kind.networkIsOptional === true && random.integer(2) === 0;
    tx.update(kind, record.id, { network_id: isBeside ? null : random.pick(networkIds) });
  } else {
    const [kind, record] = someRecord(tx, organizationId, LEAVES);
    tx.remove(kind, record.id);
    if (dice === 9) ended.push([kind, organizationId, record]);
    else {
      const back = ended.pop();
      if (back !== undefined) tx.revive(...back);
    }
  }
}
const ended: Array<[AnyKind, string, RecordBase]> = [];

function someRecord(tx: WriteTransaction, organizationId: string, names: readonly string[]): [AnyKind, RecordBase] {
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

function someOf(ids: readonly string[]): string[] {
  return ids.filter(() => random.integer(2) === 0);
}

/** Callers with access at this moment, in the forms for reads and for commands. */
function callers(): Array<{ id: string; actor: Actor; author: CommandActor }> {
  const known = ({ id, headers }: (typeof credentials)[number]) => {
    const request = new Request("http://localhost/", { headers });
    try {
      const actor = gate.identify({ request } as never, VIEWER);
      const asked = { actor, access: VIEWER, request, requestId: "", source: "192.0.2.1", reason: null };
      return [{ id, actor, author: gate.authorOf(asked) }];
    } catch (error) {
      // Its key was deleted.
      expect((error as DomainError).code).toBe("auth_not_authenticated");
      return [];
    }
  };
  return reader.snapshot(() => credentials.flatMap(known));
}

/** Ids of all records of a kind ever, ascending. */
function idsOf(kind: AnyKind): string[] {
  return store
    .rows<{ id: string }>("SELECT id FROM history_records WHERE kind = ? ORDER BY id", kind.code)
    .map(({ id }) => id);
}

/** Ids in a list; its count and single reads must agree. */
function seen(kind: AnyKind, actor: Actor, asOf: AsOf | null): string[] {
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
  return new Past(store.db, KINDS).everLivedIn(organizationN, kind, store.n(id));
}
