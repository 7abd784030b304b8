// Long reads on the thread that asks for them: as the app gets them from others, without the threads.

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
    if (!this.reads.includes(read)) throw new Error(`long reads: there is none called ${read.readName}`);
    // As another thread would get it: a copy, and nothing that can't be copied.
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
