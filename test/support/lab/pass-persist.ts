// Server side of snmpd's pass_persist (snmpd.conf(5)): answers from rows computed for each question.

import { createInterface } from "node:readline";

export interface PassedRow {
  readonly oid: readonly number[];
  readonly type: "integer" | "gauge" | "string" | "octet";
  /** For octet strings: bytes as pairs of hexadecimal digits, separated by spaces. */
  readonly value: string;
}

/** @param oid dotted */
export function rowAt(oid: string, type: PassedRow["type"], value: string | number): PassedRow {
  return { oid: oid.split(".").map(Number), type, value: String(value) };
}

/**
 * Answers until the input ends: a word and its arguments, each on a line.
 * @param rows all served rows, in any order, for the queried OID
 */
export async function servePassPersist(rows: (asked: readonly number[]) => readonly PassedRow[]): Promise<void> {
  const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
  const read = async () => (await lines.next()).value as string | undefined;
  for (let word = await read(); word !== undefined && word !== ""; word = await read()) {
    if (word === "PING") process.stdout.write("PONG\n");
    else if (word === "get" || word === "getnext") {
      const asked = ((await read()) ?? "").split(".").slice(1).map(Number);
      const found =
        word === "get" ? rows(asked).find(({ oid }) => compare(oid, asked) === 0) : firstAfter(asked, rows(asked));
      process.stdout.write(found === undefined ? "NONE\n" : `.${found.oid.join(".")}\n${found.type}\n${found.value}\n`);
    } else {
      await read();
      await read();
      process.stdout.write("not-writable\n");
    }
  }
}

function firstAfter(asked: readonly number[], rows: readonly PassedRow[]): PassedRow | undefined {
  return rows
    .filter(({ oid }) => compare(oid, asked) > 0)
    .reduce<PassedRow | undefined>(
      (first, row) => (first === undefined || compare(row.oid, first.oid) < 0 ? row : first),
      undefined,
    );
}

function compare(a: readonly number[], b: readonly number[]): number {
  for (let index = 0; index < Math.min(a.length, b.length); index += 1) {
    if (a[index] !== b[index]) return (a[index] as number) - (b[index] as number);
  }
  return a.length - b.length;
}
