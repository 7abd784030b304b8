// An answer of unknown length as a stream of bytes: memory stays bounded, however much it is and however slowly it is
// read.

/**
 * A chunk whenever the client has taken the last one.
 * @param chunks what stands between head and tail; closed when the client goes away
 * @param failed told what broke the stream off: its status is out already, and a connection that ends is all that can
 * be said
 */
export function byteStream(
  head: string,
  chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  tail: string,
  failed: (error: unknown) => void,
): ReadableStream<Uint8Array> {
  const iterator = Symbol.asyncIterator in chunks ? chunks[Symbol.asyncIterator]() : chunks[Symbol.iterator]();
  const deliver = (controller: ReadableStreamDefaultController<Uint8Array>, next: IteratorResult<Uint8Array>) => {
    if (next.done !== true) {
      controller.enqueue(next.value);
      return;
    }
    if (tail !== "") controller.enqueue(encoder.encode(tail));
    controller.close();
  };
  const fail = (controller: ReadableStreamDefaultController<Uint8Array>, error: unknown) => {
    failed(error);
    controller.error(error);
  };
  const stream = new ReadableStream<Uint8Array>(
    {
      start: (controller) => {
        if (head !== "") controller.enqueue(encoder.encode(head));
      },
      pull: (controller) => {
        try {
          const next = iterator.next();
          if (!(next instanceof Promise)) {
            deliver(controller, next);
            // Or a client that takes them as fast as they come would have all of them before anybody else has a turn.
            return next.done === true ? undefined : new Promise<void>((resolve) => setImmediate(resolve));
          }
          return next.then(
            (each) => deliver(controller, each),
            (error) => fail(controller, error),
          );
        } catch (error) {
          fail(controller, error);
        }
      },
      cancel: () => {
        void iterator.return?.();
      },
    },
    { highWaterMark: 1 },
  );
  made.add(stream);
  return stream;
}

const made = new WeakSet<ReadableStream>();

/** Whether a body is such a stream, and not bytes that are all there. */
export function isByteStream(body: ReadableStream): boolean {
  return made.has(body);
}

const encoder = new TextEncoder();
