// Line coverage of src/ by a test file, read from Bun's LCOV report and stored as ranges.

/** Executed lines by file, as ranges of first and last line. */
export type Covered = Readonly<Record<string, readonly (readonly [number, number])[]>>;

/** Reads an LCOV report; files outside src/ are omitted. */
export function coveredLines(lcov: string): Covered {
  const covered: Record<string, [number, number][]> = {};
  let ranges: [number, number][] = [];
  for (const line of lcov.split("\n")) {
    if (line.startsWith("SF:")) {
      ranges = [];
      const file = line.slice(3).replace(/^\.\//, "");
      if (file.startsWith("src/")) covered[file] = ranges;
    }
    const [, lineNumber, hits] = /^DA:(\d+),(\d+)/.exec(line) ?? [];
    if (lineNumber === undefined || hits === "0") continue;
    const last = ranges.at(-1);
    if (last !== undefined && last[1] === Number(lineNumber) - 1) last[1] = Number(lineNumber);
    else ranges.push([Number(lineNumber), Number(lineNumber)]);
  }
  return covered;
}

/** Whether one of the lines from `first` to `last` was executed. */
export function covers(covered: Covered, file: string, first: number, last: number): boolean {
  return covered[file]?.some(([from, to]) => from <= last && to >= first) ?? false;
}

/** Number of executed lines. */
export function lineCount(covered: Covered): number {
  return Object.values(covered)
    .flat()
    .reduce((sum, [from, to]) => sum + to - from + 1, 0);
}
