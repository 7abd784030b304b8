// Second writer on the database of a test appliance, for what no command of the product writes.

import { SYSTEM_AUTHOR } from "../../../src/access/actor.ts";
import type { Clock } from "../../../src/base/clock.ts";
import type { Random } from "../../../src/base/random.ts";
import { openWritable } from "../../../src/db/connection.ts";
import type { Author } from "../../../src/db/writing/ledger.ts";
import type { WriteTransaction } from "../../../src/db/writing/transaction.ts";
import { outcomeOf, type WriteReply, Writer } from "../../../src/db/writing/writer.ts";
import { KINDS } from "../../../src/records/resources.ts";

const COMMANDS = { "test.run": (tx: WriteTransaction, action: (tx: WriteTransaction) => unknown) => action(tx) };

export class SecondWriter {
  private readonly databasePath: string;
  private readonly clock: Clock;
  private readonly random: Random;
  /** Opened on first use, then kept: preparing its statements takes longer than most transactions. */
  private writer: Writer<typeof COMMANDS> | null = null;

  constructor(databasePath: string, clock: Clock, random: Random) {
    this.databasePath = databasePath;
    this.clock = clock;
    this.random = random;
  }

  /** Runs an action as one command. */
  run<T>(action: (tx: WriteTransaction) => T, author: Author = SYSTEM_AUTHOR): T {
    this.writer ??= this.open();
    const [reply] = this.writer.execute([{ command: "test.run", input: action, actor: author }]);
    return outcomeOf<T>(reply as WriteReply).result;
  }

  close(): void {
    this.writer?.close();
  }

  private open(): Writer<typeof COMMANDS> {
    const db = openWritable(this.databasePath);
    db.$client.run("PRAGMA synchronous = OFF");
    return new Writer({ db, kinds: KINDS, commands: COMMANDS, clock: this.clock, random: this.random });
  }
}
