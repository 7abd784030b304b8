// SNMP walk of an agent, recorded in .snmprec format: lines of `OID|type|value`. As a program it prints the recording:
// ./scripts/bun test/support/lab/record-agent.ts ADDRESS COMMUNITY [OID …]

import {
  createSession,
  createV3Session,
  isVarbindError,
  ObjectType,
  type Session,
  type User,
  type Varbind,
  Version2c,
} from "net-snmp";

/** Credential of the walk: a community, or an SNMPv3 user with SHA and AES-128. */
export type RecordingCredential = { readonly community: string } | { readonly user: User };

/** System, interfaces, addresses, bridges, entities, LLDP and CDP; neither packet counters by protocol nor routes. */
export const RECORDED_SUBTREES = [
  "1.0.8802.1.1.2.1.3 1.0.8802.1.1.2.1.4 1.3.6.1.2.1.1 1.3.6.1.2.1.2 1.3.6.1.2.1.4.20 1.3.6.1.2.1.4.22",
  "1.3.6.1.2.1.4.32 1.3.6.1.2.1.4.34 1.3.6.1.2.1.4.35 1.3.6.1.2.1.17 1.3.6.1.2.1.31.1.1 1.3.6.1.2.1.47.1.1",
  "1.3.6.1.4.1.9.9.23.1.2",
].flatMap((line) => line.split(" "));

const MAX_REPETITIONS = 20;

/**
 * All objects of an agent below these OIDs, in order.
 * @throws Error without a response
 */
export async function recordAgent(
  target: { readonly address: string; readonly port?: number },
  credential: RecordingCredential,
  subtrees: readonly string[] = RECORDED_SUBTREES,
): Promise<string> {
  const options = { port: target.port ?? 161, timeout: 500, retries: 1 };
  const session: Session =
    "community" in credential
      ? createSession(target.address, credential.community, { ...options, version: Version2c })
      : createV3Session(target.address, credential.user, options);
  try {
    const lines: string[] = [];
    for (const subtree of subtrees)
      for (const varbind of await walkSubtree(session, subtree)) lines.push(lineOf(varbind));
    return lines.map((line) => `${line}\n`).join("");
  } finally {
    session.close();
  }
}

/** Recorded values by OID; OctetStrings in hexadecimal digits. */
export function rowsOf(snmprec: string): Map<string, string> {
  const rows = new Map<string, string>();
  for (const line of snmprec.split("\n")) {
    const [oid = "", , value = ""] = line.split("|");
    if (oid !== "") rows.set(oid, value);
  }
  return rows;
}

function walkSubtree(session: Session, subtree: string): Promise<Varbind[]> {
  const found: Varbind[] = [];
  return new Promise((resolve, reject) => {
    session.subtree(
      subtree,
      MAX_REPETITIONS,
      (varbinds: Varbind[]) => {
        for (const varbind of varbinds) if (!isVarbindError(varbind)) found.push(varbind);
      },
      (error: Error | null | undefined) => (error === null || error === undefined ? resolve(found) : reject(error)),
    );
  });
}

function lineOf({ oid, type, value }: Varbind): string {
  if (type === ObjectType.OctetString || type === ObjectType.Opaque)
    return `${oid}|${type}x|${(value as Buffer).toString("hex")}`;
  if (type === ObjectType.IpAddress)
    return `${oid}|${type}x|${Buffer.from(String(value).split(".").map(Number)).toString("hex")}`;
  if (type === ObjectType.Counter64) return `${oid}|${type}|${BigInt(`0x${(value as Buffer).toString("hex") || "0"}`)}`;
  return `${oid}|${type}|${value}`;
}

if (import.meta.main) {
  const [address, community, ...subtrees] = process.argv.slice(2);
  if (address === undefined || community === undefined)
    throw new Error("usage: record-agent.ts ADDRESS COMMUNITY [OID …]");
  process.stdout.write(
    await recordAgent({ address }, { community }, subtrees.length > 0 ? subtrees : RECORDED_SUBTREES),
  );
}
