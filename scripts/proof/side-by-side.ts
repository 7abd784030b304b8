// Comparison with the alternatives: the same rows in PostgreSQL and in Directus, on this machine, in one run.

import { existsSync } from "node:fs";
import { startYardstick } from "../benchmark/executable.ts";
import { fullInterface } from "../benchmark/interface-item.ts";
import { requestBytes } from "../benchmark/load.ts";
import type { Finding, Form, Part, Proof, Proving, Table } from "./part.ts";
import { Directus } from "./side-by-side/directus.ts";
import { installedDirectus } from "./side-by-side/directus-install.ts";
import { Netledger } from "./side-by-side/netledger.ts";
import { Postgres, tuning, whyNoPostgres } from "./side-by-side/postgres.ts";
import { type Memory, memoryOf } from "./side-by-side/processes.ts";
import { type BulkHost, type Operation, PAGE_ROWS, type PageSeen, type Product } from "./side-by-side/product.ts";
import { type LoadPlan, type Runs, rates, ratio, short, spread, spreadText, times } from "./side-by-side/rounds.ts";
import { makeRows, type Rows } from "./side-by-side/rows.ts";

export const sideBySide: Part = {
  name: "side-by-side",
  title: "Side by side with PostgreSQL 15 and Directus",
  prove: async (proving) => new SideBySide(proving).prove(),
};

/** Required speedup. */
const LIVE_WANTED = 2;
const PAST_WANTED = 3;
/** Relative to the rate of the same bytes from memory. */
const LIMIT_WANTED = 0.25;
/** First pages of each network among which a reader moves. */
const WANDERED_PAGES = 20;
/** Timestamps at which every network's page is compared. */
const COMPARED_INSTANTS = 12;

interface Sizes extends LoadPlan {
  /** Duration of a trial of a query method. */
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
  private readonly proving: Proving;
  private readonly sizes: Sizes;
  private readonly leftOut: string[] = [];
  private readonly findings: Finding[] = [];
  private readonly measures: Measure[] = [];
  private readonly atRest = new Map<string, Memory>();

  constructor(proving: Proving) {
    this.proving = proving;
    this.sizes = SIZES[proving.form];
  }

  async prove(): Promise<Proof> {
    const { form, directory, executable, say } = this.proving;
    if (!existsSync(executable)) throw new Error(`there is no ${executable}`);
    const rows = await makeRows(form, directory, say);
    say(`${rows.entries} entries, ${rows.versions} versions`);
    const netledger = new Netledger(executable, rows);
    const postgres = this.postgres(rows);
    const directus = await this.directus(rows);
    const products: Product[] = [netledger, postgres, directus].filter((each) => each !== null);
    try {
      for (const product of products) {
        await product.load(rows.all);
        say(`${product.name} has the rows`);
      }
      const diskMb = new Map<string, number>();
      for (const product of products) diskMb.set(product.name, await product.diskMb());
      const walMb = postgres?.walMb() ?? 0;
      await this.measureStarts(products);
      await this.compare(products, rows, "return the same pages, live and at random instants");
      await postgres?.makeRendered();
      await postgres?.choose(rows.instants, this.sizes.trialSeconds);
      await directus?.choose(rows.instants, this.sizes.trialSeconds);
      for (const product of products) this.atRest.set(product.name, memoryOf(product.pids));
      await this.measureReads(netledger, products, postgres, rows);
      await this.measureDiffs(products, rows);
      await this.measureWrites(products, rows);
      const afterLoad = new Map(products.map((product) => [product.name, memoryOf(product.pids)]));
      await this.compare(
        products,
        rows,
        "still return the same pages at those instants after the updates and the bulk",
        false,
      );
      const failures = this.measures
        .flatMap(({ runs }) => runs)
        .filter(({ failures }) => failures > 0)
        .map(({ name, failures }) => `${failures} of ${name}`);
      this.findings.push({
        claim: "No request of the measurement fails, for any product",
        held: failures.length === 0,
        figure: failures.length === 0 ? "none" : failures.join(", "),
      });
      return {
        findings: this.findings,
        tables: [
          this.measureTable(products),
          this.sizeTable(products, afterLoad, diskMb, walMb),
          this.conditions(rows, postgres, directus),
        ],
        leftOut: this.leftOut,
      };
    } finally {
      await Promise.all(products.map((product) => product.stop()));
    }
  }

  private postgres(rows: Rows): Postgres | null {
    const why = whyNoPostgres(this.proving.directory);
    if (why === null) return new Postgres(this.proving.directory, rows, this.sizes.connections);
    this.leftOut.push(`PostgreSQL: ${why}.`);
    return null;
  }

  private async directus(rows: Rows): Promise<Directus | null> {
    try {
      return new Directus(await installedDirectus(), this.proving.directory, rows, this.sizes.connections);
    } catch (error) {
      this.leftOut.push(`Directus: ${error instanceof Error ? error.message : String(error)}.`);
      return null;
    }
  }

  /** Time to the first page with its key and total. The last start continues. */
  private async measureStarts(products: readonly Product[]): Promise<void> {
    const started = new Map(products.map(({ name }) => [name, [] as number[]]));
    for (let run = 0; run < this.sizes.starts; run += 1) {
      for (const product of products) {
        if (run > 0) await product.stop();
        started.get(product.name)?.push((await product.start()) / 1000);
      }
    }
    this.measures.push({
      title: "from start to first page",
      unit: "seconds",
      runs: products.map(({ name }) => ({
        name,
        values: started.get(name) as number[],
        cpuMicroseconds: [],
        failures: 0,
      })),
    });
  }

  /** Without equal answers the comparison would be meaningless. */
  private async compare(products: readonly Product[], rows: Rows, what: string, isLive = true): Promise<void> {
    const instants = Array.from(
      { length: COMPARED_INSTANTS },
      (_, i) => rows.instants[Math.floor(((i + 0.5) * rows.instants.length) / COMPARED_INSTANTS)] as string,
    );
    const asked: Array<[networkId: string | null, at: string | null]> = rows.depths.flatMap(({ networkId }) =>
      instants.map((at): [string, string] => [networkId, at]),
    );
    if (isLive) asked.push([null, null], ...rows.depths.map(({ networkId }): [string, null] => [networkId, null]));
    const [reference, ...others] = products as readonly [Product, ...Product[]];
    const problems: string[] = [];
    let records = 0;
    for (const [networkId, at] of asked) {
      const expected = await reference.page(networkId, at);
      records += expected.records.length;
      if (expected.records.length !== PAGE_ROWS) problems.push(`${expected.records.length} records on a page at ${at}`);
      for (const other of others) {
        const seen = await other.page(networkId, at);
        // The end of a version depends on when each product received the next one. Directus knows only the present
        // total, not past ones.
        const difference = isLive
          ? differenceOf(expected, seen, false)
          : differenceOf(endless(expected), endless(seen), other instanceof Directus);
        if (difference !== null) problems.push(`${other.name} at ${at ?? "present"}: ${difference}`);
        if (networkId === null && differenceOf(forged(expected), seen, false) === null)
          problems.push(`a forged page was taken for that of ${other.name}`);
      }
    }
    const names = products.map(({ name }) => name).join(", ");
    this.findings.push({
      claim: `${names} ${what}`,
      held: problems.length === 0,
      figure:
        problems.length === 0
          ? `${asked.length} pages, ${records} records, field by field`
          : `${problems.length} differences, the first: ${problems[0]}`,
    });
    if (problems.length > 0) this.proving.say(`not comparable: ${problems.slice(0, 3).join("; ")}`);
  }

  private async measureReads(
    netledger: Netledger,
    products: readonly Product[],
    postgres: Postgres | null,
    rows: Rows,
  ): Promise<void> {
    const page = await fetch(`http://127.0.0.1:${netledger.port}/api/v1/if-entries?limit=${PAGE_ROWS}`, {
      headers: { authorization: `Bearer ${rows.store.key}` },
    }).then((answer) => answer.bytes());
    const yardstick = await startYardstick(page, this.proving.directory);
    try {
      const memory = {
        product: { name: "memory", port: yardstick.port, pids: [yardstick.pid] },
        operation: { each: 1, requests: () => requestBytes("GET", "/", {}) },
      };
      const extra =
        postgres === null
          ? []
          : [
              named(postgres, COUNTED, postgres.countedLivePage()),
              named(postgres, UNCOUNTED, postgres.uncountedLivePage()),
              named(postgres, RENDERED, postgres.renderedLivePage()),
            ];
      const live = await rates(
        [...products.map((product) => ({ product, operation: product.livePage() })), memory, ...extra],
        this.sizes,
      );
      this.push(`a page of ${PAGE_ROWS} live entries, always the first`, live);
      for (const { name } of products.slice(1))
        this.claim(
          `A page of ${PAGE_ROWS} live entries, always the same one, is served ${LIVE_WANTED} times as fast as by ${name}`,
          live,
          name,
          LIVE_WANTED,
        );
      const share = ratio(valuesOf(live, "netledger"), valuesOf(live, "memory"));
      // Depends on the load of both cores: only meaningful in the long form, on an idle machine.
      if (this.proving.form === "long")
        this.findings.push({
          claim: `A page of ${PAGE_ROWS} live entries, key and total included, is served at ${LIMIT_WANTED} of the rate of the same bytes from memory`,
          held: share.median >= LIMIT_WANTED,
          figure: `${spreadText(share)} of ${short(spread(valuesOf(live, "memory")).median)} per second`,
        });
    } finally {
      yardstick.stop();
    }
    const places = rows.depths.flatMap(({ networkId, entries }) =>
      Array.from({ length: Math.min(WANDERED_PAGES, entries / PAGE_ROWS) }, (_, page) => ({
        networkId,
        offset: page * PAGE_ROWS,
      })),
    );
    const wandering = await rates(
      products.map((product) => ({ product, operation: product.livePages(places) })),
      this.sizes,
    );
    this.push(`a page of ${PAGE_ROWS} live entries, a different one of ${places.length} each time`, wandering);
    for (const { name } of products.slice(1))
      this.claim(
        `A page of ${PAGE_ROWS} live entries, a different one each time, is served ${LIVE_WANTED} times as fast as by ${name}`,
        wandering,
        name,
        LIVE_WANTED,
      );
    for (const { versions, entries, networkId } of rows.depths) {
      const contenders = await Promise.all(
        products.map(async (product) => ({ product, operation: await product.asOfPage(networkId, rows.instants) })),
      );
      const extra =
        postgres === null
          ? []
          : [
              named(postgres, COUNTED, postgres.countedAsOfPage(networkId, rows.instants)),
              named(postgres, RENDERED, postgres.renderedAsOfPage(networkId, rows.instants)),
            ];
      const past = await rates([...contenders, ...extra], this.sizes);
      this.push(`a page of ${PAGE_ROWS} at random instants, of ${entries} entries × ${versions} versions`, past);
      for (const { name } of products.slice(1))
        this.claim(
          `A page of ${PAGE_ROWS} at a random instant among ${versions} versions is served ${PAST_WANTED} times as fast as by ${name}`,
          past,
          name,
          PAST_WANTED,
        );
    }
    this.push(
      "the total only (limit=1)",
      await rates(
        products.map((product) => ({ product, operation: product.count() })),
        this.sizes,
      ),
    );
  }

  private async measureDiffs(products: readonly Product[], rows: Rows): Promise<void> {
    for (const { changes, from, to } of rows.between) {
      const told = new Set<number>();
      const runs = await times(products, this.sizes.runs, async (product) => told.add(await product.diff(from, to)));
      this.push(`a diff of two instants with ${changes} changes between them`, runs, "seconds");
      this.findings.push({
        claim: `All report the ${changes} entries that changed between two instants`,
        held: told.size === 1 && told.has(changes),
        figure: [...told].join(", "),
      });
    }
  }

  private async measureWrites(products: readonly Product[], rows: Rows): Promise<void> {
    this.push(
      "updates of one entry, each durable",
      await rates(
        products.map((product) => ({ product, operation: product.update(rows.some) })),
        this.sizes,
      ),
    );
    const { bulkHosts, runs } = this.sizes;
    const created = bulkHosts * ENTRIES_PER_BULK_HOST;
    const bulks = Array.from({ length: runs }, (_, run) =>
      Array.from({ length: bulkHosts }, (_, host) => bulkHost(rows.depths[0]?.networkId as string, run, host)),
    );
    const before = await Promise.all(products.map(async (product) => (await product.page(null, null)).total));
    this.push(
      `${created} entries of ${bulkHosts} hosts created at once`,
      await times(products, runs, (product, run) => product.bulk(bulks[run] as BulkHost[])),
      "seconds",
    );
    const after = await Promise.all(products.map(async (product) => (await product.page(null, null)).total));
    const grown = after.map((total, place) => total - (before[place] as number));
    this.findings.push({
      claim: "All count the entries created at once",
      held: grown.every((each) => each === runs * created),
      figure: grown.join(", "),
    });
  }

  private push(title: string, runs: readonly Runs[], unit: Measure["unit"] = "per second"): void {
    this.measures.push({ title, unit, runs });
    this.proving.say(
      `${title}: ${runs.map(({ name, values }) => `${name} ${short(spread(values).median)}`).join(", ")} ${unit}`,
    );
  }

  /** By rate; in the short form by processor time, since other load dominates the rates of short periods. */
  private claim(claim: string, runs: readonly Runs[], name: string, wanted: number): void {
    const byRate = ratio(valuesOf(runs, "netledger"), valuesOf(runs, name));
    const byProcessor = ratio(cpuOf(runs, name), cpuOf(runs, "netledger"));
    const decides = this.proving.form === "long" ? byRate : byProcessor;
    this.findings.push({
      claim,
      held: decides.median >= wanted,
      figure: `${spreadText(byRate)} times; by processor time ${spreadText(byProcessor)}`,
    });
  }

  private measureTable(products: readonly Product[]): Table {
    const rivals = products.slice(1).map(({ name }) => name);
    const rows = this.measures.flatMap(({ title, unit, runs }) => {
      const line = (title: string, shown: ReadonlyMap<string, Runs>) => {
        const own = runs.find(({ name }) => name === "netledger") as Runs;
        const cells = rivals.flatMap((name) => {
          const theirs = shown.get(name);
          return theirs === undefined
            ? ["", ""]
            : [
                valueText(theirs, unit),
                spreadText(unit === "seconds" ? ratio(theirs.values, own.values) : ratio(own.values, theirs.values)),
              ];
        });
        return [title, shown.has("netledger") ? valueText(own, unit) : "", ...cells];
      };
      const known = new Map(runs.map((each) => [each.name, each]));
      const lines = [line(title, known)];
      for (const each of [COUNTED, UNCOUNTED, RENDERED]) {
        const theirs = runs.find(({ name }) => name === each);
        if (theirs !== undefined) lines.push(line(`— ${each}`, new Map([[rivals[0] as string, theirs]])));
      }
      const memory = known.get("memory");
      if (memory !== undefined)
        lines.push([`— the same bytes from memory: ${valueText(memory, unit)}`, "", ...rivals.flatMap(() => ["", ""])]);
      return lines;
    });
    return {
      title: `Medians of ${this.sizes.runs} alternating runs; operations per second (processor time of all processes of the product per operation, in µs) or milliseconds; followed by netledger's factor (least–most)`,
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

  /** Conditions of the comparison, for a critical reader. */
  private conditions(rows: Rows, postgres: Postgres | null, directus: Directus | null): Table {
    const lines = [
      [
        "rows",
        `${rows.entries} entries, ${rows.versions} versions: ${rows.depths.map(({ entries, versions }) => `${entries} × ${versions}`).join(", ")}; written by netledger, loaded into the others version by version, those of one record side by side`,
      ],
      [
        "load",
        `closed loop, ${this.sizes.connections} connections, ${this.sizes.seconds} s a run; the generator has the same cores`,
      ],
      [
        "netledger",
        "an update of an entry is a version of its host as well, and a link of a hash chain; the others keep no history of hosts",
      ],
    ];
    if (postgres !== null) {
      const chosen = rows.depths
        .map(
          ({ versions, networkId }) =>
            `${versions} versions: ${postgres.chosen[networkId]?.way}, ${postgres.chosen[networkId]?.render}`,
        )
        .join("; ");
      lines.push([
        "PostgreSQL",
        `live and history table with tstzrange and GiST, a PL/pgSQL trigger; totals kept by a trigger, as versions too; the server before it is one Bun process with 8 connections on the socket. Fastest of all that was tried: live ${postgres.chosen.live?.render}; ${chosen}`,
      ]);
      lines.push([
        "",
        Object.entries(tuning())
          .map(([name, value]) => `${name}=${value}`)
          .join(", "),
      ]);
    }
    if (directus !== null) {
      const chosen = rows.depths
        .map(({ versions, networkId }) => `${versions} versions: ${directus.chosen[networkId]}`)
        .join("; ");
      lines.push([
        "Directus",
        `${directus.name} on SQLite (WAL, synchronous=FULL), an index on its revisions added. No list of it knows an instant: a page of the past is the page of now and then the revisions of its items, in two requests (all revisions) or three (newest revisions), whichever is faster: ${chosen}. Of each network 24 instants are asked for in turns, since the client has to know their revisions; reading answers costs the client nothing here. Its diff tells what was written, not what was there before.`,
      ]);
    }
    return { title: "Conditions", columns: ["", ""], rows: lines };
  }
}

const COUNTED = "PostgreSQL with count(*)";
const UNCOUNTED = "PostgreSQL without a total";
const RENDERED = "PostgreSQL with JSON kept beside the columns";

function named(product: Product, name: string, operation: Operation) {
  return { product: { name, port: product.port, pids: product.pids }, operation };
}

function valuesOf(runs: readonly Runs[], name: string): readonly number[] {
  return runs.find((each) => each.name === name)?.values ?? [];
}

function cpuOf(runs: readonly Runs[], name: string): readonly number[] {
  return runs.find((each) => each.name === name)?.cpuMicroseconds ?? [];
}

function valueText({ values, cpuMicroseconds }: Runs, unit: Measure["unit"]): string {
  if (unit === "seconds") return `${short(spread(values).median * 1000)} ms`;
  return `${short(spread(values).median)} (${short(spread(cpuMicroseconds).median)} µs)`;
}

/** Null if equal, except for fields that the compared product lacks. */
function differenceOf(expected: PageSeen, seen: PageSeen, anyTotal: boolean): string | null {
  if (!anyTotal && expected.total !== seen.total) return `a total of ${seen.total}, not ${expected.total}`;
  if (expected.records.length !== seen.records.length)
    return `${seen.records.length} records, not ${expected.records.length}`;
  for (const [place, record] of expected.records.entries()) {
    const other = seen.records[place] as Record<string, unknown>;
    // A product that never returns a field lacks it; otherwise it must always return it.
    const without = seen.records.every((each) => !("valid_from" in each)) ? ["valid_from", "valid_to"] : [];
    for (const name of new Set([...Object.keys(record), ...Object.keys(other)])) {
      if (!without.includes(name) && !Bun.deepEquals(record[name], other[name]))
        return `${name} of record ${place} is ${JSON.stringify(other[name])}, not ${JSON.stringify(record[name])}`;
    }
  }
  return null;
}

function endless(page: PageSeen): PageSeen {
  return { total: page.total, records: page.records.map(({ valid_to: _end, ...record }) => record) };
}

/** The same page with one changed value of one record: it must not count as equal. */
function forged(page: PageSeen): PageSeen {
  return {
    total: page.total,
    records: page.records.map((record, place) =>
      place === PAGE_ROWS - 1 ? { ...record, if_alias: "forged" } : record,
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
