// A subcommand's work on the data: opened for it, closed after it, beside a running appliance or without one.

import { openStore, type Store } from "../store.ts";
import { systemLog } from "../base/log.ts";
import { EXIT, type Surroundings } from "./command.ts";

export interface StoreSettings {
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
  surroundings: Surroundings,
  mayCreate: boolean,
  work: (store: Store) => Promise<void>,
): Promise<number> {
  const { clock, random } = surroundings;
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
  } finally {
    await store.close();
  }
}
