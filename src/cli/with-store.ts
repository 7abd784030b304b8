// A subcommand's work on the data: opened for it, closed after it, beside a running appliance or without one.

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
 * @param mayCreate whether data are made where there are none
 * @returns the exit status of work that came to its end
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
