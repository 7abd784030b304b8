// Records at a timestamp, and their next incarnations. Part of the battery for every kind of record.

import { expect, test } from "bun:test";
import { parseInstant } from "../../../src/base/instant.ts";
import { invalid, made, refusal, type Wire } from "../appliance/factories.ts";
import { type RecordSubject, shift, withEndedParts } from "./record-subject.ts";

export function describeHistory(subject: RecordSubject): void {
  const { path, change, isDeletable, none, known, changed, create, update, remove } = subject;
  const { clock, owner, versionsOf } = subject.appliance;

  test(`is visible to \`at\` from its first instant ${isDeletable ? "to its last, and not a millisecond longer" : "on, and not a millisecond earlier"}`, async () => {
    const created = await create();
    const id = created.id;
    clock.advance(5_000);
    const updated = await made(update(id, changed(known())));
    clock.advance(5_000);
    const closed = isDeletable ? await made(remove(id)) : null;
    clock.advance(5_000);

    expect(updated).toMatchObject({ id, created_at: created.created_at, ...none("valid_to") });
    expect(updated.updated_at).toBe(updated.valid_from);
    expect(updated[change.field]).toEqual(changed(known())[change.field]);
    const ended = versionsOf(id).at(-1)?.valid_from as string;
    // The children of a record outlive its changes, and end with it.
    const first = { ...(closed === null ? created : withEndedParts(created, ended)), valid_to: updated.valid_from };
    const last = closed === null ? updated : { ...withEndedParts(updated, ended), valid_to: ended };
    if (closed !== null) expect(closed).toEqual(last);
    const expected: Array<[string, Wire | null]> = [
      [shift(created.valid_from, -1), null],
      [created.valid_from, first],
      [shift(updated.valid_from, -1), first],
      [updated.valid_from, last],
      ...(closed === null
        ? [[clock.text(), last] as [string, Wire]]
        : [
            [shift(ended, -1), last] as [string, Wire],
            [ended, null] as [string, null],
            [shift(ended, 1), null] as [string, null],
          ]),
    ];
    for (const [at, record] of expected) {
      const one = await owner.get(`${path}/${id}?at=${at}`);
      if (record === null) expect(one).toMatchObject(refusal(404, "entity_not_found"));
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
      expect(all.data.filter((each: Wire) => each.id === id)).toEqual(record === null ? [] : [record]);
      expect(all.body.meta.pagination.total_count).toBe(all.data.length);
    }
    expect((await owner.get(`${path}/${id}`)).status).toBe(closed === null ? 200 : 404);
    expect(versionsOf(id)).toMatchObject([
      { operation: "Created", changed: null, valid_from: created.valid_from },
      { operation: "Updated", changed: [change.field], valid_from: updated.valid_from },
      ...(closed === null ? [] : [{ operation: "Deleted" as const, changed: null, valid_from: ended }]),
    ]);
  });
  test("has an `updated_at` that always increases, even if the clock is set back", async () => {
    const created = await create();
    const versions = [created];
    for (const back of [-60_000, -3_600_000, 0]) {
      clock.advance(back);
      const last = versions.at(-1) as Wire;
      const sent = Bun.deepEquals(last[change.field], known()[change.field]) ? changed(known()) : known();
      versions.push(await made(update(created.id, sent)));
    }
    const instants = versions.map((version) => parseInstant(version.updated_at) as number);
    expect(instants).toEqual([...instants].sort((a, b) => a - b));
    expect(new Set(instants).size).toBe(4);
    // The clock is behind all of them: any timestamp from then on is the present.
    expect((await owner.get(`${path}/${created.id}?at=${created.valid_from}`)).data).toEqual(versions.at(-1) as Wire);
    clock.advance(7_200_000);
    for (const [position, version] of versions.entries()) {
      const next = versions[position + 1];
      expect((await owner.get(`${path}/${created.id}?at=${version.valid_from}`)).data).toEqual({
        ...version,
        ...(next === undefined ? none("valid_to") : { valid_to: next.valid_from }),
      });
    }
  });
}

export function describeIncarnations(subject: RecordSubject): void {
  const { battery, path, entity, isDeletable, none, body, known, createAs, create, update, remove, other } = subject;
  const { owner, writingWatched } = subject.appliance;

  if (battery.unique !== null) {
    const unique = battery.unique;
    test("is unique among live records of its kind", async () => {
      const first = await create(1);
      const second = await create(2);
      const expectNothingWritten = writingWatched();
      const clash = { entity, field: unique, value: first[unique] };
      expect(await owner.post(path, body(1))).toMatchObject(refusal(409, "entity_already_exists", clash));
      expect(await update(second.id, { ...known(2), [unique]: first[unique] })).toMatchObject(
        battery.isUniqueFixed === true
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
      expect(second).toMatchObject(none("lineage_id"));
      expect((await owner.get(`${path}?ids=${first.id},${second.id}`)).data).toEqual([first, second]);
    });
  }

  test("is absent before the first transaction, and is the live one from now on", async () => {
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
    expect(await owner.get(`${path}/${created.id}?at=yesterday`)).toMatchObject({
      status: 400,
      body: { params: { issues: [{ path: "/at", value: "yesterday" }] } },
    });
  });
  if (isDeletable) {
    test(
      battery.hasLineage === false ? "is never the same as a previous one" : "gets its lineage when re-created",
      async () => {
        const first = await create(1);
        const lineage = battery.hasLineage === false ? none("lineage_id") : { lineage_id: first.id };
        await made(remove(first.id));
        const again = await create(1);
        expect(again).toMatchObject(lineage);
        expect(again.id).not.toBe(first.id);
        await made(remove(again.id));
        const last = await create(1);
        expect(last).toMatchObject(lineage);
        expect((await owner.get(`${path}/${last.id}`)).data).toEqual(last);
        const elsewhere = await other();
        expect(await createAs(elsewhere.client, body(1, elsewhere.containerId, elsewhere))).toMatchObject(
          none("lineage_id"),
        );
      },
    );
  }
}
