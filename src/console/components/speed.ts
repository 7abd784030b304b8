// Display format for interface speeds.

const SPEEDS: readonly (readonly [unit: string, bps: number])[] = [
  ["T", 1e12],
  ["G", 1e9],
  ["M", 1e6],
  ["k", 1e3],
];

/** `10G`, `2.5G`, `64k`: bits per second, in filter syntax. */
export function speedOf(bps: number): string {
  const [unit, unitSize] = SPEEDS.find(([, unitBps]) => bps >= unitBps) ?? ["", 1];
  return `${Number((bps / unitSize).toPrecision(3))}${unit}`;
}
