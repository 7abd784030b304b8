// Table walk: extent, termination, and handling of misbehaving agents.

import { describe, expect, test } from "bun:test";
import { failure, type SnmpFailure } from "../../src/discovery/snmp/failure.ts";
import { compareOids } from "../../src/discovery/snmp/oid.ts";
import type { AgentReply, SnmpRequest } from "../../src/discovery/snmp/requests.ts";
import { newPace, type WalkOptions, walk } from "../../src/discovery/snmp/walk.ts";
import {
  errorOf,
  fakeRequester,
  naiveOrder,
  replyOf,
  type Served,
  type ViewOptions,
} from "../support/injected/fake-requester.ts";
import { seededRandom } from "../support/injected/seeded-random.ts";

const TABLE = "1.3.6.1.2.1.2.2.1";
const [INDEX, DESCR, SPEED] = [`${TABLE}.1`, `${TABLE}.2`, `${TABLE}.10`];
const COLUMNS = { index: INDEX, descr: DESCR, speed: SPEED };
const NO_ANSWER = failure("no_answer");

/** An index, a description and a speed per row. */
function rows(count: number, from = 1): Record<string, Served> {
  const served: Record<string, Served> = {};
  for (let row = from; row < from + count; row += 1) {
    served[`${INDEX}.${row}`] = [2, row];
    served[`${DESCR}.${row}`] = [4, Buffer.from(`port ${row}`)];
    served[`${SPEED}.${row}`] = [66, row * 1_000];
  }
  return served;
}

const surroundingObjects: Record<string, Served> = {
  "1.3.6.1.2.1.1.1.0": [4, Buffer.from("a switch")],
  "1.3.6.1.2.1.31.1.1.1.1.1": [4, Buffer.from("behind")],
};

async function walkView(
  served: Readonly<Record<string, Served>>,
  view: ViewOptions = {},
  options: Partial<WalkOptions> = {},
  columns: Record<string, string> = COLUMNS,
) {
  const requester = fakeRequester(served, view);
  const result = await walk(requester, columns, { signal: new AbortController().signal, ...options });
  return { ...result, requests: requester.requests };
}

function sizes({ columns }: Pick<Awaited<ReturnType<typeof walk>>, "columns">): Record<string, string> {
  const sizeOf = (size: number, isComplete: boolean) => `${size}${isComplete ? "" : " partial"}`;
  return Object.fromEntries(
    [...columns].map(([name, { values, isComplete }]) => [name, sizeOf(values.size, isComplete)]),
  );
}

/** Whether the response to a request would contain a row of a column. */
function coversRow(request: SnmpRequest, column: string, row: number): boolean {
  return request.oids.some((oid) => {
    const from = oid === column ? 0 : oid.startsWith(`${column}.`) ? Number(oid.slice(column.length + 1)) : Number.NaN;
    return from < row && from + (request.maxRepetitions ?? 1) >= row;
  });
}

describe("the order of OIDs", () => {
  test("is numeric, regardless of their lengths", () => {
    const random = seededRandom(1);
    const oid = (): string =>
      Array.from({ length: 1 + random.integer(4) }, () =>
        random.pick([0, 1, 2, 9, 10, 11, 19, 99, 100, 127, 128, 4_294_967_295]),
      ).join(".");
    for (let round = 0; round < 5_000; round += 1) {
      const [a, b] = [oid(), oid()];
      expect(`${a} ${b} ${Math.sign(compareOids(a, b))}`).toBe(`${a} ${b} ${Math.sign(naiveOrder(a, b))}`);
    }
  });

  test("puts the empty OID first", () => {
    expect(compareOids("", "0")).toBeLessThan(0);
    expect(compareOids("", "")).toBe(0);
  });
});

describe("a walk", () => {
  test.each(["GetBulk", "GetNext"])("reads every column to the last row and nothing beyond, by %s", async (kind) => {
    const result = await walkView({ ...surroundingObjects, ...rows(130) }, { hasBulk: kind === "GetBulk" });
    expect(sizes(result)).toEqual({ index: "130", descr: "130", speed: "130" });
    expect([...(result.columns.get("speed")?.values ?? [])].slice(8, 11)).toEqual([
      ["9", 9_000],
      ["10", 10_000],
      ["11", 11_000],
    ]);
    expect(result.failure).toBeNull();
    expect(result.requests.every((request) => request.kind === kind)).toBe(true);
  });

  test.each([true, false])("treats the end of the MIB view as the end of the column (GETBULK: %p)", async (hasBulk) => {
    expect(sizes(await walkView(rows(30), { hasBulk }))).toEqual({ index: "30", descr: "30", speed: "30" });
    expect(sizes(await walkView({}, { hasBulk }))).toEqual({ index: "0", descr: "0", speed: "0" });
  });

  test("reads columns of different lengths, with holes, each by its own rows", async () => {
    const served = { ...surroundingObjects, ...rows(40) };
    for (const row of [1, 7, 40]) delete served[`${DESCR}.${row}`];
    delete served[`${SPEED}.3`];
    served[`${SPEED}.99`] = [66, 5];
    expect(sizes(await walkView(served))).toEqual({ index: "40", descr: "37", speed: "40" });
  });

  test("does not confuse columns with a common number prefix", async () => {
    const result = await walkView({ [`${TABLE}.1.5`]: [2, 5], [`${TABLE}.10.5`]: [66, 7] }, {}, {}, { index: INDEX });
    expect([...(result.columns.get("index")?.values ?? [])]).toEqual([["5", 5]]);
  });

  test("requests as much as fits into one datagram", async () => {
    const { requests } = await walkView(rows(2_000));
    const requestedCounts = requests.map((request) => request.oids.length * (request.maxRepetitions ?? 1));
    expect(Math.max(...requestedCounts)).toBeGreaterThan(25);
    expect(Math.max(...requestedCounts) * 40 + 60).toBeLessThanOrEqual(1_400);
    expect(requests.length).toBeLessThan(220);
  });

  test("reads many columns in groups", async () => {
    const served: Record<string, Served> = {};
    const columns: Record<string, string> = {};
    for (let column = 1; column <= 40; column += 1) {
      columns[`c${column}`] = `${TABLE}.${column}`;
      for (let row = 1; row <= 5; row += 1) served[`${TABLE}.${column}.${row}`] = [2, row];
    }
    const result = await walkView(served, {}, {}, columns);
    expect(Object.values(sizes(result))).toEqual(Array.from({ length: 40 }, () => "5"));
    expect(Math.max(...result.requests.map((request) => request.oids.length))).toBeLessThanOrEqual(16);
  });

  test("continues after responses shorter than requested", async () => {
    for (const maxVarbinds of [1, 2, 4, 7]) {
      const result = await walkView({ ...surroundingObjects, ...rows(20) }, { maxVarbinds });
      expect(sizes(result)).toEqual({ index: "20", descr: "20", speed: "20" });
    }
  });

  test("skips missing values, and continues after them", async () => {
    const result = await walkView({ ...rows(3), [`${DESCR}.2`]: [5, null] });
    expect(sizes(result)).toEqual({ index: "3", descr: "2", speed: "3" });
  });

  test("reads any table, even if the agent's responses are small", async () => {
    const random = seededRandom(7);
    for (let round = 0; round < 150; round += 1) {
      const served: Record<string, Served> = {};
      const expected: Record<string, string[]> = {};
      const columns: Record<string, string> = {};
      for (let column = 1; column <= 1 + random.integer(6); column += 1) {
        const oid = `${TABLE}.${column * random.pick([1, 1, 10])}`;
        columns[oid] = oid;
        const indexes = Array.from({ length: random.integer(30) }, () =>
          Array.from({ length: 1 + random.integer(3) }, () => random.integer(130)).join("."),
        );
        expected[oid] = [...new Set(indexes)].sort(naiveOrder);
        for (const index of indexes) served[`${oid}.${index}`] = [2, 1];
      }
      const all = random.integer(2) === 0 ? served : { ...surroundingObjects, ...served };
      const view = { hasBulk: random.integer(4) > 0, maxVarbinds: 1 + random.integer(40) };
      const result = await walkView(all, view, {}, columns);
      const read = Object.fromEntries([...result.columns].map(([name, column]) => [name, [...column.values.keys()]]));
      expect(read).toEqual(expected);
      expect([...result.columns.values()].every((column) => column.isComplete)).toBe(true);
    }
  });
});

describe("a walk of an agent that does not advance", () => {
  test("ends a column that repeats, with its rows, and reads the others", async () => {
    const result = await walkView(rows(20), {
      maxVarbinds: 6,
      before: (request) => {
        const descrIndex = request.oids.indexOf(`${DESCR}.20`);
        if (descrIndex === -1) return undefined;
        // The others have ended as well.
        return replyOf(
          request.oids.map((oid, index) =>
            index === descrIndex ? { oid, type: 4, value: Buffer.from("again") } : { oid, type: 130, value: null },
          ),
        );
      },
    });
    expect(sizes(result)).toEqual({ index: "20", descr: "20 partial", speed: "20" });
    expect(result.columns.get("descr")?.problem).toBe(`the device repeats ${DESCR}.20 endlessly`);
    expect(result.failure).toBeNull();
  });

  test("ends a column that goes backwards, within the column or outside it", async () => {
    for (const earlierOid of [`${INDEX}.3`, "1.3.6.1.2.1.1.1.0"]) {
      const earlier = replyOf([{ oid: earlierOid, type: 2, value: 3 }]);
      const before = ({ oids }: SnmpRequest) => (oids[0] === `${INDEX}.9` ? earlier : undefined);
      const result = await walkView(rows(20), { maxVarbinds: 3, before }, {}, { index: INDEX });
      expect(sizes(result)).toEqual({ index: "9 partial" });
      const problem = `the device's responses do not advance: after ${INDEX}.9 came ${earlierOid}`;
      expect(result.columns.get("index")?.problem).toBe(problem);
    }
  });

  test("ends an endless column at the limit", async () => {
    const endless = (request: SnmpRequest): AgentReply => {
      const [oid = ""] = request.oids;
      const last = oid === INDEX ? 0 : Number(oid.slice(INDEX.length + 1));
      const rowAfter = (_: unknown, row: number) => ({ oid: `${INDEX}.${last + row + 1}`, type: 2, value: 1 });
      return replyOf(Array.from({ length: request.maxRepetitions ?? 1 }, rowAfter));
    };
    const result = await walkView({}, { before: endless }, { rowCap: 1_000 }, { index: INDEX });
    expect(sizes(result)).toEqual({ index: "1000 partial" });
    expect(result.columns.get("index")?.problem).toBe("it has more than 1,000 rows");

    const columns = Object.fromEntries([1, 2, 3, 4, 5].map((column) => [`c${column}`, `${TABLE}.${column}`]));
    let next = 0;
    const wide = (request: SnmpRequest): AgentReply => {
      const varbinds = [];
      for (let row = 0; row < 50; row += 1) {
        next += 1;
        for (const oid of request.oids)
          varbinds.push({ oid: `${oid.split(".").slice(0, 10).join(".")}.${next}`, type: 2, value: 1 });
      }
      return replyOf(varbinds);
    };
    const pace = newPace();
    const capped = await walkView({}, { before: wide }, { valueCap: 6_000, pace }, columns);
    expect(capped.failure?.reason).toBe("row_cap");
    const valuesOf = (result: typeof capped) =>
      [...result.columns.values()].reduce((count, column) => count + column.values.size, 0);
    expect(valuesOf(capped)).toBeLessThan(6_000 + 250 + 1);
    // The cap applies to the device: its next table does not get the same time again.
    const after = await walkView({}, { before: wide }, { valueCap: 6_000, pace }, columns);
    expect(after.failure?.reason).toBe("row_cap");
    expect(valuesOf(after)).toBeLessThan(251);
  });

  test("ends for arbitrary responses", async () => {
    const random = seededRandom(11);
    for (let round = 0; round < 200; round += 1) {
      let count = 0;
      const result = await walkView(
        {},
        {
          hasBulk: random.integer(2) === 0,
          before: (request) => {
            count += 1;
            expect(count).toBeLessThan(2_000);
            if (random.integer(8) === 0) return errorOf(random.integer(20), random.integer(5) - 1);
            if (random.integer(12) === 0) return failure(random.pick(["garbage", "no_answer"]));
            return replyOf(
              Array.from({ length: random.integer(12) }, () => {
                const oid =
                  random.integer(3) === 0
                    ? `${random.pick(request.oids)}.${random.integer(9)}`
                    : `1.3.6.1.2.1.${random.integer(4)}.2.1.${random.integer(12)}.${random.integer(50)}`;
                return {
                  oid: random.integer(30) === 0 ? "0.NaN" : oid,
                  type: random.pick([2, 2, 4, 5, 6, 64, 70, 128, 130, 3]),
                  value: random.pick([1, null, "1.3", Buffer.from("x"), undefined]),
                };
              }),
            );
          },
        },
      );
      for (const column of result.columns.values()) expect(column.isComplete).toBe(column.problem === null);
    }
  });
});

describe("a walk of an agent with limitations", () => {
  test("requests less once a response is too big, even in the next walk", async () => {
    const pace = newPace();
    const tooBig = (request: SnmpRequest): AgentReply | undefined =>
      request.oids.length * (request.maxRepetitions ?? 1) > 5 ? errorOf(1, 0) : undefined;
    const result = await walkView({ ...surroundingObjects, ...rows(30) }, { before: tooBig }, { pace });
    expect(sizes(result)).toEqual({ index: "30", descr: "30", speed: "30" });
    expect(pace.ceiling).toBeLessThanOrEqual(5);
    const again = await walkView({ ...surroundingObjects, ...rows(3) }, { before: tooBig }, { pace });
    expect(again.requests.every((request) => tooBig(request) === undefined)).toBe(true);
  });

  test("gives up only the column with a single oversized value", async () => {
    const result = await walkView(rows(10), {
      before: (request) => (coversRow(request, DESCR, 5) ? errorOf(1, 0) : undefined),
    });
    expect(sizes(result)).toEqual({ index: "10", descr: "4 partial", speed: "10" });
  });

  test("requests less after a timeout, and ends with its rows after the second consecutive one", async () => {
    const silentAbove =
      (limit: number) =>
      (request: SnmpRequest): SnmpFailure | undefined =>
        request.oids.length * (request.maxRepetitions ?? 1) > limit ? NO_ANSWER : undefined;
    const slow = await walkView({ ...surroundingObjects, ...rows(20) }, { before: silentAbove(8) });
    expect(sizes(slow)).toEqual({ index: "20", descr: "20", speed: "20" });

    const dropping = await walkView(
      { ...surroundingObjects, ...rows(30) },
      { maxVarbinds: 9, before: (_request, count) => (count === 2 || count === 4 ? NO_ANSWER : undefined) },
    );
    expect(sizes(dropping)).toEqual({ index: "30", descr: "30", speed: "30" });

    const pace = newPace();
    const silentAfterFirst = (_request: SnmpRequest, count: number) => (count > 1 ? NO_ANSWER : undefined);
    const dead = await walkView(rows(20), { before: silentAfterFirst }, { pace });
    expect(dead.failure).toEqual(NO_ANSWER);
    expect(dead.requests).toHaveLength(3);
    expect(Object.values(sizes(dead)).every((size) => /^[1-9]\d* partial$/.test(size))).toBe(true);
    expect(dead.columns.get("index")?.problem).toBe(NO_ANSWER.clause);
    expect(pace.ceiling).toBe(newPace().ceiling);
  });

  test("gives up only the column with a general error, after the rows before it", async () => {
    for (const hasIndex of [true, false]) {
      for (const hasBulk of [true, false]) {
        const failAtRow = (request: SnmpRequest): AgentReply | undefined => {
          const descrIndex = request.oids.findIndex((oid) => oid.startsWith(DESCR));
          return coversRow(request, DESCR, 13) ? errorOf(5, hasIndex ? descrIndex + 1 : 0) : undefined;
        };
        const result = await walkView({ ...surroundingObjects, ...rows(40) }, { hasBulk, before: failAtRow });
        expect(sizes(result)).toEqual({ index: "40", descr: "12 partial", speed: "40" });
        expect(result.columns.get("descr")?.problem).toBe("the device returned an error (genErr)");
        expect(result.failure).toBeNull();
      }
    }
  });

  test("gives up only the refused column", async () => {
    const result = await walkView(rows(4), {
      before: (request) => (request.oids.includes(SPEED) ? errorOf(16, request.oids.indexOf(SPEED) + 1) : undefined),
    });
    expect(sizes(result)).toEqual({ index: "4", descr: "4", speed: "0 partial" });
    expect(result.columns.get("speed")?.problem).toBe("the device refuses access");
  });

  test("isolates a column with malformed responses", async () => {
    const before = ({ oids }: SnmpRequest) =>
      oids.some((oid) => oid.startsWith(DESCR)) ? failure("garbage") : undefined;
    const result = await walkView(rows(30), { before });
    expect(sizes(result)).toEqual({ index: "30", descr: "0 partial", speed: "30" });
    // Afterwards the others are read in parallel again, many rows at once.
    expect(result.requests.length).toBeLessThan(12);
  });

  test("keeps the rows before a truncation", async () => {
    const before = ({ oids }: SnmpRequest, count: number) => {
      const first = oids.map((oid) => ({ oid: `${oid}.1`, type: 2, value: 1 }));
      return count === 1 ? replyOf([...first, { oid: `${INDEX}.2`, type: 4, value: null }]) : undefined;
    };
    const result = await walkView(rows(30), { before });
    expect(sizes(result)).toEqual({ index: "30", descr: "30", speed: "30" });
  });

  test("ends immediately for permanent conditions: a closed port, the scan's end, the deadline", async () => {
    const reasons = ["port_closed", "unreachable", "wrong_user", "cancelled", "deadline", "unsupported"] as const;
    for (const permanent of reasons.map((reason) => failure(reason))) {
      const before = (_request: SnmpRequest, count: number) => (count === 2 ? permanent : undefined);
      const result = await walkView(rows(30), { before });
      expect(result.failure?.reason).toBe(permanent.reason);
      expect(result.requests).toHaveLength(2);
      expect([...result.columns.values()].map((column) => column.problem)).toEqual(Array(3).fill(permanent.clause));
    }
  });
});
