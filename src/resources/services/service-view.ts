// Service views: its own fields, with the bindings, which are separate records, inserted as serialized JSON.

import type { Actor } from "../../access/actor.ts";
import { ownValue } from "../../base/fields.ts";
import { append } from "../../base/multimap.ts";
import type { AsOf } from "../../db/reading/list-query.ts";
import type { Compose, Item, Reader } from "../../db/reading/reader.ts";
import type { CsvColumn } from "../../schemas/csv.ts";
import { bindingKind } from "../bindings/binding.ts";
import { withoutHostId } from "../bindings/binding-view.ts";
import { appendMembers, type ComposeFor } from "../compose.ts";
import { Service } from "./service-body.ts";

/** The service with its bindings. */
export const composeServices: ComposeFor = Object.assign(composeService, {
  parts: { scope: "service" as const, kinds: [bindingKind] },
});

/** A service as a table row: its own fields, and the ids of its endpoints. */
export const SERVICE_COLUMNS: readonly CsvColumn[] = Object.keys(Service.properties).map((name) => ({
  name,
  cell: (service) =>
    name === "bindings"
      ? (service.bindings as Array<Record<string, unknown>>).map((each) => each.port_id ?? each.ip_address_id)
      : ownValue(service, name),
}));

/**
 * Services of one host with their bindings.
 * @param bindings of all these services, each as JSON, in page order
 */
export function servicesWithBindings(services: readonly string[], bindings: readonly string[]): string[] {
  const byService = new Map<string, string[]>();
  for (const text of bindings) {
    const { service_id: serviceId } = JSON.parse(text) as { service_id: string };
    append(byService, serviceId, text);
  }
  return services.map((service) => withBindings(service, byService.get(idOf(service)) ?? []));
}

/** The service without its bindings. */
export const composeServicesAlone: ComposeFor = () => (items) => items.map((item) => item.text);

function composeService(reader: Reader, actor: Actor): Compose {
  return (items: Item[], asOf: AsOf | null) => {
    const bindings = reader.parts(
      bindingKind,
      "service",
      items.map((item) => item.n),
      asOf,
      actor,
    );
    return items.map(({ n, text }) => withBindings(text, bindings.get(n) ?? []));
  };
}

function withBindings(service: string, bindings: readonly string[]): string {
  return appendMembers(service, `"bindings":[${bindings.map(withoutHostId).join(",")}]`);
}

function idOf(text: string): string {
  return (JSON.parse(text) as { id: string }).id;
}
