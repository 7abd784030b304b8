// First-run wizard from an empty inventory to the first map, one question per step. Steps can be skipped, revisited and
// reloaded.

import { useEffect, useRef } from "preact/hooks";
import { useAnswer } from "../api/answer.ts";
import { read } from "../api/client.ts";
import { kindTitle } from "../kinds/kinds.ts";
import { Page } from "../parts/page.tsx";
import { Problem } from "../parts/problem.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { mayStart } from "../scanning/start-link.tsx";
import { may } from "../session/me.ts";
import { wayText } from "../text/first-run.ts";
import { isPast, network } from "../time/at.ts";
import { go, hrefHere, hrefOf } from "../url/location.ts";
import type { Network } from "./chosen.ts";
import { CredentialsStep } from "./credentials-step.tsx";
import { MachineStep } from "./machine-step.tsx";
import { ScanStep } from "./scan-step.tsx";
import { hrefAnew, hrefOfStep, STEPS, shownStep, type WayStep } from "./step-address.ts";
import { WhereStep } from "./where-step.tsx";

export function StartPage() {
  if (!mayStart()) return <NotForYou />;
  if (isPast.value)
    return (
      <Page title="Get started">
        <p>
          The past is not scanned. <a href={hrefHere({ at: null })}>Go back to now</a>
        </p>
      </Page>
    );
  return <OfNetwork />;
}

/** Note for users without permission, with an alternative. */
function NotForYou() {
  return (
    <Page title="Get started">
      <p class="prose">This is for Admins: it records this machine, gives credentials and starts the first scan.</p>
      <p class="prose">
        {may("createScan") ? (
          <>
            You may scan what lies in the network's subnets: <a href={hrefOf("/discovery")}>Discovery</a>
          </>
        ) : (
          <>
            What has been found so far is here: <a href={hrefOf("/hosts")}>{kindTitle("host")}</a>,{" "}
            <a href={hrefOf("/map")}>Map</a>
          </>
        )}
      </p>
    </Page>
  );
}

function OfNetwork() {
  const { data, problem, again } = useAnswer(read("/api/v1/networks", { query: { limit: 0, order_by: "name" } }));
  const id = network.value;
  const only = id === null && data?.length === 1 ? data[0]?.id : undefined;
  useEffect(() => {
    if (only !== undefined) go(hrefHere({ network: only }), "replace");
  }, [only]);
  // Choices do not apply to another network.
  const last = useRef(id);
  useEffect(() => {
    if (last.current !== null && id !== last.current) go(hrefAnew(), "replace");
    last.current = id;
  }, [id]);
  const found = data?.find((each) => each.id === id);
  if (found !== undefined) return <Steps key={found.id} of={found} />;
  return (
    <Page title="Get started">
      {problem !== undefined && <Problem problem={problem} again={again} />}
      {(data === undefined || only !== undefined) && problem === undefined && <Waiting />}
      {data?.length === 0 && <p>You don't have access to any network.</p>}
      {data !== undefined && data.length > 0 && only === undefined && (
        <Choice networks={data} isUnknown={id !== null} />
      )}
    </Page>
  );
}

function Choice({ networks, isUnknown }: { readonly networks: readonly Network[]; readonly isUnknown: boolean }) {
  return (
    <>
      <p>
        {isUnknown
          ? "Network not found, or you don't have access to it. Choose one:"
          : "A scan is of one network. Choose one:"}
      </p>
      <ul class="map-networks">
        {networks.map(({ id, name }) => (
          <li key={id}>
            <a href={hrefHere({ network: id })}>
              <bdi>{name}</bdi>
            </a>
          </li>
        ))}
      </ul>
    </>
  );
}

const CONTENT: Readonly<Record<WayStep, (props: { readonly of: Network }) => preact.JSX.Element>> = {
  machine: MachineStep,
  where: WhereStep,
  credentials: CredentialsStep,
  scan: ScanStep,
};

const STEP = { machine: "This machine", where: "What to scan", credentials: "Credentials", scan: "First scan" };

function Steps({ of }: { readonly of: Network }) {
  const step = shownStep();
  const Content = CONTENT[step];
  const heading = useRef<HTMLHeadingElement>(null);
  const last = useRef(step);
  // The focused element disappeared with the previous step.
  useEffect(() => {
    if (last.current !== step) heading.current?.focus();
    last.current = step;
  }, [step]);
  return (
    <Page title="Get started" about={<bdi>{of.name}</bdi>}>
      <nav class="way" aria-label="Steps">
        <ol>
          {STEPS.map((each) => (
            <li key={each}>
              <a href={hrefOfStep(each)} aria-current={each === step ? "step" : undefined}>
                {STEP[each]}
              </a>
            </li>
          ))}
        </ol>
      </nav>
      <section class="first-run" aria-labelledby="way-question">
        <h2 id="way-question" ref={heading} tabIndex={-1}>
          {wayText.question[step]}
        </h2>
        <Content key={step} of={of} />
      </section>
    </Page>
  );
}
