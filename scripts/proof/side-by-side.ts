// Side-by-side part of the proof: the same rows in netledger, PostgreSQL and Directus, on one machine, in one run.

import { existsSync } from "node:fs";
import { startBaseline } from "../benchmark/executable.ts";
import { fullInterface } from "../benchmark/interface-item.ts";
import { requestBytes } from "../benchmark/load.ts";
import { type Finding, type Form, findingOf, type Part, type Proof, type ProofContext, type Table } from "./part.ts";
import { Directus } from "./side-by-side/directus.ts";
import { installedDirectus } from "./side-by-side/directus-install.ts";
import { Netledger } from "./side-by-side/netledger.ts";
import { Postgres, tuning, unavailableReason } from "./side-by-side/postgres.ts";
import { type Memory, memoryOf } from "./side-by-side/processes.ts";
import { type BulkHost, type Operation, PAGE_ROWS, type Product, type ProductPage } from "./side-by-side/product.ts";
import {
  type LoadPlan,
  measureRates,
  measureTimes,
  type Runs,
  ratio,
  short,
  spread,
  spreadText,
} from "./side-by-side/rounds.ts";
import { buildRows, type Rows } from "./side-by-side/rows.ts";

export const sideBySide: Part = {
  name: "side-by-side",
  title: "Side by side with PostgreSQL 15 and Directus",
  prove: async (context) => new SideBySide(context).prove(),
};

/** Required speedups over the other products. */
const LIVE_SPEEDUP_MIN = 2;
const PAST_SPEEDUP_MIN = 3;
/** Required rate, relative to that of the same bytes from memory. */
const MEMORY_SHARE_MIN = 0.25;
/** Number of first pages per network among which a reader alternates. */
const ROTATED_PAGES = 20;
/** Number of timestamps at which every network's page is compared. */
const COMPARED_INSTANTS = 12;

interface Sizes extends LoadPlan {
  /** Duration of the trial of a query method. */
  readonly trialSeconds: number;
  readonly starts: number;
  readonly bulkHosts: number;
}

const SIZES: Readonly<Record<Form, Sizes>> = {
  long: { runs: 5, seconds: 3, connections: 8, trialSeconds: 1, starts: 5, bulkHosts: 200 },
  short: { runs: 3, seconds: 0.75, connections: 8, trialSeconds: 0.15, starts: 1, bulkHosts: 10 },
};
const ENTRIES_PER_BULK_HOST = 50;

/** One line of the table of measurements. */
interface Measure {
  readonly title: string;
  readonly unit: "per second" | "seconds";
  readonly runs: readonly Runs[];
}

class SideBySide {
  private readonly context: ProofContext;
  private readonly sizes: Sizes;
  private readonly skipped: string[] = [];
  private readonly findings: Finding[] = [];
  private readonly measures: Measure[] = [];
  private readonly atRest = new Map<string, Memory>();

  constructor(context: ProofContext) {
    this.context = context;
    this.sizes = SIZES[context.form];
  }

  async prove(): Promise<Proof> {
    const { form, directory, executable, say } = this.context;
    if (!existsSync(executable)) throw new Error(`there is no ${executable}`);
    const rows = await buildRows(form, directory, say);
    say(`${rows.entries} entries, ${rows.versions} versions`);
    const netledger = new Netledger(executable, rows);
    const postgres = this.postgres(rows);
    const directus = await this.directus(rows);
    const products: Product[] = [netledger, postgres, directus].filter((product) => product !== null);
    try {
      for (const product of products) {
        await product.load(rows.all);
        say(`${product.name} has the rows`);
      }
      const diskMb = new Map<string, number>();
      for (const product of products) diskMb.set(product.name, await product.diskMb());
      const walMb = postgres?.walMb() ?? 0;
      await this.measureStarts(products);
      await this.compare(products, rows, "return the same pages, live and at random timestamps");
      await postgres?.createRendered();
      await postgres?.choose(rows.instants, this.sizes.trialSeconds);
      await directus?.choose(rows.instants, this.sizes.trialSeconds);
      for (const product of products) this.atRest.set(product.name, memoryOf(product.pids));
      await this.measureReads(netledger, products, postgres, rows);
      await this.measureDiffs(products, rows);
      await this.measureWrites(products, rows);
      const afterLoad = new Map(products.map((product) => [product.name, memoryOf(product.pids)]));
      const predicate = "still return the same pages at those timestamps after the updates and the bulk";
      await this.compare(products, rows, predicate, false);
      const failures = this.measures
        .flatMap(({ runs }) => runs)
        .filter(({ failures }) => failures > 0)
        .map(({ name, failures }) => `${failures} of ${name}`);
      const claim = "No request of the measurement fails, for any product";
      this.findings.push(findingOf(claim, failures, "none", failures.join(", ")));
      return {
        findings: this.findings,
        tables: [
          this.measureTable(products),
          this.sizeTable(products, afterLoad, diskMb, walMb),
          this.conditions(rows, postgres, directus),
        ],
        skipped: this.skipped,
      };
    } finally {
      await Promise.all(products.map((product) => product.stop()));
    }
  }

  private postgres(rows: Rows): Postgres | null {
    const reason = unavailableReason(this.context.directory);
    if (reason === null) return new Postgres(this.context.directory, rows, this.sizes.connections);
    this.skipped.push(`PostgreSQL: ${reason}.`);
    return null;
  }

  private async directus(rows: Rows): Promise<Directus | null> {
    try {
      return new Directus(await installedDirectus(), this.context.directory, rows, this.sizes.connections);
    } catch (error) {
      this.skipped.push(`Directus: ${error instanceof Error ? error.message : String(error)}.`);
      return null;
    }
  }

  /** Measures the time to the first page, with key and total. The processes started last keep running. */
  private async measureStarts(products: readonly Product[]): Promise<void> {
    const started = new Map(products.map(({ name }) => [name, [] as number[]]));
    for (let run = 0; run < this.sizes.starts; run += 1) {
      for (const product of products) {
        if (run > 0) await product.stop();
        started.get(product.name)?.push((await product.start()) / 1000);
      }
    }
    const runs = [...started].map(([name, values]) => ({ name, values, cpuMicroseconds: [], failures: 0 }));
    this.measures.push({ title: "from start to first page", unit: "seconds", runs });
  }

  /** Checks that all products respond equally: otherwise the comparison would be meaningless. */
  private async compare(products: readonly Product[], rows: Rows, predicate: string, isLive = true): Promise<void> {
    const instants = Array.from(
      { length: COMPARED_INSTANTS },
      (_, i) => rows.instants[Math.floor(((i + 0.5) * rows.instants.length) / COMPARED_INSTANTS)] as string,
    );
    const queries: Array<[networkId: string | null, at: string | null]> = rows.depths.flatMap(({ networkId }) =>
      instants.map((at): [string, string] => [networkId, at]),
    );
    if (isLive) queries.push([null, null], ...rows.depths.map(({ networkId }): [string, null] => [networkId, null]));
    const [reference, ...others] = products as readonly [Product, ...Product[]];
    const problems: string[] = [];
    let records = 0;
    for (const [networkId, at] of queries) {
      const expected = await reference.page(networkId, at);
      records += expected.records.length;
      if (expected.records.length !== PAGE_ROWS) problems.push(`${expected.records.length} records on a page at ${at}`);
      for (const product of others) {
        const actual = await product.page(networkId, at);
        // The end of a version depends on when each product received the next one. Directus knows only the current
        // total.
        const difference = isLive
          ? differenceOf(expected, actual, false)
          : differenceOf(withoutEnds(expected), withoutEnds(actual), product instanceof Directus);
        if (difference !== null) problems.push(`${product.name} at ${at ?? "present"}: ${difference}`);
        if (networkId === null && differenceOf(forged(expected), actual, false) === null)
          problems.push(`a forged page was accepted as that of ${product.name}`);
      }
    }
    const names = products.map(({ name }) => name).join(", ");
    const figure = `${queries.length} pages, ${records} records, field by field`;
    const faults = `${problems.length} differences, the first: ${problems[0]}`;
    this.findings.push(findingOf(`${names} ${predicate}`, problems, figure, faults));
    if (problems.length > 0) this.context.say(`not comparable: ${problems.slice(0, 3).join("; ")}`);
  }

  private async measureReads(
    netledger: Netledger,
    products: readonly Product[],
    postgres: Postgres | null,
    rows: Rows,
  ): Promise<void> {
    const page = await fetch(`http://127.0.0.1:${netledger.port}/api/v1/if-entries?limit=${PAGE_ROWS}`, {
      headers: { authorization: `Bearer ${rows.store.key}` },
    }).then((response) => response.bytes());
    const baseline = await startBaseline(page, this.context.directory);
    try {
      const memory = {
        product: { name: "memory", port: baseline.port, pids: [baseline.pid] },
        operation: { requestCount: 1, requests: () => requestBytes("GET", "/", {}) },
      };
      const extra =
        postgres === null
          ? []
          : [
              variantOf(postgres, COUNTED, postgres.countedLivePage()),
              variantOf(postgres, UNCOUNTED, postgres.uncountedLivePage()),
              variantOf(postgres, RENDERED, postgres.renderedLivePage()),
            ];
      const live = await measureRates(
        [...products.map((product) => ({ product, operation: product.livePage() })), memory, ...extra],
        this.sizes,
      );
      this.push(`a page of ${PAGE_ROWS} live entries, always the first`, live);
      this.claimFaster(`A page of ${PAGE_ROWS} live entries, always the same, is`, products, live, LIVE_SPEEDUP_MIN);
      const share = ratio(valuesOf(live, "netledger"), valuesOf(live, "memory"));
      // Depends on the load on both cores, so it is meaningful only in the long form, on an idle machine.
      if (this.context.form === "long")
        this.findings.push({
          claim: `A page of ${PAGE_ROWS} live entries, key and total included, is served at ${MEMORY_SHARE_MIN} of the rate of the same bytes from memory`,
          held: share.median >= MEMORY_SHARE_MIN,
          figure: `${spreadText(share)} of ${short(spread(valuesOf(live, "memory")).median)} per second`,
        });
    } finally {
      baseline.stop();
    }
    const positions = rows.depths.flatMap(({ networkId, entries }) =>
      Array.from({ length: Math.min(ROTATED_PAGES, entries / PAGE_ROWS) }, (_, page) => ({
        networkId,
        offset: page * PAGE_ROWS,
      })),
    );
    const rotating = await this.rates(products, (product) => product.livePages(positions));
    this.push(`a page of ${PAGE_ROWS} live entries, a different one of ${positions.length} each time`, rotating);
    const different = `A page of ${PAGE_ROWS} live entries, a different one each time, is`;
    this.claimFaster(different, products, rotating, LIVE_SPEEDUP_MIN);
    for (const { versions, entries, networkId } of rows.depths) {
      const competitors = await Promise.all(
        products.map(async (product) => ({ product, operation: await product.asOfPage(networkId, rows.instants) })),
      );
      const extra =
        postgres === null
          ? []
          : [
              variantOf(postgres, COUNTED, postgres.countedAsOfPage(networkId, rows.instants)),
              variantOf(postgres, RENDERED, postgres.renderedAsOfPage(networkId, rows.instants)),
            ];
      const past = await measureRates([...competitors, ...extra], this.sizes);
      this.push(`a page of ${PAGE_ROWS} at random timestamps, of ${entries} entries × ${versions} versions`, past);
      const atRandom = `A page of ${PAGE_ROWS} at a random timestamp among ${versions} versions is`;
      this.claimFaster(atRandom, products, past, PAST_SPEEDUP_MIN);
    }
    this.push("only the total (limit=1)", await this.rates(products, (product) => product.count()));
  }

  private rates(products: readonly Product[], operationOf: (product: Product) => Operation): Promise<Runs[]> {
    const competitors = products.map((product) => ({ product, operation: operationOf(product) }));
    return measureRates(competitors, this.sizes);
  }

  private async measureDiffs(products: readonly Product[], rows: Rows): Promise<void> {
    for (const { changes, from, to } of rows.between) {
      const reported = new Set<number>();
      const runs = await measureTimes(products, this.sizes.runs, async (product) =>
        reported.add(await product.diff(from, to)),
      );
      this.push(`a diff of two timestamps with ${changes} changes between them`, runs, "seconds");
      this.findings.push({
        claim: `All products report the ${changes} entries that changed between two timestamps`,
        held: reported.size === 1 && reported.has(changes),
        figure: [...reported].join(", "),
      });
    }
  }

  private async measureWrites(products: readonly Product[], rows: Rows): Promise<void> {
    this.push(
      "updates of one entry, each durable",
      await this.rates(products, (product) => product.update(rows.samples)),
    );
    const { bulkHosts, runs } = this.sizes;
    const created = bulkHosts * ENTRIES_PER_BULK_HOST;
    const bulkWrites = Array.from({ length: runs }, (_, run) =>
      Array.from({ length: bulkHosts }, (_, host) => bulkHost(rows.depths[0]?.networkId as string, run, host)),
    );
    const totals = () => Promise.all(products.map(async (product) => (await product.page(null, null)).total));
    const before = await totals();
    this.push(
      `${created} entries of ${bulkHosts} hosts created at once`,
      await measureTimes(products, runs, (product, run) => product.bulk(bulkWrites[run] as BulkHost[])),
      "seconds",
    );
    const after = await totals();
    const grown = after.map((total, index) => total - (before[index] as number));
    this.findings.push({
      claim: "All products count the entries created at once",
      held: grown.every((count) => count === runs * created),
      figure: grown.join(", "),
    });
  }

  private push(title: string, runs: readonly Runs[], unit: Measure["unit"] = "per second"): void {
    this.measures.push({ title, unit, runs });
    this.context.say(
      `${title}: ${runs.map(({ name, values }) => `${name} ${short(spread(values).median)}`).join(", ")} ${unit}`,
    );
  }

  /** Compares rates, or CPU times in the short form: in short periods, other load dominates the rates. */
  private claimFaster(subject: string, products: readonly Product[], runs: readonly Runs[], minimum: number): void {
    for (const { name } of products.slice(1)) {
      const byRate = ratio(valuesOf(runs, "netledger"), valuesOf(runs, name));
      const byProcessor = ratio(cpuOf(runs, name), cpuOf(runs, "netledger"));
      this.findings.push({
        claim: `${subject} served ${minimum} times as fast as by ${name}`,
        held: (this.context.form === "long" ? byRate : byProcessor).median >= minimum,
        figure: `${spreadText(byRate)} times; by CPU time ${spreadText(byProcessor)}`,
      });
    }
  }

  private measureTable(products: readonly Product[]): Table {
    const rivals = products.slice(1).map(({ name }) => name);
    const rows = this.measures.flatMap(({ title, unit, runs }) => {
      const line = (title: string, runsByName: ReadonlyMap<string, Runs>) => {
        const netledgerRuns = runs.find(({ name }) => name === "netledger") as Runs;
        const cells = rivals.flatMap((name) => {
          const rivalRuns = runsByName.get(name);
          return rivalRuns === undefined
            ? ["", ""]
            : [
                valueText(rivalRuns, unit),
                spreadText(
                  unit === "seconds"
                    ? ratio(rivalRuns.values, netledgerRuns.values)
                    : ratio(netledgerRuns.values, rivalRuns.values),
                ),
              ];
        });
        return [title, runsByName.has("netledger") ? valueText(netledgerRuns, unit) : "", ...cells];
      };
      const byName = new Map(runs.map((series) => [series.name, series]));
      const lines = [line(title, byName)];
      for (const variant of [COUNTED, UNCOUNTED, RENDERED]) {
        const rivalRuns = byName.get(variant);
        if (rivalRuns !== undefined) lines.push(line(`— ${variant}`, new Map([[rivals[0] as string, rivalRuns]])));
      }
      const memory = byName.get("memory");
      if (memory !== undefined)
        lines.push([`— the same bytes from memory: ${valueText(memory, unit)}`, "", ...rivals.flatMap(() => ["", ""])]);
      return lines;
    });
    return {
      title: `Medians of ${this.sizes.runs} alternating runs; operations per second (CPU time of all processes of the product per operation, in µs) or milliseconds; followed by netledger's factor (min–max)`,
      columns: ["", "netledger", ...rivals.flatMap((name) => [name, "netledger is ahead"])],
      rows,
    };
  }

  private sizeTable(
    products: readonly Product[],
    afterLoad: ReadonlyMap<string, Memory>,
    diskMb: ReadonlyMap<string, number>,
    walMb: number,
  ): Table {
    const text = (memory: Memory | undefined) =>
      memory === undefined
        ? ""
        : `${memory.anonymousMb.toFixed(0)} MB${memory.sharedMb >= 1 ? `, and ${memory.sharedMb.toFixed(0)} MB shared` : ""}`;
    return {
      title: "Memory (anonymous, all processes; shared buffers separate) and disk",
      columns: ["", ...products.map(({ name }) => name)],
      rows: [
        ["memory at rest, after the trials", ...products.map(({ name }) => text(this.atRest.get(name)))],
        ["memory after the load", ...products.map(({ name }) => text(afterLoad.get(name)))],
        [
          "disk, rows with history and indexes",
          ...products.map(
            ({ name }) =>
              `${diskMb.get(name)?.toFixed(0)} MB${name.startsWith("Postgre") ? `, and ${walMb.toFixed(0)} MB of log` : ""}`,
          ),
        ],
      ],
    };
  }

  /** Lists the conditions of the comparison, for critical readers. */
  private conditions(rows: Rows, postgres: Postgres | null, directus: Directus | null): Table {
    const lines = [
      [
        "rows",
        `${rows.entries} entries, ${rows.versions} versions: ${rows.depths.map(({ entries, versions }) => `${entries} × ${versions}`).join(", ")}; written by netledger, loaded into the others version by version, grouped by record`,
      ],
      [
        "load",
        `closed loop, ${this.sizes.connections} connections, ${this.sizes.seconds} s per run; the generator shares the cores`,
      ],
      [
        "netledger",
        "an update of an entry is a version of its host as well, and a link of a hash chain; the others have no history of hosts",
      ],
    ];
    if (postgres !== null) {
      const variants = rows.depths.map(({ versions, networkId }) => {
        return `${versions} versions: ${postgres.chosen[networkId]?.method}, ${postgres.chosen[networkId]?.render}`;
      });
      lines.push([
        "PostgreSQL",
        `live and history table with tstzrange and GiST, a PL/pgSQL trigger; totals maintained by a trigger, as versions too; the server in front of it is one Bun process with 8 connections on the socket. Fastest of all tested variants: live ${postgres.chosen.live?.render}; ${variants.join("; ")}`,
      ]);
      const settings = Object.entries(tuning()).map(([name, value]) => `${name}=${value}`);
      lines.push(["", settings.join(", ")]);
    }
    if (directus !== null) {
      const chosen = rows.depths
        .map(({ versions, networkId }) => `${versions} versions: ${directus.chosen[networkId]}`)
        .join("; ");
      lines.push([
        "Directus",
        `${directus.name} on SQLite (WAL, synchronous=FULL), with an added index on its revisions. Its lists do not support instants: a past page is the current page plus the revisions of its items, in two requests (all revisions) or three (newest revisions), whichever is faster: ${chosen}. 24 instants per network are requested in rotation, since the client has to know their revisions; parsing responses costs the client nothing here. Its diff contains new values only, not previous ones.`,
      ]);
    }
    return { title: "Conditions", columns: ["", ""], rows: lines };
  }
}

const COUNTED = "PostgreSQL with count(*)";
const UNCOUNTED = "PostgreSQL without a total";
const RENDERED = "PostgreSQL with JSON stored next to the columns";

function variantOf(product: Product, name: string, operation: Operation) {
  return { product: { name, port: product.port, pids: product.pids }, operation };
}

function valuesOf(runs: readonly Runs[], name: string): readonly number[] {
  return runs.find((series) => series.name === name)?.values ?? [];
}

function cpuOf(runs: readonly Runs[], name: string): readonly number[] {
  return runs.find((series) => series.name === name)?.cpuMicroseconds ?? [];
}

function valueText({ values, cpuMicroseconds }: Runs, unit: Measure["unit"]): string {
  if (unit === "seconds") return `${short(spread(values).median * 1000)} ms`;
  return `${short(spread(values).median)} (${short(spread(cpuMicroseconds).median)} µs)`;
}

/** Describes the first difference; null if there is none, except in fields that the compared product lacks. */
function differenceOf(expected: ProductPage, actual: ProductPage, ignoreTotal: boolean): string | null {
  if (!ignoreTotal && expected.total !== actual.total) return `a total of ${actual.total}, not ${expected.total}`;
  if (expected.records.length !== actual.records.length)
    return `${actual.records.length} records, not ${expected.records.length}`;
  for (const [index, record] of expected.records.entries()) {
    const actualRecord = actual.records[index] as Record<string, unknown>;
    // A product that never returns a field lacks it; otherwise it must always return it.
    const lacking = actual.records.every((row) => !("valid_from" in row)) ? ["valid_from", "valid_to"] : [];
    for (const name of new Set([...Object.keys(record), ...Object.keys(actualRecord)])) {
      if (!lacking.includes(name) && !Bun.deepEquals(record[name], actualRecord[name]))
        return `${name} of record ${index} is ${JSON.stringify(actualRecord[name])}, not ${JSON.stringify(record[name])}`;
    }
  }
  return null;
}

function withoutEnds(page: ProductPage): ProductPage {
  return { total: page.total, records: page.records.map(({ valid_to: _end, ...record }) => record) };
}

/** Changes one value of one record of a page, which must not count as equal. */
function forged(page: ProductPage): ProductPage {
  return {
    total: page.total,
    records: page.records.map((record, index) =>
      index === PAGE_ROWS - 1 ? { ...record, if_alias: "forged" } : record,
    ),
  };
}

function bulkHost(networkId: string, run: number, host: number): BulkHost {
  return {
    network_id: networkId,
    name: `bulk-${run}-${host}`,
    interfaces: Array.from({ length: ENTRIES_PER_BULK_HOST }, (_, position) =>
      fullInterface((run << 16) | host, position + 1),
    ),
  };
}
