// The first step: the machine that netledger runs on, recorded as the first host, and what it sees of itself.

import { useRef, useState } from "preact/hooks";
import { useAnswer } from "../api/answer.ts";
import { api, asRefusal, done, read } from "../api/client.ts";
import type { Refusal } from "../api/refusal.ts";
import { Named } from "../names/named.tsx";
import { RecordLink } from "../names/record-link.tsx";
import { Problem } from "../parts/problem.tsx";
import { RowsTable } from "../parts/rows-table.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { machineText, wayText } from "../text/start.ts";
import { go, hrefHere, parameter } from "../url/location.ts";
import { reasonHeader } from "../writes/reason.ts";
import { newRequestKey } from "../writes/request-key.ts";
import { interfaceOf, type Network, type SelfHost, useSelfHost } from "./chosen.ts";
import { StepEnd } from "./step-end.tsx";
import { hrefOfStep, WAY } from "./way.ts";

export function MachineStep({ of }: { readonly of: Network }) {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Refusal | null>(null);
  const key = useRef(newRequestKey());
  const self = useSelfHost();
  const isRecorded = parameter(WAY.self) !== null && self.problem?.status !== 404;
  const record = async () => {
    setBusy(true);
    setProblem(null);
    try {
      const params = { header: { "Idempotency-Key": key.current } };
      const headers = reasonHeader(wayText.reason);
      const body = { network_id: of.id };
      const { host_id } = await done(api.POST("/api/v1/discovery/self", { params, headers, body }));
      key.current = newRequestKey();
      if (parameter(WAY.self) === host_id) self.again();
      else go(hrefHere({ [WAY.self]: host_id }), "replace");
    } catch (cause) {
      setProblem(asRefusal(cause));
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <p class="prose">{machineText.says}</p>
      <Limits />
      {problem !== null && <Problem problem={problem} />}
      {self.problem?.status === 404 && <p class="note">{machineText.gone}</p>}
      {self.problem !== undefined && self.problem.status !== 404 && (
        <Problem problem={self.problem} again={self.again} />
      )}
      {isRecorded && self.data === undefined && self.problem === undefined && <Waiting />}
      {isRecorded && self.data !== undefined && <Recorded host={self.data} />}
      <StepEnd step="machine" isSkippable={!isRecorded}>
        {isRecorded && (
          <a class="button primary" href={hrefOfStep("where")}>
            {wayText.next}
          </a>
        )}
        <button
          type="button"
          class={isRecorded ? undefined : "primary"}
          disabled={isBusy}
          onClick={() => void record()}
        >
          {isBusy ? machineText.recording : isRecorded ? machineText.again : machineText.record}
        </button>
      </StepEnd>
    </>
  );
}

/** What the kernel does not permit, in the appliance's own words. */
function Limits() {
  const { data } = useAnswer(read("/api/health"));
  if (data === undefined || data.limitations.length === 0) return null;
  return (
    <div class="note">
      <p>{machineText.limits}</p>
      {data.limitations.map(({ code, message }) => (
        <p key={code}>{message}</p>
      ))}
    </div>
  );
}

function Recorded({ host }: { readonly host: SelfHost }) {
  const { id, name, interfaces, ports, services, ip_addresses } = host;
  return (
    <>
      <p role="status">
        {machineText.recorded} <RecordLink type="host" id={id} name={name} />:{" "}
        {machineText.holds(interfaces.length, ports.length, services.length)}
      </p>
      {ip_addresses.length === 0 ? (
        <p class="prose">{machineText.noAddresses}</p>
      ) : (
        <RowsTable
          title={machineText.addresses}
          heads={[machineText.address, machineText.interface, machineText.subnet]}
        >
          {ip_addresses.map((address) => (
            <tr key={address.id}>
              <td>{address.ip_address}</td>
              <td>
                <bdi>{interfaceOf(host, address)}</bdi>
              </td>
              <td>
                <Named kind="subnets" id={address.subnet_id} />
              </td>
            </tr>
          ))}
        </RowsTable>
      )}
    </>
  );
}
