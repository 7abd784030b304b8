// Responses, errors and effects of record writes. Part of the suite for every kind of record.

import { expect, test } from "bun:test";
import type { TObject } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { DISCOVERABLE_READ_ONLY } from "../../../src/resources/discovered.ts";
import { expectOk, invalid, refusal } from "../appliance/factories.ts";
import { isOptional, type RecordSubject, UNKNOWN_ID } from "./record-subject.ts";

/** Fields present only with discovery data. */
const BY_DISCOVERY: readonly string[] = [
  ...DISCOVERABLE_READ_ONLY,
  "more_neighbors",
  "bridge_address",
  "engine_id",
  "split_from",
];

/** Fields present only on request (`include=`). */
export const ON_REQUEST: readonly string[] = ["utilization", "counts", "last_seen"];
/** Fields present only if the organization defines custom fields. */
export const BY_DEFINITION: readonly string[] = ["custom_fields"];

export function describeBodies(subject: RecordSubject): void {
  const { suite, path, container, omitted, emptyFields, body, updateBody, create, update } = subject;
  const { owner, surface, watchWrites } = subject.appliance;

  test("is returned with exactly the documented fields", async () => {
    const created = await create();
    const schema = surface.routes.find((route) => route.method === "GET" && route.path === `${path}/:id`)?.operation
      .responseSchema as TObject;
    const listed = (await owner.get(`${path}?ids=${created.id}`)).data[0];
    for (const record of [created, listed, (await owner.get(`${path}/${created.id}`)).data]) {
      expect([...Value.Errors(schema, record)]).toEqual([]);
      expect(Object.keys(record).sort()).toEqual(
        Object.keys(schema.properties)
          .filter((field) => ![...omitted, ...BY_DISCOVERY, ...BY_DEFINITION, ...ON_REQUEST].includes(field))
          .sort(),
      );
      expect(record).toEqual(created);
    }
    expect(created).toMatchObject(updateBody());
    expect(created).toMatchObject({
      ...emptyFields("valid_to", "lineage_id"),
      updated_at: created.created_at,
      valid_from: created.created_at,
    });
  });

  test("is refused with every issue at once, and nothing is written", async () => {
    const created = await create();
    const expectNothingWritten = watchWrites();
    const paths = [...suite.invalid.paths].sort();
    for (const response of [await owner.post(path, suite.invalid.body), await update(created.id, suite.invalid.body)]) {
      expect(response).toMatchObject(refusal(400, "validation_failed"));
      const issues = response.body.params.issues as Array<{ path: string; message: string }>;
      expect(
        issues
          .map((issue) => issue.path)
          .filter((pointer) => pointer !== `/${container.field}`)
          .sort(),
      ).toEqual(paths);
      for (const issue of issues) expect(issue.message).not.toBe("");
    }
    expectNothingWritten();
  });

  test("is refused with an unknown field, by the field's name", async () => {
    const created = await create();
    const expectNothingWritten = watchWrites();
    for (const response of [
      await owner.post(path, { ...body(2), colour: "Green" }),
      await update(created.id, { ...updateBody(), colour: "Green" }),
    ]) {
      expect(response).toMatchObject(refusal(400, "validation_failed"));
      const issue = { path: "/colour", message: "is not a known field" };
      expect(response.body.params.issues).toEqual([suite.hasSecrets === true ? issue : { ...issue, value: "Green" }]);
    }
    const query = await owner.get(`${path}?nmae=x`);
    expect(query).toMatchObject(invalid({ path: "/nmae", value: "x" }));
    expect(await owner.get(`${path}/wrong`)).toMatchObject(invalid({ path: "/id", value: "wrong" }));
    expectNothingWritten();
  });

  test.each([["null"], ["[]"], ['"text"'], ["5"], ["{}"]])("is not created from the JSON value %s", async (input) => {
    const expectNothingWritten = watchWrites();
    expect(await owner.post(path, input)).toMatchObject(refusal(400, "validation_failed"));
    expectNothingWritten();
  });

  test.each([["{"], [""], ["{'a':1}"]])("is not created from the malformed body %p", async (input) => {
    expect(await owner.post(path, input)).toMatchObject(refusal(400, "malformed_json"));
  });
}

export function describeWrites(subject: RecordSubject): void {
  const {
    suite,
    path,
    entity,
    change,
    container,
    inNetwork,
    isDeletable,
    body,
    updateBody,
    withChange,
    createAs,
    create,
    update,
    remove,
    otherOrganization,
  } = subject;
  const { clock, first, owner, tick, transactionCount, versionsOf, watchWrites, writtenIn } = subject.appliance;

  test("is written in one transaction with exactly the necessary versions", async () => {
    const before = transactionCount();
    const created = await create();
    expect(writtenIn()).toEqual({ [`Created ${entity}`]: 1, ...suite.writes?.created });
    tick();
    await expectOk(update(created.id, withChange(updateBody())));
    expect(writtenIn()).toEqual({ [`Updated ${entity}`]: 1, ...suite.writes?.updated });
    if (isDeletable) {
      await expectOk(remove(created.id));
      expect(writtenIn()).toEqual({ [`Deleted ${entity}`]: 1, ...suite.writes?.deleted });
    }
    expect(transactionCount()).toBe(before + (isDeletable ? 3 : 2));
  });

  test("gets no new version from a write that changes nothing, such as its own complete response", async () => {
    await create();
    const created = await create(2);
    const id = created.id;
    const etag = (await owner.get(`${path}/${id}`)).headers.get("etag");
    const before = transactionCount();
    tick();
    for (const input of [
      updateBody(2),
      created,
      { ...created, id: (id as string).toUpperCase(), updated_at: "nonsense", valid_to: 5 },
    ]) {
      const response = await update(id, input);
      expect(response.status).toBe(200);
      expect(response.data).toEqual(created);
      expect(response.headers.get("etag")).toBe(etag);
    }
    expect(transactionCount()).toBe(before);
    expect(versionsOf(id)).toHaveLength(1);
  });

  test("preserves fields omitted by an update, and accepts an edited GET body", async () => {
    const created = await create();
    const required = Object.fromEntries(
      Object.entries(updateBody()).filter(([name]) => !isOptional(subject.appliance, path, name)),
    );
    expect((await update(created.id, required)).data).toEqual(created);
    tick();
    const edited = await expectOk(
      owner.put(`${path}/${created.id}`, { ...created, [change.field]: change.to(created) }),
    );
    expect(edited).toEqual({
      ...created,
      [change.field]: change.to(created),
      updated_at: clock.text(),
      valid_from: clock.text(),
    });
  });

  test("cannot change its ids", async () => {
    const created = await create();
    const otherIds: Array<[string, string]> = [];
    if (inNetwork) {
      const network = (await expectOk(owner.post("networks", { name: "Elsewhere" }))).id;
      otherIds.push(["network_id", network]);
      if (container.field !== "network_id")
        otherIds.push([container.field, await container.create(owner, first.networkId)]);
    }
    const expectNothingWritten = watchWrites();
    expect(await update(created.id, { ...withChange(updateBody()), id: UNKNOWN_ID })).toMatchObject(
      refusal(400, "validation_id_mismatch", { path_id: created.id, body_id: UNKNOWN_ID }),
    );
    for (const [field, id] of otherIds) {
      for (const input of [id, UNKNOWN_ID]) {
        expect(await update(created.id, { ...withChange(updateBody()), [field]: input })).toMatchObject(
          invalid({ path: `/${field}`, value: input }),
        );
      }
    }
    expectNothingWritten();
    expect((await owner.get(`${path}/${created.id}`)).data).toEqual(created);
  });

  test("may be created with an id, and no other record can ever get that id", async () => {
    const id = "F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6";
    const created = await createAs(owner, { ...body(1), id });
    expect(created.id).toBe(id.toLowerCase());
    const refused = refusal(409, "entity_already_exists", { entity, field: "id", value: id.toLowerCase() });
    expect(await owner.post(path, { ...body(2), id })).toMatchObject(refused);
    if (isDeletable) {
      await expectOk(remove(created.id));
      expect(await owner.post(path, { ...body(2), id })).toMatchObject(refused);
    }
    const second = await otherOrganization();
    expect(await second.client.post(path, { ...body(2, second.containerId, second), id })).toMatchObject(refused);
    // An id in use by another kind is refused as well.
    const usedId = first.organizationId;
    expect(await owner.post(path, { ...body(2), id: usedId })).toMatchObject(
      refusal(409, "entity_already_exists", { entity, field: "id", value: usedId }),
    );
    expect((await owner.get(`${path}?ids=${id}`)).data).toEqual(isDeletable ? [] : [created]);
  });
}

export function describeConditions(subject: RecordSubject): void {
  const { path, isDeletable, updateBody, withChange, create, update, remove } = subject;
  const { owner, tick, transactionCount } = subject.appliance;

  test("is protected by its ETag", async () => {
    const created = await create();
    const recordPath = `${path}/${created.id}`;
    const read = await owner.get(recordPath);
    const etag = read.headers.get("etag") as string;
    expect(etag).toMatch(/^"[^"]+"$/);
    const unchanged = await owner.get(recordPath, { "if-none-match": `"other", W/${etag}` });
    expect(unchanged).toMatchObject({ status: 304, text: "" });
    expect(unchanged.headers.get("etag")).toBe(etag);
    tick();
    const updated = await update(created.id, withChange(updateBody()), owner, { "if-match": etag });
    expect(updated.status).toBe(200);
    const newEtag = updated.headers.get("etag") as string;
    expect(newEtag).not.toBe(etag);
    expect((await owner.get(recordPath)).headers.get("etag")).toBe(newEtag);
    expect((await owner.get(recordPath, { "if-none-match": etag })).status).toBe(200);
    // A past version's representation differs from the one it had while it was current.
    const past = await owner.get(`${recordPath}?at=${created.valid_from}`);
    expect([etag, newEtag]).not.toContain(past.headers.get("etag"));

    const before = transactionCount();
    for (const stale of [etag, `W/${newEtag}`, '"nonsense"', past.headers.get("etag") as string]) {
      const response = await update(created.id, updateBody(), owner, { "if-match": stale });
      expect(response).toMatchObject(refusal(412, "precondition_failed"));
      // Sending a weak tag is a client error: reading again would not help.
      expect([stale, response.body.error.includes("strong")]).toEqual([stale, stale.startsWith("W/")]);
      if (isDeletable)
        expect(await remove(created.id, owner, { "if-match": stale })).toMatchObject(
          refusal(412, "precondition_failed"),
        );
    }
    expect(transactionCount()).toBe(before);
    expect((await update(created.id, updateBody(), owner, { "if-match": "*" })).status).toBe(200);
    const last = (await owner.get(recordPath)).headers.get("etag") as string;
    const etagList = { "if-match": `"0", ${last}` };
    const lastWrite = isDeletable
      ? remove(created.id, owner, etagList)
      : update(created.id, withChange(updateBody()), owner, etagList);
    expect((await lastWrite).status).toBe(200);
  });
}
