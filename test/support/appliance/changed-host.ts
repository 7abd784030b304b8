// Host with changes since its creation, for tests of restoring fields.

import type { Client } from "./client.ts";
import { expectOk, type JsonRecord } from "./factories.ts";

export const newTag = (client: Client, name: string): Promise<JsonRecord> =>
  expectOk(client.post("tags", { name, color: "Green" }));

/** Creates a host, changes three fields, the name and the tags, and deletes one of the previous tags. */
export async function changedHost(
  client: Client,
  networkId: string,
  name: string,
): Promise<{ readonly host: JsonRecord; readonly changed: JsonRecord }> {
  const [remainingTag, deletedTag] = [await newTag(client, `${name} stays`), await newTag(client, `${name} goes`)];
  const host = await expectOk(
    client.post("hosts", {
      network_id: networkId,
      name,
      hostname: `${name}.example`,
      description: "in the cellar",
      asset_tag: "A-1",
      tags: [remainingTag.id, deletedTag.id],
    }),
  );
  const after = { hostname: null, description: "in the attic", asset_tag: "A-2", tags: [] };
  const changed = await expectOk(
    client.put(`hosts/${host.id}`, { id: host.id, name: `${name}-new`, hidden: false, ...after }),
  );
  await expectOk(client.delete(`tags/${deletedTag.id}`));
  return { host, changed };
}
