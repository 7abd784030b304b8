// First step of the wizard: the machine running netledger, recorded as the first host, and its view of itself.

import { useAnswer } from "../api/answer.ts";
import { api, done, read } from "../api/client.ts";
import { reasonHeader } from "../forms/reason.ts";
import { useSending } from "../forms/sending.ts";
import { RecordLink } from "../names/record-link.tsx";
import { Problem } from "../parts/problem.tsx";
import { RowsTable } from "../parts/rows-table.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { counted, groupedDigits } from "../text/digits.ts";
import { wayText } from "../text/first-run.ts";
import { go, hrefHere, parameter } from "../url/location.ts";
import { type Machine, type Network, useMachine } from "./chosen.ts";
import { hrefOfStep, WAY } from "./step-address.ts";
import { StepEnd } from "./step-end.tsx";

export function MachineStep({ of }: { readonly of: Network }) {
  const { isBusy, problem, send } = useSending();
  const machine = useMachine();
  const selfId = parameter(WAY.self);
  const self = useAnswer(selfId === null ? null : read("/api/v1/hosts/{id}", { path: { id: selfId } }));
  const isRecorded = selfId !== null && self.problem?.status !== 404;
  const record = () =>
    void send(of.id, async (header) => {
      const headers = reasonHeader(wayText.reason);
      const body = { network_id: of.id };
      const { host_id } = await done(api.POST("/api/v1/discovery/self", { params: { header }, headers, body }));
      machine.again();
      if (selfId === host_id) self.again();
      else go(hrefHere({ [WAY.self]: host_id }), "replace");
    });
  return (
    <>
      <p class="prose">
        This is the machine that netledger runs on, as its kernel describes it. Recorded, it becomes a host with its
        interfaces, addresses, open ports and services, and the subnets that it is in. Nothing is sent over the network.
      </p>
      <Limits />
      {problem !== null && <Problem problem={problem} />}
      {self.problem?.status === 404 && (
        <p class="note">The host that was recorded is no longer there. Record it again.</p>
      )}
      {self.problem !== undefined && self.problem.status !== 404 && (
        <Problem problem={self.problem} again={self.again} />
      )}
      {machine.problem !== undefined && <Problem problem={machine.problem} again={machine.again} />}
      {machine.data === undefined && machine.problem === undefined && <Waiting />}
      {machine.data !== undefined && <Seen machine={machine.data} />}
      {isRecorded && self.data !== undefined && (
        <p role="status">
          Recorded as <RecordLink type="host" id={self.data.id} name={self.data.name} />.
        </p>
      )}
      <StepEnd step="machine" isSkippable={!isRecorded}>
        {isRecorded && (
          <a class="button primary" href={hrefOfStep("where")}>
            Continue
          </a>
        )}
        <button type="button" class={isRecorded ? undefined : "primary"} disabled={isBusy} onClick={record}>
          {isBusy ? "Looking…" : isRecorded ? "Look again" : "Record this machine"}
        </button>
      </StepEnd>
    </>
  );
}

/** Restrictions by the kernel, in the appliance's words. */
function Limits() {
  const { data } = useAnswer(read("/api/health"));
  if (data === undefined || data.limitations.length === 0) return null;
  return (
    <div class="note">
      <p>This machine does not let netledger use all of it:</p>
      {data.limitations.map(({ code, message }) => (
        <p key={code}>{message}</p>
      ))}
    </div>
  );
}

function Seen({ machine: { hostname, interfaces, addresses, port_count } }: { readonly machine: Machine }) {
  const up = interfaces.filter(({ oper_status }) => oper_status === "Up").length;
  return (
    <>
      <p>
        <strong>
          <bdi>{hostname}</bdi>
        </strong>
        : {counted(interfaces.length, "interface", "interfaces")}, {groupedDigits(up)} of them up, and{" "}
        {counted(port_count, "open port", "open ports")}.
      </p>
      {addresses.length === 0 ? (
        <p class="prose">
          It has no address but those that only it can reach, so it is in no subnet. Type what to scan in the next step.
        </p>
      ) : (
        <RowsTable title="Its addresses" heads={["Address", "Interface", "Subnet"]}>
          {addresses.map(({ ip_address, cidr, if_name, is_default_route }) => (
            <tr key={ip_address}>
              <td>{ip_address}</td>
              <td>
                <bdi>{if_name}</bdi> {is_default_route && <span class="label">default route</span>}
              </td>
              <td>{cidr}</td>
            </tr>
          ))}
        </RowsTable>
      )}
    </>
  );
}
