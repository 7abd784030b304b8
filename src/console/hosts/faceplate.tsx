// The ports of a device as they sit on it: members and modules apart, two rows where they are many, state by shape and
// colour. What hangs on them stands below as a table; choosing a port leads to its row.

import { useAnswer } from "../api/answer.ts";
import { read } from "../api/client.ts";
import { Problem } from "../parts/problem.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { hostText } from "../text/hosts.ts";
import { atQuery } from "../time/at.ts";
import type { FaceplatePort, PortGroup } from "./host-data.ts";
import { PortTable } from "./port-table.tsx";

/** Fewer stand in one row, as on a device. */
const TWO_ROWS_FROM = 13;

export function Faceplate({ hostId }: { readonly hostId: string }) {
  const { data, problem, again } = useAnswer(
    read("/api/v1/hosts/{id}/faceplate", { path: { id: hostId }, query: atQuery() }),
    { how: "refresh", host_id: hostId },
  );
  if (data === undefined) return problem === undefined ? <Waiting /> : <Problem problem={problem} again={again} />;
  if (data.groups.length + data.logical.length === 0) return <p>{hostText.noPorts}</p>;
  return (
    <>
      <div class="plates">
        {data.groups.map((group) => (
          <Plate key={keyOf(group)} group={group} />
        ))}
        <p class="aside">{hostText.legend}</p>
      </div>
      {data.groups.map((group) => (
        <PortTable key={keyOf(group)} title={titleOf(group)} ports={group.ports} />
      ))}
      {data.logical.length > 0 && <PortTable title={hostText.logical} ports={data.logical} />}
    </>
  );
}

const keyOf = ({ type, member, module }: PortGroup) => `${type} ${member} ${module}`;

function titleOf({ type, member, module }: PortGroup): string {
  if (type === "Management") return hostText.managementPorts;
  if (module !== null) return hostText.module(module);
  return member === null ? hostText.tabs.ports : hostText.member(member);
}

function Plate({ group }: { readonly group: PortGroup }) {
  const isTwoRows = group.ports.length >= TWO_ROWS_FROM;
  return (
    <div class="plate">
      <h2>{titleOf(group)}</h2>
      {/* Odd above, even below, as they are numbered on a switch. */}
      <ul class={isTwoRows ? "two-rows" : ""}>
        {group.ports.map((port) => (
          <li key={port.id}>
            <a class={`port ${stateOf(port)}`} href={`#port-${port.id}`} title={summaryOf(port)}>
              <span aria-hidden="true">{numberOf(port.name)}</span>
              <span class="unseen">{summaryOf(port)}</span>
            </a>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** What stands on the device beside the port: the last number of its name. */
export function numberOf(name: string): string {
  return /(\d+)\D*$/.exec(name)?.[1] ?? name.slice(0, 3);
}

export function stateOf({ admin_status, oper_status }: FaceplatePort): "is-up" | "is-down" | "is-disabled" {
  if (admin_status === "Down") return "is-disabled";
  return oper_status === "Up" ? "is-up" : "is-down";
}

function summaryOf(port: FaceplatePort): string {
  const state = port.admin_status === "Down" ? hostText.adminDown : port.oper_status;
  const names = port.stations.flatMap(({ hosts }) => hosts.map(({ name }) => name));
  const connected = port.neighbor?.host?.name ?? port.neighbor?.announced_name ?? names[0];
  return [port.name, state, connected].filter((part) => part !== undefined && part !== null && part !== "").join(", ");
}
