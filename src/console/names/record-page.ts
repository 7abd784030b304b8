// Where a record has its page, by its kind's name in the API.

const PAGES: Readonly<Record<string, (id: string) => string>> = {
  host: (id) => `/hosts/${id}`,
  if_entry: (id) => `/interfaces/${id}`,
  subnet: (id) => `/subnets/${id}`,
  vlan: (id) => `/vlans/${id}`,
  schedule: (id) => `/discovery/schedules/${id}`,
};

/** Null where records of the kind have none of their own. */
export function recordPage(type: string, id: string): string | null {
  return PAGES[type]?.(id) ?? null;
}
