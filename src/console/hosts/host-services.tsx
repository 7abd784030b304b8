// Services of a host with their bindings, and its open ports. Read page by page: a host may have thousands.

import { useRef } from "preact/hooks";
import type { MetaOf } from "../api/client.ts";
import type { ApiResponse } from "../api/response.ts";
import { PageFrame } from "../components/paged.tsx";
import { pageOfRead, type RowsRead } from "../components/paged-rows.ts";
import { Problems } from "../components/problem.tsx";
import { RowsTable } from "../components/rows-table.tsx";
import { Section } from "../components/section.tsx";
import { Waiting } from "../components/waiting.tsx";
import { EditRow } from "../editing/edit-row.tsx";
import { mayWrite } from "../editing/edit-slot.tsx";
import { ChangeSign, MatchingComparison, NamedAsBefore, PreviousValue, useRemoved } from "../history/comparison.tsx";
import { Named } from "../names/named.tsx";
import { editText } from "../text/editing.ts";
import { parameter } from "../url/location.ts";
import { BindService, mayBind } from "./bind-service.tsx";
import type { HostPort, HostService } from "./host-data.ts";

/** Prefix of the URL parameters for the second table on the page. */
export const PORTS_PREFIX = "ports_";

type PartResponse<Row> = ApiResponse<readonly Row[], MetaOf<"/api/v1/ports">>;

interface HostServicesProps {
  /** Response of `servicesRequest`. */
  readonly services: PartResponse<HostService>;
  /** Response of `portsRequest`. */
  readonly ports: PartResponse<HostPort>;
}

export function HostServices({ services, ports }: HostServicesProps) {
  const isEarlier = services.isEarlier || ports.isEarlier;
  // Shows services and ports at the same timestamp.
  const shown = useRef({ services, ports });
  if (!isEarlier) shown.current = { services, ports };
  if (services.problem !== undefined || ports.problem !== undefined) return <Problems responses={[services, ports]} />;
  if (shown.current.services.data === undefined || shown.current.ports.data === undefined) return <Waiting />;
  return (
    <MatchingComparison isEarlier={isEarlier}>
      <ServicesAndPorts services={shown.current.services} ports={shown.current.ports} />
    </MatchingComparison>
  );
}

function ServicesAndPorts({ services, ports }: HostServicesProps) {
  const [removedPorts, removedServices] = [useRemoved<HostPort>("port"), useRemoved<HostService>("service")];
  const readServices = rowsRead(services, removedServices);
  const readPorts = sortedPorts(rowsRead(ports, removedPorts));
  if (countOf(readServices) + countOf(readPorts) === 0) return <p>No ports or services.</p>;
  return (
    <div class="columns">
      {countOf(readServices) > 0 && (
        <Services read={readServices} ports={[...readPorts.rows, ...readPorts.trailing]} onBound={services.retry} />
      )}
      {countOf(readPorts) > 0 && <Ports read={readPorts} />}
    </div>
  );
}

function rowsRead<Row>({ data: rows = [], meta }: PartResponse<Row>, removed: readonly Row[]): RowsRead<Row> {
  return { rows, count: meta?.pagination.total_count ?? rows.length, trailing: removed };
}

const countOf = ({ count, trailing: removed }: RowsRead<unknown>) => count + removed.length;

/** Sorts removed ports among the others if all ports are loaded. */
function sortedPorts(read: RowsRead<HostPort>): RowsRead<HostPort> {
  if (read.rows.length < read.count) return read;
  const rows = [...read.rows, ...read.trailing].sort((a, b) => (a.number ?? 0) - (b.number ?? 0));
  return { rows, count: rows.length, trailing: [] };
}

interface ServicesProps {
  readonly read: RowsRead<HostService>;
  /** Loaded ports; bindings to other ports show a name that is requested separately. */
  readonly ports: readonly HostPort[];
  onBound(): void;
}

function Services({ read, ports, onBound }: ServicesProps) {
  const portById = new Map(ports.map((port) => [port.id, port]));
  const textOf = ({ name, service_definition, bindings = [] }: HostService) => {
    const portNames = bindings.map(({ port_id }) => portName(portById.get(port_id ?? "")));
    return [name, service_definition, ...portNames].join(" ");
  };
  const shown = pageOfRead(read, { page: parameter("page"), find: parameter("find") ?? "", textOf });
  return (
    <Section title="Services">
      <PageFrame shown={shown} count={countOf(read)} title="Services">
        {shown === null && <Waiting />}
        {shown !== null && (
          <RowsTable title="Services" heads={["Name", "Type", "Port", mayWrite("service", "update") && editText.edit]}>
            {shown.rows.map((service) => (
              <tr key={service.id}>
                <td>
                  <ChangeSign id={service.id} />
                  <PreviousValue id={service.id} field="name" />
                  <bdi>{service.name}</bdi>
                </td>
                <td>
                  <PreviousValue id={service.id} field="service_definition" />
                  <bdi>{service.service_definition}</bdi>
                </td>
                <td>
                  <BoundPorts service={service} portById={portById} />{" "}
                  {mayBind() && <BindService service={service} onDone={onBound} />}
                </td>
                {mayWrite("service", "update") && (
                  <td>
                    <EditRow kind="service" id={service.id} name={service.name} />
                  </td>
                )}
              </tr>
            ))}
          </RowsTable>
        )}
      </PageFrame>
    </Section>
  );
}

interface BoundPortsProps {
  readonly service: HostService;
  readonly portById: ReadonlyMap<string, HostPort>;
}

/** `443/Tcp, 8443/Tcp`. */
function BoundPorts({ service: { id, bindings = [] }, portById }: BoundPortsProps) {
  const ids = bindings.flatMap(({ port_id }) => port_id ?? []);
  return (
    <NamedAsBefore id={id}>
      {ids.map((port, index) => (
        <span key={port} class="bound">
          {portById.has(port) ? portName(portById.get(port)) : <Named kind="port" id={port} />}
          {index < ids.length - 1 && ", "}
        </span>
      ))}
    </NamedAsBefore>
  );
}

function portName(port: HostPort | undefined): string {
  return port === undefined ? "" : `${port.number}/${port.protocol}`;
}

function Ports({ read }: { readonly read: RowsRead<HostPort> }) {
  const textOf = ({ number, protocol, type }: HostPort) => `${number}/${protocol} ${type}`;
  const find = parameter(`${PORTS_PREFIX}find`) ?? "";
  const shown = pageOfRead(read, { page: parameter(`${PORTS_PREFIX}page`), find, textOf });
  return (
    <Section title="Listening ports">
      <PageFrame shown={shown} count={countOf(read)} title="Listening ports" name={PORTS_PREFIX}>
        {shown === null && <Waiting />}
        {shown !== null && (
          <RowsTable
            title="Listening ports"
            heads={["Number", "Protocol", "Type", mayWrite("port", "update") && editText.edit]}
          >
            {shown.rows.map(({ id, number, protocol, type }) => (
              <tr key={id}>
                <td>
                  <ChangeSign id={id} />
                  {number}
                </td>
                <td>{protocol}</td>
                <td>{type}</td>
                {mayWrite("port", "update") && (
                  <td>
                    <EditRow kind="port" id={id} name={`${number}/${protocol}`} />
                  </td>
                )}
              </tr>
            ))}
          </RowsTable>
        )}
      </PageFrame>
    </Section>
  );
}
