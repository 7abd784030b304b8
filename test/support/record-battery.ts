// The tests that every kind of record has to pass, whatever it is: errors, versions, time, conditional requests, pages.
// What is special about a kind is tested in its own file.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { TypeGuard, type TObject, type TUnion } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { Role } from "../../src/access/role.ts";
import { formatInstant, parseInstant } from "../../src/base/instant.ts";
import { openReadOnly } from "../../src/db/connection.ts";
import { verifyLedger } from "../../src/history/verify/verify.ts";
import { KINDS } from "../../src/resources/kinds.ts";
import type { TestAppliance } from "./appliance.ts";
import type { Answer, Client } from "./client.ts";
import { csvRecords, parseCsv } from "./csv.ts";
import { made, newApiKey, newUser, transactionCount, versionsOf, writtenIn, type Wire } from "./factories.ts";
import { DISCOVERABLE_READ_ONLY } from "../../src/resources/discovered.ts";

/** Fields that are there only when discovery has something to say. */
const BY_DISCOVERY: readonly string[] = [...DISCOVERABLE_READ_ONLY, "more_neighbors"];

/** Whose records are made, and where. */
export interface Place {
  readonly organizationId: string;
  /** The organization's Owner, unless a test is about another user. */
  readonly userId: string;
  readonly networkId: string;
}

export interface RecordBattery {
  /** `/api/v1/tags` */
  readonly path: string;
  /** `tag`, as in errors. */
  readonly entity: string;
  /** The least role that writes, and the one below it. */
  readonly writeRole: Role;
  readonly roleBelow: Role;
  /** Where records live, and so who reaches them. */
  readonly place: "in the organization" | "in a network" | "is a network";
  /** What records in a network are made in, as the body names it: the network itself unless told otherwise. `make` prepares a network for them. */
  readonly container?: {
    readonly field: string;
    readonly entity: string;
    readonly make: (by: Client, networkId: string) => Promise<string>;
  };
  /** A valid body with every optional field; another record for every position. */
  readonly body: (containerId: string, position: number, place: Place) => Wire;
  /** What answers show of a body, and so what an update sends back: no password, secrets masked. */
  readonly shown?: (body: Wire) => Wire;
  /** The record in the answer of a create that tells more than the record. */
  readonly createdIn?: (data: Wire) => Wire;
  /** Fields that records made of `body` have no value for, where a kind leaves these out (specification 2.9). */
  readonly leftOut?: readonly string[];
  /** Records that can't be deleted are there for ever. */
  readonly isDeletable?: false;
  /** The query that deletes what `body` makes: `?cascade=true`. */
  readonly deletion?: string;
  /** What each write writes besides the record itself, by operation and kind: `{ "Updated host": 1 }`. */
  readonly writes?: {
    readonly created?: Record<string, number>;
    readonly updated?: Record<string, number>;
    readonly deleted?: Record<string, number>;
  };
  /** API keys are refused. */
  readonly isSessionOnly?: true;
  /** The body has a secret: the value of a field that is unknown beside it may be one too, and is not echoed. */
  readonly holdsSecrets?: true;
  /** A change of a body and the field that it changes. */
  readonly change: { readonly field: string; readonly to: (body: Wire) => unknown };
  /** What makes records one: a body with the same value is refused. Null: several may be alike. */
  readonly unique: string | null;
  /** Nothing comes again: each record is the first of its kind. */
  readonly hasLineage?: false;
  /** A body in which much is wrong, and the pointers to all of it. */
  readonly invalid: { readonly body: Wire; readonly paths: readonly string[] };
  /** Fields that name other records: a body that names `id`. */
  readonly references: ReadonlyArray<{
    readonly field: string;
    readonly entity: string;
    readonly naming: (body: Wire, id: string) => Wire;
    readonly make: (by: Client, networkId: string, containerId: string) => Promise<string>;
  }>;
}

const UNKNOWN_ID = "01936f2e-0d5c-7d3a-9a39-00000000dead";

interface Other extends Place {
  readonly containerId: string;
  readonly client: Client;
}

const THE_NETWORK = {
  field: "network_id",
  entity: "network",
  make: async (_by: Client, networkId: string) => networkId,
};

/** Registers the battery's tests, each on the appliance that the file made for it. */
export function describeRecords(battery: RecordBattery, applianceOfTest: () => TestAppliance): void {
  const { path, entity, change, container = THE_NETWORK, deletion = "", leftOut = [] } = battery;
  const inNetwork = battery.place === "in a network";
  const isDeletable = battery.isDeletable !== false;
  const shown = battery.shown ?? ((body: Wire) => body);
  /** Fields that have no value: null, or not there at all. */
  const none = (...fields: string[]): Wire =>
    Object.fromEntries(fields.filter((field) => !leftOut.includes(field)).map((field) => [field, null]));

  describe(`every ${entity.replaceAll("_", " ")}`, () => {
    let appliance: TestAppliance;
    let owner: Client;
    let containerId: string;
    let idIsRequired: boolean;

    beforeEach(async () => {
      appliance = applianceOfTest();
      owner = appliance.owner;
      containerId = await container.make(owner, appliance.first.networkId);
      idIsRequired = !isOptional(appliance, path, "id");
    });

    // Whatever a test did to it: what is derived is what the ledger says, and the ledger is in order.
    afterEach(() => {
      const db = openReadOnly(appliance.databasePath);
      try {
        expect(verifyLedger(db, KINDS).findings).toEqual([]);
      } finally {
        db.$client.close();
      }
    });

    const body = (position = 1, within = containerId, place: Place = appliance.first) =>
      battery.body(within, position, place);
    /** The body of an update. */
    const known = (position = 1, within?: string, place?: Place) => shown(body(position, within, place));
    const changed = (from: Wire): Wire => ({ ...from, [change.field]: change.to(from) });
    const recordIn = battery.createdIn ?? ((data: Wire) => data);
    const createAs = async (by: Client, sent: Wire) => recordIn(await made(by.post(path, sent)));
    const create = (position = 1) => createAs(owner, body(position));
    const update = (id: string, sent: Wire, by = owner, headers: Record<string, string> = {}) =>
      by.put(`${path}/${id}`, idIsRequired ? { id, ...sent } : sent, headers);
    const remove = (id: string, by = owner, headers: Record<string, string> = {}) =>
      by.delete(`${path}/${id}${deletion}`, headers);
    const other = async (): Promise<Other> => {
      const second = await appliance.newOrganization("Second");
      const client = await appliance.signedIn(second.userId);
      return { ...second, client, containerId: await container.make(client, second.networkId) };
    };

    test("is answered with exactly the documented fields", async () => {
      const created = await create();
      const schema = appliance.surface.routes.find((route) => route.method === "GET" && route.path === `${path}/:id`)
        ?.operation.answer as TObject;
      const listed = (await owner.get(`${path}?ids=${created["id"]}`)).data[0];
      for (const record of [created, listed, (await owner.get(`${path}/${created["id"]}`)).data]) {
        expect([...Value.Errors(schema, record)]).toEqual([]);
        expect(Object.keys(record).sort()).toEqual(
          Object.keys(schema.properties)
            .filter((field) => ![...leftOut, ...BY_DISCOVERY].includes(field))
            .sort(),
        );
        expect(record).toEqual(created);
      }
      expect(created).toMatchObject(known());
      expect(created).toMatchObject({
        ...none("valid_to", "lineage_id"),
        updated_at: created["created_at"],
        valid_from: created["created_at"],
      });
    });

    test("is hidden from anonymous callers before anything of the request is looked at", async () => {
      const attempts = [
        appliance.anonymous.get(`${path}?limit=wrong`),
        appliance.anonymous.get(`${path}/wrong`),
        appliance.anonymous.post(path, "{not json"),
        appliance.anonymous.put(`${path}/wrong`, { nonsense: 1 }),
        ...(isDeletable ? [appliance.anonymous.delete(`${path}/wrong`)] : []),
      ];
      for (const answer of await Promise.all(attempts)) {
        expect(answer).toMatchObject({ status: 401, body: { success: false, code: "auth_not_authenticated" } });
        expect(answer.headers.get("www-authenticate")).toBe("Bearer");
      }
    });

    test(`is read by every role and written from ${battery.writeRole} upwards`, async () => {
      const network = battery.place === "is a network" ? await create() : null;
      const networkIds = [appliance.first.networkId, ...(network === null ? [] : [network["id"] as string])];
      const reader = await newUser(appliance, { role: battery.roleBelow, networkIds });
      const created =
        network ?? (await createAs(owner, body(1, containerId, { ...appliance.first, userId: reader.id })));
      const before = transactionCount(appliance);
      const below = reader.client;
      const attempts = [
        below.post(path, body(2)),
        below.post(path, { nonsense: 1 }),
        update(created["id"], changed(known()), below),
        ...(isDeletable ? [remove(created["id"], below)] : []),
      ];
      for (const answer of await Promise.all(attempts)) {
        expect(answer).toMatchObject({
          status: 403,
          body: { code: "auth_permission_denied", params: { required: battery.writeRole, actual: battery.roleBelow } },
        });
      }
      expect(transactionCount(appliance)).toBe(before);
      expect((await below.get(`${path}/${created["id"]}`)).data).toEqual(created);
      expect((await below.get(`${path}?ids=${created["id"]}`)).data).toEqual([created]);

      const writer = await newUser(appliance, { role: battery.writeRole, networkIds });
      const place = { ...appliance.first, userId: writer.id };
      const written = await createAs(writer.client, body(2, containerId, place));
      expect(await update(written["id"], changed(known(2, containerId, place)), writer.client)).toMatchObject({
        status: 200,
      });
      if (isDeletable) expect(await remove(written["id"], writer.client)).toMatchObject({ status: 200 });
    });

    if (battery.isSessionOnly === true) {
      test("is for people who sign in: an API key is refused, whatever its role, before anything of the request is looked at", async () => {
        const created = await create();
        const { client } = newApiKey(appliance);
        const before = transactionCount(appliance);
        const attempts = [
          client.get(path),
          client.get(`${path}/${created["id"]}`),
          client.post(path, "{not json"),
          client.post(path, body(2)),
          update(created["id"], changed(known()), client),
          remove(created["id"], client),
        ];
        for (const answer of await Promise.all(attempts))
          expect(answer).toMatchObject({ status: 403, body: { code: "auth_session_required" } });
        expect(transactionCount(appliance)).toBe(before);
      });
    } else {
      test("is written and read by an API key as by its user, and the ledger knows which of them it was", async () => {
        const { id, client } = newApiKey(appliance);
        const created = await createAs(client, body());
        expect(lastActor(appliance)).toEqual({ actor_type: "ApiKey", actor_id: id });
        for (const by of [owner, client]) {
          expect((await by.get(`${path}/${created["id"]}`)).data).toEqual(created);
          expect((await by.get(`${path}?ids=${created["id"]}`)).data).toEqual([created]);
        }
        await made(update(created["id"], changed(known())));
        expect(lastActor(appliance)).toEqual({ actor_type: "User", actor_id: appliance.first.userId });
        const end = isDeletable ? remove(created["id"], client) : update(created["id"], known(), client);
        expect((await end).status).toBe(200);
        expect(lastActor(appliance)).toEqual({ actor_type: "ApiKey", actor_id: id });
      });
    }

    test("is written in one transaction with the versions that it takes and no others", async () => {
      const before = transactionCount(appliance);
      const created = await create();
      expect(writtenIn(appliance)).toEqual({ [`Created ${entity}`]: 1, ...battery.writes?.created });
      appliance.clock.advance(1_000);
      await made(update(created["id"], changed(known())));
      expect(writtenIn(appliance)).toEqual({ [`Updated ${entity}`]: 1, ...battery.writes?.updated });
      if (isDeletable) {
        await made(remove(created["id"]));
        expect(writtenIn(appliance)).toEqual({ [`Deleted ${entity}`]: 1, ...battery.writes?.deleted });
      }
      expect(transactionCount(appliance)).toBe(before + (isDeletable ? 3 : 2));
    });

    test(`is the same 404 when it is unknown${isDeletable ? ", deleted" : ""} or another organization's`, async () => {
      const hidden: string[] = [];
      if (isDeletable) {
        const deleted = await create();
        await made(remove(deleted["id"]));
        hidden.push(deleted["id"]);
      }
      const second = await other();
      const foreign = await createAs(second.client, body(1, second.containerId, second));
      hidden.push(foreign["id"]);
      const before = transactionCount(appliance);
      for (const attempt of [
        (id: string) => owner.get(`${path}/${id}`),
        (id: string) => update(id, known(2)),
        (id: string) => update(id, known(2), owner, { "if-match": '"1"' }),
        ...(isDeletable ? [(id: string) => remove(id)] : []),
      ]) {
        const unknown = withoutId(await attempt(UNKNOWN_ID), UNKNOWN_ID);
        expect(unknown).toMatchObject({
          status: 404,
          body: { code: "entity_not_found", params: { entity, id: "<id>" } },
        });
        for (const id of hidden) expect(withoutId(await attempt(id), id)).toEqual(unknown);
      }
      expect((await owner.get(`${path}?ids=${foreign["id"]}&ids=${UNKNOWN_ID}`)).body).toMatchObject({
        data: [],
        meta: { pagination: { total_count: 0 } },
      });
      for (const limit of ["1000", "0"])
        expect((await owner.get(`${path}?limit=${limit}`)).text).not.toContain(foreign["id"]);
      expect(transactionCount(appliance)).toBe(before);
      expect((await second.client.get(`${path}/${foreign["id"]}`)).data).toEqual(foreign);
    });

    test("is refused with every offender at once, and nothing is written", async () => {
      const created = await create();
      const before = transactionCount(appliance);
      const paths = [...battery.invalid.paths].sort();
      for (const answer of [
        await owner.post(path, battery.invalid.body),
        await update(created["id"], battery.invalid.body),
      ]) {
        expect(answer).toMatchObject({ status: 400, body: { code: "validation_failed" } });
        const issues = answer.body.params.issues as Array<{ path: string; message: string }>;
        expect(
          issues
            .map((issue) => issue.path)
            .filter((each) => each !== `/${container.field}`)
            .sort(),
        ).toEqual(paths);
        for (const issue of issues) expect(issue.message).not.toBe("");
      }
      expect(transactionCount(appliance)).toBe(before);
    });

    test("is refused with a field that it does not have, by its name", async () => {
      const created = await create();
      const before = transactionCount(appliance);
      for (const answer of [
        await owner.post(path, { ...body(2), colour: "Green" }),
        await update(created["id"], { ...known(), colour: "Green" }),
      ]) {
        expect(answer).toMatchObject({ status: 400, body: { code: "validation_failed" } });
        expect(answer.body.params.issues).toEqual([
          {
            path: "/colour",
            message: "is not a field here",
            ...(battery.holdsSecrets === true ? {} : { value: "Green" }),
          },
        ]);
      }
      const query = await owner.get(`${path}?nmae=x`);
      expect(query).toMatchObject({
        status: 400,
        body: { code: "validation_failed", params: { issues: [{ path: "/nmae", value: "x" }] } },
      });
      expect(await owner.get(`${path}/wrong`)).toMatchObject({
        status: 400,
        body: { code: "validation_failed", params: { issues: [{ path: "/id", value: "wrong" }] } },
      });
      expect(transactionCount(appliance)).toBe(before);
    });

    test.each([["null"], ["[]"], ['"text"'], ["5"], ["{}"]])("is not made of the JSON value %s", async (sent) => {
      const before = transactionCount(appliance);
      expect(await owner.post(path, sent)).toMatchObject({ status: 400, body: { code: "validation_failed" } });
      expect(transactionCount(appliance)).toBe(before);
    });

    test.each([["{"], [""], ["{'a':1}"]])("is not made of the malformed body %p", async (sent) => {
      expect(await owner.post(path, sent)).toMatchObject({ status: 400, body: { code: "malformed_json" } });
    });

    test("belongs to the caller's organization alone", async () => {
      const second = await other();
      const before = transactionCount(appliance);
      expect(await owner.post(path, { ...body(), organization_id: second.organizationId })).toMatchObject({
        status: 403,
        body: { code: "entity_access_denied" },
      });
      expect(transactionCount(appliance)).toBe(before);
      const created = await createAs(owner, {
        ...body(),
        organization_id: appliance.first.organizationId.toUpperCase(),
      });
      const written = transactionCount(appliance);
      expect(
        await update(created["id"], { ...changed(known()), organization_id: second.organizationId }),
      ).toMatchObject({ status: 403, body: { code: "entity_access_denied" } });
      expect(transactionCount(appliance)).toBe(written);
      expect((await owner.get(`${path}/${created["id"]}`)).data).toEqual(created);
    });

    test(`is visible to \`at\` from its first instant ${isDeletable ? "to its last, and not a millisecond longer" : "on, and not a millisecond earlier"}`, async () => {
      const created = await create();
      const id = created["id"];
      appliance.clock.advance(5_000);
      const updated = await made(update(id, changed(known())));
      appliance.clock.advance(5_000);
      const closed = isDeletable ? await made(remove(id)) : null;
      appliance.clock.advance(5_000);

      expect(updated).toMatchObject({ id, created_at: created["created_at"], ...none("valid_to") });
      expect(updated["updated_at"]).toBe(updated["valid_from"]);
      expect(updated[change.field]).toEqual(changed(known())[change.field]);
      const ended = versionsOf(appliance, id).at(-1)?.valid_from as string;
      // The parts of a record live on while it changes, and end with it.
      const first = {
        ...(closed === null ? created : withEndedParts(created, ended)),
        valid_to: updated["valid_from"],
      };
      const last = closed === null ? updated : { ...withEndedParts(updated, ended), valid_to: ended };
      if (closed !== null) expect(closed).toEqual(last);
      const expected: Array<[string, Wire | null]> = [
        [shift(created["valid_from"], -1), null],
        [created["valid_from"], first],
        [shift(updated["valid_from"], -1), first],
        [updated["valid_from"], last],
        ...(closed === null
          ? [[appliance.clock.text(), last] as [string, Wire]]
          : [
              [shift(ended, -1), last] as [string, Wire],
              [ended, null] as [string, null],
              [shift(ended, 1), null] as [string, null],
            ]),
      ];
      for (const [at, record] of expected) {
        const one = await owner.get(`${path}/${id}?at=${at}`);
        if (record === null) expect(one).toMatchObject({ status: 404, body: { code: "entity_not_found" } });
        else {
          expect(one).toMatchObject({ status: 200, body: { meta: { at } } });
          expect(one.data).toEqual(record);
        }
        for (const listing of [`${path}?ids=${id}&at=${at}`, `${path}?ids=${id}&at=${at}&limit=0`]) {
          const list = await owner.get(listing);
          expect(list.data).toEqual(record === null ? [] : [record]);
          expect(list.body.meta).toMatchObject({ at, pagination: { total_count: record === null ? 0 : 1 } });
        }
        const all = await owner.get(`${path}?limit=1000&at=${at}`);
        expect(all.data.filter((each: Wire) => each["id"] === id)).toEqual(record === null ? [] : [record]);
        expect(all.body.meta.pagination.total_count).toBe(all.data.length);
      }
      expect((await owner.get(`${path}/${id}`)).status).toBe(closed === null ? 200 : 404);
      expect(versionsOf(appliance, id)).toMatchObject([
        { operation: "Created", changed: null, valid_from: created["valid_from"] },
        { operation: "Updated", changed: [change.field], valid_from: updated["valid_from"] },
        ...(closed === null ? [] : [{ operation: "Deleted" as const, changed: null, valid_from: ended }]),
      ]);
    });

    test("is not there before the first transaction, and is the live one from now on", async () => {
      const created = await create();
      const past = await owner.get(`${path}?at=1999-12-31T23:59:59Z`);
      expect(past).toMatchObject({
        status: 200,
        data: [],
        body: { meta: { at: "1999-12-31T23:59:59.000Z", pagination: { total_count: 0 } } },
      });
      expect((await owner.get(`${path}?at=2999-01-01T00:00:00%2B02:00&ids=${created["id"]}`)).body).toMatchObject({
        data: [created],
        meta: { at: "2998-12-31T22:00:00.000Z" },
      });
      expect(await owner.get(`${path}/${created["id"]}?at=yesterday`)).toMatchObject({
        status: 400,
        body: { params: { issues: [{ path: "/at", value: "yesterday" }] } },
      });
    });

    test("makes no version when it is written as it is, also with all that was answered sent back", async () => {
      await create();
      const created = await create(2);
      const id = created["id"];
      const { etag, before } = {
        etag: (await owner.get(`${path}/${id}`)).headers.get("etag"),
        before: transactionCount(appliance),
      };
      appliance.clock.advance(1_000);
      for (const sent of [
        known(2),
        created,
        { ...created, id: (id as string).toUpperCase(), updated_at: "nonsense", valid_to: 5 },
      ]) {
        const answer = await update(id, sent);
        expect(answer.status).toBe(200);
        expect(answer.data).toEqual(created);
        expect(answer.headers.get("etag")).toBe(etag);
      }
      expect(transactionCount(appliance)).toBe(before);
      expect(versionsOf(appliance, id)).toHaveLength(1);
    });

    test("keeps what an update leaves out, and takes a GET body that was edited", async () => {
      const created = await create();
      const required = Object.fromEntries(
        Object.entries(known()).filter(([name]) => !isOptional(appliance, path, name)),
      );
      expect((await update(created["id"], required)).data).toEqual(created);
      appliance.clock.advance(1_000);
      const edited = await made(
        owner.put(`${path}/${created["id"]}`, { ...created, [change.field]: change.to(created) }),
      );
      expect(edited).toEqual({
        ...created,
        [change.field]: change.to(created),
        updated_at: appliance.clock.text(),
        valid_from: appliance.clock.text(),
      });
    });

    test("keeps its own ids", async () => {
      const created = await create();
      const elsewhere: Array<[string, string]> = [];
      if (inNetwork) {
        const network = (await made(owner.post("/api/v1/networks", { name: "Elsewhere" })))["id"];
        elsewhere.push(["network_id", network]);
        if (container.field !== "network_id")
          elsewhere.push([container.field, await container.make(owner, appliance.first.networkId)]);
      }
      const before = transactionCount(appliance);
      expect(await update(created["id"], { ...changed(known()), id: UNKNOWN_ID })).toMatchObject({
        status: 400,
        body: { code: "validation_id_mismatch", params: { path_id: created["id"], body_id: UNKNOWN_ID } },
      });
      for (const [field, id] of elsewhere) {
        for (const sent of [id, UNKNOWN_ID]) {
          expect(await update(created["id"], { ...changed(known()), [field]: sent })).toMatchObject({
            status: 400,
            body: { code: "validation_failed", params: { issues: [{ path: `/${field}`, value: sent }] } },
          });
        }
      }
      expect(transactionCount(appliance)).toBe(before);
      expect((await owner.get(`${path}/${created["id"]}`)).data).toEqual(created);
    });

    if (battery.unique !== null) {
      const unique = battery.unique;
      test("is one of its kind among the living", async () => {
        const first = await create(1);
        const second = await create(2);
        const before = transactionCount(appliance);
        const clash = { entity, field: unique, value: first[unique] };
        expect(await owner.post(path, body(1))).toMatchObject({
          status: 409,
          body: { code: "entity_already_exists", params: clash },
        });
        expect(await update(second["id"], { ...known(2), [unique]: first[unique] })).toMatchObject({
          status: 409,
          body: { code: "entity_already_exists", params: clash },
        });
        expect(transactionCount(appliance)).toBe(before);
        expect((await owner.get(`${path}/${second["id"]}`)).data).toEqual(second);
      });
    } else {
      test("may be like another one of its kind", async () => {
        const first = await create(1);
        const second = await create(1);
        expect(second["id"]).not.toBe(first["id"]);
        expect(second).toMatchObject(none("lineage_id"));
        expect((await owner.get(`${path}?ids=${first["id"]},${second["id"]}`)).data).toEqual([first, second]);
      });
    }

    if (isDeletable) {
      test(
        battery.hasLineage === false ? "is never the same as one before it" : "finds its lineage when it comes again",
        async () => {
          const first = await create(1);
          const lineage = battery.hasLineage === false ? none("lineage_id") : { lineage_id: first["id"] };
          await made(remove(first["id"]));
          const again = await create(1);
          expect(again).toMatchObject(lineage);
          expect(again["id"]).not.toBe(first["id"]);
          await made(remove(again["id"]));
          const last = await create(1);
          expect(last).toMatchObject(lineage);
          expect((await owner.get(`${path}/${last["id"]}`)).data).toEqual(last);
          const elsewhere = await other();
          expect(await createAs(elsewhere.client, body(1, elsewhere.containerId, elsewhere))).toMatchObject(
            none("lineage_id"),
          );
        },
      );
    }

    test("may bring its id, which nothing else ever gets", async () => {
      const id = "F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6";
      const created = await createAs(owner, { ...body(1), id });
      expect(created["id"]).toBe(id.toLowerCase());
      const refused = {
        status: 409,
        body: { code: "entity_already_exists", params: { entity, field: "id", value: id.toLowerCase() } },
      };
      expect(await owner.post(path, { ...body(2), id })).toMatchObject(refused);
      if (isDeletable) {
        await made(remove(created["id"]));
        expect(await owner.post(path, { ...body(2), id })).toMatchObject(refused);
      }
      const elsewhere = await other();
      expect(await elsewhere.client.post(path, { ...body(2, elsewhere.containerId, elsewhere), id })).toMatchObject(
        refused,
      );
      // Also one that a record of another kind has.
      const taken = appliance.first.organizationId;
      expect(await owner.post(path, { ...body(2), id: taken })).toMatchObject({
        status: 409,
        body: { code: "entity_already_exists", params: { entity, field: "id", value: taken } },
      });
      expect((await owner.get(path + `?ids=${id}`)).data).toEqual(isDeletable ? [] : [created]);
    });

    test("is guarded by its entity tag", async () => {
      const created = await create();
      const one = `${path}/${created["id"]}`;
      const read = await owner.get(one);
      const etag = read.headers.get("etag") as string;
      expect(etag).toMatch(/^"[^"]+"$/);
      const unchanged = await owner.get(one, { "if-none-match": `"other", W/${etag}` });
      expect(unchanged).toMatchObject({ status: 304, text: "" });
      expect(unchanged.headers.get("etag")).toBe(etag);
      appliance.clock.advance(1_000);
      const updated = await update(created["id"], changed(known()), owner, { "if-match": etag });
      expect(updated.status).toBe(200);
      const now = updated.headers.get("etag") as string;
      expect(now).not.toBe(etag);
      expect((await owner.get(one)).headers.get("etag")).toBe(now);
      expect((await owner.get(one, { "if-none-match": etag })).status).toBe(200);
      // An ended version is another representation than the same one while it was the newest.
      const past = await owner.get(`${one}?at=${created["valid_from"]}`);
      expect([etag, now]).not.toContain(past.headers.get("etag"));

      const before = transactionCount(appliance);
      for (const stale of [etag, `W/${now}`, '"nonsense"', past.headers.get("etag") as string]) {
        const answer = await update(created["id"], known(), owner, { "if-match": stale });
        expect(answer).toMatchObject({ status: 412, body: { code: "precondition_failed" } });
        // Reading again would not help who sends a weak tag.
        expect([stale, answer.body.error.includes("strong")]).toEqual([stale, stale.startsWith("W/")]);
        if (isDeletable)
          expect(await remove(created["id"], owner, { "if-match": stale })).toMatchObject({
            status: 412,
            body: { code: "precondition_failed" },
          });
      }
      expect(transactionCount(appliance)).toBe(before);
      expect((await update(created["id"], known(), owner, { "if-match": "*" })).status).toBe(200);
      const last = (await owner.get(one)).headers.get("etag") as string;
      const either = { "if-match": `"0", ${last}` };
      expect(
        (
          await (isDeletable
            ? remove(created["id"], owner, either)
            : update(created["id"], changed(known()), owner, either))
        ).status,
      ).toBe(200);
    });

    test("has an `updated_at` that always grows, however the clock is set back", async () => {
      const created = await create();
      const versions = [created];
      for (const back of [-60_000, -3_600_000, 0]) {
        appliance.clock.advance(back);
        const last = versions.at(-1) as Wire;
        const sent = Bun.deepEquals(last[change.field], known()[change.field]) ? changed(known()) : known();
        versions.push(await made(update(created["id"], sent)));
      }
      const instants = versions.map((version) => parseInstant(version["updated_at"]) as number);
      expect(instants).toEqual([...instants].sort((a, b) => a - b));
      expect(new Set(instants).size).toBe(4);
      // The clock is behind all of them: any instant from it on is the present.
      expect((await owner.get(`${path}/${created["id"]}?at=${created["valid_from"]}`)).data).toEqual(
        versions.at(-1) as Wire,
      );
      appliance.clock.advance(7_200_000);
      for (const [position, version] of versions.entries()) {
        const next = versions[position + 1];
        expect((await owner.get(`${path}/${created["id"]}?at=${version["valid_from"]}`)).data).toEqual({
          ...version,
          ...(next === undefined ? none("valid_to") : { valid_to: next["valid_from"] }),
        });
      }
    });

    test("stands in pages by its creation, each page with the count of all", async () => {
      const before = (await owner.get(`${path}?limit=1000`)).data as Wire[];
      const created: Wire[] = [];
      for (let position = 1; position <= 5; position += 1) created.push(await create(position));
      const total = before.length + created.length;
      appliance.clock.advance(1_000);
      const at = appliance.clock.text();
      appliance.clock.advance(1_000);
      for (const when of ["", `&at=${at}`]) {
        const pagination = async (query: string) => {
          const { data, body: answer } = await owner.get(`${path}?${query}${when}`);
          return { data, ...answer.meta.pagination };
        };
        // What was there already may have been observed since: an answer about the past does not show that.
        const present = (await pagination("limit=1000")).data.slice(0, before.length) as Wire[];
        expect(present.map((record) => record["id"])).toEqual(before.map((record) => record["id"]));
        const records = [...present, ...created];
        expect(await pagination("")).toEqual({
          data: records,
          total_count: total,
          limit: 50,
          offset: 0,
          has_more: false,
        });
        expect(await pagination("limit=2")).toEqual({
          data: records.slice(0, 2),
          total_count: total,
          limit: 2,
          offset: 0,
          has_more: true,
        });
        expect(await pagination(`limit=2&offset=${total - 2}`)).toEqual({
          data: records.slice(-2),
          total_count: total,
          limit: 2,
          offset: total - 2,
          has_more: false,
        });
        expect(await pagination(`limit=2&offset=${total - 3}`)).toMatchObject({
          data: records.slice(-3, -1),
          has_more: true,
        });
        expect(await pagination(`offset=${total}`)).toEqual({
          data: [],
          total_count: total,
          limit: 50,
          offset: total,
          has_more: false,
        });
        expect(await pagination("offset=2147483647")).toMatchObject({ data: [], total_count: total, has_more: false });
        expect(await pagination("limit=0")).toEqual({
          data: records,
          total_count: total,
          limit: 0,
          offset: 0,
          has_more: false,
        });
        expect(await pagination("limit=0&offset=2")).toEqual({
          data: records.slice(2),
          total_count: total,
          limit: 0,
          offset: 2,
          has_more: false,
        });
        expect(await pagination(`limit=0&offset=${total + 1}`)).toMatchObject({ data: [], total_count: total });
      }
    });

    test.each([
      ["limit=-1", "/limit", -1],
      ["limit=1001", "/limit", 1001],
      ["limit=ten", "/limit", "ten"],
      ["limit=", "/limit", ""],
      ["limit=1.5", "/limit", "1.5"],
      ["offset=-1", "/offset", -1],
      ["offset=2147483648", "/offset", 2147483648],
      ["at=2026-13-01T00:00:00Z", "/at", "2026-13-01T00:00:00Z"],
      ["at=2026-11-21", "/at", "2026-11-21"],
      ["ids=nonsense", "/ids/0", "nonsense"],
    ])("is not listed by %s, which is refused with the offending value", async (query, at, value) => {
      const answer = await owner.get(`${path}?${query}`);
      expect(answer).toMatchObject({
        status: 400,
        body: { code: "validation_failed", params: { issues: [{ path: at, value }] } },
      });
      expect(answer.headers.get("content-type")).toStartWith("application/json");
    });

    test("is found by its id in a list, in each way that ids can be sent", async () => {
      const records = [await create(1), await create(2), await create(3)];
      const [a, , c] = records.map((record) => record["id"] as string) as [string, string, string];
      for (const query of [
        `ids=${c}&ids=${a}`,
        `ids=${c},${a}`,
        `ids[]=${c}&ids[]=${a}`,
        `ids%5B%5D=${c},${a.toUpperCase()}`,
        `ids=${a}&ids=${a}&ids=${c}&ids=${UNKNOWN_ID}`,
      ]) {
        const answer = await owner.get(`${path}?${query}`);
        expect(answer.data).toEqual([records[0], records[2]]);
        expect(answer.body.meta.pagination).toEqual({ total_count: 2, limit: 50, offset: 0, has_more: false });
      }
      expect((await owner.get(`${path}?ids=`)).data).toEqual([]);
      expect((await owner.get(`${path}?ids=${a},${c}&limit=1`)).body.meta.pagination).toEqual({
        total_count: 2,
        limit: 1,
        offset: 0,
        has_more: true,
      });
      const many = Array.from(
        { length: 301 },
        (_, position) => `${UNKNOWN_ID.slice(0, -4)}${position.toString().padStart(4, "0")}`,
      );
      expect((await owner.get(`${path}?ids=${many.slice(0, 300).join(",")}`)).status).toBe(200);
      expect(await owner.get(`${path}?ids=${many.join(",")}`)).toMatchObject({
        status: 400,
        body: { params: { issues: [{ path: "/ids" }] } },
      });
    });

    test("is exported row by row as it stands in the list, then and now", async () => {
      const others = (await owner.get(`${path}?limit=1000`)).data.length as number;
      const records = [await create(1), await create(2), await create(3)];
      appliance.clock.advance(1_000);
      const at = appliance.clock.text();
      appliance.clock.advance(1_000);
      await made(update(records[0]?.["id"], changed(known(1))));
      const fields = Object.keys(
        (
          appliance.surface.routes.find((route) => route.method === "GET" && route.path === `${path}/:id`)?.operation
            .answer as TObject
        ).properties,
      );
      for (const when of ["", `at=${at}`]) {
        for (const filter of ["", `ids=${records[2]?.["id"]},${UNKNOWN_ID}&ids=${records[0]?.["id"]}`, "ids="]) {
          const listed = (await owner.get(`${path}?limit=1000&${filter}&${when}`)).data as Wire[];
          const answer = await owner.get(`${path}/export/csv?${filter}&${when}`);
          expect([answer.status, answer.headers.get("content-type")]).toEqual([
            200,
            "text/csv; charset=utf-8; header=present",
          ]);
          // Names stand between them: name-columns.test.ts.
          expect(
            answer.text
              .split("\r\n")[0]
              ?.split(",")
              .filter((name) => fields.includes(name)),
          ).toEqual(fields);
          const rows = csvRecords(answer.text);
          expect(listed).toHaveLength(filter === "" ? others + 3 : filter === "ids=" ? 0 : 2);
          expect(rows.map((row) => row["id"])).toEqual(listed.map((record) => record["id"]));
          for (const [place, record] of listed.entries()) {
            for (const field of fields) {
              const cell = cellOf(record[field]);
              if (cell !== null) expect([field, rows[place]?.[field]]).toEqual([field, cell]);
            }
          }
        }
      }
      const name = path.split("/").at(-1) === "keys" ? "api-keys" : path.split("/").at(-1);
      expect((await owner.get(`${path}/export/csv`)).headers.get("content-disposition")).toBe(
        `attachment; filename="${name}.csv"`,
      );
      expect((await owner.get(`${path}/export/csv?at=${at}`)).headers.get("content-disposition")).toBe(
        `attachment; filename="${name}-${at.replaceAll(":", "-")}.csv"`,
      );
      expect(parseCsv((await owner.get(`${path}/export/csv?at=1999-12-31T23:59:59Z`)).text)).toHaveLength(1);
    });

    test("is exported to whoever may list it, and by what lists are filtered by alone", async () => {
      const second = await other();
      const foreign = await createAs(second.client, body(1, second.containerId, second));
      const created = await create(1);
      const text = (await owner.get(`${path}/export/csv`)).text;
      expect(text).toContain(created["id"]);
      for (const hidden of [foreign["id"], second.organizationId]) expect(text).not.toContain(hidden);
      expect(csvRecords((await owner.get(`${path}/export/csv?ids=${foreign["id"]}`)).text)).toEqual([]);
      expect(await appliance.anonymous.get(`${path}/export/csv?limit=wrong`)).toMatchObject({
        status: 401,
        body: { code: "auth_not_authenticated" },
      });
      if (battery.isSessionOnly === true)
        expect(await newApiKey(appliance).client.get(`${path}/export/csv`)).toMatchObject({
          status: 403,
          body: { code: "auth_session_required" },
        });
      for (const [query, at, value] of [
        ["limit=5", "/limit", "5"],
        ["offset=1", "/offset", "1"],
        ["nmae=x", "/nmae", "x"],
        ["at=yesterday", "/at", "yesterday"],
        ["ids=x", "/ids/0", "x"],
      ]) {
        expect(await owner.get(`${path}/export/csv?${query}`)).toMatchObject({
          status: 400,
          body: { code: "validation_failed", params: { issues: [{ path: at, value }] } },
        });
      }
    });

    for (const reference of battery.references) {
      test(`names in ${reference.field} only a ${reference.entity} that is there for the caller: unknown and foreign are the same`, async () => {
        const second = await other();
        const foreign = await reference.make(second.client, second.networkId, second.containerId);
        const own = await reference.make(owner, appliance.first.networkId, containerId);
        const created = await create(1);
        const before = transactionCount(appliance);
        // A record stays where it is: what it can't change, an update does not look up.
        const isFixed = reference.field === container.field;
        const attempts = [
          (id: string) => owner.post(path, reference.naming(body(2), id)),
          ...(isFixed ? [] : [(id: string) => update(created["id"], reference.naming(known(1), id))]),
        ];
        for (const attempt of attempts) {
          const unknown = withoutId(await attempt(UNKNOWN_ID), UNKNOWN_ID);
          expect(unknown).toMatchObject({
            status: 400,
            body: {
              code: "entity_reference_invalid",
              params: { entity: reference.entity, field: reference.field, ids: ["<id>"] },
            },
          });
          expect(withoutId(await attempt(foreign), foreign)).toEqual(unknown);
        }
        expect(transactionCount(appliance)).toBe(before);
        expect((await owner.post(path, reference.naming(body(2), own))).status).toBe(200);
        if (!isFixed) expect((await update(created["id"], reference.naming(known(1), own))).status).toBe(200);
      });
    }

    if (isDeletable) {
      const bulkPath = `${path}/bulk-delete`;
      const removeAll = (ids: unknown, by = owner) => by.post(`${bulkPath}${deletion}`, ids);
      const idsOf = (records: readonly Wire[]) => records.map((record) => record["id"] as string);

      test("is deleted together with others in one transaction, and all are answered as they were closed", async () => {
        const [first, kept, last] = [await create(1), await create(2), await create(3)];
        appliance.clock.advance(1_000);
        const before = transactionCount(appliance);
        // In whatever order they are named, and however often.
        const answer = await removeAll([last["id"], (first["id"] as string).toUpperCase(), last["id"]]);
        const ended = appliance.clock.text();
        expect([answer.status, answer.data]).toEqual([
          200,
          [first, last].map((record) => ({ ...withEndedParts(record, ended), valid_to: ended })),
        ]);
        expect(Object.keys(answer.body).sort()).toEqual(["data", "meta", "success"]);
        expect(transactionCount(appliance)).toBe(before + 1);
        expect(writtenIn(appliance)).toMatchObject({ [`Deleted ${entity}`]: 2 });
        expect((await owner.get(`${path}?ids=${idsOf([first, kept, last]).join()}`)).data).toEqual([kept]);
        appliance.clock.advance(1_000);
        const both = `${path}?ids=${idsOf([first, last]).join()}`;
        expect((await owner.get(`${both}&at=${shift(ended, -1)}`)).data).toEqual(answer.data);
        expect((await owner.get(`${both}&at=${ended}`)).data).toEqual([]);
      });

      test("is not deleted together with one that is unknown, deleted, another organization's or of another kind: the same in all cases, and nothing is written", async () => {
        const [kept, gone] = [await create(1), await create(2)];
        await made(remove(gone["id"]));
        const second = await other();
        const foreign = await createAs(second.client, body(1, second.containerId, second));
        const before = transactionCount(appliance);
        const refusal = (ids: string[]) => ({
          status: 400,
          body: { code: "entity_reference_invalid", params: { entity, field: "ids", ids } },
        });
        const unknown = withoutId(await removeAll([kept["id"], UNKNOWN_ID]), UNKNOWN_ID);
        expect(unknown).toMatchObject(refusal(["<id>"]));
        for (const id of [gone["id"], foreign["id"], appliance.first.organizationId]) {
          for (const ids of [
            [kept["id"], id],
            [id, kept["id"]],
          ])
            expect(withoutId(await removeAll(ids), id)).toEqual(unknown);
        }
        expect(await removeAll([foreign["id"], kept["id"], UNKNOWN_ID, gone["id"], UNKNOWN_ID])).toMatchObject(
          refusal([foreign["id"], UNKNOWN_ID, gone["id"]]),
        );
        expect(transactionCount(appliance)).toBe(before);
        expect((await owner.get(`${path}/${kept["id"]}`)).data).toEqual(kept);
        expect((await second.client.get(`${path}/${foreign["id"]}`)).data).toEqual(foreign);
      });

      test(`is deleted in bulk from ${battery.writeRole} upwards, and by nobody before the body is looked at`, async () => {
        const networkIds = [appliance.first.networkId];
        const kept = await create(1);
        if (battery.place === "is a network") networkIds.push(kept["id"]);
        const below = await newUser(appliance, { role: battery.roleBelow, networkIds });
        const key = battery.isSessionOnly === true ? newApiKey(appliance) : null;
        const before = transactionCount(appliance);
        for (const sent of [[kept["id"]], "{not json", []]) {
          expect(await removeAll(sent, appliance.anonymous)).toMatchObject({
            status: 401,
            body: { code: "auth_not_authenticated" },
          });
          expect(await removeAll(sent, below.client)).toMatchObject({
            status: 403,
            body: {
              code: "auth_permission_denied",
              params: { required: battery.writeRole, actual: battery.roleBelow },
            },
          });
          if (key !== null)
            expect(await removeAll(sent, key.client)).toMatchObject({
              status: 403,
              body: { code: "auth_session_required" },
            });
        }
        expect(transactionCount(appliance)).toBe(before);
        const writer = await newUser(appliance, { role: battery.writeRole, networkIds });
        const own = await createAs(writer.client, body(2, containerId, { ...appliance.first, userId: writer.id }));
        expect(await removeAll([own["id"]], writer.client)).toMatchObject({ status: 200, data: [{ id: own["id"] }] });
      });

      test("is deleted in bulk by ids alone: one at least, 1,000 at most, each a UUID", async () => {
        const created = await create();
        const before = transactionCount(appliance);
        const many = (count: number) =>
          Array.from(
            { length: count },
            (_, position) => `${UNKNOWN_ID.slice(0, -4)}${position.toString(16).padStart(4, "0")}`,
          );
        for (const [sent, paths] of [
          [[], [""]],
          [many(1_001), [""]],
          [{ ids: [created["id"]] }, [""]],
          [created["id"], [""]],
          [null, [""]],
          [
            [created["id"], "x", null, 5, { id: created["id"] }],
            ["/1", "/2", "/3", "/4"],
          ],
        ] as const) {
          const answer = await removeAll(sent === created["id"] ? JSON.stringify(sent) : sent);
          expect(answer).toMatchObject({ status: 400, body: { code: "validation_failed" } });
          expect(answer.body.params.issues.map((issue: { path: string }) => issue.path)).toEqual([...paths]);
        }
        expect(await removeAll("[")).toMatchObject({ status: 400, body: { code: "malformed_json" } });
        expect(await owner.post(`${bulkPath}?tpyo=1`, [created["id"]])).toMatchObject({
          status: 400,
          body: { params: { issues: [{ path: "/tpyo" }] } },
        });
        expect(await removeAll([...many(999), created["id"]])).toMatchObject({
          status: 400,
          body: { code: "entity_reference_invalid", params: { ids: many(999) } },
        });
        expect(transactionCount(appliance)).toBe(before);
        expect((await owner.get(`${path}/${created["id"]}`)).data).toEqual(created);
      });
    }

    if (inNetwork) {
      test("does not exist for a Member who does not reach its network, at any instant", async () => {
        const hidden = {
          ...appliance.first,
          networkId: (await made(owner.post("/api/v1/networks", { name: "Hidden" })))["id"] as string,
        };
        const hiddenContainer = await container.make(owner, hidden.networkId);
        const seen = await create(1);
        const unseen = await createAs(owner, body(2, hiddenContainer, hidden));
        appliance.clock.advance(1_000);
        const at = appliance.clock.text();
        appliance.clock.advance(1_000);
        const nowhere = (await newUser(appliance, { role: "Member" })).client;
        const member = (await newUser(appliance, { role: "Member", networkIds: [appliance.first.networkId] })).client;
        const key = newApiKey(appliance, { networkIds: [appliance.first.networkId] }).client;
        const both = (
          await newUser(appliance, { role: "Viewer", networkIds: [hidden.networkId, appliance.first.networkId] })
        ).client;
        for (const when of ["", `&at=${at}`]) {
          for (const [client, records] of [
            [member, [seen]],
            [key, [seen]],
            [both, [seen, unseen]],
            [nowhere, []],
            [owner, [seen, unseen]],
          ] as const) {
            for (const limit of ["50", "0"]) {
              const list = await client.get(`${path}?limit=${limit}${when}`);
              expect(list.data).toEqual([...records]);
              expect(list.body.meta.pagination.total_count).toBe(records.length);
            }
            const reachesHidden = client === both || client === owner;
            for (const query of [
              `network_id=${hidden.networkId}`,
              `ids=${unseen["id"]}`,
              `network_id=${hidden.networkId}&ids=${unseen["id"]},${seen["id"]}`,
            ]) {
              const list = await client.get(`${path}?${query}${when}`);
              expect(list).toMatchObject({
                status: 200,
                data: reachesHidden ? [unseen] : [],
                body: { meta: { pagination: { total_count: reachesHidden ? 1 : 0 } } },
              });
            }
            for (const query of ["", `network_id=${hidden.networkId}`, `ids=${unseen["id"]}`]) {
              const { text } = await client.get(`${path}/export/csv?${query}${when}`);
              expect(text.includes(unseen["id"])).toBe(reachesHidden);
              if (!reachesHidden && query !== "") expect(csvRecords(text)).toEqual([]);
            }
            const one = await client.get(`${path}/${unseen["id"]}${when.replace("&", "?")}`);
            expect(one.status).toBe(reachesHidden ? 200 : 404);
          }
        }
        const before = transactionCount(appliance);
        // Users who may write more reach every network; their keys need not.
        for (const client of battery.writeRole === "Member" ? [member, key, nowhere] : [key]) {
          expect(await update(unseen["id"], changed(known(2, hiddenContainer, hidden)), client)).toMatchObject({
            status: 404,
            body: { code: "entity_not_found" },
          });
          expect(await remove(unseen["id"], client)).toMatchObject({ status: 404, body: { code: "entity_not_found" } });
          const bulk = await client.post(`${path}/bulk-delete${deletion}`, [seen["id"], unseen["id"]]);
          expect(bulk).toMatchObject({
            status: 400,
            body: {
              code: "entity_reference_invalid",
              params: { entity, field: "ids", ids: client === nowhere ? [seen["id"], unseen["id"]] : [unseen["id"]] },
            },
          });
          const outOfReach = withoutId(await client.post(path, body(3, hiddenContainer, hidden)), hiddenContainer);
          expect(outOfReach).toMatchObject({
            status: 400,
            body: { code: "entity_reference_invalid", params: { entity: container.entity, field: container.field } },
          });
          expect(withoutId(await client.post(path, body(3, UNKNOWN_ID, hidden)), UNKNOWN_ID)).toEqual(outOfReach);
        }
        expect(transactionCount(appliance)).toBe(before);
        expect(
          (await update(seen["id"], changed(known(1)), battery.writeRole === "Member" ? member : key)).status,
        ).toBe(200);
      });
    }
  });
}

/** What a table has of a value; null for what has parts of its own, which kinds show in ways of their own. */
function cellOf(value: unknown): string | null {
  if (value === null || value === undefined) return "";
  if (typeof value !== "object") return String(value);
  if (Array.isArray(value)) return value.every((each) => typeof each !== "object") ? value.join(";") : null;
  return Object.keys(value).join() === "type" ? (value as Wire)["type"] : null;
}

/** An answer with an id that must not matter taken out. */
function withoutId(answer: Answer, id: string): { status: number; body: unknown } {
  return { status: answer.status, body: JSON.parse(answer.text.replaceAll(id, "<id>")) };
}

/** A record whose parts, and theirs, ended at an instant. */
function withEndedParts(record: Wire, at: string): Wire {
  const ended = (part: unknown): unknown => {
    if (part === null || typeof part !== "object" || Array.isArray(part)) return part;
    const isRecord = (part as Wire)["valid_to"] === null;
    return { ...withEndedParts(part as Wire, at), ...(isRecord ? { valid_to: at } : {}) };
  };
  return Object.fromEntries(
    Object.entries(record).map(([field, value]) => [field, Array.isArray(value) ? value.map(ended) : value]),
  );
}

/** Who wrote the last transaction, as the ledger has it. */
function lastActor(appliance: TestAppliance): unknown {
  return appliance.reader.db
    .query("SELECT actor_type, actor_id FROM history_transactions ORDER BY sequence DESC LIMIT 1")
    .get();
}

function shift(instant: string, ms: number): string {
  return formatInstant((parseInstant(instant) as number) + ms);
}

function isOptional(appliance: TestAppliance, path: string, field: string): boolean {
  const schema = appliance.surface.routes.find((route) => route.method === "PUT" && route.path === `${path}/:id`)
    ?.operation.body as TObject | TUnion<TObject[]>;
  // Where a body may have one of several forms, the battery's have the first.
  const form = TypeGuard.IsUnion(schema) ? (schema.anyOf[0] as TObject) : schema;
  return !(form.required ?? []).includes(field);
}
