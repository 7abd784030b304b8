// Writer for building benchmark stores without fsync. The measurements themselves use production settings.

import { systemClock } from "../../src/base/clock.ts";
import { systemRandom } from "../../src/base/random.ts";
import type { Sql } from "../../src/db/connection.ts";
import type { Commands } from "../../src/db/writing/command.ts";
import type { Author } from "../../src/db/writing/ledger.ts";
import { outcomeOf, Writer } from "../../src/db/writing/writer.ts";
import { KINDS } from "../../src/records/resources.ts";

const AUTHOR: Author = { type: "System", id: null, name: "benchmark", organizationId: null, requestId: null };

export class BuildWriter {
  private readonly writer: Writer;

  constructor(db: Sql, commands: Commands) {
    db.$client.run("PRAGMA synchronous = OFF");
    db.$client.run("PRAGMA cache_size = -400000");
    this.writer = new Writer({ db, kinds: KINDS, commands, clock: systemClock, random: systemRandom });
  }

  run<T>(command: string, input: unknown): T {
    return this.runAll<T>(command, [input])[0] as T;
  }

  /** Runs a command once per input, in one commit. */
  runAll<T>(command: string, inputs: readonly unknown[]): T[] {
    const requests = inputs.map((input) => ({ command, input, actor: AUTHOR }));
    return this.writer.execute(requests).map((reply) => outcomeOf<T>(reply).result);
  }

  close(): void {
    this.writer.close();
  }
}
