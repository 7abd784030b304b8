-- The addresses at which a MAC address is seen.

CREATE INDEX discovery_sightings_by_mac_address ON discovery_sightings (mac_address) WHERE mac_address IS NOT NULL;
