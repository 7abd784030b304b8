// Second step of the wizard: subnets to scan, and other targets. All input is kept in the URL.

import { useEffect, useState } from "preact/hooks";
import { SubmitButton } from "../components/buttons.tsx";
import { ResponseState } from "../components/response-state.tsx";
import { Row, Sentences } from "../forms/row.tsx";
import { checkTarget, targetsIn } from "../scanning/targets.ts";
import { counted, groupedDigits } from "../text/digits.ts";
import { SKIP_REASONS } from "../text/first-run.ts";
import { go, hrefHere, parameter } from "../url/location.ts";
import { type Network, type OfferedSubnet, type ScanTargets, useScanTargets } from "./scan-targets.ts";
import { StepEnd } from "./step-end.tsx";
import { SCAN_MAX } from "./subnet-choice.ts";
import { hrefOfStep, subnetsParameter, WIZARD } from "./wizard-url.ts";

/** Larger numbers of addresses are shown as a power of two. */
const COUNTED_MAX = 2 ** 32;

const totalText = (count: number) => `${counted(count, "address", "addresses")} in total.`;

export function TargetsStep({ network }: { readonly network: Network }) {
  const scanTargets = useScanTargets(network);
  const [isSubmitted, setSubmitted] = useState(false);
  const { subnets, targets, problem, retry } = scanTargets;
  const others = parameter(WIZARD.others) ?? "";
  // Input is validated after leaving the field.
  const [isTyping, setTyping] = useState(false);
  const invalid = targetsIn(others).flatMap((text) => targetError(text) ?? []);
  const isLargeUnconfirmed = isSubmitted && scanTargets.isLarge && parameter(WIZARD.isLarge) === null;
  const missing = isSubmitted ? selectionError(scanTargets) : null;
  // Continuing before the subnets are loaded takes effect once they are.
  const [isWaiting, setWaiting] = useState(false);
  const proceed = () => {
    setSubmitted(true);
    setTyping(false);
    setWaiting(subnets === undefined);
    if (subnets === undefined) return;
    const isInvalid = invalid.length > 0 || selectionError(scanTargets) !== null;
    if (!isInvalid && !(scanTargets.isLarge && parameter(WIZARD.isLarge) === null))
      return go(hrefOfStep("credentials"));
    const firstInvalidId = isInvalid ? "first-run-others" : "first-run-large";
    requestAnimationFrame(() => document.getElementById(firstInvalidId)?.focus());
  };
  useEffect(() => {
    if (isWaiting && subnets !== undefined) proceed();
  }, [isWaiting, subnets]);
  const shownErrors = isTyping && !isSubmitted ? [] : invalid;
  const fieldErrors = missing === null ? shownErrors : [...shownErrors, missing];
  const select = (cidr: string, isSelected: boolean) => {
    const selected = (subnets ?? []).filter((subnet) => (subnet.cidr === cidr ? isSelected : subnet.isSelected));
    go(
      hrefHere({ [WIZARD.subnets]: subnetsParameter(selected.map((subnet) => subnet.cidr)), [WIZARD.scan]: null }),
      "replace",
    );
  };
  return (
    <form
      class="steps"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        proceed();
      }}
    >
      <ResponseState data={subnets} problem={problem} retry={retry} />
      {subnets?.length === 0 && (
        <p class="prose">No subnets yet. The previous step adds those of this machine, or enter one below.</p>
      )}
      {subnets !== undefined && subnets.length > 0 && (
        <fieldset class="first-run-choices">
          <legend>Subnets of this network</legend>
          {subnets.map((subnet) => (
            <Subnet key={subnet.id} subnet={subnet} onSelect={(isSelected) => select(subnet.cidr, isSelected)} />
          ))}
        </fieldset>
      )}
      <Row
        id="first-run-others"
        label="Others"
        help="Addresses and subnets such as 10.2.3.4 or 10.2.3.0/24, separated by spaces, commas or line breaks."
        error={fieldErrors.length === 0 ? null : <Sentences sentences={fieldErrors} />}
        control={(described) => (
          <textarea
            {...described}
            rows={2}
            spellcheck={false}
            autoCapitalize="none"
            value={others}
            onInput={({ currentTarget: { value } }) => {
              setSubmitted(false);
              setWaiting(false);
              setTyping(true);
              go(hrefHere({ [WIZARD.others]: value, [WIZARD.scan]: null }), "replace");
            }}
            onBlur={() => setTyping(false)}
          />
        )}
      />
      {scanTargets.isLarge && (
        <div>
          <label>
            <input
              id="first-run-large"
              type="checkbox"
              checked={parameter(WIZARD.isLarge) !== null}
              aria-invalid={isLargeUnconfirmed}
              aria-describedby={isLargeUnconfirmed ? "first-run-large-error" : undefined}
              onChange={({ currentTarget: { checked } }) =>
                go(hrefHere({ [WIZARD.isLarge]: checked ? "yes" : null }), "replace")
              }
            />{" "}
            One target is larger than /16: scan it completely
          </label>
          {isLargeUnconfirmed && (
            <p class="edit-error" id="first-run-large-error">
              Select this, or enter smaller subnets.
            </p>
          )}
        </div>
      )}
      <p role="status">{targets.length > 0 && invalid.length === 0 && sizeText(scanTargets.size, totalText)}</p>
      <p class="prose aside">
        As an Admin, you allow the credentials of the next step to be sent to every address of these targets. Subnets
        not in the inventory yet are added, and accept credentials from then on in all scans.
      </p>
      <StepEnd step="where">
        <SubmitButton label="Continue" />
      </StepEnd>
    </form>
  );
}

/** Error message for a typed target; null if valid. */
function targetError(text: string): string | null {
  const invalid = checkTarget(text);
  if (invalid === null) return null;
  return invalid.suggestion === null
    ? `${text} is neither an address nor a subnet.`
    : `${text} is an address within a subnet. Did you mean ${invalid.suggestion}?`;
}

/** Error message for the selection as a whole; null if valid. */
function selectionError({ targets, size }: ScanTargets): string | null {
  if (targets.length === 0) return "Select a subnet, or enter an address or subnet.";
  return size > SCAN_MAX
    ? `${groupedDigits(size)} addresses are too many for one scan: at most ${groupedDigits(SCAN_MAX)}.`
    : null;
}

const addressesText = (count: number) => counted(count, "address", "addresses");

function Subnet({ subnet, onSelect }: { readonly subnet: OfferedSubnet; onSelect(isSelected: boolean): void }) {
  const { id, cidr, name, size, skipReason, isScannable, isSelected, interfaces, isDefaultRoute } = subnet;
  const details = [
    ...(name === cidr ? [] : [name]),
    ...(interfaces.length === 0
      ? []
      : [`this machine's ${interfaces.join(", ")}${isDefaultRoute ? ", with its default route" : ""}`]),
    sizeText(size, addressesText),
    ...(skipReason === null ? [] : [SKIP_REASONS[skipReason]]),
  ];
  return (
    <div class="first-run-choice">
      <input
        id={`first-run-${id}`}
        type="checkbox"
        checked={isSelected}
        disabled={!isScannable}
        aria-describedby={`first-run-${id}-about`}
        onChange={({ currentTarget: { checked } }) => onSelect(checked)}
      />
      <label for={`first-run-${id}`}>{cidr}</label>
      <span class="aside" id={`first-run-${id}-about`}>
        <bdi>{details.join(" · ")}</bdi>
      </span>
    </div>
  );
}

function sizeText(size: number, countText: (count: number) => string): string {
  return size > COUNTED_MAX ? `2^${Math.round(Math.log2(size))} addresses` : countText(size);
}
