// Bounds of the figures: the required value, and the value that the product reaches today. Only the latter is asserted,
// and raised to the required one as the product gets there.

import type { FigureName, FigureValues } from "./figures/figures.ts";

export interface Bound {
  readonly figure: FigureName;
  readonly title: string;
  /** Lowest share allowed; for fault counts, the highest value allowed. */
  readonly isUpper?: true;
  /** Required of the mean of all seeds, and of the worst seed. */
  readonly required: readonly [mean: number, worst: number];
  /** Reached by the product now. */
  readonly today: readonly [mean: number, worst: number];
}

export const BOUNDS: readonly Bound[] = [
  bound("devicePrecision", "hosts of devices, precision", [0.999, 0.999], [0.99, 0.98]),
  bound("deviceRecall", "hosts of devices, recall", [0.99, 0.97], [0.97, 0.94]),
  bound("stationPrecision", "hosts of stations, precision", [0.999, 0.999], [0.99, 0.98]),
  bound("stationRecall", "hosts of stations, recall", [0.99, 0.97], [0.98, 0.97]),
  bound("presencePrecision", "presence, precision", [0.99, 0.97], [0.99, 0.97]),
  bound("presenceRecall", "presence, recall", [0.99, 0.97], [0.99, 0.98]),
  bound("places", "places", [0.99, 0.97], [0.99, 0.97]),
  bound("conflictPrecision", "conflicts, precision", [0.99, 0.97], [0.8, 0.1]),
  bound("conflictRecall", "conflicts, recall", [0.99, 0.97], [0.99, 0.97]),
  { ...bound("unfoundedVersions", "unfounded versions", [0.001, 0.001], [0.01, 0.02]), isUpper: true },
  { ...bound("quietVersions", "versions on quiet days", [0, 0], [10, 25]), isUpper: true },
  bound("pastInstants", "past timestamps answered as then", [1, 1], [1, 1]),
];

function bound(figure: FigureName, title: string, required: Bound["required"], today: Bound["today"]): Bound {
  return { figure, title, required, today };
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
