// Byte stream for responses of unknown length, with bounded memory regardless of length and reading speed.

/**
 * Sends the next chunk when the client has taken the last one.
 * @param chunks between head and tail; closed if the client disconnects
 * @param onError called with the error that broke the stream; the status is already sent, so closing the connection is
 * the only signal
 */
export function byteStream(
  head: string,
  chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  tail: string,
  onError: (error: unknown) => void,
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
    onError(error);
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
            // Otherwise a client that reads as fast as chunks are produced would block all others.
            return next.done === true ? undefined : new Promise<void>((resolve) => setImmediate(resolve));
          }
          return next.then(
            (result) => deliver(controller, result),
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
  byteStreams.add(stream);
  return stream;
}

const byteStreams = new WeakSet<ReadableStream>();

/** Whether a body is such a stream, as opposed to complete bytes. */
export function isByteStream(body: ReadableStream): boolean {
  return byteStreams.has(body);
}

const encoder = new TextEncoder();
