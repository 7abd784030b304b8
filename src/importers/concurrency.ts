// Concurrency helpers: as many parallel requests as a server tolerates.

/** Runs an action on each item with this concurrency. Ends at the first failure. */
export async function forEachConcurrently<T>(
  items: readonly T[],
  concurrency: number,
  action: (item: T) => Promise<void>,
): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < items.length) {
      const item = items[next] as T;
      next += 1;
      await action(item);
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, items.length) }, worker));
}

/** Yields the same items, fetching each while the previous one is processed. */
export async function* prefetched<T>(items: AsyncIterable<T>): AsyncGenerator<T> {
  const iterator = items[Symbol.asyncIterator]();
  const fetchNext = () => {
    const next = iterator.next();
    // A failure surfaces when its item is awaited.
    next.catch(() => {});
    return next;
  };
  for (let next = fetchNext(); ; ) {
    const { done, value } = await next;
    if (done) return;
    next = fetchNext();
    yield value;
  }
}
