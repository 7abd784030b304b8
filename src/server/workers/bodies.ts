// The entry of the thread that checks large bodies: it knows what each operation takes from the app itself.

import { runThread } from "../../base/thread.ts";
import { serveBodyChecks } from "../../http/body-checks.ts";
import { createBareApp } from "../../registry/bare-app.ts";

runThread(serveBodyChecks(createBareApp().surface.routes.map(({ operation }) => operation)));
