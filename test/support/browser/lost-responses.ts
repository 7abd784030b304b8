// Responses that are lost in transit to a page.

/** The methods of a route that both kinds of pages have. */
interface LossyRoute {
  request(): { method(): string };
  continue(): Promise<unknown>;
  fetch(): Promise<unknown>;
  abort(): Promise<unknown>;
}

interface LossyPage {
  route(pattern: string, handler: (route: LossyRoute) => Promise<unknown>): Promise<unknown>;
}

/** Drops the first response to a write to a path, after the write was executed. */
export async function loseResponse(page: LossyPage, path: string, method = "POST"): Promise<void> {
  let isLost = false;
  await page.route(`**${path}`, async (route) => {
    if (isLost || route.request().method() !== method) return route.continue();
    isLost = true;
    await route.fetch();
    return route.abort();
  });
}
