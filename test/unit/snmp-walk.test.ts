// Table walk: extent, termination, and handling of misbehaving agents.

import { describe, expect, test } from "bun:test";
import { failure, type SnmpFailure } from "../../src/discovery/snmp/failure.ts";
import { compareOids } from "../../src/discovery/snmp/oid.ts";
import type { AgentReply, Question } from "../../src/discovery/snmp/requests.ts";
import { newPace, type WalkOptions, walk } from "../../src/discovery/snmp/walk.ts";
import {
  answerOf,
  askingView,
  errorOf,
  naiveOrder,
  type Served,
  type ViewOptions,
} from "../support/injected/asking-view.ts";
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

const around: Record<string, Served> = {
  "1.3.6.1.2.1.1.1.0": [4, Buffer.from("a switch")],
  "1.3.6.1.2.1.31.1.1.1.1.1": [4, Buffer.from("behind")],
};

function walkView(
  served: Readonly<Record<string, Served>>,
  view: ViewOptions = {},
  options: Partial<WalkOptions> = {},
  columns: Record<string, string> = COLUMNS,
) {
  const asking = askingView(served, view);
  return walk(asking, columns, { signal: new AbortController().signal, ...options }).then((walked) => ({
    ...walked,
    questions: asking.questions,
  }));
}

function sizes(walked: {
  columns: ReadonlyMap<string, { values: ReadonlyMap<string, unknown>; isComplete: boolean }>;
}): Record<string, string> {
  return Object.fromEntries(
    [...walked.columns].map(([name, column]) => [name, `${column.values.size}${column.isComplete ? "" : " partial"}`]),
  );
}

/** Whether the answer to a question would contain a row of a column. */
function reaches(question: Question, column: string, row: number): boolean {
  return question.oids.some((oid) => {
    const from = oid === column ? 0 : oid.startsWith(`${column}.`) ? Number(oid.slice(column.length + 1)) : Number.NaN;
    return from < row && from + (question.maxRepetitions ?? 1) >= row;
  });
}

describe("the order of OIDs", () => {
  test("is numeric, whatever their lengths", () => {
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
  test.each([
    ["GETBULK", true],
    ["GETNEXT", false],
  ] as const)("reads every column to its end and nothing beyond, by %s", async (_kind, hasBulk) => {
    const walked = await walkView({ ...around, ...rows(130) }, { hasBulk });
    expect(sizes(walked)).toEqual({ index: "130", descr: "130", speed: "130" });
    expect([...(walked.columns.get("speed")?.values ?? [])].slice(8, 11)).toEqual([
      ["9", 9_000],
      ["10", 10_000],
      ["11", 11_000],
    ]);
    expect(walked.failure).toBeNull();
    expect(walked.questions.every((question) => question.kind === (hasBulk ? "GetBulk" : "GetNext"))).toBe(true);
  });

  test.each([
    ["GETBULK", true],
    ["GETNEXT", false],
  ] as const)("treats the end of the MIB view as the end of the column, by %s", async (_kind, hasBulk) => {
    expect(sizes(await walkView(rows(30), { hasBulk }))).toEqual({ index: "30", descr: "30", speed: "30" });
    expect(sizes(await walkView({}, { hasBulk }))).toEqual({ index: "0", descr: "0", speed: "0" });
  });

  test("reads columns of different lengths, with holes, each by its own rows", async () => {
    const served = { ...around, ...rows(40) };
    for (const row of [1, 7, 40]) delete served[`${DESCR}.${row}`];
    delete served[`${SPEED}.3`];
    served[`${SPEED}.99`] = [66, 5];
    expect(sizes(await walkView(served))).toEqual({ index: "40", descr: "37", speed: "40" });
  });

  test("does not confuse columns with a common number prefix", async () => {
    const walked = await walkView({ [`${TABLE}.1.5`]: [2, 5], [`${TABLE}.10.5`]: [66, 7] }, {}, {}, { index: INDEX });
    expect([...(walked.columns.get("index")?.values ?? [])]).toEqual([["5", 5]]);
  });

  test("requests as much as fits into one datagram", async () => {
    const { questions } = await walkView(rows(2_000));
    const asked = questions.map((question) => question.oids.length * (question.maxRepetitions ?? 1));
    expect(Math.max(...asked)).toBeGreaterThan(25);
    expect(Math.max(...asked) * 40 + 60).toBeLessThanOrEqual(1_400);
    expect(questions.length).toBeLessThan(220);
  });

  test("reads many columns in groups", async () => {
    const served: Record<string, Served> = {};
    const columns: Record<string, string> = {};
    for (let column = 1; column <= 40; column += 1) {
      columns[`c${column}`] = `${TABLE}.${column}`;
      for (let row = 1; row <= 5; row += 1) served[`${TABLE}.${column}.${row}`] = [2, row];
    }
    const walked = await walkView(served, {}, {}, columns);
    expect(Object.values(sizes(walked))).toEqual(Array.from({ length: 40 }, () => "5"));
    expect(Math.max(...walked.questions.map((question) => question.oids.length))).toBeLessThanOrEqual(16);
  });

  test("continues after answers shorter than requested", async () => {
    for (const maxVarbinds of [1, 2, 4, 7])
      expect(sizes(await walkView({ ...around, ...rows(20) }, { maxVarbinds }))).toEqual({
        index: "20",
        descr: "20",
        speed: "20",
      });
  });

  test("skips missing values, and continues after them", async () => {
    const walked = await walkView({ ...rows(3), [`${DESCR}.2`]: [5, null] });
    expect(sizes(walked)).toEqual({ index: "3", descr: "2", speed: "3" });
  });

  test("reads any table, however small the agent's answers", async () => {
    const random = seededRandom(7);
    for (let round = 0; round < 150; round += 1) {
      const served: Record<string, Served> = {};
      const wanted: Record<string, string[]> = {};
      const columns: Record<string, string> = {};
      for (let column = 1; column <= 1 + random.integer(6); column += 1) {
        const oid = `${TABLE}.${column * random.pick([1, 1, 10])}`;
        columns[oid] = oid;
        const indexes = Array.from({ length: random.integer(30) }, () =>
          Array.from({ length: 1 + random.integer(3) }, () => random.integer(130)).join("."),
        );
        wanted[oid] = [...new Set(indexes)].sort(naiveOrder);
        for (const index of indexes) served[`${oid}.${index}`] = [2, 1];
      }
      const walked = await walkView(
        random.integer(2) === 0 ? served : { ...around, ...served },
        { hasBulk: random.integer(4) > 0, maxVarbinds: 1 + random.integer(40) },
        {},
        columns,
      );
      const read = Object.fromEntries([...walked.columns].map(([name, column]) => [name, [...column.values.keys()]]));
      expect(read).toEqual(wanted);
      expect([...walked.columns.values()].every((column) => column.isComplete)).toBe(true);
    }
  });
});

describe("a walk of an agent that does not advance", () => {
  test("ends a column that repeats, with its rows, and reads the others", async () => {
    const walked = await walkView(rows(20), {
      maxVarbinds: 6,
      before: (question) => {
        const at = question.oids.indexOf(`${DESCR}.20`);
        if (at === -1) return undefined;
        // The others have ended as well.
        return answerOf(
          question.oids.map((oid, index) =>
            index === at ? { oid, type: 4, value: Buffer.from("again") } : { oid, type: 130, value: null },
          ),
        );
      },
    });
    expect(sizes(walked)).toEqual({ index: "20", descr: "20 partial", speed: "20" });
    expect(walked.columns.get("descr")?.problem).toBe(`the device repeats ${DESCR}.20 endlessly`);
    expect(walked.failure).toBeNull();
  });

  test("ends a column that goes backwards, inside itself or outside", async () => {
    for (const back of [`${INDEX}.3`, "1.3.6.1.2.1.1.1.0"]) {
      const walked = await walkView(
        rows(20),
        {
          maxVarbinds: 3,
          before: (question) =>
            question.oids[0] === `${INDEX}.9` ? answerOf([{ oid: back, type: 2, value: 3 }]) : undefined,
        },
        {},
        { index: INDEX },
      );
      expect(sizes(walked)).toEqual({ index: "9 partial" });
      expect(walked.columns.get("index")?.problem).toBe(
        `the device's answers do not advance: after ${INDEX}.9 came ${back}`,
      );
    }
  });

  test("ends an endless column at the limit", async () => {
    const endless = (question: Question): AgentReply => {
      const [oid = ""] = question.oids;
      const last = oid === INDEX ? 0 : Number(oid.slice(INDEX.length + 1));
      return answerOf(
        Array.from({ length: question.maxRepetitions ?? 1 }, (_, row) => ({
          oid: `${INDEX}.${last + row + 1}`,
          type: 2,
          value: 1,
        })),
      );
    };
    const walked = await walkView({}, { before: endless }, { rowCap: 1_000 }, { index: INDEX });
    expect(sizes(walked)).toEqual({ index: "1000 partial" });
    expect(walked.columns.get("index")?.problem).toBe("it has more than 1,000 rows");

    const columns = Object.fromEntries(
      Array.from({ length: 5 }, (_, column) => [`c${column}`, `${TABLE}.${column + 1}`]),
    );
    let next = 0;
    const wide = (question: Question): AgentReply => {
      const varbinds = [];
      for (let row = 0; row < 50; row += 1) {
        next += 1;
        for (const oid of question.oids)
          varbinds.push({ oid: `${oid.split(".").slice(0, 10).join(".")}.${next}`, type: 2, value: 1 });
      }
      return answerOf(varbinds);
    };
    const pace = newPace();
    const capped = await walkView({}, { before: wide }, { valueCap: 6_000, pace }, columns);
    expect(capped.failure?.reason).toBe("row_cap");
    const valuesOf = (walked: typeof capped) =>
      [...walked.columns.values()].reduce((count, column) => count + column.values.size, 0);
    expect(valuesOf(capped)).toBeLessThan(6_000 + 250 + 1);
    // The cap applies to the device: its next table does not get the same time again.
    const after = await walkView({}, { before: wide }, { valueCap: 6_000, pace }, columns);
    expect(after.failure?.reason).toBe("row_cap");
    expect(valuesOf(after)).toBeLessThan(251);
  });

  test("ends for arbitrary answers", async () => {
    const random = seededRandom(11);
    for (let round = 0; round < 200; round += 1) {
      let count = 0;
      const walked = await walkView(
        {},
        {
          hasBulk: random.integer(2) === 0,
          before: (question) => {
            count += 1;
            expect(count).toBeLessThan(2_000);
            if (random.integer(8) === 0) return errorOf(random.integer(20), random.integer(5) - 1);
            if (random.integer(12) === 0) return failure(random.pick(["garbage", "no_answer"]));
            return answerOf(
              Array.from({ length: random.integer(12) }, () => {
                const oid =
                  random.integer(3) === 0
                    ? `${random.pick(question.oids)}.${random.integer(9)}`
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
      for (const column of walked.columns.values()) expect(column.isComplete).toBe(column.problem === null);
    }
  });
});

describe("a walk of an agent with limitations", () => {
  test("requests less once an answer is too big, also in the next walk", async () => {
    const pace = newPace();
    const tooBig = (question: Question): AgentReply | undefined =>
      question.oids.length * (question.maxRepetitions ?? 1) > 5 ? errorOf(1, 0) : undefined;
    const walked = await walkView({ ...around, ...rows(30) }, { before: tooBig }, { pace });
    expect(sizes(walked)).toEqual({ index: "30", descr: "30", speed: "30" });
    expect(pace.ceiling).toBeLessThanOrEqual(5);
    const again = await walkView({ ...around, ...rows(3) }, { before: tooBig }, { pace });
    expect(again.questions.every((question) => tooBig(question) === undefined)).toBe(true);
  });

  test("gives up only the column with a single oversized value", async () => {
    const walked = await walkView(rows(10), {
      before: (question) => (reaches(question, DESCR, 5) ? errorOf(1, 0) : undefined),
    });
    expect(sizes(walked)).toEqual({ index: "10", descr: "4 partial", speed: "10" });
  });

  test("requests less after a timeout, and ends after the second in a row with its rows", async () => {
    const silentAbove =
      (limit: number) =>
      (question: Question): SnmpFailure | undefined =>
        question.oids.length * (question.maxRepetitions ?? 1) > limit ? NO_ANSWER : undefined;
    const slow = await walkView({ ...around, ...rows(20) }, { before: silentAbove(8) });
    expect(sizes(slow)).toEqual({ index: "20", descr: "20", speed: "20" });

    const dropping = await walkView(
      { ...around, ...rows(30) },
      { maxVarbinds: 9, before: (_question, count) => (count === 2 || count === 4 ? NO_ANSWER : undefined) },
    );
    expect(sizes(dropping)).toEqual({ index: "30", descr: "30", speed: "30" });

    const pace = newPace();
    const dead = await walkView(
      rows(20),
      { before: (_question, count) => (count > 1 ? NO_ANSWER : undefined) },
      { pace },
    );
    expect(dead.failure).toEqual(NO_ANSWER);
    expect(dead.questions).toHaveLength(3);
    expect(Object.values(sizes(dead)).every((size) => /^[1-9]\d* partial$/.test(size))).toBe(true);
    expect(dead.columns.get("index")?.problem).toBe(NO_ANSWER.clause);
    expect(pace.ceiling).toBe(newPace().ceiling);
  });

  test("gives up only the column with a general error, after the rows before it", async () => {
    for (const hasIndex of [true, false]) {
      for (const hasBulk of [true, false]) {
        const stumble = (question: Question): AgentReply | undefined => {
          const at = question.oids.findIndex((oid) => oid.startsWith(DESCR));
          return reaches(question, DESCR, 13) ? errorOf(5, hasIndex ? at + 1 : 0) : undefined;
        };
        const walked = await walkView({ ...around, ...rows(40) }, { hasBulk, before: stumble });
        expect(sizes(walked)).toEqual({ index: "40", descr: "12 partial", speed: "40" });
        expect(walked.columns.get("descr")?.problem).toBe("the device answers with an error (genErr)");
        expect(walked.failure).toBeNull();
      }
    }
  });

  test("gives up only the refused column", async () => {
    const walked = await walkView(rows(4), {
      before: (question) => (question.oids.includes(SPEED) ? errorOf(16, question.oids.indexOf(SPEED) + 1) : undefined),
    });
    expect(sizes(walked)).toEqual({ index: "4", descr: "4", speed: "0 partial" });
    expect(walked.columns.get("speed")?.problem).toBe("the device refuses access");
  });

  test("isolates the one column with malformed answers", async () => {
    const walked = await walkView(rows(30), {
      before: (question) => (question.oids.some((oid) => oid.startsWith(DESCR)) ? failure("garbage") : undefined),
    });
    expect(sizes(walked)).toEqual({ index: "30", descr: "0 partial", speed: "30" });
    // Afterwards the others are read in parallel again, many rows at once.
    expect(walked.questions.length).toBeLessThan(12);
  });

  test("keeps the rows before a truncation", async () => {
    const walked = await walkView(rows(30), {
      before: (question, count) =>
        count === 1
          ? answerOf([
              ...question.oids.map((oid) => ({ oid: `${oid}.1`, type: 2, value: 1 })),
              { oid: `${INDEX}.2`, type: 4, value: null },
            ])
          : undefined,
    });
    expect(sizes(walked)).toEqual({ index: "30", descr: "30", speed: "30" });
  });

  test("ends at once for permanent conditions: a closed port, the scan's end, the deadline", async () => {
    for (const reason of [
      "port_closed",
      "unreachable",
      "wrong_user",
      "cancelled",
      "deadline",
      "unsupported",
    ] as const) {
      const walked = await walkView(rows(30), {
        before: (_question, count) => (count === 2 ? failure(reason) : undefined),
      });
      expect(walked.failure?.reason).toBe(reason);
      expect(walked.questions).toHaveLength(2);
      expect([...walked.columns.values()].map((column) => column.problem)).toEqual([
        failure(reason).clause,
        failure(reason).clause,
        failure(reason).clause,
      ]);
    }
  });
});
