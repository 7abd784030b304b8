// Completeness check for secret tables: a password for each user, a hash for each API key, a secret for each inline
// field of a credential. Does not read the secrets.

import { getTableName } from "drizzle-orm";
import type { Sql } from "../../db/connection.ts";
import { type AnyKind, parseMembers } from "../../db/kind.ts";
import { apiKeyKind } from "../../resources/api-keys/api-key.ts";
import { type CredentialRecord, credentialKind, SECRET_FIELDS } from "../../resources/credentials/credential.ts";
import { secretIn } from "../../resources/credentials/secrets.ts";
import { userKind } from "../../resources/users/user.ts";
import { type Findings, whereRecord } from "./findings.ts";

/** Records per step: each step is one statement, so one snapshot. */
const STEP_ROWS = 500;

/** @returns the number of records per step */
export function* verifySecrets(db: Sql, findings: Findings): Generator<number> {
  const countSql = (name: string, column: string) => `(SELECT count(*) FROM ${name} s WHERE s.${column} = l.n)`;
  yield* forEachLive(db, userKind, countSql("user_passwords", "user_n"), (where, _members, count) => {
    if (count === 0) findings.add("secret", where, "has no password: set one with netledger user password");
  });
  yield* forEachLive(db, apiKeyKind, countSql("api_key_hashes", "api_key_n"), (where, _members, count) => {
    if (count === 0) findings.add("secret", where, "has no hash: rotate the key");
  });
  const fields = "(SELECT json_group_array(field) FROM credential_secrets s WHERE s.credential_n = l.n)";
  yield* forEachLive(db, credentialKind, fields, (where, members, stored) => {
    const { credential_type: type } = parseMembers<CredentialRecord>(members);
    const surplus = new Set(JSON.parse(String(stored)) as string[]);
    for (const field of SECRET_FIELDS)
      if (secretIn(type, field)?.mode === "Inline" && !surplus.delete(field))
        findings.add("secret", where, `its ${field} is missing: set it again`);
    for (const field of surplus) findings.add("secret", where, `a secret ${field} is stored that it does not have`);
  });
}

/** @param secrets SQL for secret data of live row `l` */
function* forEachLive(
  db: Sql,
  kind: AnyKind,
  secrets: string,
  visit: (where: string, members: string, secrets: unknown) => void,
): Generator<number> {
  const step = db.$client.prepare(
    `SELECT l.n, r.id, l.members, ${secrets} FROM ${getTableName(kind.table)} l LEFT JOIN history_records r ON r.n = l.n
     WHERE l.n > ? ORDER BY l.n LIMIT ${STEP_ROWS}`,
  );
  let after = -1;
  for (let count = STEP_ROWS; count === STEP_ROWS; ) {
    const rows = step.values(after) as Array<[number, string | null, string, unknown]>;
    for (const [n, id, members, found] of rows) visit(whereRecord(kind.name, id, n), members, found);
    const last = rows.at(-1)?.[0] ?? after;
    // A damaged order could loop forever.
    if (rows.length > 0 && last <= after) throw new Error(`the rows of ${kind.plural} are out of order`);
    after = last;
    count = rows.length;
    yield count;
  }
  step.finalize();
}
