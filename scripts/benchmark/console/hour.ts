// A busy hour of changes as fast as they go, while a page follows them; and what memory the page has then.

import type { Browser, CDPSession, Page } from "playwright-core";
import { ask } from "../asking.ts";
import type { Running } from "../executable.ts";
import type { BuiltStore } from "../store.ts";

/** Requests at a time. */
const WRITERS = 8;

interface Entry {
  readonly id: string;
  readonly oper_status: string;
}

/** So many ports of a network go up or down, one transaction each. */
export async function changePorts(
  server: Running,
  store: BuiltStore,
  network: string,
  changes: number,
): Promise<number> {
  const query = `network_id=${store.networkIds[network]}&limit=1000`;
  const entries = await ask<Entry[]>(server, store, "GET", `/if-entries?${query}`);
  let next = 0;
  const started = performance.now();
  const write = async () => {
    while (next < changes) {
      const turn = next++;
      const entry = entries[turn % entries.length] as Entry;
      // As often as each is written it is the other way round.
      const isUp = (entry.oper_status === "Up") === (Math.floor(turn / entries.length) % 2 === 1);
      const body = { ...entry, oper_status: isUp ? "Up" : "Down" };
      await ask(server, store, "PUT", `/if-entries/${entry.id}`, body);
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, write));
  return performance.now() - started;
}

export interface PageMemory {
  /** What scripts hold, after everything that nobody needs was collected. */
  readonly heapMb: number;
  /** What the page's process has for itself alone, the browser's own share of it included. */
  readonly privateMb: number;
}

/** After garbage was collected. The page is the only one that is open. */
export async function memoryOf(browser: Browser, page: Page): Promise<PageMemory> {
  const session = await page.context().newCDPSession(page);
  try {
    // Twice: what the first one frees may have held something.
    for (let turn = 0; turn < 2; turn += 1) await session.send("HeapProfiler.collectGarbage");
    await session.send("Performance.enable");
    const { metrics } = await session.send("Performance.getMetrics");
    const heap = metrics.find(({ name }) => name === "JSHeapUsedSize")?.value ?? Number.NaN;
    return { heapMb: heap / 1e6, privateMb: await privateMbOf(await rendererOf(browser, session)) };
  } finally {
    await session.detach();
  }
}

/** The process that a page's script runs in: the one whose processor time grows while it does. */
async function rendererOf(browser: Browser, page: CDPSession): Promise<number> {
  const session = await browser.newBrowserCDPSession();
  const times = async () => {
    const { processInfo } = await session.send("SystemInfo.getProcessInfo");
    const renderers = processInfo.filter(({ type }) => type === "renderer");
    return new Map(renderers.map(({ id, cpuTime }) => [id, cpuTime]));
  };
  const before = await times();
  await page.send("Runtime.evaluate", { expression: "for (const end = Date.now() + 500; Date.now() < end; );" });
  const grown = [...(await times())].map(([id, time]) => [id, time - (before.get(id) ?? 0)] as const);
  await session.detach();
  const [busiest] = grown.sort(([, a], [, b]) => b - a);
  if (busiest === undefined) throw new Error("the browser tells of no renderer");
  return busiest[0];
}

/** Of a process, from proc_pid_smaps(5). */
async function privateMbOf(pid: number): Promise<number> {
  const text = await Bun.file(`/proc/${pid}/smaps_rollup`).text();
  const kb = [...text.matchAll(/^Private_(?:Clean|Dirty):\s+(\d+) kB/gm)].reduce(
    (sum, [, each]) => sum + Number(each),
    0,
  );
  return (kb * 1024) / 1e6;
}
