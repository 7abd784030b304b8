// Requests that have come as far as the writer and wait there, as behind others, until a test lets them on.

import type { Author } from "../../../src/db/writing/ledger.ts";
import type { WriteQueue } from "../../../src/db/writing/write-queue.ts";
import type { UnclaimedAppliance } from "./appliance.ts";

interface HeldWrites {
  /** Resolves when a command has arrived that is held. */
  readonly arrived: Promise<void>;
  /** Lets all that is held on, and holds nothing more. */
  release(): void;
}

/** Holds the commands that `isHeld` says, until they are released. */
export function holdWrites(
  { writes }: UnclaimedAppliance,
  isHeld: (author: Author, command: string) => boolean,
): HeldWrites {
  const queue = writes as { run: WriteQueue["run"] };
  const { run } = queue;
  const arrived = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  queue.run = async (...args) => {
    const [command, , author] = args;
    if (isHeld(author, command)) {
      arrived.resolve();
      await released.promise;
    }
    return run.apply(writes, args) as never;
  };
  return {
    arrived: arrived.promise,
    release: () => {
      queue.run = run;
      released.resolve();
    },
  };
}
