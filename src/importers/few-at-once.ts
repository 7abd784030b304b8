// Concurrency helpers: as many requests at once as a server tolerates.

/** Runs an action on each item with this concurrency. Ends at the first failure. */
export async function fewAtOnce<T>(
  items: readonly T[],
  width: number,
  action: (item: T) => Promise<void>,
): Promise<void> {
  let next = 0;
  const line = async () => {
    while (next < items.length) {
      const item = items[next] as T;
      next += 1;
      await action(item);
    }
  };
  await Promise.all(Array.from({ length: Math.min(width, items.length) }, line));
}

/** Yields the same items, fetching each while the previous one is processed. */
export async function* oneAhead<T>(items: AsyncIterable<T>): AsyncGenerator<T> {
  const iterator = items[Symbol.asyncIterator]();
  const ask = () => {
    const next = iterator.next();
    // A failure surfaces when its item is awaited.
    next.catch(() => {});
    return next;
  };
  for (let next = ask(); ; ) {
    const { done, value } = await next;
    if (done) return;
    next = ask();
    yield value;
  }
}
