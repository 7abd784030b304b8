// Records at a timestamp, and their later incarnations. Part of the suite for every kind of record.

import { expect, test } from "bun:test";
import { parseInstant } from "../../../src/base/instant.ts";
import { expectOk, invalid, type JsonRecord, refusal } from "../appliance/factories.ts";
import { type RecordSubject, shift, withDeletedParts } from "./record-subject.ts";

export function describeHistory(subject: RecordSubject): void {
  const { path, change, isDeletable, emptyFields, updateBody, withChange, create, update, remove } = subject;
  const { clock, owner, versionsOf } = subject.appliance;

  test(`is visible to \`at\` from its first timestamp ${isDeletable ? "to its last, but not a millisecond longer" : "on, but not a millisecond earlier"}`, async () => {
    const created = await create();
    const id = created.id;
    clock.advance(5_000);
    const updated = await expectOk(update(id, withChange(updateBody())));
    clock.advance(5_000);
    const deleted = isDeletable ? await expectOk(remove(id)) : null;
    clock.advance(5_000);

    expect(updated).toMatchObject({ id, created_at: created.created_at, ...emptyFields("valid_to") });
    expect(updated.updated_at).toBe(updated.valid_from);
    expect(updated[change.field]).toEqual(withChange(updateBody())[change.field]);
    const deletedAt = versionsOf(id).at(-1)?.valid_from as string;
    // A record's children outlive its changes, and are deleted with it.
    const original = deleted === null ? created : withDeletedParts(created, deletedAt);
    const first = { ...original, valid_to: updated.valid_from };
    const last = deleted === null ? updated : { ...withDeletedParts(updated, deletedAt), valid_to: deletedAt };
    if (deleted !== null) expect(deleted).toEqual(last);
    const expected: Array<[string, JsonRecord | null]> = [
      [shift(created.valid_from, -1), null],
      [created.valid_from, first],
      [shift(updated.valid_from, -1), first],
      [updated.valid_from, last],
      [deleted === null ? clock.text() : shift(deletedAt, -1), last],
    ];
    if (deleted !== null) expected.push([deletedAt, null], [shift(deletedAt, 1), null]);
    for (const [at, record] of expected) {
      const response = await owner.get(`${path}/${id}?at=${at}`);
      if (record === null) expect(response).toMatchObject(refusal(404, "entity_not_found"));
      else {
        expect(response).toMatchObject({ status: 200, body: { meta: { at } } });
        expect(response.data).toEqual(record);
      }
      for (const listing of [`${path}?ids=${id}&at=${at}`, `${path}?ids=${id}&at=${at}&limit=0`]) {
        const list = await owner.get(listing);
        expect(list.data).toEqual(record === null ? [] : [record]);
        expect(list.body.meta).toMatchObject({ at, pagination: { total_count: record === null ? 0 : 1 } });
      }
      const all = await owner.get(`${path}?limit=1000&at=${at}`);
      expect(all.data.filter((listed: JsonRecord) => listed.id === id)).toEqual(record === null ? [] : [record]);
      expect(all.body.meta.pagination.total_count).toBe(all.data.length);
    }
    expect((await owner.get(`${path}/${id}`)).status).toBe(deleted === null ? 200 : 404);
    expect(versionsOf(id)).toMatchObject([
      { operation: "Created", changed: null, valid_from: created.valid_from },
      { operation: "Updated", changed: [change.field], valid_from: updated.valid_from },
      ...(deleted === null ? [] : [{ operation: "Deleted" as const, changed: null, valid_from: deletedAt }]),
    ]);
  });
  test("has an `updated_at` that always increases, even if the clock is set back", async () => {
    const created = await create();
    const versions = [created];
    for (const offsetMs of [-60_000, -3_600_000, 0]) {
      clock.advance(offsetMs);
      const last = versions.at(-1) as JsonRecord;
      const input = Bun.deepEquals(last[change.field], updateBody()[change.field])
        ? withChange(updateBody())
        : updateBody();
      versions.push(await expectOk(update(created.id, input)));
    }
    const instants = versions.map((version) => parseInstant(version.updated_at) as number);
    expect(instants).toEqual([...instants].sort((a, b) => a - b));
    expect(new Set(instants).size).toBe(4);
    // The clock is behind all of them: any later timestamp reads the current version.
    expect((await owner.get(`${path}/${created.id}?at=${created.valid_from}`)).data).toEqual(
      versions.at(-1) as JsonRecord,
    );
    clock.advance(7_200_000);
    for (const [position, version] of versions.entries()) {
      const next = versions[position + 1];
      expect((await owner.get(`${path}/${created.id}?at=${version.valid_from}`)).data).toEqual({
        ...version,
        ...(next === undefined ? emptyFields("valid_to") : { valid_to: next.valid_from }),
      });
    }
  });
}

export function describeIncarnations(subject: RecordSubject): void {
  const {
    suite,
    path,
    entity,
    isDeletable,
    emptyFields,
    body,
    updateBody,
    createAs,
    create,
    update,
    remove,
    otherOrganization,
  } = subject;
  const { owner, watchWrites } = subject.appliance;

  if (suite.unique !== null) {
    const unique = suite.unique;
    test("is unique among live records of its kind", async () => {
      const first = await create(1);
      const second = await create(2);
      const expectNothingWritten = watchWrites();
      const clash = { entity, field: unique, value: first[unique] };
      expect(await owner.post(path, body(1))).toMatchObject(refusal(409, "entity_already_exists", clash));
      expect(await update(second.id, { ...updateBody(2), [unique]: first[unique] })).toMatchObject(
        suite.isUniqueFixed === true
          ? invalid({ path: `/${unique}`, value: first[unique] })
          : refusal(409, "entity_already_exists", clash),
      );
      expectNothingWritten();
      expect((await owner.get(`${path}/${second.id}`)).data).toEqual(second);
    });
  } else {
    test("need not be unique among its kind", async () => {
      const first = await create(1);
      const second = await create(1);
      expect(second.id).not.toBe(first.id);
      expect(second).toMatchObject(emptyFields("lineage_id"));
      expect((await owner.get(`${path}?ids=${first.id},${second.id}`)).data).toEqual([first, second]);
    });
  }

  test("is absent before the first transaction, and live from now on", async () => {
    const created = await create();
    const past = await owner.get(`${path}?at=1999-12-31T23:59:59Z`);
    expect(past).toMatchObject({
      status: 200,
      data: [],
      body: { meta: { at: "1999-12-31T23:59:59.000Z", pagination: { total_count: 0 } } },
    });
    expect((await owner.get(`${path}?at=2999-01-01T00:00:00%2B02:00&ids=${created.id}`)).body).toMatchObject({
      data: [created],
      meta: { at: "2998-12-31T22:00:00.000Z" },
    });
    expect(await owner.get(`${path}/${created.id}?at=yesterday`)).toMatchObject(
      invalid({ path: "/at", value: "yesterday" }),
    );
  });
  if (isDeletable) {
    test(
      suite.hasLineage === false ? "is never the same as a previous one" : "gets its lineage when re-created",
      async () => {
        const first = await create(1);
        const lineage = suite.hasLineage === false ? emptyFields("lineage_id") : { lineage_id: first.id };
        await expectOk(remove(first.id));
        const second = await create(1);
        expect(second).toMatchObject(lineage);
        expect(second.id).not.toBe(first.id);
        await expectOk(remove(second.id));
        const last = await create(1);
        expect(last).toMatchObject(lineage);
        expect((await owner.get(`${path}/${last.id}`)).data).toEqual(last);
        const foreignOrganization = await otherOrganization();
        expect(
          await createAs(foreignOrganization.client, body(1, foreignOrganization.containerId, foreignOrganization)),
        ).toMatchObject(emptyFields("lineage_id"));
      },
    );
  }
}
