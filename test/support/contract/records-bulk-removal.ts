// Bulk deletion of records. Part of the suite for every kind of record.

import { expect, test } from "bun:test";
import { expectOk, invalid, type JsonRecord, refusal } from "../appliance/factories.ts";
import { type RecordSubject, shift, UNKNOWN_ID, withDeletedParts, withoutId } from "./record-subject.ts";

export function describeBulkRemoval(subject: RecordSubject): void {
  const { suite, path, entity, deletion, isDeletable, body, createAs, create, remove, otherOrganization } = subject;
  const { anonymous, clock, first, newApiKey, newUser, owner, tick, transactionCount, watchWrites, writtenIn } =
    subject.appliance;

  if (isDeletable) {
    const bulkPath = `${path}/bulk-delete`;
    const removeAll = (ids: unknown, client = owner) => client.post(`${bulkPath}${deletion}`, ids);
    const idsOf = (records: readonly JsonRecord[]) => records.map((record) => record.id as string);

    test("is deleted in bulk in one transaction, and all are returned in their last state", async () => {
      const [first, remaining, last] = [await create(1), await create(2), await create(3)];
      tick();
      const before = transactionCount();
      // In any order, with repetitions.
      const response = await removeAll([last.id, (first.id as string).toUpperCase(), last.id]);
      const deletedAt = clock.text();
      expect([response.status, response.data]).toEqual([
        200,
        [first, last].map((record) => ({ ...withDeletedParts(record, deletedAt), valid_to: deletedAt })),
      ]);
      expect(Object.keys(response.body).sort()).toEqual(["data", "meta", "success"]);
      expect(transactionCount()).toBe(before + 1);
      expect(writtenIn()).toMatchObject({ [`Deleted ${entity}`]: 2 });
      expect((await owner.get(`${path}?ids=${idsOf([first, remaining, last]).join()}`)).data).toEqual([remaining]);
      tick();
      const bothPath = `${path}?ids=${idsOf([first, last]).join()}`;
      expect((await owner.get(`${bothPath}&at=${shift(deletedAt, -1)}`)).data).toEqual(response.data);
      expect((await owner.get(`${bothPath}&at=${deletedAt}`)).data).toEqual([]);
    });

    test("is not deleted in bulk with an unknown, deleted or foreign id, or an id of another kind", async () => {
      const [remaining, deleted] = [await create(1), await create(2)];
      await expectOk(remove(deleted.id));
      const second = await otherOrganization();
      const foreign = await createAs(second.client, body(1, second.containerId, second));
      const expectNothingWritten = watchWrites();
      const refused = (ids: string[]) => refusal(400, "entity_reference_invalid", { entity, field: "ids", ids });
      const unknown = withoutId(await removeAll([remaining.id, UNKNOWN_ID]), UNKNOWN_ID);
      expect(unknown).toMatchObject(refused(["<id>"]));
      for (const id of [deleted.id, foreign.id, first.organizationId]) {
        expect(withoutId(await removeAll([remaining.id, id]), id)).toEqual(unknown);
        expect(withoutId(await removeAll([id, remaining.id]), id)).toEqual(unknown);
      }
      expect(await removeAll([foreign.id, remaining.id, UNKNOWN_ID, deleted.id, UNKNOWN_ID])).toMatchObject(
        refused([foreign.id, UNKNOWN_ID, deleted.id]),
      );
      expectNothingWritten();
      expect((await owner.get(`${path}/${remaining.id}`)).data).toEqual(remaining);
      expect((await second.client.get(`${path}/${foreign.id}`)).data).toEqual(foreign);
    });

    test(`is deleted in bulk by ${suite.writeRole} and above, which is checked before the body`, async () => {
      const networkIds = [first.networkId];
      const remaining = await create(1);
      if (suite.scope === "is a network") networkIds.push(remaining.id);
      const below = await newUser({ role: subject.roleBelow, networkIds });
      const key = suite.isSessionOnly === true ? newApiKey() : null;
      const expectNothingWritten = watchWrites();
      for (const input of [[remaining.id], "{not json", []]) {
        expect(await removeAll(input, anonymous)).toMatchObject(refusal(401, "auth_not_authenticated"));
        expect(await removeAll(input, below.client)).toMatchObject(
          refusal(403, "auth_permission_denied", { required: suite.writeRole, actual: subject.roleBelow }),
        );
        if (key !== null)
          expect(await removeAll(input, key.client)).toMatchObject(refusal(403, "auth_session_required"));
      }
      expectNothingWritten();
      const writer = await newUser({ role: suite.writeRole, networkIds });
      const own = await createAs(
        writer.client,
        body(2, subject.containerId, { ...subject.appliance.first, userId: writer.id }),
      );
      expect(await removeAll([own.id], writer.client)).toMatchObject({ status: 200, data: [{ id: own.id }] });
    });

    test("is deleted in bulk by ids only: at least one, at most 1,000, each a UUID", async () => {
      const created = await create();
      const expectNothingWritten = watchWrites();
      const many = (count: number) =>
        Array.from(
          { length: count },
          (_, position) => `${UNKNOWN_ID.slice(0, -4)}${position.toString(16).padStart(4, "0")}`,
        );
      for (const [input, paths] of [
        [[], [""]],
        [many(1_001), [""]],
        [{ ids: [created.id] }, [""]],
        [created.id, [""]],
        [null, [""]],
        [
          [created.id, "x", null, 5, { id: created.id }],
          ["/1", "/2", "/3", "/4"],
        ],
      ] as const) {
        const response = await removeAll(input === created.id ? JSON.stringify(input) : input);
        expect(response).toMatchObject(refusal(400, "validation_failed"));
        expect(response.body.params.issues.map((issue: { path: string }) => issue.path)).toEqual([...paths]);
      }
      expect(await removeAll("[")).toMatchObject(refusal(400, "malformed_json"));
      expect(await owner.post(`${bulkPath}?tpyo=1`, [created.id])).toMatchObject(invalid({ path: "/tpyo" }));
      expect(await removeAll([...many(999), created.id])).toMatchObject(
        refusal(400, "entity_reference_invalid", { ids: many(999) }),
      );
      expectNothingWritten();
      expect((await owner.get(`${path}/${created.id}`)).data).toEqual(created);
    });
  }
}
