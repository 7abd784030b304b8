// Store access of a subcommand: open, run, close, with or without a running appliance.

import { systemLog } from "../base/log.ts";
import { dataFiles } from "../db/files/data-directory.ts";
import { refusalOfWork } from "../db/files/migrate.ts";
import { openStore, type Store } from "../server/store.ts";
import { EXIT, type ProcessIo } from "./command.ts";

interface StoreSettings {
  /** Absolute. */
  readonly data: string;
  readonly acceptClock: boolean;
}

/**
 * @param mayCreate whether to create missing data
 * @returns the exit status of completed work
 */
export async function withStore(
  settings: StoreSettings,
  io: ProcessIo,
  mayCreate: boolean,
  work: (store: Store) => Promise<void>,
): Promise<number> {
  const { clock, random } = io;
  const store = openStore({
    directory: settings.data,
    acceptClock: settings.acceptClock,
    clock,
    random,
    log: systemLog(),
    mayCreate,
  });
  try {
    await work(store);
    return EXIT.done;
  } catch (error) {
    throw refusalOfWork(error, dataFiles(settings.data).database);
  } finally {
    await store.close();
  }
}
