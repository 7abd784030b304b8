-- Who has custom fields at all, so that a field that is changed or deleted is looked for among these alone. The quoted
-- name before a brace is nothing but the record's own key: within a text each quote has a backslash before it. What has
-- none costs a look at its text when it is written. The upgrade reads every live record of these kinds once: some
-- seconds for a million.
CREATE INDEX hosts_with_custom_fields ON hosts (organization_n) WHERE instr(members, '"custom_fields":{') > 0;
CREATE INDEX subnets_with_custom_fields ON subnets (organization_n) WHERE instr(members, '"custom_fields":{') > 0;
CREATE INDEX vlans_with_custom_fields ON vlans (organization_n) WHERE instr(members, '"custom_fields":{') > 0;
CREATE INDEX if_entries_with_custom_fields ON if_entries (organization_n) WHERE instr(members, '"custom_fields":{') > 0;
CREATE INDEX services_with_custom_fields ON services (organization_n) WHERE instr(members, '"custom_fields":{') > 0;
CREATE INDEX ip_ranges_with_custom_fields ON ip_ranges (organization_n) WHERE instr(members, '"custom_fields":{') > 0;
