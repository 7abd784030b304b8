// Incremental merge sort for data too large for one step of a thread: sorts runs, then merges pairs of runs.

/**
 * Sorts numbers stably, yielding between steps so that other reads can run.
 * @param numbers is modified
 * @param stepNumbers numbers processed per step
 */
export function* sortedInSteps(
  numbers: Uint32Array<ArrayBuffer>,
  compare: (a: number, b: number) => number,
  stepNumbers: number,
): Generator<void, Uint32Array<ArrayBuffer>> {
  for (let start = 0; start < numbers.length; start += stepNumbers) {
    numbers.subarray(start, start + stepNumbers).sort(compare);
    yield;
  }
  let [from, to] = [numbers, new Uint32Array(numbers.length)];
  for (let width = stepNumbers; width < from.length; width *= 2) {
    for (let start = 0; start < from.length; start += 2 * width) {
      const middle = Math.min(start + width, from.length);
      const end = Math.min(start + 2 * width, from.length);
      let [left, right] = [start, middle];
      for (let index = start; index < end; index += 1) {
        const isLeft = right === end || (left < middle && compare(from[left] as number, from[right] as number) <= 0);
        to[index] = from[isLeft ? left++ : right++] as number;
        if ((index - start) % stepNumbers === stepNumbers - 1) yield;
      }
    }
    [from, to] = [to, from];
  }
  return from;
}
