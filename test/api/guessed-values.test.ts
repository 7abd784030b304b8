// Attempts to guess hidden values by writing them: every operation that takes a hidden value of any kind gives the same
// response to right and wrong guesses.

import { describe, expect, test } from "bun:test";
import type { TSchema } from "@sinclair/typebox";
import { IMPORTABLE } from "../../src/bulk/written-resources.ts";
import type { RegisteredRoute } from "../../src/http/surface.ts";
import { UNFILTERABLE_FIELDS } from "../../src/records/part-fields.ts";
import { RESOURCES } from "../../src/records/resources.ts";
import { newAppliance, PASSWORD, type TestAppliance } from "../support/appliance/appliance.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import type { ApiResponse, Client } from "../support/appliance/client.ts";
import {
  expectOk,
  inline,
  type JsonRecord,
  newApiKey,
  newCredential,
  newMember,
  newNetwork,
  newUser,
  newViewer,
  refusal,
  snmpV2c,
} from "../support/appliance/factories.ts";
import { givePassword } from "../support/appliance/sign-in.ts";

const MASK = "********";
const RIGHT_SECRET = PASSWORD;
/** Of equal length: the compared responses must not differ by their size. */
const WRONG_SECRET = [...PASSWORD].reverse().join("");

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
      ...Object.entries(UNFILTERABLE_FIELDS[kind.name] ?? {}).flatMap(([field, why]) =>
        /secret/.test(why) ? [field] : [],
      ),
    ]),
  ]),
);

function hiddenIn({ method, path, operation }: RegisteredRoute): HiddenField[] {
  const resource = RESOURCES.find(
    (resource) => path === `/api/v1/${resource.path}` || path.startsWith(`/api/v1/${resource.path}/`),
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

/** Fields with a secret to verify, each with a limit on attempts. */
const VERIFIED_SECRETS: readonly string[] = [
  "POST /api/auth/login password",
  "POST /api/auth/setup setup_token",
  "PUT /api/auth/password current_password",
  "POST /api/v1/backups/:name/download password",
];
/** Values set by the operation itself, or belonging to the caller. */
const OWN_VALUES: readonly string[] = ["POST /api/auth/setup password", "PUT /api/auth/password new_password"];

interface Fixture {
  readonly appliance: TestAppliance;
  readonly near: string;
  readonly far: string;
  readonly farther: string;
  readonly memberId: string;
  readonly callers: Readonly<Record<string, Client>>;
}

async function newFixture(): Promise<Fixture> {
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
  readonly record: JsonRecord;
  readonly right: unknown;
  readonly wrong: unknown;
}

const TYPES: Readonly<Record<string, JsonRecord>> = {
  community: snmpV2c(RIGHT_SECRET),
  auth_password: {
    type: "SnmpV3",
    security_name: "monitor",
    auth_protocol: "Sha256",
    auth_password: inline(RIGHT_SECRET),
    priv_protocol: "None",
  },
  priv_password: {
    type: "SnmpV3",
    security_name: "monitor",
    auth_protocol: "Sha256",
    auth_password: inline(RIGHT_SECRET),
    priv_protocol: "Aes128",
    priv_password: inline(RIGHT_SECRET),
  },
};

const placements = ({ near, far }: Fixture): ReadonlyArray<readonly string[]> => [[], [near], [far], [near, far]];

function credentialTargets(fixture: Fixture, type: JsonRecord, value: Omit<Target, "record">): Promise<Target[]> {
  return Promise.all(
    placements(fixture).map(async (assigned_network_ids) => ({
      ...value,
      record: await newCredential(fixture.appliance, { name: "Switches", credential_type: type, assigned_network_ids }),
    })),
  );
}

async function userTarget({ appliance, near, far }: Fixture, value: Omit<Target, "record">): Promise<Target> {
  const { id } = await newUser(appliance, { role: "Member", networkIds: [near, far] });
  await givePassword(appliance, id);
  return { ...value, record: await expectOk(appliance.owner.get(`users/${id}`)) };
}

async function keyTarget(fixture: Fixture, value: (key: string) => Omit<Target, "record">): Promise<Target> {
  const { appliance, near, far, memberId } = fixture;
  const { id, key } = newApiKey(appliance, {
    name: "key",
    userId: memberId,
    permissions: "Viewer",
    networkIds: [near, far],
  });
  return { ...value(key), record: await expectOk(appliance.owner.get(`auth/keys/${id}`)) };
}

/** By resource and field; a missing hidden field fails the test. */
const TARGETS: Readonly<Record<string, (fixture: Fixture) => Promise<readonly Target[]>>> = {
  ...Object.fromEntries(
    Object.entries(TYPES).map(([field, type]) => [
      `credentials credential_type.${field}.value`,
      (fixture: Fixture) => credentialTargets(fixture, type, { right: RIGHT_SECRET, wrong: WRONG_SECRET }),
    ]),
  ),
  "credentials assigned_network_ids": ({ far, farther, ...fixture }) =>
    credentialTargets({ ...fixture, far, farther }, TYPES.community as JsonRecord, { right: [far], wrong: [farther] }),
  "credentials host_assignments": async (fixture) => {
    const { appliance, far } = fixture;
    const onHost = async (name: string) => {
      const { id } = await expectOk(appliance.owner.post("hosts", { name, network_id: far }));
      return [{ host_id: id }];
    };
    const right = await onHost("one");
    return [{ record: await newCredential(appliance, { host_assignments: right }), right, wrong: await onHost("two") }];
  },
  "users password": async (fixture) => [await userTarget(fixture, { right: RIGHT_SECRET, wrong: WRONG_SECRET })],
  "users network_ids": async (fixture) => {
    const { near, far, farther } = fixture;
    return [await userTarget(fixture, { right: [near, far], wrong: [near, farther] })];
  },
  "auth/keys network_ids": async (fixture) => {
    const { near, far, farther } = fixture;
    return [await keyTarget(fixture, () => ({ right: [near, far], wrong: [near, farther] }))];
  },
  "auth/keys key": async (fixture) => [
    await keyTarget(fixture, (key) => ({
      right: key,
      wrong: newApiKey(fixture.appliance, { userId: fixture.memberId, permissions: "Viewer" }).key,
    })),
  ],
};

/** The record as read, with a guess. */
function bodyOf(record: JsonRecord, { method, field }: HiddenField, guess: unknown): JsonRecord {
  const body: JsonRecord = structuredClone(record);
  if (field[0] === "credential_type" || method === "PUT") delete body.id;
  if (method === "POST" && body.email !== undefined) body.password = RIGHT_SECRET;
  // A mask is accepted where a value is stored.
  if (method === "POST" && body.credential_type !== undefined)
    for (const secret of Object.values(body.credential_type as JsonRecord))
      if (secret?.value === MASK) secret.value = RIGHT_SECRET;
  valueAt(body, field.slice(0, -1))[field.at(-1) as string] = guess;
  return body;
}

function valueAt(body: JsonRecord, field: readonly string[]): any {
  return field.reduce((inner, name) => inner?.[name], body);
}

const PER_RESPONSE_HEADERS: readonly string[] = ["x-request-id", "etag", "x-transaction-sequence"];
/** Comparable part of a response. Values unique to a record or a request are reduced to their presence. */
function comparable({ status, headers, text }: ApiResponse): string {
  const headerTexts = [...headers]
    .map(([name, value]) => (PER_RESPONSE_HEADERS.includes(name) ? name : `${name}: ${value}`))
    .sort();
  return [`${status}, ${text.length} characters`, ...headerTexts].join("; ");
}

const fixture = await newFixture();
const hidden = fixture.appliance.surface.routes.filter(({ method }) => method !== "GET").flatMap(hiddenIn);
await fixture.appliance.close();
const nameOf = ({ method, path, field }: HiddenField) => `${method} ${path} ${field.join(".")}`;
const guessable = hidden.filter((field) => ![...VERIFIED_SECRETS, ...OWN_VALUES].includes(nameOf(field)));

describe.each(guessable.map((field) => [nameOf(field), field] as const))("%s", (_name, hiddenField) => {
  test("gets the same response for a right and a wrong value, even if a required reason is missing", async () => {
    const trialFixture = await newFixture();
    const { appliance, callers } = trialFixture;
    const resource = RESOURCES.find(({ path }) => hiddenField.path.startsWith(`/api/v1/${path}`));
    const createTargets = TARGETS[`${resource?.path} ${hiddenField.field.join(".")}`];
    if (createTargets === undefined)
      throw new Error(`TARGETS has no entry for ${resource?.path} ${hiddenField.field.join(".")}`);
    // One record per guess: a write may change it.
    const trials: Trial[] = [];
    for (const isReasonRequired of [false, true])
      for (const caller of Object.keys(callers)) {
        const [rightTargets, wrongTargets] = [await createTargets(trialFixture), await createTargets(trialFixture)];
        for (const [index, right] of rightTargets.entries())
          trials.push({ isReasonRequired, caller, right, wrong: wrongTargets[index] as Target });
      }
    const differing: unknown[] = [];
    const statuses = new Set<number>();
    let skipped = 0;
    for (const [index, { isReasonRequired, caller, right, wrong }] of trials.entries()) {
      if (isReasonRequired && trials[index - 1]?.isReasonRequired === false)
        await expectOk(appliance.owner.put("organizations", { name: "x", require_change_reason: true }));
      const client = callers[caller] as Client;
      const read = async ({ record }: Target): Promise<JsonRecord> => {
        const { status, data } = await client.get(`${resource?.path}/${record.id}`);
        return status === 200 ? data : record;
      };
      const [current, other] = [await read(right), await read(wrong)];
      // Not hidden from a caller to whom it is shown.
      if (Bun.deepEquals(valueAt(current, hiddenField.field), right.right)) {
        skipped += 1;
        continue;
      }
      const send = (record: JsonRecord, guess: unknown) =>
        client.send(hiddenField.method, hiddenField.path.replace(":id", record.id), bodyOf(record, hiddenField, guess));
      const rightResponse = await send(current, right.right);
      const wrongResponse = await send(other, wrong.wrong);
      statuses.add(rightResponse.status);
      const [forRight, forWrong] = [comparable(rightResponse), comparable(wrongResponse)];
      if (forRight !== forWrong) differing.push({ caller, isReasonRequired, forRight, forWrong });
    }
    expect(differing).toEqual([]);
    // Some callers may write or read it and others not; otherwise nothing was tested.
    expect(statuses.size + skipped).toBeGreaterThan(1);
    await appliance.close();
  });
});

interface Trial {
  readonly isReasonRequired: boolean;
  readonly caller: string;
  readonly right: Target;
  readonly wrong: Target;
}

test("the exempt operations exist, and no table import accepts a hidden value", () => {
  const names = hidden.map(nameOf);
  expect([...VERIFIED_SECRETS, ...OWN_VALUES].filter((name) => !names.includes(name))).toEqual([]);
  expect(guessable.length).toBeGreaterThan(10);
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
    const otherNetworks = await appliance.newNetwork();
    const confined = appliance.newApiKey({ permissions: "Admin", networkIds: [first.networkId] }).client;
    for (const type of Object.values(TYPES))
      for (const assigned_network_ids of [[], [otherNetworks.id], [first.networkId, otherNetworks.id]]) {
        const { id } = await appliance.newCredential({ credential_type: type, assigned_network_ids });
        const current = await expectOk(confined.get(`credentials/${id}`));
        const expectNothingWritten = appliance.watchWrites();
        const put = (credential_type: JsonRecord) => confined.put(`credentials/${id}`, { ...current, credential_type });
        const secrets = Object.keys(type).filter((name) => type[name].mode === "Inline");
        for (const name of secrets)
          for (const value of [RIGHT_SECRET, WRONG_SECRET, "short"])
            expect(await put({ ...current.credential_type, [name]: inline(value) })).toMatchObject(
              refusal(403, "entity_access_denied", { id }),
            );
        expect(await put(type)).toMatchObject({ status: 403 });
        expect(await put(current.credential_type)).toMatchObject({ status: 200, data: current });
        expectNothingWritten();
        expect((await owner.get(`credentials/${id}`)).data.updated_at).toBe(current.updated_at);
      }
  });
});

describe("the networks of a user beyond the caller's reach", () => {
  const appliance = applianceForEach();

  test("cannot be probed by restores and reverts", async () => {
    const { first, owner } = appliance;
    const otherNetworks = await appliance.newNetwork();
    const confined = appliance.newApiKey({ permissions: "Admin", networkIds: [first.networkId] }).client;
    const { id } = await appliance.newUser({ role: "Member", networkIds: [] });
    const user = await expectOk(owner.get(`users/${id}`));
    const instants: string[] = [];
    const sequences: number[] = [];
    for (const network_ids of [[otherNetworks.id], [], [otherNetworks.id]]) {
      appliance.tick();
      await expectOk(owner.put(`users/${id}`, { ...user, network_ids }));
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

  test("appear in no plan for one of their keys, and do not affect its hash", async () => {
    const { first, owner } = appliance;
    const near = first.networkId;
    const otherNetworks = [await appliance.newNetwork(), await appliance.newNetwork(), await appliance.newNetwork()];
    const [far, farther, gone] = otherNetworks.map(({ id }) => id as string) as [string, string, string];
    const member = await appliance.newUser({ role: "Member", networkIds: [near, far, farther, gone] });
    const { id } = appliance.newApiKey({ userId: member.id, permissions: "Viewer", networkIds: [near], name: "key" });
    const { all_networks: _left, ...key } = await expectOk(owner.get(`auth/keys/${id}`));
    const instants: string[] = [];
    for (const network_ids of [[near, far], [near, farther], [near, gone], [near]]) {
      appliance.tick();
      await expectOk(owner.put(`auth/keys/${id}`, { ...key, network_ids }));
      instants.push(appliance.instant());
    }
    appliance.tick();
    const user = await expectOk(owner.get(`users/${member.id}`));
    await expectOk(owner.put(`users/${member.id}`, { ...user, network_ids: [near] }));
    await expectOk(owner.delete(`networks/${gone}`));
    const planRestore = async (at: string | undefined) => {
      const response = await member.client.post(`auth/keys/${id}/restore`, { at, dry_run: true });
      expect(otherNetworks.filter((network) => response.text.includes(network.id))).toEqual([]);
      return expectOk(Promise.resolve(response));
    };
    const [one, other, last] = [
      await planRestore(instants[0]),
      await planRestore(instants[1]),
      await planRestore(instants[2]),
    ];
    expect(one.conflicts).toMatchObject([{ code: "reference_gone", field: "network_ids" }]);
    const { at: _then, ...plan } = one;
    expect(other).toMatchObject(plan);
    expect(last.actions[0].reason).toBe("the network in network_ids no longer exists, so it is omitted");
    const toAll = await Promise.all(
      instants.slice(0, 2).map((at) => expectOk(owner.post(`auth/keys/${id}/restore`, { at, dry_run: true }))),
    );
    expect(toAll[0]?.plan).not.toBe(toAll[1]?.plan);
  });
});

const DENIED = refusal(403, "entity_access_denied");
