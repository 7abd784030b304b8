// Answers, refusals and effects of record writes. Part of the battery for every kind of record.

import { expect, test } from "bun:test";
import type { TObject } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { DISCOVERABLE_READ_ONLY } from "../../../src/resources/discovered.ts";
import { invalid, made, refusal } from "../appliance/factories.ts";
import { isOptional, type RecordSubject, UNKNOWN_ID } from "./record-subject.ts";

/** Fields present only with discovery data. */
const BY_DISCOVERY: readonly string[] = [...DISCOVERABLE_READ_ONLY, "more_neighbors"];

/** Fields present only on request (`include=`). */
export const ON_REQUEST: readonly string[] = ["utilization", "counts"];
/** Fields present only if the organization defines custom fields. */
export const BY_DEFINITION: readonly string[] = ["custom_fields"];

export function describeBodies(subject: RecordSubject): void {
  const { battery, path, container, leftOut, none, body, known, create, update } = subject;
  const { owner, surface, writingWatched } = subject.appliance;

  test("is returned with exactly the documented fields", async () => {
    const created = await create();
    const schema = surface.routes.find((route) => route.method === "GET" && route.path === `${path}/:id`)?.operation
      .answer as TObject;
    const listed = (await owner.get(`${path}?ids=${created.id}`)).data[0];
    for (const record of [created, listed, (await owner.get(`${path}/${created.id}`)).data]) {
      expect([...Value.Errors(schema, record)]).toEqual([]);
      expect(Object.keys(record).sort()).toEqual(
        Object.keys(schema.properties)
          .filter((field) => ![...leftOut, ...BY_DISCOVERY, ...BY_DEFINITION, ...ON_REQUEST].includes(field))
          .sort(),
      );
      expect(record).toEqual(created);
    }
    expect(created).toMatchObject(known());
    expect(created).toMatchObject({
      ...none("valid_to", "lineage_id"),
      updated_at: created.created_at,
      valid_from: created.created_at,
    });
  });

  test("is refused with every issue at once, and nothing is written", async () => {
    const created = await create();
    const expectNothingWritten = writingWatched();
    const paths = [...battery.invalid.paths].sort();
    for (const answer of [
      await owner.post(path, battery.invalid.body),
      await update(created.id, battery.invalid.body),
    ]) {
      expect(answer).toMatchObject(refusal(400, "validation_failed"));
      const issues = answer.body.params.issues as Array<{ path: string; message: string }>;
      expect(
        issues
          .map((issue) => issue.path)
          .filter((each) => each !== `/${container.field}`)
          .sort(),
      ).toEqual(paths);
      for (const issue of issues) expect(issue.message).not.toBe("");
    }
    expectNothingWritten();
  });

  test("is refused with an unknown field, by name", async () => {
    const created = await create();
    const expectNothingWritten = writingWatched();
    for (const answer of [
      await owner.post(path, { ...body(2), colour: "Green" }),
      await update(created.id, { ...known(), colour: "Green" }),
    ]) {
      expect(answer).toMatchObject(refusal(400, "validation_failed"));
      expect(answer.body.params.issues).toEqual([
        {
          path: "/colour",
          message: "is not a known field",
          ...(battery.holdsSecrets === true ? {} : { value: "Green" }),
        },
      ]);
    }
    const query = await owner.get(`${path}?nmae=x`);
    expect(query).toMatchObject(invalid({ path: "/nmae", value: "x" }));
    expect(await owner.get(`${path}/wrong`)).toMatchObject(invalid({ path: "/id", value: "wrong" }));
    expectNothingWritten();
  });

  test.each([["null"], ["[]"], ['"text"'], ["5"], ["{}"]])("is not created from the JSON value %s", async (sent) => {
    const expectNothingWritten = writingWatched();
    expect(await owner.post(path, sent)).toMatchObject(refusal(400, "validation_failed"));
    expectNothingWritten();
  });

  test.each([["{"], [""], ["{'a':1}"]])("is not created from the malformed body %p", async (sent) => {
    expect(await owner.post(path, sent)).toMatchObject(refusal(400, "malformed_json"));
  });
}

export function describeWrites(subject: RecordSubject): void {
  const {
    battery,
    path,
    entity,
    change,
    container,
    inNetwork,
    isDeletable,
    body,
    known,
    changed,
    createAs,
    create,
    update,
    remove,
    other,
  } = subject;
  const { clock, first, owner, tick, transactionCount, versionsOf, writingWatched, writtenIn } = subject.appliance;

  test("is written in one transaction with exactly the necessary versions", async () => {
    const before = transactionCount();
    const created = await create();
    expect(writtenIn()).toEqual({ [`Created ${entity}`]: 1, ...battery.writes?.created });
    tick();
    await made(update(created.id, changed(known())));
    expect(writtenIn()).toEqual({ [`Updated ${entity}`]: 1, ...battery.writes?.updated });
    if (isDeletable) {
      await made(remove(created.id));
      expect(writtenIn()).toEqual({ [`Deleted ${entity}`]: 1, ...battery.writes?.deleted });
    }
    expect(transactionCount()).toBe(before + (isDeletable ? 3 : 2));
  });

  test("makes no version on an equal write, also with its whole answer sent back", async () => {
    await create();
    const created = await create(2);
    const id = created.id;
    const { etag, before } = {
      etag: (await owner.get(`${path}/${id}`)).headers.get("etag"),
      before: transactionCount(),
    };
    tick();
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
    expect(transactionCount()).toBe(before);
    expect(versionsOf(id)).toHaveLength(1);
  });

  test("preserves fields omitted by an update, and accepts an edited GET body", async () => {
    const created = await create();
    const required = Object.fromEntries(
      Object.entries(known()).filter(([name]) => !isOptional(subject.appliance, path, name)),
    );
    expect((await update(created.id, required)).data).toEqual(created);
    tick();
    const edited = await made(owner.put(`${path}/${created.id}`, { ...created, [change.field]: change.to(created) }));
    expect(edited).toEqual({
      ...created,
      [change.field]: change.to(created),
      updated_at: clock.text(),
      valid_from: clock.text(),
    });
  });

  test("keeps its own ids", async () => {
    const created = await create();
    const elsewhere: Array<[string, string]> = [];
    if (inNetwork) {
      const network = (await made(owner.post("networks", { name: "Elsewhere" }))).id;
      elsewhere.push(["network_id", network]);
      if (container.field !== "network_id")
        elsewhere.push([container.field, await container.make(owner, first.networkId)]);
    }
    const expectNothingWritten = writingWatched();
    expect(await update(created.id, { ...changed(known()), id: UNKNOWN_ID })).toMatchObject(
      refusal(400, "validation_id_mismatch", { path_id: created.id, body_id: UNKNOWN_ID }),
    );
    for (const [field, id] of elsewhere) {
      for (const sent of [id, UNKNOWN_ID]) {
        expect(await update(created.id, { ...changed(known()), [field]: sent })).toMatchObject(
          invalid({ path: `/${field}`, value: sent }),
        );
      }
    }
    expectNothingWritten();
    expect((await owner.get(`${path}/${created.id}`)).data).toEqual(created);
  });

  test("may bring its id, which no other record ever gets", async () => {
    const id = "F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6";
    const created = await createAs(owner, { ...body(1), id });
    expect(created.id).toBe(id.toLowerCase());
    const refused = refusal(409, "entity_already_exists", { entity, field: "id", value: id.toLowerCase() });
    expect(await owner.post(path, { ...body(2), id })).toMatchObject(refused);
    if (isDeletable) {
      await made(remove(created.id));
      expect(await owner.post(path, { ...body(2), id })).toMatchObject(refused);
    }
    const elsewhere = await other();
    expect(await elsewhere.client.post(path, { ...body(2, elsewhere.containerId, elsewhere), id })).toMatchObject(
      refused,
    );
    // Also a name in use by another kind.
    const taken = first.organizationId;
    expect(await owner.post(path, { ...body(2), id: taken })).toMatchObject(
      refusal(409, "entity_already_exists", { entity, field: "id", value: taken }),
    );
    expect((await owner.get(`${path}?ids=${id}`)).data).toEqual(isDeletable ? [] : [created]);
  });
}

export function describeConditions(subject: RecordSubject): void {
  const { path, isDeletable, known, changed, create, update, remove } = subject;
  const { owner, tick, transactionCount } = subject.appliance;

  test("is protected by its ETag", async () => {
    const created = await create();
    const one = `${path}/${created.id}`;
    const read = await owner.get(one);
    const etag = read.headers.get("etag") as string;
    expect(etag).toMatch(/^"[^"]+"$/);
    const unchanged = await owner.get(one, { "if-none-match": `"other", W/${etag}` });
    expect(unchanged).toMatchObject({ status: 304, text: "" });
    expect(unchanged.headers.get("etag")).toBe(etag);
    tick();
    const updated = await update(created.id, changed(known()), owner, { "if-match": etag });
    expect(updated.status).toBe(200);
    const now = updated.headers.get("etag") as string;
    expect(now).not.toBe(etag);
    expect((await owner.get(one)).headers.get("etag")).toBe(now);
    expect((await owner.get(one, { "if-none-match": etag })).status).toBe(200);
    // An ended version is a different representation from the same one while it was current.
    const past = await owner.get(`${one}?at=${created.valid_from}`);
    expect([etag, now]).not.toContain(past.headers.get("etag"));

    const before = transactionCount();
    for (const stale of [etag, `W/${now}`, '"nonsense"', past.headers.get("etag") as string]) {
      const answer = await update(created.id, known(), owner, { "if-match": stale });
      expect(answer).toMatchObject(refusal(412, "precondition_failed"));
      // Sending a weak tag is a client error: reading again would not help.
      expect([stale, answer.body.error.includes("strong")]).toEqual([stale, stale.startsWith("W/")]);
      if (isDeletable)
        expect(await remove(created.id, owner, { "if-match": stale })).toMatchObject(
          refusal(412, "precondition_failed"),
        );
    }
    expect(transactionCount()).toBe(before);
    expect((await update(created.id, known(), owner, { "if-match": "*" })).status).toBe(200);
    const last = (await owner.get(one)).headers.get("etag") as string;
    const either = { "if-match": `"0", ${last}` };
    expect(
      (await (isDeletable ? remove(created.id, owner, either) : update(created.id, changed(known()), owner, either)))
        .status,
    ).toBe(200);
  });
}
