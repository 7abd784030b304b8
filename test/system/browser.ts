// A headless Chromium that opens one page and tells what it asked for and what it shows. Over the DevTools protocol,
// without a library. It can resolve no name: what the page gets, it gets from this machine.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Null where there is none: then tests that take one are skipped. */
export const CHROMIUM: string | null =
  ["chromium", "chromium-browser", "google-chrome"].map((name) => Bun.which(name)).find((path) => path !== null) ??
  null;

interface PageVisit {
  /** Every URL that was asked for, in order. */
  readonly requests: string[];
  /** What the page's Content-Security-Policy kept it from loading. */
  readonly blocked: string[];
  /** What its console says is wrong. */
  readonly errors: string[];
  /** The text that it shows in the end. */
  readonly text: string;
}

const POLL_MS = 100;

/**
 * Opens a page and waits until its text has all of `expected`, or gives up and answers with the text that there is.
 * @param typed what is typed into the page's field of that selector first; null for nothing
 */
export async function visitPage(
  executable: string,
  url: string,
  expected: readonly string[],
  timeoutMs: number,
  typed: { readonly selector: string; readonly text: string } | null = null,
): Promise<PageVisit> {
  const profile = mkdtempSync(join(tmpdir(), "netledger-chromium-"));
  const flags = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
    "--window-size=1500,1200",
  ];
  const child = Bun.spawn(
    [
      executable,
      ...flags,
      "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
      "--remote-debugging-port=0",
      `--user-data-dir=${profile}`,
      "about:blank",
    ],
    {
      stdin: "ignore",
      stdout: "ignore",
      stderr: "pipe",
    },
  );
  try {
    const tools = await connect(await debuggerHost(child.stderr));
    const visit = { requests: [] as string[], blocked: [] as string[], errors: [] as string[], text: "" };
    tools.on("Network.requestWillBeSent", (event) => visit.requests.push(event.request.url));
    tools.on("Audits.issueAdded", (event) => {
      const blocked = event.issue.details.contentSecurityPolicyIssueDetails?.blockedURL;
      if (blocked !== undefined) visit.blocked.push(blocked);
    });
    tools.on("Log.entryAdded", ({ entry }) => {
      if (entry.level === "error") visit.errors.push(entry.text);
    });
    tools.on("Runtime.exceptionThrown", (event) => visit.errors.push(event.exceptionDetails.text));
    for (const domain of ["Network", "Audits", "Log", "Runtime", "Page"]) await tools.send(`${domain}.enable`, {});
    await tools.send("Page.navigate", { url });
    let isTyped = typed === null;
    for (let waitedMs = 0; waitedMs < timeoutMs; waitedMs += POLL_MS) {
      await Bun.sleep(POLL_MS);
      if (!isTyped && typed !== null) {
        const focused = `(document.readyState === "complete" && (document.querySelector("${typed.selector}")?.focus(),
          document.activeElement?.matches("${typed.selector}"))) === true`;
        isTyped = (await tools.send("Runtime.evaluate", { expression: focused })).result?.value === true;
        if (isTyped) await tools.send("Input.insertText", { text: typed.text });
      }
      const answer = await tools.send("Runtime.evaluate", {
        expression: "document.body?.innerText ?? ''",
        returnByValue: true,
      });
      visit.text = answer.result?.value ?? "";
      if (expected.every((each) => visit.text.includes(each))) break;
    }
    tools.close();
    return visit;
  } finally {
    child.kill();
    await child.exited;
    rmSync(profile, { recursive: true, force: true });
  }
}

type Message = any;

interface Tools {
  send(method: string, params: object): Promise<Message>;
  on(event: string, listener: (params: Message) => void): void;
  close(): void;
}

/** Where Chromium says that it listens. */
async function debuggerHost(stderr: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let said = "";
  for await (const chunk of stderr) {
    said += decoder.decode(chunk, { stream: true });
    const match = /DevTools listening on ws:\/\/([^/]+)\//.exec(said);
    if (match?.[1] !== undefined) return match[1];
  }
  throw new Error(`Chromium did not start: ${said.slice(-500)}`);
}

async function connect(host: string): Promise<Tools> {
  const targets = (await (await fetch(`http://${host}/json`)).json()) as {
    type: string;
    webSocketDebuggerUrl: string;
  }[];
  const page = targets.find((target) => target.type === "page");
  if (page === undefined) throw new Error("Chromium has no page");
  const socket = new WebSocket(page.webSocketDebuggerUrl);
  await new Promise((opened, failed) => {
    socket.onopen = opened;
    socket.onerror = failed;
  });
  let last = 0;
  const waiting = new Map<number, (result: Message) => void>();
  const listeners = new Map<string, (params: Message) => void>();
  socket.onmessage = (event) => {
    const message = JSON.parse(String(event.data)) as Message;
    if (message.id === undefined) listeners.get(message.method)?.(message.params);
    else waiting.get(message.id)?.(message.result ?? message.error);
  };
  return {
    send: (method, params) =>
      new Promise((resolve) => {
        last += 1;
        waiting.set(last, resolve);
        socket.send(JSON.stringify({ id: last, method, params }));
      }),
    on: (event, listener) => {
      listeners.set(event, listener);
    },
    close: () => socket.close(),
  };
}
