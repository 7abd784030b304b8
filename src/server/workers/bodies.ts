// Thread entry: validation of large bodies, with the operations declared by the app.

import { runThread } from "../../base/thread.ts";
import { serveBodyChecks } from "../../http/body-checks.ts";
import { createBareApp } from "../../registry/bare-app.ts";

runThread(serveBodyChecks(createBareApp().surface.routes.map(({ operation }) => operation)));
