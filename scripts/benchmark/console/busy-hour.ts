// Replays a busy hour's port changes at full speed and measures the memory of the page that follows them.

import type { Browser, CDPSession, Page } from "playwright-core";
import type { Running } from "../executable.ts";
import { callApi } from "../requests.ts";
import type { BuiltStore } from "../store.ts";

/** Concurrent write requests. */
const WRITERS = 8;

interface Entry {
  readonly id: string;
  readonly oper_status: string;
}

/** Sets ports of a network up or down, one transaction each. @returns milliseconds */
export async function changePorts(
  server: Running,
  store: BuiltStore,
  network: string,
  changes: number,
): Promise<number> {
  const query = `network_id=${store.networkIds[network]}&limit=1000`;
  const entries = await callApi<Entry[]>(server, store, "GET", `/if-entries?${query}`);
  let next = 0;
  const started = performance.now();
  const write = async () => {
    while (next < changes) {
      const change = next++;
      const entry = entries[change % entries.length] as Entry;
      // Each write toggles the entry's status.
      const isUp = (entry.oper_status === "Up") === (Math.floor(change / entries.length) % 2 === 1);
      const body = { ...entry, oper_status: isUp ? "Up" : "Down" };
      await callApi(server, store, "PUT", `/if-entries/${entry.id}`, body);
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, write));
  return performance.now() - started;
}

export interface PageMemory {
  /** JavaScript heap after garbage collection. */
  readonly heapMb: number;
  /** Private memory of the renderer process, including the browser engine itself. */
  readonly privateMb: number;
}

/** Measures a page's memory after garbage collection; no other page may be open. */
export async function memoryOf(browser: Browser, page: Page): Promise<PageMemory> {
  const session = await page.context().newCDPSession(page);
  try {
    // Twice: objects freed by the first pass may have held others.
    for (let pass = 0; pass < 2; pass += 1) await session.send("HeapProfiler.collectGarbage");
    await session.send("Performance.enable");
    const { metrics } = await session.send("Performance.getMetrics");
    const heap = metrics.find(({ name }) => name === "JSHeapUsedSize")?.value ?? Number.NaN;
    return { heapMb: heap / 1e6, privateMb: await privateMbOf(await rendererOf(browser, session)) };
  } finally {
    await session.detach();
  }
}

/** Renderer process of a page: the one whose CPU time grows while a script runs. */
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
  if (busiest === undefined) throw new Error("the browser has no renderer process");
  return busiest[0];
}

/** Private memory of a process, from proc_pid_smaps(5). */
async function privateMbOf(pid: number): Promise<number> {
  const text = await Bun.file(`/proc/${pid}/smaps_rollup`).text();
  const lines = [...text.matchAll(/^Private_(?:Clean|Dirty):\s+(\d+) kB/gm)];
  const kb = lines.reduce((sum, [, size]) => sum + Number(size), 0);
  return (kb * 1024) / 1e6;
}
