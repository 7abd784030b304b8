// First-run wizard from an empty inventory to the first map, one question per step.

import { useEffect, useRef } from "preact/hooks";
import { read } from "../api/client.ts";
import { useResponse } from "../api/response.ts";
import { NameLink } from "../components/name-link.tsx";
import { Page } from "../components/page.tsx";
import { ResponseState } from "../components/response-state.tsx";
import { kindTitle } from "../kinds/kinds.ts";
import { mayStart } from "../scanning/start-link.tsx";
import { may } from "../session/me.ts";
import { wizardText } from "../text/first-run.ts";
import { isPast, network } from "../time/at.ts";
import { go, hrefHere, hrefOf } from "../url/location.ts";
import { CredentialsStep } from "./credentials-step.tsx";
import { MachineStep } from "./machine-step.tsx";
import { ScanStep } from "./scan-step.tsx";
import type { Network } from "./scan-targets.ts";
import { TargetsStep } from "./targets-step.tsx";
import { hrefOfStep, hrefReset, STEPS, shownStep, type WizardStep } from "./wizard-url.ts";

export function StartPage() {
  if (!mayStart()) return <NoPermission />;
  if (isPast.value)
    return (
      <Page title="Get started">
        <p>
          Scans can't be started in the past. <a href={hrefHere({ at: null })}>Go back to now</a>
        </p>
      </Page>
    );
  return <NetworkSteps />;
}

/** Note for users without permission, with an alternative. */
function NoPermission() {
  return (
    <Page title="Get started">
      <p class="prose">For Admins: records this machine, adds credentials and starts the first scan.</p>
      <p class="prose">
        {may("createScan") ? (
          <>
            You may scan the network's subnets: <a href={hrefOf("/discovery")}>Discovery</a>
          </>
        ) : (
          <>
            See what has been found so far: <a href={hrefOf("/hosts")}>{kindTitle("host")}</a>,{" "}
            <a href={hrefOf("/map")}>Map</a>
          </>
        )}
      </p>
    </Page>
  );
}

function NetworkSteps() {
  const { data, problem, retry } = useResponse(read("/api/v1/networks", { query: { limit: 0, order_by: "name" } }));
  const id = network.value;
  const only = id === null && data?.length === 1 ? data[0]?.id : undefined;
  useEffect(() => {
    if (only !== undefined) go(hrefHere({ network: only }), "replace");
  }, [only]);
  // The choices made do not apply to another network.
  const last = useRef(id);
  useEffect(() => {
    if (last.current !== null && id !== last.current) go(hrefReset(), "replace");
    last.current = id;
  }, [id]);
  const selected = data?.find((candidate) => candidate.id === id);
  if (selected !== undefined) return <Steps key={selected.id} network={selected} />;
  return (
    <Page title="Get started">
      <ResponseState data={only === undefined ? data : undefined} problem={problem} retry={retry} />
      {data?.length === 0 && <p>You don't have access to any network.</p>}
      {data !== undefined && data.length > 0 && only === undefined && (
        <NetworkChoice networks={data} isUnknown={id !== null} />
      )}
    </Page>
  );
}

function NetworkChoice({ networks, isUnknown }: Readonly<{ networks: readonly Network[]; isUnknown: boolean }>) {
  return (
    <>
      <p>
        {isUnknown
          ? "Network not found, or you don't have access to it. Choose one:"
          : "A scan covers one network. Choose one:"}
      </p>
      <ul class="map-networks">
        {networks.map(({ id, name }) => (
          <li key={id}>
            <NameLink href={hrefHere({ network: id })} name={name} />
          </li>
        ))}
      </ul>
    </>
  );
}

const CONTENT: Readonly<Record<WizardStep, (props: { readonly network: Network }) => preact.JSX.Element>> = {
  machine: MachineStep,
  where: TargetsStep,
  credentials: CredentialsStep,
  scan: ScanStep,
};

const STEP_TITLES = { machine: "This machine", where: "What to scan", credentials: "Credentials", scan: "First scan" };

function Steps({ network }: { readonly network: Network }) {
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
    <Page title="Get started" about={<bdi>{network.name}</bdi>}>
      <nav class="first-run-steps" aria-label="Steps">
        <ol>
          {STEPS.map((name) => (
            <li key={name}>
              <a href={hrefOfStep(name)} aria-current={name === step ? "step" : undefined}>
                {STEP_TITLES[name]}
              </a>
            </li>
          ))}
        </ol>
      </nav>
      <section class="first-run" aria-labelledby="first-run-question">
        <h2 id="first-run-question" ref={heading} tabIndex={-1}>
          {wizardText.question[step]}
        </h2>
        <Content key={step} network={network} />
      </section>
    </Page>
  );
}
