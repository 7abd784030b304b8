// Guesses of hidden values by writing them: every operation that takes a hidden value of any kind answers right and
// wrong guesses alike.

import { describe, expect, test } from "bun:test";
import type { TSchema } from "@sinclair/typebox";
import { IMPORTABLE } from "../../src/bulk/written-resources.ts";
import type { RegisteredRoute } from "../../src/http/surface.ts";
import { UNASKED_FIELDS } from "../../src/records/part-fields.ts";
import { RESOURCES } from "../../src/records/resources.ts";
import { newAppliance, PASSWORD, type TestAppliance } from "../support/appliance/appliance.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import type { Answer, Client } from "../support/appliance/client.ts";
import {
  inline,
  made,
  newApiKey,
  newCredential,
  newMember,
  newNetwork,
  newUser,
  newViewer,
  refusal,
  snmpV2c,
  type Wire,
} from "../support/appliance/factories.ts";
import { givePassword } from "../support/appliance/sign-in.ts";

const MASK = "********";
const RIGHT = PASSWORD;
/** Of equal length: the compared answers must not differ by their size. */
const WRONG = [...PASSWORD].reverse().join("");

/** A value that an operation takes, and that some of its callers may not know. */
interface HiddenField {
  readonly method: string;
  readonly path: string;
  /** Path from the body inwards. */
  readonly field: readonly string[];
}

/** Resource fields shown only to callers in reach, and masked fields. */
const HIDDEN_OF_RESOURCES = new Map(
  RESOURCES.map(({ path, kind, compose }) => [
    path,
    new Set([
      ...Object.keys(compose?.reachFields ?? {}),
      ...Object.entries(UNASKED_FIELDS[kind.name] ?? {}).flatMap(([field, why]) => (/secret/.test(why) ? [field] : [])),
    ]),
  ]),
);

function hiddenIn({ method, path, operation }: RegisteredRoute): HiddenField[] {
  const resource = RESOURCES.find(
    (each) => path === `/api/v1/${each.path}` || path.startsWith(`/api/v1/${each.path}/`),
  );
  const names = HIDDEN_OF_RESOURCES.get(resource?.path ?? "") ?? new Set();
  const found = new Map<string, HiddenField>();
  const walk = (schema: TSchema, field: readonly string[]): void => {
    const isSecret = schema.type === "string" && (schema.secret === true || schema.writeOnly === true);
    if (isSecret || names.has(field.at(-1) ?? "")) found.set(field.join("."), { method, path, field });
    for (const arm of (schema.anyOf ?? []) as TSchema[]) walk(arm, field);
    if (schema.items !== undefined) walk(schema.items as TSchema, field);
    for (const [name, inner] of Object.entries((schema.properties ?? {}) as Record<string, TSchema>))
      walk(inner, [...field, name]);
    for (const name of (schema.ignored ?? []) as string[])
      if (names.has(name)) found.set([...field, name].join("."), { method, path, field: [...field, name] });
  };
  if (operation.body !== undefined) walk(operation.body, []);
  return [...found.values()];
}

/** Fields that ask for a secret to verify it, each with a limit on attempts. */
const ASKS_FOR_IT: readonly string[] = [
  "POST /api/auth/login password",
  "POST /api/auth/setup setup_token",
  "PUT /api/auth/password current_password",
  "POST /api/v1/backups/:name/download password",
];
/** Values that exist only afterwards, or belong to the caller. */
const NOBODY_ELSES: readonly string[] = ["POST /api/auth/setup password", "PUT /api/auth/password new_password"];

interface World {
  readonly appliance: TestAppliance;
  readonly near: string;
  readonly far: string;
  readonly farther: string;
  readonly memberId: string;
  readonly callers: Readonly<Record<string, Client>>;
}

async function newWorld(): Promise<World> {
  const appliance = await newAppliance();
  const { owner, first } = appliance;
  const near = first.networkId;
  const [far, farther] = [await newNetwork(appliance), await newNetwork(appliance)];
  const member = await newMember(appliance);
  return {
    appliance,
    near,
    far: far.id,
    farther: farther.id,
    memberId: member.id,
    callers: {
      "an Owner": owner,
      "an Admin": (await newUser(appliance, { role: "Admin" })).client,
      "an Admin's key": newApiKey(appliance, { permissions: "Admin" }).client,
      "an Owner's key limited to one network": newApiKey(appliance, { networkIds: [near] }).client,
      "an Admin's key limited to one network": newApiKey(appliance, { permissions: "Admin", networkIds: [near] })
        .client,
      "a Member": member.client,
      "a Member's key": newApiKey(appliance, { userId: member.id, permissions: "Member" }).client,
      "a Viewer": (await newViewer(appliance)).client,
      nobody: appliance.anonymous,
    },
  };
}

/** A record with a hidden value, a right guess and a wrong one. */
interface Target {
  readonly record: Wire;
  readonly right: unknown;
  readonly wrong: unknown;
}

const TYPES: Readonly<Record<string, Wire>> = {
  community: snmpV2c(RIGHT),
  auth_password: {
    type: "SnmpV3",
    security_name: "monitor",
    auth_protocol: "Sha256",
    auth_password: inline(RIGHT),
    priv_protocol: "None",
  },
  priv_password: {
    type: "SnmpV3",
    security_name: "monitor",
    auth_protocol: "Sha256",
    auth_password: inline(RIGHT),
    priv_protocol: "Aes128",
    priv_password: inline(RIGHT),
  },
};

const placements = ({ near, far }: World): ReadonlyArray<readonly string[]> => [[], [near], [far], [near, far]];

function credentialTargets(world: World, type: Wire, value: Omit<Target, "record">): Promise<Target[]> {
  return Promise.all(
    placements(world).map(async (assigned_network_ids) => ({
      ...value,
      record: await newCredential(world.appliance, { name: "Switches", credential_type: type, assigned_network_ids }),
    })),
  );
}

async function userTarget({ appliance, near, far }: World, value: Omit<Target, "record">): Promise<Target> {
  const { id } = await newUser(appliance, { role: "Member", networkIds: [near, far] });
  await givePassword(appliance, id);
  return { ...value, record: await made(appliance.owner.get(`users/${id}`)) };
}

async function keyTarget(world: World, value: (key: string) => Omit<Target, "record">): Promise<Target> {
  const { appliance, near, far, memberId } = world;
  const { id, key } = newApiKey(appliance, {
    name: "key",
    userId: memberId,
    permissions: "Viewer",
    networkIds: [near, far],
  });
  return { ...value(key), record: await made(appliance.owner.get(`auth/keys/${id}`)) };
}

/** By resource and field; a missing hidden field fails the test. */
const TARGETS: Readonly<Record<string, (world: World) => Promise<readonly Target[]>>> = {
  ...Object.fromEntries(
    Object.entries(TYPES).map(([field, type]) => [
      `credentials credential_type.${field}.value`,
      (world: World) => credentialTargets(world, type, { right: RIGHT, wrong: WRONG }),
    ]),
  ),
  "credentials assigned_network_ids": ({ far, farther, ...world }) =>
    credentialTargets({ ...world, far, farther }, TYPES.community as Wire, { right: [far], wrong: [farther] }),
  "credentials host_assignments": async (world) => {
    const { appliance, far } = world;
    const onHost = async (name: string) => {
      const { id } = await made(appliance.owner.post("hosts", { name, network_id: far }));
      return [{ host_id: id }];
    };
    const right = await onHost("one");
    return [{ record: await newCredential(appliance, { host_assignments: right }), right, wrong: await onHost("two") }];
  },
  "users password": async (world) => [await userTarget(world, { right: RIGHT, wrong: WRONG })],
  "users network_ids": async (world) => {
    const { near, far, farther } = world;
    return [await userTarget(world, { right: [near, far], wrong: [near, farther] })];
  },
  "auth/keys network_ids": async (world) => {
    const { near, far, farther } = world;
    return [await keyTarget(world, () => ({ right: [near, far], wrong: [near, farther] }))];
  },
  "auth/keys key": async (world) => [
    await keyTarget(world, (key) => ({
      right: key,
      wrong: newApiKey(world.appliance, { userId: world.memberId, permissions: "Viewer" }).key,
    })),
  ],
};

/** The record as read, with a guess. */
function bodyOf(record: Wire, { method, field }: HiddenField, guess: unknown): Wire {
  const body: Wire = structuredClone(record);
  if (field[0] === "credential_type" || method === "PUT") delete body.id;
  if (method === "POST" && body.email !== undefined) body.password = RIGHT;
  // A mask is accepted where a value is stored.
  if (method === "POST" && body.credential_type !== undefined)
    for (const secret of Object.values(body.credential_type as Wire)) if (secret?.value === MASK) secret.value = RIGHT;
  valueAt(body, field.slice(0, -1))[field.at(-1) as string] = guess;
  return body;
}

function valueAt(body: Wire, field: readonly string[]): any {
  return field.reduce((place, name) => place?.[name], body);
}

const OF_EACH: readonly string[] = ["x-request-id", "etag", "x-transaction-sequence"];
/** Comparable part of an answer. Values unique to a record or a request are reduced to their presence. */
function comparable({ status, headers, text }: Answer): string {
  const told = [...headers].map(([name, value]) => (OF_EACH.includes(name) ? name : `${name}: ${value}`)).sort();
  return [`${status}, ${text.length} characters`, ...told].join("; ");
}

const world = await newWorld();
const hidden = world.appliance.surface.routes.filter(({ method }) => method !== "GET").flatMap(hiddenIn);
await world.appliance.close();
const nameOf = ({ method, path, field }: HiddenField) => `${method} ${path} ${field.join(".")}`;
const guessed = hidden.filter((each) => ![...ASKS_FOR_IT, ...NOBODY_ELSES].includes(nameOf(each)));

describe.each(guessed.map((each) => [nameOf(each), each] as const))("%s", (_name, each) => {
  test("is answered alike for a right and a wrong value, also if a required reason is missing", async () => {
    const scene = await newWorld();
    const { appliance, callers } = scene;
    const resource = RESOURCES.find(({ path }) => each.path.startsWith(`/api/v1/${path}`));
    const make = TARGETS[`${resource?.path} ${each.field.join(".")}`];
    if (make === undefined) throw new Error(`TARGETS says nothing of ${resource?.path} ${each.field.join(".")}`);
    // One record per guess: a write may change it.
    const trials: Trial[] = [];
    for (const isReasonDemanded of [false, true])
      for (const caller of Object.keys(callers)) {
        const [ones, others] = [await make(scene), await make(scene)];
        for (const [place, right] of ones.entries())
          trials.push({ isReasonDemanded, caller, right, wrong: others[place] as Target });
      }
    const differing: unknown[] = [];
    const statuses = new Set<number>();
    let skipped = 0;
    for (const [place, { isReasonDemanded, caller, right, wrong }] of trials.entries()) {
      if (isReasonDemanded && trials[place - 1]?.isReasonDemanded === false)
        await made(appliance.owner.put("organizations", { name: "x", require_change_reason: true }));
      const client = callers[caller] as Client;
      const read = async ({ record }: Target): Promise<Wire> => {
        const { status, data } = await client.get(`${resource?.path}/${record.id}`);
        return status === 200 ? data : record;
      };
      const [seen, other] = [await read(right), await read(wrong)];
      // Not hidden from a caller to whom it is shown.
      if (Bun.deepEquals(valueAt(seen, each.field), right.right)) {
        skipped += 1;
        continue;
      }
      const send = (record: Wire, guess: unknown) =>
        client.send(each.method, each.path.replace(":id", record.id), bodyOf(record, each, guess));
      const [one, two] = [await send(seen, right.right), await send(other, wrong.wrong)];
      statuses.add(one.status);
      const [here, there] = [comparable(one), comparable(two)];
      if (here !== there) differing.push({ caller, isReasonDemanded, here, there });
    }
    expect(differing).toEqual([]);
    // Some callers may write or read it, others not: otherwise nothing was tested.
    expect(statuses.size + skipped).toBeGreaterThan(1);
    await appliance.close();
  });
});

interface Trial {
  readonly isReasonDemanded: boolean;
  readonly caller: string;
  readonly right: Target;
  readonly wrong: Target;
}

test("the operations that compare a secret, and those on one's own, are exactly these; no table accepts a hidden value", () => {
  const names = hidden.map(nameOf);
  expect([...ASKS_FOR_IT, ...NOBODY_ELSES].filter((name) => !names.includes(name))).toEqual([]);
  expect(guessed.length).toBeGreaterThan(10);
  const inTables = IMPORTABLE.flatMap(({ resource, Create, Update }) =>
    [Create, Update].flatMap(({ properties }) =>
      Object.keys(properties).filter((name) => HIDDEN_OF_RESOURCES.get(resource.path)?.has(name)),
    ),
  );
  expect(inTables).toEqual([]);
});

describe("a secret sent by a caller who may not change its credential", () => {
  const appliance = applianceForEach();

  test("is 403 whether right or wrong, unlike a mask, and nothing is written", async () => {
    const { first, owner } = appliance;
    const beyond = await appliance.newNetwork();
    const confined = appliance.newApiKey({ permissions: "Admin", networkIds: [first.networkId] }).client;
    for (const type of Object.values(TYPES))
      for (const assigned_network_ids of [[], [beyond.id], [first.networkId, beyond.id]]) {
        const { id } = await appliance.newCredential({ credential_type: type, assigned_network_ids });
        const seen = await made(confined.get(`credentials/${id}`));
        const expectNothingWritten = appliance.writingWatched();
        const put = (credential_type: Wire) => confined.put(`credentials/${id}`, { ...seen, credential_type });
        const secrets = Object.keys(type).filter((name) => type[name].mode === "Inline");
        for (const name of secrets)
          for (const value of [RIGHT, WRONG, "short"])
            expect(await put({ ...seen.credential_type, [name]: inline(value) })).toMatchObject(
              refusal(403, "entity_access_denied", { id }),
            );
        expect(await put(type)).toMatchObject({ status: 403 });
        expect(await put(seen.credential_type)).toMatchObject({ status: 200, data: seen });
        expectNothingWritten();
        expect((await owner.get(`credentials/${id}`)).data.updated_at).toBe(seen.updated_at);
      }
  });
});

describe("the part of a user's reach beyond the caller's networks", () => {
  const appliance = applianceForEach();

  test("cannot be probed by restores and reverts", async () => {
    const { first, owner } = appliance;
    const beyond = await appliance.newNetwork();
    const confined = appliance.newApiKey({ permissions: "Admin", networkIds: [first.networkId] }).client;
    const { id } = await appliance.newUser({ role: "Member", networkIds: [] });
    const user = await made(owner.get(`users/${id}`));
    const instants: string[] = [];
    const sequences: number[] = [];
    for (const network_ids of [[beyond.id], [], [beyond.id]]) {
      appliance.tick();
      await made(owner.put(`users/${id}`, { ...user, network_ids }));
      instants.push(appliance.instant());
      sequences.push(appliance.transactionCount());
    }
    const before = appliance.transactionCount();
    for (const dry_run of [true, false]) {
      for (const at of instants)
        expect(await confined.post(`users/${id}/restore`, { at, dry_run })).toMatchObject(DENIED);
      for (const sequence of sequences)
        expect(await confined.post(`transactions/${sequence}/revert`, { dry_run })).toMatchObject(DENIED);
    }
    expect(appliance.transactionCount()).toBe(before);
  });

  test("appears in no plan for one of their keys, and does not affect its hash", async () => {
    const { first, owner } = appliance;
    const near = first.networkId;
    const beyond = [await appliance.newNetwork(), await appliance.newNetwork(), await appliance.newNetwork()];
    const [far, farther, gone] = beyond.map(({ id }) => id as string) as [string, string, string];
    const member = await appliance.newUser({ role: "Member", networkIds: [near, far, farther, gone] });
    const { id } = appliance.newApiKey({ userId: member.id, permissions: "Viewer", networkIds: [near], name: "key" });
    const { all_networks: _left, ...key } = await made(owner.get(`auth/keys/${id}`));
    const instants: string[] = [];
    for (const network_ids of [[near, far], [near, farther], [near, gone], [near]]) {
      appliance.tick();
      await made(owner.put(`auth/keys/${id}`, { ...key, network_ids }));
      instants.push(appliance.instant());
    }
    appliance.tick();
    const user = await made(owner.get(`users/${member.id}`));
    await made(owner.put(`users/${member.id}`, { ...user, network_ids: [near] }));
    await made(owner.delete(`networks/${gone}`));
    const planned = async (at: string | undefined) => {
      const answer = await member.client.post(`auth/keys/${id}/restore`, { at, dry_run: true });
      expect(beyond.filter((network) => answer.text.includes(network.id))).toEqual([]);
      return made(Promise.resolve(answer));
    };
    const [one, other, last] = [await planned(instants[0]), await planned(instants[1]), await planned(instants[2])];
    expect(one.conflicts).toMatchObject([{ code: "reference_gone", field: "network_ids" }]);
    const { at: _then, ...plan } = one;
    expect(other).toMatchObject(plan);
    expect(last.actions[0].reason).toBe("the network in network_ids is gone, so it is left out");
    const toAll = await Promise.all(
      instants.slice(0, 2).map((at) => made(owner.post(`auth/keys/${id}/restore`, { at, dry_run: true }))),
    );
    expect(toAll[0]?.plan).not.toBe(toAll[1]?.plan);
  });
});

const DENIED = refusal(403, "entity_access_denied");
