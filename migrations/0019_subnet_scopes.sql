-- Addresses have scopes of their own for each subnet that they are in: spans and census as of containers
-- (src/db/kind.ts, Groups). They are made from the ledger, beside this file. What is in a subnet now is told by the
-- index alone.
DROP INDEX ip_addresses_by_subnet;
CREATE INDEX ip_addresses_by_subnet ON ip_addresses (subnet_n, ip_address);
