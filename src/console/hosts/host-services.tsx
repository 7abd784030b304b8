// Services of a host with their bindings, and its open ports. Read by page, since a host may have thousands of each.

import { useRef } from "preact/hooks";
import type { Answer } from "../api/answer.ts";
import type { MetaOf } from "../api/client.ts";
import { AsAnswered, AsItWas, ChangeSign, useGone, Was } from "../changes/comparison.tsx";
import { mayWrite } from "../editing/edit-place.tsx";
import { EditRow } from "../editing/edit-row.tsx";
import { Named } from "../names/named.tsx";
import { PageFrame } from "../parts/paged.tsx";
import { pageOfRead, type RowsRead } from "../parts/paged-rows.ts";
import { Problems } from "../parts/problem.tsx";
import { RowsTable } from "../parts/rows-table.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { editText } from "../text/editing.ts";
import { parameter } from "../url/location.ts";
import { BindService, mayBind } from "./bind-service.tsx";
import type { HostPort, HostService } from "./host-data.ts";

/** Prefix of URL parameters for the second table on the page. */
export const PORTS = "ports_";

type PartAnswer<Row> = Answer<readonly Row[], MetaOf<"/api/v1/ports">>;

interface HostServicesProps {
  /** Response of `servicesOf`. */
  readonly services: PartAnswer<HostService>;
  /** Response of `portsOf`. */
  readonly ports: PartAnswer<HostPort>;
}

export function HostServices({ services, ports }: HostServicesProps) {
  const isEarlier = services.isEarlier || ports.isEarlier;
  // Shows both at the same timestamp.
  const shown = useRef({ services, ports });
  if (!isEarlier) shown.current = { services, ports };
  if (services.problem !== undefined || ports.problem !== undefined) return <Problems of={[services, ports]} />;
  if (shown.current.services.data === undefined || shown.current.ports.data === undefined) return <Waiting />;
  return (
    <AsAnswered isEarlier={isEarlier}>
      <Offered services={shown.current.services} ports={shown.current.ports} />
    </AsAnswered>
  );
}

function Offered({ services, ports }: HostServicesProps) {
  const [gonePorts, goneServices] = [useGone<HostPort>("port"), useGone<HostService>("service")];
  const readServices = readOf(services, goneServices);
  const readPorts = inOrder(readOf(ports, gonePorts));
  if (countOf(readServices) + countOf(readPorts) === 0) return <p>No ports or services.</p>;
  return (
    <div class="columns">
      {countOf(readServices) > 0 && (
        <Services read={readServices} ports={[...readPorts.rows, ...readPorts.behind]} onBound={services.again} />
      )}
      {countOf(readPorts) > 0 && <Ports read={readPorts} />}
    </div>
  );
}

function readOf<Row>({ data: rows = [], meta }: PartAnswer<Row>, behind: readonly Row[]): RowsRead<Row> {
  return { rows, count: meta?.pagination.total_count ?? rows.length, behind };
}

const countOf = ({ count, behind }: RowsRead<unknown>) => count + behind.length;

/** Sorts removed ports among the others if all ports are loaded. */
function inOrder(read: RowsRead<HostPort>): RowsRead<HostPort> {
  if (read.rows.length < read.count) return read;
  const rows = [...read.rows, ...read.behind].sort((a, b) => (a.number ?? 0) - (b.number ?? 0));
  return { rows, count: rows.length, behind: [] };
}

interface ServicesProps {
  readonly read: RowsRead<HostService>;
  /** Loaded ports; other bindings show a name. */
  readonly ports: readonly HostPort[];
  onBound(): void;
}

function Services({ read, ports, onBound }: ServicesProps) {
  const portById = new Map(ports.map((port) => [port.id, port]));
  const textOf = ({ name, service_definition, bindings = [] }: HostService) => {
    const bound = bindings.map(({ port_id }) => calledAs(portById.get(port_id ?? "")));
    return [name, service_definition, ...bound].join(" ");
  };
  const shown = pageOfRead(read, { page: parameter("page"), find: parameter("find") ?? "", textOf });
  return (
    <section>
      <h2>Services</h2>
      <PageFrame shown={shown} count={countOf(read)} title="Services">
        {shown === null && <Waiting />}
        {shown !== null && (
          <RowsTable title="Services" heads={["Name", "Type", "Port", mayWrite("service", "update") && editText.edit]}>
            {shown.rows.map((service) => (
              <tr key={service.id}>
                <td>
                  <ChangeSign id={service.id} />
                  <Was id={service.id} field="name" />
                  <bdi>{service.name}</bdi>
                </td>
                <td>
                  <Was id={service.id} field="service_definition" />
                  <bdi>{service.service_definition}</bdi>
                </td>
                <td>
                  <Bound service={service} portById={portById} />{" "}
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
    </section>
  );
}

interface BoundProps {
  readonly service: HostService;
  readonly portById: ReadonlyMap<string, HostPort>;
}

/** `443/Tcp, 8443/Tcp`. */
function Bound({ service: { id, bindings = [] }, portById }: BoundProps) {
  const ids = bindings.flatMap(({ port_id }) => port_id ?? []);
  return (
    <AsItWas id={id}>
      {ids.map((port, index) => (
        <span key={port} class="bound">
          {portById.has(port) ? calledAs(portById.get(port)) : <Named kind="port" id={port} />}
          {index < ids.length - 1 && ", "}
        </span>
      ))}
    </AsItWas>
  );
}

function calledAs(port: HostPort | undefined): string {
  return port === undefined ? "" : `${port.number}/${port.protocol}`;
}

function Ports({ read }: { readonly read: RowsRead<HostPort> }) {
  const textOf = ({ number, protocol, type }: HostPort) => `${number}/${protocol} ${type}`;
  const find = parameter(`${PORTS}find`) ?? "";
  const shown = pageOfRead(read, { page: parameter(`${PORTS}page`), find, textOf });
  return (
    <section>
      <h2>Listening ports</h2>
      <PageFrame shown={shown} count={countOf(read)} title="Listening ports" name={PORTS}>
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
    </section>
  );
}
