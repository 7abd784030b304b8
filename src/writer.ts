// The entry of the writer's Worker, and the commands of every resource as a table of contents.

import { systemClock } from "./base/clock.ts";
import { systemRandom, type Random } from "./base/random.ts";
import { SecretBox } from "./base/secret-box.ts";
import { closeSession, openSession, touchKey, touchSession } from "./access/commands.ts";
import { openWritable, type Sql } from "./db/connection.ts";
import { migrate, refusalOf } from "./db/migrate.ts";
import { serveWrites, type FromWorker, type ToWorker } from "./db/write-queue.ts";
import { Writer, type Commands } from "./db/writer.ts";
import { recordSelf } from "./discovery/self/reconcile.ts";
import { createApiKey, removeApiKey, rotateApiKey, updateApiKey } from "./resources/api-keys/commands.ts";
import { removeEach } from "./resources/bulk-removal.ts";
import { createCredential, removeCredential, updateCredential } from "./resources/credentials/commands.ts";
import { createHost, removeHost, updateHost } from "./resources/hosts/commands.ts";
import { createIfEntry, removeIfEntry, updateIfEntry } from "./resources/if-entries/commands.ts";
import { KINDS } from "./resources/kinds.ts";
import { createNetwork, removeNetwork, updateNetwork } from "./resources/networks/commands.ts";
import { setUpOrganization, updateOrganization } from "./resources/organizations/commands.ts";
import { createSubnet, removeSubnet, updateSubnet } from "./resources/subnets/commands.ts";
import { subnetKind } from "./resources/subnets/subnet.ts";
import { createTag, removeTag, updateTag } from "./resources/tags/commands.ts";
import { createUser, setPassword, updateUser } from "./resources/users/commands.ts";
import { createVlan, removeVlan, updateVlan } from "./resources/vlans/commands.ts";

export interface WriterOptions {
  readonly databasePath: string;
  /** Seals credentials' secrets. */
  readonly secretKey: Uint8Array;
}

/** Every write there is, by name; the ledger's `source` tells which one made a transaction. */
export function commandsOf(secrets: SecretBox): Commands {
  return {
    "session.open": openSession,
    "session.touch": touchSession,
    "session.close": closeSession,
    "key.touch": touchKey,
    "api_key.create": createApiKey,
    "api_key.update": updateApiKey,
    "api_key.rotate": rotateApiKey,
    "api_key.delete": removeApiKey,
    "credential.create": createCredential(secrets),
    "credential.update": updateCredential(secrets),
    "credential.delete": removeCredential,
    "discovery.self": recordSelf,
    "host.create": createHost,
    "host.update": updateHost,
    "host.delete": removeHost,
    "if_entry.create": createIfEntry,
    "if_entry.update": updateIfEntry,
    "if_entry.delete": removeIfEntry,
    "network.create": createNetwork,
    "network.update": updateNetwork,
    "network.delete": removeNetwork,
    "organization.set_up": setUpOrganization,
    "organization.update": updateOrganization,
    "subnet.create": createSubnet,
    "subnet.update": updateSubnet,
    "subnet.delete": removeSubnet,
    "subnet.bulk_delete": removeEach(subnetKind, removeSubnet),
    "tag.create": createTag,
    "tag.update": updateTag,
    "tag.delete": removeTag,
    "user.create": createUser,
    "user.update": updateUser,
    "user.set_password": setPassword,
    "vlan.create": createVlan,
    "vlan.update": updateVlan,
    "vlan.delete": removeVlan,
  };
}

/**
 * Opens the database for writing, brought to this version's schema.
 * @throws DatabaseRefused with one sentence for the operator
 */
export function openWriter(options: WriterOptions, clock = systemClock, random: Random = systemRandom): Writer {
  const db = openMigrated(options.databasePath);
  return new Writer({ db, kinds: KINDS, commands: commandsOf(new SecretBox(options.secretKey, random)), clock, random });
}

function openMigrated(path: string): Sql {
  try {
    const db = openWritable(path);
    migrate(db, path);
    return db;
  } catch (error) {
    throw refusalOf(error, path);
  }
}

if (!Bun.isMainThread) {
  const port = globalThis as unknown as { postMessage(message: FromWorker): void; onmessage: (event: MessageEvent<ToWorker>) => void };
  const receive = serveWrites((options) => openWriter(options as WriterOptions), port);
  port.onmessage = (event) => receive(event.data);
}
