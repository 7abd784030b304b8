// Display format of interface speeds.

const SPEEDS: readonly (readonly [unit: string, bps: number])[] = [
  ["T", 1e12],
  ["G", 1e9],
  ["M", 1e6],
  ["k", 1e3],
];

/** `10G`, `2.5G`, `64k`: bits per second, in filter syntax. */
export function speedOf(bps: number): string {
  const [unit, size] = SPEEDS.find(([, each]) => bps >= each) ?? ["", 1];
  return `${Number((bps / size).toPrecision(3))}${unit}`;
}
