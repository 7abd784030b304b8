// World part of the proof: the inventory built from a simulated site over months, checked against the oracle.

import { BOUNDS, type Bound, holds, reachedBy } from "../../test/world/bounds.ts";
import type { FigureName, FigureValues } from "../../test/world/figures/figures.ts";
import { CI_RATES, DEFAULT_RATES, ratesFor, ratesFrom } from "../../test/world/rates.ts";
import { runWorld } from "../../test/world/run-world.ts";
import type { Finding, Part, Table, WorldChoice } from "./part.ts";

/** Seeds without `--seeds`. */
const SEEDS: Readonly<Record<"short" | "long", readonly number[]>> = { short: [1, 2, 3, 4, 5, 6], long: [1, 2, 3] };

interface Run {
  readonly seed: number;
  readonly values: FigureValues;
  readonly processorMs: number;
}

export const world: Part = {
  name: "world",
  title: "World: scanning a simulated site over months",
  prove: async ({ form, say, world: choice = {} }) => {
    const rates = ratesOf(form, choice);
    const runs: Run[] = [];
    for (const seed of choice.seeds ?? SEEDS[form]) {
      const before = process.cpuUsage();
      const values = (await runWorld(seed, rates)).values();
      const { user, system } = process.cpuUsage(before);
      runs.push({ seed, values, processorMs: (user + system) / 1_000 });
      say(`seed ${seed}: ${MAIN.map((name) => `${name} ${shown(name, values[name])}`).join(", ")}`);
    }
    const values = runs.map((run) => run.values);
    return {
      findings: BOUNDS.map((bound) => findingOf(values, bound)),
      tables: [requirements(values), perSeed(runs, rates.days)],
    };
  },
};

const MAIN = ["deviceRecall", "stationRecall", "presencePrecision", "presenceRecall", "places"] as const;

function ratesOf(form: "short" | "long", { days, rates }: WorldChoice) {
  if (rates !== undefined) return days === undefined ? ratesFrom(rates) : ratesFor(days, ratesFrom(rates));
  if (days !== undefined) return ratesFor(days);
  return form === "short" ? CI_RATES : DEFAULT_RATES;
}

function findingOf(values: readonly FigureValues[], bound: Bound): Finding {
  const { figure, title, today, isUpper } = bound;
  const reached = reachedBy(values, bound);
  const [mean, worst] = today;
  return {
    claim: `${title}: ${isUpper === true ? "at most" : "at least"} ${shown(figure, mean)}, and ${shown(figure, worst)} for the worst seed`,
    held: holds(reached, today, isUpper),
    figure: `${shown(figure, reached.mean)}, worst seed ${shown(figure, reached.worst)}`,
  };
}

/** Figures and their required values. */
function requirements(values: readonly FigureValues[]): Table {
  return {
    title: "Required values",
    columns: ["figure", "required: mean", "worst seed", "reached: mean", "worst seed", "met"],
    rows: BOUNDS.map((bound) => {
      const { figure, title, required, isUpper } = bound;
      const reached = reachedBy(values, bound);
      const cells = [...required, reached.mean, reached.worst].map((value) => shown(figure, value));
      return [title, ...cells, holds(reached, required, isUpper) ? "yes" : "no"];
    }),
  };
}

function perSeed(runs: readonly Run[], days: number): Table {
  const names = Object.keys(runs[0]?.values ?? {}) as FigureName[];
  return {
    title: `Figures of ${days} days, by seed`,
    columns: ["figure", ...runs.map(({ seed }) => `${seed}`)],
    rows: [
      ...names.map((name) => [name, ...runs.map(({ values }) => shown(name, values[name]))]),
      ["CPU time", ...runs.map(({ processorMs }) => `${(processorMs / 1_000).toFixed(1)} s`)],
    ],
  };
}

/** Shares with four digits; quiet versions, which are a count, with one. */
function shown(figure: FigureName, value: number): string {
  return figure === "quietVersions" ? `${Math.round(value * 10) / 10}` : value.toFixed(4);
}
