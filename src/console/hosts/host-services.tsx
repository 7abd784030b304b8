// What a host offers: its services with what they are bound to, and the ports that it listens on.

import { hostText } from "../text/hosts.ts";
import type { HostData } from "./host-data.ts";

export function HostServices({ host }: { readonly host: HostData }) {
  const ports = [...(host.ports ?? [])].sort((a, b) => (a.number ?? 0) - (b.number ?? 0));
  const services = host.services ?? [];
  if (ports.length + services.length === 0) return <p>{hostText.noServices}</p>;
  const portOf = (id: string | null | undefined) => ports.find((port) => port.id === id);
  return (
    <div class="columns">
      {services.length > 0 && (
        <table class="rows">
          <thead>
            <tr>
              <th scope="col">{hostText.name}</th>
              <th scope="col">{hostText.type}</th>
              <th scope="col">{hostText.port}</th>
            </tr>
          </thead>
          <tbody>
            {services.map(({ id, name, service_definition, bindings = [] }) => (
              <tr key={id}>
                <td>
                  <bdi>{name}</bdi>
                </td>
                <td>{service_definition}</td>
                <td>
                  {bindings
                    .flatMap(({ port_id }) => {
                      const port = portOf(port_id);
                      return port === undefined ? [] : [`${port.number}/${port.protocol}`];
                    })
                    .join(", ")}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {ports.length > 0 && (
        <table class="rows">
          <thead>
            <tr>
              <th scope="col">{hostText.number}</th>
              <th scope="col">{hostText.protocol}</th>
              <th scope="col">{hostText.type}</th>
            </tr>
          </thead>
          <tbody>
            {ports.map(({ id, number, protocol, type }) => (
              <tr key={id}>
                <td>{number}</td>
                <td>{protocol}</td>
                <td>{type}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </div>
  );
}
