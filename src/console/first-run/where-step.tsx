// Second step of the wizard: subnets to scan, and further targets. Input is in the address.

import { useEffect, useState } from "preact/hooks";
import { Row, Sentences } from "../forms/row.tsx";
import { Problem } from "../parts/problem.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { targetsIn, wrongTarget } from "../scanning/targets.ts";
import { counted, groupedDigits } from "../text/digits.ts";
import { DOUBTS } from "../text/first-run.ts";
import { go, hrefHere, parameter } from "../url/location.ts";
import { type Chosen, type Network, type OfferedSubnet, useChosen } from "./chosen.ts";
import { hrefOfStep, subnetsSaid, WAY } from "./step-address.ts";
import { StepEnd } from "./step-end.tsx";
import { SCAN_MAX } from "./subnet-offer.ts";

/** Larger numbers of addresses are shown as a power of two. */
const COUNTED_MAX = 2 ** 32;

const total = (count: number) => `${counted(count, "address", "addresses")} in all.`;

export function WhereStep({ of }: { readonly of: Network }) {
  const chosen = useChosen(of);
  const [isTried, setTried] = useState(false);
  const { subnets, targets, problem, again } = chosen;
  const others = parameter(WAY.others) ?? "";
  // Input is validated after leaving the field.
  const [isTyping, setTyping] = useState(false);
  const wrong = targetsIn(others).flatMap((text) => saidOf(text) ?? []);
  const largeWrong = isTried && chosen.isLarge && parameter(WAY.isLarge) === null;
  const missing = isTried ? whyNot(chosen) : null;
  // Continuing before the subnets are loaded takes effect once they are.
  const [isWaiting, setWaiting] = useState(false);
  const goOn = () => {
    setTried(true);
    setTyping(false);
    setWaiting(subnets === undefined);
    if (subnets === undefined) return;
    const isWrong = wrong.length > 0 || whyNot(chosen) !== null;
    if (!isWrong && !(chosen.isLarge && parameter(WAY.isLarge) === null)) return go(hrefOfStep("credentials"));
    const first = isWrong ? "way-others" : "way-large";
    requestAnimationFrame(() => document.getElementById(first)?.focus());
  };
  useEffect(() => {
    if (isWaiting && subnets !== undefined) goOn();
  }, [isWaiting, subnets]);
  const said = isTyping && !isTried ? [] : wrong;
  const atField = missing === null ? said : [...said, missing];
  const tick = (cidr: string, isTicked: boolean) => {
    const now = (subnets ?? []).filter((each) => (each.cidr === cidr ? isTicked : each.isTicked));
    go(hrefHere({ [WAY.subnets]: subnetsSaid(now.map((each) => each.cidr)), [WAY.scan]: null }), "replace");
  };
  return (
    <form
      class="steps"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        goOn();
      }}
    >
      {problem !== undefined && <Problem problem={problem} again={again} />}
      {subnets === undefined && problem === undefined && <Waiting />}
      {subnets?.length === 0 && (
        <p class="prose">No subnet is known yet. The step before finds those of this machine, or type one below.</p>
      )}
      {subnets !== undefined && subnets.length > 0 && (
        <fieldset class="way-choices">
          <legend>Subnets of this network</legend>
          {subnets.map((subnet) => (
            <Subnet key={subnet.id} subnet={subnet} onTick={(isTicked) => tick(subnet.cidr, isTicked)} />
          ))}
        </fieldset>
      )}
      <Row
        id="way-others"
        label="Others"
        help="Addresses and subnets such as 10.2.3.4 or 10.2.3.0/24, separated by spaces, commas or line breaks."
        wrong={atField.length === 0 ? null : <Sentences sentences={atField} />}
        control={(described) => (
          <textarea
            {...described}
            rows={2}
            spellcheck={false}
            autoCapitalize="none"
            value={others}
            onInput={({ currentTarget: { value } }) => {
              setTried(false);
              setWaiting(false);
              setTyping(true);
              go(hrefHere({ [WAY.others]: value, [WAY.scan]: null }), "replace");
            }}
            onBlur={() => setTyping(false)}
          />
        )}
      />
      {chosen.isLarge && (
        <div>
          <label>
            <input
              id="way-large"
              type="checkbox"
              checked={parameter(WAY.isLarge) !== null}
              aria-invalid={largeWrong}
              aria-describedby={largeWrong ? "way-large-wrong" : undefined}
              onChange={({ currentTarget: { checked } }) =>
                go(hrefHere({ [WAY.isLarge]: checked ? "yes" : null }), "replace")
              }
            />{" "}
            One of them is larger than /16: scan all of it
          </label>
          {largeWrong && (
            <p class="edit-wrong" id="way-large-wrong">
              Tick this, or name smaller subnets.
            </p>
          )}
        </div>
      )}
      <p role="status">{targets.length > 0 && wrong.length === 0 && sizeSaid(chosen.size, total)}</p>
      <p class="prose aside">
        By naming them you allow, as an Admin, that the credentials of the next step are sent to every address in them.
        A subnet that is not in the inventory yet is added, and accepts credentials from then on, in everybody's scans.
      </p>
      <StepEnd step="where">
        <button type="submit" class="primary">
          Continue
        </button>
      </StepEnd>
    </form>
  );
}

/** Error of a typed target; null if valid. */
function saidOf(text: string): string | null {
  const wrong = wrongTarget(text);
  if (wrong === null) return null;
  return wrong.meant === null
    ? `${text} is neither an address nor a subnet.`
    : `${text} is an address in a subnet: write ${wrong.meant}.`;
}

/** Error of the selection as a whole. */
function whyNot({ targets, size }: Chosen): string | null {
  if (targets.length === 0) return "Tick a subnet, or type an address or a subnet.";
  return size > SCAN_MAX
    ? `${groupedDigits(size)} addresses are more than one scan takes: at most ${groupedDigits(SCAN_MAX)}.`
    : null;
}

const whereSize = (count: number) => counted(count, "address", "addresses");

function Subnet({ subnet, onTick }: { readonly subnet: OfferedSubnet; onTick(isTicked: boolean): void }) {
  const { id, cidr, name, size, doubt, isPossible, isTicked, interfaces, isDefaultRoute } = subnet;
  const about = [
    ...(name === cidr ? [] : [name]),
    ...(interfaces.length === 0
      ? []
      : [`this machine's ${interfaces.join(", ")}${isDefaultRoute ? ", with its default route" : ""}`]),
    sizeSaid(size, whereSize),
    ...(doubt === null ? [] : [DOUBTS[doubt]]),
  ];
  return (
    <div class="way-choice">
      <input
        id={`way-${id}`}
        type="checkbox"
        checked={isTicked}
        disabled={!isPossible}
        aria-describedby={`way-${id}-about`}
        onChange={({ currentTarget: { checked } }) => onTick(checked)}
      />
      <label for={`way-${id}`}>{cidr}</label>
      <span class="aside" id={`way-${id}-about`}>
        <bdi>{about.join(" · ")}</bdi>
      </span>
    </div>
  );
}

function sizeSaid(size: number, said: (count: number) => string): string {
  return size > COUNTED_MAX ? `2^${Math.round(Math.log2(size))} addresses` : said(size);
}
