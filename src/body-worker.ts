// The entry of the Worker that checks large bodies: it knows what each operation takes from the app itself.

import { createBareApp } from "./bare-app.ts";
import { serveBodyChecks, type BodyToCheck, type FromBodyWorker } from "./http/body-checks.ts";

if (!Bun.isMainThread) {
  const port = globalThis as unknown as {
    postMessage(message: FromBodyWorker): void;
    onmessage: (event: MessageEvent<BodyToCheck>) => void;
  };
  const receive = serveBodyChecks(
    createBareApp().surface.routes.map(({ operation }) => operation),
    port,
  );
  port.onmessage = (event) => receive(event.data);
}
