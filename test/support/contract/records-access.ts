// Read and write access to records: roles, keys, organizations, networks. Part of the suite for every kind of record.

import { expect, test } from "bun:test";
import type { TestAppliance } from "../appliance/appliance.ts";
import { expectOk, refusal } from "../appliance/factories.ts";
import { csvRecords } from "./csv.ts";
import { type RecordSubject, UNKNOWN_ID, withoutId } from "./record-subject.ts";

export function describeAccess(subject: RecordSubject): void {
  const {
    suite,
    path,
    entity,
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
  const { anonymous, first, newApiKey, newUser, owner, transactionCount, watchWrites } = subject.appliance;

  test("is hidden from anonymous callers before the request is examined", async () => {
    const attempts = [
      anonymous.get(`${path}?limit=wrong`),
      anonymous.get(`${path}/wrong`),
      anonymous.post(path, "{not json"),
      anonymous.put(`${path}/wrong`, { nonsense: 1 }),
      ...(isDeletable ? [anonymous.delete(`${path}/wrong`)] : []),
    ];
    for (const response of await Promise.all(attempts)) {
      expect(response).toMatchObject({ status: 401, body: { success: false, code: "auth_not_authenticated" } });
      expect(response.headers.get("www-authenticate")).toBe("Bearer");
    }
  });

  test(`is read by every role and written by ${suite.writeRole} and above`, async () => {
    const network = suite.scope === "is a network" ? await create() : null;
    const networkIds = [first.networkId, ...(network === null ? [] : [network.id as string])];
    const reader = await newUser({ role: subject.roleBelow, networkIds });
    const created =
      network ??
      (await createAs(owner, body(1, subject.containerId, { ...subject.appliance.first, userId: reader.id })));
    const expectNothingWritten = watchWrites();
    const lowerClient = reader.client;
    const attempts = [
      lowerClient.post(path, body(2)),
      lowerClient.post(path, { nonsense: 1 }),
      update(created.id, withChange(updateBody()), lowerClient),
      ...(isDeletable ? [remove(created.id, lowerClient)] : []),
    ];
    for (const response of await Promise.all(attempts)) {
      expect(response).toMatchObject(
        refusal(403, "auth_permission_denied", { required: suite.writeRole, actual: subject.roleBelow }),
      );
    }
    expectNothingWritten();
    expect((await lowerClient.get(`${path}/${created.id}`)).data).toEqual(created);
    expect((await lowerClient.get(`${path}?ids=${created.id}`)).data).toEqual([created]);

    const writer = await newUser({ role: suite.writeRole, networkIds });
    const scope = { ...subject.appliance.first, userId: writer.id };
    const written = await createAs(writer.client, body(2, subject.containerId, scope));
    expect(
      await update(written.id, withChange(updateBody(2, subject.containerId, scope)), writer.client),
    ).toMatchObject({
      status: 200,
    });
    if (isDeletable) expect(await remove(written.id, writer.client)).toMatchObject({ status: 200 });
  });

  if (suite.isSessionOnly === true) {
    test("requires a session: an API key of any role is refused before the request is examined", async () => {
      const created = await create();
      const { client } = newApiKey();
      const expectNothingWritten = watchWrites();
      const attempts = [
        client.get(path),
        client.get(`${path}/${created.id}`),
        client.post(path, "{not json"),
        client.post(path, body(2)),
        update(created.id, withChange(updateBody()), client),
        remove(created.id, client),
      ];
      for (const response of await Promise.all(attempts))
        expect(response).toMatchObject(refusal(403, "auth_session_required"));
      expectNothingWritten();
    });
  } else {
    test("is written and read by an API key as by its user, and the ledger distinguishes the two", async () => {
      const { id, client } = newApiKey();
      const created = await createAs(client, body());
      expect(lastActor(subject.appliance)).toEqual({ actor_type: "ApiKey", actor_id: id });
      for (const caller of [owner, client]) {
        expect((await caller.get(`${path}/${created.id}`)).data).toEqual(created);
        expect((await caller.get(`${path}?ids=${created.id}`)).data).toEqual([created]);
      }
      await expectOk(update(created.id, withChange(updateBody())));
      expect(lastActor(subject.appliance)).toEqual({ actor_type: "User", actor_id: first.userId });
      const lastWrite = isDeletable ? remove(created.id, client) : update(created.id, updateBody(), client);
      expect((await lastWrite).status).toBe(200);
      expect(lastActor(subject.appliance)).toEqual({ actor_type: "ApiKey", actor_id: id });
    });
  }

  test(`is the same 404 when unknown${isDeletable ? ", deleted" : ""} or of another organization`, async () => {
    const hidden: string[] = [];
    if (isDeletable) {
      const deleted = await create();
      await expectOk(remove(deleted.id));
      hidden.push(deleted.id);
    }
    const second = await otherOrganization();
    const foreign = await createAs(second.client, body(1, second.containerId, second));
    hidden.push(foreign.id);
    const expectNothingWritten = watchWrites();
    for (const attempt of [
      (id: string) => owner.get(`${path}/${id}`),
      (id: string) => update(id, updateBody(2)),
      (id: string) => update(id, updateBody(2), owner, { "if-match": '"1"' }),
      ...(isDeletable ? [(id: string) => remove(id)] : []),
    ]) {
      const unknown = withoutId(await attempt(UNKNOWN_ID), UNKNOWN_ID);
      expect(unknown).toMatchObject(refusal(404, "entity_not_found", { entity, id: "<id>" }));
      for (const id of hidden) expect(withoutId(await attempt(id), id)).toEqual(unknown);
    }
    expect((await owner.get(`${path}?ids=${foreign.id}&ids=${UNKNOWN_ID}`)).body).toMatchObject({
      data: [],
      meta: { pagination: { total_count: 0 } },
    });
    for (const limit of ["1000", "0"])
      expect((await owner.get(`${path}?limit=${limit}`)).text).not.toContain(foreign.id);
    expectNothingWritten();
    expect((await second.client.get(`${path}/${foreign.id}`)).data).toEqual(foreign);
  });

  test("belongs to the caller's organization only", async () => {
    const second = await otherOrganization();
    const expectNothingWritten = watchWrites();
    expect(await owner.post(path, { ...body(), organization_id: second.organizationId })).toMatchObject(
      refusal(403, "entity_access_denied"),
    );
    expectNothingWritten();
    const created = await createAs(owner, { ...body(), organization_id: first.organizationId.toUpperCase() });
    const written = transactionCount();
    expect(
      await update(created.id, { ...withChange(updateBody()), organization_id: second.organizationId }),
    ).toMatchObject(refusal(403, "entity_access_denied"));
    expect(transactionCount()).toBe(written);
    expect((await owner.get(`${path}/${created.id}`)).data).toEqual(created);
  });
}

export function describeReach(subject: RecordSubject): void {
  const {
    suite,
    path,
    entity,
    container,
    deletion,
    inNetwork,
    body,
    updateBody,
    withChange,
    createAs,
    create,
    update,
    remove,
    otherOrganization,
  } = subject;
  const { first, instant, newApiKey, newUser, owner, watchWrites } = subject.appliance;

  for (const reference of suite.references) {
    test(`accepts in ${reference.field} only a ${reference.entity} visible to the caller`, async () => {
      const second = await otherOrganization();
      const foreign = await reference.create(second.client, second.networkId, second.containerId);
      const own = await reference.create(owner, first.networkId, subject.containerId);
      const created = await create(1);
      const expectNothingWritten = watchWrites();
      // An update does not look up fixed references, such as the container.
      const isFixed = reference.field === container.field;
      const attempts = [
        (id: string) => owner.post(path, reference.withReference(body(2), id)),
        ...(isFixed ? [] : [(id: string) => update(created.id, reference.withReference(updateBody(1), id))]),
      ];
      for (const attempt of attempts) {
        const unknown = withoutId(await attempt(UNKNOWN_ID), UNKNOWN_ID);
        expect(unknown).toMatchObject(
          refusal(400, "entity_reference_invalid", { entity: reference.entity, field: reference.field, ids: ["<id>"] }),
        );
        expect(withoutId(await attempt(foreign), foreign)).toEqual(unknown);
      }
      expectNothingWritten();
      expect((await owner.post(path, reference.withReference(body(2), own))).status).toBe(200);
      if (!isFixed) expect((await update(created.id, reference.withReference(updateBody(1), own))).status).toBe(200);
    });
  }

  if (inNetwork) {
    test("is invisible to a Member without access to its network, at any time", async () => {
      const hidden = {
        ...subject.appliance.first,
        networkId: (await expectOk(owner.post("networks", { name: "Hidden" }))).id as string,
      };
      const hiddenContainer = await container.create(owner, hidden.networkId);
      const visibleRecord = await create(1);
      const hiddenRecord = await createAs(owner, body(2, hiddenContainer, hidden));
      const at = instant();
      const networkless = (await newUser({ role: "Member" })).client;
      const member = (await newUser({ role: "Member", networkIds: [first.networkId] })).client;
      const key = newApiKey({ networkIds: [first.networkId] }).client;
      const bothNetworks = (await newUser({ role: "Viewer", networkIds: [hidden.networkId, first.networkId] })).client;
      for (const atQuery of ["", `&at=${at}`]) {
        for (const [client, records] of [
          [member, [visibleRecord]],
          [key, [visibleRecord]],
          [bothNetworks, [visibleRecord, hiddenRecord]],
          [networkless, []],
          [owner, [visibleRecord, hiddenRecord]],
        ] as const) {
          for (const limit of ["50", "0"]) {
            const list = await client.get(`${path}?limit=${limit}${atQuery}`);
            expect(list.data).toEqual([...records]);
            expect(list.body.meta.pagination.total_count).toBe(records.length);
          }
          const reachesHidden = client === bothNetworks || client === owner;
          for (const query of [
            `network_id=${hidden.networkId}`,
            `ids=${hiddenRecord.id}`,
            `network_id=${hidden.networkId}&ids=${hiddenRecord.id},${visibleRecord.id}`,
          ]) {
            const list = await client.get(`${path}?${query}${atQuery}`);
            expect(list).toMatchObject({
              status: 200,
              data: reachesHidden ? [hiddenRecord] : [],
              body: { meta: { pagination: { total_count: reachesHidden ? 1 : 0 } } },
            });
          }
          for (const query of ["", `network_id=${hidden.networkId}`, `ids=${hiddenRecord.id}`]) {
            const { text } = await client.get(`${path}/export/csv?${query}${atQuery}`);
            expect(text.includes(hiddenRecord.id)).toBe(reachesHidden);
            if (!reachesHidden && query !== "") expect(csvRecords(text)).toEqual([]);
          }
          const single = await client.get(`${path}/${hiddenRecord.id}${atQuery.replace("&", "?")}`);
          expect(single.status).toBe(reachesHidden ? 200 : 404);
        }
      }
      const expectNothingWritten = watchWrites();
      // Users with a higher role can access every network; their keys may not.
      for (const client of suite.writeRole === "Member" ? [member, key, networkless] : [key]) {
        expect(await update(hiddenRecord.id, withChange(updateBody(2, hiddenContainer, hidden)), client)).toMatchObject(
          refusal(404, "entity_not_found"),
        );
        expect(await remove(hiddenRecord.id, client)).toMatchObject(refusal(404, "entity_not_found"));
        const bulk = await client.post(`${path}/bulk-delete${deletion}`, [visibleRecord.id, hiddenRecord.id]);
        expect(bulk).toMatchObject(
          refusal(400, "entity_reference_invalid", {
            entity,
            field: "ids",
            ids: client === networkless ? [visibleRecord.id, hiddenRecord.id] : [hiddenRecord.id],
          }),
        );
        const outOfReach = withoutId(await client.post(path, body(3, hiddenContainer, hidden)), hiddenContainer);
        expect(outOfReach).toMatchObject(
          refusal(400, "entity_reference_invalid", { entity: container.entity, field: container.field }),
        );
        expect(withoutId(await client.post(path, body(3, UNKNOWN_ID, hidden)), UNKNOWN_ID)).toEqual(outOfReach);
      }
      expectNothingWritten();
      expect(
        (await update(visibleRecord.id, withChange(updateBody(1)), suite.writeRole === "Member" ? member : key)).status,
      ).toBe(200);
    });
  }
}

/** Actor of the last transaction in the ledger. */
function lastActor(appliance: TestAppliance): unknown {
  return appliance.reader.db
    .query("SELECT actor_type, actor_id FROM history_transactions ORDER BY sequence DESC LIMIT 1")
    .get();
}
