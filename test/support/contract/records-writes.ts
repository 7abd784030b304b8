// What a write of a record answers, refuses and leaves behind.
// A part of the battery: what every kind of record has to pass.

import { expect, test } from "bun:test";
import type { TObject } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { DISCOVERABLE_READ_ONLY } from "../../../src/resources/discovered.ts";
import { invalid, made, refusal, transactionCount, versionsOf, writtenIn } from "../appliance/factories.ts";
import { isOptional, type RecordSubject, UNKNOWN_ID } from "./record-subject.ts";

/** Fields that are there only when discovery has something to say. */
const BY_DISCOVERY: readonly string[] = [...DISCOVERABLE_READ_ONLY, "more_neighbors"];

export function describeBodies(subject: RecordSubject): void {
  const { battery, path, container, leftOut, none, body, known, create, update } = subject;

  test("is answered with exactly the documented fields", async () => {
    const created = await create();
    const schema = subject.appliance.surface.routes.find(
      (route) => route.method === "GET" && route.path === `${path}/:id`,
    )?.operation.answer as TObject;
    const listed = (await subject.owner.get(`${path}?ids=${created.id}`)).data[0];
    for (const record of [created, listed, (await subject.owner.get(`${path}/${created.id}`)).data]) {
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
      updated_at: created.created_at,
      valid_from: created.created_at,
    });
  });

  test("is refused with every issue at once, and nothing is written", async () => {
    const created = await create();
    const before = transactionCount(subject.appliance);
    const paths = [...battery.invalid.paths].sort();
    for (const answer of [
      await subject.owner.post(path, battery.invalid.body),
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
    expect(transactionCount(subject.appliance)).toBe(before);
  });

  test("is refused with a field that it does not have, by its name", async () => {
    const created = await create();
    const before = transactionCount(subject.appliance);
    for (const answer of [
      await subject.owner.post(path, { ...body(2), colour: "Green" }),
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
    const query = await subject.owner.get(`${path}?nmae=x`);
    expect(query).toMatchObject(invalid({ path: "/nmae", value: "x" }));
    expect(await subject.owner.get(`${path}/wrong`)).toMatchObject(invalid({ path: "/id", value: "wrong" }));
    expect(transactionCount(subject.appliance)).toBe(before);
  });

  test.each([["null"], ["[]"], ['"text"'], ["5"], ["{}"]])("is not made of the JSON value %s", async (sent) => {
    const before = transactionCount(subject.appliance);
    expect(await subject.owner.post(path, sent)).toMatchObject(refusal(400, "validation_failed"));
    expect(transactionCount(subject.appliance)).toBe(before);
  });

  test.each([["{"], [""], ["{'a':1}"]])("is not made of the malformed body %p", async (sent) => {
    expect(await subject.owner.post(path, sent)).toMatchObject(refusal(400, "malformed_json"));
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

  test("is written in one transaction with the versions that it takes and no others", async () => {
    const before = transactionCount(subject.appliance);
    const created = await create();
    expect(writtenIn(subject.appliance)).toEqual({ [`Created ${entity}`]: 1, ...battery.writes?.created });
    subject.appliance.clock.advance(1_000);
    await made(update(created.id, changed(known())));
    expect(writtenIn(subject.appliance)).toEqual({ [`Updated ${entity}`]: 1, ...battery.writes?.updated });
    if (isDeletable) {
      await made(remove(created.id));
      expect(writtenIn(subject.appliance)).toEqual({ [`Deleted ${entity}`]: 1, ...battery.writes?.deleted });
    }
    expect(transactionCount(subject.appliance)).toBe(before + (isDeletable ? 3 : 2));
  });

  test("makes no version when it is written as it is, also with all that was answered sent back", async () => {
    await create();
    const created = await create(2);
    const id = created.id;
    const { etag, before } = {
      etag: (await subject.owner.get(`${path}/${id}`)).headers.get("etag"),
      before: transactionCount(subject.appliance),
    };
    subject.appliance.clock.advance(1_000);
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
    expect(transactionCount(subject.appliance)).toBe(before);
    expect(versionsOf(subject.appliance, id)).toHaveLength(1);
  });

  test("keeps what an update leaves out, and takes a GET body that was edited", async () => {
    const created = await create();
    const required = Object.fromEntries(
      Object.entries(known()).filter(([name]) => !isOptional(subject.appliance, path, name)),
    );
    expect((await update(created.id, required)).data).toEqual(created);
    subject.appliance.clock.advance(1_000);
    const edited = await made(
      subject.owner.put(`${path}/${created.id}`, { ...created, [change.field]: change.to(created) }),
    );
    expect(edited).toEqual({
      ...created,
      [change.field]: change.to(created),
      updated_at: subject.appliance.clock.text(),
      valid_from: subject.appliance.clock.text(),
    });
  });

  test("keeps its own ids", async () => {
    const created = await create();
    const elsewhere: Array<[string, string]> = [];
    if (inNetwork) {
      const network = (await made(subject.owner.post("networks", { name: "Elsewhere" }))).id;
      elsewhere.push(["network_id", network]);
      if (container.field !== "network_id")
        elsewhere.push([container.field, await container.make(subject.owner, subject.appliance.first.networkId)]);
    }
    const before = transactionCount(subject.appliance);
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
    expect(transactionCount(subject.appliance)).toBe(before);
    expect((await subject.owner.get(`${path}/${created.id}`)).data).toEqual(created);
  });

  test("may bring its id, which nothing else ever gets", async () => {
    const id = "F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6";
    const created = await createAs(subject.owner, { ...body(1), id });
    expect(created.id).toBe(id.toLowerCase());
    const refused = refusal(409, "entity_already_exists", { entity, field: "id", value: id.toLowerCase() });
    expect(await subject.owner.post(path, { ...body(2), id })).toMatchObject(refused);
    if (isDeletable) {
      await made(remove(created.id));
      expect(await subject.owner.post(path, { ...body(2), id })).toMatchObject(refused);
    }
    const elsewhere = await other();
    expect(await elsewhere.client.post(path, { ...body(2, elsewhere.containerId, elsewhere), id })).toMatchObject(
      refused,
    );
    // Also one that a record of another kind has.
    const taken = subject.appliance.first.organizationId;
    expect(await subject.owner.post(path, { ...body(2), id: taken })).toMatchObject(
      refusal(409, "entity_already_exists", { entity, field: "id", value: taken }),
    );
    expect((await subject.owner.get(`${path}?ids=${id}`)).data).toEqual(isDeletable ? [] : [created]);
  });
}

export function describeConditions(subject: RecordSubject): void {
  const { path, isDeletable, known, changed, create, update, remove } = subject;

  test("is guarded by its entity tag", async () => {
    const created = await create();
    const one = `${path}/${created.id}`;
    const read = await subject.owner.get(one);
    const etag = read.headers.get("etag") as string;
    expect(etag).toMatch(/^"[^"]+"$/);
    const unchanged = await subject.owner.get(one, { "if-none-match": `"other", W/${etag}` });
    expect(unchanged).toMatchObject({ status: 304, text: "" });
    expect(unchanged.headers.get("etag")).toBe(etag);
    subject.appliance.clock.advance(1_000);
    const updated = await update(created.id, changed(known()), subject.owner, { "if-match": etag });
    expect(updated.status).toBe(200);
    const now = updated.headers.get("etag") as string;
    expect(now).not.toBe(etag);
    expect((await subject.owner.get(one)).headers.get("etag")).toBe(now);
    expect((await subject.owner.get(one, { "if-none-match": etag })).status).toBe(200);
    // An ended version is another representation than the same one while it was the newest.
    const past = await subject.owner.get(`${one}?at=${created.valid_from}`);
    expect([etag, now]).not.toContain(past.headers.get("etag"));

    const before = transactionCount(subject.appliance);
    for (const stale of [etag, `W/${now}`, '"nonsense"', past.headers.get("etag") as string]) {
      const answer = await update(created.id, known(), subject.owner, { "if-match": stale });
      expect(answer).toMatchObject(refusal(412, "precondition_failed"));
      // Reading again would not help who sends a weak tag.
      expect([stale, answer.body.error.includes("strong")]).toEqual([stale, stale.startsWith("W/")]);
      if (isDeletable)
        expect(await remove(created.id, subject.owner, { "if-match": stale })).toMatchObject(
          refusal(412, "precondition_failed"),
        );
    }
    expect(transactionCount(subject.appliance)).toBe(before);
    expect((await update(created.id, known(), subject.owner, { "if-match": "*" })).status).toBe(200);
    const last = (await subject.owner.get(one)).headers.get("etag") as string;
    const either = { "if-match": `"0", ${last}` };
    expect(
      (
        await (isDeletable
          ? remove(created.id, subject.owner, either)
          : update(created.id, changed(known()), subject.owner, either))
      ).status,
    ).toBe(200);
  });
}
