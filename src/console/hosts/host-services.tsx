// What a host offers: its services with what they are bound to, and the ports that it listens on.

import { ChangeSign, useGone, Was } from "../changes/comparison.tsx";
import { Paged } from "../parts/paged.tsx";
import { hostText } from "../text/hosts.ts";
import type { HostData } from "./host-data.ts";

export function HostServices({ host }: { readonly host: HostData }) {
  const [gonePorts, goneServices] = [useGone<Port>("port"), useGone<Service>("service")];
  const ports = [...(host.ports ?? []), ...gonePorts].sort((a, b) => (a.number ?? 0) - (b.number ?? 0));
  const services = [...(host.services ?? []), ...goneServices];
  if (ports.length + services.length === 0) return <p>{hostText.noServices}</p>;
  return (
    <div class="columns">
      {services.length > 0 && <Services services={services} ports={ports} />}
      {ports.length > 0 && <Ports ports={ports} />}
    </div>
  );
}

type Service = NonNullable<HostData["services"]>[number];
type Port = NonNullable<HostData["ports"]>[number];

function Services({ services, ports }: { readonly services: readonly Service[]; readonly ports: readonly Port[] }) {
  const portById = new Map(ports.map((port) => [port.id, port]));
  const boundTo = ({ bindings = [] }: Service) =>
    bindings
      .flatMap(({ port_id }) => {
        const port = portById.get(port_id ?? "");
        return port === undefined ? [] : [`${port.number}/${port.protocol}`];
      })
      .join(", ");
  const textOf = (service: Service) => `${service.name} ${service.service_definition} ${boundTo(service)}`;
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

function Ports({ ports }: { readonly ports: readonly Port[] }) {
  const textOf = ({ number, protocol, type }: Port) => `${number}/${protocol} ${type}`;
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
