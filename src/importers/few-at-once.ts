// A few things at a time, as many as a server likes.

/** Runs an action on each item, so many at once. Ends at the first failure. */
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

/** The same items, each asked for while the one before it is worked on. */
export async function* oneAhead<T>(items: AsyncIterable<T>): AsyncGenerator<T> {
  const iterator = items[Symbol.asyncIterator]();
  const ask = () => {
    const next = iterator.next();
    // Its failure is told when its turn comes.
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
