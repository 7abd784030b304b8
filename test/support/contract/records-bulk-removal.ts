// Bulk deletion of records. Part of the battery for every kind of record.

import { expect, test } from "bun:test";
import { made, type Wire } from "../appliance/factories.ts";
import { type RecordSubject, shift, UNKNOWN_ID, withEndedParts, withoutId } from "./record-subject.ts";

export function describeBulkRemoval(subject: RecordSubject): void {
  const { battery, path, entity, deletion, isDeletable, body, createAs, create, remove, other } = subject;
  const { anonymous, clock, first, newApiKey, newUser, owner, tick, transactionCount, writingWatched, writtenIn } =
    subject.appliance;

  if (isDeletable) {
    const bulkPath = `${path}/bulk-delete`;
    const removeAll = (ids: unknown, by = owner) => by.post(`${bulkPath}${deletion}`, ids);
    const idsOf = (records: readonly Wire[]) => records.map((record) => record.id as string);

    test("is deleted in bulk in one transaction, and all are returned in their last state", async () => {
      const [first, kept, last] = [await create(1), await create(2), await create(3)];
      tick();
      const before = transactionCount();
      // In any order, with repetitions.
      const answer = await removeAll([last.id, (first.id as string).toUpperCase(), last.id]);
      const ended = clock.text();
      expect([answer.status, answer.data]).toEqual([
        200,
        [first, last].map((record) => ({ ...withEndedParts(record, ended), valid_to: ended })),
      ]);
      expect(Object.keys(answer.body).sort()).toEqual(["data", "meta", "success"]);
      expect(transactionCount()).toBe(before + 1);
      expect(writtenIn()).toMatchObject({ [`Deleted ${entity}`]: 2 });
      expect((await owner.get(`${path}?ids=${idsOf([first, kept, last]).join()}`)).data).toEqual([kept]);
      tick();
      const both = `${path}?ids=${idsOf([first, last]).join()}`;
      expect((await owner.get(`${both}&at=${shift(ended, -1)}`)).data).toEqual(answer.data);
      expect((await owner.get(`${both}&at=${ended}`)).data).toEqual([]);
    });

    test("is not deleted together with an unknown, deleted, foreign or other kind's one: alike in all cases, and nothing is written", async () => {
      const [kept, gone] = [await create(1), await create(2)];
      await made(remove(gone.id));
      const second = await other();
      const foreign = await createAs(second.client, body(1, second.containerId, second));
      const expectNothingWritten = writingWatched();
      const refusal = (ids: string[]) => ({
        status: 400,
        body: { code: "entity_reference_invalid", params: { entity, field: "ids", ids } },
      });
      const unknown = withoutId(await removeAll([kept.id, UNKNOWN_ID]), UNKNOWN_ID);
      expect(unknown).toMatchObject(refusal(["<id>"]));
      for (const id of [gone.id, foreign.id, first.organizationId]) {
        for (const ids of [
          [kept.id, id],
          [id, kept.id],
        ])
          expect(withoutId(await removeAll(ids), id)).toEqual(unknown);
      }
      expect(await removeAll([foreign.id, kept.id, UNKNOWN_ID, gone.id, UNKNOWN_ID])).toMatchObject(
        refusal([foreign.id, UNKNOWN_ID, gone.id]),
      );
      expectNothingWritten();
      expect((await owner.get(`${path}/${kept.id}`)).data).toEqual(kept);
      expect((await second.client.get(`${path}/${foreign.id}`)).data).toEqual(foreign);
    });

    test(`is deleted in bulk by ${battery.writeRole} and above, which is checked before the body`, async () => {
      const networkIds = [first.networkId];
      const kept = await create(1);
      if (battery.place === "is a network") networkIds.push(kept.id);
      const below = await newUser({ role: subject.roleBelow, networkIds });
      const key = battery.isSessionOnly === true ? newApiKey() : null;
      const expectNothingWritten = writingWatched();
      for (const sent of [[kept.id], "{not json", []]) {
        expect(await removeAll(sent, anonymous)).toMatchObject({
          status: 401,
          body: { code: "auth_not_authenticated" },
        });
        expect(await removeAll(sent, below.client)).toMatchObject({
          status: 403,
          body: { code: "auth_permission_denied", params: { required: battery.writeRole, actual: subject.roleBelow } },
        });
        if (key !== null)
          expect(await removeAll(sent, key.client)).toMatchObject({
            status: 403,
            body: { code: "auth_session_required" },
          });
      }
      expectNothingWritten();
      const writer = await newUser({ role: battery.writeRole, networkIds });
      const own = await createAs(
        writer.client,
        body(2, subject.containerId, { ...subject.appliance.first, userId: writer.id }),
      );
      expect(await removeAll([own.id], writer.client)).toMatchObject({ status: 200, data: [{ id: own.id }] });
    });

    test("is deleted in bulk by ids only: at least one, at most 1,000, each a UUID", async () => {
      const created = await create();
      const expectNothingWritten = writingWatched();
      const many = (count: number) =>
        Array.from(
          { length: count },
          (_, position) => `${UNKNOWN_ID.slice(0, -4)}${position.toString(16).padStart(4, "0")}`,
        );
      for (const [sent, paths] of [
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
        const answer = await removeAll(sent === created.id ? JSON.stringify(sent) : sent);
        expect(answer).toMatchObject({ status: 400, body: { code: "validation_failed" } });
        expect(answer.body.params.issues.map((issue: { path: string }) => issue.path)).toEqual([...paths]);
      }
      expect(await removeAll("[")).toMatchObject({ status: 400, body: { code: "malformed_json" } });
      expect(await owner.post(`${bulkPath}?tpyo=1`, [created.id])).toMatchObject({
        status: 400,
        body: { params: { issues: [{ path: "/tpyo" }] } },
      });
      expect(await removeAll([...many(999), created.id])).toMatchObject({
        status: 400,
        body: { code: "entity_reference_invalid", params: { ids: many(999) } },
      });
      expectNothingWritten();
      expect((await owner.get(`${path}/${created.id}`)).data).toEqual(created);
    });
  }
}
