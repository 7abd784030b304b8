// Host with changes since its creation, for tests of restoring fields.

import type { Client } from "./client.ts";
import { made, type Wire } from "./factories.ts";

export const newTag = (client: Client, name: string): Promise<Wire> =>
  made(client.post("tags", { name, color: "Green" }));

/** Changes three fields, the name and the tags; deletes one of the former tags. */
export async function changedHost(
  client: Client,
  networkId: string,
  name: string,
): Promise<{ readonly host: Wire; readonly changed: Wire }> {
  const [stays, goes] = [await newTag(client, `${name} stays`), await newTag(client, `${name} goes`)];
  const host = await made(
    client.post("hosts", {
      network_id: networkId,
      name,
      hostname: `${name}.example`,
      description: "in the cellar",
      asset_tag: "A-1",
      tags: [stays.id, goes.id],
    }),
  );
  const after = { hostname: null, description: "in the attic", asset_tag: "A-2", tags: [] };
  const changed = await made(
    client.put(`hosts/${host.id}`, { id: host.id, name: `${name}-new`, hidden: false, ...after }),
  );
  await made(client.delete(`tags/${goes.id}`));
  return { host, changed };
}
