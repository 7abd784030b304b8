// Long reads on the calling thread, with the interface of those on other threads.

import type { AnyLongRead, LongRead, LongReadOptions, LongReads } from "../../../src/db/reading/long-reads.ts";
import type { Reader } from "../../../src/db/reading/reader.ts";

export class DirectLongReads implements LongReads {
  private readonly reader: Reader;
  private readonly reads: readonly AnyLongRead[];

  constructor(reader: Reader, reads: readonly AnyLongRead[]) {
    this.reader = reader;
    this.reads = reads;
  }

  async start<Input>(
    read: LongRead<Input>,
    input: NoInfer<Input>,
    _options?: LongReadOptions,
  ): Promise<AsyncIterable<Uint8Array>> {
    if (!this.reads.includes(read)) throw new Error(`long reads: unknown read ${read.readName}`);
    // Copied as between threads; throws for values that can't be cloned.
    const steps = read(this.reader, structuredClone(input));
    const step = () => {
      for (;;) {
        const next = this.reader.snapshot(() => steps.next());
        if (next.done === true || next.value.length > 0) return next;
      }
    };
    const first = step();
    return (async function* () {
      try {
        for (let next = first; next.done !== true; next = step()) yield next.value;
      } finally {
        steps.return();
      }
    })();
  }

  async close(): Promise<void> {}
}
