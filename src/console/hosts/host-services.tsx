// What a host offers: its services with what they are bound to, and the ports that it listens on.

import { useRef } from "preact/hooks";
import type { Answer } from "../api/answer.ts";
import { AsAnswered, ChangeSign, useGone, Was } from "../changes/comparison.tsx";
import { Paged } from "../parts/paged.tsx";
import { Problem } from "../parts/problem.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { hostText } from "../text/hosts.ts";
import type { HostPort, HostService } from "./host-data.ts";

interface HostServicesProps {
  /** Of `servicesOf`. */
  readonly services: Answer<readonly HostService[]>;
  /** Of `portsOf`. */
  readonly ports: Answer<readonly HostPort[]>;
}

export function HostServices({ services, ports }: HostServicesProps) {
  const isEarlier = services.isEarlier || ports.isEarlier;
  // Both of one instant.
  const shown = useRef({ services: services.data, ports: ports.data });
  if (!isEarlier) shown.current = { services: services.data, ports: ports.data };
  const failed = [services, ports].find(({ problem }) => problem !== undefined);
  if (failed?.problem !== undefined) return <Problem problem={failed.problem} again={failed.again} />;
  if (shown.current.services === undefined || shown.current.ports === undefined) return <Waiting />;
  return (
    <AsAnswered isEarlier={isEarlier}>
      <Offered services={shown.current.services} ports={shown.current.ports} />
    </AsAnswered>
  );
}

interface OfferedProps {
  readonly services: readonly HostService[];
  readonly ports: readonly HostPort[];
}

function Offered(present: OfferedProps) {
  const [gonePorts, goneServices] = [useGone<HostPort>("port"), useGone<HostService>("service")];
  const ports = [...present.ports, ...gonePorts].sort((a, b) => (a.number ?? 0) - (b.number ?? 0));
  const services = [...present.services, ...goneServices];
  if (ports.length + services.length === 0) return <p>{hostText.noServices}</p>;
  return (
    <div class="columns">
      {services.length > 0 && <Services services={services} ports={ports} />}
      {ports.length > 0 && <Ports ports={ports} />}
    </div>
  );
}

function Services({ services, ports }: OfferedProps) {
  const portById = new Map(ports.map((port) => [port.id, port]));
  const boundTo = ({ bindings = [] }: HostService) =>
    bindings
      .flatMap(({ port_id }) => {
        const port = portById.get(port_id ?? "");
        return port === undefined ? [] : [`${port.number}/${port.protocol}`];
      })
      .join(", ");
  const textOf = (service: HostService) => `${service.name} ${service.service_definition} ${boundTo(service)}`;
  return (
    <section>
      <h2>{hostText.services}</h2>
      <Paged rows={services} title={hostText.services} textOf={textOf}>
        {(rows) => (
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be focused
          <section class="table" tabIndex={0} aria-label={hostText.services}>
            <table class="rows">
              <thead>
                <tr>
                  <th scope="col">{hostText.name}</th>
                  <th scope="col">{hostText.type}</th>
                  <th scope="col">{hostText.port}</th>
                </tr>
              </thead>
              <tbody>
                {rows.map((service) => (
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
                    <td>{boundTo(service)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </section>
        )}
      </Paged>
    </section>
  );
}

function Ports({ ports }: { readonly ports: readonly HostPort[] }) {
  const textOf = ({ number, protocol, type }: HostPort) => `${number}/${protocol} ${type}`;
  return (
    <section>
      <h2>{hostText.listens}</h2>
      <Paged rows={ports} title={hostText.listens} textOf={textOf} name="ports_">
        {(rows) => (
          <table class="rows">
            <thead>
              <tr>
                <th scope="col">{hostText.number}</th>
                <th scope="col">{hostText.protocol}</th>
                <th scope="col">{hostText.type}</th>
              </tr>
            </thead>
            <tbody>
              {rows.map(({ id, number, protocol, type }) => (
                <tr key={id}>
                  <td>
                    <ChangeSign id={id} />
                    {number}
                  </td>
                  <td>{protocol}</td>
                  <td>{type}</td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </Paged>
    </section>
  );
}
