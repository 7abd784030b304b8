// Party of a conflict, with its MAC address and port, and the beginning and author of its claim.

import type { DataOf } from "../api/client.ts";
import { Copied } from "../components/copied.tsx";
import { NameLink } from "../components/name-link.tsx";
import { When } from "../components/when.tsx";
import { Named } from "../names/named.tsx";
import { RecordLink } from "../names/record-link.tsx";
import { recordPage } from "../names/record-page.ts";
import { shownName } from "../names/shown-name.ts";
import { changesText } from "../text/changes.ts";
import { conflictText } from "../text/networks.ts";
import { ownValue } from "../text/own-value.ts";
import { hrefOf } from "../url/location.ts";

type Party = DataOf<"/api/v1/conflicts">[number]["parties"][number];

export function ConflictParty({ party }: { readonly party: Party }) {
  const { entity_type, id, name, network_id, host } = party;
  const page = recordPage(entity_type, id);
  const shown = <bdi>{shownName(id, name)}</bdi>;
  return (
    <span class="station">
      {page === null ? shown : <a href={hrefOf(page)}>{shown}</a>}
      {host !== null && host !== undefined && host.id !== id && (
        <>
          {" "}
          of <NameLink href={hrefOf(`/hosts/${host.id}`)} name={shownName(host.id, host.name)} />
        </>
      )}
      {entity_type === "subnet" && (
        <span class="aside">
          {" "}
          in <Named kind="network" id={network_id} />
        </span>
      )}
      <Evidence party={party} />
    </span>
  );
}

function Evidence({ party: { entity_type, mac_address, port, since, by, seen_by } }: { readonly party: Party }) {
  return (
    <span class="aside">
      {entity_type === "host" && mac_address !== null && (
        <>
          {" "}
          <Copied text={mac_address} />
        </>
      )}
      {port !== null && (
        <>
          {" "}
          at <RecordLink type="if_entry" id={port.id} name={port.name} /> of{" "}
          <RecordLink type="host" id={port.host.id} name={port.host.name} />
        </>
      )}
      {since !== null && (
        <>
          {" "}
          since <When instant={since} precision="minute" />
        </>
      )}
      {by !== null && (
        <>
          {" "}
          by{" "}
          {by.type === "Discovery" && by.id !== null ? (
            <a href={hrefOf(`/discovery/${by.id}`)}>{by.name}</a>
          ) : (
            <bdi>{by.name}</bdi>
          )}
          {by.type !== "User" && by.type !== "Discovery" && ` (${changesText.actors[by.type]})`}
        </>
      )}
      {seen_by.map(({ kind, host, interface: entry, since: seenSince }) => (
        <span key={`${kind} ${host?.id} ${entry?.id} ${seenSince}`} class="station">
          {ownValue(conflictText.seenBy, kind)}
          {host !== null && (
            <>
              {" "}
              <RecordLink type="host" id={host.id} name={host.name} />
            </>
          )}
          {entry !== null && (
            <>
              {" "}
              on <RecordLink type="if_entry" id={entry.id} name={entry.name} />
            </>
          )}{" "}
          since <When instant={seenSince} precision="minute" />
        </span>
      ))}
    </span>
  );
}
