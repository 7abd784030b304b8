// Form to start a scan. All input is kept in the URL, so that a reload or an error loses nothing.

import { type DataOf, read } from "../api/client.ts";
import { useResponse } from "../api/response.ts";
import { LinkButton } from "../components/buttons.tsx";
import { Problem } from "../components/problem.tsx";
import { ResponseState } from "../components/response-state.tsx";
import { choicesOf, Select } from "../components/select.tsx";
import { ReasonRow } from "../forms/reason-input.tsx";
import { Row, Sentences } from "../forms/row.tsx";
import { useFirstFocus, useWrite } from "../forms/use-write.ts";
import { SCAN_PARAMETERS, scanHref } from "../scanning/scan-link.ts";
import { type ScanParameters, startScan } from "../scanning/scan-requests.ts";
import { addressesOfTargets, isAnyLarge, targetErrorsOf, targetsIn } from "../scanning/targets.ts";
import { may } from "../session/me.ts";
import { counted } from "../text/digits.ts";
import { isPast, network } from "../time/at.ts";
import { go, hrefHere, hrefOf, parameter } from "../url/location.ts";

type Network = DataOf<"/api/v1/networks">[number];

const KINDS = ["full", "sweep", "snmp"] as const;
/** Limit of subnets offered for selection; with more, typing is faster. */
const SUBNETS_OFFERED = 500;

/** Whether the form is open. */
export function isScanFormOpen(): boolean {
  return mayScan() && parameter(SCAN_PARAMETERS.isOpen) !== null;
}

function mayScan(): boolean {
  return !isPast.value && may("createScan");
}

/** Button that opens the form. */
export function ScanNowLink() {
  if (!mayScan() || isScanFormOpen()) return null;
  return <LinkButton label="Scan now" href={scanHref({ networkId: network.value ?? undefined })} />;
}

export function ScanNow() {
  const { data, problem, retry } = useResponse(read("/api/v1/networks", { query: { limit: 0, order_by: "name" } }));
  if (data === undefined) return <ResponseState problem={problem} retry={retry} />;
  if (data.length === 0) return <p class="note">You don't have permission to scan any network.</p>;
  return <ScanForm networks={data} />;
}

const KIND_LABELS: Readonly<Record<string, string>> = {
  full: "Full scan: find responding addresses and read devices over SNMP",
  sweep: "Sweep: find responding addresses and open ports; sends no credentials",
  snmp: "SNMP: read known hosts, or all listed addresses",
};

function ScanForm({ networks }: { readonly networks: readonly Network[] }) {
  const { isBusy, problem, send, refuse } = useWrite();
  const form = useFirstFocus<HTMLFormElement>();
  const networkId = parameter(SCAN_PARAMETERS.network) ?? network.value;
  const selectedNetwork = networks.find(({ id }) => id === networkId) ?? (networks[0] as Network);
  const kind = KINDS.find((candidate) => candidate === parameter(SCAN_PARAMETERS.kind)) ?? "full";
  const targets = targetsIn(parameter(SCAN_PARAMETERS.targets) ?? "");
  const isLarge = isAnyLarge(targets);
  const isDryRun = parameter(SCAN_PARAMETERS.isDryRun) !== null;
  const reason = parameter(SCAN_PARAMETERS.reason) ?? "";
  const set = (name: string, value: string | null) => {
    refuse(null);
    go(hrefHere({ [name]: value }), "replace");
  };
  const parameters: ScanParameters = {
    network_id: selectedNetwork.id,
    kind,
    targets: targets.length === 0 ? null : targets,
    commit: !isDryRun,
    allow_large: isLarge && parameter(SCAN_PARAMETERS.isLarge) !== null,
  };
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    void send([parameters, reason], async (header) =>
      go(hrefOf(`/discovery/${(await startScan(parameters, reason, header)).id}`)),
    );
  };
  const targetErrors = targetErrorsOf(problem, targets);
  const isShownAtTargets = problem !== null && targetErrors.length > 0 && targetErrors.length === problem.issues.length;
  return (
    <form ref={form} class="edit" aria-label="Scan now" onSubmit={submit}>
      <h2>Scan now</h2>
      {problem !== null && !isShownAtTargets && <Problem problem={problem} />}
      <Row
        id="scan-network"
        label="Network"
        control={(described) => (
          <Select
            {...described}
            value={selectedNetwork.id}
            choices={choicesOf(networks)}
            onChoose={(value) => set(SCAN_PARAMETERS.network, value)}
          />
        )}
      />
      <Row
        id="scan-kind"
        label="Kind"
        help={<CredentialNote kind={kind} hasTargets={targets.length > 0} />}
        control={(described) => (
          <Select
            {...described}
            value={kind}
            choices={KINDS.map((choice) => [choice, KIND_LABELS[choice] ?? choice])}
            onChoose={(value) => set(SCAN_PARAMETERS.kind, value)}
          />
        )}
      />
      <Targets
        selectedNetwork={selectedNetwork}
        targets={targets}
        targetErrors={targetErrors}
        onType={(text) => set(SCAN_PARAMETERS.targets, text)}
      />
      {isLarge && <Switch id="scan-large" name="isLarge" title="Larger than /16: scan it completely" set={set} />}
      <Switch
        id="scan-dry"
        name="isDryRun"
        title="Dry run"
        help="Saves nothing. Shows each field that would be written; you can then run it for real."
        set={set}
      />
      <ReasonRow
        id="scan-why"
        label="Why"
        isRequired={false}
        help="Stored with the scan and its changes in the history."
        reason={reason}
        onReason={(text) => set(SCAN_PARAMETERS.reason, text)}
      />
      <p class="edit-end">
        <button type="submit" class="primary" disabled={isBusy}>
          {isBusy ? "Starting…" : isDryRun ? "Start the dry run" : "Start the scan"}
        </button>{" "}
        <a
          class="button"
          href={hrefHere(Object.fromEntries(Object.values(SCAN_PARAMETERS).map((name) => [name, null])))}
        >
          Cancel
        </a>
      </p>
    </form>
  );
}

/** Says where credentials will be sent. */
function CredentialNote({ kind, hasTargets }: { readonly kind: string; readonly hasTargets: boolean }) {
  if (kind === "sweep") return <>No credentials are sent.</>;
  // With the permission to use credentials on any address, typed targets are queried with the network's credentials.
  const isPermitted = hasTargets && may("createCredential");
  return (
    <>
      {isPermitted
        ? "The network's credentials may be sent to all of these targets."
        : "The network's credentials are sent only to its subnets that accept credentials."}
    </>
  );
}

interface TargetsProps {
  readonly selectedNetwork: Network;
  readonly targets: readonly string[];
  /** Messages about rejected targets. */
  readonly targetErrors: readonly string[];
  onType(text: string): void;
}

function Targets({ selectedNetwork, targets, targetErrors, onType }: TargetsProps) {
  const { id } = selectedNetwork;
  const query = { network_id: id, order_by: "cidr", limit: SUBNETS_OFFERED } as const;
  const { data } = useResponse(read("/api/v1/subnets", { query }));
  const size = addressesOfTargets(targets);
  const subnets = (data ?? []).filter(({ cidr, network_id }) => network_id === id && !targets.includes(cidr));
  return (
    <Row
      id="scan-targets"
      label="Targets"
      error={
        targetErrors.length === 0 ? null : (
          <div role="alert">
            <Sentences sentences={targetErrors} />
          </div>
        )
      }
      help={`${targets.length > 0 && size !== null ? `Up to ${counted(size, "address", "addresses")}. ` : ""}Addresses and subnets, separated by spaces, commas or line breaks. Empty: the network's subnets.`}
      control={(described) => (
        <textarea
          {...described}
          rows={2}
          spellcheck={false}
          value={parameter(SCAN_PARAMETERS.targets) ?? ""}
          onInput={({ currentTarget: { value } }) => onType(value)}
        />
      )}
    >
      {subnets.length > 0 && (
        <Select
          aria-label="Add a subnet…"
          value=""
          choices={[
            ["", "Add a subnet…"],
            ...subnets.map(({ cidr, name }) => [cidr, name === cidr ? cidr : `${cidr} ${name}`] as const),
          ]}
          onChoose={(value) => value !== "" && onType([...targets, value].join(" "))}
        />
      )}
    </Row>
  );
}

interface SwitchProps {
  readonly id: string;
  readonly name: "isLarge" | "isDryRun";
  readonly title: string;
  readonly help?: string;
  set(name: string, value: string | null): void;
}

function Switch({ id, name, title, help, set }: SwitchProps) {
  return (
    <Row
      id={id}
      label={title}
      help={help ?? null}
      control={(described) => (
        <span class="edit-switch">
          <input
            {...described}
            type="checkbox"
            checked={parameter(SCAN_PARAMETERS[name]) !== null}
            onChange={({ currentTarget: { checked } }) => set(SCAN_PARAMETERS[name], checked ? "yes" : null)}
          />
        </span>
      )}
    />
  );
}
