// First step of the wizard: facts that netledger reads from its own machine, recorded as the first host.

import { api, read, unwrap } from "../api/client.ts";
import { useResponse } from "../api/response.ts";
import { LinkButton } from "../components/buttons.tsx";
import { Problem } from "../components/problem.tsx";
import { ResponseState } from "../components/response-state.tsx";
import { RowsTable } from "../components/rows-table.tsx";
import { reasonHeader } from "../forms/reason.ts";
import { useWrite } from "../forms/use-write.ts";
import { RecordLink } from "../names/record-link.tsx";
import { counted, groupedDigits } from "../text/digits.ts";
import { wizardText } from "../text/first-run.ts";
import { go, hrefHere, parameter } from "../url/location.ts";
import { type Machine, type Network, useMachine } from "./scan-targets.ts";
import { StepEnd } from "./step-end.tsx";
import { hrefOfStep, WIZARD } from "./wizard-url.ts";

export function MachineStep({ network }: { readonly network: Network }) {
  const { isBusy, problem, send } = useWrite();
  const machine = useMachine();
  const selfId = parameter(WIZARD.self);
  const self = useResponse(selfId === null ? null : read("/api/v1/hosts/{id}", { path: { id: selfId } }));
  const isRecorded = selfId !== null && self.problem?.status !== 404;
  const record = () =>
    void send(network.id, async (header) => {
      const headers = reasonHeader(wizardText.reason);
      const body = { network_id: network.id };
      const { host_id } = await unwrap(api.POST("/api/v1/discovery/self", { params: { header }, headers, body }));
      machine.retry();
      if (selfId === host_id) self.retry();
      else go(hrefHere({ [WIZARD.self]: host_id }), "replace");
    });
  return (
    <>
      <p class="prose">
        The machine that runs netledger, as reported by its kernel. Recording it adds a host with its interfaces,
        addresses, open ports and services, and its subnets. Nothing is sent over the network.
      </p>
      <Limitations />
      {problem !== null && <Problem problem={problem} />}
      {self.problem?.status === 404 && <p class="note">The recorded host no longer exists. Record it again.</p>}
      {self.problem !== undefined && self.problem.status !== 404 && (
        <Problem problem={self.problem} retry={self.retry} />
      )}
      <ResponseState data={machine.data} problem={machine.problem} retry={machine.retry} />
      {machine.data !== undefined && <MachineData machine={machine.data} />}
      {isRecorded && self.data !== undefined && (
        <p role="status">
          Recorded as <RecordLink type="host" id={self.data.id} name={self.data.name} />.
        </p>
      )}
      <StepEnd step="machine" isSkippable={!isRecorded}>
        {isRecorded && <LinkButton label="Continue" class="button primary" href={hrefOfStep("where")} />}
        <button type="button" class={isRecorded ? undefined : "primary"} disabled={isBusy} onClick={record}>
          {isBusy ? "Recording…" : isRecorded ? "Update" : "Record this machine"}
        </button>
      </StepEnd>
    </>
  );
}

/** Restrictions that the kernel imposes, as reported by the appliance. */
function Limitations() {
  const { data } = useResponse(read("/api/health"));
  if (data === undefined || data.limitations.length === 0) return null;
  return (
    <div class="note">
      <p>This machine restricts netledger:</p>
      {data.limitations.map(({ code, message }) => (
        <p key={code}>{message}</p>
      ))}
    </div>
  );
}

function MachineData({ machine: { hostname, interfaces, addresses, port_count } }: { readonly machine: Machine }) {
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
          It has only local addresses, so it is in no subnet. Enter the scan targets in the next step.
        </p>
      ) : (
        <RowsTable title="Addresses" heads={["Address", "Interface", "Subnet"]}>
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
