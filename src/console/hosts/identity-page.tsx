// Host identity: merges two records of the same host, or splits one that covers two. Moves are shown before the write,
// and undone in one transaction.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { useAnswer } from "../api/answer.ts";
import { type DataOf, read } from "../api/client.ts";
import { oneOf } from "../api/one-of.ts";
import { calledOf } from "../names/called.ts";
import { Page } from "../parts/page.tsx";
import { Problem } from "../parts/problem.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { may } from "../session/me.ts";
import { isolated } from "../text/isolated.ts";
import { isPast } from "../time/at.ts";
import { useSubject } from "../time/subject.ts";
import { hrefHere, hrefOf } from "../url/location.ts";
import { PlannedWrite } from "../writes/planned-write.tsx";
import { joinPlan } from "./identity-plans.ts";
import { SplitHost } from "./split-host.tsx";

export function HostIdentityPage({ params: { id = "" } }: { readonly params: Readonly<Record<string, string>> }) {
  useSubject({ host_id: id });
  const asked = oneOf(read("/api/v1/hosts", { query: { ids: [id], include_children: false } }));
  const { data: host, problem, again } = useAnswer(isPast.value ? null : asked);
  if (isPast.value)
    return (
      <Page title="Join or split">
        <p>
          Hosts can be joined and split only in the present. <a href={hrefHere({ at: null })}>Show it now</a>
        </p>
      </Page>
    );
  if (problem?.status === 404 || problem?.status === 400)
    return (
      <Page title="Join or split">
        <p>Host not found, or you don't have access to it.</p>
      </Page>
    );
  if (host === undefined)
    return (
      <Page title="Join or split">
        {problem === undefined ? <Waiting /> : <Problem problem={problem} again={again} />}
      </Page>
    );
  const name = calledOf("host", host);
  return (
    <Page
      title="Join or split"
      about={
        <a href={hrefOf(`/hosts/${id}`)}>
          <bdi>{name}</bdi>
        </a>
      }
    >
      {may("consolidateHosts") && may("splitHost") ? (
        <>
          <Part
            title="Join another host into this one"
            says={`For a device that is listed twice. ${isolated(name)} stays and takes over the parts of the other host, which is closed.`}
          >
            <JoinHost id={id} networkId={host.network_id} name={name} onDone={again} />
          </Part>
          <Part
            title="Split this host"
            says={`For two devices that are listed as one. The selected parts move from ${isolated(name)} to a new host, with their history.`}
          >
            <SplitHost id={id} onDone={again} />
          </Part>
        </>
      ) : (
        <p>Your role can't join or split hosts.</p>
      )}
    </Page>
  );
}

interface PartProps {
  readonly title: string;
  readonly says: string;
  readonly children: ComponentChildren;
}

function Part({ title, says, children }: PartProps) {
  return (
    <section class="part">
      <h2>{title}</h2>
      <p class="prose aside">{says}</p>
      {children}
    </section>
  );
}

interface JoinHostProps {
  readonly id: string;
  readonly networkId: string;
  readonly name: string;
  onDone(): void;
}

type FoundHost = DataOf<"/api/v1/hosts">[number];

interface OtherHost {
  readonly id: string;
  readonly name: string;
}

/** Distinguishing details next to the name. */
function toldApart(host: FoundHost): string {
  const name = calledOf("host", host);
  const addresses = (host.ip_addresses ?? []).map(({ ip_address }) => ip_address).filter((each) => each !== name);
  const others = [host.manufacturer, host.model, host.serial_number];
  return [...addresses.slice(0, ADDRESSES_MAX), ...others].filter((each) => each !== null && each !== "").join(", ");
}

const ADDRESSES_MAX = 3;

/** Number of suggestions; the first few suffice. */
const FOUND_MAX = 8;

function JoinHost({ id, networkId, name, onDone }: JoinHostProps) {
  const [search, setSearch] = useState("");
  const [other, setOther] = useState<OtherHost | null>(null);
  const words = search.trim();
  const query = { network_id: networkId, search: words, limit: FOUND_MAX + 1 };
  const { data, problem, isEarlier } = useAnswer(words === "" ? null : read("/api/v1/hosts", { query }));
  const found = words === "" || data === undefined ? [] : data.filter((host) => host.id !== id).slice(0, FOUND_MAX);
  if (other !== null)
    return (
      <PlannedWrite
        key={other.id}
        title={`Join ${isolated(other.name)} into ${isolated(name)}`}
        verb="Join them"
        says="If both have the same address, port, interface or service, that of the remaining host is kept. From now on, scans that find either one update this host. Credentials are sent where they were before."
        isUndoable
        run={(sending) => joinPlan(id, other.id, sending)}
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
        {found.map((host) => (
          <li key={host.id}>
            <button type="button" onClick={() => setOther({ id: host.id, name: calledOf("host", host) })}>
              <bdi>{calledOf("host", host)}</bdi>
            </button>{" "}
            <bdi class="aside">{toldApart(host)}</bdi>
          </li>
        ))}
      </ul>
      <p class="aside" role="status">
        {words !== "" &&
          data !== undefined &&
          !isEarlier &&
          found.length === 0 &&
          "No other host of this network has this name."}
      </p>
    </>
  );
}
