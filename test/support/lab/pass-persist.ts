// Server side of snmpd's pass_persist (snmpd.conf(5)): responses from rows computed for each query.

import { createInterface } from "node:readline";

export interface PassedRow {
  readonly oid: readonly number[];
  readonly type: "integer" | "gauge" | "string" | "octet";
  /** For octet strings: bytes as pairs of hexadecimal digits, separated by spaces. */
  readonly value: string;
}

/** @param oid OID in dotted notation */
export function rowAt(oid: string, type: PassedRow["type"], value: string | number): PassedRow {
  return { oid: oid.split(".").map(Number), type, value: String(value) };
}

/**
 * Responds to commands on standard input, which has each command and argument on a separate line, until stdin ends.
 * @param rows returns all served rows, in any order, given the requested OID
 */
export async function servePassPersist(rows: (requestedOid: readonly number[]) => readonly PassedRow[]): Promise<void> {
  const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
  const read = async () => (await lines.next()).value as string | undefined;
  for (let command = await read(); command !== undefined && command !== ""; command = await read()) {
    if (command === "PING") process.stdout.write("PONG\n");
    else if (command === "get" || command === "getnext") {
      const requestedOid = ((await read()) ?? "").split(".").slice(1).map(Number);
      const found =
        command === "get"
          ? rows(requestedOid).find(({ oid }) => compare(oid, requestedOid) === 0)
          : firstAfter(requestedOid, rows(requestedOid));
      process.stdout.write(found === undefined ? "NONE\n" : `.${found.oid.join(".")}\n${found.type}\n${found.value}\n`);
    } else {
      await read();
      await read();
      process.stdout.write("not-writable\n");
    }
  }
}

function firstAfter(requestedOid: readonly number[], rows: readonly PassedRow[]): PassedRow | undefined {
  return rows
    .filter(({ oid }) => compare(oid, requestedOid) > 0)
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
