// Form to start a scan: network, kind and targets, with the consequences. All input is in the address, so that a
// reload, a refusal or the end of the session loses nothing.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { useAnswer } from "../api/answer.ts";
import { asRefusal, type DataOf, read } from "../api/client.ts";
import type { Refusal } from "../api/refusal.ts";
import { REASON_MAX_LENGTH } from "../forms/reason.ts";
import { newRequestKey } from "../forms/request-key.ts";
import { Problem } from "../parts/problem.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { ASK, scanHref } from "../scanning/scan-link.ts";
import { type ScanOrder, startScan } from "../scanning/scan-requests.ts";
import { addressesOfTargets, areLarge, refusedTargets, targetsIn } from "../scanning/targets.ts";
import { may } from "../session/me.ts";
import { scanningText } from "../text/scanning.ts";
import { isPast, network } from "../time/at.ts";
import { go, hrefHere, hrefOf, parameter } from "../url/location.ts";

type Network = DataOf<"/api/v1/networks">[number];

const KINDS = ["full", "sweep", "snmp"] as const;
/** Subnets offered for selection; with more, typing is faster. */
const SUBNETS_OFFERED = 500;

/** Whether the form is open. */
export function isAsked(): boolean {
  return mayScan() && parameter(ASK.isOpen) !== null;
}

function mayScan(): boolean {
  return !isPast.value && may("createScan");
}

/** Button that opens the form. */
export function ScanNowLink() {
  if (!mayScan() || isAsked()) return null;
  return (
    <a class="button" href={scanHref({ networkId: network.value ?? undefined })}>
      {scanningText.scanNow}
    </a>
  );
}

export function ScanNow() {
  const { data, problem, again } = useAnswer(read("/api/v1/networks", { query: { limit: 0, order_by: "name" } }));
  if (data === undefined) return problem === undefined ? <Waiting /> : <Problem problem={problem} again={again} />;
  if (data.length === 0) return <p class="note">{scanningText.noNetwork}</p>;
  return <ScanForm networks={data} />;
}

function ScanForm({ networks }: { readonly networks: readonly Network[] }) {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Refusal | null>(null);
  const tried = useRef<{ readonly text: string; readonly key: string } | null>(null);
  const form = useRef<HTMLFormElement>(null);
  useLayoutEffect(() => form.current?.querySelector("select")?.focus(), []);
  const said = parameter(ASK.network) ?? network.value;
  const of = networks.find(({ id }) => id === said) ?? (networks[0] as Network);
  const kind = KINDS.find((each) => each === parameter(ASK.kind)) ?? "full";
  const targets = targetsIn(parameter(ASK.targets) ?? "");
  const isLarge = areLarge(targets);
  const isDry = parameter(ASK.isDry) !== null;
  const reason = parameter(ASK.reason) ?? "";
  const set = (name: string, value: string | null) => {
    setProblem(null);
    go(hrefHere({ [name]: value }), "replace");
  };
  const order: ScanOrder = {
    network_id: of.id,
    kind,
    targets: targets.length === 0 ? null : targets,
    commit: !isDry,
    allow_large: isLarge && parameter(ASK.isLarge) !== null,
  };
  const send = async (event: SubmitEvent) => {
    event.preventDefault();
    if (isBusy) return;
    const text = JSON.stringify([order, reason]);
    // A retry after a lost response reuses the key, so that only one scan starts.
    if (tried.current?.text !== text) tried.current = { text, key: newRequestKey() };
    setBusy(true);
    setProblem(null);
    try {
      go(hrefOf(`/discovery/${(await startScan(order, reason, tried.current.key)).id}`));
    } catch (cause) {
      setProblem(asRefusal(cause));
      setBusy(false);
    }
  };
  const refused = refusedTargets(problem, targets);
  const isSaidThere = problem !== null && refused.length > 0 && refused.length === problem.issues.length;
  return (
    <form ref={form} class="edit" aria-label={scanningText.scanNow} onSubmit={(event) => void send(event)}>
      <h2>{scanningText.scanNow}</h2>
      {problem !== null && !isSaidThere && <Problem problem={problem} />}
      <div class="edit-field">
        <label for="scan-network">{scanningText.network}</label>
        <div>
          <select id="scan-network" value={of.id} onChange={({ currentTarget: { value } }) => set(ASK.network, value)}>
            {networks.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
        </div>
      </div>
      <div class="edit-field">
        <label for="scan-kind">{scanningText.kind}</label>
        <div>
          <select
            id="scan-kind"
            value={kind}
            aria-describedby="scan-kind-help"
            onChange={({ currentTarget: { value } }) => set(ASK.kind, value)}
          >
            {KINDS.map((each) => (
              <option key={each} value={each}>
                {scanningText.kinds[each]}
              </option>
            ))}
          </select>
          <p class="aside" id="scan-kind-help">
            <Secrets kind={kind} hasTargets={targets.length > 0} />
          </p>
        </div>
      </div>
      <Targets of={of} targets={targets} refused={refused} onType={(text) => set(ASK.targets, text)} />
      {isLarge && (
        <Switch
          id="scan-large"
          title={scanningText.large}
          isOn={parameter(ASK.isLarge) !== null}
          onSet={(isOn) => set(ASK.isLarge, isOn ? "yes" : null)}
        />
      )}
      <Switch
        id="scan-dry"
        title={scanningText.dry}
        help={scanningText.dryHelp}
        isOn={isDry}
        onSet={(isOn) => set(ASK.isDry, isOn ? "yes" : null)}
      />
      <div class="edit-field">
        <label for="scan-why">{scanningText.why}</label>
        <div>
          <input
            id="scan-why"
            type="text"
            maxLength={REASON_MAX_LENGTH}
            aria-describedby="scan-why-help"
            value={reason}
            onInput={({ currentTarget: { value } }) => set(ASK.reason, value)}
          />
          <p class="aside" id="scan-why-help">
            {scanningText.whyHelp}
          </p>
        </div>
      </div>
      <p class="edit-end">
        <button type="submit" class="primary" disabled={isBusy}>
          {isBusy ? scanningText.starting : isDry ? scanningText.startDry : scanningText.start}
        </button>{" "}
        <a class="button" href={hrefHere(Object.fromEntries(Object.values(ASK).map((name) => [name, null])))}>
          {scanningText.giveUp}
        </a>
      </p>
    </form>
  );
}

/** Destinations of secrets, shown before the scan. */
function Secrets({ kind, hasTargets }: { readonly kind: string; readonly hasTargets: boolean }) {
  if (kind === "sweep") return <>{scanningText.secretsNone}</>;
  // With the permission to use credentials on any address, typed targets are queried with the network's credentials.
  const isPermitted = hasTargets && may("createCredential");
  return <>{isPermitted ? scanningText.secretsTargets : scanningText.secretsSubnets}</>;
}

interface TargetsProps {
  readonly of: Network;
  readonly targets: readonly string[];
  /** Error messages. */
  readonly refused: readonly string[];
  onType(text: string): void;
}

function Targets({ of, targets, refused, onType }: TargetsProps) {
  const { data } = useAnswer(
    read("/api/v1/subnets", { query: { network_id: of.id, order_by: "cidr", limit: SUBNETS_OFFERED } }),
  );
  const size = addressesOfTargets(targets);
  const subnets = (data ?? []).filter(({ cidr, network_id }) => network_id === of.id && !targets.includes(cidr));
  return (
    <div class="edit-field">
      <label for="scan-targets">{scanningText.where}</label>
      <div>
        <textarea
          id="scan-targets"
          rows={2}
          spellcheck={false}
          aria-describedby={`scan-targets-help${refused.length > 0 ? " scan-targets-wrong" : ""}`}
          aria-invalid={refused.length > 0}
          value={parameter(ASK.targets) ?? ""}
          onInput={({ currentTarget: { value } }) => onType(value)}
        />
        {refused.length > 0 && (
          <div class="edit-wrong" id="scan-targets-wrong" role="alert">
            {refused.map((sentence) => (
              <p key={sentence}>{sentence}</p>
            ))}
          </div>
        )}
        <p class="aside" id="scan-targets-help">
          {targets.length > 0 && size !== null && `${scanningText.size(size)} `}
          {scanningText.whereHelp}
        </p>
        {subnets.length > 0 && (
          <select
            aria-label={scanningText.addSubnet}
            value=""
            onChange={({ currentTarget: { value } }) => value !== "" && onType([...targets, value].join(" "))}
          >
            <option value="">{scanningText.addSubnet}</option>
            {subnets.map(({ id, cidr, name }) => (
              <option key={id} value={cidr}>
                {name === cidr ? cidr : `${cidr} ${name}`}
              </option>
            ))}
          </select>
        )}
      </div>
    </div>
  );
}

interface SwitchProps {
  readonly id: string;
  readonly title: string;
  readonly help?: string;
  readonly isOn: boolean;
  onSet(isOn: boolean): void;
}

function Switch({ id, title, help, isOn, onSet }: SwitchProps) {
  return (
    <div class="edit-field">
      <label for={id}>{title}</label>
      <div>
        <span class="edit-switch">
          <input
            id={id}
            type="checkbox"
            checked={isOn}
            aria-describedby={help === undefined ? undefined : `${id}-help`}
            onChange={({ currentTarget: { checked } }) => onSet(checked)}
          />
        </span>
        {help !== undefined && (
          <p class="aside" id={`${id}-help`}>
            {help}
          </p>
        )}
      </div>
    </div>
  );
}
