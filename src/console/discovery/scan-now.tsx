// Form to start a scan: network, kind and targets, with the consequences. All input is in the address, so that a
// reload, a refusal or the end of the session loses nothing.

import { useAnswer } from "../api/answer.ts";
import { type DataOf, read } from "../api/client.ts";
import { ReasonRow } from "../forms/reason-input.tsx";
import { Row, Sentences } from "../forms/row.tsx";
import { useFirstFocus, useSending } from "../forms/sending.ts";
import { Problem } from "../parts/problem.tsx";
import { choicesOf, Select } from "../parts/select.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { ASK, scanHref } from "../scanning/scan-link.ts";
import { type ScanOrder, startScan } from "../scanning/scan-requests.ts";
import { addressesOfTargets, areLarge, refusedTargets, targetsIn } from "../scanning/targets.ts";
import { may } from "../session/me.ts";
import { counted } from "../text/digits.ts";
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
      Scan now
    </a>
  );
}

export function ScanNow() {
  const { data, problem, again } = useAnswer(read("/api/v1/networks", { query: { limit: 0, order_by: "name" } }));
  if (data === undefined) return problem === undefined ? <Waiting /> : <Problem problem={problem} again={again} />;
  if (data.length === 0) return <p class="note">There is no network that you may scan.</p>;
  return <ScanForm networks={data} />;
}

const SCANNING_KINDS: Readonly<Record<string, string>> = {
  full: "Full scan: find who answers, and read devices by SNMP",
  sweep: "Sweep: find who answers, and on which ports; sends no secret",
  snmp: "SNMP: read the known hosts, or every address named",
};

function ScanForm({ networks }: { readonly networks: readonly Network[] }) {
  const { isBusy, problem, send, refuse } = useSending();
  const form = useFirstFocus<HTMLFormElement>();
  const said = parameter(ASK.network) ?? network.value;
  const of = networks.find(({ id }) => id === said) ?? (networks[0] as Network);
  const kind = KINDS.find((each) => each === parameter(ASK.kind)) ?? "full";
  const targets = targetsIn(parameter(ASK.targets) ?? "");
  const isLarge = areLarge(targets);
  const isDry = parameter(ASK.isDry) !== null;
  const reason = parameter(ASK.reason) ?? "";
  const set = (name: string, value: string | null) => {
    refuse(null);
    go(hrefHere({ [name]: value }), "replace");
  };
  const order: ScanOrder = {
    network_id: of.id,
    kind,
    targets: targets.length === 0 ? null : targets,
    commit: !isDry,
    allow_large: isLarge && parameter(ASK.isLarge) !== null,
  };
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    void send([order, reason], async (header) =>
      go(hrefOf(`/discovery/${(await startScan(order, reason, header)).id}`)),
    );
  };
  const refused = refusedTargets(problem, targets);
  const isSaidThere = problem !== null && refused.length > 0 && refused.length === problem.issues.length;
  return (
    <form ref={form} class="edit" aria-label="Scan now" onSubmit={submit}>
      <h2>Scan now</h2>
      {problem !== null && !isSaidThere && <Problem problem={problem} />}
      <Row
        id="scan-network"
        label="Network"
        control={(described) => (
          <Select
            {...described}
            value={of.id}
            choices={choicesOf(networks)}
            onChoose={(value) => set(ASK.network, value)}
          />
        )}
      />
      <Row
        id="scan-kind"
        label="What"
        help={<Secrets kind={kind} hasTargets={targets.length > 0} />}
        control={(described) => (
          <Select
            {...described}
            value={kind}
            choices={KINDS.map((each) => [each, SCANNING_KINDS[each] ?? each])}
            onChoose={(value) => set(ASK.kind, value)}
          />
        )}
      />
      <Targets of={of} targets={targets} refused={refused} onType={(text) => set(ASK.targets, text)} />
      {isLarge && (
        <Switch
          id="scan-large"
          title="It is larger than /16: scan all of it"
          isOn={parameter(ASK.isLarge) !== null}
          onSet={(isOn) => set(ASK.isLarge, isOn ? "yes" : null)}
        />
      )}
      <Switch
        id="scan-dry"
        title="Dry run"
        help="Writes nothing. Says field by field what would be written, and can then be done."
        isOn={isDry}
        onSet={(isOn) => set(ASK.isDry, isOn ? "yes" : null)}
      />
      <ReasonRow
        id="scan-why"
        label="Why"
        isDemanded={false}
        help="Kept with the scan, and in history with what it writes."
        reason={reason}
        onReason={(text) => set(ASK.reason, text)}
      />
      <p class="edit-end">
        <button type="submit" class="primary" disabled={isBusy}>
          {isBusy ? "Starting…" : isDry ? "Start the dry run" : "Start the scan"}
        </button>{" "}
        <a class="button" href={hrefHere(Object.fromEntries(Object.values(ASK).map((name) => [name, null])))}>
          Cancel
        </a>
      </p>
    </form>
  );
}

/** Destinations of secrets, shown before the scan. */
function Secrets({ kind, hasTargets }: { readonly kind: string; readonly hasTargets: boolean }) {
  if (kind === "sweep") return <>No secret is sent.</>;
  // With the permission to use credentials on any address, typed targets are queried with the network's credentials.
  const isPermitted = hasTargets && may("createCredential");
  return (
    <>
      {isPermitted
        ? "You name these: the network's credentials may be sent to all of them."
        : "The network's credentials go to its subnets that accept credentials, and nowhere else."}
    </>
  );
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
    <Row
      id="scan-targets"
      label="Where"
      wrong={
        refused.length === 0 ? null : (
          <div role="alert">
            <Sentences sentences={refused} />
          </div>
        )
      }
      help={`${targets.length > 0 && size !== null ? `Up to ${counted(size, "address", "addresses")}. ` : ""}Addresses and subnets, separated by spaces, commas or line breaks. Empty: the network's subnets.`}
      control={(described) => (
        <textarea
          {...described}
          rows={2}
          spellcheck={false}
          value={parameter(ASK.targets) ?? ""}
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
  readonly title: string;
  readonly help?: string;
  readonly isOn: boolean;
  onSet(isOn: boolean): void;
}

function Switch({ id, title, help, isOn, onSet }: SwitchProps) {
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
            checked={isOn}
            onChange={({ currentTarget: { checked } }) => onSet(checked)}
          />
        </span>
      )}
    />
  );
}
