// Write queue of a read-only store: sessions live in memory until the process ends, observations are discarded, and all
// other commands are rejected. Never writes to the file.

import { SESSION_IDLE_MS } from "../access/tables.ts";
import { refuseWrite } from "../base/errors.ts";
import type { Reader } from "../db/reading/reader.ts";
import type { CommandOutcome } from "../db/writing/transaction.ts";
import type { WriteQueue } from "../db/writing/write-queue.ts";
import {
  type OtherSessions,
  SESSION_RETENTION_MS,
  SESSIONS_OF_USER_MAX,
  type SessionOpening,
  type SessionUse,
  type SignInCommands,
} from "./commands.ts";

/** Shadows the table of the same name in the file: sessions open at the time of the backup are not valid here. */
const SESSIONS = `CREATE TEMP TABLE sessions (hash BLOB PRIMARY KEY, user_n INTEGER NOT NULL, created_at INTEGER NOT NULL, last_used_at INTEGER NOT NULL, last_used_from TEXT, user_agent TEXT) STRICT, WITHOUT ROWID`;

/** Keeps the most recently used sessions of a user. */
const EXCESS_SESSIONS = `DELETE FROM temp.sessions WHERE hash IN (SELECT hash FROM temp.sessions WHERE user_n = ?
  ORDER BY last_used_at DESC LIMIT -1 OFFSET ?)`;

export class ReadOnlyWriteQueue implements WriteQueue {
  private readonly reader: Reader;

  /** @param reader over a connection that permits temporary tables */
  constructor(reader: Reader) {
    this.reader = reader;
    reader.db.run(SESSIONS);
  }

  async run(command: string, input: unknown): Promise<CommandOutcome<never>> {
    switch (command as keyof SignInCommands) {
      case "session.open":
        this.open(input as SessionOpening);
        break;
      case "session.touch": {
        const { hash, at, origin } = input as SessionUse;
        this.reader
          .statement("UPDATE temp.sessions SET last_used_at = ?, last_used_from = ?, user_agent = ? WHERE hash = ?")
          .run(at, origin.last_used_from, origin.user_agent, blob(hash));
        break;
      }
      case "session.close":
        this.end((input as { hash: Uint8Array }).hash);
        break;
      case "session.close_others":
        return { sequence: null, result: this.endOthers(input as OtherSessions) as never };
      case "key.touch":
        break;
      default:
        return refuseWrite();
    }
    return { sequence: null, result: undefined as never };
  }

  /** There are no writes to settle. */
  settlePast(): null {
    return null;
  }

  async close(): Promise<void> {}

  /** The password is verified, and neither it nor the user can change. */
  private open({ hash, userId, at, replaces, origin }: SessionOpening): void {
    this.reader.statement("DELETE FROM temp.sessions WHERE last_used_at < ?").run(at - SESSION_RETENTION_MS);
    if (replaces !== undefined && replaces !== null) this.end(replaces);
    const userN = this.reader.recordN(userId);
    this.reader.statement(EXCESS_SESSIONS).run(userN, SESSIONS_OF_USER_MAX - 1);
    this.reader
      .statement("INSERT INTO temp.sessions VALUES (?1, ?2, ?3, ?3, ?4, ?5)")
      .run(blob(hash), userN, at, origin?.last_used_from ?? null, origin?.user_agent ?? null);
  }

  private endOthers({ userId, keptHash, at }: OtherSessions): number {
    const others = "FROM temp.sessions WHERE user_n = ?1 AND hash != ?2";
    const userN = this.reader.recordN(userId);
    const [[ended] = [0]] = this.reader
      .statement(`SELECT count(*) ${others} AND last_used_at >= ?3`)
      .values(userN, blob(keptHash), at - SESSION_IDLE_MS) as Array<[number]>;
    this.reader.statement(`DELETE ${others}`).run(userN, blob(keptHash));
    return ended;
  }

  private end(hash: Uint8Array): void {
    this.reader.statement("DELETE FROM temp.sessions WHERE hash = ?").run(blob(hash));
  }
}

function blob(hash: Uint8Array): Uint8Array<ArrayBuffer> {
  return hash as Uint8Array<ArrayBuffer>;
}
