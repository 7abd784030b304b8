// The entry of the writer's Worker, and the commands of every resource as a table of contents.

import { systemClock } from "./base/clock.ts";
import { systemRandom, type Random } from "./base/random.ts";
import { SecretBox } from "./base/secret-box.ts";
import { closeSession, openSession, touchKey, touchSession } from "./access/commands.ts";
import { openWritable } from "./db/connection.ts";
import { migrate } from "./db/migrate.ts";
import { serveWrites, type FromWorker, type ToWorker } from "./db/write-queue.ts";
import { Writer, type Commands } from "./db/writer.ts";
import { KINDS } from "./resources/kinds.ts";
import { setUpOrganization, updateOrganization } from "./resources/organizations/commands.ts";
import { createSubnet, removeSubnet, updateSubnet } from "./resources/subnets/commands.ts";

export interface WriterOptions {
  readonly databasePath: string;
  /** Seals credentials' secrets. */
  readonly secretKey: Uint8Array;
}

/** Every write there is, by name; the ledger's `source` tells which one made a transaction. */
export function commandsOf(_secrets: SecretBox): Commands {
  return {
    "session.open": openSession,
    "session.touch": touchSession,
    "session.close": closeSession,
    "key.touch": touchKey,
    "organization.set_up": setUpOrganization,
    "organization.update": updateOrganization,
    "subnet.create": createSubnet,
    "subnet.update": updateSubnet,
    "subnet.delete": removeSubnet,
  };
}

/** Opens the database for writing, brought to this version's schema. */
export function openWriter(options: WriterOptions, clock = systemClock, random: Random = systemRandom): Writer {
  const db = openWritable(options.databasePath);
  migrate(db, options.databasePath);
  return new Writer({ db, kinds: KINDS, commands: commandsOf(new SecretBox(options.secretKey, random)), clock, random });
}

if (!Bun.isMainThread) {
  const port = globalThis as unknown as { postMessage(message: FromWorker): void; onmessage: (event: MessageEvent<ToWorker>) => void };
  const receive = serveWrites((options) => openWriter(options as WriterOptions), port);
  port.onmessage = (event) => receive(event.data);
}
