// Bounds of the figures: the required values, and the values that are asserted.

import { DETAIL_NAMES, DETAILS } from "./figures/details.ts";
import type { FigureName, FigureValues } from "./figures/figures.ts";
import { KINDS } from "./oracle/expectation.ts";

export interface Bound {
  readonly figure: FigureName;
  readonly title: string;
  /** Lowest share allowed; for fault counts, the highest value allowed. */
  readonly isUpper?: true;
  /** Bound for the mean of all seeds, and for the worst seed. */
  readonly required: readonly [mean: number, worst: number];
  /** Values that the product reaches now. */
  readonly today: readonly [mean: number, worst: number];
}

const SHARE: Bound["required"] = [0.99, 0.97];

export const BOUNDS: readonly Bound[] = [
  bound("devicePrecision", "hosts of devices, precision", [0.999, 0.999]),
  bound("deviceRecall", "hosts of devices, recall", SHARE),
  bound("stationPrecision", "hosts of stations, precision", [0.999, 0.999]),
  bound("stationRecall", "hosts of stations, recall", SHARE),
  ...KINDS.flatMap((kind) => [
    bound(`${kind}Precision`, `presence, precision: ${kind}`, SHARE),
    bound(`${kind}Recall`, `presence, recall: ${kind}`, SHARE),
  ]),
  bound("wholeDevices", "devices with one host of their own", SHARE),
  bound("exactDevices", "devices with exactly their records", SHARE),
  bound("correctEnds", "ended records that were gone", SHARE),
  ...DETAIL_NAMES.map((detail) => bound(detail, DETAILS[detail], SHARE)),
  bound("places", "places", SHARE),
  bound("conflictPrecision", "conflicts, precision", SHARE),
  bound("conflictRecall", "conflicts, recall", SHARE),
  { ...bound("unfoundedVersions", "unfounded versions", [0.001, 0.001]), isUpper: true },
  { ...bound("quietVersions", "versions on quiet days", [0, 0]), isUpper: true },
  bound("pastInstants", "past timestamps answered as then", [1, 1]),
];

function bound(figure: FigureName, title: string, required: Bound["required"]): Bound {
  return { figure, title, required, today: required };
}

export interface Reached {
  readonly mean: number;
  readonly worst: number;
}

/** Mean and worst value of a figure over some seeds. */
export function reachedBy(runs: readonly FigureValues[], { figure, isUpper }: Bound): Reached {
  const values = runs.map((run) => run[figure]);
  return {
    mean: values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length),
    worst: isUpper === true ? Math.max(...values) : Math.min(...values),
  };
}

export function holds({ mean, worst }: Reached, [meanBound, worstBound]: Bound["required"], isUpper = false): boolean {
  return isUpper ? mean <= meanBound && worst <= worstBound : mean >= meanBound && worst >= worstBound;
}
