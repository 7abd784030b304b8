// Host identity: joins two records of one host, or splits one that covers two, after a preview.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { type DataOf, read } from "../api/client.ts";
import { oneOf } from "../api/one-of.ts";
import { useResponse } from "../api/response.ts";
import { NameLink } from "../components/name-link.tsx";
import { Page } from "../components/page.tsx";
import { Problem } from "../components/problem.tsx";
import { ResponseState } from "../components/response-state.tsx";
import { Section } from "../components/section.tsx";
import { displayName } from "../names/display-name.ts";
import { PlannedWrite } from "../plans/planned-write.tsx";
import { may } from "../session/me.ts";
import { isolated } from "../text/isolated.ts";
import { isPast } from "../time/at.ts";
import { useSubject } from "../time/subject.ts";
import { hrefHere, hrefOf } from "../url/location.ts";
import { joinPlan } from "./identity-plans.ts";
import { SplitHost } from "./split-host.tsx";

export function HostIdentityPage({ params: { id = "" } }: { readonly params: Readonly<Record<string, string>> }) {
  useSubject({ host_id: id });
  const request = oneOf(read("/api/v1/hosts", { query: { ids: [id], include_children: false } }));
  const { data: host, problem, retry } = useResponse(isPast.value ? null : request);
  const page = (content: ComponentChildren) => <Page title="Join or split">{content}</Page>;
  if (isPast.value)
    return page(
      <p>
        Hosts can't be joined or split in the past. <a href={hrefHere({ at: null })}>Go back to now</a>
      </p>,
    );
  if (problem?.status === 404 || problem?.status === 400)
    return page(<p>Host not found, or you don't have access to it.</p>);
  if (host === undefined) return page(<ResponseState problem={problem} retry={retry} />);
  const name = displayName("host", host);
  return (
    <Page title="Join or split" about={<NameLink href={hrefOf(`/hosts/${id}`)} name={name} />}>
      {may("consolidateHosts") && may("splitHost") ? (
        <>
          <Section title="Join another host into this one" className="part">
            <p class="prose aside">
              {`For a device that is listed twice. ${isolated(name)} stays and takes over the parts of the other host, which is closed.`}
            </p>
            <JoinHost id={id} networkId={host.network_id} name={name} onDone={retry} />
          </Section>
          <Section title="Split this host" className="part">
            <p class="prose aside">
              {`For two devices that are listed as one. The selected parts move from ${isolated(name)} to a new host, with their history.`}
            </p>
            <SplitHost id={id} onDone={retry} />
          </Section>
        </>
      ) : (
        <p>Your role can't join or split hosts.</p>
      )}
    </Page>
  );
}

interface JoinHostProps {
  readonly id: string;
  readonly networkId: string;
  readonly name: string;
  onDone(): void;
}

/** Details that distinguish a host, shown next to its name. */
function distinguishingDetails(host: DataOf<"/api/v1/hosts">[number]): string {
  const name = displayName("host", host);
  const addresses = (host.ip_addresses ?? []).map(({ ip_address }) => ip_address).filter((address) => address !== name);
  const others = [host.manufacturer, host.model, host.serial_number];
  return [...addresses.slice(0, ADDRESSES_MAX), ...others]
    .filter((detail) => detail !== null && detail !== "")
    .join(", ");
}

const ADDRESSES_MAX = 3;

/** Number of suggestions; more would not help. */
const FOUND_MAX = 8;

function JoinHost({ id, networkId, name, onDone }: JoinHostProps) {
  const [search, setSearch] = useState("");
  const [other, setOther] = useState<{ readonly id: string; readonly name: string } | null>(null);
  const term = search.trim();
  const query = { network_id: networkId, search: term, limit: FOUND_MAX + 1 };
  const { data, problem, isEarlier } = useResponse(term === "" ? null : read("/api/v1/hosts", { query }));
  const isLoaded = term !== "" && data !== undefined && !isEarlier;
  const matches = term === "" || data === undefined ? [] : data.filter((host) => host.id !== id).slice(0, FOUND_MAX);
  if (other !== null)
    return (
      <PlannedWrite
        key={other.id}
        title={`Join ${isolated(other.name)} into ${isolated(name)}`}
        submitLabel="Join"
        consequence="If both have the same address, port, interface or service, that of the remaining host is kept. From now on, scans that find either one update this host. Credentials are sent where they were before."
        isUndoable
        run={(options) => joinPlan(id, other.id, options)}
        onEnd={() => setOther(null)}
        onDone={onDone}
      />
    );
  return (
    <>
      <label class="identity-find">
        The other host
        <input
          type="search"
          value={search}
          autoComplete="off"
          onInput={({ currentTarget: { value } }) => setSearch(value)}
        />
      </label>
      {problem !== undefined && <Problem problem={problem} />}
      <ul class="identity-found" aria-label="Hosts found">
        {matches.map((host) => (
          <li key={host.id}>
            <button type="button" onClick={() => setOther({ id: host.id, name: displayName("host", host) })}>
              <bdi>{displayName("host", host)}</bdi>
            </button>{" "}
            <bdi class="aside">{distinguishingDetails(host)}</bdi>
          </li>
        ))}
      </ul>
      <p class="aside" role="status">
        {isLoaded && matches.length === 0 && "No other host of this network has this name."}
      </p>
    </>
  );
}
