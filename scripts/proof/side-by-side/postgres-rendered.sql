-- Alternative with objects rendered at write time, as in netledger. As this is uncommon, the tables are separate and
-- created after the disk measurement; the cost of maintaining them is not measured.

CREATE FUNCTION rendered(e if_entries) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT row_to_json(x)::text FROM (SELECT e.id, e.host_id, e.network_id, e.if_index, e.if_descr, e.if_type, e.admin_status, e.oper_status, e.created_at, lower(e.period) AS updated_at,
    e.if_name, e.if_alias, e.speed_bps, e.mac_address, e.lldp_chassis_id, e.lldp_port_id, e.lldp_sys_name, e.lldp_port_desc, e.first_discovery_id, e.last_discovery_id, e.last_seen_at,
    lower(e.period) AS valid_from, upper(e.period) AS valid_to) x
$$;

CREATE TABLE if_entries_rendered AS SELECT id, organization_id, network_id, period, rendered(e) AS item FROM if_entries e ORDER BY id;
CREATE TABLE if_entries_history_rendered AS SELECT id, organization_id, network_id, period, rendered(ROW(h.*)::if_entries) AS item FROM if_entries_history h ORDER BY id, period;

ALTER TABLE if_entries_rendered ADD PRIMARY KEY (id);
CREATE INDEX if_entries_rendered_by_organization ON if_entries_rendered (organization_id, id);
CREATE INDEX if_entries_rendered_by_network ON if_entries_rendered (network_id, id);
CREATE INDEX if_entries_history_rendered_by_period ON if_entries_history_rendered USING gist (network_id, period);
CREATE INDEX if_entries_history_rendered_by_record ON if_entries_history_rendered (network_id, id, lower(period));

VACUUM (FREEZE, ANALYZE) if_entries_rendered, if_entries_history_rendered;
