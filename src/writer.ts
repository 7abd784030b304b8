// The entry of the writer's Worker, and the commands of every resource as a table of contents.

import { systemClock } from "./base/clock.ts";
import { systemRandom, type Random } from "./base/random.ts";
import { SecretBox } from "./base/secret-box.ts";
import { closeSession, openSession, touchKey, touchSession } from "./access/commands.ts";
import { lowersRights } from "./access/lowering-rights.ts";
import { RightsNow } from "./access/rights-now.ts";
import { nameBackup } from "./backup/commands.ts";
import { AnsweredPast } from "./db/answered-past.ts";
import { openWritable, type Sql } from "./db/connection.ts";
import { createDatabase, migrate, refusalOf, requireWritable } from "./db/migrate.ts";
import { serveWrites, type FromWorker, type Serving, type ToWorker } from "./db/write-queue.ts";
import { Writer, type Commands } from "./db/writer.ts";
import { RETELLING } from "./history/told-again.ts";
import { upgradeStore } from "./history/upgrade.ts";
import { restoreRecord, revertTransaction } from "./history/restore/restore-commands.ts";
import {
  cancelScan,
  dispatchScan,
  endScan,
  interruptScans,
  noteScan,
  passSchedule,
  queueScan,
} from "./discovery/scans/commands.ts";
import { recordSelf } from "./discovery/self/reconcile.ts";
import { SIGHTING_COMMANDS } from "./discovery/sighting-commands.ts";
import { apiKeyKind } from "./resources/api-keys/api-key.ts";
import { createApiKey, removeApiKey, rotateApiKey, updateApiKey } from "./resources/api-keys/commands.ts";
import { bindingKind } from "./resources/bindings/binding.ts";
import { createBinding, removeBinding, updateBinding } from "./resources/bindings/commands.ts";
import { removeEach } from "./resources/bulk-removal.ts";
import { fromCheckedBody, fromCheckedBytes } from "./resources/checked-bytes.ts";
import { confirmIpAddress } from "./resources/credential-assignments/commands.ts";
import { createCredential, removeCredential, updateCredential } from "./resources/credentials/commands.ts";
import { credentialKind } from "./resources/credentials/credential.ts";
import { writeHosts } from "./resources/hosts/bulk-commands.ts";
import { createHost, removeHost, updateHost } from "./resources/hosts/commands.ts";
import { hostKind } from "./resources/hosts/host.ts";
import { createIfEntry, removeIfEntry, updateIfEntry } from "./resources/if-entries/commands.ts";
import { ifEntryKind } from "./resources/if-entries/if-entry.ts";
import { liftIgnored } from "./resources/ignored/commands.ts";
import { ignoredKind } from "./resources/ignored/ignored.ts";
import { createIpAddress, removeIpAddress, updateIpAddress } from "./resources/ip-addresses/commands.ts";
import { ipAddressKind } from "./resources/ip-addresses/ip-address.ts";
import { KINDS } from "./resources/kinds.ts";
import { createNetwork, removeNetwork, updateNetwork } from "./resources/networks/commands.ts";
import { networkKind } from "./resources/networks/network.ts";
import { setUpOrganization, updateOrganization } from "./resources/organizations/commands.ts";
import { createPort, removePort, updatePort } from "./resources/ports/commands.ts";
import { portKind } from "./resources/ports/port.ts";
import { createSchedule, removeSchedule, updateSchedule } from "./resources/schedules/commands.ts";
import { scheduleKind } from "./resources/schedules/schedule.ts";
import { createService, removeService, updateService } from "./resources/services/commands.ts";
import { serviceKind } from "./resources/services/service.ts";
import { createSubnet, removeSubnet, updateSubnet } from "./resources/subnets/commands.ts";
import { subnetKind } from "./resources/subnets/subnet.ts";
import { addTag, assignTags, takeTagOff } from "./resources/tag-assignments/commands.ts";
import { createTag, removeTag, updateTag } from "./resources/tags/commands.ts";
import { tagKind } from "./resources/tags/tag.ts";
import { createUser, removeUser, setPassword, updateUser } from "./resources/users/commands.ts";
import { userKind } from "./resources/users/user.ts";
import { createVlan, removeVlan, updateVlan } from "./resources/vlans/commands.ts";
import { vlanKind } from "./resources/vlans/vlan.ts";

export interface WriterOptions {
  readonly databasePath: string;
  /** Seals credentials' secrets. */
  readonly secretKey: Uint8Array;
}

/** What a writer shares with who answers elsewhere. */
export interface SharedWithWriter {
  /** The memory of AnsweredPast, with another thread. */
  readonly past?: SharedArrayBuffer;
  readonly onPostponed?: () => void;
  /** With another process, where no memory is shared: how far ahead of the clock each commit is dated. */
  readonly leadMs?: number;
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
    "api_key.bulk_delete": removeEach(apiKeyKind, removeApiKey),
    "api_key.restore": restoreRecord(apiKeyKind),
    "backup.name": nameBackup,
    "binding.create": createBinding,
    "binding.update": updateBinding,
    "binding.delete": removeBinding,
    "binding.bulk_delete": removeEach(bindingKind, removeBinding),
    "binding.restore": restoreRecord(bindingKind),
    "credential.create": fromCheckedBody(createCredential(secrets)),
    "credential.update": fromCheckedBody(updateCredential(secrets)),
    "credential.delete": removeCredential,
    "credential.bulk_delete": removeEach(credentialKind, removeCredential),
    "credential.restore": restoreRecord(credentialKind),
    ...SIGHTING_COMMANDS,
    "discovery.cancel": cancelScan,
    "discovery.dispatch": dispatchScan,
    "discovery.end": endScan,
    "discovery.interrupt": interruptScans,
    "discovery.note": noteScan,
    "discovery.queue": queueScan,
    "discovery.schedule_pass": passSchedule,
    "discovery.self": recordSelf,
    "host.create": fromCheckedBody(createHost),
    "host.update": fromCheckedBody(updateHost),
    "host.delete": removeHost,
    "host.bulk": fromCheckedBytes(writeHosts),
    "host.bulk_delete": removeEach(hostKind, removeHost),
    "host.restore": restoreRecord(hostKind),
    "if_entry.create": fromCheckedBody(createIfEntry),
    "if_entry.update": fromCheckedBody(updateIfEntry),
    "if_entry.delete": removeIfEntry,
    "if_entry.bulk_delete": removeEach(ifEntryKind, removeIfEntry),
    "if_entry.restore": restoreRecord(ifEntryKind),
    "ignored.delete": liftIgnored,
    "ignored.bulk_delete": removeEach(ignoredKind, liftIgnored),
    "ignored.restore": restoreRecord(ignoredKind),
    "ip_address.confirm": confirmIpAddress,
    "ip_address.create": createIpAddress,
    "ip_address.update": updateIpAddress,
    "ip_address.delete": removeIpAddress,
    "ip_address.bulk_delete": removeEach(ipAddressKind, removeIpAddress),
    "ip_address.restore": restoreRecord(ipAddressKind),
    "network.create": createNetwork,
    "network.update": updateNetwork,
    "network.delete": removeNetwork,
    "network.bulk_delete": removeEach(networkKind, removeNetwork),
    "network.restore": restoreRecord(networkKind),
    "organization.set_up": setUpOrganization,
    "organization.update": updateOrganization,
    "port.create": createPort,
    "port.update": updatePort,
    "port.delete": removePort,
    "port.bulk_delete": removeEach(portKind, removePort),
    "port.restore": restoreRecord(portKind),
    "schedule.create": createSchedule,
    "schedule.update": updateSchedule,
    "schedule.delete": removeSchedule,
    "schedule.bulk_delete": removeEach(scheduleKind, removeSchedule),
    "schedule.restore": restoreRecord(scheduleKind),
    "service.create": fromCheckedBody(createService),
    "service.update": fromCheckedBody(updateService),
    "service.delete": removeService,
    "service.bulk_delete": removeEach(serviceKind, removeService),
    "service.restore": restoreRecord(serviceKind),
    "subnet.create": createSubnet,
    "subnet.update": updateSubnet,
    "subnet.delete": removeSubnet,
    "subnet.bulk_delete": removeEach(subnetKind, removeSubnet),
    "subnet.restore": restoreRecord(subnetKind),
    "tag.create": createTag,
    "tag.update": updateTag,
    "tag.delete": removeTag,
    "tag.bulk_delete": removeEach(tagKind, removeTag),
    "tag.restore": restoreRecord(tagKind),
    "tag.assign": assignTags,
    "tag.bulk_add": addTag,
    "tag.bulk_remove": takeTagOff,
    "transaction.revert": revertTransaction,
    "user.create": createUser,
    "user.update": updateUser,
    "user.delete": removeUser,
    "user.bulk_delete": removeEach(userKind, removeUser),
    "user.restore": restoreRecord(userKind),
    "user.set_password": setPassword,
    "vlan.create": createVlan,
    "vlan.update": updateVlan,
    "vlan.delete": removeVlan,
    "vlan.bulk_delete": removeEach(vlanKind, removeVlan),
    "vlan.restore": restoreRecord(vlanKind),
  };
}

/** Whether a command may take long whatever it is sent with: it is of many records, of all that refer to one, or of all that it ever was. */
export function takesLong(command: string): boolean {
  return TAKES_LONG.test(command);
}

const TAKES_LONG =
  /^discovery\.(addresses|devices|links|self|stale)$|^(network|subnet|vlan|tag|credential|host|if_entry)\.delete$|^transaction\.revert$|\.(bulk|bulk_\w+|restore)$/;

/**
 * Opens the database for writing, brought to this version's schema.
 * @throws DatabaseRefused with one sentence for the operator
 */
export function openWriter(
  options: WriterOptions,
  clock = systemClock,
  random: Random = systemRandom,
  shared: SharedWithWriter = {},
): Writer {
  const db = openMigrated(options.databasePath);
  const box = new SecretBox(options.secretKey, random);
  const { past, ...others } = shared;
  return new Writer({
    db,
    kinds: KINDS,
    commands: commandsOf(box),
    clock,
    random,
    box,
    rights: new RightsNow(db.$client),
    retelling: RETELLING,
    lowersRights,
    ...others,
    ...(past === undefined ? {} : { past: new AnsweredPast(clock, past) }),
  });
}

function openMigrated(path: string): Sql {
  try {
    createDatabase(path);
    requireWritable(path);
    const db = openWritable(path);
    migrate(db, path, upgradeStore);
    return db;
  } catch (error) {
    throw refusalOf(error, path);
  }
}

if (!Bun.isMainThread) {
  const port = globalThis as unknown as {
    postMessage(message: FromWorker): void;
    onmessage: (event: MessageEvent<ToWorker>) => void;
  };
  const serving: Serving = {
    open: (options, past, onPostponed) =>
      openWriter(options as WriterOptions, systemClock, systemRandom, { past, onPostponed }),
    takesLong,
    monotonicMs: () => performance.now(),
  };
  const receive = serveWrites(serving, port);
  port.onmessage = (event) => receive(event.data);
}
