// Write requests held at the writer, as if queued behind others, until a test releases them.

import type { Author } from "../../../src/db/writing/ledger.ts";
import type { WriteQueue } from "../../../src/db/writing/write-queue.ts";
import type { UnclaimedAppliance } from "./appliance.ts";

interface HeldWrites {
  /** Resolves when a held command has arrived. */
  readonly arrived: Promise<void>;
  /** Releases all held commands and stops holding. */
  release(): void;
}

/** Holds the commands that match `isHeld` until they are released. */
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
