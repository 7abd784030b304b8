// Records in pages, by ids and as CSV. Part of the suite for every kind of record.

import { expect, test } from "bun:test";
import type { TObject } from "@sinclair/typebox";
import { expectOk, invalid, type JsonRecord, refusal } from "../appliance/factories.ts";
import { csvRecords, parseCsv } from "./csv.ts";
import { type RecordSubject, UNKNOWN_ID } from "./record-subject.ts";
import { BY_DEFINITION, ON_REQUEST } from "./records-writes.ts";

export function describeLists(subject: RecordSubject): void {
  const { path, create } = subject;
  const { instant, owner } = subject.appliance;

  test("is paged by creation, each page with the total", async () => {
    const before = (await owner.get(`${path}?limit=1000`)).data as JsonRecord[];
    const created: JsonRecord[] = [];
    for (let position = 1; position <= 5; position += 1) created.push(await create(position));
    const total = before.length + created.length;
    const at = instant();
    for (const atQuery of ["", `&at=${at}`]) {
      const pagination = async (query: string) => {
        const { data, body: response } = await owner.get(`${path}?${query}${atQuery}`);
        return { data, ...response.meta.pagination };
      };
      // Existing records may have been observed since, which reads of the past omit.
      const current = (await pagination("limit=1000")).data.slice(0, before.length) as JsonRecord[];
      expect(current.map((record) => record.id)).toEqual(before.map((record) => record.id));
      const records = [...current, ...created];
      const page = (data: JsonRecord[], limit: number, offset = 0, has_more = false) => {
        return { data, total_count: total, limit, offset, has_more };
      };
      expect(await pagination("")).toEqual(page(records, 50));
      expect(await pagination("limit=2")).toEqual(page(records.slice(0, 2), 2, 0, true));
      expect(await pagination(`limit=2&offset=${total - 2}`)).toEqual(page(records.slice(-2), 2, total - 2));
      expect(await pagination(`limit=2&offset=${total - 3}`)).toEqual(page(records.slice(-3, -1), 2, total - 3, true));
      expect(await pagination(`offset=${total}`)).toEqual(page([], 50, total));
      expect(await pagination("offset=2147483647")).toMatchObject({ data: [], total_count: total, has_more: false });
      expect(await pagination("limit=0")).toEqual(page(records, 0));
      expect(await pagination("limit=0&offset=2")).toEqual(page(records.slice(2), 0, 2));
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
  ])("is not listed with %s, which is refused with the invalid value", async (query, pointer, value) => {
    const response = await owner.get(`${path}?${query}`);
    expect(response).toMatchObject(invalid({ path: pointer, value }));
    expect(response.headers.get("content-type")).toStartWith("application/json");
  });

  test("is found by its id in a list, in each notation for ids", async () => {
    const records = [await create(1), await create(2), await create(3)];
    const [a, , c] = records.map((record) => record.id as string) as [string, string, string];
    for (const query of [
      `ids=${c}&ids=${a}`,
      `ids=${c},${a}`,
      `ids[]=${c}&ids[]=${a}`,
      `ids%5B%5D=${c},${a.toUpperCase()}`,
      `ids=${a}&ids=${a}&ids=${c}&ids=${UNKNOWN_ID}`,
    ]) {
      const response = await owner.get(`${path}?${query}`);
      expect(response.data).toEqual([records[0], records[2]]);
      expect(response.body.meta.pagination).toEqual({ total_count: 2, limit: 50, offset: 0, has_more: false });
    }
    expect((await owner.get(`${path}?ids=`)).data).toEqual([]);
    const { pagination } = (await owner.get(`${path}?ids=${a},${c}&limit=1`)).body.meta;
    expect(pagination).toEqual({ total_count: 2, limit: 1, offset: 0, has_more: true });
    const many = Array.from(
      { length: 301 },
      (_, position) => `${UNKNOWN_ID.slice(0, -4)}${position.toString().padStart(4, "0")}`,
    );
    expect((await owner.get(`${path}?ids=${many.slice(0, 300).join(",")}`)).status).toBe(200);
    expect(await owner.get(`${path}?ids=${many.join(",")}`)).toMatchObject(invalid({ path: "/ids" }));
  });
}

export function describeExports(subject: RecordSubject): void {
  const { suite, path, body, updateBody, withChange, createAs, create, update, otherOrganization } = subject;
  const { anonymous, instant, newApiKey, owner, surface } = subject.appliance;

  test("is exported row by row as listed, now and in the past", async () => {
    const others = (await owner.get(`${path}?limit=1000`)).data.length as number;
    const records = [await create(1), await create(2), await create(3)];
    const at = instant();
    await expectOk(update(records[0]?.id, withChange(updateBody(1))));
    const { routes } = surface;
    const route = routes.find((other) => `${other.method} ${other.path}` === `GET ${path}/:id`) as (typeof routes)[0];
    const fields = Object.keys((route.operation.responseSchema as TObject).properties).filter(
      (field) => ![...ON_REQUEST, ...BY_DEFINITION].includes(field),
    );
    for (const atQuery of ["", `at=${at}`]) {
      for (const filter of ["", `ids=${records[2]?.id},${UNKNOWN_ID}&ids=${records[0]?.id}`, "ids="]) {
        const listedRecords = (await owner.get(`${path}?limit=1000&${filter}&${atQuery}`)).data as JsonRecord[];
        const response = await owner.get(`${path}/export/csv?${filter}&${atQuery}`);
        expect(response.status).toBe(200);
        expect(response.headers.get("content-type")).toBe("text/csv; charset=utf-8; header=present");
        // Name columns are in between: name-columns.test.ts.
        const [head = ""] = response.text.split("\r\n");
        expect(head.split(",").filter((name) => fields.includes(name))).toEqual(fields);
        const rows = csvRecords(response.text);
        expect(listedRecords).toHaveLength(filter === "" ? others + 3 : filter === "ids=" ? 0 : 2);
        expect(rows.map((row) => row.id)).toEqual(listedRecords.map((record) => record.id));
        for (const [index, record] of listedRecords.entries()) {
          for (const field of fields) {
            const cell = cellOf(record[field]);
            if (cell !== null) expect([field, rows[index]?.[field]]).toEqual([field, cell]);
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

  test("is exported to callers who may list it, with the filters of lists only", async () => {
    const second = await otherOrganization();
    const foreign = await createAs(second.client, body(1, second.containerId, second));
    const created = await create(1);
    const text = (await owner.get(`${path}/export/csv`)).text;
    expect(text).toContain(created.id);
    for (const hidden of [foreign.id, second.organizationId]) expect(text).not.toContain(hidden);
    expect(csvRecords((await owner.get(`${path}/export/csv?ids=${foreign.id}`)).text)).toEqual([]);
    expect(await anonymous.get(`${path}/export/csv?limit=wrong`)).toMatchObject(refusal(401, "auth_not_authenticated"));
    if (suite.isSessionOnly === true)
      expect(await newApiKey().client.get(`${path}/export/csv`)).toMatchObject(refusal(403, "auth_session_required"));
    for (const [query, pointer, value] of [
      ["limit=5", "/limit", "5"],
      ["offset=1", "/offset", "1"],
      ["nmae=x", "/nmae", "x"],
      ["at=yesterday", "/at", "yesterday"],
      ["ids=x", "/ids/0", "x"],
    ]) {
      expect(await owner.get(`${path}/export/csv?${query}`)).toMatchObject(invalid({ path: pointer, value }));
    }
  });
}

/** Cell of a value; null for nested values, which each kind formats differently. */
function cellOf(value: unknown): string | null {
  if (value === null || value === undefined) return "";
  if (typeof value !== "object") return String(value);
  if (Array.isArray(value)) return value.every((item) => typeof item !== "object") ? value.join(";") : null;
  return Object.keys(value).join() === "type" ? (value as JsonRecord).type : null;
}
